"""How is a program read? One function that draws all its randomness from ``noise``, run in several ways."""

from dpaudit.program.noise import EndlessLoopError, Noise
from dpaudit.program.scalar import ScalarNoise

__all__ = ["EndlessLoopError", "Noise", "ScalarNoise"]
