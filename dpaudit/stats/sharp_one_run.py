"""How large must ε be, given how many canaries of one model were guessed correctly, by the sharpest law there is?

Each of m canaries was included by a fair coin, or left out, and r of the coins are guessed from the model alone; r is
fixed beforehand. Let W be the right guesses and B ~ Binomial(r, e^ε/(1 + e^ε)). For every mechanism that is (ε, δ)-DP
in each canary,

    P(W ≥ v) ≤ β·(1 + D·P(B < v)/(v·P(B = v))),   β = P(B ≥ v),   D = mδ, or mδ/2 if all guesses are of one kind,

and some mechanism attains it (docs/one-run.md has the proof). It is never above Theorem 5.2 of Steinke, Nasr &
Jagielski (2023, `dpaudit.stats.one_run`), which bounds the same probability.

The right-hand side increases with ε, because it is the optimum of a linear programme that ε relaxes. So the values that
a number of right guesses rules out are all those below one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, gammaln, logit

from dpaudit.arrays import Floats
from dpaudit.privacy import Claim
from dpaudit.stats.guess_steps import StepsBound

_HALVINGS = 48  # of an interval of ε: to the last digits of a float
_ROUNDING = 1e-8  # relative; larger than the rounding error of any sum here
_TINY = 1e-280  # below this, a tail is not divided by its first term


def sharp_p_value(right: ArrayLike, guesses: ArrayLike, epsilon: ArrayLike, budget: ArrayLike) -> Floats:
    """Return the greatest probability of so many right guesses under (ε, δ)-DP (docs/one-run.md, Theorem 1).

    Args:
        right: right guesses, broadcast with the others. Need not be whole, for plans: the formula is continuous.
        guesses: how many of the canaries were guessed, fixed beforehand.
        epsilon: nats, at least 0.
        budget: mδ for m canaries, guessed or not; half of it if all guesses are "in", or all are "out".

    Returns:
        The p-value, at most 1, in the broadcast shape.
    """
    v, r, eps, most = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(right, guesses, epsilon, budget))
    some = np.maximum(v, 1.0)
    chance = 1 / (1 + np.exp(-eps))
    tail, rest = betainc(some, r - some + 1, chance), betainc(r - some + 1, some, 1 / (1 + np.exp(eps)))
    log_mass = gammaln(r + 1) - gammaln(some + 1) - gammaln(r - some + 1) - r * np.logaddexp(0, eps) + some * eps
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        falling = np.exp(eps) * (r - some) / (some + 1)  # P(B = v + 1)/P(B = v); later ratios are smaller
        ratio = np.where(tail > _TINY, np.exp(np.log(tail) - log_mass), 1 / np.maximum(1 - falling, 1e-12))
        extra = np.where(most * rest > 0, most * rest * ratio / some, 0.0)  # far below the mean the tail is 1 anyway
    found = np.minimum(1.0, (tail + extra) * (1 + _ROUNDING))
    return np.asarray(np.where(v <= 0, 1.0, np.where(v > r, 0.0, found)))


def sharp_bound(right: ArrayLike, guesses: ArrayLike, budget: ArrayLike, error: ArrayLike) -> Floats:
    """Return the lower bound of ε at δ, at confidence 1 − ``error``: every smaller value is ruled out.

    Args:
        right, guesses, budget: as for `sharp_p_value`.
        error: the error level.

    Returns:
        ε in nats, rounded down, in the broadcast shape; 0.0 where nothing is shown.
    """
    v, r, most, level = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(right, guesses, budget, error))
    some = np.clip(v, 1.0, np.maximum(r, 1.0))
    low = np.zeros(v.shape)
    high = np.maximum(
        logit(betaincinv(some, np.maximum(r, some) - some + 1, level)), 0.0
    )  # there, β alone is the level
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        out = sharp_p_value(v, r, middle, most) <= level
        low, high = np.where(out, middle, low), np.where(out, high, middle)
    shown = (v > 0) & (v <= r) & (sharp_p_value(v, r, 0.0, most) <= level)
    return np.asarray(np.where(shown, low, 0.0))


def is_limited_by_delta(canaries: int, claim: float, delta: float) -> bool:
    """Return whether δ, rather than too few canaries, keeps the p-value of all-correct guesses from falling.

    Args:
        canaries: m.
        claim: ε in nats.
        delta: probability.

    Returns:
        Whether δ more than doubles the p-value of m right guesses.
    """
    with_delta, without = (float(sharp_p_value(canaries, canaries, claim, canaries * at)) for at in (delta, 0.0))
    return with_delta > 2 * without


class SharpOneRun(StepsBound):
    """ε at a δ, by guesses about the canaries of one model."""

    parameter = "epsilon"

    def bounds(self, right: Floats, guesses: Floats, canaries: float, claim: Claim, error: float) -> Floats:
        """Return the ε below which everything is ruled out; arguments as for `StepsBound.bounds`."""
        return sharp_bound(right, guesses, canaries * claim.delta, error)

    def excludes(self, right: int, guesses: int, canaries: float, claim: Claim, error: float) -> bool:
        """Return whether so many right guesses rule out the claim itself."""
        return float(sharp_p_value(right, guesses, claim.value, canaries * claim.delta)) <= error

    def reached(self, chance: float, guesses: int, canaries: float) -> float:
        """Return logit(chance): the most that (ε, 0)-DP allows is e^ε/(1 + e^ε)."""
        return float(logit(chance))
