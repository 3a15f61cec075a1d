"""What do the names in a release give away? Groups that are there because somebody is in them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from dpaudit import ApproxDP, PureDP, mechanism
from dpaudit.program.noise import Noise

from ..domain import positive, probability

RARE = (["flu", "flu", "cold"], ["flu", "flu", "cold", "plague"])


def loss_of_presence(chance: float, delta: float) -> float:
    """Return the ε of an event that has a chance on one side and none on the other: ∞, unless δ covers it."""
    return math.inf if chance > delta else 0.0


@mechanism(
    claim=PureDP,
    relation="add-remove",
    pairs=[RARE],
    true_loss=lambda: loss_of_presence(1.0, 0.0),
    unit="one record",
    source="Korolova, Kenthapadi, Mishra & Ntoulas (2009), section 4, on why query logs need a threshold",
    family="queries",
    correct=False,
)
def keys_leak(data: Sequence[Any], noise: Noise, *, epsilon: float = 1) -> dict[Any, Any]:
    """Count the records of each group that occurs, with Laplace noise of scale 1/epsilon each.

    What is wrong: the counts are protected, their names are not. A group of one person is in the release if
    and only if that person is in the data. Right would be a list of groups that is fixed beforehand, as in
    histogram, or a threshold that a group of one hardly ever passes.

    The true loss is ∞: the third name is there with certainty on one side, and never on the other.
    """
    scale = 1 / positive("epsilon", epsilon)
    return {key: n + noise.laplace(scale) for key, n in sorted(Counter(data).items())}


def chance_of_one(epsilon: float, threshold: float) -> float:
    """Return P(1 + Laplace(1/ε) > threshold)."""
    distance = (threshold - 1) * epsilon
    return math.exp(-distance) / 2 if distance > 0 else 1 - math.exp(distance) / 2


@mechanism(
    claim=ApproxDP,
    relation="add-remove",
    pairs=[RARE],
    true_loss=lambda epsilon, delta, threshold: loss_of_presence(chance_of_one(epsilon, threshold), delta),
    unit="one record",
    source="Korolova, Kenthapadi, Mishra & Ntoulas (2009), Theorem 1; Desfontaines, Voss, Gipson & Mandayam (2022) "
    "for the least threshold",
    family="queries",
    correct=False,
)
def threshold_too_low(
    data: Sequence[Any], noise: Noise, *, epsilon: float = 1, delta: float = 1e-6, threshold: float = 1
) -> dict[Any, Any]:
    """Count the records of each group that occurs, with Laplace noise, and release those above a threshold.

    What is wrong: the threshold is a round number. It takes 1 + ln(1/(2·delta))/epsilon, 14.1 here, for a
    group of one to pass with probability delta only.

    The true loss is ∞ at delta = 1e-6: with threshold 1 the group of one passes every second time, so that δ
    is ½ whatever ε.
    """
    scale = 1 / positive("epsilon", epsilon)
    probability("delta", delta)
    positive("threshold", threshold)
    noisy = {key: n + noise.laplace(scale) for key, n in sorted(Counter(data).items())}
    return {key: n for key, n in noisy.items() if n > threshold}
