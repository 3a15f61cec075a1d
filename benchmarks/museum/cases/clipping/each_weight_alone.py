"""Every weight is clipped to [-C, C], and the noise is made for a vector of length C.

Four weights of 1 have length 2: μ = 2 at a claim of 1, by hand. Fixed: the vector is scaled to length 1.
"""

import numpy as np

SOURCES = ("KanishJebaMathewM/Truxify#3858",)
REPORTED = "2026-07"
DATA = "w1,w2,w3,w4\n" + "\n".join(f"{i % 3 - 1},{(i % 5) / 2},{-i % 4},{i / 10}" for i in range(15))
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim mu=1 "
    "--domain 'w1=[-9, 9]' --domain 'w2=[-9, 9]' --domain 'w3=[-9, 9]' --domain 'w4=[-9, 9]'"
)
LOSS = {"wrong": 2, "fixed": 1}
NAMED = ("one more record|without one record", r"np\.random\.normal")
WEIGHTS = ["w1", "w2", "w3", "w4"]


def noisy(vectors):
    return (vectors.sum(axis=0) + np.random.normal(0, 1.0, 4)).tolist()


def wrong(clients):
    return noisy(np.clip(clients[WEIGHTS].to_numpy(dtype=float), -1, 1))


def fixed(clients):
    updates = clients[WEIGHTS].to_numpy(dtype=float)
    lengths = np.linalg.norm(updates, axis=1, keepdims=True)
    return noisy(updates / np.maximum(lengths, 1.0))
