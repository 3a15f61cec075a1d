"""What would this audit have found, and how many runs would smaller violations need?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.report.html.templates import Section
from dpaudit.report.text.numerals import count_text, upper_text
from dpaudit.report.text.phrases import detectable_sentence, symbol
from dpaudit.report.view import View


@dataclass(frozen=True, slots=True)
class PowerPart:
    """The section on power: a sentence, the runs for smaller violations if they were computed, and the basis."""

    sentence: str
    rows: list[tuple[str, str]]
    probability: str
    note: str


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section, if there is a claim and the runs can be trusted."""
    part = power_part(shown.evidence)
    if part is not None:
        yield Section("power", "What it would have found", {"power": part})


def power_part(evidence: Evidence) -> PowerPart | None:
    """Return the section; None without a claim, or if the runs cannot be trusted."""
    if evidence.detectable is None or evidence.verdict is Verdict.INVALID:
        return None
    rows = [(f"{symbol(evidence)} ≥ {upper_text(one.value)}", count_text(one.runs)) for one in evidence.power]
    return PowerPart(detectable_sentence(evidence), rows, "0.9", _note(evidence))


def _note(evidence: Evidence) -> str:
    text = "This says nothing of violations that show only in events or on datasets that were not tried."
    if math.isinf(evidence.detectable or 0.0):
        return f"{text} More runs would find more."
    if evidence.detectable_on != "event" or evidence.power:
        return text
    return (
        f"{text} As a rule, half the distance between the claim and this value takes about four times as many "
        "measuring runs."
    )
