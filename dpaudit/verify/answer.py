"""What can be said of a claim at once? That it is proved, where it is; else what a trace and runs show.

a function as it is → a proof, where a domain is declared → a trace → runs that measure the pair of one of the two
lists of n numbers  → a proof, and the pair that moves farthest → a trace of it → runs that measure it

Two readings that share nothing but the rewriting have to agree before an audit says PROVED: the proof over all data,
and the trace of runs on neighbours. Everything else that is audited is audited by runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from dpaudit.auditing.audit import affordable, audited, two_looks
from dpaudit.auditing.pair import measure_event
from dpaudit.auditing.question import Question, given_or_fresh, made_up, subject_of, validated, whole
from dpaudit.auditing.verdict import TwoLooks, decide, headline_of, measured_bound, shown
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.events import event_weight
from dpaudit.evidence.build import at_whole, certain_bound, run_info
from dpaudit.evidence.event import Event
from dpaudit.evidence.evidence import Evidence, against
from dpaudit.evidence.records import NOT_ACCEPTED, Attempt, Bound, Comparison, Verdict
from dpaudit.loading import load, public_name
from dpaudit.neighbours.domain import is_two_numbers, parse_all
from dpaudit.privacy.claims import as_claim
from dpaudit.processes import second_look_begins
from dpaudit.program.symbolic.linear import budget
from dpaudit.reading.source import is_own
from dpaudit.request import (
    AuditOptions,
    AuditRequest,
    ProofOptions,
    ProofRequest,
    TraceRequest,
    proof_for,
    taking,
    trace_for,
)
from dpaudit.sampling.checkpoint import Phase, Session
from dpaudit.stats.joint_region import lower_bound
from dpaudit.stats.methods import JOINT, plain
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.certificate import rounded
from dpaudit.verify.proofs import answers, check_proof, kind_asked, open_ends
from dpaudit.verify.proofs.kind import Conclusion, Goal, NotShownError, named

if TYPE_CHECKING:
    from dpaudit.auditing.trace import Tracing

_CONTRADICTS = (
    "the reading for all data found that the claim is kept, and this contradicts it, so that nothing is proved: "
    "implementation, arithmetic or prover is wrong"
)
_FEW = 50  # candidates for the worst neighbours that a trace tries beside a proof of the claim
_MOST_NAMED = 6  # columns that a sentence lists
_CERTAINLY, _IN_WORDS = "certainly", "in words"


@taking(AuditRequest)
def audit(target: str | Mechanism | Callable[..., Any], **options: Unpack[AuditOptions]) -> Evidence:
    """Audit a mechanism: compute a certified lower bound of its privacy loss and compare it with the claim.

    A function as it is, with noise of its own, is traced and measured on the neighbours of its data. Where a domain of
    columns is declared, or a range of so many numbers, its claim is proved for all such data, if it can be.

    Args:
        {options}

    Returns:
        The evidence. Its verdict is INVALID if the runs cannot be trusted.

    Raises:
        UsageError: if the request cannot be carried out as it stands.
    """
    request = AuditRequest(target, **options)
    if request.length is not None:
        return _of_numbers(request)
    asked = _as_trace(request)
    return audited(request) if asked is None else _answer(asked)


def _as_trace(request: AuditRequest) -> TraceRequest | None:
    """Return the trace that answers an audit of a function of the user's own, which is read; None for any other."""
    asked = trace_for(request)
    if asked is None:
        return None
    mechanism = load(request.target)
    own = is_own(getattr(mechanism.function, "__func__", mechanism.function)) and mechanism.query is None
    return asked if own and mechanism.shape in (Shape.OPAQUE, Shape.SEEDED) else None


def _answer(asked: TraceRequest) -> Evidence:
    """Return the evidence of the proof or of the trace: which one is settled before anything is measured."""
    from dpaudit.auditing.trace import Tracing  # an audit of anything else starts without them

    asked = replace(asked, seed=given_or_fresh(asked.seed))
    wanted = proof_for(asked)
    if wanted is None:
        return _with_proof_told(Tracing.of(asked).concluded(), _not_asked(asked))
    try:
        proof = proving(wanted)
    except UsageError as error:
        return _with_proof_told(Tracing.of(asked).concluded(), str(error))
    said = f"{proof.why_not} (dpaudit prove tells more)"
    if proof.found.upper is not None:
        few = Tracing.of(replace(asked, candidates=min(asked.candidates, _FEW)))
        spoken = _speaks_against(few, proof)
        if spoken == ("" if proof.keeps_claim else _IN_WORDS):
            return proof.measured()  # on the pair of the proof, which is small, and shows more
        said = _CONTRADICTS if proof.keeps_claim else said
    proof.question.engine.close()
    return _with_proof_told(Tracing.of(asked).concluded(), said)


def _of_numbers(request: AuditRequest) -> Evidence:
    """Return the evidence of an audit on lists of so many numbers: of the proof, and of the pair that it ends in."""
    from dpaudit.auditing.trace import Tracing

    request = replace(request, seed=given_or_fresh(request.seed))
    asked, wanted = trace_for(request), proof_for(request)
    if asked is None or wanted is None or request.data is not None or not is_two_numbers(request.domain):
        raise UsageError(
            "a length is of lists of numbers within a range, whose worst pair is found by a proof: give "
            "domain=(0, 1), length=3 (--domain '[0, 1]' --length 3), without data or pairs, or what only runs can be "
            "asked for"
        )
    proof = proving(wanted)
    if not proof.keeps_claim:
        return proof.measured()
    tracing = Tracing.of(replace(asked, domain=None, pairs=[proof.found.pair], relation=proof.question.relation))
    if _speaks_against(tracing, proof):
        proof.question.engine.close()
        return _with_proof_told(tracing.concluded(), _CONTRADICTS)
    return proof.measured()


def _speaks_against(tracing: Tracing, proof: Proving) -> str:
    """Say whether a trace speaks against the claim or the bound: with certainty, or in words alone; "" for not."""
    seen, most = tracing.concluded(measured=False), proof.found.upper
    if seen.relation != str(proof.question.relation):
        return _CERTAINLY
    if seen.verdict in (Verdict.VIOLATED, Verdict.INVALID) or (most is not None and seen.lower.value > most):
        return _CERTAINLY
    return _IN_WORDS if against(seen) else ""


def _not_asked(asked: TraceRequest) -> str:
    """Say why an audit of data asks for no proof: they are no data frame, or no domain is declared."""
    if asked.data is None:
        return ""
    return _no_frame(load(asked.target), asked.data) or _undeclared(asked)


def _no_frame(mechanism: Mechanism, data: Any) -> str:
    """Say that a proof is of data frames, where the data are none, and how one is handed over; "" where they are."""
    if hasattr(data, "columns"):
        return ""
    name = mechanism.name.rpartition(":")[2]
    handed = 'df.to_dict("records")' if isinstance(data, list) else "df.to_numpy()"
    return (
        f"a proof is of data frames, whose columns are declared, and these data are of the type {type(data).__name__}; "
        f"a function of one line hands them over: def of_frame(df): return {name}({handed})"
    )


def _undeclared(asked: TraceRequest) -> str:
    """Say what to declare: by name, the columns that stand in the function, or one; never what the data hold."""
    from dpaudit.reading.universe.drive import texts_in

    kinds = getattr(asked.data, "dtypes", None)
    listed = [] if kinds is None or getattr(asked.data, "ndim", 0) != 2 else list(kinds.items())
    written = set(texts_in(load(asked.target).function))
    used = [(name, kind) for name, kind in listed if name in written]
    used = used or sorted(listed, key=lambda column: column[1].kind not in "iuf")[:1]  # a proof is of one, at least
    forms = [f"'{name}={'[LOW, HIGH]' if kind.kind in 'iuf' else '[VALUES]'}'" for name, kind in used[:_MOST_NAMED]]
    more = " …" if len(used) > _MOST_NAMED else ""
    given = " ".join(f"--domain {form}" for form in forms or ["'age=[0, 120]'"])
    return f"no domain is declared; say what the columns that are used may hold, whatever the data are: {given}{more}"


def _with_proof_told(evidence: Evidence, said: str) -> Evidence:
    """Return the evidence of a trace that also says what came of the proof."""
    if not said or evidence.trace is None:
        return evidence
    trace = msgspec.structs.replace(evidence.trace, unproved=said.removesuffix("."))
    return msgspec.structs.replace(evidence, trace=trace)


# --- How much can a program lose at most, how much does it certainly lose, and what do runs of it show? ---
#
# The only module that knows the order of a proof: first the upper bound with its certificate, then the counterexample
# with its exact probabilities (a lower bound), then an audit of the same function on the counterexample's pair. The
# three numbers are kept apart: the first is certain for all data of the proof's scope, the second is certain for one
# pair, and the third holds at a confidence.

_EVENT_SHARE = 0.5  # of the error and of the runs go to the counterexample's event; an even split
_AGAIN = 1e-6  # the error at which a bound that contradicts a proof is measured again
_LEAST_RUNS = 400  # below this a bound shows next to nothing


@taking(ProofRequest)
def prove(target: str | Mechanism | Any, **options: Unpack[ProofOptions]) -> Evidence:
    """Prove an upper bound of a program's ε, look for a counterexample, and confirm it by runs.

    Args:
        {options}

    Returns:
        Evidence with ``upper``, ``exact``, ``counterexample`` and ``proof`` where they exist.

    Raises:
        UsageError: if the program cannot be read (the sentence names its line), or the request cannot be carried out.
    """
    return proving(ProofRequest(target, **options)).measured()


@dataclass(frozen=True, slots=True)
class Proving:
    """What is certain of a program, before runs show more."""

    request: ProofRequest  # what was asked
    question: Question  # about the pair that the proof ended in
    found: Conclusion  # the proof, as far as its check accepted it
    runs: int  # how many were asked for
    started: tuple[datetime, float]  # when, and on the clock that counts seconds

    @property
    def keeps_claim(self) -> bool:
        """Whether an upper bound was found, and is at most the claim if there is one."""
        claim = self.question.claim
        return self.found.upper is not None and (claim is None or self.found.within(claim))

    @property
    def why_not(self) -> str:
        """Why the claim is not proved, without a full stop; empty where it is."""
        if self.keeps_claim:
            return ""
        if self.found.upper is not None:
            return f"what is proved, {self.found.notion.symbol} ≤ {self.found.upper_text}, is more than the claim"
        ends = open_ends(self.found.proof)
        return ends[0] if ends else "no finite bound was found"

    def measured(self) -> Evidence:
        """Return the evidence, with what runs show of the pair."""
        question = self.question
        try:
            evidence = _judged(question, self.found, self._affordable(), self.request)
        finally:
            question.engine.close()
        (pair,), (record,) = question.pairs, question.records
        evidence = msgspec.structs.replace(evidence, pairs=(made_up(record, pair, question.relation),))
        if evidence.verdict is Verdict.INVALID:
            evidence = msgspec.structs.replace(evidence, asked=self.runs)
        return msgspec.structs.replace(evidence, run=run_info(*self.started, self.request.workers))

    def _affordable(self) -> int:
        """Return how many runs are made: fewer than were asked for of a slow function that draws its own noise."""
        return affordable(self.question, self.runs, self.request.seconds)


def proving(request: ProofRequest) -> Proving:
    """Carry out the part of a proof that needs no runs of the target for its numbers."""
    target, length, domain = request.target, request.length, request.domain
    started = datetime.now(UTC), time.perf_counter()
    mechanism = load(target)
    mechanism.digest  # noqa: B018 – of the code as it is before it is read
    total = whole("runs", request.runs, least=0)
    if 0 < total < _LEAST_RUNS:
        raise UsageError(f"runs is 0, for none, or at least {_LEAST_RUNS}, not {total}")
    if is_two_numbers(domain) and (length is not None or mechanism.shape is not Shape.PROGRAM):
        domain = tuple(domain)  # type: ignore[arg-type]
    if mechanism.shape is not Shape.PROGRAM and not isinstance(domain, Mapping | tuple):
        raise UsageError(
            f"{mechanism.name} is of the kind '{mechanism.shape}': only a program, f(data, noise, **parameters), is "
            "proved of answers; a function that draws its own noise is proved from records: say what each column of "
            "its data frame may hold, such as domain={'age': (0, 120)} (--domain 'age=[0, 120]'), or from numbers: "
            "domain=(0, 1), length=3 (--domain '[0, 1]' --length 3)"
        )
    given = mechanism.parameters_with(request.parameters)
    root = whole("seed", given_or_fresh(request.seed), least=0)
    if domain is not None and not isinstance(domain, str) and length is not None and not isinstance(domain, tuple):
        raise UsageError("a domain that lists all datasets has their lengths too; leave out the length")
    if request.data is not None and not isinstance(domain, Mapping):
        raise UsageError(
            "data are held against a domain by columns, such as domain={'age': (0, 120)} (--domain 'age=[0, 120]'); "
            "give one, or leave out the data"
        )
    if request.data is not None and (why := _no_frame(mechanism, request.data)):
        raise UsageError(why)
    stated = parse_all(request.given)
    if stated and not isinstance(domain, Mapping):
        raise UsageError(
            "a movement is given of a line of a function of records; say what each column of its data frame may hold, "
            "such as domain={'age': (0, 120)} (--domain 'age=[0, 120]'), or leave out what is given"
        )
    kind = kind_asked(domain, length)
    asked = Goal(
        mechanism,
        given,
        request.relation,
        length,
        domain,
        as_claim(request.claim),
        runs=total,
        seed=root,
        data=request.data,
        keep=request.keep_data,
        seconds=request.time_budget,
        given=stated,
    )
    with budget(request.steps, request.time_budget, mechanism.name):
        conclusion = named(kind.prove(asked), public_name(mechanism))
    question = validated(
        AuditRequest(
            mechanism,
            parameters=given,
            claim=request.claim,
            pairs=[conclusion.pair],
            relation=conclusion.relation,
            confidence=request.confidence,
            seed=root,
            workers=request.workers,
            backend=request.backend,
            scheduler=request.scheduler,
            false_alarm=request.false_alarm,
        )
    )
    if question.claim is not None and not question.claim.is_point and kind.only_epsilon:
        raise UsageError(f"a proof bounds ε, which says nothing of {question.claim}; give an epsilon=… claim")
    return Proving(request, question, _accepted(question, conclusion), total, started)


def _accepted(question: Question, conclusion: Conclusion) -> Conclusion:
    """Return what was found, without what its own check does not accept: nothing else is ever called proved.

    Every kind of proof passes here, and is held against the evidence that will state it, before anything is run.
    """
    if conclusion.counterexample is not None and not answers.is_readable(conclusion.counterexample.record):
        conclusion = replace(conclusion, counterexample=None, exact_counterexample=None)
    claim = None if question.claim is None else str(question.claim)
    try:
        shown = check_proof(
            msgspec.structs.replace(_unsampled(question), claim=claim, **_certain(question, conclusion))
        )
        refused, is_record = shown.unseen, True
    except NotShownError as error:
        refused, is_record = str(error), False
    if not refused:
        return conclusion
    if conclusion.upper is None:
        raise RuntimeError(f"the record of a proof of {question.mechanism.name} is none: {refused}")
    is_kept = is_record and conclusion.loss is not None  # from whose laws a lower bound follows all the same
    proof = conclusion.proof
    comparison = proof.comparison or Comparison(0, 0, 0, proof.paths)
    comparison = msgspec.structs.replace(comparison, open_ends=(f"{NOT_ACCEPTED} {refused}", *comparison.open_ends))
    proof = msgspec.structs.replace(
        proof, certificate=proof.certificate if is_kept else None, comparison=comparison, prices=()
    )
    return replace(conclusion, upper=None, upper_text=None, proof=proof, loss=conclusion.loss if is_kept else None)


def _certain(question: Question, conclusion: Conclusion) -> dict[str, Any]:
    """Return the members of evidence that state what is certain."""
    upper = exact = None
    method = conclusion.proof.method
    if conclusion.upper is not None:
        most = rounded(conclusion.upper, "upper")
        upper = certain_bound(
            most, conclusion.notion, side="upper", kind=conclusion.kind, method=method, exact=conclusion.upper_text
        )
    least, text = conclusion.least(question.notion.delta)
    if least is None or least > 0:
        value = math.inf if least is None else rounded(least, "lower")
        exact = certain_bound(value, question.notion, side="lower", kind="exact", method=method, exact=text)
    if upper is not None and exact is not None and exact.value > upper.value:
        raise RuntimeError(
            f"{question.mechanism.name} is proved to lose at most {upper.value} and at least {exact.value}"
        )
    return {"upper": upper, "exact": exact, "proof": conclusion.proof, "counterexample": conclusion.counterexample}


# --- what runs show ---------------------------------------------------------------------------------------


def _judged(question: Question, conclusion: Conclusion, runs: int, request: ProofRequest) -> Evidence:
    claim, certain = question.claim, _certain(question, conclusion)
    upper, exact = certain["upper"], certain["exact"]
    looks: TwoLooks | None = None
    try:
        evidence = _sampled(question, conclusion, runs, request) if runs else _unsampled(question)
        lower, contradicts = _best(question, evidence.lower, exact, upper, runs)
        if evidence.attempts and claim is not None:
            by_runs = lower.kind == "sampled" and lower.value > claim.value and not contradicts
            session = Session(request.listen, total=evidence.runs, before=evidence.runs)
            looks = two_looks(replace(question, session=session), evidence.attempts if by_runs else ())
            if looks is not None and looks.second is not None and not looks.violated:
                real = [each.bound for each in evidence.attempts if each.bound.arithmetic == "real"]
                lower = headline_of(real, question.confidence, looks, claim)
                lower = exact if exact is not None and exact.value >= lower.value else lower
    except InvalidRunsError as error:
        evidence = _unsampled(question, str(error))
        lower, contradicts = exact or evidence.lower, False
    verdict, reason = decide(
        claim,
        lower,
        evidence.detectable,
        looks=looks,
        upper=upper,
        within=claim is not None and conclusion.within(claim),
        scope=conclusion.proof.scope,
        contradicts=contradicts,
        open_ends=open_ends(conclusion.proof),
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
        **certain,
        **({} if looks is None else looks.members),
    )


def _best(
    question: Question, sampled: Bound, exact: Bound | None, upper: Bound | None, runs: int
) -> tuple[Bound, bool]:
    """Return the lower bound for the headline, and whether it contradicted the proof both times."""
    if exact is not None and exact.value >= sampled.value:
        return exact, False
    if upper is None or sampled.value <= upper.value or _still_contradicts(question, sampled, runs, upper.value):
        return sampled, upper is not None and sampled.value > upper.value
    # the proof and a second look both contradict the first bound, which stays among the attempts only
    return exact or msgspec.structs.replace(sampled, value=0.0), False


def _unsampled(question: Question, untrusted: str | None = None) -> Evidence:
    """The evidence where there are no runs, or none that can be trusted; ``untrusted`` says why."""
    subject = replace(subject_of(question), claim=None, low_bits="ignore")
    return subject.nothing(Verdict.NO_CLAIM) if untrusted is None else subject.invalid(untrusted)


def _sampled(question: Question, conclusion: Conclusion, runs: int, request: ProofRequest) -> Evidence:
    """Audit the pair, and measure the counterexample's event separately."""
    exact_counterexample = conclusion.exact_counterexample
    own = 0 if exact_counterexample is None else int(runs * _EVENT_SHARE)
    error = 1 - question.confidence
    share = _EVENT_SHARE if own else 0.0
    asked = AuditRequest(
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
    evidence = audited(asked, later=question.rule)
    evidence = msgspec.structs.replace(evidence, confidence=question.confidence)
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


def _measured(question: Question, event: Event, chances: Sequence[float], runs: int, error: float) -> Bound:
    """Count an event that is known in advance, on fresh runs."""
    counts = measure_event(question, 0, event, runs, Phase.WITNESS)
    p, q = (min(max(chance, 1 / runs), 1 - 1 / runs) for chance in chances)
    weight = float(f"{event_weight(p, q, (runs / 2, runs / 2), question.notion):.6g}")
    return measured_bound(
        JOINT, counts, question.notion, weight=weight, event=event, error=error, pair=0, assumes=question.assumptions
    )


def _still_contradicts(question: Question, sampled: Bound, runs: int, upper: float) -> bool:
    """Whether a bound that contradicts a proof still does on fresh runs, at a much smaller error."""
    assert sampled.event is not None and sampled.pair is not None
    second_look_begins()
    counts = measure_event(question, sampled.pair, sampled.event, runs, Phase.CONFIRMING)
    method = plain(sampled.method)  # the method for many runs, since the fresh ones may be more
    return lower_bound(method, counts, claim=question.notion, weight=sampled.weight, error=_AGAIN) > upper
