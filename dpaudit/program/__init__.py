"""How is a program read? It is one function that draws all randomness from ``noise``, and is run in several ways."""

__all__ = [
    "batch",
    "compiled",
    "coverage",
    "enumerate",
    "fold",
    "laws",
    "noise",
    "outcome",
    "scalar",
    "silent",
    "symbolic",
]
