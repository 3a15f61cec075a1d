"""Which lower bound do the counts of one event prove, and what violation would they have shown?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import ndtr

from dpaudit.bounds.guess import detectable_guess, guess_bound
from dpaudit.bounds.joint import Region, joint_region, joint_weight, two_sided_region
from dpaudit.evidence import Counts
from dpaudit.privacy import Claim, GaussianDP

_Z90 = 1.2815515655446004  # Φ⁻¹(0.9)


def lower_bound(method: str, counts: Counts, *, claim: Claim, weight: float | None, error: float) -> float:
    """Return the lower bound of the claim's parameter at confidence 1 − ``error``; 0.0 where nothing is shown.

    Args:
        method: "guess" (pure claims only), "two-sided joint" or "joint"; fixed, like ``weight``, before measuring.
        counts: what was measured.
        claim: the notion to bound, with its δ or order; its own value is not used.
        weight: w₁ of a joint bound.
        error: 1 − confidence.
    """
    if method == "guess":
        if not claim.pure:
            raise ValueError(f"a guess bound holds for pure DP only, not for {claim}")
        return float(guess_bound(*_guesses(counts), error))
    if weight is None:
        raise ValueError(f"a {method} bound needs its weight")
    least = _region(method, counts, weight, error).least(claim.least)
    if math.isnan(least):
        raise ArithmeticError(f"the {method} bound of {counts} is not a number")
    return least


def _guesses(counts: Counts) -> tuple[int, int]:
    """Right and wrong guesses: toward the side that produced the output, and toward the other."""
    return counts.toward0[0] + counts.toward1[1], counts.toward0[1] + counts.toward1[0]


def _region(method: str, counts: Counts, weight: float, error: float) -> Region:
    if method == "two-sided joint":
        right, wrong = _guesses(counts)
        return two_sided_region(right, wrong, sum(counts.runs), weight=weight, error=error)
    hits, runs, others, other_runs = _one_sided(counts)
    return joint_region(hits, runs, others, other_runs, weight=weight, error=error)


def _one_sided(counts: Counts) -> tuple[int, int, int, int]:
    """Hits and runs of the side that the event speaks for, then of the other side."""
    if any(counts.toward0):
        return counts.toward0[0], counts.runs[0], counts.toward0[1], counts.runs[1]
    return counts.toward1[1], counts.runs[1], counts.toward1[0], counts.runs[0]


def detectable(method: str, counts: Counts, *, claim: Claim, weight: float | None, error: float) -> float:
    """Return the least value of the claim's parameter that this frozen event would have shown to exceed the claim.

    With probability 0.9, had the event itself had that loss: for a guess the exact binomial answer; for a
    joint bound the counts are moved to their unlucky tenth along the direction of the bound's own weights
    (a first-order reliability point). A two-sided event keeps its number of guesses, a one-sided one its
    probability on the other side.
    """
    if method == "guess":
        return detectable_guess(sum(_guesses(counts)), claim.value, error)
    assert weight is not None
    low, high = claim.value, max(claim.value, 1.0)
    while not _would_show(method, counts, claim, weight, error, high):
        low, high = high, 2 * high
        if high > 1e4:
            return math.inf
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _would_show(method, counts, claim, weight, error, middle) else (middle, high)
    return high


def _would_show(method: str, counts: Counts, claim: Claim, weight: float, error: float, value: float) -> bool:
    """Whether an event of loss ``value`` would, in its unlucky tenth, still give a bound above the claim."""
    if method == "two-sided joint":
        right, wrong = _guesses(counts)
        runs = sum(counts.runs)
        mass = (right + wrong) / runs
        p = _likelier(claim, value, lambda p: mass - p, mass)
        q, n, m = mass - p, runs, runs
    else:
        _, n, others, m = _one_sided(counts)
        q = (others + 0.5) / (m + 1)
        p = _likelier(claim, value, lambda _: q, 1.0)
    return _shows(p, q, n, m, claim, weight, error, two_sided=method == "two-sided joint")


def _likelier(claim: Claim, value: float, other: Callable[[float], float], most: float) -> float:
    """Return the least p ≤ ``most`` at which an event (p, other(p)) has the loss ``value``."""
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        loss = float(claim.least(middle, max(other(middle), 0.0)))
        low, high = (low, middle) if loss >= value else (middle, high)
    return high


def _shows(
    p: float, q: float, n: float, m: float, claim: Claim, weight: float, error: float, *, two_sided: bool
) -> bool:
    back = math.sqrt(1 - weight * weight)
    hits = math.floor(n * p - _Z90 * weight * math.sqrt(max(n * p * (1 - p), 0.0)))
    others = math.ceil(m * q + _Z90 * back * math.sqrt(max(m * q * (1 - q), 0.0)))
    if hits <= 0:
        return False
    if two_sided:
        others = min(others, int(n) - hits)
        region = two_sided_region(hits, max(others, 0), int(n), weight=weight, error=error)
    else:
        region = joint_region(hits, int(n), min(others, int(m)), int(m), weight=weight, error=error)
    return region.least(claim.least) > claim.value


def detectable_gaussian(claim: Claim, runs: int, error: float) -> float:
    """Return the least ε at the claim's δ that ``runs`` runs would show to exceed the claim on a Gaussian mechanism.

    For δ > 0 the loss lives in the tails, and a broad event says little about it: the Gaussian mechanism is
    the yardstick of what these runs can find at this δ. Its best one-sided event is used, in its unlucky tenth.
    """
    low, high = claim.value, max(2 * claim.value, 1.0)
    seen = partial(_gaussian_shown, claim, runs, error)
    while not seen(high):
        low, high = high, 2 * high
        if high > 200:
            return math.inf
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def _gaussian_shown(claim: Claim, runs: int, error: float, value: float) -> bool:
    mu = _gaussian_with(value, claim.delta)
    half = runs // 2
    for threshold in np.linspace(-1.0, 5.5, 27):
        p, q = float(ndtr(mu - threshold)), float(ndtr(-threshold))
        if half * p < 5 or p <= claim.delta:
            continue
        weight = joint_weight(p, q, half, half, slope_p=p / (p - claim.delta))
        if _shows(p, q, half, half, claim, weight, error, two_sided=False):
            return True
    return False


def _gaussian_with(epsilon: float, delta: float) -> float:
    """Return the μ whose Gaussian mechanism has exactly δ(ε) = delta."""
    low, high = 0.0, 1.0
    while float(GaussianDP(high).profile(epsilon)) < delta:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if float(GaussianDP(middle).profile(epsilon)) < delta else (low, middle)
    return high
