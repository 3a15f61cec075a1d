"""Values are made distinct over all people before each person is cut to one value.

A new person who comes first with all m values of the others owns them, and is then cut to one: the count falls from m
to 1. At m = 12 and scale 1: ε = 11, by hand; m may be larger. Fixed: people are cut first, and the count moves by 1.
"""

import math

import numpy as np

SOURCES = ("google/differential-privacy#84",)
REPORTED = "2021"
DATA = "user,word\n" + "\n".join(f"{i + 1},{i}" for i in range(12))
COMMAND = (
    "audit {} --data people.csv --relation 'add-remove(person=user)' --claim epsilon=1 "
    "--domain 'word=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]'"
)
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("a move of|moves by", r"np\.random\.laplace")


def wrong(people):
    rows = people.drop_duplicates("word").groupby("user").head(1)
    return float(len(rows) + np.random.laplace(0, 1.0))


def fixed(people):
    rows = people.sort_values(["user", "word"]).groupby("user").head(1)
    return float(rows["word"].nunique() + np.random.laplace(0, 1.0))
