"""Which lower bound do the counts of one event prove, and what violation would they have shown?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpaudit.bounds.guess import detectable_guess, guess_bound
from dpaudit.bounds.joint import Region, joint_region, joint_weight, two_sided_region
from dpaudit.bounds.small import MOST_RUNS, enumerated_region, two_sided_enumerated_region
from dpaudit.evidence import Counts
from dpaudit.privacy import Claim, GaussianDP

Floats = np.ndarray[Any, np.dtype[np.float64]]

_Z90 = 1.2815515655446004  # Φ⁻¹(0.9)
_ENUMERATED = {"joint": "enumerated joint", "two-sided joint": "two-sided enumerated joint"}


def method_for(method: str, runs: float) -> str:
    """Return the tightest form of a method when about ``runs`` runs a side will measure; to be fixed before they do."""
    return _ENUMERATED.get(method, method) if runs <= MOST_RUNS else method


def lower_bound(method: str, counts: Counts, *, claim: Claim, weight: float | None, error: float) -> float:
    """Return the lower bound of the claim's parameter at confidence 1 − ``error``; 0.0 where nothing is shown.

    Args:
        method: "guess" (pure claims only), "joint" or "two-sided joint", or one of the last two enumerated
            (`method_for`); fixed, like ``weight``, before measuring.
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
    least = float(_region(method, _numbers(method, counts), claim, weight, error).least(claim.least))
    if math.isnan(least):
        raise ArithmeticError(f"the {method} bound of {counts} is not a number")
    return least


def _guesses(counts: Counts) -> tuple[int, int]:
    """Right and wrong guesses: toward the side that produced the output, and toward the other."""
    return counts.toward0[0] + counts.toward1[1], counts.toward0[1] + counts.toward1[0]


def _numbers(method: str, counts: Counts) -> tuple[int, int, int, int]:
    """Hits, runs, others and other runs as the method counts them; a two-sided one has the same runs for both."""
    if method.startswith("two-sided"):
        runs = sum(counts.runs)
        right, wrong = _guesses(counts)
        return right, runs, wrong, runs
    return _one_sided(counts)


def _region(method: str, numbers: tuple[int, int, int, int], claim: Claim, weight: float, error: float) -> Region:
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


def detectable(method: str, counts: Counts, *, claim: Claim, weight: float | None, error: float) -> float:
    """Return the least value of the claim's parameter that this frozen event would have shown to exceed the claim.

    With probability 0.9, had the event itself had that loss: for a guess the exact binomial answer; for a
    joint bound the counts are moved to their unlucky tenth along the direction of the bound's own weights
    (a first-order reliability point), and an enumerated bound is held to be no better than the plain one, which
    is slightly too modest. A two-sided event keeps its number of guesses, a one-sided one its
    probability on the other side.
    """
    if method == "guess":
        return detectable_guess(sum(_guesses(counts)), claim.value, error)
    assert weight is not None
    return _least_shown(partial(_margin, method, counts, claim, weight, error), claim.value, 1e4, 1e-4)


def _least_shown(margin: Callable[[float], float], claimed: float, most: float, accuracy: float) -> float:
    """Return the loss, to an accuracy and from above, where a rising margin turns positive; infinity beyond ``most``.

    The root of the chord is tried from both sides, and then the middle, so that few margins are computed.
    """
    low, high = claimed, max(2 * claimed, 1.0)
    at_low, at_high = margin(low), margin(high)
    while at_high <= 0:
        low, high, at_low = high, 2 * high, at_high
        if high > most:
            return math.inf
        at_high = margin(high)
    while high - low > accuracy * high:
        root = low + (high - low) * at_low / (at_low - at_high)
        for tried in (root - accuracy * high / 3, root + accuracy * high / 3, None):
            loss = (low + high) / 2 if tried is None else tried
            if low < loss < high:
                value = margin(loss)
                low, high, at_low, at_high = (low, loss, at_low, value) if value > 0 else (loss, high, value, at_high)
    return high


def _margin(method: str, counts: Counts, claim: Claim, weight: float, error: float, value: float) -> float:
    """By how much an event of loss ``value`` would, in its unlucky tenth, give a bound above the claim."""
    hits, n, others, m = _numbers(method, counts)
    if method.startswith("two-sided"):
        mass = (hits + others) / n
        p = _likelier(claim, value, lambda p: mass - p, mass)
        q = mass - p
    else:
        q = (others + 0.5) / (m + 1)
        p = _likelier(claim, value, lambda p: np.full_like(p, q), 1.0)
    return _shown(method, p, q, n, m, claim, weight, error) - claim.value


def _likelier(claim: Claim, value: float, other: Callable[[Floats], Floats], most: float) -> float:
    """Return the least p ≤ ``most`` at which an event (p, other(p)) has the loss ``value``."""
    low, high = 0.0, most
    for _ in range(6):
        tried = np.linspace(low, high, 257)[1:-1]
        enough = claim.least(tried, np.maximum(other(tried), 0.0)) >= value
        first = int(np.argmax(enough)) if enough.any() else len(tried)
        low, high = (tried[first - 1] if first else low), (tried[first] if first < len(tried) else high)
    return float(high)


def _shown(method: str, p: float, q: float, n: int, m: int, claim: Claim, weight: float, error: float) -> float:
    """Return the bound of an event (p, q) in its unlucky tenth."""
    back = math.sqrt(1 - weight * weight)
    hits = math.floor(n * p - _Z90 * weight * math.sqrt(max(n * p * (1 - p), 0.0)))
    others = math.ceil(m * q + _Z90 * back * math.sqrt(max(m * q * (1 - q), 0.0)))
    if hits <= 0:
        return 0.0
    most = n - hits if method.startswith("two-sided") else m
    numbers = hits, n, max(min(others, most), 0), m
    region = _region(method.replace("enumerated ", ""), numbers, claim, weight, error)
    return float(region.least(claim.least))


def detectable_gaussian(claim: Claim, runs: int, error: float) -> float:
    """Return the least ε at the claim's δ that ``runs`` runs would show to exceed the claim on a Gaussian mechanism.

    For δ > 0 the loss lives in the tails, and a broad event says little about it: the Gaussian mechanism is
    the yardstick of what these runs can find at this δ. Its best one-sided event is used, in its unlucky tenth.
    """
    return _least_shown(partial(_gaussian_margin, claim, runs, error), claim.value, 200, 1e-3)


def _gaussian_margin(claim: Claim, runs: int, error: float, value: float) -> float:
    mu = _gaussian_with(value, claim.delta)
    half = runs // 2
    best = 0.0
    for threshold in np.linspace(-1.0, 5.5, 27):
        p, q = float(ndtr(mu - threshold)), float(ndtr(-threshold))
        if half * p < 5 or p <= claim.delta:
            continue
        weight = joint_weight(p, q, half, half, slope_p=p / (p - claim.delta))
        best = max(best, _shown("joint", p, q, half, half, claim, weight, error))
    return best - claim.value


def _gaussian_with(epsilon: float, delta: float) -> float:
    """Return the μ whose Gaussian mechanism has exactly δ(ε) = delta."""
    low, high = 0.0, 1.0
    while float(GaussianDP(high).profile(epsilon)) < delta:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if float(GaussianDP(middle).profile(epsilon)) < delta else (low, middle)
    return high
