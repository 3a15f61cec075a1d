"""Rounded Laplace noise was reported as a mistake, in place of the geometric mechanism.

Rounding comes after the noise, and cannot lose more: ε = 1 is kept. Only accuracy suffers. Both sides are right.
"""

import numpy as np

SOURCES = ("world-federation-of-advertisers/cardinality_estimation_evaluation_framework#97",)
REPORTED = "2020"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]'"
LOSS = {"reported": 1, "fixed": 1}


def reported(people):
    return len(people) + int(np.round(np.random.laplace(0, 1.0)))


def fixed(people):
    p = 1 - np.exp(-1.0)
    return len(people) + int(np.random.geometric(p) - np.random.geometric(p))
