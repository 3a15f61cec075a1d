"""Can the claim be believed? The steps of an audit, in their order; no other module knows that order.

learning runs → event (frozen) → fresh measuring runs → counts → lower bound (→ a second look) → verdict → evidence
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Unpack

import msgspec

from dpaudit.auditing.accuracy import accuracy
from dpaudit.auditing.calibration import runs_within
from dpaudit.auditing.checkpoint import refuse_budget, seed_for, session_of
from dpaudit.auditing.pair import few_blocks, learn, measure, with_call_style
from dpaudit.auditing.privacy_curve import PrivacyCurve, choose_statements, curve_of, statement
from dpaudit.auditing.question import LEAST_RUNS, Question, validated, whole
from dpaudit.auditing.recorded import attempt_of, subject_of, target_of, versions_of
from dpaudit.auditing.search import find, first_of, least_of, with_search
from dpaudit.auditing.second_look import two_looks
from dpaudit.auditing.sensitivity import exposing, sensitivity_of
from dpaudit.auditing.sequential import audit_sequentially
from dpaudit.auditing.verdict import TwoLooks, decide, headline_of
from dpaudit.errors import InvalidRunsError, Notice
from dpaudit.events import Lead
from dpaudit.evidence.build import no_bound, run_info
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Histogram, Led, Target, Verdict
from dpaudit.evidence.worst import settled
from dpaudit.loading.named import public_name
from dpaudit.request import AuditOptions, AuditRequest, taking
from dpaudit.sampling.blocks import Phase, Reading, Session
from dpaudit.sampling.outputs import Outputs
from dpaudit.stats.power import Detectable, foresee
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

_LOW_BITS_SHARE = 0.2  # of the error level, if the low-order bits decide too; chosen to cost the other bound little


def audited(request: AuditRequest, leads: tuple[tuple[Lead, ...], ...] = ()) -> Evidence:
    """Carry out an audit by runs; ``leads`` are what a trace of each pair points to."""
    refuse_budget(request)
    started, clock = datetime.now(UTC), time.perf_counter()
    question = replace(validated(replace(request, seed=seed_for(request))), leads=leads)
    if question.alone is not None:
        warnings.warn(question.alone, Notice, stacklevel=4)  # past `audit` and its decorator
    question = replace(question, mechanism=exposing(question.mechanism, request.query, request.sensitivity))
    least = LEAST_RUNS * len(question.pairs) if question.space is None else least_of(question.space)
    total = sum(map(sum, question.fixed)) if question.fixed and question.space is None else 0
    total = total or whole("runs", request.runs, least=LEAST_RUNS * max(len(question.pairs), 1))
    seconds = None
    if request.time_budget is not None:
        # bets are valid whenever they stop, so time may stop them; all else needs a number of runs fixed beforehand
        if request.sequential and question.space is None:
            seconds = request.time_budget
        else:
            total = runs_within(request.time_budget, question, least, partial(_answered, curve=request.curve))
    question, session = session_of(question, request, total, versions_of(question, question.learn))
    try:
        question.engine.connect()
        few = few_blocks(question, total)
        if few is not None:
            warnings.warn(few, Notice, stacklevel=4)
        moved = sensitivity_of(question, session.tell)
        evidence = _answered(question, total, sequential=request.sequential, seconds=seconds, curve=request.curve)
    finally:
        session.close()
        question.engine.close()
    if moved is not None:
        evidence = msgspec.structs.replace(evidence, sensitivity=moved.record())
    named = question.mechanism.reference is not None or public_name(question.mechanism) != question.mechanism.name
    run = msgspec.structs.replace(run_info(started, clock, question.engine.count), named=named)
    return settled(msgspec.structs.replace(evidence, run=run))


def _answered(
    question: Question, total: int, *, sequential: bool = False, seconds: float | None = None, curve: bool = False
) -> Evidence:
    """Search for the worst pair if asked to, settle how runs are made, and carry out the audit."""
    described, found = target_of(question), None
    try:
        if question.space is not None:
            with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # from hundreds of odd datasets
                found = find(question, total)
            question, total = found.question, found.left
        said, question = question.alone, with_call_style(question)
        if question.alone != said:
            warnings.warn(str(question.alone), Notice, stacklevel=5)  # past `audit` and its decorator
        described = target_of(question)
        if sequential:
            evidence = _carry_out_sequentially(question, described, total, seconds)
        else:
            evidence = _carry_out(question, described, total, curve)
    except InvalidRunsError as error:
        made = question.session or Session()
        evidence = subject_of(first_of(question), described).invalid(
            str(error),
            learning=made.runs_for(Phase.LEARNING),
            measuring=made.runs_for(Phase.MEASURING, Phase.SEQUENTIAL),
        )
        evidence = msgspec.structs.replace(evidence, asked=None if question.fixed or seconds is not None else total)
    return evidence if found is None else with_search(evidence, found)


@taking(AuditRequest)
def privacy_curve(target: str | Mechanism | Callable[..., Any], **options: Unpack[AuditOptions]) -> PrivacyCurve:
    """Bound δ(ε) and the trade-off curve of a mechanism from below, at every ε at once.

    Args:
        {options}

    Returns:
        A `PrivacyCurve` with ``delta(epsilon)``, ``fnr(fpr)``, ``points``, ``mu``, ``confidence``, and the evidence of
        the audit that it was computed from.

    Raises:
        UsageError: if the request cannot be carried out as it stands.
        InvalidRunsError: if the runs cannot be trusted.
    """
    options["curve"] = True
    return PrivacyCurve(audited(AuditRequest(target, **options)))


def _carry_out(question: Question, target: Target, total: int, curve: bool) -> Evidence:
    pairs = len(question.pairs)
    error = (1 - question.confidence) / pairs
    low_error = error
    if question.floating_point == "verdict" and question.reads_low_bits:
        error, low_error = (1 - _LOW_BITS_SHARE) * error, _LOW_BITS_SHARE * error
    attempts: list[Attempt] = []
    histograms: list[Histogram] = []
    widths: list[int] = []
    learning = measuring = 0
    fallback_reason: str | None = None
    fixed: list[tuple[int, int]] = []
    statements: list[Bound] = []
    constant: list[int] = []
    unshown: list[Led] = []
    sampled: Outputs | None = None
    # the curve is a finding of its own, at the full confidence
    of_curve = (1 - question.confidence) / pairs
    further = partial(choose_statements, error=of_curve, learn=question.learn) if curve else None
    for pair in range(pairs):
        share = total // pairs + (1 if pair < total % pairs else 0)
        learned = learn(question, pair, share, error, further)
        question = replace(question, made_as=learned.made_as)  # for the second look too
        sampled = sampled or learned.sample
        constant += [pair] if learned.constant else []
        unshown += [learned.led] if learned.led is not None else []
        ahead = question.fixed[pair][1] if question.fixed else share - learned.runs
        fixed += [(learned.runs, ahead)] if question.fixed else []
        measured = measure(question, pair, learned, ahead)
        learning, measuring = learning + learned.runs, measuring + ahead
        attempts += [
            attempt_of(choice, counts, question.notion, error=error, pair=pair, assumes=question.assumptions)
            for choice, counts in zip(learned.choices, measured.counts, strict=True)
        ]
        if learned.low_bits is not None and measured.low_bits is not None:
            attempts.append(
                attempt_of(
                    learned.low_bits,
                    measured.low_bits,
                    question.notion,
                    error=low_error,
                    pair=pair,
                    assumes=question.assumptions,
                    arithmetic="float",
                )
            )
        statements += [
            statement(choice, counts, pair, of_curve, question.assumptions)
            for choice, counts in zip(learned.further, measured.further, strict=True)
        ]
        histograms.append(measured.histogram)
        widths.append(learned.width)
        fallback_reason = fallback_reason or learned.fallback_reason or measured.fallback_reason
    looks = two_looks(question, attempts, widths.__getitem__)
    evidence = _evidence(question, target, attempts, histograms, learning, measuring, fallback_reason, looks)
    whole_curve = curve_of(statements, question.confidence) if curve else None
    shown = evidence.claim is None or evidence.verdict is Verdict.VIOLATED
    led = () if shown else tuple(unshown)
    evidence = msgspec.structs.replace(evidence, accuracy=accuracy(question, sampled, total))
    return msgspec.structs.replace(evidence, fixed=tuple(fixed), curve=whole_curve, constant=tuple(constant), led=led)


def _carry_out_sequentially(question: Question, target: Target, total: int, seconds: float | None) -> Evidence:
    found = audit_sequentially(question, total, seconds)
    evidence = _evidence(
        question,
        target,
        [found.attempt],
        [None] * len(question.pairs),
        found.learning,
        found.measuring,
        found.fallback_reason,
        found.looks,
        found.foreseen,
    )
    asked = None if found.limit == evidence.runs and not found.sequential.looked else found.limit
    return msgspec.structs.replace(evidence, sequential=found.sequential, asked=asked, constant=found.constant)


def _evidence(
    question: Question,
    target: Target,
    attempts: list[Attempt],
    histograms: Sequence[Histogram | None],
    learning: int,
    measuring: int,
    fallback_reason: str | None,
    looks: TwoLooks | None,
    foreseen: Detectable | None = None,
) -> Evidence:
    real = [attempt for attempt in attempts if attempt.bound.arithmetic == "real"]
    best = max(real, key=lambda attempt: attempt.bound.value)
    lower = headline_of([attempt.bound for attempt in real], question.confidence, looks, question.claim)
    low_bits = _low_bits(question, attempts, looks)
    if foreseen is None and question.claim is not None:
        foreseen = foresee(question.claim, real, learning, question.rule.planned / question.rule.error)
    decides = question.floating_point == "verdict"
    verdict, reason = decide(
        question.claim,
        lower,
        None if foreseen is None else foreseen.value,
        low_bits if decides else None,
        looks=looks,
    )
    read = target
    if fallback_reason is not None and question.made_as is not Shape.READ:
        how = "run by run" if question.reading is Reading.BATCH else "compiled, in part as a batch"
        read = msgspec.structs.replace(target, reading=f"{how}: {fallback_reason}")
    return subject_of(question, read, question.learn).evidence(
        verdict,
        reason,
        lower,
        attempts=tuple(attempts),
        histogram=histograms[best.pair],
        learning=learning,
        measuring=measuring,
        floating_point=low_bits,
        **({} if foreseen is None else foreseen.members),
        **({} if looks is None else looks.members),
    )


def _low_bits(question: Question, attempts: list[Attempt], looks: TwoLooks | None) -> Bound | None:
    """The best bound from the low-order bits: 0 if no output has any, None if they are not examined."""
    if not question.reads_low_bits:
        return None
    found = [attempt.bound for attempt in attempts if attempt.bound.arithmetic == "float"]
    if not found:
        return no_bound(question.notion, question.confidence, "float")
    decides = question.floating_point == "verdict"
    return headline_of(found, question.confidence, looks if decides else None, question.claim)
