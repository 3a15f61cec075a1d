"""What was listed, what is certified of it, and what do others say? The sections of an accounting."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, Statement
from dpaudit.privacy import Claim, parse_claim
from dpaudit.report.figures.canvas import alone
from dpaudit.report.figures.curves import accounting_figure
from dpaudit.report.html.templates import Section
from dpaudit.report.text.accounting import (
    accounting_of,
    claim_of,
    decisive_statement,
    high_text,
    letter_of,
    low_text,
    neighbours_words,
    other_place,
    release_words,
    where,
)
from dpaudit.report.text.numerals import count_text, estimate_text
from dpaudit.report.view import View

_MOST = 100  # rows of a table


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One claim, or one number that was asked for."""

    claim: str
    verdict: str
    low: str
    high: str
    where: str


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One release, in words and as it is written."""

    name: str
    words: str
    event: str
    steps: str


@dataclass(frozen=True, slots=True)
class OtherRow:
    """What another accountant says, and where that lies."""

    name: str
    kind: str
    value: str
    place: str


@dataclass(frozen=True, slots=True)
class AccountingPart:
    """The sections of an accounting."""

    statements: list[StatementRow]
    releases: list[ReleaseRow]
    left_out: int
    steps: str
    neighbours: str
    recorded_by: str
    others: list[OtherRow]
    note: str
    certificates: str


_KINDS = {"upper": "upper bound", "estimate": "estimate"}


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the sections of an accounting; none of other evidence."""
    accounting = accounting_of(shown.evidence)
    if accounting is None:
        return
    yield Section("accounting", "What is certified", {"accounting": accounting_part(shown.evidence, accounting)})
    yield Section("releases", "What was listed", {})
    if accounting.others:
        yield Section("others", "What others say", {})
    yield Section("checking", "How to check it", {})


def accounting_part(evidence: Evidence, accounting: Accounting) -> AccountingPart:
    """Return what the sections of an accounting show."""
    decisive = decisive_statement(accounting, evidence.verdict)
    size = len(
        json.dumps(accounting.certificates, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    )
    many = "one certificate" if len(accounting.certificates) == 1 else f"{len(accounting.certificates)} certificates"
    return AccountingPart(
        statements=[_statement(each) for each in accounting.statements[:_MOST]],
        releases=[
            ReleaseRow(each.name, release_words(each), each.event, count_text(each.steps))
            for each in accounting.releases[:_MOST]
        ],
        left_out=max(0, len(accounting.releases) - _MOST),
        steps=count_text(sum(each.steps for each in accounting.releases)),
        neighbours=neighbours_words(evidence.relation, accounting),
        recorded_by=accounting.recorded_by,
        others=[
            OtherRow(
                f"{each.name} {each.version}",
                _KINDS.get(each.side, each.side),
                estimate_text(each.value, 7),
                other_place(each, decisive),
            )
            for each in accounting.others[:_MOST]
        ],
        note=accounting.note,
        certificates=f"{many}, {count_text(max(1, round(size / 1000)))} kB of JSON",
    )


def _statement(stated: Statement) -> StatementRow:
    letter = letter_of(stated)
    low = f"{letter} = ∞" if math.isinf(stated.low) else f"{letter} ≥ {low_text(stated)}"
    high = "none" if math.isinf(stated.high) else f"{letter} ≤ {high_text(stated)}"
    return StatementRow(claim_of(stated), str(stated.verdict), low, high, where(stated).removeprefix(" at "))


def curve_drawing(accounting: Accounting) -> Markup | None:
    """Return the drawing of the certified curve; None without one that can be drawn."""
    curve = accounting.curve
    if curve is None or len(curve.epsilons) < 2 or not len(curve.epsilons) == len(curve.lows) == len(curve.highs):
        return None
    if not all(map(math.isfinite, (*curve.epsilons, *curve.lows, *curve.highs))) or not max(curve.highs) > 0:
        return None
    claims = [claim for each in accounting.statements for claim in _claims(each)]
    return alone(accounting_figure(curve, claims))


def _claims(stated: Statement) -> list[Claim]:
    try:
        return [] if stated.claim is None else [parse_claim(stated.claim)]
    except UsageError:
        return []
