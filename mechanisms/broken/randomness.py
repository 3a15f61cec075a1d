"""What if the noise itself is not what it seems? Generators that start again, and numbers with too few bits."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from dpaudit import PureDP, mechanism

from ..domain import positive
from ..losses import of_constants

STEP = (0, 1)


def replayed(answer: float, scale: float, seed: int) -> float:
    """Return the answer with Laplace noise, as the difference of two exponential draws, from a new generator."""
    generator = random.Random(seed)
    return answer + scale * (generator.expovariate(1) - generator.expovariate(1))


@mechanism(
    claim=PureDP,
    relation="queries(norm=1)",
    pairs=[STEP],
    true_loss=lambda epsilon, seed: of_constants(*(replayed(answer, 1 / epsilon, seed) for answer in STEP)),
    unit="one move of the answer by 1",
    source="Garfinkel & Leclerc (2020), Randomness concerns when deploying differential privacy",
    family="additive",
    correct=False,
)
def seeded(data: float, rng: np.random.Generator, *, epsilon: float = 1, seed: int = 2024) -> float:
    """Add Laplace noise of scale 1/epsilon to an answer, from a generator that is seeded in the call.

    What is wrong: the seed is there to make results reproducible. It does: the noise is the same number
    every time, and whoever has seen the code, or two releases, subtracts it.

    The true loss is ∞: both outputs are constants, and they differ.
    """
    return replayed(data, 1 / positive("epsilon", epsilon), seed)


@mechanism(
    claim=PureDP,
    relation="queries(norm=1)",
    pairs=[STEP],
    true_loss=lambda epsilon: epsilon,
    unit="one move of the answer by 1",
    source="Mironov (2012), On significance of the least significant bits for differential privacy",
    family="additive",
    correct=False,
    needs="a look at the low-order bits, since in real arithmetic it keeps its claim",
)
def float_laplace(
    data: float, size: int, rng: np.random.Generator, *, epsilon: float = 1
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Add Laplace noise by the textbook inverse: −sign(u)·ln(1 − 2|u|)/epsilon for u uniform on [−½, ½).

    What is wrong: nothing, in real numbers. Doubles are a grid, though, finer near 0 than near 1. Noise that
    falls between the points of the coarse grid is rounded when 1 is added to it, and stays when 0 is: more
    than a quarter of the releases for the answer 0 cannot come from the answer 1, and their last bits say so.

    The true loss is epsilon in real arithmetic, which is what a verdict is about; it is the claim, and no
    ordinary event shows more. For an attacker who reads the low-order bits it is ∞: that is a finding of its
    own, beside the verdict.
    """
    scale = 1 / positive("epsilon", epsilon)
    u = rng.random(size) - 0.5
    noise: np.ndarray[Any, np.dtype[np.float64]] = -scale * np.sign(u) * np.log(1 - 2 * np.abs(u))
    return data + noise
