"""What is the bound of Steinke, Nasr & Jagielski (2023), Theorem 5.2? The naive twin of the sharp one-run bound.

P(right ≥ v) ≤ β + 2mδ·α, β = P(W ≥ v), α = max over i ≥ 1 of P(v > W ≥ v − i)/i, W ~ Binomial(r, e^ε/(1 + e^ε)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammaln

from dpaudit.arrays import Floats
from dpaudit.stats.guessing import guess_bound

_POINTS, _ROUNDS = 33, 8  # of the search for ε: a resolution of 32^8 steps
_FAR = 12.0  # standard deviations below the mean of W, beyond which its mass is negligible
_MOST_AT_ONCE = 2_000_000  # numbers in one table; bounds memory
_ROUNDING = 1e-8  # relative; larger than the rounding error of any sum here


def one_run_p_value(right: ArrayLike, guesses: int, canaries: int, epsilon: ArrayLike, delta: float) -> Floats:
    """Return an upper bound of the probability of so many right guesses under (ε, δ)-DP (Steinke et al. 2023, Theorem
    5.2).

    Args:
        right: right guesses, at most ``guesses``; broadcast with ``epsilon``.
        guesses: how many of the canaries were guessed, fixed beforehand.
        canaries: all that were included by a coin, guessed or not.
        epsilon: nats, at least 0.
        delta: probability.

    Returns:
        The p-value, at most 1, in the broadcast shape.
    """
    v, eps = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(right, epsilon))
    chance = 1 / (1 + np.exp(-eps))
    beta = np.where(v <= 0, 1.0, betainc(np.maximum(v, 1.0), guesses - np.maximum(v, 1.0) + 1, chance))
    if delta == 0:
        return np.asarray(beta)
    alpha = _alpha(v.ravel(), guesses, chance.ravel()).reshape(v.shape)
    return np.asarray(np.minimum(1.0, (beta + 2 * canaries * delta * alpha) * (1 + _ROUNDING)))


def _alpha(v: Floats, guesses: int, chance: Floats) -> Floats:
    """α of the theorem: the largest mean of W's probabilities over the numbers just below v; (n,), (n,) → (n,)."""
    if not len(v):
        return np.zeros(0)
    least = guesses * chance - _FAR * np.sqrt(guesses * chance * (1 - chance)) - 1
    reach = int(np.max(np.clip(v - least, 1, np.maximum(v, 1))))
    rows = max(1, _MOST_AT_ONCE // reach)
    if len(v) > rows:
        parts = range(0, len(v), rows)
        return np.concatenate([_alpha(v[i : i + rows], guesses, chance[i : i + rows]) for i in parts])
    steps = np.arange(1, reach + 1)
    below = v[:, None] - steps
    k = np.maximum(below, 0.0)
    ways = gammaln(guesses + 1) - gammaln(k + 1) - gammaln(guesses - k + 1)
    mass = np.exp(ways + k * np.log(chance)[:, None] + (guesses - k) * np.log1p(-chance)[:, None])
    return np.asarray(np.max(np.cumsum(np.where(below >= 0, mass, 0.0), axis=1) / steps, axis=1))


def one_run_bound(right: int, guesses: int, canaries: int, *, delta: float, error: float) -> float:
    """Return the lower bound of ε at δ, at confidence 1 − ``error`` (Steinke et al. 2023, Theorem 5.2).

    The smallest ε, to 10 digits and rounded down, that the guesses do not rule out. Every smaller ε of the grid was
    checked, so the result does not rely on the p-value increasing with ε.

    Args:
        right, guesses, canaries, delta: as for `one_run_p_value`.
        error: 1 − confidence.

    Returns:
        ε in nats; 0.0 if nothing is shown.
    """
    if right <= 0 or float(one_run_p_value(right, guesses, canaries, 0.0, delta)) > error:
        return 0.0
    low, high = 0.0, float(guess_bound(right, guesses - right, error))  # at ``high``, β alone is the error level
    for _ in range(_ROUNDS):
        tried = np.linspace(low, high, _POINTS)
        possible = np.flatnonzero(one_run_p_value(right, guesses, canaries, tried, delta) > error)
        first = int(possible[0]) if len(possible) else _POINTS - 1
        low, high = float(tried[max(first - 1, 0)]), float(tried[first])
    return low
