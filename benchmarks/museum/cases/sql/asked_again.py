"""The budget of a query is not kept across queries; the same one is asked five times and averaged.

Five answers at ε = 1 are ε = 5, by composition. Fixed: a fifth for each.
"""

import numpy as np

SOURCES = ("uber-archive/sql-differential-privacy#5",)
REPORTED = "2018-08"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]'"
LOSS = {"wrong": 5, "fixed": 1}
NAMED = ("one more record|without one record", r"np\.random\.laplace")


def answers(people, epsilon):
    over_forty = (people["age"].to_numpy() > 40).sum()
    return [float(over_forty + np.random.laplace(0, 1 / epsilon)) for _ in range(5)]


def wrong(people):
    return answers(people, 1.0)


def fixed(people):
    return answers(people, 0.2)
