"""How large or small must a probability be, given a count?

Exact one-sided bounds (Clopper & Pearson 1934), vectorised: arguments broadcast. The last bit is rounded
outward, since close to 1 a probability has few bits left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv

from dpaudit.arrays import Floats


def probability_at_least(hits: ArrayLike, runs: ArrayLike, error: ArrayLike) -> Floats:
    """Return L with P(true probability < L) ≤ ``error``: the ``error`` quantile of Beta(k, n − k + 1), 0 at k = 0."""
    k, n, level = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (hits, runs, error)))
    found = betaincinv(np.maximum(k, 1.0), np.maximum(n - k + 1, 1.0), level)
    return np.where(k <= 0, 0.0, np.nextafter(found, 0.0))


def probability_at_most(hits: ArrayLike, runs: ArrayLike, error: ArrayLike) -> Floats:
    """Return U with P(true probability > U) ≤ ``error``: the complement of the bound for the misses; 1 at k = n."""
    k, n, level = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (hits, runs, error)))
    # the upper tail function keeps small error levels accurate, where 1 − error would lose them
    found = betainccinv(np.maximum(k + 1, 1.0), np.maximum(n - k, 1.0), level)
    return np.where(k >= n, 1.0, np.nextafter(found, 1.0))
