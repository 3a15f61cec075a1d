"""Noise on every coordinate of a sum was taken for several queries that share a budget.

Rows are clipped to an L1 length of 1, so that all coordinates together move by 1: Laplace noise of scale 1/ε on each
keeps ε = 1 in all (Dwork et al. 2006). The code is right.
"""

import numpy as np

SOURCES = ("OpenMined/PipelineDP#67",)
REPORTED = "2021-08"
DATA = "a,b,c\n" + "\n".join(f"{i % 3},{(i * 5) % 4},{(i + 1) % 2}" for i in range(15))
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim epsilon=1 "
    "--domain 'a=[0, 9]' --domain 'b=[0, 9]' --domain 'c=[0, 9]'"
)
LOSS = {"reported": 1}


def reported(people):
    rows = people[["a", "b", "c"]].to_numpy(dtype=float)
    lengths = np.abs(rows).sum(axis=1, keepdims=True)
    total = (rows / np.maximum(lengths, 1.0)).sum(axis=0)
    return (total + np.random.laplace(0, 1.0, 3)).tolist()
