"""The noise is made for ten records per person, and nobody sees to it that there are no more.

A person with 20 records loses 2, with 200 records 20: no ε. Fixed: ten records of each person are kept.
"""

import math

import numpy as np

SOURCES = ("google/differential-privacy#72",)
REPORTED = "2021-02"
DATA = "user,pay\n" + "\n".join(f"{min(i // 2, 5)},{(i * 5) % 11}" for i in range(40))
COMMAND = "audit {} --data people.csv --relation 'add-remove(person=user)' --claim epsilon=1 --domain 'pay=[0, 10]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("a move of|moves by", r"np\.random\.laplace")


def noisy_sum(rows):
    return float(np.clip(rows["pay"].to_numpy(dtype=float), 0, 10).sum() + np.random.laplace(0, 10 * 10))


def wrong(people):
    return noisy_sum(people)


def fixed(people):
    return noisy_sum(people.groupby("user").head(10))
