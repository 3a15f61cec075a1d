"""What does a function release of its records? Noise on numbers, and how far each kind of record moves them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

Operator = Literal["<", "<=", "==", "missing"]


class RefusedError(Exception):
    """There is no bound of what was read; the message says why, and names the line where it is of one."""


@dataclass(frozen=True, slots=True)
class ColumnDomain:
    """What a column may hold: numbers between two ends, or the values that are listed.

    Attributes:
        low, high: both ends; None of a column whose values are listed.
        values: what is listed: fractions, texts or truth values; None of a range.
        missing: whether a value may be missing.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    values: tuple[Any, ...] | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """What holds of a record: a test of one of its columns comes out true, or not."""

    column: str  # its name
    operator: Operator  # "<", "<=" and "==" with the operand, which a missing value never meets, or "missing"
    operand: Any  # a fraction, a text or a truth value; None for "missing"
    holds: bool  # whether the test comes out true


Part = frozenset[Condition]
"""Records that meet all of these conditions."""


@dataclass(frozen=True, slots=True)
class Term:
    """What one record adds to a number if it meets all conditions: something from low to high."""

    part: Part
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Linear:
    """How a number moves: the sum of what a record adds in all terms."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Ball:
    """How an array moves: by a vector of at most this Euclidean length, if the record meets all conditions."""

    part: Part
    radius: Fraction


Movement = Linear | Ball


@dataclass(frozen=True, slots=True)
class Sample:
    """A Poisson sample: each record is in it with this probability, by itself."""

    number: int  # which sample of the path; each is drawn afresh
    rate: Fraction  # the probability
    times: int  # how often it is drawn (`Noise.repeat`)


@dataclass(frozen=True, slots=True)
class Release:
    """Noise on private numbers, or a choice by private scores."""

    law: str  # of the noise, by its name in `dpaudit.program.noise`; "select" for the exponential mechanism
    scale: Fraction  # of the noise; 1/rate for "select"
    values: tuple[Movement, ...]  # what moves: the numbers that the noise was added to, or the scores
    sample: Sample | None  # what they are made of; None for all records
    times: int  # how often this is done (`Noise.repeat`)
    line: str = field(compare=False)  # where it is done
    details: tuple[tuple[str, Fraction], ...] = ()  # further numbers of the law, by name


@dataclass(frozen=True, slots=True)
class Releases:
    """What a function releases."""

    paths: tuple[tuple[Release, ...], ...]  # the releases of each path, without repetitions
    read: int  # how many paths were read
    columns: Mapping[str, ColumnDomain]  # the columns that conditions name, with what they may hold


def conditions_of(movement: Movement) -> Iterator[Condition]:
    """Yield all conditions that a movement depends on."""
    if isinstance(movement, Ball):
        yield from movement.part
        return
    for term in movement.terms:
        yield from term.part


__all__ = [
    "Ball",
    "ColumnDomain",
    "Condition",
    "Linear",
    "Movement",
    "Part",
    "RefusedError",
    "Release",
    "Releases",
    "Sample",
    "Term",
    "conditions_of",
]
