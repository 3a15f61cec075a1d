"""The noise of a sum is divided by n with the sum, and it was said that it should be divided by √n.

What comes after the noise cannot lose more: (sum + noise)/n keeps what sum + noise keeps, μ = 1 at σ = 1. The code is
right.
"""

import numpy as np

SOURCES = ("tensorflow/privacy#88", "dayu11/Gradient-Embedding-Perturbation#1", "meta-pytorch/opacus#753")
REPORTED = "2019-12"
DATA = "gradient\n" + "\n".join(f"{((i * 7) % 11 - 5) / 4}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim mu=1 --domain 'gradient=[-100, 100]'"
LOSS = {"reported": 1}


def reported(people, batch_size=256):
    clipped = np.clip(people["gradient"].to_numpy(dtype=float), -1, 1)
    return float((clipped.sum() + np.random.normal(0, 1.0)) / batch_size)
