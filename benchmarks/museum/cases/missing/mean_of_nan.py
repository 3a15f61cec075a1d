"""A mean is clipped, and NaN passes through clipping.

The mean of data that hold one NaN is NaN whatever the noise: no ε. Fixed: it is replaced by the middle of the bounds.
"""

import math

import numpy as np

SOURCES = ("IBM/differential-privacy-library#80", "opendp/smartnoise-sdk#626")
REPORTED = "2023-03"
DATA = "x\n" + "\n".join("nan" if i == 7 else f"{(i * 7) % 10 / 10}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation replace --claim epsilon=1"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("= NaN",)


def mean(x):
    return float(np.clip(x, 0, 1).mean() + np.random.laplace(0, 1 / len(x)))


def wrong(people):
    return mean(people["x"].to_numpy(dtype=float))


def fixed(people):
    return mean(np.nan_to_num(people["x"].to_numpy(dtype=float), nan=0.5))
