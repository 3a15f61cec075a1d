"""How much privacy can a fold lose where the one record that differs changes the distances of the state?

A running sum is as far apart on both sides as the records read so far, so its distance is not the same before and after
the record that differs. `dpaudit.verify.induction` knows one distance for all; here every state has one before that
record, one for each state in which it was read, as long as the fold has not come back to an earlier state, and one from
then on. So the sum of a block has the distance 1 until its end, and 0 in the blocks that follow. Distances, allowances
and shifts solve one linear programme for each sign of the difference; ``docs/certificate.md`` has the proof.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.fold_machine import RECORD, Ending, FoldMachine, real_name
from dpaudit.program.symbolic.linear import Affine, Rational, spend
from dpaudit.verify.differences import is_summed
from dpaudit.verify.linear_programme import FloatLinearProgram
from dpaudit.verify.shifts import Shift, Shifter

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
class Step:
    """How the two runs go on along one ending: from a coupling to another (None at the start and at the end)."""

    source: int | None
    difference: int
    shift: Shift
    target: int | None


@dataclass(frozen=True, slots=True)
class CoupledCase:
    """One sign of the difference, with the couplings that cover it."""

    couplings: tuple[Coupling, ...]  # all of them
    steps: tuple[tuple[tuple[Step, ...], ...], ...]  # for each ending of each part, in the order of `FoldMachine.parts`
    cost: Fraction  # the largest cost of a run, in nats


def couple_fold(machine: FoldMachine, relation: Relation) -> tuple[CoupledCase, CoupledCase] | None:
    """Return couplings for both signs of the difference, or None if there are none of this kind."""
    if not is_summed(relation) or not machine.reals:
        return None
    endings = list(_placed(machine))
    if relation.group > 1 and any(each.is_discrete for each in endings):
        return None
    nodes = _reached(endings)
    if nodes is None:
        return None
    found: list[CoupledCase] = []
    for sign in (-1, 1):
        case = _Coupled(machine, endings, nodes, sign * relation.group).solved()
        if case is None:
            return None
        found.append(case)
    return found[0], found[1]


def held_reals(machine: FoldMachine, ending: Ending) -> tuple[Affine, ...]:
    """Return the real numbers that an ending leads to; one that the next state does not have is 0."""
    if ending.next is None:
        return ()
    held = machine.held[ending.next]
    return tuple(real if number in held else Affine() for number, real in enumerate(ending.reals))


def _placed(machine: FoldMachine) -> Iterator[_Ending]:
    """Yield each ending that is not null."""
    kinds: list[tuple[int | None, bool]] = [(None, False)]
    for number, state in enumerate(machine.states):
        kinds += [(number, True)] if state.end is None else [(number, True), (number, False)]
    for part, (found, (begins, is_step)) in enumerate(zip(machine.parts, kinds, strict=True)):
        for place, each in enumerate(found.endings):
            if not each.leaf.is_null:
                yield _Ending(machine, each, begins, is_step, part, place)


class _Ending:
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
        self._shifter = Shifter(self.rows, self.equalities, leaf.draws, variables)
        self._known: dict[tuple[Rational, ...], Shift | None] = {}

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

    def shift(self, difference: int, before: Sequence[Fraction], after: Sequence[Fraction]) -> Shift | None:
        """Return the cheapest shift between two couplings, or None if there is none."""
        at: tuple[Rational, ...] = (difference, *before, *after)
        if at not in self._known:
            spend(10)
            self._known[at] = self._shifter.cheapest(at)
        return self._known[at]


def _next_name(number: int) -> str:
    return f"t{number}"


def _reached(endings: Sequence[_Ending]) -> dict[_Node, int] | None:
    """Return the couplings that runs may come to, numbered; None if there are too many."""
    of_state: dict[int | None, list[_Ending]] = defaultdict(list)
    for each in endings:
        of_state[each.state].append(each)
    found: dict[_Node, int] = {}
    pending: list[_Node | None] = [None]
    while pending:
        node = pending.pop()
        for each in of_state[None if node is None else node[0]]:
            for moves in (False, True) if each.is_step and node is not None and node[1] == _BEFORE else (False,):
                target = each.after(node, moves)
                if target is not None and target not in found:
                    found[target] = len(found)
                    pending.append(target)
        if len(found) > MOST_COUPLINGS:
            return None
    return found


@dataclass(frozen=True, slots=True)
class _Coupled:
    """The couplings for one difference of the record."""

    machine: FoldMachine
    endings: Sequence[_Ending]
    nodes: Mapping[_Node, int]
    difference: int

    def edges(self) -> Iterator[tuple[_Ending, _Node | None, int, _Node | None]]:
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
        programme = FloatLinearProgram()
        total = programme.unknown()
        reals = range(self.machine.reals)
        known = {node: [programme.unknown(free=True) for _ in reals] for node in self.nodes}
        left = {node: programme.unknown() for node in self.nodes}
        scales = [draw.scale for each in self.endings for draw in each.draws if draw.law.shifts]
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
        found: list[tuple[_Ending, _Node | None, _Node | None, Shift]] = []
        for each, node, difference, target in self.edges():
            before = zero if node is None else distances[node]
            shift = each.shift(difference, before, zero if target is None else distances[target])
            if shift is None:
                return None
            found.append((each, node, target, shift))
        allowances = self._allowances(found)
        if allowances is None:
            return None
        steps: dict[tuple[int, int], list[Step]] = defaultdict(list)
        for each, node, target, shift in found:
            numbers = [None if place is None else self.nodes[place] for place in (node, target)]
            steps[each.part, each.place].append(Step(numbers[0], int(shift.difference[0]), shift, numbers[1]))
        return CoupledCase(
            tuple(Coupling(node[0], node[1] != _BEFORE, distances[node], allowances[node]) for node in self.nodes),
            tuple(
                tuple(tuple(steps[number, place]) for place in range(len(part.endings)))
                for number, part in enumerate(self.machine.parts)
            ),
            max(
                (
                    shift.cost + (allowances[target] if target else 0)
                    for _, node, target, shift in found
                    if node is None
                ),
                default=Fraction(0),
            ),
        )

    def _allowances(
        self, found: Sequence[tuple[_Ending, _Node | None, _Node | None, Shift]]
    ) -> dict[_Node, Fraction] | None:
        """Return the length of the longest path from each coupling; None if a cycle costs something."""
        steps = dict.fromkeys((node, target, shift.cost) for _, node, target, shift in found if node is not None)
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
