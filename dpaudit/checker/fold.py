"""Does the certificate of a fold prove its bound for any length? Every step must keep distances and allowances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.certificate import MOST_GROUP, Checked
from dpaudit.checker.queries import Movement, QueryCertificate
from dpaudit.checker.reading import (
    CertificateError,
    ForgedError,
    LinearExpression,
    Steps,
    expression,
    fields,
    items,
    rational,
    text,
    whole,
)
from dpaudit.checker.shifts import Region
from dpaudit.checker.tree import MOST_NODES, CheckedTree, Condition, Leaf, condition, contradict, supports

# --- Do the two runs of a fold keep distances that change when the query that differs is read? Its couplings say. ---
#
# A coupling is a place where the two runs may be together: a state, whether the query that differs has been read, and
# the constant distances of the state's real numbers there. Every leaf leads from each coupling of its state to another.

MOST_COUPLINGS = 10_000
MOST_REALS = 1_000


@dataclass(frozen=True, slots=True)
class _Coupling:
    """One place where the two runs may be together."""

    state: int  # the number of the state
    moved: bool  # whether the query that differs has been read
    distances: tuple[Fraction, ...]  # s' − s of each real number of the state
    allowance: Fraction  # what the runs may still cost from here on, in nats


@dataclass(frozen=True, slots=True)
class Couplings:
    """The couplings of a fold, for each of the two worst differences of the one query."""

    reals: int  # how many real numbers a state has
    cases: tuple[tuple[_Coupling, ...], ...]  # for the differences −k and k, in this order: all couplings
    movement: Movement
    steps: Steps

    @classmethod
    def read(cls, value: list[Any], states: int, movement: Movement, steps: Steps) -> Couplings:
        """Read the cases of a certificate.

        Args:
            value: the cases as JSON.
            states: how many states the fold has.
            movement: how the queries of neighbours differ; only one of them, or their sum.
            steps: the counter of the work.
        """
        if not movement.summed:
            raise ForgedError(f"under {movement.name!r} more than one query differs, so that couplings prove nothing")
        cases: list[tuple[_Coupling, ...]] = []
        reals: int | None = None
        for number, case in enumerate(items(value, "cases", 2, 2)):
            own: list[_Coupling] = []
            given = fields(case, {"couplings"}, f"case {number}")["couplings"]
            for entry in items(given, f"case {number}: the couplings", MOST_COUPLINGS, 0):
                where = f"case {number}, coupling {len(own)}"
                fields(entry, {"state", "moved", "distances", "allowance"}, where)
                listed = items(entry["distances"], f"{where}: the distances", MOST_REALS)
                reals = len(listed) if reals is None else reals
                if len(listed) != reals:
                    raise CertificateError(f"{where}: {len(listed)} distances where others have {reals}")
                steps.spend(reals + 1)
                if type(entry["moved"]) is not bool:
                    raise CertificateError(f"{where}: moved is true or false")
                allowance = rational(entry["allowance"], f"{where}: the allowance")
                if allowance < 0:
                    raise ForgedError(f"{where}: the allowance is negative")
                distances = tuple(rational(each, f"{where}: a distance") for each in listed)
                state = whole(entry["state"], f"{where}: the state", 0, states - 1)
                own.append(_Coupling(state, entry["moved"], distances, allowance))
            cases.append(tuple(own))
        return cls(reals or 0, tuple(cases), movement, steps)

    def leaf(
        self, leaf: Leaf, kind: str, state: int | None, follows: int | None, new: Sequence[LinearExpression]
    ) -> Fraction:
        """Check one leaf in both cases; return what a run that starts here may cost (0 except for ``init``).

        Args:
            leaf: the leaf.
            kind: "init", "step" or "end".
            state: the number of the state that it starts from; None for ``init``.
            follows: the number of the next state; None if the run stops.
            new: the next state's real numbers.

        Raises:
            ForgedError: if a coupling of the state has no shift here, or a shift fails or costs too much.
        """
        lists = items(leaf.given["shifts"], f"{leaf.name}: the shifts", len(self.cases), len(self.cases))
        largest = Fraction(0)
        for sign, couplings, entries in zip((-1, 1), self.cases, lists, strict=True):
            needed: set[tuple[int | None, Fraction | int]] = {(None, 0)}
            if kind != "init":
                here = [number for number, each in enumerate(couplings) if each.state == state]
                # where the data end, the query that differs has been read
                needed = {(number, 0) for number in here if kind == "step" or couplings[number].moved}
                if kind == "step":
                    moving = sign * self.movement.group
                    needed |= {(number, moving) for number in here if not couplings[number].moved}
            self.steps.spend(len(couplings) + 1)
            for entry in items(entries, f"{leaf.name}: the shifts", 2 * MOST_COUPLINGS):
                where = f"{leaf.name}: a shift"
                fields(entry, {"from", "difference", "shift", "to"}, where)
                source, target = (
                    None if entry[name] is None else whole(entry[name], f"{where}: {name}", 0, len(couplings) - 1)
                    for name in ("from", "to")
                )
                difference = rational(entry["difference"], f"{where}: the difference")
                at = (source, difference)
                if at not in needed:
                    raise ForgedError(f"{where}: from coupling {source} no difference {difference} is needed, or twice")
                needed.remove(at)
                before = None if source is None else couplings[source]
                after = None if target is None else couplings[target]
                moved = bool(difference) or (before is not None and before.moved)
                if (None if after is None else (after.state, after.moved)) != (
                    None if follows is None else (follows, moved)
                ):
                    raise ForgedError(f"{where}: coupling {target} is not where the two runs go on")
                cost = self._cost(leaf, before, after, difference, new, entry["shift"])
                cost += Fraction(0) if after is None else after.allowance
                if before is None:
                    largest = max(largest, cost)
                elif before.allowance < cost:
                    raise ForgedError(f"{where}: the allowance {before.allowance} of coupling {source} is below {cost}")
            if needed:
                source, left = min(needed, key=str)
                raise ForgedError(f"{leaf.name}: no shift from coupling {source} for the difference {left}")
        return largest

    def _cost(
        self,
        leaf: Leaf,
        before: _Coupling | None,
        after: _Coupling | None,
        difference: Fraction,
        new: Sequence[LinearExpression],
        shift: object,
    ) -> Fraction:
        """Return the cost of a shift; raise unless it leads from one coupling's distances to the other's."""
        where = f"{leaf.name}: a shift"
        # a new number must get the distance of its coupling: an equality to a constant, a multiple of "1"
        kept = [
            LinearExpression({**one.terms, "1": -distance} if distance else one.terms, one.constant)
            for one, distance in zip(new, after.distances if after is not None else (), strict=True)
        ]
        self.steps.spend(len(leaf.conditions) + len(kept) + 1)
        region = Region.of(leaf.name, leaf.conditions, [*leaf.output.released, *kept], leaf.draws)
        values = {"1": Fraction(1), "x": difference}
        values |= {f"s{number}": each for number, each in enumerate(before.distances if before is not None else ())}
        return region.cost(values, region.shift(shift, where), where, self.steps)


# --- Does the certificate of a fold prove its bound for any length? Every step must keep distances and allowances.

MOST_STATES = 10_000
_LEAF = ({"next", "state", "shifts"}, frozenset[str]())


@dataclass(frozen=True, slots=True)
class _Case:
    """One range of the differences."""

    low: int  # the smallest difference of a query
    high: int  # the largest difference of a query
    distances: tuple[Fraction, ...]  # the constant difference of each real state variable
    # what a run may still cost from each state on, in nats; two numbers if only one query moves: before that query and
    # after it
    allowances: tuple[tuple[Fraction, ...], ...]

    def left(self, state: int | None, moved: bool) -> Fraction:
        """Return what a run may still cost from a state on (0 if it has stopped)."""
        return Fraction(0) if state is None else self.allowances[state][-1 if moved else 0]


def check(given: dict[str, Any]) -> Checked:
    """Check a certificate of a fold, or of one that selects."""
    is_selection = given["kind"] == "selection"
    more = {"winner", "place"} if is_selection else set[str]()
    certificate = QueryCertificate.read(given, {"init", "states", "cases"} | more)
    shown_by = check_selection if is_selection else check_fold
    return certificate.proved(*shown_by(given, certificate.movement, Steps()))


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
    induction: Couplings | _CheckedInduction
    if type(entries[0]) is dict and "couplings" in entries[0]:
        induction = Couplings.read(entries, len(states), movement, steps)
    else:
        cases = _cases(entries, len(states), movement, steps)
        induction = _CheckedInduction(len(cases[0].distances), cases, movement, steps)
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
        tree = CheckedTree(f"{name}: ", variables, steps, _LEAF).read(nodes)
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
    induction: Couplings | _CheckedInduction,
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
class _CheckedInduction:
    """An induction whose distances are the same in all states."""

    reals: int  # how many real numbers a state has
    cases: Sequence[_Case]  # one for each range of the differences
    movement: Movement
    steps: Steps

    def leaf(
        self, leaf: Leaf, kind: str, state: int | None, follows: int | None, new: Sequence[LinearExpression]
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
    leaf: Leaf,
    kind: str,
    case: _Case,
    new: Sequence[LinearExpression],
    entries: object,
    movement: Movement,
    steps: Steps,
) -> dict[Fraction, Fraction]:
    """Return the cost of each listed difference; raise if a shift fails or a worst difference has none."""
    # a new state variable must keep its distance: an equality to a constant, written as a multiple of "1"
    kept = [
        LinearExpression({**one.terms, "1": -distance} if distance else one.terms, one.constant)
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


# --- Does the certificate of a selection prove its bound for any length? Both runs must end with the same winner. ---
#
# A selection is a fold whose output is the number of the query at which a step last took a leaf that is marked. Before
# the winner the two runs may take different leaves, as long as their states stay related; at the winner its noise is
# shifted; and after it neither run marks another query. The relations are linear, and kept for every pair of leaves.

MOST_SELECTION_STATES = 100
MOST_ROWS = 100
MOST_SELECTION_REALS = 100
_SELECTION_LEAF = ({"next", "state"}, frozenset[str]())
_NOTHING = ("none",)
_PHASES = ("before", "at", "after")


@dataclass(frozen=True, slots=True)
class _StepLeaf:
    """One leaf of a step."""

    leaf: Leaf  # with its conditions and draws
    follows: int  # the number of the next state
    new: tuple[LinearExpression, ...]  # the real numbers of that state
    marked: bool  # whether this query is the winner now


@dataclass(frozen=True, slots=True)
class _Selection:
    """The fold: its first state, that state's real numbers, and the leaves of every state's step by their node."""

    start: int
    first: tuple[Fraction, ...]
    steps: tuple[Mapping[int, _StepLeaf], ...]

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
    fold = _read_selection(given, movement, steps)
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


def _read_selection(given: dict[str, Any], movement: Movement, steps: Steps) -> _Selection:
    """Return the fold; raise unless its output is the number of the last query that was marked."""
    states = items(given["states"], "states", MOST_SELECTION_STATES, 1)
    (begin,) = _leaves("init", given["init"], {}, steps, most=1)
    start = _next(begin, len(states))
    listed = items(begin.given["state"], "init: the state", MOST_SELECTION_REALS)
    first = [expression(value, {}, "init: the state", steps).constant for value in listed]
    winner = whole(given["winner"], "winner", 0, len(first) - 1)
    place = whole(given["place"], "place", 0, len(first) - 1)
    if begin.draws or begin.output.form != _NOTHING:
        raise ForgedError(f"{begin.name}: a selection begins without noise and output")
    known = {"s": len(first)}
    one = Fraction(1)
    counted, kept, taken = (
        LinearExpression({f"s{number}": one}, Fraction(plus)) for number, plus in ((place, 1), (winner, 0), (place, 0))
    )
    endings: list[dict[int, _StepLeaf]] = []
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
        own: dict[int, _StepLeaf] = {}
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
            own[leaf.number] = _StepLeaf(leaf, _next(leaf, len(states)), new, new[winner] == taken)
        endings.append(own)
    if not all(each.marked for each in endings[start].values()):
        raise ForgedError(f"state {start}: at the start every query must be marked, so that there is a winner")
    return _Selection(start, tuple(first), tuple(endings))


def _leaves(name: str, value: object, variables: Mapping[str, int], steps: Steps, most: int = MOST_NODES) -> list[Leaf]:
    """Return the leaves of a complete tree that are not null; raise if there is none, or there are too many."""
    tree = CheckedTree(f"{name}: ", variables, steps, _SELECTION_LEAF).read(items(value, name, MOST_NODES, 1))
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


def _second(given: LinearExpression, reals: int, shift: Sequence[Fraction]) -> LinearExpression:
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
    return LinearExpression(terms, constant)


def _together(
    first: _StepLeaf,
    second: _StepLeaf,
    held: Sequence[LinearExpression],
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


def _after(
    row: LinearExpression, first: _StepLeaf, second: _StepLeaf, reals: int, shift: Sequence[Fraction]
) -> LinearExpression:
    """Return a row of a relation after both runs took their leaves."""
    terms: dict[str, Fraction] = {}
    constant = row.constant
    for name, factor in row.terms.items():
        number = int(name[1:])
        new = first.new[number] if number < reals else _second(second.new[number - reals], reals, shift)
        constant += factor * new.constant
        for term, own in new.terms.items():
            terms[term] = terms.get(term, Fraction(0)) + factor * own
    return LinearExpression({term: each for term, each in terms.items() if each}, constant)
