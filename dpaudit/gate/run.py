"""In which order does a gate work, and what does the evidence of a target mean for the build?

targets → reports (from the cache, or from a process each) → a second audit of what seems leakier → policy → results

One error level is divided equally among all targets of the configuration, whether all of them are run or not. A target
with a baseline spends half of its share on the claim and half on the comparison. Unless the configuration names a seed,
seeds are derived from the commit: the same code gives the same results, and different projects have different seeds.
An unlucky correct target would then stay red until something changes. So an audit calls a claim violated by the rule of
two looks (`dpaudit.stats.two_looks`), with a false alarm probability of 1 in 1,000 that all targets share. A target
that only seems leakier than its baseline is audited again with another seed and twice the runs, and that is reported.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.accounts.account import asked_of, plan_for
from dpaudit.accounts.plan import settings_plan
from dpaudit.auditing.question import fresh_seed, given_or_fresh
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence, against
from dpaudit.evidence.further_records import Release
from dpaudit.evidence.records import Verdict
from dpaudit.gate import config, kept, target_process
from dpaudit.gate import kept as baselines
from dpaudit.gate.kept import Cache, alone_with, with_seed_of
from dpaudit.gate.result import Acceptance, BaselineComparison, GateResult, Location, Outcome, OutcomeRule, TargetResult
from dpaudit.gate.schema import TargetSettings, offered, usual
from dpaudit.gate.target_process import FrozenEvent, Limits, Report, Request, options_in, other_training, traced_options
from dpaudit.neighbours.data_files import read_pairs
from dpaudit.neighbours.digest import digest
from dpaudit.neighbours.relation import neighbouring
from dpaudit.processes import Asked, other_question
from dpaudit.report.text.listed import instead
from dpaudit.report.text.phrases import lower_text, upper_text
from dpaudit.request import AccountRequest, AuditRequest, ProofRequest, TraceRequest
from dpaudit.review.check import TOO_MANY, check

Decision = tuple[Outcome, OutcomeRule, str]

_INCONCLUSIVE = {"report": Outcome.INCONCLUSIVE, "pass": Outcome.PASSED, "fail": Outcome.FAILED}
OPAQUE = (
    "This function draws randomness of its own, which no seed reaches: dpaudit cannot promise that unchanged code "
    "always ends the same."
)


def decide(
    target: TargetSettings, evidence: Evidence, comparison: BaselineComparison | None, unproved: str | None
) -> Decision:
    """Return the outcome of a target, the rule that led to it, and a sentence.

    Args:
        target: its settings, with the policy.
        evidence: of the target; a violation in it is already confirmed.
        comparison: with the baseline, or None.
        unproved: why a program could not be read for a proof, or None.
    """
    verdict, training = evidence.verdict, evidence.training
    told = evidence.reason if training is None else f"{evidence.reason}{instead(training)}"
    if verdict is Verdict.INVALID:
        return Outcome.INVALID, OutcomeRule.RUNS_INVALID, evidence.reason
    if target.expect == "violated":
        if evidence.verdict is Verdict.VIOLATED:
            return Outcome.PASSED, OutcomeRule.PASSED, f"Violated, as expected: {evidence.reason}"
        return (
            Outcome.FAILED,
            OutcomeRule.VIOLATION_MISSING,
            f"This target is expected to be violated, and that was not found: {evidence.reason}",
        )
    if verdict is Verdict.VIOLATED:
        return Outcome.FAILED, OutcomeRule.CLAIM_VIOLATED, told
    if comparison is not None and comparison.leakier:
        return Outcome.FAILED, OutcomeRule.LEAKIER, _leakier(comparison)
    if evidence.proof is not None and evidence.proof.is_refuted:
        return Outcome.FAILED, OutcomeRule.GIVEN_REFUTED, evidence.reason
    if target.require == "proved" and verdict is not Verdict.PROVED:
        # this refutes nothing, and only a refuted claim ends with exit code 1
        why = f"no proof: {unproved}" if unproved else evidence.reason
        return Outcome.INCONCLUSIVE, OutcomeRule.NOT_PROVED, f"Not proved, and the policy asks for a proof; {why}"
    if verdict is Verdict.INCONCLUSIVE and target.inconclusive == "pass" and against(evidence):
        # a policy may tolerate what was not decided, but no word that passes stands above what speaks against the claim
        return Outcome.INCONCLUSIVE, OutcomeRule.INCONCLUSIVE, evidence.reason
    if verdict is Verdict.INCONCLUSIVE:
        return _INCONCLUSIVE[target.inconclusive or "report"], OutcomeRule.INCONCLUSIVE, told
    return Outcome.PASSED, OutcomeRule.PASSED, evidence.reason


def accepted(result: TargetResult, accept: Acceptance | None, today: datetime.date, *, compared: bool) -> TargetResult:
    """Return a result of which the configuration accepts a finding: never as passed, and with all that was found.

    Args:
        result: of the target.
        accept: what is accepted of it, if anything.
        today: an acceptance holds through its last day.
        compared: whether what is accepted could have been found at all.
    """
    if accept is None:
        return result
    if result.outcome is Outcome.PASSED or result.rule is not accept.rule:
        if result.outcome is Outcome.INVALID or not compared:
            return result
        unused = f"accept names {accept.rule}, which was not found now; where it is fixed for good, take accept out."
        return replace(result, notes=(*result.notes, unused), stale=True)
    day = accept.until.isoformat()
    if not today <= accept.until:
        over = f"It was accepted until {day}, which is over ({accept.why}): fix it, or accept it anew."
        return replace(result, notes=(over, *result.notes), stale=True)
    if accept.up_to is not None:
        lower = None if result.evidence is None else result.evidence.lower.value
        if lower is None or not lower <= accept.up_to:
            shown = "an unknown loss" if lower is None else lower_text(lower)
            more = f"It is accepted up to {upper_text(accept.up_to)} only ({accept.why}), and {shown} was found."
            return replace(result, notes=(more, *result.notes))
    size = "" if accept.up_to is None else f", up to {upper_text(accept.up_to)}"
    stands = f"Accepted until {day}{size}: {accept.why}. The finding stands."
    return replace(result, outcome=Outcome.ACCEPTED, notes=(stands, *result.notes), accepted=accept)


def _leakier(comparison: BaselineComparison) -> str:
    told = f"{comparison.about} grew" if comparison.about else "The event of the baseline now tells more than it did"
    now, before = lower_text(comparison.after[0]), upper_text(comparison.before[1])
    return f"{told}: it is at least {now}, and was at most {before} in the baseline."


# --- Can the evidence of a target be relied on? It is compared with the request, and checked, before it decides. ---


def relied_on(document: dict[str, Any], request: Request) -> Evidence:
    """Return the evidence in a document, if it answers the request and does not fail its check."""
    evidence = Evidence.from_json(json.dumps(document), name=f"the evidence of {request.target}")
    if request.training is not None:
        why = other_training(evidence, request)
    elif request.account is None:
        why = other_question(evidence, asked_by(request, evidence.relation))
    else:
        why = _other_list(evidence, request)
    if why is not None:
        raise UsageError(f"its process handed over evidence about something else: {why}")
    for finding in check(evidence):
        if finding.fails or finding.what == TOO_MANY:  # no gate asks for too many runs to check
            raise UsageError(
                f"its process handed over evidence that fails its check: {finding.what}: {finding.sentence}; what a "
                "target does to its process is part of it"
            )
    return evidence


def _other_list(evidence: Evidence, request: Request) -> str | None:
    """Say where evidence accounts for other releases, or other claims, than were asked for; None if for these."""
    if evidence.accounting is None:
        return "it is no accounting"
    plan = settings_plan(request.account, request.root)
    if evidence.accounting.releases != tuple(Release(str(run.event), run.steps, run.name) for run in plan.runs):
        return "it is of other releases"
    wanted = [claim for _, _, claim in asked_of(plan_for(AccountRequest(plan, claim=request.claim)))]
    if [each.claim for each in evidence.accounting.statements] != [None if it is None else str(it) for it in wanted]:
        return "it is about other claims"
    return None


def asked_by(request: Request, relation: str) -> Asked:
    """Return what a request asks of its evidence; ``relation`` distinguishes one pair in a file from a list."""
    pairs = None if request.pairs is None else [(pair[0], pair[1]) for pair in request.pairs]
    if request.files:
        pairs = read_pairs([Path(request.root) / file for file in request.files], neighbouring(relation))
    digests = None if pairs is None else [(digest(data0), digest(data1)) for data0, data1 in pairs]
    if request.trace:
        asked = TraceRequest(request.target, **traced_options(request, pairs))
        return Asked(trace=asked, folder=request.root, pairs=digests)
    return Asked(
        audit=AuditRequest(request.target, **options_in(request, AuditRequest)),
        proof=ProofRequest(request.target, **options_in(request, ProofRequest)) if request.prove else None,
        folder=request.root,
        pairs=digests,
    )


def is_reliable(document: dict[str, Any] | None, request: Request) -> bool:
    """Whether a document has such evidence; otherwise the target is run again."""
    try:
        return document is not None and relied_on(document, request) is not None
    except UsageError:
        return False


Runner = Callable[[Request, Limits, threading.Event], Report]
Listener = Callable[[TargetResult], None]
Alive = Callable[[str], None]

_ANOTHER_PAIR = "The baseline's event, or its pair, is no longer audited, so that nothing was compared."
_OTHER_DATA = (
    "The baseline's pair is no longer among the first neighbours of the data, so that nothing was compared: the data, "
    "or what they may hold, changed; --update-baseline measures it again."
)
_PATIENCE = 10  # seconds to wait for git
_ALIVE = 10.0  # seconds between two lines that say what is running
_SLOWER, _ROOM = 3, 4  # how much slower another machine may be, and how many times as much a limit should be
_AGAIN = 2  # times as many runs for the second look, so that it is likely to confirm a true finding


@dataclass(frozen=True, slots=True)
class GateOptions:
    """The options of a gate besides its configuration; see the command line."""

    names: Sequence[str] = ()
    workers: int = 1
    seed: int | None = None
    require: str | None = None
    fresh: bool = False
    update_baseline: bool = False
    nightly: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a gate, and why the baseline was not written although it should have been."""

    result: GateResult
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class _TargetLook:
    """One look at a target: what was asked for, and the report."""

    request: Request
    report: Report
    evidence: Evidence | None
    comparison: BaselineComparison | None
    cached: bool

    @property
    def red(self) -> bool:
        """Whether the target fails only because of its baseline; the audit itself confirms a violated claim."""
        violated = self.evidence is not None and self.evidence.verdict is Verdict.VIOLATED
        return not violated and self.comparison is not None and self.comparison.leakier


def run(
    configuration: config.Configuration,
    options: GateOptions = GateOptions(),
    *,
    runner: Runner = target_process.run,
    listen: Listener | None = None,
    alive: Alive | None = None,
) -> Finished:
    """Run the targets of a configuration in parallel, and write the baseline or the nightly file if asked for.

    Args:
        configuration: from `config.read`.
        options: of the gate.
        runner: carries out one request; by default in a separate process.
        listen: called with each result when it is ready.
        alive: called every ten seconds with a line that says what is running.

    Raises:
        UsageError: for an unknown name, or a baseline or nightly file that cannot be relied on.
    """
    if options.update_baseline and options.nightly:
        raise UsageError("a nightly gate draws fresh seeds, and a baseline has fixed ones: update it without --nightly")
    if not options.nightly:
        return _run(configuration, options, runner, listen, alive)
    # two concurrent nights would both add to the same earlier nights, and one of them would be lost
    with alone_with(configuration.root / kept.NIGHTLY_FILE, wait=False):
        return _run(configuration, options, runner, listen, alive)


def _run(
    configuration: config.Configuration,
    options: GateOptions,
    runner: Runner,
    listen: Listener | None,
    alive: Alive | None,
) -> Finished:
    clock = time.perf_counter()
    gate = _Gate.of(configuration, options, runner)
    targets = [_with_policy(target, options.require) for target in configuration.named(options.names)]
    # an accounting and a proof are as certain every night: they are bet on in none
    gate.begin_night([_name(target) for target in targets if _is_bet_on(target)])
    work = [_Work(gate, target) for target in targets]
    results = _side_by_side(work, options.workers, gate.stop, listen, alive)
    if gate.ledger is not None:
        results = gate.with_tonight(targets, results)
    result = GateResult(
        results=tuple(results),
        confidence=configuration.settings.confidence,
        seed=None if options.nightly else gate.seed,
        seconds=time.perf_counter() - clock,
    )
    return Finished(result, gate.update(results) if options.update_baseline else None)


def _with_policy(target: TargetSettings, require: str | None) -> TargetSettings:
    if require is None:
        return target
    asked = msgspec.structs.replace(target, require=require)
    why = config.without_proof(asked)
    if why:
        raise UsageError(f"{target.name}: {why}")
    return asked


def seed_of_commit(folder: Path) -> int | None:
    """Return a seed derived from the current commit of a folder; None if there is none, or git does not answer."""
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "--verify", "HEAD"], cwd=folder, capture_output=True, timeout=_PATIENCE, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return int.from_bytes(hashlib.sha256(asked.stdout.strip()).digest()[:6])


def seed_of(root: int, name: str, look: int) -> int:
    """Return the seed of a target's look, derived from the gate's seed."""
    return int.from_bytes(hashlib.sha256(f"{root}\0{look}\0{name}".encode()).digest()[:6])


@dataclass(slots=True)
class _Gate:
    """The state that all targets of one gate share."""

    configuration: config.Configuration
    options: GateOptions
    runner: Runner
    seed: int
    cache: Cache | None
    baseline: dict[str, baselines.BaselineEntry]
    ledger: kept.Ledger | None
    stop: threading.Event = field(default_factory=threading.Event)
    nights: dict[str, _TargetLook] = field(default_factory=dict)
    kept: dict[str, Evidence] = field(default_factory=dict)  # of the pairs of baselines, where there are data
    today: datetime.date = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date())

    @classmethod
    def of(cls, configuration: config.Configuration, options: GateOptions, runner: Runner) -> _Gate:
        asked = configuration.settings.seed if options.seed is None else options.seed
        ledger = None
        if options.nightly:
            seed = fresh_seed()
            error, count = 1 - configuration.settings.confidence, len(configuration.targets)
            ledger = kept.read_nights(configuration.root / kept.NIGHTLY_FILE, error=error, targets=count)
        else:
            seed = given_or_fresh(seed_of_commit(configuration.root) if asked is None else asked)
        return cls(
            configuration,
            options,
            runner,
            seed,
            None if options.nightly else Cache(configuration.root, any_seed=asked is None),
            baselines.read_baseline(configuration.root / baselines.BASELINE_FILE),
            ledger,
        )

    # --- one target ---------------------------------------------------------------------------------------

    def look(self, target: TargetSettings, number: int) -> _TargetLook:
        """Look at a target for the first or the second time; use the cache if nothing has changed."""
        name = _name(target)
        entry = self._entry(target)
        again = 1 if number == 1 else _AGAIN
        frozen = None if entry is None else baselines.frozen(entry, again)
        share = self.configuration.share
        error = share / 2 if frozen is not None else share
        if self.ledger is not None and target.account is None and target.training is None:
            error = self.ledger.level(name)
        request = self._request(target, seed_of(self.seed, name, number), again, 1 - error, frozen)
        report, cached = None, False
        if self.cache is not None and not self.options.fresh:
            report = self.cache.find(name, f"look {number}", request)
            if report is not None and is_reliable(report.evidence, with_seed_of(report, request)):
                cached, request = True, with_seed_of(report, request)
            else:
                report = None
        if report is None:
            limits = Limits(again * (target.time_limit or 0.0), target.memory_limit or 0.0)
            report = self.runner(request, limits, self.stop)
            if self.cache is not None:
                self.cache.keep(name, f"look {number}", request, report)
        evidence = None
        if report.evidence is not None:
            try:
                evidence = relied_on(report.evidence, request)
                if report.kept is not None:
                    self.kept[name] = Evidence.from_json(json.dumps(report.kept), name=f"the baseline of {name}")
            except UsageError as error:
                report = Report(error=str(error), location=report.location)
        comparison = None
        if entry is not None and target.account is None:
            comparison = baselines.compare(entry, report.counts, share / 2)
        elif entry is not None and evidence is not None:
            comparison = baselines.compare_accounts(entry, evidence)
        return _TargetLook(request, report, evidence, comparison, cached)

    def judged(self, target: TargetSettings) -> TargetResult:
        """Return the result of one target; a night is judged with the nights before it."""
        result = self._found(target)
        return result if self.ledger is not None else self._accepted(target, result)

    def _accepted(self, target: TargetSettings, result: TargetResult) -> TargetResult:
        accept = None if target.accept is None else target.accept.acceptance
        whole = not (self.options.nightly or self.options.update_baseline)  # all that could be accepted was looked for
        return accepted(result, accept, self.today, compared=whole)

    def _found(self, target: TargetSettings) -> TargetResult:
        first = last = self.look(target, 1)
        notes: tuple[str, ...] = ()
        if self.ledger is not None:
            self.nights[_name(target)] = first
        elif first.red and target.expect != "violated" and _is_run(target):  # an accounting is certain at once
            last = self.look(target, 2)
            notes = (_confirmed(first, last),)
        result = TargetResult(
            name=_name(target),
            target=target.target,
            outcome=Outcome.INVALID,
            rule=OutcomeRule.CANNOT_RUN,
            sentence=last.report.error or "There is no evidence.",
            evidence=last.evidence,
            location=None if last.report.location is None else Location(*last.report.location),
            comparison=last.comparison,
            cached=first.cached and last.cached,
            seconds=first.report.seconds + (last.report.seconds if last is not first else 0.0),
        )
        if result.cached:
            result = replace(result, seconds=0.0)
        if last.evidence is None:
            return replace(result, notes=notes)
        outcome, rule, sentence = decide(target, last.evidence, last.comparison, last.report.unproved)
        notes += self._since(target, last)
        notes += (OPAQUE,) if last.report.opaque else ()
        notes += _near(target, last)
        return replace(result, outcome=outcome, rule=rule, sentence=sentence, notes=notes)

    def _entry(self, target: TargetSettings) -> baselines.BaselineEntry | None:
        """Return the baseline's entry, if there is one to compare with."""
        compared = not (self.options.update_baseline or self.options.nightly)
        compared = compared and _has_baseline(target)
        return self.baseline.get(_name(target)) if compared else None

    def _since(self, target: TargetSettings, look: _TargetLook) -> tuple[str, ...]:
        """Say what changed since the baseline."""
        entry = self._entry(target)
        if entry is None or look.evidence is None:
            missing = bool(self.baseline) and _has_baseline(target)
            compared = not (self.options.update_baseline or self.options.nightly)
            return (
                ("The baseline does not hold this target; --update-baseline adds it.",) if missing and compared else ()
            )
        notes = baselines.changes(entry, look.evidence)
        if entry.measured is not None and look.comparison is None:
            notes += (_ANOTHER_PAIR if target.data is None else _OTHER_DATA,)
        if target.account is not None and look.comparison is None:
            notes += ("The baseline has no interval of what is claimed now, so that nothing was compared.",)
        return notes

    def _request(
        self, target: TargetSettings, seed: int, times: int, confidence: float, frozen: FrozenEvent | None
    ) -> Request:
        files = config.pair_files(target)
        said = {name: getattr(target, name) for name in offered("shared", "target")}
        asked: dict[str, Any] = {name: usual(name) if value is None else value for name, value in said.items()}
        return Request(
            **{
                **asked,
                "target": target.target,
                "account": target.account,
                "training": target.training,
                "trace": target.trace and not self.options.nightly,
                "root": str(self.configuration.root),
                "pairs": target.pairs if isinstance(target.pairs, list) and not files else None,
                "files": files,
                "runs": times * asked["runs"],
                "seed": seed,
                "confidence": confidence,
                # a baseline needs counts of a fixed number of runs
                "sequential": (self.options.nightly and _is_bet_on(target))
                or (bool(target.sequential) and not target.trace and not self.options.update_baseline),
                # what a domain of columns allows is proved, or audited where a proof would be worst
                "prove": config.is_of_records(target)
                or (target.require == "proved" and target.expect != "violated" and not self.options.nightly),
                "frozen": frozen,
                "kept": self.options.update_baseline and _has_baseline(target) and target.data is not None,
                # nights are judged by their total wealth
                "false_alarm": 1 - confidence
                if self.ledger is not None and _is_bet_on(target)
                else self.configuration.false_alarm,
            }
        )

    # --- all of them --------------------------------------------------------------------------------------

    def begin_night(self, names: Sequence[str]) -> None:
        """Record that a night has begun, so that a night that never ends is not forgotten."""
        if self.ledger is not None:
            self.ledger = self.ledger.begin(names)
            kept.write_nights(self.configuration.root / kept.NIGHTLY_FILE, self.ledger)

    def with_tonight(self, targets: Sequence[TargetSettings], results: list[TargetResult]) -> list[TargetResult]:
        """Add tonight to the earlier nights, write the ledger, and judge each target by all of its nights."""
        assert self.ledger is not None
        judged = []
        for target, result in zip(targets, results, strict=True):
            look = self.nights[result.name]
            evidence = look.evidence
            if evidence is None or evidence.verdict is Verdict.INVALID or not _is_bet_on(target):
                judged.append(result)
                continue
            self.ledger = self.ledger.after(
                result.name,
                tested=kept.tested_of(evidence, look.report),
                claim=evidence.claim,
                log_wealth=log_wealth_of(evidence),
                runs=evidence.runs,
            )
            judged.append(_over_nights(target, result, evidence, self.ledger.targets[result.name]))
        self.ledger = self.ledger.ended()
        kept.write_nights(self.configuration.root / kept.NIGHTLY_FILE, self.ledger)
        return [self._accepted(target, each) for target, each in zip(targets, judged, strict=True)]

    def update(self, results: Sequence[TargetResult]) -> str | None:
        """Write the baseline, or return why not: a violated target cannot have one."""
        kept = [each for each in results if each.accepted is None and _has_baseline(self._settings(each.name))]
        bad = [
            result.name
            for result in kept
            if result.evidence is None or result.evidence.verdict in (Verdict.VIOLATED, Verdict.INVALID)
        ]
        if bad:
            return (
                f"the baseline was not written, since it has no place for what is violated or invalid: {', '.join(bad)}"
            )
        configured = {_name(target) for target in self.configuration.targets if _has_baseline(target)}
        file = self.configuration.root / baselines.BASELINE_FILE
        with alone_with(file, wait=True):  # another gate may have written other targets in the meantime
            entries = {name: entry for name, entry in baselines.read_baseline(file).items() if name in configured}
            entries |= {
                result.name: baselines.entry_of(result.target, result.evidence, self.kept.get(result.name))
                for result in kept
                if result.evidence is not None
            }
            baselines.write_baseline(file, entries)
        return None

    def _settings(self, name: str) -> TargetSettings:
        return next(target for target in self.configuration.targets if target.name == name)


@dataclass(slots=True)
class _Work:
    gate: _Gate
    target: TargetSettings
    began: float | None = None

    def __call__(self) -> TargetResult:
        self.began = time.perf_counter()
        return self.gate.judged(self.target)


def _side_by_side(
    work: Sequence[_Work],
    workers: int,
    stop: threading.Event,
    listen: Listener | None,
    alive: Alive | None,
) -> list[TargetResult]:
    """Do all work, ``workers`` items at a time; when interrupted, end what is running."""
    for kind in (Evidence, Report):  # msgspec learns a type where it is first read, and two threads at once crash it
        msgspec.json.Decoder(kind)
    with ThreadPoolExecutor(max_workers=max(1, min(workers, len(work)))) as pool:
        futures: list[Future[TargetResult]] = [pool.submit(each) for each in work]
        waiting, due = set(futures), time.perf_counter() + _ALIVE
        try:
            while waiting:
                left = max(due - time.perf_counter(), 0.0)
                done, waiting = wait(waiting, timeout=left, return_when=FIRST_COMPLETED)
                if waiting and time.perf_counter() >= due:
                    due = time.perf_counter() + _ALIVE
                    if alive is not None:
                        alive(_running([work[futures.index(each)] for each in futures if each in waiting], len(work)))
                for future in done:
                    result = future.result()
                    if listen is not None:
                        listen(result)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _running(left: Sequence[_Work], count: int) -> str:
    """Say how far a gate is: how many targets have ended, and since when each of the others runs."""
    now = time.perf_counter()
    running = [f"{_name(each.target)} ({now - each.began:.0f} s)" for each in left if each.began is not None]
    return f"{count - len(left)} of {count} targets have ended; running: {', '.join(running) or 'none yet'}"


def _is_bet_on(target: TargetSettings) -> bool:
    """Whether nights add up for a target: not where nothing is run, nor where a proof or a watched loop decides."""
    return _is_run(target) and not config.is_of_records(target)


def _is_run(target: TargetSettings) -> bool:
    """Whether a target is a mechanism that is run on neighbouring data."""
    return target.account is None and target.training is None


def _has_baseline(target: TargetSettings) -> bool:
    """Whether a target has a baseline: not a known mistake, nor a loop of which each run is another."""
    return target.expect != "violated" and target.training is None


def _name(target: TargetSettings) -> str:
    assert target.name is not None
    return target.name


def _near(target: TargetSettings, look: _TargetLook) -> tuple[str, ...]:
    """Say that a target took so much of its limit that a slower machine may not end it in time."""
    limit, cost = target.time_limit or 0.0, look.report.cost
    if _SLOWER * cost < limit or (look.evidence is not None and look.evidence.second is not None):
        return ()
    return (
        f"It took {cost:.3g} s of processor time, and is ended after {limit:g}: a machine that is {_SLOWER} times "
        f"slower may not get there; time_limit = {_ROOM * max(limit, round(cost)):g} leaves room.",
    )


def _confirmed(first: _TargetLook, second: _TargetLook) -> str:
    """Say what two looks found; the second one decides."""
    looked = f"A first look, with seed {first.request.seed}, found that it was leakier than its baseline"
    if second.evidence is None or second.evidence.verdict is Verdict.INVALID:
        return f"{looked}; a second one, to confirm that, could not be relied on."
    if second.comparison is not None and second.comparison.leakier:
        return f"{looked}; this is a second one, with seed {second.request.seed} and twice the runs, and confirms it."
    return f"{looked}; a second one, with seed {second.request.seed} and twice the runs, did not: it decides."


def log_wealth_of(evidence: Evidence) -> float:
    """Return the logarithm of the night's wealth, which is an e-value, since bets are fair under the claim."""
    if evidence.sequential is None:
        raise ArithmeticError("a night was not audited sequentially")
    return evidence.sequential.log_wealth


def _over_nights(target: TargetSettings, result: TargetResult, evidence: Evidence, nights: kept.Nights) -> TargetResult:
    """Return the result by all nights together; a single night decides nothing, since there are many."""
    claim = evidence.claimed
    said = kept.sentence(nights, "the loss" if claim is None else claim.symbol)
    notes = result.notes
    if evidence.verdict is Verdict.VIOLATED and not nights.rejected:
        notes += (
            "Tonight alone would reject the claim; among many nights some do by chance, and all together do not.",
        )
    expected = target.expect == "violated"
    if nights.rejected:
        outcome, rule = (
            (Outcome.PASSED, OutcomeRule.PASSED) if expected else (Outcome.FAILED, OutcomeRule.CLAIM_VIOLATED)
        )
    elif expected:
        outcome, rule = Outcome.FAILED, OutcomeRule.VIOLATION_MISSING
    elif evidence.verdict is Verdict.INCONCLUSIVE:
        outcome, rule = result.outcome, result.rule
    elif evidence.verdict is Verdict.VIOLATED:  # nothing passes beside its own rejection
        outcome, rule = Outcome.INCONCLUSIVE, OutcomeRule.INCONCLUSIVE
    else:
        outcome, rule = Outcome.PASSED, OutcomeRule.PASSED
    return replace(result, outcome=outcome, rule=rule, sentence=said, notes=notes)
