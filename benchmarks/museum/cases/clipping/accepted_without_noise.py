"""Of the weights that pass a noisy threshold some are drawn and get noise; the others are released as they are.

A weight that passes and is not drawn is exact: no ε. Fixed: only drawn weights are released. The four noisy tests
move by 1 each at scale 8, the two drawn weights by 2 each at scale 8: ε ≤ 1 under replace.
"""

import math

import numpy as np

SOURCES = ("NVIDIA/NVFlare#343",)
REPORTED = "2022-03"
DATA = "w1,w2,w3,w4\n0.9,-0.8,0.7,0.1\n"
COMMAND = (
    "audit {} --data people.csv --relation replace --claim epsilon=1 "
    "--domain 'w1=[-1, 1]' --domain 'w2=[-1, 1]' --domain 'w3=[-1, 1]' --domain 'w4=[-1, 1]'"
)
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("with number . exactly",)


def accepted_of(weights):
    return np.flatnonzero(np.abs(weights) + np.random.laplace(0, 8.0, 4) >= 0.5)


def wrong(client):
    weights = np.clip(client[["w1", "w2", "w3", "w4"]].to_numpy(dtype=float)[0], -1, 1)
    accepted = accepted_of(weights)
    drawn = np.random.permutation(accepted)[:2]
    released = weights.copy()
    released[drawn] = released[drawn] + np.random.laplace(0, 8.0, len(drawn))
    released[np.setdiff1d(np.arange(4), accepted)] = 0.0
    return released.tolist()


def fixed(client):
    weights = np.clip(client[["w1", "w2", "w3", "w4"]].to_numpy(dtype=float)[0], -1, 1)
    drawn = np.random.permutation(accepted_of(weights))[:2]
    released = np.zeros(4)
    released[drawn] = weights[drawn] + np.random.laplace(0, 8.0, len(drawn))
    return released.tolist()
