"""What was seen of a training loop, right, wrong or not at all, and what does it lose? Rows of a watched loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Training
from dpaudit.privacy.claims import number_text
from dpaudit.report.rows import Importance, Row
from dpaudit.report.text.accounting import neighbours_words
from dpaudit.report.text.numerals import NBSP, claim_text, count_text
from dpaudit.report.text.phrases import one_line
from dpaudit.report.text.training import LIMITS, canaries_text, fact_name, loss_text, status_words, updates_of


def trained(evidence: Evidence) -> Iterator[Row]:
    """Yield all rows of a watched loop, in the order in which they are read; none of other evidence."""
    training = evidence.training
    if training is not None:
        for rows in _ROWS:
            yield from rows(evidence, training)


def _bounds(evidence: Evidence, training: Training) -> Iterator[Row]:
    claim, own, bounds = evidence.claimed, Importance.OWN, "bounds"
    value = math.nan if claim is None else claim.value
    told = (
        "none" if claim is None else f"ε{NBSP}={NBSP}{claim_text(claim.value)}, δ{NBSP}={NBSP}{claim_text(claim.delta)}"
    )
    yield Row("claim", "", "Claim", told, importance=own, section="scope", order=value)
    yield Row("reason", "", "Reason", evidence.reason, importance=own)
    yield Row("interval", "as seen", "As it was seen", loss_text(training), importance=Importance.BRIEF, section=bounds)
    low = "ε is not bounded" if math.isinf(training.low.value) else f"ε{NBSP}≥{NBSP}{number_text(evidence.lower.value)}"
    yield Row("lower", "", "Lower bound", low, note="as seen", importance=own, order=evidence.lower.value)
    if math.isfinite(training.high.value):
        high = f"ε{NBSP}≤{NBSP}{number_text(training.high.value)}"
        yield Row("upper", "", "Upper bound", high, note="as seen", importance=own, order=training.high.value)


def _facts(evidence: Evidence, training: Training) -> Iterator[Row]:
    for place, each in enumerate(sorted(training.facts, key=lambda fact: _ORDER.get(fact.status, 1))):
        importance = Importance.BRIEF if each.status == "wrong" else Importance.SUMMARY
        section = "beside" if each.status == "wrong" else ""
        label = "facts" if not place else ""
        text = f"{status_words(each.status)}: {each.text}"
        line = f"{fact_name(each)}, {one_line(text)}"
        yield Row("fact", label, fact_name(each), each.name, line, text, importance=importance, section=section)


def _noise(evidence: Evidence, training: Training) -> Iterator[Row]:
    if training.scale is not None:
        low, high = training.scale
        text = f"{number_text(float(f'{low:.5g}'))} to {number_text(float(f'{high:.5g}'))} of σ·C"
        note = f"from {count_text(training.values)} values"
        yield Row("scale", "noise", "Scale of the noise", f"{text}, {note}", importance=Importance.SUMMARY)
    step = training.step
    if step is not None:
        text = f"μ{NBSP}≥{NBSP}{number_text(float(f'{step.mu:.4g}'))} a step"
        if step.epsilon is not None:
            text += f"; if steps are independent, ε{NBSP}≥{NBSP}{number_text(float(f'{step.epsilon:.4g}'))} in all"
        yield Row("step", "a step", "The audit of a step", text, importance=Importance.SUMMARY)
    if training.canaries is not None:
        text = canaries_text(training.canaries, evidence)
        yield Row("canaries", "canaries", "Canaries of one run", text, importance=Importance.SUMMARY)
    if training.stated is not None:
        text = f"ε{NBSP}={NBSP}{number_text(float(f'{training.stated:.5g}'))}"
        yield Row("stated", "its own", "The loop's own accountant", text, importance=Importance.SUMMARY)


def _scope(evidence: Evidence, training: Training) -> Iterator[Row]:
    own, section = Importance.OWN, "scope"
    updates = updates_of(training)
    yield Row("target", "", "Loop", f"{evidence.target.name} ({training.how})", importance=own, section=section)
    yield Row("runs", "", "Updates", count_text(updates), importance=own, order=updates)
    words = neighbours_words(evidence.relation)
    yield Row("relation", "neighbours", "Neighbours", words, importance=Importance.SUMMARY, section=section)
    yield Row("unit", "", "Unit of privacy", evidence.unit or "not stated", section=section)
    if training.partial:
        text = f"only a part of the loop was seen: {one_line(training.partial)}"
        yield Row("partial", "partial", "Partial", text, importance=Importance.EVERYWHERE, section="beside")


def _trust(evidence: Evidence, training: Training) -> Iterator[Row]:
    for number, text in enumerate(evidence.assumptions):
        label = "assumed" if not number else ""
        importance = Importance.SUMMARY if not number else Importance.FULL
        yield Row("trust", label, "Taken on trust", text, importance=importance, section="scope")


def _limits(evidence: Evidence, training: Training) -> Iterator[Row]:
    for name, text in LIMITS:
        yield Row("limit", "", name, text, importance=Importance.OWN, section="limits")


_ORDER = {"wrong": 0, "not seen": 1, "note": 2, "right": 3}
_ROWS: tuple[Callable[[Evidence, Training], Iterator[Row]], ...] = (_bounds, _facts, _noise, _scope, _trust, _limits)
