"""A row is scaled to length 1, and an infinite one becomes NaN.

Infinity over infinity is NaN, and so is the sum: no ε. Fixed: what is not finite is 0 before it is scaled.
"""

import math

import numpy as np

SOURCES = ("IBM/differential-privacy-library#80",)
REPORTED = "2023-03"
DATA = "x,y\n" + "\n".join(f"{(i * 7) % 10 / 10},{(i * 3) % 10 / 10}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("= inf",)


def total(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return ((rows / np.maximum(lengths, 1.0)).sum(axis=0) + np.random.normal(0, 1.0, 2)).tolist()


def wrong(people):
    return total(np.nan_to_num(people[["x", "y"]].to_numpy(dtype=float), posinf=np.inf, neginf=-np.inf))


def fixed(people):
    rows = people[["x", "y"]].to_numpy(dtype=float)
    return total(np.where(np.isfinite(rows), np.clip(rows, -1e6, 1e6), 0.0))
