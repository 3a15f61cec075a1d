"""Uses of diffpriv-pure."""

from __future__ import annotations

import diffpriv_pure as pure
from case import Case

DISTRIBUTION = "diffpriv-pure"
PAIR = ([1.0, 2.0, 3.0], [1.0, 2.0, 1000.0])
CASES = [
    Case("private_count", lambda data: pure.private_count(len(data), 1.0), ([1, 2], [1, 2, 3]),
         mistake="noise that goes one way", relation="add-remove"),
    Case("private_mean, records added", lambda data: pure.private_mean(data, (0, 10), 1.0),
         ([5.0], [5.0, 6.0]), mistake="noise for the number of records that is there", relation="add-remove"),
    Case("private_sum", lambda data: pure.private_sum(data, (0, 10), 1.0), PAIR),
    Case("private_sum with δ", lambda data: pure.private_sum(data, (0, 10), 1.0, 1e-5), PAIR, "epsilon=1, delta=1e-5"),
    Case("private_mean", lambda data: pure.private_mean(data, (0, 10), 1.0), PAIR),
]  # fmt: skip
