"""Each entry of a summed vector gets noise for the largest entry alone; a record may move all of them.

Four entries of 0 to 3 under replace: one record moves the sum by 12 in all, at scale 3 / ε: 4ε = 4, by hand. The code
in question scaled by the length, and was right; the suggestion to leave that out is the wrong side.
"""

import numpy as np

SOURCES = ("divviup/libprio-rs#1072",)
REPORTED = "2024-06"
DATA = "a,b,c,d\n" + "\n".join(f"{i % 4},{(i * 3) % 4},{(i + 2) % 4},{(i * 5) % 4}" for i in range(20))
COMMAND = (
    "audit {} --data people.csv --relation replace --claim epsilon=1 "
    "--domain 'a=[0, 1, 2, 3]' --domain 'b=[0, 1, 2, 3]' --domain 'c=[0, 1, 2, 3]' --domain 'd=[0, 1, 2, 3]'"
)
LOSS = {"wrong": 4, "fixed": 1}
NAMED = ("replaced|in place of", "np.random.laplace")


def summed(people, widest):
    totals = people[["a", "b", "c", "d"]].sum().to_numpy(dtype=float)
    return [float(total + np.random.laplace(0, widest)) for total in totals]


def wrong(people):
    return summed(people, 2**2 - 1)


def fixed(people):
    return summed(people, (2**2 - 1) * 4)
