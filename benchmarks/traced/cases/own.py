"""Six small programs with mistakes that libraries had (arXiv 2602.17454), and a count that is right."""

from __future__ import annotations

import numpy as np
from case import Case

DISTRIBUTION = "numpy"


def laplace(value, sensitivity, epsilon):
    return value + np.random.laplace(0, sensitivity / epsilon)  # noqa: NPY002


def mean(data):
    return laplace(np.clip(data, -1, 1).sum(), 1.0, 1.0) / len(data)


def classes(data):
    found = np.unique(data)
    return [laplace(np.sum(data == each), 1.0, 1.0 / len(found)) for each in found]


def spent_twice(data):
    return laplace(np.sum(data), 1.0, 1.0), laplace(len(data), 1.0, 1.0)


def nan_sum(data):
    return laplace(np.sum(np.clip(data, -5, 5)), 5.0, 1.0)


def no_scale(data):
    features = kept = 5
    return laplace(np.sum(data), float(features - kept), 1.0)


def raw_sum(data):
    np.clip(data, -5, 5)
    return laplace(np.sum(data), 5.0, 1.0)


def count(data):
    return laplace(np.sum(np.asarray(data) == 1), 1.0, 1.0)


def values(*numbers):
    return np.array(numbers, dtype=float)


CASES = [
    Case("mean with the exact number of records", mean, (values(0.5, 0.5, 0.5), values(0.5, 0.5)),
         mistake="the number of records is used as if it were public", relation="add-remove"),
    Case("counts of the classes that are there", classes, (values(0, 1, 2, 0), values(0, 1, 0)),
         mistake="classes that are those of the data", relation="add-remove"),
    Case("two queries", spent_twice, (np.zeros(100), np.append(np.zeros(100), 1.0)),
         mistake="the budget is spent twice", relation="add-remove"),
    Case("clipped sum with NaN", nan_sum, (values(1, 2), values(1, np.nan)), mistake="NaN swallows the noise"),
    Case("scale of a difference", no_scale, (values(1, 1), values(1)), mistake="noise of scale 0",
         relation="add-remove"),
    Case("clipped, and the raw data summed", raw_sum, (values(1, -2, 3), values(1, -2, 100)),
         mistake="what is summed is not what was clipped"),
    Case("count", count, (values(0, 1, 1, 0), values(0, 1, 0)), relation="add-remove"),
]  # fmt: skip
