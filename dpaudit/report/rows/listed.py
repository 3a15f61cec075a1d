"""What is certified of a list of releases, or of a watched loop? The rows of evidence of which dpaudit ran nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, Training
from dpaudit.privacy.claims import number_text
from dpaudit.report.rows import Importance, Row
from dpaudit.report.text.listed import (
    LIMITS,
    LIMITS_OF_TRAINING,
    accounting_of,
    canaries_text,
    claim_of,
    decisive_statement,
    fact_name,
    high_text,
    interval_text,
    letter_of,
    loss_text,
    low_text,
    neighbours_words,
    other_words,
    release_words,
    status_words,
    updates_of,
    where,
)
from dpaudit.report.text.phrases import NBSP, claim_text, count_text, one_line, shortened

# --- What was certified of a list of releases, what was listed, and what do others say? ------------------

_MOST_SHOWN = 3  # releases, claims or accountants in a summary


def accounted(evidence: Evidence) -> Iterator[Row]:
    """Yield all rows of an accounting, in the order in which they are read; none of other evidence."""
    accounting = accounting_of(evidence)
    if accounting is not None:
        for rows in _ROWS_OF_LISTS:
            yield from rows(evidence, accounting)


def _listed(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    name, releases = evidence.target.name, accounting.releases
    steps = sum(each.steps for each in releases)
    yield Row("target", "", "Releases", name, importance=Importance.OWN, section="scope")
    for number, each in enumerate(releases):
        words = release_words(each)
        words = f"{each.name}: {words}" if each.name else words
        label, shown = ("releases" if not number else ""), number < _MOST_SHOWN
        importance = Importance.BRIEF if shown else Importance.FULL
        yield Row("release", label, "Release", each.event, shortened(words, 300), importance=importance)
    if len(releases) > _MOST_SHOWN:
        more = f"{count_text(len(releases))} in all, {count_text(steps)} steps"
        yield Row("release", "", "Releases", more, importance=Importance.SUMMARY)
    yield Row("runs", "", "Steps", count_text(steps), importance=Importance.OWN, order=steps)


def _neighbours(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    words = neighbours_words(evidence.relation, accounting)
    importance, section = Importance.SUMMARY, "scope"
    yield Row("relation", "neighbours", "Neighbours", words, importance=importance, section=section)
    unit = evidence.unit or "not stated"
    yield Row("unit", "", "Unit of privacy", unit, importance=Importance.FULL, section=section)


def _certified(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    stated = decisive_statement(accounting, evidence.verdict)
    letter, at = letter_of(stated), where(stated)
    claim = evidence.claimed
    value = math.nan if claim is None else claim.value
    own, bounds = Importance.OWN, "bounds"
    yield Row("claim", "", "Claim", claim_of(stated), importance=own, section="scope", order=value)
    interval = interval_text(stated)
    yield Row("interval", "certified", "Certified interval", interval, importance=Importance.BRIEF, section=bounds)
    low = f"{letter}{NBSP}{'=' if math.isinf(stated.low) else '≥'}{NBSP}{low_text(stated)}"
    yield Row("lower", "", "Lower bound", f"{low}{at}", note="by proof", importance=own, order=stated.low)
    if math.isfinite(stated.high):
        high = f"{letter}{NBSP}≤{NBSP}{high_text(stated)}"
        yield Row("upper", "", "Upper bound", f"{high}{at}", note="by proof", importance=own, order=stated.high)
    if accounting.note:
        yield Row("width", "", "Width", accounting.note, importance=Importance.SUMMARY, section="beside")


def _statements(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    """Yield every claim and number beside the one that the verdict rests on."""
    decisive = decisive_statement(accounting, evidence.verdict)
    for number, each in enumerate(each for each in accounting.statements if each is not decisive):
        held = interval_text(each) if each.claim is None else f"{claim_of(each)}: {each.verdict}; {interval_text(each)}"
        label = "also" if not number else ""
        importance = Importance.SUMMARY if number < _MOST_SHOWN else Importance.FULL
        yield Row("statement", label, "Also", held, importance=importance, section="beside")


def _others(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    stated = decisive_statement(accounting, evidence.verdict)
    for number, each in enumerate(accounting.others):
        text = f"{shortened(each.name, 60)} {shortened(each.version, 20)}: {other_words(each, stated)}"
        label = "others say" if not number else ""
        yield Row("other", label, "Another accountant says", text, importance=Importance.SUMMARY)


def _trust_in_lists(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    for number, text in enumerate(evidence.assumptions):
        label = "assumed" if not number else ""
        importance = Importance.SUMMARY if number < 2 else Importance.FULL
        yield Row("trust", label, "Taken on trust", text, importance=importance, section="scope")


def _limits_of_lists(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    for name, text in LIMITS:
        yield Row("limit", "", name, text, importance=Importance.OWN, section="limits")


_ROWS_OF_LISTS: tuple[Callable[[Evidence, Accounting], Iterator[Row]], ...] = (
    _certified,
    _statements,
    _listed,
    _neighbours,
    _others,
    _trust_in_lists,
    _limits_of_lists,
)

# --- What was seen of a training loop, right, wrong or not at all, and what does it lose? ----------------


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
    for name, text in LIMITS_OF_TRAINING:
        yield Row("limit", "", name, text, importance=Importance.OWN, section="limits")


_ORDER = {"wrong": 0, "not seen": 1, "note": 2, "right": 3}
_ROWS: tuple[Callable[[Evidence, Training], Iterator[Row]], ...] = (_bounds, _facts, _noise, _scope, _trust, _limits)
