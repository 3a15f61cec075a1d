"""How are the mechanisms of diffprivlib followed?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.tracing.laws import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, NoiseLaw
from dpaudit.tracing.operations import array_of
from dpaudit.tracing.primitives import choose_one, noted
from dpaudit.tracing.recording import active, site
from dpaudit.tracing.units import Made, Row, Stated, apart, group_price


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
        return group_price(self.epsilon, self.delta, times, moved)

    return value, _parameters(self), loss


_SCALING = ("LaplaceTruncated", "LaplaceFolded", "GeometricTruncated", "GeometricFolded", "Geometric")


def _of_categories(self: Any, value: Any) -> Made:
    def loss(one: Any, other: Any) -> Stated:
        return Stated() if one == other else Stated(self.epsilon, self.delta, by=1)

    return value, _parameters(self), loss


def _of_matrices(self: Any, value: Any) -> Made:
    def loss(one: Any, other: Any) -> Stated:
        unlike = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
        moved = float(np.abs(np.linalg.eigvalsh(unlike)).sum()) if np.all(np.isfinite(unlike)) else math.inf
        times = math.ceil(moved / self.sensitivity - 1e-9) if math.isfinite(moved) else math.inf
        return group_price(self.epsilon, self.delta, times, moved)

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
    return group_price(self.epsilon, 0.0, moved / self.sensitivity if self.sensitivity else math.inf, moved)


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


_DIFFPRIVLIB = "diffprivlib.mechanisms"
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
)  # fmt: skip
"""Its methods."""
