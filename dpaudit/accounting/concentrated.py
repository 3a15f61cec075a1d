"""What ρ of zero-concentrated privacy does an event keep? Which ε and δ follow? By theorems, without curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.accounting.balls import ball, decimal, precision
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
from dpaudit.accounting.losses import Atoms
from dpaudit.accounting.pairs import attained
from dpaudit.decimals import number_of, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import GaussianDP, PureDP, ZeroConcentratedDP

_BITS = 512
_LEAST = Fraction(1, 10**40)  # a smaller ρ is not told from 0 from below


@dataclass(frozen=True)
class Concentrated:
    """ρ of an event.

    Attributes:
        rho: no neighbours lose more.
        exact: whether Gaussian noise, which has this ρ at every order, is such an event.
        gaussian: whether the event is Gaussian noise, or a claim of μ, so that μ² = 2ρ.
    """

    rho: Fraction
    exact: bool = False
    gaussian: bool = False


def concentrated(event: Event) -> Concentrated | None:
    """Return ρ of an event; None where no theorem gives one.

    Gaussian noise has ρ = Δ²/2σ² exactly, and discrete Gaussian noise at most that (Bun & Steinke 2016, Proposition
    1.6; Canonne, Kamath & Steinke 2020, Theorem 4). ε-DP gives ε²/2 (Bun & Steinke 2016, Proposition 1.4), and an
    ε-bounded range ε²/8 (Cesar & Rogers 2021, Lemma 3.2).
    """
    if isinstance(event, Gaussian):
        return Concentrated(1 / event.ratio**2 / 2, exact=True, gaussian=True)
    if isinstance(event, DiscreteGaussian | Laplace | DiscreteLaplace):
        return Concentrated(1 / event.ratio**2 / 2)
    if isinstance(event, RandomisedResponse):
        return Concentrated(event.epsilon**2 / 2)
    if isinstance(event, Exponential):
        return Concentrated(event.epsilon**2 / 8)
    return _claimed(event) if isinstance(event, Block) else None


def _claimed(block: Block) -> Concentrated | None:
    claim = block.claim
    if isinstance(claim, ZeroConcentratedDP):
        return Concentrated(number_of(claim.rho), exact=True)
    if isinstance(claim, GaussianDP):
        return Concentrated(root_of(claim.mu) ** 2 / 2, exact=True, gaussian=True)
    return Concentrated(number_of(claim.epsilon) ** 2 / 2) if isinstance(claim, PureDP) else None


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
            law = attained(event, 0)
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
    """What ρ-zCDP implies by its divergence of one order (Canonne, Kamath & Steinke 2020, Proposition 12).

    Attributes:
        rho: of all events.
        alpha: the order, above 1; any one is proved, and the best is searched for in floating point.
    """

    rho: Fraction
    alpha: Fraction

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
