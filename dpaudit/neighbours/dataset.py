"""How is a user's data read as records with columns, and rebuilt with some records changed?

A dataset keeps its type, its dtypes and its order. New datasets share records with the data they were made from, and
the user's own object is never modified.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from dpaudit.errors import UsageError

# --- What is a dataset to the code that changes it? Records with columns, and parts that another dataset is built
# from.


class Sort(Enum):
    """What kind of values a column holds."""

    WHOLE = "whole numbers"
    REAL = "numbers"
    TEXT = "texts"
    TRUTH = "true and false"
    CHOICE = "categories"
    TIME = "times"
    OTHER = "objects"

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self in (Sort.WHOLE, Sort.REAL)


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()  # for "no such value", where None is a value


@dataclass(frozen=True, slots=True)
class DataColumn:
    """One column of a dataset."""

    name: Any  # None if the records are plain values
    sort: Sort  # what it holds
    # limits its numbers and the length of its texts; None if Python's own types do not
    dtype: np.dtype[Any] | None = None
    choices: tuple[Any, ...] = ()  # the categories, if its type lists them
    missing: Any = ABSENT  # how a missing value is written, if the column holds one already; else `ABSENT`
    gap: Any = ABSENT  # how one is written where it is declared, in a column that holds none; else `ABSENT`

    @property
    def title(self) -> str:
        """Its name in a sentence."""
        if self.name is None:
            return "the value"
        return f"column {self.name}" if isinstance(self.name, int) else str(self.name)

    def cast(self, value: Any) -> Any:
        """Return a value of ours in the type of the column; missing values and categories stay as they are."""
        if self.dtype is not None and self.dtype.kind in "iufbUM":
            return np.array([value]).astype(self.dtype)[0]
        if self.sort is Sort.REAL:
            return float(value)
        return int(value) if self.sort is Sort.WHOLE else value

    @property
    def ends(self) -> tuple[Any, Any]:
        """The smallest and the largest number of its type; very far ends for Python's integers, which have none."""
        if self.sort is Sort.REAL:
            dtype = self.dtype if self.dtype is not None and self.dtype.itemsize < 8 else np.dtype(np.float64)
            most = float(np.finfo(dtype).max)
            return -most, most
        if self.dtype is not None:
            return int(np.iinfo(self.dtype).min), int(np.iinfo(self.dtype).max)
        return -(10**300), 10**300

    @property
    def width(self) -> int | None:
        """The largest number of characters of its texts; None without a limit."""
        return self.dtype.itemsize // 4 if self.dtype is not None and self.dtype.kind == "U" else None

    @property
    def plain(self) -> Any:
        """A harmless value, for records that are not based on another."""
        if self.sort is Sort.CHOICE:
            return self.choices[0] if self.choices else None
        if self.sort is Sort.TIME and self.dtype is not None:
            return np.array([0]).astype(self.dtype)[0]
        return {Sort.WHOLE: 0, Sort.REAL: 0.0, Sort.TEXT: "", Sort.TRUTH: False}.get(self.sort)


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A new record: like the one at a place (or like none), except in some of its columns.

    ``fields`` holds the new values by the numbers of their columns.
    """

    like: int | None
    fields: Mapping[int, Any] = field(default_factory=dict)


Part = slice | np.ndarray[Any, Any] | Sequence[NewRecord]


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    try:
        return value is None or not bool(value == value)
    except (TypeError, ValueError):  # comparing NA gives NA; an array is not a single value
        return not isinstance(value, np.ndarray)


class Dataset:
    """A user's data as records with columns. ``size`` is the number of records."""

    data: Any
    size: int
    columns: tuple[DataColumn, ...]

    def values(self, column: int) -> Any:
        """Return the values of a column, in the order of the records, as a list or an array."""
        raise NotImplementedError

    def value(self, place: int, column: int) -> Any:
        """Return one value as it is in the data."""
        raise NotImplementedError

    def build(self, parts: Sequence[Part]) -> Any:
        """Return data of the same kind, assembled from parts: own records, by their places, and made ones.

        All records in their order are the user's own object.
        """
        full = [part for part in parts if not isinstance(part, slice) or part.start < part.stop]
        if len(full) == 1 and isinstance(full[0], slice) and full[0] == slice(0, self.size):
            return self.data
        return self._built(full)

    def _built(self, parts: Sequence[Part]) -> Any:
        raise NotImplementedError

    def numbered(self, name: str) -> int:
        """Return the number of the column with this name; raises `UsageError` with the existing names."""
        for number, column in enumerate(self.columns):
            if column.name is not None and str(column.name) == str(name):
                return number
        names = ", ".join(repr(str(column.name)) for column in self.columns if column.name is not None)
        known = f"the data have {names}" if names else "the data have no columns with names"
        raise UsageError(f"no column {str(name)!r}: {known}")

    def made_fields(self, made: NewRecord) -> list[Any]:
        """Return a made record's values, column by column."""
        return [
            made.fields[number]
            if number in made.fields
            else column.plain
            if made.like is None
            else self.value(made.like, number)
            for number, column in enumerate(self.columns)
        ]


def taken_places(parts: Sequence[Part], size: int) -> set[int]:
    """Return the places that made records are based on and that no own record occupies any more."""
    like = {made.like for part in parts if is_made(part) for made in part if made.like is not None}  # type: ignore[union-attr]
    for part in parts:
        if isinstance(part, slice):
            like = {place for place in like if not part.start <= place < part.stop}
        elif isinstance(part, np.ndarray):
            like -= set(np.array(sorted(like), dtype=np.intp)[np.isin(sorted(like), part)].tolist())
    return like


def is_made(part: Part) -> bool:
    """Whether a part holds made records."""
    return not isinstance(part, slice | np.ndarray)


def array_sort(dtype: np.dtype[Any]) -> Sort:
    """Return what an array of this dtype holds."""
    by_kind = {"b": Sort.TRUTH, "i": Sort.WHOLE, "u": Sort.WHOLE, "f": Sort.REAL, "U": Sort.TEXT, "T": Sort.TEXT}
    return Sort.TIME if dtype.kind == "M" else by_kind.get(dtype.kind, Sort.OTHER)


# --- How is a user's data read as records with columns, and rebuilt with some records changed? ---

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
            columns.append(DataColumn(name, sort, dtype, (), missing))
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

    def made(self, made: NewRecord) -> Any:
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


def _cast(column: DataColumn, value: Any) -> Any:
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
    def _column(name: Any, values: Any) -> DataColumn:
        dtype = values.dtype
        if dtype.kind == "O" and values.ndim == 1:
            sort, inner, missing = sort_of(values.tolist())
            return DataColumn(name, sort, inner, (), missing)
        sort = array_sort(dtype) if values.ndim == 1 else Sort.OTHER
        return DataColumn(name, sort, dtype if dtype.kind != "T" else None)

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

    def _made(self, records: Sequence[NewRecord]) -> Any:
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


# --- How are the frames and series of pandas and polars read as records, and rebuilt? ---


def frame_of(data: Any) -> Dataset:
    """Read a frame or a series; raises `UsageError` for one that holds no records yet."""
    kind = type(data).__name__
    if any(base.__module__.startswith("polars") for base in type(data).__mro__):
        if kind not in ("DataFrame", "Series"):
            raise UsageError(f"a polars {kind} holds no records yet; give a frame (of a LazyFrame, its collect())")
        dataset: Dataset = PolarsFrame(data)
    elif hasattr(data, "iloc") and data.ndim <= 2:
        dataset = PandasFrame(data)
    else:
        raise UsageError(f"a pandas {kind} is no frame or series; give one of these")
    if not dataset.columns:
        raise UsageError("the frame has no column, so its records cannot be told apart")
    return dataset


class PandasFrame(Dataset):
    """A data frame or a series of pandas.

    An index that counts from 0 counts the new records too. Any other index keeps its labels: a record that replaces
    another takes its label, and an additional record gets a new one.
    """

    def __init__(self, data: Any) -> None:
        import pandas

        self.data, self.size = data, len(data)
        self._columns = [data] if data.ndim == 1 else [data.iloc[:, number] for number in range(data.shape[1])]
        names = [None] if data.ndim == 1 else list(data.columns)
        self.columns = tuple(map(self._column, names, self._columns))
        index = data.index
        self._counted = isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1

    def _column(self, name: Any, series: Any) -> DataColumn:
        import pandas

        dtype, types = series.dtype, pandas.api.types
        if isinstance(dtype, pandas.CategoricalDtype):
            missing = np.nan if series.hasnans else ABSENT
            return DataColumn(name, Sort.CHOICE, None, tuple(dtype.categories), missing)
        if dtype.kind == "O" and isinstance(dtype, np.dtype):
            sort, inner, missing = sort_of(series.tolist())
            return DataColumn(name, sort, inner, (), missing)
        plain = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
        missing = dtype.na_value if not isinstance(dtype, np.dtype) and series.hasnans else ABSENT
        for test, sort in (
            (types.is_bool_dtype, Sort.TRUTH),
            (types.is_integer_dtype, Sort.WHOLE),
            (types.is_float_dtype, Sort.REAL),
            (types.is_string_dtype, Sort.TEXT),
            (types.is_datetime64_dtype, Sort.TIME),
        ):
            if test(dtype):
                gap = (np.nan if plain is dtype else dtype.na_value) if sort is Sort.WHOLE else ABSENT
                return DataColumn(name, sort, plain if sort is not Sort.TEXT else None, (), missing, gap)
        return DataColumn(name, Sort.OTHER, None, (), missing)

    def values(self, column: int) -> Any:
        """Return the values of a column."""
        series, sort = self._columns[column], self.columns[column].sort
        if sort.numeric and not isinstance(series.dtype, np.dtype):
            return series.to_numpy(dtype=np.float64, na_value=np.nan)
        return series.to_numpy() if sort.numeric or sort is Sort.TIME else series.tolist()

    def value(self, place: int, column: int) -> Any:
        """Return one value as it is in the data."""
        return self._columns[column].iloc[place]

    def _built(self, parts: Sequence[Part]) -> Any:
        import pandas

        labels = None if self._counted else _Labels(self.data.index, taken_places(parts, self.size))
        pieces = [
            self.data.iloc[part] if isinstance(part, slice | np.ndarray) else self._made(part, labels) for part in parts
        ]
        if not pieces:
            return self.data.iloc[:0].copy()
        joined = pandas.concat(pieces, ignore_index=self._counted)
        return joined if type(joined) is type(self.data) else type(self.data)(joined)

    def _made(self, records: Sequence[NewRecord], labels: Any) -> Any:
        import pandas

        rows = [self.made_fields(made) for made in records]
        index = None if labels is None else labels.of(records)
        columns = [
            _series([row[number] for row in rows], series.dtype, index) for number, series in enumerate(self._columns)
        ]
        if self.data.ndim == 1:
            return columns[0].rename(self.data.name)
        frame = pandas.concat(columns, axis=1)
        frame.columns = self.data.columns
        return frame


def _series(values: list[Any], dtype: Any, index: Any) -> Any:
    """Return values as a series of a type; whole numbers of NumPy with a gap are floats, as pandas reads them."""
    import pandas

    gaps = isinstance(dtype, np.dtype) and dtype.kind in "iu" and any(each != each for each in values)
    return pandas.Series(values, dtype=np.float64 if gaps else dtype, index=index)


class _Labels:
    """The labels of made records, if the index does not just count."""

    def __init__(self, index: Any, free: set[int]) -> None:
        self._index, self._free, self._new = index, free, 0

    def of(self, records: Sequence[NewRecord]) -> Any:
        """Return the index of these records."""
        pieces = []
        for made in records:
            if made.like in self._free:
                self._free.discard(made.like)
                pieces.append(self._index[[made.like]])
            else:
                pieces.append(self._further(made))
        return pieces[0].append(pieces[1:])

    def _further(self, made: NewRecord) -> Any:
        import pandas

        index = self._index
        self._new += 1
        if not len(index):
            return pandas.Index([self._new - 1])
        if index.dtype.kind in "iu" and int(index.max()) + self._new <= np.iinfo(np.int64).max // 2:
            return pandas.Index([int(index.max()) + self._new], dtype=index.dtype, name=index.name)
        if isinstance(index[0], str):
            return pandas.Index([f"new record {self._new}"], dtype=index.dtype, name=index.name)
        return index[[len(index) - 1 if made.like is None else made.like]]  # a label may stand twice


class PolarsFrame(Dataset):
    """A data frame or a series of polars."""

    def __init__(self, data: Any) -> None:
        self.data, self.size = data, len(data)
        self._series = type(data).__name__ == "Series"
        self._columns = [data] if self._series else data.get_columns()
        names = [None] if self._series else data.columns
        self.columns = tuple(map(self._column, names, self._columns))

    def _column(self, name: Any, series: Any) -> DataColumn:
        import polars

        dtype = series.dtype
        missing = None if series.null_count() else ABSENT
        if dtype == polars.Enum or dtype == polars.Categorical:
            choices = dtype.categories if dtype == polars.Enum else series.cast(polars.String).unique().drop_nulls()
            return DataColumn(name, Sort.CHOICE, None, tuple(choices.sort()), missing)
        if (dtype.is_integer() or dtype.is_float()) and not str(dtype).endswith("128"):
            plain = np.dtype(str(dtype).lower())
            sort, gap = (Sort.WHOLE, None) if dtype.is_integer() else (Sort.REAL, ABSENT)
            return DataColumn(name, sort, plain, (), missing, gap)
        if dtype == polars.Datetime and dtype.time_zone is None:
            return DataColumn(name, Sort.TIME, np.dtype(f"M8[{dtype.time_unit}]"), (), missing)
        sort = {polars.String: Sort.TEXT, polars.Boolean: Sort.TRUTH}.get(dtype.base_type(), Sort.OTHER)
        return DataColumn(name, sort, None, (), missing)

    def values(self, column: int) -> Any:
        """Return the values of a column."""
        series, sort = self._columns[column], self.columns[column].sort
        return series.to_numpy() if sort.numeric or sort is Sort.TIME else series.to_list()

    def value(self, place: int, column: int) -> Any:
        """Return one value as it is in the data."""
        return self._columns[column][place]

    def _built(self, parts: Sequence[Part]) -> Any:
        import polars

        pieces = [
            self.data.slice(part.start, part.stop - part.start)
            if isinstance(part, slice)
            else self.data[part]
            if isinstance(part, np.ndarray)
            else self._made(part)
            for part in parts
        ]
        return polars.concat(pieces) if pieces else self.data.clear()

    def _made(self, records: Sequence[NewRecord]) -> Any:
        import polars

        rows = [self.made_fields(made) for made in records]
        columns = [
            polars.Series(series.name, [python_value(row[number]) for row in rows], dtype=series.dtype)
            for number, series in enumerate(self._columns)
        ]
        return columns[0] if self._series else polars.DataFrame(columns)


def python_value(value: Any) -> Any:
    """Return a value of NumPy as one of Python, except for times."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind != "M" else value
