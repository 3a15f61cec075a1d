"""Every aggregate of one query, and a hidden count for its threshold, spend the whole ε.

A sum at ε = 1 and a count at ε = 1: ε = 2, by composition, reached by one record of 10. Fixed: half each.
"""

import numpy as np

SOURCES = ("opendp/smartnoise-sdk#200",)
REPORTED = "2020-05"
DATA = "pay\n" + "\n".join(str((17 * i) % 11) for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'pay=[0, 10]'"
LOSS = {"wrong": 2, "fixed": 1}
NAMED = ("one more record|without one record", r"np\.random\.laplace\(0, 10")


def query(people, epsilon_each):
    pay = np.clip(people["pay"].to_numpy(dtype=float), 0, 10)
    total = pay.sum() + np.random.laplace(0, 10 / epsilon_each)
    users = len(pay) + np.random.laplace(0, 1 / epsilon_each)
    return {"sum": float(total), "users": float(users)}


def wrong(people):
    return query(people, 1.0)


def fixed(people):
    return query(people, 0.5)
