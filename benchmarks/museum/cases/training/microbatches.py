"""Microbatches of several records are clipped as a whole; their size was said not to matter for privacy.

A record that comes or goes turns the clipped mean of its microbatch from one side to the other: 2C, where C is
accounted for: μ = 2. Fixed: microbatches of one record.
"""

import numpy as np

SOURCES = ("tensorflow/privacy#81",)
REPORTED = "2019-11"
DATA = "x,part\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4},{i % 4}" for i in range(16))
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim mu=1 "
    "--domain 'x=[-100, 100]' --domain 'part=[0, 1, 2, 3]'"
)
LOSS = {"wrong": 2, "fixed": 1}
NAMED = ("a move of|moves by", r"np\.random\.normal")


def wrong(people):
    means = people.groupby("part")["x"].mean().to_numpy(dtype=float)
    return float(np.clip(means, -1, 1).sum() + np.random.normal(0, 1.0))


def fixed(people):
    return float(np.clip(people["x"].to_numpy(dtype=float), -1, 1).sum() + np.random.normal(0, 1.0))
