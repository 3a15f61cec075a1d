"""How are the algorithms and mechanisms of PyDP followed, and with them those of PipelineDP?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.tracing.laws import GAUSSIAN, LAPLACE, NoiseLaw
from dpaudit.tracing.primitives import noted
from dpaudit.tracing.recording import active, site
from dpaudit.tracing.units import Made, Row, Stated, apart, group_price, records_apart
from dpaudit.tracing.values import plain


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
    Row(_ALGORITHM, "MetaAlgorithm", "quick_result", _of_pydp),
    Row(_ALGORITHM, "MetaAlgorithm", "result", _of_pydp_result),
    Row(_ALGORITHM, "MetaAlgorithm", "add_entries", followed=_added_entries),
    Row(_ALGORITHM, "MetaAlgorithm", "add_entry", followed=_added_entries),
    Row("pydp.algorithms.numerical_mechanisms", "NumericalMechanism", "add_noise", followed=_adding),
    Row("pydp.algorithms.partition_selection", "PartitionSelectionStrategy", "should_keep", _of_partitions),
)  # fmt: skip
"""Its methods."""
