"""Which error rates can an attacker certainly reach? Rates of events, their limits, and what follows from them.

An attacker who says "side 0" whenever an event occurs makes false positives (the event on side 1) and false negatives
(no event on side 0). Mixing events reaches every point between them (Dong, Roth & Su 2022, Definition 2.1), and the
same rates show δ ≥ (1 − fnr) − e^ε·fpr at every ε (Balle, Barthe & Gaboardi 2018, Theorem 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.evidence.event import DATASETS
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Counterexample, Curve, Verdict
from dpaudit.report.figures.loss_bins import frequency_interval
from dpaudit.report.text.bound_kinds import counterexample_attempt, sampled_attempt
from dpaudit.stats.methods import method_of

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
    if best is None or evidence.verdict is Verdict.INVALID:
        return points
    measured = [
        (attempt.name, attempt.bound, side)
        for attempt in evidence.attempts
        if attempt.bound.pair == best.bound.pair and _is_measured(attempt.bound)
        for side in _sides(attempt.bound)
    ]
    each = 1 - (1 - evidence.confidence) / max(len(measured), 1)
    return points + [_point(name, bound, side, each) for name, bound, side in measured]


def _computed_points(found: Counterexample | None) -> list[Point]:
    """Return the rates of the counterexample, rounded outward to doubles; empty if they are not decimals."""
    if found is None:
        return []
    try:
        p, q = float(found.probability0[0]), float(found.probability1[1])
    except ValueError:
        return []
    if not 0 <= q <= p <= 1:
        return []
    rates = (math.nextafter(q, 1) if q else 0.0, 1 - (math.nextafter(p, 0) if p < 1 else 1.0))
    return [Point("counterexample, computed", rates, rates, exact=True)]


def _is_measured(bound: Bound) -> bool:
    """Whether the counts come from a fixed number of independent runs, as exact intervals require."""
    if not method_of(bound.method).independent:
        return False
    return (
        bound.counts is not None
        and bound.event is not None
        and bound.arithmetic == "real"
        and min(bound.counts.runs) > 0
    )


def _sides(bound: Bound) -> list[int]:
    assert bound.event is not None
    return [side for side in (0, 1) if bound.event.toward(side)]


def _point(name: str, bound: Bound, side: int, confidence: float) -> Point:
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


def curve_points(curve: Curve) -> list[Point]:
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
