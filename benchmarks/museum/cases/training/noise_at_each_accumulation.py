"""Noise is added to each of the gradients that are accumulated, and not once to their sum.

Three noises where one is due: more noise, and no loss of privacy. Both sides keep μ = 1.
"""

import numpy as np

SOURCES = ("google-deepmind/optax#527",)
REPORTED = "2023-04"
DATA = "x\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(15))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1 --domain 'x=[-100, 100]'"
LOSS = {"reported": 1, "fixed": 1}


def reported(people):
    x = np.clip(people["x"].to_numpy(dtype=float), -1, 1)
    total = 0.0
    for part in (x[x < -0.5], x[(x >= -0.5) & (x < 0.5)], x[x >= 0.5]):
        total += part.sum() + np.random.normal(0, 1.0)
    return float(total)


def fixed(people):
    return float(np.clip(people["x"].to_numpy(dtype=float), -1, 1).sum() + np.random.normal(0, 1.0))
