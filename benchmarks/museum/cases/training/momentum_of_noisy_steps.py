"""Momentum and Adam were suspected to break DP-SGD, as earlier gradients come in again.

They come in with their noise: what is made of noisy gradients cannot lose more. Two steps at σ = 1.5 are μ = 0.943.
"""

import numpy as np

SOURCES = ("greenelab/SPRINT_gan#5",)
REPORTED = "2018-06"
DATA = "x\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(15))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=0.95 --domain 'x=[-100, 100]'"
LOSS = {"reported": 0.9429}


def reported(people):
    x = people["x"].to_numpy(dtype=float)
    weight, moment = 0.0, 0.0
    for _ in range(2):
        noisy = np.clip(x, -1, 1).sum() + np.random.normal(0, 1.5)
        moment = 0.9 * moment + noisy
        weight -= 0.1 * moment
    return float(weight)
