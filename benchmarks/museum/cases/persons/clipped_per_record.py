"""Gradients are clipped per record, and the promise is for users with several records.

A user with m records moves the sum by m at σ = 1: no μ for users. Fixed: the sum of each user's gradients is clipped.
"""

import math

import numpy as np

SOURCES = ("awslabs/fast-differential-privacy#27",)
REPORTED = "2024-02"
DATA = "user,gradient\n" + "\n".join(f"{i // 3},{((i * 7) % 11 - 5) / 4}" for i in range(18))
COMMAND = "audit {} --data people.csv --relation 'add-remove(person=user)' --claim mu=1 --domain 'gradient=[-9, 9]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("a move of|moves by", r"np\.random\.normal")


def wrong(people):
    clipped = np.clip(people["gradient"].to_numpy(dtype=float), -1, 1)
    return float(clipped.sum() + np.random.normal(0, 1.0))


def fixed(people):
    sums = people.groupby("user")["gradient"].sum().to_numpy(dtype=float)
    return float(np.clip(sums, -1, 1).sum() + np.random.normal(0, 1.0))
