"""Data are clipped and imputed into a new table, and the covariance is computed from the old one.

One record outside of the bounds moves the covariance without a limit. Fixed: the three entries of a covariance of
values in [0, 1] move by at most 1/n each under replace; scale 3/n: ε ≤ 1.
"""

import math

import numpy as np

SOURCES = ("opendp/smartnoise-sdk#622", "opendp/smartnoise-sdk#624")
REPORTED = "2026-02"
DATA = "x,y\n" + "\n".join(f"{(i * 7) % 10 / 10},{(i * 3) % 10 / 10}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation replace --claim epsilon=1"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("in place of|replaced", "moves (3 times, )?by")


def released(values):
    n = len(values)
    entries = np.cov(values.T)[np.tril_indices(2)]
    return (entries + np.random.laplace(0, 3 / n, 3)).tolist()


def censored(people):
    return np.nan_to_num(np.clip(people.to_numpy(dtype=float), 0, 1), nan=0.5)


def wrong(people):
    clean = censored(people)  # noqa: F841
    return released(people.to_numpy(dtype=float))


def fixed(people):
    return released(censored(people))
