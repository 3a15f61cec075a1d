"""Uses of synthpriv."""

from __future__ import annotations

import numpy as np
import pandas as pd
from case import Case
from synthpriv.dp.copula import DPCopulaGenerator
from synthpriv.privacy.dpecdf import DPEcdf
from synthpriv.privacy.mechanisms import DPSGD

DISTRIBUTION = "synthpriv"
ONE = [0.1, 0.4, 0.5, 0.9]


def copula(data):
    frame = pd.DataFrame({"x": np.array(data, dtype=float), "kind": ["a" if each < 1 else "b" for each in data]})
    return DPCopulaGenerator(DPSGD(epsilon=1.0), bins=4).fit(frame).sample(2)


def ecdf(bounds, fresh):
    def release(data):
        rng = np.random.default_rng() if fresh else None
        return DPEcdf(epsilon=1.0, bins=4, bounds=bounds).fit(np.array(data), rng=rng).quantile([0.25, 0.5])

    return release


CASES = [
    Case("DPCopulaGenerator", copula, (ONE, [*ONE[:3], 7.0]),
         mistake="a fixed seed, and ranges and categories of the data"),
    Case("DPEcdf", ecdf((0, 1), False), (ONE, [*ONE, 0.2]), mistake="a fixed seed", relation="add-remove"),
    Case("DPEcdf without bounds", ecdf(None, True), (ONE, [*ONE, 7.0]), mistake="a range that is that of the data",
         relation="add-remove"),
    Case("DPEcdf with bounds and a generator", ecdf((0, 1), True), (ONE, [*ONE, 0.2]), relation="add-remove"),
]  # fmt: skip
