"""The categories of a column are those that occur in the data.

A category of one person appears with that person, and goes with them: no ε. Fixed: the list is public.
"""

import math

import numpy as np

SOURCES = ("alan-turing-institute/reprosyn#38",)
REPORTED = "2022-09"
DATA = "city\n" + "\n".join(["Aix", "Bonn", "Aix", "Como", "Bonn", "Aix"] * 3)
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim epsilon=1 "
    '--domain \'city=["Aix", "Bonn", "Como", "Dax"]\''
)
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("Dax", "value_counts|items|return")


def wrong(people):
    counts = people["city"].value_counts()
    return {city: float(count + np.random.laplace(0, 1.0)) for city, count in counts.items()}


def fixed(people):
    counts = people["city"].value_counts().reindex(["Aix", "Bonn", "Como", "Dax"], fill_value=0)
    return {city: float(count + np.random.laplace(0, 1.0)) for city, count in counts.items()}
