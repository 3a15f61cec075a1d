"""Which score would a machine-learning library find, if the built-in scores miss how the numbers interact?

Optional: the extra ``learn`` installs scikit-learn, and an audit uses it only on request, so that evidence never
depends on what happens to be installed. A learner sees learning runs alone and returns a score that is data: fitted
trees are copied into `dpaudit.evidence.event.Trees`, which is stored, replayed and measured without the library.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.errors import UsageError, nearest
from dpaudit.events.scores import Fit
from dpaudit.evidence.event import Score, Tree, Trees

# measured by benchmarks/learned.py
_LEAST_RUNS = 400  # of each side; with fewer, trees overfit
_MOST_RUNS, _MOST_NUMBERS = 10_000, 200_000  # of each side, in a fit of a second or two
_LARGEST = 1.797e308  # still finite after rounding to 12 digits
_GRAIN = 2.0**-20  # leaf values are multiples of it, so that their sums are exact in any order


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
    """Gradient boosting of the logistic loss by scikit-learn (Friedman 2001, Algorithm 5).

    Attributes:
        trees: their number, at most 100.
        depth: how many numbers a tree may combine.
        rate: the share of each tree that is kept.
        name, needs, distribution: as for `Learner`.
    """

    trees: int = 60
    depth: int = 3
    rate: float = 0.2
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
        value = np.where(leaf, np.round(self.rate * fitted.value[:, 0, 0] / _GRAIN) * _GRAIN, 0.0)
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
    found = _LEARNERS[name]
    if find_spec(found.needs) is None:
        raise UsageError(f"learn={name!r} needs a library that is not installed: pip install 'dpaudit[learn]'")
    return found


def needed_by(learn: str | None) -> tuple[str, ...]:
    """Return the distributions that a learner uses, on whose versions its evidence depends."""
    return () if learn is None else (_LEARNERS[learn].distribution,)


def learned_fits(learn: str | None, columns: int) -> list[tuple[str, Callable[[Floats, Floats], Fit]]]:
    """Return the requested fits in the form that `families` takes: a name, and a function of center and scale.

    Empty if none was requested, or if the output is one number, whose histogram shows everything.
    """
    if learn is None or columns < 2:
        return []
    found = learner(learn)

    def make(center: Floats, scale: Floats) -> Fit:
        return partial(found.fit, seed=0)

    return [(found.name, make)]
