"""How much noise is enough? The smallest noise with which a claim is certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from dpaudit.accounting.certify import MEMORY
from dpaudit.accounting.decide import PROVED, Decision, decide
from dpaudit.accounting.events import Event, Events
from dpaudit.errors import UsageError
from dpaudit.privacy import Claim
from dpaudit.privacy.claims import as_claim

_MOST = 1e6
_LEAST = 1e-3


@dataclass(frozen=True)
class Calibrated:
    """The smallest noise that is certified.

    Attributes:
        noise: it, as a decimal.
        decision: the proof that it keeps the claim.
        less: the largest noise that was tried and is not certified; within the precision of ``noise``.
    """

    noise: Decimal
    decision: Decision
    less: Decimal


def calibrate(
    events: Callable[[Decimal], Events | Event],
    claim: Claim | str,
    *,
    precision: float = 1e-4,
    memory: int = MEMORY,
) -> Calibrated:
    """Return the smallest noise for which a claim is certified, to a relative precision.

    Args:
        events: what is run with so much noise, such as ``lambda sigma: Gaussian(sigma).poisson(q).times(steps)``;
            more noise must not lose more.
        claim: what is to be kept.
        precision: how much smaller the noise might be, relatively.
        memory: the most bytes to use, about.

    Raises:
        UsageError: where no noise between 0.001 and a million keeps the claim, or less than 0.001 does.
    """
    claimed = as_claim(claim)
    if claimed is None:
        raise UsageError("calibration needs a claim, such as 'epsilon=3, delta=1e-5'")
    if not 1e-6 <= precision <= 0.1:
        raise UsageError(f"precision is relative, from 1e-6 to 0.1, not {precision!r}")
    # ε falls at least about as fast as noise grows, so that a width of a tenth of the precision is enough
    tolerance = min(0.1, max(1e-6, claimed.value * precision / 4))
    tried: dict[Decimal, Decision] = {}

    def enough(noise: Decimal) -> bool:
        if noise not in tried:
            rough = tolerance if not bracketed else max(tolerance, claimed.value * 0.02)
            tried[noise] = decide(events(noise), claimed, tolerance=rough, memory=memory)
        return tried[noise].verdict == PROVED

    bracketed = True
    low, high = _bracket(enough)
    for fine in (False, True):
        if fine:
            bracketed = False
            tried.clear()
            low, high = _moved(low, Decimal("0.98")), _moved(high, Decimal("1.005"))
            while not enough(high):
                low, high = high, _moved(high, Decimal("1.02"))
            while enough(low):
                low, high = _moved(low, Decimal("0.98")), low
        width = precision if fine else 0.02
        while high / low > 1 + width:
            middle = _moved((low * high).sqrt(), Decimal(1))
            if not low < middle < high:
                break
            low, high = (low, middle) if enough(middle) else (middle, high)
    return Calibrated(high, tried[high], low)


def _bracket(enough: Callable[[Decimal], bool]) -> tuple[Decimal, Decimal]:
    noise = Decimal(1)
    if enough(noise):
        while enough(noise):
            noise /= 2
            if noise < Decimal(_LEAST):
                raise UsageError(f"even noise below {_LEAST} keeps the claim; measure the answers in smaller units")
        return noise, 2 * noise
    while not enough(noise):
        noise *= 2
        if noise > Decimal(_MOST):
            raise UsageError(f"no noise up to {_MOST:g} keeps the claim: is its δ above that of the claims within?")
    return noise / 2, noise


def _moved(noise: Decimal, factor: Decimal) -> Decimal:
    """A noise of six digits, rounded up."""
    value = noise * factor
    digits = 5 - math.floor(math.log10(value))
    return Decimal(math.ceil(value * Decimal(10) ** digits)) / Decimal(10) ** digits


__all__ = ["Calibrated", "calibrate"]
