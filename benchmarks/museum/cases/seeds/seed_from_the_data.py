"""The noise is seeded by the data, so that the same question gets the same answer.

Whoever guesses the data can make the noise again, and hold it against the answer: no ε. Fixed: fresh noise.
"""

import math

import numpy as np

SOURCES = (
    "world-federation-of-advertisers/cross-media-measurement#4183",
    "world-federation-of-advertisers/cross-media-measurement#4279",
)
REPORTED = "2026-07"
DATA = "frequency\n" + "\n".join(str((7 * i) % 5) for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'frequency=[0, 1, 2, 3, 4]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("seed",)


def wrong(people):
    frequencies = people["frequency"].to_numpy()
    rng = np.random.default_rng(int(frequencies.sum()) * 1000 + len(frequencies))
    return float((frequencies > 0).sum() + rng.laplace(0, 1.0))


def fixed(people):
    return float((people["frequency"].to_numpy() > 0).sum() + np.random.default_rng().laplace(0, 1.0))
