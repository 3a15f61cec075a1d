"""Counts at the threshold are released, and δ is the chance of lying above it.

Whole-number noise of scale 1 on a key of one person: P(noise ≥ 4) = e⁻⁴/(1 + e⁻¹) = 0.0134 is released at a threshold
of 5, P(noise ≥ 5) = 0.0049 is claimed, by hand. Fixed: only counts above 5 are released.
"""

import math

import numpy as np

SOURCES = ("opendp/opendp#2922",)
REPORTED = "2026-09"
PAIR = [["a", "a", "a", "b"], ["a", "a", "a"]]
COMMAND = "audit {} --pair pair.json --relation add-remove --claim 'epsilon=1, delta=0.005'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("'b': ",)
P = 1 - np.exp(-1.0)


def noisy_counts(rows):
    for key in sorted(set(rows)):
        yield key, rows.count(key) + int(np.random.geometric(P) - np.random.geometric(P))


def wrong(rows):
    return {key: count for key, count in noisy_counts(rows) if count >= 5}


def fixed(rows):
    return {key: count for key, count in noisy_counts(rows) if count > 5}
