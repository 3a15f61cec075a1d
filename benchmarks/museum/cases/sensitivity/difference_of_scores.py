"""A choice by the difference of two errors that both hang on the data has the sensitivity of one of them.

Each error moves by 2, their difference by 4; the sensitivity is 2, so ε ≤ 2. On the pair, the second is chosen with
1/2 and 1/(1 + e²): ε ≥ 1.43, by hand. Fixed: sensitivity 4, ε ≤ 1.
"""

import numpy as np

SOURCES = ("ryan112358/mbi#65",)
REPORTED = "2025-12"
PAIR = [[[0.0, 0.0], [4.0, -4.0]]]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=1"
LOSS = {"wrong": 2, "fixed": 1}
NAMED = ("output that is int = 1",)


def choose(scores, sensitivity):
    weights = 1.0 * np.asarray(scores) / (2 * sensitivity)
    chances = np.exp(weights - weights.max())
    return int(np.random.choice(len(scores), p=chances / chances.sum()))


def wrong(scores):
    return choose(scores, 2)


def fixed(scores):
    return choose(scores, 4)
