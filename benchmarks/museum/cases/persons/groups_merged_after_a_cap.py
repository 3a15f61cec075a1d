"""Nine groups per person are enforced, groups are then merged into one, and the bound for nine groups is kept.

One person moves the merged count by up to 9 at σ = 3, made for a length of √9: μ = 3 at a claim of 1. Fixed: σ = 9.
"""

import numpy as np

SOURCES = ("opendp/opendp#2949",)
REPORTED = "2026-09"
DATA = "user,group\n" + "\n".join(f"{i // 2},{(i * 5) % 9}" for i in range(16))
COMMAND = (
    "audit {} --data people.csv --relation 'add-remove(person=user)' --claim mu=1 "
    "--domain 'group=[0, 1, 2, 3, 4, 5, 6, 7, 8]'"
)
LOSS = {"wrong": 3, "fixed": 1}
NAMED = ("a move of|moves by", r"np\.random\.normal")


def kept(people):
    rows = people.drop_duplicates(["user", "group"]).groupby("user").head(9)
    return len(rows.assign(group=0))


def wrong(people):
    return float(kept(people) + np.random.normal(0, 3.0))


def fixed(people):
    return float(kept(people) + np.random.normal(0, 9.0))
