"""A person has up to two records, and the count is made for one.

Two records go with one person at scale 1: ε = 2, by hand. Fixed: scale 2.
"""

import numpy as np

SOURCES = ("dscc-admin-ch/lomas#243",)
REPORTED = "2025-02"
DATA = "user,item\n" + "\n".join(f"{i // 2},{i % 3}" for i in range(16))
COMMAND = "audit {} --data people.csv --relation 'add-remove(person=user)' --claim epsilon=1 --domain 'item=[0, 1, 2]'"
LOSS = {"wrong": 2, "fixed": 1}
NAMED = ("a move of 2", r"np\.random\.laplace")


def capped(people):
    return people.groupby("user").head(2)


def wrong(people):
    return float(len(capped(people)) + np.random.laplace(0, 1.0))


def fixed(people):
    return float(len(capped(people)) + np.random.laplace(0, 2.0))
