"""Noise is added first, and the noisy gradient is clipped after.

The noise has to hide the whole gradient, of up to 100, at σ = 1: μ = 100, and clipping to 10 hides little of it: the
outputs of ±100 are ±10 but for chance. Fixed: clip first, μ = 1.
"""

import numpy as np

SOURCES = ("illidanlab/dpgan#4",)
REPORTED = "2020-03"
DATA = "gradient\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1 --domain 'gradient=[-100, 100]'"
LOSS = {"wrong": 100, "fixed": 1}
NAMED = ("μ = 100", r"np\.random\.normal")


def wrong(people):
    noisy = people["gradient"].to_numpy(dtype=float).sum() + np.random.normal(0, 1.0)
    return float(np.clip(noisy, -10, 10))


def fixed(people):
    clipped = np.clip(people["gradient"].to_numpy(dtype=float), -1, 1)
    return float(clipped.sum() + np.random.normal(0, 1.0))
