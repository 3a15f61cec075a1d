"""The weights of an exponential mechanism underflow to zero, and it raises an error that depends on the data.

A median of equal values: the gap between them has length 0, and all other weights are e^(-n/4), which a double cannot
hold beyond n = 2980. One record more turns an answer into an error: no ε. Fixed: weights by their logarithm, ε ≤ 1.
"""

import math

import numpy as np

SOURCES = ("IBM/differential-privacy-library#108", "IBM/differential-privacy-library#107")
REPORTED = "2026-05"
PAIR = [[[50.0] * 2980, [50.0] * 2982]]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=2 --runs 20000"
LOSS = {"wrong": math.inf, "fixed": 2}
NAMED = ("ValueError",)


def gaps(values):
    edges = np.concatenate([[0.0], np.sort(values), [100.0]])
    utility = -np.abs(np.arange(len(edges) - 1) - len(values) / 2)
    return edges, np.diff(edges), utility


def wrong(values):
    edges, lengths, utility = gaps(values)
    weights = np.exp((utility - utility.max()) / 2) * lengths
    chosen = np.random.choice(len(lengths), p=weights / weights.sum())
    return float(np.random.uniform(edges[chosen], edges[chosen + 1]))


def fixed(values):
    edges, lengths, utility = gaps(values)
    with np.errstate(divide="ignore"):
        logarithms = utility / 2 + np.log(lengths)
    weights = np.exp(logarithms - logarithms.max())
    chosen = np.random.choice(len(lengths), p=weights / weights.sum())
    return float(np.random.uniform(edges[chosen], edges[chosen + 1]))
