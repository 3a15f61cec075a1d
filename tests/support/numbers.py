"""The functions of the questions: 49 statistics of n numbers from 0 to 1, as people write them.

The mathematics is that of a public benchmark (DPriv-Bench, arXiv 2604.15851); the code and the words are our own.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np


def total(x):
    return sum(x)


def product(x):
    return math.prod(x)


def largest(x):
    return max(x)


def smallest(x):
    best = x[0]
    for value in x[1:]:
        if value < best:
            best = value
    return best


def mean(x):
    return sum(x) / len(x)


def length_of_vector(x):
    return np.linalg.norm(x)


def ups_and_downs(x):
    return np.abs(np.diff(x)).sum()


def spread_about_mean(x):
    centre = np.mean(x)
    return np.sum(np.abs(np.asarray(x) - centre))


def squares_about_mean(x):
    centre = statistics.mean(x)
    return sum((value - centre) ** 2 for value in x)


def squares_below_one(x):
    return sum((value - 1) ** 2 for value in x)


def squares(x):
    return sum(value * value for value in x)


def cubes(x):
    return np.sum(np.array(x) ** 3)


def roots(x):
    return sum(math.sqrt(value) for value in x)


def logarithms(x):
    return np.log1p(x).sum()


def exponentials(x):
    return sum(map(math.exp, x))


def sines(x):
    return np.sin(np.pi * np.array(x)).sum()


def cosines(x):
    return sum(math.cos(math.pi * value) for value in x)


def angles(x):
    return np.arctan(x).sum()


def uncertainty(x):
    return sum(value * (1 - value) for value in x)


def squared_uncertainty(x):
    values = np.asarray(x)
    return np.sum(values**2 * (1 - values) ** 2)


def middle(x):
    return np.median(x)


def quartile_range(x):
    low, high = np.quantile(x, [0.25, 0.75])
    return high - low


def above_half(x):
    return sum(value > 0.5 for value in x)


def second_quarter(x):
    count = 0
    for value in x:
        if 0.25 <= value <= 0.5:
            count += 1
    return count


def products_of_neighbours(x):
    return sum(a * b for a, b in itertools.pairwise(x))


def products_of_pairs(x):
    found = 0
    for i in range(len(x)):
        for j in range(i):
            found += x[i] * x[j]
    return found


def odd_less_even(x):
    return sum(x[i] - x[i + 1] for i in range(0, len(x) - 1, 2))


def squared_total(x):
    return sum(x) ** 2


def weighted(x):
    return sum(weight * value for weight, value in enumerate(x, start=1))


def more_than_half(x):
    return 1 if sum(x) > len(x) / 2 else 0


def above_seventy(x):
    return np.sum(np.asarray(x) > 0.7)


def all_above_half(x):
    return 1.0 if all(value > 0.5 for value in x) else 0.0


def first_is_larger(x):
    return int(x[0] > x[1])


def parity(x):
    return sum(value > 0.5 for value in x) % 2


def logarithm_of_squares(x):
    return math.log(1 + sum(value**2 for value in x))


def round_trip(x):
    return np.sqrt(np.sum((np.asarray(x) - np.roll(x, -1)) ** 2))


def ratio_of_sums(x):
    return sum(value**2 for value in x) / (1 + sum(x))


def bell(x):
    return math.exp(-sum(value**2 for value in x))


def inverse_squares(x):
    return sum(1 / (1 + value**2) for value in x)


def logistic(x):
    return np.sum(1 / (1 + np.exp(-np.asarray(x))))


def soft_maximum(x):
    weights = np.exp(x)
    return np.dot(weights, x) / weights.sum()


def distance_from_half(x):
    return sum(abs(value - 0.5) for value in x)


def squared_steps(x):
    return np.sum(np.diff(x) ** 2)


def backwards(x):
    return sum(reversed(x))


def below_first(x):
    return sum(value < x[0] for value in x[1:])


def every_second(x):
    return sum(x[1::2])


def harmonic(x):
    return sum(value / place for place, value in enumerate(x, start=1))


def entropy_like(x):
    return -sum(value * math.log(value + 2) for value in x)


def from_uniform(x):
    return sum(abs(value - place / len(x)) for place, value in enumerate(x, start=1))


_SIGMOID = 1 / (1 + math.exp(-1)) - 0.5
FUNCTIONS: dict[Callable[[Any], Any], Callable[[int], float]] = {
    total: lambda n: 1, product: lambda n: 1, largest: lambda n: 1, smallest: lambda n: 1, mean: lambda n: 1 / n,
    length_of_vector: lambda n: 1, ups_and_downs: lambda n: 2 if n > 2 else 1,
    spread_about_mean: lambda n: 2 * (n - 1) / n, squares_about_mean: lambda n: (n - 1) / n,
    squares_below_one: lambda n: 1, squares: lambda n: 1, cubes: lambda n: 1, roots: lambda n: 1,
    logarithms: lambda n: math.log(2), exponentials: lambda n: math.e - 1, sines: lambda n: 1, cosines: lambda n: 2,
    angles: lambda n: math.pi / 4, uncertainty: lambda n: 1 / 4, squared_uncertainty: lambda n: 1 / 16,
    middle: lambda n: 1 if n % 2 else 1 / 2, quartile_range: lambda n: 1 if n > 3 else 1 / 2,
    above_half: lambda n: 1, second_quarter: lambda n: 1, products_of_neighbours: lambda n: 2 if n > 2 else 1,
    products_of_pairs: lambda n: n - 1, odd_less_even: lambda n: 1, squared_total: lambda n: 2 * n - 1,
    weighted: lambda n: n, more_than_half: lambda n: 1, above_seventy: lambda n: 1, all_above_half: lambda n: 1,
    first_is_larger: lambda n: 1, parity: lambda n: 1, logarithm_of_squares: lambda n: math.log(2),
    round_trip: lambda n: math.sqrt(2), ratio_of_sums: lambda n: 1 / 2, bell: lambda n: 1 - math.exp(-1),
    inverse_squares: lambda n: 1 / 2, logistic: lambda n: _SIGMOID,
    soft_maximum: lambda n: math.e / (math.e + n - 1), distance_from_half: lambda n: 1 / 2,
    squared_steps: lambda n: 2 if n > 2 else 1, backwards: lambda n: 1, below_first: lambda n: n - 1,
    every_second: lambda n: 1, harmonic: lambda n: 1, entropy_like: lambda n: math.log(3), from_uniform: lambda n: 1,
}  # fmt: skip
"""Each function with how far one number moves it, of n numbers, where that is known by hand."""
