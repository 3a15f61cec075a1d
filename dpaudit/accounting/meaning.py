"""What does an account say in words? Which neighbours, which sampling, what is assumed, and what the lower bound is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpaudit.accounting.events import (
    RELATIONS,
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
    Sampling,
    as_events,
)

WORST = (
    "Where only a claim is listed, the lower bound is that of the worst mechanism that keeps it; yours may lose less."
)
"""What a lower bound says of claims that are listed."""

_NEIGHBOURS = {
    "add-remove": "one has a record more than the other",
    "replace-one": "one record is replaced by another",
    "zero-out": "one record is replaced by one that contributes nothing",
}


def meaning(events: Events | Event | Sequence[Event], relation: str | None = None) -> tuple[str, ...]:
    """Return what an account of these events is about, in sentences.

    Args:
        events: a list of events, or one.
        relation: which datasets are neighbours; None for all those that the events allow.
    """
    listed = as_events(events)
    told = [f"{_times(count)}: {_event(event)}." for event, count in listed.parts]
    clipped = any(event.clipped for event, _ in listed.parts)
    names = listed.relations if relation not in RELATIONS else (relation,)
    if clipped or any(isinstance(event, Sampled) for event, _ in listed.parts):
        told.append(f"Neighbours are datasets of which {', or '.join(_NEIGHBOURS[name] for name in names)}.")
    else:
        told.append("Neighbours are those for which the sensitivities, or the claims, hold.")
    if clipped:
        told.append(f"So {' or '.join(dict.fromkeys(_MOVED[name] for name in names))} that its part is clipped to.")
    told += [
        "The list is fixed beforehand; what a step asks may depend on what earlier ones returned.",
        "Assumed are exact noise, sampling as it is described, and contributions within the sensitivity.",
        "The lower bound is a loss of some data with some queries; yours may lose less, and never more than the upper.",
    ]
    if any(isinstance(_plain(event), Block) for event, _ in listed.parts):
        told.append(WORST)
    return tuple(told)


_MOVED = {
    "add-remove": "a record moves a sum by the norm",
    "replace-one": "a record moves a sum by twice the norm",
    "zero-out": "a record moves a sum by the norm",
}


def _plain(event: Event) -> Event:
    return event.mechanism if isinstance(event, Sampled) else event


def _times(count: int) -> str:
    return "Once" if count == 1 else f"{count:,} times"


def _event(event: Event) -> str:
    if isinstance(event, Sampled):
        return f"{_mechanism(event.mechanism)}, {_sampling(event.sampling)}"
    assert isinstance(event, Mechanism)
    return _mechanism(event) if isinstance(event, Block) else f"{_mechanism(event)} on all records"


def _sampling(sampling: Sampling) -> str:
    if isinstance(sampling, Poisson):
        return f"on records that take part with probability {float(sampling.rate):.6g} each, independently (Poisson)"
    if isinstance(sampling, FixedSize):
        return f"on {sampling.batch:,} of {sampling.records:,} records, drawn anew without replacement"
    return (
        f"on each of {sampling.batches:,} batches of shuffled records, one epoch (from above without any gain from the "
        "shuffling, since none is proved)"
    )


def _mechanism(mechanism: Mechanism) -> str:
    if isinstance(mechanism, Gaussian | DiscreteGaussian):
        name = "Gaussian noise" if isinstance(mechanism, Gaussian) else "discrete Gaussian noise"
        return f"{name} of {_amount('σ =', mechanism.sigma, mechanism.sensitivity)}"
    if isinstance(mechanism, Laplace | DiscreteLaplace):
        name = "Laplace noise" if isinstance(mechanism, Laplace) else "discrete Laplace noise"
        return f"{name} of {_amount('scale', mechanism.scale, mechanism.sensitivity)}"
    if isinstance(mechanism, RandomisedResponse):
        return f"randomised response with ε = {float(mechanism.epsilon):.6g}"
    if isinstance(mechanism, Exponential):
        return f"the exponential mechanism, e^(ε·u/2Δ) with ε = {float(mechanism.epsilon):.6g}"
    return f"a mechanism that keeps {mechanism.claim}" if isinstance(mechanism, Block) else str(mechanism)


def _amount(name: str, noise: Fraction, sensitivity: Fraction | int | None) -> str:
    if sensitivity is None:
        return f"{float(noise):.6g} times the norm that each record's part of a sum is clipped to"
    return f"{name} {float(noise):.6g} on answers that move by {float(sensitivity):.6g}"
