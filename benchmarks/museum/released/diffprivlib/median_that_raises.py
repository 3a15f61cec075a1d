"""The median of many equal values raises an error, for its weights underflow.

2,977 equal values have a median, one more raises: what depends on the data tells for certain. ε = 1 is claimed.
"""

import math

import numpy as np

from diffprivlib import tools

SOURCES = ("IBM/differential-privacy-library#107", "IBM/differential-privacy-library#108")
REPORTED = "2026-05"
PAIR = [[0.5] * 2977, [0.5] * 2978]
COMMAND = "audit {} --pair pair.json --relation add-remove --claim epsilon=1 --runs 4000"
LOSS = {"wrong": math.inf}
NAMED = ("RuntimeError",)


def wrong(values):
    return float(tools.median(np.array(values), epsilon=1.0, bounds=(0, 1)))
