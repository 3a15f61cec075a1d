"""How large are μ and ρ of a list of events, certainly? They add up, and nothing is composed.

μ adds up as squares (Dong, Roth & Su 2022, Corollary 3.3), and ρ as it is (Bun & Steinke 2016, Lemma 2.3), adaptively
too. Both ends are comparisons of rational numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpaudit.accounting.balls import outward, short
from dpaudit.accounting.certificate import certificate
from dpaudit.accounting.certify import TOLERANCE, Certified
from dpaudit.accounting.concentrated import concentrated, least
from dpaudit.accounting.events import Event, Events, as_events
from dpaudit.errors import UsageError

ADDED = ("mu", "rho")
"""The parameters that add up."""

_DIGITS = 30


def certify_added(events: Events | Event | Sequence[Event], parameter: str) -> Certified:
    """Return an interval that certainly holds μ or ρ of a list, with its certificate.

    From below it is the sum of the Kullback-Leibler divergences of pairs that are attained, which ρ is no less than.

    Args:
        events: a list of events, or one.
        parameter: "mu" or "rho".

    Raises:
        UsageError: for an event of which no theorem says μ or ρ.
    """
    listed = as_events(events)
    square, lowest = sums(listed, parameter)
    if parameter == "mu":
        low, high = _root(square)
    else:
        low, high = short(lowest, up=False), short(square, up=True)
    return Certified(
        listed,
        parameter,
        Fraction(0),
        outward(low, up=False),
        outward(high, up=True),
        certificate(listed, parameter, Fraction(0), (low, high), 0, []),
        (),
        TOLERANCE,
        "" if parameter == "mu" or lowest == square else "Of some events ρ is known between two bounds.",
    )


def sums(events: Events, parameter: str) -> tuple[Fraction, Fraction]:
    """Return μ² or ρ of a list, from above and from below, exactly.

    Raises:
        UsageError: for an event of which no theorem says it.
    """
    gaussian = parameter == "mu"
    known = [(concentrated(event), event, count) for event, count in events.parts]
    missing = [str(event) for own, event, _ in known if own is None or (gaussian and not own.gaussian)]
    if missing:
        raise UsageError(
            f"{'μ' if gaussian else 'ρ'} of {' and '.join(missing)} has no proof here: "
            f"{'only Gaussian noise without sampling' if gaussian else 'sampled records and (ε, δ) claims'} "
            f"{'has one' if gaussian else 'have none'}. Claim (ε, δ) instead, which is certified for all events"
        )
    factor = 2 if gaussian else 1  # μ² = 2ρ of Gaussian noise
    most = sum((factor * own.rho * count for own, _, count in known if own is not None), Fraction(0))
    return most, most if gaussian else sum((least(event) * count for _, event, count in known), Fraction(0))


def _root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Return the square root between two rational numbers, which are one where it is rational."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        found = Fraction(top, bottom)
        return short(found, up=False), short(found, up=True)
    scale = 10 ** (_DIGITS + max(0, len(str(square.denominator)) - len(str(square.numerator))))
    floor = math.isqrt(square.numerator * scale**2 // square.denominator)
    return Fraction(floor, scale), Fraction(floor + 1, scale)


__all__ = ["ADDED", "certify_added", "sums"]
