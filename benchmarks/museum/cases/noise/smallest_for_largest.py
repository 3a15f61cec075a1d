"""A noisy maximum returns the noisy minimum: a mistake, and none of privacy.

Gumbel noise of scale 2 on scores that each move by 1 keeps ε = 1 for the smallest as for the largest. Both sides are
right.
"""

import numpy as np

SOURCES = ("opendp/opendp#2912",)
REPORTED = "2026-08"
PAIR = [[[3.0, 2.0, 2.0], [2.0, 3.0, 3.0]]]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=1"
LOSS = {"reported": 1, "fixed": 1}


def reported(scores):
    return int(np.argmin(np.asarray(scores) - np.random.gumbel(0, 2.0, len(scores))))


def fixed(scores):
    return int(np.argmax(np.asarray(scores) + np.random.gumbel(0, 2.0, len(scores))))
