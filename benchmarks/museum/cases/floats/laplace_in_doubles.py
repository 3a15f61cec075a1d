"""Laplace noise is added in double precision, and released with all of its digits.

The doubles that 0 + noise can be are not those that 1 + noise can be: outputs tell for certain (Mironov 2012). Fixed:
whole-number noise on a count.
"""

import math

import numpy as np

SOURCES = ("opendp/smartnoise-core#242", "IBM/differential-privacy-library#19")
REPORTED = "2020-05"
DATA = "age\n31\n"
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]' "
    "--floating-point verdict"
)
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("for someone who reads the low-order bits",)
P = 1 - np.exp(-1.0)


def wrong(people):
    return float(len(people) + np.random.laplace(0, 1.0))


def fixed(people):
    return len(people) + int(np.random.geometric(P) - np.random.geometric(P))
