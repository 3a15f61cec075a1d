"""How large or small must a probability be, given a count?

Exact one-sided bounds (Clopper & Pearson 1934), vectorised: arguments broadcast. The last bit is rounded outward,
because close to 1 a probability has few bits left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv

from dpaudit.arrays import Floats


def probability_at_least(hits: ArrayLike, runs: ArrayLike, error: ArrayLike) -> Floats:
    """Return the lower Clopper–Pearson bound L of a probability: P(true probability < L) ≤ ``error``.

    L is the ``error`` quantile of Beta(k, n − k + 1), and 0 at k = 0. All arguments broadcast.

    Args:
        hits: successes k.
        runs: trials n.
        error: error level, 1 − confidence.

    Returns:
        L, in the broadcast shape.
    """
    k, n, level = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (hits, runs, error)))
    found = betaincinv(np.maximum(k, 1.0), np.maximum(n - k + 1, 1.0), level)
    return np.where(k <= 0, 0.0, np.nextafter(found, 0.0))


def probability_at_most(hits: ArrayLike, runs: ArrayLike, error: ArrayLike) -> Floats:
    """Return the upper Clopper–Pearson bound U of a probability: P(true probability > U) ≤ ``error``.

    U is the complement of the lower bound for the failures, and 1 at k = n. All arguments broadcast.

    Args:
        hits: successes k.
        runs: trials n.
        error: error level, 1 − confidence.

    Returns:
        U, in the broadcast shape.
    """
    k, n, level = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (hits, runs, error)))
    # the upper tail function is accurate for small error levels, where 1 − error is not
    found = betainccinv(np.maximum(k + 1, 1.0), np.maximum(n - k, 1.0), level)
    return np.where(k >= n, 1.0, np.nextafter(found, 1.0))
