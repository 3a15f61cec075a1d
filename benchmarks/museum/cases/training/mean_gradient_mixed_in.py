"""Clipped gradients are added to a place that already holds the plain mean gradient.

The mean is not clipped: one record moves the sum without a limit. Fixed: the place is emptied first.
"""

import math

import numpy as np

SOURCES = ("dayu11/Differentially-Private-Deep-Learning#7",)
REPORTED = "2024-12"
DATA = "x,y\n" + "\n".join(f"{(i * 7) % 10 / 10},{(i * 3) % 10 / 10}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation replace --claim mu=2 --domain 'x=[-1000, 1000]' --domain 'y=[0, 1]'"
LOSS = {"wrong": math.inf, "fixed": 2}
NAMED = ("a move of|moves by", r"np\.random\.normal")


def step(people, emptied):
    gradients = people["x"].to_numpy(dtype=float) * (0.5 - people["y"].to_numpy(dtype=float))
    held = gradients.mean()
    if emptied:
        held = 0.0
    held += np.clip(gradients, -1, 1).sum()
    return float(held + np.random.normal(0, 1.0))


def wrong(people):
    return step(people, emptied=False)


def fixed(people):
    return step(people, emptied=True)
