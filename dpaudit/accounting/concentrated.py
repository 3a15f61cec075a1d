"""What ρ of zero-concentrated privacy does an event keep? By theorem, without a curve."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accounting.events import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    Gaussian,
    Laplace,
    RandomisedResponse,
)
from dpaudit.privacy import GaussianDP, PureDP, ZeroConcentratedDP


@dataclass(frozen=True)
class Concentrated:
    """ρ of an event.

    Attributes:
        rho: no neighbours lose more.
        exact: whether some lose as much.
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
        return Concentrated((event.sensitivity / event.sigma) ** 2 / 2, exact=True, gaussian=True)
    if isinstance(event, DiscreteGaussian):
        return Concentrated((event.sensitivity / event.sigma) ** 2 / 2)
    if isinstance(event, Laplace):
        return Concentrated((event.sensitivity / event.scale) ** 2 / 2)
    if isinstance(event, DiscreteLaplace):
        return Concentrated((event.sensitivity / event.scale) ** 2 / 2)
    if isinstance(event, RandomisedResponse):
        return Concentrated(event.epsilon**2 / 2)
    if isinstance(event, Exponential):
        return Concentrated(event.epsilon**2 / 8)
    return _claimed(event) if isinstance(event, Block) else None


def _claimed(block: Block) -> Concentrated | None:
    claim = block.claim
    if isinstance(claim, ZeroConcentratedDP):
        return Concentrated(Fraction(claim.rho), exact=True)
    if isinstance(claim, GaussianDP):
        return Concentrated(Fraction(claim.mu) ** 2 / 2, exact=True, gaussian=True)
    return Concentrated(Fraction(claim.epsilon) ** 2 / 2) if isinstance(claim, PureDP) else None
