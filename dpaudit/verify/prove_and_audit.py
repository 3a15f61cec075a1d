"""How much can a program lose at most, how much does it certainly lose, and what do runs of it show?

The only module that knows the order of a proof: first the upper bound with its certificate, then the counterexample
with its exact probabilities (a lower bound), then an audit of the same function on the counterexample's pair. The three
numbers are kept apart: the first is certain for all data of the proof's scope, the second is certain for one pair, and
the third holds at a confidence.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Unpack

import msgspec
import numpy as np

from dpaudit.auditing.audit import audit
from dpaudit.auditing.pair import measure_event
from dpaudit.auditing.question import Question, validated, whole
from dpaudit.auditing.recorded import measured_bound, subject_of
from dpaudit.auditing.second_look import two_looks
from dpaudit.auditing.seeds import given_or_fresh
from dpaudit.auditing.verdict import TwoLooks, decide, shown
from dpaudit.decimals import limit_of
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.events import event_weight
from dpaudit.evidence.build import at_whole, certain_bound, run_info
from dpaudit.evidence.event import Event
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Comparison, Counterexample, Proof, Verdict
from dpaudit.loading.named import load
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.serialise import kept_text
from dpaudit.privacy import Claim, PureDP
from dpaudit.privacy.claims import as_claim
from dpaudit.processes.process import second_look_begins
from dpaudit.program.coverage.agreement import Agreement
from dpaudit.program.coverage.watching import WatchedProgram
from dpaudit.program.fold import Fold
from dpaudit.program.symbolic.budget import SpentError, beside, budget, now
from dpaudit.request import AuditRequest, ProofOptions, ProofRequest, taking
from dpaudit.sampling.blocks import Phase
from dpaudit.sampling.progress import Session
from dpaudit.settings import lent, own_settings
from dpaudit.stats.methods import JOINT, plain
from dpaudit.stats.power import foresee
from dpaudit.stats.statement import lower_bound
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.exact import ExactLoss, enumerated_privacy
from dpaudit.verify.fold import FoldProof, prove_fold
from dpaudit.verify.prove import AlignmentProof, prove_program
from dpaudit.verify.releases.alone import prices_alone
from dpaudit.verify.releases.derive import derive
from dpaudit.verify.scope import rounded

if TYPE_CHECKING:
    from dpaudit.verify.counterexample.counterexample import ExactCounterexample

RELEASES = "releases"
"""The method of a proof from records to what is released."""

_EVENT_SHARE = 0.5  # of the error and of the runs go to the counterexample's event; an even split
_AGAIN = 1e-6  # the error at which a bound that contradicts a proof is measured again
_DEFAULT_RUNS = 100_000
_MEASURING, _TIMED_CALLS = 10.0, 20  # seconds for runs of a function as it is, and calls by which they are foreseen
_LEAST_RUNS = 400  # below this a bound shows next to nothing
_NEARLY = 0.8  # of the largest exact loss, for an event that runs can confirm; chosen, not tuned
_MOST_DRAWS = 256  # on a path, for which a counterexample is looked for: some 20 s of a proof's 60
_COUNTEREXAMPLE_LENGTHS = (4, 2, 1)  # answers in a counterexample to a proof for any number: the first within a budget


@taking(ProofRequest)
@own_settings()
def prove(target: str | Mechanism | Any, **options: Unpack[ProofOptions]) -> Evidence:
    """Prove an upper bound of a program's ε, look for a counterexample, and confirm it by runs.

    Args:
        {options}

    Returns:
        Evidence with ``upper``, ``exact``, ``counterexample`` and ``proof`` where they exist.

    Raises:
        UsageError: if the program cannot be read (the sentence names its line), or the request cannot be carried out.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    request = ProofRequest(target, **options)
    relation, length, domain = request.relation, request.length, request.domain
    mechanism = load(target)
    mechanism.digest  # noqa: B018 – of the code as it is before it is read
    total = whole("runs", request.runs, least=0)
    if 0 < total < _LEAST_RUNS:
        raise UsageError(f"runs is 0, for none, or at least {_LEAST_RUNS}, not {total}")
    if mechanism.shape is not Shape.PROGRAM and not isinstance(domain, Mapping):
        raise UsageError(
            f"{mechanism.name} is of the kind '{mechanism.shape}': only a program, f(data, noise, **parameters), is "
            "proved of answers; a function that draws its own noise is proved from records: say what each column of "
            "its data frame may hold, such as domain={'age': (0, 120)} (--domain 'age=[0, 120]')"
        )
    given = mechanism.parameters_with(request.parameters)
    root = whole("seed", given_or_fresh(request.seed), least=0)
    if domain is not None and not isinstance(domain, str) and length is not None:
        raise UsageError("a domain that lists all datasets has their lengths too; leave out the length")
    if request.data is not None and not isinstance(domain, Mapping):
        raise UsageError(
            "data are held against a domain by columns, such as domain={'age': (0, 120)} (--domain 'age=[0, 120]'); "
            "give one, or leave out the data"
        )
    with budget(request.steps, request.time_budget, mechanism.name):
        if isinstance(domain, Mapping):
            found = _released(mechanism, given, relation, domain, as_claim(request.claim), length, request.data)
        elif domain is None or isinstance(domain, str):
            found = _aligned(mechanism, given, relation, length, domain, total, root)
        else:
            found = _enumerated(mechanism, given, relation, domain, request.keep_data)
    if mechanism.shape is not Shape.PROGRAM and total == _DEFAULT_RUNS:
        total = _affordable(mechanism, given, found.pair[1], total)
    question = validated(
        AuditRequest(
            mechanism,
            parameters=given,
            claim=request.claim,
            pairs=[found.pair],
            relation=found.relation,
            confidence=request.confidence,
            seed=root,
            workers=request.workers,
            backend=request.backend,
            scheduler=request.scheduler,
            false_alarm=request.false_alarm,
        )
    )
    if question.claim is not None and not question.claim.is_point and found.proof.method != RELEASES:
        raise UsageError(f"a proof bounds ε, which says nothing of {question.claim}; give an epsilon=… claim")
    try:
        evidence = _judged(question, found, total, request)
    finally:
        question.engine.close()
    if evidence.verdict is Verdict.INVALID:
        evidence = msgspec.structs.replace(evidence, asked=total)
    return msgspec.structs.replace(evidence, run=run_info(started, clock, request.workers))


def _affordable(mechanism: Mechanism, given: Mapping[str, Any], data: Any, runs: int) -> int:
    """Return how many runs of a function, one a call, take about as long as its proof may; none where few would do."""
    start, calls, suppressed = time.perf_counter(), 0, 0
    more = {"rng": np.random.default_rng()} if "rng" in mechanism.asked else {}
    with lent():
        while calls < _TIMED_CALLS and time.perf_counter() - start < 1.0:
            try:
                mechanism(data.copy(), **given, **more)
            except Exception:  # what it raises is an output
                suppressed += 1
            calls += 1
    fitting = int(_MEASURING * calls / max(time.perf_counter() - start, 1e-6))
    return 0 if fitting < _LEAST_RUNS else min(runs, fitting)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found without sampling: a proof, its bound, and a counterexample.

    ``upper`` is None without a finite bound. ``pair`` is the pair to audit, within the scope of the proof. A proof may
    come with an ``exact_counterexample``, and an enumeration comes with its ``loss``.
    """

    proof: Proof
    kind: str  # of the upper bound: "proof" or "exact"
    relation: Relation
    upper: Fraction | None  # in nats; for an exact loss, a float above it
    upper_text: str | None
    pair: tuple[Any, Any]
    counterexample: Counterexample | None
    exact_counterexample: ExactCounterexample | None
    loss: ExactLoss | None
    notion: Claim = field(default_factory=lambda: PureDP(0.0))  # what the upper bound bounds

    def least(self, delta: float) -> tuple[Fraction | None, str]:
        """A certain lower bound of ε at δ (None if infinite, 0 if nothing is known), and its text."""
        if self.exact_counterexample is not None:
            found = self.exact_counterexample.least(limit_of(delta, toward=1.0))
            return found, "infinite" if found is None else str(found)
        if self.loss is None or delta > 0:
            return Fraction(0), "0"
        if self.loss.exp_epsilon is None:
            return None, "infinite"
        return Fraction(self.loss.epsilon[0]), f"ln({self.loss.exp_epsilon})"

    def within(self, claim: Claim) -> bool:
        """Whether the upper bound is at most the claim, decided exactly."""
        if self.loss is not None:
            return self.loss.within(claim.value)
        return self.upper is not None and self.upper <= limit_of(claim.value, toward=0.0)


def _aligned(
    mechanism: Mechanism,
    given: Mapping[str, Any],
    relation: str | Relation | None,
    length: int | None,
    domain: str | None,
    runs: int,
    seed: int,
) -> _Found:
    if length is None and not isinstance(mechanism.function, Fold):
        raise UsageError(
            f"say how many answers {mechanism.name} is given, such as length=5 (--length 5); only a mechanism that is "
            "written as a Fold is proved for any number of them; of a function of a data frame, say what each column "
            "holds, such as domain={'age': (0, 120)} (--domain 'age=[0, 120]')"
        )
    fold = prove_fold(mechanism, given, relation=relation, domain=domain) if length is None else None
    tree: AlignmentProof | None = None
    for tried in _COUNTEREXAMPLE_LENGTHS if length is None else (length,):
        with nullcontext() if fold is None else beside():
            which = relation if fold is None else fold.scope.relation
            tree = tree or prove_program(mechanism, given, length=tried, relation=which, domain=domain)
    if tree is None:
        raise SpentError
    proved: AlignmentProof | FoldProof = tree if fold is None else fold
    comparison = _compared(proved.agreement, proved.open_ends)
    exact_counterexample = None if comparison.open_ends else _counterexample(tree, mechanism, given, runs, seed)
    bound = None if comparison.open_ends else proved.bound
    counterexample = None
    if exact_counterexample is not None:
        p0, p1 = (each.decimals(30) for each in exact_counterexample.probabilities)
        counterexample = Counterexample(
            repr(list(exact_counterexample.pair[0])),
            repr(list(exact_counterexample.pair[1])),
            exact_counterexample.event,
            p0,
            p1,
            exact_counterexample.record(),
        )
    return _Found(
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
        pair=_moved(tree)
        if exact_counterexample is None
        else (list(exact_counterexample.pair[0]), list(exact_counterexample.pair[1])),
        counterexample=counterexample,
        exact_counterexample=exact_counterexample,
        loss=None,
    )


def _compared(agreement: Agreement, open_ends: tuple[str, ...]) -> Comparison:
    paths = agreement.leaves if agreement.paths is None else agreement.paths
    return Comparison(agreement.runs, agreement.passed_over, agreement.leaves, paths, open_ends)


def _moved(tree: AlignmentProof) -> tuple[list[int | float], list[int | float]]:
    """The pair that costs most in the proof, for when there is no counterexample."""
    answer = int if tree.scope.values == "integer" else float
    after = tree.worst.worst
    return [answer(0) for _ in after], list(map(answer, after))


def _counterexample(
    tree: AlignmentProof, mechanism: Mechanism, given: Mapping[str, Any], runs: int, seed: int
) -> ExactCounterexample | None:
    """The counterexample with the largest exact loss, or one of nearly that loss that runs can confirm."""
    if find_spec("flint") is None or max((len(leaf.draws) for leaf in tree.tree.leaves), default=0) > _MOST_DRAWS:
        return None
    from dpaudit.verify.counterexample.counterexample import find_counterexample

    largest, likely = None, None
    with beside():
        now("looking for a counterexample")
        largest = find_counterexample(tree, mechanism.function, given, seed=seed)
        if largest is not None and runs:
            likely = find_counterexample(tree, mechanism.function, given, budget_runs=runs, seed=seed)
    if largest is None or likely is None or _as_float(likely.epsilon) < _NEARLY * _as_float(largest.epsilon):
        return largest
    return likely


def _as_float(epsilon: Fraction | None) -> float:
    """A float to compare with; ∞ for None."""
    return math.inf if epsilon is None else float(epsilon)


def _enumerated(
    mechanism: Mechanism, given: Mapping[str, Any], relation: str | Relation | None, domain: Sequence[Any], keep: bool
) -> _Found:
    which = relation if relation is not None else mechanism.relation_for(given)
    if which is None:
        raise UsageError("say which datasets of the domain are neighbours, such as relation='replace'")
    which = _relation(which)
    now("following all ways through it")
    watched = WatchedProgram(mechanism.function, given, is_fold=isinstance(mechanism.function, Fold))
    loss = enumerated_privacy(watched.observed(mechanism.function), list(domain), which, given)
    changed = watched.changed()
    if changed is not None:
        raise UsageError(f"{mechanism.name} changes {changed} between calls; a program must not keep a state")
    _, high = loss.epsilon
    first, second = loss.pair
    looks = watched.looks()
    comparison = Comparison(0, 0, 0, loss.scope.traces, looks) if looks else None
    infinite = loss.exp_epsilon is None or comparison is not None
    return _Found(
        proof=Proof(
            method="enumeration",
            scope=f"the {len(loss.scope.datasets)} datasets of the domain that was given, under {which}",
            length=None,
            paths=loss.scope.traces,
            certificate=loss.record() if comparison is None else None,
            domain=kept_text(list(domain)) if keep else None,
            comparison=comparison,
        ),
        kind="exact",
        relation=which,
        upper=None if infinite else Fraction(high),
        upper_text=None if infinite else f"ln({loss.exp_epsilon})",
        pair=(domain[first], domain[second]),
        counterexample=None,
        exact_counterexample=None,
        loss=loss if comparison is None else None,
    )


def _released(
    mechanism: Mechanism,
    given: Mapping[str, Any],
    relation: str | Relation | None,
    domain: Mapping[str, Any],
    claim: Claim | None,
    length: int | None,
    data: Any,
) -> _Found:
    if length is not None:
        raise UsageError("a proof from records holds for any number of them; leave out the length")
    claim = claim if claim is not None else mechanism.claim_for(given)
    found = derive(mechanism, given, domain=domain, relation=relation, claim=claim, data=data)
    return _Found(
        proof=Proof(
            method=RELEASES,
            scope=found.scope,
            length=None,
            paths=0 if found.releases is None else found.releases.read,
            certificate=found.certificate,
            domain=kept_text(dict(domain)),
            comparison=Comparison(found.runs, found.passed_over, 0, 0, found.open_ends),
            prices=() if found.certificate is None else prices_alone(found.certificate),
        ),
        kind="proof",
        relation=found.relation,
        upper=found.bound,
        upper_text=None if found.bound is None else str(found.bound),
        pair=found.pair,
        counterexample=None,
        exact_counterexample=None,
        loss=None,
        notion=PureDP(0.0) if claim is None else claim,
    )


def _relation(which: str | Relation) -> Relation:
    return which if isinstance(which, Relation) else parse_relation(which)


# --- what runs show ---------------------------------------------------------------------------------------


def _judged(question: Question, found: _Found, runs: int, request: ProofRequest) -> Evidence:
    claim = question.claim
    upper = None
    if found.upper is not None:
        most, method = rounded(found.upper, "upper"), found.proof.method
        upper = certain_bound(most, found.notion, side="upper", kind=found.kind, method=method, exact=found.upper_text)
    exact = None
    least, text = found.least(question.notion.delta)
    if least is None or least > 0:
        value = math.inf if least is None else rounded(least, "lower")
        exact = certain_bound(value, question.notion, side="lower", kind="exact", method=found.proof.method, exact=text)
    if upper is not None and exact is not None and exact.value > upper.value:
        raise RuntimeError(
            f"{question.mechanism.name} is proved to lose at most {upper.value} and at least {exact.value}"
        )
    looks: TwoLooks | None = None
    try:
        evidence = _sampled(question, found, runs, request) if runs else _unsampled(question)
        lower, contradicts = _best(question, evidence.lower, exact, upper, runs)
        if evidence.attempts and claim is not None:
            by_runs = lower.kind == "sampled" and lower.value > claim.value and not contradicts
            session = Session(request.listen, total=evidence.runs, before=evidence.runs)
            looks = two_looks(replace(question, session=session), evidence.attempts if by_runs else ())
    except InvalidRunsError as error:
        evidence = _unsampled(question, str(error))
        lower, contradicts = exact or evidence.lower, False
    verdict, reason = decide(
        claim,
        lower,
        evidence.detectable,
        looks=looks,
        upper=upper,
        within=claim is not None and found.within(claim),
        scope=found.proof.scope,
        contradicts=contradicts,
        open_ends=() if found.proof.comparison is None else found.proof.comparison.open_ends,
    )
    if contradicts and upper is not None and verdict is Verdict.PROVED:  # the proof cannot hold
        verdict = Verdict.VIOLATED
        reason = (
            f"contradicts the proof: implementation, arithmetic or prover is wrong; ε is at least {shown(lower.value)}"
            f", at {lower.confidence:.6g} confidence, and {upper.exact} was proved to be the most."
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
        **({} if looks is None else looks.members),
    )


def _best(
    question: Question, sampled: Bound, exact: Bound | None, upper: Bound | None, runs: int
) -> tuple[Bound, bool]:
    """Return the lower bound for the headline, and whether it contradicted the proof both times."""
    if exact is not None and exact.value >= sampled.value:
        return exact, False
    if upper is None or sampled.value <= upper.value or _again(question, sampled, runs, upper.value):
        return sampled, upper is not None and sampled.value > upper.value
    # the proof and a second look both contradict the first bound, which stays among the attempts only
    return exact or msgspec.structs.replace(sampled, value=0.0), False


def _unsampled(question: Question, untrusted: str | None = None) -> Evidence:
    """The evidence where there are no runs, or none that can be trusted; ``untrusted`` says why."""
    subject = replace(subject_of(question), claim=None, low_bits="ignore")
    return subject.nothing(Verdict.NO_CLAIM) if untrusted is None else subject.invalid(untrusted)


def _sampled(question: Question, found: _Found, runs: int, request: ProofRequest) -> Evidence:
    """Audit the pair, and measure the counterexample's event separately."""
    exact_counterexample = found.exact_counterexample
    own = 0 if exact_counterexample is None else int(runs * _EVENT_SHARE)
    error = 1 - question.confidence
    share = _EVENT_SHARE if own else 0.0
    evidence = audit(
        question.mechanism,
        parameters=question.parameters,
        claim=question.claim,
        pairs=list(question.pairs),
        relation=question.relation,
        runs=runs - own,
        confidence=1 - error * (1 - share),
        seed=question.seed,
        workers=request.workers,
        backend=request.backend,
        scheduler=request.scheduler,
        listen=request.listen,
        false_alarm=error,  # one look only: a second is decided on once the counterexample's event is counted, too
    )
    evidence = msgspec.structs.replace(evidence, confidence=question.confidence)
    if question.claim is not None and evidence.verdict is not Verdict.INVALID:
        evidence = _foreseen(question, question.claim, evidence)
    if exact_counterexample is None or evidence.verdict is Verdict.INVALID:
        return evidence
    chances = [float(each.high) for each in exact_counterexample.probabilities]
    bound = _measured(question, exact_counterexample.event, chances, own, error * share)
    attempts = (*evidence.attempts, Attempt(0, "counterexample", bound, ()))
    best = max((attempt.bound for attempt in attempts), key=lambda bound: bound.value)
    return msgspec.structs.replace(
        evidence,
        attempts=attempts,
        lower=at_whole(best, question.confidence),
        measuring=evidence.measuring + own,
    )


def _foreseen(question: Question, claim: Claim, evidence: Evidence) -> Evidence:
    """Predict what the audit can detect under the rule of two looks."""
    share = question.rule.planned / question.rule.error
    foreseen = foresee(claim, evidence.attempts, evidence.learning, share)
    return msgspec.structs.replace(evidence, **foreseen.members)


def _measured(question: Question, event: Event, chances: Sequence[float], runs: int, error: float) -> Bound:
    """Count an event that is known in advance, on fresh runs."""
    counts = measure_event(question, 0, event, runs, Phase.WITNESS)
    p, q = (min(max(chance, 1 / runs), 1 - 1 / runs) for chance in chances)
    weight = float(f"{event_weight(p, q, (runs / 2, runs / 2), question.notion):.6g}")
    return measured_bound(
        JOINT, counts, question.notion, weight=weight, event=event, error=error, pair=0, assumes=question.assumptions
    )


def _again(question: Question, sampled: Bound, runs: int, upper: float) -> bool:
    """Whether a bound that contradicts a proof still does on fresh runs, at a much smaller error."""
    assert sampled.event is not None and sampled.pair is not None
    second_look_begins()
    counts = measure_event(question, sampled.pair, sampled.event, runs, Phase.CONFIRMING)
    method = plain(sampled.method)  # the method for many runs, since the fresh ones may be more
    return lower_bound(method, counts, claim=question.notion, weight=sampled.weight, error=_AGAIN) > upper
