"""How is the privacy loss drawn? Bins for continuous outputs, bars for single outputs, and infinity separately.

For a cell of outputs with probability p under side 0 and q under side 1, the privacy loss is ln(p/q) (Dwork
& Rothblum 2016, Concentrated differential privacy, section 2). Here p and q are the frequencies of a cell in the
measuring runs, over cells that were fixed on the learning runs. These are estimates that explain a verdict; they never
decide one.

If a mechanism states the law of its outputs, the same cells also have exact probabilities, and so exact losses.

Single outputs (categories, values that occur repeatedly) keep their own place on the axis of the loss: they are atoms.
Only continuous outputs are sorted into bins.

Sides are distinguished as in `dpaudit.report.figures.event`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Cell, Histogram
from dpaudit.report.figures.canvas import CLAIM, GRID, INK, MUTED, PROOF, SIDE0, SIDE1, SIDES, canvas, svg
from dpaudit.report.figures.event import NTH, legend_sides
from dpaudit.report.text.phrases import Proved

# --- How well does each output distinguish the two sides? ------------------------------------------------

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
    """The loss of every cell that was seen, each array of shape (cells,)."""

    runs: tuple[int, int]
    # count0, count1: measuring runs of side 0 and side 1 in the cell; runs: the total of each side
    count0: Floats
    count1: Floats
    loss: Floats  # ln(p/q) of the frequencies; ±inf if one side never occurred there
    # low, high: an interval of the loss, from exact intervals of p and q
    low: Floats
    high: Floats
    # seen on one side only, at least `LEAST` times; rare: seen on one side only, less often
    infinite: np.ndarray[Any, np.dtype[np.bool_]]
    rare: np.ndarray[Any, np.dtype[np.bool_]]
    single: np.ndarray[Any, np.dtype[np.bool_]]  # cells that are single outputs, not intervals of an axis
    exact: Floats | None = None  # (2, cells) the probabilities that the mechanism states, or None

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
    stated: StatedLaw | None = None


@dataclass(frozen=True, slots=True)
class StatedLaw:
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


def _stated(losses: Losses, edges: Floats) -> StatedLaw | None:
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
    return StatedLaw(np.array(mass), tuple(atoms))


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


def loss_figure(
    bins: Bins, limit: float | None, limit_text: str, upper: Proved | None = None, *, narrow: bool = False
) -> str:
    """Draw the distribution of the privacy loss under each side on two scales, with the claimed band shaded."""
    with canvas("loss", 6.2, narrow=narrow) as figure:
        plain, powers = figure.subplots(2, 1, sharex=True)
        _linear_scale(plain, bins)
        _logarithmic_scale(powers, bins)
        handles = _draw(plain, bins, limit, limit_text, upper)
        _draw(powers, bins, limit, limit_text, upper)
        _loss_axes(powers, bins, 5 if narrow else 9)
        _name_axes(powers, "points to the", "privacy loss ln(p/q)", narrow=narrow)
        for axes, scale in ((plain, "linear"), (powers, "logarithmic")):
            axes.set_ylabel(f"share of the runs, {scale}")
        figure.legend(handles=handles, loc="outside upper left", ncols=1 if narrow else 3)
        label = "Histogram of the privacy loss on the first and on the second dataset, with intervals" + _lines_label(
            bins, limit, limit_text
        )
        return svg(figure, "loss", label, narrow=narrow)


def loss_glance(bins: Bins, limit: float | None, limit_text: str, upper: Proved | None = None) -> str:
    """Draw the same on half of a page, on one scale, in words for readers who know nothing of sides."""
    with canvas("glance", 3.0, narrow=True) as figure:
        axes = figure.add_subplot()
        scale = _logarithmic_scale if _hides_a_bar(bins, limit) else _linear_scale
        scale(axes, bins)
        handles = _draw(axes, bins, limit, limit_text, upper, glance=True)
        _loss_axes(axes, bins, 5)
        _name_axes(axes, "points to the", "privacy loss", narrow=True)
        axes.set_ylabel("share of outputs" + (", logarithmic" if scale is _logarithmic_scale else ""))
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
        label = "Histogram of the privacy loss on the first and on the second dataset" + _lines_label(
            bins, limit, limit_text
        )
        return svg(figure, "glance", label, narrow=True)


def _lines_label(bins: Bins, limit: float | None, limit_text: str) -> str:
    inside = limit is not None and limit <= float(bins.edges[-1])
    return f" and lines at plus and minus the claimed {limit_text}" if inside else ""


def _draw(
    axes: Axes, bins: Bins, limit: float | None, limit_text: str, upper: Proved | None, *, glance: bool = False
) -> list[Any]:
    """Draw bars, limits and the claimed band on axes with a scale; return the entries of the legend."""
    centres, width = (bins.edges[1:] + bins.edges[:-1]) / 2, float(bins.edges[1] - bins.edges[0])
    reach = float(bins.edges[-1])
    for side in (0, 1):
        _draw_side(axes, side, centres, width, bins.mass[side], bins.low[side], bins.high[side])
    if bins.atoms:
        _draw_atoms(axes, bins.atoms, width)
    if _alone_on_the_axis(bins):
        _draw_alone(axes, reach, width, bins)
    handles = legend_sides() if glance else _loss_handles(bins)
    if bins.stated is not None and not glance:
        handles += _draw_stated(axes, bins.stated, bins.edges)
    if limit is not None and limit <= reach * 1.001:
        axes.axvspan(-limit, limit, facecolor=(CLAIM, 0.08), linewidth=0, zorder=0)
        handles.append(_draw_limits(axes, limit, CLAIM, (0, (1, 1.5)), f"± claimed {limit_text}"))
    if upper is not None and upper.value <= reach * 1.001:
        ink = PROOF if upper.keeps_claim else MUTED
        text = f"± {upper.text}, proved" if glance else f"± {upper.text}, no loss beyond by proof"
        handles.append(_draw_limits(axes, upper.value, ink, "-", text))
    axes.axvline(0, color=GRID, linewidth=0.8, zorder=0)
    return handles


def _alone_on_the_axis(bins: Bins) -> bool:
    """Whether some outputs were seen on one side only."""
    return bins.minus[0] > 0 or bins.plus[0] > 0


def _draw_stated(axes: Axes, stated: StatedLaw, edges: Any) -> list[Any]:
    """Draw the stated law over the bars: a line for each bin, and a marker for each atom."""
    low = axes.get_ylim()[0]
    handles = []
    for side, line in ((0, "-"), (1, (0, (2, 1)))):
        mass = np.where(stated.mass[side] > low, stated.mass[side], np.nan)
        axes.hlines(mass, edges[:-1], edges[1:], color=INK, linewidth=1.5, linestyle=line, zorder=3)
        points = [(atom[0], atom[1 + side]) for atom in stated.atoms if atom[1 + side] > low]
        style: Any = {"color": INK, "marker": "oD"[side], "markersize": 5, "markerfacecolor": "none"}
        axes.plot([x for x, _ in points], [y for _, y in points], linestyle="", zorder=4, **style)
        marker = style if stated.atoms else {"color": INK}
        spread: Any = line if stated.mass.any() else ""
        handles.append(
            Line2D([], [], linewidth=1.5, linestyle=spread, label=f"stated law, {NTH[side]} dataset", **marker)
        )
    return handles


def _draw_limits(axes: Axes, at: float, ink: str, dashes: Any, label: str) -> Line2D:
    for place in sorted({-at, at}):
        axes.axvline(place, color=ink, linewidth=1.2, linestyle=dashes)
    return Line2D([], [], color=ink, linewidth=1.2, linestyle=dashes, label=label)


def _name_axes(axes: Axes, towards: str, name: str, *, narrow: bool) -> None:
    axes.set_xlabel(name + ("\n" if narrow else ""))
    for at, text, colour in ((0.0, f"◂ {towards} second", SIDE1), (1.0, f"{towards} first ▸", SIDE0)):
        axes.annotate(
            text,
            (at, 0.0),
            xycoords="axes fraction",
            xytext=(0, -40 if narrow else -28),
            textcoords="offset points",
            ha="left" if at == 0 else "right",
            va="center",
            color=colour,
        )


def _loss_handles(bins: Bins) -> list[Any]:
    handles = [
        *legend_sides(),
        Line2D([], [], color=MUTED, marker="|", markersize=8, linestyle="", label="95 % interval of the height"),
    ]
    if bins.atoms:
        name = "95 % interval of the loss"
        handles.append(Line2D([], [], color=INK, marker="|", markersize=5, linewidth=1, label=name))
    return handles


def _draw_atoms(axes: Axes, atoms: Sequence[Atom], width: float) -> None:
    """Draw single outputs: side 0 to the left of their loss, side 1 to the right, and the interval of the loss."""
    loss = np.array([atom.loss for atom in atoms])
    for side in (0, 1):
        mass, low, high = np.array([atom.sides[side] for atom in atoms]).T
        place = loss + (-0.19 if side == 0 else 0.19) * width
        _draw_side(axes, side, place, 0.38 * width, mass, low, high, shift=0.0)
    top = np.array([max(atom.sides[0][2], atom.sides[1][2]) for atom in atoms])
    spread = np.array([[atom.loss - atom.spread[0], atom.spread[1] - atom.loss] for atom in atoms]).T
    axes.errorbar(loss, top, xerr=np.maximum(spread, 0), fmt="none", ecolor=INK, elinewidth=1, capsize=2.2)


def _draw_side(
    axes: Axes, side: int, at: Any, width: float, mass: Any, low: Any, high: Any, *, shift: float = 0.16
) -> None:
    seen = mass > 0
    if not seen.any():
        return
    at, mass, low, high = at[seen], mass[seen], low[seen], high[seen]
    colour = SIDES[side]
    bottom = axes.get_ylim()[0]
    # one path for all bars: a hatch pattern for each would make a printed page ten times as large
    bars = Path.make_compound_path(
        *(_bar(x - 0.47 * width, x + 0.47 * width, bottom, top) for x, top in zip(at, mass, strict=True))
    )
    axes.add_patch(
        PathPatch(
            bars,
            facecolor=(colour, 0.22) if side == 0 else "none",
            edgecolor=colour,
            hatch=None if side == 0 else "////",
            linestyle="-" if side == 0 else "--",
            linewidth=0.9,
        )
    )
    axes.errorbar(
        at + (-shift if side == 0 else shift) * width,
        mass,
        yerr=[np.maximum(mass - low, 0), np.maximum(high - mass, 0)],
        fmt="o" if side == 0 else "s",
        color=colour,
        markersize=2.6,
        elinewidth=1.1,
    )


def _bar(left: float, right: float, bottom: float, top: float) -> Path:
    corners = [(left, bottom), (left, top), (right, top), (right, bottom), (left, bottom)]
    return Path(corners, [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY])


def _draw_alone(axes: Axes, reach: float, width: float, bins: Bins) -> None:
    for side, sign, (mass, low, high) in ((0, 1, bins.plus), (1, -1, bins.minus)):
        place = np.array([sign * (reach + 2.6 * width)])
        _draw_side(axes, side, place, 1.6 * width, np.array([mass]), np.array([low]), np.array([high]))
        axes.axvline(sign * (reach + 1.0 * width), color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)))


def _loss_axes(axes: Axes, bins: Bins, most: int) -> None:
    """Set the range and the ticks of the axis of the loss; what only one side reached is at its ends."""
    reach, width, alone = float(bins.edges[-1]), float(bins.edges[1] - bins.edges[0]), _alone_on_the_axis(bins)
    edge = reach + (4.2 * width if alone else 0.5 * width)
    axes.set_xlim(-edge, edge)
    ticks = [
        tick for tick in MaxNLocator(most, symmetric=True).tick_values(-reach, reach) if abs(tick) <= reach * 1.0001
    ]
    names = [f"{tick:g}".replace("-", "−") if abs(tick) > 1e-12 else "0" for tick in ticks]
    if alone:
        kept = [at for at, tick in enumerate(ticks) if abs(tick) <= 0.85 * reach]
        ticks, names = [ticks[at] for at in kept], [names[at] for at in kept]
        place = reach + 2.6 * width
        ticks, names = [-place, *ticks, place], ["−∞", *names, "+∞"]
    axes.set_xticks(ticks, names)


@dataclass(frozen=True, slots=True)
class _Heights:
    """What the scale of the shares has to show: the lowest and highest bar, the ends of their intervals, the law."""

    least: float
    most: float
    low: float
    high: float


def _heights(bins: Bins) -> _Heights:
    atoms = np.array([atom.sides for atom in bins.atoms], dtype=np.float64).reshape(-1, 3)
    every = np.concatenate([bins.mass.ravel(), [bins.minus[0], bins.plus[0]], atoms[:, 0]])
    lows = np.concatenate([bins.low.ravel(), [bins.minus[1], bins.plus[1]], atoms[:, 1]])
    highs = np.concatenate([bins.high.ravel(), [bins.minus[2], bins.plus[2]], atoms[:, 2]])
    stated = 0.0
    if bins.stated is not None:
        stated = max(float(bins.stated.mass.max()), 0.0, *(mass for atom in bins.stated.atoms for mass in atom[1:]))
    seen = every > 0
    if not seen.any():
        return _Heights(1.0, 1.0, 1.0, max(1.0, stated))
    most = float(every[seen].max())
    return _Heights(float(every[seen].min()), most, float(lows[seen].min()), max(float(highs[seen].max()), stated))


def _hides_a_bar(bins: Bins, limit: float | None) -> bool:
    """Whether a linear scale would hide all that is beyond the claim, or some bar where nothing is claimed."""
    heights = _heights(bins)
    if limit is None:
        return heights.least < 0.004 * heights.most
    outside = (bins.edges[:-1] >= limit * 0.999) | (bins.edges[1:] <= -limit * 0.999)
    atoms = [side[0] for atom in bins.atoms if abs(atom.loss) > limit for side in atom.sides]
    beyond = max([float(bins.mass[:, outside].max(initial=0.0)), bins.minus[0], bins.plus[0], *atoms])
    return 0 < beyond < 0.02 * heights.most


def _linear_scale(axes: Axes, bins: Bins) -> None:
    axes.set_ylim(0.0, 1.06 * _heights(bins).high)
    _show_percent(axes)


def _logarithmic_scale(axes: Axes, bins: Bins) -> None:
    """Set a logarithmic scale; bars begin at its lower end."""
    heights = _heights(bins)
    axes.set_yscale("log")
    axes.yaxis.set_minor_locator(NullLocator())
    floor = max(heights.low / 2, heights.least / 10)
    axes.set_ylim(floor, min(2.0, 3 * max(heights.most, heights.high / 3)))
    _show_percent(axes)


def _show_percent(axes: Axes) -> None:
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:.3g} %"))
    axes.grid(axis="y")
