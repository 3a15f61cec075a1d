"""What is in the sections on the trade-off curve and the privacy profile?

A claim excludes every pair of rates below its trade-off curve (Dong, Roth & Su 2022, Definition 2.1), so an event whose
rates are certainly there refutes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.privacy import Claim
from dpaudit.report.figures.canvas import both
from dpaudit.report.figures.curves import profile_figure, tradeoff_figure
from dpaudit.report.figures.rates import Point, curve_points, measured_points
from dpaudit.report.html.templates import Section
from dpaudit.report.text.bound_kinds import proved_limit
from dpaudit.report.text.numerals import confidence_text, count_text, share_text, upper_text
from dpaudit.report.text.phrases import detectable_sentence, symbol
from dpaudit.report.view import View

_MOST_PLACES = 10  # points of a certified curve in the table, to keep it short


@dataclass(frozen=True, slots=True)
class CurveRow:
    """An event in the table: its two rates as counted, their limits, and the rate that the claim allows."""

    name: str
    rates: tuple[str, str]
    corner: tuple[str, str]
    allowed: str
    beyond: bool


@dataclass(frozen=True, slots=True)
class CurvesPart:
    """Both sections: drawings, table, and a sentence on their basis."""

    tradeoff: Markup
    profile: Markup
    rows: list[CurveRow]
    basis: str
    zoomed: bool
    claimed: bool
    places: bool


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield both sections, if anything usable was measured or computed."""
    curves = curves_part(shown.evidence, shown.evidence.claimed)
    if curves is not None:
        yield Section("tradeoff", "Trade-off curve", {"curves": curves})
        yield Section("profile", "Privacy profile", {})


def curves_part(evidence: Evidence, claim: Claim | None) -> CurvesPart | None:
    """Return the trade-off curve and the privacy profile; None if nothing usable was measured or computed."""
    points, curve, upper = measured_points(evidence), evidence.curve, proved_limit(evidence)
    if curve is not None and evidence.verdict is not Verdict.INVALID:
        points = [point for point in points if point.exact] + curve_points(curve)
    if not points:
        return None
    known = [] if curve is None else list(zip(curve.epsilons, curve.deltas, strict=True))
    return CurvesPart(
        tradeoff=both(lambda narrow: tradeoff_figure(points, claim, upper, narrow=narrow)),
        profile=both(lambda narrow: profile_figure(points, claim, upper, known, narrow=narrow)),
        rows=[_row(point, claim) for point in _tabled(points)],
        basis=_basis(evidence, points),
        zoomed=any(point.rare for point in points),
        claimed=claim is not None,
        places=not any(point.event for point in points),
    )


def _tabled(points: Sequence[Point]) -> list[Point]:
    """Return every event, and a few points of a curve."""
    places = [point for point in points if not point.event]
    step = max(1, math.ceil(len(places) / _MOST_PLACES))
    return [point for point in points if point.event] + places[::step]


def _basis(evidence: Evidence, points: Sequence[Point]) -> str:
    """Say how certain the limits are, and how they relate to the verdict."""
    parts = []
    sampled = sum(point.event and not point.exact for point in points)
    if evidence.curve is not None and not all(point.event for point in points):
        parts.append(
            f"All of the certified curve holds at once, at {confidence_text(evidence.curve.confidence)} confidence. It "
            f"follows from {len(evidence.curve.statements)} statements on events that were fixed before measuring; it "
            "stands beside the verdict and decides nothing."
        )
    elif sampled:
        many = "Both limits" if sampled == 1 else f"The limits of all {sampled} pairs of rates"
        parts.append(
            f"{many} hold together, at {confidence_text(evidence.confidence)} confidence: exact intervals, with an "
            "equal share of the error for each. The bound of the verdict is sharper, since it weighs both rates "
            "together."
        )
    if any(point.exact for point in points):
        parts.append("The rates of the counterexample are computed, and certain.")
    return " ".join(parts)


def _row(point: Point, claim: Claim | None) -> CurveRow:
    allowed, beyond = "–", False
    if claim is not None:
        least = float(claim.tradeoff(point.corner[0]))
        allowed, beyond = share_text(least), point.corner[1] < least
    limits = [share_text(rate, rounding="upper") for rate in point.corner]
    if not point.event:
        limits[0] = share_text(point.corner[0])  # a chosen point of the curve, not a limit
    shares = [share_text(rate) if point.event else "–" for rate in point.rates]
    return CurveRow(point.name, (shares[0], shares[1]), (limits[0], limits[1]), allowed, beyond)


# --- What would this audit have found, and how many runs would smaller violations need? ---


def power_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the power_section, if there is a claim and the runs can be trusted."""
    part = power_part(shown.evidence)
    if part is not None:
        yield Section("power", "What it would have found", {"power": part})


def power_part(evidence: Evidence) -> dict[str, Any] | None:
    """Return the power_section; None without a claim, or if the runs cannot be trusted."""
    if evidence.detectable is None or evidence.verdict is Verdict.INVALID:
        return None
    rows = [(f"{symbol(evidence)} ≥ {upper_text(one.value)}", count_text(one.runs)) for one in evidence.power]
    return {"sentence": detectable_sentence(evidence), "rows": rows, "note": _power_note(evidence)}


def _power_note(evidence: Evidence) -> str:
    text = "This says nothing of violations that show only in events or on datasets that were not tried."
    if math.isinf(evidence.detectable or 0.0):
        return f"{text} More runs would find more."
    if evidence.detectable_on != "event" or evidence.power:
        return text
    return (
        f"{text} As a rule, half the distance between the claim and this value takes about four times as many "
        "measuring runs."
    )
