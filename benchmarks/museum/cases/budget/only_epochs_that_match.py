"""The budget is taken only from epochs in which something matched, so that refusals tell where.

Without a match nothing is deducted, and all ten questions are answered; with one, two are. How many answers there are
tells for certain: no ε. Fixed: every epoch that is asked pays: two answers of ε = 0.5 each.
"""

import math

import numpy as np

SOURCES = ("w3c/attribution#75",)
REPORTED = "2025-02"
COMMAND = "audit {} --pair pair.json --relation add-remove --claim epsilon=1"
PAIR = [[2], []]
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = (r"\[float × 2\]|× 10",)


def asked(impressions, always):
    budget, answers = 1.0, []
    for _ in range(10):
        if budget < 0.5:
            break
        matched = impressions.count(2)
        answers.append(float(min(matched, 1) + np.random.laplace(0, 2.0)))
        if always or matched:
            budget -= 0.5
    return answers


def wrong(impressions):
    return asked(impressions, always=False)


def fixed(impressions):
    return asked(impressions, always=True)
