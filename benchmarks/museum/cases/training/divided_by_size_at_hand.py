"""It was asked to divide the noisy sum by the size of the batch at hand, in place of the expected one.

The scale of the noise then tells the size: it is σ/n on one side and σ/(n + 1) on the other, no μ. The code was
right; the suggestion is the wrong side.
"""

import math

import numpy as np

SOURCES = ("meta-pytorch/opacus#420",)
REPORTED = "2022-04"
DATA = "x\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(8))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1 --domain 'x=[-100, 100]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = (r"len\(people\)",)


def noisy_sum(people):
    return np.clip(people["x"].to_numpy(dtype=float), -1, 1).sum() + np.random.normal(0, 1.0)


def wrong(people):
    return float(noisy_sum(people) / max(len(people), 1))


def fixed(people):
    return float(noisy_sum(people) / 16)
