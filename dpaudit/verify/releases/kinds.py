"""Which kinds of records do the releases of a path tell apart, and how far does each kind move a number?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.verify.releases.movement import (
    Ball,
    ColumnDomain,
    Condition,
    Linear,
    Movement,
    Part,
    RefusedError,
    Release,
)

MOST_KINDS = 5_000
Kind = Mapping[str, Any]
"""A value for each column that is tested: records that meet the same tests are of one kind."""
_ZERO = Fraction(0)


def conditions_of(movement: Movement) -> Iterator[Condition]:
    """Yield all conditions that a movement depends on."""
    if isinstance(movement, Ball):
        yield from movement.part
        return
    for term in movement.terms:
        yield from term.part


def kinds_of(releases: Iterable[Release], columns: Mapping[str, ColumnDomain]) -> list[Kind]:
    """Return every kind of records that releases tell apart."""
    tests: dict[str, dict[tuple[str, Any], None]] = {}
    for release in releases:
        for movement in release.values:
            for each in conditions_of(movement):
                tests.setdefault(each.column, {}).setdefault((each.operator, each.operand))
    points = {column: _points(columns[column], list(asked)) for column, asked in sorted(tests.items())}
    if math.prod(map(len, points.values())) > MOST_KINDS:
        raise RefusedError(
            f"the conditions tell more than {MOST_KINDS:,} kinds of records apart, by {', '.join(points)}; use fewer"
        )
    return [dict(zip(points, chosen, strict=True)) for chosen in itertools.product(*points.values())]


def holds(value: Any, operator: str, operand: Any) -> bool:
    """Whether a value meets a test; None is a missing one."""
    if operator == "missing":
        return value is None
    if value is None or isinstance(value, bool | str) != isinstance(operand, bool | str):
        return False
    if operator == "==":
        return type(value) is type(operand) and bool(value == operand)
    return bool(value < operand or (operator == "<=" and value == operand))


def _points(domain: ColumnDomain, tests: Sequence[tuple[str, Any]]) -> list[Any]:
    """Return a value for each way in which the tests can come out."""
    if domain.values is not None:
        candidates: list[Any] = list(domain.values)
    else:
        marks = sorted({operand for _, operand in tests if isinstance(operand, Fraction)})
        low = domain.low if domain.low is not None else (marks[0] if marks else _ZERO) - 1
        high = domain.high if domain.high is not None else (marks[-1] if marks else _ZERO) + 1
        marks = [low, *(mark for mark in marks if low < mark < high), high]
        candidates = [*marks, *((one + other) / 2 for one, other in itertools.pairwise(marks))]
    if domain.missing:
        candidates.append(None)
    found: dict[tuple[bool, ...], Any] = {}
    for value in candidates:
        found.setdefault(tuple(holds(value, *test) for test in tests), value)
    return list(found.values())


def is_in(kind: Kind, part: Part) -> bool:
    """Whether records of a kind meet all conditions of a part."""
    return all(holds(kind[each.column], each.operator, each.operand) is each.holds for each in part)


def moved(movement: Movement, added: Kind, removed: Kind | None) -> tuple[Fraction, Fraction]:
    """Return how far a number moves where a record of one kind comes, and one of another goes; a ball: its radius."""
    if isinstance(movement, Ball):
        here = [kind for kind in (added, removed) if kind is not None and is_in(kind, movement.part)]
        length = len(here) * movement.radius
        return -length, length
    return _linear(movement, added, removed)


def _linear(movement: Linear, added: Kind, removed: Kind | None) -> tuple[Fraction, Fraction]:
    low, high = _ZERO, _ZERO
    for term in movement.terms:
        least, most = term.low, term.high
        if is_in(added, term.part):
            low, high = low + least, high + most
        if removed is not None and is_in(removed, term.part):
            low, high = low - most, high - least
    return low, high
