"""Do the fixed events of a function with its own randomness still occur as often as in its evidence?

They are counted on as many fresh runs, and Fisher's exact test (1935) decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.auditing.pair import measure_event
from dpaudit.auditing.question import Question, validated
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Counts, round_outward
from dpaudit.neighbours.data_files import with_tables
from dpaudit.request import AuditRequest
from dpaudit.sampling.blocks import Phase
from dpaudit.sampling.play import RepeatDetector
from dpaudit.stats.joint_region import lower_bound
from dpaudit.targets.mechanism import Mechanism

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
