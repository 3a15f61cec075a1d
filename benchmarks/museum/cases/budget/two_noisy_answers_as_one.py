"""Several Gaussian answers that hang on one record are accounted for as one.

A sum at σ = 1 and a count at σ = 1.25: μ = √(1 + 0.64) = 1.28 at a claim of 1, by hand. Fixed: σ = 1.6667 for the
sum.
"""

import numpy as np

SOURCES = ("google/differential-privacy#428",)
REPORTED = "2026-05"
DATA = "x\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1 --domain 'x=[-9, 9]'"
LOSS = {"wrong": 1.28063, "fixed": 1.0000001}
NAMED = ("one more record|without one record", r"np\.random\.normal")


def released(people, sigma):
    total = np.clip(people["x"].to_numpy(dtype=float), -1, 1).sum() + np.random.normal(0, sigma)
    return [float(total), float(len(people) + np.random.normal(0, 1.25))]


def wrong(people):
    return released(people, 1.0)


def fixed(people):
    return released(people, 1.66667)
