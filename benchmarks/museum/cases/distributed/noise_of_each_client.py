"""Is the noise of a client z·C/√n, or z·C/n? The code had the first, and was asked for the second.

The average of n noisy updates has σ = zC/n in the first case, against a move of C/n: μ = 1. In the second it has
zC/n^1.5: μ = √n = 2 for four clients, by hand. The suggestion is the wrong side.
"""

import numpy as np

SOURCES = ("flwrlabs/flower#1892",)
REPORTED = "2023-05"
PAIR = [[1.0, 0.5, 0.2, 0.7], [0.0, 0.5, 0.2, 0.7]]
COMMAND = "audit {} --pair pair.json --relation declared --claim mu=1"
LOSS = {"wrong": 2, "fixed": 1}
NAMED = (r"np\.random\.normal",)


def average(updates, sigma):
    sent = [np.clip(update, -1, 1) + np.random.normal(0, sigma) for update in updates]
    return float(np.mean(sent))


def wrong(updates):
    return average(updates, 1 / len(updates))


def fixed(updates):
    return average(updates, 1 / np.sqrt(len(updates)))
