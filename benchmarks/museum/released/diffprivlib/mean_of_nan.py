"""The mean of data that hold one NaN is NaN, whatever the noise.

ε = 1 is claimed; NaN tells for certain.
"""

import math

import numpy as np

from diffprivlib import tools

SOURCES = ("IBM/differential-privacy-library#80",)
REPORTED = "2023-03"
PAIR = [[0.5, 0.25, float("nan")], [0.5, 0.25, 0.75]]
COMMAND = "audit {} --pair pair.json --relation replace --claim epsilon=1 --runs 10000"
LOSS = {"wrong": math.inf}
NAMED = ("nan|NaN",)


def wrong(values):
    return float(tools.mean(np.array(values, dtype=float), epsilon=1.0, bounds=(0, 1)))
