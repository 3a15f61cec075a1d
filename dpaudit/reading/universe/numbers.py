"""How far does one record move a number? A private number: what each kind of records adds to it, at least and at most.

Whatever the data: if a record of a kind comes, the number moves by something from ``low`` to ``high`` of this kind; if
it goes, by the opposite. Sums of such numbers, and functions that never move farther than their argument, are such
numbers. Everything else is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe import steps
from dpaudit.reading.universe.columns import CASTS, Column, TableRows, plain
from dpaudit.reading.universe.state import NOISE_FIRST, Private, current, noun_of, refuse, refuse_form
from dpaudit.reading.universe.values import NP_FLOAT, Token, joined, kind_of_plain

_WHOLE = ("int", "np.int64", "bool")
ROUGH = 1e-9  # by which what a number can be is wider than it is computed, relatively
MOST_NUMBERS = 20_000_000  # of one table, kinds times numbers
FASTER = "noise that becomes smaller, the more records there are, faster than how far the number moves"
ONE_SCALE = "np.random.laplace(0, scale), of one scale for any number of records"
RATIO = "noisy = n + laplace(…); other = m + laplace(…); noisy / max(other, 1)"


class Number(Private):
    """A private number, or an array, series or frame of them.

    Attributes:
        axes: the columns by whose cells records are told apart, sorted.
        low, high: (kinds, *shape), kinds in the order of the whole product of the axes.
        selection: by whose rows it is made.
        sample: number and rate of the sample that it is made of; None for all records.
        kinds: names of the types that a single number may have.
        labels, columns: of a series or frame; None of a number or an array.
        is_whole: whether it is a whole number for all data.
        rows: whose length it is, for one draw a record; None for any other.
        summand: the column whose plain sum it is; None for any other.
        terms: of which steps it is made, and how; None where no word fits.
        known: the least and the most that it can be, whatever the data, and the public number in it beside its terms,
            along a first axis: (3, *shape); None where nothing is known.
        per: by which power of the number of records it is divided, where that is public: it moves by ``low`` to
            ``high`` over that power. Such numbers are not released by noise that becomes smaller faster.
    """

    __slots__ = (
        "axes",
        "columns",
        "high",
        "is_whole",
        "kinds",
        "known",
        "labels",
        "largest_of",
        "low",
        "per",
        "rows",
        "sample",
        "selection",
        "summand",
        "terms",
        "universe",
    )
    noun = "private number"

    def __init__(
        self,
        universe: Any,
        axes: tuple[str, ...],
        low: Any,
        high: Any,
        selection: Any,
        sample: Any,
        *,
        kinds: frozenset[str] = NP_FLOAT,
        labels: Any = None,
        columns: Any = None,
        is_whole: bool = False,
        rows: TableRows | None = None,
        terms: steps.Parts | None = None,
        known: Any = None,
        per: Fraction = Fraction(0),
    ) -> None:
        self.universe, self.axes, self.low, self.high = universe, axes, low, high
        self.selection, self.sample, self.kinds = selection, sample, kinds
        self.labels, self.columns, self.is_whole, self.rows = labels, columns, is_whole, rows
        self.summand: Column | None = None
        self.largest_of: Number | None = None
        self.terms, self.known, self.per = terms, known, per

    def rounded(self) -> Number:
        """Return it where floats add it up in an order of their own."""
        if self.known is not None:
            self.known = np.stack([*widened_range(*self.known[:2]), self.known[2]])
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the numbers."""
        return tuple(self.low.shape[1:])

    def like(self, low: Any, high: Any, **changes: Any) -> Number:
        """Return another number of the same rows."""
        known: dict[str, Any] = {
            "kinds": self.kinds, "labels": self.labels, "columns": self.columns, "is_whole": self.is_whole,
            "per": self.per,
        }  # fmt: skip
        return Number(self.universe, self.axes, low, high, self.selection, self.sample, **{**known, **changes})

    def mapped(self, function: Callable[[Any], Any], **changes: Any) -> Number:
        """Return what a choice or a sum of its places is: of what each kind adds, and of what it is made of."""
        terms = None if self.terms is None else (self.terms[0], function(self.terms[1]))
        known = changes.pop("known", None if self.known is None else function(self.known))
        return self.like(function(self.low), function(self.high), terms=terms, known=known, **changes)

    def step(self) -> steps.MadeStep | None:
        """Return all of it as one step, with the public numbers in it."""
        constant = None if self.known is None else self.known[2]
        return steps.vector(self.terms, constant)

    def same(self, **changes: Any) -> Number:
        """Return what moves just as it does."""
        return self.mapped(_itself, **changes)

    @property
    def is_plain(self) -> bool:
        """Whether it is made of rows alone, and so as many times what its terms say in any unit."""
        made = self.terms is not None and all(each.name in steps.OF_ROWS for each in self.terms[0])
        return made and self.known is not None and not np.any(self.known[2])

    def range(self) -> tuple[Any, Any]:
        """Return the least and the most that each of the numbers can be."""
        if self.known is None:
            return np.full(self.shape, -np.inf), np.full(self.shape, np.inf)
        return self.known[0], self.known[1]

    def slower(self, per: Fraction) -> Number:
        """Return what moves by its table over a lower power of the number of records, which is at least 1."""
        if per == self.per:
            return self
        if per > self.per:
            refuse(FASTER, ONE_SCALE)
        return self.like(np.minimum(self.low, 0), np.maximum(self.high, 0), per=per, known=self.known)

    # --- sums and multiples -------------------------------------------------------------------------------

    def plus(self, other: Any, sign: int) -> Number:
        """Return the sum with another number, or with a public or released one that stays where it is."""
        if isinstance(other, Number):
            return self._sum(other, sign)
        if isinstance(other, Token):
            if not other.is_number and not (other.is_array and other.shape == self.shape):
                refuse("a private number and a released value of which the shape is not known", NOISE_FIRST)
            kinds = (
                frozenset(joined(one, two) for one in self.kinds for two in other.kinds or ())
                if not self.shape
                else self.kinds
            )
            return self.same(is_whole=False, kinds=kinds, known=None)
        _finite(other)
        shape = np.shape(other)
        self._labelled_alike(other)
        if np.broadcast_shapes(shape, self.shape) != self.shape:
            refuse("a private number in several places of an array", "an array of as many numbers")
        self.refuse_to_wrap(other, np.asarray(other))
        whole = self.is_whole and bool(np.all(np.asarray(other) == np.round(np.asarray(other, float))))
        known = None if self.known is None else self.known + sign * np.asarray(other, float)
        return self.same(is_whole=whole, kinds=self._kinds_with(other), known=known)

    def refuse_to_wrap(self, other: Any, *results: Any) -> None:
        """Refuse what whole numbers of 64 bits may come to that are computed with others, where it is so large."""
        is_whole = np.asarray(other).dtype.kind in "iub" and bool(self.kinds & {"np.int64", "number", "?"})
        if is_whole and any(np.abs(each.astype(float)).max(initial=0) > 2**31 for each in results):
            refuse("whole numbers so large that they may wrap", "a float: 1e18 for 10 ** 18")

    def _kinds_with(self, other: Any, *, division: bool = False) -> frozenset[str]:
        kind = kind_of_plain(other)
        if self.shape or kind is None:
            return self.kinds
        return frozenset(joined(each, kind, division=division) for each in self.kinds)

    def _labelled_alike(self, other: Any) -> None:
        mine = [each for each in (self.labels, self.columns) if each is not None]
        theirs = []
        if isinstance(other, Number):
            theirs = [each for each in (other.labels, other.columns) if each is not None]
        elif isinstance(other, pd.Series):
            theirs = [other.index]
        elif isinstance(other, pd.DataFrame):
            theirs = [other.index, other.columns]
        if isinstance(other, pd.Series | pd.DataFrame) and [a.names for a in mine] != [b.names for b in theirs]:
            refuse("two tables of which the labels have other names", ".to_numpy() of the public one")
        if (
            mine
            and theirs
            and (len(mine) != len(theirs) or not all(a.equals(b) for a, b in zip(mine, theirs, strict=True)))
        ):
            refuse(
                "two tables of other labels, which pandas lines up by label", ".reindex(LABELS, fill_value=0) of both"
            )

    def _sum(self, other: Number, sign: int) -> Number:
        if other.selection is not self.selection or other.sample != self.sample:
            refuse("a sum of numbers of differently chosen rows", "noise of its own for each")
        self._labelled_alike(other)
        if self.labels is None and other.labels is not None and self.shape:
            refuse("a sum of an array and a table with labels", ".to_numpy() of the table")
        shape = np.broadcast_shapes(self.shape, other.shape)
        if shape not in (self.shape, other.shape):
            refuse_form("a sum of arrays of other shapes")
        per = min(self.per, other.per)
        axes, low, high, least, most = on_common_axes(self.slower(per), other.slower(per))
        low, high = padded(low, len(shape)), padded(high, len(shape))
        least, most = padded(least, len(shape)), padded(most, len(shape))
        first, last = (low + least, high + most) if sign > 0 else (low - most, high - least)
        labelled = self if self.labels is not None or other.labels is None else other
        kinds = frozenset(joined(a, b) for a in self.kinds for b in other.kinds)
        both, terms = steps.joined(self.terms, other.terms) if self.per == other.per else None, None
        if both is not None:
            mine, theirs = (padded(each, len(shape)) for each in both[1:])
            terms = (both[0], mine + sign * theirs)
        known = None
        if self.known is not None and other.known is not None:
            mine, theirs = (padded(each.known, len(shape)) for each in (self, other))
            known = mine + theirs if sign > 0 else mine - theirs[[1, 0, 2]]
        total = labelled.like(
            first, last, is_whole=self.is_whole and other.is_whole, kinds=kinds, terms=terms, known=known, per=per
        )
        total.axes = axes
        return total

    def times(self, other: Any) -> Number:
        """Return a multiple by public numbers."""
        if isinstance(other, Private):
            refuse("a product of private numbers", "noisy = n + laplace(…); other = m + laplace(…); noisy * other")
        if isinstance(other, Token):
            refuse(
                "a private number times a released one", "noisy = n + laplace(…); other = m + laplace(…); noisy * other"
            )
        _finite(other)
        self._labelled_alike(other)
        if np.broadcast_shapes(np.shape(other), self.shape) != self.shape:
            refuse("a private number in several places of an array", "an array of as many numbers")
        factor = np.asarray(other, float)
        ends = self.low * factor, self.high * factor
        whole = self.is_whole and bool(np.all(factor == np.round(factor)))
        self.refuse_to_wrap(other, *ends)
        terms = None if self.terms is None else (self.terms[0], self.terms[1] * factor)
        kinds = self._kinds_with(other)
        known = None
        if self.known is not None and np.all(factor):
            each = self.known * factor
            known = np.stack([np.minimum(*each[:2]), np.maximum(*each[:2]), each[2]])
        return self.like(np.minimum(*ends), np.maximum(*ends), is_whole=whole, kinds=kinds, terms=terms, known=known)

    def over(self, other: Any) -> Number:
        """Return the quotient by public numbers."""
        if isinstance(other, Private):
            refuse("a ratio of private numbers", RATIO)
        if isinstance(other, Token):
            refuse("a private number divided by a released one", RATIO)
        _finite(other)
        if np.any(np.asarray(other) == 0):
            refuse("a quotient by 0", "n / 2 + laplace(…)")
        quotient = self.times(1.0 / np.asarray(other, float) if np.ndim(other) else 1.0 / float(other))
        return quotient.same(is_whole=False, kinds=self._kinds_with(other, division=True)).rounded()

    def product(self, matrix: Any, *, is_left: bool) -> Number:
        """Return ``matrix @ self``, or ``self @ matrix``, by a public matrix: a sum of multiples for each number."""
        if isinstance(matrix, Private | Token):
            refuse("a matrix product of private numbers with what is not public", "a public matrix")
        _finite(matrix)
        if isinstance(matrix, pd.Series | pd.DataFrame) or (self.labels is not None and self.shape):
            refuse("a matrix product with a table, which pandas lines up by label", ".to_numpy()")
        factor = np.asarray(matrix, float)
        up, down = np.maximum(factor, 0), np.minimum(factor, 0)

        def times(given: Any, table: Any) -> Any:
            if not is_left:
                return table @ given
            return table @ given.T if table.ndim == 2 else given @ table

        try:
            np.zeros(factor.shape) @ np.zeros(self.shape) if is_left else np.zeros(self.shape) @ np.zeros(factor.shape)
        except ValueError:
            refuse("a matrix product of shapes that do not fit", "a matrix with one column for each number")
        if factor.ndim > 2 or len(self.shape) > 2:
            refuse("a product of arrays of more than two axes", "matrices")
        low, high = times(up, self.low) + times(down, self.high), times(up, self.high) + times(down, self.low)
        self.refuse_to_wrap(matrix, low, high)
        whole = self.is_whole and bool(np.all(factor == np.round(factor))) and np.asarray(matrix).dtype.kind in "iu"
        terms = None if self.terms is None else (self.terms[0], times(factor, self.terms[1]))
        product = self.like(low, high, labels=None, is_whole=whole, terms=terms)
        return product if product.shape else product.same(kinds=self.of_array())

    # --- functions that never move farther ----------------------------------------------------------------

    def clipped(self, *ends: Any) -> Number:
        """Return the number within public ends."""
        for each in ends:
            if each is not None:
                if isinstance(each, Private | Token):
                    refuse("a private number that is clipped at what is not public", "constants")
                if np.ndim(each):
                    refuse("a private number that is clipped at arrays", "constants")
                _finite(each)
        kinds = frozenset(filter(None, (kind_of_plain(each) for each in ends)))
        hangs = self.kinds if self.shape else self.kinds | kinds
        whole = self.is_whole and all(each is None or each == round(each) for each in ends)
        low, high = [*ends, None][:2]
        if low is not None and high is not None and low > high:
            refuse_form("clip with the ends the wrong way round")
        terms = steps.of_numbers("clip", self.step(), shape=self.shape, low=low, high=high)
        clipped = self.like(np.minimum(self.low, 0), np.maximum(self.high, 0), is_whole=whole, kinds=hangs, terms=terms)
        least, most = self.range()
        if low is not None:
            least, most = np.maximum(least, low), np.maximum(most, low)
        if high is not None:
            least, most = np.minimum(least, high), np.minimum(most, high)
        clipped.known = spanned(least, most)
        return clipped

    def absolute(self) -> Number:
        """Return its distance from 0."""
        most = np.maximum(np.abs(self.low), np.abs(self.high))
        absolute = self.like(-most, most, terms=steps.of_numbers("abs", self.step(), shape=self.shape))
        least, most = self.range()
        absolute.known = spanned(np.maximum(np.maximum(least, -most), 0.0), np.maximum(-least, most))
        return absolute

    def extreme(self, *, middle: bool = False) -> Number:
        """Return the largest, the smallest or the middle one of an array: it moves no farther than one of them."""
        if not self.shape or self.columns is not None:
            refuse("the largest of a private table in this form", ".to_numpy().max()")
        low, high = self.low.reshape(len(self.low), -1), self.high.reshape(len(self.high), -1)
        to = (tuple(range(low.shape[1])),)
        terms = steps.of_numbers("among", self.step(), to=to, middle=middle)
        extreme = self.like(low.min(1), high.max(1), labels=None, kinds=self.of_array(), terms=terms)
        if self.known is not None:
            extreme.known = spanned(self.known[0].min(), self.known[1].max())
        extreme.largest_of = self
        return extreme

    def of_array(self) -> frozenset[str]:
        """Return the types that one number of an array may have."""
        return frozenset("np.int64" if self.is_whole and each in _WHOLE else "np.float64" for each in self.kinds)

    def total(self, axis: Any = None) -> Number:
        """Return the sum over one axis, or over all."""
        if not self.shape:
            return self
        if self.columns is not None:
            axis = 0 if axis is None else axis
            labels = self.columns if axis == 0 else self.labels
            return self.mapped(lambda table: table.sum(axis + 1), labels=labels, columns=None).rounded()
        if axis is None:
            every = tuple(range(1, self.low.ndim))
            return self.mapped(lambda table: table.sum(every), labels=None, kinds=self.of_array()).rounded()
        if type(axis) is not int or not -len(self.shape) <= axis < len(self.shape):
            refuse_form("a sum over an axis that is not there")
        axis %= len(self.shape)
        total = self.mapped(lambda table: table.sum(axis + 1), labels=None).rounded()
        return total if total.shape else total.same(kinds=self.of_array())

    # --- parts --------------------------------------------------------------------------------------------

    def at(self, key: Any) -> Number:
        """Return one number of several, by a public place or label."""
        if isinstance(key, Private | Token):
            refuse("a private number chosen by what is not public", "a constant")
        if self.columns is not None:
            if isinstance(key, str | int) and key in self.columns:
                place = self.columns.get_loc(key)
                if isinstance(place, int):
                    return self.mapped(lambda table: table[:, :, place], columns=None)
            if isinstance(key, list) and all(each in self.columns for each in key) and len(set(key)) == len(key):
                places = [self.columns.get_loc(each) for each in key]
                return self.mapped(lambda table: table[:, :, places], columns=self.columns[places])
            refuse("a part of a table of private numbers in this form", "one column: table[name]")
        if self.labels is not None:
            if isinstance(key, list) and len(set(key)) == len(key) and all(each in self.labels for each in key):
                places = [int(self.labels.get_loc(each)) for each in key]
                return self.mapped(lambda table: table[:, places], labels=self.labels[places])
            if isinstance(key, list | slice | np.ndarray) or key not in self.labels:
                refuse(f"a label {key!r:.30} that the table does not have", "one of its labels")
            place = self.labels.get_loc(key)
            if not isinstance(place, int):
                refuse_form("a label that occurs twice")
            return self.mapped(lambda table: table[:, place], labels=None, kinds=self.of_array())
        keys = key if isinstance(key, tuple) else (key,)
        if not self.shape or not all(type(each) is int or isinstance(each, slice | np.integer) for each in keys):
            refuse("a part of an array of private numbers by something else than places", "a place: x[0], x[1:3]")
        try:
            member = self.mapped(lambda table: table[(slice(None), *keys)])
        except IndexError:
            raise IndexError("index out of bounds") from None
        return member if member.shape else member.same(kinds=self.of_array())

    def parts(self) -> list[Number]:
        """Return the numbers one by one."""
        if not self.shape or self.columns is not None:
            refuse("a loop over this table of private numbers", "a loop over .to_numpy(), or over one column")
        kinds = self.of_array() if len(self.shape) == 1 else self.kinds
        return [
            self.mapped(operator.itemgetter((slice(None), k)), labels=None, kinds=kinds) for k in range(self.shape[0])
        ]

    def as_array(self) -> Number:
        """Return the numbers without labels."""
        return self.same(labels=None, columns=None)

    def cast(self, kind: Any) -> Number:
        """Return the number as another type."""
        name = CASTS.get(kind)
        if name == "float64":
            scalar = "float" if kind is float and not self.shape else "np.float64"
            return self.same(kinds=frozenset((scalar,)))
        if name == "int64" and self.is_whole:
            return self.same(kinds=frozenset(("int" if kind is int and not self.shape else "np.int64",)))
        return refuse(
            "a private sum as whole numbers, which jump where the sum does not, or as a type that wraps",
            ".astype(float)",
        )


def spanned(least: Any, most: Any) -> Any:
    """Return what is known of a number between two ends that is a step of its own."""
    return np.stack([np.asarray(least, float), np.asarray(most, float), np.zeros(np.shape(most))])


def _itself(table: Any) -> Any:
    return table


def on_common_axes(first: Number, second: Number) -> tuple[tuple[str, ...], Any, Any, Any, Any]:
    """Return both tables for the kinds of all their axes."""
    axes = tuple(sorted({*first.axes, *second.axes}))
    return axes, *(widened(each, axes, end) for each in (first, second) for end in ("low", "high"))


def widened(number: Number, axes: tuple[str, ...], end: str) -> Any:
    """Return what kinds of more axes add."""
    table = getattr(number, end)
    if axes == number.axes:
        return table
    space = number.universe.whole(axes)
    _refuse_many(len(space), table.shape[1:])
    return table[space.keys(number.axes)]


def _refuse_many(kinds: int, shape: Any) -> None:
    if kinds * max(1, int(np.prod(shape))) > MOST_NUMBERS:
        refuse("so many private numbers of so many kinds of records in one expression", "fewer columns at once")


def widened_range(least: Any, most: Any) -> tuple[Any, Any]:
    """Return ends that hold what floats make of numbers between them: wider ones, but for 0 and ends that are none."""
    rough = [np.where(np.isinf(end), 0.0, np.abs(end) * ROUGH) for end in (least, most)]
    return least - rough[0], most + rough[1]


def padded(table: Any, dimensions: int) -> Any:
    """Return what kinds add, with as many axes of one place before the others as are missing."""
    return table.reshape(len(table), *[1] * (dimensions - table.ndim + 1), *table.shape[1:])


def _finite(value: Any) -> None:
    if isinstance(value, Private):
        refuse(f"a private number together with a {value.noun}", NOISE_FIRST)
    if not isinstance(value, int | float | np.number | np.ndarray | pd.Series | pd.DataFrame | list | tuple):
        refuse(f"a private number together with a {noun_of(value)}", NOISE_FIRST)
    refuse_small(value)
    try:
        fine = bool(np.all(np.isfinite(np.asarray(value, float))))
    except (TypeError, ValueError):
        fine = False
    if not fine:
        refuse("a private number together with what is infinite, missing or no number", "finite numbers")


def refuse_small(value: Any) -> None:
    """Refuse a single number of a small type, at which Python's numbers are computed with it, rounded, and overflow."""
    is_number = isinstance(value, np.generic | np.ndarray) and not value.ndim and value.dtype.kind in "iufc"
    if is_number and value.dtype not in ("int64", "float64"):
        refuse(f"a number of the type {value.dtype}, as which all of it is computed", "float(…) of it")


def summed(
    column: Column, *, whole: bool = False, labels: Any = None, columns: Any = None, kinds: Any = None
) -> Number:
    """Return the sum of a column of numbers over its rows; a missing value has to be dealt with before."""
    low, high = plain(column.low), plain(column.high)
    if low.dtype == object:
        refuse("a sum of a column of objects, whose type hangs on the data", ".astype(float).sum()")
    return summed_of(
        column.rows,
        column.space,
        low.astype(float),
        high.astype(float),
        whole=whole,
        labels=labels,
        columns=columns,
        kinds=kinds,
    )


def summed_of(
    rows: TableRows, space: Any, low: Any, high: Any, *, made: steps.MadeStep | None = None, what: str = "",
    is_sum: bool = False, **known: Any,
) -> Number:  # fmt: skip
    """Return the sum over rows of what each row adds, at least and at most; ``made`` where there is a word for it.

    With ``is_sum`` it is this sum itself, and not any number that moves by it.
    """
    rows.selection.allows_sums()
    if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        refuse("a sum in which a value may be missing or infinite", ".fillna(0).clip(low, high).sum()")
    axes, places = space.records()
    universe = space.universe
    kinds = int(np.prod([universe.sizes[name] for name in axes])) if axes else 1
    _refuse_many(kinds, low.shape[1:])
    least, most = np.zeros((kinds, *low.shape[1:])), np.zeros((kinds, *high.shape[1:]))
    np.add.at(least, places, low)
    np.add.at(most, places, high)
    scalar = known.pop("kinds") or NP_FLOAT
    shape = tuple(low.shape[1:])
    terms = _added_by_tables(rows, space, low, high, what) if made is None else steps.alone(made, shape)
    total = Number(
        universe, axes, least, most, rows.selection, rows.sample,
        kinds=scalar, labels=known["labels"], columns=known["columns"], is_whole=known["whole"], terms=terms,
    )  # fmt: skip
    if is_sum:  # of no record it is 0
        signs = low.min(0, initial=0) < 0, high.max(0, initial=0) > 0
        total.known = spanned(np.where(signs[0], -np.inf, 0.0), np.where(signs[1], np.inf, 0.0))
    return total


def _added_by_tables(rows: TableRows, space: Any, low: Any, high: Any, what: str) -> steps.Parts | None:
    """Return sums of what a library says that each record adds to each place."""
    flat, top = (table.reshape(len(table), -1) for table in (low, high))
    if rows.made is None or flat.shape[1] > steps.MOST_TABLES:
        return None
    steps_made = []
    for place in range(flat.shape[1]):
        least, most = flat[:, place], top[:, place]
        added = steps.table(
            space, least, least if np.array_equal(least, most) else most, what or "what a record adds, from"
        )
        if added is None:
            return None
        steps_made.append(steps.MadeStep("sum", (rows.made, added)))
    counts = np.eye(len(steps_made)).reshape(len(steps_made), *low.shape[1:])
    return tuple(steps_made), counts


def beyond(column: Column, start: Any, sign: int) -> Number:
    """Return the largest (sign 1) or smallest (-1) of a public number and the values of an array.

    A record that comes moves it by no more than its value is beyond the number, and never back.
    """
    low, high = plain(column.low), plain(column.high)
    starts = (int,) if low.dtype.kind == "i" else (int, float)  # NumPy cuts a float to the type of whole numbers
    if type(start) not in starts or not math.isfinite(start) or column.width or low.dtype.kind not in "if":
        refuse("an extreme of a private array in this form", ".max(initial=0) of numbers")
    far = np.maximum(high - start, 0.0) if sign > 0 else np.minimum(low - start, 0.0)
    none = np.zeros(len(far))
    kind = "np.int64" if low.dtype == np.int64 and type(start) is int else "np.float64"
    ends = (none, far) if sign > 0 else (far, none)
    return summed_of(
        column.rows, column.space, *ends, whole=kind == "np.int64", labels=None, columns=None, kinds=frozenset((kind,))
    )


def length_of(rows: TableRows) -> Number:
    """Return how many rows there are."""
    ones = np.ones(len(rows.space))
    made = None if rows.made is None else steps.MadeStep("sum", (rows.made,))
    known: Any = {"whole": True, "labels": None, "columns": None, "kinds": frozenset(("int",)), "made": made}
    length = summed_of(rows, rows.space, ones, ones, is_sum=True, **known)
    length.rows = rows
    return length


def among(numbers: Sequence[Any], *, largest: bool) -> Number:
    """Return the largest or smallest of private and public numbers: it moves no farther than one of them."""
    private = [each for each in numbers if isinstance(each, Number)]
    public = [each for each in numbers if not isinstance(each, Number)]
    for each in public:
        _finite(each)
    if len(private) == 1 and not private[0].shape:
        number = private[0].clipped(max(public)) if largest else private[0].clipped(None, min(public))
        return number.same(kinds=number.kinds | frozenset(kind_of_plain(each) or "?" for each in public))
    if any(each.shape for each in private):
        refuse("the largest of private arrays", "np.maximum, or .max() of one array")
    number = private[0]
    to = (tuple(range(len(private))) + (None,) * len(public),)
    per = min(each.per for each in private)
    step = steps.vector(*_all_of([each.slower(per) for each in private]))
    ranges = [each.known[:2] for each in private if each.known is not None] + [np.array([each] * 2) for each in public]
    for each in private[1:]:
        if each.selection is not number.selection or each.sample != number.sample:
            refuse("the largest of numbers of differently chosen rows", "noise of its own for each")
        axes, low, high, least, most = on_common_axes(number.slower(per), each.slower(per))
        number = number.like(np.minimum(low, least), np.maximum(high, most), kinds=number.kinds | each.kinds, per=per)
        number.axes = axes
    if public:
        kinds = number.kinds | frozenset(kind_of_plain(each) or "?" for each in public)
        number = number.like(np.minimum(number.low, 0), np.maximum(number.high, 0), kinds=kinds, is_whole=False)
    number = number.same(known=None)
    number.terms = steps.of_numbers("among", step, to=to, middle=False)
    if len(ranges) == len(numbers):
        number.known = spanned(min(each[0] for each in ranges), max(each[1] for each in ranges))
    return number


def _all_of(listed: Sequence[Number]) -> tuple[steps.Parts | None, Any]:
    """Return the terms of several numbers along a new first axis, and what is public in them."""
    known = None if any(each.known is None for each in listed) else np.stack([each.known[2] for each in listed])
    return steps.stacked([each.terms for each in listed]), known


def stacked(numbers: Iterable[Number]) -> Number:
    """Return an array of private numbers of one shape."""
    listed = list(numbers)
    if not all(isinstance(each, Number) for each in listed):
        refuse("an array of private numbers and of something else", "private numbers alone")
    first = listed[0]
    if any(each.selection is not first.selection or each.sample != first.sample for each in listed):
        refuse("an array of numbers of differently chosen rows", "noise of its own for each")
    if any(each.shape != first.shape for each in listed):
        refuse_form("an array of private numbers of several shapes")
    axes = tuple(sorted({name for each in listed for name in each.axes}))
    per = min(each.per for each in listed)
    listed = [each.slower(per) for each in listed]
    low = np.stack([widened(each, axes, "low") for each in listed], 1)
    high = np.stack([widened(each, axes, "high") for each in listed], 1)
    whole = all(each.is_whole for each in listed)
    of_each = [each.of_array() for each in listed]  # an array is of whole numbers where all of its parts are
    kinds = frozenset("np.int64" if all("np.int64" in each for each in of_each) else "np.float64" for _ in (0,))
    if any("np.float64" in each for each in of_each):
        kinds |= {"np.float64"}
    array = Number(first.universe, axes, low, high, first.selection, first.sample, is_whole=whole, kinds=kinds, per=per)
    array.terms = steps.stacked([each.terms for each in listed])
    if all(each.known is not None for each in listed):
        array.known = np.stack([each.known for each in listed], 1)
    return array


Function = Callable[..., Any]
__all__ = ["Number", "among", "current", "length_of", "stacked", "summed", "summed_of"]
