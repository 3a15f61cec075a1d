"""How much privacy can a fold lose that returns the number of one record, as noisy max does, however long its data are?

Every output k has a proof of its own. Up to record k the two runs may take different branches, if their states stay
near each other; at k the noise is shifted, so far that the second run takes this record as well and is ahead of the
first; and from then on no record can win in the second run that loses in the first. Which relations of the two states
last is found by trying: all candidates are assumed, and those that a pair of paths breaks are dropped until none is
(Flanagan & Leino 2001, "Houdini"). The cost is that of one shift. ``docs/certificate.md`` has the proof.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.fold_machine import RECORD, Ending, FoldMachine, real_name
from dpaudit.program.symbolic.linear import Affine, Constraint, Farkas, contradiction, spend
from dpaudit.program.symbolic.tree import NoiseDraw, continuous_names, supports

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
class Selection:
    """A fold whose output is the number of a record, proved."""

    winner: int  # the real number of the state that says which record was chosen last
    place: int  # the real number that counts records
    cases: tuple[SelectionCase, ...]  # one for each range of the differences

    @property
    def cost(self) -> Fraction:
        """The largest cost, in nats."""
        return max(case.cost for case in self.cases)


def select_fold(machine: FoldMachine, relation: Relation) -> Selection | None:
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
            case = _Search(machine, winner, place, low, low + width).solved()
            if case is None:
                return None
            cases.append(case)
        return Selection(winner, place, tuple(cases))
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
class _Search:
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
        found = {Fraction(1)}
        for number in range(len(self.machine.states)):
            for each in _live(self.machine, number):
                for one in [*each.reals, *(condition.expression for condition in each.leaf.conditions)]:
                    step = abs(Fraction(one.terms.get(RECORD, 0)))
                    found |= {step / abs(Fraction(f)) for n, f in one.terms.items() if step and n.startswith("h")}
                    found |= {step} if step else set()
        return sorted(found)[:4]

    def _candidates(self) -> list[list[Affine]]:
        """Return for each state the relations that may last: limits of the distances of its real numbers."""
        limits = sorted({side * unit for unit in self._units() for side in (self.low, 0, self.high)})
        found = []
        for held in self.machine.held:
            rows = []
            for number in sorted(held - {self.winner, self.place}):
                apart = Affine.variable(self._other(number)) - Affine.variable(real_name(number))
                rows += [Affine({}, limit) - apart for limit in limits] + [
                    apart - Affine({}, limit) for limit in limits
                ]
            found.append(rows)
        return found

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
                for sign in draw.law.shifts or ()
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
        found: list[dict[str, tuple[Pair, ...]]] = []
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
            found.append({phase: tuple(pairs) for phase, pairs in own.items()})
        draws = _live(self.machine, 0)[0].leaf.draws
        cost = max(_cost(shift, draws) for own in shifts for shift in own.values())
        return SelectionCase(before, after, tuple(shifts), tuple(found), cost)

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
