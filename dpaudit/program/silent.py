"""What does a program return without noise? Every draw at its most likely value.

This is what people call the exact answer of a release, with whatever the program does to its data before the noise
(clipping, rounding). It is run once, beside the audit, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.program.laws import LAWS, Support
from dpaudit.program.noise import MOST_DRAWS, Noise, endless


class UncentredError(Exception):
    """Raised where a draw has no most likely value: a uniform number, a fair coin, a tie."""


class Choice(int):
    """The index of an option that was chosen: a name, and no amount."""


class SilentNoise(Noise):
    """Noise that is not there: additive noise is 0, and the likeliest of several options is picked."""

    __slots__ = ("_drawn",)

    def __init__(self) -> None:
        self._drawn = 0

    def _draw(self, method: str, *arguments: Any) -> Any:
        self._count()
        law = LAWS[method]
        if law.outcomes is not None:
            outcomes = law.outcomes(*map(float, arguments))
            values = list(outcomes)
            return values[_likeliest([outcomes[value] for value in values])]
        if law.location_and_scale is not None:  # uniform
            raise UncentredError(method)
        return 0 if law.support is Support.INTEGERS else 0.0

    def _as_array(self, draws: Any) -> Any:
        return np.array(draws.tolist())

    def _pick(self, weights: Sequence[float]) -> int:
        self._count()
        return Choice(_likeliest(weights))

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value, as a choice."""
        return Choice(super().argmax(values))

    def _count(self) -> None:
        self._drawn += 1
        if self._drawn > MOST_DRAWS:
            raise endless()


def _likeliest(weights: Sequence[float]) -> int:
    most = max(weights)
    if sum(weight == most for weight in weights) > 1:
        raise UncentredError("a tie")
    return list(weights).index(most)
