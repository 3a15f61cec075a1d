"""Does the certificate of a fold prove its bound for any length? Every step must keep distances and allowances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.couplings import MOST_REALS, Couplings
from dpaudit.checker.reading import (
    CertificateError,
    Expression,
    ForgedError,
    Steps,
    expression,
    fields,
    items,
    rational,
    text,
    whole,
)
from dpaudit.checker.shifts import MOST_GROUP, Movement, Region
from dpaudit.checker.tree import MOST_NODES, Leaf, Tree

MOST_STATES = 10_000
_LEAF = ({"next", "state", "shifts"}, frozenset[str]())


@dataclass(frozen=True, slots=True)
class _Case:
    """One range of the differences.

    Attributes:
        low: the smallest difference of a query.
        high: the largest difference of a query.
        distances: the constant difference of each real state variable.
        allowances: what a run may still cost from each state on, in nats; two numbers if only one query moves: before
            that query and after it.
    """

    low: int
    high: int
    distances: tuple[Fraction, ...]
    allowances: tuple[tuple[Fraction, ...], ...]

    def left(self, state: int | None, moved: bool) -> Fraction:
        """Return what a run may still cost from a state on (0 if it has stopped)."""
        return Fraction(0) if state is None else self.allowances[state][-1 if moved else 0]


def check_fold(given: dict[str, Any], movement: Movement, steps: Steps) -> tuple[Fraction, list[str]]:
    """Return the bound that the allowances prove, and what was checked.

    Args:
        given: the certificate.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Returns:
        ε in nats, and sentences for people.

    Raises:
        ForgedError: if a shift fails, costs more than its allowance, or a worst difference has none.
        CertificateError: if it is not in this format, or too large.
    """
    states = items(given["states"], "states", MOST_STATES)
    entries = items(given["cases"], "cases", MOST_GROUP + 1, 1)
    induction: Couplings | _Induction
    if type(entries[0]) is dict and "couplings" in entries[0]:
        induction = Couplings.read(entries, len(states), movement, steps)
    else:
        cases = _cases(entries, len(states), movement, steps)
        induction = _Induction(len(cases[0].distances), cases, movement, steps)
    reals = induction.reals
    trees: list[tuple[str, int | None, Any, dict[str, int]]] = [("init", None, given["init"], {})]
    for number, state in enumerate(states):
        fields(state, {"name", "step", "end"}, f"state {number}")
        text(state["name"], f"state {number}: the name")
        trees.append(("step", number, state["step"], {"x": 1, "s": reals}))
        if state["end"] is not None:
            trees.append(("end", number, state["end"], {"s": reals}))
    left, bound, leaves = MOST_NODES, Fraction(0), 0
    for kind, start, value, variables in trees:
        name = kind if start is None else f"state {start}, {kind}"
        nodes = items(value, name, left, 1)
        left -= len(nodes)
        tree = Tree(f"{name}: ", variables, steps, _LEAF).read(nodes)
        leaves += len(tree.leaves)
        for leaf in tree.leaves.values():
            bound = max(bound, _leaf(leaf, kind, start, len(states), induction, movement, steps))
    return bound, [
        f"The fold has {len(states):,} states and {leaves:,} leaves in complete trees.",
        "The shifts of each leaf keep its conditions, what it releases and the distances of the state, and the "
        "allowance of each state covers every step from there.",
    ]


def _cases(value: object, states: int, movement: Movement, steps: Steps) -> list[_Case]:
    cases: list[_Case] = []
    ranges = movement.ranges
    width = 2 if movement.summed else 1
    for (low, high), entry in zip(ranges, items(value, "cases", len(ranges), len(ranges)), strict=True):
        where = f"case {len(cases)}"
        fields(entry, {"distances", "allowances"}, where)
        most, least = (len(cases[0].distances),) * 2 if cases else (MOST_REALS, 0)
        distances = [rational(d, f"{where}: a distance") for d in items(entry["distances"], where, most, least)]
        allowances = []
        for given in items(entry["allowances"], f"{where}: the allowances", states, states):
            steps.spend(width)
            allowances.append(tuple(rational(a, where) for a in items(given, f"{where}: an allowance", width, width)))
            if min(allowances[-1]) < 0:
                raise ForgedError(f"{where}: the allowance of state {len(allowances) - 1} is negative")
        cases.append(_Case(low, high, tuple(distances), tuple(allowances)))
    return cases


def _leaf(
    leaf: Leaf,
    kind: str,
    state: int | None,
    states: int,
    induction: Couplings | _Induction,
    movement: Movement,
    steps: Steps,
) -> Fraction:
    """Check one leaf in every case; return what a run that starts here may cost (0 except for ``init``)."""
    if leaf.discrete and not movement.integer:
        raise ForgedError(f"{leaf.name}: integer noise proves nothing of data that are real")
    if leaf.discrete and movement.summed and movement.group > 1:
        raise ForgedError(f"{leaf.name}: a fold with integer noise under {movement.name} is proved for group 1 only")
    follows = leaf.given["next"]
    if follows is not None:
        follows = whole(follows, f"{leaf.name}: next", 0, states - 1)
        if kind == "end":
            raise CertificateError(f"{leaf.name}: nothing follows an end")
    size = 0 if follows is None else induction.reals
    known = {"h": len(leaf.draws)}
    if kind != "init":
        known["s"] = induction.reals
    if kind == "step":
        known["x"] = 1
    given = items(leaf.given["state"], f"{leaf.name}: the state", size, size)
    new = [expression(value, known, f"{leaf.name}: the state", steps) for value in given]
    if leaf.null:
        items(leaf.given["shifts"], f"{leaf.name}: the shifts", 0)
        return Fraction(0)
    return induction.leaf(leaf, kind, state, follows, new)


@dataclass(frozen=True, slots=True)
class _Induction:
    """An induction whose distances are the same in all states.

    Attributes:
        reals: how many real numbers a state has.
        cases: one for each range of the differences.
    """

    reals: int
    cases: Sequence[_Case]
    movement: Movement
    steps: Steps

    def leaf(
        self, leaf: Leaf, kind: str, state: int | None, follows: int | None, new: Sequence[Expression]
    ) -> Fraction:
        """Check one leaf in every case; return what a run that starts here may cost (0 except for ``init``)."""
        lists = items(leaf.given["shifts"], f"{leaf.name}: the shifts", len(self.cases))
        if len(lists) != len(self.cases):
            raise ForgedError(f"{leaf.name}: shifts must be listed for each of the {len(self.cases)} cases")
        largest = Fraction(0)
        for case, entries in zip(self.cases, lists, strict=True):
            costs = _costs(leaf, kind, case, new, entries, self.movement, self.steps)
            for difference, cost in costs.items():
                if kind == "init":
                    largest = max(largest, cost + case.left(follows, False))
                    continue
                # if every query may move, before and after the moving query are the same
                for before in (False, True) if self.movement.summed and not difference else (False,):
                    after = before or bool(difference)
                    if case.left(state, before) < cost + case.left(follows, after):
                        raise ForgedError(
                            f"{leaf.name}: the allowance {case.left(state, before)} of state {state} does not cover a "
                            f"cost of {cost} and {case.left(follows, after)} from there on"
                        )
        return largest


def _costs(
    leaf: Leaf, kind: str, case: _Case, new: Sequence[Expression], entries: object, movement: Movement, steps: Steps
) -> dict[Fraction, Fraction]:
    """Return the cost of each listed difference; raise if a shift fails or a worst difference has none."""
    # a new state variable must keep its distance: an equality to a constant, written as a multiple of "1"
    kept = [
        Expression({**one.terms, "1": -distance} if distance else one.terms, one.constant)
        for one, distance in zip(new, case.distances if new else (), strict=True)
    ]
    steps.spend(len(leaf.conditions) + 1)
    region = Region.of(leaf.name, leaf.conditions, [*leaf.output.released, *kept], leaf.draws)
    values = {"1": Fraction(1), **{f"s{number}": distance for number, distance in enumerate(case.distances)}}
    costs: dict[Fraction, Fraction] = {}
    for entry in items(entries, f"{leaf.name}: the shifts", 2 * movement.group + 3):
        where = f"{leaf.name}: shift {len(costs)}"
        fields(entry, {"difference", "shift"}, where)
        difference = rational(entry["difference"], f"{where}: the difference")
        if difference in costs:
            raise CertificateError(f"{where}: its difference is listed twice")
        shift = region.shift(entry["shift"], where)
        steps.spend(len(values) + len(shift))
        costs[difference] = region.cost({**values, "x": difference}, shift, where, steps)
    for needed in _worst(region, kind, case, movement):
        if needed not in costs:
            raise ForgedError(f"{leaf.name}: no shift is given for the difference {needed}")
    return costs


def _worst(region: Region, kind: str, case: _Case, movement: Movement) -> set[int]:
    """Return the worst differences of the query that a leaf's step reads."""
    if kind != "step":
        return {0}
    (way,) = region.way(["x"])
    if way == "both" and region.discrete:
        ends = set(range(case.low, case.high + 1))
    else:
        ends = {"low": {case.low}, "high": {case.high}, "both": {case.low, case.high}}[way]
    return ends | {0} if movement.summed else ends
