"""The ε that is printed beside the answers is not the one that they were made with.

Queries at ε = 0.1 are reported as 0.01: they lose 0.1, by hand. Fixed: the number that was set.
"""

import numpy as np

SOURCES = ("opendp/smartnoise-samples#57",)
REPORTED = "2020-07"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=0.01 --domain 'age=[0, 120]'"
LOSS = {"wrong": 0.1, "fixed": 0.01}
NAMED = ("of scale 10", r"np\.random\.laplace")


def noisy_count(people, epsilon):
    return float(len(people) + np.random.laplace(0, 1 / epsilon))


def wrong(people):
    return noisy_count(people, 0.1)


def fixed(people):
    return noisy_count(people, 0.01)
