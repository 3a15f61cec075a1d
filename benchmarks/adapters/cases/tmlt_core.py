"""Tumult Core: noise mechanisms on numbers, with exact parameters, and arrays of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from case import Case
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.measurements.noise_mechanisms import (
    AddDiscreteGaussianNoise,
    AddGaussianNoise,
    AddGeometricNoise,
    AddLaplaceNoise,
)
from tmlt.core.utils.exact_number import ExactNumber

from dpaudit.adapters.tmlt_core import mechanism_of


def laplace(scale: Any, **options: Any) -> Any:
    """Laplace noise of a scale."""
    return mechanism_of(AddLaplaceNoise(NumpyFloatDomain(), scale=ExactNumber(scale)), **options)


CASES = [
    Case("AddLaplaceNoise", partial(laplace, 1), [(0.0, 1.0)]),
    Case("AddLaplaceNoise scale 1/3", partial(laplace, "1/3"), [(0.0, 1.0)]),
    Case("AddLaplaceNoise at 1e16", partial(laplace, 1, d_in=2), [(1e16, 1e16 + 2)]),
    Case("AddLaplaceNoise tiny scale", partial(laplace, "1/1000000", d_in=1), [(0.0, 1.0)]),
    Case("AddGeometricNoise", lambda: mechanism_of(AddGeometricNoise(alpha=1)), [(0, 1)]),
    Case("AddGeometricNoise alpha 10", lambda: mechanism_of(AddGeometricNoise(alpha=10), d_in=10), [(0, 10)]),
    Case(
        "AddGeometricNoise at 2^62",
        lambda: mechanism_of(AddGeometricNoise(alpha=1), relation="declared"),
        [(2**62 + 1, 2**62 + 2)],
    ),
    Case(
        "AddGeometricNoise at the largest int64",
        lambda: mechanism_of(AddGeometricNoise(alpha=1), relation="declared"),
        [(2**63 - 1, 2**63 - 2)],
    ),
    Case("AddDiscreteGaussianNoise", lambda: mechanism_of(AddDiscreteGaussianNoise(sigma_squared=1)), [(0, 1)]),
    Case(
        "AddGaussianNoise",
        lambda: mechanism_of(AddGaussianNoise(NumpyFloatDomain(), sigma_squared=1)),
        [(0.0, 1.0)],
        grid="float(value) + gaussian(u=0, …) adds in doubles (noise_mechanisms.py, AddGaussianNoise.__call__). "
        "AddLaplaceNoise samples around the value with intervals, and does not leak.",
    ),
]
