"""Noise is added by every client, and again by the server.

It is more than was promised: the server's σ alone keeps μ = 1. A mistake, and none of privacy. Fixed: once.
"""

import numpy as np

SOURCES = ("fedbiomed/fedbiomed#1443",)
REPORTED = "2025-09"
DATA = "update\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(12))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1 --domain 'update=[-100, 100]'"
LOSS = {"reported": 1, "fixed": 1}


def reported(clients):
    updates = np.clip(clients["update"].to_numpy(dtype=float), -1, 1)
    sent = updates + np.random.normal(0, 0.1, len(updates))
    return float(sent.sum() + np.random.normal(0, 1.0))


def fixed(clients):
    updates = np.clip(clients["update"].to_numpy(dtype=float), -1, 1)
    return float(updates.sum() + np.random.normal(0, 1.0))
