"""Noise that hands out a script of draws, so that a mechanism is run on paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.program.scalar import ScalarNoise


class Scripted(ScalarNoise):
    """Hands out a script of draws, and remembers what it was asked for, and the scales of Laplace noise among it."""

    __slots__ = ("asked", "script")

    def __init__(self, *script: float) -> None:
        super().__init__(np.random.default_rng(0))
        self.script = list(script)
        self.asked: list[tuple[Any, ...]] = []

    @property
    def scales(self) -> list[float]:
        """The scales that were asked for, where all of the noise is Laplace noise."""
        assert all(method == "laplace" for method, *_ in self.asked)
        return [float(scale) for _, scale in self.asked]

    def _draw(self, method: str, *arguments: Any) -> Any:
        self.asked.append((method, *arguments))
        return self.script.pop(0)
