"""How is a mechanism run on paper? With noise that returns scripted draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.program.noise import ScalarNoise


class Scripted(ScalarNoise):
    """Returns scripted draws, and records the requests, including the scales of Laplace noise."""

    __slots__ = ("asked", "script")

    def __init__(self, *script: float) -> None:
        super().__init__(np.random.default_rng(0))
        self.script = list(script)
        self.asked: list[tuple[Any, ...]] = []

    @property
    def scales(self) -> list[float]:
        """The requested scales, if all noise is Laplace noise."""
        assert all(method == "laplace" for method, *_ in self.asked)
        return [float(scale) for _, scale in self.asked]

    def _draw(self, method: str, *arguments: Any) -> Any:
        self.asked.append((method, *arguments))
        return self.script.pop(0)
