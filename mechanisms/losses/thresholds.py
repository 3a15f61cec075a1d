"""What do mechanisms lose whose queries are all compared with one noisy threshold?

Given the level t, threshold with its noise, the queries are independent. So the probability of a list of
outcomes is ∫ f(t)·Π k_i(t) dt, with f the density of the level and k_i(t) the probability (or density) of the
outcome of query i; and the outcomes are enumerated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .laws import Law, of_laws

Floats = np.ndarray[Any, np.dtype[np.float64]]
# What may become of a query: the probability of each outcome at every level, or its density up to a factor that
# both sides share, and what it counts towards the cutoff.
Ways = list[tuple[Floats, int]]

REACH = 80  # of the level, in units of its scale: what lies beyond has a relative weight below e^−40
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def below(distance: Floats, scale: float) -> Floats:
    """Return P(Laplace(scale) < distance), without cancellation on the left."""
    half = np.exp(-np.abs(distance) / scale) / 2
    return np.where(distance < 0, half, 1 - half)


def density(distance: Floats, scale: float) -> Floats:
    """Return the density of Laplace(scale) at ``distance``, times its scale."""
    return np.exp(-np.abs(distance) / scale) / 2


def beyond(distance: Floats, scale: float) -> Floats:
    """Return lim density(distance + x)·e^(x/scale) for x → ∞: the density of a release far above."""
    return np.exp(-distance / scale) / 2


def levels(threshold: float, scale: float, corners: Sequence[float], width: float) -> tuple[Floats, Floats]:
    """Return points t and weights w with ∫ f(t)·k(t) dt = Σ w·k(t), f the density of threshold + Laplace(scale).

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
    return points, (half * WEIGHTS).ravel() * density(points - threshold, scale) / scale


def threshold_laws(
    pair: tuple[Sequence[float], Sequence[float]],
    ways: Callable[[Floats, float], Ways],
    *,
    threshold: float,
    scale: float,
    finest: float,
    cutoff: float,
    corners: Sequence[float] = (0,),
) -> tuple[Law, Law]:
    """Return the laws, on both sides, of the lists of outcomes of queries that share one noisy threshold.

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
                grown.setdefault(tuple(sorted((*outcomes, (query, number)))), (mass * kernel, counted + count))
        ended += [mass for mass, counted in grown.values() if counted >= cutoff]
        running = {outcomes: state for outcomes, state in grown.items() if state[1] < cutoff}
    ended += [mass for mass, _ in running.values()]
    law0, law1 = np.array([mass.sum(axis=1) for mass in ended]).T.tolist()
    return law0, law1


def of_threshold(
    pair: tuple[Sequence[float], Sequence[float]], ways: Callable[[Floats, float], Ways], **given: Any
) -> float:
    """Return the pure ε of queries that share one noisy threshold; the arguments are those of threshold_laws."""
    return of_laws(*threshold_laws(pair, ways, **given))
