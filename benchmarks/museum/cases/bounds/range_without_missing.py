"""Bounds that the user does not give are the smallest and the largest value of the data, missing ones aside.

The scale (max - min)/n differs between neighbours: no ε. Fixed: the bounds are asked for.
"""

import math

import numpy as np

SOURCES = ("IBM/differential-privacy-library#90", "IBM/differential-privacy-library#87")
REPORTED = "2023-08"
DATA = "x\n" + "\n".join(f"{(i * 7) % 10 / 10}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation replace --claim epsilon=1 --domain 'x=[0, 1]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("scale", r"np\.random\.laplace")


def mean(people, bounds=None):
    x = people["x"].to_numpy(dtype=float)
    low, high = bounds or (np.nanmin(x), np.nanmax(x))
    x = np.clip(np.nan_to_num(x, nan=low), low, high)
    return float(x.mean() + np.random.laplace(0, (high - low) / len(x)))


def wrong(people):
    return mean(people)


def fixed(people):
    return mean(people, bounds=(0, 1))
