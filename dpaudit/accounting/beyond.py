"""What is certain of a list whose losses no curve reaches? What the same list loses with more noise, or with less.

Losses that are too large are bounded from below by those of more noise, and those that are too small from above by
those of less, for more noise loses no more. A Gaussian output with independent noise of variance σ'² − σ² added has
noise σ'. The characteristic function of Laplace noise is 1/(1 + b²t²), and that of b' > b is the product of it and of
c + (1 − c)/(1 + b'²t²), c = b²/b'²: with probability c nothing is added, else Laplace noise of b'. Discrete Laplace
noise with a = e^(−1/b) < a' likewise, for 1 + a² − 2a·cos t = (a/a')(1 + a'² − 2a'·cos t) + (1 − aa')(1 − a/a'), whose
last term is not negative. What keeps a smaller claim keeps a larger one. Of discrete Gaussian noise with
x = 1/2σ² ≥ y + 2, y ≥ 0, an observer who asks whether the output is the likeliest one of P errs with probability at
most 3e^(−x) ≤ 1/(1 + e^y) on both sides, and so learns no less than from randomised response of ε = y.

All of this is post-processing of the output of a step, so it holds of sampled records too: the pair of a step becomes
that of the step with more noise, and lists of such pairs lose no more than before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpaudit.accounting.events import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Events,
    Exponential,
    Gaussian,
    Laplace,
    Mechanism,
    RandomisedResponse,
    Sampled,
)
from dpaudit.decimals import number_of, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

_HALVINGS = 40
_ROOT = 2**60
_SURPLUS = 2  # of the exponent of discrete Gaussian noise over the ε of randomised response
MOST_NOISE = Fraction(10**18)
"""Of noise to sensitivity: beyond, floating point does not see where to look."""

_UNIT = "Are noise and sensitivity in one unit?"
LARGE = f"Losses are beyond what curves reach: from below they are those of more noise, from above not known. {_UNIT}"
SMALL = f"Losses are below what is accounted for: from above they are those of less noise. {_UNIT}"


class BeyondError(UsageError):
    """What was listed loses more than curves reach."""


class BelowError(UsageError):
    """What was listed loses less than is accounted for."""


def with_less_noise(events: Events) -> Events:
    """Return the list with no more noise than is accounted for."""

    def less(given: Mechanism) -> Mechanism:
        if isinstance(given, Gaussian | Laplace) and given.ratio > MOST_NOISE:
            return type(given)(MOST_NOISE)
        if isinstance(given, DiscreteLaplace) and given.ratio > MOST_NOISE:
            return DiscreteLaplace(given.sensitivity * MOST_NOISE, sensitivity=given.sensitivity)
        return given

    return _each(events, less)


def _each(events: Events, changed: Callable[[Mechanism], Mechanism]) -> Events:
    def one(event: Event) -> Event:
        if isinstance(event, Sampled):
            return replace(event, mechanism=changed(event.mechanism))
        return changed(event) if isinstance(event, Mechanism) else event

    return Events(tuple((one(event), count) for event, count in events.parts))


def with_more_noise(events: Events, most: Fraction) -> Iterator[Events]:
    """Yield the list with more and more noise, each of which loses no more than the one before.

    Args:
        events: the list.
        most: about the loss of one step to begin with.
    """
    before = events
    for _ in range(_HALVINGS):
        found = _each(events, lambda given, most=most: _losing(given, most))  # type: ignore[misc]
        if found != before:
            yield found
        most, before = most / 2, found


def _losing(given: Mechanism, most: Fraction) -> Mechanism:
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
