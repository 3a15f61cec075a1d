"""Which points (ε, δ) does a claim imply, to bet against?

A claim that is a whole curve implies (ε, δ(ε)) for every ε; a few of them are enough.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.privacy import ApproxDP, Claim, GaussianDP

_POINTS = (0.0, 0.5, 1.0, 2.0, 4.0)  # of a curve, in multiples of the μ of a similar Gaussian mechanism


@lru_cache(maxsize=1024)
def points(claim: Claim) -> tuple[Floats, Floats]:
    """Return points (ε, δ) that the claim implies, to bet against: two arrays of equal length; δ is never too small."""
    if claim.is_point:
        return np.array([claim.value]), np.array([claim.delta])
    epsilon = _like_mu(claim) * np.array(_POINTS)
    if isinstance(claim, GaussianDP):
        return epsilon, np.minimum(np.asarray(claim.profile(epsilon)) * (1 + 1e-9) + 1e-15, 1.0)
    return epsilon, _profile_above(claim, epsilon)


def _like_mu(claim: Claim) -> float:
    """The μ of a Gaussian mechanism that just keeps the claim."""
    if isinstance(claim, GaussianDP):
        return claim.mu
    order = getattr(claim, "order", 1.0)
    return math.sqrt(2 * claim.value / order)


def searched(claim: Claim) -> tuple[Claim, Claim | None]:
    """Return what events are chosen for: the claim; for a curve, a point in its tail and one in its middle."""
    epsilon, delta = points(claim)
    if len(epsilon) == 1:
        return claim, None
    return ApproxDP(float(epsilon[3]), float(delta[3])), ApproxDP(float(epsilon[1]), float(delta[1]))


_GRID = np.unique(np.concatenate([np.geomspace(1e-7, 0.02, 24), np.linspace(0, 1, 41)]))
_FINER = np.linspace(0, 1, 12)


def _profile_above(claim: Claim, epsilon: Floats) -> Floats:
    """An upper bound of δ(ε): the maximum of p − e^ε·q over allowed pairs, on a grid that is refined once."""
    allowed = 1 - claim.tradeoff(_GRID)
    best = np.argmax(allowed - np.exp(epsilon)[:, None] * _GRID, axis=1)
    low, high = _GRID[np.maximum(best - 1, 0)], _GRID[np.minimum(best + 1, len(_GRID) - 1)]
    grid = np.unique(np.concatenate([_GRID, *(low + (high - low) * step for step in _FINER)]))
    height = (1 - claim.tradeoff(grid)) - np.exp(epsilon)[:, None] * grid
    return np.asarray(np.clip(_summit(grid, height) + 1e-12, 0.0, 1.0))


def _summit(grid: Floats, height: Floats) -> Floats:
    """An upper bound of concave functions between the points at which they are known, (functions, points).

    Between two points, a concave function is below the extension of the chord to their left, and of that to their
    right.
    """
    width = np.diff(grid)
    slope = np.diff(height, axis=1) / width
    rise, fall = slope[:, :-2], slope[:, 2:]  # on both sides of every inner interval
    start, end, step = height[:, 1:-2], height[:, 2:-1], width[1:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        where = np.clip((end - start - fall * step) / (rise - fall), 0.0, step)
    crossing = np.where(rise > fall, start + rise * where, np.maximum(start, end))
    inner = np.where((rise > 0) & (fall < 0), crossing, np.maximum(start, end))
    first = height[:, 1] + np.maximum(-slope[:, 1], 0.0) * width[0]
    last = height[:, -2] + np.maximum(slope[:, -2], 0.0) * width[-1]
    return np.asarray(np.maximum(np.maximum(first, last), np.maximum(inner.max(axis=1), height.max(axis=1))))
