"""The sensitivity of x² in a linear regression is taken from the lower bound twice, which is 0 here.

Its coefficient for x² gets no noise then; with x² exact, one record in [0, 10] shows through the fitted slope.
"""

import math

import numpy as np
from diffprivlib.models import LinearRegression

SOURCES = ("IBM/differential-privacy-library#104", "IBM/differential-privacy-library#110")
REPORTED = "2025-09"
PAIR = [[[[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 1.0], [10.0, 0.0]]]]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=0.5 --runs 10000"
LOSS = {"wrong": math.inf}
NAMED = ("a move of|moves by|exactly",)


def wrong(rows):
    x, y = np.asarray(rows)[:, :1], np.asarray(rows)[:, 1]
    model = LinearRegression(epsilon=0.5, bounds_X=(0, 10), bounds_y=(0, 1), fit_intercept=False)
    return float(model.fit(x, y).coef_.ravel()[0])
