"""What does a program do in one run? The scalar reading: slow, obvious, the twin of every other reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.program.draws import SAMPLERS, pick
from dpaudit.program.noise import MOST_DRAWS, EndlessLoopError, Noise


class ScalarNoise(Noise):
    """Noise for one run after another, from a seeded generator.

    ``tape`` holds draws that were made before (by a batch that this run was part of): they are handed out
    first, in order, and then the generator goes on.
    """

    __slots__ = ("_next", "_rng", "_tape")

    def __init__(self, rng: np.random.Generator, tape: Sequence[Any] = ()) -> None:
        self._rng = rng
        self._tape = tape
        self._next = 0

    def _from_tape(self) -> Any:
        """Return the next recorded draw, or None where the generator has to go on."""
        position = self._next
        self._next += 1
        if self._next > MOST_DRAWS:
            raise EndlessLoopError(f"a run drew noise more than {MOST_DRAWS:,} times")
        return self._tape[position] if position < len(self._tape) else None

    def _draw(self, method: str, *arguments: Any) -> Any:
        recorded = self._from_tape()
        return SAMPLERS[method](self._rng, 1, *arguments)[0].item() if recorded is None else recorded

    def _pick(self, weights: Sequence[float]) -> int:
        recorded = self._from_tape()
        return int(pick(self._rng, 1, list(weights))[0]) if recorded is None else int(recorded)

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value; the first of equals."""
        values = list(values)
        if not values:
            raise ValueError("noise.argmax: there must be at least one value")
        best = 0
        for index, value in enumerate(values):
            if value > values[best]:
                best = index
        return best
