"""A threshold for Gaussian counts was questioned, because the first theorem was about Laplace noise.

A key of one person shows with 1 - Φ(t) = δ/2 at the threshold 1 + tσ, and the Gaussian count itself keeps δ/2 at ε =
2.2 (μ = 1/2): the claim holds.
"""

import numpy as np

SOURCES = ("opendp/smartnoise-sdk#309",)
REPORTED = "2020-11"
PAIR = [["a", "a", "a", "b"], ["a", "a", "a"]]
COMMAND = "audit {} --pair pair.json --relation add-remove --claim 'epsilon=2.2, delta=0.02'"
LOSS = {"reported": 2.2}


def reported(rows):
    shown = {}
    for key in sorted(set(rows)):
        noisy = rows.count(key) + np.random.normal(0, 2.0)
        if noisy >= 1 + 2.3264 * 2.0:  # 1 - Φ(2.3264) = 0.01
            shown[key] = noisy
    return shown
