"""How much can a program lose at most, how much does it certainly lose, and what do runs of it show?

The order of a proof, and the only place that knows it: the bound from above with its certificate, the
counterexample from below with its exact probabilities, and an audit by runs of the same function on the
counterexample's pair. The three numbers stay apart: one is certain for all data of the proof's scope, one for one
pair, and one at a confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from dpaudit.attack import event_weight
from dpaudit.bounds.statement import lower_bound
from dpaudit.conductor import Listener, audit
from dpaudit.errors import UsageError
from dpaudit.event import Event
from dpaudit.evidence import Attempt, Bound, Counterexample, Evidence, Proof, Verdict, round_outward
from dpaudit.function import Mechanism, Shape
from dpaudit.game.blocks import Purpose, Watch
from dpaudit.loading import fold_of, load
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.privacy import ApproxDP, Claim, PureDP
from dpaudit.privacy.claims import number_text
from dpaudit.program.fold import Fold
from dpaudit.program.symbol import short_decimal
from dpaudit.proof.exact import ExactLoss, enumerated_privacy
from dpaudit.proof.fold import FoldProof, prove_fold
from dpaudit.proof.prove import Proof as TreeProof
from dpaudit.proof.prove import prove_program
from dpaudit.question import Question, ask, whole
from dpaudit.rounds import measure_event
from dpaudit.verdicts import judge

if TYPE_CHECKING:
    from dpaudit.proof.witness import Witness

_EVENT_SHARE = 0.5  # of the error and of the runs, for the event of the counterexample
_AGAIN = 1e-6  # the error at which a bound that contradicts a proof is measured afresh
_LEAST_RUNS = 400
_NEARLY = 0.8
_WITNESS_LENGTH = 4  # answers of the counterexample of a proof for any number of them


def prove(
    target: str | Mechanism | Any,
    *,
    parameters: Mapping[str, Any] | None = None,
    claim: Claim | str | None = None,
    relation: str | Relation | None = None,
    length: int | None = None,
    domain: str | Sequence[Any] | None = None,
    runs: int | float = 100_000,
    confidence: float = 0.95,
    seed: int = 0,
    workers: int = 1,
    listen: Listener | None = None,
) -> Evidence:
    """Prove an upper bound of a program's ε, look for a counterexample, and confirm it by runs.

    Args:
        target: as for `audit`; it must be a program, ``f(data, noise, **parameters)``.
        parameters: parameters of the mechanism; numbers are exact, a float counts as the decimal that is written.
        claim: a pure or (ε, δ) claim or its text; by default the mechanism's own.
        relation: which datasets are neighbours; by default the mechanism's own.
        length: how many answers the data hold. None: any number of them, for a mechanism that is a `Fold`.
        domain: "real" or "integer" answers; or all datasets there are, for a program with discrete noise: then
            every output is enumerated, and the loss is exact.
        runs: executions that confirm the counterexample and look for more on its pair; 0 for none.
        confidence: of what is sampled.
        seed: the root of every random draw; workers: processes.
        listen: called with (stage, runs done, runs in all).

    Returns:
        Evidence with ``upper``, ``exact``, ``counterexample`` and ``proof`` where they exist.

    Raises:
        UsageError: if the program cannot be read (the sentence names its line), or the request cannot be carried out.
    """
    mechanism = load(target)
    total = whole("runs", runs, least=0)
    if 0 < total < _LEAST_RUNS:
        raise UsageError(f"runs is 0, for none, or at least {_LEAST_RUNS}, not {total}")
    if mechanism.shape is not Shape.PROGRAM:
        raise UsageError(
            f"{mechanism.name} is a {mechanism.shape}: only a program, f(data, noise, **parameters), can be proved"
        )
    given = mechanism.parameters_with(parameters)
    if domain is None or isinstance(domain, str):
        found = _aligned(mechanism, given, relation, length, domain, total, seed)
    else:
        found = _enumerated(mechanism, given, relation, domain)
    question = ask(
        mechanism, given, claim, [found.pair] if found.pair else None, found.relation, confidence, seed, workers
    )
    if question.claim is not None and not isinstance(question.claim, PureDP | ApproxDP):
        raise UsageError(f"a proof bounds ε, which says nothing of {question.claim}; give an epsilon=… claim")
    return _judged(question, found, total, listen)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found without running anything: a proof, its bound, and a counterexample.

    ``upper`` is None without a finite bound; a proof may come with a ``witness``, an enumeration with its ``loss``.
    """

    proof: Proof
    kind: str  # of the upper bound: "proof" or "exact"
    relation: Relation
    upper: Fraction | float | None
    upper_text: str | None
    pair: tuple[Any, Any] | None
    counterexample: Counterexample | None
    witness: Witness | None
    loss: ExactLoss | None

    def least(self, delta: float) -> tuple[float, str] | None:
        """A certain lower bound of ε at δ, rounded down, and its exact text; None where nothing is known."""
        if self.witness is not None:
            found = self.witness.least(_exactly(delta))
            return _down(found), "infinite" if found is None else str(found)
        if self.loss is None or delta > 0:
            return None
        low, _ = self.loss.epsilon
        return low, "infinite" if math.isinf(low) else f"ln({self.loss.exp_epsilon})"

    def within(self, claim: Claim) -> bool:
        """Whether the upper bound is at most the claim, decided exactly."""
        if self.loss is not None:
            return self.loss.within(number_text(claim.value))
        return self.upper is not None and Fraction(self.upper) <= _exactly(claim.value)


def _exactly(value: float) -> Fraction:
    """The decimal that a claim was written as; a little less than a number that was rounded."""
    return short_decimal(value) or Fraction(math.nextafter(value, 0.0))


def _aligned(
    mechanism: Mechanism,
    given: Mapping[str, Any],
    relation: str | Relation | None,
    length: int | None,
    domain: str | None,
    runs: int,
    seed: int,
) -> _Found:
    if length is None:
        mechanism = fold_of(mechanism) or mechanism
    if length is None and not isinstance(mechanism.function, Fold):
        raise UsageError(
            f"say how many answers {mechanism.name} is given, such as length=5 (--length 5); only a mechanism that is "
            "written as a Fold is proved for any number of them"
        )
    fold = prove_fold(mechanism, given, relation=relation, domain=domain) if length is None else None
    tree = prove_program(
        mechanism,
        given,
        length=length or _WITNESS_LENGTH,
        relation=fold.scope.relation if fold is not None else relation,
        domain=domain,
    )
    proved: TreeProof | FoldProof = tree if fold is None else fold
    witness = _witness(tree, mechanism, given, runs, seed)
    counterexample = None
    if witness is not None:
        p0, p1 = (each.decimals(30) for each in witness.probabilities)
        counterexample = Counterexample(
            repr(list(witness.pair[0])), repr(list(witness.pair[1])), witness.event, p0, p1, witness.record()
        )
    return _Found(
        proof=Proof(
            method="alignment" if fold is None else "induction",
            scope=_scope(proved, length),
            length=length,
            paths=sum(not leaf.is_null for leaf in tree.tree.leaves),
            certificate=proved.certificate,
        ),
        kind="proof",
        relation=proved.scope.relation,
        upper=proved.bound,
        upper_text=None if proved.bound is None else str(proved.bound),
        pair=None if witness is None else (list(witness.pair[0]), list(witness.pair[1])),
        counterexample=counterexample,
        witness=witness,
        loss=None,
    )


def _witness(tree: TreeProof, mechanism: Mechanism, given: Mapping[str, Any], runs: int, seed: int) -> Witness | None:
    """The counterexample whose exact loss is largest, or one of nearly that loss that runs can confirm."""
    if find_spec("flint") is None:
        return None
    from dpaudit.proof.witness import find_witness

    largest = find_witness(tree, mechanism.function, given, seed=seed)
    if largest is None or not runs:
        return largest
    shown = find_witness(tree, mechanism.function, given, budget_runs=runs, seed=seed)
    return shown if shown is not None and _down(shown.epsilon) >= _NEARLY * _down(largest.epsilon) else largest


def _down(epsilon: Fraction | None) -> float:
    """The largest float that is not above; ∞ for None."""
    if epsilon is None:
        return math.inf
    found = float(epsilon)
    return found if Fraction(found) <= epsilon else math.nextafter(found, -math.inf)


def _scope(proved: TreeProof | FoldProof, length: int | None) -> str:
    scope = proved.scope
    many = "any number of" if length is None else str(length)
    values = "whole-number" if scope.values == "integer" else "real"
    noun = "answer" if length == 1 else "answers"
    parameters = ", ".join(f"{name} = {value}" for name, value in scope.parameters.items())
    return f"all data of {many} {values} {noun}, under {scope.relation}" + (
        f", with {parameters}" if parameters else ""
    )


def _enumerated(
    mechanism: Mechanism, given: Mapping[str, Any], relation: str | Relation | None, domain: Sequence[Any]
) -> _Found:
    which = relation if relation is not None else mechanism.relation_for(given)
    if which is None:
        raise UsageError("say which datasets of the domain are neighbours, such as relation='replace'")
    loss = enumerated_privacy(mechanism.function, list(domain), which, given)
    _, high = loss.epsilon
    first, second = loss.pair
    infinite = loss.exp_epsilon is None
    return _Found(
        proof=Proof(
            method="enumeration",
            scope=f"the {len(loss.scope.datasets)} datasets of the domain that was given, under {which}",
            length=None,
            paths=loss.scope.traces,
            certificate=loss.record(),
        ),
        kind="exact",
        relation=_relation(which),
        upper=None if infinite else high,
        upper_text=None if infinite else f"ln({loss.exp_epsilon})",
        pair=(domain[first], domain[second]),
        counterexample=None,
        witness=None,
        loss=loss,
    )


def _relation(which: str | Relation) -> Relation:
    return which if isinstance(which, Relation) else parse_relation(which)


# --- what runs say of it ----------------------------------------------------------------------------------


def _judged(question: Question, found: _Found, runs: int, listen: Listener | None) -> Evidence:
    claim = question.claim
    upper = None
    if found.upper is not None:
        upper = _certain("upper", found.kind, found.upper, found.upper_text, found.proof.method, PureDP(0.0))
    exact = None
    least = found.least(question.notion.delta)
    if least is not None and least[0] > 0:
        exact = _certain("lower", "exact", *least, found.proof.method, question.notion)
    if upper is not None and exact is not None and exact.value > upper.value:
        raise RuntimeError(
            f"{question.mechanism.name} is proved to lose at most {upper.value} and at least {exact.value}"
        )
    evidence = _sampled(question, found, runs, listen)
    sampled = evidence.lower
    lower = exact if exact is not None and exact.value >= sampled.value else sampled
    contradicts = False
    if upper is not None and sampled.value > upper.value:
        contradicts = _again(question, sampled, runs, upper.value)
        if not contradicts:
            lower = exact or msgspec.structs.replace(sampled, value=0.0)
    verdict, reason = judge(
        claim,
        lower,
        evidence.detectable,
        upper=upper,
        within=claim is not None and found.within(claim),
        scope=found.proof.scope,
        contradicts=contradicts,
    )
    if evidence.verdict is Verdict.INVALID:
        verdict, reason = evidence.verdict, evidence.reason
    return msgspec.structs.replace(
        evidence,
        claim=None if claim is None else str(claim),
        verdict=verdict,
        reason=reason,
        lower=lower,
        upper=upper,
        exact=exact,
        proof=found.proof,
        counterexample=found.counterexample,
    )


def _certain(
    side: Literal["lower", "upper"], kind: str, value: Fraction | float, text: str | None, method: str, notion: Claim
) -> Bound:
    return Bound(
        value=math.inf if value == math.inf else round_outward(float(value), side),
        side=side,
        kind=kind,
        parameter="epsilon",
        notion=str(notion),
        confidence=1.0,
        delta=notion.delta,
        method=method,
        pair=0 if side == "lower" else None,
        exact=text,
    )


def _sampled(question: Question, found: _Found, runs: int, listen: Listener | None) -> Evidence:
    """Audit the counterexample's pair, or the mechanism's own, and measure the counterexample's event apart."""
    witness = found.witness
    own = 0 if witness is None else int(runs * _EVENT_SHARE)
    error = 1 - question.confidence
    share = _EVENT_SHARE if own else 0.0
    evidence = audit(
        question.mechanism,
        parameters=question.parameters,
        claim=question.claim,
        pairs=list(question.pairs),
        relation=question.relation,
        runs=max(runs - own, _LEAST_RUNS // 4),
        confidence=1 - error * (1 - share),
        seed=question.seed,
        workers=question.workers,
        listen=listen,
    )
    if not own or witness is None:
        return evidence
    chances = [float(each.high) for each in witness.probabilities]
    bound = _measured(question, witness.event, chances, own, error * share)
    attempts = (*evidence.attempts, Attempt(0, "counterexample", bound, ()))
    best = max((attempt.bound for attempt in attempts), key=lambda bound: bound.value)
    return msgspec.structs.replace(
        evidence,
        attempts=attempts,
        lower=msgspec.structs.replace(best, confidence=question.confidence),
        confidence=question.confidence,
        measuring=evidence.measuring + own,
    )


def _measured(question: Question, event: Event, chances: Sequence[float], runs: int, error: float) -> Bound:
    """Count an event that is known beforehand on fresh runs."""
    counts = measure_event(question, 0, event, runs, Purpose.WITNESS, Watch())
    p, q = (min(max(chance, 1 / runs), 1 - 1 / runs) for chance in chances)
    weight = float(f"{event_weight('joint', p, q, runs, question.notion):.6g}")
    confidence = 1 - error
    value = lower_bound("joint", counts, claim=question.notion, weight=weight, error=1 - confidence)
    return Bound(
        value=round_outward(value, "lower"),
        side="lower",
        kind="sampled",
        parameter=question.notion.parameter,
        notion=str(question.notion),
        confidence=confidence,
        delta=question.notion.delta,
        method="joint",
        weight=weight,
        counts=counts,
        event=event,
        pair=0,
        assumes=question.assumptions,
    )


def _again(question: Question, sampled: Bound, runs: int, upper: float) -> bool:
    """Measure a bound that contradicts a proof afresh, at a much smaller error: whether it still does."""
    assert sampled.event is not None and sampled.counts is not None
    counts = measure_event(question, 0, sampled.event, max(runs, _LEAST_RUNS), Purpose.CONFIRMING, Watch())
    found = lower_bound(sampled.method, counts, claim=question.notion, weight=sampled.weight, error=_AGAIN)
    return found > upper
