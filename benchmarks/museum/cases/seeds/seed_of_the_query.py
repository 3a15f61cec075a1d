"""A query may be given a seed, for the same answer each time; two queries are given the same.

The noise of the two counts is one and the same, and goes away in their difference: no ε. Fixed: no seed.
"""

import math

import numpy as np

SOURCES = ("prestodb/presto#20703",)
REPORTED = "2023-08"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=2 --domain 'age=[0, 120]'"
LOSS = {"wrong": math.inf, "fixed": 2}
NAMED = ("seed",)


def noisy_count(rows, seed=None):
    return float(len(rows) + np.random.default_rng(seed).laplace(0, 1.0))


def wrong(people):
    return [noisy_count(people, seed=7), noisy_count(people[people["age"] > 40], seed=7)]


def fixed(people):
    return [noisy_count(people), noisy_count(people[people["age"] > 40])]
