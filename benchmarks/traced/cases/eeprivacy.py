"""Uses of eeprivacy."""

from __future__ import annotations

import numpy as np
from case import Case
from eeprivacy.operations import (
    PrivateClampedMean,
    PrivateClampedSum,
    PrivateHistogram,
    PrivateVectorClampedMeanGaussian,
    PrivateVectorClampedMeanLaplace,
)

DISTRIBUTION = "eeprivacy"
BOUNDS = {"lower_bound": 0.0, "upper_bound": 10.0}
HOURS = ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [9.0, 5.0, 6.0]])


def vectors(kind, data, **more):
    return kind(**BOUNDS, k=3, N=2).execute(vectors=data, epsilon=1.0, delta=1e-5, **more)


CASES = [
    Case("PrivateClampedMean", lambda data: PrivateClampedMean(**BOUNDS).execute(values=data, epsilon=1.0),
         ([1.0, 2.0, 3.0], [1.0, 2.0, 1000.0]), mistake="it does not clamp"),
    Case("PrivateVectorClampedMeanLaplace", lambda data: vectors(PrivateVectorClampedMeanLaplace, data), HOURS,
         mistake="one noise for all coordinates"),
    Case("PrivateClampedSum", lambda data: PrivateClampedSum(**BOUNDS).execute(values=data, epsilon=1.0),
         ([1.0, 2.0, 3.0], [1.0, 2.0, 1000.0])),
    Case("PrivateHistogram", lambda data: PrivateHistogram(bins=[0, 2, 5, 10]).execute(values=data, epsilon=1.0),
         ([1.0, 3.0, 7.0], [1.0, 3.0, 7.0, 8.0]), relation="add-remove"),
    Case("PrivateVectorClampedMeanGaussian", lambda data: vectors(PrivateVectorClampedMeanGaussian, np.array(data)),
         HOURS, "epsilon=1, delta=1e-5"),
]  # fmt: skip
