"""Uses of diff-priv-laplace-python."""

from __future__ import annotations

import numpy as np
from case import Case
from diffpriv_laplace import DiffPrivSequentialStatisticsQuery, DiffPrivStatisticKind

DISTRIBUTION = "diff-priv-laplace-python"


def ask(kind):
    return lambda data: DiffPrivSequentialStatisticsQuery.query(np.array(data), kind, 1.0)


def mean(data):
    from diffpriv_laplace import DiffPrivLaplaceMechanism

    return DiffPrivLaplaceMechanism(1.0).anonymize_mean(float(np.clip(data, 0, 10).mean()), 0, 10, len(data))


CASES = [
    Case("median", ask(DiffPrivStatisticKind.median), ([0.0, 0.0, 100.0, 100.0, 100.0], [0.0, 0.0, 0.0, 100.0, 100.0]),
         mistake="a sensitivity of 1, whatever the data are"),
    Case("max", ask(DiffPrivStatisticKind.max), ([1.0, 2.0], [1.0, 50.0]),
         mistake="a sensitivity of 1, whatever the data are"),
    Case("sum", ask(DiffPrivStatisticKind.sum), ([1.0, 2.0], [1.0, 50.0]), mistake="bounds that are those of the data"),
    Case("mean", ask(DiffPrivStatisticKind.mean), ([1.0, 2.0], [1.0, 50.0]),
         mistake="bounds that are those of the data"),
    Case("count", ask(DiffPrivStatisticKind.count), ([0, 1, 1], [0, 1, 0]),),
    Case("anonymize_mean with bounds", mean, ([1.0, 2.0], [1.0, 50.0])),
]  # fmt: skip
