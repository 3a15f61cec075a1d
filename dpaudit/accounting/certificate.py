"""What does a certificate of accounting hold? Everything from which a checker computes the same masses again.

The format is that of ``docs/certificate.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dpaudit.accounting.events import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Events,
    Exponential,
    FixedSize,
    Gaussian,
    Laplace,
    Mechanism,
    Poisson,
    RandomisedResponse,
    Sampled,
    Shuffled,
)
from dpaudit.decimals import number_of, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

if TYPE_CHECKING:
    from dpaudit.accounting.compose import End

FORMAT = "dpaudit-certificate"
VERSION = 1
KIND = "account"


def certificate(
    events: Events,
    parameter: str,
    at: Fraction,
    interval: tuple[Decimal, Decimal] | tuple[Fraction | None, Fraction | None],
    digits: int,
    ends: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return a certificate of an interval.

    Args:
        events: what was accounted.
        parameter: "epsilon" or "delta": what the interval is about.
        at: the other one.
        interval: its ends; None is infinity.
        digits: masses are whole numbers of 10^−digits.
        ends: the compositions that show it.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "events": [written(event, count) for event, count in events.parts],
        "parameter": parameter,
        "at": text(at),
        "low": text(interval[0]),
        "high": text(interval[1]),
        "digits": digits,
        "ends": ends,
    }


def text(number: Fraction | Decimal | None) -> str:
    """Return a rational as the certificate writes it: in lowest terms, or "infinity"."""
    if number is None or (isinstance(number, Decimal) and not number.is_finite()):
        return "infinity"
    return str(Fraction(number))


def written(event: Event, count: int) -> dict[str, Any]:
    """Return an event as the certificate writes it.

    Args:
        event: the event.
        count: how often it is run.

    Raises:
        UsageError: for an event that certificates do not know.
    """
    mechanism = event.mechanism if isinstance(event, Sampled) else event
    if not isinstance(mechanism, Mechanism):
        raise UsageError(f"certificates know nothing of the event {event!r}")
    found = {"mechanism": _mechanism(mechanism), "count": count}
    if isinstance(event, Sampled):
        found["sampling"] = _sampling(event)
    return found


def _mechanism(mechanism: Mechanism) -> dict[str, Any]:
    if isinstance(mechanism, Gaussian):
        return {"name": "gaussian", "noise": text(mechanism.ratio)}
    if isinstance(mechanism, Laplace):
        return {"name": "laplace", "noise": text(mechanism.ratio)}
    if isinstance(mechanism, DiscreteLaplace):
        return {"name": "discrete laplace", "noise": text(mechanism.scale), "sensitivity": mechanism.sensitivity}
    if isinstance(mechanism, DiscreteGaussian):
        return {"name": "discrete gaussian", "noise": text(mechanism.sigma), "sensitivity": mechanism.sensitivity}
    if isinstance(mechanism, RandomisedResponse):
        return {"name": "randomised response", "epsilon": text(mechanism.epsilon)}
    if isinstance(mechanism, Exponential):
        return {"name": "exponential", "epsilon": text(mechanism.epsilon)}
    claim = mechanism.claim if isinstance(mechanism, Block) else None
    if isinstance(claim, PureDP | ApproxDP):
        return {"name": "claim", "epsilon": text(number_of(claim.epsilon)), "delta": text(number_of(claim.delta))}
    if isinstance(claim, GaussianDP):
        return {"name": "gaussian", "noise": text(1 / root_of(claim.mu))}
    if isinstance(claim, ZeroConcentratedDP):
        return {"name": "concentrated claim", "rho": text(number_of(claim.rho))}
    raise UsageError(f"certificates know nothing of the mechanism {mechanism!r}")


def _sampling(event: Sampled) -> dict[str, Any]:
    sampling = event.sampling
    if isinstance(sampling, Poisson):
        return {"name": "poisson", "rate": text(sampling.rate)}
    if isinstance(sampling, FixedSize):
        return {"name": "fixed size", "batch": sampling.batch, "records": sampling.records}
    assert isinstance(sampling, Shuffled)
    return {"name": "shuffled", "batches": sampling.batches}


def ending(end: End, high: Decimal, low: Decimal, at: Fraction, parameter: str) -> dict[str, Any]:
    """Return one composition as the certificate writes it.

    Args:
        end: the composition.
        high, low: the interval that is claimed.
        at: the δ, or the ε, at which it is.
        parameter: "epsilon" or "delta": what the interval is about.
    """
    step = end.step
    claimed = (high if end.up else low) if parameter == "epsilon" else at
    index, above = -1, 0
    if not isinstance(claimed, Decimal) or claimed.is_finite():
        index = end.tail.place(Fraction(claimed))
        above = end.tail.sums(index)[0]
    x, y = end.factors
    infinite = end.tail.infinite_units
    return {
        "direction": end.direction,
        "side": "above" if end.up else "below",
        "step": text(step.value) if step.value is not None else {"law": step.anchor, "parts": step.parts},
        "corners": [gaps(part.nodes) for part in end.parts],
        "events": [gaps(part.events) for part in end.parts],
        "cuts": [[str(low_cut), str(high_cut)] for low_cut, high_cut in end.composition.cuts],
        "program": end.composition.program,
        "factors": [x.number] if y is None else [x.number, y.number],
        "digest": digest([x] if y is None else [x, y]),
        "sums": {"place": index, "above": str(above), "infinite": str(infinite)},
    }


def gaps(places: list[int]) -> list[int]:
    """Return the first place and the gaps to the next ones, equal gaps in a row as [gap, how often]… flattened."""
    if not places:
        return []
    found = [places[0]]
    for before, after in pairwise(places):
        gap = after - before
        if len(found) > 1 and found[-2] == gap:
            found[-1] += 1
        else:
            found += [gap, 1]
    return found


def digest(blocks: Iterable[Any]) -> str:
    """Return the SHA-256 of blocks: for each its start, its mass at ∞ and its masses, as decimals with commas."""
    found = sha256()
    for block in blocks:
        numbers = [block.start, block.infinite, *block.poly.coeffs()]
        found.update(",".join(map(str, numbers)).encode() + b";")
    return "sha256:" + found.hexdigest()
