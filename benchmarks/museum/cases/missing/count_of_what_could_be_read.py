"""The length of the table is public, and the count of values that could be converted is released for it, without noise.

A value that cannot be converted is missing, and is not counted: exact, no ε. Fixed: noise of scale 1.
"""

import math

import numpy as np
import pandas as pd

SOURCES = ("opendp/opendp#2938", "opendp/opendp#2939")
REPORTED = "2026-09"
DATA = "x\n" + "\n".join(["n/k", "1", "2", "3"] * 4)
COMMAND = 'audit {} --data people.csv --relation replace --claim epsilon=1 --domain \'x=["n/k", "1", "2", "3"]\''
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("No noise was met|returns a private number",)


def readable(people):
    return int(pd.to_numeric(people["x"], errors="coerce").count())


def wrong(people):
    return readable(people)


def fixed(people):
    return float(readable(people) + np.random.laplace(0, 1.0))
