"""A generator of synthetic data has a default seed.

The noise is the same in every call: it can be subtracted, no ε. Fixed: no seed.
"""

import math

import numpy as np

SOURCES = ("alan-turing-institute/tapas#101",)
REPORTED = "2022-09"
DATA = "sex\n" + "\n".join(["f", "m", "m"] * 5)
COMMAND = 'audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain \'sex=["f", "m"]\''
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("seed",)


def marginal(people, seed=42):
    rng = np.random.default_rng(seed)
    counts = [(people["sex"] == sex).sum() for sex in ("f", "m")]
    return [float(count + rng.laplace(0, 1.0)) for count in counts]


def wrong(people):
    return marginal(people)


def fixed(people):
    return marginal(people, seed=None)
