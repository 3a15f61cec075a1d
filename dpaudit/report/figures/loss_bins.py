"""How well does each output distinguish the two sides?

For a cell of outputs with probability p under side 0 and q under side 1, the privacy loss is ln(p/q) (Dwork
& Rothblum 2016, Concentrated differential privacy, section 2). Here p and q are the frequencies of a cell in the
measuring runs, over cells that were fixed on the learning runs. These are estimates that explain a verdict; they never
decide one.

If a mechanism states the law of its outputs, the same cells also have exact probabilities, and so exact losses.

Single outputs (categories, values that occur repeatedly) keep their own place on the axis of the loss: they are atoms.
Only continuous outputs are sorted into bins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Cell, Histogram

CONFIDENCE = 0.95
_MOST_ATOMS = 30  # drawn without overlap
_ONE_LOSS, _MANY = 0.02, 5  # at least 5 exact losses within 0.02 of a bin's width count as one atom
_ROUNDED = 1e-10  # the rounding of a stated law's probabilities
LEAST = 10  # a cell seen on one side only counts as an infinite loss from this many runs on; chosen, not tuned


def frequency_interval(count: ArrayLike, runs: ArrayLike, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Return the two ends of the exact interval of a probability (Clopper & Pearson 1934)."""
    k, n = np.broadcast_arrays(np.asarray(count, dtype=np.float64), np.asarray(runs, dtype=np.float64))
    tail = (1 - confidence) / 2
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - np.maximum(k, 1) + 1 + (n == 0), tail), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail), 1.0)
    return low, high


@dataclass(frozen=True, slots=True)
class Losses:
    """The loss of every cell that was seen, each array of shape (cells,).

    Attributes:
        count0, count1: measuring runs of side 0 and side 1 in the cell; runs: the total of each side.
        loss: ln(p/q) of the frequencies; ±inf if one side never occurred there.
        low, high: an interval of the loss, from exact intervals of p and q.
        infinite: seen on one side only, at least `LEAST` times; rare: seen on one side only, less often.
        single: cells that are single outputs, not intervals of an axis.
        exact: (2, cells) the probabilities that the mechanism states, or None.
    """

    runs: tuple[int, int]
    count0: Floats
    count1: Floats
    loss: Floats
    low: Floats
    high: Floats
    infinite: np.ndarray[Any, np.dtype[np.bool_]]
    rare: np.ndarray[Any, np.dtype[np.bool_]]
    single: np.ndarray[Any, np.dtype[np.bool_]]
    exact: Floats | None = None

    @property
    def finite(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Cells that were seen on both sides."""
        return np.isfinite(self.loss)

    def mass(self, side: int, cells: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
        """Return the frequency of a set of cells under a side."""
        counts = self.count0 if side == 0 else self.count1
        return float(counts[cells].sum() / self.runs[side])


def cell_losses(histogram: Histogram | None) -> Losses | None:
    """Return the losses of the cells of a histogram, or None if no run of one side was counted."""
    if histogram is None or min(histogram.runs) <= 0:
        return None
    seen = [at for at, cell in enumerate(histogram.cells) if cell.count0 or cell.count1]
    if not seen:
        return None
    cells = [histogram.cells[at] for at in seen]
    exact = None if histogram.exact is None else np.asarray(histogram.exact, dtype=np.float64)[:, seen]
    count0 = np.array([cell.count0 for cell in cells], dtype=np.float64)
    count1 = np.array([cell.count1 for cell in cells], dtype=np.float64)
    n0, n1 = histogram.runs
    # both intervals hold simultaneously with the stated confidence
    each = 1 - (1 - CONFIDENCE) / 2
    p_low, p_high = frequency_interval(count0, n0, each)
    q_low, q_high = frequency_interval(count1, n1, each)
    with np.errstate(divide="ignore"):
        loss = np.log(count0 / n0) - np.log(count1 / n1)
        low, high = np.log(p_low) - np.log(q_high), np.log(p_high) - np.log(q_low)
    alone = ~np.isfinite(loss)
    often = np.maximum(count0, count1) >= LEAST
    single = np.array([_is_single(cell) for cell in cells])
    return Losses((n0, n1), count0, count1, loss, low, high, alone & often, alone & ~often, single, exact)


def _is_single(cell: Cell) -> bool:
    """Whether a cell is a single output (a category, or one double); False for the cell of all other outputs."""
    if cell.label == "any other output":
        return False
    if cell.low is None or cell.high is None:
        return cell.low is None and cell.high is None
    return cell.high == math.nextafter(cell.low, math.inf)


@dataclass(frozen=True, slots=True)
class Bins:
    """The loss histogram: the frequency and its exact interval for each bin and side.

    ``edges`` has shape (bins + 1,); ``mass``, ``low`` and ``high`` have shape (2, bins), a row for each side.
    ``minus`` and ``plus`` are (mass, low, high) of the cells in which only side 1, or only side 0, occurred.
    ``atoms`` are not in the bins. ``stated`` is the same for the law that the mechanism states, or None.
    """

    edges: Floats
    mass: Floats
    low: Floats
    high: Floats
    minus: tuple[float, float, float]
    plus: tuple[float, float, float]
    atoms: tuple[Atom, ...] = ()
    stated: Stated | None = None


@dataclass(frozen=True, slots=True)
class Stated:
    """The exact law of the loss: ``mass`` (2, bins) of the bins, and (loss, mass 0, mass 1) of each atom."""

    mass: Floats
    atoms: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, slots=True)
class Atom:
    """Single outputs with the same loss: the loss with its interval, and (mass, low, high) of each side."""

    loss: float
    spread: tuple[float, float]
    sides: tuple[tuple[float, float, float], tuple[float, float, float]]


def loss_bins(losses: Losses, limit: float | None) -> Bins:
    """Sort the cells into bins of equal width around 0, with ``limit`` (a claimed ε) on an edge if possible."""
    finite = np.concatenate([losses.loss[losses.finite], _exact_losses(losses)[1]])
    reach = float(np.max(np.abs(finite), initial=0.0)) * 1.02
    if limit is not None and 0 < limit <= 5 * max(reach, 1e-12):
        reach = max(reach, 1.2 * limit)
    if reach <= 0:
        reach = limit if limit else 1.0
    width = reach / 20
    if limit is not None and 2 * width <= limit <= reach:
        width = limit / round(limit / width)
    half = int(np.ceil(reach / width))
    edges = np.asarray(width * np.arange(-half, half + 1), dtype=np.float64)
    apart = _apart(losses)
    spread = losses.finite & ~apart
    counts = np.array(
        [np.histogram(losses.loss[spread], edges, weights=side[spread])[0] for side in (losses.count0, losses.count1)]
    )
    runs = np.array(losses.runs)[:, None]
    low, high = frequency_interval(counts, runs)
    mass = np.asarray(counts / runs, dtype=np.float64)
    atoms = _atoms(losses, apart, 0.8 * width)
    return Bins(edges, mass, low, high, _alone(losses, 1), _alone(losses, 0), atoms, _stated(losses, edges))


def _exact_losses(losses: Losses) -> tuple[np.ndarray[Any, np.dtype[np.intp]], Floats]:
    """Return the cells whose loss follows from the stated law, in ascending order of their losses, and the losses."""
    if losses.exact is None:
        return np.empty(0, dtype=np.intp), np.empty(0)
    cells = np.flatnonzero((losses.exact > 0).all(axis=0))  # 0 may be a tiny probability that was rounded
    loss = np.log(losses.exact[0, cells] / losses.exact[1, cells])
    order = np.argsort(loss, kind="stable")
    return cells[order], loss[order]


def _stated(losses: Losses, edges: Floats) -> Stated | None:
    """Sort the stated law into the bins. Single outputs, and many cells with the same loss, are atoms."""
    cells, loss = _exact_losses(losses)
    if losses.exact is None or not len(cells):
        return None
    atoms, spread = [], []
    closest = _ONE_LOSS * float(edges[1] - edges[0])
    for group in np.split(np.arange(len(cells)), np.flatnonzero(np.diff(loss) > closest) + 1):
        own = cells[group]
        if losses.single[own].any() or len(group) >= _MANY:
            p, q = (float(side[own].sum()) for side in losses.exact)
            atoms.append((math.log(p / q), p, q))
        else:
            spread += group.tolist()
    mass = [np.histogram(loss[spread], edges, weights=side[cells[spread]])[0] for side in losses.exact]
    return Stated(np.array(mass), tuple(atoms))


def _apart(losses: Losses) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the single outputs that are drawn separately: the most frequent ones, if there are too many."""
    own = losses.finite & losses.single
    total = np.where(own, losses.count0 + losses.count1, -1.0)
    kept = np.zeros_like(own)
    kept[np.argsort(-total, kind="stable")[:_MOST_ATOMS]] = True
    return own & kept


def _atoms(losses: Losses, apart: np.ndarray[Any, np.dtype[np.bool_]], closest: float) -> tuple[Atom, ...]:
    """Return the atoms in ascending order of their loss; those whose bars would overlap are merged."""
    order = np.flatnonzero(apart)[np.argsort(losses.loss[apart], kind="stable")]
    groups: list[list[int]] = []
    for cell in order.tolist():
        if groups and losses.loss[cell] - losses.loss[groups[-1][0]] < closest:
            groups[-1].append(cell)
        else:
            groups.append([cell])
    return tuple(_atom(losses, group) for group in groups)


def _atom(losses: Losses, cells: list[int]) -> Atom:
    counts = np.array([losses.count0[cells].sum(), losses.count1[cells].sum()])
    runs = np.array(losses.runs)
    low, high = frequency_interval(counts, runs)
    both_low, both_high = frequency_interval(counts, runs, 1 - (1 - CONFIDENCE) / 2)
    share = counts / runs
    with np.errstate(divide="ignore"):
        spread = np.log(both_low[0]) - np.log(both_high[1]), np.log(both_high[0]) - np.log(both_low[1])
    sides = tuple((float(share[side]), float(low[side]), float(high[side])) for side in (0, 1))
    return Atom(float(np.log(share[0] / share[1])), (float(spread[0]), float(spread[1])), (sides[0], sides[1]))


def _alone(losses: Losses, side: int) -> tuple[float, float, float]:
    counts = losses.count0 if side == 0 else losses.count1
    count = float(counts[losses.infinite].sum())
    low, high = frequency_interval(count, losses.runs[side])
    return count / losses.runs[side], float(low), float(high)


@dataclass(frozen=True, slots=True)
class Beyond:
    """What is beyond ±ε, as a pair for the directions (loss above ε under side 0, loss below −ε under side 1)."""

    clear: tuple[float, float]  # the mass of the cells whose whole interval of the loss is beyond
    unclear: tuple[float, float]  # the mass of other cells whose estimated loss is beyond, as happens by chance alone
    # Σ (p − e^ε·q)₊ over the cells, and with the sides swapped; a claim with δ limits this by δ
    excess: tuple[float, float]
    # (mass beyond, excess) by the law that the mechanism states, for each direction; None without one
    stated: tuple[tuple[float, float], tuple[float, float]] | None = None


def beyond(losses: Losses, epsilon: float) -> Beyond:
    """Return the mass beyond ±ε; rare cells in which only one side occurred are unclear."""
    p, q = losses.count0 / losses.runs[0], losses.count1 / losses.runs[1]
    above, below = losses.loss > epsilon, losses.loss < -epsilon
    clear_above, clear_below = losses.low > epsilon, losses.high < -epsilon
    with np.errstate(over="ignore", invalid="ignore"):
        factor = np.exp(epsilon)
        excess0 = float(np.sum(np.maximum(p - np.where(q > 0, factor * q, 0.0), 0.0)))
        excess1 = float(np.sum(np.maximum(q - np.where(p > 0, factor * p, 0.0), 0.0)))
    stated = None
    if losses.exact is not None:
        first, second = losses.exact
        stated = _stated_beyond(first, second, factor), _stated_beyond(second, first, factor)
    return Beyond(
        (losses.mass(0, clear_above), losses.mass(1, clear_below)),
        (losses.mass(0, above & ~clear_above), losses.mass(1, below & ~clear_below)),
        (excess0, excess1),
        stated,
    )


def _stated_beyond(p: Floats, q: Floats, factor: float) -> tuple[float, float]:
    """Return the mass of the cells with p > e^ε·q by more than rounding, and Σ (p − e^ε·q) over them."""
    with np.errstate(over="ignore", invalid="ignore"):
        over = np.where(q > 0, p - factor * q, p)
        above = over > _ROUNDED * (1 + factor)
    return float(p[above].sum()), float(over[above].sum())
