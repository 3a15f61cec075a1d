"""Average incomes by region are released with noise of scale 1, whatever an income may be.

One income of 100,000 moves the average of a small region by tens of thousands; an empty region has none. No ε that
means anything: up to 100,000. Fixed: noisy sums of clipped incomes and noisy counts, at half of ε each.
"""

import math

import numpy as np

SOURCES = ("opendp/opendp#1908",)
REPORTED = "2024-08"
DATA = "region,income\n" + "\n".join(f"{'abc'[i % 3]},{1000 * (1 + (i * 7) % 9)}" for i in range(18))
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim epsilon=1 "
    '--domain \'region=["a", "b", "c"]\' --domain \'income=[0, 100000]\''
)
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("a move of|moves by", r"np\.random\.laplace")


def wrong(people):
    averages = people.groupby("region")["income"].mean()
    return {region: float(average + np.random.laplace(0, 1.0)) for region, average in averages.items()}


def fixed(people):
    answer = {}
    for region in "abc":
        income = np.clip(people[people["region"] == region]["income"].to_numpy(dtype=float), 0, 10_000)
        total = income.sum() + np.random.laplace(0, 10_000 / 0.5)
        count = len(income) + np.random.laplace(0, 1 / 0.5)
        answer[region] = float(total / max(count, 1))
    return answer
