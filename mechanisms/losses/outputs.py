"""With what probability is an output below a number? The laws of releases that are single numbers, as functions of x.

Each function here returns x ↦ P(output < x), over arrays: what the ``law`` of a mechanism is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Below = Callable[[Floats], Floats]


def below_laplace(answer: float, scale: float) -> Below:
    """Return the law of an answer with Laplace noise."""

    def below(x: Floats) -> Floats:
        tail = np.exp(-np.abs(x - answer) / scale) / 2
        return np.where(x < answer, tail, 1 - tail)

    return below


def below_gaussian(answer: float, sigma: float) -> Below:
    """Return the law of an answer with Gaussian noise of standard deviation ``sigma``."""
    from scipy.special import ndtr

    return lambda x: np.asarray(ndtr((x - answer) / sigma))


def below_discrete_laplace(answer: int, scale: float) -> Below:
    """Return the law of a whole answer with noise P(z) ∝ exp(−|z|/scale).

    P(Z ≤ m) = r^(−m)/(1 + r) for m < 0 and 1 − r^(m+1)/(1 + r) for m ≥ 0, with r = e^(−1/scale).
    """
    r = math.exp(-1 / scale)

    def below(x: Floats) -> Floats:
        most = np.ceil(x) - answer - 1  # not of a difference, in which the double after a whole number is lost
        tail = np.exp(-np.where(most < 0, -most, most + 1) / scale) / (1 + r)
        return np.where(most < 0, tail, 1 - tail)

    return below


def below_chosen(weights: Sequence[float]) -> Below:
    """Return the law of an index i that is chosen with a probability in proportion to ``weights[i]``."""
    summed = np.concatenate([[0.0], np.cumsum(weights)])
    summed /= summed[-1]
    return lambda x: summed[np.clip(np.ceil(x), 0, len(weights)).astype(int)]
