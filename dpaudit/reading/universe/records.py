"""What does a function do with each record? It is called for every kind of records, each by itself.

What it is given are plain values, or cells between two ends. So within it nothing older than the record may change, be
printed or drawn, and nothing but its result leaves it; it may add to numbers that were there before (a fold). An
operation on a cell whose outcome is not one for all its values cuts it or is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe import frames
from dpaudit.reading.universe.columns import Column, ListedColumn, TableRows, plain
from dpaudit.reading.universe.state import (
    Left,
    Private,
    RefusalError,
    current,
    current_domain,
    noun_of,
    refuse,
    refuse_raising,
)
from dpaudit.reading.universe.values import PUBLIC, joined, kind_of_plain, sort_of


class Unbound:
    """What stands for a local name that has no value."""


UNBOUND = Unbound()


class RecordNumber(Private):
    """A number of one record, between two ends.

    Attributes:
        low, high: its ends.
        column: whose cell it is, to cut it; None of a computed number.
    """

    __slots__ = ("column", "high", "low")
    noun = "value of a record"

    def __init__(self, low: float, high: float, column: Column | None = None) -> None:
        self.low, self.high, self.column = low, high, column

    def compared(self, name: str, other: Any, *, is_left: bool) -> bool:
        """Return the outcome of a comparison, which has to be one for the whole cell."""
        test = getattr(operator, name)
        if isinstance(other, RecordNumber):
            pairs = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
            outcomes = {bool(test(a, b) if is_left else test(b, a)) for a, b in pairs}
            if len(outcomes) == 1 and name in ("lt", "le", "gt", "ge"):
                return outcomes.pop()
            refuse("a comparison of two values of a record of which only bounds are known", "constants")
        if not _is_plain_number(other):
            refuse(f"a comparison of a number of a record with a {noun_of(other)}")
        if self.column is not None:
            self.column.cut([other])
        ends = [bool(test(end, other) if is_left else test(other, end)) for end in (self.low, self.high)]
        if ends[0] == ends[1] and (
            name in ("lt", "le", "gt", "ge") or self.column is not None or not self.low <= other <= self.high
        ):
            return ends[0]
        return refuse("a comparison of values of which only bounds are known", "a comparison of the value itself")

    def combined(self, name: str, other: Any, *, is_left: bool) -> Any:
        """Return the least and the most of an operator's result."""
        if isinstance(other, RecordNumber):
            if name == "truediv":
                refuse("a quotient of two values of a record of which only bounds are known")
            ends = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        elif _is_plain_number(other):
            ends = [(self.low, other), (self.high, other)]
        else:
            return refuse(f"a number of a record together with a {noun_of(other)}")
        if name not in ("add", "sub", "mul", "truediv", "pow"):
            refuse(
                f"this operator on values of which only bounds are known ({name})",
                "the values that are possible, in the domain",
            )
        if name == "truediv" and (not is_left or other == 0):
            refuse("a quotient by a value of a record of which only bounds are known", "a constant in its place")
        if name == "pow" and not (is_left and type(other) is int and other >= 0):
            refuse("a power of values of which only bounds are known", "whole numbers as powers")
        function = getattr(operator, name)
        results = [float(function(*pair) if is_left else function(*pair[::-1])) for pair in ends]
        least, most = min(results), max(results)
        if name == "pow" and self.low <= 0 <= self.high and other:
            least = min(least, 0.0)
        if name == "mul" and other is self:
            least = max(least, 0.0) if self.low > 0 or self.high < 0 else 0.0
        return RecordNumber(least, most)

    def negative(self) -> RecordNumber:
        """``-x``."""
        return RecordNumber(-self.high, -self.low)

    def absolute(self) -> RecordNumber:
        """``abs(x)``."""
        ends = abs(self.low), abs(self.high)
        return RecordNumber(0.0 if self.low <= 0 <= self.high else min(ends), max(ends))


def _is_plain_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value)


def extreme(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Return the least or the most of cells and numbers, which keeps order."""
    for each in values:
        if not isinstance(each, RecordNumber) and not _is_plain_number(each):
            refuse(f"the least or the most of a value of a record and a {noun_of(each)}")
        if isinstance(each, RecordNumber) and each.column is not None:
            each.column.cut([other for other in values if not isinstance(other, RecordNumber)])
    low = function(each.low if isinstance(each, RecordNumber) else each for each in values)
    high = function(each.high if isinstance(each, RecordNumber) else each for each in values)
    return low if low == high else RecordNumber(low, high)


class Adding(Private):
    """A number from before a loop over records, and what the record adds to it."""

    __slots__ = ("high", "key", "kinds", "low")
    noun = "number that a loop over records adds to"

    def __init__(self, key: Any, low: float, high: float, kinds: frozenset[str]) -> None:
        self.key, self.low, self.high, self.kinds = key, low, high, kinds

    def plus(self, other: Any, sign: int) -> Adding:
        """Return it with something more added."""
        low, high, kind = _ends(other)
        if sign < 0:
            low, high = -high, -low
        kinds = frozenset(joined(each, kind) for each in self.kinds)
        return Adding(self.key, self.low + low, self.high + high, kinds | self.kinds)


def _ends(value: Any) -> tuple[float, float, str]:
    if isinstance(value, RecordNumber):
        return value.low, value.high, "float"
    if not _is_plain_number(value):
        refuse(f"a loop over records that adds a {noun_of(value)} to a number", "numbers")

    if (kind := kind_of_plain(value)) is None or (kind == "np.int64" and abs(int(value)) > 2**31):
        refuse(f"a loop over records that adds numbers of the type {type(value).__name__}, which wraps", "float(x)")
    return float(value), float(value), kind


class Gone(Private):
    """What a loop over records leaves behind: the last record's, which is private."""

    __slots__ = ()
    noun = "value of the last record of a loop"


class Records(Private):
    """What a loop over records goes through: for each kind, what the loop sees."""

    __slots__ = ("is_gone", "is_once", "rows", "space", "values")
    noun = "list of records"

    def __init__(self, rows: TableRows, space: Any, values: list[Any], *, is_once: bool = False) -> None:
        self.rows, self.space, self.values = rows, space, values
        self.is_once, self.is_gone = is_once, False


class Index(Private):
    """The label of a record."""

    __slots__ = ()
    noun = "label of a record"


class RecordRow(Private):
    """A record, as ``iterrows``, ``itertuples`` or ``to_dict("records")`` gives it, with the columns that are named."""

    __slots__ = ("kind", "values")
    noun = "record"

    def __init__(self, values: dict[str, Any], kind: str) -> None:
        self.values, self.kind = values, kind

    def _value(self, name: Any) -> Any:
        if name not in self.values:
            refuse(
                f"no column {name!r:.40}; there are {', '.join(map(repr, self.values))}", "--domain, which declares it"
            )
        return self.values[name]

    def select(self, key: Any) -> Any:
        """``row[name]``, or ``row[place]`` of itertuples."""
        if self.kind != "itertuples":
            return self._value(key)
        return refuse("a place of a record", "row.name")

    def get(self, name: str) -> Any:
        """``row.name``."""
        if self.kind == "to_dict":
            refuse(f".{name} of a dict of a record", 'row["age"]')
        if name == "Index" if self.kind == "itertuples" else hasattr(pd.Series, name):
            refuse(f".{name} of a record, which is what pandas calls so, and no column", f'row["{name}"]')
        return self._value(name)


def records_of(value: Any) -> Records | None:
    """Return what one goes through who goes through a private value; None if it is not one for each record."""
    if isinstance(value, Records):
        if value.is_gone:
            refuse("an iterator over records that is gone through twice, which gives nothing then", "list(x)")
        value.is_gone = value.is_once
        return value
    if isinstance(value, ListedColumn):
        value = value.gone_through()
    if isinstance(value, Column) and not value.width:
        if not value.is_stable:
            refuse("a loop over a column whose type hangs on the data", ".astype(float)")
        return Records(value.rows, value.space, list(cells_of(value)))
    return None


def cells_of(column: Column) -> Iterator[Any]:
    """Yield the value of each kind, as Python sees it in a loop."""
    low, high = plain(column.low), plain(column.high)
    listed = column.low.tolist() if column.is_series else list(low)
    highs = listed if column.is_exact else column.high.tolist() if column.is_series else list(high)
    source = column if column.source else None
    for first, last in zip(listed, highs, strict=True):
        is_point = first is last or first == last or first != first
        yield first if is_point else RecordNumber(float(first), float(last), source)


def zipped(values: Sequence[Any]) -> Records:
    """Return what a loop over several columns of the same rows goes through."""
    listed = [records_of(each) for each in values]
    columns = [each for each in listed if each is not None]
    if len(columns) < len(values):
        refuse("zip of private columns and of something else", "columns of one frame")
    space, places = columns[0].space, [np.arange(len(columns[0].space))]
    for each in columns[1:]:
        if not each.rows.same(columns[0].rows):
            refuse("zip of columns of different rows", "columns of one frame")
        space, mine, theirs = space.join(each.space)
        places = [place[mine] for place in places] + [theirs]
    columns_read = [
        tuple(each.values[place[k]] for each, place in zip(columns, places, strict=True)) for k in range(len(space))
    ]
    return Records(columns[0].rows, space, columns_read, is_once=True)


def of_frame(frame: frames.Frame, kind: str, used: Sequence[str]) -> Records:
    """Return what ``iterrows``, ``itertuples`` or ``to_dict`` gives, with the columns that the function names."""
    names = [name for name in frame.columns if name in used] or list(frame.columns)[:1]
    columns = [frame.column(name) for name in names]
    types = {plain(frame.column(name).low).dtype for name in frame.columns} if kind == "iterrows" else set()
    if types and ({each.kind for each in types} <= {"i", "f"} or types == {np.dtype(bool)}):  # else a row of objects
        common = np.result_type(*types)
        columns = [column_of(each, common) for each in columns]
    both = zipped(columns)
    rows: list[Any] = [RecordRow(dict(zip(names, each, strict=True)), kind) for each in both.values]
    rows_read = [(Index(), row) for row in rows] if kind == "iterrows" else rows
    return Records(both.rows, both.space, rows_read, is_once=kind != "to_dict")


def column_of(column: Column, dtype: Any) -> Column:
    """Return a column as an array of a type."""
    if not column.is_stable:
        refuse("a loop over a column whose type hangs on the data", ".astype(float)")
    low = plain(column.low).astype(dtype)
    high = low if column.is_exact else plain(column.high).astype(dtype)
    column_made = Column(column.rows, column.space, low, high, column.source, made=column.made, what=column.what)
    column_made.chain = column.chain
    return column_made


@contextmanager
def one_record() -> Iterator[None]:
    """Within this, something is done with one record."""
    state = current()
    before = state.record
    if before:
        refuse("something done with each record within something done with each record", "columns")
    state.records += 1
    state.record = state.records
    try:
        yield
    finally:
        state.record = before


def for_a_record(function: Callable[..., Any], *args: Any) -> Any:
    """Call what is done with a record; if it raises, whether it does is private."""
    try:
        return function(*args)
    except (Left, RefusalError, UnboundLocalError):
        raise
    except (Exception, SystemExit) as error:
        refuse_raising("it", error)


def applied(function: Any, column: Column, name: str) -> Column:
    """Return ``column.apply(function)``: a function of one record."""
    if isinstance(function, type) and function not in (int, float, str, bool):
        refuse(f"{name} of a class", "a function")
    if not column.is_stable:
        refuse(f"{name} of a column whose type hangs on the data", f".astype(float).{name}(FUNCTION)")
    low, high = [], []
    domain = current_domain()
    for each in cells_of(column):
        with one_record():
            result = domain.call_of_record(function, each)
        first, last = (result.low, result.high) if isinstance(result, RecordNumber) else (result, result)
        if sort_of(first) != PUBLIC or isinstance(first, list | dict | set | tuple):
            refuse(f"{name} of a function that returns no single value", "a number or a text")
        low.append(first)
        high.append(last)
    return _collected(column, low, high)


def applied_to_rows(function: Any, through: Records, names: Sequence[str]) -> Column:
    """Return ``frame.apply(function, axis=1)``, which pandas also calls with a row of missing numbers.

    It does so where there are no records, and gives numbers then; of a function that raises for it, the empty table.
    """
    low, high = [], []
    domain = current_domain()
    for row in [*(row for _, row in through.values), RecordRow(dict.fromkeys(names, math.nan), "iterrows")]:
        with one_record():
            result = domain.call_of_record(function, row)
        first, last = (result.low, result.high) if isinstance(result, RecordNumber) else (result, result)
        if sort_of(first) != PUBLIC or type(first) not in (int, float, bool, str, np.int64, np.float64, np.bool_):
            refuse("apply of a function that returns no single value", "a number or a text")
        low.append(first)
        high.append(last)
    ends = pd.Series(low[:-1]), pd.Series(high[:-1])
    is_exact = all(a is b for a, b in zip(low, high, strict=True))
    is_stable = all(isinstance(each, float) for each in low[:-1])
    found_column = Column(through.rows, through.space, ends[0], ends[0] if is_exact else ends[1], is_stable=is_stable)
    found_column.none, found_column.what = pd.Series([], dtype=float), "a function of a record with"
    return found_column


def _collected(column: Column, low: list[Any], high: list[Any]) -> Column:
    first = pd.Series(low, name=getattr(column.low, "name", None))
    last = (
        first
        if all(a is b for a, b in zip(low, high, strict=True))
        else pd.Series(high, dtype=first.dtype if first.dtype.kind == "f" else None)
    )
    kinds = {type(each) for each in low + high}
    is_stable = (
        len(kinds) == 1 and kinds <= {int, float, bool, str} and first.dtype == column.low.dtype
        if column.is_series
        else False
    )
    if not column.rows.has_all and kinds and len(kinds) == 1 and first.dtype == column.low.dtype and column.is_series:
        is_stable = True
    column_made = column.with_values(column.space, first, last, is_stable=is_stable)
    column_made.none = column.of_none() if column.is_series else None
    column_made.what = "a function of"
    return column_made


def comprehended(records: Records, element: Callable[[Any], Any], keep: Callable[[Any], Any] | None) -> Column:
    """Return a comprehension over records as an array with a value for each that is kept."""
    low, high, kept = [], [], []
    for place, each in enumerate(records.values):
        with one_record():
            if keep is not None and not for_a_record(keep, each):
                continue
            result = for_a_record(element, each)
        first, last = (result.low, result.high) if isinstance(result, RecordNumber) else (result, result)
        if sort_of(first) != PUBLIC or isinstance(first, list | dict | set | tuple):
            refuse("a comprehension over records of something that is no single value", "a number")
        low.append(first)
        high.append(last)
        kept.append(place)
    space = records.space.take(np.array(kept, int))
    rows = records.rows if len(kept) == len(records.values) else records.rows.kept(space)
    values = np.array(low) if low else np.zeros(0)
    if values.dtype == object:
        refuse("a comprehension over records of several types", "numbers")
    last_values = values if all(a is b for a, b in zip(low, high, strict=True)) else np.array(high)
    found_column = Column(rows, space, values, last_values, what="a comprehension of")
    found_column.is_stable = True
    return found_column
