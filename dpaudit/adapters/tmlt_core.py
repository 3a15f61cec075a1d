"""What does a measurement of Tumult Core promise? What its privacy function and its input metric state.

A `Measurement` holds an input domain, an input metric, an output measure and a privacy function from distances of data
to distances of outputs, in exact numbers (Berghel et al. 2022, "Tumult Analytics: a robust, easy-to-use, scalable, and
expressive framework for differential privacy"). The value of the privacy function is rounded up to a float.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, Claim, PureDP, ZeroConcentratedDP
from dpaudit.targets.mechanism import Mechanism, answers, required, wrapped
from dpaudit.tracing.primitives import DrawingMethod, Made, Stated

_RECORDS = {"SymmetricDifference": "add-remove", "HammingDistance": "replace"}


def mechanism_of(
    measurement: Any,
    *,
    d_in: int = 1,
    prepare: Callable[[Any], Any] | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | None = None,
    name: str | None = None,
) -> Mechanism:
    """Return the mechanism of a Tumult Core `Measurement`."""
    _, release = required("tmlt_core")
    if not hasattr(measurement, "privacy_function"):
        raise UsageError(f"a {type(measurement).__name__} of Tumult Core is no measurement; it has no privacy function")
    metric = type(measurement.input_metric).__name__
    relation_read, unit = _relation(metric, d_in)
    if relation_read is None and relation is None:
        raise UsageError(
            f"the metric {measurement.input_metric} has no relation here; give pairs and say relation='declared'"
        )
    title = name or type(measurement).__name__
    ready = prepare or _as_numbers

    def invoke(data: Any) -> Any:
        return measurement(ready(data))

    return wrapped(
        "tmlt_core",
        invoke,
        name=title,
        shown=f"{title} on {measurement.input_domain}",
        release=release,
        claim=_claim(type(measurement.output_measure).__name__, measurement.privacy_function(d_in)),
        relation=relation or relation_read or "declared",
        unit=unit,
        pairs=pairs,
        made_of=() if prepare is None else (prepare,),
    )


def _as_numbers(data: Any) -> Any:
    import numpy as np

    if isinstance(data, bool | np.generic):
        return data
    return np.int64(data) if isinstance(data, int) else np.float64(data) if isinstance(data, float) else data


def _relation(metric: str, distance: int) -> tuple[str | None, str]:
    if metric in _RECORDS:
        group = "" if distance == 1 else f"(group={distance})"
        return _RECORDS[metric] + group, "one record" if distance == 1 else f"{distance} records"
    if metric == "AbsoluteDifference":
        return answers(distance)
    return None, f"a distance of {distance} in {metric}"


def _claim(measure: str, loss: Any) -> Claim:
    if measure == "PureDP":
        return PureDP(_rounded_up(loss))
    if measure == "RhoZCDP":
        return ZeroConcentratedDP(_rounded_up(loss))
    if measure == "ApproxDP":
        return ApproxDP(_rounded_up(loss[0]), _rounded_up(loss[1]))
    raise UsageError(f"the measure {measure} has no notion here; known: PureDP, RhoZCDP, ApproxDP")


def _rounded_up(loss: Any) -> float:
    rounded = float(loss.to_float(round_up=True))
    if not math.isfinite(rounded):
        raise UsageError(f"the measurement's privacy function gives {rounded}: it promises nothing at this distance")
    return rounded


# --- How are the measurements of Tumult Core followed? ---


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
        parts = [_as_float(each) for each in (stated if isinstance(stated, tuple) else (stated,))]
        if measure == "RhoZCDP":
            return Stated(rho=parts[0], by=by)
        return Stated(parts[0], parts[1] if len(parts) > 1 else 0.0, by=by)

    return data, re.sub(r" at 0x[0-9a-f]+", "", repr(self))[:2000], loss


def _as_float(exact: Any) -> float:
    return float(exact.to_float(round_up=True)) if hasattr(exact, "to_float") else float(exact)


ROWS = (DrawingMethod("tmlt.core.measurements.base", "Measurement", "__call__", _of_tumult, below=True),)
"""Its methods."""
