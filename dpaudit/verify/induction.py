"""How much privacy can a fold lose at most, however long its data are? Proof by induction over its steps.

The run on one dataset is compared with a run on its neighbour, whose draws are shifted so that it takes the same
branches and releases the same. Between two records the real numbers of the two states are a constant *distance* apart.
Given the distances, each path through one step has its own cheapest shift, and no run costs more than the longest path
through the states (randomness alignment: Wang, Ding, Kifer & Zhang 2020). The distances are computed, not guessed: all
costs are linear in them and the shifts together. If a cycle costs something there is no longest path, and so no bound
of this kind. ``docs/certificate.md`` has the proof.

The bound holds for data of every length, for the relation and the parameters that were read. It need not be tight.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.fold_machine import RECORD, Ending, FoldMachine, Part, real_name
from dpaudit.program.symbolic.linear import Affine, Rational
from dpaudit.verify.differences import Direction, direction
from dpaudit.verify.linear_programme import FloatLinearProgram
from dpaudit.verify.shifts import Shift, Shifter

_DENOMINATOR = 10_000  # distances are rounded to fractions at most this fine
_AROUND, _MOST_WHOLE = 2, 200  # integer distances that are tried: how far from the solution, and how many


@dataclass(frozen=True, slots=True)
class InductionCase:
    """One range of the differences, with the induction that covers it."""

    low: int  # the smallest difference of a record
    high: int  # the largest difference of a record
    distances: tuple[Fraction, ...]  # of each real number of the state, s' − s
    # what a run may still cost, from each state on; if only one record differs, two numbers: before that record
    # and after it
    allowances: tuple[tuple[Fraction, ...], ...]
    # for each ending of each part, in the order of `FoldMachine.parts`
    shifts: tuple[tuple[tuple[Shift, ...], ...], ...]
    cost: Fraction  # the largest cost of a run, in nats


def align_fold(machine: FoldMachine, relation: Relation) -> tuple[InductionCase, ...] | None:
    """Return the cheapest induction for each range of the differences, or None if some range has none."""
    if relation.kind != "queries" or relation.movement == "norm=2":
        raise UsageError(
            f"there are no proofs by alignment under the relation {str(relation)!r}; say which answers move by "
            "relation='queries', 'queries(one)', 'queries(monotone)' or 'queries(norm=1)'"
        )
    summed = relation.movement in ("one", "norm=1")
    group = relation.group
    moves = [_Moves(each, machine) for each in _placed(machine)]
    if summed and group > 1 and any(each.is_discrete for each in moves):
        raise UsageError(f"a fold that draws whole numbers is proved for one step of {relation.movement!r} only")
    starts = range(-group, 1) if relation.movement == "monotone" else (-group,)
    width = group if relation.movement == "monotone" else 2 * group
    cases: list[InductionCase] = []
    for low in starts:
        induction = _Induction(machine, moves, low, low + width, summed)
        found = [induction.at(distances) for distances in induction.candidates()]
        finite = [case for case in found if case is not None]
        if not finite:
            return None
        cases.append(min(finite, key=lambda case: case.cost))
    return tuple(cases)


@dataclass(frozen=True, slots=True)
class _Placed:
    """An ending, with the state that it starts from (None at the beginning), and whether it reads a record."""

    ending: Ending
    state: int | None
    is_step: bool
    part: int  # its number among the parts
    place: int  # its number in the part


def _placed(machine: FoldMachine) -> Iterator[_Placed]:
    parts: list[tuple[Part, int | None, bool]] = [(machine.start, None, False)]
    for number, state in enumerate(machine.states):
        parts.append((state.step, number, True))
        if state.end is not None:
            parts.append((state.end, number, False))
    for number, (part, source, is_step) in enumerate(parts):
        for place, ending in enumerate(part.endings):
            if not ending.leaf.is_null:
                yield _Placed(ending, source, is_step, number, place)


class _Moves:
    """How one ending is aligned: what its shifts must keep, and for which differences."""

    def __init__(self, placed: _Placed, machine: FoldMachine) -> None:
        leaf = placed.ending.leaf
        self.placed = placed
        self.variables = [RECORD, *map(real_name, range(machine.reals))]
        self.draws = leaf.draws
        self.rows = [each.expression for each in leaf.conditions if each.sign != "="]
        # the new real number must have the same distance as the old one
        kept = [real - Affine.variable(real_name(k)) for k, real in enumerate(placed.ending.reals)]
        own = [each.expression for each in leaf.conditions if each.sign == "="] + list(leaf.released)
        self.equalities = own + kept
        self.direction = direction(RECORD, self.rows, self.equalities)
        self.is_discrete = any(draw.is_discrete for draw in leaf.draws)
        self._shifter = Shifter(self.rows, self.equalities, leaf.draws, self.variables)
        self._known: dict[tuple[Rational, ...], Shift | None] = {}

    def differences(self, low: int, high: int, summed: bool) -> list[int]:
        """Return the worst differences of the record."""
        if not self.placed.is_step:
            return [0]
        if self.is_discrete and self.direction is Direction.BOTH:
            ends = list(range(low, high + 1))
        else:
            ends = {Direction.LOW: [low], Direction.HIGH: [high], Direction.BOTH: [low, high]}[self.direction]
        return sorted({0, *ends} if summed else set(ends))

    def shift(self, difference: int, distances: Sequence[Rational]) -> Shift | None:
        """Return the cheapest shift, or None if there is none."""
        at = (difference, *distances)
        if at not in self._known:
            self._known[at] = self._shifter.cheapest(at)
        return self._known[at]


@dataclass(frozen=True, slots=True)
class _Induction:
    """The induction over one range of the differences."""

    machine: FoldMachine
    moves: Sequence[_Moves]
    low: int
    high: int
    summed: bool

    def phases(self, each: _Moves, difference: int) -> list[tuple[int, int]]:
        """Return the transitions between phases: 0 before the one record that differs, 1 after it."""
        if not self.summed or not each.placed.is_step:
            return [(0, 0)] if not self.summed or each.placed.state is None else [(0, 0), (1, 1)]
        return [(0, 1)] if difference else [(0, 0), (1, 1)]

    def candidates(self) -> list[tuple[Fraction, ...]]:
        """Return distances that may be the cheapest: the solution of a linear programme, rounded.

        The unknowns are the distances, the allowances, and a shift for every ending and difference. The solution is
        only a suggestion: `at` proves the cost of the distances.
        """
        reals = self.machine.reals
        if not reals:
            return [()]
        programme = FloatLinearProgram()
        total = programme.unknown()
        known = {real_name(k): programme.unknown(free=True) for k in range(reals)}
        phases = range(2 if self.summed else 1)
        left = {(state, phase): programme.unknown() for state in range(len(self.machine.states)) for phase in phases}
        scales = [draw.scale for each in self.moves for draw in each.draws if draw.law.shifts]
        unit = min(scales, default=Fraction(1))  # so that the largest cost is 1
        for each in self.moves:
            source, follows = each.placed.state, each.placed.ending.next
            for difference in each.differences(self.low, self.high, self.summed):
                shifted = programme.shifts(each.draws, unit)
                columns = {**{name: {column: 1.0} for name, column in known.items()}, **shifted.columns}
                for linear, exactly in [(r, False) for r in each.rows] + [(e, True) for e in each.equalities]:
                    side = -float(linear.terms.get(RECORD, 0) * difference)
                    programme.require(_row(linear, columns), side, exactly=exactly)
                for before, after in self.phases(each, difference):
                    row = defaultdict(float, {column: -cost for column, cost in shifted.costs.items()})
                    row[total if source is None else left[source, before]] += 1.0
                    if follows is not None:
                        row[left[follows, after]] -= 1.0
                    programme.require(row, 0.0, exactly=False)
        solution = programme.minimise(total)
        if solution is None:
            return []
        near = [Fraction(solution[column]).limit_denominator(_DENOMINATOR) for column in known.values()]
        if not any(each.is_discrete for each in self.moves):
            return [tuple(near)]
        # discrete draws can keep integer distances only, and perhaps not all of them
        around = [range(math.floor(number) - _AROUND, math.ceil(number) + _AROUND + 1) for number in near]
        whole = [tuple(map(Fraction, found)) for found in itertools.islice(itertools.product(*around), _MOST_WHOLE)]
        return list(dict.fromkeys([tuple(near), *whole]))

    def at(self, distances: tuple[Fraction, ...]) -> InductionCase | None:
        """Return the cheapest induction with these distances, in fractions; None if there is none."""
        edges: list[tuple[_Moves, int, Shift]] = []
        for each in self.moves:
            for difference in each.differences(self.low, self.high, self.summed):
                shift = each.shift(difference, distances)
                if shift is None:
                    return None
                edges.append((each, difference, shift))
        allowances = self._allowances(edges)
        if allowances is None:
            return None
        cost = max(
            (
                shift.cost + _left(allowances, each.placed.ending.next, 0)
                for each, _, shift in edges
                if each.placed.state is None
            ),
            default=Fraction(0),
        )
        found: dict[tuple[int, int], list[Shift]] = {}
        for each, _, shift in edges:
            found.setdefault((each.placed.part, each.placed.place), []).append(shift)
        shifts = tuple(
            tuple(tuple(found.get((number, place), ())) for place in range(len(part.endings)))
            for number, part in enumerate(self.machine.parts)
        )
        return InductionCase(self.low, self.high, distances, allowances, shifts, cost)

    def _allowances(self, edges: Sequence[tuple[_Moves, int, Shift]]) -> tuple[tuple[Fraction, ...], ...] | None:
        """Return the length of the longest path from each state; None if a cycle costs something."""
        width = 2 if self.summed else 1
        nodes = [(state, phase) for state in range(len(self.machine.states)) for phase in range(width)]
        steps = dict.fromkeys(
            ((each.placed.state, before), each.placed.ending.next, after, shift.cost)
            for each, difference, shift in edges
            if each.placed.state is not None
            for before, after in self.phases(each, difference)
        )
        longest = dict.fromkeys(nodes, Fraction(0))
        for _ in range(len(nodes) + 1):
            risen = False
            for node, follows, after, cost in reversed(steps):
                reached = cost + (longest[follows, after] if follows is not None else 0)
                if reached > longest[node]:
                    longest[node], risen = reached, True
            if not risen:
                return tuple(
                    tuple(longest[state, phase] for phase in range(width)) for state in range(len(self.machine.states))
                )
        return None


def _row(linear: Affine, columns: Mapping[str, Mapping[int, float]]) -> dict[int, float]:
    """Return a row over the unknowns; every variable except the record is a sum of unknowns."""
    row: dict[int, float] = defaultdict(float)
    for name, number in linear.terms.items():
        for column, factor in columns.get(name, {}).items():
            row[column] += factor * float(number)
    return row


def _left(allowances: Sequence[Sequence[Fraction]], state: int | None, phase: int) -> Fraction:
    return Fraction(0) if state is None else allowances[state][phase]
