"""How are bounds and events drawn? The ε line, and the event over both histograms.

Sides are distinguished by colour, line (0 solid, 1 dashed), fill (1 is hatched) and marker (0 is a circle, 1 a square);
side 0 always comes first.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from dpaudit.evidence.event import Box, Coordinate, Event, Rows, Rule
from dpaudit.evidence.records import Cell, Histogram
from dpaudit.privacy.claims import number_text
from dpaudit.report.figures.canvas import CLAIM, INK, MUTED, PANEL, PROOF, SIDE0, SIDE1, SIDES, canvas, svg
from dpaudit.report.text.phrases import shortened

# --- Which cells of the histogram are in the event, and in which order are they shown? -------------------

_PLAIN = {"float", "int", "bool"}
_MOST_BARS = 24  # labels stay readable up to here
_FEW = 40  # an axis with at most this many intervals is drawn as one bar per interval


@dataclass(frozen=True, slots=True)
class EventInterval:
    """An interval [low, high) of the output that speaks for a side; None for an open end."""

    low: float | None
    high: float | None
    side: int


def _scalar_rules(event: Event | None) -> list[Rule]:
    if event is None:
        return []
    return [
        rule
        for rule in event.rules
        if rule.form in _PLAIN and (rule.score is None or (isinstance(rule.score, Coordinate) and rule.edges))
    ]


def regions(event: Event | None) -> list[EventInterval]:
    """Return the intervals of a plain number that speak for a side; adjacent ones are joined."""
    intervals: list[EventInterval] = []
    for rule in _scalar_rules(event)[:1]:
        bounds: list[float | None] = [None, *rule.edges, None]
        for cell, label in enumerate(rule.labels):
            low, high = bounds[cell], bounds[cell + 1] if cell + 1 < len(bounds) else None
            if (
                label
                and intervals
                and intervals[-1].side == (label < 0)
                and intervals[-1].high == low
                and low is not None
            ):
                intervals[-1] = EventInterval(intervals[-1].low, high, intervals[-1].side)
            elif label:
                intervals.append(EventInterval(low, high, int(label < 0)))
    return intervals


def speaks_for(event: Event | None, cell: Cell) -> int | None:
    """Return the side that a category speaks for, or None if it speaks for neither."""
    if event is None:
        return None
    label = 0
    for rule in event.rules:
        if rule.score is None:
            label = label or (rule.labels[0] if rule.form == cell.label else 0)
        elif isinstance(rule.score, Rows):
            label = label or _row_label(rule, rule.score, cell.label)
        elif isinstance(rule.score, Box):
            label = label or _box_label(rule, rule.score, cell.label)
    if not label and (value := _cell_number(cell)) is not None:
        for rule in _scalar_rules(event):
            label = label or rule.labels[bisect_right(rule.edges, value)]
    return None if not label else int(label < 0)


def _row_label(rule: Rule, score: Rows, text: str) -> int:
    for index, row in enumerate(score.rows):
        numbers = " ".join(number_text(x) for x in row)
        if text == (numbers if rule.form in _PLAIN else f"{rule.form} = {numbers}"):
            return rule.labels[index + 1]
    return 0


def _box_label(rule: Rule, box: Box, text: str) -> int:
    """Return the label of a single output, by whether its numbers are within the box; 0 for other cells."""
    head = f"{rule.form} = "
    if not text.startswith(head):
        return 0
    try:
        numbers = [float(number) for number in text[len(head) :].split(" ")]
    except ValueError:
        return 0
    if len(numbers) != len(box.low):
        return 0
    inside = all(
        (low is None or number >= low) and (high is None or number <= high)
        for number, low, high in zip(numbers, box.low, box.high, strict=True)
    )
    return rule.labels[int(inside)]


def _cell_number(cell: Cell) -> float | None:
    if cell.low is not None:
        return cell.low
    if cell.high is not None:
        return math.nextafter(cell.high, -math.inf)
    try:
        return float(cell.label)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class CellBar:
    """One bar for each side, for a category or for one of a few intervals."""

    label: str
    count0: int
    count1: int
    side: int | None


def is_drawn_as_bars(histogram: Histogram) -> bool:
    """Whether cells are drawn as bars: categories, few intervals, or single values among intervals."""
    if histogram.axis == "category":
        return True
    inner = [(cell.low, cell.high) for cell in histogram.cells if cell.low is not None and cell.high is not None]
    if len(inner) <= _FEW:
        return True
    span = max(high for _, high in inner) - min(low for low, _ in inner)
    return not math.isfinite(span) or any(high - low <= 1e-9 * span for low, high in inner)


def interval_text(low: float | None, high: float | None) -> str:
    """Return the text of an interval [low, high) of an output."""
    if low is None:
        return "anything" if high is None else f"below {high:.4g}"
    if high is None:
        return f"{low:.4g} and above"
    return f"{low:.4g}" if high == math.nextafter(low, math.inf) else f"{low:.4g} to below {high:.4g}"


def bars(histogram: Histogram, event: Event | None) -> list[CellBar]:
    """Return at most 25 bars: numbers in ascending order, categories by frequency, and all others as one bar."""
    drawn = []
    for cell in histogram.cells:
        interval = cell.low is not None or cell.high is not None
        label = interval_text(cell.low, cell.high) if interval and histogram.axis == "output" else cell.label
        side = None if histogram.axis == "score" and interval else speaks_for(event, cell)
        drawn.append((CellBar(label, cell.count0, cell.count1, side), _cell_number(cell)))
    ranked = sorted(drawn, key=lambda item: -(item[0].count0 + item[0].count1))
    kept, rest = ranked[:_MOST_BARS], [bar for bar, _ in ranked[_MOST_BARS:]]
    if sum(number is not None for _, number in kept) > len(kept) / 2:
        kept.sort(key=lambda item: (item[1] is None, item[1] or 0.0))
    shown = [bar for bar, _ in kept]
    if rest:
        total0, total1 = sum(bar.count0 for bar in rest), sum(bar.count1 for bar in rest)
        shown.append(CellBar(f"{len(rest)} others together" if len(rest) > 1 else rest[0].label, total0, total1, None))
    return shown


_DASHES = (0, (4, 2))
NTH = ("first", "second")
"""Of the two datasets, in the legends of figures."""


@dataclass(frozen=True, slots=True)
class LineMark:
    """A number on the ε line.

    ``kind`` is "lower" (sampled), "exact", "claim", "upper", "proved", "detectable" or "true". "proved" is an upper
    bound that keeps the claim; only that has the colour of a proof.
    """

    kind: str
    name: str
    value: float
    text: str


def line_figure(marks: Sequence[LineMark], symbol: str, *, narrow: bool = False) -> str:
    """Draw every mark on its own row over one axis, so that nearly equal numbers stay readable."""
    finite = [mark.value for mark in marks if math.isfinite(mark.value) and mark.value > 0]
    top = max(finite, default=1.0) * (1.3 if len(finite) == len(marks) and not narrow else 1.5)
    claim = next((mark.value for mark in marks if mark.kind == "claim"), None)
    with canvas("line", 0.75 + 0.33 * len(marks), narrow=narrow) as figure:
        axes = figure.add_subplot()
        if finite and max(finite) > 60 * min(finite):
            axes.set_xscale("symlog", linthresh=min(finite), linscale=0.6)
            top = min(max(finite) * 4, 1.5e308)
            _power_ticks(axes, min(finite), max(finite))
        axes.set_xlim(0, top)
        axes.set_ylim(len(marks) - 0.4, -0.6)
        if claim is not None and claim <= top:
            axes.axvline(claim, color=CLAIM, linewidth=1, linestyle=_DASHES, zorder=1)
        for row, mark in enumerate(marks):
            _draw_mark(axes, row, mark, top, claim, narrow=narrow)
        axes.set_yticks(range(len(marks)), [mark.name for mark in marks])
        axes.tick_params(axis="y", length=0, pad=9)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(symbol, fontsize=10)
        label = f"The {symbol} line: " + "; ".join(f"{mark.name} {mark.text}" for mark in marks)
        return svg(figure, "line", label, narrow=narrow)


def _power_ticks(axes: Axes, low: float, high: float) -> None:
    """Set ticks at 0 and at a few powers of ten, written plainly."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, math.ceil((last - first) / 4))
    powers = [power for power in range(first, last + 1, step) if power <= 308]
    zero = [0.0] if last - first <= 8 else []  # over many decades it would coincide with the smallest power
    places = [*zero, *(10.0**power for power in powers)]
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.xaxis.set_minor_locator(NullLocator())


_MARKERS = {"lower": ">", "exact": "P", "claim": "D", "upper": "<", "proved": "<", "detectable": "^", "true": "o"}
_INKS = {"claim": CLAIM, "proved": PROOF, "detectable": MUTED, "true": MUTED}  # others have the text colour


def _draw_mark(axes: Axes, row: int, mark: LineMark, top: float, claim: float | None, *, narrow: bool) -> None:
    at = min(max(mark.value, 0.0), top)
    ink = _INKS.get(mark.kind, INK)
    if mark.kind in {"lower", "exact"} and at > 0:
        filled = mark.kind == "lower"  # exact bounds have an outline instead
        axes.barh(
            row,
            at,
            height=0.34 if filled else 0.56,
            facecolor=(ink, 0.22) if filled else "none",
            edgecolor="none" if filled else ink,
            linewidth=1.1,
        )
        axes.plot([at, at], [row - 0.28, row + 0.28], color=ink, linewidth=2)
    if mark.kind in {"upper", "proved"} and at < top:
        axes.barh(
            row, top - at, left=at, height=0.34, facecolor="none", edgecolor=(ink, 0.55), hatch="////", linewidth=0
        )
        axes.plot([at, at], [row - 0.28, row + 0.28], color=ink, linewidth=2)
    hollow = mark.kind in {"detectable", "true"}
    axes.plot(
        at,
        row,
        marker=">" if math.isinf(mark.value) else _MARKERS[mark.kind],
        color=ink,
        markerfacecolor="none" if hollow else ink,
        markersize=6,
        clip_on=False,
    )
    before = _stands_before(axes, mark, at, claim, narrow=narrow)
    upper = mark.kind in {"upper", "proved"}
    ground = {"facecolor": PANEL, "edgecolor": "none", "pad": 1.5} if upper else None  # letters on hatching blur
    axes.annotate(
        mark.text,
        (at, row),
        xytext=(-9 if before else 9, 0),
        textcoords="offset points",
        ha="right" if before else "left",
        va="center",
        color=INK,
        bbox=ground,
    )


_LETTER, _GAP = 0.0115, 0.02  # the width of a letter and a gap, as shares of a wide axis
_NARROWER = 2.2  # the same for a narrow axis are so many times larger


def _stands_before(axes: Axes, mark: LineMark, at: float, claim: float | None, *, narrow: bool) -> bool:
    """Whether the text of a mark goes to its left: if there is room, across no line, and outside bars."""

    def place(value: float) -> float:
        return float(axes.transAxes.inverted().transform(axes.transData.transform((value, 0)))[0])

    scale = _NARROWER if narrow else 1.0
    here, line = place(at), None if claim is None else place(claim)
    length, gap = _LETTER * scale * len(mark.text), _GAP * scale

    def cost(left: float, right: float, in_bar: float) -> float:
        crossed = line is not None and left < line < right
        return 4.0 * (left < 0 or right > 1.02) + 2.0 * crossed + in_bar

    upper = mark.kind in {"upper", "proved"}
    lower = mark.kind in {"lower", "exact"}
    before = cost(here - gap - length, here - gap, 1.0 * lower)
    return before < cost(here + gap, here + gap + length, 3.0 * upper)  # text would hide the hatching


# --- the event over both histograms ----------------------------------------------------------------------


def event_figure(histogram: Histogram, event: Event | None, *, narrow: bool = False) -> str:
    """Draw how often each output occurred on either side, and which outputs are in the event."""
    if is_drawn_as_bars(histogram):
        return _bar_figure(histogram, bars(histogram, event), narrow)
    return _density_figure(histogram, event, narrow)


def legend_sides() -> list[Any]:
    """Return the legend handles of both sides."""
    return [
        Patch(facecolor=(SIDE0, 0.25), edgecolor=SIDE0, label="first dataset"),
        Patch(facecolor="none", edgecolor=SIDE1, hatch="////", linestyle="--", label="second dataset"),
    ]


def _bar_figure(histogram: Histogram, shown: list[CellBar], narrow: bool) -> str:
    rows = np.arange(len(shown))
    runs = [max(count, 1) for count in histogram.runs]
    shares = [
        np.array([bar.count0 for bar in shown]) / runs[0],
        np.array([bar.count1 for bar in shown]) / runs[1],
    ]
    with canvas("event", 0.95 + 0.34 * len(shown), narrow=narrow) as figure:
        axes = figure.add_subplot()
        axes.barh(rows - 0.19, shares[0], 0.34, facecolor=(SIDE0, 0.25), edgecolor=SIDE0, linewidth=1)
        axes.barh(
            rows + 0.19, shares[1], 0.34, facecolor="none", edgecolor=SIDE1, hatch="////", linestyle="--", linewidth=1
        )
        names = [
            shortened(_brief(bar.label) if narrow else bar.label, 18 if narrow else 34)
            + ("" if bar.side is None else f"  ▸ {NTH[bar.side]}")
            for bar in shown
        ]
        axes.set_yticks(rows, names)
        for tick, bar in zip(axes.get_yticklabels(), shown, strict=True):
            if bar.side is not None:
                tick.set_color(SIDES[bar.side])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:.3g} %"))
        axes.grid(axis="x")
        axes.set_xlabel("share of the runs on each dataset")
        figure.legend(handles=legend_sides(), loc="outside upper left", ncols=2)
        label = "Share of the runs on the first and on the second dataset for each output" + (
            "; an arrow names the dataset that the event takes it to point to"
            if any(b.side is not None for b in shown)
            else ""
        )
        return svg(figure, "event", label, narrow=narrow)


def _brief(label: str) -> str:
    """Shorten an interval for a phone."""
    return label.replace(" to below ", " … ").replace(" and above", " …")


def _finite(cells: Sequence[Cell]) -> list[tuple[float, float, int, int]]:
    return sorted(
        (cell.low, cell.high, cell.count0, cell.count1)
        for cell in cells
        if cell.low is not None and cell.high is not None and cell.high > cell.low
    )


def _window(cells: list[tuple[float, float, int, int]]) -> tuple[float, float]:
    """Return the part of the axis to draw: everything, unless the two outermost cells are very wide."""
    low, high = cells[0][0], cells[-1][1]
    inner_low, inner_high = cells[0][1], cells[-1][0]
    room = 0.6 * (inner_high - inner_low)
    return max(low, inner_low - room), min(high, inner_high + room)


def _density_figure(histogram: Histogram, event: Event | None, narrow: bool) -> str:
    cells = _finite(histogram.cells)
    edges = np.array([cell[0] for cell in cells] + [cells[-1][1]])
    widths = np.array([high - low for low, high, _, _ in cells])
    left, right = _window(cells)
    with canvas("event", 3.1, narrow=narrow) as figure:
        axes = figure.add_subplot()
        for side, (colour, line) in enumerate(((SIDE0, "-"), (SIDE1, _DASHES))):
            counts = np.array([cell[2 + side] for cell in cells])
            density = counts / max(histogram.runs[side], 1) / widths
            axes.stairs(
                density,
                edges,
                fill=True,
                facecolor=(colour, 0.18) if side == 0 else "none",
                edgecolor=colour,
                hatch=None if side == 0 else "////",
                linewidth=0,
                alpha=None if side == 0 else 0.45,
            )
            axes.stairs(density, edges, color=colour, linewidth=1.5, linestyle=line)
        axes.set_xlim(left, right)
        if narrow:
            axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set_ylim(bottom=0)
        axes.set_yticks([])
        axes.set_ylabel("density of the output" if histogram.axis == "output" else "density of the score")
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("output" if histogram.axis == "output" else "score: a number fitted to tell the datasets apart")
        taken = regions(event) if histogram.axis == "output" else []
        for region in taken:
            _draw_region(axes, region.low, region.high, region.side, left, right)
        handles = legend_sides()
        for side in sorted({region.side for region in taken}):
            handles.append(_event_handle(side))
        figure.legend(handles=handles, loc="outside upper left", ncols=2 if narrow else 4)
        label = "Histograms of the outputs on the first and on the second dataset" + (
            f", with the outputs that the event takes: {event.describe(0)} for the first, "
            f"{event.describe(1)} for the second"
            if event is not None and taken
            else ""
        )
        return svg(figure, "event", shortened(label, 400), narrow=narrow)


def _event_handle(side: int) -> Any:
    return Patch(
        facecolor=(SIDES[side], 0.9) if side == 0 else "none",
        edgecolor=SIDES[side],
        hatch=None if side == 0 else "xxxx",
        label=f"event: points to the {NTH[side]}",
    )


def _draw_region(axes: Axes, low: float | None, high: float | None, side: int, left: float, right: float) -> None:
    """Draw a strip above the axis, and a thin line down at each threshold."""
    start, end = left if low is None else max(low, left), right if high is None else min(high, right)
    colour = SIDES[side]
    if end > start:
        axes.fill_between(
            [start, end],
            1.02,
            1.07,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
            facecolor=(colour, 0.9) if side == 0 else "none",
            edgecolor=colour,
            hatch=None if side == 0 else "xxxx",
            linewidth=1,
        )
    elif start >= right:  # the region is outside the drawn part
        _point_outside(axes, 1.0, f"from {start:.4g} on ▸", colour)
    else:
        _point_outside(axes, 0.0, f"◂ below {end:.4g}", colour)
    for edge in (low, high):
        if edge is not None and left < edge < right:
            axes.axvline(edge, color=colour, linewidth=1, linestyle="-" if side == 0 else _DASHES)


def _point_outside(axes: Axes, at: float, text: str, colour: str) -> None:
    side = "left" if at == 0 else "right"
    axes.text(at, 1.02, text, transform=axes.transAxes, ha=side, va="bottom", color=colour)
