"""Which mechanisms lose exactly what they claim, so that only chance separates a bound from an error?

They run on the datasets 0 and 1, and have their own file, so that audits can load them by name in every worker.
"""

from __future__ import annotations

import math

import numpy as np

CELLS = 500
DELTA = 0.05


def null(data, size, rng):
    """Reveal nothing about the data."""
    return rng.normal(size=size)


def laplace(data, size, rng):
    """ε = 1, reached by both tails."""
    return rng.laplace(data, 1, size)


def laplace_program(data, noise):
    """The same, as a program."""
    return data + noise.laplace(1)


def geometric(data, size, rng):
    """ε = 1, on integers."""
    p = -math.expm1(-1)
    return rng.geometric(p, size) - rng.geometric(p, size) + data


def randomised_response(data, size, rng):
    """ε = 1, reached by every output."""
    return np.where(rng.random(size) < 1 / (1 + math.exp(-1)), data, 1 - data)


def response_of_three(data, size, rng):
    """ε = ln 3, reached by every output."""
    return (data + (rng.random(size) < 0.25)) % 2


def gaussian(data, size, rng):
    """μ = 1."""
    return rng.normal(data, 1, size)


def catastrophe(data, size, rng):
    """ε = 1 at δ = 0.05, reached exactly: the data are published with that probability, else randomised response."""
    return np.where(rng.random(size) < DELTA, 2 + data, randomised_response(data, size, rng))


def vector(data, size, rng):
    """ε = 1, in one of five coordinates."""
    return rng.laplace(0, 1, (size, 5)) + data * np.eye(5)[2]


def spread_vector(data, size, rng):
    """ε = 1, spread over five coordinates: hardly ever reached."""
    return rng.laplace(0, 1, (size, 5)) + data / 5


def many_outcomes(data, size, rng):
    """ε = 3 in each of 1,000 outcomes: randomised response in 500 places, half of them reversed."""
    cell = rng.integers(0, CELLS, size)
    told = np.where(rng.random(size) < 1 / (1 + math.exp(-3)), data, 1 - data)
    return 2 * cell + (told ^ (cell % 2))


def mixed_forms(data, rng):
    """ε = 1, in outputs of different forms: a word, a number, a list, a dict, nothing; one output per call."""
    told = int(rng.random() < 1 / (1 + math.exp(-1))) ^ (1 - data)
    forms = (
        ("no", [0.0, rng.random()], None, {"a": rng.random()}),
        ("yes", [1.0, rng.random()], 1.5, {"b": rng.random()}),
    )
    return forms[told][rng.integers(4)]


def rare_unreadable(data, noise, *, above=4.0):
    """ε = 1, reached on a rare branch that the batch reading cannot read."""
    x = data + noise.laplace(1.0)
    return "large " + str(int(x))[:0] if x > above else "small"


def raising(data, size, rng, *, rate=0.2):
    """ε = 1, in the rate of an exception."""
    if np.any(rng.random(size) < rate * (data + (1 - 2 * data) / (1 + math.exp(-1)))):
        raise ValueError("no answer")
    return rng.random(size)


def raising_seldom(data, size, rng, *, rate=0.01):
    """ε = 1, in the rate of a rare exception."""
    if np.any(rng.random(size) < rate * math.exp(data)):
        raise ValueError("no answer")
    return np.zeros(size)


_OUT = np.zeros(2**18)


def reused_array(data, size, rng):
    """Randomised response in one array that every call reuses."""
    _OUT[:size] = randomised_response(data, size, rng)
    return _OUT[:size]


_HELD = [0]


def reused_list(data, rng):
    """Randomised response in one list that every call reuses, one output per call."""
    _HELD[0] = int(rng.random() < 1 / (1 + math.exp(-1))) ^ (1 - data)
    return _HELD
