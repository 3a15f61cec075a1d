"""Which lower bound do the counts of one event prove?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpaudit.bounds.guess import guess_bound
from dpaudit.bounds.joint import Region, joint_region, two_sided_region
from dpaudit.bounds.multinomial import multinomial_bound
from dpaudit.bounds.small import MOST_RUNS, enumerated_region, two_sided_enumerated_region
from dpaudit.members import Counts
from dpaudit.privacy import Claim

Weight = float | Sequence[float] | None

MULTINOMIAL, SWAPPED = "multinomial", "swapped multinomial"
_ENUMERATED = {"joint": "enumerated joint", "two-sided joint": "two-sided enumerated joint"}


def method_for(method: str, runs: float) -> str:
    """Return the tightest form of a method when about ``runs`` runs a side will measure; to be fixed before they do."""
    return _ENUMERATED.get(method, method) if runs <= MOST_RUNS else method


def lower_bound(method: str, counts: Counts, *, claim: Claim, weight: Weight, error: float) -> float:
    """Return the lower bound of the claim's parameter at confidence 1 − ``error``; 0.0 where nothing is shown.

    Args:
        method: "guess" (pure claims only), "joint" or "two-sided joint", or one of the last two enumerated
            (`method_for`); for zCDP and Rényi claims "multinomial", for the divergence of side 0 from side 1, or
            "swapped multinomial"; fixed, like ``weight``, before measuring.
        counts: what was measured.
        claim: the notion to bound, with its δ or order; its own value is not used.
        weight: w₁ of a joint bound, all weights of a multinomial one.
        error: 1 − confidence.
    """
    if method == "guess":
        if not claim.pure:
            raise ValueError(f"a guess bound holds for pure DP only, not for {claim}")
        return float(guess_bound(*guesses_of(counts), error))
    if method in (MULTINOMIAL, SWAPPED):
        if weight is None or isinstance(weight, float | int):
            raise ValueError(f"a {method} bound needs the weights of its bins")
        bins_p, bins_q = bins_of(method, counts)
        return multinomial_bound(bins_p, bins_q, claim=claim, weights=weight, error=error)
    if not isinstance(weight, float | int):
        raise ValueError(f"a {method} bound needs its weight")
    least = float(region_of(method, numbers_of(method, counts), claim, weight, error).least(claim.least))
    if math.isnan(least):
        raise ArithmeticError(f"the {method} bound of {counts} is not a number")
    return least


def guesses_of(counts: Counts) -> tuple[int, int]:
    """Right and wrong guesses: toward the side that produced the output, and toward the other."""
    return counts.toward0[0] + counts.toward1[1], counts.toward0[1] + counts.toward1[0]


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
