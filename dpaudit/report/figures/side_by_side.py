"""How do several mechanisms compare? One lane for each: what it loses, from below and above, and its error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.lines import Line2D

from dpaudit.report.figures.canvas import CLAIM, INK, MUTED, PROOF, canvas, svg
from dpaudit.report.text.phrases import shortened

_LETTERS, _NARROW_LETTERS = 26, 16  # of a name; the table beside the drawing has all of it
_FAR = 20.0  # how many times as large the largest error may be until the axis is logarithmic


@dataclass(frozen=True, slots=True)
class Lane:
    """What one mechanism shows, in one unit; NaN where there is no number."""

    name: str
    lower: float
    upper: float
    claim: float
    error: float


def side_by_side_figure(lanes: Sequence[Lane], symbol: str, *, narrow: bool = False) -> str:
    """Draw an interval in each lane, its claim as a stroke, and beside it the error."""
    heights = [len(lanes) - place for place in range(len(lanes))]
    errors = [lane.error for lane in lanes]
    is_known = any(math.isfinite(error) for error in errors)
    with canvas("side by side", 1.5 + 0.34 * len(lanes), narrow=narrow) as figure:
        if is_known:
            axes, beside = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        else:
            axes, beside = figure.add_subplot(), None
        finite = [x for lane in lanes for x in (lane.lower, lane.upper, lane.claim) if math.isfinite(x)]
        edge = 1.08 * max(finite, default=1.0) or 1.0
        for height, lane in zip(heights, lanes, strict=True):
            if not math.isnan(lane.lower):
                low, high = min(lane.lower, edge), lane.upper if math.isfinite(lane.upper) else edge
                style = "-" if math.isfinite(lane.upper) else (0, (1, 2))
                axes.plot([low, high], [height] * 2, color=MUTED, linewidth=1.6, linestyle=style)
                axes.plot([low], [height], color=INK, marker=">", markersize=7)
            if math.isfinite(lane.upper):
                axes.plot([lane.upper], [height], color=PROOF, marker="<", markersize=7)
            if math.isfinite(lane.claim):
                axes.plot([lane.claim] * 2, [height - 0.34, height + 0.34], color=CLAIM, linewidth=1.6)
        axes.set_xlim(0, edge)
        axes.set_ylim(0.4, len(lanes) + 0.6)
        letters = _NARROW_LETTERS if narrow else _LETTERS
        axes.set_yticks(heights, [shortened(lane.name, letters) for lane in lanes])
        axes.set_xlabel(symbol)
        axes.grid(axis="x")
        if beside is not None:
            beside.plot(errors, heights, color=INK, marker="o", linestyle="", markersize=5)
            positive = [error for error in errors if math.isfinite(error) and error > 0]
            if positive and max(positive) > _FAR * min(positive):
                beside.set_xscale("log")
            else:
                beside.set_xlim(left=0)
            beside.set_xlabel("error (RMSE)")
            beside.tick_params(axis="y", length=0)
            beside.grid(axis="x")
        handles = [
            Line2D([], [], color=INK, marker=">", linestyle="", label="from below"),
            Line2D([], [], color=PROOF, marker="<", linestyle="", label="from above"),
            Line2D([], [], color=CLAIM, linewidth=1.6, label="claim"),
            Line2D([], [], color=MUTED, linestyle=(0, (1, 2)), label="nothing from above"),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2 if narrow else 4)
        label = f"{symbol} from below and above, claim and error of {len(lanes)} mechanisms; the table has the numbers"
        return svg(figure, "side by side", label, narrow=narrow)
