"""The standard deviation of the noise is multiplied by the clipping norm once too often.

At C = 0.1 and z = 1 it is 0.01 for a sum that moves by 0.1: μ = 10 at a claim of 1, by hand. Fixed: C·z.
"""

import numpy as np

SOURCES = ("greenelab/SPRINT_gan#5",)
REPORTED = "2018-06"
DATA = "gradient\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1 --domain 'gradient=[-100, 100]'"
LOSS = {"wrong": 10, "fixed": 1}
NAMED = ("a move of 0.1", r"np\.random\.normal")
CLIP, MULTIPLIER = 0.1, 1.0


def clipped_sum(people):
    return np.clip(people["gradient"].to_numpy(dtype=float), -CLIP, CLIP).sum()


def wrong(people):
    return float(clipped_sum(people) + np.random.normal(0, MULTIPLIER * CLIP**2))


def fixed(people):
    return float(clipped_sum(people) + np.random.normal(0, MULTIPLIER * CLIP))
