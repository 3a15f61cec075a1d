"""Which members of a record differ between two runs of the same question, and why may they?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from dpaudit.auditing.pair import measure_event
from dpaudit.auditing.question import Question, validated
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Counts, round_outward
from dpaudit.neighbours.data_files import with_tables
from dpaudit.request import AuditRequest
from dpaudit.sampling.checkpoint import Phase
from dpaudit.sampling.play import RepeatDetector
from dpaudit.stats.joint_region import lower_bound
from dpaudit.targets.mechanism import Mechanism

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
    found = _unlike("", old, new)
    yield from sorted(found, key=lambda each: _ORDER.get(re.split(r"[.\[]", each.member)[0], 1))


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
                yield ReplayDifference(inner, _text(value), "not there")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (first, second) in enumerate(zip(old, new, strict=True)):
            yield from _unlike(f"{member}[{place}]", first, second)
    elif old != new:
        yield ReplayDifference(member, _text(old), _text(new))


def _more(old: Any, new: Any, member: str = "") -> Iterator[str]:
    """Yield the members that only the new record has; they were added later and contradict nothing."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in new.items():
            inner = f"{member}.{name}" if member else name
            if name in old:
                yield from _more(old[name], value, inner)
            else:
                yield inner


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def reasons(before: Evidence, after: Evidence, found: Sequence[ReplayDifference]) -> Iterator[str]:
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
    if not found:
        return
    members = {each.member for each in found}
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
    before: Counts
    after: Counts
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
    found = [_measured(question, each) for each in counted]
    tests = sum(len(_tables(old.bound.counts, new)) for old, new in zip(counted, found, strict=True))
    return tuple(
        _recount(question, number, old, new, tests)
        for number, (old, new) in enumerate(zip(counted, found, strict=True))
    )


def _measured(question: Question, attempt: Attempt) -> Counts:
    bound = attempt.bound
    assert bound.counts is not None and bound.event is not None
    question = replace(question, watch=RepeatDetector())  # since all attempts on a pair use the same draws
    return measure_event(question, attempt.pair, bound.event, sum(bound.counts.runs), Phase.CONFIRMING)


def _recount(question: Question, number: int, attempt: Attempt, after: Counts, tests: int) -> Recount:
    bound = attempt.bound
    assert bound.counts is not None
    value = lower_bound(bound.method, after, claim=question.notion, weight=bound.weight, error=1 - bound.confidence)
    least = min((_fisher(table) for table in _tables(bound.counts, after)), default=1.0)
    title = f"event {number} ({attempt.name})"
    return Recount(title, bound.counts, after, min(1.0, tests * least), round_outward(value, "lower"))


Table = tuple[tuple[int, int], tuple[int, int]]


def _tables(before: Counts | None, after: Counts) -> list[Table]:
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


def occurrences(counts: Counts) -> str:
    """Say how often an event speaks for its sides."""
    parts = []
    for side, hits in ((0, counts.toward0), (1, counts.toward1)):
        if any(hits):
            parts.append(f"for side {side} {hits[0]:,} and {hits[1]:,}")
    return (", ".join(parts) or "never") + f" of {counts.runs[0]:,} and {counts.runs[1]:,}"
