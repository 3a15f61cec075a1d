"""Permute-and-flip is given the price of the exponential mechanism, ρ = ε²/8.

On [0, 0] and [1, -1] the second is chosen with 1/2 and e⁻¹/2: the divergence of order 1 is 0.255 > 1/8, by hand; ε²/2
bounds ρ for anything that keeps ε. Fixed: the exponential mechanism, whose range is bounded.
"""

import numpy as np

SOURCES = ("opendp/opendp#2911",)
REPORTED = "2026-08"
PAIR = [[[0.0, 0.0], [1.0, -1.0]]]
COMMAND = "audit {} --pair pair.json --relation declared --claim rho=0.125"
LOSS = {"wrong": 0.5, "fixed": 0.125}
NAMED = ("output that is int = 1",)


def wrong(scores):
    best = max(scores)
    for candidate in np.random.permutation(len(scores)):
        if np.random.random() < np.exp((scores[candidate] - best) / 2):
            return int(candidate)
    return 0


def fixed(scores):
    weights = np.exp((np.asarray(scores) - max(scores)) / 2)
    return int(np.random.choice(len(scores), p=weights / weights.sum()))
