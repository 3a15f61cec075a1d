"""Which differences between neighbouring answers are the worst?

The differences of a relation form a polytope, and the cost of the cheapest shift is convex in them, so its vertices
are enough. If a query can make the conditions of a class harder in one direction only, the other direction is left
out (dominance). Integer shifts are not convex: for discrete draws every integer difference counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import Relation
from dpaudit.program.laws import Support
from dpaudit.program.symbolic.linear import Affine, Constraint, Farkas, contradiction
from dpaudit.program.symbolic.tree import NoiseDraw, ProgramPath, ProgramTree, continuous_names, draw_name, supports

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
        shifts_needed: Iterator[Difference] = _whole_ball(directions, group) if whole else _corners(directions, group)
    else:
        boxes = boxes_of(directions, relation, whole=whole)
        if sum(math.prod(map(len, box)) for box in boxes) > 2 * MOST_DIFFERENCES:
            raise _too_many()
        shifts_needed = itertools.chain.from_iterable(itertools.product(*box) for box in boxes)
    differences = list(dict.fromkeys(itertools.islice(shifts_needed, 4 * MOST_DIFFERENCES)))
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


# --- What is the cheapest point of a large polyhedron, approximately? A linear programme in floats, by HiGHS. ---
#
# With many unknowns, the exact method of `dpaudit.program.symbolic.linear` is too slow. The solution found here is only
# a suggestion: callers prove its worth in fractions.


@dataclass(frozen=True, slots=True)
class Shifts:
    """The unknown shifts of some draws."""

    columns: Mapping[str, Mapping[int, float]]  # for each draw, the unknowns that sum up to its shift, with their signs
    costs: Mapping[int, float]  # of each of these unknowns


class FloatLinearProgram:
    """Numbered unknowns, and the conditions on them."""

    def __init__(self) -> None:
        self._bounds: list[tuple[float | None, None]] = []
        self._rows: dict[bool, list[tuple[Mapping[int, float], float]]] = {True: [], False: []}

    def unknown(self, *, free: bool = False) -> int:
        """Return a new unknown, at least 0 unless it is free."""
        self._bounds.append((None if free else 0.0, None))
        return len(self._bounds) - 1

    def shifts(self, draws: Sequence[NoiseDraw], unit: Fraction) -> Shifts:
        """Return new unknowns for the shifts of draws, whose costs are given times ``unit``."""
        columns: dict[str, dict[int, float]] = {}
        costs: dict[int, float] = {}
        for number, draw in enumerate(draws):
            columns[draw_name(number)] = {self.unknown(): float(sign) for sign in draw.law.provable_shifts}
            costs.update((column, float(unit / draw.scale)) for column in columns[draw_name(number)])
        return Shifts(columns, costs)

    def require(self, row: Mapping[int, float], side: float, *, exactly: bool) -> None:
        """Require Σ row·unknown ≥ side."""
        self._rows[exactly].append((row, side))

    def minimise(self, unknown: int) -> list[float] | None:
        """Return the solution that minimises one unknown, or None if HiGHS finds none."""
        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        def matrix(exactly: bool) -> tuple[Any, list[float] | None]:
            rows = self._rows[exactly]
            if not rows:
                return None, None
            entries = [(r, column, value) for r, (row, _) in enumerate(rows) for column, value in row.items()]
            at = [e[0] for e in entries], [e[1] for e in entries]
            sign = 1.0 if exactly else -1.0
            shape = (len(rows), len(self._bounds))
            return coo_array(([sign * e[2] for e in entries], at), shape=shape).tocsr(), [sign * s for _, s in rows]

        costs = [0.0] * len(self._bounds)
        costs[unknown] = 1.0
        (upper, sides), (equal, values) = matrix(False), matrix(True)
        solution = linprog(costs, upper, sides, equal, values, self._bounds, method="highs")
        return None if solution.status != 0 or solution.x is None else [float(value) for value in solution.x]


# --- Do the paths with the same output form a convex region together? ---
#
# A shift is found for each path alone, or for a whole class: all paths with the same output and the same draws. Keeping
# one path may be harder than keeping the class, for example where a maximum is found by comparing one value after
# another. If the conditions that hold on all paths of a class (its *hull*) are met by no other path, they describe the
# class exactly, since every run takes some path.

MOST_COMPARISONS = 50_000  # of a class with another leaf, in one tree, so that a proof ends within minutes


@dataclass(frozen=True, slots=True)
class MergedClass:
    """The region of a class of several leaves."""

    hull: tuple[Constraint, ...]  # the conditions > 0 and ≥ 0 that describe it
    # for each leaf of the class and each condition of the hull, why the leaf's runs satisfy the condition: a
    # contradiction between the leaf's conditions, the negated condition, and the supports
    inside: tuple[tuple[ProgramPath, tuple[Farkas, ...]], ...]
    # for each other leaf that is not null, why none of its runs is in the hull: a contradiction between the hull,
    # the leaf's conditions, and the supports of all draws of the class and the leaf
    apart: tuple[tuple[ProgramPath, Farkas], ...]


def classes(tree: ProgramTree) -> list[list[ProgramPath]]:
    """Return the leaves that are not null, grouped by output and draws."""
    groups: dict[Any, list[ProgramPath]] = {}
    for leaf in tree.leaves:
        if not leaf.is_null:
            groups.setdefault((leaf.output, leaf.draws), []).append(leaf)
    return list(groups.values())


def can_merge(tree: ProgramTree) -> bool:
    """Whether each draw has the same support on all paths, as merging requires."""
    supports_of: dict[int, tuple[Any, ...]] = {}
    for leaf in tree.leaves:
        for number, draw in enumerate(leaf.draws):
            if supports_of.setdefault(number, _support(draw)) != _support(draw):
                return False
    groups = [len(group) for group in classes(tree)]
    return sum(size > 1 for size in groups) * sum(groups) <= MOST_COMPARISONS


def _support(draw: NoiseDraw) -> tuple[Any, ...]:
    support = draw.law.support
    return support, draw.scale if support is Support.INTERVAL else None


def merge(group: Sequence[ProgramPath], tree: ProgramTree) -> MergedClass | None:
    """Return the hull of a class of leaves, or None if runs of other leaves meet it too."""
    draws = group[0].draws
    smooth, bounds = continuous_names(draws), supports(draws)
    candidates = dict.fromkeys(condition for leaf in group for condition in leaf.conditions if condition.sign != "=")
    reasons: dict[Constraint, tuple[Farkas, ...]] = {}
    for condition in candidates:
        why = []
        for leaf in group:
            reason = contradiction([*leaf.conditions, condition.negation, *bounds], smooth)
            if reason is None:
                break
            why.append(reason)
        else:
            reasons[condition] = tuple(why)
    hull = list(reasons)
    for condition in list(hull):
        others = [other for other in hull if other is not condition]
        if contradiction([*others, condition.negation, *bounds], smooth) is not None:
            hull = others
    members = {leaf.node for leaf in group}
    apart: list[tuple[ProgramPath, Farkas]] = []
    for leaf in tree.leaves:
        if leaf.is_null or leaf.node in members:
            continue
        everything = draws + leaf.draws[len(draws) :]
        why_not = contradiction([*hull, *leaf.conditions, *supports(everything)], continuous_names(everything))
        if why_not is None:
            return None
        apart.append((leaf, why_not))
    inside = tuple((leaf, tuple(reasons[condition][place] for condition in hull)) for place, leaf in enumerate(group))
    return MergedClass(tuple(hull), inside, tuple(apart))
