"""How much does Gaussian noise lose, without sampled records? By its formula, and nothing is composed.

δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Theorem 8), and releases with μ₁ and μ₂ are one with
μ² = μ₁² + μ₂² (Dong, Roth & Su 2022, Corollary 3.3). A claim of μ says as much from above, and noise that keeps it has
it from below. Gaussian noise with μ² = 2ρ also keeps a claim of ρ, so that it counts there from below.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpaudit.accounting.balls import ball, decimal, precision
from dpaudit.accounting.concentrated import concentrated
from dpaudit.accounting.discretise import height
from dpaudit.accounting.events import Events
from dpaudit.accounting.losses import GaussianLaw

LEAST = Decimal("1e-300")
"""A smaller δ is only said to be at most this."""

_BITS = (128, 256, 512, 1024, 2048, 4096, 8192)  # of the balls, until a question is decided
_NARROW = Fraction(1, 10**14)  # of a bound: how wide it may be
_MOST_HALVINGS = 400


def square_of_mu(events: Events) -> tuple[Fraction, bool] | None:
    """Return μ² of the Gaussian noise that a list is, and whether it is no less; None for other lists.

    Gaussian noise and claims of μ lose just as much. Claims of ρ may lose more.
    """
    known = [(concentrated(event), count) for event, count in events.parts]
    if any(own is None or not own.exact for own, _ in known):
        return None
    square = sum((2 * own.rho * count for own, count in known if own is not None), Fraction(0))
    return (square, all(own is not None and own.gaussian for own, _ in known)) if square else None


def delta(square: Fraction, epsilon: Fraction) -> tuple[Decimal, Decimal]:
    """Return δ at an ε between two decimals of 12 digits, or between 0 and 1e-300.

    Args:
        square: μ², above 0.
        epsilon: ε, at least 0, in nats.
    """
    low, high = Decimal(0), Decimal(1)
    for bits in _BITS:
        with precision(bits):
            found = _delta(square, epsilon)
            if found < ball(Fraction(LEAST)):
                return Decimal(0), LEAST
            if found > 0:
                low, high = decimal(found, up=False), min(Decimal(1), decimal(found, up=True))
            if found > 0 and found.upper() - found.lower() < ball(_NARROW) * found:
                break
    return low, high


def epsilon(square: Fraction, delta: Fraction) -> tuple[Decimal, Decimal]:
    """Return ε at a δ between two decimals of 12 digits.

    Halving keeps one end at which δ is certainly larger, and one at which it certainly is not.

    Args:
        square: μ², above 0.
        delta: δ, above 0 and below 1.
    """
    if _at_most(square, Fraction(0), delta) is True:
        return Decimal(0), Decimal(0)
    low, high = Fraction(0), Fraction(1)
    while _at_most(square, high, delta) is not True:
        high *= 2
    for _ in range(_MOST_HALVINGS):
        middle = (low + high) / 2
        kept = _at_most(square, middle, delta)
        if kept is None or high - low < _NARROW * high:
            break
        low, high = (low, middle) if kept else (middle, high)
    with precision(_BITS[0]):
        return decimal(ball(low), up=False), decimal(ball(high), up=True)


def _at_most(square: Fraction, epsilon: Fraction, delta: Fraction) -> bool | None:
    """Whether δ at an ε is at most this one; None where that cannot be told."""
    for bits in _BITS:
        with precision(bits):
            found, wanted = _delta(square, epsilon), ball(delta)
            if found <= wanted:
                return True
            if found > wanted:
                return False
    return None


def _delta(square: Fraction, epsilon: Fraction) -> Any:
    return height(GaussianLaw(1 / square), ball(epsilon))
