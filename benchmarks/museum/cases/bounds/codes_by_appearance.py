"""Categories get their codes in the order in which they appear in the data.

A new record of another category in front gives all others another code: the sum of codes moves by n, without a limit.
Fixed: codes by a public order.
"""

import math

import numpy as np
import pandas as pd

SOURCES = ("opendp/opendp#2944",)
REPORTED = "2026-09"
DATA = "x\n" + "\n".join(["0.5"] * 30)
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'x=[0, 2]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("one more record|without one record", "move of|moves by|moves")


def bins(people):
    return np.where(people["x"].to_numpy(dtype=float) <= 1, 0, 1)


def wrong(people):
    codes, _ = pd.factorize(bins(people))
    return float(codes.sum() + np.random.laplace(0, 1.0))


def fixed(people):
    return float(bins(people).sum() + np.random.laplace(0, 1.0))
