"""The clipping norm that is asked for sets the noise, and is not passed on to what clips.

Clipped to 1, noise for 0.1: μ = 10 at a claim of 1, by hand. Fixed: the norm is passed on.
"""

import numpy as np

SOURCES = ("meta-pytorch/opacus#664",)
REPORTED = "2024-08"
DATA = "gradient\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1 --domain 'gradient=[-100, 100]'"
LOSS = {"wrong": 10, "fixed": 1}
NAMED = ("a move of 1", r"np\.random\.normal")


def clipped_sum(people, max_grad_norm=1.0):
    gradients = people["gradient"].to_numpy(dtype=float)
    return np.clip(gradients, -max_grad_norm, max_grad_norm).sum()


def wrong(people, max_grad_norm=0.1):
    return float(clipped_sum(people) + np.random.normal(0, max_grad_norm))


def fixed(people, max_grad_norm=0.1):
    return float(clipped_sum(people, max_grad_norm) + np.random.normal(0, max_grad_norm))
