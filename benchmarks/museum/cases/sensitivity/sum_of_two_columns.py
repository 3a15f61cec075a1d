"""The sum of two columns has the sensitivity of one of them.

Pay and bonus of 0 to 10 each move their sum by 20, at scale 10: ε = 2, by hand. Fixed: scale 20.
"""

import numpy as np

SOURCES = ("opendp/smartnoise-sdk#320",)
REPORTED = "2020-12"
DATA = "pay,bonus\n" + "\n".join(f"{(7 * i) % 11},{(3 * i) % 11}" for i in range(20))
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'pay=[0, 10]' --domain 'bonus=[0, 10]'"
)
LOSS = {"wrong": 2, "fixed": 1}
NAMED = ("a move of 20|moves by 20", r"np\.random\.laplace")


def total(people, scale):
    earned = np.clip(people["pay"], 0, 10) + np.clip(people["bonus"], 0, 10)
    return float(earned.sum() + np.random.laplace(0, scale))


def wrong(people):
    return total(people, 10)


def fixed(people):
    return total(people, 20)
