"""How is a program read? It is one function that draws all randomness from ``noise``, and is run in several ways."""

__all__ = [
    "agreement",
    "batch_reading",
    "batch_value",
    "enumerate",
    "fold",
    "laws",
    "noise",
    "outcome",
    "symbolic",
]
