"""The sensitivity of a sum of squares is taken from the lower bound twice.

One record moves the sum by high² = 100, and the scale is low² = 1: ε = 100, by hand. Fixed: scale 100, ε = 1.
"""

import numpy as np

SOURCES = ("IBM/differential-privacy-library#104", "IBM/differential-privacy-library#110")
REPORTED = "2025-09"
DATA = "x\n" + "\n".join(f"{1 + (7 * i) % 9}.5" for i in range(30))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'x=[0, 10]'"
LOSS = {"wrong": 100, "fixed": 1}
NAMED = ("a move of 100", r"np\.sum\(x\*\*2\)")


def second_moment(people, low, high, widest):
    x = np.clip(people["x"].to_numpy(), low, high)
    return float(np.sum(x**2) + np.random.laplace(0, widest**2))


def wrong(people):
    return second_moment(people, 1, 10, max(abs(1), abs(1)))


def fixed(people):
    return second_moment(people, 1, 10, max(abs(1), abs(10)))
