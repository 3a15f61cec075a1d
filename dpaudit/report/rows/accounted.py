"""What was certified of a list of releases, what was listed, and what do others say? Rows of an accounting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting
from dpaudit.report.rows import Importance, Row
from dpaudit.report.text.accounting import (
    LIMITS,
    accounting_of,
    claim_of,
    decisive_statement,
    high_text,
    interval_text,
    letter_of,
    low_text,
    neighbours_words,
    other_words,
    release_words,
    where,
)
from dpaudit.report.text.numerals import NBSP, count_text
from dpaudit.report.text.phrases import shortened

_MOST_SHOWN = 3  # releases, claims or accountants in a summary


def accounted(evidence: Evidence) -> Iterator[Row]:
    """Yield all rows of an accounting, in the order in which they are read; none of other evidence."""
    accounting = accounting_of(evidence)
    if accounting is not None:
        for rows in _ROWS:
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


def _bounds(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
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


def _trust(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    for number, text in enumerate(evidence.assumptions):
        label = "assumed" if not number else ""
        importance = Importance.SUMMARY if number < 2 else Importance.FULL
        yield Row("trust", label, "Taken on trust", text, importance=importance, section="scope")


def _limits(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    for name, text in LIMITS:
        yield Row("limit", "", name, text, importance=Importance.OWN, section="limits")


_ROWS: tuple[Callable[[Evidence, Accounting], Iterator[Row]], ...] = (
    _bounds,
    _statements,
    _listed,
    _neighbours,
    _others,
    _trust,
    _limits,
)
