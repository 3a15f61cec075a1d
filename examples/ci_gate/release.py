"""What the sample project releases about the visitors of a shop: how many there were, and what they spent in all."""

from __future__ import annotations

CAP = 100  # what a visitor may count for in the total


def visitors(spent, noise, *, epsilon=1.0):
    """The number of visitors. One visitor more or less moves it by 1."""
    return len(spent) + noise.laplace(1 / epsilon)


def total(spent, noise, *, epsilon=1.0):
    """What all visitors spent, each up to the cap. One visitor more or less moves it by at most the cap."""
    scale = CAP / epsilon
    return sum(min(max(amount, 0), CAP) for amount in spent) + noise.laplace(scale)
