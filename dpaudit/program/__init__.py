"""How is a program read? It is one function that draws all randomness from ``noise``, and is run in several ways."""

__all__ = [
    "batch_reading",
    "batch_value",
    "coverage",
    "enumerate",
    "fold",
    "noise",
    "outcome",
    "symbolic",
]
