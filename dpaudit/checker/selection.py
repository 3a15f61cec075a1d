"""Does the certificate of a selection prove its bound for any length? Both runs must end with the same winner.

A selection is a fold whose output is the number of the query at which a step last took a leaf that is marked. Before
the winner the two runs may take different leaves, as long as their states stay related; at the winner its noise is
shifted; and after it neither run marks another query. The relations are linear, and kept for every pair of leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.reading import (
    Expression,
    ForgedError,
    Steps,
    expression,
    fields,
    items,
    text,
    whole,
)
from dpaudit.checker.shifts import Movement, Region
from dpaudit.checker.tree import MOST_NODES, Condition, Leaf, Tree, condition, contradict, supports

MOST_STATES = 100
MOST_ROWS = 100
MOST_REALS = 100
_LEAF = ({"next", "state"}, frozenset[str]())
_NOTHING = ("none",)
_PHASES = ("before", "at", "after")


@dataclass(frozen=True, slots=True)
class _Ending:
    """One leaf of a step.

    Attributes:
        leaf: with its conditions and draws.
        follows: the number of the next state.
        new: the real numbers of that state.
        marked: whether this query is the winner now.
    """

    leaf: Leaf
    follows: int
    new: tuple[Expression, ...]
    marked: bool


@dataclass(frozen=True, slots=True)
class _Selection:
    """The fold: its first state, that state's real numbers, and the leaves of every state's step by their node."""

    start: int
    first: tuple[Fraction, ...]
    steps: tuple[Mapping[int, _Ending], ...]

    @property
    def reals(self) -> int:
        """How many real numbers a state has."""
        return len(self.first)


def check_selection(given: dict[str, Any], movement: Movement, steps: Steps) -> tuple[Fraction, list[str]]:
    """Return the bound that the shifts of the winner prove, and what was checked.

    Args:
        given: the certificate.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Returns:
        ε in nats, and sentences for people.

    Raises:
        ForgedError: if the fold is no selection, or a relation is not kept.
        CertificateError: if it is not in this format, or too large.
    """
    fold = _read(given, movement, steps)
    ranges = movement.ranges
    cases = items(given["cases"], "cases", len(ranges), len(ranges))
    bound = max(_case(f"case {n}", entry, fold, ends, steps) for n, (ends, entry) in enumerate(zip(ranges, cases)))  # noqa: B905
    leaves = sum(map(len, fold.steps))
    return bound, [
        f"The fold has {len(fold.steps):,} states and {leaves:,} leaves in complete trees; its output is the number of "
        "the last query that was marked.",
        "For every pair of leaves the relation of the two runs is kept before and after the winner, whose noise alone "
        "is shifted, and no later query is marked in either run.",
    ]


def _read(given: dict[str, Any], movement: Movement, steps: Steps) -> _Selection:
    """Return the fold; raise unless its output is the number of the last query that was marked."""
    states = items(given["states"], "states", MOST_STATES, 1)
    (begin,) = _leaves("init", given["init"], {}, steps, most=1)
    start = _next(begin, len(states))
    listed = items(begin.given["state"], "init: the state", MOST_REALS)
    first = [expression(value, {}, "init: the state", steps).constant for value in listed]
    winner = whole(given["winner"], "winner", 0, len(first) - 1)
    place = whole(given["place"], "place", 0, len(first) - 1)
    if begin.draws or begin.output.form != _NOTHING:
        raise ForgedError(f"{begin.name}: a selection begins without noise and output")
    known = {"s": len(first)}
    one = Fraction(1)
    counted, kept, taken = (
        Expression({f"s{number}": one}, Fraction(plus)) for number, plus in ((place, 1), (winner, 0), (place, 0))
    )
    found: list[dict[int, _Ending]] = []
    for number, state in enumerate(states):
        where = f"state {number}"
        fields(state, {"name", "step", "end"}, where)
        text(state["name"], f"{where}: the name")
        (end,) = _leaves(f"{where}, end", state["end"], known, steps, most=1)
        if end.draws or end.given != {"next": None, "state": []}:
            raise ForgedError(f"{end.name}: an end draws nothing, and nothing follows it")
        if any(one.terms.keys() - {f"s{winner}"} for one in end.output.released):
            raise ForgedError(f"{end.name}: it releases more than the number of the winner")
        leaves = _leaves(f"{where}, step", state["step"], {"x": 1, **known}, steps)
        own: dict[int, _Ending] = {}
        for leaf in leaves:
            if leaf.output.form != _NOTHING:
                raise ForgedError(f"{leaf.name}: the step of a selection releases nothing")
            if leaf.draws != leaves[0].draws:
                raise ForgedError(f"{leaf.name}: it draws other noise than other leaves of the step")
            if leaf.discrete and not movement.integer:
                raise ForgedError(f"{leaf.name}: integer noise proves nothing of data that are real")
            listed = items(leaf.given["state"], f"{leaf.name}: the state", len(first), len(first))
            variables = {"x": 1, "h": len(leaf.draws), **known}
            new = tuple(expression(value, variables, f"{leaf.name}: the state", steps) for value in listed)
            if new[place] != counted or new[winner] not in (kept, taken):
                raise ForgedError(f"{leaf.name}: places are counted one by one, and the winner is kept, or this place")
            own[leaf.number] = _Ending(leaf, _next(leaf, len(states)), new, new[winner] == taken)
        found.append(own)
    if not all(each.marked for each in found[start].values()):
        raise ForgedError(f"state {start}: at the start every query must be marked, so that there is a winner")
    return _Selection(start, tuple(first), tuple(found))


def _leaves(name: str, value: object, variables: Mapping[str, int], steps: Steps, most: int = MOST_NODES) -> list[Leaf]:
    """Return the leaves of a complete tree that are not null; raise if there is none, or there are too many."""
    tree = Tree(f"{name}: ", variables, steps, _LEAF).read(items(value, name, MOST_NODES, 1))
    live = [leaf for leaf in tree.leaves.values() if not leaf.null]
    if not 1 <= len(live) <= most:
        raise ForgedError(f"{name}: it has {len(live):,} leaves, between 1 and {most:,} are possible")
    return live


def _next(leaf: Leaf, states: int) -> int:
    return whole(leaf.given["next"], f"{leaf.name}: next", 0, states - 1)


def _case(where: str, value: object, fold: _Selection, ends: tuple[int, int], steps: Steps) -> Fraction:
    """Check one range of the differences; return what the winner's shift costs at most."""
    entries = items(fields(value, {"states"}, where)["states"], where, len(fold.steps), len(fold.steps))
    for number, entry in enumerate(entries):
        fields(entry, {"before", "after", "shifts", "pairs"}, f"{where}, state {number}")
    relations = {
        phase: [
            [
                expression(row, {"s": 2 * fold.reals}, f"{where}, state {number}: {phase}", steps)
                for row in items(entry[phase], f"{where}, state {number}: {phase}", MOST_ROWS)
            ]
            for number, entry in enumerate(entries)
        ]
        for phase in ("before", "after")
    }
    begin = {f"s{number}": each for number, each in enumerate(fold.first * 2)}
    for row in relations["before"][fold.start]:
        if row.constant + sum(factor * begin[name] for name, factor in row.terms.items()) < 0:
            raise ForgedError(f"{where}: the relation before the winner does not hold at the start")
    bound = Fraction(0)
    for number, (entry, own) in enumerate(zip(entries, fold.steps, strict=True)):
        here = f"{where}, state {number}"
        marked = {node: each for node, each in own.items() if each.marked}
        shifts: dict[int, list[Fraction]] = {}
        for given in items(entry["shifts"], f"{here}: the shifts", len(marked), len(marked)):
            fields(given, {"leaf", "shift"}, f"{here}: a shift")
            node = whole(given["leaf"], f"{here}: a shift", 0, MOST_NODES)
            if node not in marked or node in shifts:
                raise ForgedError(f"{here}: leaf {node} is not marked, or has two shifts")
            region = Region(here, (), (), marked[node].leaf.draws)
            shifts[node] = region.shift(given["shift"], f"{here}: a shift")
            bound = max(bound, region.cost({}, shifts[node], here, steps))
        given = fields(entry["pairs"], set(_PHASES), f"{here}: the pairs")
        for phase in _PHASES:
            needed = {
                (one, other)
                for one, first in own.items()
                for other in own
                if phase == "before" or first.marked == (phase == "at")
            }
            for pair in items(given[phase], f"{here}: the pairs {phase}", len(needed), len(needed)):
                one, other = _pair(pair, needed, f"{here}: a pair {phase}")
                needed.remove((one, other))
                first, second = own[one], own[other]
                shift = shifts[one] if phase == "at" else [Fraction(0)] * len(first.leaf.draws)
                held = relations["before" if phase in ("before", "at") else "after"][number]
                known = _together(first, second, held, fold.reals, shift, ends, steps)
                name = f"{here}: the pair of leaves {one} and {other} {phase} the winner"
                if "never" in pair:
                    contradict(known, pair["never"], name, steps)
                    continue
                if (
                    first.follows != second.follows
                    or (phase == "at" and one != other)
                    or (phase == "after" and second.marked)
                ):
                    raise ForgedError(f"{name}: the two runs part there, so that they must never be there")
                rows = relations["before" if phase == "before" else "after"][first.follows]
                for row, vector in zip(rows, items(pair["rows"], name, len(rows), len(rows)), strict=True):
                    then = _after(row, first, second, fold.reals, shift)
                    steps.spend(len(known) + len(then.terms))
                    contrary = condition(then, ">", first.leaf.draws, name, -1)
                    contradict([*known, contrary], vector, name, steps)
    return bound


def _pair(value: object, needed: set[tuple[int, int]], where: str) -> tuple[int, int]:
    kind = "never" if type(value) is dict and "never" in value else "rows"
    given = fields(value, {"first", "second", kind}, where)
    one, other = (whole(given[name], f"{where}: {name}", 0, MOST_NODES) for name in ("first", "second"))
    if (one, other) not in needed:
        raise ForgedError(f"{where}: leaves {one} and {other} are no pair that is needed, or are listed twice")
    return one, other


def _second(given: Expression, reals: int, shift: Sequence[Fraction]) -> Expression:
    """Return an expression of a step as that of the second run, in the terms of the first.

    Its query is x + q0, its real numbers are numbered after those of the first run, and its draws are shifted.
    """
    terms: dict[str, Fraction] = {}
    constant = given.constant
    for name, factor in given.terms.items():
        if name[0] == "s":
            terms[f"s{reals + int(name[1:])}"] = factor
            continue
        terms[name] = factor
        if name == "x":
            terms["q0"] = factor
        else:
            constant += factor * shift[int(name[1:])]
    return Expression(terms, constant)


def _together(
    first: _Ending,
    second: _Ending,
    held: Sequence[Expression],
    reals: int,
    shift: Sequence[Fraction],
    ends: tuple[int, int],
    steps: Steps,
) -> list[Condition]:
    """Return all that is known where the first run takes one leaf, and the second another."""
    draws = first.leaf.draws
    name = first.leaf.name
    known = [condition(row, ">=", draws, name) for row in held]
    known += first.leaf.conditions
    for each in second.leaf.conditions:
        steps.spend(len(each.terms) + 1)
        known.append(condition(_second(each.written, reals, shift), each.kind, draws, name))
    low, high = ends
    known.append(Condition({"q0": 1}, -low, ">=", smooth=False))
    known.append(Condition({"q0": -1}, high, ">=", smooth=False))
    return known + supports(draws)


def _after(row: Expression, first: _Ending, second: _Ending, reals: int, shift: Sequence[Fraction]) -> Expression:
    """Return a row of a relation after both runs took their leaves."""
    terms: dict[str, Fraction] = {}
    constant = row.constant
    for name, factor in row.terms.items():
        number = int(name[1:])
        new = first.new[number] if number < reals else _second(second.new[number - reals], reals, shift)
        constant += factor * new.constant
        for term, own in new.terms.items():
            terms[term] = terms.get(term, Fraction(0)) + factor * own
    return Expression({term: each for term, each in terms.items() if each}, constant)
