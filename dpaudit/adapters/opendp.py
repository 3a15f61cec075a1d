"""What does a measurement of OpenDP promise? Its map states the loss, its input metric the neighbours.

A `Measurement` holds a domain, a metric on it, a measure of privacy and a map from distances of data to distances of
outputs (Gaboardi, Hay & Vadhan 2020, "A programming framework for OpenDP"). The relation of an audit comes from the
metric, its claim from the map at that distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.adapters import answers, required, wrapped
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, Claim, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.targets.mechanism import Mechanism

# by the name of a metric: its relation, and the unit that one step stands for
_RECORDS = {
    "SymmetricDistance": "add-remove",
    "InsertDeleteDistance": "add-remove",
    "ChangeOneDistance": "replace",
    "HammingDistance": "replace",
    "DiscreteDistance": "replace",
}
_NORMS = {"L1Distance": "queries(norm=1)", "L2Distance": "queries(norm=2)"}


def mechanism_of(
    measurement: Any,
    *,
    d_in: Any = None,
    delta: float | None = None,
    order: float | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | None = None,
    name: str | None = None,
) -> Mechanism:
    """Return the mechanism of a `Measurement`."""
    _, release = required("opendp")
    distance = 1 if d_in is None else d_in
    found, unit = _relation(str(measurement.input_metric), distance)
    if found is None and relation is None:
        raise UsageError(
            f"the metric {measurement.input_metric} has no relation here at the distance {distance!r}; "
            "give pairs and say relation='declared'"
        )
    claim = _claim(str(measurement.output_measure), _mapped(measurement, distance), delta, order)

    def invoke(data: Any) -> Any:
        return measurement(data)

    return wrapped(
        "opendp",
        invoke,
        name=name or "measurement",
        shown=_shown(measurement),
        release=release,
        claim=claim,
        relation=relation or found or "declared",
        unit=unit,
        pairs=pairs,
    )


def _shown(measurement: Any) -> str:
    return " ".join(str(measurement).split())


def _mapped(measurement: Any, distance: Any) -> Any:
    """The map at a distance, in the type that it takes: 1 record is 1, a change of 1.0 is 1.0."""
    try:
        return measurement.map(distance)
    except Exception as first:
        if isinstance(distance, int):
            try:
                return measurement.map(float(distance))
            except Exception:
                pass
        why = str(first).strip().splitlines() or [type(first).__name__]
        raise UsageError(
            f"the measurement's map refuses the distance {distance!r} in {measurement.input_metric}: {why[-1]}"
        ) from first


def _relation(metric: str, distance: Any) -> tuple[str | None, str]:
    """The relation of a metric at a distance, and its unit."""
    kind = metric.partition("(")[0]
    if isinstance(distance, tuple):
        return None, f"a distance of {distance!r} in {metric}"
    if kind in _RECORDS and distance == int(distance) >= 1:
        group = "" if distance == 1 else f"(group={int(distance)})"
        return _RECORDS[kind] + group, "one record" if distance == 1 else f"{int(distance)} records"
    if kind == "AbsoluteDistance":
        return answers(distance)
    if kind == "LInfDistance":
        all_answers = "queries(monotone)" if "monotonic" in metric else "queries"
        return all_answers if distance == 1 else "declared", f"a change of every answer by at most {distance:g}"
    if kind in _NORMS:
        return _NORMS[kind] if distance == 1 else "declared", f"a change of the input by {distance:g} in {kind}"
    return None, f"a distance of {distance!r} in {metric}"


def _claim(measure: str, loss: Any, delta: float | None, order: float | None) -> Claim:
    """The claim that a distance between outputs states, in the notion of the measure."""
    if measure == "MaxDivergence":
        return PureDP(_finite(loss))
    if measure == "ZeroConcentratedDivergence":
        return ZeroConcentratedDP(_finite(loss))
    if measure in {"Approximate(MaxDivergence)", "FixedSmoothedMaxDivergence"}:
        return ApproxDP(_finite(loss[0]), loss[1])
    if measure == "SmoothedMaxDivergence":
        at = _asked(delta, "delta", "a privacy profile", "1e-6")
        return ApproxDP(_finite(loss.epsilon(at)), at)
    if measure == "RenyiDivergence":
        at = _asked(order, "order", "a Rényi curve", "2")
        curve: Callable[[float], float] = loss
        return RenyiDP(order=at, epsilon=_finite(curve(at)))
    raise UsageError(
        f"the measure {measure} has no notion here; turn it into (ε, δ) with OpenDP's own combinators, such as "
        "make_zCDP_to_approxDP and make_fix_delta"
    )


def _asked(value: float | None, name: str, of: str, such: str) -> float:
    if value is None:
        raise UsageError(f"the measurement states {of}; say where it is read: {name}={such}")
    return value


def _finite(loss: Any) -> float:
    if not math.isfinite(loss):
        raise UsageError(f"the measurement's map gives {loss}: it promises nothing at this distance")
    return float(loss)
