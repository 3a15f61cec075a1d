"""How much privacy can a fold lose where the one record that differs changes the distances of the state?

A running sum is as far apart on both sides as the records read so far, so its distance is not the same before and after
the record that differs. `dpaudit.verify.fold` knows one distance for all; here every state has one before that
record, one for each state in which it was read, as long as the fold has not come back to an earlier state, and one from
then on. So the sum of a block has the distance 1 until its end, and 0 in the blocks that follow. Distances, allowances
and shifts solve one linear programme for each sign of the difference; ``verified/on_paper.md`` has the proof.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.fold_machine import RECORD, Ending, FoldMachine, real_name
from dpaudit.program.symbolic.linear import Affine, Constraint, Farkas, Rational, contradiction, spend
from dpaudit.program.symbolic.tree import NoiseDraw, continuous_names, supports
from dpaudit.verify import alignment, differences

MOST_COUPLINGS = 1_500  # beyond, the linear programme takes minutes
_DENOMINATOR = 10_000  # distances are rounded to fractions at most this fine
_BEFORE, _LATER = -1, -2  # in place of the state in which the record that differs was read

_Node = tuple[int, int]
"""A state, and the state in which the record that differs was read."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """One place where the two runs may be together."""

    state: int  # the number of the state
    moved: bool  # whether the record that differs has been read
    distances: tuple[Fraction, ...]  # of each real number of the state, s' − s
    allowance: Fraction  # what the runs may still cost from here on, in nats


@dataclass(frozen=True, slots=True)
class CouplingStep:
    """How the two runs go on along one ending: from a coupling to another (None at the start and at the end)."""

    source: int | None
    difference: int
    shift: alignment.Shift
    target: int | None


@dataclass(frozen=True, slots=True)
class CoupledCase:
    """One sign of the difference, with the couplings that cover it."""

    couplings: tuple[Coupling, ...]  # all of them
    steps: tuple[
        tuple[tuple[CouplingStep, ...], ...], ...
    ]  # for each ending of each part, in the order of `FoldMachine.parts`
    cost: Fraction  # the largest cost of a run, in nats


def couple_fold(machine: FoldMachine, relation: Relation) -> tuple[CoupledCase, CoupledCase] | None:
    """Return couplings for both signs of the difference, or None if there are none of this kind."""
    if not differences.is_summed(relation) or not machine.reals:
        return None
    endings = list(_placed(machine))
    if relation.group > 1 and any(each.is_discrete for each in endings):
        return None
    nodes = _reached(endings)
    if nodes is None:
        return None
    cases: list[CoupledCase] = []
    for sign in (-1, 1):
        case = _Coupled(machine, endings, nodes, sign * relation.group).solved()
        if case is None:
            return None
        cases.append(case)
    return cases[0], cases[1]


def held_reals(machine: FoldMachine, ending: Ending) -> tuple[Affine, ...]:
    """Return the real numbers that an ending leads to; one that the next state does not have is 0."""
    if ending.next is None:
        return ()
    held = machine.held[ending.next]
    return tuple(real if number in held else Affine() for number, real in enumerate(ending.reals))


def _placed(machine: FoldMachine) -> Iterator[_CoupledEnding]:
    """Yield each ending that is not null."""
    kinds: list[tuple[int | None, bool]] = [(None, False)]
    for number, state in enumerate(machine.states):
        kinds += [(number, True)] if state.end is None else [(number, True), (number, False)]
    for part, (machine_part, (begins, is_step)) in enumerate(zip(machine.parts, kinds, strict=True)):
        for place, each in enumerate(machine_part.endings):
            if not each.leaf.is_null:
                yield _CoupledEnding(machine, each, begins, is_step, part, place)


class _CoupledEnding:
    """One ending: what its shifts must keep, and where it leads."""

    def __init__(
        self, machine: FoldMachine, ending: Ending, state: int | None, is_step: bool, part: int, place: int
    ) -> None:
        leaf = ending.leaf
        self.state, self.is_step, self.part, self.place, self.follows = state, is_step, part, place, ending.next
        self.draws = leaf.draws
        self.is_discrete = any(draw.is_discrete for draw in leaf.draws)
        self.rows = [each.expression for each in leaf.conditions if each.sign != "="]
        self.equalities = [each.expression for each in leaf.conditions if each.sign == "="] + list(leaf.released)
        # a new real number must get the distance of its coupling
        self.equalities += [
            real - Affine.variable(_next_name(number)) for number, real in enumerate(held_reals(machine, ending))
        ]
        reals = range(machine.reals)
        variables = [RECORD, *map(real_name, reals), *map(_next_name, reals)]
        self._shifter = alignment.Shifter(self.rows, self.equalities, leaf.draws, variables)
        self._known: dict[tuple[Rational, ...], alignment.Shift | None] = {}

    def after(self, node: _Node | None, moves: bool) -> _Node | None:
        """Return where the two runs are after this ending."""
        if self.follows is None:
            return None
        read_in = _BEFORE if node is None else node[1]
        if moves:
            assert self.state is not None, "records are read in a state"
            read_in = self.state
        elif read_in != _BEFORE and self.state is not None and self.follows <= self.state:
            read_in = _LATER
        return self.follows, read_in

    def shift(self, difference: int, before: Sequence[Fraction], after: Sequence[Fraction]) -> alignment.Shift | None:
        """Return the cheapest shift between two couplings, or None if there is none."""
        at: tuple[Rational, ...] = (difference, *before, *after)
        if at not in self._known:
            spend(10)
            self._known[at] = self._shifter.cheapest(at)
        return self._known[at]


def _next_name(number: int) -> str:
    return f"t{number}"


def _reached(endings: Sequence[_CoupledEnding]) -> dict[_Node, int] | None:
    """Return the couplings that runs may come to, numbered; None if there are too many."""
    of_state: dict[int | None, list[_CoupledEnding]] = defaultdict(list)
    for each in endings:
        of_state[each.state].append(each)
    numbered: dict[_Node, int] = {}
    pending: list[_Node | None] = [None]
    while pending:
        node = pending.pop()
        for each in of_state[None if node is None else node[0]]:
            for moves in (False, True) if each.is_step and node is not None and node[1] == _BEFORE else (False,):
                target = each.after(node, moves)
                if target is not None and target not in numbered:
                    numbered[target] = len(numbered)
                    pending.append(target)
        if len(numbered) > MOST_COUPLINGS:
            return None
    return numbered


@dataclass(frozen=True, slots=True)
class _Coupled:
    """The couplings for one difference of the record."""

    machine: FoldMachine
    endings: Sequence[_CoupledEnding]
    nodes: Mapping[_Node, int]
    difference: int

    def edges(self) -> Iterator[tuple[_CoupledEnding, _Node | None, int, _Node | None]]:
        """Yield each ending with each coupling that it starts from, a difference, and the coupling that follows."""
        of_state: dict[int | None, list[_Node | None]] = {None: [None]}
        for place in self.nodes:
            of_state.setdefault(place[0], []).append(place)
        for each in self.endings:
            for node in of_state.get(each.state, []):
                if node is not None and node[1] == _BEFORE and not each.is_step:
                    continue  # where the data end, the record that differs has been read
                yield each, node, 0, each.after(node, False)
                if each.is_step and node is not None and node[1] == _BEFORE:
                    yield each, node, self.difference, each.after(node, True)

    def solved(self) -> CoupledCase | None:
        """Return the cheapest couplings, proved in fractions; None if there are none."""
        near = self._distances()
        if near is None:
            return None
        whole = any(each.is_discrete for each in self.endings)
        if whole:
            near = {node: tuple(Fraction(round(each)) for each in own) for node, own in near.items()}
        return self._at(near)

    def _distances(self) -> dict[_Node, tuple[Fraction, ...]] | None:
        """Return the distances of all couplings from a linear programme, rounded; they are only a suggestion."""
        programme = differences.FloatLinearProgram()
        total = programme.unknown()
        reals = range(self.machine.reals)
        known = {node: [programme.unknown(free=True) for _ in reals] for node in self.nodes}
        left = {node: programme.unknown() for node in self.nodes}
        scales = [draw.scale for each in self.endings for draw in each.draws if draw.law.provable_shifts]
        unit = min(scales, default=Fraction(1))  # so that the largest cost is 1
        for each, node, difference, target in self.edges():
            spend(10)
            shifted = programme.shifts(each.draws, unit)
            columns = dict(shifted.columns)
            for named, place in ((real_name, node), (_next_name, target)):
                if place is not None:
                    columns.update((named(number), {column: 1.0}) for number, column in enumerate(known[place]))
            for expressions, exactly in ((each.rows, False), (each.equalities, True)):
                for one in expressions:
                    row: dict[int, float] = defaultdict(float)
                    for name, number in one.terms.items():
                        for column, factor in columns.get(name, {}).items():
                            row[column] += factor * float(number)
                    programme.require(row, -float(one.terms.get(RECORD, 0) * difference), exactly=exactly)
            row = defaultdict(float, {column: -cost for column, cost in shifted.costs.items()})
            row[total if node is None else left[node]] += 1.0
            if target is not None:
                row[left[target]] -= 1.0
            programme.require(row, 0.0, exactly=False)
        solution = programme.minimise(total)
        if solution is None:
            return None
        return {
            node: tuple(Fraction(solution[column]).limit_denominator(_DENOMINATOR) for column in columns)
            for node, columns in known.items()
        }

    def _at(self, distances: Mapping[_Node, tuple[Fraction, ...]]) -> CoupledCase | None:
        """Return the couplings with these distances, with the cheapest shifts in fractions; None if there are none."""
        zero = (Fraction(0),) * self.machine.reals
        couplings: list[tuple[_CoupledEnding, _Node | None, _Node | None, alignment.Shift]] = []
        for each, node, difference, target in self.edges():
            before = zero if node is None else distances[node]
            shift = each.shift(difference, before, zero if target is None else distances[target])
            if shift is None:
                return None
            couplings.append((each, node, target, shift))
        allowances = self._allowances(couplings)
        if allowances is None:
            return None
        steps: dict[tuple[int, int], list[CouplingStep]] = defaultdict(list)
        for each, node, target, shift in couplings:
            numbers = [None if place is None else self.nodes[place] for place in (node, target)]
            steps[each.part, each.place].append(CouplingStep(numbers[0], int(shift.difference[0]), shift, numbers[1]))
        return CoupledCase(
            tuple(Coupling(node[0], node[1] != _BEFORE, distances[node], allowances[node]) for node in self.nodes),
            tuple(
                tuple(tuple(steps[number, place]) for place in range(len(part.endings)))
                for number, part in enumerate(self.machine.parts)
            ),
            max(
                (
                    shift.cost + (allowances[target] if target else 0)
                    for _, node, target, shift in couplings
                    if node is None
                ),
                default=Fraction(0),
            ),
        )

    def _allowances(
        self, couplings: Sequence[tuple[_CoupledEnding, _Node | None, _Node | None, alignment.Shift]]
    ) -> dict[_Node, Fraction] | None:
        """Return the length of the longest path from each coupling; None if a cycle costs something."""
        steps = dict.fromkeys((node, target, shift.cost) for _, node, target, shift in couplings if node is not None)
        longest = dict.fromkeys(self.nodes, Fraction(0))
        for _ in range(len(longest) + 1):
            risen = False
            for node, target, cost in reversed(steps):
                reached = cost + (longest[target] if target is not None else 0)
                if reached > longest[node]:
                    longest[node], risen = reached, True
            if not risen:
                return longest
        return None


# --- How much privacy can a fold lose that returns the number of one record, as noisy max does, however long its data
# are?
#
# Every output k has a proof of its own. Up to record k the two runs may take different branches, if their states stay
# near each other; at k the noise is shifted, so far that the second run takes this record as well and is ahead of the
# first; and from then on no record can win in the second run that loses in the first. Which relations of the two states
# last is found by trying: all candidates are assumed, and those that a pair of paths breaks are dropped until none is
# (Flanagan & Leino 2001, "Houdini"). The cost is that of one shift. ``verified/on_paper.md`` has the proof.

MOST_STATES = 20
_MOST_SHIFTS = 400  # of the winner's draws that are tried
_NOTHING = ("none",)
_DIFFERENCE = "q0"

Relations = tuple[tuple[Affine, ...], ...]
"""For each state, expressions over both runs' real numbers that are ≥ 0."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two paths that the two runs may take at the same record."""

    first: int  # the node of the first run's leaf
    second: int  # that of the second run's leaf
    never: Farkas | None  # why they cannot, or None
    rows: tuple[Farkas, ...] = ()  # if they can, why each relation of the next state holds


@dataclass(frozen=True, slots=True)
class SelectionCase:
    """One range of the differences."""

    before: Relations  # what holds up to the winner
    after: Relations  # what holds from then on
    # for each state, those of the winner's draws, by the node of its leaf
    shifts: tuple[Mapping[int, tuple[Fraction, ...]], ...]
    # for each state, the pairs of paths before, at and after the winner
    pairs: tuple[Mapping[str, tuple[Pair, ...]], ...]
    cost: Fraction  # of the dearest shift, in nats


@dataclass(frozen=True, slots=True)
class FoldSelection:
    """A fold whose output is the number of a record, proved."""

    winner: int  # the real number of the state that says which record was chosen last
    place: int  # the real number that counts records
    cases: tuple[SelectionCase, ...]  # one for each range of the differences

    @property
    def cost(self) -> Fraction:
        """The largest cost, in nats."""
        return max(case.cost for case in self.cases)


def select_fold(machine: FoldMachine, relation: Relation) -> FoldSelection | None:
    """Return a proof for a fold that selects a record, or None if it is no such fold or there is no proof."""
    if machine.emits or len(machine.states) > MOST_STATES or machine.reals < 2:
        return None
    for winner, place in itertools.permutations(range(machine.reals), 2):
        if not _selects(machine, winner, place):
            continue
        group = relation.group
        starts = range(-group, 1) if relation.movement == "monotone" else (-group,)
        width = group if relation.movement == "monotone" else 2 * group
        cases: list[SelectionCase] = []
        for low in starts:
            case = _RangeSearch(machine, winner, place, low, low + width).solved()
            if case is None:
                return None
            cases.append(case)
        return FoldSelection(winner, place, tuple(cases))
    return None


def _live(machine: FoldMachine, state: int) -> list[Ending]:
    return [each for each in machine.states[state].step.endings if not each.leaf.is_null]


def _selects(machine: FoldMachine, winner: int, place: int) -> bool:
    """Whether one real number counts records, and another says at which of them a leaf was marked last."""
    start = machine.start.endings
    if len(start) != 1 or start[0].leaf.draws or start[0].leaf.output != _NOTHING or start[0].next is None:
        return False
    counted = Affine({real_name(place): 1}, 1)
    kept, taken = Affine.variable(real_name(winner)), Affine.variable(real_name(place))
    for number, state in enumerate(machine.states):
        leaves = _live(machine, number)
        if not leaves or state.end is None or len(state.end.endings) != 1 or state.end.endings[0].leaf.draws:
            return False
        if any(set(one.terms) - {real_name(winner)} for one in state.end.endings[0].leaf.released):
            return False
        for each in leaves:
            if each.next is None or each.leaf.output != _NOTHING or each.leaf.draws != leaves[0].leaf.draws:
                return False
            if each.reals[place] != counted or each.reals[winner] not in (kept, taken):
                return False
    return all(each.reals[winner] == taken for each in _live(machine, start[0].next))


@dataclass(frozen=True, slots=True)
class _RangeSearch:
    """The search for one range of the differences."""

    machine: FoldMachine
    winner: int
    place: int
    low: int
    high: int

    def solved(self) -> SelectionCase | None:
        """Return the cheapest proof, or None."""
        states = range(len(self.machine.states))
        start = self.machine.start.endings[0]
        assert start.next is not None, "a selection goes on after its start"
        # at the start both runs have the same constants
        known = self._candidates()
        same = {name: real.constant for k, real in enumerate(start.reals) for name in (real_name(k), self._other(k))}
        known[start.next] = [row for row in known[start.next] if row.at(same) >= 0]
        before = self._lasting(known, [], [(k, a, b) for k in states for a in _live(self.machine, k)
                                           for b in _live(self.machine, k)], None)  # fmt: skip
        if before is None:
            return None
        for shifts in self._shifts():
            after = self._after(before, shifts)
            if after is not None:
                return self._written(before, after, shifts)
        return None

    def marked(self, ending: Ending) -> bool:
        """Whether an ending makes its record the winner."""
        return ending.reals[self.winner] == Affine.variable(real_name(self.place))

    def _other(self, number: int) -> str:
        """The variable of a real number in the second run."""
        return real_name(number + self.machine.reals)

    def _units(self) -> list[Fraction]:
        """How far a record that moves by 1 moves what it is compared with, in units of a draw."""
        units = {Fraction(1)}
        for number in range(len(self.machine.states)):
            for each in _live(self.machine, number):
                for one in [*each.reals, *(condition.expression for condition in each.leaf.conditions)]:
                    step = abs(Fraction(one.terms.get(RECORD, 0)))
                    units |= {step / abs(Fraction(f)) for n, f in one.terms.items() if step and n.startswith("h")}
                    units |= {step} if step else set()
        return sorted(units)[:4]

    def _candidates(self) -> list[list[Affine]]:
        """Return for each state the relations that may last: limits of the distances of its real numbers."""
        limits = sorted({side * unit for unit in self._units() for side in (self.low, 0, self.high)})
        relations = []
        for held in self.machine.held:
            rows = []
            for number in sorted(held - {self.winner, self.place}):
                apart = Affine.variable(self._other(number)) - Affine.variable(real_name(number))
                rows += [Affine({}, limit) - apart for limit in limits] + [
                    apart - Affine({}, limit) for limit in limits
                ]
            relations.append(rows)
        return relations

    def _shifts(self) -> Iterator[list[dict[int, tuple[Fraction, ...]]]]:
        """Yield shifts of the winner's draws, the same in all states, by their cost."""
        drawn = {each.leaf.draws for k in range(len(self.machine.states)) for each in _live(self.machine, k)}
        if len(drawn) != 1:
            return
        (draws,) = drawn
        sizes = sorted({unit * k for unit in self._units() for k in range(2 * (self.high - self.low) + 1)})
        options = [
            [
                sign * size
                for size in sizes
                for sign in draw.law.provable_shifts
                if not draw.is_discrete or size.denominator == 1
            ]
            or [Fraction(0)]
            for draw in draws
        ]
        tried = itertools.islice(itertools.product(*options), 20_000)
        for shift in sorted(set(tried), key=lambda shift: _cost(shift, draws))[:_MOST_SHIFTS]:
            yield [
                {each.leaf.node: shift for each in _live(self.machine, k) if self.marked(each)}
                for k in range(len(self.machine.states))
            ]

    def _together(
        self, first: Ending, second: Ending, held: Sequence[Affine], shift: Sequence[Fraction] | None
    ) -> list[Constraint]:
        """Return all that is known where the first run takes one path, and the second another."""
        known = [Constraint(row, ">=") for row in held]
        known += first.leaf.conditions
        known += [Constraint(self._second(each.expression, shift), each.sign) for each in second.leaf.conditions]
        difference = Affine.variable(_DIFFERENCE)
        known += [
            Constraint(difference - Affine({}, self.low), ">="),
            Constraint(Affine({}, self.high) - difference, ">="),
        ]
        return known + supports(first.leaf.draws)

    def _second(self, given: Affine, shift: Sequence[Fraction] | None) -> Affine:
        """Return an expression of the second run, in the terms of the first."""
        total = Affine({}, given.constant)
        for name, factor in given.terms.items():
            if name.startswith("s"):
                name = self._other(int(name[1:]))
            total = total + Affine({name: factor})
            if name == RECORD:
                total = total + Affine({_DIFFERENCE: factor})
            elif name.startswith("h") and shift is not None:
                total = total + Affine({}, factor * shift[int(name[1:])])
        return total

    def _then(self, row: Affine, first: Ending, second: Ending, shift: Sequence[Fraction] | None) -> Affine:
        """Return a row of a relation after both runs took their paths."""
        total = Affine({}, row.constant)
        for name, factor in row.terms.items():
            number = int(name[1:])
            own = number < self.machine.reals
            new = first.reals[number] if own else self._second(second.reals[number - self.machine.reals], shift)
            total = total + new.times(factor)
        return total

    def _why(
        self, known: Sequence[Constraint], draws: Sequence[NoiseDraw], then: Affine | None = None
    ) -> Farkas | None:
        """Return why what is known cannot be, or why an expression is ≥ 0 then; None if neither."""
        spend(10)
        contrary = [] if then is None else [Constraint(-then, ">")]
        return contradiction([*known, *contrary], continuous_names(draws))

    def _lasting(
        self,
        rows: list[list[Affine]],
        entering: Sequence[tuple[Sequence[Affine], Ending, Ending, Sequence[Fraction]]],
        pairs: Sequence[tuple[int, Ending, Ending]],
        no_second: bool | None,
    ) -> Relations | None:
        """Return those of the relations that last; None if the two runs may part."""
        kept = [list(own) for own in rows]
        for held, first, second, shift in entering:
            assert first.next is not None, "steps of a selection go on"
            known = self._together(first, second, held, shift)
            kept[first.next] = [
                row
                for row in kept[first.next]
                if self._why(known, first.leaf.draws, self._then(row, first, second, shift)) is not None
            ]
        risen = True
        while risen:
            risen = False
            for state, first, second in pairs:
                known = self._together(first, second, kept[state], None)
                if self._why(known, first.leaf.draws) is not None:
                    continue
                if first.next != second.next or (no_second and self.marked(second)):
                    return None
                assert first.next is not None, "steps of a selection go on"
                own = kept[first.next]
                stay = [
                    row
                    for row in own
                    if self._why(known, first.leaf.draws, self._then(row, first, second, None)) is not None
                ]
                if len(stay) < len(own):
                    kept[first.next], risen = stay, True
        return tuple(map(tuple, kept))

    def _after(self, before: Relations, shifts: Sequence[Mapping[int, tuple[Fraction, ...]]]) -> Relations | None:
        """Return what holds after the winner with these shifts; None if the second run may have another winner."""
        entering = []
        pairs = []
        for state in range(len(self.machine.states)):
            leaves = _live(self.machine, state)
            for first, second in itertools.product(leaves, leaves):
                if not self.marked(first):
                    pairs.append((state, first, second))
                    continue
                shift = shifts[state][first.leaf.node]
                if first is second:
                    entering.append((before[state], first, second, shift))
                elif self._why(self._together(first, second, before[state], shift), first.leaf.draws) is None:
                    return None
        return self._lasting(self._candidates(), entering, pairs, True)

    def _written(
        self, before: Relations, after: Relations, shifts: Sequence[Mapping[int, tuple[Fraction, ...]]]
    ) -> SelectionCase:
        """Return the case with the reasons for all of it."""
        reasons_by_state: list[dict[str, tuple[Pair, ...]]] = []
        for state in range(len(self.machine.states)):
            own: dict[str, list[Pair]] = {"before": [], "at": [], "after": []}
            leaves = _live(self.machine, state)
            for first, second in itertools.product(leaves, leaves):
                own["before"].append(self._pair(first, second, before[state], before, None))
                if self.marked(first):
                    shift = shifts[state][first.leaf.node]
                    own["at"].append(self._pair(first, second, before[state], after, shift))
                else:
                    own["after"].append(self._pair(first, second, after[state], after, None))
            reasons_by_state.append({phase: tuple(pairs) for phase, pairs in own.items()})
        draws = _live(self.machine, 0)[0].leaf.draws
        cost = max(_cost(shift, draws) for own in shifts for shift in own.values())
        return SelectionCase(before, after, tuple(shifts), tuple(reasons_by_state), cost)

    def _pair(
        self, first: Ending, second: Ending, held: Sequence[Affine], then: Relations, shift: Sequence[Fraction] | None
    ) -> Pair:
        known = self._together(first, second, held, shift)
        draws = first.leaf.draws
        nodes = first.leaf.node, second.leaf.node
        never = self._why(known, draws)
        if never is not None:
            return Pair(*nodes, never)
        assert first.next is not None, "steps of a selection go on"
        reasons = [self._why(known, draws, self._then(row, first, second, shift)) for row in then[first.next]]
        assert all(reason is not None for reason in reasons), "the relations that were found do not last"
        return Pair(*nodes, None, tuple(reason for reason in reasons if reason is not None))


def _cost(shift: Sequence[Fraction], draws: Sequence[NoiseDraw]) -> Fraction:
    return sum((abs(size) / draw.scale for size, draw in zip(shift, draws, strict=True)), Fraction(0))
