"""PyDP: algorithms, mechanisms, partition selection, and what odd input does to them."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pydp.algorithms.laplacian as algorithms
import pydp.algorithms.numerical_mechanisms as mechanisms
import pydp.algorithms.partition_selection as selection
from case import Case

from dpaudit.adapters.pydp import mechanism_of


def made(name: str, **options: Any) -> Any:
    """An algorithm with ε = 1 between 0 and 10, unless told otherwise."""
    given = {"epsilon": 1.0, "dtype": "float", **options}
    if name != "Count" and "unbounded" not in given:
        given = {"lower_bound": 0, "upper_bound": 10, **given}
    given.pop("unbounded", None)
    return mechanism_of(getattr(algorithms, name)(**given))


def strategy(name: str, delta: float) -> Any:
    """A strategy of partition selection with ε = 1."""
    return mechanism_of(getattr(selection, f"create_{name}_partition_strategy")(1.0, delta, 1))


_EXTREME = [
    Case(f"{name} {dtype}", partial(made, name, dtype=dtype), [(data0, data1)])
    for dtype, number in (("float", float), ("int", int))
    for name, data0, data1 in (
        ("Count", [number(1)] * 2, [number(1)]),
        ("BoundedSum", [number(10)], []),
        ("BoundedMean", [number(10), number(0)], [number(0)]),
        ("BoundedVariance", [number(10), number(0)], [number(0)]),
        ("BoundedStandardDeviation", [number(10), number(0)], [number(0)]),
        ("Max", [number(0), number(10)], [number(0)]),
        ("Min", [number(0), number(10)], [number(10)]),
        ("Median", [number(2), number(8)], [number(8)]),
    )
]

_ODD = [
    Case(f"{name} {label}", partial(made, name), [([1.0, value], [1.0])], runs=4_000)
    for label, value in (("NaN", math.nan), ("inf", math.inf))
    for name in ("Count", "BoundedSum", "BoundedMean", "BoundedVariance", "Max", "Median")
]

_GRID = (
    "The noise lies on a grid of 2^-55 (at a standard deviation of some 3), finer than that of doubles near 1: "
    "results for 1 are multiples of 2^-53, those for 0 are not. Laplace noise has a coarser grid, 2^-40, and does not "
    "leak."
)

CASES = [
    *_EXTREME,
    *_ODD,
    Case("Count of two values a user", partial(made, "Count", linf_sensitivity=2), [([1.0] * 3, [1.0])]),
    Case("BoundedSum of negative bounds", partial(made, "BoundedSum", lower_bound=-20), [([-20.0], [])]),
    Case("BoundedSum tiny epsilon", partial(made, "BoundedSum", epsilon=1e-6), [([10.0], [])]),
    Case("BoundedSum epsilon 50", partial(made, "BoundedSum", epsilon=50.0), [([10.0], [])]),
    Case("BoundedMean of nothing", partial(made, "BoundedMean"), [([10.0], [])]),
    Case(
        "BoundedSum int that overflows",
        partial(made, "BoundedSum", dtype="int", upper_bound=2**30),
        [([2**30, 2**30], [2**30])],
    ),
    Case(
        "BoundedSum float beyond 2^53",
        partial(made, "BoundedSum", upper_bound=1),
        [([1.0] * 2, [1.0])],
    ),
    Case(
        "BoundedSum bounds found privately",
        partial(made, "BoundedSum", unbounded=True),
        [([1.0] * 40 + [1000.0], [1.0] * 40)],
        runs=1_000,
    ),
    Case(
        "BoundedMean bounds found privately",
        partial(made, "BoundedMean", unbounded=True, epsilon=4.0),
        [([1.0] * 40 + [1000.0], [1.0] * 40)],
        runs=1_000,
    ),
    Case("Max without bounds", partial(made, "Max", unbounded=True), [([1.0, 1e6], [1.0])], runs=4_000),
    Case("LaplaceMechanism", lambda: mechanism_of(mechanisms.LaplaceMechanism(1.0, 1.0)), [(0.0, 1.0)]),
    Case("LaplaceMechanism at 1e16", lambda: mechanism_of(mechanisms.LaplaceMechanism(1.0, 2.0)), [(1e16, 1e16 + 2)]),
    Case(
        "GaussianMechanism",
        lambda: mechanism_of(mechanisms.GaussianMechanism(1.0, 1e-2, 1.0)),
        [(0.0, 1.0)],
        grid=_GRID,
    ),
    *(
        Case(
            f"{name} partitions, {users} users",
            partial(strategy, name, 1e-2),
            [(list(range(users)), list(range(users - 1)))],
        )
        for name in ("laplace", "gaussian", "truncated_geometric")
        for users in (1, 4)
    ),
]
