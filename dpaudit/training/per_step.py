"""How much does one step tell, by the noise that was seen, and what do all steps tell together?

A record moves a clipped sum by at most C. Whoever sees a coordinate of a noisy sum, along which it moves by C, tells
N from N + C, N being the noise. So the law of the noise gives the attacker's trade-off curve: at each threshold t the
false positive rate 1 − F(t) and the true positive rate 1 − F(t − C). F is bounded on a lattice of thresholds, fixed by
σ alone, at all of them at once: exact binomial intervals (Clopper & Pearson 1934) that share the error.

A bound of μ is one point of a curve, and does not compose. The hull of all points does: it is the curve of a discrete
pair, which is not easier to tell apart than the true one, also after sampling and over steps. Its composition is summed
by FFT, losses rounded down; the error of floats is far below `_MARGIN`, which δ is lowered by. The bound is
*conditional*: it holds if steps are independent and records come in as was seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from dpaudit.arrays import Floats, Integers

_PARTS = 8  # thresholds in a shift; 4 to 16 give the same to three digits (σ from .6 to 4)
_REACH = 5.0  # standard deviations
_MOST = 400  # thresholds
_MARGIN = 1e-9  # of δ, for sums in floats
_NOISE = 1e-14  # of a mass: of this size are errors of the transform
_LEAST_DELTA = 1e-7
_CELLS = 2**18
_WIDEST = 60.0  # of ε


@dataclass(frozen=True, slots=True)
class Step:
    """What is certified of one step.

    Attributes:
        fpr, tpr: corners of the hull, from (0, 0) to (1, 1): no attacker has less at more than this.
        mu: if the step keeps μ-GDP, μ is at least this.
    """

    fpr: Floats
    tpr: Floats
    mu: float


def thresholds(sigma: float) -> tuple[Floats, int]:
    """Return thresholds in units of σ·C, and how many of them a shift by C is."""
    parts = _PARTS
    reach = _REACH + 1 / sigma
    while 2 * reach * sigma * parts > _MOST and parts > 1:
        parts -= 1
    step = 1 / sigma / parts
    if 2 * reach / step > _MOST:  # much noise: a shift is less than a step
        step, parts = 1 / sigma, 1
    number = int(np.ceil(reach / step))
    return np.asarray(np.arange(-number, number + 1) * step, dtype=np.float64), parts


def counted(values: Floats, sigma: float) -> Integers:
    """Return how many values are at most each threshold."""
    at, _ = thresholds(sigma)
    return np.asarray(np.searchsorted(np.sort(values), at, side="right"), dtype=np.int64)


def certified(below: Integers, values: int, sigma: float, error: float) -> Step:
    """Return what the counts certify of a step."""
    _, parts = thresholds(sigma)
    share = error / (2 * len(below))
    above = values - below
    with np.errstate(all="ignore"):
        most = np.where(above >= values, 1.0, stats.beta.isf(share, above + 1, np.maximum(below, 1)))
        least = np.where(above <= 0, 0.0, stats.beta.ppf(share, np.maximum(above, 1), below + 1))
    fpr, tpr = most[parts:], least[:-parts]  # 1 − F(t) at most, 1 − F(t − C) at least
    with np.errstate(invalid="ignore"):
        mu = stats.norm.ppf(tpr) - stats.norm.ppf(fpr)
    # the upper concave hull of the points, with (0, 0) and (1, 1)
    hull: list[tuple[float, float]] = []
    for point in sorted([(0.0, 0.0), *zip(fpr.tolist(), tpr.tolist(), strict=True), (1.0, 1.0)]):
        while len(hull) > 1 and _left(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    corners = np.array(hull)
    return Step(corners[:, 0], corners[:, 1], float(max(0.0, np.nanmax(np.where(np.isfinite(mu), mu, 0.0)))))


def _left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0])


# --- many steps ---------------------------------------------------------------------------------------------


def composed(step: Step, rate: float, steps: int, delta: float) -> float | None:
    """Return the ε that so many steps certainly lose at δ, with records sampled at a rate (1: none)."""
    if delta < _LEAST_DELTA:
        return None
    with_record, without = np.diff(step.tpr), np.diff(step.fpr)
    some = without > 0  # what only the record makes is left out: less is told
    p, q = with_record[some], without[some]
    mixed = (1 - rate) * q + rate * p
    with np.errstate(divide="ignore"):
        loss = np.log(mixed / q)
    finite = np.isfinite(loss)
    p, q, loss = mixed[finite], q[finite], loss[finite]
    return max(_least(loss, p, steps, delta), _least(-loss, q, steps, delta))


def _least(loss: Floats, mass: Floats, steps: int, delta: float) -> float:
    """Return the ε at which δ(ε) passes δ, after so many steps; losses are rounded down to a grid."""
    size = 2 * _half_width(loss, mass, steps) / _CELLS
    cells = np.floor(loss / size).astype(np.int64)
    low = int(cells.min())
    each = np.zeros(_CELLS)
    np.add.at(each, cells - low, mass)
    total = np.maximum(np.fft.irfft(np.fft.rfft(each) ** steps, _CELLS), 0)
    middle = round(float((cells - low) @ mass) * steps)
    shift = middle - _CELLS // 2
    at = ((np.arange(_CELLS) - shift) % _CELLS + shift + low * steps) * size
    few = (total > _NOISE) & (at > 0)  # to leave some out tells less
    at, total = at[few], total[few]

    def told(epsilon: float) -> float:
        return float(total @ np.maximum(0, -np.expm1(np.minimum(0, epsilon - at)))) - _MARGIN

    if told(0.0) <= delta:
        return 0.0
    lower, upper = 0.0, _WIDEST
    for _ in range(50):
        half = (lower + upper) / 2
        lower, upper = (half, upper) if told(half) > delta else (lower, half)
    return lower


def _half_width(loss: Floats, mass: Floats, steps: int) -> float:
    """Return how far around its mean the sum of losses lies, but for a hundredth of the margin (Chernoff 1952)."""
    mean = float(loss @ mass) / float(mass.sum())
    spread = float(np.sqrt((loss - mean) ** 2 @ mass))
    most = float(np.ptp(loss)) * steps
    half = 8 * spread * math.sqrt(steps) + 1e-9
    tilts = np.geomspace(1e-3, 1e3, 60) / max(spread * np.sqrt(steps), 1e-12)
    while half < most:
        log_tail = math.inf
        for sign in (1, -1):
            powers = tilts[:, None] * sign * (loss - mean)
            tops = powers.max(1)
            logs = steps * (tops + np.log(np.exp(powers - tops[:, None]) @ mass)) - tilts * half
            log_tail = min(log_tail, float(logs.min())) if sign == 1 else max(log_tail, float(logs.min()))
        if log_tail < math.log(_MARGIN / 200):
            return half
        half *= 1.3
    return most + 1e-9
