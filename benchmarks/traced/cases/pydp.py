"""Uses of PyDP."""

from __future__ import annotations

from case import Case
from pydp.algorithms.laplacian import BoundedMean, BoundedSum, Count
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

DISTRIBUTION = "python-dp"
MORE = ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 9.0])
BOUNDS = {"lower_bound": 0.0, "upper_bound": 10.0, "dtype": "float"}


def added(data):
    made = BoundedSum(epsilon=1.0, **BOUNDS)
    made.add_entries(data)
    return made.result()


def of_the_data(data):
    return BoundedSum(epsilon=1.0, lower_bound=0.0, upper_bound=max(data), dtype="float").quick_result(data)


def twice(data):
    return [BoundedMean(epsilon=1.0, **BOUNDS).quick_result(data) for _ in range(2)]


CASES = [
    Case("BoundedMean, twice", twice, MORE, mistake="the budget is spent twice", relation="add-remove"),
    Case("LaplaceMechanism of a sum that is not bounded",
         lambda data: LaplaceMechanism(epsilon=1.0, sensitivity=1.0).add_noise(sum(data)), MORE,
         mistake="a sensitivity of 1", relation="add-remove"),
    Case("BoundedSum", added, MORE, relation="add-remove"),
    Case("BoundedMean", lambda data: BoundedMean(epsilon=1.0, **BOUNDS).quick_result(data), MORE,
         relation="add-remove"),
    Case("Count", lambda data: Count(epsilon=1.0, dtype="float").quick_result(data), MORE, relation="add-remove"),
]  # fmt: skip
