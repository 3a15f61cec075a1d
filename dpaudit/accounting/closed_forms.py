"""What do many steps lose together, where a formula says it? Sums of ρ, of μ, and the normal law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.accounting import certificate, lattice
from dpaudit.accounting.events import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Events,
    Exponential,
    Gaussian,
    Laplace,
    RandomisedResponse,
    Sampled,
)
from dpaudit.accounting.losses import Atoms, GaussianLaw, ball, decimal, precision
from dpaudit.decimals import number_of, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import GaussianDP, PureDP, ZeroConcentratedDP

# --- What ρ of zero-concentrated privacy does an event keep? Which ε and δ follow? By theorems, without curves ---

_BITS = 512
_LEAST = Fraction(1, 10**40)  # a smaller ρ is not told from 0 from below


@dataclass(frozen=True)
class Concentrated:
    """ρ of an event."""

    rho: Fraction  # no neighbours lose more
    exact: bool = False  # whether Gaussian noise, which has this ρ at every order, is such an event
    gaussian: bool = False  # whether the event is Gaussian noise, or a claim of μ, so that μ² = 2ρ


def concentrated(event: Event) -> Concentrated | None:
    """Return ρ of an event; None where no theorem gives one.

    Gaussian noise has ρ = Δ²/2σ² exactly, and discrete Gaussian noise at most that (Bun & Steinke 2016, Proposition
    1.6; Canonne, Kamath & Steinke 2020, Theorem 4). ε-DP gives ε·tanh(ε/2) (`to_zcdp`), and an ε-bounded range ε²/8
    (Cesar & Rogers 2021, Lemma 3.2).
    """
    if isinstance(event, Gaussian):
        return Concentrated(1 / event.ratio**2 / 2, exact=True, gaussian=True)
    if isinstance(event, DiscreteGaussian):
        return Concentrated(1 / event.ratio**2 / 2)
    if isinstance(event, Laplace | DiscreteLaplace):
        return Concentrated(_of_pure(1 / event.ratio))
    if isinstance(event, RandomisedResponse):
        return Concentrated(_of_pure(event.epsilon))
    if isinstance(event, Exponential):
        return Concentrated(event.epsilon**2 / 8)
    return _claimed(event) if isinstance(event, Block) else None


def _of_pure(epsilon: Fraction) -> Fraction:
    """Return ε·tanh(ε/2), rounded up to the digits that are certified."""
    with precision(_BITS):
        found = ball(epsilon) * (ball(epsilon) / 2).tanh()
        return min(epsilon**2 / 2, Fraction(decimal(found, up=True)))


def _claimed(block: Block) -> Concentrated | None:
    claim = block.claim
    if isinstance(claim, ZeroConcentratedDP):
        return Concentrated(number_of(claim.rho), exact=True)
    if isinstance(claim, GaussianDP):
        return Concentrated(root_of(claim.mu) ** 2 / 2, exact=True, gaussian=True)
    return Concentrated(_of_pure(number_of(claim.epsilon))) if isinstance(claim, PureDP) else None


def least(event: Event) -> Fraction:
    """Return a ρ that some neighbours certainly lose: the Kullback-Leibler divergence of the attained pair, D₁ ≤ ρ.

    It is the mean of the loss. Of discrete Gaussian noise it is Δ²/2σ², by symmetry, and of Laplace noise
    ε + e^(−ε) − 1, with ε = Δ/b.
    """
    own = concentrated(event)
    if own is None or own.rho < _LEAST:
        return Fraction(0)
    if own.exact or isinstance(event, DiscreteGaussian):
        return own.rho
    with precision(_BITS):
        if isinstance(event, Laplace):
            loss = ball(1 / event.ratio)
            found = loss + (-loss).expm1()
        else:
            law = certificate.attained(event, 0)
            assert isinstance(law, Atoms)
            found = sum((loss * mass for loss, mass, _ in law.values()), ball(0))
        return max(Fraction(0), Fraction(decimal(found, up=False))) if found.is_finite() else Fraction(0)


def total(events: Events) -> Fraction | None:
    """Return ρ of a list that holds a claim of ρ; None for a list without one, which composes as a curve.

    Raises:
        UsageError: where another event of the list has no ρ.
    """
    named = [str(event) for event, _ in events.parts if _claims_rho(event)]
    if not named:
        return None
    known = [(concentrated(event), count) for event, count in events.parts]
    if missing := [str(event) for (own, _), (event, _) in zip(known, events.parts, strict=True) if own is None]:
        raise UsageError(
            f"{named[0]}: no single pair of distributions dominates what keeps a claim of ρ, so it composes only with "
            f"what has a ρ of its own, which {' and '.join(missing)} has not; give the mechanism itself, or its claim "
            "as (ε, δ) or μ"
        )
    return sum((own.rho * count for own, count in known if own is not None), Fraction(0))


def _claims_rho(event: Event) -> bool:
    mechanism = event.mechanism if isinstance(event, Sampled) else event
    return isinstance(mechanism, Block) and isinstance(mechanism.claim, ZeroConcentratedDP)


@dataclass(frozen=True)
class Order:
    """What ρ-zCDP implies by its divergence of one order (Canonne, Kamath & Steinke 2020, Proposition 12)."""

    rho: Fraction  # of all events
    alpha: Fraction  # the order, above 1; any one is proved, and the best is searched for in floating point

    def epsilon(self, delta: Fraction) -> Any:
        """Return ε = αρ + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), or 0, as a ball."""
        alpha = ball(self.alpha)
        found = alpha * ball(self.rho) + (-1 / alpha).log1p() - (ball(delta) * alpha).log() / (alpha - 1)
        return found.max(ball(0))

    def delta(self, epsilon: Fraction) -> Any:
        """Return δ = e^((α − 1)(αρ − ε))·(1 − 1/α)^(α − 1)/α, as a ball."""
        alpha = ball(self.alpha)
        return ((alpha - 1) * (alpha * ball(self.rho) - ball(epsilon) + (-1 / alpha).log1p())).exp() / alpha


def best_order(rho: Fraction, *, delta: Fraction | None = None, epsilon: Fraction | None = None) -> Order:
    """Return the order that gives about the smallest ε at a δ, or the smallest δ at an ε."""
    less = np.exp(np.linspace(-12, 14, 8001))  # α − 1
    alpha = 1 + less
    if delta is not None:
        log_delta = math.log(delta.numerator) - math.log(delta.denominator)
        values = alpha * float(rho) + np.log(less / alpha) - (log_delta + np.log(alpha)) / less
    else:
        values = less * (alpha * float(rho) - float(epsilon or 0) + np.log(less / alpha)) - np.log(alpha)
    return Order(rho, Fraction(f"{1 + float(less[int(np.argmin(values))]):.9f}"))


# --- How much does Gaussian noise lose, without sampled records? By its formula, and nothing is composed ---
#
# δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Theorem 8), and releases with μ₁ and μ₂ are one with
# μ² = μ₁² + μ₂² (Dong, Roth & Su 2022, Corollary 3.3). A claim of μ says as much from above, and noise that keeps it
# has it from below. Gaussian noise with μ² = 2ρ also keeps a claim of ρ, so that it counts there from below.

LEAST = Decimal("1e-300")
"""A smaller δ is only said to be at most this."""

_MORE_AND_MORE_BITS = (128, 256, 512, 1024, 2048, 4096, 8192)  # of the balls, until a question is decided
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
    for bits in _MORE_AND_MORE_BITS:
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
    with precision(_MORE_AND_MORE_BITS[0]):
        return decimal(ball(low), up=False), decimal(ball(high), up=True)


def _at_most(square: Fraction, epsilon: Fraction, delta: Fraction) -> bool | None:
    """Whether δ at an ε is at most this one; None where that cannot be told."""
    for bits in _MORE_AND_MORE_BITS:
        with precision(bits):
            found, wanted = _delta(square, epsilon), ball(delta)
            if found <= wanted:
                return True
            if found > wanted:
                return False
    return None


def _delta(square: Fraction, epsilon: Fraction) -> Any:
    return lattice.height(GaussianLaw(1 / square), ball(epsilon))
