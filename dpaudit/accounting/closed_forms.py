"""What is certain of a list without curves? Where a formula says it, and where no curve reaches its losses.

Formulas are sums of ρ, of μ, and the normal law. Losses that are too large for curves are bounded from below by those
of more noise, and those that are too small from above by those of less, for more noise loses no more. A Gaussian output
with independent noise of variance σ'² − σ² added has noise σ'. The characteristic function of Laplace noise is
1/(1 + b²t²), and that of b' > b is the product of it and of c + (1 − c)/(1 + b'²t²), c = b²/b'²: with probability c
nothing is added, else Laplace noise of b'. Discrete Laplace noise with a = e^(−1/b) < a' likewise, for
1 + a² − 2a·cos t = (a/a')(1 + a'² − 2a'·cos t) + (1 − aa')(1 − a/a'), whose last term is not negative. What keeps a
smaller claim keeps a larger one. Of discrete Gaussian noise with x = 1/2σ² ≥ y + 2, y ≥ 0, an observer who asks whether
the output is the likeliest one of P errs with probability at most 3e^(−x) ≤ 1/(1 + e^y) on both sides, and so learns no
less than from randomised response of ε = y.

All of this is post-processing of the output of a step, so it holds of sampled records too: the pair of a step becomes
that of the step with more noise, and lists of such pairs lose no more than before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.accounting import certificate, lattice
from dpaudit.accounting.events import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Events,
    Exponential,
    Gaussian,
    Laplace,
    PrivacyEvent,
    RandomisedResponse,
    Sampled,
    UnsampledEvent,
)
from dpaudit.accounting.losses import Atoms, GaussianLaw, ball, decimal, precision
from dpaudit.decimals import number_of, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

# --- What ρ of zero-concentrated privacy does an event keep? Which ε and δ follow? By theorems, without curves ---

_BITS = 512
_LEAST = Fraction(1, 10**40)  # a smaller ρ is not told from 0 from below


@dataclass(frozen=True)
class Concentrated:
    """ρ of an event."""

    rho: Fraction  # no neighbours lose more
    exact: bool = False  # whether Gaussian noise, which has this ρ at every order, is such an event
    gaussian: bool = False  # whether the event is Gaussian noise, or a claim of μ, so that μ² = 2ρ


def concentrated(event: PrivacyEvent) -> Concentrated | None:
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
        rho = ball(epsilon) * (ball(epsilon) / 2).tanh()
        return min(epsilon**2 / 2, Fraction(decimal(rho, up=True)))


def _claimed(block: Block) -> Concentrated | None:
    claim = block.claim
    if isinstance(claim, ZeroConcentratedDP):
        return Concentrated(number_of(claim.rho), exact=True)
    if isinstance(claim, GaussianDP):
        return Concentrated(root_of(claim.mu) ** 2 / 2, exact=True, gaussian=True)
    return Concentrated(_of_pure(number_of(claim.epsilon))) if isinstance(claim, PureDP) else None


def least(event: PrivacyEvent) -> Fraction:
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
            divergence = loss + (-loss).expm1()
        else:
            law = certificate.attained(event, 0)
            assert isinstance(law, Atoms)
            divergence = sum((loss * mass for loss, mass, _ in law.values()), ball(0))
        return max(Fraction(0), Fraction(decimal(divergence, up=False))) if divergence.is_finite() else Fraction(0)


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


def _claims_rho(event: PrivacyEvent) -> bool:
    mechanism = event.mechanism if isinstance(event, Sampled) else event
    return isinstance(mechanism, Block) and isinstance(mechanism.claim, ZeroConcentratedDP)


@dataclass(frozen=True)
class RenyiOrder:
    """What ρ-zCDP implies by its divergence of one order (Canonne, Kamath & Steinke 2020, Proposition 12)."""

    rho: Fraction  # of all events
    alpha: Fraction  # the order, above 1; any one is proved, and the best is searched for in floating point

    def epsilon(self, delta: Fraction) -> Any:
        """Return ε = αρ + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), or 0, as a ball."""
        alpha = ball(self.alpha)
        bound = alpha * ball(self.rho) + (-1 / alpha).log1p() - (ball(delta) * alpha).log() / (alpha - 1)
        return bound.max(ball(0))

    def delta(self, epsilon: Fraction) -> Any:
        """Return δ = e^((α − 1)(αρ − ε))·(1 − 1/α)^(α − 1)/α, as a ball."""
        alpha = ball(self.alpha)
        return ((alpha - 1) * (alpha * ball(self.rho) - ball(epsilon) + (-1 / alpha).log1p())).exp() / alpha


def best_order(rho: Fraction, *, delta: Fraction | None = None, epsilon: Fraction | None = None) -> RenyiOrder:
    """Return the order that gives about the smallest ε at a δ, or the smallest δ at an ε."""
    less = np.exp(np.linspace(-12, 14, 8001))  # α − 1
    alpha = 1 + less
    if delta is not None:
        log_delta = math.log(delta.numerator) - math.log(delta.denominator)
        values = alpha * float(rho) + np.log(less / alpha) - (log_delta + np.log(alpha)) / less
    else:
        values = less * (alpha * float(rho) - float(epsilon or 0) + np.log(less / alpha)) - np.log(alpha)
    return RenyiOrder(rho, Fraction(f"{1 + float(less[int(np.argmin(values))]):.9f}"))


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
            divergence = _delta(square, epsilon)
            if divergence < ball(Fraction(LEAST)):
                return Decimal(0), LEAST
            if divergence > 0:
                low, high = decimal(divergence, up=False), min(Decimal(1), decimal(divergence, up=True))
            if divergence > 0 and divergence.upper() - divergence.lower() < ball(_NARROW) * divergence:
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
            reached, wanted = _delta(square, epsilon), ball(delta)
            if reached <= wanted:
                return True
            if reached > wanted:
                return False
    return None


def _delta(square: Fraction, epsilon: Fraction) -> Any:
    return lattice.height(GaussianLaw(1 / square), ball(epsilon))


_HALVINGS = 40
_ROOT = 2**60
_SURPLUS = 2  # of the exponent of discrete Gaussian noise over the ε of randomised response
MOST_NOISE = Fraction(10**18)
"""Of noise to sensitivity: beyond, floating point does not see where to look."""

_UNIT = "Are noise and sensitivity in one unit?"
LARGE = f"Losses are beyond what curves reach: from below they are those of more noise, from above not known. {_UNIT}"
SMALL = f"Losses are below what is accounted for: from above they are those of less noise. {_UNIT}"


def with_less_noise(events: Events) -> Events:
    """Return the list with no more noise than is accounted for."""

    def less(given: UnsampledEvent) -> UnsampledEvent:
        if isinstance(given, Gaussian | Laplace) and given.ratio > MOST_NOISE:
            return type(given)(MOST_NOISE)
        if isinstance(given, DiscreteLaplace) and given.ratio > MOST_NOISE:
            return DiscreteLaplace(given.sensitivity * MOST_NOISE, sensitivity=given.sensitivity)
        return given

    return _with_each_mechanism(events, less)


def _with_each_mechanism(events: Events, changed: Callable[[UnsampledEvent], UnsampledEvent]) -> Events:
    def one(event: PrivacyEvent) -> PrivacyEvent:
        if isinstance(event, Sampled):
            return replace(event, mechanism=changed(event.mechanism))
        return changed(event) if isinstance(event, UnsampledEvent) else event

    return Events(tuple((one(event), count) for event, count in events.parts))


def with_more_noise(events: Events, most: Fraction) -> Iterator[Events]:
    """Yield the list with more and more noise, each of which loses no more than the one before.

    Args:
        events: the list.
        most: about the loss of one step to begin with.
    """
    before = events
    for _ in range(_HALVINGS):
        noisier = _with_each_mechanism(events, lambda given, most=most: _losing(given, most))  # type: ignore[misc]
        if noisier != before:
            yield noisier
        most, before = most / 2, noisier


def _losing(given: UnsampledEvent, most: Fraction) -> UnsampledEvent:
    """Return a mechanism that loses about this much in one step, or the same where it loses no more."""
    mu = Fraction(math.isqrt(int(2 * most * _ROOT**2)), _ROOT)
    if isinstance(given, Gaussian):
        return given if given.ratio >= 1 / mu else Gaussian(1 / mu)
    if isinstance(given, Laplace):
        return given if given.ratio >= 1 / most else Laplace(1 / most)
    if isinstance(given, DiscreteLaplace):
        return (
            given
            if given.ratio >= 1 / most
            else DiscreteLaplace(given.sensitivity / most, sensitivity=given.sensitivity)
        )
    if isinstance(given, DiscreteGaussian):
        return given if 1 / given.sigma**2 / 2 < most + _SURPLUS else RandomisedResponse(most)
    if isinstance(given, RandomisedResponse):
        return given if given.epsilon <= most else RandomisedResponse(most)
    if isinstance(given, Exponential):
        return given if given.epsilon <= most else Exponential(most)
    return _block(given, most, mu) if isinstance(given, Block) else given


def _block(block: Block, most: Fraction, mu: Fraction) -> Block:
    claim = block.claim
    if isinstance(claim, PureDP | ApproxDP) and number_of(claim.epsilon) > most:
        smaller = PureDP(float(most)) if isinstance(claim, PureDP) else ApproxDP(float(most), claim.delta)
        return Block(smaller)
    if isinstance(claim, GaussianDP) and root_of(claim.mu) > mu:
        return Block(GaussianDP(float(mu)))
    if isinstance(claim, ZeroConcentratedDP) and number_of(claim.rho) > most:
        return Block(ZeroConcentratedDP(float(most)))
    return block


# --- what a certificate writes ------------------------------------------------------------------------------


def loses_no_more(written: object, listed: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the events of a certificate lose no more than those that are listed, in turn, as certificates write them.

    Args:
        written: the events of the certificate.
        listed: those that were listed.
    """
    if not isinstance(written, list) or len(written) != len(listed):
        return False
    try:
        return all(_no_more(one, other) for one, other in zip(written, listed, strict=True))
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return False


def _no_more(written: Mapping[str, Any], listed: Mapping[str, Any]) -> bool:
    rest = [{key: value for key, value in each.items() if key != "mechanism"} for each in (written, listed)]
    one, other = dict(written["mechanism"]), dict(listed["mechanism"])
    if rest[0] != rest[1]:
        return False
    if one["name"] == "randomised response" and other["name"] == "discrete gaussian":
        exponent = 1 / Fraction(other["noise"]) ** 2 / 2
        return 0 <= Fraction(one["epsilon"]) <= exponent - _SURPLUS
    for key, fits in _FEWER.items() if one["name"] != "discrete gaussian" else ():
        if key in one and key in other and not fits(Fraction(one.pop(key)), Fraction(other.pop(key))):
            return False
    return one == other


_FEWER: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "noise": lambda one, other: one >= other,
    "epsilon": lambda one, other: 0 < one <= other,
    "rho": lambda one, other: 0 < one <= other,
}
