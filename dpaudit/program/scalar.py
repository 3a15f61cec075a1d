"""What does a program do in one run? The scalar reading: slow, obvious, the twin of every other reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.program.laws import LAWS
from dpaudit.program.noise import MOST_DRAWS, Noise, endless, pick

Asked = tuple[Any, ...]
"""What was asked for: the kind of noise ("pick" for one of several options), and its arguments."""
Tape = list[tuple[Asked, Any]]
"""What one run drew, in order: what it asked for, and what came."""


def alike(one: Asked, other: Asked) -> bool:
    """Whether two draws ask for the same law, to the last bits of computed arguments."""
    if one == other:
        return True
    return len(one) == len(other) and one[0] == other[0] and all(map(_close, one[1:], other[1:]))


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-300)


class ScalarNoise(Noise):
    """Noise for one run, or for one after another, from a seeded generator.

    ``before`` holds draws that were made before (by a batch that this run was part of): they are handed out first, in
    order, and then the generator goes on.

    Attributes:
        drawn: how many draws were asked for.
        tape: the draws that were handed out, a tape in their turn.
        departed: whether something else was asked for than before, which says nothing from there on.
    """

    __slots__ = ("_before", "_rng", "departed", "drawn", "tape")

    def __init__(self, rng: np.random.Generator, before: Sequence[tuple[Asked, Any]] = ()) -> None:
        self._rng = rng
        self._before = before
        self.drawn = 0
        self.tape: Tape = []
        self.departed = False

    def _next(self, asked: Asked, make: Callable[[], Any]) -> Any:
        position = self.drawn
        self.drawn += 1
        if position >= MOST_DRAWS:
            raise endless()
        if position < len(self._before) and not self.departed:
            known, value = self._before[position]
            self.departed = not alike(known, asked)
        if position >= len(self._before) or self.departed:
            value = make()
        self.tape.append((asked, value))
        return value

    def _draw(self, method: str, *arguments: Any) -> Any:
        asked = (method, *map(float, arguments))
        return self._next(asked, lambda: LAWS[method].sample(self._rng, 1, *asked[1:])[0].item())

    def _pick(self, weights: Sequence[float]) -> int:
        return int(self._next(("pick", *weights), lambda: int(pick(self._rng, 1, weights)[0])))
