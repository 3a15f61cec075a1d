"""How is a bound for all answers to queries proved, checked, and held against its program? Alignment and induction.

Alignment is for one number of answers, and its certificate is a tree; induction is for any number, and its certificate
is a fold or a selection. Beside either stands the tree of a counterexample, where one was found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dpaudit.checker.reading import Steps
from dpaudit.checker.tree import ALIGNED, CheckedTree, Leaf
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Comparison, Counterexample, Proof
from dpaudit.neighbours import Relation
from dpaudit.program.fold import Fold
from dpaudit.program.symbolic.linear import Affine, Constraint, SpentError, beside, now
from dpaudit.program.symbolic.tree import NoiseDraw, Output, ProgramPath
from dpaudit.verify.certificate import VALUES, BoundScope
from dpaudit.verify.proofs.kind import (
    UNREADABLE,
    CheckedProof,
    Conclusion,
    Goal,
    NotShownError,
    ProofKind,
    certified,
    refuse,
)

if TYPE_CHECKING:
    from dpaudit.verify.counterexample import ExactCounterexample
    from dpaudit.verify.fold import AlignmentProof, FoldProof

_NEARLY = 0.8  # of the largest exact loss, for an event that runs can confirm; chosen, not tuned
_MOST_DRAWS = 256  # on a path, for which a counterexample is looked for: some 20 s of a proof's 60
_COUNTEREXAMPLE_LENGTHS = (4, 2, 1)  # answers in a counterexample to a proof for any number: the first within a budget
_WHOLE = "whole-number"  # in the scope of a proof about whole numbers
MOST_SOUGHT = 40
"""Paths that no random run reached, and that a proof looks for one by one; of more, only so many are compared."""

_EXTRA: tuple[set[str], frozenset[str]] = (set(), ALIGNED)
_ENDING: tuple[set[str], frozenset[str]] = ({"next", "state"}, ALIGNED)
_ANY = {"x": 1, "s": 1_000}  # what the parts of a fold may depend on

# --- proved and recorded ------------------------------------------------------------------------------------


def _prove(asked: Goal) -> Conclusion:
    from dpaudit.verify.fold import prove_fold, prove_program

    mechanism, given, length = asked.mechanism, asked.parameters, asked.length
    if length is None and not isinstance(mechanism.function, Fold):
        said = asked.relation or mechanism.relation_for(given)
        moving = ", and how they move, such as relation='queries' (--relation queries: each by at most 1)" * (not said)
        raise UsageError(
            f"say how many answers {mechanism.name} is given, such as length=5 (--length 5){moving}; only a mechanism "
            "that is written as a Fold is proved for any number of them; of a function of a data frame, say what each "
            "column holds, such as domain={'age': (0, 120)} (--domain 'age=[0, 120]')"
        )
    fold = None
    if length is None:
        fold = prove_fold(mechanism, given, relation=asked.relation, domain=asked.domain)
    tree: AlignmentProof | None = None
    for tried in _COUNTEREXAMPLE_LENGTHS if length is None else (length,):
        with nullcontext() if fold is None else beside():
            which = asked.relation if fold is None else fold.scope.relation
            tree = tree or prove_program(mechanism, given, length=tried, relation=which, domain=asked.domain)
    if tree is None:
        raise SpentError
    proved: AlignmentProof | FoldProof = tree if fold is None else fold
    agreement = proved.agreement
    paths = agreement.leaves if agreement.paths is None else agreement.paths
    comparison = Comparison(agreement.runs, agreement.passed_over, agreement.leaves, paths, proved.open_ends)
    exact = None if comparison.open_ends else _counterexample(tree, asked)
    bound = None if comparison.open_ends else proved.bound
    return Conclusion(
        proof=Proof(
            method="alignment" if fold is None else "induction",
            scope=str(proved.scope),
            length=length,
            paths=sum(not leaf.is_null for leaf in tree.tree.leaves),
            certificate=None if bound is None else proved.certificate,
            comparison=comparison,
        ),
        kind="proof",
        relation=proved.scope.relation,
        upper=bound,
        upper_text=None if bound is None else str(bound),
        pair=_moved(tree) if exact is None else (list(exact.pair[0]), list(exact.pair[1])),
        counterexample=None if exact is None else _recorded(exact),
        exact_counterexample=exact,
    )


def _moved(tree: AlignmentProof) -> tuple[list[int | float], list[int | float]]:
    """The pair that costs most in the proof, for when there is no counterexample."""
    answer = int if tree.scope.values == "integer" else float
    after = tree.worst.worst
    return [answer(0) for _ in after], list(map(answer, after))


def _recorded(exact: ExactCounterexample) -> Counterexample:
    p0, p1 = (each.decimals(30) for each in exact.probabilities)
    first, second = (repr(list(data)) for data in exact.pair)
    return Counterexample(first, second, exact.event, p0, p1, exact.record())


def _counterexample(tree: AlignmentProof, asked: Goal) -> ExactCounterexample | None:
    """The counterexample with the largest exact loss, or one of nearly that loss that runs can confirm."""
    if find_spec("flint") is None or max((len(leaf.draws) for leaf in tree.tree.leaves), default=0) > _MOST_DRAWS:
        return None
    from dpaudit.verify.counterexample import find_counterexample

    function, given = asked.mechanism.function, asked.parameters
    largest, likely = None, None
    with beside():
        now("looking for a counterexample")
        largest = find_counterexample(tree, function, given, seed=asked.seed)
        if largest is not None and asked.runs:
            likely = find_counterexample(tree, function, given, budget_runs=asked.runs, seed=asked.seed)
    if largest is None or likely is None or _as_float(likely.epsilon) < _NEARLY * _as_float(largest.epsilon):
        return largest
    return likely


def _as_float(epsilon: Fraction | None) -> float:
    """A float to compare with; ∞ for None."""
    return math.inf if epsilon is None else float(epsilon)


# --- checked ------------------------------------------------------------------------------------------------


def _check(evidence: Evidence, proof: Proof) -> CheckedProof:
    counterexample, certificate = evidence.counterexample, proof.certificate
    kinds = ("tree",) if proof.method == "alignment" else ("fold", "selection")
    checked = None if certificate is None else certified(evidence, proof, kinds)
    trees = [] if counterexample is None else [counterexample.record]
    if proof.method == "alignment" and certificate is not None and "values" not in certificate:
        trees.append(certificate)  # a tree of values has fewer paths
    if any(len(leaves_of(tree["nodes"], tree["scope"]["length"])) != proof.paths for tree in trees):
        raise NotShownError(f"{proof.paths} paths are stated, and the tree has another number")
    if proof.domain is not None or proof.prices:
        raise NotShownError("answers have no domain of their own, and no prices of releases")
    if proof.method == "alignment" and proof.comparison is not None and proof.comparison.paths != proof.paths:
        raise NotShownError(f"{proof.paths} paths are stated, and runs compared with {proof.comparison.paths}")
    if certificate is not None:
        _refuse_uncompared(proof.comparison)
    if certificate is None or checked is None:
        if not any(proof.scope.startswith(text) for text in _heads(evidence, proof)):
            raise NotShownError(f"{proof.scope:.200} is stated, and {_heads(evidence, proof)[0]} was asked")
        return CheckedProof(("no upper bound is stated",))
    scope = scope_of(checked.scope)
    refuse(unlike_scope(evidence, scope))
    if proof.method == "alignment":
        if (
            counterexample is not None
            and "values" not in certificate
            and _bare(certificate["nodes"]) != counterexample.record.get("nodes")
        ):
            raise NotShownError("the certificate and the counterexample are of different programs")
    elif proof.comparison is not None and proof.comparison.paths != _endings(certificate):
        raise NotShownError(f"runs are compared with {proof.comparison.paths} paths, and the fold has another number")
    return CheckedProof((f"{checked.statement}: " + " ".join(checked.sentences),))


def _refuse_uncompared(comparison: Comparison | None) -> None:
    """Refuse a bound of a program of whose paths runs were compared with fewer than a proof compares."""
    if comparison is not None and comparison.compared < min(comparison.paths, MOST_SOUGHT):
        raise NotShownError(
            f"a bound is stated, and runs are said to be compared with {comparison.compared} of {comparison.paths} "
            "paths: what no run was compared with is not proved"
        )


def _heads(evidence: Evidence, proof: Proof) -> list[str]:
    """Return how a scope begins under the relation that is stated: of real answers, or of whole numbers."""
    length: Any = "any" if proof.length is None else proof.length
    relation = Relation("queries")
    texts = [str(BoundScope(length, values, relation, {})) for values in VALUES]
    return [text.removesuffix(str(relation)) + evidence.relation for text in texts]


def _endings(certificate: Mapping[str, Any]) -> int:
    """Return how many paths the start, the steps and the ends of a fold have, without those of probability 0."""
    parts = [certificate["init"], *(state[part] for state in certificate["states"] for part in ("step", "end"))]
    read = (CheckedTree("", _ANY, Steps(), _ENDING).read(part) for part in parts if part is not None)
    return sum(not leaf.null for tree in read for leaf in tree.leaves.values())


def unlike_scope(evidence: Evidence, scope: BoundScope) -> str:
    """Say what differs between what was proved or refuted and what the evidence states of it; empty if nothing does."""
    proof = evidence.proof
    assert proof is not None
    if str(scope) != proof.scope:
        return f"it holds for {scope}, and {proof.scope} is stated"
    if proof.length != (None if scope.length == "any" else scope.length):
        return f"it is for length {scope.length}, not {proof.length}"
    return unlike_relation(evidence, scope)


def unlike_relation(evidence: Evidence, scope: BoundScope) -> str:
    """Say that a scope is under another relation than is stated; empty if it is not."""
    if str(scope.relation) == evidence.relation:
        return ""
    return f"it holds under {scope.relation}, and {evidence.relation} is stated"


def scope_of(given: Mapping[str, Any]) -> BoundScope:
    """Read a scope in the form of certificates and counterexamples."""
    relation = Relation("queries", given["movement"], given["group"])
    return BoundScope(given["length"], given["values"], relation, given["parameters"])


def leaves_of(nodes: Sequence[Any], length: int) -> list[ProgramPath]:
    """Return the paths of a tree from its nodes, without those of probability 0."""
    read = CheckedTree("", {"q": length}, Steps(), _EXTRA).read(list(nodes))
    return [_leaf(leaf) for leaf in read.leaves.values() if not leaf.null]


def is_readable(record: Mapping[str, Any]) -> bool:
    """Whether the checker can read the tree of a counterexample, as whoever computes its probabilities again has to."""
    try:
        return bool(leaves_of(record["nodes"], record["scope"]["length"]))
    except UNREADABLE:
        return False


def _leaf(given: Leaf) -> ProgramPath:
    conditions = tuple(Constraint(Affine(each.terms, each.constant), each.kind) for each in given.conditions)  # type: ignore[arg-type]
    draws = tuple(NoiseDraw(each.method, each.scale, ()) for each in given.draws)
    return ProgramPath(given.number, conditions, draws, _output(given.output.form))


def _output(form: tuple[Any, ...]) -> Output:
    """Return an output of the checker as one of the prover: numbers become expressions again."""
    tag, *parts = form
    if tag in ("int", "float") and len(parts) == 2:
        return (tag, Affine(dict(parts[0]), parts[1]))
    if tag in ("list", "tuple"):
        return (tag, *map(_output, parts))
    if tag == "dict":
        return (tag, *((_output(key), _output(value)) for key, value in parts))
    return form


# --- read again ---------------------------------------------------------------------------------------------


def _read_again(evidence: Evidence, proof: Proof, asked: Goal) -> bool | None:
    from dpaudit.verify.certificate import nodes_as_data
    from dpaudit.verify.fold import prove_fold, prove_program

    mechanism, given = asked.mechanism, asked.parameters

    def read(scope: BoundScope) -> AlignmentProof:
        assert scope.length != "any"
        domain = "integer" if scope.values == "integer" else None
        return prove_program(mechanism, given, length=scope.length, relation=scope.relation, domain=domain)

    shown = {} if evidence.counterexample is None else evidence.counterexample.record
    record = proof.certificate or shown
    if not record:
        return None
    if shown and nodes_as_data(read(scope_of(shown["scope"])).tree, {}) != _bare(shown["nodes"]):
        return False
    scope = scope_of(record["scope"])
    if scope.length == "any":
        domain = "integer" if scope.values == "integer" else None
        fold = prove_fold(mechanism, given, relation=scope.relation, domain=domain).certificate
        return fold is not None and all(_bare(fold[part]) == _bare(record[part]) for part in ("init", "states"))
    machine = read(scope)
    if "values" in record:
        again = machine.certificate
        return again is not None and all(_bare(again.get(part)) == _bare(record[part]) for part in ("nodes", "values"))
    return bool(nodes_as_data(machine.tree, {}) == _bare(record["nodes"]))


def _bare(nodes: Any) -> Any:
    """Return the nodes of a tree without their shifts."""
    if isinstance(nodes, dict):
        return {name: _bare(part) for name, part in nodes.items() if name not in ALIGNED}
    return list(map(_bare, nodes)) if isinstance(nodes, list) else nodes


def _domain(proof: Proof) -> str | None:
    return "integer" if _WHOLE in proof.scope else None


ALIGNMENT = ProofKind("alignment", "certificate", "tree", _prove, _check, _read_again, _domain)
INDUCTION = ProofKind("induction", "certificate", "fold", _prove, _check, _read_again, _domain)
