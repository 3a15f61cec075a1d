"""How is the privacy loss drawn? Bins for continuous outputs, bars for single outputs, and infinity separately.

Sides are distinguished as in `dpaudit.report.figures.event`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from dpaudit.report.figures.canvas import CLAIM, GRID, INK, MUTED, PROOF, SIDE0, SIDE1, SIDES, canvas, svg
from dpaudit.report.figures.event import NTH, legend_sides
from dpaudit.report.figures.loss_bins import Atom, Bins, Stated
from dpaudit.report.text.bound_kinds import Proved


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
    if _alone(bins):
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


def _alone(bins: Bins) -> bool:
    """Whether some outputs were seen on one side only."""
    return bins.minus[0] > 0 or bins.plus[0] > 0


def _draw_stated(axes: Axes, stated: Stated, edges: Any) -> list[Any]:
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
    reach, width, alone = float(bins.edges[-1]), float(bins.edges[1] - bins.edges[0]), _alone(bins)
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
