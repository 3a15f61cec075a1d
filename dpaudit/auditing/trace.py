"""What do a few recorded and replayed runs show? They find a pair and a line; fresh runs, or certainty, decide.

pairs, or candidates → recorded runs, replayed → findings → (what is certain | measuring runs) → verdict → evidence

Only a loss that is certain given the stated laws, and runs that measure the pair, decide. Everything else that a trace
finds stands beside the verdict.
"""

from __future__ import annotations

import linecache
import math
import re
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Unpack

import msgspec

from dpaudit.auditing.audit import affordable, audited
from dpaudit.auditing.pair import read_of
from dpaudit.auditing.question import Question, SearchSpace, given_or_fresh, subject_of, validated, whole
from dpaudit.auditing.race import LEAST, Race, RacedPair, halve, leads_of, rounds_of
from dpaudit.auditing.search import DRAWN_PAIR
from dpaudit.auditing.verdict import LEAK, TRACE, TwoLooks, decide
from dpaudit.errors import InvalidRunsError
from dpaudit.evidence.build import exact_bound, installed_version, run_info
from dpaudit.evidence.evidence import Evidence, settled
from dpaudit.evidence.further_records import Trace, TracedCall, TraceFinding, TraceLoss, TraceStep
from dpaudit.evidence.records import Bound, Verdict, round_outward
from dpaudit.loading import load, public_name
from dpaudit.neighbours.candidates.candidates import count_outside
from dpaudit.neighbours.digest import kept_text
from dpaudit.neighbours.relation import change_in_words
from dpaudit.reading.callables import constants_of
from dpaudit.request import AuditRequest, TraceOptions, TraceRequest, taking
from dpaudit.sampling.outputs import OutputSnapshot
from dpaudit.sampling.runs import UnreadRunsError
from dpaudit.targets.mechanism import Mechanism
from dpaudit.tracing.certain import Certain
from dpaudit.tracing.pair import Path, Traced, Word, trace_pair
from dpaudit.tracing.runs import FollowedTarget
from dpaudit.tracing.search import DRAWN, FoundPair, worst_neighbours, worst_of

_MOST_SHOWN = 40  # lines of draws in evidence
_DRAWN_OF = 500  # candidates, of which a share is drawn beside
_MOST_STEPS = 2_000
_MEASURED, _RACED = 2, 4_000  # for each so many measured, one run chooses the pair; so many at most
_ALONE = 8  # one of so many of them is made of each side of the pair that the trace found, before there is a choice


@taking(TraceRequest)
def trace(target: str | Mechanism | Callable[..., Any], **options: Unpack[TraceOptions]) -> Evidence:
    """Record the noise of a few runs, replay it on a neighbour, and price the shift that hides the change.

    Args:
        {options}

    Returns:
        Evidence with `Evidence.trace`: what was found, the lines, and the price. The verdict rests on what is certain
        given the stated laws of the noise, or on runs that measure the pair that was found.

    Raises:
        UsageError: if the request cannot be carried out as it stands.
    """
    return traced(TraceRequest(target, **options))


def traced(request: TraceRequest) -> Evidence:
    """Carry out a trace."""
    return Tracing.of(request).concluded()


@dataclass(frozen=True, slots=True)
class Tracing:
    """A trace that found its pair, before runs measure it."""

    request: TraceRequest  # what was asked
    looked: _Looked  # what was found
    started: tuple[datetime, float]  # when, and on the clock that counts seconds

    @classmethod
    def of(cls, request: TraceRequest) -> Tracing:
        """Trace the pairs that were asked for, or find the worst."""
        started = datetime.now(UTC), time.perf_counter()
        whole("runs", request.runs, least=0)
        most = whole("candidates", request.candidates, least=1)
        whole("paths", request.paths, least=1)
        return cls(request, _Looked.on(_question(request), request, most), started)

    def concluded(self, *, measured: bool = True) -> Evidence:
        """Return the evidence, with what runs show unless they are left out."""
        question, runs = self.looked.question, whole("runs", self.request.runs, least=0)
        evidence = _concluded(question, self.looked, self.request, runs if measured else 0)
        named = question.mechanism.reference is not None or public_name(question.mechanism) != question.mechanism.name
        run = msgspec.structs.replace(run_info(*self.started, question.engine.count), named=named)
        return settled(msgspec.structs.replace(evidence, run=run))


def _question(request: TraceRequest) -> Question:
    """Return the request as the question that an audit of it would ask."""
    return validated(
        AuditRequest(
            load(request.target),
            parameters=request.parameters,
            claim=request.claim,
            confidence=request.confidence,
            seed=given_or_fresh(request.seed),
            relation=request.relation,
            false_alarm=request.false_alarm,
            pairs=request.pairs,
            data=request.data,
            domain=request.domain,
            beyond_domain=request.beyond_domain,
            keep_data=request.keep_data,
            workers=request.workers,
            backend=request.backend,
            scheduler=request.scheduler,
        )
    )


@dataclass(frozen=True, slots=True)
class _Looked:
    """What was traced: the question about its pairs, what was found on each, and the record of it."""

    question: Question
    traced: Sequence[Traced]
    record: Trace
    found: FoundPair | None = None  # where the pair was looked for; ``drawn``: how many were drawn for that
    drawn: int = 0

    @classmethod
    def on(cls, question: Question, request: TraceRequest, most: int) -> _Looked:
        """Trace the pairs of a question, or find the worst among the candidates first."""
        target = FollowedTarget(question.mechanism, question.parameters, OutputSnapshot)
        seed = question.seed % 2**31  # what every generator can be seeded with

        def tell(stage: str, done: int, total: int) -> None:
            if request.listen is not None:
                request.listen(stage, done, total)

        worst, drawn = None, 0
        space = question.space
        if space is not None:
            worst = worst_neighbours(
                target,
                space.data,
                question.relation,
                question.claim,
                domain=space.domain,
                beyond=space.beyond,
                seed=seed,
                numbers=constants_of(question.mechanism.function),
                most=most,
                seconds=request.time_budget,
                tell=lambda done, total: tell("tracing", done, total),
            )
            worst, drawn = _drawn(target, question, worst, seed)
            question = question.about(worst.pair)
        return cls._at(question, request, worst, drawn, tell)

    @classmethod
    def _at(
        cls,
        question: Question,
        request: TraceRequest,
        worst_pair: FoundPair | None,
        drawn: int,
        tell: Callable[[str, int, int], None] = lambda stage, done, total: None,
    ) -> _Looked:
        target, seed = FollowedTarget(question.mechanism, question.parameters, OutputSnapshot), question.seed % 2**31
        limit, space = whole("paths", request.paths, least=1), question.space
        traced = []
        for number, pair in enumerate(question.pairs):
            traced.append(trace_pair(target, pair, question.claim, seed=seed, paths=limit))
            tell("tracing", number + 1, len(question.pairs))
        worst = worst_of(traced)
        record = msgspec.structs.replace(_record(traced[worst], worst, question), limit=limit)
        record = msgspec.structs.replace(
            record,
            source="given" if request.pairs is not None else "mechanism",
            tried=len(traced),
            runs=sum(each.runs for each in traced),
            change=change_in_words(question.pairs[worst], question.relation, valued=question.keep_data),
        )
        if space is not None and worst_pair is not None:
            record = msgspec.structs.replace(
                record,
                source=space.source,
                tried=worst_pair.tried,
                left_out=worst_pair.left_out,
                found=worst_pair.name,
                drawn=drawn,
                data=space.digest,
                domain=None if space.domain is None else kept_text(space.domain),
                beyond=space.beyond,
                kept=kept_text(space.data) if question.keep_data and space.source == "data" else None,
                change=_change(question, worst_pair, space.source == "domain"),
                beside=_beside(worst_pair, space),
            )
        return cls(question, traced, record, worst_pair, drawn)

    def raced(self, request: TraceRequest, runs: int) -> _Looked:
        """Let runs choose the pair, where no price tells on which of many neighbours most is shown."""
        worst_pair, worst = self.found, self.traced[self.record.pair].worst
        if worst_pair is None or not worst_pair.alike or worst.word not in (Word.NOT_PRICED, Word.NOT_SUPPORTED):
            return self
        pair = worst_pair.pair
        pairs = [RacedPair(0, worst_pair.name, lambda: pair)]
        pairs += [RacedPair(number, each.name, each.pair) for number, each in enumerate(worst_pair.alike, start=1)]
        try:
            best = _most_telling(self.question, pairs, runs)
        except InvalidRunsError:  # measuring will say it
            return self
        if best is None or best.number == 0:
            return self
        one = worst.found[0]
        same, also = "the trace finds the same", ""
        if not worst.is_open:
            where = one.where and f", at {one.where}"
            same, also = "no price tells how much is lost", f"; on another, {one.text}{where}"
        said = f"of {len(pairs)} neighbours on which {same}, {runs:,} further runs chose this one{also}"
        worst_pair = replace(worst_pair, pair=best.make(), name=best.name, edges=(*worst_pair.edges, said))
        chosen = type(self)._at(self.question.about(worst_pair.pair), request, worst_pair, self.drawn)
        return chosen if chosen.traced[0].worst.word >= worst.word else self


def _most_telling(question: Question, pairs: Sequence[RacedPair], runs: int) -> RacedPair | None:
    """Return the pair on which search runs show most, or the first, where a few show that it breaks the claim.

    None where none is left, or there are too few runs.
    """
    while runs < LEAST * sum(rounds_of(len(pairs))):
        pairs = [pairs[0], *pairs[1::2]]
        if len(pairs) == 2:
            return None
    for way in (read_of(question), question):
        race = Race(way) if way is not None else None
        if race is not None:
            race.measuring = _MEASURED * runs
            try:
                with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
                    race.run(pairs[:1], runs // _ALONE)
                    race.look(pairs[:1])
                    if question.claim is not None and pairs[0].predicted > question.claim.value:
                        return pairs[0]
                    return next(iter(halve(race, pairs, runs, lambda: None)), None)
            except UnreadRunsError:  # one of the pairs, in many runs at once
                pairs = [RacedPair(each.number, each.name, each.make) for each in pairs]
    return None


def _change(question: Question, worst: FoundPair, made: bool) -> str:
    """Return the two datasets in one line: with all values where none is of the user's data, or they are kept."""
    valued = made or worst.name == DRAWN_PAIR or question.keep_data
    line = change_in_words(question.pairs[0], question.relation, valued=valued)
    if valued or not line:
        return line
    _, colon, words = worst.name.partition(": ")
    return f"{line} ({words if colon else worst.name})"


def _beside(worst: FoundPair, space: SearchSpace) -> tuple[str, ...]:
    """Say what else was seen, or left out, of the neighbours of the data."""
    said = list(worst.edges)
    if worst.in_part:
        said.append(
            f"the pair is of a part of the data, which shows more than the same change of all {len(space.data):,}"
        )
    outside = 0 if space.beyond else count_outside(space.data, space.domain)
    if outside:
        said.append(
            f"{outside:,} records of the data lie outside of the declared domain, and stayed as they are; "
            "--beyond-domain changes them too"
        )
    return tuple(said)


def _drawn(target: FollowedTarget, question: Question, worst: FoundPair, seed: int) -> tuple[FoundPair, int]:
    """Draw pairs over a declared domain too; return the pair on which most was found, and how many were drawn."""
    space = question.space
    assert space is not None
    if space.domain is None or worst.rank is None:
        return worst, 0
    from dpaudit.auditing.race import climb_by_replay  # imports Hypothesis, which is slow to import

    pair, higher, drawn = climb_by_replay(
        target,
        question.claim,
        space.data,
        space.domain,
        question.relation,
        seed=seed,
        above=worst.rank,
        trials=int(DRAWN * min(worst.tried, _DRAWN_OF)),
    )
    if pair is None:
        return worst, drawn
    return replace(worst, pair=pair, name=DRAWN_PAIR, rank=higher.rank), drawn


# --- what was found, as a record --------------------------------------------------------------------------


def _record(traced: Traced, number: int, question: Question) -> Trace:
    """Return what was found on a pair; whoever calls says where the pair came from."""
    code = getattr(question.mechanism.function, "__code__", None)
    worst = traced.worst
    findings = dict.fromkeys(
        TraceFinding(str(each.word), each.text, each.where, each.met)
        for path in traced.paths
        for each in sorted(path.found, key=lambda one: -one.word)
        if each.word >= min(worst.word, Word.NOT_PRICED) or each.word is Word.NOT_SEEN or path is worst
    )
    price = worst.price
    return Trace(
        word=str(worst.word),
        source="",
        tried=1,
        runs=0,
        paths=len(traced.paths),
        limit=0,
        pair=number,
        findings=tuple(list(findings)[:_MOST_SHOWN]),
        calls=_calls(worst, "" if code is None else code.co_filename),
        epsilon=None if price is None or not math.isfinite(price.epsilon) else _rounded(price.epsilon),
        mu=None if price is None or not math.isfinite(price.mu) else _rounded(price.mu),
        chance=None if price is None or worst.shift is None else _finite(worst.shift.chance),
        checked=worst.checked,
        loss=_loss(traced.certain),
        unseen=tuple(traced.unseen),
        instead=next((each.instead for each in worst.found if each.instead), ""),
    )


_ASSIGNED = re.compile(r"\s*(?:return\s+)?([\w.]+(?:\[[\w\"']+\])?)\s*\+?=(?!=)")


def _assigned(file: str, site: str) -> str:
    """Return what a line of the target's file assigns to; "" where it is another file, or it does not."""
    shown, _, line = site.partition(" (")[0].rpartition(":")
    if not shown or not file.endswith(shown) or not line.isdecimal():
        return ""
    match = _ASSIGNED.match(linecache.getline(file, int(line)))
    return "" if match is None else match[1]


def _calls(path: Path, file: str) -> tuple[TracedCall, ...]:
    """Return the draws of a path by their lines, those that cost most first."""
    if path.recorder is None:
        return ()
    moved = [] if path.shift is None else path.shift.moved
    calls: dict[tuple[str, str], TracedCall] = {}
    met = next((each.met for each in path.found if each.met), "")
    for block in path.recorder.blocks:
        inside = [each for each in moved if block.first <= each.column < block.first + len(block.values)]
        if block.made is not None and not inside:
            continue
        most = max(inside, key=lambda each: each.cost, default=None)
        law = block.law.title if most is None else most.law.title
        squares = most is not None and most.law.cost == "gaussian"
        cost = math.sqrt(math.fsum(each.cost**2 for each in inside)) if squares else math.fsum(e.cost for e in inside)
        scale = float(block.scale[0]) if most is None and len(block.scale) else (0.0 if most is None else most.scale)
        key = (block.site, law)
        before = calls.get(key)
        draws, count, by, paid = len(block.values), len(inside), 0.0 if most is None else most.by, cost
        if before is not None:
            draws, count = draws + before.draws, count + before.moved
            by = by if abs(by) >= abs(before.by) else before.by
            old = before.cost or 0.0
            paid = math.hypot(old, cost) if squares or (most is None and block.law.cost == "gaussian") else old + cost
        calls[key] = TracedCall(
            where=block.site,
            met=met if count else "",
            law=law,
            scale=_rounded(scale),
            draws=draws,
            moved=count,
            by=_rounded(by),
            cost=_rounded(paid) if math.isfinite(paid) else None,
            recognised=any(each.recognised for each in inside) or (before is not None and before.recognised),
            name=_assigned(file, block.site),
        )
    every = [*calls.values(), *_stated_calls(path)]
    return tuple(sorted(every, key=lambda call: -(call.cost or 0.0))[:_MOST_SHOWN])


def _stated_calls(path: Path) -> list[TracedCall]:
    """Return the calls of mechanisms of libraries that lose something, each with what it states."""
    stated = []
    for each in path.stated:
        cost = each.loss.epsilon or math.hypot(each.loss.mu, math.sqrt(2 * each.loss.rho))
        known = 0 < cost < math.inf and math.isfinite(each.loss.by)
        stated.append(
            TracedCall(
                where=each.site,
                met="",
                law=f"{each.what}, as stated",
                scale=_rounded(each.loss.by / cost) if known else 0.0,
                draws=1,
                moved=1,
                by=_rounded(each.loss.by) if known else 0.0,
                cost=_rounded(cost) if known else None,
                recognised=False,
            )
        )
    return stated


def _loss(certain: Certain | None) -> TraceLoss | None:
    if certain is None or len(certain.steps) > _MOST_STEPS:
        return None
    steps = tuple(TraceStep(each.law.title, each.scale, each.by, each.site, each.other) for each in certain.steps)
    value = round_outward(certain.epsilon, "lower")
    return TraceLoss(certain.why, certain.where, value, steps, certain.leaks)


def _finite(value: float) -> float | None:
    return _rounded(value) if math.isfinite(value) else None


def _rounded(value: float) -> float:
    """Keep 6 digits: the last bits differ between processors, and evidence should not."""
    return float(f"{value:.6g}")


# --- what follows -----------------------------------------------------------------------------------------


def _concluded(question: Question, looked: _Looked, request: TraceRequest, runs: int) -> Evidence:
    question = looked.question
    exact = _exact(question, looked.record)
    refuted = exact is not None and question.claim is not None and exact.value > question.claim.value
    measured = 0 if refuted else affordable(question, runs, request.time_budget)
    chosen = looked.raced(request, min(measured // _MEASURED, _RACED))
    if chosen is not looked:
        looked, question = chosen, chosen.question
        exact = _exact(question, looked.record)
        refuted = exact is not None and question.claim is not None and exact.value > question.claim.value
        measured = 0 if refuted else measured
    evidence = _measured(question, looked, request, measured) if measured else _unmeasured(question)
    drew = {"hypothesis": installed_version("hypothesis")} if looked.record.drawn else {}
    evidence = msgspec.structs.replace(
        evidence, trace=looked.record, pairs=question.records, versions={**evidence.versions, **drew}
    )
    if evidence.verdict is Verdict.INVALID:
        return evidence
    lower = evidence.lower if exact is None or evidence.lower.value > exact.value else exact
    if measured and lower is evidence.lower:
        return msgspec.structs.replace(evidence, exact=exact)
    looks = TwoLooks(question.rule, None) if evidence.attempts and question.claim is not None else None
    verdict, reason = decide(question.claim, lower, evidence.detectable, looks=looks)
    return msgspec.structs.replace(evidence, exact=exact, lower=lower, verdict=verdict, reason=reason)


def _exact(question: Question, record: Trace) -> Bound | None:
    """Return the bound that is certain, given the stated laws."""
    loss = record.loss
    if loss is None or not loss.value > 0:
        return None
    return exact_bound(loss.value, question.notion, method=LEAK if loss.leaks else TRACE, pair=record.pair)


def _measured(question: Question, looked: _Looked, request: TraceRequest, runs: int) -> Evidence:
    own = all(record.origin == "mechanism" for record in question.records)
    asked = AuditRequest(
        question.mechanism,
        parameters=question.parameters,
        claim=question.claim,
        pairs=None if own else list(question.pairs),
        relation=question.relation,
        runs=runs,
        confidence=question.confidence,
        seed=question.seed,
        workers=request.workers,
        backend=request.backend,
        scheduler=request.scheduler,
        false_alarm=question.false_alarm,
        keep_data=question.keep_data,
        listen=request.listen,
    )
    return audited(asked, tuple(leads_of(each) for each in looked.traced))


def _unmeasured(question: Question) -> Evidence:
    """The evidence of no measuring runs."""
    return replace(subject_of(question), low_bits="ignore").nothing(Verdict.NO_CLAIM)
