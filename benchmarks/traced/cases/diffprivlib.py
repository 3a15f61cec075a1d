"""Uses of diffprivlib."""

from __future__ import annotations

import numpy as np
from case import Case
from diffprivlib import models, tools
from diffprivlib.mechanisms import Laplace

DISTRIBUTION = "diffprivlib"
PAIR = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 90.0]))
MORE = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 4.0, 9.0]))
TABLE = (
    np.array([[0.1, 0.2], [0.4, 0.3], [0.9, 0.5], [0.7, 0.1]]),
    np.array([[0.1, 0.2], [0.4, 0.3], [0.9, 0.5], [0.0, 0.9]]),
)
Y = np.array([0, 1, 1, 0])


def logistic(data):
    model = models.LogisticRegression(epsilon=1.0, data_norm=2.0, max_iter=20).fit(data, Y)
    return model.coef_, model.intercept_


def bayes(data):
    return models.GaussianNB(epsilon=1.0, bounds=(0, 1), priors=[0.5, 0.5]).fit(data, Y).theta_


def linear(bounds):
    def release(data):
        model = models.LinearRegression(epsilon=1.0, bounds_X=bounds, bounds_y=(0, 1), fit_intercept=False)
        return model.fit(data, Y).coef_

    return release


def clipped_sum(data):
    return Laplace(epsilon=1, sensitivity=10).randomise(float(np.clip(data, 0, 10).sum()))


def tool(name, **options):
    return lambda data: getattr(tools, name)(data, epsilon=1.0, **options)


CASES = [
    Case("mean without bounds", tool("mean"), PAIR, mistake="bounds that are those of the data"),
    Case("histogram without a range", tool("histogram", bins=3), MORE, mistake="a range that is that of the data",
         relation="add-remove"),
    Case("GaussianNB without bounds", lambda data: models.GaussianNB(epsilon=1.0).fit(data, Y).theta_,
         (TABLE[0], np.vstack([TABLE[0][:3], [9.0, 9.0]])), mistake="bounds that are those of the data"),
    Case("Laplace of a sum with NaN", clipped_sum, (np.array([1.0, 2.0]), np.array([1.0, np.nan])),
         mistake="NaN swallows the noise"),
    Case("count_nonzero, records added", tool("count_nonzero"), (np.array([0, 1]), np.array([0, 1, 1])),
         mistake="cut off at the number of records", relation="add-remove"),
    Case("LinearRegression with bounds from 0", linear((0, 1)), TABLE,
         mistake="noise of squares is made for the lower bound alone"),
    Case("mean", tool("mean", bounds=(0, 10)), PAIR),
    Case("var", tool("var", bounds=(0, 10)), PAIR),
    Case("std", tool("std", bounds=(0, 10)), PAIR),
    Case("sum", tool("sum", bounds=(0, 10)), PAIR),
    Case("count_nonzero", tool("count_nonzero"), (np.array([0, 1]), np.array([1, 1]))),
    Case("histogram", tool("histogram", bins=3, range=(0, 10)), MORE, relation="add-remove"),
    Case("median", tool("median", bounds=(0, 10)), PAIR),
    Case("GaussianNB", bayes, TABLE),
    Case("LogisticRegression", logistic, TABLE),
    Case("LinearRegression", linear((-1, 1)), TABLE),
]  # fmt: skip
