"""How are the frames and series of pandas and polars read as records, and rebuilt?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.dataset import sort_of
from dpaudit.neighbours.records import ABSENT, Column, Dataset, Made, Part, Sort, taken_places


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

    def _column(self, name: Any, series: Any) -> Column:
        import pandas

        dtype, types = series.dtype, pandas.api.types
        if isinstance(dtype, pandas.CategoricalDtype):
            missing = np.nan if series.hasnans else ABSENT
            return Column(name, Sort.CHOICE, None, tuple(dtype.categories), missing)
        if dtype.kind == "O" and isinstance(dtype, np.dtype):
            sort, inner, missing = sort_of(series.tolist())
            return Column(name, sort, inner, (), missing)
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
                return Column(name, sort, plain if sort is not Sort.TEXT else None, (), missing)
        return Column(name, Sort.OTHER, None, (), missing)

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

    def _made(self, records: Sequence[Made], labels: Any) -> Any:
        import pandas

        rows = [self.made_fields(made) for made in records]
        index = None if labels is None else labels.of(records)
        columns = [
            pandas.Series([row[number] for row in rows], dtype=series.dtype, index=index)
            for number, series in enumerate(self._columns)
        ]
        if self.data.ndim == 1:
            return columns[0].rename(self.data.name)
        frame = pandas.concat(columns, axis=1)
        frame.columns = self.data.columns
        return frame


class _Labels:
    """The labels of made records, if the index does not just count."""

    def __init__(self, index: Any, free: set[int]) -> None:
        self._index, self._free, self._new = index, free, 0

    def of(self, records: Sequence[Made]) -> Any:
        """Return the index of these records."""
        pieces = []
        for made in records:
            if made.like in self._free:
                self._free.discard(made.like)
                pieces.append(self._index[[made.like]])
            else:
                pieces.append(self._further(made))
        return pieces[0].append(pieces[1:])

    def _further(self, made: Made) -> Any:
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

    def _column(self, name: Any, series: Any) -> Column:
        import polars

        dtype = series.dtype
        missing = None if series.null_count() else ABSENT
        if dtype == polars.Enum or dtype == polars.Categorical:
            choices = dtype.categories if dtype == polars.Enum else series.cast(polars.String).unique().drop_nulls()
            return Column(name, Sort.CHOICE, None, tuple(choices.sort()), missing)
        if (dtype.is_integer() or dtype.is_float()) and not str(dtype).endswith("128"):
            plain = np.dtype(str(dtype).lower())
            return Column(name, Sort.WHOLE if dtype.is_integer() else Sort.REAL, plain, (), missing)
        if dtype == polars.Datetime and dtype.time_zone is None:
            return Column(name, Sort.TIME, np.dtype(f"M8[{dtype.time_unit}]"), (), missing)
        sort = {polars.String: Sort.TEXT, polars.Boolean: Sort.TRUTH}.get(dtype.base_type(), Sort.OTHER)
        return Column(name, sort, None, (), missing)

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

    def _made(self, records: Sequence[Made]) -> Any:
        import polars

        rows = [self.made_fields(made) for made in records]
        columns = [
            polars.Series(series.name, [_python(row[number]) for row in rows], dtype=series.dtype)
            for number, series in enumerate(self._columns)
        ]
        return columns[0] if self._series else polars.DataFrame(columns)


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) and value.dtype.kind != "M" else value
