"""A histogram was reported to ignore ε, as its bars looked alike at 1 and at 30.

Noise of scale 1 cannot be seen on bars of hundreds. It is there, and ε = 1 is kept: bins are public, and a record is
in one.
"""

import numpy as np

SOURCES = ("IBM/differential-privacy-library#99",)
REPORTED = "2025-04"
DATA = "x\n" + "\n".join(str(40 + (37 * i) % 120) for i in range(200))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'x=[0, 200]'"
LOSS = {"reported": 1}


def reported(people):
    counts, _ = np.histogram(people["x"].to_numpy(dtype=float), bins=10, range=(40, 160))
    return (counts + np.random.laplace(0, 1.0, 10)).tolist()
