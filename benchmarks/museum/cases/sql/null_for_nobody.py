"""A noisy count of nobody is NULL, as the sum of no rows is.

Whether a number comes tells nobody from somebody for certain: no ε. Fixed: noise on 0 too.
"""

import math

import numpy as np

SOURCES = ("prestodb/presto#22715",)
REPORTED = "2024-05"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("holds 0 numbers on one side",)


def wrong(people):
    old = people[people["age"] > 100]
    if not len(old):
        return None
    return float(len(old) + np.random.laplace(0, 1.0))


def fixed(people):
    return float((people["age"] > 100).sum() + np.random.laplace(0, 1.0))
