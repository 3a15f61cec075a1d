"""A ledger deducts half of what a query costs, and so answers twice as many.

Four counts at ε = 0.5 each under a budget of 1: ε = 2, by composition. Fixed: the whole cost is deducted, two counts.
"""

import numpy as np

SOURCES = ("w3c/attribution#264",)
REPORTED = "2025-08"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]'"
LOSS = {"wrong": 2, "fixed": 1}
NAMED = ("one more record|without one record", r"np\.random\.laplace")


def answers(people, cost, budget=1.0, scale=2.0):
    given = []
    while budget >= cost:
        budget -= cost
        given.append(float(len(people) + np.random.laplace(0, scale)))
    return given


def wrong(people):
    return answers(people, cost=1 / 2.0 / 2)


def fixed(people):
    return answers(people, cost=1 / 2.0)
