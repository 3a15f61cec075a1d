# ruff: noqa: NPY002 – functions as people write them
"""Noise whose scale the data decide: four releases that a benchmark labels private. See two_scales.md."""

import numpy as np


def mean(x):
    """A mean of 3 to 9 numbers from -1 to 1, with Laplace noise of 10/n."""
    return (np.clip(x, -1, 1).sum() + 10 * np.random.laplace(0, 1)) / len(x)


def descent(x, steps=1):
    """Descent towards a mean, by means of clipped gradients with Gaussian noise of 2√T/(n − 1)."""
    at = 0.0
    for _ in range(steps):
        gradients = np.clip(at - np.asarray(x), -1, 1)
        noise = np.random.normal(0, 2 * np.sqrt(steps) / (len(x) - 1))
        at -= 0.5 * (gradients.sum() / len(x) + noise)
    return at


def spread(x, cut):
    """A mean of all but the ``cut`` least and largest numbers, and how far the largest is from the last that is cut."""
    ordered = np.sort(x)
    kept = ordered[cut : len(x) - cut]
    return kept.sum() / len(kept), max((ordered[-1] - ordered[cut - 1]) / len(kept), np.exp(-cut))


def trimmed(x, cut=10):
    """A trimmed mean with the hyperbolic sine of Gaussian noise, times that distance."""
    middle, scale = spread(x, cut)
    return middle + scale * np.sinh(np.random.normal(0, 1))


def trimmed_wider(x, cut=10):
    """A trimmed mean with Laplace noise, times that distance and a log-normal number."""
    middle, scale = spread(x, cut)
    return middle + scale * np.exp(1.5 + np.random.normal(0, 1)) * np.random.laplace(0, 1)
