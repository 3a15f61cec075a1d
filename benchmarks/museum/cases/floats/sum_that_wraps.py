"""A sum of small whole numbers is kept in 8 bits, and wraps.

At the edge one more record of 10 takes the sum from 120 to -126: it moves by 246 at scale 10, ε = 24.6, by hand.
Fixed: 64 bits.
"""

import numpy as np

SOURCES = ("google/differential-privacy#127",)
REPORTED = "2022-09"
DATA = "x\n" + "\n".join(["10"] * 12)
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'x=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]'"
)
LOSS = {"wrong": 25.5, "fixed": 1}
NAMED = ("a move of|moves by", r"np\.random\.laplace")


def wrong(people):
    total = people["x"].to_numpy(dtype=np.int8).sum(dtype=np.int8)
    return float(total + np.random.laplace(0, 10.0))


def fixed(people):
    total = np.clip(people["x"].to_numpy(), 0, 10).sum(dtype=np.int64)
    return float(total + np.random.laplace(0, 10.0))
