"""By which method will the counts of an event probably show most? Chosen from learning runs, like the event itself.

The methods hold given the sides, and differ in what they cost. For an event of both sides guesses cost least where
both sides guess about equally often, and a joint region where they do not; for one of one side the odds ratio costs
least where the event is rare. Each is computed from the counts that are to be expected, and the best one is taken.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit.events.predict import event_weight, sensitivity
from dpaudit.privacy import Claim
from dpaudit.stats.guessing import guess_bound_given_sides
from dpaudit.stats.joint_region import joint_region, two_sided_weight
from dpaudit.stats.odds_ratio import odds_bound
from dpaudit.stats.region_given_sides import region_given_sides
from dpaudit.stats.statement import BOTH_SIDES, GUESS, ODDS, method_for

Method = tuple[str, float | None]

_MOST_ODDS = 200_000  # counts, beyond which an odds ratio takes long and gains nothing


def same_everywhere(value: float) -> float:
    """Keep 6 digits: the last bits of logarithms differ between processors, and evidence should not."""
    return float(f"{value:.6g}")


def method_for_one_side(p: float, q: float, runs: tuple[float, float], claim: Claim, error: float) -> Method:
    """Return the method, and its weight, for an event that speaks for one side.

    Args:
        p, q: its probabilities on that side and on the other, as learned.
        runs: measuring runs to come, of that side and of the other.
        claim: the notion to bound.
        error: 1 − confidence.
    """
    weight = same_everywhere(event_weight(p, q, runs, claim))
    joint = method_for("joint", max(runs))
    if not claim.pure or (p * runs[0] + q * runs[1]) > _MOST_ODDS:
        return joint, weight
    n, m = max(round(runs[0]), 1), max(round(runs[1]), 1)
    hits, others = min(round(p * n), n), min(round(q * m), m)
    region = joint_region(hits, n, others, m, weight=weight, error=error)
    if odds_bound(hits, n, others, m, error) > float(region.least(claim.least)):
        return ODDS, None
    return joint, weight


def method_for_both_sides(
    rates: tuple[float, float, float, float], runs: tuple[float, float], claim: Claim, error: float
) -> Method:
    """Return the method, and its weight, for an event that speaks for both sides.

    Args:
        rates: of right and of wrong guesses on side 0, and then on side 1, as learned.
        runs: measuring runs to come, of side 0 and side 1.
        claim: the notion to bound.
        error: 1 − confidence.
    """
    a, b = (rates[0] + rates[2]) / 2, (rates[1] + rates[3]) / 2
    slope_p, slope_q = (float(x) for x in sensitivity(claim, np.array(a), np.array(b)))
    weight = same_everywhere(two_sided_weight(a, b, sum(runs), slope_p, slope_q))
    if not claim.pure:
        return BOTH_SIDES, weight
    n, m = max(round(runs[0]), 1), max(round(runs[1]), 1)
    made0, made1 = n * (rates[0] + rates[1]), m * (rates[2] + rates[3])
    # the guesses of both sides will differ by chance too
    chance = n * (1 - rates[0] - rates[1]) * (rates[0] + rates[1]) + m * (1 - rates[2] - rates[3]) * (
        rates[2] + rates[3]
    )
    apart = min(math.sqrt((made0 - made1) ** 2 + max(chance, 0.0)), made0 + made1)
    guesses = ((made0 + made1 + apart) / 2, (made0 + made1 - apart) / 2)
    guessed = float(guess_bound_given_sides(n * rates[0] + m * rates[2], *guesses, error))
    side0 = _whole(rates[:2], n)
    side1 = _whole(rates[2:], m)
    region = region_given_sides(side0, side1, weight=weight, error=error)
    return (GUESS, None) if guessed >= float(region.least(claim.least)) else (BOTH_SIDES, weight)


def _whole(rates: tuple[float, float], runs: int) -> tuple[int, int, int]:
    right = min(round(rates[0] * runs), runs)
    return right, min(round(rates[1] * runs), runs - right), runs
