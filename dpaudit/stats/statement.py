"""Which lower bound do the counts of one event prove?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.exact_region import MOST_RUNS, enumerated_region, two_sided_enumerated_region
from dpaudit.stats.guessing import guess_bound, guess_bound_given_sides
from dpaudit.stats.joint_region import Region, joint_region, two_sided_region
from dpaudit.stats.odds_ratio import odds_bound
from dpaudit.stats.region_given_sides import region_given_sides
from dpaudit.stats.renyi import multinomial_bound

Weight = float | Sequence[float] | None

MULTINOMIAL, SWAPPED = "multinomial", "swapped multinomial"
GUESS, ODDS, BOTH_SIDES = "guess given sides", "odds given sides", "two-sided joint given sides"
_ENUMERATED = {"joint": "enumerated joint", "two-sided joint": "two-sided enumerated joint"}


def method_for(method: str, runs: float) -> str:
    """Return the tightest form of a method when about ``runs`` runs a side will measure; to be fixed before they do."""
    return _ENUMERATED.get(method, method) if runs <= MOST_RUNS else method


def lower_bound(method: str, counts: Counts, *, claim: Claim, weight: Weight, error: float) -> float:
    """Return the lower bound of the claim's parameter at confidence 1 − ``error``; 0.0 where nothing is shown.

    Args:
        method: what holds given the sides: for pure claims "guess given sides" for an event of both sides and "odds
            given sides" for one of one side; "two-sided joint given sides"; "joint", perhaps "enumerated"
            (`method_for`); for zCDP and Rényi claims "multinomial", for the divergence of side 0 from side 1, or
            "swapped multinomial". Earlier audits had sides by fair coins: "guess", "two-sided joint", "two-sided
            enumerated joint". Fixed, like ``weight``, before measuring.
        counts: what was measured.
        claim: the notion to bound, with its δ or order; its own value is not used.
        weight: w₁ of a joint bound, all weights of a multinomial one.
        error: 1 − confidence.
    """
    if method in (GUESS, ODDS, "guess"):
        if not claim.pure:
            raise ValueError(f"a bound by the method {method!r} holds for pure DP only, not for {claim}")
        if method == ODDS:
            return odds_bound(*_one_sided(counts), error)
        if method == GUESS:
            return float(guess_bound_given_sides(guesses_of(counts)[0], *guesses_by_side(counts), error))
        return float(guess_bound(*guesses_of(counts), error))
    if method in (MULTINOMIAL, SWAPPED):
        if weight is None or isinstance(weight, float | int):
            raise ValueError(f"a {method} bound needs the weights of its bins")
        bins_p, bins_q = bins_of(method, counts)
        return multinomial_bound(bins_p, bins_q, claim=claim, weights=weight, error=error)
    least = float(region_from(method, counts, claim, weight, error).least(claim.least))
    if math.isnan(least):
        raise ArithmeticError(f"the {method} bound of {counts} is not a number")
    return least


def guesses_of(counts: Counts) -> tuple[int, int]:
    """Right and wrong guesses: toward the side that produced the output, and toward the other."""
    return counts.toward0[0] + counts.toward1[1], counts.toward0[1] + counts.toward1[0]


def guesses_by_side(counts: Counts) -> tuple[int, int]:
    """Guesses on side 0 and on side 1, right or wrong."""
    return counts.toward0[0] + counts.toward1[0], counts.toward0[1] + counts.toward1[1]


def bins_of(method: str, counts: Counts) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The bins of the side whose divergence is bounded and of the other, strongest for the first side ahead."""
    if counts.bins is None:
        raise ValueError(f"a {method} bound needs the counts of its bins")
    side0, side1 = counts.bins
    return (side1[::-1], side0[::-1]) if method == SWAPPED else (side0, side1)


def numbers_of(method: str, counts: Counts) -> tuple[int, int, int, int]:
    """Hits, runs, others and other runs as the method counts them; a two-sided one has the same runs for both."""
    if method.startswith("two-sided"):
        runs = sum(counts.runs)
        right, wrong = guesses_of(counts)
        return right, runs, wrong, runs
    return _one_sided(counts)


def region_from(method: str, counts: Counts, claim: Claim, weight: Weight, error: float) -> Region:
    """Return the region of both probabilities that a joint method leaves possible."""
    if not isinstance(weight, float | int):
        raise ValueError(f"a {method} bound needs its weight")
    if method == BOTH_SIDES:
        side0 = counts.toward0[0], counts.toward1[0], counts.runs[0]
        side1 = counts.toward1[1], counts.toward0[1], counts.runs[1]
        return region_given_sides(side0, side1, weight=weight, error=error)
    return region_of(method, numbers_of(method, counts), claim, weight, error)


def region_of(method: str, numbers: tuple[int, int, int, int], claim: Claim, weight: float, error: float) -> Region:
    """Return the region of both probabilities that a joint method leaves possible, from `numbers_of` its counts."""
    hits, runs, others, other_runs = numbers
    if method == "joint":
        return joint_region(hits, runs, others, other_runs, weight=weight, error=error)
    if method == "two-sided joint":
        return two_sided_region(hits, others, runs, weight=weight, error=error)
    if method == "enumerated joint":
        return enumerated_region(hits, runs, others, other_runs, claim=claim, weight=weight, error=error)
    if method == "two-sided enumerated joint":
        return two_sided_enumerated_region(hits, others, runs, claim=claim, weight=weight, error=error)
    raise ValueError(f"no method of bounding is called {method!r}")


def _one_sided(counts: Counts) -> tuple[int, int, int, int]:
    """Hits and runs of the side that the event speaks for, then of the other side."""
    if any(counts.toward0):
        return counts.toward0[0], counts.runs[0], counts.toward0[1], counts.runs[1]
    return counts.toward1[1], counts.runs[1], counts.toward1[0], counts.runs[0]
