"""A column is scaled by the smallest and the largest value of the data, and the bins lie between them.

The edges of the bins are released without noise: no ε. Fixed: public bounds 0 to 100; scale 1 under add-remove, ε =
1.
"""

import math

import numpy as np

SOURCES = ("vanderschaarlab/synthcity#278",)
REPORTED = "2024-06"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 100]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("tells the sides apart",)


def synthetic(age, low, high):
    counts, edges = np.histogram(np.clip(age, low, high), bins=4, range=(low, high))
    noisy = np.maximum(counts + np.random.laplace(0, 1.0, 4), 0)
    return dict(zip(((edges[1:] + edges[:-1]) / 2).round(6).tolist(), noisy.tolist(), strict=True))


def wrong(people):
    age = people["age"].to_numpy(dtype=float)
    return synthetic(age, age.min(), age.max()) if len(age) > 1 else synthetic(age, 0, 100)


def fixed(people):
    return synthetic(people["age"].to_numpy(dtype=float), 0, 100)
