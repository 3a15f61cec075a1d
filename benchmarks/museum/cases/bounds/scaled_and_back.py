"""A column is scaled to [0, 1] by its own range, gets noise, and is scaled back.

The noise of the answer is (max - min)/n: its scale differs between neighbours, and so loses without a limit. Fixed:
the bounds are public.
"""

import math

import numpy as np

SOURCES = ("hazy/dpart#6",)
REPORTED = "2024-05"
DATA = "income\n" + "\n".join(str(1000 + (1300 * i) % 6000) for i in range(25))
COMMAND = "audit {} --data people.csv --relation replace --claim epsilon=1 --domain 'income=[0, 100000]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("scale|moves", r"np\.random\.laplace|low")


def mean(income, low, high):
    scaled = (np.clip(income, low, high) - low) / (high - low)
    return float(low + (high - low) * (scaled.mean() + np.random.laplace(0, 1 / len(income))))


def wrong(people):
    income = people["income"].to_numpy(dtype=float)
    return mean(income, income.min(), income.max())


def fixed(people):
    return mean(people["income"].to_numpy(dtype=float), 0, 100_000)
