"""Can the claim be believed? The steps of an audit, in their order; no other module knows that order.

learning runs → event (frozen) → fresh measuring runs → counts → lower bound (→ a second look) → verdict → evidence
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import msgspec
import numpy as np

from dpaudit.auditing import search, sensitivity
from dpaudit.auditing.accuracy import accuracy
from dpaudit.auditing.pair import (
    READ_RUNS,
    LearnedPair,
    MeasuredPair,
    few_blocks,
    learn,
    measure,
    measure_event,
    read_of,
    with_call_style,
)
from dpaudit.auditing.question import (
    LEAST_RUNS,
    Question,
    attempt_of,
    fresh_seed,
    subject_of,
    target_of,
    validated,
    versions_of,
    whole,
)
from dpaudit.auditing.sequential import PrivacyCurve, audit_sequentially, choose_statements, curve_of, statement
from dpaudit.auditing.verdict import TwoLooks, decide, headline_of
from dpaudit.errors import InvalidRunsError, Notice, UsageError
from dpaudit.events import Lead
from dpaudit.evidence.build import no_bound, run_info
from dpaudit.evidence.canonical_json import plain_value
from dpaudit.evidence.event import Event
from dpaudit.evidence.evidence import Evidence, settled
from dpaudit.evidence.records import Attempt, Bound, Histogram, SecondLook, Target, Verdict
from dpaudit.loading import public_name
from dpaudit.neighbours.digest import digest
from dpaudit.processes import second_look_begins
from dpaudit.request import AuditOptions, AuditRequest, options_of, taking
from dpaudit.sampling.checkpoint import Checkpoint, Phase, RunBlock, Session, question_in
from dpaudit.sampling.outputs import Outputs
from dpaudit.sampling.play import RepeatDetector, play
from dpaudit.settings import Taken, lent
from dpaudit.stats.two_looks import Detectable, FirstLook, LooksRule, first_look, foresee, second_look, second_method
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

# --- How does an interrupted audit continue where it stopped? ---
#
# Finished blocks are kept in a file (`dpaudit.sampling.checkpoint`). Every random draw depends only on the seed and on
# the number of its block, so the missing blocks are run exactly as they would have been, and the evidence equals that
# of an uninterrupted audit. This holds only for the same question, so everything that the answer depends on is stored
# with the blocks.


def session_of(
    question: Question, request: AuditRequest, runs: int, versions: Mapping[str, str]
) -> tuple[Question, Session]:
    """Attach the session in which a question is answered; the caller must close it at the end."""
    session = Session(request.listen, runs)
    if request.resume is not None:
        session.checkpoint = Checkpoint(Path(request.resume).absolute(), described(question, request, runs, versions))
    return replace(question, session=session), session


def described(question: Question, request: AuditRequest, runs: int, versions: Mapping[str, str]) -> dict[str, Any]:
    """Return everything that the answer to a question depends on, as JSON values by name.

    Options are recorded as they were requested, except those that the mechanism may supply, and data.
    """
    mechanism, space = question.mechanism, question.space
    asked = {name: plain_value(getattr(request, name)) for name, each in options_of(AuditRequest).items() if each.asked}
    return {
        "target": mechanism.name,
        "code of the target": mechanism.digest,
        "file of the target": _file_digest(mechanism.function),
        **asked,
        "parameters": {name: plain_value(value) for name, value in question.parameters.items()},
        "runs": runs,
        "claim": None if question.claim is None else str(question.claim),
        "relation": str(question.relation),
        "pairs": [[record.digest0, record.digest1] for record in question.records],
        "data": None if space is None else [space.source, space.digest],
        "domain": None if space is None else digest([space.domain, space.beyond]),
        "seed": question.seed,
        "observe": list(question.observe),
        **{f"version of {name}": value for name, value in versions.items()},
    }


def _file_digest(function: Any) -> str | None:
    """The SHA-256 of the file that defines a function: what it uses there may matter as much as its own source."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
        return None if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except (TypeError, OSError, ValueError):
        return None


def seed_for(request: AuditRequest) -> int | None:
    """Return the requested seed; without one, the seed in the file of finished blocks, or None if there is none."""
    if request.seed is not None or request.resume is None:
        return request.seed
    begun = question_in(Path(request.resume).absolute())
    kept = None if begun is None else begun.get("seed")
    return kept if isinstance(kept, int) else None


def refuse_budget(request: AuditRequest) -> None:
    """Raise `UsageError` if a time budget cannot determine the number of runs."""
    seconds = request.time_budget
    if seconds is None:
        return
    if request.resume is not None:
        raise UsageError(
            "with a time budget the number of runs depends on the speed of the machine, so that an audit cannot be "
            "resumed; give runs, or leave out resume"
        )
    if not 0 < seconds < math.inf:
        raise UsageError(f"time_budget is a positive number of seconds, not {seconds!r}")


# --- How many runs fit into a number of seconds? Measured first, by runs that are thrown away ---
#
# A few calls show whether there is time for a rehearsal. Then the whole audit is rehearsed with a seed of its own and
# ever more runs, until a tenth of the time is spent; choosing events, searching and everything else is thus timed
# together with the runs. The result is a single number of runs. The audit continues as if that number had been
# requested: passing the same number as ``runs`` gives the same evidence. On a machine that turns out to be slower, the
# audit takes longer.

# chosen by taste: rehearsals should cost little, and a run of bad luck should not exceed the budget
_SHARE, _LONGEST = 0.1, 10.0  # no longer rehearsal begins after this share of the time, or after so many seconds
_USED = 0.9  # share of the remaining time that is planned for
_GROWTH = 10  # largest factor between two rehearsals
_CALLS, _FEW_CALLS = 2, 400
_LEAST_MEASURED = 60  # runs; fewer show not even that outputs tell the sides apart
_REHEARSED = 3  # calls that say how long one takes
_FAR = 10
_READ_CALLS = 64, 1024, 16_384  # runs of a block
_TIMED = 0.2  # share of the time that the last of these may take
_WITH_OUTPUT = 2  # times as long as it takes to make it; learning from outputs and counting them takes the rest


def runs_within(seconds: float, question: Question, least: int, audit: Callable[[Question, int], Evidence]) -> int:
    """Return how many runs an audit can make within a time budget."""
    begun = time.perf_counter()
    rehearsed = replace(
        question,
        seed=fresh_seed(),
        watch=RepeatDetector(),
        session=None,
        false_alarm=1 - question.confidence,  # one look
    )
    each, runs = _of_a_call(search.first_of(rehearsed)), least
    while each * runs < seconds:
        clock = time.perf_counter()
        with warnings.catch_warnings(action="ignore", category=Notice):
            evidence = audit(rehearsed, runs)
        if evidence.verdict is Verdict.INVALID:  # the audit will find the same
            break
        now = time.perf_counter()
        each = (now - clock) / runs
        room = min(_SHARE * seconds, _LONGEST) - (now - begun)
        larger = min(int(room / each), _GROWTH * runs)
        if larger < 2 * runs:
            break
        runs = larger
    left = seconds - (time.perf_counter() - begun)
    return max(int(_USED * left / each), least)


def _of_a_call(question: Question, calls: int = _CALLS, times: int = 2) -> float:
    """Return how many seconds a call takes. Measured twice where the first calls may include preparation."""
    spent = 0.0
    for index in range(times):
        taken = Taken()
        with contextlib.suppress(InvalidRunsError):
            list(play(question.experiment, [RunBlock(Phase.TIMING, 0, index, calls)], _nothing))
        spent = taken.seconds()
    return spent / calls


def _nothing(side0: object, side1: object) -> None:
    """Discard the outputs of a block."""


def affordable(question: Question, runs: int, seconds: float | None) -> int:
    """How many runs measure a pair that is known: fewer than asked for where a call takes long, none where few."""
    least = max(_LEAST_MEASURED, LEAST_RUNS * len(question.pairs))
    shape = question.mechanism.shape
    of_records = hasattr(question.pairs[0][0], "columns")
    if not runs or seconds is None or shape is Shape.SAMPLER or (shape is Shape.PROGRAM and not of_records):
        return runs
    if shape is Shape.PROGRAM:
        each = _of_a_call(search.first_of(question), _FEW_CALLS)  # one call for all of them, where its noise is read so
    elif (read := read_of(question, READ_RUNS)) is not None:  # as many as the audit asks, which else calls each run
        each = _seconds_of_a_read_run(search.first_of(read), seconds / runs, _TIMED * seconds)
        if each * runs < seconds:
            return runs
    else:
        each = _seconds_of_a_call(question, seconds / least)
    may = int(seconds / max(each, 1e-9))
    if may >= runs:
        return runs
    return 0 if may < least else int(float(f"{may:.2g}"))


def _seconds_of_a_read_run(question: Question, enough: float, room: float) -> float:
    """Return how long one more run takes where all are read at once, with what is done with its output, at most.

    Of a few runs each takes longer, as what is done once counts for them: less than ``enough`` needs no other look, and
    no look takes more than about ``room`` seconds.
    """
    few, *larger = _READ_CALLS
    each = _of_a_call(question, few, 1)
    if _WITH_OUTPUT * each < enough:
        return _WITH_OUTPUT * each
    each = min(each, _of_a_call(question, few, 1))
    least = few * each
    for many in larger:
        if _WITH_OUTPUT * each < enough or (many > larger[0] and many * each > room):
            break
        each = max(many * _least_of_a_call(question, many) - least, 0.0) / (many - few)
    return _WITH_OUTPUT * each


def _least_of_a_call(question: Question, calls: int) -> float:
    """Return the seconds of a call, the less of two: what is done once may take longer than what is asked for."""
    return min(_of_a_call(question, calls, 1) for _ in range(2))


def _seconds_of_a_call(question: Question, enough: float) -> float:
    """Return how long a call takes, the shortest of a few; the first, where that is far more than ``enough``."""
    mechanism = question.mechanism
    rng = np.random.default_rng(0)
    filled = {"rng": rng, "size": 1}
    took = []
    for number in range(_REHEARSED):
        data = question.pairs[0][number % 2]
        taken = Taken()
        try:
            with lent():
                mechanism.function(data, **{name: filled[name] for name in mechanism.asked}, **question.parameters)
        except (Exception, SystemExit):
            pass  # an exception is an output, and takes its time too
        took.append(taken.seconds())
        if took[-1] > _FAR * enough:
            break
    return min(took)


# --- Is a bound above the claim found again? The second look of an audit, at fresh runs of the frozen event ---
#
# `dpaudit.stats.two_looks` says when a second look is due and what it decides; this module carries it out.


def two_looks(
    question: Question,
    attempts: Sequence[Attempt],
    width: Callable[[int], int] = lambda pair: 1,
) -> TwoLooks | None:
    """Look at all attempts, and a second time if one look is not enough; None without a claim.

    Args:
        question: what is audited.
        attempts: what was measured; attempts in the low-order bits decide only if the question says so.
        width: returns how many numbers an output of a pair holds.

    Returns:
        The first look, and the second if there was one; None without a claim.

    Raises:
        InvalidRunsError: if the fresh runs cannot be trusted.
    """
    if question.claim is None:
        return None
    rule = question.rule
    deciding = [
        (number, attempt.bound)
        for number, attempt in enumerate(attempts)
        if attempt.bound.counts is not None
        and (attempt.bound.arithmetic == "real" or question.floating_point == "verdict")
    ]
    first = first_look(rule, deciding, question.claim)
    second = None
    if first is not None and not first.sure and rule.twice:
        second = _second_look(question, attempts[first.attempt], first, width)
    return TwoLooks(rule, first, second)


def _second_look(
    question: Question,
    attempt: Attempt,
    first: FirstLook,
    width: Callable[[int], int],
) -> SecondLook:
    bound, claim = attempt.bound, question.claim
    assert claim is not None and isinstance(bound.event, Event)
    _, runs = second_method(bound)

    if question.session is not None:
        question.session.total += runs
    second_look_begins()
    counts = measure_event(
        question,
        attempt.pair,
        bound.event,
        runs,
        Phase.SECOND_LOOK,
        graded=isinstance(bound.weight, tuple),
        width=width(attempt.pair),
    )
    return second_look(question.rule, first, bound, counts, claim)


_LOW_BITS_SHARE = 0.2  # of the error level, if the low-order bits decide too; chosen to cost the other bound little


def audited(
    request: AuditRequest, leads: tuple[tuple[Lead, ...], ...] = (), later: LooksRule | None = None
) -> Evidence:
    """Carry out an audit by runs.

    Args:
        request: what is asked.
        leads: what a trace of each pair points to.
        later: the rule by which whoever asks decides on what was measured.
    """
    refuse_budget(request)
    started, clock = datetime.now(UTC), time.perf_counter()
    question = replace(validated(replace(request, seed=seed_for(request))), leads=leads, later=later)
    if question.alone is not None:
        warnings.warn(question.alone, Notice, stacklevel=4)  # past `audit` and its decorator
    question = replace(question, mechanism=sensitivity.exposing(question.mechanism, request.query, request.sensitivity))
    least = LEAST_RUNS * len(question.pairs) if question.space is None else search.least_of(question.space)
    total = whole("runs", request.runs, least=LEAST_RUNS * max(len(question.pairs), 1))
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
        moved = sensitivity.sensitivity_of(question, session.tell)
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
    described, searched = target_of(question), None
    try:
        if question.space is not None:
            with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # from hundreds of odd datasets
                searched = search.find(question, total)
            question, total = searched.question, searched.left
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
        evidence = subject_of(search.first_of(question), described).invalid(
            str(error),
            learning=made.runs_for(Phase.LEARNING),
            measuring=made.runs_for(Phase.MEASURING, Phase.SEQUENTIAL),
        )
        evidence = msgspec.structs.replace(evidence, asked=None if seconds is not None else total)
    return evidence if searched is None else search.with_search(evidence, searched)


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


@dataclass(frozen=True, slots=True)
class _Done:
    """A pair that was learned and measured, with what its counts prove."""

    learned: LearnedPair
    measured: MeasuredPair
    ahead: int  # measuring runs
    attempts: tuple[Attempt, ...]
    statements: tuple[Bound, ...]  # of the curve


def _carry_out(question: Question, target: Target, total: int, curve: bool) -> Evidence:
    pairs = len(question.pairs)
    error = (1 - question.confidence) / pairs
    low_error = of_curve = error  # the curve is a finding of its own, at the full confidence
    if question.floating_point == "verdict" and question.reads_low_bits:
        error, low_error = (1 - _LOW_BITS_SHARE) * error, _LOW_BITS_SHARE * error
    further = partial(choose_statements, error=of_curve, learn=question.learn) if curve else None
    sampled: Outputs | None = None
    done: list[_Done] = []
    for pair in range(pairs):
        share = total // pairs + (1 if pair < total % pairs else 0)
        learned = learn(question, pair, share, error, further)
        sampled, learned = sampled or learned.sample, replace(learned, sample=None)
        question = replace(question, made_as=learned.made_as)  # for the second look too
        ahead = share - learned.runs
        measured = measure(question, pair, learned, ahead)
        bound = partial(attempt_of, notion=question.notion, pair=pair, assumes=question.assumptions)
        counted = zip(learned.choices, measured.counts, strict=True)
        attempts = [bound(choice, counts, error=error) for choice, counts in counted]
        if learned.low_bits is not None and measured.low_bits is not None:
            attempts.append(bound(learned.low_bits, measured.low_bits, error=low_error, arithmetic="float"))
        statements = [
            statement(choice, counts, pair, of_curve, question.assumptions)
            for choice, counts in zip(learned.further, measured.further, strict=True)
        ]
        done.append(_Done(learned, measured, ahead, tuple(attempts), tuple(statements)))
    attempts = [attempt for each in done for attempt in each.attempts]
    looks = two_looks(question, attempts, lambda pair: done[pair].learned.width)
    evidence = _evidence(
        question,
        target,
        attempts,
        [each.measured.histogram for each in done],
        sum(each.learned.runs for each in done),
        sum(each.ahead for each in done),
        next(filter(None, (one.fallback_reason for each in done for one in (each.learned, each.measured))), None),
        looks,
    )
    shown = evidence.claim is None or evidence.verdict is Verdict.VIOLATED
    return msgspec.structs.replace(
        evidence,
        accuracy=accuracy(question, sampled, total),
        curve=curve_of([one for each in done for one in each.statements], question.confidence) if curve else None,
        constant=tuple(pair for pair, each in enumerate(done) if each.learned.constant),
        led=() if shown else tuple(each.learned.led for each in done if each.learned.led is not None),
    )


def _carry_out_sequentially(question: Question, target: Target, total: int, seconds: float | None) -> Evidence:
    stopped = audit_sequentially(question, total, seconds)
    evidence = _evidence(
        question,
        target,
        [stopped.attempt],
        [None] * len(question.pairs),
        stopped.learning,
        stopped.measuring,
        stopped.fallback_reason,
        stopped.looks,
        stopped.foreseen,
    )
    asked = None if stopped.limit == evidence.runs and not stopped.sequential.looked else stopped.limit
    return msgspec.structs.replace(evidence, sequential=stopped.sequential, asked=asked, constant=stopped.constant)


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
        rule = question.later or question.rule
        foreseen = foresee(question.claim, real, learning, rule.planned / rule.error)
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
        read = msgspec.structs.replace(target, reading=f"run by run: {fallback_reason}")
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
    bounds = [attempt.bound for attempt in attempts if attempt.bound.arithmetic == "float"]
    if not bounds:
        return no_bound(question.notion, question.confidence, "float")
    decides = question.floating_point == "verdict"
    return headline_of(bounds, question.confidence, looks if decides else None, question.claim)
