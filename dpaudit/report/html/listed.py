"""What was listed, or seen of a training loop, and what is certified of it? Sections of what dpaudit did not run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, Statement, Training, TrainingLoss
from dpaudit.privacy import Claim, parse_claim
from dpaudit.privacy.claims import number_text
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
from dpaudit.report.text.training import canaries_words, fact_name, loss_text, pitfalls, status_words, updates_of
from dpaudit.report.view import View

# --- What was listed, what is certified of it, and what do others say? -----------------------------------


_MOST_RELEASES = 100  # rows of a table


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


def accounting_section(shown: View, _: Evidence | None) -> Iterator[Section]:
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
        statements=[_statement(each) for each in accounting.statements[:_MOST_RELEASES]],
        releases=[
            ReleaseRow(each.name, release_words(each), each.event, count_text(each.steps))
            for each in accounting.releases[:_MOST_RELEASES]
        ],
        left_out=max(0, len(accounting.releases) - _MOST_RELEASES),
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
            for each in accounting.others[:_MOST_RELEASES]
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


# --- What was seen of a training loop, and which pitfalls does that show? --------------------------------


_MOST = 20  # releases in a table


def training_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the sections of a watched loop; none of other evidence."""
    training = shown.evidence.training
    if training is None:
        return
    yield Section("training", "What was seen", {"training": training_part(shown.evidence, training)})


def reviewed(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield what reviewers ask of a watched loop; none of other evidence."""
    if shown.evidence.training is not None:
        yield Section("pitfalls", "Twelve pitfalls", {})


def training_part(evidence: Evidence, training: Training) -> dict[str, Any]:
    """Return what the sections of a watched loop show."""
    size = len(json.dumps(training.certificates, ensure_ascii=False).encode("utf-8", "replace"))
    return {
        "facts": [
            {"name": fact_name(f), "status": status_words(f.status), "tone": f.status.replace(" ", "-"), "text": f.text}
            for f in training.facts
        ],
        "false_alarm": number_text(evidence.false_alarm or 0.0),
        "losses": [
            _loss("from below, on some data", training.low),
            _loss("from above, for all data", training.high),
            *([] if training.enough is None else [_loss("with just enough noise for the claim", training.enough)]),
        ],
        "all": loss_text(training),
        "step": _step(training),
        "gaussian": "" if training.gaussian is None else number_text(float(f"{training.gaussian:.5g}")),
        "canaries": None if training.canaries is None else canaries_words(training.canaries, evidence),
        "pitfalls": pitfalls(training),
        "certificates": f"{count_text(max(1, round(size / 1000)))} kB of JSON" if training.certificates else "none",
    }


def _loss(side: str, loss: TrainingLoss) -> dict[str, str]:
    """What is lost, from one side."""
    value = "not bounded" if math.isinf(loss.value) else number_text(float(f"{loss.value:.7g}"))
    listed = "; ".join(release_words(each) for each in loss.releases[:_MOST])
    return {"side": side, "value": value, "steps": listed or loss.why}


def _step(training: Training) -> str:
    step = training.step
    if step is None:
        return ""
    text = (
        f"From {count_text(step.values)} values of noise: whoever sees a coordinate along which a record moves the sum "
        "by C tells the two datasets apart at least as well as "
        f"μ = {number_text(float(f'{step.mu:.4g}'))} allows, in one step."
    )
    if step.epsilon is None:
        return text
    return (
        f"{text} If steps are independent and records come in as was seen, all {count_text(updates_of(training))} lose "
        f"at least ε = {number_text(float(f'{step.epsilon:.4g}'))} at the claim's δ, "
        "without taking the noise for Gaussian."
    )
