"""What does diffprivlib promise? A mechanism holds its ε and δ, and everything else reports to a budget accountant.

`mechanism_of` takes a mechanism (``Laplace(epsilon=1, sensitivity=1)``), which randomises one value. `release_of` takes
a tool (``tools.mean``), or any function that passes ``random_state`` and ``accountant`` on to tools and models; the
claim is what one call spends by the library's own `BudgetAccountant`. Both are seeded through ``random_state``: every
draw depends on the seed of the audit, and the evidence can be reproduced.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.privacy import Claim
from dpaudit.program.laws import DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, NoiseLaw
from dpaudit.targets.mechanism import Mechanism, answers, approximate, required, wrapped
from dpaudit.tracing.primitives import DrawingMethod, Made, Stated, apart, choose_one, group_price, noted
from dpaudit.tracing.recording import active, site
from dpaudit.tracing.values import array_of


def mechanism_of(
    made: Any,
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | None = None,
    name: str | None = None,
) -> Mechanism:
    """Return the mechanism of a diffprivlib `DPMechanism`; its dataset is the value that it randomises."""
    diffprivlib, release = required("diffprivlib")
    if not isinstance(made, diffprivlib.mechanisms.base.DPMechanism):
        raise UsageError(
            f"a {type(made).__name__} of diffprivlib says what it spends only to an accountant, while it runs; make a "
            "mechanism of it with dpaudit.adapters.diffprivlib.release_of(function, spent_on=data)"
        )
    if getattr(made, "utility", None) is not None:
        raise UsageError(
            f"{type(made).__name__} holds its data, the utilities, since it was made; audit a function of them with "
            "release_of(lambda utility, random_state, accountant: …, claim=…)"
        )
    moved, unit = _moved(made)
    run = _seeded(made) if made.random_state is None else _as_it_is(made)
    return wrapped(
        "diffprivlib",
        run,
        name=name or type(made).__name__,
        shown=repr(made),
        release=release,
        claim=approximate(made.epsilon, made.delta),
        relation=relation or moved,
        unit=unit,
        pairs=pairs,
    )


def release_of(
    function: Callable[..., Any],
    *,
    relation: str,
    spent_on: Any = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    claim: Claim | str | None = None,
    name: str | None = None,
    **options: Any,
) -> Mechanism:
    """Return the mechanism of a tool, or of a function ``f(data, *, random_state, accountant, **options)``."""
    diffprivlib, release = required("diffprivlib")
    run = _release(function, options, diffprivlib)
    shown = ", ".join([_title(function), *(f"{key}={value!r}" for key, value in options.items())])
    if claim is None:
        claim, warned = _spent(function, options, _dataset_to_ask(spent_on, pairs), diffprivlib)
        shown += f"; diffprivlib warns: {warned}" if warned else ""
    return wrapped(
        "diffprivlib",
        run,
        name=name or _title(function),
        shown=shown,
        release=release,
        claim=claim,
        relation=relation,
        unit="one record",
        pairs=pairs,
        made_of=(function,),
    )


def _title(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _moved(made: Any) -> tuple[str, str]:
    """The relation of the values that a mechanism randomises, and its unit."""
    sensitivity = getattr(made, "sensitivity", None)
    return ("replace", "one value") if sensitivity is None else answers(sensitivity)


@functools.lru_cache(maxsize=4)
def _state(rng: np.random.Generator) -> np.random.RandomState:
    """A generator in the form that the library takes; it draws from the same stream."""
    return np.random.RandomState(rng.bit_generator)


def _seeded(made: Any) -> Callable[..., Any]:
    def randomise(data: Any, rng: np.random.Generator) -> Any:
        mechanism = made.copy()
        mechanism._rng = _state(rng)
        return mechanism.randomise(data)

    return randomise


def _as_it_is(made: Any) -> Callable[..., Any]:
    def randomise(data: Any) -> Any:
        return made.randomise(data)

    return randomise


def _release(function: Callable[..., Any], options: dict[str, Any], diffprivlib: Any) -> Callable[..., Any]:
    def release(data: Any, rng: np.random.Generator) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(data, random_state=_state(rng), accountant=diffprivlib.BudgetAccountant(), **options)

    return release


def _dataset_to_ask(spent_on: Any, pairs: Sequence[tuple[Any, Any]] | None) -> Any:
    if spent_on is None and not pairs:
        raise UsageError("give a dataset whose release an accountant can watch: spent_on=data, or pairs, or claim=…")
    return pairs[0][0] if spent_on is None and pairs else spent_on


def _spent(function: Callable[..., Any], options: dict[str, Any], data: Any, diffprivlib: Any) -> tuple[Claim, str]:
    """What one call spends by the library's accountant, and the library's warning."""
    accountant = diffprivlib.BudgetAccountant()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function(data, random_state=np.random.RandomState(0), accountant=accountant, **options)
        except Exception as error:
            raise UsageError(
                f"{_title(function)} cannot be run once: {type(error).__name__}: {error!s:.200}"
            ) from error
    if not accountant.spent_budget:
        raise UsageError(f"{_title(function)} tells the accountant nothing; hand it on, or say claim=…")
    told = [str(each.message) for each in caught if "Leak" in each.category.__name__]
    return approximate(*accountant.total()), " ".join((told or [""])[0].split())


# --- How are the mechanisms of diffprivlib followed? ---


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
    DrawingMethod(f"{_DIFFPRIVLIB}.laplace", "Laplace", "randomise",
        followed=_added(LAPLACE, _laplace_scale, ("Laplace",))),
    DrawingMethod(f"{_DIFFPRIVLIB}.gaussian", "Gaussian", "randomise",
        followed=_added(GAUSSIAN, lambda self: float(self._scale), ("Gaussian", "GaussianAnalytic"))),
    DrawingMethod(f"{_DIFFPRIVLIB}.geometric", "Geometric", "randomise",
        followed=_added(DISCRETE_LAPLACE, lambda self: self.sensitivity / self.epsilon, ("Geometric",), True)),
    *(DrawingMethod(f"{_DIFFPRIVLIB}.{module}", owner, "randomise", made) for module, owner, made in (
        ("laplace", "LaplaceTruncated", _within), ("laplace", "LaplaceFolded", _within),
        ("laplace", "LaplaceBoundedDomain", _within), ("laplace", "LaplaceBoundedNoise", _within),
        ("geometric", "GeometricTruncated", _within), ("geometric", "GeometricFolded", _within),
        ("gaussian", "GaussianDiscrete", _within), ("snapping", "Snapping", _within),
        ("staircase", "Staircase", _within), ("uniform", "Uniform", _within),
        ("binary", "Binary", _of_categories), ("exponential", "ExponentialCategorical", _of_categories),
        ("bingham", "Bingham", _of_matrices), ("wishart", "Wishart", _of_matrices), ("vector", "Vector", _of_functions),
        ("exponential", "PermuteAndFlip", _permuting))),
    DrawingMethod(f"{_DIFFPRIVLIB}.exponential", "Exponential", "randomise", followed=_exponential),
)  # fmt: skip
"""Its methods."""
