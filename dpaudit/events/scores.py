"""Which number, computed from all numbers of a run, might distinguish the sides? Scores fitted on learning runs.

A fitted score must not be judged on the runs that fitted it: `cross_fitted` scores every learning run by a fit that has
not seen it, so all of them show how well the score separates the sides, and all of them fit the final score.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.events.partition import score_of
from dpaudit.evidence.event import Linear, Score

Sides = tuple[Floats, Floats]
Fit = Callable[[Floats, Floats], Score]

_MOST_PRODUCTS = 10**10  # of features, in a logistic fit; limits it to a few seconds
_CLIPS = (2.0, 0.3)  # in standard deviations, because the loss of Laplace noise saturates
_WIDE = 1e9  # a clip beyond all standardised numbers
_CHUNK = 4096  # runs at once; bounds memory
_TRIED = 5000  # runs of a side that are enough for medians and coarse tests


def cross_fitted(fit: Fit, rows: Sides, folds: int) -> Sides:
    """Return the scores of all runs, each by a fit to the runs of the other folds.

    Args:
        fit: fits a score to runs of side 0 and side 1.
        rows: of side 0 and side 1, (runs, numbers) each.
        folds: their number.

    Returns:
        Scores of side 0 and side 1, (runs,) each.
    """
    found = tuple(np.empty(len(side)) for side in rows)
    for fold in range(folds):
        score = fit(*(np.delete(side, np.s_[fold::folds], axis=0) for side in rows))
        for side, values in zip(rows, found, strict=True):
            values[fold::folds] = score_of(score, side[fold::folds])
    return found[0], found[1]


def center_and_scale(rows: Sides) -> Sides:
    """Return the median and the standard deviation of every number, over the first runs of both sides."""
    pooled = np.concatenate([side[:_TRIED] for side in rows])
    columns = pooled.shape[1]
    if not len(pooled):
        return np.zeros(columns), np.ones(columns)
    with np.errstate(over="ignore", invalid="ignore"):
        center, scale = np.median(pooled, axis=0), pooled.std(axis=0)
    return np.where(np.isfinite(center), center, 0.0), np.where((scale > 0) & np.isfinite(scale), scale, 1.0)


def logistic_fit(center: Floats, scale: Floats) -> Fit:
    """Ridge logistic regression on standardised numbers, clipped at two scales."""

    def features(rows: Floats) -> Floats:
        with np.errstate(over="ignore"):
            centred = (rows - center) / scale
        return np.hstack([np.ones((len(rows), 1)), *(np.clip(centred, -clip, clip) for clip in _CLIPS)])

    def fit(rows0: Floats, rows1: Floats) -> Score:
        columns = rows0.shape[1]
        size = len(_CLIPS) * columns + 1
        most = max(500, _MOST_PRODUCTS // size**2)
        used = [(rows0[:most], 1.0), (rows1[:most], 0.0)]
        weights = np.zeros(size)
        for _ in range(6):  # Newton's method
            gradient, hessian = -weights, np.eye(size)
            for rows, side in used:
                for start in range(0, len(rows), _CHUNK):
                    x = features(rows[start : start + _CHUNK])
                    probability = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
                    hessian += (x * (probability * (1 - probability))[:, None]).T @ x
                    gradient = gradient + x.T @ (side - probability)
            weights = weights + np.linalg.solve(hessian, gradient)
        return _linear(center, scale, _CLIPS, weights[1:].reshape(len(_CLIPS), columns))

    return fit


def sum_fit(center: Floats, scale: Floats, clip: float) -> Fit:
    """The sum of clipped numbers, each weighted by its estimated difference between the sides.

    The differences are modelled as draws from one normal distribution, whose mean and variance are estimated from them
    (empirical Bayes: James & Stein 1961; Efron & Morris 1975): if all numbers move alike they borrow strength from one
    another, and if few move the others get little weight.

    Args:
        center: (numbers,) subtracted from each number.
        scale: (numbers,) each number is divided by.
        clip: limit of the standardised numbers.

    Returns:
        A function that fits a score to runs of side 0 and side 1.
    """

    def fit(rows0: Floats, rows1: Floats) -> Score:
        mean, spread = [], []
        for rows in (rows0, rows1):
            with np.errstate(over="ignore"):
                clipped = np.clip((rows - center) / scale, -clip, clip)
            n = max(len(rows), 1)
            mean.append(clipped.sum(axis=0) / n)
            spread.append(np.maximum((clipped**2).sum(axis=0) / n - mean[-1] ** 2, 1e-12 * clip**2))
        difference, variance = mean[0] - mean[1], spread[0] + spread[1]
        noise = spread[0] / max(len(rows0), 1) + spread[1] / max(len(rows1), 1)
        common = float(np.average(difference, weights=1 / noise))
        apart = max(float(np.mean((difference - common) ** 2 - noise)), 0.0)
        believed = (apart * difference + noise * common) / (apart + noise)
        return _linear(center, scale, (clip,), (believed / variance)[None, :])

    return fit


def discriminant_fit(center: Floats, scale: Floats) -> Fit:
    """Fisher's linear discriminant (1936): for noise that is shared between the numbers."""

    def fit(rows0: Floats, rows1: Floats) -> Score:
        columns = len(center)
        moments, means = np.eye(columns) * 1e-6, []
        total = max(len(rows0) + len(rows1), 1)
        for rows in (rows0, rows1):
            with np.errstate(over="ignore"):
                centred = np.clip((rows - center) / scale, -_WIDE, _WIDE)
            mean = centred.mean(axis=0) if len(rows) else np.zeros(columns)
            means.append(mean)
            moments += (centred - mean).T @ (centred - mean) / total
        return _linear(center, scale, (_WIDE,), np.linalg.solve(moments, means[0] - means[1])[None, :])

    return fit


def _linear(center: Floats, scale: Floats, clips: tuple[float, ...], weights: Floats) -> Linear:
    """The score, with its weights scaled to root mean square 1."""
    length = float(np.sqrt(np.mean(weights**2)))
    weights = weights / length if length > 0 and np.isfinite(length) else np.zeros_like(weights)
    rows = tuple(tuple(row) for row in weights.tolist())
    return Linear(tuple(center.tolist()), tuple(scale.tolist()), clips, rows)


def telling_columns(rows: Sides, most: int) -> list[int]:
    """Return the numbers whose distributions differ most, by a coarse two-sample χ² over 12 bins."""
    sides = [side[: min(_TRIED, max(len(side) // 4, 50))] for side in rows]
    if not len(sides[0]) or not len(sides[1]):
        return []
    columns = sides[0].shape[1]
    found = np.zeros(columns)
    for index in range(columns):
        pooled = np.sort(np.concatenate([side[:, index] for side in sides]))
        edges = np.unique(pooled[(np.arange(1, 12) * len(pooled)) // 12])
        a, b = (np.bincount(np.searchsorted(edges, side[:, index], side="right"), minlength=13) for side in sides)
        rate0, rate1 = a / len(sides[0]), b / len(sides[1])
        found[index] = np.sum((rate0 - rate1) ** 2 / np.maximum(rate0 + rate1, 1e-12))
    return [int(index) for index in np.argsort(-found, kind="stable")[:most]]
