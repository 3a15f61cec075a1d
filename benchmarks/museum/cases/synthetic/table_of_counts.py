"""Why is the sensitivity of a synthetic table 1? Because a record is in one cell of it.

Where a record comes or goes one count moves by 1: scale 1 keeps ε = 1. The code is right.
"""

import numpy as np

SOURCES = ("bnowok/synthpop#25",)
REPORTED = "2022-08"
DATA = "sex\n" + "\n".join("fm"[i % 2] for i in range(20))
COMMAND = 'audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain \'sex=["f", "m"]\''
LOSS = {"reported": 1}


def reported(people):
    return [float((people["sex"] == sex).sum() + np.random.laplace(0, 1.0)) for sex in "fm"]
