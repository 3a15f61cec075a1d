"""A column without bounds has no sensitivity, and therefore gets no noise.

The sum is exact: no ε. Fixed: bounds 0 to 10, ε = 1.
"""

import math

import numpy as np

SOURCES = ("opendp/smartnoise-sdk#317",)
REPORTED = "2020-11"
DATA = "duration\n" + "\n".join(str((5 * i) % 9) for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'duration=[0, 10]'"
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("No noise was met|returns a private number",)


def total(people, bounds):
    values = people["duration"].to_numpy(dtype=float)
    sensitivity = None
    if bounds is not None:
        values, sensitivity = np.clip(values, *bounds), max(abs(b) for b in bounds)
    result = values.sum()
    if sensitivity:
        result += np.random.laplace(0, sensitivity)
    return float(result)


def wrong(people):
    return total(people, None)


def fixed(people):
    return total(people, (0, 10))
