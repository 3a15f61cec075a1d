"""Clamping by comparisons lets NaN through, as no comparison with it holds.

One NaN makes the sum NaN: no ε. Fixed: NaN counts as the low bound.
"""

import math

import numpy as np

SOURCES = ("google/differential-privacy#405", "google/differential-privacy#411")
REPORTED = "2026-04"
DATA = "x\n" + "\n".join(f"{(i * 7) % 10 / 10}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1"
MISSED = (
    "NaN is tried only where the data hold a missing value or the domain allows one, as most sums would break; here "
    "neither does. With `--domain 'x=[[0, 1], null]'` it is VIOLATED."
)
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("= NaN",)


def clamp(x, low, high):
    return high if x > high else low if x < low else x


def wrong(people):
    return sum(clamp(x, 0.0, 1.0) for x in people["x"].tolist()) + np.random.laplace(0, 1.0)


def fixed(people):
    return sum(0.0 if x != x else clamp(x, 0.0, 1.0) for x in people["x"].tolist()) + np.random.laplace(0, 1.0)
