"""Missing values reach a sum as NaN, and the noise takes a sum of NaN for 0.

One missing value turns the sum of n ones into 0: it moves by n, without a limit. Fixed: missing values are 0.5 first.
"""

import math

import numpy as np

SOURCES = ("opendp/opendp#2936", "opendp/opendp#2935")
REPORTED = "2026-09"
DATA = "x\n" + "\n".join(["1.0"] * 15 + ["nan"] + ["1.0"] * 15)
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("nan|NaN|record 15", r"np\.random\.laplace")


def noisy(total):
    return float(np.nan_to_num(total) + np.random.laplace(0, 1.0))


def wrong(people):
    return noisy(np.clip(people["x"].to_numpy(dtype=float), 0, 1).sum())


def fixed(people):
    return noisy(np.clip(people["x"].fillna(0.5).to_numpy(dtype=float), 0, 1).sum())
