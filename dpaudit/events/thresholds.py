"""Which thresholds of an order of cells are tried, and what would their events catch? For many orders at once.

Three thresholds give an event that points to both sides: the cells down to the first of them point to side 0, and the
cells between the second and the third to side 1. Its *band* says where the third is: 0 behind all cells; 1 anywhere, so
that an event of few runs is cut out of an order; −1 anywhere, with the sides exchanged.

A call of NumPy takes longer than its work on few numbers, so the orders of all families stand in one row here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.events.likelihood_order import LikelihoodOrder

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
