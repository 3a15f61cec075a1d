"""What changed between two audits, and does an event lose more than before? As text, as a page and as JSON.

The results computed from counts (`dpaudit.review.compare.intervals`) are passed in as plain values; everything else is
in the two records. The wording separates what is certain about one event from what is unknown about the mechanism.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound
from dpaudit.report.html.templates import environment
from dpaudit.report.text.bound_kinds import exact_lower, sampled_lower
from dpaudit.report.text.numerals import NBSP, claim_text, confidence_text, count_text, lower_text, upper_text
from dpaudit.report.text.phrases import one_line
from dpaudit.report.view import view
from dpaudit.review.compare.worst import changes, heading

if TYPE_CHECKING:
    from dpaudit.review.compare.intervals import EventLoss, LossComparison

FORMAT = "dpaudit-comparison"
CAUTION_LISTED = "Both are about what is listed, in real arithmetic; that the programs do it was not checked."
CAUTION = (
    "An interval is about the loss of one event. Its upper end says nothing of other events, and so nothing of how "
    "much the mechanism loses at most."
)
_SYMBOLS = {"epsilon": "ε", "mu": "μ", "rho": "ρ"}
_WIDTH = 100  # columns of a terminal, wide enough for three columns of text
_LABEL, _COLUMN = 15, 40  # columns for the names, and for each record


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One thing that both records state, as JSON values and as text for people."""

    key: str
    name: str
    before: Any
    now: Any
    before_text: str
    now_text: str

    @property
    def differs(self) -> bool:
        """Whether the records differ, even if rounding makes their texts equal."""
        return bool(self.before != self.now)


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """An interval as drawn: its place on the axis in percent, and whether its upper end lies beyond it."""

    left: float
    width: float
    open: bool


def rows(before: Evidence, now: Evidence) -> list[ComparedRow]:
    """Return everything that is compared between the two records, in reading order."""
    old, new = dict(_stated(before)), dict(_stated(now))
    return [
        ComparedRow(key, name, old[key, name][0], new[key, name][0], old[key, name][1], new[key, name][1])
        for key, name in new
    ]


def sentence(comparison: LossComparison, *, same: bool = False) -> str:
    """Say what the two intervals show; ``same``: both records are the same."""
    if same:
        return "Both are the same evidence, so there is nothing to compare."
    before, after = comparison.before, comparison.after
    if comparison.obstacle or before is None or after is None:
        return f"Whether the loss changed cannot be said. {comparison.obstacle}".strip()
    then, later = interval_text(before), interval_text(after)
    if comparison.listed:
        text = f"What is listed lost {then} before and loses {later} now"
        if comparison.significant:
            return f"{text}: certainly {comparison.change} than before."
        return f"{text}. The intervals meet, so that no change is certain."
    text = f"The same event on the same pair lost {then} before and loses {later} now"
    sure = f"{confidence_text(comparison.confidence)} confidence"
    if comparison.significant:
        return f"{text}: {comparison.change} than before, at {sure}."
    return (
        f"{text}. The intervals meet: no change of its loss is shown at {sure}, which does not show that there is none."
    )


def caution(comparison: LossComparison) -> str:
    """Say what the intervals are not about."""
    return CAUTION_LISTED if comparison.listed else CAUTION


def interval_text(loss: EventLoss) -> str:
    """Return the text of an interval with its ends rounded outward: ε between 0.9 and 1.1."""
    letter = _SYMBOLS.get(loss.parameter, loss.parameter)
    at = f" at δ{NBSP}={NBSP}{claim_text(loss.delta)}" if loss.delta > 0 else ""
    at += f" at order{NBSP}{claim_text(loss.order)}" if loss.order > 0 else ""
    if math.isinf(loss.high):
        return f"{letter}{NBSP}≥{NBSP}{lower_text(loss.low)}{at}, with no upper end"
    return f"{letter} between {lower_text(loss.low)} and {upper_text(loss.high)}{at}"


def compare_text(before: Evidence, now: Evidence, comparison: LossComparison) -> str:
    """Return the comparison as text for a terminal."""
    found = changes(before, now, comparison)
    changed = [f"{'Better' if change.better else 'Changed'}: {change.sentence}" for change in found]
    said = [
        f"{heading(before, now, comparison)}.",
        *changed,
        sentence(comparison, same=before.id == now.id),
        caution(comparison),
    ]
    lines = [line for text in said for line in textwrap.wrap(one_line(text), _WIDTH)]
    lines += ["", _line("", "before", "now", " ")]
    for row in rows(before, now):
        lines += _wrapped(row)
    lines += _wrapped(
        ComparedRow("", "event's loss", *_ends(comparison), *_ends(comparison)), mark=comparison.significant
    )
    return "\n".join(line.rstrip() for line in lines) + "\n\n* differs\n"


def compare_page(before: Evidence, now: Evidence, comparison: LossComparison) -> str:
    """Return the comparison as one self-contained HTML page."""
    losses = [loss for loss in (comparison.before, comparison.after) if loss is not None]
    return (
        environment()
        .get_template("compare.html.j2")
        .render(
            before=before,
            now=now,
            same=before.id == now.id,
            heading=heading(before, now, comparison),
            changes=changes(before, now, comparison),
            sentence=sentence(comparison, same=before.id == now.id),
            caution=caution(comparison),
            rows=rows(before, now),
            losses=[("Before", comparison.before), ("Now", comparison.after)],
            bars=bars(losses),
            comparison=comparison,
            interval=interval_text,
            count=count_text,
            confidence=confidence_text,
        )
    )


def compare_json(before: Evidence, now: Evidence, comparison: LossComparison) -> str:
    """Return the comparison as JSON; infinities are the text "inf", as in evidence."""
    document = {
        "format": FORMAT,
        "version": 1,
        "before": before.id,
        "now": now.id,
        "headline": heading(before, now, comparison),
        "found": [
            {"title": one_line(change.title), "sentence": one_line(change.sentence), "better": change.better}
            for change in changes(before, now, comparison)
        ],
        "changes": [
            {"key": row.key, "before": row.before, "now": row.now, "differs": row.differs} for row in rows(before, now)
        ],
        "loss": {
            "before": _loss_values(comparison.before),
            "now": _loss_values(comparison.after),
            "confidence": comparison.confidence,
            "change": comparison.change,
            "significant": comparison.significant,
            "obstacle": comparison.obstacle.replace(NBSP, " "),
            "caution": caution(comparison),
        },
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


# --- what the records state -------------------------------------------------------------------------------


def _stated(evidence: Evidence) -> Iterator[tuple[tuple[str, str], tuple[Any, str]]]:
    """Yield ((key, name), (value, text)) for everything that is compared."""
    record, shown = evidence.record(), view(evidence)
    own, pairs = record["target"], [[pair["digest0"], pair["digest1"]] for pair in record["pairs"]]
    versions = dict(sorted(record["versions"].items()))
    yield ("id", "Evidence"), (evidence.id, evidence.id)
    yield ("target", "Target"), (own["name"], shown.cell("target"))
    yield ("digest", "Code digest"), (own["digest"], shown.cell("digest"))
    yield ("parameters", "Parameters"), (own["parameters"], shown.cell("parameters"))
    yield ("claim", "Claim"), (record["claim"], shown.cell("claim"))
    yield ("relation", "Neighbours"), (record["relation"], shown.cell("relation"))
    yield ("unit", "Unit of privacy"), (record["unit"], shown.cell("unit"))
    yield ("pairs", "Pairs"), (pairs, "; ".join(f"{a[:12]}… and {b[:12]}…" for a, b in pairs) or "none")
    yield ("asks", "Kind of function"), (own["asks"], shown.cell("asks"))
    yield ("versions", "Versions"), (versions, ", ".join(f"{name} {text}" for name, text in versions.items()))
    yield ("seed", "Seed"), (record["seed"], shown.cell("seed"))
    runs = f"{count_text(evidence.learning)} learning, {count_text(evidence.measuring)} measuring"
    yield ("runs", "Runs"), ([record["learning"], record["measuring"]], runs)
    yield ("confidence", "Confidence"), (evidence.confidence, confidence_text(evidence.confidence))
    yield ("verdict", "Verdict"), (str(evidence.verdict), shown.headline.word)
    yield ("sampled", "Lower, sampled"), (_bound(sampled_lower(evidence)), shown.sure("sampled"))
    if evidence.accounting is None:
        yield ("exact", "Lower, exact"), (_bound(exact_lower(evidence)), shown.sure("exact"))
    else:
        yield ("exact", "Lower, exact"), (_bound(evidence.lower), shown.cell("lower"))
    yield ("upper", "Upper"), (_bound(evidence.upper), shown.sure("upper"))
    scope = None if evidence.proof is None else evidence.proof.scope
    yield ("scope", "Proof for"), (None if scope is None else one_line(scope), scope or "none")
    yield ("low_bits", "Low-order bits"), (_bound(evidence.floating_point), shown.sure("low bits"))
    also = [f"{row.label}: {row.line}" for row in shown.beside]
    yield ("beside", "Beside verdict"), ([one_line(line) for line in also], "; ".join(also) or "nothing")


def _bound(bound: Bound | None) -> dict[str, Any] | None:
    if bound is None:
        return None
    return {
        "value": _number(bound.value),
        "parameter": bound.parameter,
        "kind": bound.kind,
        "confidence": bound.confidence,
        "delta": bound.delta,
    }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _loss_values(loss: EventLoss | None) -> dict[str, Any] | None:
    if loss is None:
        return None
    return {**asdict(loss), "event": one_line(loss.event), "low": _number(loss.low), "high": _number(loss.high)}


# --- how it is laid out -----------------------------------------------------------------------------------


def bars(losses: list[EventLoss]) -> list[IntervalBar]:
    """Return the positions of intervals on an axis from 0, in percent; an infinite end is drawn at the edge."""
    ends = [end for loss in losses for end in (loss.low, loss.high) if math.isfinite(end)]
    most = max(ends, default=0.0) * 1.15 or 1.0
    drawn = []
    for loss in losses:
        left = 100 * min(loss.low / most, 1.0) if math.isfinite(loss.low) else 99.0
        right = 100 * loss.high / most if math.isfinite(loss.high) else 100.0
        drawn.append(IntervalBar(round(left, 2), round(max(right - left, 0.6), 2), math.isinf(loss.high)))
    return drawn


def _ends(comparison: LossComparison) -> tuple[str, str]:
    before, after = ("none" if loss is None else interval_text(loss) for loss in (comparison.before, comparison.after))
    return before, after


def _wrapped(row: ComparedRow, *, mark: bool | None = None) -> list[str]:
    """Return a row of the table, with each column wrapped to its width."""
    one, other = (textwrap.wrap(one_line(text), _COLUMN) or [""] for text in (row.before_text, row.now_text))
    height = max(len(one), len(other))
    one, other = one + [""] * (height - len(one)), other + [""] * (height - len(other))
    differs = row.differs if mark is None else mark
    return [
        _line(row.name if number == 0 else "", left, right, "*" if differs and number == 0 else " ")
        for number, (left, right) in enumerate(zip(one, other, strict=True))
    ]


def _line(name: str, left: str, right: str, mark: str) -> str:
    return f"{mark} {name:<{_LABEL}} {left:<{_COLUMN}}  {right}"
