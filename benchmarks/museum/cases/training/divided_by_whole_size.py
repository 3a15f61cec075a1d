"""The noisy sum of a batch is divided by ⌊q·n⌋, which hangs on the number of records.

At q = 1/2, four records divide by 2 and three by 1: the spread of the noise tells them apart, the more so with every
coordinate. Fixed: divided by a public number; one step has δ = 0.0288 at ε = 1.
"""

import math

import numpy as np

SOURCES = ("meta-pytorch/opacus#819", "meta-pytorch/opacus#571")
REPORTED = "2023-03"
PAIR = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
COMMAND = "audit {} --pair pair.json --relation declared --claim 'epsilon=1, delta=0.03'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("mean deviation|spread",)


def step(records, expected):
    records = np.asarray(records)
    batch = records[np.random.random(len(records)) < 0.5]
    gradient = np.zeros(20)
    gradient[0] = batch.sum()
    return ((gradient + np.random.normal(0, 1.0, 20)) / expected).tolist()


def wrong(records):
    return step(records, max(int(0.5 * len(records)), 1))


def fixed(records):
    return step(records, 2)
