"""Noise that was made for the sum is added to the mean.

It is n times as much as is needed: a mistake, and none of privacy. Fixed: noise on the sum, and then the mean.
"""

import numpy as np

SOURCES = ("google-deepmind/jax_privacy#383", "google-deepmind/jax_privacy#395")
REPORTED = "2026-09"
DATA = "x\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(16))
COMMAND = "audit {} --data people.csv --relation replace --claim mu=1 --domain 'x=[-100, 100]'"
LOSS = {"reported": 1, "fixed": 1}


def clipped(people):
    return np.clip(people["x"].to_numpy(dtype=float), -1, 1)


def reported(people):
    return float(clipped(people).mean() + np.random.normal(0, 2.0))


def fixed(people):
    return float((clipped(people).sum() + np.random.normal(0, 2.0)) / len(people))
