"""How is a dataset written so that it can be read back with all values and types?

As JSON text. Lists, texts, numbers, true, false and null represent themselves (``1`` and ``1.0`` differ, as they do in
a digest); what JSON has no form for is an object with one member whose name begins with ``$``. What is read back has
the digest of what was written, or it is refused.
"""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.digest import digest

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
