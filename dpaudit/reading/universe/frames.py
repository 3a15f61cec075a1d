"""Which rows does a table of private records hold, and what comes of grouping them? Frames, groups and sums by key.

A frame has the columns of the data or computed ones, all of the same rows. What one record does to its rows is said by
a *selection*: its own row comes or goes; up to k rows of a person; or a row takes another's place, as where the first
of each group is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe import numbers
from dpaudit.reading.universe.cells import Space, Universe
from dpaudit.reading.universe.columns import Column, Rows, plain, same, taken
from dpaudit.reading.universe.lessons import refuse_by_name
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.released import Token
from dpaudit.reading.universe.state import Private, current, refuse

_ORDERS = itertools.count(1)
_SELECTIONS = itertools.count(1)
GROUPED = "df.groupby(KEY)[NAME].sum().reindex(VALUES, fill_value=0)"
REINDEX = ".reindex(LABELS, fill_value=0) with a list of labels of your own"


class Selection:
    """What a record, or a person, does to some rows.

    Attributes:
        kind: "record": a row comes or goes; "person": up to ``times`` rows come or go; "swapped": ``times`` times a row
            comes, goes or takes the place of another; "total": a number of a person comes or goes; "unbounded": any
            number of rows of a person.
        times: how often.
        number: of the selection; 0 for the rows of the data.
    """

    def __init__(self, kind: str, times: int = 1, number: int | None = None) -> None:
        self.kind, self.times = kind, times
        self.number = next(_SELECTIONS) if number is None else number

    def allows_sums(self) -> None:
        """Refuse sums over any number of rows of a person."""
        if self.kind == "unbounded":
            person = current().person
            refuse(
                "a person may have any number of rows here",
                f"a bound on them first: df.groupby({person!r}).head(3)",
            )

    def swapped(self) -> Selection:
        """Return what becomes of it where the first rows of each group are kept."""
        if self.kind == "unbounded":
            self.allows_sums()
        return Selection("swapped", self.times * (2 if self.kind == "swapped" else 1))


class Frame(Private):
    """A data frame of any length."""

    __slots__ = ("columns", "is_given", "rows", "scope", "universe")
    noun = "private data frame"

    def __init__(
        self, universe: Universe, rows: Rows, columns: dict[str, Column | None], *, is_given: bool = False
    ) -> None:
        self.universe, self.rows, self.columns, self.is_given = universe, rows, columns, is_given
        self.scope = current().scope

    def column(self, name: Any) -> Column:
        """Return a column."""
        if name not in self.columns:
            if self.is_given and isinstance(name, str):
                current().told.unknown_column = name
            shown = ", ".join(map(repr, self.columns))
            refuse(f"no column {name!r:.40}; there are {shown}", f"--domain '{name}=…', which declares it")
        found = self.columns[name]
        if found is None:
            axis = self.universe.axis(name)
            space = self.universe.whole((name,))
            base = Column(self.universe.rows, space, axis.low.rename(name), axis.low, name)
            base.high = base.low if axis.is_exact else axis.high.rename(name)
            found = base
        if found.rows is not self.rows:
            found = found.on(self.rows)
        self.columns = {**self.columns, name: found}
        return found

    def of_rows(self, rows: Rows) -> Frame:
        """Return the same columns of other rows, which are among these."""
        return Frame(self.universe, rows, dict(self.columns))

    def select(self, key: Any) -> Any:
        """Return ``frame[key]``."""
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, list | pd.Index):
            names = list(key)
            if len(set(names)) < len(names):
                refuse("two columns of one name")
            return Frame(self.universe, self.rows, {name: self.column(name) for name in names})
        if isinstance(key, Column):
            if not key.is_mask or not key.rows.same(self.rows):
                refuse("a choice of rows by something that is no mask of these rows", 'df[df["age"] > 40]')
            space = key.space.take(np.flatnonzero(plain(key.low)))
            return self.of_rows(self.rows.kept(space))
        if isinstance(key, Sampling):
            return self.of_rows(key.of(self.rows))
        return refuse("a choice of rows by place, or by something that is no mask of these rows", 'df[df["age"] > 40]')

    def get(self, name: str) -> Any:
        """Return an attribute that is no method."""
        if not hasattr(pd.DataFrame, name):
            return self.column(name)
        if name == "shape":
            return (
                numbers.length_of(self.rows) if self.rows.selection.kind != "unbounded" else Length(self),
                len(self.columns),
            )
        if name == "columns":
            return pd.Index(list(self.columns))
        if name in ("loc", "iloc", "at", "iat"):
            return Loc(self) if name == "loc" else refuse_by_name(f".{name}", "a private data frame")
        if name == "values":
            return self.matrix()
        if name == "index":
            return self.rows
        if name == "empty":
            refuse("whether there are records is private", "n = len(df) + laplace(…); if n < 1: …")
        return refuse_by_name(f".{name}", "a private data frame")

    def matrix(self) -> Column:
        """Return all columns as an array with a row for each record."""
        listed = [self.column(name) for name in self.columns]
        return beside(listed)

    def method(self, name: str) -> Any:
        """Return a method."""
        return getattr(self, f"m_{name}", None)

    # --- methods, with the arguments that are read ----------------------------------------------------------

    def m_copy(self, deep: bool = True) -> Frame:
        """``copy()``."""
        return Frame(self.universe, self.rows, dict(self.columns)) if deep is True else refuse("copy(deep=False)")

    def m_assign(self, **columns: Any) -> Frame:
        """``assign(x=…)``."""
        found = self.m_copy()
        for name, value in columns.items():
            found.store(name, current_domain().call(value, found) if callable(value) else value)
        return found

    def refuse_given(self) -> None:
        """Refuse a change of the data that the function is given."""
        if self.is_given:
            refuse("this changes the caller's data", "df = df.copy() before it")

    def store(self, name: Any, value: Any) -> None:
        """``frame[name] = value``, of a frame of the function's own."""
        self.refuse_given()
        if self.scope != current().scope:
            refuse("a frame that is changed within a loop over records or a repeated step", "df.assign(x=…)")
        if not isinstance(name, str):
            refuse("an assignment to rows, or to several columns", "x.where(mask, other) of one column")
        if isinstance(value, Column):
            if not value.rows.same(self.rows) or value.width:
                refuse("a column of other rows, which pandas lines up by index", "a column of this frame")
            if not value.is_series:
                low = pd.Series(value.low)
                value = value.with_values(value.space, low, None if value.is_exact else pd.Series(value.high))
        elif isinstance(value, int | float | str | bool | np.generic) and not isinstance(value, np.void):
            series = pd.Series([value])
            value = Column(self.rows, self.rows.space, (low := taken(series, np.zeros(len(self.rows.space), int))), low)
        else:
            refuse(f"a column made of a {type(value).__name__}", "a number, a text, or an expression of columns")
        self.columns = {**self.columns, name: value}

    def m_query(self, expr: str) -> Any:
        """``query("age > 40")``, of names of columns, constants, comparisons and and, or, not."""
        return query(self, expr)

    def m_drop(self, labels: Any = None, *, axis: Any = 0, columns: Any = None) -> Frame:
        """``drop(columns=…)``."""
        gone = columns if columns is not None else labels if axis in (1, "columns") else None
        if gone is None:
            refuse("drop of rows by label", 'a mask: df[df["age"] > 40]')
        gone = [gone] if isinstance(gone, str) else list(gone)
        for name in gone:
            self.column(name)
        return Frame(self.universe, self.rows, {name: each for name, each in self.columns.items() if name not in gone})

    def m_rename(self, *, columns: Any) -> Frame:
        """``rename(columns={…})``."""
        if type(columns) is not dict:
            refuse("rename other than by a dict")
        names = [columns.get(name, name) for name in self.columns]
        if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            refuse("two columns of one name")
        listed = [self.column(name) if columns.get(name, name) != name else self.columns[name] for name in self.columns]
        return Frame(self.universe, self.rows, dict(zip(names, listed, strict=True)))

    def m_dropna(self, *, subset: Any = None) -> Frame:
        """``dropna(subset=[…])``."""
        names = list(self.columns) if subset is None else [subset] if isinstance(subset, str) else list(subset)
        found = self
        for name in names:
            column = found.column(name)
            if pd.isna(plain(column.low)).any():
                found = found.select(column.apply("notna", lambda values: values.notna()))
        return found

    def m_reset_index(self, *, drop: bool = False) -> Frame:
        """``reset_index(drop=True)``."""
        if drop is not True:
            refuse("reset_index makes the places of records a column", ".reset_index(drop=True)")
        return self.reordered(self.rows.selection)

    def reordered(self, selection: Any, distinct: frozenset[str] | None = None) -> Frame:
        """Return the rows in another order, or under other labels, perhaps of another selection."""
        rows = Rows(self.rows.space, selection, self.rows.sample, next(_ORDERS), distinct=distinct)
        columns: dict[str, Column | None] = {}
        for name in self.columns:
            column = self.column(name)
            columns[name] = Column(
                rows, column.space, column.low, column.high, column.source, is_stable=column.is_stable
            )
        return Frame(self.universe, rows, columns)

    def m_sample(self, n: Any = None, frac: Any = None) -> Frame:
        """``sample(frac=1)``: another order."""
        if n is not None or frac != 1:
            refuse_by_name(".sample", "a private data frame")
        return self.reordered(self.rows.selection)

    def m_groupby(
        self, by: Any, *, as_index: bool = True, sort: bool = True, observed: bool = False, group_keys: bool = True
    ) -> Groups:
        """``groupby(names)``."""
        if as_index is not True:
            refuse("groupby(as_index=False), which shows the keys", REINDEX)
        if isinstance(by, Column):
            if not by.rows.same(self.rows):
                refuse("groupby by a column of other rows", "a column of this frame")
            return Groups(self, [by], None)
        names = by if isinstance(by, list) else [by]
        if len(set(map(str, names))) < len(names):
            refuse("groupby by a column twice")
        return Groups(self, [self.column(name) for name in names], None)

    def first_of_each(self, keys: Sequence[Column], most: Any) -> Frame:
        """Return the first rows of each group."""
        if type(most) is not int or most < 1:
            refuse("a bound on rows that is not a whole number from 1 on", ".head(3)")
        selection, person = self.rows.selection, current().person
        if selection.kind == "unbounded" and len(keys) == 1 and person and keys[0].source == person:
            if self.universe.columns[person].missing:
                refuse("persons whose name may be missing", "a domain in which every record has one")
            return self.reordered(Selection("person", most), self.rows.distinct)
        return self.reordered(selection.swapped())

    def m_drop_duplicates(self, subset: Any = None) -> Frame:
        """``drop_duplicates(names)``: the first of each."""
        names = list(self.columns) if subset is None else [subset] if isinstance(subset, str) else list(subset)
        columns = [self.column(name) for name in names]
        sources, person = {each.source for each in columns}, current().person
        if self.rows.selection.kind == "unbounded" and person in sources and "" not in sources:
            return self.reordered(self.rows.selection, frozenset(sources - {person}))  # each of a person's own rows
        return self.first_of_each(columns, 1)

    def m_pivot_table(
        self,
        values: Any = None,
        index: Any = None,
        columns: Any = None,
        aggfunc: Any = "mean",
        *,
        fill_value: Any = None,
    ) -> Keyed:
        """``pivot_table(values, index, columns, aggfunc="sum")``."""
        if not all(isinstance(name, str) for name in (values, index, columns)) or aggfunc not in ("sum", "count"):
            refuse("pivot_table other than of sums or counts of one column by two", GROUPED)
        keys = [self.column(index), self.column(columns)]
        part = Groups(self, keys, values).part(aggfunc)
        return Keyed(keys, {values: part}, values, is_table=True, has_holes=fill_value != 0)

    def m_merge(self, right: Any, how: str = "inner", on: Any = None) -> Frame:
        """``merge(table, on=name)`` with a public table."""
        if isinstance(right, Private):
            refuse("a merge of two private frames", "columns of one frame")
        if not isinstance(right, pd.DataFrame) or not isinstance(on, str) or how not in ("left", "inner"):
            refuse("merge other than with a public table on one column", 'df.merge(table, on="city", how="left")')
        key = self.column(on)
        if not key.is_exact:
            refuse("merge on a column whose values cannot be listed", "the values that are possible, in the domain")
        new = [name for name in right.columns if name != on]
        if len(set(right.columns)) < len(right.columns) or any(name in self.columns for name in new):
            refuse("merge of tables that share a column that they are not merged on")
        left = pd.DataFrame({on: key.low, "#": np.arange(len(key.space))})
        joined = left.merge(right, on=on, how=how)
        places = joined["#"].to_numpy()
        order = np.argsort(places, kind="stable")
        which = np.empty(len(places), int)
        counts = pd.Series(places[order]).groupby(places[order]).cumcount().to_numpy()
        which[order] = counts
        most = int(which.max()) + 1 if len(which) else 1
        space = key.space.take(places)
        if most > 1:
            name = self.universe.match(most)
            space = Space(self.universe, (*space.axes, name), np.concatenate([space.codes, which[None, :]]))
        selection = self.rows.selection
        rows = Rows(space, selection, self.rows.sample, next(_ORDERS))
        columns: dict[str, Column | None] = {}
        for name in self.columns:
            old = self.column(name)
            moved, mine, _ = old.space.join(space)
            low = taken(old.low, mine)
            columns[name] = Column(
                rows, moved, low, low if old.is_exact else taken(old.high, mine), old.source, is_stable=old.is_stable
            )
        for name in new:
            values = pd.Series(joined[name].array)
            changes = (
                how == "left" and values.dtype != right[name].dtype
            )  # a city without a row: whole numbers become floats
            columns[name] = Column(rows, space, values, values, is_stable=not changes)
        return Frame(self.universe, rows, columns)

    def m_to_numpy(self, dtype: Any = None) -> Column:
        """``to_numpy()``."""
        found = self.matrix()
        return (
            found
            if dtype is None or dtype in (float, "float", "float64", np.float64)
            else refuse("to_numpy of another type", "dtype=float")
        )

    def m_pipe(self, function: Any, *args: Any, **keywords: Any) -> Any:
        """``pipe(f)``: f(frame)."""
        return current_domain().call(function, self, *args, **keywords)

    def m_eval(self, expr: str) -> Any:
        """Refused."""
        return refuse("eval of a text", "columns in Python")

    def m_count(self) -> Number:
        """``count()`` of all columns."""
        return numbers.summed(self.matrix_of("notna"), whole=True, labels=pd.Index(list(self.columns)), kinds=_INT)

    def m_sum(self, axis: Any = 0, *, numeric_only: bool = False) -> Any:
        """``sum()`` of all columns, or of each record."""
        if axis in (1, "columns"):
            return row_sum(self.matrix(), is_series=True)
        listed = [self.column(name) for name in self.columns]
        if any(plain(each.low).dtype.kind not in "ifb" or not each.is_stable for each in listed):
            refuse("a sum of columns that are no numbers", 'df[["age", "income"]].sum()')
        found = numbers.stacked([column_sum(each) for each in listed])
        return found.like(found.low, found.high, labels=pd.Index(list(self.columns)))

    def matrix_of(self, name: str) -> Column:
        """Return a mask of all columns."""
        return beside([self.column(each).apply(name, lambda values: values.notna()) for each in self.columns])

    def m_clip(self, lower: Any = None, upper: Any = None) -> Frame:
        """``clip(low, high)`` of every column."""
        found = {
            name: self.column(name).apply("clip", lambda v, a, b: v.clip(a, b), lower, upper) for name in self.columns
        }
        return Frame(self.universe, self.rows, dict(found))

    def m_fillna(self, value: Any) -> Frame:
        """``fillna(constant)`` of every column."""
        found = {name: self.column(name).apply("fillna", lambda v, a: v.fillna(a), value) for name in self.columns}
        return Frame(self.universe, self.rows, dict(found))

    def m_head(self, n: int = 5) -> Any:
        """Refused."""
        return refuse_by_name(".head", "a private data frame")


_INT = frozenset(("np.int64",))


def given_frame(universe: Universe, selection: Selection) -> Frame:
    """Return the data as the function is given them."""
    rows = Rows(Space(universe, (), np.zeros((0, 1), np.intp)), selection, None, 0, has_all=True)
    universe.rows = rows
    return Frame(universe, rows, dict.fromkeys(universe.columns), is_given=True)


def current_domain() -> Any:
    """Return the domain of the pass."""
    return current().domain  # type: ignore[attr-defined]


def beside(listed: Sequence[Column]) -> Column:
    """Return columns of numbers side by side, as an array with a row for each record."""
    space, places = listed[0].space, [np.arange(len(listed[0].space))]
    for each in listed[1:]:
        if not each.rows.same(listed[0].rows):
            refuse("an array of columns of different rows", "columns of one frame")
        space, mine, theirs = space.join(each.space)
        places = [place[mine] for place in places] + [theirs]
    if any(plain(each.low).dtype.kind not in "ifb" for each in listed):
        refuse("an array of columns that are no numbers", 'df[["age", "income"]].to_numpy()')
    if not all(each.is_stable for each in listed):
        refuse("an array of columns whose type hangs on the data", ".astype(float)")

    def at(end: str) -> Any:
        return np.stack(
            [plain(getattr(each, end)).astype(float)[place] for each, place in zip(listed, places, strict=True)], 1
        )

    low = at("low")
    return listed[0].with_values(space, low, None if all(each.is_exact for each in listed) else at("high"))


def column_sum(column: Column) -> Number:
    """Return ``column.sum()``."""
    if not column.is_stable:
        refuse("a sum of a column whose type hangs on the data, as that of an empty table does", ".astype(float).sum()")
    low, high = plain(column.low), plain(column.high)
    if low.dtype.kind not in "ifb":
        refuse(f"a sum of a column of type {column.low.dtype}", "numbers")
    if low.dtype.kind == "i" and len(low) and max(abs(float(low.min())), abs(float(high.max()))) > 2**31:
        refuse("a sum of whole numbers so large that it may wrap", ".astype(float).sum()")
    whole = low.dtype.kind in "ib" or (column.is_exact and bool(np.all((low == np.round(low)) | np.isnan(low))))
    kinds = _INT if low.dtype.kind in "ib" else None
    low, high = low.astype(float), high.astype(float)
    if column.is_series:  # pandas leaves out what is missing
        low, high = np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 0.0, high)
    found = numbers.summed_of(column.rows, column.space, low, high, whole=whole, labels=None, columns=None, kinds=kinds)
    found.summand = column if column.is_series else None
    return found


def row_sum(column: Column, *, is_series: bool = False) -> Column:
    """Return the sum of each record's row of numbers."""
    if np.isnan(column.low).any():
        refuse("a sum over columns of which one may be missing", ".fillna(0) first")
    wrap = pd.Series if is_series else np.asarray
    low = wrap(column.low.sum(1))
    return column.with_values(column.space, low, None if column.is_exact else wrap(column.high.sum(1)))


class Length(Private):
    """The length of a frame in which a person may have any number of rows."""

    __slots__ = ("frame",)
    noun = "number of rows, of which a person may have any"

    def __init__(self, frame: Frame) -> None:
        self.frame = frame


class Loc(Private):
    """``frame.loc``."""

    __slots__ = ("frame",)
    noun = "private frame's .loc"

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def select(self, key: Any) -> Any:
        """``loc[mask]``, ``loc[mask, name]``, ``loc[:, names]``."""
        if isinstance(key, tuple) and len(key) == 2:
            rows, names = key
            chosen = self.frame if isinstance(rows, slice) and rows == slice(None) else self.frame.select(rows)
            return chosen.select(names)
        return self.frame.select(key)

    def store(self, key: Any, value: Any) -> None:
        """``loc[mask, name] = constant``."""
        self.frame.refuse_given()
        if not (isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], Column) and isinstance(key[1], str)):
            refuse("an assignment to rows in this form", 'df.loc[mask, "age"] = 0')
        if isinstance(value, Private | Token):
            refuse("an assignment of what is not public to some rows", "x.where(mask, other)")
        old = self.frame.column(key[1])
        self.frame.store(
            key[1], old.apply("mask", lambda values, mask: values.mask(mask, value), key[0], dtype_hangs=True)
        )


class Sampling(Private):
    """A coin for each row: in, or not."""

    __slots__ = ("number", "rate", "rows", "times")
    noun = "coin of each record"

    def __init__(self, rate: float, rows: Rows) -> None:
        state = current()
        state.samples += 1
        state.sampled[state.samples] = state.level
        self.rate, self.rows, self.number, self.times = rate, rows, state.samples, state.times

    def of(self, rows: Rows) -> Rows:
        """Return the rows whose coin says so."""
        if not self.rows.same(rows):
            refuse("coins of other rows than these", "np.random.random(len(df)) < 0.1 of the same df")
        if rows.selection.kind != "record":
            refuse(
                "a sample of rows of which a person has several, or of which one takes the place of another",
                "a sample of the data",
            )
        if len(np.unique(places := rows.space.records()[1])) < len(places):
            refuse("a sample of rows of which a record has several", "a sample of the data, before they are merged")
        if rows.sample is not None:
            refuse("a sample of a sample", "one sample, at the product of both rates")
        return Rows(rows.space, rows.selection, (self.number, self.rate, self.times), rows.order)


class Groups(Private):
    """``frame.groupby(keys)[column]``."""

    __slots__ = ("frame", "keys", "name")
    noun = "grouped private frame"

    def __init__(self, frame: Frame, keys: list[Column], name: Any) -> None:
        self.frame, self.keys, self.name = frame, keys, name

    def select(self, key: Any) -> Groups:
        """``groups[name]``."""
        self.frame.select(key)
        return Groups(self.frame, self.keys, key)

    def get(self, name: str) -> Any:
        """``groups.name``."""
        if name in self.frame.columns and self.name is None and not hasattr(pd.core.groupby.DataFrameGroupBy, name):
            return self.select(name)
        if name in ("mean", "std", "var", "median"):
            refuse(
                f"groupby(…).{name} divides by a private number",
                "noisy sums and noisy counts by key, and their quotient",
            )
        return refuse(f"groupby(…).{name} is no sum of what each record adds", "sums and counts by key")

    def method(self, name: str) -> Any:
        """Return a method."""
        return getattr(self, f"m_{name}", None)

    def _is_of_persons(self) -> bool:
        state = current()
        return (
            self.frame.rows.selection.kind == "unbounded"
            and len(self.keys) == 1
            and self.keys[0].source == state.person
        )

    def part(self, how: Any, name: Any = None) -> Column:
        """Return what each row adds."""
        name = self.name if name is None else name
        if how in ("size", "count") and name is None:
            first = self.keys[0]
            ones = np.ones(len(first.space), "int64")
            return Column(first.rows, first.space, ones, ones)
        if not isinstance(name, str):
            refuse("an aggregate of all columns", 'groupby("city")["income"].sum()')
        column = self.frame.column(name)
        if how == "sum":
            return column
        if how == "count":
            return column.apply("notna", lambda values: values.notna())
        if how == "size":
            return column.with_values(column.space, np.ones(len(column.space), "int64"))
        return refuse(f"groupby(…).agg({how!r:.30}) is no sum of what each record adds", '"sum", "count" or "size"')

    def m_size(self) -> Any:
        """``size()``."""
        if self._is_of_persons():
            return PerPerson(self.frame, 0.0, math.inf)
        return Keyed(self.keys, {"size": self.part("size")}, "size")

    def m_count(self) -> Any:
        """``count()``."""
        return self.m_agg("count")

    def m_sum(self) -> Any:
        """``sum()``."""
        return self.m_agg("sum")

    def m_nunique(self) -> Any:
        """Refused."""
        return refuse(
            "groupby(…).nunique(): a person may be counted in every group", "counts after groupby(person).head(1)"
        )

    def m_agg(self, how: Any = None, **named: Any) -> Any:
        """``agg("sum")``, ``agg({"x": "sum"})``, ``agg(total=("x", "sum"))``."""
        if self._is_of_persons():
            if named or not isinstance(how, str) or not isinstance(self.name, str):
                refuse("this aggregate of each person", f'groupby({current().person!r})["x"].sum().clip(low, high)')
            if how not in ("sum", "count", "mean", "max", "min", "median"):
                refuse(f"agg({how!r:.30}) of each person", '"sum", "count", "mean", "max" or "min", clipped')
            return PerPerson(self.frame, 0.0 if how == "count" else -math.inf, math.inf)
        if named:
            parts = {}
            for name, pair in named.items():
                if not (isinstance(pair, tuple) and len(pair) == 2):
                    refuse("agg in this form", 'agg(total=("income", "sum"))')
                parts[name] = self._of(pair[1], pair[0])
            return Keyed(self.keys, parts, None)
        if isinstance(how, dict):
            return Keyed(self.keys, {name: self._of(each, name) for name, each in how.items()}, None)
        if isinstance(how, list) and isinstance(self.name, str):
            return Keyed(self.keys, {str(each): self._of(each, self.name) for each in how}, None)
        if isinstance(self.name, list):
            return Keyed(self.keys, {name: self._of(how, name) for name in self.name}, None)
        if not isinstance(self.name, str):
            refuse("an aggregate of all columns", 'groupby("city")["income"].sum()')
        return Keyed(self.keys, {self.name: self._of(how, self.name)}, self.name)

    m_aggregate = m_agg

    def _of(self, how: Any, name: Any) -> Column:
        if isinstance(how, str):
            return self.part(how, name)
        if how is len or how is np.sum or how is sum:
            return self.part("size" if how is len else "sum", name)
        if callable(how) and isinstance(name, str):
            return summand_of(how, self.frame.column(name))
        return refuse("an aggregate that is no sum of what each record adds", '"sum", "count" or "size"')

    def m_head(self, n: int = 5) -> Frame:
        """``head(k)``: the first rows of each group."""
        return self.frame.first_of_each(self.keys, n)

    def m_first(self) -> Any:
        """Refused."""
        return refuse("groupby(…).first() shows the keys", ".head(1)")


def summand_of(function: Any, column: Column) -> Column:
    """Return what each record adds to a sum that a user's function computes of a column; refused for anything else."""
    found = current_domain().call(function, column)
    if not isinstance(found, Number) or found.summand is None or found.selection is not column.rows.selection:
        refuse(
            "an aggregate by a function that is no sum over the records of the group", 'agg("sum") of a computed column'
        )
    made: Column = found.summand
    return made


class Keyed(Private):
    """Sums by keys that the data hold: which keys there are is private until they are named."""

    __slots__ = ("has_holes", "is_table", "keys", "parts", "single")
    noun = "private table by keys of the data"

    def __init__(
        self,
        keys: list[Column],
        parts: dict[str, Column],
        single: Any,
        *,
        is_table: bool = False,
        has_holes: bool = False,
    ) -> None:
        self.keys, self.parts, self.single = keys, parts, single
        self.is_table, self.has_holes = is_table, has_holes

    def get(self, name: str) -> Any:
        """Refuse what shows the keys."""
        if name in self.parts and self.single is None and not hasattr(pd.DataFrame, name):
            return self.select(name)
        return refuse(f".{name} of a table whose keys are those of the data", REINDEX)

    def select(self, key: Any) -> Any:
        """``table[name]`` of one aggregate."""
        if self.single is None and isinstance(key, str) and key in self.parts:
            return Keyed(self.keys, {key: self.parts[key]}, key, has_holes=self.has_holes)
        return refuse("a key of the data may not be there", REINDEX)

    def method(self, name: str) -> Any:
        """Return a method."""
        return getattr(self, f"m_{name}", None)

    def m_fillna(self, value: Any) -> Keyed:
        """``fillna(0)``."""
        if value != 0:
            refuse("fillna other than with 0 of a table by keys", ".fillna(0)")
        return Keyed(self.keys, self.parts, self.single, is_table=self.is_table)

    def m_unstack(self, *, fill_value: Any = None) -> Keyed:
        """``unstack(fill_value=0)`` of a table with two keys."""
        if len(self.keys) != 2 or self.single is None or self.is_table:
            refuse("unstack in this form", "unstack(fill_value=0) of a count by two keys")
        return Keyed(self.keys, self.parts, self.single, is_table=True, has_holes=fill_value != 0)

    def m_sort_index(self) -> Keyed:
        """``sort_index()``: its order is looked at after reindex only."""
        return self

    def m_rename(self, name: Any) -> Keyed:
        """``rename(text)``."""
        return self if isinstance(name, str) else refuse("rename of keys")

    def m_astype(self, kind: Any) -> Keyed:
        """``astype(float)``."""
        return (
            self
            if kind in (float, "float", "float64", np.float64)
            else refuse("this type for a private table", ".astype(float)")
        )

    def m_get(self, key: Any, default: Any = None) -> Number:
        """``get(key, 0)``."""
        if type(default) is not int or default != 0 or len(self.keys) > 1:
            refuse(".get(key) of a table whose keys are those of the data", ".get(key, 0)")
        found: Number = self.m_reindex([key], fill_value=0).at(key)
        return found.like(found.low, found.high, kinds=found.kinds | {"int"})

    def m_reindex(self, labels: Any = None, *, index: Any = None, columns: Any = None, fill_value: Any = None) -> Any:
        """``reindex(labels, fill_value=0)``."""
        wanted = index if labels is None else labels
        if isinstance(wanted, Private | Token) or isinstance(columns, Private | Token):
            refuse("keys that are not public", REINDEX)
        if wanted is None or (columns is None) == self.is_table:
            refuse("reindex of one of two keys, or of none", "reindex(index=ROWS, columns=COLUMNS, fill_value=0)")
        filled = fill_value is not None
        if filled and (type(fill_value) not in (int, float) or fill_value != 0):
            refuse("reindex with another value than 0 for a key that is not there", REINDEX)
        if self.has_holes:
            refuse(
                "cells of pairs of keys that do not occur together are missing, whatever reindex fills in",
                "fill_value=0 in unstack or pivot_table, or .fillna(0)",
            )
        index_, hits, space = self._hits(wanted, columns)
        if self.single is None:
            listed = {name: self._number(part, space, hits, index_, None) for name, part in self.parts.items()}
            found = numbers.stacked(listed.values())
            low, high = np.moveaxis(found.low, 1, -1), np.moveaxis(found.high, 1, -1)
            found = found.like(low, high, labels=index_, columns=pd.Index(list(listed)))
        else:
            found = self._number(
                self.parts[self.single], space, hits, index_, None if columns is None else pd.Index(columns)
            )
        return found if filled else Holes(found)

    def _hits(self, wanted: Any, columns: Any) -> tuple[Any, Any, Space]:
        """Return labels, which kinds are under which of them, and the space of the keys."""
        space, places = self.keys[0].space, [np.arange(len(self.keys[0].space))]
        for each in self.keys[1:]:
            space, mine, theirs = space.join(each.space)
            places = [place[mine] for place in places] + [theirs]
        if not all(each.is_exact for each in self.keys):
            refuse(
                "keys of which only bounds are known",
                "pd.cut(x, EDGES), or the values that are possible, in the domain",
            )
        labels = wanted if isinstance(wanted, pd.Index) else pd.Index(list(wanted))
        if self.is_table:
            heads = columns if isinstance(columns, pd.Index) else pd.Index(list(columns))
            first, second = _hit(self.keys[0].low, labels), _hit(self.keys[1].low, heads)
            return labels, first[places[0]][:, :, None] & second[places[1]][:, None, :], space
        if len(self.keys) == 1:
            return labels, _hit(self.keys[0].low, labels)[places[0]], space
        if not isinstance(labels, pd.MultiIndex) or labels.nlevels != len(self.keys):
            refuse("labels that are no tuples, for several keys", "reindex([(a, b), …], fill_value=0)")
        hits = np.ones((len(space), len(labels)), bool)
        for level, (key, place) in enumerate(zip(self.keys, places, strict=True)):
            hits &= _hit(key.low, labels.get_level_values(level))[place]
        return labels, hits, space

    def _number(self, part: Column, space: Space, hits: Any, labels: Any, columns: Any) -> Number:
        if not part.is_stable:
            refuse("a sum of a column whose type hangs on the data", ".astype(float) of the column")
        joined, mine, theirs = space.join(part.space)
        low, high = plain(part.low), plain(part.high)
        if low.dtype.kind not in "ifb":
            refuse(f"sums of a column of type {part.low.dtype}", "numbers")
        if low.dtype.kind == "i" and len(low) and max(abs(float(low.min())), abs(float(high.max()))) > 2**31:
            refuse("sums of whole numbers so large that they may wrap", ".astype(float)")
        is_whole = low.dtype.kind in "ib"
        shape = (-1, *[1] * (hits.ndim - 1))
        least, most = (
            np.where(np.isnan(v := end.astype(float)[theirs]), 0.0, v).reshape(shape) * hits[mine]
            for end in (low, high)
        )
        return numbers.summed_of(
            part.rows,
            joined,
            least,
            most,
            whole=is_whole,
            labels=labels,
            columns=columns,
            kinds=_INT if is_whole else None,
        )


def _hit(values: Any, labels: Any) -> Any:
    """Return which kinds have which label, by pandas' own matching of labels."""
    if labels.hasnans:
        refuse("a missing value among the labels")
    array = pd.Index(values if isinstance(values, pd.Series) else pd.Series(values))
    if (array.inferred_type == "boolean") != all(isinstance(each, bool | np.bool_) for each in labels):
        refuse("truth values among other labels, or others among them, which match in some tables", "[True, False]")
    known = array.unique().dropna()
    found = np.zeros((len(array), len(labels)), bool)
    places = known.get_indexer(labels)
    for number, place in enumerate(places):
        if place >= 0:
            found[:, number] = same(array, np.full(len(array), known[place], object if array.dtype == object else None))
    return found


class Holes(Private):
    """Counts in which a key that is not there is missing."""

    __slots__ = ("number",)
    noun = "private table in which keys may be missing"

    def __init__(self, number: Number) -> None:
        self.number = number

    def method(self, name: str) -> Any:
        """Return a method."""
        return getattr(self, f"m_{name}", None)

    def m_fillna(self, value: Any) -> Number:
        """``fillna(0)``."""
        if value != 0 or isinstance(value, bool):
            refuse("fillna other than with 0 of a table by keys", ".fillna(0)")
        return self.number.like(self.number.low, self.number.high, kinds=frozenset(("np.int64", "np.float64")))


class PerPerson(Private):
    """A number for each person, of which only bounds are known."""

    __slots__ = ("frame", "high", "is_whole", "low")
    noun = "number of each person"

    def __init__(self, frame: Frame, low: float, high: float, *, is_whole: bool = False) -> None:
        self.frame, self.low, self.high, self.is_whole = frame, low, high, is_whole

    def method(self, name: str) -> Any:
        """Return a method."""
        return getattr(self, f"m_{name}", None)

    def m_clip(self, lower: Any = None, upper: Any = None) -> PerPerson:
        """``clip(low, high)``."""
        for each in (lower, upper):
            if each is not None and not (isinstance(each, int | float) and math.isfinite(each)):
                refuse("a person's number that is clipped at what is no constant", "clip(0, 10)")
        low, high = self.low, self.high
        if lower is not None and upper is not None and lower > upper:
            refuse("clip with the ends the wrong way round")
        low, high = (low, high) if lower is None else (max(low, lower), max(high, lower))
        low, high = (low, high) if upper is None else (min(low, upper), min(high, upper))
        return PerPerson(self.frame, low, high)

    def test(self) -> PerPerson:
        """Return whether something holds of each person's number."""
        return PerPerson(self.frame, 0.0, 1.0, is_whole=True)

    def m_sum(self) -> Number:
        """``sum()`` over persons."""
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            refuse("a person's total may be anything", ".clip(low, high) before .sum()")
        return self._total(min(self.low, 0.0), max(self.high, 0.0), self.is_whole)

    def _total(self, low: float, high: float, whole: bool) -> Number:
        rows = self.frame.rows
        state = current()
        if not hasattr(state, "totals"):
            state.totals = Selection("total")  # type: ignore[attr-defined]
        return Number(
            self.frame.universe, (), np.array([low]), np.array([high]), state.totals, rows.sample,  # type: ignore[attr-defined]
            is_whole=whole, kinds=_INT if whole else frozenset(("np.float64",)),
        )  # fmt: skip

    def m_count(self) -> Number:
        """How many persons there are."""
        return self._total(0.0, 1.0, True)


def query(frame: Frame, text: str) -> Any:
    """Return ``frame.query(text)``: the text as masks of columns."""
    import ast
    import operator

    if not isinstance(text, str):
        refuse("query of what is no public text", 'df[df["age"] > 40]')
    domain = current_domain()
    tests: dict[type, str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}

    def mask(node: ast.expr) -> Any:
        if isinstance(node, ast.BoolOp):
            found = mask(node.values[0])
            for each in node.values[1:]:
                found = domain.binary("and_" if isinstance(node.op, ast.And) else "or_", found, mask(each))
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            return domain.binary(
                "and_" if isinstance(node.op, ast.BitAnd) else "or_", mask(node.left), mask(node.right)
            )
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
            return domain.unary("invert", mask(node.operand))
        if isinstance(node, ast.Compare) and all(type(test) in tests for test in node.ops):
            sides = [value(each) for each in (node.left, *node.comparators)]
            found = None
            for left, test, right in zip(sides, node.ops, sides[1:], strict=False):
                one = domain.binary(tests[type(test)], left, right)
                found = one if found is None else domain.binary("and_", found, one)
            return found
        return refuse("query with calls, names from outside or arithmetic", 'a mask: df[df["age"] > 40]')

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id in frame.columns:
            return frame.column(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return operator.neg(value(node.operand))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
            return node.value
        return refuse("query with calls, names from outside or arithmetic", 'a mask: df[df["age"] > 40]')

    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        refuse("a query that is no Python", 'a mask: df[df["age"] > 40]')
    return frame.select(mask(tree))
