"""Is this fold private, for data of every length? From a mechanism to a bound with its certificate.

The fold is read symbolically in all its states, its steps are aligned by induction, and concrete runs over data of
several lengths are compared with what was read. The bound holds for any number of answers, for one relation, the given
parameters and exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import Relation, parse_relation
from dpaudit.program.coverage.agreement import Agreement, ComparedRuns, compare_at_random, compare_regions
from dpaudit.program.coverage.outside import WatchedProgram
from dpaudit.program.fold import Fold
from dpaudit.program.symbolic.fold_machine import FoldMachine, Part, Unrolled, read_fold
from dpaudit.program.symbolic.linear import now
from dpaudit.targets.mechanism import Mechanism, mechanism
from dpaudit.verify.certificate import FORMAT, VERSION, farkas, linear, nodes_as_data, rational
from dpaudit.verify.couplings import CoupledCase, couple_fold, held_reals
from dpaudit.verify.induction import InductionCase, align_fold
from dpaudit.verify.prove import missed
from dpaudit.verify.scope import VALUES, Scope, as_text
from dpaudit.verify.selection import Selection, SelectionCase, select_fold

_LENGTHS = (0, 1, 2, 5, 12, 40)  # of the data in concrete runs: no records, a few, and many


@dataclass(frozen=True)
class FoldProof:
    """The result of alignment for a fold."""

    name: str  # of the mechanism
    source: str  # the digest of the fold's functions, or the empty text
    scope: Scope  # what the bound holds for
    machine: FoldMachine  # all states of the fold, with their steps
    # the induction, for each range of the differences, or the couplings, for each sign of the one difference;
    # None if there is neither
    cases: tuple[InductionCase, ...] | tuple[CoupledCase, ...] | None
    agreement: Agreement  # what concrete runs of the fold showed
    # code that can run and was not read, in words; the bound is proved only if there is none
    open_ends: tuple[str, ...] = ()
    # the proof of a fold that returns the number of a record, where there are no cases
    selection: Selection | None = None

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

    def _nodes(self, part: Part, number: int) -> list[dict[str, Any]]:
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
    found = target if isinstance(target, Mechanism) else mechanism(target)
    fold = found.function
    if not isinstance(fold, Fold):
        raise UsageError(
            f"{found.name} is no Fold, and only a Fold has proofs for every length; "
            "write it as Fold(step, init, finish=None), or give a length"
        )
    values = "real" if domain is None else domain
    if values not in VALUES:
        raise UsageError(f"domain is 'real' or 'integer', not {domain!r}")
    integer = values == "integer"
    given = found.parameters_with(parameters)
    which = parse_relation(relation or found.relation_for(given) or "declared")
    watched = WatchedProgram(fold, given, is_fold=True)
    machine = read_fold(fold, given, integer=integer, watched=watched)
    raising = _raising(machine)
    if raising is not None:
        raise UsageError(f"{found.name} raises in every run: {raising}")
    drawn = (draw for part in machine.parts for ending in part.endings for draw in ending.leaf.draws)
    if not integer and any(draw.is_discrete for draw in drawn):
        raise UsageError(
            f"{found.name} draws whole numbers, which hide nothing between real answers that differ by ½; "
            "give domain='integer' if the answers are whole numbers"
        )
    now("comparing runs with it")
    agreement = _agree(machine, fold, given, ComparedRuns(watched.runs), integer=integer, runs=runs)
    if agreement.disagreement is not None:
        raise UsageError(f"{found.name} is read wrongly: {agreement.disagreement}; so nothing is proved of it")
    now("aligning its steps")
    scope = Scope("any", values, which, {name: as_text(value) for name, value in given.items()})
    digest = f"sha256:{found.digest}" if found.digest else ""
    open_ends = (*watched.open(), *missed(agreement))
    cases = align_fold(machine, which) or couple_fold(machine, which)
    selection = select_fold(machine, which) if cases is None else None
    return FoldProof(found.name, digest, scope, machine, cases, agreement, open_ends, selection)


def _raising(machine: FoldMachine) -> str | None:
    """Return what every run raises, at its start or at its first record; None if some run does not raise."""
    for parts in ([machine.start], [state.step for state in machine.states]):
        outputs = [ending.leaf.output for part in parts for ending in part.endings if not ending.leaf.is_null]
        if outputs and all(output[0] == "exception" for output in outputs):
            return str(outputs[0][1])
    return None


def _agree(
    machine: FoldMachine, fold: Fold, parameters: Mapping[str, Any], whole: ComparedRuns, *, integer: bool, runs: int
) -> Agreement:
    """Compare runs of the fold over data of several lengths with its machine, and single steps with each path."""
    for number, length in enumerate(_LENGTHS):
        each = max(1, runs // len(_LENGTHS))
        compare_at_random(
            Unrolled(machine, length), fold, parameters, length, whole, integer=integer, runs=each, seed=number
        )
    paths = steps = 0
    for part in machine.parts:
        if whole.disagreement is not None or not runs:
            break
        compared = ComparedRuns(whole.coverage)
        compare_regions(part.read, part.program, part.data, parameters, compared)
        paths += sum(not leaf.is_null for leaf in part.read.leaves)
        steps += len(compared.seen)
        whole.add(compared)
    return replace(whole.agreement(paths or None), leaves=steps)
