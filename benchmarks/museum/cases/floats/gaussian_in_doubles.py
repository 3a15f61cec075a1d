"""Gaussian noise is added to a count in double precision, and released with all of its digits.

In real arithmetic σ = 3.8 keeps (1, 1e-5); the grid of doubles tells 0 from 1 at times (Mironov 2012). The true loss
of all bits is not known; without a limit where an output is impossible on one side. Fixed: rounded to a grid of 2⁻¹⁰.
"""

import math

import numpy as np

SOURCES = ("prestodb/presto#23002",)
REPORTED = "2024-06"
DATA = "age\n31\n"
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim 'epsilon=1, delta=1e-5' --domain 'age=[0, 120]' "
    "--floating-point verdict"
)
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("for someone who reads the low-order bits",)


def wrong(people):
    return float(len(people) + np.random.normal(0, 3.8))


def fixed(people):
    return float(np.round((len(people) + np.random.normal(0, 3.8)) * 1024) / 1024)
