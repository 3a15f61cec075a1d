"""How are the trade-off curve and the privacy profile drawn? With what was shown, claimed and proved.

An attacker who says "side 0" whenever an event occurs makes false positives (the event on side 1) and false negatives
(no event on side 0). Mixing events reaches every point between them (Dong, Roth & Su 2022, Definition 2.1), and the
same rates show δ ≥ (1 − fnr) − e^ε·fpr at every ε (Balle, Barthe & Gaboardi 2018, Theorem 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from dpaudit.arrays import Floats
from dpaudit.evidence import further_records, records
from dpaudit.evidence.event import DATASETS
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import Claim, PureDP
from dpaudit.privacy.claims import number_text
from dpaudit.report.figures.canvas import CLAIM, GRID, INK, MUTED, PROOF, canvas, svg
from dpaudit.report.figures.loss import frequency_interval
from dpaudit.report.text.phrases import Proved, claim_text, counterexample_attempt, sampled_attempt
from dpaudit.stats.methods import method_of

# --- Which error rates can an attacker certainly reach? --------------------------------------------------

_SMALL = 0.02  # rates below this are unreadable on a linear axis


@dataclass(frozen=True, slots=True)
class Point:
    """The rates of one event: as counted, and their certain upper limits (equal to the rates if these are computed).

    ``event`` is False for a point on a certified curve, which belongs to no single event.
    """

    name: str
    rates: tuple[float, float]
    corner: tuple[float, float]
    exact: bool = False
    event: bool = True

    @property
    def rare(self) -> bool:
        """Whether it is an event too rare to be readable on a linear axis."""
        return self.event and min(self.corner) < _SMALL


def measured_points(evidence: Evidence) -> list[Point]:
    """Return the rates of every event in real arithmetic on the pair of the headline.

    The error of the audit is shared equally among all limits, two for each pair of rates (Bonferroni).
    """
    points = _computed_points(evidence.counterexample)
    best = counterexample_attempt(evidence) or sampled_attempt(evidence)
    if best is None or evidence.verdict is records.Verdict.INVALID:
        return points
    measured = [
        (attempt.name, attempt.bound, side)
        for attempt in evidence.attempts
        if attempt.bound.pair == best.bound.pair and _is_measured(attempt.bound)
        for side in _sides(attempt.bound)
    ]
    each = 1 - (1 - evidence.confidence) / max(len(measured), 1)
    return points + [_point(name, bound, side, each) for name, bound, side in measured]


def _computed_points(counterexample: records.Counterexample | None) -> list[Point]:
    """Return the rates of the counterexample, rounded outward to doubles; empty if they are not decimals."""
    if counterexample is None:
        return []
    try:
        p, q = float(counterexample.probability0[0]), float(counterexample.probability1[1])
    except ValueError:
        return []
    if not 0 <= q <= p <= 1:
        return []
    rates = (math.nextafter(q, 1) if q else 0.0, 1 - (math.nextafter(p, 0) if p < 1 else 1.0))
    return [Point("counterexample, computed", rates, rates, exact=True)]


def _is_measured(bound: records.Bound) -> bool:
    """Whether the counts come from a fixed number of independent runs, as exact intervals require."""
    if not method_of(bound.method).independent:
        return False
    return (
        bound.counts is not None
        and bound.event is not None
        and bound.arithmetic == "real"
        and min(bound.counts.runs) > 0
    )


def _sides(bound: records.Bound) -> list[int]:
    assert bound.event is not None
    return [side for side in (0, 1) if bound.event.toward(side)]


def _point(name: str, bound: records.Bound, side: int, confidence: float) -> Point:
    """Return the rates of "side 0 if in the event", or of "side 0 unless in the event that speaks for side 1"."""
    counts, event = bound.counts, bound.event
    assert counts is not None and event is not None
    hits = counts.toward0 if side == 0 else counts.toward1
    low, high = frequency_interval(hits, counts.runs, confidence)
    share = [hits[own] / counts.runs[own] for own in (0, 1)]
    both_sides = event.toward(0) and event.toward(1)
    name = f"{name}, pointing to {DATASETS[side]}" if both_sides else name
    if side == 0:
        return Point(name, (share[1], 1 - share[0]), (float(high[1]), float(1 - low[0])))
    return Point(name, (1 - share[1], share[0]), (float(1 - low[1]), float(high[0])))


def curve_points(curve: records.Curve) -> list[Point]:
    """Return the points of a certified trade-off curve that are below the trivial one."""
    return [
        Point("certified curve", (fpr, fnr), (fpr, fnr), event=False)
        for fpr, fnr in zip(curve.fprs, curve.fnrs, strict=True)
        if fpr + fnr < 1
    ]


def frontier(points: Sequence[Point]) -> list[tuple[float, float]]:
    """Return the convex curve from (0, 1) to (1, 0) that an attacker who mixes these events certainly reaches."""
    lowest = {0.0: 1.0, 1.0: 0.0}
    for fpr, fnr in (point.corner for point in points if sum(point.corner) < 1):
        lowest[fpr] = min(fnr, lowest.get(fpr, 1.0))
    corners = sorted(lowest.items())
    hull: list[tuple[float, float]] = []
    for corner in corners:
        while len(hull) > 1 and _turn(hull[-2], hull[-1], corner) <= 0:
            hull.pop()
        hull.append(corner)
    return hull


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def certified_profile(points: Sequence[Point], epsilon: Floats, known: Sequence[tuple[float, float]] = ()) -> Floats:
    """Return the δ that is certainly needed at each ε, in both orders of the pair."""
    factor = np.exp(epsilon)
    needed = [np.zeros_like(factor)]
    for point in points:
        fpr, fnr = point.corner
        needed += [1 - fnr - factor * fpr, 1 - fpr - factor * fnr]
    needed += [np.where(epsilon <= at, delta, 0.0) for at, delta in known]
    return np.asarray(np.max(needed, axis=0))


_DASHES = (0, (4, 2))
_DOTS = (0, (1, 1.5))


def tradeoff_figure(points: Sequence[Point], claim: Claim | None, upper: Proved | None, *, narrow: bool = False) -> str:
    """Draw false negatives against false positives; for rare events, also hits against false alarms."""
    zoomed = any(point.rare for point in points)
    count = 2 if zoomed else 1
    with canvas("tradeoff", (7.8 if zoomed else 4.8) if narrow else 4.0, narrow=narrow) as figure:
        panels = figure.subplots(count if narrow else 1, 1 if narrow else count, squeeze=False).ravel()
        _rates_panel(panels[0], points, claim, upper)
        if zoomed:
            _alarms_panel(
                panels[1],
                points,
                claim,
                upper,
                max(min(min(point.corner) for point in points if point.event) / 5, 1e-9),
            )
        handles = _tradeoff_handles(points, claim, upper)
        if narrow or zoomed:
            figure.legend(handles=handles, loc="outside upper left", ncols=1 if narrow else 3)
        else:
            figure.legend(handles=handles, loc="outside right upper")
        label = "False negative rate against false positive rate of an attacker" + (
            "" if claim is None else f", with the rates that the claim {claim} forbids"
        )
        return svg(figure, "tradeoff", label, narrow=narrow)


def _rates_panel(axes: Axes, points: Sequence[Point], claim: Claim | None, upper: Proved | None) -> None:
    at = np.concatenate([[0.0], np.geomspace(1e-9, 1e-3, 10), np.linspace(1e-3, 1, 150)])
    axes.plot([0, 1], [1, 0], color=GRID, linewidth=1)
    if claim is not None:
        curve = claim.tradeoff(at)
        axes.fill_between(at, 0, curve, facecolor="none", edgecolor=(CLAIM, 0.45), hatch="////", linewidth=0)
        axes.plot(at, curve, color=CLAIM, linewidth=1.3, linestyle=_DASHES)
    if upper is not None:
        axes.plot(at, PureDP(upper.value).tradeoff(at), color=_proof_ink(upper), linewidth=1.3, linestyle=_DOTS)
    hull = np.array(frontier(points))
    axes.fill_between(hull[:, 0], hull[:, 1], 1, facecolor=(INK, 0.08), linewidth=0)
    axes.plot(hull[:, 0], hull[:, 1], color=INK, linewidth=1.6)
    for point in (point for point in points if point.event):
        _draw_point(axes, point.rates, point.corner, exact=point.exact)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    _percent_axes(axes)
    axes.set_xlabel("false positives")
    axes.set_ylabel("false negatives")


def _alarms_panel(axes: Axes, points: Sequence[Point], claim: Claim | None, upper: Proved | None, floor: float) -> None:
    """Draw rare events: how often they occur on the side they speak for (hits), and on the other (false alarms)."""
    at = np.geomspace(floor, 1, 160)
    if claim is not None:
        most = 1 - claim.tradeoff(at)
        axes.fill_between(at, most, 1, facecolor="none", edgecolor=(CLAIM, 0.45), hatch="////", linewidth=0)
        axes.plot(at, most, color=CLAIM, linewidth=1.3, linestyle=_DASHES)
    if upper is not None:
        most = 1 - PureDP(upper.value).tradeoff(at)
        axes.plot(at, most, color=_proof_ink(upper), linewidth=1.3, linestyle=_DOTS)
    hull = np.array(frontier(points))
    hits = np.maximum(1 - np.interp(at, hull[:, 0], hull[:, 1]), 1 - np.interp(at, hull[::-1, 1], hull[::-1, 0]))
    axes.fill_between(at, floor, hits, facecolor=(INK, 0.08), linewidth=0)
    axes.plot(at, hits, color=INK, linewidth=1.6)
    for point in (point for point in points if point.event):
        swapped = point.rates[1] < point.rates[0]
        rates, corner = (pair[::-1] if swapped else pair for pair in (point.rates, point.corner))
        _draw_point(axes, (max(rates[0], floor), 1 - rates[1]), (corner[0], 1 - corner[1]), exact=point.exact)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(floor, 1)
    axes.set_ylim(floor, 1)
    _percent_axes(axes)
    axes.set_xlabel("false alarms, logarithmic")
    axes.set_ylabel("hits, logarithmic")


def _percent_axes(axes: Axes) -> None:
    axes.set_box_aspect(1)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:.3g} %"))


def _proof_ink(upper: Proved) -> str:
    return PROOF if upper.keeps_claim else MUTED


def _draw_point(axes: Axes, at: tuple[float, ...], corner: tuple[float, ...], *, exact: bool) -> None:
    """Draw a cross for computed rates; for counted rates, a circle and a line to the corner of their limits."""
    if exact:
        axes.plot(*at, "P", color=INK, markersize=7, zorder=5, clip_on=False)
        return
    axes.plot([at[0], corner[0], corner[0]], [corner[1], corner[1], at[1]], color=INK, linewidth=0.8)
    axes.plot(*at, "o", color=INK, markersize=3.6, markerfacecolor="none", zorder=4, clip_on=False)


def _tradeoff_handles(points: Sequence[Point], claim: Claim | None, upper: Proved | None) -> list[Any]:
    handles: list[Any] = [Line2D([], [], color=INK, linewidth=1.6, label="certainly reached, or better")]
    if any(point.event and not point.exact for point in points):
        handles.append(
            Line2D(
                [],
                [],
                color=INK,
                marker="o",
                markersize=3.6,
                markerfacecolor="none",
                linestyle="",
                label="event, as counted",
            )
        )
    if any(point.exact for point in points):
        handles.append(Line2D([], [], color=INK, marker="P", markersize=7, linestyle="", label="event, computed"))
    if claim is not None:
        handles.append(Patch(facecolor="none", edgecolor=(CLAIM, 0.45), hatch="////", label="forbidden by the claim"))
    if upper is not None:
        handles.append(_upper_handle(upper))
    return handles


def _upper_handle(upper: Proved) -> Line2D:
    ink = _proof_ink(upper)
    return Line2D([], [], color=ink, linewidth=1.3, linestyle=_DOTS, label=f"limit by proof, {upper.text}")


# --- the privacy profile ---------------------------------------------------------------------------------


def profile_figure(
    points: Sequence[Point],
    claim: Claim | None,
    upper: Proved | None,
    known: Sequence[tuple[float, float]] = (),
    *,
    narrow: bool = False,
) -> str:
    """Draw δ against ε: the δ that is certainly needed, and that of the claim."""
    epsilon = np.linspace(0.0, _widest(points, claim, upper), 161)
    needed = certified_profile(points, epsilon, known)
    claimed = None if claim is None else claim.profile(epsilon)
    top = max(float(needed.max()), 0.0 if claimed is None else float(claimed.max()), 1e-12)
    floor = _floor(needed, claim, top)
    with canvas("profile", 3.4, narrow=narrow) as figure:
        axes = figure.add_subplot()
        shown = np.where(needed > floor, needed, np.nan)
        axes.fill_between(epsilon, floor, np.maximum(needed, floor), facecolor=(INK, 0.08), linewidth=0)
        axes.plot(epsilon, shown, color=INK, linewidth=1.6)
        handles: list[Any] = [Line2D([], [], color=INK, linewidth=1.6, label="certainly needed, or more")]
        if claimed is not None:
            axes.plot(
                epsilon,
                np.where(claimed > floor, claimed, np.nan if floor else 0),
                color=CLAIM,
                linewidth=1.3,
                linestyle=_DASHES,
            )
            handles.append(Line2D([], [], color=CLAIM, linewidth=1.3, linestyle=_DASHES, label="enough, by the claim"))
        if claim is not None and claim.is_point:
            axes.plot(claim.value, max(claim.delta, floor), "D", color=CLAIM, markersize=6, clip_on=False)
            handles.append(
                Line2D([], [], color=CLAIM, marker="D", linestyle="", label=f"the claim, δ = {claim_text(claim.delta)}")
            )
        if upper is not None:
            enough = PureDP(upper.value).profile(epsilon)
            axes.plot(
                epsilon,
                np.where(enough > floor, enough, np.nan if floor else 0),
                color=_proof_ink(upper),
                linewidth=1.3,
                linestyle=_DOTS,
            )
            handles.append(_upper_handle(upper))
        if floor:
            axes.set_yscale("log")
            axes.yaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: number_text(float(f"{y:.3g}"))))
        axes.set_ylim(floor, min(1.0, top * (3 if floor else 1.08)))
        axes.set_xlim(0, float(epsilon[-1]))
        axes.set_xlabel("ε")
        axes.set_ylabel("δ")
        axes.grid(axis="y")
        figure.legend(handles=handles, loc="outside upper left", ncols=1 if narrow else 3 if len(handles) < 4 else 2)
        label = "The least δ for every ε: what is certainly needed" + (
            "" if claim is None else f" and what the claim {claim} gives"
        )
        return svg(figure, "profile", label, narrow=narrow)


def _floor(needed: Floats, claim: Claim | None, top: float) -> float:
    """Return 0 for a linear axis, else the lower end of a logarithmic one, which small δ need to be readable."""
    smooth = claim is not None and not isinstance(claim, PureDP)
    if claim is not None and 0 < claim.delta < 0.01 * top:
        return claim.delta / 30
    seen = needed[needed > 0]
    small = smooth or (len(seen) > 0 and float(seen.max()) < 0.05 * top)
    return max(1e-12, top * 1e-6) if small else 0.0


def _widest(points: Sequence[Point], claim: Claim | None, upper: Proved | None) -> float:
    """Return the end of the ε axis: beyond the claim, the proof, and what was shown."""
    reach = [0.1]
    if claim is not None and claim.is_point:
        reach.append(1.5 * claim.value)
    elif claim is not None:
        trial = np.geomspace(0.01, 100, 200)
        reach.append(float(trial[np.argmax(claim.profile(trial) < 1e-6)]))
    if upper is not None:
        reach.append(1.2 * upper.value)
    for point in points:
        fpr, fnr = point.corner
        for one, other in ((fpr, fnr), (fnr, fpr)):
            if 1 - other > one > 0:
                reach.append(1.2 * math.log((1 - other) / one))
            elif one <= 0 and other < 1:
                reach.append(5.0)
    return min(max(reach), 30.0)


# --- What does the certified privacy curve look like? δ at every ε, from below and from above, with the claims. ---

_LEAST = 1e-300


def accounting_figure(curve: further_records.AccountingCurve, claims: Sequence[Claim]) -> str:
    """Draw δ against ε on a logarithmic axis."""
    epsilon, low, high = (np.array(each, dtype=np.float64) for each in (curve.epsilons, curve.lows, curve.highs))
    seen = high > _LEAST
    points = [(claim.value, claim.delta) for claim in claims if claim.is_point and claim.delta > _LEAST]
    floor = min([float(high[seen].min()), *(delta for _, delta in points)]) / 3
    with canvas("accounting", 3.0, narrow=True) as figure:
        axes = figure.add_subplot()
        axes.fill_between(epsilon, np.maximum(low, floor), np.maximum(high, floor), facecolor=(INK, 0.2), linewidth=0)
        for values, style in ((low, "-"), (high, (0, (4, 2)))):
            axes.plot(epsilon, np.where(values > floor, values, np.nan), color=INK, linewidth=1.2, linestyle=style)
        handles: list[Any] = [
            Line2D([], [], color=INK, linewidth=1.2, linestyle=(0, (4, 2)), label="certified from above"),
            Line2D([], [], color=INK, linewidth=1.2, label="certified from below"),
            Patch(facecolor=(INK, 0.2), label="between them"),
        ]
        for at, delta in points:
            axes.plot(at, delta, "D", color=CLAIM, markersize=6, clip_on=False)
        if points:
            handles.append(Line2D([], [], color=CLAIM, marker="D", linestyle="", label="claimed"))
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: number_text(float(f"{y:.3g}"))))
        axes.set_ylim(floor, min(1.0, 3 * float(high.max())))
        axes.set_xlim(0, max([float(epsilon[-1]), *(1.05 * at for at, _ in points)]))
        axes.set_xlabel("ε")
        axes.set_ylabel("δ")
        axes.grid(axis="y")
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
        claimed = "".join(f", and the claim {claim}" for claim in claims[:3])
        return svg(figure, "accounting", f"δ against ε, certified from below and from above{claimed}", narrow=True)
