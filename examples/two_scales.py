# ruff: noqa: NPY002 – functions as people write them
"""Noise whose scale the data decide: four releases that are taken for private, and are not. See docs/two-scales.md."""

import numpy as np


def mean(x):
    """A mean of numbers from 0 to 1 with noise of 1/n, where n is private."""
    return np.sum(x) / max(len(x), 1) + np.random.laplace(0, 1 / max(len(x), 1))


def variance(x):
    """A variance of numbers from 0 to 1 with Gaussian noise for its movement by 1/n, where n is private."""
    centre = np.sum(x) / max(len(x), 1)
    return np.sum((np.asarray(x) - centre) ** 2) / max(len(x), 1) + np.random.normal(0, 5 / max(len(x), 1))


def median(x):
    """A median of numbers from 0 to 1 with noise for how far a neighbour of these data moves it."""
    ordered = np.sort(np.concatenate([[0.0], x, [1.0]]))
    middle = len(ordered) // 2
    far = max(ordered[middle + 1] - ordered[middle], ordered[middle] - ordered[middle - 1])
    return ordered[middle] + np.random.laplace(0, max(far, 0.01))


def largest(x):
    """The largest of numbers from 0 to 1 with Gaussian noise for how far it is from the next one."""
    ordered = np.sort(np.concatenate([[0.0, 0.0], x]))
    return ordered[-1] + np.random.normal(0, 5 * max(ordered[-1] - ordered[-2], 0.01))
