"""In which order do cells point to a side, and how many runs would each threshold of that order catch?

A `LikelihoodOrder` sorts a partition's cells by a value: the higher the value, the more a cell points to side 0. Cells
at or above a threshold point to side 0, cells below it to side 1. A run must not be scored by an ordering that it was
used to fit. So if the learning runs themselves decide which cell points to which side, each run is counted at the value
that its cell would have *without it* (leave-one-out). Every learning run thus both fits the order and tests it, without
bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.arrays import Floats, Integers

Counts = Integers | Floats  # a smoothed count need not be whole

_SMOOTH = 0.5  # added to every count
_SPARSE = 10  # runs per cell, both sides together, below which single runs are left out
FEW_CELLS = 12  # ordering so few cells overfits hardly more than choosing among them, which is allowed for


@dataclass(frozen=True, slots=True)
class LikelihoodOrder:
    """Cells by value, and the learning runs that fresh thresholds would have caught.

    Attributes:
        cells: the cells that may carry a label.
        values: (cells,) how strongly each of them points to side 0.
        thresholds: decreasing thresholds; the first is +∞, so that nothing points to side 0.
        above0, above1: (thresholds,) runs of side 0 and of side 1 at or above each threshold.
        total0, total1: runs of each side, in any cell; ``all0``, ``all1`` those in ``cells``.
        size: the number of cells of the partition.
        slack: (thresholds,) runs of the other side that each threshold has probably just missed.
        known: the number of independent runs that the frequencies are worth, as a share of the runs; less than 1 if the
            order is learned, since runs that cross a threshold together make counts noisier.
        gaps: (cells,) which cells of an order hold no run at all, or None.
    """

    cells: Integers
    values: Floats
    thresholds: Floats
    above0: Floats
    above1: Floats
    total0: float
    total1: float
    size: int
    slack: Floats
    known: float
    gaps: np.ndarray[Any, np.dtype[np.bool_]] | None

    @property
    def all0(self) -> float:
        """Runs of side 0 in the ordered cells."""
        return float(self.above0[-1])

    @property
    def all1(self) -> float:
        """Runs of side 1 in the ordered cells."""
        return float(self.above1[-1])

    def rates(self, at: Integers) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the frequencies, under side 0 and side 1, of runs at or above some thresholds, and below them."""
        n0, n1 = max(self.total0, 1), max(self.total1, 1)
        above0, above1 = self.above0[at], self.above1[at]
        return above0 / n0, above1 / n1, (self.all0 - above0) / n0, (self.all1 - above1) / n1

    def labels(self, above: int | None, below: int | None, down_to: int | None = None) -> Integers:
        """Return labels of all cells: 1 for side 0, −1 for side 1, 0 for neither."""
        labels = np.zeros(len(self.cells), dtype=np.int64)
        if above is not None:
            labels[self.values >= self.thresholds[above]] = 1
        if below is not None:
            lowest = -np.inf if down_to is None else self.thresholds[down_to]
            labels[(self.values < self.thresholds[below]) & (self.values >= lowest)] = -1
        return self._placed(labels)

    def _placed(self, labels: Integers) -> Integers:
        """Labels of all cells of the partition; a gap between cells with different labels points to neither side."""
        if self.gaps is not None and len(filled := np.flatnonzero(~self.gaps)):
            after = np.searchsorted(filled, np.flatnonzero(self.gaps))
            before, after = filled[np.maximum(after - 1, 0)], filled[np.minimum(after, len(filled) - 1)]
            labels[self.gaps] = np.where(labels[before] == labels[after], labels[before], 0)
        whole = np.zeros(self.size, dtype=np.int64)
        whole[self.cells] = labels
        return whole

    def spread(self, points: int) -> Integers:
        """Return about ``points`` thresholds, spread over the mass of both sides and into both ends."""
        length = len(self.thresholds)
        if length <= points:
            return np.arange(length)
        mass = self.above0 + self.above1
        ends = np.geomspace(1 / max(mass[-1], 1.0), 1, points // 2)
        fractions = np.unique(np.concatenate([np.linspace(0, 1, points // 2), ends, 1 - ends]))
        return np.unique(np.searchsorted(mass, fractions * mass[-1]).clip(0, length - 1))


def by_position(cells: Integers, counts: tuple[Counts, Counts], apart: Floats, *, rising: bool) -> LikelihoodOrder:
    """Return the order of cells that are ordered already.

    The best threshold often stands just before a run of the wrong side. One such run is counted as if it had been
    caught, except in a wide gap.
    """
    values = (cells if rising else -cells).astype(np.float64)
    seen = ((values, counts[0][cells], 0), (values, counts[1][cells], 1))
    missed = 1.0 - apart  # thresholds decrease: the first is above all cells, the last below them
    slack = np.concatenate([[0.0], missed[::-1] if rising else missed, [0.0]])
    gaps = counts[0][cells] + counts[1][cells] == 0
    return _counted_order(cells, values, seen, counts, slack, gaps, known=1.0)


def by_ratio(cells: Integers, first: tuple[Integers, Integers], second: tuple[Integers, Integers]) -> LikelihoodOrder:
    """Return the order of cells by the log ratio of their counts, each run counted by an order made without it.

    If there are so many cells that they hold few runs each, each run is left out by itself. Otherwise each half is
    counted by the order that the other half makes, because leaving one run out of many decides where the whole cell
    goes, with all its runs, which is a coin toss at every threshold.
    """
    counts = first[0] + second[0], first[1] + second[1]
    a, b = (side[cells] for side in counts)
    base = float(np.log(counts[0].sum() + _SMOOTH) - np.log(counts[1].sum() + _SMOOTH))
    values = _ratio(a, b, base)
    seen: tuple[tuple[Floats, Counts, int], ...]
    if len(cells) <= FEW_CELLS:
        seen = ((values, a, 0), (values, b, 1))
    elif a.sum() + b.sum() < _SPARSE * len(cells):
        seen = ((_ratio(a - 1, b, base), a, 0), (_ratio(a, b - 1, base), b, 1))
    else:
        seen = tuple(
            (order, counted[side][cells], side)
            for made, counted in ((first, second), (second, first))
            for order in [_ratio(made[0][cells], made[1][cells], base)]
            for side in (0, 1)
        )
    return _counted_order(cells, values, seen, counts, None, None, known=1.0 if len(cells) <= FEW_CELLS else 0.5)


@dataclass(frozen=True, slots=True)
class SmoothLoss:
    """A smooth loss along an order of cells, fitted by logistic regression of the side."""

    runs: Floats  # (cells,) runs of both sides in each cell
    share: Floats  # (cells,) the fitted share of side 0 among them
    basis: Floats  # (cells, functions) the log odds are a linear combination of these
    doubt: Floats  # (functions, functions) the approximate covariance of their weights


def smooth_loss(places: Floats, counts: tuple[Integers, Integers]) -> SmoothLoss:
    """Fit the log odds of the side by a few functions of a cell's position, with a ridge penalty.

    The functions are linear, with kinks where the loss of Laplace noise has them. Neighbouring cells inform one
    another, which makes tails less dependent on luck.
    """
    a, b = (side[:-1].astype(np.float64) for side in counts)
    runs, base = a + b, (a.sum() + 0.5) / (a.sum() + b.sum() + 1)
    total = max(runs.sum(), 1.0)
    middle = float(np.interp(0.5, np.cumsum(runs) / total, places))
    with np.errstate(all="ignore"):
        x = places / 2 - middle / 2  # halved, so that the largest floats do not overflow
        x = x / max(float(np.sqrt(np.sum(runs * np.minimum(x * x, 1e200)) / total)), 1e-300)
    x = np.clip(np.nan_to_num(x), -6, 6)
    basis = np.stack([np.ones_like(x), x, *(np.clip(x, -k, k) for k in (0.1, 0.4, 1.2)), np.abs(x)], axis=1)
    weights = np.zeros(basis.shape[1])
    ridge = np.diag([0.0, *[1.0] * (basis.shape[1] - 1)])
    offset = float(np.log(base) - np.log1p(-base))
    share = np.full_like(x, base)
    hessian = ridge
    for _ in range(8):  # Newton's method
        gradient = basis.T @ (a - runs * share) - ridge @ weights
        hessian = (basis * (runs * share * (1 - share))[:, None]).T @ basis + ridge + 1e-9 * np.eye(len(weights))
        weights = weights + np.linalg.solve(hessian, gradient)
        share = 1 / (1 + np.exp(-np.clip(offset + basis @ weights, -30, 30)))
    return SmoothLoss(runs, share, basis, np.linalg.inv(hessian))


def smoothed(places: Floats, counts: tuple[Integers, Integers]) -> tuple[Floats, Floats]:
    """Return the counts of ordered cells that a smooth loss predicts; their sum over the sides is kept."""
    smooth = smooth_loss(places, counts)
    ahead, behind = smooth.runs * smooth.share, smooth.runs * (1 - smooth.share)
    return np.append(ahead, counts[0][-1]), np.append(behind, counts[1][-1])


def _ratio(hits: Integers, others: Integers, base: float) -> Floats:
    """The log ratio of smoothed counts. Equal counts give the same number, whichever side the omitted run has."""
    one, other = np.maximum(hits, 0) + _SMOOTH, np.maximum(others, 0) + _SMOOTH
    return np.asarray(np.round(np.log(one / other) - base, 9))


def _counted_order(
    cells: Integers,
    values: Floats,
    seen: tuple[tuple[Floats, Counts, int], ...],
    counts: tuple[Counts, Counts],
    slack: Floats | None,
    gaps: np.ndarray[Any, np.dtype[np.bool_]] | None,
    *,
    known: float,
) -> LikelihoodOrder:
    """Count runs from the top of the order down; ``seen`` holds values, the runs at each value, and their side."""
    levels = np.concatenate([values, *(at for at, _, _ in seen)])
    order = np.argsort(-levels, kind="stable")
    levels = levels[order]
    last = np.flatnonzero(np.append(levels[1:] != levels[:-1], True)) if len(levels) else np.empty(0, dtype=np.intp)
    fronts = []
    for side in (0, 1):
        runs = np.concatenate([np.zeros(len(values)), *(n if s == side else 0 * n for _, n, s in seen)])
        fronts.append(np.concatenate([[0.0], np.cumsum(runs[order])[last]]))
    thresholds = np.concatenate([[np.inf], levels[last]])
    totals = float(counts[0].sum()), float(counts[1].sum())
    slack = np.zeros(len(thresholds)) if slack is None else slack
    return LikelihoodOrder(cells, values, thresholds, fronts[0], fronts[1], *totals, len(counts[0]), slack, known, gaps)


# --- Which thresholds of an order of cells are tried, and what would their events catch? For many orders at once ---
#
# Three thresholds give an event that points to both sides: the cells down to the first of them point to side 0, and the
# cells between the second and the third to side 1. Its *band* says where the third is: 0 behind all cells; 1 anywhere,
# so that an event of few runs is cut out of an order; −1 anywhere, with the sides exchanged.
#
# A call of NumPy takes longer than its work on few numbers, so the orders of all families stand in one row here.

# measured by benchmarks/goal_table.py (tuned on its seeds 0 to 99)
_RARE = 0.05  # largest share of runs of an event that may leave out cells between its two sides
_NEAR = 12  # thresholds tried around the best


class Orders:
    """The runs that the thresholds of several orders of cells would catch."""

    def __init__(self, orders: Sequence[LikelihoodOrder]) -> None:
        self.lengths = np.array([len(order.thresholds) for order in orders])
        self._begin = np.cumsum(self.lengths) - self.lengths
        self._above = tuple(np.concatenate([(order.above0, order.above1)[side] for order in orders]) for side in (0, 1))
        self._slack = np.concatenate([order.slack for order in orders])
        self._totals = tuple(
            np.array([max((order.total0, order.total1)[side], 1.0) for order in orders]) for side in (0, 1)
        )
        # the number of runs that estimates the mean equally well, if the sides have different numbers
        self._both = np.array(
            [
                max(4 * order.known * order.total0 * order.total1 / max(order.total0 + order.total1, 1.0), 1.0)
                for order in orders
            ]
        )

    def averaged(
        self, order: int | Integers, thresholds: Integers, band: int | Integers
    ) -> tuple[Floats, Floats, Floats]:
        """Return the frequencies of right and of wrong guesses, averaged over the sides, and the runs behind them."""
        right0, wrong0, right1, wrong1 = self.rates(order, thresholds, band)
        first, second, third = thresholds.T
        begin, both = self._begin[order], self._both[order]
        slack = self._slack[begin + first] + self._slack[begin + np.where(band, third, second)]
        right, wrong = (right0 + right1) / 2, (wrong0 + wrong1) / 2 + slack / both
        # only a rare event may leave out the cells between its sides
        common = np.not_equal(band, 0) & (first != second) & (right > _RARE)
        return np.where(common, 0.0, right), wrong, np.broadcast_to(both, right.shape)

    def rates(self, order: int | Integers, thresholds: Integers, band: int | Integers) -> tuple[Floats, ...]:
        """Return the frequencies of right and of wrong guesses on side 0, and then on side 1 (see `averaged`)."""
        at = self._begin[order] + thresholds.T
        found: list[Floats] = []
        for side in (0, 1):
            first, second, third = self._above[side][at] / self._totals[side][order]
            to0, to1 = np.where(np.equal(band, -1), (third - second, first), (first, third - second))
            found += [to0, to1] if side == 0 else [to1, to0]
        return tuple(found)

    def promising(self, order: int, coarse: Integers, band: int, delta: float) -> Integers:
        """Return the thresholds whose loss is most significant, for several penalties: a quick look at very many."""
        index = np.triu_indices(len(coarse), 0 if not band or len(coarse) == 1 else 1)
        first, last = coarse[index[0]], coarse[index[1]]
        beside = np.minimum(coarse[np.minimum(index[0] + 1, len(coarse) - 1)], last)
        end = np.full_like(last, self.lengths[order] - 1)
        shapes = ((first, first, last), (first, beside, last)) if band else ((first, last, end),)
        thresholds = np.concatenate([np.stack(shape, axis=1) for shape in shapes])
        p, q, n = self.averaged(order, thresholds, band)
        low, high = (p * n + 0.5) / (n + 1), (q * n + 0.5) / (n + 1)
        loss = np.log(np.maximum(low - delta, 1e-300) / high)
        noise = np.sqrt((1 / low + 1 / high) / (n + 1))
        best = {int(np.argmax(loss - doubt * noise)) for doubt in (1.0, 2.0, 4.0)}
        return np.asarray(thresholds[sorted(best)])


def refined(
    starts: Sequence[Integers],
    fine: Sequence[Integers],
    lengths: Integers,
    predicted: Callable[[Integers, Integers], Floats],
    *,
    banded: bool,
) -> list[tuple[float, Integers]]:
    """Move each threshold to the best of many while the others stay, first over long and then over short distances.

    The two inner thresholds of a band move together, and each alone: cells that hold much of both sides are left out.
    """
    search = np.repeat(np.arange(len(starts)), [len(own) for own in starts])
    found, values = np.concatenate(starts), np.empty(len(search))
    each, most, near = np.arange(len(search)), int(np.max(lengths)), np.arange(-_NEAR, _NEAR + 1)
    for far in (True, False):
        for moved in ([0, 1], [2], [0], [1]) if banded else ([0], [1]):
            beside, around = np.repeat(each, len(near)), (found[:, moved[0], None] + near).ravel()
            if far and banded and moved in ([0], [1]):  # into the gap
                around = np.linspace(found[:, 0], found[:, 1], len(near), axis=1).astype(np.int64).ravel()
            elif far:
                around = np.concatenate([fine[number] for number in search.tolist()])
                beside = np.repeat(each, [len(fine[number]) for number in search.tolist()])
            tried = np.concatenate([found, found[beside]])
            tried[len(each) :, moved] = around.clip(0, lengths[search[beside]] - 1)[:, None]
            start = np.concatenate([each, beside])
            falling = (tried[:, 0] <= tried[:, 1]) & (tried[:, 1] <= tried[:, 2])
            start, tried = start[falling], tried[falling]
            number = search[start]
            for threshold in tried.T:
                number = number * most + threshold
            _, once, again = np.unique(number, return_index=True, return_inverse=True)
            shown = predicted(search[start[once]], tried[once])[again]
            best = _first_best(shown, start, len(each))
            found, values = tried[best], shown[best]
    return [(float(values[top]), found[top]) for top in _first_best(values, search, len(starts))]


def _first_best(values: Floats, group: Integers, groups: int) -> Integers:
    """Where the largest value of each group is, the first of them if there are several."""
    order = np.argsort(group, kind="stable")
    values, group = values[order], group[order]
    begin = np.searchsorted(group, np.arange(groups))
    hits = np.flatnonzero(values == np.maximum.reduceat(values, begin)[group])
    return np.asarray(order[hits[np.searchsorted(group[hits], np.arange(groups))]])
