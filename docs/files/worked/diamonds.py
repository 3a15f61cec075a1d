"""How many diamonds are how heavy? Six bins of carats, counted in two ways."""

from itertools import pairwise

import numpy as np

EDGES = [0, 0.5, 1, 1.5, 2, 2.5, 6]


def sequential(data, noise, *, epsilon=0.5):
    """Six counts, one after the other, each with a sixth of ε."""
    counts = []
    for low, high in pairwise(EDGES):
        count = ((data["carat"] >= low) & (data["carat"] < high)).sum()
        counts.append(count + noise.laplace(6 / epsilon))
    return counts


def parallel(data, noise, *, epsilon=0.5):
    """One histogram: a stone is in one bin, so each count has all of ε."""
    counts, _ = np.histogram(data["carat"], bins=EDGES)
    return counts + noise.laplace(1 / epsilon, size=6)
