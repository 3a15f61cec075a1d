"""The average of all updates is clipped, where each has to be.

The clipped average moves by up to 2 (from -1 to 1), and σ = 2/n was made for clipped updates: μ = n = 20 at a claim
of 1, by hand. Fixed: each update is clipped, and the average moves by 2/n.
"""

import numpy as np

SOURCES = ("raptor7197/caamas#36",)
REPORTED = "2026-06"
DATA = "update\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation replace --claim mu=1 --domain 'update=[-100, 100]'"
LOSS = {"wrong": 20, "fixed": 1}
NAMED = ("a move of 2", r"np\.random\.normal")


def wrong(clients):
    average = clients["update"].to_numpy(dtype=float).mean()
    return float(np.clip(average, -1, 1) + np.random.normal(0, 2 / len(clients)))


def fixed(clients):
    average = np.clip(clients["update"].to_numpy(dtype=float), -1, 1).mean()
    return float(average + np.random.normal(0, 2 / len(clients)))
