"""The noise of shares, 2/n, is added to the counts from which shares are made.

A replaced record moves two counts by 1 each at scale 2/n: ε = n = 20, by hand. Fixed: scale 2.
"""

import numpy as np

SOURCES = ("DataResponsibly/DataSynthesizer#34",)
REPORTED = "2021-03"
DATA = "sex,job\n" + "\n".join(f"{'fm'[i % 2]},{'abc'[(i * 2) % 3]}" for i in range(20))
COMMAND = (
    "audit {} --data people.csv --relation replace --claim epsilon=1 "
    '--domain \'sex=["f", "m"]\' --domain \'job=["a", "b", "c"]\''
)
LOSS = {"wrong": 20, "fixed": 1}
NAMED = ("in place of|replaced", r"np\.random\.laplace")


def shares(people, scale):
    noisy = []
    for sex in "fm":
        for job in "abc":
            count = ((people["sex"] == sex) & (people["job"] == job)).sum()
            noisy.append(max(float(count + np.random.laplace(0, scale)), 0.0))
    return [each / max(sum(noisy), 1e-9) for each in noisy]


def wrong(people):
    return shares(people, 2 / len(people))


def fixed(people):
    return shares(people, 2.0)
