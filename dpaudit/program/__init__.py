"""How is a program read? One function that draws all its randomness from ``noise``, run in several ways."""

__all__ = [
    "batch",
    "coverage",
    "enumerate",
    "fold",
    "laws",
    "noise",
    "outcome",
    "scalar",
    "symbolic",
]
