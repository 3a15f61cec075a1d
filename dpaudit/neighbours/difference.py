"""In which records do two datasets differ?

Records are compared as multisets, by their digests. Records that are equal at the beginning and at the end of both
datasets are set aside first, column by column where there are columns, so that one different record among a million is
found without reading them all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.neighbours.digest import digest

_EXACT = (int, str, bool)  # types whose equal values are identical
_LARGE = 30  # records from which setting aside equal ones is faster


@dataclass(frozen=True, slots=True)
class Difference:
    """The records that only one of two datasets has."""

    sizes: tuple[int, int]  # numbers of records of the two
    gone: tuple[int, ...]  # places in the first dataset of the records that the second does not have
    come: tuple[int, ...]  # places in the second dataset of the records that the first does not have
    # the places of all other records in the two, matched: two arrays (records,)
    common: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


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
    digests0, digests1 = list(map(record_digest, _listed(inner0))), list(map(record_digest, _listed(inner1)))
    gone, come, both = _matched(digests0, digests1)
    before, after = np.arange(start), np.arange(end)
    common = [
        np.concatenate([before, start + np.array(inner, dtype=np.intp), size - end + after])
        for inner, size in zip(both, sizes, strict=True)
    ]
    return Difference(
        sizes, tuple(start + place for place in gone), tuple(start + place for place in come), (common[0], common[1])
    )


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


def _listed(data: Any) -> Sequence[Any]:
    found = listed(data)
    return () if found is None else found


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
        return [cut] if cut.dtype.names is None and cut.dtype.kind in "biufU" and type(cut) is np.ndarray else None
    if hasattr(cut, "iloc"):
        columns = [cut] if cut.ndim == 1 else [cut.iloc[:, number] for number in range(cut.shape[1])]
    else:
        columns = cut.get_columns() if hasattr(cut, "get_columns") else [cut]
    if not columns:
        return None
    return [_comparable(column) for column in columns]


def _comparable(column: Any) -> Any:
    """A column as an array of numbers if it is one, else as something that can be compared value by value."""
    if not hasattr(column, "tolist"):  # of polars
        if column.dtype.is_float():
            return column.to_list() if column.null_count() else column.to_numpy()
        return column if not column.dtype.is_nested() else column.to_list()
    return column.to_numpy() if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf" else column.tolist()


def _same(own: Any, other: Any) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Where two columns are certainly equal, to the last bit; None if that cannot be determined quickly."""
    if hasattr(own, "eq_missing"):  # a series of polars that holds no floats
        return np.asarray(own.eq_missing(other).to_numpy()) if own.dtype == other.dtype else None
    if isinstance(own, list | tuple):
        pairs = zip(own, other, strict=True)
        return np.fromiter((a is b or (type(a) is type(b) and _plainly(a, b)) for a, b in pairs), bool, len(own))
    if own.dtype != other.dtype or own.shape != other.shape:
        return None
    if own.dtype.kind == "f":
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
