"""A batch by "its size from a binomial law, then so many records" was said not to be Poisson sampling. It is.

Given the size, all batches are alike in both. One step at q = 1/2 and σ = 1 has δ = 0.0288 at ε = 1, by hand. Both
are right.
"""

import numpy as np

SOURCES = ("google-deepmind/jax_privacy#121",)
REPORTED = "2026-01"
PAIR = [[1.0, 0.0, 0.0], [0.0, 0.0]]
COMMAND = "audit {} --pair pair.json --relation declared --claim 'epsilon=1, delta=0.03'"
LOSS = {"reported": 1, "fixed": 1}


def reported(records):
    records = np.asarray(records)
    size = np.random.binomial(len(records), 0.5)
    batch = np.random.choice(records, size, replace=False)
    return float(batch.sum() + np.random.normal())


def fixed(records):
    records = np.asarray(records)
    return float(records[np.random.random(len(records)) < 0.5].sum() + np.random.normal())
