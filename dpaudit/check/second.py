"""Does another library find the same bound?

Clopper–Pearson ends from statsmodels (`proportion_confint`, method "beta") in place of ours, and from them the guess
bound and the corners of a joint bound once more, written down anew from their definitions (`dpaudit.bounds.guess`,
`dpaudit.bounds.joint`). Bounds that weigh every outcome have no second opinion here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from dpaudit.check.finding import Finding, agrees, answered, unchecked
from dpaudit.members import Bound, Counts
from dpaudit.privacy import Claim

_ACCURACY = 1e-6  # of quantiles of the other library, relative to the bound
_CORNERS, _CUT = 161, 50

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def second_opinion(title: str, bound: Bound, counts: Counts, claim: Claim) -> Iterator[Finding]:
    """Yield a finding where the method has a second opinion."""
    if find_spec("statsmodels") is None:
        said = f"{title}: was not asked for: that takes statsmodels (pip install statsmodels)"
        yield unchecked("second opinion", said, decides=False)
        return
    if bound.method == "guess":
        value = _guess(counts, 1 - bound.confidence)
    elif bound.method in ("joint", "two-sided joint") and isinstance(bound.weight, float):
        value = _joint(bound.method, counts, claim, bound.weight, 1 - bound.confidence)
    else:
        return
    holds = agrees(value, bound.value, _ACCURACY)
    yield answered("second opinion", holds, f"{title}: with the intervals of statsmodels it is {value:.7g}")


def _guess(counts: Counts, error: float) -> float:
    right = counts.toward0[0] + counts.toward1[1]
    wrong = counts.toward0[1] + counts.toward1[0]
    if right == 0:
        return 0.0
    least = float(_ends(right, right + wrong, error)[0])
    return max(0.0, math.log(least / (1 - least))) if 0 < least < 1 else 0.0


def _joint(method: str, counts: Counts, claim: Claim, weight: float, error: float) -> float:
    from scipy.stats import norm

    first, second = weight, math.sqrt(1 - weight**2)
    cut = float(norm.isf(error / _CUT))
    line = float(norm.isf(error - 2 * error / _CUT))
    far = np.linspace(max((line - first * cut) / second, -37.0), cut, _CORNERS)
    near = np.minimum((line - second * far) / first, cut)
    lows, highs = norm.sf(np.concatenate([[cut], near[:-1]])), norm.sf(far)
    if method == "two-sided joint":
        runs = sum(counts.runs)
        right = counts.toward0[0] + counts.toward1[1]
        p = _ends(right, runs, lows)[0]
        wrong = counts.toward0[1] + counts.toward1[0]
        q = _ends(wrong, runs - right, highs)[1] * (1 - p)
    else:
        side = 0 if any(counts.toward0) else 1
        hits = counts.toward1 if side else counts.toward0
        p = _ends(hits[side], counts.runs[side], lows)[0]
        q = _ends(hits[1 - side], counts.runs[1 - side], highs)[1]
    return float(np.min(claim.least(p, q)))


def _ends(hits: int, runs: int, error: float | Numbers) -> tuple[Numbers, Numbers]:
    """The Clopper–Pearson interval that errs with ``error`` on each side."""
    from statsmodels.stats.proportion import proportion_confint

    levels = np.atleast_1d(np.asarray(error, dtype=np.float64))
    if runs == 0:
        return np.zeros_like(levels), np.ones_like(levels)
    ends = [proportion_confint(hits, runs, alpha=2 * level, method="beta") for level in levels]
    low, high = np.array(ends, dtype=np.float64).T
    return (low, high) if np.ndim(error) else (low[0], high[0])
