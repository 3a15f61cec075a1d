"""Where is a number on the grid of doubles, and which sums can produce it?"""

from __future__ import annotations

import numpy as np

from dpaudit.arrays import Floats

LARGEST_STEP = 1024.0  # of 0, which is a multiple of every power of two


def steps(numbers: Floats, center: float = 0.0) -> Floats:
    """Return the exponent of the largest power of two of which ``numbers`` − ``center`` is a multiple; (n,) → (n,).

    The difference is rounded as doubles are. If it is 0 or overflows, the answer is `LARGEST_STEP`.
    """
    with np.errstate(over="ignore"):
        rest = numbers - center if center else numbers
    plain = np.isfinite(rest) & (rest != 0)
    fraction, exponent = np.frexp(np.where(plain, rest, 1.0))
    significand = np.abs(fraction * 2.0**53).astype(np.int64)
    lowest = (significand & -significand).astype(np.float64)  # the lowest set bit, a power of two
    return np.where(plain, exponent - 54 + np.frexp(lowest)[1], LARGEST_STEP).astype(np.float64)


def are_sums(numbers: Floats, center: float) -> Floats:
    """Return 1 for numbers that are ``center`` plus a double in floating-point arithmetic, else 0; (n,) → (n,).

    Only the double nearest to number − center has to be tried, because it comes nearest.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        again = (numbers - center) + center
    return np.equal(again, numbers).astype(np.float64)
