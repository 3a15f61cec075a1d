"""How are the measurements of Tumult Core followed?"""

from __future__ import annotations

import math
import re
from typing import Any

from dpaudit.tracing.units import Made, Row, Stated


def _of_tumult(self: Any, data: Any) -> Made | None:
    measure, metric = type(self.output_measure).__name__, self.input_metric

    def loss(one: Any, other: Any) -> Stated:
        try:
            moved = metric.distance(one, other, self.input_domain)
            stated = self.privacy_function(moved)
        except Exception as error:
            return Stated(unknown=f"its map says nothing of these inputs ({type(error).__name__})")
        by = float(moved.to_float(round_up=True)) if hasattr(moved, "to_float") else math.nan
        if by == 0:
            return Stated()
        parts = [_number(each) for each in (stated if isinstance(stated, tuple) else (stated,))]
        if measure == "RhoZCDP":
            return Stated(rho=parts[0], by=by)
        return Stated(parts[0], parts[1] if len(parts) > 1 else 0.0, by=by)

    return data, re.sub(r" at 0x[0-9a-f]+", "", repr(self))[:2000], loss


def _number(exact: Any) -> float:
    return float(exact.to_float(round_up=True)) if hasattr(exact, "to_float") else float(exact)


ROWS = (Row("tmlt.core.measurements.base", "Measurement", "__call__", _of_tumult, below=True),)
"""Its methods."""
