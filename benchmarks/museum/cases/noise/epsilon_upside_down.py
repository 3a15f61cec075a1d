"""The scale of the noise is ε over the sensitivity, and not the other way round.

A count at ε = 0.5 gets scale 0.5: it loses 2, by hand. Fixed: scale 2.
"""

import numpy as np

SOURCES = ("WICG/attribution-reporting-api#1329",)
REPORTED = "2024-06"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=0.5 --domain 'age=[0, 120]'"
LOSS = {"wrong": 2, "fixed": 0.5}
NAMED = ("of scale 0.5", r"np\.random\.laplace")


def wrong(people, epsilon=0.5, sensitivity=1):
    return float(len(people) + np.random.laplace(0, epsilon / sensitivity))


def fixed(people, epsilon=0.5, sensitivity=1):
    return float(len(people) + np.random.laplace(0, sensitivity / epsilon))
