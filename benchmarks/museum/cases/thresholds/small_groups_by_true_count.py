"""Small groups are suppressed by their true count, and the others get noise.

Whether the count is shown tells 9 people from 10 for certain: no ε. Fixed: the noisy count is held against the
threshold.
"""

import math

import numpy as np

SOURCES = ("world-federation-of-advertisers/cross-media-measurement#2767",)
REPORTED = "2025-08"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(10))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("without one record|record removed|fewer", r"len\(people\) < 10|None")


def wrong(people):
    if len(people) < 10:
        return None
    return float(len(people) + np.random.laplace(0, 1.0))


def fixed(people):
    noisy = float(len(people) + np.random.laplace(0, 1.0))
    return None if noisy < 10 else noisy
