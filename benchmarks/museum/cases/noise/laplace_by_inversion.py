"""Laplace noise by the inverse of its distribution, from one uniform number, was reported as unsafe.

Its law is right: ε = 1 is kept. (Which generator makes the uniform numbers is outside of the model, and so is the one
number in 2⁵³ at which the logarithm fails.) Both sides are right.
"""

import math
import random

import numpy as np

SOURCES = ("SatyamPandey-07/WorkSphere#1226",)
REPORTED = "2026-07"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]'"
LOSS = {"reported": 1, "fixed": 1}


def reported(people, scale=1.0):
    u = random.random() - 0.5
    return len(people) - scale * math.copysign(1.0, u) * math.log(1 - 2 * abs(u))


def fixed(people, scale=1.0):
    return float(len(people) + np.random.laplace(0, scale))
