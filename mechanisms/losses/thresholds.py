"""What do mechanisms lose whose queries are all compared with one noisy threshold?

Given the level t, threshold with its noise, the queries are independent. So the probability of a list of
outcomes is ∫ f(t)·Π k_i(t) dt, with f the density of the level and k_i(t) the probability (or density) of the
outcome of query i; and the outcomes are enumerated. All of it in logarithms: nothing underflows at a large ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
# What may become of a query: the log probability of each outcome at every level, or its log density up to a number
# that both sides share, and what it counts towards the cutoff.
Ways = list[tuple[Floats, int]]

REACH = 80  # of the level, in units of its scale: what lies beyond has a relative weight below e^−40
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
LN2 = math.log(2)


def log_below(distance: Floats, scale: float) -> Floats:
    """Return ln P(Laplace(scale) < distance)."""
    tail = -np.abs(distance) / scale - LN2
    return np.where(distance < 0, tail, np.log1p(-np.exp(tail)))


def log_density(distance: Floats, scale: float) -> Floats:
    """Return the log density of Laplace(scale) at ``distance``, but for the number ln(2·scale)."""
    return -np.abs(distance) / scale


def log_far_density(distance: Floats, scale: float) -> Floats:
    """Return the limit of log_density(distance + x) + x/scale for x → ∞: of a release far above."""
    return -distance / scale


def levels(threshold: float, scale: float, corners: Sequence[float], width: float) -> tuple[Floats, Floats]:
    """Return points t and weights w with ∫ f(t)·k(t) dt = Σ e^w·k(t), f the density of threshold + Laplace(scale).

    Gauss–Legendre quadrature of order 16 on pieces of at most ``width``. Products of Laplace densities and
    distribution functions are sums of exponentials between their corners; pieces over which no product changes
    by more than e^16 leave an error in the last bits.
    """
    ends = sorted({threshold, *corners})
    ends = [ends[0] - REACH * scale, *ends, ends[-1] + REACH * scale]
    edges = np.concatenate(
        [np.linspace(low, high, int((high - low) / width) + 1, endpoint=False) for low, high in pairwise(ends)]
    )
    half = np.diff(np.append(edges, ends[-1]))[:, None] / 2
    points = (edges[:, None] + half * (1 + NODES)).ravel()
    return points, np.log((half * WEIGHTS).ravel() / (2 * scale)) + log_density(points - threshold, scale)


def threshold_laws(
    pair: tuple[Sequence[float], Sequence[float]],
    ways: Callable[[Floats, float], Ways],
    *,
    threshold: float,
    scale: float,
    finest: float,
    cutoff: float,
    corners: Sequence[float] = (0,),
) -> list[tuple[float, float]]:
    """Return the log probabilities, on both sides, of the lists of outcomes of queries that share one threshold.

    Shorter lists come first. Of lists with the same probabilities, because they exchange outcomes of queries
    with the same answers, only one is given.

    Args:
        pair: the true answers of both sides.
        ways: gives what may become of a query, from the levels, (levels,), and its answer.
        threshold, scale: the level is threshold + Laplace(scale).
        finest: the smallest scale of the other noise.
        cutoff: the last outcome is the one with which the counts reach it.
        corners: how far above an answer the levels lie at which its outcomes are not smooth.
    """
    places = {float(answer + corner) for answers in pair for answer in answers for corner in corners}
    points, weights = levels(threshold, scale, sorted(places), 8 * min(finest, scale) / max(len(pair[0]), 8))
    kernels = {}
    for query in set(zip(*pair, strict=True)):
        sides = [ways(points, answer) for answer in query]
        kernels[query] = [(np.stack([k0, k1]), count) for (k0, count), (k1, _) in zip(*sides, strict=True)]
    running: dict[tuple[Any, ...], tuple[Floats, int]] = {(): (np.stack([weights, weights]), 0)}
    ended: list[Floats] = []
    for query in zip(*pair, strict=True):
        grown: dict[tuple[Any, ...], tuple[Floats, int]] = {}
        for outcomes, (mass, counted) in running.items():
            for number, (kernel, count) in enumerate(kernels[query]):
                key = tuple(sorted((*outcomes, (query, number))))
                if key not in grown:
                    grown[key] = mass + kernel, counted + count
        ended += [mass for mass, counted in grown.values() if counted >= cutoff]
        running = {outcomes: state for outcomes, state in grown.items() if state[1] < cutoff}
    ended += [mass for mass, _ in running.values()]
    from scipy.special import logsumexp

    return [(float(logsumexp(mass[0])), float(logsumexp(mass[1]))) for mass in ended]


def of_threshold(
    pair: tuple[Sequence[float], Sequence[float]], ways: Callable[[Floats, float], Ways], **given: Any
) -> float:
    """Return the pure ε of queries that share one noisy threshold; the arguments are those of threshold_laws."""
    return max(abs(p - q) for p, q in threshold_laws(pair, ways, **given) if p != q or math.isfinite(p))
