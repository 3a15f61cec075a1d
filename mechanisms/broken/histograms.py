"""What if the scale of the noise is taken for its reciprocal?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit import PureDP, mechanism
from dpaudit.program.noise import Noise

from .. import losses
from ..domain import positive
from ..histograms import COUNTS, ONE_MORE


@mechanism(
    claim=PureDP,
    relation="queries(one)",
    pairs=[(COUNTS, ONE_MORE)],
    true_loss=lambda epsilon: losses.of_laplace(COUNTS, ONE_MORE, epsilon),
    unit="one move of one count by 1",
    source="Ding, Wang, Wang, Zhang & Kifer (2018), histogram with the wrong scale",
    family="histograms",
    correct=False,
)
def noisy_histogram_inverted_scale(data: Sequence[float], noise: Noise, *, epsilon: float = 0.1) -> list[Any]:
    """Add Laplace noise of scale epsilon, and not 1/epsilon, to every count.

    What is wrong: less privacy was wanted to cost less noise, and here a smaller epsilon gives less noise.

    The true loss is 1/epsilon, a hundred times the claim at the default. At epsilon = 1 the two scales are the
    same, and above it the mistake is only one of too much noise.
    """
    scale = positive("epsilon", epsilon)
    return [count + noise.laplace(scale) for count in data]
