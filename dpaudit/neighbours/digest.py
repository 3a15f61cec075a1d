"""Are two pieces of data equal? A digest that depends on the values alone, not on the process."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
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
        text = json.dumps(_as_json(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
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
        return _from_json(json.loads(text))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise UsageError(f"the data that the evidence keeps cannot be read: {error}") from None


def _as_json(data: Any) -> Any:
    if isinstance(data, np.generic):
        data = data.item()
    kind = type(data)
    if data is None or kind in (bool, int, str):
        return data
    if kind is float:
        return data if math.isfinite(data) else {"$float": repr(data)}
    if kind is list:
        return [_as_json(item) for item in data]
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in data):
            return {key: _as_json(value) for key, value in data.items()}
        return {"$dict": [[_as_json(key), _as_json(value)] for key, value in data.items()]}
    if kind in (tuple, set, frozenset):
        members = [_as_json(item) for item in data]
        return {f"${kind.__name__}": members if kind is tuple else sorted(members, key=json.dumps)}
    if kind is np.ndarray:
        values = [str(item) for item in data.ravel()] if data.dtype.kind in "Mm" else data.ravel().tolist()
        return {"$array": [str(data.dtype), list(data.shape), _as_json(values)]}
    if kind.__name__ == "Timestamp" and kind.__module__.partition(".")[0] == "pandas":
        return {"$timestamp": [data.isoformat(), data.unit]}
    if kind in (datetime.date, datetime.datetime):
        return {f"${kind.__name__}": data.isoformat()}
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        columns = [[_as_json(name), _as_json(np.asarray(data[name]))] for name in data.columns]
        return {"$frame": [_as_json(np.asarray(data.index)), columns]}
    raise TypeError(f"it holds a {kind.__name__}")


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    marks = [name for name in value if name.startswith("$")]
    if not marks:
        return {name: _from_json(item) for name, item in value.items()}
    ((mark, inner),) = value.items()
    if mark == "$float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[inner]
    if mark == "$dict":
        return {_from_json(key): _from_json(item) for key, item in inner}
    if mark in _MADE:
        return _MADE[mark](_from_json(inner))
    if mark == "$array":
        kind, shape, values = inner
        return np.array(_from_json(values), dtype=np.dtype(kind)).reshape(shape)
    if mark == "$timestamp":
        import pandas

        time, unit = inner
        return pandas.Timestamp(time).as_unit(unit)
    if mark == "$frame":
        import pandas

        index, columns = inner
        read = {_from_json(name): _from_json(column) for name, column in columns}
        return pandas.DataFrame(read, index=pandas.Index(_from_json(index)))
    raise ValueError(f"nothing is written as {mark}")


_MADE: dict[str, Any] = {
    "$tuple": tuple, "$set": set, "$frozenset": frozenset, "$date": datetime.date.fromisoformat,
    "$datetime": datetime.datetime.fromisoformat,
}  # fmt: skip

# --- In which records do two datasets differ? ---
#
# Records are matched by their digests, first with first. Records that are equal at the beginning and at the end of both
# datasets are set aside first, column by column where there are columns, so that one different record among a million
# is found without reading them all.

_EXACT = (int, str, bool, datetime.date)  # types whose equal values are identical
_EDITS = 1000  # largest number of changes between two lists of which some records may have changed places
_LARGE = 30  # records from which setting aside equal ones is faster


@dataclass(frozen=True, slots=True)
class Difference:
    """The records that only one of two datasets has."""

    sizes: tuple[int, int]  # numbers of records of the two
    gone: tuple[int, ...]  # places in the first dataset of the records that the second does not have
    come: tuple[int, ...]  # places in the second dataset of the records that the first does not have
    # the places of all other records in the two, matched: two arrays (records,)
    common: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
    # the digests of the records between those that are equal at the beginning and at the end, by their places
    inner: tuple[dict[int, str], dict[int, str]] = field(repr=False)

    @property
    def keeps_order(self) -> bool:
        """Whether the records of `common` are matched in the order in which they stand."""
        return bool(np.all(np.diff(self.common[1]) > 0))


def in_order(own: Sequence[str], other: Sequence[str], most: int) -> bool:
    """Whether leaving out and putting in at most so many records, in all, makes one list of digests of another.

    Equal records can be matched in several ways: of those that leave out so many and put in so many, the one that
    reaches furthest is as good as any (Myers 1986, "An O(ND) difference algorithm and its variations", Lemma 3). More
    than a thousand changes that are not one behind the other are not looked for.
    """
    reached: dict[tuple[int, int], int] = {}
    for edits in range(min(most, _EDITS) + 1):
        for left_out in range(edits + 1):
            put_in = edits - left_out
            before = (reached.get((left_out - 1, put_in), -1) + 1, reached.get((left_out, put_in - 1), 0))
            place = min(max(before), len(own), len(other) + left_out - put_in)
            ahead = place - left_out + put_in
            while place < len(own) and ahead < len(other) and own[place] == other[ahead]:
                place, ahead = place + 1, ahead + 1
            if place == len(own) and ahead == len(other):
                return True
            reached[left_out, put_in] = place
    return False


def listed(data: Any) -> Sequence[Any] | None:
    """Return the records of a dataset, or None if it is a single value."""
    if isinstance(data, Mapping):
        return list(data.items())
    if hasattr(data, "itertuples"):
        return list(data.itertuples(index=False, name=None))
    if hasattr(data, "iter_rows"):
        return list(data.iter_rows())
    if hasattr(data, "to_numpy"):
        data = data.to_numpy()
    if isinstance(data, np.ndarray):
        return data if data.ndim > 0 else None  # type: ignore[return-value]
    if isinstance(data, Sequence | Set) and not isinstance(data, str | bytes | bytearray | memoryview):
        return data if isinstance(data, Sequence) else list(data)
    return None


def record_digest(record: Any) -> str:
    """Return the digest of a record; the order of the keys of a mapping does not matter."""
    if isinstance(record, Mapping):
        record = sorted((digest(key), digest(value)) for key, value in record.items())
    return digest(record)


def difference(data0: Any, data1: Any) -> Difference | None:
    """Compare two datasets record by record; None if one of them has no records."""
    if not (_has_records(data0) and _has_records(data1)):
        return None
    sizes = len(data0), len(data1)
    data0, data1 = _as_with_gaps(data0, data1), _as_with_gaps(data1, data0)
    start, end = _alike(data0, data1, min(sizes))
    inner0, inner1 = _cut(data0, start, sizes[0] - end), _cut(data1, start, sizes[1] - end)
    digests0, digests1 = (
        list(map(record_digest, _members_or_none(inner0))),
        list(map(record_digest, _members_or_none(inner1))),
    )
    gone, come, both = _matched(digests0, digests1)
    before, after = np.arange(start), np.arange(end)
    common = [
        np.concatenate([before, start + np.array(inner, dtype=np.intp), size - end + after])
        for inner, size in zip(both, sizes, strict=True)
    ]
    moved = [tuple(start + place for place in places) for places in (gone, come)]
    inner = (dict(enumerate(digests0, start)), dict(enumerate(digests1, start)))
    return Difference(sizes, moved[0], moved[1], (common[0], common[1]), inner)


def _as_with_gaps(data: Any, other: Any) -> Any:
    """Return a frame or series of pandas with whole numbers as floats where the other one has them with a gap.

    Whole numbers of NumPy know no missing value: pandas makes floats of all of a column as soon as one is missing.
    """
    if not (hasattr(data, "iloc") and type(data) is type(other) and data.shape[1:] == other.shape[1:]):
        return data
    if data.ndim == 1:
        return data.astype(np.float64) if _lacks_gap(data, other) else data
    lacking = [number for number in range(data.shape[1]) if _lacks_gap(data.iloc[:, number], other.iloc[:, number])]
    if not lacking:
        return data
    columns = dict(enumerate(data.iloc[:, number] for number in range(data.shape[1])))
    columns |= {number: columns[number].astype(np.float64) for number in lacking}
    return type(data)(columns, index=data.index).set_axis(data.columns, axis=1)


def _lacks_gap(own: Any, other: Any) -> bool:
    """Whether one series has whole numbers, each of them a float, and the other one floats and a gap."""
    kinds = [each.dtype.kind if isinstance(each.dtype, np.dtype) else "" for each in (own, other)]
    if kinds[0] not in ("i", "u") or kinds[1] != "f" or not other.hasnans:
        return False
    return not len(own) or bool(max(abs(int(own.min())), abs(int(own.max()))) <= 2**53)


def _matched(own: list[str], other: list[str]) -> tuple[list[int], list[int], tuple[list[int], list[int]]]:
    """Match equal records, first with first; return what is left on either side, and the places of the matches."""
    waiting: dict[str, deque[int]] = {}
    for place, record in enumerate(other):
        waiting.setdefault(record, deque()).append(place)
    gone: list[int] = []
    both: tuple[list[int], list[int]] = ([], [])
    for place, record in enumerate(own):
        if waiting.get(record):
            both[0].append(place)
            both[1].append(waiting[record].popleft())
        else:
            gone.append(place)
    return gone, sorted(place for places in waiting.values() for place in places), both


def _has_records(data: Any) -> bool:
    return _sliceable(data) or isinstance(data, Mapping) or listed(data) is not None


def _members_or_none(data: Any) -> Sequence[Any]:
    members = listed(data)
    return () if members is None else members


# --- what is alike at both ends ---


def _sliceable(data: Any) -> bool:
    return isinstance(data, list | tuple) or (isinstance(data, np.ndarray) and data.ndim > 0) or _framed(data)


def _framed(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(data, "to_numpy")


def _cut(data: Any, start: int, stop: int) -> Any:
    if (start, stop) == (0, len(data)):
        return data
    return data.iloc[start:stop] if hasattr(data, "iloc") else data[start:stop]


def _alike(data0: Any, data1: Any, least: int) -> tuple[int, int]:
    """How many records at the start, and how many others at the end, are certainly equal on both sides."""
    if least < _LARGE or type(data0) is not type(data1) or not _sliceable(data0):
        return 0, 0
    start = _run(_columns(data0, 0, least), _columns(data1, 0, least))
    rest = least - start
    if not rest:
        return start, 0
    tail0, tail1 = (_columns(data, len(data) - rest, len(data)) for data in (data0, data1))
    return start, _run(tail0, tail1, backwards=True)


def _run(columns0: list[Any] | None, columns1: list[Any] | None, backwards: bool = False) -> int:
    """How many consecutive records are equal, from the first one on, or from the last one back."""
    if columns0 is None or columns1 is None or len(columns0) != len(columns1):
        return 0
    shortest = len(columns0[0])
    for own, other in zip(columns0, columns1, strict=True):
        same = _same(own, other)
        if same is None:
            return 0
        if backwards:
            same = same[::-1]
        differing = np.flatnonzero(~same[:shortest])
        shortest = int(differing[0]) if len(differing) else shortest
    return shortest


def _columns(data: Any, start: int, stop: int) -> list[Any] | None:
    """The columns of some records, each an array or a list; None if there are none that can be compared quickly."""
    cut = _cut(data, start, stop)
    if isinstance(cut, list | tuple):
        return [cut]
    if isinstance(cut, np.ndarray):
        return [cut] if cut.dtype.names is None and cut.dtype.kind in "biufUmM" and type(cut) is np.ndarray else None
    if hasattr(cut, "iloc"):
        columns = [cut] if cut.ndim == 1 else [cut.iloc[:, number] for number in range(cut.shape[1])]
    else:
        columns = cut.get_columns() if hasattr(cut, "get_columns") else [cut]
    if not columns:
        return None
    return [_comparable(column) for column in columns]


def _comparable(column: Any) -> Any:
    """A column as an array of numbers or times if it is one, else as something that can be compared value by value."""
    if not hasattr(column, "tolist"):  # of polars
        if column.dtype.is_float():
            return column.to_list() if column.null_count() else column.to_numpy()
        return column if not column.dtype.is_nested() else column.to_list()
    plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufmM"
    return column.to_numpy() if plain else column.tolist()


def _same(own: Any, other: Any) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Where two columns are certainly equal, to the last bit; None if that cannot be determined quickly."""
    if hasattr(own, "eq_missing"):  # a series of polars that holds no floats
        return np.asarray(own.eq_missing(other).to_numpy()) if own.dtype == other.dtype else None
    if isinstance(own, list | tuple):
        pairs = zip(own, other, strict=True)
        return np.fromiter((a is b or (type(a) is type(b) and _plainly(a, b)) for a, b in pairs), bool, len(own))
    if own.dtype != other.dtype or own.shape != other.shape:
        return None
    if own.dtype.kind in "fmM":  # NaN, and no time, are equal to themselves
        if own.dtype.itemsize > 8:
            return None
        kind = np.dtype(f"u{own.dtype.itemsize}")
        own, other = (np.ascontiguousarray(side).view(kind) for side in (own, other))
    same = own == other
    return np.asarray(same.reshape(len(same), -1).all(axis=1))


def _plainly(a: Any, b: Any) -> bool:
    if type(a) is float:
        return bool(a.hex() == b.hex())
    return type(a) in _EXACT and bool(a == b)
