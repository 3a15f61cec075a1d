"""Does an audit or a proof give the same result today? It is run again from its evidence.

The same seed, versions and platform give the same id. If they do not, every member of the record that differs is named,
with possible causes. A function with its own randomness cannot repeat its runs: instead, the fixed events are counted
on as many fresh runs, and Fisher's exact test (1935) decides whether they still occur equally often.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from dpaudit.accounts.account import carry_out, events_in, events_of, name_of
from dpaudit.accounts.plan import AccountPlan, PlannedRun
from dpaudit.auditing.audit import audited
from dpaudit.auditing.pair import measure_event
from dpaudit.auditing.question import Question, validated
from dpaudit.auditing.trace import trace
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.evidence import further_records, records
from dpaudit.evidence.event import DATASETS
from dpaudit.evidence.evidence import Evidence
from dpaudit.loading import load, load_trusted, public_name
from dpaudit.neighbours.data_files import with_tables
from dpaudit.neighbours.digest import digest, read_kept
from dpaudit.request import AccountRequest, AuditRequest, ProofRequest, Request, TraceRequest, known_keywords, recorded
from dpaudit.sampling import checkpoint, play
from dpaudit.stats.joint_region import lower_bound
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.answer import prove
from dpaudit.verify.proofs import KINDS, domains, releases

# --- Which members of a record differ between two runs of the same question, and why may they? ---

_LONGEST = 60  # characters of a value in a message, to fit one line
_ORDER = {"verdict": 0, "lower": 0, "histogram": 3, "attempts": 2, "curve": 3}  # the order of differences; others are 1
CHANGED = "the code of the target has changed"
_FITTED = "a fitted score depends in its last bits on the linear algebra of the processor"


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A member of the record that differs; its values as JSON, shortened."""

    member: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.member} was {self.before} and is {self.after}"


def record_of(evidence: Evidence) -> dict[str, Any]:
    """Return the record as this version of dpaudit writes it, also for an older file."""
    return msgspec.structs.replace(evidence, written=None).record()


def differences(before: Evidence, after: Evidence, renamed: Mapping[str, str]) -> Iterator[ReplayDifference]:
    """Yield what differs; ``renamed`` maps digests of today's kind to those in older evidence."""
    old, new = record_of(before), record_of(after)
    for text, older in renamed.items():
        new = json.loads(json.dumps(new).replace(text, older))
    for record in (old, new):
        del record["versions"]
        for named in (
            (record.get("proof") or {}).get("certificate"),
            (record.get("counterexample") or {}).get("record"),
        ):
            (named or {}).get("mechanism", {}).pop("name", None)  # that of the target, as it was called then
    if _query_unknown(before, after):
        del old["sensitivity"]
        for record in (old, new):
            record.pop("accuracy", None)  # errors against another exact answer
    unlike = _unlike("", old, new)
    yield from sorted(unlike, key=lambda each: _ORDER.get(re.split(r"[.\[]", each.member)[0], 1))


def _query_unknown(before: Evidence, after: Evidence) -> bool:
    """Whether the query was passed separately from the mechanism, so that it is unknown here."""
    return before.sensitivity is not None and after.sensitivity is None


def _unlike(member: str, old: Any, new: Any) -> Iterator[ReplayDifference]:
    """Yield the differences member by member; lists of different lengths as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            inner = f"{member}.{name}" if member else name
            if name in new:
                yield from _unlike(inner, value, new[name])
            else:
                yield ReplayDifference(inner, _value_text(value), "not there")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (first, second) in enumerate(zip(old, new, strict=True)):
            yield from _unlike(f"{member}[{place}]", first, second)
    elif old != new:
        yield ReplayDifference(member, _value_text(old), _value_text(new))


def _more(old: Any, new: Any, member: str = "") -> Iterator[str]:
    """Yield the members that only the new record has; they were added later and contradict nothing."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in new.items():
            inner = f"{member}.{name}" if member else name
            if name in old:
                yield from _more(old[name], value, inner)
            else:
                yield inner


def _value_text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def reasons(before: Evidence, after: Evidence, unlike: Sequence[ReplayDifference]) -> Iterator[str]:
    """Yield possible causes, as far as the evidence shows them."""
    explained = False
    for name in dict.fromkeys([*before.versions, *after.versions]):
        then, now = before.versions.get(name, "none"), after.versions.get(name, "none")
        if then != now:
            explained = True
            yield f"{name} was {then} and is {now}"
    more = list(_more(record_of(before), record_of(after)))
    if more:
        explained = True
        yield f"now the evidence says more: {', '.join(more)}"
    if _query_unknown(before, after):
        yield "the query was given beside the mechanism, so that its sensitivity was not searched again"
    if not unlike:
        return
    members = {each.member for each in unlike}
    if "target.digest" in members:
        explained = True
        yield CHANGED
    if any(member.startswith("pairs") for member in members):
        explained = True
        yield "the mechanism's own datasets have changed"
    if any(kind in json.dumps(before.record()) for kind in ('"linear"', '"trees"')):
        explained = True
        yield _FITTED
    if not explained:
        yield (
            "nothing that the evidence tells explains it: the mechanism keeps a state or draws from elsewhere, code "
            "that it calls has changed, or dpaudit has, within one version"
        )


# --- Do the fixed events of a function with its own randomness still occur as often as in its evidence? ---
#
# They are counted on as many fresh runs, and Fisher's exact test (1935) decides.

ERROR = 1e-3
"""The error level of the test whether events occur as often as before."""


@dataclass(frozen=True, slots=True)
class Recount:
    """A fixed event on fresh runs: how often it occurred then and now.

    ``p_value`` tests whether the event occurs as often as before: the smallest of Fisher's tests, times their number.
    ``bound`` is the lower bound from the new counts by the same method.
    """

    title: str
    before: records.Counts
    after: records.Counts
    p_value: float
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the counts are compatible with equal probabilities."""
        return self.p_value >= ERROR


def counted_again(
    before: Evidence, mechanism: Mechanism, pairs: list[tuple[Any, Any]] | None, workers: int
) -> tuple[Recount, ...]:
    """Count the fixed events on fresh runs, and compare how often they occur."""
    question = validated(
        AuditRequest(
            mechanism,
            parameters=with_tables(before.target.parameters),
            claim=before.claim,
            pairs=pairs,
            relation=before.relation,
            confidence=before.confidence,
            seed=before.seed,
            workers=workers,
            observe=before.observed,
            types=before.types,
        )
    )
    counted = [each for each in before.attempts if each.bound.counts is not None and each.bound.event is not None]
    counted_now = [_measured(question, each) for each in counted]
    tests = sum(len(_tables(old.bound.counts, new)) for old, new in zip(counted, counted_now, strict=True))
    return tuple(
        _recount(question, number, old, new, tests)
        for number, (old, new) in enumerate(zip(counted, counted_now, strict=True))
    )


def _measured(question: Question, attempt: records.Attempt) -> records.Counts:
    bound = attempt.bound
    assert bound.counts is not None and bound.event is not None
    question = replace(question, watch=play.RepeatDetector())  # since all attempts on a pair use the same draws
    return measure_event(question, attempt.pair, bound.event, sum(bound.counts.runs), checkpoint.Phase.CONFIRMING)


def _recount(question: Question, number: int, attempt: records.Attempt, after: records.Counts, tests: int) -> Recount:
    bound = attempt.bound
    assert bound.counts is not None
    value = lower_bound(bound.method, after, claim=question.notion, weight=bound.weight, error=1 - bound.confidence)
    least = min((_fisher(table) for table in _tables(bound.counts, after)), default=1.0)
    title = f"event {number} ({attempt.name})"
    return Recount(title, bound.counts, after, min(1.0, tests * least), records.round_outward(value, "lower"))


Table = tuple[tuple[int, int], tuple[int, int]]


def _tables(before: records.Counts | None, after: records.Counts) -> list[Table]:
    """Return tables of hits and misses, then and now, for each side and each direction that was counted."""
    assert before is not None
    tables = []
    for old, new in ((before.toward0, after.toward0), (before.toward1, after.toward1)):
        if any(old) or any(new):
            tables += [
                ((old[side], before.runs[side] - old[side]), (new[side], after.runs[side] - new[side]))
                for side in (0, 1)
            ]
    return tables


def _fisher(table: Table) -> float:
    from scipy.stats import fisher_exact

    return float(fisher_exact(np.array(table)).pvalue)


def occurrences(counts: records.Counts) -> str:
    """Say how often an event points to its datasets."""
    parts = []
    for side, hits in ((0, counts.toward0), (1, counts.toward1)):
        if any(hits):
            parts.append(f"for {DATASETS[side]} {hits[0]:,} and {hits[1]:,}")
    return (", ".join(parts) or "never") + f" of {counts.runs[0]:,} and {counts.runs[1]:,}"


# --- Does an audit or a proof give the same result today? It is run again from its evidence. ---


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay."""

    before: Evidence  # the evidence that was replayed
    after: Evidence | None  # the new evidence; None if events were counted again instead
    differences: tuple[ReplayDifference, ...]  # what differs between the records, except the versions
    recounts: tuple[Recount, ...]  # of the events of a function with its own randomness
    reasons: tuple[str, ...]  # possible causes of differences; for equal findings, why the id differs nevertheless
    trouble: str = ""  # why the new runs cannot be trusted; empty if they can

    @property
    def holds(self) -> bool:
        """Whether the same was found: the same record except for versions, or every event equally often."""
        return not self.differences and not self.trouble and all(each.holds for each in self.recounts)

    @property
    def identical(self) -> bool:
        """Whether the id was reproduced."""
        return self.after is not None and record_of(self.before) == record_of(self.after)

    def sentences(self) -> Iterator[str]:
        """Yield what was found, one sentence per line."""
        if self.trouble:
            yield f"the runs of now cannot be trusted: {self.trouble}"
        if self.identical:
            yield f"the same id, {self.before.id}"
        elif self.after is not None and self.holds:
            yield "everything that was found is found again"
        if self.differences:
            yield f"{len(self.differences)} values differ; what may be the cause:"
        yield from self.reasons
        yield from map(str, self.differences)
        for each in self.recounts:
            how = "as often as before" if each.holds else "not as often as before"
            yield (
                f"{each.title} occurs {how}: {occurrences(each.before)} then, {occurrences(each.after)} now "
                f"(p = {each.p_value:.2g}, by Fisher's exact test); the bound is {each.bound:.6g} now"
            )


@known_keywords
def replay(
    evidence: Evidence | str | Path,
    *,
    target: str | Mechanism | Callable[..., Any] | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    data: Any = None,
    domain: Sequence[Any] | None = None,
    workers: int = 1,
    trust: bool = False,
    say: Callable[[str], None] | None = None,
    listen: checkpoint.Listener | None = None,
) -> Replay:
    """Run an audit or a proof again, and compare.

    Args:
        evidence: the evidence, or its file.
        target: what to run, if the name in the evidence does not lead to it.
        pairs: the datasets, if the evidence only has their digests, which must match.
        data: the dataset whose neighbours were searched, likewise.
        domain: the datasets that were enumerated, if the evidence does not contain them.
        workers: the number of processes.
        trust: run what the evidence names, wherever it is. Otherwise only targets of an installed catalogue or under
            the working directory are run (`dpaudit.loading`), since evidence may come from anybody.
        say: called before the first run with a sentence: what is run, and whether its code is that of the evidence.
        listen: called with (stage, runs done, runs in total).

    Raises:
        UsageError: if it cannot be replayed, with the reason.
    """
    before = evidence if isinstance(evidence, Evidence) else Evidence.load(evidence)
    if before.training is not None:
        raise UsageError(
            "a training loop that was watched cannot be replayed: another run draws other batches and other noise. "
            "Train again within dpaudit.watch_training, and compare the findings"
        )
    if before.accounting is not None:
        return _accounted_again(before, before.accounting)
    mechanism = _mechanism(before, target, trust)
    if say is not None:
        say(_introduced(before, mechanism))
    if before.proof is not None:
        proof = _of_proof(before, domain)
        after = prove(mechanism, **{**proof, "workers": workers, "listen": listen})
    elif before.trace is not None and (before.reproducible or not before.attempts):
        asked = _of_trace(before, pairs, data)
        after = trace(mechanism, **{**asked, "workers": workers, "listen": listen})
        if after.trace is not None:  # a proof that came to nothing is not tried again
            kept = msgspec.structs.replace(after.trace, unproved=before.trace.unproved)
            after = msgspec.structs.replace(after, trace=kept)
    else:
        searched = before.search is not None and before.reproducible
        given, space = _searched(before, pairs, data) if searched else (_pairs(before, pairs), None)
        if not before.reproducible and before.attempts:
            return _recounted(before, mechanism, given, workers)
        asked_again = {**_of_audit(before, given), "data": space, "workers": workers, "listen": listen}
        after = audited(AuditRequest(mechanism, **asked_again))
    if not before.reproducible and before.verdict is after.verdict is records.Verdict.INVALID:
        return Replay(before, after, (), (), ("the runs could not be trusted then, and cannot be now",))
    if target is not None:  # whatever its name is now
        named = msgspec.structs.replace(after.target, name=before.target.name)
        after = msgspec.structs.replace(after, target=named)
    own, like = mechanism.digest, mechanism.digest_like(before.target.digest)
    older = own is not None and like is not None and own != like
    unlike = tuple(differences(before, after, {str(own): str(like)} if older else {}))
    why = list(reasons(before, after, unlike))
    if older:
        why.append("its digest covers the function's own source alone; today's covers all that it reaches")
    return Replay(before, after, unlike, (), tuple(why))


# --- what the evidence says of the question ---------------------------------------------------------------


def _introduced(evidence: Evidence, mechanism: Mechanism) -> str:
    """Say what is about to be run."""
    stated = evidence.target.digest
    own = mechanism.digest_like(stated)
    code = f"its code is that of the evidence, {own:.20}…" if own is not None else "neither has source code to compare"
    if own != stated:
        here, there = ("none" if each is None else f"{each:.20}…" for each in (own, stated))
        code = f"its code is {here}, and that of the evidence is {there}"
    return f"running {public_name(mechanism)}: {code}"


def _mechanism(evidence: Evidence, target: str | Mechanism | Callable[..., Any] | None, trust: bool) -> Mechanism:
    name, asks = evidence.target.name, evidence.target.asks
    if asks not in map(str, Shape):
        raise UsageError(f"evidence of {asks} cannot be replayed: what was recorded is not in it, and cannot be run")
    if target is not None:
        return load(target)
    try:
        return load(name) if trust else load_trusted(name)
    except UsageError as error:
        raise UsageError(
            f"{name!r} cannot be replayed: {error}; replay it in the folder where it was audited, or say what to run: "
            "--target, or dp.replay(evidence, target=…)"
        ) from None


def _recorded(kind: type[Request], evidence: Evidence) -> dict[str, Any]:
    """Return what evidence records of a request, with the tables that it names."""
    options = recorded(kind, evidence)
    return {**options, "parameters": with_tables(options["parameters"])}


def _of_audit(evidence: Evidence, pairs: list[tuple[Any, Any]] | None) -> dict[str, Any]:
    """Return the options of `audit` from the evidence; ``pairs`` is None for the mechanism's own."""
    options: dict[str, Any] = {**_recorded(AuditRequest, evidence), "pairs": pairs}
    if evidence.search is not None and evidence.reproducible:
        options["domain"] = None if evidence.search.domain is None else read_kept(evidence.search.domain)
    else:  # the pair that was found
        options |= {"search": False, "beyond_domain": False}
    return options


def _of_trace(evidence: Evidence, pairs: Sequence[tuple[Any, Any]] | None, data: Any) -> dict[str, Any]:
    """Return the options for `trace` that the evidence records."""
    recorded_trace = evidence.trace
    assert recorded_trace is not None
    given, space = (
        _searched(evidence, pairs, data)
        if recorded_trace.source in ("data", "domain")
        else (_pairs(evidence, pairs), None)
    )
    domain = None if recorded_trace.domain is None else read_kept(recorded_trace.domain)
    return {
        **_recorded(TraceRequest, evidence), "pairs": given, "data": space, "domain": domain, "time_budget": None,
    }  # fmt: skip


def _of_proof(evidence: Evidence, domain: Sequence[Any] | None) -> dict[str, Any]:
    """Return the options of `prove` from the evidence."""
    proof = evidence.proof
    assert proof is not None
    kind = KINDS[proof.method]
    which = kind.domain(proof)
    if domain is not None and kind is domains.ENUMERATION:
        which = domain
    if which is None and kind is domains.ENUMERATION:
        raise UsageError(
            "the evidence does not hold the domain that was enumerated; give it: --domain, or "
            "dp.replay(evidence, domain=…). Evidence made with --keep-data holds it"
        )
    frame = releases.typed_frame(proof) if kind is releases.RELEASES else None
    return {**_recorded(ProofRequest, evidence), "domain": which, "data": frame, "steps": None, "seconds": None}


def _pairs(evidence: Evidence, given: Sequence[tuple[Any, Any]] | None) -> list[tuple[Any, Any]] | None:
    """Return the pairs of the audit: from the evidence, or passed now if they match; None for the mechanism's own."""
    if given is None and all(pair.origin == "mechanism" for pair in evidence.pairs):
        return None
    if given is None:
        kept = [(pair.data0, pair.data1) for pair in evidence.pairs]
        if any(data0 is None or data1 is None for data0, data1 in kept):
            raise UsageError(
                "the evidence holds the datasets by digest alone; give them: --pair FILE, or "
                "dp.replay(evidence, pairs=[(data0, data1)]). Evidence made with --keep-data holds them"
            )
        given = [(read_kept(data0 or ""), read_kept(data1 or "")) for data0, data1 in kept]
    digests = [(digest(data0), digest(data1)) for data0, data1 in given]
    if digests != [(pair.digest0, pair.digest1) for pair in evidence.pairs]:
        raise UsageError("these are not the datasets of the evidence: their digests differ; give the same, in order")
    return None if all(pair.origin == "mechanism" for pair in evidence.pairs) else list(given)


def _searched(
    evidence: Evidence, pairs: Sequence[tuple[Any, Any]] | None, data: Any
) -> tuple[list[tuple[Any, Any]] | None, Any]:
    """Return the pairs and the data that were searched: from the evidence, or passed now if they match."""
    search = evidence.search or evidence.trace
    assert search is not None
    if search.source in ("mechanism", "domain"):
        return None, None
    what, given = ("dataset", data) if search.source == "data" else ("pairs", pairs)
    if given is None and search.kept is None:
        option, argument = ("--data", "data=…") if search.source == "data" else ("--pair", "pairs=[…]")
        raise UsageError(
            f"the evidence holds the {what} that {'was' if search.source == 'data' else 'were'} searched by digest "
            f"alone; give what was searched: {option} FILE, or dp.replay(evidence, {argument}). Evidence made with "
            "--keep-data holds it"
        )
    if given is None:
        given = read_kept(search.kept or "")
    given = given if search.source == "data" else tuple((data0, data1) for data0, data1 in given)
    if digest(given) != search.data:
        raise UsageError(f"this is not the {what} of the evidence: its digest differs; give the same")
    return (None, given) if search.source == "data" else (list(given), None)


# --- accounting -------------------------------------------------------------------------------------------


def _accounted_again(before: Evidence, accounting: further_records.Accounting) -> Replay:
    """Account for the same releases again; nothing of anybody's is loaded or run."""
    stated, events = accounting.statements, events_of(accounting.releases, before.relation)
    named = before.target.name != name_of(accounting.releases)
    numbers = {each.parameter: each.at for each in stated if each.claim is None}
    runs = zip(events_in(accounting.releases), accounting.releases, strict=True)
    plan = AccountPlan(
        tuple(PlannedRun(event, each.steps, each.name) for event, each in runs),
        claims=tuple(each.claim for each in stated if each.claim is not None),
        delta=numbers.get("epsilon"),
        epsilon=numbers.get("delta"),
        tolerance=accounting.tolerance,
        relation=before.relation if before.relation in events.relations else None,
        name=before.target.name if named else "",
        unit=before.unit,
        recorded_by=accounting.recorded_by,
    )
    after = carry_out(AccountRequest(plan, alone=not accounting.others))
    unlike = tuple(differences(before, after, {}))
    return Replay(before, after, unlike, (), tuple(reasons(before, after, unlike)))


# --- randomness of its own --------------------------------------------------------------------------------


def _recounted(before: Evidence, mechanism: Mechanism, pairs: list[tuple[Any, Any]] | None, workers: int) -> Replay:
    try:
        recounts = counted_again(before, mechanism, pairs, workers)
    except InvalidRunsError as error:
        return Replay(before, None, (), (), (), str(error))
    if all(each.holds for each in recounts):
        return Replay(before, None, (), recounts, ())
    why = _TIMED if before.observed else _OPAQUE
    if mechanism.digest_like(before.target.digest) != before.target.digest:
        why = CHANGED
    return Replay(before, None, (), recounts, (why,))


_TIMED = "run times depend on the machine and on what else it does: audit again, and compare the verdicts"
_OPAQUE = "code that the function calls has changed, or its runs depend on something that is not in the evidence"
