"""Uses of Tumult Core."""

from __future__ import annotations

import numpy as np
from case import Case
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise, AddLaplaceNoise

DISTRIBUTION = "tmlt.core"


def laplace(scale):
    return lambda data: float(AddLaplaceNoise(NumpyFloatDomain(), scale)(np.float64(sum(data))))


def geometric(data):
    return int(AddGeometricNoise(1)(np.int64(len(data))))


MORE = ([1.0, 2.0], [1.0, 2.0, 3.0])
CASES = [
    Case("AddLaplaceNoise, a scale too small", laplace(1), MORE, mistake="a scale for a sensitivity of 1",
         relation="add-remove"),
    Case("AddLaplaceNoise", laplace(3), MORE, relation="add-remove"),
    Case("AddGeometricNoise", geometric, MORE, relation="add-remove"),
]  # fmt: skip
