"""How large must ε be, given how many canaries of one model were guessed correctly?

Each of m canaries was included in the data of one training run, or left out of it, by a fair coin of its own. An
attacker who sees the model guesses r of the coins. The canaries share one model, so the guesses are not independent,
and no binomial interval holds for them. Under (ε, δ)-DP the number of right guesses still satisfies

    P(right ≥ v) ≤ β + 2mδ·α,  β = P(W ≥ v),  α = max over i ≥ 1 of P(v > W ≥ v − i)/i,  W ~ Binomial(r, e^ε/(1 + e^ε))

(Steinke, Nasr & Jagielski 2023, "Privacy Auditing with One (1) Training Run", Theorem 5.2), for guesses of any kind
whose number r was fixed beforehand. δ > 0 affects the coin of every canary a little, hence the factor m. Earlier audits
used it; `dpaudit.stats.sharp_one_run` is never above it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, gammaln

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.event_bound import EventBound, Weight, guesses_of
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


def detectable_one_run(
    guesses: int, canaries: int, claim: float, *, delta: float, error: float, power: float = 0.9
) -> float:
    """Return the smallest ε that would have been shown to exceed ``claim`` with probability ``power``.

    Every guess is assumed to be right with probability e^ε/(1 + e^ε), independently: the most that (ε, 0)-DP allows.

    Args:
        guesses, canaries, delta: as for `one_run_p_value`.
        claim: ε in nats.
        error: 1 − confidence.
        power: probability with which the claim is exceeded.

    Returns:
        ε in nats; infinity if no number of right guesses suffices.
    """

    def shown(right: int) -> bool:
        return one_run_bound(right, guesses, canaries, delta=delta, error=error) > claim

    if guesses <= 0 or not shown(guesses):
        return np.inf
    low, high = 0, guesses  # low fails, high succeeds
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    chance = float(betaincinv(high, guesses - high + 1, power))
    return float(np.log(chance) - np.log1p(-chance)) if chance < 1 else np.inf


class OneRun(EventBound):
    """By guesses about the canaries of one model."""

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound of ε at the claim's δ; arguments as for `EventBound.lower`."""
        right, wrong = guesses_of(counts)
        return one_run_bound(right, right + wrong, sum(counts.runs), delta=claim.delta, error=error)

    def detectable(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the smallest ε that so many guesses would have shown to exceed the claim."""
        made, canaries = sum(guesses_of(counts)), sum(counts.runs)
        return detectable_one_run(made, canaries, claim.value, delta=claim.delta, error=error)
