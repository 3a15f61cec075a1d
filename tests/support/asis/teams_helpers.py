"""Helpers of several teams."""
import logging
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

log = logging.getLogger(__name__)



@dataclass
class Budget:
    total: float
    spent: float = 0.0
    entries: list = field(default_factory=list)

    def take(self, share: float, label: str) -> float:
        epsilon = self.total * share
        if self.spent + epsilon > self.total + 1e-9:
            raise ValueError(f"budget exceeded at {label}")
        self.spent += epsilon
        self.entries.append((label, epsilon))
        return epsilon


@contextmanager
def stage(name):
    log.info("begin %s", name)
    try:
        yield name
    finally:
        log.info("end %s", name)


def noisy_count(rows, epsilon, rng):
    return len(rows) + rng.laplace(0, 1 / epsilon)


def noisy_sum(column, low, high, epsilon, rng):
    bound = max(abs(low), abs(high))
    return column.clip(low, high).sum() + rng.laplace(0, bound / epsilon)


def histogram(column, labels, epsilon, rng):
    counts = column.value_counts().reindex(labels, fill_value=0)
    return counts + rng.laplace(0, 1 / epsilon, size=len(labels))


def nonnegative(value, digits=1):
    return max(0.0, round(float(value), digits))
