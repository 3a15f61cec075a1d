"""What can a program ask of its noise?

`Noise` is the interface that every reading offers: the drawing methods, with their checks. A reading says
how one draw is made (`_draw`) and how one option out of several is picked (`_pick`), nothing else.
A drawn value behaves like the number that it stands for: arithmetic, comparisons, ``min``, ``max``,
``sorted``, ``abs``, ``sum`` and ``round`` work; what leaves the reading (``float``, ``str``, ``hash``, …) raises.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

MOST_DRAWS = 100_000  # of one run; a program that asks for more is taken to be in an endless loop
WIDEST = 1e12  # of integer noise: its values stay far below 2^53, where floats hold every integer


class EndlessLoopError(Exception):
    """A run that drew noise `MOST_DRAWS` times: an output like any other exception."""


def endless() -> EndlessLoopError:
    """Return the exception of a run that draws without end."""
    return EndlessLoopError(f"a run drew noise more than {MOST_DRAWS:,} times")


class Noise(ABC):
    """Where a program's randomness comes from; every method draws anew, independently.

    Scales are positive finite numbers, those of integer noise at most `WIDEST`; another number raises
    ValueError, and what is no number TypeError (in every reading alike).
    """

    __slots__ = ()

    @abstractmethod
    def _draw(self, method: str, *arguments: Any) -> Any:
        """Draw once by the named method."""

    @abstractmethod
    def _pick(self, weights: Sequence[float]) -> int:
        """Draw an index with probability proportional to its weight, as a plain int."""

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value (the first of equals); one branch of len(values) ways."""
        values = list(values)
        if not values:
            raise ValueError("noise.argmax: there must be at least one value")
        best = 0
        for index, value in enumerate(values):
            if value > values[best]:
                best = index
        return best

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse copies: two copies would draw the same noise."""
        raise TypeError("noise cannot be copied or pickled: hand on the one that the program was given")

    def laplace(self, scale: Any) -> Any:
        """Laplace noise: density exp(−|x|/scale)/(2·scale), variance 2·scale²."""
        return self._draw("laplace", _positive("laplace", "scale", scale))

    def exponential(self, scale: Any) -> Any:
        """Exponential noise on [0, ∞): density exp(−x/scale)/scale."""
        return self._draw("exponential", _positive("exponential", "scale", scale))

    def gaussian(self, sigma: Any) -> Any:
        """Gaussian noise of standard deviation ``sigma``."""
        return self._draw("gaussian", _positive("gaussian", "sigma", sigma))

    def gumbel(self, scale: Any) -> Any:
        """Gumbel noise: distribution function exp(−exp(−x/scale))."""
        return self._draw("gumbel", _positive("gumbel", "scale", scale))

    def discrete_laplace(self, scale: Any) -> Any:
        """Integer noise with P(x) ∝ exp(−|x|/scale): the two-sided geometric distribution."""
        return self._draw("discrete_laplace", _positive("discrete_laplace", "scale", scale, WIDEST))

    def discrete_gaussian(self, sigma: Any) -> Any:
        """Integer noise with P(x) ∝ exp(−x²/(2·sigma²)) (Canonne, Kamath & Steinke 2020, Definition 1)."""
        return self._draw("discrete_gaussian", _positive("discrete_gaussian", "sigma", sigma, WIDEST))

    def bernoulli(self, probability: Any) -> Any:
        """True with the given probability."""
        _number("bernoulli", "the probability", probability)
        if not 0 <= probability <= 1:
            raise ValueError(f"noise.bernoulli: the probability must lie in [0, 1], not {probability!r}")
        return self._draw("bernoulli", probability)

    def uniform(self, low: Any = 0.0, high: Any = 1.0) -> Any:
        """A real number, uniform on [low, high)."""
        _number("uniform", "low", low)
        _number("uniform", "high", high)
        if not 0 < high - low < math.inf:
            raise ValueError(f"noise.uniform: need finite low < high, not {low!r} and {high!r}")
        return self._draw("uniform", low, high)

    def choice(self, options: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
        """One of the options, uniformly or with probability proportional to its weight (≥ 0)."""
        options = list(options)
        if not options:
            raise ValueError("noise.choice: there must be at least one option")
        weights = [1.0] * len(options) if weights is None else [float(weight) for weight in weights]
        if len(weights) != len(options):
            raise ValueError(f"noise.choice: {len(options)} options, but {len(weights)} weights")
        if not all(0 <= weight < math.inf for weight in weights) or not 0 < sum(weights) < math.inf:
            raise ValueError("noise.choice: weights must be finite, not negative, and not all zero")
        return self._choose(options, weights)

    def _choose(self, options: list[Any], weights: list[float]) -> Any:
        return options[self._pick(weights)]


def _number(method: str, name: str, value: Any) -> None:
    if not isinstance(value, int | float) and (not hasattr(value, "__float__") or getattr(value, "ndim", None)):
        raise TypeError(f"noise.{method}: {name} must be a number, not {type(value).__name__}")


def _positive(method: str, name: str, value: Any, most: float = math.inf) -> Any:
    _number(method, name, value)
    if not 0 < value < math.inf:
        raise ValueError(f"noise.{method}: {name} must be positive and finite, not {value!r}")
    if value > most:
        raise ValueError(f"noise.{method}: {name} must be at most {most:g}, not {value!r}")
    return value
