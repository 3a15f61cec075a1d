"""A number that is published."""

import numpy as np


def noisy_count(people, epsilon=1.0):
    """How many people there are, with Laplace noise."""
    return len(people) + np.random.laplace(0, 1 / epsilon)
