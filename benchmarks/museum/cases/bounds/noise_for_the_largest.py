"""The noise is scaled by the largest value in the data, so that nothing needs to be limited.

A noise of a million says that somebody paid a million: the scales of neighbours differ, no ε. Fixed: a public limit.
"""

import math

import numpy as np

SOURCES = ("AdRoll/privacy#1",)
REPORTED = "2020-11"
DATA = "paid\n" + "\n".join(str((17 * i) % 11) for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'paid=[0, 1000000]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("scale", r"np\.random\.laplace")


def wrong(people):
    paid = people["paid"].to_numpy(dtype=float)
    return float(paid.sum() + np.random.laplace(0, max(paid.max(initial=0.0), 1.0)))


def fixed(people):
    paid = np.clip(people["paid"].to_numpy(dtype=float), 0, 100)
    return float(paid.sum() + np.random.laplace(0, 100))
