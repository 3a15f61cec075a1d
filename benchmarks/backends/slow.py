"""Functions of which a run takes long, by waiting or by computing."""

from __future__ import annotations

import time

import numpy as np


def waits(data: float, rng: np.random.Generator) -> float:
    """Wait, as for a model on another machine."""
    time.sleep(0.005)
    return data + float(rng.laplace())


def computes(data: float, rng: np.random.Generator) -> float:
    """Compute for about a millisecond, as a small training does."""
    total = 0.0
    for number in range(12_000):
        total += number % 7
    return data + float(rng.laplace()) + 0 * total
