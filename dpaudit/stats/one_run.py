"""How large must ε or μ be, given how many canaries of one model were guessed correctly?

Each of m canaries was included in the data of one training run, or left out of it, by a fair coin of its own. An
attacker who sees the model guesses r of the coins. The canaries share one model, so the guesses are not independent,
and no binomial interval holds for them. What bounds their number, if r was fixed beforehand, stands at each
law below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, gammaln, logit, ndtr, ndtri

from dpaudit.arrays import Booleans, Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.event_bound import POWER, EventBound, Weight, guesses_of

# --- How many canaries of one model are guessed, at which values of a claim's parameter? ---
#
# A test at one value may err only if the mechanism really keeps that value. So each value may be tested by another
# number of guesses, all at the same error level: the values at which the test does not reject contain the true one with
# probability 1 − error, and the bound is the least of them. One must therefore walk upwards and stop at the first value
# that is not ruled out. The highest value that is ruled out by its own test would be no bound: a mechanism that keeps a
# small value keeps every larger one, so every test above it could err as well.
#
# A *step* is a number of guesses and the value up to which it is tried. Steps are fixed before the scores are looked at
# (`dpaudit.auditing.canaries`). The counts are those of the blocks of ranks between all the places where some
# number of guesses ends.

LAST = 100.0
"""The end of the last step: no larger value is tried."""
_HAIR = 1e-9  # relative distance of a value just above the claim


class StepsBound(EventBound):
    """By guesses about the canaries of one model, whose number may depend on the value that is tested.

    The weight is flat: for each step, its number of guesses and the value up to which it is tried. Without a weight,
    the guesses that were counted are tried at every value.
    """

    parameter: ClassVar[str] = ""

    def bounds(self, right: Floats, guesses: Floats, canaries: float, claim: Claim, error: float) -> Floats:
        """Return the value below which everything is ruled out by each number of guesses.

        Args:
            right: (n,) right guesses.
            guesses: (n,) all guesses, each number fixed beforehand.
            canaries: all of one model; half of them if all guesses are of one kind.
            claim: the notion to bound; its own value is not used.
            error: 1 − confidence.

        Returns:
            (n,) values of the claim's parameter, rounded down.
        """
        raise NotImplementedError

    def excludes(self, right: int, guesses: int, canaries: float, claim: Claim, error: float) -> bool:
        """Return whether so many right guesses rule out the claim itself; arguments as for `bounds`."""
        raise NotImplementedError

    def reached(self, chance: float, guesses: int, canaries: float) -> float:
        """Return the value at which guesses are right with this probability.

        Args:
            chance: the probability.
            guesses, canaries: as for `bounds`.

        Returns:
            The value of the claim's parameter.
        """
        raise NotImplementedError

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound; arguments as for `EventBound.lower`."""
        return self.walk(counts, claim, weight, error)[0]

    def walk(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> tuple[float, int]:
        """Return the lower bound, and the number of guesses of the step at which the walk ended.

        Args:
            counts, claim, weight, error: as for `EventBound.lower`.

        Returns:
            The least value that is not ruled out, and its number of guesses.

        Raises:
            ValueError: if the bins do not show how many guesses of a step were right.
        """
        if claim.parameter != self.parameter:
            raise ValueError(f"these guesses bound {self.parameter}, not {claim.parameter}")
        steps = steps_of(weight, counts)
        made = np.array([guesses for guesses, _ in steps], dtype=np.float64)
        right = np.array([right_guesses(counts, guesses) for guesses, _ in steps], dtype=np.float64)
        found, start = self.bounds(right, made, effective_canaries(counts), claim, error), 0.0
        for value, (guesses, end) in zip(found, steps, strict=True):
            if not value >= end:
                return max(start, float(value)), guesses
            start = end
        return start, steps[-1][0]

    def detectable(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the smallest value that would have been shown to exceed the claim with probability 0.9.

        The step in which the claim lies is looked at; the steps below it rule out smaller values, which takes less.
        Every guess is assumed to be right independently, and as often as that value allows.
        """
        made = next(guesses for guesses, end in steps_of(weight, counts) if end > claim.value)
        canaries = effective_canaries(counts)
        above = claim.with_value(claim.value * (1 + _HAIR) + _HAIR)

        def shown(right: int) -> bool:
            return self.excludes(right, made, canaries, above, error)

        if made <= 0 or not shown(made):
            return math.inf
        low, high = 0, made  # low fails, high succeeds
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if shown(middle) else (middle, high)
        return self.reached(_chance(high, made), made, canaries)


def _chance(right: int, guesses: int) -> float:
    """The probability of a right guess with which so many are right with probability 0.9."""
    return float(betaincinv(right, guesses - right + 1, POWER))


def steps_of(weight: Weight, counts: Counts) -> list[tuple[int, float]]:
    """Return the steps: numbers of guesses, and the values up to which they are tried.

    Raises:
        ValueError: if the weight is not that of steps.
    """
    if weight is None:
        return [(sum(guesses_of(counts)), LAST)]
    if not isinstance(weight, Sequence) or not weight or len(weight) % 2 or counts.bins is None:
        raise ValueError("steps are numbers of guesses, each with the value up to which it is tried, and need bins")
    made, ends = [int(each) for each in weight[::2]], [float(each) for each in weight[1::2]]
    if list(weight[::2]) != made or min(made) < 1 or ends != sorted(set(ends)) or not 0 < ends[0] <= ends[-1] == LAST:
        raise ValueError(f"steps have whole numbers of guesses, and values that rise to {LAST:g}")
    return list(zip(made, ends, strict=True))


def split_guesses(guesses: int) -> tuple[int, int]:
    """Return how many of the highest scores are guessed in, and how many of the lowest out."""
    return guesses - guesses // 2, guesses // 2


def right_guesses(counts: Counts, guesses: int) -> int:
    """Return how many guesses about the ranks at both ends were right.

    Raises:
        ValueError: if no bins of the counts end there.
    """
    if counts.bins is None:
        return guesses_of(counts)[0]
    inside, outside = (np.concatenate([[0], np.cumsum(bins)]) for bins in counts.bins)
    high, low = split_guesses(guesses)
    ends = inside + outside
    at = [int(np.searchsorted(ends, place)) for place in (high, int(ends[-1]) - low)]
    if any(i >= len(ends) or ends[i] != place for i, place in zip(at, (high, ends[-1] - low), strict=True)):
        raise ValueError(f"the counts do not say how many of {guesses} guesses were right")
    return int(inside[at[0]] + outside[-1] - outside[at[1]])


def effective_canaries(counts: Counts) -> float:
    """Return the number of canaries that share δ, or a curve: half of them if all guesses are of one kind.

    A canary that is only ever guessed to be in can be guessed correctly for one of its two coins only.
    """
    one_kind = counts.bins is None and not (sum(counts.toward0) and sum(counts.toward1))
    return sum(counts.runs) / (2 if one_kind else 1)


# --- How large must ε be, given how many canaries of one model were guessed correctly? ---

# --- How large must ε be by the sharpest law there is? ---
#
# Each of m canaries was included by a fair coin, or left out, and r of the coins are guessed from the model alone; r is
# fixed beforehand. Let W be the right guesses and B ~ Binomial(r, e^ε/(1 + e^ε)). For every mechanism that is (ε, δ)-DP
# in each canary,
#
#     P(W ≥ v) ≤ β·(1 + D·P(B < v)/(v·P(B = v))),   β = P(B ≥ v),   D = mδ, or mδ/2 if all guesses are of one kind,
#
# and some mechanism attains it (docs/one-run.md has the proof). It is never above Theorem 5.2 of Steinke, Nasr &
# Jagielski (2023), which bounds the same probability by β + 2mδ·α, α = max over i ≥ 1 of P(v > B ≥ v − i)/i.
#
# The right-hand side increases with ε, because it is the optimum of a linear programme that ε relaxes. So the values
# that a number of right guesses rules out are all those below one.

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


# --- How large must μ be, given how many canaries of one model were guessed correctly? ---
#
# Each of m canaries was included by a fair coin, or left out, and r of the coins are guessed from the model alone; r is
# fixed beforehand. Let W be the right guesses, T_k = P(W ≥ k), S_k = T_{k+1} + T_{k+2} + …, and m' = m, or m/2 if all
# guesses are of one kind. If telling whether a canary was in is no easier than telling N(μ, 1) from N(0, 1) (Dong, Roth
# & Su 2022), then for k = r, …, 1
#
#     T_{k−1} ≥ max(T_k, (m'·Φ(Φ⁻¹(A_k/m') − μ) + S_k + T_k)/(r − k + 1)),   A_k = k·T_k + S_k
#
# (the recursion of Mahloujifar, Melis & Chaudhuri 2025, "Auditing f-differential privacy in one run", for all guesses
# at once; docs/one-run.md has the proof). The right-hand side increases with T_k and S_k. So the least path that starts
# with T_v = τ and S_v = 0 is below every possible one, and if it passes 1, then P(W ≥ v) ≥ τ is impossible. Once the
# path stands still it stays there: A_k no longer changes, and the fraction moves towards T_k from below.
#
# A larger μ allows more, so the values that are ruled out are all those below one.

_HALVINGS_OF_MU = 40  # of an interval of μ
_LARGEST = 40.0  # value of μ that is tried
_ROUNDING_OF_PATHS = 1e-9  # relative; larger than the rounding error of a path


def is_excluded(right: ArrayLike, guesses: ArrayLike, canaries: ArrayLike, mu: ArrayLike, error: ArrayLike) -> Booleans:
    """Return whether so many right guesses have a probability of less than ``error`` under μ-GDP.

    Args:
        right: right guesses, at least 1, broadcast with the others.
        guesses: how many of the canaries were guessed, fixed beforehand.
        canaries: m' of the module's docstring: all of them, or half of them if all guesses are of one kind.
        mu: at least 0.
        error: the error level.

    Returns:
        Booleans, in the broadcast shape (Mahloujifar, Melis & Chaudhuri 2025).
    """
    given = np.broadcast_arrays(right, guesses, canaries, mu, error)
    shape = given[0].shape
    k, r, m, shift, tail = (np.array(x, dtype=np.float64).ravel() for x in given)
    found = np.zeros(k.shape, dtype=bool)
    at = np.flatnonzero(k >= 1)
    k, r, m, shift, tail = (x[at] for x in (k, r, m, shift, tail))
    above = np.zeros(k.shape)
    while len(at):
        wrong = m * ndtr(ndtri(np.minimum((k * tail + above) / m, 1.0)) - shift)
        higher = (wrong + above + tail) / (r - k + 1)
        passed = higher > 1 + _ROUNDING_OF_PATHS
        found[at[passed]] = True
        on = ~passed & (higher > tail) & (k > 1)
        at, r, m, shift = at[on], r[on], m[on], shift[on]
        k, above, tail = k[on] - 1, (above + tail)[on], higher[on]
    return found.reshape(shape)


def gaussian_bound(
    right: ArrayLike, guesses: ArrayLike, canaries: ArrayLike, error: ArrayLike, *, halvings: int = _HALVINGS_OF_MU
) -> Floats:
    """Return the lower bound of μ at confidence 1 − ``error``: every smaller value is ruled out.

    Args:
        right, guesses, canaries, error: as for `is_excluded`.
        halvings: of the interval of μ; fewer give a smaller bound sooner.

    Returns:
        μ, rounded down, in the broadcast shape; 0.0 where nothing is shown.
    """
    v, r, m, level = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(right, guesses, canaries, error))
    low, high = np.zeros(v.shape), np.full(v.shape, _LARGEST)
    for _ in range(halvings):
        middle = (low + high) / 2
        out = is_excluded(v, r, m, middle, level)
        low, high = np.where(out, middle, low), np.where(out, high, middle)
    return low


class GaussianOneRun(StepsBound):
    """μ of a Gaussian claim, by guesses about the canaries of one model."""

    parameter = "mu"

    def bounds(self, right: Floats, guesses: Floats, canaries: float, claim: Claim, error: float) -> Floats:
        """Return the μ below which everything is ruled out; arguments as for `StepsBound.bounds`."""
        return gaussian_bound(right, guesses, canaries, error)

    def excludes(self, right: int, guesses: int, canaries: float, claim: Claim, error: float) -> bool:
        """Return whether so many right guesses rule out the claim itself."""
        return bool(is_excluded(right, guesses, canaries, claim.value, error))

    def reached(self, chance: float, guesses: int, canaries: float) -> float:
        """Return the μ at which an attack on independent Gaussian scores guesses correctly with this probability."""
        found, missed = guesses * chance / canaries, guesses * (1 - chance) / canaries
        return float(ndtri(found) - ndtri(missed)) if found < 1 else np.inf
