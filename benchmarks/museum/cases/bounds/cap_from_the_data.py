"""How many records of a person count is taken from the data, so that it covers most of them.

A person with many records raises the cap, and with it the scale of the noise: no ε. Fixed: a cap of 2 for everyone.
"""

import math

import numpy as np

SOURCES = ("google/differential-privacy#258",)
REPORTED = "2024-02"
DATA = "user,item\n" + "\n".join(f"{i // 2},{i % 3}" for i in range(16))
COMMAND = "audit {} --data people.csv --relation 'add-remove(person=user)' --claim epsilon=1 --domain 'item=[0, 1, 2]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("scale|moves|move of", r"np\.random\.laplace")


def capped(people, cap):
    rows = people.groupby("user").head(cap)
    return float(len(rows) + np.random.laplace(0, cap))


def wrong(people):
    sizes = people.groupby("user").size()
    return capped(people, int(np.quantile(sizes, 0.95)) if len(sizes) else 1)


def fixed(people):
    return capped(people, 2)
