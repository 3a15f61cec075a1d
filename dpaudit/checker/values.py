"""How far do neighbours move numbers that are computed of the queries by branches? Compared for every pair of branches.

A tree may read values in place of queries, as of |q0| or of the largest query. Each value is a tree of its own, of
branches on queries alone. On neighbours it may be computed on two different leaves, so that its movement is bounded for
every pair of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.reading import (
    CertificateError,
    Expression,
    ForgedError,
    Steps,
    fields,
    items,
    rational,
    text,
)
from dpaudit.checker.shifts import MOST_LENGTH, Movement
from dpaudit.checker.tree import MOST_NODES, Condition, Leaf, Tree, condition, contradict

MOST_LEAVES = 200  # of a value; their pairs are compared


@dataclass(frozen=True, slots=True)
class _Value:
    """One value: what it is on each leaf."""

    name: str
    leaves: tuple[tuple[Leaf, Expression], ...]

    @property
    def integer(self) -> bool:
        """Whether it is a whole number where all queries are."""
        return all(number.denominator == 1 for _, one in self.leaves for number in (one.constant, *one.terms.values()))

    @property
    def queries(self) -> set[str]:
        """The queries that it depends on."""
        named = {name for _, one in self.leaves for name in one.terms}
        return named | {name for leaf, _ in self.leaves for each in leaf.conditions for name in each.terms}


def check_values(value: object, length: int, movement: Movement, steps: Steps) -> tuple[int, Movement]:
    """Return how many values there are, and how neighbours move them.

    Args:
        value: the values as JSON.
        length: the number of queries.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Raises:
        ForgedError: if neighbours may move a value farther.
        CertificateError: if it is not in this format, or too large.
    """
    given = items(value, "values", MOST_LENGTH, 1)
    integer = movement.integer
    sloped = movement.summed and type(given[0]) is dict and "slopes" in given[0]
    total = {f"q{number}": Fraction(0) for number in range(length)}
    for number, entry in enumerate(given):
        fields(entry, {"nodes", "slopes" if sloped else "pairs"}, f"value {number}")
        found = _read(f"value {number}", entry["nodes"], length, steps)
        integer = integer and found.integer
        if sloped:
            for name, slope in _slopes(found, entry["slopes"], length, steps).items():
                total[name] += slope
        else:
            _moves(found, entry["pairs"], length, movement, steps)
    if any(slope > 1 for slope in total.values()):
        raise ForgedError("a query that moves by 1 moves the values by more than 1 in sum")
    if sloped:
        return len(given), Movement("norm=1", movement.group, integer)
    return len(given), Movement("all", 1, integer)


def _read(name: str, value: object, length: int, steps: Steps) -> _Value:
    tree = Tree(f"{name}: ", {"q": length}, steps, (set(), frozenset())).read(items(value, name, MOST_NODES, 1))
    if not 1 <= len(tree.leaves) <= MOST_LEAVES:
        raise CertificateError(f"{name}: {len(tree.leaves):,} leaves, between 1 and {MOST_LEAVES:,} are possible")
    leaves: list[tuple[Leaf, Expression]] = []
    for leaf in tree.leaves.values():
        if leaf.draws or leaf.output.form[0] != "float" or len(leaf.output.form) != 3:
            raise ForgedError(f"{leaf.name}: a value is a number, and no noise is drawn for it")
        leaves.append((leaf, Expression(dict(leaf.output.form[1]), leaf.output.form[2])))
    return _Value(name, tuple(leaves))


def _moves(found: _Value, value: object, length: int, movement: Movement, steps: Steps) -> None:
    """Check that no neighbours move a value by more than 1: the box is symmetric, so that upwards is enough."""
    box: list[Condition] = []
    for number in range(length):
        box.append(Condition({f"s{number}": 1}, movement.group, ">=", smooth=False))
        box.append(Condition({f"s{number}": -1}, movement.group, ">=", smooth=False))
    moved = {f"q{number}": f"s{number}" for number in range(length)}
    pairs = [(one, other) for one in found.leaves for other in found.leaves]
    vectors = items(value, f"{found.name}: the pairs", len(pairs), len(pairs))
    for (one, other), vector in zip(pairs, vectors, strict=True):
        _contradict(found.name, one, other, moved, box, Expression({}, Fraction(1)), 1, vector, steps)


def _slopes(found: _Value, value: object, length: int, steps: Steps) -> dict[str, Fraction]:
    """Return by how much a query that moves by 1 moves a value at most, for each query that it depends on."""
    slopes: dict[str, Fraction] = {}
    pairs = [(one, other) for one in found.leaves for other in found.leaves]
    for entry in items(value, f"{found.name}: the slopes", length):
        where = f"{found.name}: a slope"
        fields(entry, {"query", "slope", "up", "down"}, where)
        query = text(entry["query"], where)
        slope = rational(entry["slope"], where)
        if query not in found.queries or query in slopes or slope < 0:
            raise ForgedError(f"{where}: {query} is no query of it, or is listed twice, or its slope is negative")
        slopes[query] = slope
        # the query moves by s0 ≥ 0, and the other direction is the pair turned round
        ahead = [Condition({"s0": 1}, 0, ">=", smooth=False)]
        for name, sign in (("up", 1), ("down", -1)):
            vectors = items(entry[name], where, len(pairs), len(pairs))
            for (one, other), vector in zip(pairs, vectors, strict=True):
                limit = Expression({"s0": slope} if slope else {}, Fraction(0))
                _contradict(found.name, one, other, {query: "s0"}, ahead, limit, sign, vector, steps)
    missing = found.queries - slopes.keys()
    if missing:
        raise ForgedError(f"{found.name}: no slope is given for {min(missing)}")
    return slopes


def _contradict(
    name: str,
    one: tuple[Leaf, Expression],
    other: tuple[Leaf, Expression],
    moved: Mapping[str, str],
    ranges: Sequence[Condition],
    limit: Expression,
    sign: int,
    vector: Any,
    steps: Steps,
) -> None:
    """Raise unless a value that is computed on two leaves moves by no more than a limit."""
    known = list(one[0].conditions)
    for each in other[0].conditions:
        steps.spend(len(each.terms) + 1)
        known.append(condition(_at(each.written, moved), each.kind, (), name))
    known += ranges
    apart = _at(other[1], moved).minus(one[1])
    if sign < 0:
        apart = Expression({}, Fraction(0)).minus(apart)
    contrary = condition(apart.minus(limit), ">", (), name)
    steps.spend(len(known) + 1)
    where = f"{name}: the pair of leaves {one[0].number} and {other[0].number}"
    contradict([*known, contrary], vector, where, steps)


def _at(given: Expression, moved: Mapping[str, str]) -> Expression:
    """Return an expression at the neighbour, in the queries and in how far each moves."""
    terms = dict(given.terms)
    for query, name in moved.items():
        if query in given.terms:
            terms[name] = given.terms[query]
    return Expression(terms, given.constant)
