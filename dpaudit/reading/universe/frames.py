"""Which rows does a table of private records hold? Frames, parts and samples of them.

A frame has the columns of the data or computed ones, all of the same rows. What one record does to its rows is said by
a *selection*: its own row comes or goes; up to k rows of a person; or a row takes another's place, as where the first
of each group is kept.
"""

from __future__ import annotations

import itertools
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe import numbers, sizes, steps
from dpaudit.reading.universe.cells import UNREAD, CellAxes, Space
from dpaudit.reading.universe.columns import Column, ListedColumn, Sampling, Selection, TableRows, plain, taken
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.sizes import column_sum, row_sum
from dpaudit.reading.universe.state import (
    Private,
    current,
    current_domain,
    noun_of,
    refuse,
    refuse_by_name,
    refuse_form,
)
from dpaudit.reading.universe.undecided import ChosenRows, Undecided
from dpaudit.reading.universe.values import NP_INT, parts_are_copies

_ORDERS = itertools.count(1)
_MOST_ROWS = 1_000  # of a person, of which no two are alike
GROUPED = "df.groupby(KEY)[NAME].sum().reindex(VALUES, fill_value=0) + laplace(…, size=len(VALUES))"
REINDEX = "df[KEY].value_counts().reindex(VALUES, fill_value=0) + laplace(…, size=len(VALUES))"

OF_FRAMES: dict[str, Callable[..., Any]] = {}
"""Methods of frames that group rows, by name: those of `groups`."""


class Frame(Private):
    """A data frame of any length."""

    __slots__ = ("columns", "is_given", "is_grouped", "rows", "scope", "universe")
    noun = "private data frame"

    def __init__(
        self, universe: CellAxes, rows: TableRows, columns: dict[str, Column | None], *, is_given: bool = False
    ) -> None:
        self.universe, self.rows, self.columns, self.is_given = universe, rows, columns, is_given
        self.scope, self.is_grouped = current().scope, False

    def column(self, name: Any) -> Column:
        """Return a column."""
        if name not in self.columns:
            if self.is_given and isinstance(name, str):
                current().told.unknown_column = name
            shown = ", ".join(map(repr, self.columns))
            refuse(f"no column {name!r:.40}; there are {shown}", f"--domain '{name}=…', which declares it")
        column = self.columns[name]
        if column is None:
            axis = self.universe.axis(name)
            space = self.universe.whole((name,))
            made = steps.column(name, axis.low)
            base = Column(self.universe.rows, space, axis.low.rename(name), axis.low, name, made=made)
            base.high = base.low if axis.is_exact else axis.high.rename(name)
            column = base
        if column.rows is not self.rows:
            column = column.on(self.rows)
        if column.is_series and column.low.name != name:
            column = column.named(name)
        self.columns = {**self.columns, name: column}
        return column

    def is_unread(self, name: Any) -> bool:
        """Whether a column is as the data have it, and the domain says nothing of it."""
        declared = self.universe.columns.get(name)
        return self.columns.get(name, self) is None and declared is not None and declared.kind == UNREAD

    def of_rows(self, rows: TableRows) -> Frame:
        """Return the same columns of other rows, which are among these."""
        return Frame(self.universe, rows, dict(self.columns))

    def select(self, key: Any) -> Any:
        """Return ``frame[key]``."""
        if isinstance(key, types.FunctionType):
            key = current_domain().call(key, self)
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, list | pd.Index):
            names = list(key)
            if len(set(names)) < len(names):
                refuse_form("two columns of one name")
            return Frame(self.universe, self.rows, {name: self.column(name) for name in names})
        if isinstance(key, Column):
            return self.of_rows(self.rows.where(key, "len(df[x > LIMIT]) + laplace(…)"))
        if isinstance(key, Sampling):
            return self.of_rows(key.of(self.rows))
        if isinstance(key, Undecided):
            return ChosenRows(self, key)
        return refuse(
            "a choice of rows by place, or by something that is no mask of these rows",
            "len(df[x > LIMIT]) + laplace(…)",
        )

    def get(self, name: str) -> Any:
        """Return an attribute that is no method."""
        if not hasattr(pd.DataFrame, name):
            return self.column(name)
        if name == "shape":
            return (
                sizes.length(self.rows) if self.rows.selection.kind != "unbounded" else Length(self),
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
        known = OF_FRAMES.get(name)
        return getattr(self, f"m_{name}", None) if known is None else types.MethodType(known, self)

    # --- methods, with the arguments that are read ----------------------------------------------------------

    def m_copy(self, deep: bool = True) -> Frame:
        """``copy()``."""
        return Frame(self.universe, self.rows, dict(self.columns)) if deep is True else refuse_form("copy(deep=False)")

    def m_assign(self, **columns: Any) -> Frame:
        """``assign(x=…)``."""
        frame = self.m_copy()
        for name, value in columns.items():
            frame.store(name, current_domain().call(value, frame) if callable(value) else value)
        return frame

    def refuse_given(self) -> None:
        """Refuse a change of the data that the function is given."""
        if self.is_given:
            refuse("this changes the caller's data", "df = df.copy() before it")

    def store(self, name: Any, value: Any) -> None:
        """``frame[name] = value``, of a frame of the function's own."""
        self.refuse_given()
        if self.is_grouped:
            refuse("a frame that is changed after it was grouped", "df.assign(x=…)")
        if self.scope != current().scope:
            refuse("a frame that is changed within a loop over records or a repeated step", "df.assign(x=…)")
        if not isinstance(name, str):
            refuse("an assignment to rows, or to several columns", "x.where(mask, other) of one column")
        if isinstance(value, ListedColumn):
            value = value.as_array()
        if isinstance(value, Column):
            if not value.rows.same(self.rows) or value.width:
                refuse("a column of other rows, which pandas lines up by index", "a column of this frame")
            if not value.is_series:
                low = pd.Series(value.low)
                high = None if value.is_exact else pd.Series(value.high)
                value = value.with_values(value.space, low, high, made=value.made)
        elif isinstance(value, int | float | str | bool | np.generic) and not isinstance(value, np.void):
            series = pd.Series([value])
            low, made = taken(series, np.zeros(len(self.rows.space), int)), steps.constant(value)
            value = Column(self.rows, self.rows.space, low, low, made=made)
        else:
            refuse(f"a column made of a {noun_of(value)}", "a number, a text, or an expression of columns")
        self.columns = {**self.columns, name: value}

    def m_query(self, expr: str) -> Any:
        """``query("age > 40")``, of names of columns, constants, comparisons and and, or, not."""
        return query(self, expr)

    def m_drop(self, labels: Any = None, *, axis: Any = 0, columns: Any = None) -> Frame:
        """``drop(columns=…)``."""
        gone = columns if columns is not None else labels if axis in (1, "columns") else None
        if gone is None:
            refuse("drop of rows by label", "len(df[x > LIMIT]) + laplace(…)")
        gone = [gone] if isinstance(gone, str) else list(gone)
        for name in gone:
            if not self.is_unread(name):
                self.column(name)
        return Frame(self.universe, self.rows, {name: each for name, each in self.columns.items() if name not in gone})

    def m_rename(self, *, columns: Any) -> Frame:
        """``rename(columns={…})``."""
        if type(columns) is not dict:
            refuse_form("rename other than by a dict")
        names = [columns.get(name, name) for name in self.columns]
        if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            refuse_form("two columns of one name")
        listed = [self.column(name) if columns.get(name, name) != name else self.columns[name] for name in self.columns]
        return Frame(self.universe, self.rows, dict(zip(names, listed, strict=True)))

    def m_dropna(self, *, subset: Any = None) -> Frame:
        """``dropna(subset=[…])``."""
        names = list(self.columns) if subset is None else [subset] if isinstance(subset, str) else list(subset)
        frame = self
        for name in names:
            column = frame.column(name)
            if pd.isna(plain(column.low)).any():
                frame = frame.select(column.apply("notna", lambda values: values.notna()))
        return frame

    def m_reset_index(self, *, drop: bool = False) -> Frame:
        """``reset_index(drop=True)``."""
        if drop is not True:
            refuse("reset_index makes the places of records a column", ".reset_index(drop=True)")
        return self.reordered(self.rows.selection)

    def reordered(self, selection: Any, distinct: frozenset[str] | None = None, *, is_sorted: bool = False) -> Frame:
        """Return the rows in another order, or under other labels, perhaps of another selection."""
        order = next(_ORDERS) * (-1 if is_sorted or self.rows.order < 0 else 1)
        made = self.rows.made
        if made is not None and selection is not self.rows.selection:
            bounded = ("bounded", {"most": selection.times}) if selection.kind == "person" else None
            name, more = bounded or ("chosen", {"in": 1, "out": 1})
            made = steps.MadeStep(name, (made,), more)
        rows = TableRows(self.rows.space, selection, self.rows.sample, order, distinct=distinct, made=made)
        columns: dict[str, Column | None] = {}
        for name in self.columns:
            if self.is_unread(name):
                columns[name] = None
                continue
            column = self.column(name)
            columns[name] = Column(
                rows, column.space, column.low, column.high, column.source, is_stable=column.is_stable,
                made=column.made, what=column.what,
            )  # fmt: skip
            columns[name].none = column.none  # type: ignore[union-attr]
        return Frame(self.universe, rows, columns)

    def m_sort_values(self, by: Any, *, ascending: Any = True) -> Frame:
        """``sort_values(names)``: another order."""
        names = [by] if isinstance(by, str) else by
        ways = ascending if type(ascending) is list else [ascending] * len(names)
        if (
            type(names) is not list
            or not names
            or len(ways) != len(names)
            or not all(type(each) is bool for each in ways)
        ):
            refuse("sort_values in this form", 'df.sort_values("age"), or no sort_values')
        for name in names:
            column = self.column(name)
            if column.low.dtype == object and not all(isinstance(each, str) for each in plain(column.low)):
                refuse("sort_values of a column of several types, which may raise", "no sort_values")
        return self.reordered(self.rows.selection, is_sorted=True)

    def m_apply(self, func: Any, *, axis: Any = 0) -> Column:
        """``apply(FUNCTION, axis=1)`` of a function of one record."""
        if axis not in (1, "columns") or not isinstance(func, types.FunctionType):
            refuse_by_name(".apply", "a private data frame")
        column: Column = current_domain().applied_to_rows(func, self)
        return column

    def m_squeeze(self, axis: Any = None) -> Column:
        """``squeeze(axis=1)`` of one column: of one record alone it would be a number where no axis is said."""
        if axis not in (1, "columns") or len(self.columns) != 1:
            refuse("squeeze without axis=1, or of several columns: of one record it is a number", "df[NAME]")
        return self.column(*self.columns)

    def m_sample(self, n: Any = None, frac: Any = None) -> Frame:
        """``sample(frac=1)``: another order."""
        if n is not None or frac != 1:
            refuse_by_name(".sample", "a private data frame")
        return self.reordered(self.rows.selection)

    def first_of_each(self, keys: Sequence[Column], most: Any) -> Frame:
        """Return the first rows of each group."""
        if type(most) is not int or most < 1:
            refuse("a bound on rows that is not a whole number from 1 on", ".head(3)")
        selection, person = self.rows.selection, current().person
        if selection.kind in ("unbounded", "person") and len(keys) == 1 and person and keys[0].source == person:
            most = min(most, selection.times) if selection.kind == "person" else most
            return self._of_each_person(most, self.rows.distinct)
        self._refuse_sorted()
        return self.reordered(selection.swapped())

    def _of_each_person(self, most: int, distinct: frozenset[str] | None) -> Frame:
        """Return so many rows of each person, chosen among their own."""
        self._refuse_sorted()
        if self.universe.columns[str(current().person)].missing:
            refuse("persons whose name may be missing", "a domain in which every record has one")
        return self.reordered(Selection("person", most), distinct)

    def _refuse_sorted(self) -> None:
        if self.rows.order < 0:
            refuse("the first rows of a table that was sorted: how ties come hangs on all records", "no sort_values")

    def m_drop_duplicates(self, subset: Any = None, *, keep: Any = "first") -> Frame:
        """``drop_duplicates(names)``: the first of each, or the last."""
        if type(keep) is not str or keep not in ("first", "last"):
            refuse("drop_duplicates(keep=False), where a record takes others away", 'keep="first"')
        names = list(self.columns) if subset is None else [subset] if isinstance(subset, str) else list(subset)
        columns = [self.column(name) for name in names]
        sources, person = {each.source for each in columns}, current().person
        if self.rows.selection.kind == "unbounded" and person in sources and "" not in sources:
            others = frozenset(sources - {person})  # of each person's own rows, one for each of what these hold
            most = math.prod(self.universe.columns[each].count for each in others)
            if most <= _MOST_ROWS:
                return self._of_each_person(int(most), others)
            return self.reordered(self.rows.selection, others)
        return self.first_of_each(columns, 1)

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
            refuse_form("merge of tables that share a column that they are not merged on")
        place = f"{on}="  # another name than that which it is merged on
        left = pd.DataFrame({on: key.low, place: np.arange(len(key.space))})
        joined = left.merge(right, on=on, how=how)
        places = joined[place].to_numpy()
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
        made = self.rows.kept(space).made if most == 1 else None  # rows that are matched once, or not at all
        order_ = next(_ORDERS) * (-1 if self.rows.order < 0 else 1)
        rows = TableRows(space, selection, self.rows.sample, order_, made=made)
        columns: dict[str, Column | None] = {}
        for name in self.columns:
            old = self.column(name)
            moved, mine, _ = old.space.join(space)
            low = taken(old.low, mine)
            columns[name] = Column(
                rows, moved, low, low if old.is_exact else taken(old.high, mine), old.source, is_stable=old.is_stable,
                made=old.made, what=old.what,
            )  # fmt: skip
            columns[name].none = old.none  # type: ignore[union-attr]
        for name in new:
            values = pd.Series(joined[name].array)
            changes = (
                how == "left" and values.dtype != right[name].dtype
            )  # a city without a row: whole numbers become floats
            columns[name] = Column(rows, space, values, values, is_stable=not changes, what=f"{name} of a merge by")
        return Frame(self.universe, rows, columns)

    def m_to_numpy(self, dtype: Any = None) -> Column:
        """``to_numpy()``."""
        matrix = self.matrix()
        if dtype is None:
            return matrix
        if dtype not in (float, "float", "float64", np.float64):
            refuse("to_numpy of another type", "dtype=float")
        return matrix.apply("astype", lambda values: values.astype(float))

    def m_pipe(self, function: Any, *args: Any, **keywords: Any) -> Any:
        """``pipe(f)``: f(frame)."""
        return current_domain().call(function, self, *args, **keywords)

    def m_eval(self, expr: str) -> Any:
        """Refused."""
        return refuse("eval of a text", "columns in Python")

    def m_count(self) -> Number:
        """``count()`` of all columns."""
        return numbers.summed(self.matrix_of("notna"), whole=True, labels=pd.Index(list(self.columns)), kinds=NP_INT)

    def m_sum(self, axis: Any = 0, *, numeric_only: bool = False) -> Any:
        """``sum()`` of all columns, or of each record."""
        if axis in (1, "columns"):
            return row_sum(self.matrix(), is_series=True)
        if axis is None or axis not in (0, "index", "rows"):
            refuse_form("a sum over an axis that is not there")
        listed = [self.column(name) for name in self.columns]
        if any(plain(each.low).dtype.kind not in "ifb" or not each.is_stable for each in listed):
            refuse("a sum of columns that are no numbers", 'df[["age", "income"]].sum()')
        sums = numbers.stacked([column_sum(each) for each in listed])
        return sums.same(labels=pd.Index(list(self.columns)))

    def m_mean(self) -> Number:
        """``mean()`` of all columns, where records are replaced."""
        means = numbers.stacked([sizes.mean(self.column(name)) for name in self.columns])
        return means.same(labels=pd.Index(list(self.columns)))

    def matrix_of(self, name: str) -> Column:
        """Return a mask of all columns."""
        return beside([self.column(each).apply(name, lambda values: values.notna()) for each in self.columns])

    def m_clip(self, lower: Any = None, upper: Any = None) -> Frame:
        """``clip(low, high)`` of every column."""
        columns = {
            name: self.column(name).apply("clip", lambda v, a, b: v.clip(a, b), lower, upper) for name in self.columns
        }
        return Frame(self.universe, self.rows, dict(columns))

    def m_fillna(self, value: Any) -> Frame:
        """``fillna(constant)`` of every column, or ``fillna({name: constant})`` of some."""
        of_each = value if type(value) is dict else dict.fromkeys(self.columns, value)
        columns = dict(self.columns)
        for name in filter(of_each.__contains__, self.columns):
            columns[name] = self.column(name).apply("fillna", lambda v, a: v.fillna(a), of_each[name], dtype_hangs=True)
        return Frame(self.universe, self.rows, columns)

    def m_head(self, n: int = 5) -> Any:
        """Refused."""
        return refuse_by_name(".head", "a private data frame")


def given_frame(universe: CellAxes, selection: Selection) -> Frame:
    """Return the data as the function is given them."""
    space = Space(universe, (), np.zeros((0, 1), np.intp))
    rows = TableRows(space, selection, None, 0, has_all=True, made=steps.MadeStep("all"))
    universe.rows = rows
    return Frame(universe, rows, dict.fromkeys(universe.columns), is_given=True)


def made_of(given: dict[Any, Any]) -> Frame:
    """``pd.DataFrame({name: column})``: of arrays alone under labels of its own."""
    listed = [each.as_array() if isinstance(each, ListedColumn) else each for each in given.values()]
    first = next((each for each in listed if isinstance(each, Column)), None)
    if first is None:
        refuse("a table of private values", "noise on each of them first")
    frame = Frame(first.space.universe, first.rows, {})
    for name, each in zip(given, listed, strict=True):
        frame.store(name, each)
    has_series = any(isinstance(each, Column) and each.is_series for each in listed)
    return frame if has_series else frame.reordered(first.rows.selection)


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
        return np.stack([plain(getattr(each, end))[place] for each, place in zip(listed, places, strict=True)], 1)

    low = at("low")
    return listed[0].with_values(space, low, None if all(each.is_exact for each in listed) else at("high"))


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
            if isinstance(names, types.FunctionType):
                names = current_domain().call(names, self.frame)
            if not isinstance(names, str) and not (type(names) is list and all(isinstance(one, str) for one in names)):
                refuse("columns chosen by something else than their names", 'df.loc[x > LIMIT, "age"]')
            chosen = self.frame if isinstance(rows, slice) and rows == slice(None) else self._of_rows(rows)
            return chosen.select(names)
        return self._of_rows(key)

    def _of_rows(self, rows: Any) -> Any:
        if isinstance(rows, types.FunctionType):
            rows = current_domain().call(rows, self.frame)
        if not isinstance(rows, Column | Sampling | Undecided):
            refuse("a choice of rows by label or place", "df.loc[x > LIMIT]")
        return self.frame.select(rows)

    def store(self, key: Any, value: Any) -> None:
        """``loc[mask, name] = constant``."""
        self.frame.refuse_given()
        if not parts_are_copies():
            what = "an assignment to rows, which pandas before 3 also makes in columns that were taken out before"
            refuse(what, "x.mask(x > LIMIT, 0).sum() + laplace(…)")
        if not (isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], Column) and isinstance(key[1], str)):
            refuse("an assignment to rows in this form", 'df.loc[mask, "age"] = 0')
        if type(value) not in (int, float, str, bool, np.int64, np.float64):
            refuse("an assignment of what is no single constant to some rows", "x.where(mask, other)")
        old = self.frame.column(key[1])
        new = old.apply("mask", lambda values, mask: values.mask(mask, value), key[0], dtype_hangs=True)
        if new.low.dtype != old.low.dtype:
            refuse("an assignment of a constant of another type to some rows, which raises if there are any",
                   ".astype(float) of the column before it")  # fmt: skip
        self.frame.store(key[1], new)


def query(frame: Frame, text: str) -> Any:
    """Return ``frame.query(text)``: the text as masks of columns."""
    import ast
    import operator

    if not isinstance(text, str):
        refuse("query of what is no public text", "len(df[x > LIMIT]) + laplace(…)")
    domain = current_domain()
    tests: dict[type, str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}

    def mask(node: ast.expr) -> Any:
        if isinstance(node, ast.BoolOp):
            condition = mask(node.values[0])
            for each in node.values[1:]:
                condition = domain.binary("and_" if isinstance(node.op, ast.And) else "or_", condition, mask(each))
            return condition
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            return domain.binary(
                "and_" if isinstance(node.op, ast.BitAnd) else "or_", mask(node.left), mask(node.right)
            )
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
            return domain.unary("invert", mask(node.operand))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            listed = node.comparators[0]
            if not isinstance(listed, ast.List | ast.Tuple) or not isinstance(node.left, ast.Name):
                refuse("query with calls, names from outside or arithmetic", "len(df[x > LIMIT]) + laplace(…)")
            hits = domain.call(domain.attribute(value(node.left), "isin"), [value(each) for each in listed.elts])
            return hits if isinstance(node.ops[0], ast.In) else domain.unary("invert", hits)
        if isinstance(node, ast.Compare) and all(type(test) in tests for test in node.ops):
            sides = [value(each) for each in (node.left, *node.comparators)]
            condition = None
            for left, test, right in zip(sides, node.ops, sides[1:], strict=False):
                one = domain.binary(tests[type(test)], left, right)
                condition = one if condition is None else domain.binary("and_", condition, one)
            return condition
        return refuse("query with calls, names from outside or arithmetic", "len(df[x > LIMIT]) + laplace(…)")

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id in frame.columns:
            return frame.column(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return operator.neg(value(node.operand))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
            return node.value
        return refuse("query with calls, names from outside or arithmetic", "len(df[x > LIMIT]) + laplace(…)")

    if "@" in text:
        refuse("query with a name from outside (@…)", "len(df[x > LIMIT]) + laplace(…)")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        refuse("a query that is no Python", "len(df[x > LIMIT]) + laplace(…)")
    return frame.select(mask(tree))
