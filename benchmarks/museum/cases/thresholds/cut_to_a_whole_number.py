"""The threshold of a count is made a whole number by cutting off its fraction.

At ε = 1 and δ = 0.01 it is 1 + ln(1/0.02) = 4.91, cut to 4: a key of one person shows with e⁻³/2 = 0.0249, where 0.01
is claimed, by hand. As that key never shows without the person, no ε repairs it. Fixed: 4.91 as it is.
"""

import math

import numpy as np

SOURCES = ("google/differential-privacy#101",)
REPORTED = "2022"
PAIR = [["a", "a", "a", "b"], ["a", "a", "a"]]
COMMAND = "audit {} --pair pair.json --relation add-remove --claim 'epsilon=1, delta=0.01'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("'b': ",)


def keys(rows, threshold):
    shown = {}
    for key in sorted(set(rows)):
        noisy = rows.count(key) + np.random.laplace(0, 1.0)
        if noisy >= threshold:
            shown[key] = noisy
    return shown


def wrong(rows):
    return keys(rows, int(1 + math.log(1 / 0.02)))


def fixed(rows):
    return keys(rows, 1 + math.log(1 / 0.02))
