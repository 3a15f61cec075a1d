"""What does a value of each record become? Columns: the real result of pandas or NumPy for every kind of record.

What treats each record by itself is done by the library, on one row for every kind. Of a cell that is no point both
ends are computed, where the operation keeps order, or the four corners. An operation that stands in no table is
refused, and so is every argument that is not accounted for.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import math
import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpaudit.reading.universe import cells, steps
from dpaudit.reading.universe.state import (
    NOISE_FIRST,
    Private,
    current,
    noun_of,
    refuse,
    refuse_by_name,
    refuse_raising,
)
from dpaudit.reading.universe.values import Token

_SELECTIONS = itertools.count(1)
Truths = npt.NDArray[np.bool_]
CASTS: dict[Any, str] = {
    float: "float64", "float": "float64", "float64": "float64", np.float64: "float64",
    int: "int64", "int": "int64", "int64": "int64", np.int64: "int64",
    bool: "bool", "bool": "bool", np.bool_: "bool",
}  # fmt: skip
"""Types that a column is converted to."""
_SINGLE = (Private, int, float, str, np.generic, np.ndarray, datetime.date, datetime.timedelta, np.datetime64,
           type(None), type(pd.NaT), type(pd.NA))  # fmt: skip
"""Types of what an operation on a column is given beside it: one value for all records, or a column."""
NO_MASK = "a choice of rows by something that is no mask of these rows"
COMPARISONS = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
_RISING = frozenset(
    ("clip", "fillna", "round", "floor", "ceil", "rint", "trunc", "exp", "log", "log2", "log10", "log1p", "expm1",
     "sqrt", "cbrt", "add", "maximum", "minimum", "astype", "tanh", "arctan", "pos", "copy", "where")
)  # fmt: skip
_CORNERS = {"neg", "sub", "mul", "pow", "abs", "truediv"}
_SAME_AT_BOTH_ENDS = frozenset(("isin", "isna", "notna"))


def plain(values: Any) -> Any:
    """Return the values of a series or array as an array."""
    return values.to_numpy() if isinstance(values, pd.Series | pd.Index) else np.asarray(values)


def same(first: Any, second: Any) -> Truths:
    """Return where two results are the same, a missing value with itself."""
    one, other = plain(first), plain(second)
    return np.asarray((one == other) | (pd.isna(one) & pd.isna(other)), bool)


def taken(values: Any, places: Any) -> Any:
    """Return the values at some places, with labels of their own."""
    if isinstance(values, pd.Series):
        return pd.Series(values.array.take(places), name=values.name)
    return values[places]


def computed(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Return what a library does with the universe; where it raises, whether it does is private."""
    filters = list(warnings.filters)
    strict = any(action == "error" for action, *_ in filters)
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            with contextlib.nullcontext() if strict else np.errstate(all="ignore"):
                result = function(*args)
    except Exception as error:
        refuse_raising(f"{name} ({error})", error)
    for each in heard:
        if _is_error(each.category, filters):
            refuse_raising(f"{name} ({each.message}, a warning that is an error here)", each.category())
    return result


def _is_error(category: type, filters: Sequence[tuple[Any, ...]]) -> bool:
    """Whether Python may raise a warning of a class."""
    for action, message, kind, module, line in filters:
        if issubclass(category, kind):
            if action == "error":
                return True
            if message is None and module is None and not line:
                return False
    return False


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


class TableRows(Private):
    """Which rows a table has.

    Attributes:
        space: the kinds that they can have.
        selection: what one record, or person, does to them.
        sample: number and rate of the Poisson sample that they are of; None for all.
        order: rows in another order, or under other labels, line up with no others; below 0 it was sorted.
        has_all: whether these are all rows of the data: then there are none only where there are no data.
        distinct: columns of the data in which two rows of one person differ; None where they may be alike.
        made: how they were chosen; None where no word fits.
    """

    __slots__ = ("distinct", "has_all", "made", "order", "sample", "selection", "space")
    noun = "index of private rows"

    def __init__(
        self, space: cells.Space, selection: Any, sample: Any = None, order: int = 0, *, has_all: bool = False,
        distinct: frozenset[str] | None = None, made: steps.MadeStep | None = None,
    ) -> None:  # fmt: skip
        self.distinct, self.made = distinct, made
        self.space, self.selection, self.sample, self.order, self.has_all = space, selection, sample, order, has_all

    def same(self, other: Any) -> bool:
        """Whether these are the same rows in the same order."""
        return self is other or (
            isinstance(other, TableRows)
            and self.selection is other.selection
            and self.sample is other.sample
            and self.order == other.order
            and self.space.same(other.space)
        )

    def kept(self, space: cells.Space, mask: Column | None = None) -> TableRows:
        """Return those of some kinds: those for which a mask holds, or others that are told apart."""
        all_of = np.ones(len(space), bool)
        how = steps.table(space, all_of, all_of, "which rows are kept, by") if mask is None else mask.step()
        made = None if self.made is None or how is None else steps.MadeStep("kept", (self.made, how))
        return TableRows(space, self.selection, self.sample, self.order, distinct=self.distinct, made=made)

    def where(self, mask: Column, instead: str) -> TableRows:
        """Return those for which a mask of these rows holds."""
        if not mask.is_mask or not mask.rows.same(self):
            refuse(NO_MASK, instead)
        return self.kept(mask.space.take(np.flatnonzero(plain(mask.low))), mask)


class Sampling(Private):
    """A coin for each row: in, or not."""

    __slots__ = ("number", "rate", "rows", "times")
    noun = "coin of each record"

    def __init__(self, rate: float, rows: TableRows) -> None:
        state = current()
        state.samples += 1
        state.sampled[state.samples] = state.level
        self.rate, self.rows, self.number, self.times = rate, rows, state.samples, state.times

    def of(self, rows: TableRows) -> TableRows:
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
        sample = (self.number, self.rate, self.times)
        made = None if rows.made is None else steps.MadeStep("sampled", (rows.made,), {"sample": sample})
        return TableRows(rows.space, rows.selection, sample, rows.order, made=made)


class Column(Private):
    """A value, or a row of values, for each record: at the lower and at the upper end of the cell of every kind.

    Attributes:
        rows: whose values they are.
        space: the kinds that are told apart: those of the rows, and more.
        low, high: series or arrays, one item a kind; the same object where every cell is a point.
        source: the name of the column of the data that this is; "" for anything computed.
        chain: for what is computed of one such column and rises or falls on every cell: its name, and the computation.
        is_stable: whether its type is the same whatever records there are, also without any.
        none: what it is of no records, where that may be of another type; None where it is a part of ``low``.
        made: how it was made; None where no word fits, or nobody asked yet.
        what: was done last, for people.
    """

    __slots__ = ("chain", "high", "is_stable", "low", "made", "none", "rows", "source", "space", "what")
    noun = "private column"

    def __init__(
        self, rows: TableRows, space: cells.Space, low: Any, high: Any, source: str = "", *, is_stable: bool = True,
        made: steps.MadeStep | None = None, what: str = "",
    ) -> None:  # fmt: skip
        self.rows, self.space, self.low, self.high = rows, space, low, high
        self.source, self.is_stable, self.made, self.what = source, is_stable, made, what
        self.chain: tuple[str, Callable[[Any], Any]] | None = (source, _itself) if source else None
        self.none: Any = None

    @property
    def is_exact(self) -> bool:
        """Whether each kind has one value."""
        return self.low is self.high

    @property
    def is_series(self) -> bool:
        """Whether it is of pandas."""
        return isinstance(self.low, pd.Series)

    @property
    def width(self) -> int:
        """Numbers in the row of a record; 0 where a record has one value."""
        return int(self.low.shape[1]) if np.ndim(self.low) == 2 else 0

    @property
    def is_mask(self) -> bool:
        """Whether it says of each record whether something holds."""
        return self.is_exact and np.ndim(self.low) == 1 and plain(self.low).dtype == bool

    @property
    def is_of_numbers(self) -> bool:
        """Whether it says a number of each record, for all data."""
        return self.is_stable and np.ndim(self.low) == 1 and plain(self.low).dtype.kind in "iuf"

    def step(self) -> steps.MadeStep | None:
        """Return how it was made: where no word fits, the table of what a library computed for every kind."""
        if self.made is None and not self.width:
            self.made = steps.table(self.space, self.low, self.high, self.what or "a value of")
        return self.made

    def with_values(
        self,
        space: cells.Space,
        low: Any,
        high: Any = None,
        *,
        is_stable: bool = True,
        made: steps.MadeStep | None = None,
    ) -> Column:
        """Return other values of the same rows."""
        if high is not None and high is not low and bool(np.all(same(low, high))):
            high = None
        return Column(self.rows, space, low, low if high is None else high, is_stable=is_stable, made=made)

    def on(self, rows: TableRows) -> Column:
        """Return the values on fewer rows."""
        space, mine, _ = self.space.join(rows.space)
        low = taken(self.low, mine)
        high = low if self.is_exact else taken(self.high, mine)
        column = Column(rows, space, low, high, self.source, is_stable=self.is_stable, made=self.made, what=self.what)
        column.chain, column.none = self.chain, self.none
        return column

    def named(self, name: str) -> Column:
        """Return the same column of pandas under a name."""
        low = self.low.rename(name)
        column = Column(
            self.rows, self.space, low, low if self.is_exact else self.high.rename(name), self.source,
            is_stable=self.is_stable, made=self.made, what=self.what,
        )  # fmt: skip
        column.chain, column.none = self.chain, self.none
        return column

    def of_none(self) -> Any:
        """Return what it is of no records."""
        return self.low[:0] if self.none is None else self.none

    def constant(self, value: Any) -> Column:
        """Return one value for all records."""
        array = np.full(len(self.space), value)
        low = pd.Series(array) if self.is_series else array
        return Column(self.rows, self.space, low, low, made=steps.constant(value))

    def refuse_others(self, name: str) -> NoReturn:
        """Refuse what looks at other records."""
        refuse_by_name(f".{name}", "a private column")

    # --- what treats each record by itself ----------------------------------------------------------------

    def apply(
        self, name: str, function: Callable[..., Any], *others: Any, dtype_hangs: bool = False,
        made: steps.MadeStep | None = None,
    ) -> Column:  # fmt: skip
        """Return function(values, *others), done for every kind; ``made`` is its step by another name."""
        result = self._applied(name, function, *others, dtype_hangs=dtype_hangs)
        columns = [each for each in (self, *others) if isinstance(each, Column)]
        if self.is_series and (dtype_hangs or any(each.none is not None for each in columns)):
            given = [each.of_none() if isinstance(each, Column) else each for each in (self, *others)]
            result.none = computed(f"{name} of no records", function, *given)
            if name in COMPARISONS and getattr(result.none, "dtype", None) == result.low.dtype == bool:
                result.is_stable = True
        if made is None and not result.width:
            made = steps.operation(name, self.step(), steps_of(*others))
        result.made, result.what = made, f"{name} of"
        return result

    def _applied(self, name: str, function: Callable[..., Any], *others: Any, dtype_hangs: bool) -> Column:
        columns = [self, *(each for each in others if isinstance(each, Column))]
        for each in columns:
            if not each.rows.same(self.rows):
                refuse(
                    f"{name} of columns of different rows, which pandas lines up by index",
                    "columns of one frame: make both before or both after the rows are chosen",
                )
        for each in others:
            if isinstance(each, Token):
                refuse(
                    f"{name} of a private column with a released value",
                    "a constant, or one of few that noise chooses: np.random.choice(LIMITS, p=e / e.sum())",
                )
            if isinstance(each, Private) and not isinstance(each, Column):
                refuse(f"{name} of a private column with another {each.noun}", NOISE_FIRST)
            is_long = isinstance(each, pd.Series | pd.Index | pd.DataFrame) or (np.ndim(each) and not self._fits(each))
            if is_long and name != "isin":
                refuse(f"{name} of a private column with an array of a length of its own", "a single value")
            if not is_long and not isinstance(each, _SINGLE):  # what a table of pandas looks up by label, or asks
                refuse(f"{name} of a private column with a {noun_of(each)}", "a single value")
        space, places = self.space, [np.arange(len(self.space))]
        for each in columns[1:]:
            space, mine, theirs = space.join(each.space)
            places = [place[mine] for place in places] + [theirs]

        def at(end: str) -> list[Any]:
            results, number = [], 0
            for each in (self, *others):
                if isinstance(each, Column):
                    results.append(taken(getattr(each, end), places[number]))
                    number += 1
                else:
                    results.append(each)
            return results

        is_stable = all(each.is_stable for each in columns) or name in ("astype", "eq", "ne")
        low = computed(name, function, *at("low"))
        if len(plain(low)) != len(space):
            refuse(f"{name} of a private column, which does not treat each record by itself")
        if is_stable and dtype_hangs:
            is_stable = self._is_stable(low, function, at("low"))
        if all(each.is_exact for each in columns):
            return self.with_values(space, low, is_stable=is_stable)
        high = computed(name, function, *at("high"))
        if name in COMPARISONS or name in ("between", "digitize", "cut"):
            return self._compared(name, columns, others, space, (low, high), is_stable)
        is_same = name in _SAME_AT_BOTH_ENDS and bool(np.all(same(low, high)))
        if is_same and (name != "isin" or self.chain is not None):
            if name == "isin":
                self.cut([each for each in np.ravel(np.asarray(others[0], object)) if _is_number(each)])
            return self.with_values(space, low, is_stable=is_stable)
        chain = self._chained(function, columns, others)
        if name in _RISING:
            gone = _missing(at("low"), low)
            if not (_finite(low, gone) and _finite(high, gone)):
                refuse(f"{name} of values for which it may be missing or infinite", ".clip(low, high) first")
            if any(_is_large(end) for end in (low, high)):
                refuse(f"{name} of whole numbers so large that it may wrap", ".astype(float) first")
            if name in ("clip", "maximum", "minimum"):
                self.cut([each for each in others if _is_number(each)])
            results = self.with_values(space, low, high, is_stable=is_stable)
            results.chain = chain
            return results
        if name in _CORNERS:
            results = self.with_values(space, *self._corners(name, function, at, columns, others), is_stable=is_stable)
            results.chain = chain if name in ("neg", "sub", "mul", "truediv") else None
            return results
        refuse(f"{name} of values that cannot be listed", "the values that are possible, in the domain")

    def _chained(self, function: Callable[..., Any], columns: list[Column], others: Sequence[Any]) -> Any:
        """Return the column of the data that this comes from, and how, where there is one and the rest is constant."""
        if self.chain is None or len(columns) > 1:
            return None
        source, before = self.chain
        return source, lambda values: function(before(values), *others)

    def _fits(self, value: Any) -> bool:
        """Whether an array has one number for each number of a record's row."""
        return bool(self.width and np.shape(value) == (self.width,))

    def _is_stable(self, low: Any, function: Callable[..., Any], given: list[Any]) -> bool:
        """Whether the type of a result is the same whatever records there are."""
        if not isinstance(low, pd.Series):
            return True
        none = computed(
            "this of no records", function, *(each[:0] if isinstance(each, pd.Series) else each for each in given)
        )
        if none.dtype != low.dtype:
            return False
        if low.dtype == object:
            return False
        for place in range(len(low)) if len(low) <= 300 else np.linspace(0, len(low) - 1, 300).astype(int):
            one = [each.iloc[place : place + 1] if isinstance(each, pd.Series) else each for each in given]
            if computed("this of one record", function, *one).dtype != low.dtype:
                return False
        return len(low) <= 300 or low.dtype.kind in "ifb"

    def cut(self, values: Sequence[Any]) -> None:
        """Ask for cells that end where the column comes to these values."""
        if self.chain is None or self.is_exact:
            return
        source, function = self.chain
        universe = self.space.universe
        known, column = universe.cuts.get(source, frozenset()), universe.columns[source]
        points = {float(each) for each in values}
        if not self.source:
            inside = {each for each in points if column.low < each < column.high}
            near = inside - known  # where it is the column itself, as within a clip
            points = near | {
                points_found for each in points - near for points_found in self._reached(each, source, function)
            }
        new = [each for each in points if column.low < each < column.high and each not in known]
        if new:
            current().cut(source, new)

    def _reached(self, value: float, source: str, function: Callable[[Any], Any]) -> list[float]:
        """Return, for the cells in which it comes to a value, where: the floats on either side, and where it leaves.

        It may stay there: x - 50 is -50 for all floats up to 7e-15.
        """
        axis = self.space.universe.axis(source)
        wrap = pd.Series if isinstance(axis.low, pd.Series) else np.array

        def at(points: Any) -> Any:
            return plain(computed("this of one value", function, wrap(np.array(points, axis.low.dtype)))).astype(float)

        starts, ends = ([cell[side] for cell in axis.cells] for side in (0, 1))
        changes = []
        for low, high, first, last in zip(starts, ends, at(starts), at(ends), strict=True):
            if (first < value) != (last < value):
                changes += _changes(lambda points: at(points) < value, low, high)
            if (first <= value) != (last <= value):
                changes += [_changes(lambda points: at(points) <= value, low, high)[int(first > value)]]
        return changes

    def _compared(
        self, name: str, columns: list[Column], others: Sequence[Any], space: cells.Space, ends: Any, is_stable: bool
    ) -> Column:
        """A comparison: cells are cut at what they are compared with, so that both ends agree."""
        constants = [x for each in others if not isinstance(each, Column) for x in np.ravel(np.asarray(each, object))]
        low, high = ends
        if name in ("eq", "ne", "between") or not np.all(same(low, high)):
            for each in columns:
                each.cut([x for x in constants if _is_number(x)])
        alone = len(columns) == 1 and self.chain is not None
        if np.all(same(low, high)) and (alone or name in ("lt", "le", "gt", "ge")):
            return self.with_values(space, low, is_stable=is_stable)
        if name in ("eq", "ne") and len(columns) == 1 and len(constants) == 1:
            first, last = plain(self.low), plain(self.high)
            value = constants[0]
            if _is_number(value) and np.all((first == last) | (last < value) | (first > value)):
                return self.with_values(space, low, is_stable=is_stable)
        return refuse(
            f"{name} of values of which only bounds are known",
            "a comparison of the column itself, or the values that are possible, in the domain",
        )

    def _corners(
        self,
        name: str,
        function: Callable[..., Any],
        at: Callable[[str], list[Any]],
        columns: list[Column],
        others: Any,
    ) -> tuple[Any, Any]:
        """Return the least and the most at the corners of the cells (interval arithmetic, Moore 1966)."""
        lows, highs = at("low"), at("high")
        second = others[0] if others else None
        if name == "truediv" and (isinstance(second, Column) or np.any(np.asarray(second) == 0)):
            refuse("a quotient by a column whose values cannot be listed", NOISE_FIRST)
        if name == "pow" and not (isinstance(second, int) and not isinstance(second, bool) and second >= 0):
            refuse("a power of values that cannot be listed", "whole numbers as powers, from 0 on")
        choices = [[low] if low is high else [low, high] for low, high in zip(lows, highs, strict=True)]
        corners = [plain(computed(name, function, *corner)).astype(float) for corner in itertools.product(*choices)]
        least, most = np.min(corners, 0), np.max(corners, 0)
        if name in ("pow", "abs"):
            first, last = plain(lows[0]).astype(float), plain(highs[0]).astype(float)
            bottom = 1.0 if name == "pow" and second == 0 else 0.0
            least = np.where((first <= 0) & (last >= 0), np.minimum(least, bottom), least)
        missing = np.zeros(len(least), bool).reshape(-1, *[1] * (least.ndim - 1))
        for each in (*lows, *highs):
            if isinstance(each, pd.Series | np.ndarray) and len(each) == len(least):
                missing = missing | pd.isna(plain(each)).reshape(len(least), -1).any(1).reshape(missing.shape)
        if np.any((~np.isfinite(least) | ~np.isfinite(most)) & ~missing):
            refuse(f"{name} of values for which it may be missing or infinite", ".clip(low, high) first")
        if plain(lows[0]).dtype.kind == "i" and max(np.max(np.abs(least)), np.max(np.abs(most))) > 2**53:
            refuse(f"{name} of whole numbers so large that it may wrap", ".astype(float) first")
        wrap = pd.Series if isinstance(lows[0], pd.Series) or self.is_series else np.asarray
        return wrap(least), wrap(most)

    # --- rows ---------------------------------------------------------------------------------------------

    def kept(self, mask: Column) -> Column:
        """Return the values of the rows for which a mask holds."""
        return self.on(self.rows.where(mask, "a comparison of columns of the same frame"))


def _changes(holds: Callable[[Any], Any], low: Any, high: Any) -> list[float]:
    """Return the two floats, one after the other, between which what holds at one end begins or ends to hold."""
    below, above = map(int, _place_of([low, high]))
    is_held = bool(holds([low])[0])
    while above - below > 1:  # by places among floats: near 0 they are a thousand halvings apart
        middles = np.arange(below, above, max((above - below) // 256, 1))[1:]
        before = int(np.sum(holds(_float_at(middles)) == is_held))
        below, above = ([below, *middles.tolist(), above][before + side] for side in (0, 1))
    return list(map(float, _float_at([below, above])))


def _place_of(values: Any) -> Any:
    """Return the places of floats among all floats, in their order: whole numbers, 0 at 0."""
    bits = np.asarray(values, float).view(np.int64)
    return np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)


def _float_at(places: Any) -> Any:
    bits = np.asarray(places, np.int64)
    return np.where(bits < 0, np.iinfo(np.int64).min - bits, bits).view(float)


def steps_of(*values: Any) -> list[Any]:
    """Return the steps of columns, and constants as they are."""
    return [each.step() if isinstance(each, Column) else each for each in values]


class ListedColumn(Private):
    """A list, or an iterator, of a value for each record: no array, and an iterator is gone through once.

    Attributes:
        column: the values.
        is_once: whether it is an iterator.
    """

    __slots__ = ("_is_gone", "column", "is_once")
    noun = "list of a value for each record"
    to_release = "sum(x) + laplace(…)"

    def __init__(self, column: Column, *, is_once: bool = False) -> None:
        self.column, self.is_once, self._is_gone = column, is_once, False

    def gone_through(self) -> Column:
        """Return the values, for one who goes through all of them."""
        if self._is_gone:
            refuse("an iterator over records that is gone through twice, which gives nothing then", "list(x)")
        self._is_gone = self.is_once
        return self.column

    def as_array(self) -> Column:
        """Return what NumPy makes of it."""
        if self.is_once:
            refuse("an array of an iterator", "a list: […]")
        x, low = self.column, plain(self.column.low)
        is_stable = x.is_stable and low.dtype == np.float64  # as an array of nothing is
        high = low if x.is_exact else plain(x.high)
        return Column(x.rows, x.space, low, high, is_stable=is_stable, made=x.made, what=x.what)


def _itself(values: Any) -> Any:
    return values


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def _is_large(values: Any) -> bool:
    """Whether there are whole numbers with which a sum may wrap, or is no step of its argument."""
    array = plain(values)
    return array.dtype.kind in "iu" and array.size > 0 and max(-int(array.min()), int(array.max())) > 2**53


def _missing(given: Sequence[Any], result: Any) -> Any:
    """Return for which kinds what an operation on columns is given is missing."""
    columns = [each for each in given if isinstance(each, pd.Series) and len(each) == len(result)]
    return np.any([each.isna() for each in columns], axis=0) if columns else False


def _finite(values: Any, gone: Any = False) -> bool:
    """Whether values are finite, or missing where they are gone."""
    array = plain(values)
    if array.dtype.kind in "iub":
        return True
    array = array.astype(float)
    return bool(np.all(np.isfinite(array) | (gone & np.isnan(array))))
