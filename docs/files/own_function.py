"""One noisy count, written in the ways in which a function may get its randomness."""

import numpy as np


def as_it_is(people, epsilon=1.0):
    return len(people) + np.random.laplace(0, 1 / epsilon)


def seeded(people, rng, epsilon=1.0):
    return len(people) + rng.laplace(0, 1 / epsilon)


def program(people, noise, *, epsilon=1.0):
    return len(people) + noise.laplace(1 / epsilon)


def sampler(people, size, rng, epsilon=1.0):
    return len(people) + rng.laplace(0, 1 / epsilon, size)
