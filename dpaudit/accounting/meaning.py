"""What does an account say in words? Which neighbours, which sampling, what is assumed, and what the lower bound is."""

from __future__ import annotations

from collections.abc import Sequence

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


def meaning(events: Events | Event | Sequence[Event]) -> tuple[str, ...]:
    """Return what an account of these events is about, in sentences.

    Args:
        events: a list of events, or one.
    """
    listed = as_events(events)
    told = [f"{_times(count)}: {_event(event)}." for event, count in listed.parts]
    sampled = any(isinstance(event, Sampled) for event, _ in listed.parts)
    if sampled:
        neighbours = ", or ".join(_NEIGHBOURS[name] for name in listed.relations)
        told.append(f"Neighbours are datasets of which {neighbours}.")
    else:
        told.append("Neighbours are those for which the sensitivities, or the claims, hold.")
    told += [
        "The list is fixed beforehand; what a step asks may depend on what earlier ones returned.",
        "Assumed are exact noise, sampling as it is described, and contributions within the sensitivity.",
        "The lower bound is a loss of some data with some queries; yours may lose less, and never more than the upper.",
    ]
    if any(isinstance(_plain(event), Block) for event, _ in listed.parts):
        told.append(WORST)
    return tuple(told)


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
        return f"{name} of σ = {float(mechanism.sigma):.6g} on answers that move by {float(mechanism.sensitivity):.6g}"
    if isinstance(mechanism, Laplace | DiscreteLaplace):
        name = "Laplace noise" if isinstance(mechanism, Laplace) else "discrete Laplace noise"
        return (
            f"{name} of scale {float(mechanism.scale):.6g} on answers that move by {float(mechanism.sensitivity):.6g}"
        )
    if isinstance(mechanism, RandomisedResponse):
        return f"randomised response with ε = {float(mechanism.epsilon):.6g}"
    if isinstance(mechanism, Exponential):
        return f"the exponential mechanism, e^(ε·u/2Δ) with ε = {float(mechanism.epsilon):.6g}"
    return f"a mechanism that keeps {mechanism.claim}" if isinstance(mechanism, Block) else str(mechanism)
