"""Which number, computed from all numbers of a run, might distinguish the sides? Scores fitted on learning runs.

A fitted score must not be judged on the runs that fitted it: `cross_fitted` scores every learning run by a fit that has
not seen it, so all of them show how well the score separates the sides, and all of them fit the final score.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.errors import UsageError, nearest
from dpaudit.events.partition import NUMBERS_AT_ONCE, score_of
from dpaudit.evidence.event import Linear, Score, Tree, Trees

Sides = tuple[Floats, Floats]
Weights = tuple[Integers, Integers] | None  # how many runs each row of each side stands for; None for one each

_MOST_PRODUCTS = 10**10  # of features, in a logistic fit; limits it to a few seconds
_CLIPS = (2.0, 0.3)  # in standard deviations, because the loss of Laplace noise saturates
_NEWTON_STEPS, _NEWTON_STOP = 6, 1e-4  # at most; and the step after which another would change no event
_WIDE = 1e9  # a clip beyond all standardised numbers
_GRAIN = 2.0**-30  # of weights
_TRIED = 5000  # runs of a side that are enough for medians and coarse tests


class Fit(Protocol):
    """Fits a score to runs of side 0 and side 1, each row (numbers,) counted as often as its weight."""

    def __call__(self, rows0: Floats, rows1: Floats, weights: Weights = None, /) -> Score: ...  # noqa: D102


@cache
def _libraries() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def on_one_thread() -> AbstractContextManager[Any]:
    """Keep linear algebra to one thread: many threads wait for one another longer than products so small take."""
    limits = _libraries()
    return nullcontext() if limits is None else limits.limit(limits=1, user_api="blas")


def cross_fitted(fit: Fit, rows: Sides, folds: int) -> Sides:
    """Return the scores of all runs, each by a fit to the runs of the other folds."""
    fitted = tuple(np.empty(len(side)) for side in rows)
    for fold in range(folds):
        rest0, rest1 = (np.delete(side, np.s_[fold::folds], axis=0) for side in rows)
        score = fit(rest0, rest1)
        for side, values in zip(rows, fitted, strict=True):
            values[fold::folds] = score_of(score, side[fold::folds])
    return fitted[0], fitted[1]


def cross_fitted_distinct(fit: Fit, rows: Floats, which: tuple[Integers, Integers], folds: int) -> Sides:
    """As `cross_fitted`, for outputs that repeat: a fit sees each distinct one once, with its runs in other folds."""
    fitted = tuple(np.empty(len(side)) for side in which)
    totals = [np.bincount(side, minlength=len(rows)) for side in which]
    for fold in range(folds):
        own = [side[fold::folds] for side in which]
        rest0, rest1 = (all_ - np.bincount(o, minlength=len(rows)) for all_, o in zip(totals, own, strict=True))
        along = score_of(fit(rows, rows, (rest0, rest1)), rows)
        for values, places in zip(fitted, own, strict=True):
            values[fold::folds] = along[places]
    return fitted[0], fitted[1]


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
    """Ridge logistic regression on standardised numbers, clipped at two scales, by Newton's method."""
    columns = len(center)
    size = len(_CLIPS) * columns + 1

    def fit(rows0: Floats, rows1: Floats, weights: Weights = None, /) -> Score:
        most = max(500, _MOST_PRODUCTS // size**2)
        counts = (None, None) if weights is None else weights
        coefficients = np.zeros(size)
        for _ in range(_NEWTON_STEPS):
            gradient, hessian = -coefficients, np.eye(size)
            for rows, own, side in ((rows0, counts[0], 1.0), (rows1, counts[1], 0.0)):
                for x, times in _standardised(rows[:most], own, center, scale, _CLIPS):
                    probability = 1 / (1 + np.exp(-np.clip(x @ coefficients, -30, 30)))
                    gradient += (times * (side - probability)) @ x
                    x *= np.sqrt(times * probability * (1 - probability))[:, None]
                    hessian += x.T @ x  # symmetric, which BLAS makes use of
            step = np.linalg.solve(hessian, gradient)
            coefficients = coefficients + step
            if np.max(np.abs(step)) < _NEWTON_STOP:
                break
        return _linear(center, scale, _CLIPS, coefficients[1:].reshape(len(_CLIPS), columns))

    return fit


def _standardised(
    rows: Floats, counts: Integers | None, center: Floats, scale: Floats, clips: tuple[float, ...]
) -> Iterator[tuple[Floats, Floats]]:
    """1 and the standardised numbers at every clip, a few rows at a time, and the runs that each row stands for."""
    columns = rows.shape[1]
    size = 1 + len(clips) * columns
    some = max(64, NUMBERS_AT_ONCE // size)
    buffer, ones = np.empty((min(some, len(rows)), size)), np.ones(some)
    for start in range(0, len(rows), some):
        x = buffer[: len(rows) - start]
        x[:, 0] = 1.0
        last = x[:, size - columns :]
        with np.errstate(over="ignore"):
            np.subtract(rows[start : start + some], center, out=last)
            np.divide(last, scale, out=last)
        for place, clip in enumerate(clips):
            np.clip(last, -clip, clip, out=x[:, 1 + place * columns : 1 + (place + 1) * columns])
        yield x, ones[: len(x)] if counts is None else counts[start : start + some].astype(np.float64)


def sum_fit(center: Floats, scale: Floats, clip: float) -> Fit:
    """The sum of clipped numbers, each weighted by its estimated difference between the sides.

    The differences are modelled as draws from one normal distribution, whose mean and variance are estimated from them
    (empirical Bayes: James & Stein 1961; Efron & Morris 1975): if all numbers move alike they borrow strength from one
    another, and if few move the others get little weight.
    """

    def fit(rows0: Floats, rows1: Floats, weights: Weights = None, /) -> Score:
        mean, spread, runs = [], [], []
        for rows, counts in zip((rows0, rows1), weights or (None, None), strict=True):
            first, second = np.zeros(1 + len(center)), np.zeros(1 + len(center))
            for x, times in _standardised(rows, counts, center, scale, (clip,)):
                first += times @ x
                np.square(x, out=x)
                second += times @ x
            n = max(first[0], 1.0)
            mean.append(first[1:] / n)
            spread.append(np.maximum(second[1:] / n - mean[-1] ** 2, 1e-12 * clip**2))
            runs.append(n)
        difference, variance = mean[0] - mean[1], spread[0] + spread[1]
        noise = spread[0] / runs[0] + spread[1] / runs[1]
        common = float(np.average(difference, weights=1 / noise))
        apart = max(float(np.mean((difference - common) ** 2 - noise)), 0.0)
        believed = (apart * difference + noise * common) / (apart + noise)
        return _linear(center, scale, (clip,), (believed / variance)[None, :])

    return fit


def discriminant_fit(center: Floats, scale: Floats) -> Fit:
    """Fisher's linear discriminant (1936): for noise that is shared between the numbers."""

    def fit(rows0: Floats, rows1: Floats, weights: Weights = None, /) -> Score:
        columns = len(center)
        within, means, total = np.zeros((columns, columns)), [], 0.0
        for rows, counts in zip((rows0, rows1), weights or (None, None), strict=True):
            moments = np.zeros((1 + columns, 1 + columns))  # with 1 as the first number: runs, sums, and products
            for x, times in _standardised(rows, counts, center, scale, (_WIDE,)):
                x *= np.sqrt(times)[:, None]
                moments += x.T @ x
            n = moments[0, 0]
            mean = moments[0, 1:] / max(n, 1.0)
            within += moments[1:, 1:] - n * np.outer(mean, mean)
            means.append(mean)
            total += n
        scatter = np.eye(columns) * 1e-6 + within / max(total, 1.0)
        return _linear(center, scale, (_WIDE,), np.linalg.solve(scatter, means[0] - means[1])[None, :])

    return fit


def _linear(center: Floats, scale: Floats, clips: tuple[float, ...], weights: Floats) -> Linear:
    """The score, with weights scaled to sizes of 1 on average, so that every fit of a family has the same extremes.

    Runs beyond every clip share the extreme score, and folds must agree on it: an edge that the fit to one fold puts
    there would otherwise miss them in the fit to another. So weights have few binary digits, and their sum is exact.
    """
    sizes = np.abs(weights).mean(axis=1)
    length = float(np.average(sizes, weights=clips))
    if not (length > 0 and np.isfinite(length)):
        weights = np.zeros_like(weights)
    else:
        weights = np.round(weights / length / _GRAIN) * _GRAIN
        if len(clips) == 1:
            largest = np.argmax(np.abs(weights[0]))
            weights[0, largest] += np.sign(weights[0, largest]) * (weights.shape[1] - np.abs(weights).sum())
    rows = tuple(tuple(row) for row in (weights + 0.0).tolist())
    return Linear(tuple(center.tolist()), tuple(scale.tolist()), clips, rows)


def telling_columns(rows: Sides, most: int) -> list[int]:
    """Return the numbers whose distributions differ most, by a coarse two-sample χ² over 12 bins."""
    sides = [side[: min(_TRIED, max(len(side) // 4, 50))] for side in rows]
    if not len(sides[0]) or not len(sides[1]):
        return []
    columns = sides[0].shape[1]
    apart = np.zeros(columns)
    for index in range(columns):
        pooled = np.sort(np.concatenate([side[:, index] for side in sides]))
        edges = np.unique(pooled[(np.arange(1, 12) * len(pooled)) // 12])
        a, b = (np.bincount(np.searchsorted(edges, side[:, index], side="right"), minlength=13) for side in sides)
        rate0, rate1 = a / len(sides[0]), b / len(sides[1])
        apart[index] = np.sum((rate0 - rate1) ** 2 / np.maximum(rate0 + rate1, 1e-12))
    return [int(index) for index in np.argsort(-apart, kind="stable")[:most]]


# --- Which score would a machine-learning library find, if the built-in scores miss how the numbers interact? ---
#
# Optional: the extra ``learn`` installs scikit-learn, and an audit uses it only on request, so that evidence never
# depends on what happens to be installed. A learner sees learning runs alone and returns a score that is data: fitted
# trees are copied into `dpaudit.evidence.event.Trees`, which is stored, replayed and measured without the library.

# chosen by bounds and seconds on laws of several numbers
_LEAST_RUNS = 400  # of each side; with fewer, trees overfit
_MOST_RUNS, _MOST_NUMBERS = 10_000, 200_000  # of each side, in a fit of a second or two
_LARGEST = 1.797e308  # still finite after rounding to 12 digits
_GRAIN_OF_LEAVES = 2.0**-20  # leaf values are multiples of it, so that their sums are exact in any order


class Learner(Protocol):
    """Something that can distinguish two tables of runs.

    Attributes:
        name: of the family of this score.
        needs: the module that must be installed.
        distribution: the distribution that provides it.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def needs(self) -> str: ...  # noqa: D102
    @property
    def distribution(self) -> str: ...  # noqa: D102

    def fit(self, rows0: Floats, rows1: Floats, seed: int) -> Score:
        """Return a score that is larger where a run looks like side 0; the same for the same rows and seed."""
        ...


@dataclass(frozen=True, slots=True)
class BoostedTrees:
    """Gradient boosting of the logistic loss by scikit-learn (Friedman 2001, Algorithm 5)."""

    trees: int = 60  # their number, at most 100
    depth: int = 3  # how many numbers a tree may combine
    rate: float = 0.2  # the share of each tree that is kept
    # name, needs, distribution: as for `Learner`
    name: str = "boosted trees"
    needs: str = "sklearn"
    distribution: str = "scikit-learn"

    def fit(self, rows0: Floats, rows1: Floats, seed: int) -> Trees:
        """Return the fitted trees; none, a score that says nothing, if there are few runs.

        Leaves and thresholds are rounded, so that platforms agree more often.
        """
        from sklearn.ensemble import GradientBoostingClassifier

        most = min(_MOST_RUNS, _MOST_NUMBERS // rows0.shape[1])
        rows0, rows1 = rows0[:most], rows1[:most]
        if min(len(rows0), len(rows1)) < _LEAST_RUNS:
            return Trees(())
        rows = np.concatenate([rows0, rows1])
        # the library computes in single precision, which is enough for centred and scaled numbers
        with np.errstate(all="ignore"):
            center, scale = np.median(rows, axis=0), rows.std(axis=0)
            center = np.where(np.isfinite(center), center, 0.0)
            scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
            scaled = np.clip((rows - center) / scale, -1e30, 1e30)
        side = np.concatenate([np.ones(len(rows0)), np.zeros(len(rows1))])
        model = GradientBoostingClassifier(
            n_estimators=self.trees,
            max_depth=self.depth,
            learning_rate=self.rate,
            min_samples_leaf=max(20, len(rows) // 1000),
            subsample=0.5,
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(scaled, side)
        return Trees(tuple(self._tree(stage[0].tree_, center, scale) for stage in model.estimators_))

    def _tree(self, fitted: Any, center: Floats, scale: Floats) -> Tree:
        leaf = fitted.children_left < 0
        feature = np.where(leaf, -1, fitted.feature)
        with np.errstate(over="ignore"):
            threshold = np.where(leaf, 0.0, fitted.threshold * scale[feature] + center[feature])
        threshold = np.clip(threshold, -_LARGEST, _LARGEST)
        value = np.where(leaf, np.round(self.rate * fitted.value[:, 0, 0] / _GRAIN_OF_LEAVES) * _GRAIN_OF_LEAVES, 0.0)
        return Tree(
            tuple(feature.tolist()),
            tuple(float(f"{x:.12g}") for x in threshold),
            tuple(np.where(leaf, 0, fitted.children_left).tolist()),
            tuple(np.where(leaf, 0, fitted.children_right).tolist()),
            tuple((value + 0.0).tolist()),
        )


_LEARNERS: dict[str, Learner] = {"trees": BoostedTrees()}


def learner(name: str) -> Learner:
    """Return the learner of this name.

    Raises:
        UsageError: if there is none, or what it needs is not installed.
    """
    if name not in _LEARNERS:
        raise UsageError(f"no learner is called {name!r}: {nearest(name, _LEARNERS)}")
    known_learner = _LEARNERS[name]
    if find_spec(known_learner.needs) is None:
        raise UsageError(f"learn={name!r} needs a library that is not installed: pip install 'dpaudit[learn]'")
    return known_learner


def needed_by(learn: str | None) -> tuple[str, ...]:
    """Return the distributions that a learner uses, on whose versions its evidence depends."""
    return () if learn is None else (_LEARNERS[learn].distribution,)


def learned_fits(learn: str | None, columns: int) -> list[tuple[str, Callable[[Floats, Floats], Fit]]]:
    """Return the requested fits in the form that `families` takes: a name, and a function of center and scale.

    Empty if none was requested, or if the output is one number, whose histogram shows everything.
    """
    if learn is None or columns < 2:
        return []
    known_learner = learner(learn)

    def make(center: Floats, scale: Floats) -> Fit:
        return partial(known_learner.fit, seed=0)

    return [(known_learner.name, make)]
