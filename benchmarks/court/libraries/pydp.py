"""PyDP: every algorithm and mechanism that it exports, for both types of numbers and at edges."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pydp.algorithms.laplacian as algorithms
import pydp.algorithms.numerical_mechanisms as mechanisms
import pydp.algorithms.partition_selection as selection
from seat import Audited, Seat, shown, without_recipe

from dpaudit.adapters.pydp import mechanism_of

# the two datasets of each algorithm between 0 and 10
RECIPES: dict[str, tuple[list[int], list[int]]] = {
    "Count": ([1, 1], [1]),
    "BoundedSum": ([10], []),
    "BoundedMean": ([10, 0], [0]),
    "BoundedVariance": ([10, 0], [0]),
    "BoundedStandardDeviation": ([10, 0], [0]),
    "Max": ([0, 10], [0]),
    "Min": ([0, 10], [10]),
    "Median": ([2, 8], [8]),
    "Percentile": ([2, 8], [8]),
}
OPTIONS: list[dict[str, Any]] = [
    {"epsilon": 1.0, "dtype": "float"},
    {"epsilon": 1.0, "dtype": "int"},
    {"epsilon": 0.5, "dtype": "float"},
    {"epsilon": 4.0, "dtype": "int"},
    {"epsilon": 1.0, "dtype": "float", "l0_sensitivity": 2},
]


def made(name: str, options: dict[str, Any]) -> Any:
    """An algorithm between 0 and 10."""
    given = dict(options) if name == "Count" else {"lower_bound": 0, "upper_bound": 10, **options}
    return mechanism_of(getattr(algorithms, name)(**({"percentile": 0.25} if name == "Percentile" else {}), **given))


def found() -> Iterator[Seat]:
    """Every algorithm, numerical mechanism and strategy of selection."""
    yield from without_recipe(algorithms.__all__, RECIPES)
    for name, pair in RECIPES.items():
        for options in OPTIONS:
            if name == "Percentile" and "l0_sensitivity" in options:
                continue  # it has no such parameter
            kind = float if options["dtype"] == "float" else int
            sides = tuple([kind(value) for value in side] for side in pair)
            yield Audited(shown(name, options), partial(made, name, options), [sides], {})
    held = [name for name in dir(mechanisms) if name.endswith("Mechanism") and name != "NumericalMechanism"]
    yield from without_recipe(held, ["LaplaceMechanism", "GaussianMechanism"])
    for epsilon in (0.5, 1.0, 4.0):
        for name, more in (("LaplaceMechanism", ()), ("GaussianMechanism", (1e-5,))):
            make = partial(lambda name, *numbers: mechanism_of(getattr(mechanisms, name)(*numbers)), name)
            yield Audited(f"{name}{(epsilon, *more, 1.0)}", partial(make, epsilon, *more, 1.0), [(0.0, 1.0)], {})
    for kind in ("truncated_geometric", "laplace", "gaussian"):
        for epsilon, delta in ((1.0, 1e-2), (4.0, 1e-3)):
            make = getattr(selection, f"create_{kind}_partition_strategy")
            yield Audited(
                f"{kind} partition strategy({epsilon}, {delta})",
                lambda make=make, epsilon=epsilon, delta=delta: mechanism_of(make(epsilon, delta, 1)),
                [([1, 1], [1]), ([1], [])],
                {},
            )
