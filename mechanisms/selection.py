"""Which candidate is best, for example which eye colour is the most common?

``data`` is a list of scores, one a candidate; neighbours move every score by at most 1, up or down. The
output is the index of the chosen candidate, never its score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpaudit import PureDP, mechanism
from dpaudit.program.noise import Noise

from . import losses
from .domain import one_of, positive

# The first candidate loses a point, all others gain one: it falls back by 2, as far as a candidate can.
EQUAL, BEHIND = [1, 1, 1, 1, 1], [0, 2, 2, 2, 2]


def exponential_loss(epsilon: float) -> float:
    """Return the loss of the two laws P(i) ∝ exp(ε·score/2)."""
    return losses.of_laws(losses.softmax(EQUAL, epsilon / 2), losses.softmax(BEHIND, epsilon / 2))


@mechanism(
    claim=PureDP,
    relation="queries",
    pairs=[(EQUAL, BEHIND)],
    true_loss=exponential_loss,
    law=lambda data, epsilon: losses.below_chosen(losses.softmax(data, epsilon / 2)),
    unit="one move of every score by 1",
    source="McSherry & Talwar (2007), Theorem 6; Dwork & Roth (2014), Theorem 3.10",
    family="selection",
)
def exponential(data: Sequence[float], noise: Noise, *, epsilon: float = 1) -> Any:
    """Choose a candidate with probability proportional to exp(epsilon·score/2).

    The 2 is the price of moving both the candidate's own weight and the sum of all weights, by e^(ε/2) each.

    The true loss is the log ratio of the first candidate's probabilities, with d candidates
    ln(((d − 1)·e^ε + 1)/d): below epsilon, because its own weight is part of the sum.
    """
    rate = positive("epsilon", epsilon) / 2
    best = max(data)
    return noise.choice(range(len(data)), [math.exp(rate * (score - best)) for score in data])


NOISE_KINDS = ("laplace", "exponential", "gumbel")


def noisy_max_loss(epsilon: float, noise_kind: str) -> float:
    """Return the loss of the two laws of the winner's index, by quadrature or in closed form."""
    one_of("noise_kind", noise_kind, NOISE_KINDS)
    if noise_kind == "laplace":
        return losses.of_laws(*(losses.laplace_argmax_law(scores, 2 / epsilon) for scores in (EQUAL, BEHIND)))
    if noise_kind == "exponential":
        return losses.of_laws(*(losses.permutation_law(scores, epsilon / 2) for scores in (EQUAL, BEHIND)))
    return exponential_loss(epsilon)


def noisy_scores(data: Sequence[float], noise: Noise, epsilon: float, noise_kind: str) -> list[Any]:
    """Return every score with noise of scale 2/epsilon."""
    one_of("noise_kind", noise_kind, NOISE_KINDS)
    scale = 2 / positive("epsilon", epsilon)
    draw = {"laplace": noise.laplace, "exponential": noise.exponential, "gumbel": noise.gumbel}[noise_kind]
    return [score + draw(scale) for score in data]


@mechanism(
    claim=PureDP,
    relation="queries",
    pairs=[(EQUAL, BEHIND)],
    true_loss=noisy_max_loss,
    unit="one move of every score by 1",
    source="Dwork & Roth (2014), Claim 3.9, at twice the scale because scores may move either way; "
    "Ding, Kifer, Steinke, Wang, Xiao & Zhang (2021) for exponential noise",
    family="selection",
)
def report_noisy_max(data: Sequence[float], noise: Noise, *, epsilon: float = 1, noise_kind: str = "laplace") -> int:
    """Add noise of scale 2/epsilon to every score and report which is largest, not how large it is.

    The noise is Laplace, exponential or Gumbel. With Gumbel noise this is the exponential mechanism, with
    exponential noise permute-and-flip. Reporting the largest value as well would be no longer epsilon-DP.
    With Laplace noise it is the NoisyMax of the literature on verification.

    The true loss is that of the first candidate's probability: exactly epsilon with exponential noise,
    less with Laplace and Gumbel noise.
    """
    return noise.argmax(noisy_scores(data, noise, epsilon, noise_kind))


@mechanism(
    claim=PureDP,
    relation="queries",
    pairs=[(EQUAL, BEHIND)],
    true_loss=lambda epsilon: noisy_max_loss(epsilon, "exponential"),
    law=lambda data, epsilon: losses.below_chosen(losses.permutation_law(data, epsilon / 2)),
    unit="one move of every score by 1",
    source="McKenna & Sheldon (2020), Algorithm 1",
    family="selection",
)
def permute_and_flip(data: Sequence[float], noise: Noise, *, epsilon: float = 1) -> int:
    """Visit the candidates in random order and choose the first that flips heads.

    A candidate flips heads with probability exp(epsilon·(score − best)/2).
    The best candidate always flips heads, so that one is always chosen. Never worse than the exponential
    mechanism.

    The true loss is epsilon: of d equal candidates the first is chosen with probability 1/d, and two points
    behind the others with exactly e^−ε/d.
    """
    rate, best = positive("epsilon", epsilon) / 2, max(data)
    waiting: list[tuple[int, float]] = list(enumerate(data))
    while True:
        candidate: tuple[int, float] = noise.choice(waiting)
        index, score = candidate
        if score == best or noise.bernoulli(math.exp(rate * (score - best))):
            return index
        waiting.remove(candidate)
