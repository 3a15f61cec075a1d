"""Unary encoding draws all bits with q, and sets the true one besides with p.

The true bit is 1 with 1 - (1 - p)(1 - q). At ε = 1 and three values p = 0.6225: ln(0.765·0.6225/(0.3775·0.235)) =
1.68, by hand. Fixed: the true bit is 1 with p, and 0 else.
"""

import math
import random

import numpy as np

SOURCES = ("Samuel-Maddock/pure-LDP#11",)
REPORTED = "2023-09"
PAIR = [0, 2]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=1"
LOSS = {"wrong": 1.6803, "fixed": 1.0000001}
NAMED = ("number 0|number 2",)
P = math.exp(0.5) / (math.exp(0.5) + 1)


def wrong(value):
    bits = np.random.choice([1, 0], size=3, p=[1 - P, P])
    if random.random() < P:
        bits[value] = 1
    return bits


def fixed(value):
    bits = np.random.choice([1, 0], size=3, p=[1 - P, P])
    bits[value] = 1 if random.random() < P else 0
    return bits
