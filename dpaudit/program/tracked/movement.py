"""How far does one record move a value? Terms for the kinds of records, and what moves no farther than they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from dpaudit.program.tracked.magnitude import Magnitude
from dpaudit.program.tracked.path import Unit

Operator = Literal["<", "<=", "==", "missing"]


@dataclass(frozen=True, slots=True)
class Condition:
    """What holds of a record: a test of one of its columns comes out true, or not.

    Attributes:
        column: the name of a column of the reading (`dpaudit.program.tracked.columns.ColumnDomain`).
        operator: "<", "<=" and "==" with the operand, which a missing value never meets, or "missing".
        operand: a fraction, a text or a truth value; None for "missing".
        holds: whether the test comes out true.
    """

    column: str
    operator: Operator
    operand: Any
    holds: bool

    @property
    def negation(self) -> Condition:
        """The same test, the other way."""
        return replace(self, holds=not self.holds)


Part = frozenset[Condition]
"""Records that meet all of these conditions."""


@dataclass(frozen=True, slots=True)
class Term:
    """What one record adds to a number if it meets all conditions: something from low to high."""

    part: Part
    low: Magnitude
    high: Magnitude


@dataclass(frozen=True, slots=True)
class Bent:
    """A function of sums that moves no farther than they do, times a factor.

    "abs" of one sum; "clip", which never turns; "among" several: the largest, the smallest, or one of a place in their
    order, or a mean of such.
    """

    kind: Literal["abs", "clip", "among"]
    factor: Fraction
    inner: tuple[Linear, ...]


@dataclass(frozen=True, slots=True)
class Linear:
    """How a number moves: the sum of what a record adds in all terms, and of what moves within."""

    terms: tuple[Term, ...]
    bent: tuple[Bent, ...] = ()


@dataclass(frozen=True, slots=True)
class Ball:
    """How an array moves: by a vector of at most this Euclidean length, if the record meets all conditions."""

    part: Part
    radius: Magnitude


Movement = Linear | Ball


def units_of(moves: Iterable[Movement]) -> Iterator[Unit]:
    """Yield the units in which values move."""
    for each in moves:
        if isinstance(each, Ball):
            yield from [] if each.radius.is_zero else [each.radius.unit]
        else:
            yield from (end.unit for term in each.terms for end in (term.low, term.high) if not end.is_zero)
            yield from units_of(inner for bent in each.bent for inner in bent.inner)
