"""What does the certified privacy curve look like? δ at every ε, from below and from above, with the claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from dpaudit.evidence.further_records import AccountingCurve
from dpaudit.privacy import Claim
from dpaudit.privacy.claims import number_text
from dpaudit.report.figures.canvas import CLAIM, INK, canvas, svg

_LEAST = 1e-300


def accounting_figure(curve: AccountingCurve, claims: Sequence[Claim]) -> str:
    """Draw δ against ε on a logarithmic axis."""
    epsilon, low, high = (np.array(each, dtype=np.float64) for each in (curve.epsilons, curve.lows, curve.highs))
    seen = high > _LEAST
    points = [(claim.value, claim.delta) for claim in claims if claim.is_point and claim.delta > _LEAST]
    floor = min([float(high[seen].min()), *(delta for _, delta in points)]) / 3
    with canvas("accounting", 3.0, narrow=True) as figure:
        axes = figure.add_subplot()
        axes.fill_between(epsilon, np.maximum(low, floor), np.maximum(high, floor), facecolor=(INK, 0.2), linewidth=0)
        for values, style in ((low, "-"), (high, (0, (4, 2)))):
            axes.plot(epsilon, np.where(values > floor, values, np.nan), color=INK, linewidth=1.2, linestyle=style)
        handles: list[Any] = [
            Line2D([], [], color=INK, linewidth=1.2, linestyle=(0, (4, 2)), label="certified from above"),
            Line2D([], [], color=INK, linewidth=1.2, label="certified from below"),
            Patch(facecolor=(INK, 0.2), label="between them"),
        ]
        for at, delta in points:
            axes.plot(at, delta, "D", color=CLAIM, markersize=6, clip_on=False)
        if points:
            handles.append(Line2D([], [], color=CLAIM, marker="D", linestyle="", label="claimed"))
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: number_text(float(f"{y:.3g}"))))
        axes.set_ylim(floor, min(1.0, 3 * float(high.max())))
        axes.set_xlim(0, max([float(epsilon[-1]), *(1.05 * at for at, _ in points)]))
        axes.set_xlabel("ε")
        axes.set_ylabel("δ")
        axes.grid(axis="y")
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
        claimed = "".join(f", and the claim {claim}" for claim in claims[:3])
        return svg(figure, "accounting", f"δ against ε, certified from below and from above{claimed}", narrow=True)
