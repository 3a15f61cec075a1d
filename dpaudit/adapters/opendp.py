"""What does a measurement of OpenDP promise? Its map states the loss, its input metric the neighbours.

A `Measurement` holds a domain, a metric on it, a measure of privacy and a map from distances of data to distances of
outputs (Gaboardi, Hay & Vadhan 2020, "A programming framework for OpenDP"). The relation of an audit comes from the
metric, its claim from the map at that distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, Claim, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.program import laws
from dpaudit.targets.mechanism import Mechanism, answers, required, wrapped
from dpaudit.tracing import primitives, recording, values

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
    relation_read, unit = _relation(str(measurement.input_metric), distance)
    if relation_read is None and relation is None:
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
        shown=" ".join(str(measurement).split()),
        release=release,
        claim=claim,
        relation=relation or relation_read or "declared",
        unit=unit,
        pairs=pairs,
    )


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


# --- How are the measurements of OpenDP followed? ---


def _of_opendp(self: Any, arg: Any) -> primitives.Made:
    metric, measure = str(self.input_metric), str(self.output_measure)
    told = f"{metric} {measure} {_stated_by_map(self, 1)}"
    return arg, told, lambda one, other: _opendp_loss(self, one, other, metric, measure)


def _opendp(original: Callable[..., Any]) -> Callable[..., Any]:
    """A measurement of a number or a vector that returns as many numbers adds noise; any other one is a unit."""
    unit = primitives.as_unit(original, "OpenDP's measurement", _of_opendp, site=recording.site)

    def invoke(self: Any, arg: Any) -> Any:
        recorder = recording.active()
        if recorder is None:
            return original(self, arg)
        with recorder.own_work():
            law = _opendp_law(self) if not isinstance(arg, dict) and _is_numeric(arg) else None
            if law is not None:
                given = values.plain(values.array_of(arg))
                returned = original(self, given.tolist() if isinstance(given, np.ndarray) else given)
                drawn = np.asarray(returned, dtype=float) - np.asarray(given, dtype=float)
                if np.shape(returned) == np.shape(given):
                    made = primitives.noted(recorder, *law, values.array_of(arg), drawn, recording.site(), "OpenDP")
                    return made.tolist() if np.ndim(drawn) else made
        return unit(self, arg)

    return invoke


def _is_numeric(arg: Any) -> bool:
    try:
        return np.asarray(values.plain(values.array_of(arg))).dtype.kind in "iuf"
    except (TypeError, ValueError):
        return False


def _opendp_law(measurement: Any) -> tuple[laws.NoiseLaw, float] | None:
    """Return law and scale of the noise that a measurement of numbers adds, from its map of a distance of 1."""
    metric, measure = str(measurement.input_metric), str(measurement.output_measure)
    stated = _stated_by_map(measurement, 1)
    if not isinstance(stated, int | float) or not stated > 0:
        return None
    whole = "f" not in metric.rpartition("(")[2]
    if metric.startswith(("AbsoluteDistance", "L1Distance")) and measure == "MaxDivergence":
        return laws.DISCRETE_LAPLACE if whole else laws.LAPLACE, 1 / stated
    if metric.startswith(("AbsoluteDistance", "L2Distance")) and measure == "ZeroConcentratedDivergence":
        # ρ = 1/(2σ²) at a distance of 1 (Bun & Steinke 2016, Proposition 1.6)
        return laws.DISCRETE_GAUSSIAN if whole else laws.GAUSSIAN, 1 / math.sqrt(2 * stated)
    return None


def _stated_by_map(measurement: Any, d_in: int) -> Any:
    """Return what is lost at a distance, or the name of the exception."""
    for each in (d_in, float(d_in)):
        try:
            stated = measurement.map(each)
            return stated if isinstance(stated, int | float | tuple) else str(stated)
        except Exception:
            continue
    return "refused"


def _opendp_loss(measurement: Any, one: Any, other: Any, metric: str, measure: str) -> primitives.Stated:
    moved = _opendp_distance(one, other, metric)
    if moved is None:
        return primitives.Stated(unknown=f"distances of OpenDP's {metric} are not known here")
    if moved == 0:
        return primitives.Stated()
    if not math.isfinite(moved):
        return primitives.Stated(math.inf, by=moved)
    stated: Any = None
    for d_in in (moved, math.ceil(moved)):
        try:
            stated = measurement.map(int(d_in) if float(d_in).is_integer() and "f" not in metric[-5:] else float(d_in))
            break
        except Exception:
            continue
    else:
        return primitives.Stated(unknown="its map refuses the distance of the inputs")
    if "ZeroConcentrated" in measure:
        return primitives.Stated(rho=float(stated), by=moved)
    if "Approximate" in measure and isinstance(stated, tuple):
        if "ZeroConcentrated" in measure:
            return primitives.Stated(rho=float(stated[0]), delta=float(stated[1]), by=moved)
        return primitives.Stated(float(stated[0]), float(stated[1]), by=moved)
    if measure.startswith("MaxDivergence"):
        return primitives.Stated(float(stated), by=moved)
    return primitives.Stated(unknown=f"a statement in {measure} is not priced")


def _opendp_distance(one: Any, other: Any, metric: str) -> float | None:
    if metric.startswith(("AbsoluteDistance", "L1Distance")):
        return primitives.apart(one, other)
    if metric.startswith("L2Distance"):
        return primitives.apart(one, other, 2)
    if metric.startswith("LInfDistance"):
        return primitives.apart(one, other, math.inf)
    if metric.startswith(("SymmetricDistance", "InsertDeleteDistance", "FrameDistance(SymmetricDistance")):
        return float(primitives.records_apart(one, other))
    if metric.startswith(("ChangeOneDistance", "HammingDistance")):
        return float(primitives.replaced(one, other))
    if metric.startswith("DiscreteDistance"):
        return 0.0 if one == other else 1.0
    return None


def _queryable(original: Callable[..., Any]) -> Callable[..., Any]:
    """What is asked of data that a composition holds was paid for when it was made."""

    def made(self: Any, query: Any) -> primitives.Made:
        return None, "", lambda one, other: primitives.Stated()

    return primitives.as_unit(original, "a query of OpenDP's composition", made, site=recording.site, asked_again=False)


ROWS = (
    primitives.DrawingMethod("opendp.mod", "Measurement", "__call__", followed=_opendp),
    primitives.DrawingMethod("opendp.mod", "Measurement", "invoke", followed=_opendp),
    primitives.DrawingMethod("opendp.mod", "Queryable", "__call__", followed=_queryable),
)  # fmt: skip
"""Its methods."""
