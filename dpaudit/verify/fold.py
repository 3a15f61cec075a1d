"""Is this program, or this fold, private for all data? From a mechanism to a bound with its certificate.

A fold is read symbolically in all its states, its steps are aligned by induction, and concrete runs over data of
several lengths are compared with what was read. The bound holds for any number of answers, for one relation, the given
parameters and exact arithmetic.

Any other program is read symbolically, its classes are aligned, and concrete runs are compared with what was read. The
bound holds for its scope only: one length, one relation, the given parameters, exact arithmetic.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import Relation, parse_relation
from dpaudit.program.agreement import Agreement, ComparedRuns, compare_at_random, compare_regions
from dpaudit.program.fold import Fold
from dpaudit.program.symbolic.fold_machine import RECORD, Ending, FoldMachine, FoldPart, Unrolled, read_fold, real_name
from dpaudit.program.symbolic.linear import Affine, Rational, now
from dpaudit.program.symbolic.noise import queries, read
from dpaudit.program.symbolic.tree import ProgramTree
from dpaudit.reading.alone import Alone
from dpaudit.targets.mechanism import Mechanism, mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.alignment import AlignedClass, Alignment, Shift, Shifter, align
from dpaudit.verify.certificate import (
    FORMAT,
    VALUES,
    VERSION,
    BoundScope,
    as_text,
    farkas,
    linear,
    nodes_as_data,
    rational,
    tree_certificate,
)
from dpaudit.verify.couplings import CoupledCase, FoldSelection, SelectionCase, couple_fold, held_reals, select_fold
from dpaudit.verify.differences import Direction, FloatLinearProgram, direction
from dpaudit.verify.values import AnswerTree, align_values, branches_on_data

# --- Is this program private, for all data of one length? ------------------------------------------------

MOST_LENGTH = 1_000


@dataclass(frozen=True)
class AlignmentProof:
    """The result of alignment for a mechanism."""

    name: str  # of the mechanism
    source: str  # the digest of its source, or the empty text
    scope: BoundScope  # what the bound holds for
    tree: ProgramTree  # all paths of the program
    alignment: Alignment  # all classes with their shifts
    agreement: Agreement  # what concrete runs of the program showed
    # code that can run and was not read, in words; the bound is proved only if there is none
    open_ends: tuple[str, ...] = ()
    # the program as a tree of what branches on data compute, where the paths themselves have no bound
    values: AnswerTree | None = None

    @property
    def bound(self) -> Fraction | None:
        """ε in nats, or None if alignment gives no finite bound (which refutes nothing)."""
        return self.alignment.bound if self.values is None else self.values.alignment.bound

    @property
    def worst(self) -> AlignedClass:
        """The class that costs most, with its worst difference; a search for a counterexample starts here."""
        return self.alignment.worst

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """The proof as plain data for JSON, which `dpaudit.checker` can check; None without a finite bound."""
        if self.bound is None:
            return None
        assert self.scope.length != "any", "a tree has one length"
        return tree_certificate(
            self.tree,
            self.alignment,
            self.values,
            name=self.name,
            source=self.source,
            length=self.scope.length,
            answers=self.scope.values,
            relation=self.scope.relation,
            parameters=self.scope.parameters,
        )


def prove_program(
    target: Mechanism | Callable[..., Any],
    parameters: Mapping[str, Any] | None = None,
    *,
    length: int,
    relation: str | Relation | None = None,
    domain: str | None = None,
    runs: int = 100,
) -> AlignmentProof:
    """Bound the loss of a program for all answers of one length."""
    program = target if isinstance(target, Mechanism) else mechanism(target)
    if program.shape is not Shape.PROGRAM:
        raise UsageError(
            f"{program.name} is of the kind '{program.shape}': only a program, f(data, noise, **parameters), "
            "can be proved"
        )
    if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= MOST_LENGTH:
        raise UsageError(f"length is a whole number from 1 to {MOST_LENGTH:,}, not {length!r}")
    values = "real" if domain is None else domain
    if values not in VALUES:
        raise UsageError(f"domain is 'real' or 'integer', not {domain!r}")
    given = program.parameters_with(parameters)
    which = parse_relation(relation or program.relation_for(given) or "declared")
    if which.kind != "queries" or which.movement == "norm=2":
        raise UsageError(
            f"there are no proofs by alignment under the relation {str(which)!r}; say which answers move by "
            "relation='queries' (--relation queries: each by at most 1), 'queries(one)', 'queries(monotone)' or "
            "'queries(norm=1)'"
        )
    integer = values == "integer"
    now("reading it")
    alone, data = Alone(), queries(length, integer=integer)
    tree = read(alone.observed(program.function), data, given)
    live = [leaf for leaf in tree.leaves if not leaf.is_null]
    if all(leaf.output[0] == "exception" for leaf in live):
        raise UsageError(f"{program.name} raises in every run: {live[0].output[1]}")
    if not integer and any(draw.is_discrete for leaf in live for draw in leaf.draws):
        raise UsageError(
            f"{program.name} draws whole numbers, which hide nothing between real answers that differ by ½; "
            "give domain='integer' if the answers are whole numbers"
        )
    now("comparing runs with it")
    compared = ComparedRuns()
    compare_at_random(tree, program.function, given, length, compared, integer=integer, runs=runs)
    if runs and compared.disagreement is None:
        compare_regions(tree, program.function, data, given, compared)
    agreement = compared.agreement(len(live))
    if agreement.disagreement is not None:
        raise UsageError(f"{program.name} is read wrongly: {agreement.disagreement}; so nothing is proved of it")
    now("aligning its paths")
    scope = BoundScope(length, values, which, {name: as_text(value) for name, value in given.items()})
    digest = f"sha256:{program.digest}" if program.digest else ""
    open_ends = (*alone.open, *missed(agreement))
    derived = align_values(tree, which, length, integer=integer) if branches_on_data(tree) else None
    if derived is not None and derived.alignment.bound is None:
        derived = None
    alignment = align(tree, which, length, merging=derived is None)
    return AlignmentProof(program.name, digest, scope, tree, alignment, agreement, open_ends, derived)


def missed(agreement: Agreement) -> tuple[str, ...]:
    """Say how many paths no run could be compared with; nothing if there are none."""
    if not agreement.missed:
        return ()
    paths = "path" if agreement.missed == 1 else "paths"
    return (f"no run could be compared with {agreement.missed:,} {paths} of {agreement.paths:,}",)


# --- Is this fold private, for data of every length? -----------------------------------------------------

# --- How much privacy can a fold lose at most, however long its data are? Proof by induction over its steps. ---
#
# The run on one dataset is compared with a run on its neighbour, whose draws are shifted so that it takes the same
# branches and releases the same. Between two records the real numbers of the two states are a constant *distance*
# apart. Given the distances, each path through one step has its own cheapest shift, and no run costs more than the
# longest path through the states (randomness alignment: Wang, Ding, Kifer & Zhang 2020). The distances are computed,
# not guessed: all costs are linear in them and the shifts together. If a cycle costs something there is no longest
# path, and so no bound of this kind. ``verified/on_paper.md`` has the proof.
#
# The bound holds for data of every length, for the relation and the parameters that were read. It need not be tight.

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
            "relation='queries' (--relation queries: each by at most 1), 'queries(one)', 'queries(monotone)' or "
            "'queries(norm=1)'"
        )
    summed = relation.movement in ("one", "norm=1")
    group = relation.group
    moves = [_AlignedEnding(each, machine) for each in _placed(machine)]
    if summed and group > 1 and any(each.is_discrete for each in moves):
        raise UsageError(f"a fold that draws whole numbers is proved for one step of {relation.movement!r} only")
    starts = range(-group, 1) if relation.movement == "monotone" else (-group,)
    width = group if relation.movement == "monotone" else 2 * group
    cases: list[InductionCase] = []
    for low in starts:
        induction = _RangeInduction(machine, moves, low, low + width, summed)
        per_range = [induction.at(distances) for distances in induction.candidates()]
        finite = [case for case in per_range if case is not None]
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
    parts: list[tuple[FoldPart, int | None, bool]] = [(machine.start, None, False)]
    for number, state in enumerate(machine.states):
        parts.append((state.step, number, True))
        if state.end is not None:
            parts.append((state.end, number, False))
    for number, (part, source, is_step) in enumerate(parts):
        for place, ending in enumerate(part.endings):
            if not ending.leaf.is_null:
                yield _Placed(ending, source, is_step, number, place)


class _AlignedEnding:
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
class _RangeInduction:
    """The induction over one range of the differences."""

    machine: FoldMachine
    moves: Sequence[_AlignedEnding]
    low: int
    high: int
    summed: bool

    def phases(self, each: _AlignedEnding, difference: int) -> list[tuple[int, int]]:
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
        scales = [draw.scale for each in self.moves for draw in each.draws if draw.law.provable_shifts]
        unit = min(scales, default=Fraction(1))  # so that the largest cost is 1
        for each in self.moves:
            source, follows = each.placed.state, each.placed.ending.next
            for difference in each.differences(self.low, self.high, self.summed):
                shifted = programme.shifts(each.draws, unit)
                columns = {**{name: {column: 1.0} for name, column in known.items()}, **shifted.columns}
                for condition, exactly in [(r, False) for r in each.rows] + [(e, True) for e in each.equalities]:
                    side = -float(condition.terms.get(RECORD, 0) * difference)
                    programme.require(_row(condition, columns), side, exactly=exactly)
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
        whole = [
            tuple(map(Fraction, distances_near))
            for distances_near in itertools.islice(itertools.product(*around), _MOST_WHOLE)
        ]
        return list(dict.fromkeys([tuple(near), *whole]))

    def at(self, distances: tuple[Fraction, ...]) -> InductionCase | None:
        """Return the cheapest induction with these distances, in fractions; None if there is none."""
        edges: list[tuple[_AlignedEnding, int, Shift]] = []
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
        by_place: dict[tuple[int, int], list[Shift]] = {}
        for each, _, shift in edges:
            by_place.setdefault((each.placed.part, each.placed.place), []).append(shift)
        shifts = tuple(
            tuple(tuple(by_place.get((number, place), ())) for place in range(len(part.endings)))
            for number, part in enumerate(self.machine.parts)
        )
        return InductionCase(self.low, self.high, distances, allowances, shifts, cost)

    def _allowances(
        self, edges: Sequence[tuple[_AlignedEnding, int, Shift]]
    ) -> tuple[tuple[Fraction, ...], ...] | None:
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


# --- Is this fold private, for data of every length? From a mechanism to a bound with its certificate. ---

_LENGTHS = (0, 1, 2, 5, 12, 40)  # of the data in concrete runs: no records, a few, and many


@dataclass(frozen=True)
class FoldProof:
    """The result of alignment for a fold."""

    name: str  # of the mechanism
    source: str  # the digest of the fold's functions, or the empty text
    scope: BoundScope  # what the bound holds for
    machine: FoldMachine  # all states of the fold, with their steps
    # the induction, for each range of the differences, or the couplings, for each sign of the one difference;
    # None if there is neither
    cases: tuple[InductionCase, ...] | tuple[CoupledCase, ...] | None
    agreement: Agreement  # what concrete runs of the fold showed
    # code that can run and was not read, in words; the bound is proved only if there is none
    open_ends: tuple[str, ...] = ()
    # the proof of a fold that returns the number of a record, where there are no cases
    selection: FoldSelection | None = None

    @property
    def bound(self) -> Fraction | None:
        """ε in nats, or None if alignment gives no finite bound for every length (which refutes nothing)."""
        if self.selection is not None:
            return self.selection.cost
        return None if self.cases is None else max(case.cost for case in self.cases)

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """The proof as plain data for JSON, which `dpaudit.checker` can check; None without a finite bound."""
        if self.bound is None:
            return None
        relation = self.scope.relation
        numbers = iter(range(1 + 2 * len(self.machine.states)))
        return {
            "format": FORMAT,
            "version": VERSION,
            "kind": "fold" if self.selection is None else "selection",
            "mechanism": {"name": self.name, "source": self.source},
            "scope": {
                "data": "queries",
                "length": self.scope.length,
                "values": self.scope.values,
                "movement": relation.movement,
                "group": relation.group,
                "parameters": dict(self.scope.parameters),
            },
            "bound": rational(self.bound),
            "init": self._nodes(self.machine.start, next(numbers)),
            "states": [
                {
                    "name": state.name,
                    "step": self._nodes(state.step, next(numbers)),
                    "end": None if state.end is None else self._nodes(state.end, next(numbers)),
                }
                for state in self.machine.states
            ],
            "cases": list(map(_case, self.cases or () if self.selection is None else self.selection.cases)),
            **({} if self.selection is None else {"winner": self.selection.winner, "place": self.selection.place}),
        }

    def _nodes(self, part: FoldPart, number: int) -> list[dict[str, Any]]:
        """Return the nodes of a part, given its number among all parts."""
        said: dict[int, dict[str, Any]] = {}
        for place, ending in enumerate(part.endings):
            lists = [_shifts(case, number, place) for case in self.cases or ()]
            coupled = any(isinstance(case, CoupledCase) for case in self.cases or ())
            reals = held_reals(self.machine, ending) if coupled else ending.reals
            said[ending.leaf.node] = {
                "next": ending.next,
                "state": list(map(linear, reals)),
            }
            if self.selection is None:
                said[ending.leaf.node]["shifts"] = [] if ending.leaf.is_null else lists
        return nodes_as_data(part.tree, said)


def _case(case: InductionCase | CoupledCase | SelectionCase) -> dict[str, Any]:
    """Return what the certificate says of a case, besides the shifts of leaves."""
    if isinstance(case, SelectionCase):
        return {"states": [_selected(case, number) for number in range(len(case.before))]}
    if isinstance(case, InductionCase):
        return {
            "distances": list(map(rational, case.distances)),
            "allowances": [list(map(rational, allowance)) for allowance in case.allowances],
        }
    return {
        "couplings": [
            {
                "state": each.state,
                "moved": each.moved,
                "distances": list(map(rational, each.distances)),
                "allowance": rational(each.allowance),
            }
            for each in case.couplings
        ]
    }


def _selected(case: SelectionCase, state: int) -> dict[str, Any]:
    """Return what the certificate of a selection says of a state."""
    return {
        "before": list(map(linear, case.before[state])),
        "after": list(map(linear, case.after[state])),
        "shifts": [{"leaf": leaf, "shift": list(map(rational, shift))} for leaf, shift in case.shifts[state].items()],
        "pairs": {
            phase: [
                {
                    "first": each.first,
                    "second": each.second,
                    **({"rows": list(map(farkas, each.rows))} if each.never is None else {"never": farkas(each.never)}),
                }
                for each in pairs
            ]
            for phase, pairs in case.pairs[state].items()
        },
    }


def _shifts(case: InductionCase | CoupledCase, part: int, place: int) -> list[dict[str, Any]]:
    """Return the shifts of one ending in a case."""
    # only the difference of the record: those of the state are the case's distances
    if isinstance(case, InductionCase):
        return [
            {"difference": rational(each.difference[0]), "shift": list(map(rational, each.shift))}
            for each in case.shifts[part][place]
        ]
    return [
        {
            "from": each.source,
            "difference": rational(each.difference),
            "shift": list(map(rational, each.shift.shift)),
            "to": each.target,
        }
        for each in case.steps[part][place]
    ]


def prove_fold(
    target: Mechanism | Callable[..., Any],
    parameters: Mapping[str, Any] | None = None,
    *,
    relation: str | Relation | None = None,
    domain: str | None = None,
    runs: int = 120,
) -> FoldProof:
    """Bound the loss of a fold for any number of answers."""
    program = target if isinstance(target, Mechanism) else mechanism(target)
    fold = program.function
    if not isinstance(fold, Fold):
        raise UsageError(
            f"{program.name} is no Fold, and only a Fold has proofs for every length; "
            "write it as Fold(step, init, finish=None), or give a length"
        )
    values = "real" if domain is None else domain
    if values not in VALUES:
        raise UsageError(f"domain is 'real' or 'integer', not {domain!r}")
    integer = values == "integer"
    given = program.parameters_with(parameters)
    which = parse_relation(relation or program.relation_for(given) or "declared")
    alone = Alone()
    machine = read_fold(fold, given, alone.observed(fold), integer=integer)
    raising = _raising(machine)
    if raising is not None:
        raise UsageError(f"{program.name} raises in every run: {raising}")
    drawn = (draw for part in machine.parts for ending in part.endings for draw in ending.leaf.draws)
    if not integer and any(draw.is_discrete for draw in drawn):
        raise UsageError(
            f"{program.name} draws whole numbers, which hide nothing between real answers that differ by ½; "
            "give domain='integer' if the answers are whole numbers"
        )
    now("comparing runs with it")
    agreement = _agree(machine, fold, given, integer=integer, runs=runs)
    if agreement.disagreement is not None:
        raise UsageError(f"{program.name} is read wrongly: {agreement.disagreement}; so nothing is proved of it")
    now("aligning its steps")
    scope = BoundScope("any", values, which, {name: as_text(value) for name, value in given.items()})
    digest = f"sha256:{program.digest}" if program.digest else ""
    open_ends = (*alone.open, *missed(agreement))
    cases = align_fold(machine, which) or couple_fold(machine, which)
    selection = select_fold(machine, which) if cases is None else None
    return FoldProof(program.name, digest, scope, machine, cases, agreement, open_ends, selection)


def _raising(machine: FoldMachine) -> str | None:
    """Return what every run raises, at its start or at its first record; None if some run does not raise."""
    for parts in ([machine.start], [state.step for state in machine.states]):
        outputs = [ending.leaf.output for part in parts for ending in part.endings if not ending.leaf.is_null]
        if outputs and all(output[0] == "exception" for output in outputs):
            return str(outputs[0][1])
    return None


def _agree(machine: FoldMachine, fold: Fold, parameters: Mapping[str, Any], *, integer: bool, runs: int) -> Agreement:
    """Compare runs of the fold over data of several lengths with its machine, and single steps with each path."""
    whole = ComparedRuns()
    for number, length in enumerate(_LENGTHS):
        each = max(1, runs // len(_LENGTHS))
        compare_at_random(
            Unrolled(machine, length), fold, parameters, length, whole, integer=integer, runs=each, seed=number
        )
    paths = steps = 0
    for part in machine.parts:
        if whole.disagreement is not None or not runs:
            break
        compared = ComparedRuns()
        compare_regions(part.read, part.program, part.data, parameters, compared)
        paths += sum(not leaf.is_null for leaf in part.read.leaves)
        steps += len(compared.seen)
        whole.add(compared)
    return replace(whole.agreement(paths or None), leaves=steps)
