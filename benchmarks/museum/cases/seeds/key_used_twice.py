"""The same random key draws the noise of two parameters.

The difference of the two has no noise: no μ. Fixed: keys of their own: one record moves (1, 0) at σ = 2, μ = 0.5.
"""

import math

import numpy as np

SOURCES = ("jax-ml/jax#3646",)
REPORTED = "2020-07"
DATA = "w,b\n" + "\n".join(f"{(i * 7) % 10 / 10},{(i * 3) % 10 / 10}" for i in range(10))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=0.75 --domain 'w=[0, 1]' --domain 'b=[0, 1]'"
LOSS = {"wrong": math.inf, "fixed": 0.70711}
NAMED = ("the same noise is drawn twice",)


def noisy(gradients, keys):
    w, b = np.clip(gradients[["w", "b"]].to_numpy(dtype=float), 0, 1).sum(axis=0)
    return [
        float(w + np.random.default_rng(keys[0]).normal(0, 2.0)),
        float(b + np.random.default_rng(keys[1]).normal(0, 2.0)),
    ]


def wrong(gradients):
    key = np.random.randint(2**31)
    return noisy(gradients, (key, key))


def fixed(gradients):
    return noisy(gradients, np.random.randint(2**31, size=2))
