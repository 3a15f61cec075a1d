"""Which methods of which libraries are units, or draw noise that is followed? One row each.

A row is looked up only where its library was imported by somebody else. Parameters are read when the method is called;
where they depend on the data, so does the noise.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.tracing.array_functions import array_of
from dpaudit.tracing.laws import DISCRETE_GAUSSIAN, DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, NoiseLaw
from dpaudit.tracing.primitives import choose_one, noted
from dpaudit.tracing.recording import active, site
from dpaudit.tracing.units import Stated, apart, as_unit, records_apart, replaced
from dpaudit.tracing.values import plain

Made = tuple[Any, str, Callable[[Any, Any], Stated]]


@dataclass(frozen=True, slots=True)
class Row:
    """One method.

    Attributes:
        module, owner, method: where it is; with ``below`` also that of all subclasses which have their own.
        made: takes the arguments of a call and returns input, settings and loss, as `units.as_unit` has it.
        followed: makes the followed version of the method, where it is no unit.
    """

    module: str
    owner: str
    method: str
    made: Callable[..., Made | None] | None = None
    followed: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    below: bool = False


# --- diffprivlib --------------------------------------------------------------------------------------------------


def _parameters(self: Any) -> str:
    """Return the parameters of an object of diffprivlib, which are what its constructor takes."""
    hidden = ("random_state", "_rng", "_probabilities")
    return f"{type(self).__name__} {[(k, repr(v)[:300]) for k, v in sorted(vars(self).items()) if k not in hidden]}"


def _within(self: Any, value: Any) -> Made:
    """A mechanism that adds noise to one number: εd/Δ by group privacy, of what is more than Δ rounded up."""

    def loss(one: Any, other: Any) -> Stated:
        moved = apart(one, other)
        times = moved / self.sensitivity if self.sensitivity else (math.inf if moved else 0.0)
        times = times if type(self).__name__ in _SCALING or times == 0 else max(math.ceil(times - 1e-9), 1.0)
        return _group(self.epsilon, self.delta, times, moved)

    return value, _parameters(self), loss


_SCALING = ("LaplaceTruncated", "LaplaceFolded", "GeometricTruncated", "GeometricFolded", "Geometric")


def _group(epsilon: float, delta: float, times: float, moved: float) -> Stated:
    """Return (kε, k·e^((k−1)ε)·δ) of ``times`` changes, k (Dwork & Roth 2014, Theorem 2.2)."""
    if times == 0:
        return Stated()
    if not math.isfinite(times):
        return Stated(math.inf, by=moved)
    with np.errstate(over="ignore"):
        more = delta * times * float(np.exp(max(times - 1, 0) * epsilon)) if delta else 0.0
    return Stated(epsilon * times, min(more, 1.0), by=moved)


def _of_categories(self: Any, value: Any) -> Made:
    def loss(one: Any, other: Any) -> Stated:
        return Stated() if one == other else Stated(self.epsilon, self.delta, by=1)

    return value, _parameters(self), loss


def _of_matrices(self: Any, value: Any) -> Made:
    def loss(one: Any, other: Any) -> Stated:
        unlike = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
        moved = float(np.abs(np.linalg.eigvalsh(unlike)).sum()) if np.all(np.isfinite(unlike)) else math.inf
        return (
            _group(self.epsilon, self.delta, math.ceil(moved / self.sensitivity - 1e-9), moved) if moved else Stated()
        )

    return value, _parameters(self), loss


def _of_functions(self: Any, value: Any) -> Made:
    return (
        None,
        _parameters(self),
        lambda one, other: Stated(unknown="what a function of the data moves by is not known"),
    )


def _permuting(self: Any, value: Any = None) -> Made:
    utility, settings = list(self.utility), [self.epsilon, self.sensitivity, self.monotonic]
    return utility, str(settings), lambda one, other: _of_utilities(self, one, other)


def _of_utilities(self: Any, one: Any, other: Any) -> Stated:
    if len(one) != len(other):
        return Stated(unknown="how many there are to choose from depends on the data")
    moved = apart(one, other, math.inf)
    return _group(self.epsilon, 0.0, moved / self.sensitivity if self.sensitivity else math.inf, moved)


def _exponential(original: Callable[..., Any]) -> Callable[..., Any]:
    """The exponential mechanism is a choice, whose chances it holds."""

    def randomise(self: Any, value: Any = None) -> Any:
        recorder = active()
        if recorder is None or type(self).__name__ != "Exponential":
            return original(self, value)
        with recorder.own_work():
            chances = np.diff([0.0, *self._probabilities]).tolist()
            options = list(self.candidates or range(len(chances)))
            drawn = original(self, value)
            place = next(place for place, each in enumerate(options) if each is drawn or each == drawn)
            return choose_one(recorder, "diffprivlib Exponential", options, chances, place)

    return randomise


def _added(law: NoiseLaw, scale: Callable[[Any], float], kinds: tuple[str, ...], whole: bool = False) -> Any:
    """Return what follows a method ``randomise(self, value)`` that adds noise of a known law to its value."""

    def followed(original: Callable[..., Any]) -> Callable[..., Any]:
        def randomise(self: Any, value: Any) -> Any:
            recorder = active()
            if recorder is None or type(self).__name__ not in kinds:
                return original(self, value)
            where = site()
            with recorder.own_work():
                self._check_all(0 if whole else float(value))
                drawn = float(original(self, 0))
                return noted(
                    recorder, law, scale(self), array_of(value), drawn, where, f"diffprivlib {type(self).__name__}"
                )

        return randomise

    return followed


def _laplace_scale(self: Any) -> float:
    return float(self.sensitivity / (self.epsilon - math.log1p(-self.delta)))


# --- OpenDP -------------------------------------------------------------------------------------------------------


def _of_opendp(self: Any, arg: Any) -> Made:
    metric, measure = str(self.input_metric), str(self.output_measure)
    told = f"{metric} {measure} {_mapped(self, 1)}"
    return arg, told, lambda one, other: _opendp_loss(self, one, other, metric, measure)


def _opendp(original: Callable[..., Any]) -> Callable[..., Any]:
    """A measurement of a number or a vector that returns as many numbers adds noise; any other one is a unit."""
    unit = as_unit(original, "OpenDP's measurement", _of_opendp, site=site)

    def invoke(self: Any, arg: Any) -> Any:
        recorder = active()
        if recorder is None:
            return original(self, arg)
        with recorder.own_work():
            law = _opendp_law(self) if not isinstance(arg, dict) and _is_numeric(arg) else None
            if law is not None:
                given = plain(array_of(arg))
                returned = original(self, given.tolist() if isinstance(given, np.ndarray) else given)
                drawn = np.asarray(returned, dtype=float) - np.asarray(given, dtype=float)
                if np.shape(returned) == np.shape(given):
                    found = noted(recorder, *law, array_of(arg), drawn, site(), "OpenDP")
                    return found.tolist() if np.ndim(drawn) else found
        return unit(self, arg)

    return invoke


def _is_numeric(arg: Any) -> bool:
    try:
        return np.asarray(plain(array_of(arg))).dtype.kind in "iuf"
    except (TypeError, ValueError):
        return False


def _opendp_law(measurement: Any) -> tuple[NoiseLaw, float] | None:
    """Return law and scale of the noise that a measurement of numbers adds, from its map of a distance of 1."""
    metric, measure = str(measurement.input_metric), str(measurement.output_measure)
    stated = _mapped(measurement, 1)
    if not isinstance(stated, int | float) or not stated > 0:
        return None
    whole = "f" not in metric.rpartition("(")[2]
    if metric.startswith(("AbsoluteDistance", "L1Distance")) and measure == "MaxDivergence":
        return DISCRETE_LAPLACE if whole else LAPLACE, 1 / stated
    if metric.startswith(("AbsoluteDistance", "L2Distance")) and measure == "ZeroConcentratedDivergence":
        # ρ = 1/(2σ²) at a distance of 1 (Bun & Steinke 2016, Proposition 1.6)
        return DISCRETE_GAUSSIAN if whole else GAUSSIAN, 1 / math.sqrt(2 * stated)
    return None


def _mapped(measurement: Any, d_in: int) -> Any:
    """Return what is lost at a distance, or the name of the exception."""
    for each in (d_in, float(d_in)):
        try:
            found = measurement.map(each)
            return found if isinstance(found, int | float | tuple) else str(found)
        except Exception:
            continue
    return "refused"


def _opendp_loss(measurement: Any, one: Any, other: Any, metric: str, measure: str) -> Stated:
    moved = _opendp_distance(one, other, metric)
    if moved is None:
        return Stated(unknown=f"distances of OpenDP's {metric} are not known here")
    if moved == 0:
        return Stated()
    if not math.isfinite(moved):
        return Stated(math.inf, by=moved)
    stated: Any = None
    for d_in in (moved, math.ceil(moved)):
        try:
            stated = measurement.map(int(d_in) if float(d_in).is_integer() and "f" not in metric[-5:] else float(d_in))
            break
        except Exception:
            continue
    else:
        return Stated(unknown="its map refuses the distance of the inputs")
    if "ZeroConcentrated" in measure:
        return Stated(rho=float(stated), by=moved)
    if "Approximate" in measure and isinstance(stated, tuple):
        if "ZeroConcentrated" in measure:
            return Stated(rho=float(stated[0]), delta=float(stated[1]), by=moved)
        return Stated(float(stated[0]), float(stated[1]), by=moved)
    if measure.startswith("MaxDivergence"):
        return Stated(float(stated), by=moved)
    return Stated(unknown=f"a statement in {measure} is not priced")


def _opendp_distance(one: Any, other: Any, metric: str) -> float | None:
    if metric.startswith(("AbsoluteDistance", "L1Distance")):
        return apart(one, other)
    if metric.startswith("L2Distance"):
        return apart(one, other, 2)
    if metric.startswith("LInfDistance"):
        return apart(one, other, math.inf)
    if metric.startswith(("SymmetricDistance", "InsertDeleteDistance", "FrameDistance(SymmetricDistance")):
        return float(records_apart(one, other))
    if metric.startswith(("ChangeOneDistance", "HammingDistance")):
        return float(replaced(one, other))
    if metric.startswith("DiscreteDistance"):
        return 0.0 if one == other else 1.0
    return None


def _of_queryable(self: Any, query: Any) -> Made:
    """What is asked of data that a composition holds was paid for when it was made."""
    return None, "", lambda one, other: Stated()


# --- PyDP and PipelineDP --------------------------------------------------------------------------------------------


def _added_entries(original: Callable[..., Any]) -> Callable[..., Any]:
    def add(self: Any, data: Any) -> Any:
        entries = getattr(self, "_dpaudit_entries", [])
        self._dpaudit_entries = [*entries, *(data if np.ndim(data) else [data])]
        return original(self, data)

    return add


def _of_pydp(self: Any, data: Any) -> Made:
    hidden = ("_dpaudit_entries",)
    told = [
        (key, repr(value)) for key, value in sorted(vars(self).items()) if key not in hidden and "algorithm" not in key
    ]
    epsilon, delta, linf = self.epsilon, self.delta, getattr(self, "linf_sensitivity", 1)
    l0 = getattr(self, "l0_sensitivity", 1)
    bounds = float(l0 if isinstance(l0, int) else 1) * float(linf if isinstance(linf, int) else 1)

    def loss(one: Any, other: Any) -> Stated:
        moved = records_apart(one, other)
        return _group(epsilon, delta if isinstance(delta, float) else 0.0, math.ceil(moved / bounds), moved)

    return list(data), f"{type(self).__name__} {epsilon} {delta} {told}", loss


def _of_pydp_result(self: Any, *_: Any, **__: Any) -> Made:
    return _of_pydp(self, getattr(self, "_dpaudit_entries", []))


def _pydp(law: NoiseLaw, scale: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what follows ``add_noise`` of a mechanism, whose scale is the attribute ``scale``."""

    def followed(original: Callable[..., Any]) -> Callable[..., Any]:
        def add_noise(self: Any, value: Any, *rest: Any) -> Any:
            recorder = active()
            if recorder is None:
                return original(self, plain(value), *rest)
            where = site()
            with recorder.own_work():
                given = float(plain(value))
                drawn = float(original(self, given, *rest)) - given
                name = f"PyDP {type(self).__name__}"
                return noted(recorder, law, float(getattr(self, scale)), value, drawn, where, name)

        return add_noise

    return followed


def _of_partitions(self: Any, count: Any) -> Made:
    def loss(one: Any, other: Any) -> Stated:
        return _group(self.epsilon, self.delta, apart(one, other), apart(one, other))

    return count, f"{type(self).__name__} {self.epsilon} {self.delta} {self.max_partitions_contributed}", loss


# --- Tumult Core ----------------------------------------------------------------------------------------------------


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

    return data, repr(self)[:2000], loss


def _number(exact: Any) -> float:
    return float(exact.to_float(round_up=True)) if hasattr(exact, "to_float") else float(exact)


# --- Opacus ---------------------------------------------------------------------------------------------------------


def _stepping(original: Callable[..., Any]) -> Callable[..., Any]:
    """The noise of a step is Gaussian, of scale σC, on the sum of all clipped gradients."""

    def add_noise(self: Any) -> Any:
        recorder = active()
        if recorder is None:
            return original(self)
        where = site()
        with recorder.own_work():
            import torch  # type: ignore[import-not-found, unused-ignore]

            clipped = np.concatenate([p.summed_grad.detach().cpu().numpy().reshape(-1) for p in self.params])
            scale = float(self.noise_multiplier * self.max_grad_norm)
            original(self)
            noisy = np.concatenate([p.grad.detach().cpu().numpy().reshape(-1) for p in self.params])
            loss = lambda one, other: Stated(mu=apart(one, other, 2) / scale, by=apart(one, other, 2))  # noqa: E731
            from dpaudit.tracing.units import Unit

            noisy = recorder.unit("Opacus' step", noisy, where, Unit(clipped, f"scale {scale}", loss))
            start = 0
            for p in self.params:
                size = p.grad.numel()
                p.grad = torch.as_tensor(noisy[start : start + size], dtype=p.grad.dtype).view_as(p)
                start += size
        return None

    return add_noise


_DIFFPRIVLIB = "diffprivlib.mechanisms"
_ALGORITHM = "pydp.algorithms._algorithm"
ROWS = (
    Row(f"{_DIFFPRIVLIB}.laplace", "Laplace", "randomise", followed=_added(LAPLACE, _laplace_scale, ("Laplace",))),
    Row(f"{_DIFFPRIVLIB}.gaussian", "Gaussian", "randomise",
        followed=_added(GAUSSIAN, lambda self: float(self._scale), ("Gaussian", "GaussianAnalytic"))),
    Row(f"{_DIFFPRIVLIB}.geometric", "Geometric", "randomise",
        followed=_added(DISCRETE_LAPLACE, lambda self: self.sensitivity / self.epsilon, ("Geometric",), True)),
    *(Row(f"{_DIFFPRIVLIB}.{module}", owner, "randomise", made) for module, owner, made in (
        ("laplace", "LaplaceTruncated", _within), ("laplace", "LaplaceFolded", _within),
        ("laplace", "LaplaceBoundedDomain", _within), ("laplace", "LaplaceBoundedNoise", _within),
        ("geometric", "GeometricTruncated", _within), ("geometric", "GeometricFolded", _within),
        ("gaussian", "GaussianDiscrete", _within), ("snapping", "Snapping", _within),
        ("staircase", "Staircase", _within), ("uniform", "Uniform", _within),
        ("binary", "Binary", _of_categories), ("exponential", "ExponentialCategorical", _of_categories),
        ("bingham", "Bingham", _of_matrices), ("wishart", "Wishart", _of_matrices), ("vector", "Vector", _of_functions),
        ("exponential", "PermuteAndFlip", _permuting))),
    Row(f"{_DIFFPRIVLIB}.exponential", "Exponential", "randomise", followed=_exponential),
    Row("opendp.mod", "Measurement", "__call__", followed=_opendp),
    Row("opendp.mod", "Measurement", "invoke", followed=_opendp),
    Row("opendp.mod", "Queryable", "__call__", _of_queryable),
    Row(_ALGORITHM, "MetaAlgorithm", "quick_result", _of_pydp),
    Row(_ALGORITHM, "MetaAlgorithm", "result", _of_pydp_result),
    Row(_ALGORITHM, "MetaAlgorithm", "add_entries", followed=_added_entries),
    Row(_ALGORITHM, "MetaAlgorithm", "add_entry", followed=_added_entries),
    Row("pydp._pydp._mechanisms", "LaplaceMechanism", "add_noise", followed=_pydp(LAPLACE, "diversity")),
    Row("pydp._pydp._mechanisms", "GaussianMechanism", "add_noise", followed=_pydp(GAUSSIAN, "std")),
    Row("pydp.algorithms.partition_selection", "PartitionSelectionStrategy", "should_keep", _of_partitions),
    Row("tmlt.core.measurements.base", "Measurement", "__call__", _of_tumult, below=True),
    Row("opacus.optimizers.optimizer", "DPOptimizer", "add_noise", followed=_stepping),
)  # fmt: skip
"""All methods that are followed."""
_LIBRARIES = tuple(dict.fromkeys(row.module for row in ROWS))


def present() -> tuple[str, ...]:
    """Return the modules of libraries that were imported."""
    return tuple(name for name in _LIBRARIES if name in sys.modules)


def replacements(made: dict[tuple[int, str], Any]) -> Iterator[tuple[Any, str, Any]]:
    """Yield owner, name and followed version of every method that is there.

    Args:
        made: what was made before, which is used again.
    """
    for row in ROWS:
        owner = getattr(sys.modules.get(row.module), row.owner, None)
        if owner is None:
            continue
        for each in (owner, *(_below(owner) if row.below else ())):
            if row.method not in vars(each):
                continue
            key = (id(each), row.method)
            if key not in made:
                original = vars(each)[row.method]
                name = f"{row.module.partition('.')[0]} {each.__name__}"
                followed = row.followed(original) if row.followed else None
                made[key] = followed or as_unit(original, name, row.made, site=site)  # type: ignore[arg-type]
            yield each, row.method, made[key]


def _below(owner: type) -> Iterator[type]:
    subclasses: list[type] = owner.__subclasses__()
    for each in subclasses:
        yield each
        yield from _below(each)
