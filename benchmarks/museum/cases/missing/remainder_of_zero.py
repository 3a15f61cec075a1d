"""Remainders are counted as if there were one for every record; that of a division by zero is missing.

The count is released without noise, as the length is public: it tells who has a zero, no ε. Fixed: noise of scale 1.
"""

import math

import numpy as np

SOURCES = ("opendp/opendp#2940",)
REPORTED = "2026-09"
DATA = "n,m\n" + "\n".join(f"{i},{3 if i else 0}" for i in range(16))
COMMAND = (
    "audit {} --data people.csv --relation replace --claim epsilon=1 --domain 'n=[0, 15]' --domain 'm=[0, 1, 2, 3]'"
)
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("No noise was met|returns a private number",)


def remainders(people):
    return int((people["n"].astype(float) % people["m"].astype(float)).count())


def wrong(people):
    return remainders(people)


def fixed(people):
    return float(remainders(people) + np.random.laplace(0, 1.0))
