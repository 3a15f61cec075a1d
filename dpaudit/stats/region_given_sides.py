"""Which probabilities of a two-sided event do its counts leave possible, however the sides were picked?

No coin picks the sides here: n₀ runs are of side 0 and as many of side 1, and the region holds given that. On side 0 a
run guesses right with probability p₁ and wrong with p₂, on side 1 with q₂ and q₁. What every notion bounds is about the
two averages

    a = (p₁ + q₂)/2,    b = (p₂ + q₁)/2:

(q₁, p₁) and (p₂, q₂) are both below the concave curve 1 − f that a claim allows to attackers, and so is (b, a).

Let X₁ and Y₂ be the right guesses of the sides, R their sum, W the wrong guesses of both. R is a sum of independent
coins with mean μ = n₀(p₁ + q₂); given X₁ and Y₂, W is one with mean M = (n₀ − X₁)β₀ + (n₀ − Y₂)β₁, β₀ = p₂/(1 − p₁). A
sum of unequal coins has

- beyond its mean, a smaller tail than the binomial with the same mean (Hoeffding 1956, Theorem 5): P(R ≥ r) for r ≥ μ +
  1, P(W ≤ w) for w ≤ M − 1;
- before its mean, where moving two coins apart makes these probabilities larger (the sum of the others is unimodal,
  with its mode within one of its mean: Darroch 1964), at most the tail of coins that are 0 or as likely as any of them
  may be: P(R ≥ r) ≤ P(Bin(⌈μ/c⌉, c) ≥ r) for r ≤ μ − 1 and P(W ≤ w) ≤ P(Bin(⌊M/c⌋, c) ≤ w) for w ≥ M + 1, if no coin is
  likelier than c; and within one of the mean, as one count farther on.

So there is a p-value for μ and, given X₁ and Y₂, one for M. They are added with weights as in `joint_region`, to a
staircase of μ and M. The coins of each side are bounded by Clopper–Pearson, six bounds at error γ each (Berger & Boos
1994): these give c, and limit how μ and M are divided between the sides; the least favourable division counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import betainc, betaincc, ndtri

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.clopper_pearson import probability_at_least, probability_at_most
from dpaudit.stats.event_bound import UNLUCKY, CountedEvent, single
from dpaudit.stats.joint_region import ConfidenceRegion, Joint, staircase

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
    few = _first(lambda coins: betainc(hits, coins - hits + 1, most) > error, hits, most, ndtri(error))
    before = (few - 1) * most
    return np.where(equal <= hits - 1, equal, np.where(before >= hits + 1, np.minimum(before, runs), hits - 1.0))


def _mean_at_most(hits: int, runs: int, error: Floats, most: float) -> Floats:
    """Return the largest mean of a sum of coins, none likelier than ``most``, that is at most ``hits`` so often."""
    equal = runs * probability_at_most(hits, runs, error)
    many = _first(lambda coins: betaincc(hits + 1, coins - hits, most) <= error, hits + 1, most, -ndtri(error))
    before = many * most
    found = np.where(equal >= hits + 1, equal, np.where(before <= hits - 1, before, hits + 1.0))
    return np.minimum(found, float(runs))


def _first(reached: Any, hits: int, chance: float, deviations: Floats) -> Floats:
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

    def shown(self, event: CountedEvent, value: float, times: float) -> float:
        """Return the bound in the unlucky tenth of the event."""
        p, q = event.rates(value)
        return _shown_given_sides(p, q, times, event.counts, event.claim, single(event.weight), event.error)


def _shown_given_sides(
    p: float, q: float, times: float, counts: Counts, claim: Claim, weight: float, error: float
) -> float:
    """Return the bound of a two-sided event in its unlucky tenth, with ``times`` the runs.

    Right and wrong guesses are divided between the sides as they were counted, as far as a side has runs.
    """
    made = [max(round(times * runs), 1) for runs in counts.runs]
    total = sum(made)
    seen = (counts.toward0[0] + 0.5, counts.toward1[1] + 0.5), (counts.toward1[0] + 0.5, counts.toward0[1] + 0.5)
    right = total * p - UNLUCKY * weight * math.sqrt(max(total * p * (1 - p), 0.0))
    rest = total - right
    chance = min(q / max(1 - p, 1e-300), 1.0)
    wrong = rest * chance + UNLUCKY * math.sqrt((1 - weight * weight) * max(rest * chance * (1 - chance), 0.0))
    hits = _fitting([math.floor(right * own / sum(seen[0])) for own in seen[0]], made)
    left = [runs - own for runs, own in zip(made, hits, strict=True)]
    others = _fitting([math.ceil(wrong * own / sum(seen[1])) for own in seen[1]], left)
    sides = list(zip(hits, others, made, strict=True))
    return float(region_given_sides(sides[0], sides[1], weight=weight, error=error).least(claim.least))


def _fitting(wanted: Sequence[int], most: Sequence[int]) -> list[int]:
    """Return the numbers of two sides that each have limited room: what exceeds one goes to the other."""
    over = [max(own - room, 0) for own, room in zip(wanted, most, strict=True)]
    return [min(max(own + more, 0), room) for own, more, room in zip(wanted, reversed(over), most, strict=True)]
