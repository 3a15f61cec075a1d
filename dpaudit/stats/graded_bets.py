"""How strongly do graded outputs refute a claim of μ, bet by bet?

A mechanism that keeps μ-Gaussian DP is a post-processing of N(μ, 1) against N(0, 1) (Blackwell 1951; Dong, Roth & Su
2022, Theorem 2.10). Let a bet pay x(s, b) for a run of side s whose output falls into bin b. With a kernel κ(b | z) and
the densities A of N(μ, 1) and B of N(0, 1),

    E x(0, b) + E x(1, b) = ∫ Σ_b κ(b | z)·(x(0, b)·A + x(1, b)·B) dz ≤ ∫ max_b (x(0, b)·A + x(1, b)·B) dz = 2h(x),

so x/h(x) does not gain on average over two runs, one of each side, whatever the bins are: an e-value (Shafer 2021;
Ville 1939). The two runs are independent, and a product of two non-negative means is at most the square of their
average, which is 1.

The integral is exact: x(0, b)·A + x(1, b)·B = B·(x(1, b) + x(0, b)·L) with the likelihood ratio L = e^{μz − μ²/2}, and
the highest of several lines in L is known on intervals of z.

The counts of earlier runs in the same bins decide which x is bet on: two models of how they tell the sides apart, and
for each the bet that grows fastest, against the closest pair that keeps the claim (the reverse information projection:
Grünwald, de Heide & Koolen 2024, Theorem 1). Any x is valid, the best one only wins sooner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit.arrays import Floats, Integers

# measured by benchmarks/sequential.py; any of them is valid
_HELD = 0.05  # share of the wealth that is not bet
_RIDGE, _STEPS_DOUBT = 1.0, 12.0  # shrinking of the two models, in runs
_ATOMS, _ROUNDS = 120, 150  # of the search for the closest pair that keeps the claim
_MOVED = 0.5  # share of the wealth that is divided evenly again when an epoch begins
_SLACK = 1e-9  # relative; above the rounding error of h

Bins = tuple[tuple[int, ...], tuple[int, ...]]


def fair_price(x: Floats, mu: Floats) -> Floats:
    """Return h(x), an upper bound of the average pay of two runs, one of each side, if a claim holds.

    Args:
        x: (2, bins), the pay for a run of each side in each bin, ≥ 0.
        mu: of the claims, (claims,), > 0.

    Returns:
        The bound against each claim, (claims,), rounded up.
    """
    order = np.lexsort((x[1], x[0]))
    hull: list[tuple[float, float, float]] = []  # slope, intercept, and the L from which on the line is the highest
    for slope, start in zip(x[0, order].tolist(), x[1, order].tolist(), strict=True):
        begin = 0.0
        while hull:
            last_slope, last_start, last_begin = hull[-1]
            begin = (last_start - start) / (slope - last_slope) if slope > last_slope else 0.0
            if begin > last_begin:
                break
            hull.pop()
            begin = 0.0
        hull.append((slope, start, begin))
    slopes, starts, begins = np.array(hull).T
    with np.errstate(divide="ignore"):
        at = np.log(np.maximum(begins, 0.0)) / mu[:, None] + mu[:, None] / 2
    ends = np.append(at[:, 1:], np.full((len(mu), 1), np.inf), axis=1)
    mean = slopes * (ndtr(ends - mu[:, None]) - ndtr(at - mu[:, None])) + starts * (ndtr(ends) - ndtr(at))
    return np.asarray(mean.sum(axis=1) / 2 * (1 + _SLACK))


@lru_cache(maxsize=4096)
def bets(past: Bins, mu: float) -> tuple[Floats, ...]:
    """Return what is paid by every model's bet, each (2, bins), from the counts of earlier runs of both sides."""
    counts = np.array(past, dtype=np.float64)
    return tuple(_closest(p, mu) for p in (_straight(counts), _steps(counts)))


def _straight(counts: Floats) -> Floats:
    """Log odds of the sides that are linear in the normal score of a bin's rank, (2, bins) probabilities."""
    filled = counts.sum(axis=0)
    below = np.cumsum(filled) - filled / 2
    score = -ndtri((below + 0.5) / (filled.sum() + 1))
    features = np.stack([np.ones_like(score), score])
    weights = np.zeros(2)
    for _ in range(12):  # Newton's method
        chance = 1 / (1 + np.exp(-np.clip(weights @ features, -30, 30)))
        slope = features @ (counts[0] - filled * chance) - (0, _RIDGE) * weights
        curvature = (features * (filled * chance * (1 - chance))) @ features.T + np.diag((1e-6, _RIDGE))
        weights = weights + np.linalg.solve(curvature, slope)
    return _law(weights @ features, counts)


def _steps(counts: Floats) -> Floats:
    """Log odds of the sides that only fall along the bins, (2, bins) probabilities."""
    chance = falling(counts[0] + 0.5, counts.sum(axis=0) + 1)
    runs = counts.sum()
    return _law(np.log(chance / (1 - chance)) * runs / (runs + _STEPS_DOUBT), counts)


def falling(hits: Floats, runs: Floats) -> Floats:
    """Return the likeliest chances that never rise from one bin to the next (Ayer et al. 1955), (bins,)."""
    blocks: list[tuple[float, float, int]] = []  # hits, runs, bins
    for own, both in zip(hits.tolist(), runs.tolist(), strict=True):
        blocks.append((own, both, 1))
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] <= blocks[-1][0] * blocks[-2][1]:
            (hits0, runs0, bins0), (hits1, runs1, bins1) = blocks[-2:]
            blocks[-2:] = [(hits0 + hits1, runs0 + runs1, bins0 + bins1)]
    return np.concatenate([np.full(bins, own / both) for own, both, bins in blocks])


def _law(log_odds: Floats, counts: Floats) -> Floats:
    filled = counts.sum(axis=0)
    mass = (filled + 0.5) / (filled.sum() + 0.5 * len(filled))
    chance = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
    law = mass * np.stack([chance, 1 - chance])
    return np.asarray(law / law.sum(axis=1, keepdims=True))


def _closest(law: Floats, mu: float) -> Floats:
    """The bet of the ratio of a law to the closest pair that keeps the claim, found by expectation–maximisation."""
    edges = np.r_[-np.inf, ndtri(np.linspace(0, 1, _ATOMS + 1)[1:-1]) + mu / 2, np.inf]
    atoms = np.stack([np.diff(ndtr(edges - mu)), np.diff(ndtr(edges))])
    ratio = np.log(law[0] / law[1])
    loss = np.log(atoms[0] / atoms[1])
    kernel = law.mean(axis=0) * np.exp(-0.5 * ((loss[:, None] - ratio) / max(float(ratio.std()), 0.3)) ** 2) + 1e-300
    kernel /= kernel.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        kernel *= (atoms.T @ (law / np.maximum(atoms @ kernel, 1e-300))) ** 1.3
        kernel /= kernel.sum(axis=1, keepdims=True)
    return np.asarray(law / np.maximum(atoms @ kernel, 1e-12))


class GradedProcess:
    """The wealth of graded bets on one pair of datasets, against each of several values of μ.

    The bets are those for the claim; against another value they are paid out at its price.
    """

    def __init__(self, claimed: float, values: Sequence[float]) -> None:
        self._claimed, self._values = claimed, np.array(values)
        self._wealth: Floats | None = None
        self._start: Floats = np.zeros(0)
        self._pays: Floats = np.zeros(0)

    def open(self, past: Bins) -> None:
        """Begin an epoch with the counts of earlier runs in its bins."""
        found = bets(past, self._claimed)
        priced = [x / fair_price(x, self._values)[:, None, None] for x in found]
        self._pays = np.log(_HELD + (1 - _HELD) * np.stack(priced, axis=1))  # (values, models, 2, bins)
        if self._wealth is None:
            self._wealth = np.full((len(self._values), len(found)), -math.log(len(found)))
        even = np.logaddexp.reduce(self._wealth, axis=1, keepdims=True) - math.log(len(found))
        self._start = np.logaddexp(math.log(_MOVED) + even, math.log1p(-_MOVED) + self._wealth)

    def watch(self, own: Integers) -> Floats:
        """Return the log wealth at several looks, (looks, values), from the epoch's own counts, (looks, 2, bins)."""
        return np.asarray(np.logaddexp.reduce(self._start + np.einsum("lsb,vmsb->lvm", own, self._pays), axis=2))

    def close(self, own: Integers) -> None:
        """End an epoch with its own counts, (2, bins)."""
        self._wealth = self._start + np.einsum("sb,vmsb->vm", own, self._pays)

    @property
    def log_wealth(self) -> Floats:
        """The log wealth after the epochs that have ended, (values,)."""
        return np.zeros(len(self._values)) if self._wealth is None else np.logaddexp.reduce(self._wealth, axis=1)
