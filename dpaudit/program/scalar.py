"""What does a program do in one run? The scalar reading: slow, obvious, the twin of every other reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.program.draws import SAMPLERS, pick
from dpaudit.program.noise import MOST_DRAWS, Noise, endless


class ScalarNoise(Noise):
    """Noise for one run after another, from a seeded generator.

    ``tape`` holds draws that were made before (by a batch that this run was part of): they are handed out
    first, in order, and then the generator goes on. ``drawn`` counts the draws asked for.
    """

    __slots__ = ("_rng", "_tape", "drawn")

    def __init__(self, rng: np.random.Generator, tape: Sequence[Any] = ()) -> None:
        self._rng = rng
        self._tape = tape
        self.drawn = 0

    def _from_tape(self) -> Any:
        """Return the next recorded draw, or None where the generator has to go on."""
        position = self.drawn
        self.drawn += 1
        if position >= MOST_DRAWS:
            raise endless()
        return self._tape[position] if position < len(self._tape) else None

    def _draw(self, method: str, *arguments: Any) -> Any:
        recorded = self._from_tape()
        return SAMPLERS[method](self._rng, 1, *map(float, arguments))[0].item() if recorded is None else recorded

    def _pick(self, weights: Sequence[float]) -> int:
        recorded = self._from_tape()
        return int(pick(self._rng, 1, weights)[0]) if recorded is None else int(recorded)
