"""Which differences between neighbouring answers are the worst?

The differences of a relation form a polytope, and the cost of the cheapest shift is convex in them, so its vertices
are enough. If a query can make the conditions of a class harder in one direction only, the other direction is left
out (dominance). Integer shifts are not convex: for discrete draws every integer difference counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.linear import Affine

MOST_DIFFERENCES = 20_000  # of one class, so that a proof ends within minutes

Difference = tuple[int, ...]


class Direction(Enum):
    """In which direction a change of a query is worse for a class."""

    LOW = "low"
    HIGH = "high"
    BOTH = "both"


def direction(variable: str, rows: Iterable[Affine], equalities: Iterable[Affine]) -> Direction:
    """Return in which direction a query makes conditions harder."""
    if any(variable in equality.terms for equality in equalities):
        return Direction.BOTH
    signs = {row.terms[variable] > 0 for row in rows if variable in row.terms}
    if signs <= {True}:
        return Direction.LOW
    return Direction.HIGH if signs == {False} else Direction.BOTH


def worst_differences(directions: Sequence[Direction], relation: Relation, *, whole: bool) -> list[Difference]:
    """Return the differences for which a shift is needed."""
    group = relation.group
    if relation.kind != "queries" or relation.movement == "norm=2":
        raise UsageError(
            f"there are no proofs by alignment under the relation {str(relation)!r}: they know 'queries', "
            "'queries(one)', 'queries(monotone)' and 'queries(norm=1)', each with a group size"
        )
    if relation.movement in ("one", "norm=1"):
        found: Iterator[Difference] = _whole_ball(directions, group) if whole else _corners(directions, group)
    else:
        boxes = boxes_of(directions, relation, whole=whole)
        if sum(math.prod(map(len, box)) for box in boxes) > 2 * MOST_DIFFERENCES:
            raise _too_many()
        found = itertools.chain.from_iterable(itertools.product(*box) for box in boxes)
    differences = list(dict.fromkeys(itertools.islice(found, 4 * MOST_DIFFERENCES)))
    if len(differences) > MOST_DIFFERENCES:
        raise _too_many()
    return differences


def boxes_of(directions: Sequence[Direction], relation: Relation, *, whole: bool) -> list[list[Sequence[int]]]:
    """Return, for each box of the differences, the ends that are worst for each query; no box under a sum."""
    group = relation.group
    if is_summed(relation):
        return []
    starts = range(-group, 1) if relation.movement == "monotone" else (-group,)
    width = group if relation.movement == "monotone" else 2 * group
    return [[_ends(each, low, low + width, whole=whole) for each in directions] for low in starts]


def is_summed(relation: Relation) -> bool:
    """Whether the sum of all differences is limited, instead of each of them."""
    return relation.movement in ("one", "norm=1")


def _too_many() -> UsageError:
    return UsageError(f"a class has more than {MOST_DIFFERENCES:,} worst differences; give a smaller length or group")


def _ends(each: Direction, low: int, high: int, *, whole: bool) -> Sequence[int]:
    if each is Direction.LOW:
        return (low,)
    if each is Direction.HIGH:
        return (high,)
    return range(low, high + 1) if whole else tuple(dict.fromkeys((low, high)))


def _corners(directions: Sequence[Direction], group: int) -> Iterator[Difference]:
    """Yield ±group·e_j, with the signs that matter."""
    for place, each in enumerate(directions):
        for sign in _ends(each, -group, group, whole=False):
            yield tuple(sign if other == place else 0 for other in range(len(directions)))


def _whole_ball(directions: Sequence[Direction], left: int) -> Iterator[Difference]:
    """Yield all integer points of L1 norm at most ``left``, with the signs that matter."""
    if not directions:
        yield ()
        return
    low = 0 if directions[0] is Direction.HIGH else -left
    high = 0 if directions[0] is Direction.LOW else left
    for first in range(low, high + 1):
        for rest in _whole_ball(directions[1:], left - abs(first)):
            yield (first, *rest)
