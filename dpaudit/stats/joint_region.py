"""Which probabilities (p, q) of an event under the two sides do its counts leave possible?

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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim, RenyiDP, ZeroConcentratedDP
from dpaudit.stats.clopper_pearson import probability_at_least, probability_at_most
from dpaudit.stats.event_bound import (
    CountedEvent,
    EventBound,
    Numbers,
    Weight,
    of_both_sides,
    of_one_side,
    single,
    unlucky_bound,
)

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


class Joint(EventBound):
    """By a joint region of the two probabilities of a one-sided event."""

    def region(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region of both probabilities that the counts leave possible.

        Args:
            counts: of the event.
            weight: w₁, fixed before measuring.
            error: 1 − confidence.

        Returns:
            The region.
        """
        return self.region_of(of_one_side(counts), weight, error)

    def mirrored(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region whose corners bound q from below (its p) and p from above (its q).

        Args:
            counts, weight, error: as for `region`.

        Returns:
            The region.
        """
        hits, runs, others, other_runs = of_one_side(counts)
        return joint_region(others, other_runs, hits, runs, weight=weight, error=error)

    def region_of(self, numbers: Numbers, weight: float, error: float) -> ConfidenceRegion:
        """Return the region from the four numbers of an event.

        Args:
            numbers: hits and runs of each side; or right guesses, all runs, wrong guesses, all runs.
            weight, error: as for `region`.

        Returns:
            The region.
        """
        return joint_region(*numbers, weight=weight, error=error)

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the smallest value that some point of the region allows; arguments as for `EventBound.lower`."""
        return float(self.region(counts, single(weight), error).least(claim.least))

    def upper(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the largest value that some point of the mirrored region allows; arguments as for `EventBound.upper`.

        The weights are exchanged together with the counts. An enumerated region gives the lower end only, and the plain
        one takes its place here: any region that was chosen before measuring is valid.
        """
        mirrored = self.mirrored(counts, math.sqrt(1 - single(weight) ** 2), error)
        return float(np.max(_outer(claim, mirrored.q, mirrored.p)))

    def shown(self, event: CountedEvent, value: float, times: float) -> float:
        """Return the bound in the unlucky tenth of the event."""
        (p, q), weight = event.rates(value), single(event.weight)
        n, m = (max(round(times * runs), 1) for runs in event.runs)

        def bound(numbers: Numbers) -> float:
            return float(self.region_of(numbers, weight, event.error).least(event.claim.least))

        return unlucky_bound(bound, p, q, n, m, weight, two_sided=self.two_sided)


class TwoSidedJoint(Joint):
    """By a joint region of right and wrong guesses, where fair coins picked the sides; used by earlier audits."""

    two_sided = True

    def region(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region of the probabilities of right and wrong guesses that the counts leave possible."""
        return self.region_of(of_both_sides(counts), weight, error)

    def mirrored(self, counts: Counts, weight: float, error: float) -> ConfidenceRegion:
        """Return the region with right and wrong guesses exchanged."""
        right, runs, wrong, _ = of_both_sides(counts)
        return two_sided_region(wrong, right, runs, weight=weight, error=error)

    def region_of(self, numbers: Numbers, weight: float, error: float) -> ConfidenceRegion:
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
