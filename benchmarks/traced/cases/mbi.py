"""Uses of mbi."""

from __future__ import annotations

import mbi
import numpy as np
from case import Case

DISTRIBUTION = "mbi"
DOMAIN = mbi.Domain(["a", "b"], [2, 3])


def estimated(scale, total=None):
    def release(data):
        rows = np.array(data)
        table = mbi.Dataset({"a": rows[:, 0], "b": rows[:, 1]}, DOMAIN)
        measured = []
        for clique in (("a",), ("b",)):
            exact = np.asarray(table.project(clique).datavector(), dtype=float)
            measured.append(mbi.LinearMeasurement(exact + np.random.normal(0, scale, exact.size), clique, scale))  # noqa: NPY002
        known = len(data) if total else None
        model = mbi.estimation.MirrorDescent().estimate(DOMAIN, measured, known_total=known, iters=5)
        return float(model.total), np.asarray(model.project(("a",)).datavector()).tolist()

    return release


ROWS = [[0, 1], [1, 2], [0, 0]]
CASES = [
    Case("Dataset with a value outside of the domain", estimated(8.0), (ROWS, [*ROWS[:2], [0, 7]]),
         "epsilon=1, delta=1e-5", "it raises, or drops the record, for one dataset alone"),
    Case("estimation with the exact total", estimated(8.0, True), (ROWS, [*ROWS, [0, 1]]), "epsilon=1, delta=1e-5",
         "the number of records is released", "add-remove"),
    Case("estimation", estimated(8.0), (ROWS, [*ROWS, [0, 1]]), "epsilon=1, delta=1e-5", relation="add-remove"),
]  # fmt: skip
