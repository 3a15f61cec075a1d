"""Which probabilities (p, q) of an event under the two sides do its counts leave possible, and which bound follows?

For counts k of n and l of m, P₁ = P(Bin(n, p) ≥ k) and P₂ = P(Bin(m, q) ≤ l) are independent super-uniform p-values, so
with weights w₁² + w₂² = 1 fixed beforehand z = w₁·z(P₁) + w₂·z(P₂) tests (p, q) (Stouffer's combination). Its region is
a half-plane, the shape that suits a ratio, whereas two separate Clopper–Pearson intervals give a square. The region is
cut by Clopper–Pearson bounds at error γ each (Berger & Boos 1994), and covered by a staircase, so that the numerical
grid is rigorous.

A `ConfidenceRegion` is that staircase: with the stated confidence some corner j has p ≥ p_j and q ≤ q_j. A quantity
that increases in p and decreases in q is therefore at least its smallest value over the corners.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betainccinv, betaincinv, ndtr, ndtri

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim, RenyiDP, ZeroConcentratedDP
from dpaudit.stats import event_bound, methods

# --- How large or small must a probability be, given a count? ---
#
# Exact one-sided bounds (Clopper & Pearson 1934), vectorised: arguments broadcast. The last bit is rounded outward,
# because close to 1 a probability has few bits left.


def probability_at_least(hits: ArrayLike, runs: ArrayLike, error: ArrayLike) -> Floats:
    """Return the lower Clopper–Pearson bound L of a probability: P(true probability < L) ≤ ``error``.

    L is the ``error`` quantile of Beta(k, n − k + 1), and 0 at k = 0. All arguments broadcast.

    Args:
        hits: successes k.
        runs: trials n.
        error: error level, 1 − confidence.

    Returns:
        L, in the broadcast shape.
    """
    k, n, level = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (hits, runs, error)))
    lower = betaincinv(np.maximum(k, 1.0), np.maximum(n - k + 1, 1.0), level)
    return np.where(k <= 0, 0.0, np.nextafter(lower, 0.0))


def probability_at_most(hits: ArrayLike, runs: ArrayLike, error: ArrayLike) -> Floats:
    """Return the upper Clopper–Pearson bound U of a probability: P(true probability > U) ≤ ``error``.

    U is the complement of the lower bound for the failures, and 1 at k = n. All arguments broadcast.

    Args:
        hits: successes k.
        runs: trials n.
        error: error level, 1 − confidence.

    Returns:
        U, in the broadcast shape.
    """
    k, n, level = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (hits, runs, error)))
    # the upper tail function is accurate for small error levels, where 1 − error is not
    upper = betainccinv(np.maximum(k + 1, 1.0), np.maximum(n - k, 1.0), level)
    return np.where(k >= n, 1.0, np.nextafter(upper, 1.0))


# --- Which probabilities (p, q) of an event under the two sides do its counts leave possible? ---

_CORNERS = 161
_FARTHEST = -37.0  # z(P₂)
CUT = 50  # γ = error/50
EVEN = math.sqrt(0.5)
"""The weight of both counts if none was chosen."""
_ORDERS = 1 + np.geomspace(1e-4, 1e4, 600)  # of the Rényi divergences that bound ρ from above, 3 % apart


@dataclass(frozen=True, slots=True)
class ConfidenceRegion:
    """Corners (p_j, q_j), shape (…, corners) each: for some j, p ≥ p_j and q ≤ q_j."""

    p: Floats
    q: Floats

    def least(self, loss: Callable[[Floats, Floats], Floats]) -> Floats:
        """Return the minimum of a loss that increases in p and decreases in q: a certified lower bound of it."""
        return np.asarray(np.min(loss(self.p, self.q), axis=-1))


def joint_weight(p: float, q: float, n: float, m: float, slope_p: float = 1.0, slope_q: float = 1.0) -> float:
    """Return w₁ for a one-sided event, from the noise of p̂ and q̂ in the loss as learned.

    A poor weight costs tightness, never validity.

    Args:
        p, q: probabilities of the event as learned.
        n, m: measuring runs of the two sides.
        slope_p, slope_q: how fast the loss falls as log p falls and as log q rises (1 and 1 for log(p/q)).

    Returns:
        w₁, strictly between 0 and 1.
    """
    return _share(slope_p * math.sqrt((1 - p) / (p * n)), slope_q * math.sqrt((1 - q) / (q * m)))


def two_sided_weight(a: float, b: float, runs: float, slope_a: float = 1.0, slope_b: float = 1.0) -> float:
    """Return w₁ for a two-sided event.

    The second count is that of wrong guesses among the runs that are not right: β = b/(1 − a).

    Args:
        a, b: probabilities of right and wrong guesses among all runs, as learned.
        runs: measuring runs, of both sides.
        slope_a, slope_b: how fast the loss falls as log a falls and as log b rises.

    Returns:
        w₁, strictly between 0 and 1.
    """
    rest = max(1 - a, 1e-12)
    beta = min(b / rest, 1 - 1e-12)
    first = math.sqrt(rest / (a * runs)) * (slope_a + slope_b * a / rest)
    return _share(first, slope_b * math.sqrt((1 - beta) / (beta * runs * rest)))


def _share(first: float, second: float) -> float:
    return min(max(first / math.hypot(first, second), 1e-3), 1 - 1e-6) if first or second else math.sqrt(0.5)


def staircase(weight: float, error: float, *, farthest: bool = False) -> tuple[Floats, Floats]:
    """Return the error levels of p's lower and q's upper bound at each corner of the region.

    Args:
        weight: w₁, strictly between 0 and 1.
        error: 1 − confidence.
        farthest: whether to leave out z(P₂) below −37, which has a chance of 1e-299.

    Returns:
        Two arrays (corners,) of error levels.

    Raises:
        ValueError: if the weight is out of range.
    """
    if not 0 < weight < 1:
        raise ValueError(f"the weight must lie strictly between 0 and 1, not {weight!r}")
    gamma = error / CUT
    w1, w2 = weight, math.sqrt(1 - weight * weight)
    critical, cut = -float(ndtri(error - 2 * gamma)), -float(ndtri(gamma))
    z2 = np.linspace(max((critical - w1 * cut) / w2, _FARTHEST), cut, _CORNERS)
    z1 = np.minimum((critical - w2 * z2) / w1, cut)
    first = z1[0] if farthest and z2[0] == _FARTHEST else cut
    # z(P₂) up to z2[0] with z(P₁) at its cut, then each cell between z2[j] and z2[j+1] with z(P₁) ≤ z1[j]
    return ndtr(-np.concatenate([[first], z1[:-1]])), ndtr(-z2)


def _columns(*counts: ArrayLike) -> list[Floats]:
    """The counts, broadcast, with a last axis for the corners."""
    return [np.asarray(count, dtype=np.float64)[..., None] for count in np.broadcast_arrays(*counts)]


def joint_region(
    hits: ArrayLike, runs: ArrayLike, others: ArrayLike, other_runs: ArrayLike, *, weight: float, error: float
) -> ConfidenceRegion:
    """Return the region for a one-sided event (Stouffer et al. 1949; Berger & Boos 1994); counts broadcast.

    Args:
        hits, runs: count and runs of the side on which the event is likelier (p).
        others, other_runs: count and runs of the other side (q).
        weight: w₁, fixed before measuring.
        error: 1 − confidence.

    Returns:
        The region, with corners of shape (…, corners).
    """
    low, high = staircase(weight, error)
    k, n, rest, m = _columns(hits, runs, others, other_runs)
    return ConfidenceRegion(probability_at_least(k, n, low), probability_at_most(rest, m, high))


def two_sided_region(
    right: ArrayLike, wrong: ArrayLike, runs: ArrayLike, *, weight: float, error: float
) -> ConfidenceRegion:
    """Return the region of (P(right), P(wrong)) per run, with sides by a fair coin; counts broadcast.

    right ~ Bin(N, a) and wrong | right ~ Bin(N − right, b/(1 − a)) give independent p-values; at a corner a ≥ p and
    b/(1 − a) ≤ β, so b ≤ β·(1 − p) at its least favourable point.

    Args:
        right, wrong: numbers of right and wrong guesses.
        runs: N, of both sides.
        weight: w₁, fixed before measuring.
        error: 1 − confidence.

    Returns:
        The region, with corners of shape (…, corners).
    """
    low, high = staircase(weight, error)
    a, b, n = _columns(right, wrong, runs)
    p = probability_at_least(a, n, low)
    beta = probability_at_most(b, n - a, high)
    return ConfidenceRegion(p, beta * (1 - p))


# --- the methods --------------------------------------------------------------------------------------------


class Joint(event_bound.EventBound):
    """By a joint region of the two probabilities of a one-sided event."""

    def region(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region of both probabilities that the counts leave possible.

        Args:
            counts: of the event.
            weight: w₁, fixed before measuring.
            error: 1 − confidence.
        """
        return self.region_of(event_bound.of_one_side(counts), weight, error)

    def mirrored(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region whose corners bound q from below (its p) and p from above (its q).

        Args:
            counts, weight, error: as for `region`.
        """
        hits, runs, others, other_runs = event_bound.of_one_side(counts)
        return joint_region(others, other_runs, hits, runs, weight=weight, error=error)

    def region_of(self, numbers: event_bound.Numbers, weight: float, error: float) -> ConfidenceRegion:
        """Return the region from the four numbers of an event.

        Args:
            numbers: hits and runs of each side; or right guesses, all runs, wrong guesses, all runs.
            weight, error: as for `region`.
        """
        return joint_region(*numbers, weight=weight, error=error)

    def lower(self, counts: Counts, claim: Claim, weight: event_bound.Weight, error: float) -> float:
        """Return the smallest value that some point of the region allows; arguments as for `EventBound.lower`."""
        return float(self.region(counts, event_bound.single(weight), error).least(claim.least))

    def upper(self, counts: Counts, claim: Claim, weight: event_bound.Weight, error: float) -> float:
        """Return the largest value that some point of the mirrored region allows; arguments as for `EventBound.upper`.

        The weights are exchanged together with the counts. An enumerated region gives the lower end only, and the plain
        one takes its place here: any region that was chosen before measuring is valid.
        """
        mirrored = self.mirrored(counts, math.sqrt(1 - event_bound.single(weight) ** 2), error)
        return float(np.max(_outer(claim, mirrored.q, mirrored.p)))

    def shown(self, event: event_bound.CountedEvent, value: float, times: float) -> float:
        """Return the bound in the unlucky tenth of the event."""
        (p, q), weight = event.rates(value), event_bound.single(event.weight)
        n, m = (max(round(times * runs), 1) for runs in event.runs)

        def bound(numbers: event_bound.Numbers) -> float:
            return float(self.region_of(numbers, weight, event.error).least(event.claim.least))

        return event_bound.unlucky_bound(bound, p, q, n, m, weight, two_sided=self.two_sided)


class TwoSidedJoint(Joint):
    """By a joint region of right and wrong guesses, where fair coins picked the sides; used by earlier audits."""

    two_sided = True

    def region(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region of the probabilities of right and wrong guesses that the counts leave possible."""
        return self.region_of(event_bound.of_both_sides(counts), weight, error)

    def mirrored(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region with right and wrong guesses exchanged."""
        right, runs, wrong, _ = event_bound.of_both_sides(counts)
        return two_sided_region(wrong, right, runs, weight=weight, error=error)

    def region_of(self, numbers: event_bound.Numbers, weight: float, error: float) -> ConfidenceRegion:
        """Return the region from right guesses, all runs, wrong guesses and all runs."""
        right, runs, wrong, _ = numbers
        return two_sided_region(right, wrong, runs, weight=weight, error=error)


def _outer(claim: Claim, p: Floats, q: Floats) -> Floats:
    """The claim's `least`, or an upper bound of it if it is a maximum over a grid of orders.

    D_α increases with α (van Erven & Harremoës 2014, Theorem 3), so between two orders D_α/α is at most D of the upper
    order divided by the lower order; below the first order it is at most D of that one, and above the last at most D_∞
    = max(log(p/q), log((1 − q)/(1 − p))) divided by it.
    """
    if not isinstance(claim, ZeroConcentratedDP):
        return claim.least(p, q)
    heights = [RenyiDP(float(order), 0.0).least(p, q) for order in _ORDERS]
    lower = np.concatenate([[1.0], _ORDERS[:-1]])
    bounds = [height / order for height, order in zip(heights, lower, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.fmax(np.log(p) - np.log(q), np.log1p(-q) - np.log1p(-p))
    return np.where(p > q, np.fmax(np.max(bounds, axis=0), most / _ORDERS[-1]), 0.0)


# --- Which probabilities of a two-sided event do its counts leave possible, however the sides were picked? ---
#
# No coin picks the sides here: n₀ runs are of side 0 and as many of side 1, and the region holds given that. On side 0
# a run guesses right with probability p₁ and wrong with p₂, on side 1 with q₂ and q₁. What every notion bounds is about
# the two averages
#
#     a = (p₁ + q₂)/2,    b = (p₂ + q₁)/2:
#
# (q₁, p₁) and (p₂, q₂) are both below the concave curve 1 − f that a claim allows to attackers, and so is (b, a).
#
# Let X₁ and Y₂ be the right guesses of the sides, R their sum, W the wrong guesses of both. R is a sum of independent
# coins with mean μ = n₀(p₁ + q₂); given X₁ and Y₂, W is one with mean M = (n₀ − X₁)β₀ + (n₀ − Y₂)β₁, β₀ = p₂/(1 − p₁).
# A sum of unequal coins has
#
# - beyond its mean, a smaller tail than the binomial with the same mean (Hoeffding 1956, Theorem 5): P(R ≥ r) for r ≥ μ
#   + 1, P(W ≤ w) for w ≤ M − 1;
# - before its mean, where moving two coins apart makes these probabilities larger (the sum of the others is unimodal,
#   with its mode within one of its mean: Darroch 1964), at most the tail of coins that are 0 or as likely as any of
#   them may be: P(R ≥ r) ≤ P(Bin(⌈μ/c⌉, c) ≥ r) for r ≤ μ − 1 and P(W ≤ w) ≤ P(Bin(⌊M/c⌋, c) ≤ w) for w ≥ M + 1, if no
#   coin is likelier than c; and within one of the mean, as one count farther on.
#
# So there is a p-value for μ and, given X₁ and Y₂, one for M. They are added with weights as in `joint_region`, to a
# staircase of μ and M. The coins of each side are bounded by Clopper–Pearson, six bounds at error γ each (Berger & Boos
# 1994): these give c, and limit how μ and M are divided between the sides; the least favourable division counts.

_CUT = 200  # γ = error/200; six of these cuts cost little
_SURE = 1e-15  # larger than the probability of a p-value that floats cannot distinguish from 1


def region_given_sides(
    side0: tuple[int, int, int], side1: tuple[int, int, int], *, weight: float, error: float
) -> ConfidenceRegion:
    """Return the region of (a, b): for some corner j, a ≥ p_j and b ≤ q_j (Hoeffding 1956; Berger & Boos 1994).

    Args:
        side0, side1: right guesses, wrong guesses and runs of each side; tight if both have equally many runs.
        weight: w₁, of the right guesses, fixed before measuring.
        error: 1 − confidence.

    Returns:
        The region, with corners of shape (corners,).
    """
    gamma = error / _CUT
    low, high = staircase(weight, error - 6 * gamma - _SURE, farthest=True)
    sides = side0, side1
    runs, right, wrong = (sum(side[i] for side in sides) for i in (2, 0, 1))
    left = [side[2] - side[0] for side in sides]
    least = [float(probability_at_least(side[0], side[2], gamma)) for side in sides]
    most = [float(probability_at_most(side[0], side[2], gamma)) for side in sides]
    chance = [float(probability_at_most(side[1], n, gamma)) for side, n in zip(sides, left, strict=True)]
    mean = _mean_at_least(right, runs, low, max(most))
    apart = abs(side0[2] - side1[2]) / 2  # the largest distance of n₀p₁ + n₁q₂ from (n₀ + n₁)·a
    a = np.where(low < 1, np.clip((mean - apart) / runs, 0.0, 1.0), 1.0)  # no μ has a p-value above 1
    errors = _mean_at_most(wrong, sum(left), high, max(chance))
    both = np.clip(2 * a, sum(least), sum(most))
    b = np.zeros(len(a))
    for p in (np.maximum(least[0], both - most[1]), np.minimum(most[0], both - least[1])):
        of0 = np.minimum(errors, chance[0] * left[0])
        of1 = np.minimum(errors, chance[1] * left[1])
        for m0, m1 in ((of0, errors - of0), (errors - of1, of1)):
            # if all runs of a side guessed right, nothing is known about its β
            beta0, beta1 = (share / n if n else 1.0 for share, n in ((m0, left[0]), (m1, left[1])))
            b = np.maximum(b, ((1 - p) * beta0 + (1 - (both - p)) * beta1) / 2)
    return ConfidenceRegion(a, np.minimum(b * (1 + 1e-12), 1.0))


def _mean_at_least(hits: int, runs: int, error: Floats, most: float) -> Floats:
    """Return the smallest mean of a sum of coins, none likelier than ``most``, that reaches ``hits`` so often."""
    equal = runs * probability_at_least(hits, runs, error)
    if hits == 0:
        return np.zeros(len(error))
    few = _least_coins(lambda coins: betainc(hits, coins - hits + 1, most) > error, hits, most, ndtri(error))
    before = (few - 1) * most
    return np.where(equal <= hits - 1, equal, np.where(before >= hits + 1, np.minimum(before, runs), hits - 1.0))


def _mean_at_most(hits: int, runs: int, error: Floats, most: float) -> Floats:
    """Return the largest mean of a sum of coins, none likelier than ``most``, that is at most ``hits`` so often."""
    equal = runs * probability_at_most(hits, runs, error)
    many = _least_coins(lambda coins: betaincc(hits + 1, coins - hits, most) <= error, hits + 1, most, -ndtri(error))
    before = many * most
    mean = np.where(equal >= hits + 1, equal, np.where(before <= hits - 1, before, hits + 1.0))
    return np.minimum(mean, float(runs))


def _least_coins(reached: Any, hits: int, chance: float, deviations: Floats) -> Floats:
    """Return the smallest number of coins, at least ``hits``, at which a monotone condition holds.

    Args:
        reached: of a number of coins for each, whether the condition holds, (each,).
        hits: of these coins, at least one.
        chance: of a coin.
        deviations: how many standard deviations above hits/chance the number may be expected, (each,); where it is not
            near there, the search is slower.
    """
    most = np.ceil((hits + 12 * np.sqrt(hits + 1.0) + 60) / max(chance, 1e-12))
    low, high = np.full(len(deviations), hits - 1.0), np.full(len(deviations), most)
    tried = np.clip(np.round(_coins_until(hits, chance, np.clip(np.nan_to_num(deviations), -12.0, 12.0))), hits, most)
    step = 1
    while True:
        open_ = (low < tried) & (tried < high)
        holds = reached(np.where(open_, tried, float(hits)))  # with so few coins little is computed
        low, high = np.where(open_ & ~holds, tried, low), np.where(open_ & holds, tried, high)
        if np.all(high - low <= 1):
            return high
        # farther and farther from the first guess, and then halfway between what does and does not hold
        near = np.where(holds, high - step, low + step)
        tried = np.where(high - low > 2 * step, near, np.floor((low + high) / 2))
        step *= 2


def _coins_until(hits: int, chance: float, z: Floats) -> Floats:
    """Return about the quantile, z standard deviations above the mean, of the coins until so many hits.

    By its first four moments (Cornish & Fisher 1938).
    """
    rest = max(1 - chance, 1e-12)
    root = np.sqrt(hits * rest)
    skewed = (2 - chance) * (z**2 - 1) / 6
    peaked = (6 * rest + chance**2) / root * (z**3 - 3 * z) / 24 - (2 - chance) ** 2 / root * (2 * z**3 - 5 * z) / 36
    return np.asarray((hits + root * z + skewed + peaked) / max(chance, 1e-12))


# --- the method ---------------------------------------------------------------------------------------------


class JointGivenSides(Joint):
    """By a joint region of right and wrong guesses, given how many runs each side has."""

    two_sided = True

    def region(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region of the probabilities of right and wrong guesses, averaged over the sides."""
        side0 = counts.toward0[0], counts.toward1[0], counts.runs[0]
        side1 = counts.toward1[1], counts.toward0[1], counts.runs[1]
        return region_given_sides(side0, side1, weight=weight, error=error)

    def mirrored(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region with right and wrong guesses exchanged."""
        side0 = counts.toward1[0], counts.toward0[0], counts.runs[0]
        side1 = counts.toward0[1], counts.toward1[1], counts.runs[1]
        return region_given_sides(side0, side1, weight=weight, error=error)

    def shown(self, event: event_bound.CountedEvent, value: float, times: float) -> float:
        """Return the bound in the unlucky tenth of the event."""
        p, q = event.rates(value)
        return _shown_given_sides(p, q, times, event.counts, event.claim, event_bound.single(event.weight), event.error)


def _shown_given_sides(
    p: float, q: float, times: float, counts: Counts, claim: Claim, weight: float, error: float
) -> float:
    """Return the bound of a two-sided event in its unlucky tenth, with ``times`` the runs.

    Right and wrong guesses are divided between the sides as they were counted, as far as a side has runs.
    """
    made = [max(round(times * runs), 1) for runs in counts.runs]
    total = sum(made)
    seen = (counts.toward0[0] + 0.5, counts.toward1[1] + 0.5), (counts.toward1[0] + 0.5, counts.toward0[1] + 0.5)
    right = total * p - event_bound.UNLUCKY * weight * math.sqrt(max(total * p * (1 - p), 0.0))
    rest = total - right
    chance = min(q / max(1 - p, 1e-300), 1.0)
    wrong = rest * chance + event_bound.UNLUCKY * math.sqrt(
        (1 - weight * weight) * max(rest * chance * (1 - chance), 0.0)
    )
    hits = _fitting([math.floor(right * own / sum(seen[0])) for own in seen[0]], made)
    left = [runs - own for runs, own in zip(made, hits, strict=True)]
    others = _fitting([math.ceil(wrong * own / sum(seen[1])) for own in seen[1]], left)
    sides = list(zip(hits, others, made, strict=True))
    return float(region_given_sides(sides[0], sides[1], weight=weight, error=error).least(claim.least))


def _fitting(wanted: Sequence[int], most: Sequence[int]) -> list[int]:
    """Return the numbers of two sides that each have limited room: what exceeds one goes to the other."""
    over = [max(own - room, 0) for own, room in zip(wanted, most, strict=True)]
    return [min(max(own + more, 0), room) for own, more, room in zip(wanted, reversed(over), most, strict=True)]


def lower_bound(method: str, counts: Counts, *, claim: Claim, weight: event_bound.Weight, error: float) -> float:
    """Return the lower bound of the claim's parameter at confidence 1 − ``error``; 0.0 if nothing is shown.

    Args:
        method: its name (`dpaudit.stats.methods`); fixed, like ``weight``, before measuring.
        counts: what was measured.
        claim: the notion to bound, with its δ or order; its own value is not used.
        weight: w₁ of a joint bound, all weights of a multinomial one, None for others.
        error: 1 − confidence.

    Returns:
        The bound, in the unit of the claim's parameter.

    Raises:
        ValueError: if the method is unknown, is not valid for the claim, or lacks its weights or bins.
        ArithmeticError: if the bound is not a number.
    """
    bound_method = methods.method_of(method)
    if bound_method.pure and not claim.pure:
        raise ValueError(f"a bound by the method {method!r} holds for pure DP only, not for {claim}")
    value = bound_method.computed.lower(counts, claim, weight, error)
    if math.isnan(value):
        raise ArithmeticError(f"the {method} bound of {counts} is not a number")
    return value


def region_from(method: str, counts: Counts, *, weight: event_bound.Weight, error: float) -> ConfidenceRegion:
    """Return the region of both probabilities that a joint method leaves possible, for every loss at once.

    Args:
        method, counts, weight, error: as for `lower_bound`.

    Returns:
        The region, with corners of shape (corners,).

    Raises:
        ValueError: if the method has no such region.
    """
    bound_method = methods.method_of(method)
    if not bound_method.whole_curve or not isinstance(bound_method.computed, Joint):
        raise ValueError(f"the method {method!r} has no region that holds for every loss")
    return bound_method.computed.region(counts, event_bound.single(weight), error)


# --- Which interval holds the loss of one frozen event, given these counts? ---
#
# A lower bound says how much an event certainly reveals; to say that it reveals more than before, one needs to know how
# much it revealed at most. The upper end mirrors the lower one: with the sides (or right and wrong guesses) exchanged,
# the same regions bound p from above and q from below, and a quantity that increases in p and decreases in q is at most
# its largest value over the corners. Both ends are exact at every number of runs; each uses half of the error level.
#
# The loss of an event is the quantity that its bound is about: for guesses logit P(right | guessed), given sides the
# mean of it over both sides, and for others the claim's `least` at the probabilities of the event. It is part of the
# loss of the mechanism, but seldom all of it: an upper end says nothing about other events, and so never that something
# is private.


def loss_interval(
    method: str, counts: Counts, *, claim: Claim, weight: float | None, error: float
) -> tuple[float, float]:
    """Return (low, high) of an event's loss, in the unit of the claim's parameter, at confidence 1 − ``error``.

    Args:
        method: the bound's method (`lower_bound`), fixed before measuring.
        counts: of fresh runs.
        claim: the notion with its δ or order; its own value is not used.
        weight: w₁ of a joint bound.
        error: 1 − confidence; each end uses half of it.

    Returns:
        Both ends; the upper one is infinity if the counts leave any loss possible.

    Raises:
        ValueError: if the method has no interval.
        ArithmeticError: if an end is not a number.
    """
    low = lower_bound(method, counts, claim=claim, weight=weight, error=error / 2)
    high = methods.method_of(method).computed.upper(counts, claim, weight, error / 2)
    if math.isnan(low) or math.isnan(high):
        raise ArithmeticError(f"the loss of {counts} is not a number")
    return min(low, high), high  # if the ends cross, one of them is wrong; the smaller lower end is valid too
