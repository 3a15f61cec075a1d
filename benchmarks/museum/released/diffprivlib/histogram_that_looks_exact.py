"""A histogram was reported to ignore ε, as its bars looked alike at 1 and at 30.

The noise is there: ε = 1 is kept where a record comes or goes.
"""

import numpy as np

from diffprivlib import tools

SOURCES = ("IBM/differential-privacy-library#99",)
REPORTED = "2025-04"
PAIR = [[50.0, 60.0, 70.0, 150.0], [50.0, 60.0, 70.0]]
COMMAND = "audit {} --pair pair.json --relation add-remove --claim epsilon=1 --runs 20000"
LOSS = {"reported": 1}


def reported(values):
    counts, _ = tools.histogram(np.array(values), epsilon=1.0, bins=4, range=(40, 160))
    return counts.tolist()
