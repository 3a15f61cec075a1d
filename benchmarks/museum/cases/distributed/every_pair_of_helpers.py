"""Every pair of three helpers adds all of the noise, so that one dishonest helper cannot take it away.

Three times whole-number noise of scale 1 on a count: any one of them keeps ε = 1. More noise than is needed where all
are honest; the code is right.
"""

import numpy as np

SOURCES = ("private-attribution/ipa#1241",)
REPORTED = "2024-08"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]'"
LOSS = {"reported": 1, "fixed": 1}
P = 1 - np.exp(-1.0)


def reported(people):
    noise = sum(int(np.random.geometric(P) - np.random.geometric(P)) for _ in range(3))
    return len(people) + noise


def fixed(people):
    return len(people) + int(np.random.geometric(P) - np.random.geometric(P))
