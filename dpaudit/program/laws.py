"""What is known of a kind of noise? Its law, declared once next to the method of `Noise` that draws it.

The readings and the prover take what they need from the declaration. The checker of certificates trusts nobody and has
a table of its own (`dpaudit.checker.laws`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from dpaudit.arrays import Floats

Draws = np.ndarray[Any, np.dtype[Any]]
Method = TypeVar("Method", bound=Callable[..., Any])


class Support(Enum):
    """The values of a draw, before its location is added."""

    LINE = "all real numbers"
    HALF_LINE = "[0, ∞)"
    INTERVAL = "[0, scale)"
    INTEGERS = "all integers"
    FINITE = "those that are enumerated"


EITHER_WAY = (1, -1)
UP = (1,)
NEVER = ()


@dataclass(frozen=True, slots=True)
class Density:
    """The density of a draw of scale 1: exact, and the same in floats for whole arrays."""

    breaks: tuple[Fraction | int, ...]  # where its pieces meet, ascending
    # one more than breaks; each maps rates r to coefficients c, for the sum of all c·e^(r·x). All rates of the
    # first piece are positive and all of the last are negative, so that they vanish towards −∞ and ∞.
    pieces: tuple[Mapping[int, Fraction | int], ...]
    pdf: Callable[[Floats], Floats]  # the density
    cdf: Callable[[Floats], Floats]  # the probability of values below x
    sf: Callable[[Floats], Floats]  # the probability of values above x


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """The law of one kind of noise."""

    name: str  # of the method of `Noise`
    # (generator, size, *arguments) → draws, (size,); each argument is a number or an array (size,)
    sample: Callable[..., Draws]
    support: Support  # the values of a draw
    # the directions s in which a draw may be shifted by d > 0 at a cost of d/scale: its density (or probability)
    # f satisfies f(x) ≤ exp(d/scale)·f(x + s·d) for all x. None if no shift has a bounded cost, so that nothing
    # can be proved.
    shifts: tuple[int, ...] | None = None
    # the arguments → (location, scale), if they are more than a scale
    location_and_scale: Callable[..., tuple[Any, Any]] | None = None
    density: Density | None = None  # None if probabilities of events are not computed exactly
    # the arguments → the probability of each value; None unless the support is finite
    outcomes: Callable[..., dict[Any, Any]] | None = None

    @property
    def is_discrete(self) -> bool:
        """Whether single values have a probability."""
        return self.support is Support.INTEGERS or self.support is Support.FINITE

    @property
    def is_provable(self) -> bool:
        """Whether the symbolic reading supports it."""
        return self.shifts is not None or self.outcomes is not None


LAWS: dict[str, NoiseLaw] = {}
"""Every kind of noise, by the name of its method."""


def law(sample: Callable[..., Draws], support: Support, **known: Any) -> Callable[[Method], Method]:
    """Declare the law of the noise that the decorated method of `Noise` draws."""

    def declare(method: Method) -> Method:
        LAWS[method.__name__] = NoiseLaw(method.__name__, sample, support, **known)
        return method

    return declare
