"""What happens when the noise is computed from the wrong number, or by a formula outside its domain?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpaudit import ApproxDP, PureDP, UsageError, mechanism
from dpaudit.program.noise import Noise

from ..additive import each, moving_by
from ..domain import bounds, clip, positive, probability
from ..losses import of_gaussian, of_laplace


def two_ends(reach: float) -> list[tuple[list[float], list[float]]]:
    """Return a record at one end of the range that becomes one at the other end."""
    positive("reach", reach)
    return [([reach, -reach, -reach], [reach, -reach, reach])]


def half_loss(epsilon: float, reach: float) -> float:
    """Return the distance of the two sums over the scale of the noise."""
    data0, data1 = two_ends(reach)[0]
    return of_laplace([sum(data0)], [sum(data1)], reach / epsilon)


@mechanism(
    claim=PureDP,
    relation="replace",
    pairs=two_ends,
    true_loss=half_loss,
    unit="one record",
    source="Dwork, McSherry, Nissim & Smith (2006), Definition 2: the sensitivity depends on who is a neighbour",
    family="queries",
    correct=False,
)
def half_sensitivity(data: Sequence[float], noise: Noise, *, epsilon: float = 1, reach: float = 1) -> Any:
    """Sum records clipped to [−reach, reach], with Laplace noise of scale reach/epsilon, under replace.

    What is wrong: reach is how far a record moves the sum when it comes or goes. When it is replaced, it may
    cross the whole range, and the sensitivity is 2·reach.

    The true loss is 2·epsilon: one record goes from −reach to reach.
    """
    scale = positive("reach", reach) / positive("epsilon", epsilon)
    return sum(clip(record, -reach, reach) for record in data) + noise.laplace(scale)


def of_two_scales(answer0: float, scale0: float, answer1: float, scale1: float) -> float:
    """Return the pure ε of two Laplace laws that may differ in scale as well: then their tails part, and it is ∞."""
    return of_laplace([answer0], [answer1], scale0) if scale0 == scale1 else math.inf


def newcomer_pairs(low: float, high: float) -> list[tuple[list[float], list[float]]]:
    """Return one record at one end of the range, and a second one at the other end."""
    bounds(low, high)
    return [([low], [low, high])]


def mean_loss(epsilon: float, low: float, high: float) -> float:
    """Return the loss of the two laws of the mean, each with the scale of its own number of records."""
    laws = ((sum(data) / len(data), (high - low) / (len(data) * epsilon)) for data in newcomer_pairs(low, high)[0])
    return of_two_scales(*next(laws), *next(laws))


@mechanism(
    claim=PureDP,
    relation="add-remove",
    pairs=newcomer_pairs,
    true_loss=mean_loss,
    unit="one record",
    source="Dwork & Roth (2014), section 3.3: the scale of the noise must not depend on the data; "
    "compare bounded_mean, which says so",
    family="queries",
    correct=False,
)
def public_n_mean(data: Sequence[float], noise: Noise, *, epsilon: float = 1, low: float = 0, high: float = 1) -> Any:
    """Average the n records that are there, with Laplace noise of scale (high − low)/(n·epsilon), under add-remove.

    What is wrong: the formula is right where n is public. Under add-remove neighbours have different n, and
    so different scales: an output far away is ever more likely from the smaller dataset.

    The true loss is ∞ whatever n, because the tails of two Laplace laws of different scales part. It becomes
    rarer as n grows: between n − 1 records at one end and a further one at the other, δ at ε = 1 is 0.142 for
    n = 2, 0.041 for n = 5 and 0.0018 for n = 100.
    """
    bounds(low, high)
    positive("epsilon", epsilon)
    if not len(data):
        raise UsageError("public_n_mean needs at least one record: the mean of none is not defined")
    total = sum(clip(record, low, high) for record in data)
    return total / len(data) + noise.laplace((high - low) / (len(data) * epsilon))


def careless_multiplier(epsilon: float, delta: float) -> float:
    """Return σ/Δ = √(2 ln(1.25/δ))/ε at any ε, although it is proved for ε < 1 alone."""
    return math.sqrt(2 * math.log(1.25 / probability("delta", delta))) / positive("epsilon", epsilon)


@mechanism(
    claim=ApproxDP,
    relation=lambda sensitivity: moving_by(sensitivity, norm=2),
    pairs=lambda sensitivity: [(0, sensitivity)],
    true_loss=lambda epsilon, delta: of_gaussian(1 / careless_multiplier(epsilon, delta), delta),
    unit="one move of the answers by the sensitivity",
    source="Balle & Wang (2018), section 2.3, on Dwork & Roth (2014), Theorem A.1",
    family="additive",
    correct=False,
    needs="an exact computation, since some 1e12 runs would be needed to bound a loss of 20",
)
def classic_gaussian_large_epsilon(
    data: Any, noise: Noise, *, epsilon: float = 20, delta: float = 1e-5, sensitivity: float = 1
) -> Any:
    """Add Gaussian noise of standard deviation sensitivity·√(2 ln(1.25/delta))/epsilon, at epsilon = 20.

    What is wrong: the theorem behind the formula supposes epsilon < 1. At large epsilon the formula adds too
    little noise; what is needed falls like 1/√(2·epsilon), not like 1/epsilon.

    The true loss is the ε at which this noise has δ(ε) = delta: 25.4 rather than 20 at the default, where the
    real δ at ε = 20 is 1.5e-3. Runs hardly show it: an event would have to be seen e^20 times as often on one
    side as on the other. A formula finds it at once.
    """
    sigma = positive("sensitivity", sensitivity) * careless_multiplier(epsilon, delta)
    return each(data, lambda answer: answer + noise.gaussian(sigma))
