"""What if the winner's score is released, and not only who won?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpaudit import PureDP, mechanism
from dpaudit.program.noise import Noise

from .. import losses
from ..domain import one_of
from ..selection import EQUAL, NOISE_KINDS, noisy_scores

# Every score moves up.
HIGHER = [2, 2, 2, 2, 2]


def largest_value_loss(epsilon: float, noise_kind: str) -> float:
    """Return the supremum of the log density ratio of the largest value.

    Laplace noise: as x → −∞ the density of the maximum is proportional to Π exp((x − s_i)/b), of which the ratio
    is the distance of the scores in norm 1 over b, if all move the same way. More it cannot be, since moving
    every noise by what its score moved costs just that. Exponential noise cannot come out below the best score,
    which moves; the left tail of Gumbel noise falls so fast, as exp(−exp(−x/b)), that its ratio has no bound.
    """
    if one_of("noise_kind", noise_kind, NOISE_KINDS) == "laplace":
        return losses.of_laplace(EQUAL, HIGHER, 2 / epsilon)
    return math.inf


@mechanism(
    claim=PureDP,
    relation="queries",
    pairs=[(EQUAL, HIGHER)],
    true_loss=largest_value_loss,
    unit="one move of every score by 1",
    source="Ding, Wang, Wang, Zhang & Kifer (2018), noisy max that returns the value; BadNoisyMax of Wang, Ding, "
    "Kifer & Zhang (2020)",
    family="selection",
    correct=False,
)
def noisy_max_value(data: Sequence[float], noise: Noise, *, epsilon: float = 1, noise_kind: str = "laplace") -> Any:
    """Add noise of scale 2/epsilon to every score and report how large the largest is. Published as BadNoisyMax.

    The noise is Laplace, exponential or Gumbel.

    What is wrong: the noise is enough to hide which score is the largest, and no more. A small maximum says
    that all scores, with their noise, were small: it tells of every one of them.

    The true loss is d·epsilon/2 with Laplace noise and d scores that all move the same way, 2.5 times the claim
    at the default d = 5, reached by small maxima. With exponential or Gumbel noise it is ∞.
    """
    noisy = noisy_scores(data, noise, epsilon, noise_kind)
    return noisy[noise.argmax(noisy)]
