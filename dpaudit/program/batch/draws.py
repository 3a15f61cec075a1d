"""How is each kind of noise drawn, many at once?

Every function takes a generator, the number of draws, and the arguments (numbers, or arrays with one entry
a draw). They sample the named distribution to double precision: a program stands for mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Draws = np.ndarray[Any, np.dtype[Any]]
Asked = tuple[Any, ...]
"""What was asked for: the kind of noise ("pick" for one of several options), and its arguments."""
Tape = list[tuple[Asked, Any]]
"""What one run drew, in order: what it asked for, and what came."""


def laplace(rng: np.random.Generator, size: int, scale: Any) -> Draws:
    """An exponential variable with a fair sign: twice as fast as `Generator.laplace`."""
    draws = rng.standard_exponential(size)
    draws *= scale
    signs = rng.random(size)
    signs -= 0.5
    return np.copysign(draws, signs, out=draws)


def discrete_laplace(rng: np.random.Generator, size: int, scale: Any) -> Draws:
    """Difference of two geometric variables (Inusah & Kozubowski 2006, Proposition 2.2), as int64."""
    # floor of an exponential variable of scale b is geometric with ratio exp(−1/b)
    up = np.floor(rng.exponential(scale, size))
    down = np.floor(rng.exponential(scale, size))
    return (up - down).astype(np.int64)


def discrete_gaussian(rng: np.random.Generator, size: int, sigma: Any) -> Draws:
    """Rejection from the discrete Laplace (Canonne, Kamath & Steinke 2020, Algorithm 3), as int64."""
    out = np.empty(size, dtype=np.int64)
    todo = np.arange(size)
    spread = np.broadcast_to(np.asarray(sigma, dtype=np.float64), (size,))
    while len(todo):
        s = spread[todo]
        scale = np.floor(s) + 1
        proposal = discrete_laplace(rng, len(todo), scale)
        # divided through by σ, so that the square of a tiny σ does not vanish
        with np.errstate(over="ignore"):
            log_accept = -((np.abs(proposal) / s - s / scale) ** 2) / 2
        accepted = rng.random(len(todo)) < np.exp(log_accept)
        out[todo[accepted]] = proposal[accepted]
        todo = todo[~accepted]
    return out


SAMPLERS: dict[str, Callable[..., Draws]] = {
    "laplace": laplace,
    "exponential": lambda rng, size, scale: rng.exponential(scale, size),
    "gaussian": lambda rng, size, sigma: rng.normal(0.0, sigma, size),
    "gumbel": lambda rng, size, scale: rng.gumbel(0.0, scale, size),
    "discrete_laplace": discrete_laplace,
    "discrete_gaussian": discrete_gaussian,
    "bernoulli": lambda rng, size, probability: rng.random(size) < probability,
    "uniform": lambda rng, size, low, high: low + (high - low) * rng.random(size),
}


def pick(rng: np.random.Generator, size: int, weights: Sequence[float]) -> Draws:
    """Indices with probability proportional to the weights, as int64."""
    cumulative = np.cumsum(np.asarray(weights, dtype=np.float64))
    found = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    # rounding may lead past the end, or onto a trailing option of weight zero
    last = int(np.max(np.flatnonzero(np.asarray(weights) > 0)))
    return np.asarray(np.minimum(found, last))


def alike(one: Asked, other: Asked) -> bool:
    """Whether two draws ask for the same law, to the last bits of computed arguments."""
    if one == other:
        return True
    return len(one) == len(other) and one[0] == other[0] and all(map(_close, one[1:], other[1:]))


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-300)
