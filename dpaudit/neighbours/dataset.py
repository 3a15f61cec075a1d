"""How is a user's data read as records with columns, and rebuilt with some records changed?

A dataset keeps its type, its dtypes and its order. New datasets share records with the data they were made from, and
the user's own object is never modified.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.records import ABSENT, Column, Dataset, Made, Part, Sort, array_sort, taken_places

# --- rows that are Python objects ---


def sort_of(values: Iterable[Any]) -> tuple[Sort, np.dtype[Any] | None, Any]:
    """Return the sort of Python values, their dtype, and how a missing one is written."""
    values = values if isinstance(values, list | tuple) else list(values)
    kinds = set(map(type, values))
    missing = None if type(None) in kinds else ABSENT
    kinds.discard(type(None))
    if str in kinds and kinds <= {str, float} and all(type(v) is not float or math.isnan(v) for v in values):
        return Sort.TEXT, None, math.nan if float in kinds else missing
    if not kinds:
        return Sort.OTHER, None, missing
    if len(kinds) == 1:
        kind = kinds.pop()
        if issubclass(kind, np.generic):
            dtype = np.dtype(kind)
            if dtype.kind in "iufb":
                return array_sort(dtype), dtype, missing
            return (Sort.TEXT if dtype.kind == "U" else Sort.OTHER), None, missing
        kinds = {kind}
    for known, sort in (({bool}, Sort.TRUTH), ({int}, Sort.WHOLE), ({int, float}, Sort.REAL), ({str}, Sort.TEXT)):
        if kinds <= known:
            return sort, None, missing
    return Sort.OTHER, None, missing


class _Rows:
    """Rows that are Python objects: mappings, sequences or arrays of one length, or plain values."""

    def __init__(self, rows: Sequence[Any], pattern: Any = ABSENT) -> None:
        """Read rows; if there are none, the pattern shows what one looks like."""
        self.rows = rows
        known = rows if len(rows) or pattern is ABSENT else [pattern]
        self.pattern: Any = known[0] if len(known) else None
        self.names: list[Any] | None = _names(known)
        columns = []
        for number in range(1 if self.names is None else len(self.names)):
            name = None if self.names is None else self.names[number]
            sort, dtype, missing = sort_of(known if name is None else [row[name] for row in known])
            columns.append(Column(name, sort, dtype, (), missing))
        self.columns = tuple(columns)

    def values(self, column: int) -> list[Any]:
        """Return the values of a column."""
        if self.names is None:
            return self.rows if isinstance(self.rows, list) else list(self.rows)
        name = self.names[column]
        return [row[name] for row in self.rows]

    def value(self, place: int, column: int) -> Any:
        """Return one value as it is in the data."""
        return self.rows[place] if self.names is None else self.rows[place][self.names[column]]

    def made(self, made: Made) -> Any:
        fields = {number: _cast(self.columns[number], value) for number, value in made.fields.items()}
        if self.names is None:
            if 0 in fields:
                return fields[0]
            return self.columns[0].plain if made.like is None else self.rows[made.like]
        if made.like is None:
            row: Any = self.pattern
            fields = {number: fields.get(number, column.plain) for number, column in enumerate(self.columns)}
        else:
            row = self.rows[made.like]
        if isinstance(row, Mapping):
            changed = {self.names[number]: value for number, value in fields.items()}
            whole = {**(row if made.like is not None else {}), **changed}
            return whole if type(row) is dict else _like(row, whole)
        listed = [fields.get(number, old) for number, old in enumerate(row)]
        if isinstance(row, np.ndarray):
            return np.array(listed, dtype=row.dtype)
        return row._make(listed) if hasattr(row, "_make") else type(row)(listed)


def _cast(column: Column, value: Any) -> Any:
    """Cast a number of ours; values from the data stay as they are."""
    if value is None or value is column.missing or column.sort is Sort.OTHER:
        return value
    if column.sort is Sort.REAL and column.dtype is None:
        return value if isinstance(value, int | float) else float(value)
    return column.cast(value)


def _like(row: Any, whole: dict[Any, Any]) -> Any:
    try:
        return type(row)(whole)
    except TypeError:
        return whole


def _names(rows: Sequence[Any]) -> list[Any] | None:
    """Return the names of the columns that every row has, or None if rows are plain values."""
    kinds = set(map(type, rows))
    if not kinds:
        return None
    if all(issubclass(kind, Mapping) for kind in kinds):
        common = set(rows[0]).intersection(*rows)
        return [name for name in rows[0] if name in common] or None
    if all(issubclass(kind, list | tuple | np.ndarray) for kind in kinds):
        if any(isinstance(row, np.ndarray) and row.ndim != 1 for row in rows):
            return None
        lengths = set(map(len, rows))
        return list(range(lengths.pop())) if len(lengths) == 1 else None
    return None


class _OfRows(Dataset):
    """Records that are kept one by one."""

    _rows: _Rows

    def values(self, column: int) -> Any:
        """Return the values of a column."""
        return self._rows.values(column)

    def value(self, place: int, column: int) -> Any:
        """Return one value as it is in the data."""
        return self._rows.value(place, column)


class Listed(_OfRows):
    """A list, a tuple, a set or another sequence; ``pattern`` is a record that shows what one looks like."""

    def __init__(self, data: Sequence[Any] | Set[Any], pattern: Any = ABSENT) -> None:
        self.data, self.size = data, len(data)
        self._rows = _Rows(data if isinstance(data, list | tuple) else list(data), pattern)
        self.pattern = self._rows.pattern
        self.columns = self._rows.columns

    def _built(self, parts: Sequence[Part]) -> Any:
        rows = self._rows.rows
        built: list[Any] = []
        for part in parts:
            if isinstance(part, slice):
                built.extend(rows[part])
            elif isinstance(part, np.ndarray):
                built.extend(rows[place] for place in part.tolist())
            else:
                built.extend(map(self._rows.made, part))
        if type(self.data) is list:
            return built
        try:
            return type(self.data)(built)
        except TypeError:
            return tuple(built) if isinstance(self.data, tuple) else built


class Mapped(_OfRows):
    """A mapping whose items are the records: a record that replaces another takes its key."""

    def __init__(self, data: Mapping[Any, Any], pattern: Any = ABSENT) -> None:
        self.data, self.size = data, len(data)
        self._keys = list(data)
        self._rows = _Rows(list(data.values()), pattern)
        self.columns = self._rows.columns

    def _built(self, parts: Sequence[Part]) -> Any:
        free = taken_places(parts, self.size)
        built: dict[Any, Any] = {}
        for part in parts:
            if isinstance(part, slice | np.ndarray):
                places = range(*part.indices(self.size)) if isinstance(part, slice) else part.tolist()
                built.update((self._keys[place], self._rows.rows[place]) for place in places)
                continue
            for made in part:
                if made.like in free:
                    free.discard(made.like)
                    built[self._keys[made.like]] = self._rows.made(made)
                else:
                    built[_new_key(self._keys, built)] = self._rows.made(made)
        return built if type(self.data) is dict else _like(self.data, built)


def _new_key(keys: Sequence[Any], built: Mapping[Any, Any]) -> Any:
    if keys and all(type(key) is int for key in keys):
        return max(max(keys), max((key for key in built if type(key) is int), default=0)) + 1
    taken = {*keys, *built}
    names = ("new record" if number == 1 else f"new record {number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


class Single(_OfRows):
    """One value, if each person holds their own (the local model)."""

    def __init__(self, data: Any) -> None:
        self.data, self.size = data, 1
        self._array = isinstance(data, np.ndarray)
        self._rows = _Rows([data[()] if self._array else data])
        self.columns = self._rows.columns

    def _built(self, parts: Sequence[Part]) -> Any:
        ((made,),) = parts  # type: ignore[misc]
        value = self._rows.made(made)
        return np.array(value, dtype=self.data.dtype) if self._array else value


class Arrayed(Dataset):
    """A NumPy array; the records are along its first axis."""

    def __init__(self, data: np.ndarray[Any, Any]) -> None:
        self.data, self.size = data, len(data)
        if data.dtype.names is not None:
            self._names: list[Any] = list(data.dtype.names)
            self.columns = tuple(self._column(name, data[name]) for name in self._names)
            return
        self._names = list(range(math.prod(data.shape[1:]))) if data.ndim > 1 else []
        self._flat = data.reshape(self.size, len(self._names)) if data.ndim > 1 else data
        numbers: list[Any] = self._names or [None]
        self.columns = tuple(self._column(name, self._flat[:, name] if self._names else data) for name in numbers)

    @staticmethod
    def _column(name: Any, values: Any) -> Column:
        dtype = values.dtype
        if dtype.kind == "O" and values.ndim == 1:
            sort, inner, missing = sort_of(values.tolist())
            return Column(name, sort, inner, (), missing)
        sort = array_sort(dtype) if values.ndim == 1 else Sort.OTHER
        return Column(name, sort, dtype if dtype.kind != "T" else None)

    def values(self, column: int) -> Any:
        """Return the values of a column."""
        if self.data.dtype.names is not None:
            return self.data[self._names[column]]
        return self._flat[:, column] if self._names else self.data

    def value(self, place: int, column: int) -> Any:
        """Return one value as it is in the data."""
        return self.values(column)[place]

    def _built(self, parts: Sequence[Part]) -> Any:
        pieces = [self.data[part] if isinstance(part, slice | np.ndarray) else self._made(part) for part in parts]
        if not pieces:
            return self.data[:0].copy()
        join = np.ma.concatenate if isinstance(self.data, np.ma.MaskedArray) else np.concatenate
        joined = join(pieces) if len(pieces) > 1 else pieces[0].copy()
        return joined if type(joined) is type(self.data) else joined.view(type(self.data))

    def _made(self, records: Sequence[Made]) -> Any:
        whole = any(made.like is None for made in records)
        if whole:
            rows = np.zeros((len(records), *self.data.shape[1:]), dtype=self.data.dtype)
        else:
            rows = self.data[[made.like for made in records]].copy(order="C")
        named = self.data.dtype.names is not None
        flat = rows if named or rows.ndim == 1 else rows.reshape(len(rows), -1)
        for place, made in enumerate(records):
            fields = dict(enumerate(self.made_fields(made))) if whole else made.fields
            for number, value in fields.items():
                if named:
                    flat[self._names[number]][place] = value
                elif flat.ndim == 1:
                    flat[place] = value
                else:
                    flat[place, number] = value
        return rows


def dataset_of(data: Any, pattern: Any = ABSENT) -> Dataset:
    """Read a user's data as a dataset."""
    modules = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    if modules & {"pandas", "polars"}:
        from dpaudit.neighbours.frames import frame_of

        return frame_of(data)
    if isinstance(data, np.ndarray):
        return Arrayed(data) if data.ndim else Single(data)
    if isinstance(data, Mapping):
        return Mapped(data, pattern)
    if isinstance(data, Sequence | Set) and not isinstance(data, str | bytes | bytearray | memoryview):
        return Listed(data, pattern)
    if hasattr(data, "__next__"):
        raise UsageError(f"a {type(data).__name__} can be read only once; make a list of it")
    return Single(data)
