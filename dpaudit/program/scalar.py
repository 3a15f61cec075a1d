"""What does a program do in one run? The scalar reading: slow and obvious, to check every other reading against."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.program.laws import LAWS
from dpaudit.program.noise import MOST_DRAWS, Noise, endless, pick

Asked = tuple[Any, ...]
"""A request: the kind of noise ("pick" for one of several options), and its arguments."""
Tape = list[tuple[Asked, Any]]
"""The draws of one run, in order: each request with the value drawn."""


def alike(one: Asked, other: Asked) -> bool:
    """Whether two requests ask for the same law, up to rounding of computed arguments."""
    if one == other:
        return True
    return len(one) == len(other) and one[0] == other[0] and all(map(_close, one[1:], other[1:]))


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-300)


class ScalarNoise(Noise):
    """Noise for one run, or for several runs in sequence, from a seeded generator.

    ``before`` holds draws that were made earlier (by a batch that this run was part of): they are returned first, in
    order, and then the generator continues.

    Attributes:
        drawn: how many draws were requested.
        tape: the draws that were returned.
        diverged: whether a request differed from the one in ``before``; from there on ``before`` is not used.
    """

    __slots__ = ("_before", "_rng", "diverged", "drawn", "tape")

    def __init__(self, rng: np.random.Generator, before: Sequence[tuple[Asked, Any]] = ()) -> None:
        self._rng = rng
        self._before = before
        self.drawn = 0
        self.tape: Tape = []
        self.diverged = False

    def _next(self, asked: Asked, make: Callable[[], Any]) -> Any:
        position = self.drawn
        self.drawn += 1
        if position >= MOST_DRAWS:
            raise endless()
        if position < len(self._before) and not self.diverged:
            known, value = self._before[position]
            self.diverged = not alike(known, asked)
        if position >= len(self._before) or self.diverged:
            value = make()
        self.tape.append((asked, value))
        return value

    def _draw(self, method: str, *arguments: Any) -> Any:
        asked = (method, *map(float, arguments))
        return self._next(asked, lambda: LAWS[method].sample(self._rng, 1, *asked[1:])[0].item())

    def _as_array(self, draws: Any) -> Any:
        return np.array(draws.tolist())

    def _pick(self, weights: Sequence[float]) -> int:
        return int(self._next(("pick", *weights), lambda: int(pick(self._rng, 1, weights)[0])))
