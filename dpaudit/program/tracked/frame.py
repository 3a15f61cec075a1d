"""What may be done with a tracked frame? Columns, filters, groups, and arrays of rows; the rest is refused by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.errors import UsageError, nearest
from dpaudit.program.tracked.columns import Column
from dpaudit.program.tracked.groups import GroupBy
from dpaudit.program.tracked.joins import joined
from dpaudit.program.tracked.path import PATH, Sample, refuse
from dpaudit.program.tracked.private import Number, Private
from dpaudit.program.tracked.released import is_private
from dpaudit.program.tracked.rows import ColumnDomain, Mask, Rows
from dpaudit.program.tracked.vectors import Vectors


class Frame(Private):
    """A frame of unknown length over a declared domain.

    Attributes:
        rows: which records it holds.
        person: the column that names persons, where neighbours differ in one.
    """

    inner = Private.inner | {"rows", "person", "of_domain", "tracked_len", "sampled"}

    def __init__(self, rows: Rows, columns: dict[str, Column], person: str | None = None) -> None:
        self.rows, self._columns, self.person = rows, columns, person

    @classmethod
    def of_domain(cls, domain: dict[str, ColumnDomain], person: str | None = None, *, replaced: bool = False) -> Frame:
        """Return the data: any number of records over a domain; ``replaced``: whether neighbours replace a person."""
        for name in domain:
            if name.startswith("=") or " of rows " in name:
                raise UsageError(f"a column cannot be called {name!r} here; rename it, without '=' in front")
        rows = Rows(most=1 if person is None else None, sure=person is None or not replaced, known=dict(domain))
        return cls(rows, {name: Column.of_data(rows, name, known) for name, known in domain.items()}, person)

    def _with_rows(self, rows: Rows) -> Frame:
        columns = {}
        for name, column in self._columns.items():
            columns[name] = Column(
                rows, column.name, column.low, column.high, missing=column.missing, whole=column.whole
            )
        return Frame(rows, columns, self.person)

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self._columns)

    def tracked_len(self) -> Number:
        """Return how many rows there are."""
        return self.rows.length()

    def _named(self, name: Any) -> Column:
        if not isinstance(name, str) or name not in self._columns:
            PATH.get().asks_for_more |= PATH.get().refused is None
            refuse(f"the column {name!r}, which the domain does not declare; {nearest(str(name), self._columns)}")
        return self._columns[name]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Mask):
            if key.rows != self.rows:
                refuse("a mask of another frame, which pandas would align by index; make it of this one")
            return self._with_rows(self.rows.kept(key.parts))
        if isinstance(key, list) and all(isinstance(each, str) for each in key):
            return Frame(self.rows, {name: self._named(name) for name in key}, self.person)
        if isinstance(key, Column) and key.is_truth:
            return self[key.meets("==", True)]
        if is_private(key):
            refuse("a choice of rows by private values that are no mask")
        return self._named(key)

    @property
    def loc(self) -> _Choice:
        """What chooses rows and columns at once."""
        return _Choice(self)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_columns", {}):
            return self._columns[name] if not _is_of_frames(name) else refuse(f"a column as .{name}; write [{name!r}]")
        return super().__getattr__(name)

    def assign(self, **columns: Any) -> Frame:
        """Return a frame with further columns, or others in their place."""
        made = dict(self._columns)
        for name, given in columns.items():
            value = given(Frame(self.rows, made, self.person)) if callable(given) else given
            if not isinstance(value, Column) or value.rows != self.rows:
                refuse(f"assign({name}=…) of something else than a column of the same frame")
            if name == self.person:
                refuse("a change of the column that names persons")
            made[name] = value
        return Frame(self.rows, made, self.person)

    def fillna(self, value: Any) -> Frame:
        """Put a constant in the place of missing values of all columns."""
        filled = {name: each.fillna(value) if each.missing else each for name, each in self._columns.items()}
        return Frame(self.rows, filled, self.person)

    def copy(self) -> Frame:
        """Return the same frame: tracked data do not change."""
        return self

    def reset_index(self, *, drop: bool = False) -> Frame:
        """Number the rows anew, which changes no row."""
        if not drop:
            refuse("reset_index without drop=True, which keeps an index of the data as a column")
        path = PATH.get()
        path.samples += 1
        return self._with_rows(replace(self.rows, labels=path.samples))

    def dropna(self, subset: Any = None) -> Frame:
        """Leave out rows in which a value is missing."""
        names = [subset] if isinstance(subset, str) else list(self._columns) if subset is None else list(subset)
        found = self
        for name in names:
            if self._named(name).missing:
                found = found[found[name].notna()]
                known = found._columns[name]
                found._columns[name] = Column(found.rows, known.name, known.low, known.high, whole=known.whole)
        return found

    def drop_duplicates(self, subset: Any = None) -> Frame:
        """Keep the first row of each person with the same values in some columns."""
        names = [subset] if isinstance(subset, str) else list(self._columns) if subset is None else list(subset)
        kinds = {self._named(name).name for name in names}
        if self.person is None or self.person not in kinds:
            refuse("drop_duplicates without the column that names persons: one record takes the place of another")
        return self._with_rows(replace(self.rows, distinct=frozenset(kinds - {self.person})))

    def groupby(self, by: Any, observed: Any = None, sort: bool = True) -> GroupBy:
        """Group by the values of one column, or several."""
        names = tuple(by) if isinstance(by, list) else (by,)
        for name in names:
            self._named(name)
        return GroupBy(self, names)

    def merge(self, right: Any, how: str = "inner", on: Any = None) -> Frame:
        """Join with a public table: each record has so many rows as it matches."""
        return Frame(*joined(self, self._columns, right, how, on), self.person)

    def value_counts(self, subset: Any = None) -> Any:
        """Count every combination of values."""
        names = list(self._columns) if subset is None else subset
        return self.groupby(names).size()

    def sampled(self, sample: Sample) -> Frame:
        """Return the rows that are in a Poisson sample."""
        if self.rows.sample is not None:
            refuse("a sample of a sample; draw one sample at the product of both rates")
        if self.rows.most != 1 or self.person is not None:
            refuse("a sample of rows where a person may have several; sample persons")
        return self._with_rows(replace(self.rows, sample=sample))

    def to_numpy(self) -> Vectors:
        """Return the rows as an array of as many columns."""
        return Vectors.of_columns(self.rows, list(self._columns.values()))

    values = property(to_numpy)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return what an array function gives of the rows."""
        if function is np.asarray or function is np.array:
            return self.to_numpy()
        return refuse(f"np.{function.__name__} of a private frame, whose stability is not known")


class _Choice(Private):
    """``frame.loc``: rows by a condition, or all, and columns by name."""

    inner = Private.inner | {"frame"}

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if type(key) is tuple and len(key) == 2 else (key, None)
        if not (isinstance(rows, Mask | Column) or _is_all(rows)):
            refuse("frame.loc[…] of rows by something else than a condition on columns, or ':'")
        found = self.frame if _is_all(rows) else self.frame[rows]
        if columns is None or _is_all(columns):
            return found
        if not (isinstance(columns, str) or (type(columns) is list and all(isinstance(each, str) for each in columns))):
            refuse("frame.loc[rows, …] of columns by something else than their names")
        return found[columns]


def _is_all(key: Any) -> bool:
    """Whether a key is ':'."""
    return type(key) is slice and key.start is key.stop is key.step is None


def _is_of_frames(name: str) -> bool:
    """Whether frames of pandas have an attribute of this name, which hides a column."""
    import pandas

    return hasattr(pandas.DataFrame, name)
