"""What does the published auditor show, with the same number of runs in all?

DP-Sniper and DD-Search (Bichsel, Steffen, Bogunovic & Vechev 2021, Algorithms 1 and 2), written anew from the paper,
with a logistic regression: for each order of each pair a classifier is trained, the threshold is set where a share of
0.01 of the outputs of the second side lie above it, and the loss is estimated; the best attack is then measured on runs
of its own. Runs are divided in the proportions of the publication.
The regression is solved exactly rather than by a few steps of gradient descent.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from published_mechanisms import Data, Published, Sample
from scipy.special import expit
from scipy.stats import beta

LEAST_PROBABILITY = 0.01
_FINAL = 2 * 200_000_000 / 10_700_000
_RIDGE = 0.001
_MOST_FITTED = 200_000  # runs of each side: more improve a score of a few weights hardly

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Attack:
    """A score and a threshold; runs right at the threshold belong to the event with some probability."""

    def __init__(self, sample: Sample, flags: tuple[float, ...], pair: tuple[Data, Data], runs: int, rng: Any) -> None:
        """Train the score, with ``runs`` of each side, and set the threshold with as many of the second."""
        self.sample, self.flags, self.pair, self.rng = sample, flags, pair, rng
        sides = [self._features(sample(data, runs, rng)[:_MOST_FITTED]) for data in pair]
        both = np.concatenate(sides)
        self.center, scale = both.mean(axis=0), both.std(axis=0)
        self.scale = np.where(scale > 0, scale, 1.0)
        self.weights = _logistic((both - self.center) / self.scale, np.arange(len(both)) < len(sides[0]))
        ordered = -np.sort(-self._score(sample(pair[1], runs, rng)))
        self.threshold = ordered[int(LEAST_PROBABILITY * len(ordered))]
        above, at = np.count_nonzero(ordered > self.threshold), np.count_nonzero(ordered == self.threshold)
        self.share = (LEAST_PROBABILITY * len(ordered) - above) / at

    def counts(self, runs: int, batch: int = 250_000) -> tuple[float, float]:
        """Return the (whole) numbers of runs in the event, of ``runs`` fresh ones of each side."""
        found = [0, 0]
        for side, data in enumerate(self.pair):
            for start in range(0, runs, batch):
                score = self._score(self.sample(data, min(batch, runs - start), self.rng))
                at = np.count_nonzero(score == self.threshold)
                found[side] += np.count_nonzero(score > self.threshold) + int(self.rng.binomial(at, self.share))
        return found[0], found[1]

    def _score(self, outputs: Floats) -> Floats:
        return np.round((self._features(outputs) - self.center) / self.scale @ self.weights, 9)

    def _features(self, outputs: Floats) -> Floats:
        rows = outputs.reshape(len(outputs), -1)
        said = [rows == flag for flag in self.flags]
        return np.concatenate([np.where(np.any(said, axis=0), 0, rows) if said else rows, *said], axis=1)


def _logistic(rows: Floats, first: Any) -> Floats:
    """The weights of a logistic regression, by Newton's method; the constant does not matter to a threshold."""
    weights = np.zeros(rows.shape[1])
    for _ in range(6):
        chance = expit(rows @ weights)
        slope = rows.T @ (first - chance) / len(rows) - _RIDGE * weights
        bend = (rows * (chance * (1 - chance))[:, None]).T @ rows / len(rows) + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(bend, slope)
    return weights


def bound(mechanism: Published, runs: int, seed: int, error: float) -> float:
    """Return the lower bound of the published auditor.

    Args:
        mechanism: what is audited, with its list of pairs.
        runs: in all.
        seed: of all draws.
        error: 1 − confidence.

    Returns:
        A lower bound of ε, at least 0.
    """
    rng = np.random.Generator(np.random.SFC64(seed))
    tries = [pair for first, second in mechanism.pairs for pair in ((first, second), (second, first))]
    each = int(runs / (5 * len(tries) + _FINAL))
    found = []
    for pair in tries:
        attack = Attack(mechanism.sample, mechanism.flags, pair, each, rng)
        hits, others = attack.counts(each)
        found.append((math.log((hits + 1e-9) / (others + 1e-9)), attack))
    best = max(found, key=lambda one: one[0])[1]
    last = (runs - 5 * len(tries) * each) // 2
    hits, others = best.counts(last)
    low = beta.ppf(error / 2, hits, last - hits + 1) if hits else 0.0
    high = beta.ppf(1 - error / 2, others + 1, last - others)
    return max(math.log(low / high), 0.0) if low else 0.0
