"""One noisy count, written in the four ways in which a function may ask for its randomness."""

import numpy as np


def program(people, noise, *, epsilon=1.0):
    return len(people) + noise.laplace(1 / epsilon)


def sampler(people, size, rng, epsilon=1.0):
    return len(people) + rng.laplace(0, 1 / epsilon, size)


def seeded(people, rng, epsilon=1.0):
    return len(people) + rng.laplace(0, 1 / epsilon)


def opaque(people, epsilon=1.0):
    return len(people) + np.random.default_rng().laplace(0, 1 / epsilon)
