"""Uses of dpmm."""

from __future__ import annotations

import pandas as pd
from case import Case
from dpmm.models.base.utils import gaussian_noise
from dpmm.processing.table_binner import TableBinner

DISTRIBUTION = "dpmm"
KINDS = (["a", "b", "a", "b"], ["a", "b", "a", "b", "c"])


def binned(data):
    frame = pd.DataFrame({"kind": pd.Series(data), "x": [float(len(each)) + n for n, each in enumerate(data)]})
    binner = TableBinner(binner_type="uniform", binner_settings={"n_bins": 3})
    binner.fit(frame)
    return dict(binner.bin_domain)


def counts(data):
    return [data.count(each) + float(gaussian_noise(4.0)) for each in "ab"]


CASES = [
    Case("TableBinner", binned, KINDS, mistake="categories that are those of the data", relation="add-remove"),
    Case("gaussian_noise", counts, (KINDS[0], KINDS[0][:3]), "epsilon=2, delta=1e-5", relation="add-remove"),
]  # fmt: skip
