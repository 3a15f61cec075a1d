"""The noise of a mean is scaled by the number of records at hand, under add-remove.

The scales of neighbours differ, (high - low) / n, so that the tails lose without a limit. Fixed: half of ε for a
noisy sum and half for a noisy count, by composition.
"""

import math

import numpy as np

SOURCES = ("opendp/smartnoise-core#356", "opendp/smartnoise-core#355")
REPORTED = "2021-04"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 100]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("scale", r"100 / len\(x\)")


def wrong(people):
    x = np.clip(people["age"].to_numpy(dtype=float), 0, 100)
    if not len(x):
        return 50.0
    return float(x.mean() + np.random.laplace(0, 100 / len(x)))


def fixed(people):
    x = np.clip(people["age"].to_numpy(dtype=float), 0, 100)
    total = x.sum() + np.random.laplace(0, 100 / 0.5)
    count = len(x) + np.random.laplace(0, 1 / 0.5)
    return float(total / max(count, 1))
