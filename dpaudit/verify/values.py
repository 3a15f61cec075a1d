"""What does a program compute of its answers before noise is added, and how far do neighbours move that?

``abs(x)``, ``max(data)``, a median, a clip and a branch on data lead to other paths on the neighbour, so that no shift
keeps a path. But where all ways through such branches draw the same noise and compare and release it in the same way,
the program is one tree that reads *values*: numbers that branches on the answers alone compute. A value may be computed
on two different branches for two neighbours, and its movement is bounded for every pair of them (Farina, Chong &
Gaboardi 2017, relational symbolic execution). The tree of values is then aligned like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.linear import Affine, Constraint, Farkas, contradiction, spend
from dpaudit.program.symbolic.tree import (
    ProgramTree,
)
from dpaudit.verify.alignment import Alignment, align
from dpaudit.verify.branches import Branches, PartsError, is_of_data
from dpaudit.verify.differences import is_summed
from dpaudit.verify.linear_programme import FloatLinearProgram
from dpaudit.verify.value_tree import ValueTree

MOST_REASONS = 4_100  # of all values, one for every pair of leaves of each, so that they are found within seconds
MOST_SLOPE_REASONS = 10_000  # where a value has a slope for each query; these are found faster
_LEAST_RISE = 1e-6  # of a movement that turned out larger; less is rounding, or no progress
_DENOMINATOR = 10_000  # a movement is rounded to a fraction at most this fine


@dataclass(frozen=True, slots=True)
class Slope:
    """By how much a query that moves by 1 moves a value at most, and why, for each pair of leaves."""

    query: str
    slope: Fraction
    up: tuple[Farkas, ...]
    down: tuple[Farkas, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A number that is computed of the answers, in units in which neighbours move it by at most 1."""

    tree: Branches  # the branches that compute it; its leaves are expressions
    pairs: tuple[Farkas, ...] = ()  # for each pair of leaves, why it moves by at most 1; empty where slopes are given
    slopes: tuple[Slope, ...] = ()  # for each query that it depends on


@dataclass(frozen=True, slots=True)
class Values:
    """A program as a tree that reads values."""

    found: tuple[Value, ...]  # the values; number k is the query ``qk`` of the tree
    tree: ProgramTree  # the program, from the values on
    relation: Relation  # how neighbours move the values
    alignment: Alignment  # of the tree, under this relation


def branches_on_data(tree: ProgramTree) -> bool:
    """Whether a program has a branch on answers alone."""
    return any(is_of_data(node) for node in tree.nodes)


def align_values(tree: ProgramTree, relation: Relation, length: int, *, integer: bool = False) -> Values | None:
    """Return the program as a tree of values, aligned; None if there is no such tree, or no bound of it."""
    try:
        taken = ValueTree(tree)
        taken.read()
        if not taken.values:
            return None
        summed = _summed(taken.values) if is_summed(relation) else None
        values, units = summed or _boxed(taken.values, relation, length)
    except PartsError:
        return None
    if integer and any(draw.is_discrete for leaf in taken.leaves for draw in leaf.draws):
        numbers = [
            one for value in values for leaf in value.tree.leaves() for one in (leaf.constant, *leaf.terms.values())
        ]
        if any(Fraction(one).denominator != 1 for one in numbers):
            return None
    scaled = taken.scaled(units)
    how = Relation("queries") if summed is None else Relation("queries", "norm=1", relation.group)
    return Values(values, scaled, how, align(scaled, how, len(values)))


# --- how far values move ------------------------------------------------------------------------------------

_Leaf = tuple[tuple[Constraint, ...], Affine]


def _listed(tree: Branches) -> list[_Leaf]:
    """Return the leaves of a value; raise if data alone do not show that a way is dead."""
    found: list[_Leaf] = []
    for conditions, leaf in tree.regions():
        if leaf is not None:
            found.append((conditions, leaf))
        elif contradiction(conditions) is None:
            raise PartsError
    return found


def _boxed(trees: Sequence[Branches], relation: Relation, length: int) -> tuple[tuple[Value, ...], list[Fraction]]:
    """Return the values where every answer may move, each in units of its own movement."""
    group = relation.group
    if sum(len(list(tree.leaves())) ** 2 for tree in trees) > MOST_REASONS:
        raise PartsError
    found: list[Value] = []
    units: list[Fraction] = []
    moved = {f"q{number}": f"s{number}" for number in range(length)}
    box = [Constraint(Affine({f"s{number}": sign}, group), ">=") for number in range(length) for sign in (1, -1)]
    for tree in trees:
        unit = _movement(_listed(tree), group)
        reasons: list[Farkas] | float = 0.0
        while not isinstance(reasons, list):
            scaled = _over(tree, unit)
            reasons = _reasons(_listed(scaled), moved, box)
            if not isinstance(reasons, list):
                unit *= Fraction(reasons).limit_denominator(_DENOMINATOR)
        found.append(Value(scaled, tuple(reasons)))
        units.append(unit)
    return tuple(found), units


def _movement(leaves: Sequence[_Leaf], group: int) -> Fraction:
    """Return how far a value moves on one leaf, or between two if it is constant on all: mostly how far it moves."""
    steepest = max(sum((abs(Fraction(n)) for n in one.terms.values()), Fraction(0)) for _, one in leaves)
    constants = [Fraction(one.constant) for _, one in leaves]
    return steepest * group or max(constants) - min(constants) or Fraction(1)


def _reasons(leaves: Sequence[_Leaf], moved: Mapping[str, str], box: Sequence[Constraint]) -> list[Farkas] | float:
    """Return for each pair of leaves why a value moves by at most 1, or a movement that is larger."""
    found: list[Farkas] = []
    for one in leaves:
        for other in leaves:
            known, apart = _apart(one, other, moved)
            reason = _reason(known, box, Constraint(apart - Affine({}, 1), ">"))
            if reason is None:
                return _largest([*known[0], *known[1], *box], apart)
            found.append(reason)
    return found


def _summed(trees: Sequence[Branches]) -> tuple[tuple[Value, ...], list[Fraction]] | None:
    """Return the values where the sum of all movements is limited, in units that a query moves by 1 in sum.

    None if a value jumps, or has too many leaves; then it still moves no farther than if all queries might move.
    """
    if sum(len(list(tree.leaves())) ** 2 for tree in trees) > MOST_SLOPE_REASONS:
        return None
    listed = [_listed(tree) for tree in trees]
    steepest: list[dict[str, Fraction]] = []
    for leaves in listed:
        own: dict[str, Fraction] = {}
        for conditions, one in leaves:
            for each in conditions:
                own.update((name, own.get(name, Fraction(0))) for name in each.expression.terms)
            for name, number in one.terms.items():
                own[name] = max(own.get(name, Fraction(0)), abs(Fraction(number)))
        steepest.append(own)
    if sum(2 * len(own) * len(leaves) ** 2 for own, leaves in zip(steepest, listed, strict=True)) > MOST_SLOPE_REASONS:
        return None
    largest = [max(own.values(), default=Fraction(0)) or Fraction(1) for own in steepest]
    shares: dict[str, Fraction] = {}
    for own, most in zip(steepest, largest, strict=True):
        for name, slope in own.items():
            shares[name] = shares.get(name, Fraction(0)) + slope / most
    together = max(shares.values(), default=Fraction(1)) or Fraction(1)
    units = [most * together for most in largest]
    found: list[Value] = []
    for tree, own, unit in zip(trees, steepest, units, strict=True):
        scaled = _over(tree, unit)
        leaves = _listed(scaled)
        slopes: list[Slope] = []
        for name, size in sorted(own.items()):
            up, down = (_slope_reasons(leaves, name, size / unit, sign) for sign in (1, -1))
            if up is None or down is None:
                return None
            slopes.append(Slope(name, size / unit, up, down))
        found.append(Value(scaled, (), tuple(slopes)))
    return tuple(found), units


def _slope_reasons(leaves: Sequence[_Leaf], query: str, slope: Fraction, sign: int) -> tuple[Farkas, ...] | None:
    """Return for each pair of leaves why a value moves by no more than the slope, or None if it jumps."""
    ahead = [Constraint(Affine.variable("s0"), ">=")]
    found: list[Farkas] = []
    for one in leaves:
        for other in leaves:
            known, apart = _apart(one, other, {query: "s0"})
            reason = _reason(known, ahead, Constraint(apart.times(sign) - Affine({"s0": slope}), ">"))
            if reason is None:
                return None
            found.append(reason)
    return tuple(found)


def _over(tree: Branches, unit: Fraction) -> Branches:
    return tree.mapped(lambda one: Branches(leaf=one.times(1 / unit)))


def _apart(
    one: _Leaf, other: _Leaf, moved: Mapping[str, str]
) -> tuple[tuple[Sequence[Constraint], Sequence[Constraint]], Affine]:
    """Return what is known where a value is computed on two leaves, of each, and how far apart it is on both sides."""
    spend()
    there = [Constraint(_at(each.expression, moved), each.sign) for each in other[0]]
    return (one[0], there), _at(other[1], moved) - one[1]


def _reason(
    known: tuple[Sequence[Constraint], Sequence[Constraint]], ranges: Sequence[Constraint], contrary: Constraint
) -> Farkas | None:
    """Return why a condition contradicts what is known of two leaves, and ranges; None if it does not.

    The leaves are first taken one by one, since a small linear programme is solved much faster.
    """
    conditions = [*known[0], *known[1], *ranges, contrary]
    first, both = len(known[0]), len(known[0]) + len(known[1])
    for chosen in (range(first), range(first, both), range(both)):
        names = {name for n in (*chosen, -1) for name in conditions[n].expression.terms}
        own = [*chosen]
        own += [n for n in range(both, len(conditions) - 1) if not names.isdisjoint(conditions[n].expression.terms)]
        own.append(len(conditions) - 1)
        reason = contradiction([conditions[n] for n in own])
        if reason is not None:
            return tuple((own[place], factor) for place, factor in reason)
    return None


def _at(given: Affine, moved: Mapping[str, str]) -> Affine:
    """Return an expression at the neighbour, in the queries and in how far each moves."""
    terms = dict(given.terms)
    terms.update((moved[name], number) for name, number in given.terms.items() if name in moved)
    return Affine(terms, given.constant)


def _largest(known: Sequence[Constraint], apart: Affine) -> float:
    """Return the largest movement, which is above 1, as a float; raise if there is none."""
    programme = FloatLinearProgram()
    most = programme.unknown(free=True)  # the negative of the movement
    names = sorted({name for each in known for name in each.expression.terms} | set(apart.terms))
    columns = {name: programme.unknown(free=True) for name in names}
    for each in known:
        row = {columns[name]: float(number) for name, number in each.expression.terms.items()}
        programme.require(row, -float(each.expression.constant), exactly=each.sign == "=")
    row = {columns[name]: float(number) for name, number in apart.terms.items()}
    programme.require({**row, most: 1.0}, -float(apart.constant), exactly=True)
    solution = programme.minimise(most)
    if solution is None or not -solution[most] > 1 + _LEAST_RISE:
        raise PartsError
    return -solution[most]
