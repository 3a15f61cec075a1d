"""The noise of a measured marginal is divided by the number of columns.

A replaced record moves a histogram by 2 whatever the columns: scale 2/ε, not 2/(4ε): ε = 4, by hand. Fixed: that.
"""

import numpy as np

SOURCES = ("opendp/smartnoise-sdk#472",)
REPORTED = "2022-06"
DATA = "job\n" + "\n".join("abcd"[(i * 3) % 4] for i in range(20))
COMMAND = 'audit {} --data people.csv --relation replace --claim epsilon=1 --domain \'job=["a", "b", "c", "d"]\''
LOSS = {"wrong": 4, "fixed": 1}
NAMED = ("in place of|replaced", r"np\.random\.laplace")


def measured(people, columns):
    counts = [(people["job"] == job).sum() for job in "abcd"]
    return [float(count + np.random.laplace(0, 2 / columns)) for count in counts]


def wrong(people):
    return measured(people, 4)


def fixed(people):
    return measured(people, 1)
