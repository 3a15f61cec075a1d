"""Which records does a frame hold, and what does a sum over them come to? Parts that no record meets two of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.tracked.magnitude import ONE, Magnitude, of, widened
from dpaudit.program.tracked.movement import Condition, Linear, Part, Term
from dpaudit.program.tracked.path import Sample, refuse
from dpaudit.program.tracked.private import Number, Private

RATIO = "a mean is a ratio of private numbers; release sum and count with noise of their own, and divide those"

EVERYTHING: Part = frozenset()


@dataclass(frozen=True, slots=True)
class ColumnDomain:
    """What a column may hold: numbers between two ends, or the values that are listed.

    Attributes:
        low, high: both ends; None of a column whose values are listed, or of which nothing is known.
        values: what is listed: fractions, texts or truth values; None of a range.
        missing: whether a value may be missing.
        whole: whether all are whole numbers.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    values: tuple[Any, ...] | None = None
    missing: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """Which records a frame holds.

    Attributes:
        parts: records that meet one of these; no record meets two.
        source: 0 for the data, another number for what was bounded person by person.
        sample: the Poisson sample that they are in; None for all.
        distinct: the columns, beside the one that names persons, in which two rows of one person differ; None for any.
        labels: which labels they have: 0 those of the data, another number after they were numbered anew.
        most: how many rows one unit of privacy has at most; None for any number of them.
        sure: whether what is replaced has a row on both sides: one record has, and one person's records need not.
        known: the columns of the reading, with their domains; shared by all frames of one reading.
    """

    parts: tuple[Part, ...] = (EVERYTHING,)
    source: int = 0
    sample: Sample | None = None
    most: int | None = 1
    sure: bool = True
    distinct: frozenset[str] | None = None
    labels: int = 0
    known: dict[str, ColumnDomain] = field(default_factory=dict, compare=False, repr=False)

    def column(self, name: str) -> str:
        """Return what a column of these rows is called in conditions."""
        return name if self.source == 0 else f"{name} of rows {self.source}"

    def bounded(self, source: int, most: int) -> Rows:
        """Return at most so many rows of each person: apart from rows of any other source."""

        def renamed(each: Condition) -> Condition:
            base = each.column if self.source == 0 else each.column.removesuffix(f" of rows {self.source}")
            name = f"{base} of rows {source}"
            self.known.setdefault(name, self.known[each.column])
            return replace(each, column=name)

        parts = tuple(frozenset(map(renamed, part)) for part in self.parts)
        return replace(self, parts=parts, source=source, most=most)

    def summed(self, low: Magnitude, high: Magnitude, *, whole: bool = False, within: Part = EVERYTHING) -> Number:
        """Return a number that each of the rows adds something from low to high to, if it is ``within`` a part."""
        if self.most is None:
            refuse("a person may have any number of rows; bound them first, by groupby(person).head(k)")
        if self.most > 1 or not self.sure:
            times = of(Fraction(self.most))
            low, high = widened(low * times, high * times)
        terms = tuple(Term(part | within, low, high) for part in self.parts if consistent(part | within))
        return Number(Linear(terms), self.sample, whole=whole)

    def length(self) -> Length:
        """Return how many rows there are."""
        found = self.summed(ONE, ONE, whole=True)
        return Length(found.moves, found.sample, self)

    def kept(self, parts: tuple[Part, ...]) -> Rows:
        """Return the rows that are in one of several parts, which no record meets two of."""
        both = [here | more for here in self.parts for more in parts]
        return replace(self, parts=tuple(each for each in both if consistent(each)))


class Length(Number):
    """How many rows there are: a private number, of which one draw for each row can be asked."""

    inner = Number.inner | {"rows"}

    def __init__(self, moves: Linear, sample: Sample | None, rows: Rows) -> None:
        super().__init__(moves, sample, whole=True)
        self.rows = rows


def consistent(part: Part) -> bool:
    """Whether a part does not ask for a test and its negation."""
    return not any(each.negation in part for each in part)


class Mask(Private):
    """Which rows meet a condition: parts that no record meets two of."""

    inner = Private.inner | {"rows", "parts"}

    def __init__(self, rows: Rows, parts: tuple[Part, ...]) -> None:
        self.rows, self.parts = rows, parts

    def _of(self, other: Any) -> tuple[Part, ...]:
        if not isinstance(other, Mask):
            refuse("a mask together with what is none")
        if other.rows != self.rows:
            refuse("masks of two frames, which pandas would align by index; make both of one frame")
        return other.parts

    def __and__(self, other: Any) -> Mask:
        both = [here | more for here in self.parts for more in self._of(other)]
        return Mask(self.rows, tuple(each for each in both if consistent(each)))

    def __invert__(self) -> Mask:
        parts: list[Part] = [EVERYTHING]
        for taken in self.parts:
            listed = sorted(taken, key=repr)
            outside = [frozenset({*listed[:place], each.negation}) for place, each in enumerate(listed)]
            parts = [here | more for here in parts for more in outside if consistent(here | more)]
        return Mask(self.rows, tuple(parts))

    def __or__(self, other: Any) -> Mask:
        return ~(~self & ~Mask(self.rows, self._of(other)))

    def sum(self) -> Number:
        """Return how many rows meet it."""
        return self.rows.kept(self.parts).summed(ONE, ONE, whole=True)

    def __xor__(self, other: Any) -> Any:
        from dpaudit.program.tracked.reports import flipped

        return flipped(self, other)

    __rxor__ = __xor__

    def astype(self, kind: Any) -> Any:
        """Return the numbers 1 and 0 of the rows that meet it, and do not."""
        from dpaudit.program.tracked.columns import column_of_mask

        if kind not in (int, float, "int", "float", "int64", "float64", np.int64, np.float64):
            refuse("a mask that is converted to anything but int or float")
        return column_of_mask(self)

    def to_numpy(self) -> Mask:
        """Return the same mask."""
        return self

    values = property(to_numpy)

    def mean(self) -> Any:
        """Refuse a ratio."""
        refuse(RATIO)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return the sum or count of a mask."""
        if function in (np.sum, np.count_nonzero) and len(args) == 1 and not kwargs:
            return self.sum()
        return refuse(f"np.{function.__name__} of private rows")
