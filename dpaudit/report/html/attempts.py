"""Which events were measured, and with which result? Every attempt with its share of the error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpaudit.evidence.event import DATASETS
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Candidate, Verdict
from dpaudit.privacy import Claim
from dpaudit.report.html.templates import Section
from dpaudit.report.text.numerals import confidence_text, count_text, error_text, estimate_text
from dpaudit.report.text.phrases import bound_text, shortened
from dpaudit.report.view import View
from dpaudit.stats.methods import METHODS

_LONGEST = 200  # characters of an event in the table, about three lines
_MOST = 5  # candidates that are named; the others were predicted to show less


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One measured event on one pair."""

    pair: int
    name: str
    event: str
    method: str
    counts: list[str]
    bound: str
    confidence: str
    error: str
    considered: list[str]


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section on all measured events."""
    evidence = shown.evidence
    yield Section("attempts", "Every attempt", {"attempts": attempt_rows(evidence, evidence.claimed)})


def attempt_rows(evidence: Evidence, claim: Claim | None) -> list[AttemptRow]:
    """Return a row for every attempt, in the order of the evidence."""
    trusted = evidence.verdict is not Verdict.INVALID
    return [_row(attempt, claim, trusted=trusted) for attempt in evidence.attempts]


def _row(attempt: Attempt, claim: Claim | None, *, trusted: bool) -> AttemptRow:
    bound = attempt.bound
    value = bound_text(bound, claim) if bound.value > 0 else "none above 0"
    sampled = bound.kind == "sampled"
    return AttemptRow(
        pair=attempt.pair,
        name=attempt.name,
        event=_event(bound),
        method=bound.method,
        counts=_counts(attempt),
        bound=value if trusted or not sampled else "not used",
        confidence=confidence_text(bound.confidence) if sampled else "certain",
        error=error_text(bound.confidence) if sampled else "none",
        considered=_candidates(attempt.considered),
    )


def _event(bound: Bound) -> str:
    if bound.event is not None:
        return shortened(bound.event.words, _LONGEST)
    return "nothing to measure" if bound.counts is None else "guesses by the order of the scores"


def _counts(attempt: Attempt) -> list[str]:
    bound, counts = attempt.bound, attempt.bound.counts
    if counts is None:
        return ["–"]
    texts = [
        f"pointing to {DATASETS[side]}: {count_text(hits[0])} | {count_text(hits[1])}"
        for side, hits in ((0, counts.toward0), (1, counts.toward1))
        if bound.event is None or bound.event.toward(side)
    ]
    return [*texts, f"of {count_text(counts.runs[0])} | {count_text(counts.runs[1])}"]


def _candidates(considered: Sequence[Candidate]) -> list[str]:
    texts = [f"{one.family}, {one.method}: {estimate_text(one.predicted)}" for one in considered[:_MOST]]
    rest = len(considered) - len(texts)
    return [*texts, f"and {rest} more in the record"] if rest else texts


def methods(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the methods of the bounds, with a description of each."""
    bounds = [evidence.lower, evidence.floating_point, *(attempt.bound for attempt in evidence.attempts)]
    used = dict.fromkeys(bound.method for bound in bounds if bound is not None)
    return [(name, METHODS[name].words) for name in used if name in METHODS]
