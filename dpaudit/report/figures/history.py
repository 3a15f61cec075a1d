"""How did bounds and claim of one target move over time? One place for each piece of evidence, in its order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dpaudit.report.figures.canvas import CLAIM, INK, PROOF, canvas, svg


@dataclass(frozen=True, slots=True)
class Place:
    """What one piece of evidence shows: bounds and claim in one unit, NaN where there is none."""

    lower: float
    upper: float
    claim: float
    violated: bool


def history_figure(places: Sequence[Place], symbol: str, *, narrow: bool = False) -> str:
    """Draw lower and upper bounds as points, and the claim as a line."""
    numbers = range(1, len(places) + 1)
    with canvas("history", 3.4, narrow=narrow) as figure:
        axes = figure.add_subplot()
        claims = [place.claim for place in places]
        axes.step(numbers, claims, where="mid", color=CLAIM, linewidth=1.4, linestyle=(0, (4, 2)))
        if len(places) == 1:
            axes.plot(numbers, claims, color=CLAIM, marker="D", linestyle="")
        for values, marker, ink in (
            ([place.lower for place in places], "^", INK),
            ([place.upper for place in places], "v", PROOF),
        ):
            shown = [value if math.isfinite(value) else math.nan for value in values]
            axes.plot(numbers, shown, color=ink, marker=marker, linewidth=0.8, markersize=6)
        broken = [(number, place.lower) for number, place in zip(numbers, places, strict=True) if place.violated]
        style: Any = {"marker": "x", "color": INK, "linestyle": "", "markersize": 11, "markeredgewidth": 1.6}
        axes.plot([x for x, y in broken if math.isfinite(y)], [y for _, y in broken if math.isfinite(y)], **style)
        axes.set_xlim(0.5, len(places) + 0.5)
        axes.margins(y=0.08)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.set_xlabel("evidence, from the oldest to the newest")
        axes.set_ylabel(symbol)
        axes.grid(axis="y")
        handles = [
            Line2D([], [], color=INK, marker="^", label="lower bound"),
            Line2D([], [], color=PROOF, marker="v", label="upper bound"),
            Line2D([], [], color=CLAIM, linestyle=(0, (4, 2)), label="claim"),
            Line2D([], [], label="violated", **style),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2 if narrow else 4)
        label = f"Lower bounds, upper bounds and claims of {symbol} over {len(places)} pieces of evidence"
        return svg(figure, "history", label, narrow=narrow)
