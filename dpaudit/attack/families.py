"""Along which scores might the outputs differ? Candidate partitions, fitted on learning runs.

A family proposes one partition of all outputs. It is *ordered* where its cells stand in an order that the
loss may be expected to follow (a raw value, a fitted score): then every tail is a candidate event. It is
*ranked* otherwise: the fitting runs say which cells speak for which side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from dpaudit.attack.partition import Partition, score_of
from dpaudit.event import Coordinate, Linear, Rows, Rule, Score
from dpaudit.game.outputs import Outputs

Floats = np.ndarray[Any, np.dtype[np.float64]]
_BINS = (24, 64, 256)
_MOST_ROWS, _FEW_ROWS = 50_000, 64
_MOST_PRODUCTS = 10**10  # of features, in a logistic fit: a few seconds
_TAIL_POINTS = 200
_COORDINATES_TRIED = 3


@dataclass(frozen=True, slots=True)
class Fitted:
    """A partition and how to order its cells: by position, or by the log ratio of its fitting counts.

    ``blind`` marks one that was made without looking at the sides: every learning run can validate it.
    """

    partition: Partition
    ordered: bool
    blind: bool = False


@dataclass(frozen=True, slots=True)
class _Form:
    """The fitting runs of one form, both sides."""

    form: str
    side0: Floats
    side1: Floats
    _sorted: dict[Score, Floats] = field(default_factory=dict, compare=False)

    @property
    def pooled(self) -> Floats:
        return np.concatenate([self.side0, self.side1])

    def along(self, score: Score) -> Floats:
        """Return the scores of all runs in ascending order; sorted once, since several families ask."""
        if score not in self._sorted:
            self._sorted[score] = np.sort(score_of(score, self.pooled))
        return self._sorted[score]

    @property
    def columns(self) -> int:
        return int(self.side0.shape[1])


def _forms(outputs0: Outputs, outputs1: Outputs) -> list[_Form]:
    tables = [dict(zip(outputs.forms, outputs.numbers, strict=True)) for outputs in (outputs0, outputs1)]
    found = []
    for form in dict.fromkeys([*outputs0.forms, *outputs1.forms]):
        columns = next(table[form].shape[1] for table in tables if form in table)
        empty = np.empty((0, columns))
        found.append(_Form(form, tables[0].get(form, empty), tables[1].get(form, empty)))
    return sorted(found, key=lambda item: -(len(item.side0) + len(item.side1)))


def families(outputs0: Outputs, outputs1: Outputs) -> Iterator[Fitted]:
    """Yield every candidate partition, fitted on these learning runs of side 0 and side 1."""
    forms = _forms(outputs0, outputs1)
    main = forms[0]
    vector = any(item.columns > 1 for item in forms)
    repeats = any(_repeating_rows(item) is not None for item in forms)
    if main.columns == 1:
        yield from (_tail(item) for item in forms[:3] if item.columns == 1 and len(item.pooled) > 1)
    if not vector and not (repeats and _all_few(forms)):
        for bins in _BINS:
            yield _ranked(f"histogram of {bins}", forms, partial(_bins, score=Coordinate(0), bins=bins))
    if repeats or not any(item.columns for item in forms):
        yield _ranked("categories", forms, _categories)
    if len(forms) > 1 and any(item.columns for item in forms):
        yield _ranked("forms", forms, _one)
    if vector:
        yield from _vector_families(forms)


def _all_few(forms: list[_Form]) -> bool:
    repeating = [_repeating_rows(item) for item in forms if item.columns]
    return all(rows is not None and len(rows) <= _FEW_ROWS for rows in repeating)


def _vector_families(forms: list[_Form]) -> Iterator[Fitted]:
    single = len(forms) == 1
    fits: list[tuple[str, Callable[[_Form], Score]]] = [
        ("logistic score", logistic_score),
        ("sum clipped at 0.3", lambda item: sum_score(item, 0.3)),
        ("sum clipped at 1", lambda item: sum_score(item, 1.0)),
    ]
    for name, fit in fits:
        if single:
            yield _ordered(name, forms[0], fit(forms[0]))
        else:
            yield _ranked(name, forms, partial(_fitted_bins, fit=fit))
    if not single:
        yield _ranked("most telling numbers", forms, _telling_bins)
    main = max(forms, key=lambda item: (item.columns > 1) * (len(item.side0) + len(item.side1)))
    for index in telling_coordinates(main):
        yield _ordered(f"number {index}", main, Coordinate(index))
        yield _ranked(f"histogram of number {index}", [main], partial(_bins, score=Coordinate(index), bins=64))


def _fitted_bins(item: _Form, fit: Callable[[_Form], Score]) -> Rule:
    return _bins(item, fit(item), 64) if item.columns else _one(item)


def _telling_bins(item: _Form) -> Rule:
    """A few bins along the number of a form that differs most between the sides."""
    telling = telling_coordinates(item)
    return _bins(item, Coordinate(telling[0] if telling else 0), 8)


def _one(item: _Form) -> Rule:
    return Rule(item.form, None, (), ())


def _ranked(family: str, forms: list[_Form], cut: Callable[[_Form], Rule]) -> Fitted:
    return Fitted(Partition(family, tuple(cut(item) for item in forms)), ordered=False)


def _ordered(family: str, item: _Form, score: Score) -> Fitted:
    edges = spread_points(item.along(score), _TAIL_POINTS)
    return Fitted(Partition(family, (Rule(item.form, score, edges, ()),)), ordered=True)


def _tail(item: _Form) -> Fitted:
    return replace(_ordered("tails", item, Coordinate(0)), blind=True)


def spread_points(ordered: Floats, points: int) -> tuple[float, ...]:
    """Return quantiles spread evenly over the middle and geometrically into both ends, as distinct values."""
    n = len(ordered)
    if n == 0:
        return ()
    ends = np.geomspace(1 / n, 1, points)
    fractions = np.unique(np.concatenate([np.linspace(0, 1, points), ends, 1 - ends]))
    positions = np.unique(np.minimum((fractions * n).astype(np.int64), n - 1))
    return tuple(np.unique(ordered[positions]).tolist())


def _distinct(ordered: Floats) -> tuple[Floats, np.ndarray[Any, np.dtype[np.intp]]]:
    """Return the distinct values of an ascending array, and how often each stands in it."""
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _bins(item: _Form, score: Score, bins: int) -> Rule:
    """Quantile bins of a score, with heavy atoms and the extreme tails as bins of their own."""
    if not item.columns or not len(item.pooled):
        return _one(item)
    ordered = item.along(score)
    distinct, counts = _distinct(ordered)
    if len(distinct) <= bins:
        return Rule(item.form, score, tuple(distinct.tolist()), ())
    atoms = distinct[counts > max(20, len(ordered) / (4 * bins))]
    extreme = min(10, len(ordered) // 4)
    quantiles = ordered[(np.arange(1, bins) * len(ordered)) // bins]
    after = np.nextafter(atoms, np.inf)
    edges = np.unique(np.concatenate([quantiles, atoms, after[np.isfinite(after)], ordered[[extreme, -extreme - 1]]]))
    return Rule(item.form, score, tuple(edges.tolist()), ())


def _repeating_rows(item: _Form) -> Floats | None:
    """Return the distinct rows of a form whose runs repeat themselves; None for the others."""
    if not item.columns or len(item.pooled) < 2:
        return None
    pooled = item.pooled
    rows = _distinct(item.along(Coordinate(0)))[0][:, None] if item.columns == 1 else np.unique(pooled, axis=0)
    return rows if len(rows) <= min(_MOST_ROWS, 0.7 * len(pooled)) else None


def _categories(item: _Form) -> Rule:
    """Each distinct row of numbers as a cell of its own; a form whose rows never repeat in bins."""
    rows = _repeating_rows(item)
    if rows is None:
        return _telling_bins(item)
    edges = tuple(np.arange(len(rows)) - 0.5)
    return Rule(item.form, Rows(tuple(map(tuple, rows.tolist()))), edges, ())


def _standardised(item: _Form) -> tuple[Floats, Floats]:
    pooled = item.pooled
    if not len(pooled):
        return np.zeros(item.columns), np.ones(item.columns)
    with np.errstate(over="ignore", invalid="ignore"):
        center, scale = np.median(pooled, axis=0), pooled.std(axis=0)
    return np.where(np.isfinite(center), center, 0.0), np.where((scale > 0) & np.isfinite(scale), scale, 1.0)


def logistic_score(item: _Form) -> Linear:
    """Ridge logistic regression on standardised coordinates clipped at two scales.

    The two clips follow the loss of Laplace noise, which saturates.
    """
    center, scale = _standardised(item)
    clips = (2.0, 0.3)

    def features(rows: Floats) -> Floats:
        with np.errstate(over="ignore"):
            centred = (rows - center) / scale
        return np.hstack([np.ones((len(rows), 1)), *(np.clip(centred, -clip, clip) for clip in clips)])

    most = max(500, _MOST_PRODUCTS // (2 * item.columns + 1) ** 2)
    side0, side1 = item.side0[:most], item.side1[:most]
    x = np.vstack([features(side0), features(side1)])
    y = np.concatenate([np.ones(len(side0)), np.zeros(len(side1))])
    weights = np.zeros(x.shape[1])
    for _ in range(6):  # Newton's method
        probability = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        hessian = (x * (probability * (1 - probability))[:, None]).T @ x + np.eye(len(weights))
        weights = weights + np.linalg.solve(hessian, x.T @ (y - probability) - weights)
    inner = weights[1:].reshape(len(clips), item.columns)
    return Linear(tuple(center.tolist()), tuple(scale.tolist()), clips, tuple(tuple(row) for row in inner.tolist()))


def sum_score(item: _Form, clip: float) -> Linear:
    """The sum of clipped coordinates, each with the sign of its difference where that exceeds its noise."""
    center, scale = _standardised(item)
    mean, spread = [], []
    for rows in (item.side0, item.side1):
        with np.errstate(over="ignore"):
            clipped = np.clip((rows - center) / scale, -clip, clip)
        mean.append(clipped.mean(axis=0) if len(rows) else np.zeros(item.columns))
        spread.append(clipped.var(axis=0) / max(len(rows), 1) if len(rows) else np.zeros(item.columns))
    difference = mean[0] - mean[1]
    weights = np.sign(difference) * (np.abs(difference) > np.sqrt(spread[0] + spread[1]))
    return Linear(tuple(center.tolist()), tuple(scale.tolist()), (clip,), (tuple(weights.tolist()),))


def telling_coordinates(item: _Form) -> list[int]:
    """Return the coordinates whose distributions differ most, by a coarse two-sample χ² over 12 bins."""
    if item.columns < 2 or not len(item.side0) or not len(item.side1):
        return []
    sides = (item.side0[:5000], item.side1[:5000])
    found = []
    for index in range(item.columns):
        pooled = np.sort(np.concatenate([side[:, index] for side in sides]))
        edges = np.unique(pooled[(np.arange(1, 12) * len(pooled)) // 12])
        a, b = (np.bincount(np.searchsorted(edges, side[:, index], side="right"), minlength=13) for side in sides)
        rate0, rate1 = a / len(sides[0]), b / len(sides[1])
        found.append(float(np.sum((rate0 - rate1) ** 2 / np.maximum(rate0 + rate1, 1e-12))))
    return sorted(range(item.columns), key=lambda index: -found[index])[:_COORDINATES_TRIED]
