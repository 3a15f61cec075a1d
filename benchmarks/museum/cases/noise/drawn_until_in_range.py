"""Laplace noise is drawn again until the answer lies in its range.

The chance of the range hangs on the true count: at 0 it is 1/2, at 1 it is 0.816; outputs of 0 lose 1 + ln(0.816/0.5)
= 1.49, by hand. Fixed: the answer is clipped to the range, which cannot lose more than ε.
"""

import numpy as np

SOURCES = ("google/differential-privacy#256",)
REPORTED = "2024-01"
COMMAND = "audit {} --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]'"
LOSS = {"wrong": 1.4905, "fixed": 1}
NAMED = ("empty|one more record|without one record|no records", r"np\.random\.laplace|0 <= noisy")


def wrong(people):
    exact = min(len(people), 10)
    while True:
        noisy = exact + np.random.laplace(0, 1.0)
        if 0 <= noisy <= 10:
            return float(noisy)


def fixed(people):
    return float(np.clip(min(len(people), 10) + np.random.laplace(0, 1.0), 0, 10))
