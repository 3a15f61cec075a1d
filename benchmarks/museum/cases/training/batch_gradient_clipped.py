"""The gradient of the whole batch is clipped, and called DP-SGD.

One record turns the clipped gradient from -1 to 1: it moves by 2 at σ = 1, μ = 2 at a claim of 1. Fixed: each
record's gradient is clipped before the sum.
"""

import numpy as np

SOURCES = ("ooples/AiDotNet#1318",)
REPORTED = "2026-05"
DATA = "x,y\n" + "\n".join(f"{(i * 7) % 10 / 10},{(i * 3) % 10 / 10}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1 --domain 'x=[-100, 100]' --domain 'y=[0, 1]'"
LOSS = {"wrong": 2, "fixed": 1}
NAMED = ("a move of|moves by", r"np\.random\.normal")


def gradients(people, weight=0.5):
    x, y = people["x"].to_numpy(dtype=float), people["y"].to_numpy(dtype=float)
    return (weight * x - y) * x


def wrong(people):
    return float(np.clip(gradients(people).sum(), -1, 1) + np.random.normal(0, 1.0))


def fixed(people):
    return float(np.clip(gradients(people), -1, 1).sum() + np.random.normal(0, 1.0))
