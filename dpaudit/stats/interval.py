"""Between which two numbers does the loss of one frozen event lie, given these counts?

A lower bound says how much an event certainly tells; to say that it tells more than it did, one needs to know how
much it told at most. The upper end is the lower one in a mirror: with the sides (or right and wrong guesses) in each
other's place the same regions bound p from above and q from below, and what increases in p and decreases in q is at
most its largest value over the corners. Both ends are exact at every number of runs; each takes half of the error.

The loss of an event is what its own kind of bound is about: for a guess logit P(right | guessed), given sides the mean
of it over both sides, and the claim's `least` at the probabilities of the event for the others. It is a loss of the
mechanism too, but seldom all of it: an upper end says nothing of other events, and so never that something is private.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim, RenyiDP, ZeroConcentratedDP
from dpaudit.stats.clopper_pearson import probability_at_most
from dpaudit.stats.joint_region import Region, joint_region, two_sided_region
from dpaudit.stats.region_given_sides import region_given_sides
from dpaudit.stats.statement import BOTH_SIDES, GUESS, ODDS, guesses_of, lower_bound, numbers_of

Floats = np.ndarray[Any, np.dtype[np.float64]]

_EVEN = math.sqrt(0.5)
_ORDERS = 1 + np.geomspace(1e-4, 1e4, 600)  # of Rényi divergences that bound ρ from above, 3 % apart


def loss_interval(
    method: str, counts: Counts, *, claim: Claim, weight: float | None, error: float
) -> tuple[float, float]:
    """Return (low, high) of an event's loss, in the claim's parameter, at confidence 1 − ``error``.

    Args:
        method: the bound's method (`lower_bound`), fixed before measuring.
        counts: what was measured on fresh runs.
        claim: the notion with its δ or order; its own value is not used.
        weight: w₁ of a joint bound.
        error: 1 − confidence; half of it for each end.

    The upper end is ∞ where the counts leave any loss possible.
    """
    low = lower_bound(method, counts, claim=claim, weight=weight, error=error / 2)
    high = _greatest(method, counts, claim, weight, error / 2)
    if math.isnan(low) or math.isnan(high):
        raise ArithmeticError(f"the loss of {counts} is not a number")
    return min(low, high), high  # where the ends cross, one of them is wrong; the weaker lower end is no less true


def _greatest(method: str, counts: Counts, claim: Claim, weight: float | None, error: float) -> float:
    if method == GUESS:
        return _greatest_given_sides(counts, error)
    if method == ODDS:
        method, weight = "joint", _EVEN
    if method == "guess":
        right, wrong = guesses_of(counts)
        most = float(probability_at_most(right, right + wrong, error))
        return max(0.0, math.log(most) - math.log1p(-most)) if most < 1 else math.inf
    if weight is None:
        raise ValueError(f"the interval of a {method} bound needs its weight")
    mirrored = _mirrored(method, counts, weight, error)
    return float(np.max(_outer(claim, mirrored.q, mirrored.p)))


def _greatest_given_sides(counts: Counts, error: float) -> float:
    """The most that half of logit u + logit v can be: of a side's guesses u, and v on the other, are right.

    Given the guesses of each side the right ones are independent binomials, like the runs of a joint region.
    """
    right, wrong = (counts.toward0[0], counts.toward1[1]), (counts.toward1[0], counts.toward0[1])
    made = right[0] + wrong[0], right[1] + wrong[1]
    region = joint_region(wrong[0], made[0], right[1], made[1], weight=_EVEN, error=error)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = (np.log1p(-region.p) - np.log(region.p) + np.log(region.q) - np.log1p(-region.q)) / 2
    found = np.where((region.p <= 0) | (region.q >= 1), np.inf, losses)
    return max(0.0, float(np.max(found)))


def _mirrored(method: str, counts: Counts, weight: float, error: float) -> Region:
    """The region whose corners bound q from below (its p) and p from above (its q).

    The weights change places with the counts. An enumerated region is drawn for the lower end alone, and the plain
    one takes its place: any region is certain that was chosen before measuring.
    """
    other = math.sqrt(1 - weight * weight)
    if method == BOTH_SIDES:
        side0 = counts.toward1[0], counts.toward0[0], counts.runs[0]
        side1 = counts.toward0[1], counts.toward1[1], counts.runs[1]
        return region_given_sides(side0, side1, weight=other, error=error)
    if method.startswith("two-sided"):
        right, wrong = guesses_of(counts)
        return two_sided_region(wrong, right, sum(counts.runs), weight=other, error=error)
    hits, runs, others, other_runs = numbers_of(method, counts)
    return joint_region(others, other_runs, hits, runs, weight=other, error=error)


def _outer(claim: Claim, p: Floats, q: Floats) -> Floats:
    """The claim's `least`, or what is certainly no less where that is the largest over a grid of orders.

    D_α rises with α (van Erven & Harremoës 2014, Theorem 3), so between two orders D_α/α is at most D of the upper
    order divided by the lower; below the first order it is at most D of that one, and above the last at most
    D_∞ = max(log(p/q), log((1 − q)/(1 − p))) divided by it.
    """
    if not isinstance(claim, ZeroConcentratedDP):
        return claim.least(p, q)
    heights = [RenyiDP(float(order), 0.0).least(p, q) for order in _ORDERS]
    lower = np.concatenate([[1.0], _ORDERS[:-1]])
    bounds = [height / order for height, order in zip(heights, lower, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.fmax(np.log(p) - np.log(q), np.log1p(-q) - np.log1p(-p))
    return np.where(p > q, np.fmax(np.max(bounds, axis=0), most / _ORDERS[-1]), 0.0)
