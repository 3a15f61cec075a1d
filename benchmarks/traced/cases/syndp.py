"""Uses of syndp."""

from __future__ import annotations

from case import Case
from syndp import boundedlaplacemechanism, laplace_mechanism

DISTRIBUTION = "syndp"
CASES = [
    Case("laplace_mechanism", lambda data: laplace_mechanism(sum(data), 1.0, 1.0), ([0.0], [1.0]),
         mistake="a fixed seed"),
    Case("boundedlaplacemechanism", lambda data: boundedlaplacemechanism(sum(data), (0.0, 1.0), 1.0, 1.0, 0.0),
         ([0.0], [1.0]), mistake="a fixed seed"),
    Case("laplace_mechanism without a seed", lambda data: laplace_mechanism(sum(data), 1.0, 1.0, seed=None),
         ([0.0], [1.0])),
]  # fmt: skip
