"""Are two pieces of data equal? A digest that depends on the values alone, not on the process."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import numpy as np

from dpaudit.errors import UsageError

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def digest(data: Any) -> str:
    """Return the SHA-256 of a canonical form of the data.

    Values, containers, arrays and frames count by their content, other objects by what they would be pickled from, and
    what cannot be pickled (a connection, a handle) by its type alone. Types count too: 1, 1.0 and True differ; NumPy's
    scalars count as Python's. The order of a set does not count, that of a dict does.
    """
    state = hashlib.sha256()
    _feed(state, data, ())
    return state.hexdigest()


def _feed(state: Any, data: Any, within: tuple[int, ...]) -> None:
    """Feed the data to the hash; ``within`` holds the ids of the containers around it."""
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, _PLAIN) and not isinstance(data, Enum):
        _tag(state, type(data).__name__, repr(data))
    elif id(data) in within:
        _tag(state, "cycle", str(within[::-1].index(id(data))))
    else:
        _feed_object(state, data, (*within, id(data)))


def _feed_object(state: Any, data: Any, within: tuple[int, ...]) -> None:
    kind = type(data).__name__
    if isinstance(data, np.ma.MaskedArray):
        _tag(state, "masked", "")
        _all(state, (np.ma.getmaskarray(data), np.asarray(data)), within)
    elif isinstance(data, np.ndarray):
        _tag(state, "array", f"{data.dtype}{data.shape}")
        if data.dtype.hasobject:
            _all(state, data.ravel().tolist(), within)
        else:
            state.update(np.ascontiguousarray(data).tobytes())
    elif isinstance(data, list | tuple):
        _tag(state, kind, str(len(data)))
        _all(state, data, within)
    elif isinstance(data, Mapping):
        _tag(state, kind, str(len(data)))
        _all(state, (part for item in data.items() for part in item), within)
    elif isinstance(data, set | frozenset):
        _tag(state, "set", ",".join(sorted(_digest_within(member, within) for member in data)))
    elif isinstance(data, bytearray | memoryview):
        _tag(state, kind, repr(bytes(data)))
    elif callable(data) and hasattr(data, "__qualname__"):
        _tag(state, "name", f"{data.__module__}.{data.__qualname__}")
    elif hasattr(data, "to_dict") and hasattr(data, "columns"):
        _tag(state, "frame", str(len(data)))
        _all(state, (np.asarray(getattr(data, "index", ())),), within)
        _all(state, (part for name in data.columns for part in (name, np.asarray(data[name]))), within)
    elif hasattr(data, "to_numpy"):  # a column or an index of a frame
        _tag(state, kind, str(getattr(data, "name", "")))
        _all(state, (np.asarray(getattr(data, "index", ())), data.to_numpy()), within)
    else:
        _feed_pickled(state, data, within)


def _feed_pickled(state: Any, data: Any, within: tuple[int, ...]) -> None:
    """Feed what an object would be pickled from, not its pickle, which depends on the order of sets."""
    _tag(state, "object", f"{type(data).__module__}.{type(data).__qualname__}")
    try:
        reduced = data.__reduce_ex__(4)
    except Exception:
        return  # its content cannot be read: it counts by its type alone
    if isinstance(reduced, str):
        _tag(state, "name", reduced)
        return
    _all(state, (list(part) if hasattr(part, "__next__") else part for part in reduced), within)


def _tagged(kind: str, text: str) -> str:
    return f"{kind}:{len(text)}:{text}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _tag(state: Any, kind: str, text: str) -> None:
    state.update(_bytes(_tagged(kind, text)))


def _all(state: Any, items: Iterable[Any], within: tuple[int, ...]) -> None:
    kinds = set(map(type, items)) if isinstance(items, list | tuple) else {None}
    if kinds == {str}:  # the same as below, and a column has few different ones
        tagged = {item: _tagged("str", repr(item)) for item in set(items)}
        state.update(_bytes("".join(map(tagged.__getitem__, items))))
        return
    if kinds <= set(_PLAIN):  # the same as below, at once, because data may hold a million numbers
        state.update(_bytes("".join([_tagged(type(item).__name__, repr(item)) for item in items])))
        return
    for item in items:
        _feed(state, item, within)


def _digest_within(data: Any, within: tuple[int, ...]) -> str:
    state = hashlib.sha256()
    _feed(state, data, within)
    return str(state.hexdigest())


# --- How is a dataset written so that it can be read back with all values and types? ---
#
# As JSON text. Lists, texts, numbers, true, false and null represent themselves (``1`` and ``1.0`` differ, as they do
# in a digest); what JSON has no form for is an object with one member whose name begins with ``$``. What is read back
# has the digest of what was written, or it is refused.

KINDS = "numbers, texts, dates, lists, tuples, dicts, sets, NumPy arrays and data frames"


def kept_text(data: Any) -> str:
    """Return a dataset as JSON text."""
    try:
        text = json.dumps(_plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        again = digest(read_kept(text)) == digest(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"this dataset cannot be kept in evidence ({error}); {_INSTEAD}") from None
    if not again:
        raise UsageError(f"this dataset, a {type(data).__name__}, would not be read back as it is; {_INSTEAD}")
    return text


_INSTEAD = f"kept are {KINDS}; leave out keep_data (--keep-data) to keep digests alone"


def read_kept(text: str) -> Any:
    """Return the dataset that `kept_text` wrote; raises `UsageError` for any other text."""
    try:
        return _read(json.loads(text))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise UsageError(f"the data that the evidence keeps cannot be read: {error}") from None


def _plain(data: Any) -> Any:
    if isinstance(data, np.generic):
        data = data.item()
    kind = type(data)
    if data is None or kind in (bool, int, str):
        return data
    if kind is float:
        return data if math.isfinite(data) else {"$float": repr(data)}
    if kind is list:
        return [_plain(item) for item in data]
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in data):
            return {key: _plain(value) for key, value in data.items()}
        return {"$dict": [[_plain(key), _plain(value)] for key, value in data.items()]}
    if kind in (tuple, set, frozenset):
        members = [_plain(item) for item in data]
        return {f"${kind.__name__}": members if kind is tuple else sorted(members, key=json.dumps)}
    if kind is np.ndarray:
        values = [str(item) for item in data.ravel()] if data.dtype.kind in "Mm" else data.ravel().tolist()
        return {"$array": [str(data.dtype), list(data.shape), _plain(values)]}
    if kind.__name__ == "Timestamp" and kind.__module__.partition(".")[0] == "pandas":
        return {"$timestamp": [data.isoformat(), data.unit]}
    if kind in (datetime.date, datetime.datetime):
        return {f"${kind.__name__}": data.isoformat()}
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        columns = [[_plain(name), _plain(np.asarray(data[name]))] for name in data.columns]
        return {"$frame": [_plain(np.asarray(data.index)), columns]}
    raise TypeError(f"it holds a {kind.__name__}")


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(item) for item in value]
    if not isinstance(value, dict):
        return value
    marks = [name for name in value if name.startswith("$")]
    if not marks:
        return {name: _read(item) for name, item in value.items()}
    ((mark, inner),) = value.items()
    if mark == "$float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[inner]
    if mark == "$dict":
        return {_read(key): _read(item) for key, item in inner}
    if mark in _MADE:
        return _MADE[mark](_read(inner))
    if mark == "$array":
        kind, shape, values = inner
        return np.array(_read(values), dtype=np.dtype(kind)).reshape(shape)
    if mark == "$timestamp":
        import pandas

        time, unit = inner
        return pandas.Timestamp(time).as_unit(unit)
    if mark == "$frame":
        import pandas

        index, columns = inner
        read = {_read(name): _read(column) for name, column in columns}
        return pandas.DataFrame(read, index=pandas.Index(_read(index)))
    raise ValueError(f"nothing is written as {mark}")


_MADE: dict[str, Any] = {
    "$tuple": tuple, "$set": set, "$frozenset": frozenset, "$date": datetime.date.fromisoformat,
    "$datetime": datetime.datetime.fromisoformat,
}  # fmt: skip
