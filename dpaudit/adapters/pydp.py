"""What does PyDP promise? Every algorithm holds the ε and δ that one call of ``quick_result`` spends.

PyDP wraps Google's C++ library. Its noise comes from that library's own generator, which cannot be seeded, so evidence
is not reproducible to the bit. An algorithm bounds how much one user adds to one result (``linf_sensitivity``) and to
how many results (``l0_sensitivity``); here one result is observed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.program.laws import GAUSSIAN, LAPLACE, NoiseLaw
from dpaudit.targets.mechanism import Mechanism, answers, approximate, required, wrapped
from dpaudit.tracing.primitives import DrawingMethod, Made, Stated, apart, group_price, noted, records_apart
from dpaudit.tracing.recording import active, site
from dpaudit.tracing.values import plain


def mechanism_of(
    made: Any,
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | None = None,
    name: str | None = None,
) -> Mechanism:
    """Return the mechanism of an algorithm (``BoundedMean``, ``Count``, …) or of a mechanism of PyDP."""
    _, release = required("pydp")
    run, relation_read, unit, claim = _parts_of(made)
    title = name or type(made).__name__
    return wrapped(
        "pydp",
        run,
        name=title,
        shown=_in_words(made, title),
        release=release,
        claim=claim,
        relation=relation or relation_read,
        unit=unit,
        pairs=pairs,
    )


def _parts_of(made: Any) -> tuple[Any, str, str, Any]:
    """The function, the relation, the unit and the claim of an object."""
    if hasattr(made, "quick_result"):

        def quick_result(data: Any) -> Any:
            return made.quick_result(list(data))

        values = made.linf_sensitivity if isinstance(made.linf_sensitivity, int) else 1
        group = "add-remove" if values == 1 else f"add-remove(group={values})"
        unit = "one value" if values == 1 else f"up to {values} values of one user"
        return quick_result, group, unit, approximate(made.epsilon, made.delta)
    if hasattr(made, "add_noise"):

        def add_noise(data: Any) -> Any:
            return made.add_noise(data)

        delta = getattr(made, "delta", 0.0)
        moved = made.sensitivity if hasattr(made, "sensitivity") else made.l2_sensitivity
        return add_noise, *answers(moved), approximate(made.epsilon, delta)
    if hasattr(made, "should_keep"):

        def should_keep(data: Any) -> Any:
            return made.should_keep(len(data))

        unit = f"one user, in up to {made.max_partitions_contributed} partitions"
        return should_keep, "add-remove", unit, approximate(made.epsilon, made.delta)
    raise UsageError(
        f"a {type(made).__name__} of PyDP releases nothing; give an algorithm of pydp.algorithms.laplacian, a "
        "mechanism of pydp.algorithms.numerical_mechanisms or a strategy of pydp.algorithms.partition_selection"
    )


_TOLD = (
    "epsilon",
    "delta",
    "sensitivity",
    "l2_sensitivity",
    "l0_sensitivity",
    "linf_sensitivity",
    "max_partitions_contributed",
    "dtype",
)


def _in_words(made: Any, title: str) -> str:
    told = {name: getattr(made, name) for name in _TOLD if hasattr(made, name)}
    return f"{title}({', '.join(f'{name}={value}' for name, value in told.items())})"


# --- How are the algorithms and mechanisms of PyDP followed, and with them those of PipelineDP? ---


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
        return group_price(epsilon, delta if isinstance(delta, float) else 0.0, math.ceil(moved / bounds), moved)

    return list(data), f"{type(self).__name__} {epsilon} {delta} {told}", loss


def _of_pydp_result(self: Any, *_: Any, **__: Any) -> Made:
    return _of_pydp(self, getattr(self, "_dpaudit_entries", []))


def _adding(original: Callable[..., Any]) -> Callable[..., Any]:
    """A mechanism adds Laplace or Gaussian noise, whose scale it holds."""

    def add_noise(self: Any, value: Any, *rest: Any) -> Any:
        recorder = active()
        law, scale = _LAWS.get(type(self).__name__, (None, ""))
        if recorder is None or law is None:
            return original(self, plain(value), *rest)
        where = site()
        with recorder.own_work():
            given = plain(value)
            drawn = float(original(self, given, *rest)) - float(given)
            return noted(recorder, law, float(getattr(self, scale)), value, drawn, where, f"PyDP {type(self).__name__}")

    return add_noise


_LAWS: dict[str, tuple[NoiseLaw, str]] = {
    "LaplaceMechanism": (LAPLACE, "diversity"),
    "GaussianMechanism": (GAUSSIAN, "std"),
}


def _of_partitions(self: Any, count: Any) -> Made:
    def loss(one: Any, other: Any) -> Stated:
        return group_price(self.epsilon, self.delta, apart(one, other), apart(one, other))

    return count, f"{type(self).__name__} {self.epsilon} {self.delta} {self.max_partitions_contributed}", loss


_ALGORITHM = "pydp.algorithms._algorithm"
ROWS = (
    DrawingMethod(_ALGORITHM, "MetaAlgorithm", "quick_result", _of_pydp),
    DrawingMethod(_ALGORITHM, "MetaAlgorithm", "result", _of_pydp_result),
    DrawingMethod(_ALGORITHM, "MetaAlgorithm", "add_entries", followed=_added_entries),
    DrawingMethod(_ALGORITHM, "MetaAlgorithm", "add_entry", followed=_added_entries),
    DrawingMethod("pydp.algorithms.numerical_mechanisms", "NumericalMechanism", "add_noise", followed=_adding),
    DrawingMethod("pydp.algorithms.partition_selection", "PartitionSelectionStrategy", "should_keep", _of_partitions),
)  # fmt: skip
"""Its methods."""
