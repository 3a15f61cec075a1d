"""What was run? Mechanisms, how their records were sampled, and how often, as plain values.

An event says nothing of data: it is a mechanism with its noise (`Gaussian(2)`), the way in which records come
into it (`.poisson("0.01")`) and how often it is run (`.times(1000)`); `a + b` runs both. Later events may be
chosen after seeing what earlier ones returned, but the list itself is fixed beforehand.

Noise has one of two units. ``sigma`` and ``scale`` stand beside ``sensitivity``, how far one record moves the answer. A
``noise_multiplier`` is noise over the norm that each record's part of a sum is clipped to, as DP-SGD states it. How far
a record moves the sum then hangs on which datasets are neighbours, and is known under a relation (`Events.under`): by
that norm where a record comes, goes or contributes nothing, by twice that norm where it is replaced.

Numbers are kept exactly: a text is the decimal or the fraction that it writes, a float the number that it stands for
(`dpaudit.decimals`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

from dpaudit.decimals import Number, decimal_of, number_of, read_number, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import Claim, claims

RELATIONS = ("add-remove", "replace-one", "zero-out")
_NORMS = {"add-remove": 1, "replace-one": 2, "zero-out": 1}  # a record moves a sum by so many norms of clipping
_MOST_STEPS = 10**9


def _positive(name: str, value: Number) -> Fraction:
    number = read_number(name, value)
    if number <= 0:
        raise UsageError(f"{name} must be above 0, not {value!r}")
    return number


def _refuse_no_count(name: str, value: int, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST_STEPS:
        raise UsageError(f"{name} must be a whole number from {least} to {_MOST_STEPS:,}, not {value!r}")
    return value


# --- how records come in -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Poisson:
    """Every record takes part with probability ``rate``, independently of the others and of other steps."""

    rate: Fraction
    relations: ClassVar[tuple[str, ...]] = ("add-remove", "zero-out")

    def __str__(self) -> str:
        return f".poisson({_written(self.rate)})"


@dataclass(frozen=True, slots=True)
class FixedSize:
    """Every step takes ``batch`` of ``records`` records, all sets of this size being as likely."""

    batch: int
    records: int
    relations: ClassVar[tuple[str, ...]] = ("replace-one",)

    @property
    def rate(self) -> Fraction:
        """The probability that a record takes part."""
        return Fraction(self.batch, self.records)

    def __str__(self) -> str:
        return f".fixed_size({self.batch}, {self.records})"


@dataclass(frozen=True, slots=True)
class Shuffled:
    """One epoch: records are put in a random order and cut into ``batches`` of one size, a step for each."""

    batches: int
    relations: ClassVar[tuple[str, ...]] = ("zero-out",)

    def __str__(self) -> str:
        return f".shuffled({self.batches})"


Sampling = Poisson | FixedSize | Shuffled

# --- what is run -------------------------------------------------------------------------------------------


class PrivacyEvent:
    """Something that is run once: a mechanism, or one with sampled records."""

    __slots__ = ()

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of neighbours for which something is proved of it."""
        return RELATIONS

    def under(self, norms: int) -> PrivacyEvent:
        """Return the same where a record moves a sum by so many norms that its part is clipped to."""
        return self

    @property
    def clipped(self) -> bool:
        """Whether its noise is told by a multiplier of a norm of clipping."""
        return self.under(1) is not self

    def times(self, count: int) -> Events:
        """Run it so many times."""
        return Events(((self, _refuse_no_count("the number of steps", count)),))

    def __add__(self, other: PrivacyEvent | Events) -> Events:
        return self.times(1) + other


class UnsampledEvent(PrivacyEvent):
    """A mechanism that reads all records."""

    __slots__ = ()

    def under(self, norms: int) -> UnsampledEvent:
        """Return the same where a record moves a sum by so many norms that its part is clipped to."""
        return self

    def poisson(self, rate: Number) -> Sampled:
        """Let each record take part with probability ``rate``, independently (add-remove neighbours).

        Raises:
            UsageError: for a rate that is not above 0 and at most 1.
        """
        number = read_number("rate", rate)
        if not 0 < number <= 1:
            raise UsageError(f"a sampling rate is above 0 and at most 1, not {rate!r}")
        return Sampled(self, Poisson(number))

    def fixed_size(self, batch: int, records: int) -> Sampled:
        """Take ``batch`` of ``records`` records at random without replacement (replace-one neighbours)."""
        _refuse_no_count("the number of records", records)
        if _refuse_no_count("the size of the batch", batch) > records:
            raise UsageError(f"a batch of {batch:,} cannot be drawn from {records:,} records without replacement")
        return Sampled(self, FixedSize(batch, records))

    def shuffled(self, batches: int) -> Sampled:
        """Run once over shuffled data that are cut into so many batches: one epoch (zero-out neighbours)."""
        return Sampled(self, Shuffled(_refuse_no_count("the number of batches", batches)))


@dataclass(frozen=True, slots=True)
class Sampled(PrivacyEvent):
    """A mechanism whose records are sampled."""

    mechanism: UnsampledEvent
    sampling: Sampling

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of neighbours for which something is proved of this sampling."""
        return self.sampling.relations

    def under(self, norms: int) -> PrivacyEvent:
        """Return the same where a record moves a sum by so many norms that its part is clipped to."""
        mechanism = self.mechanism.under(norms)
        return self if mechanism is self.mechanism else replace(self, mechanism=mechanism)

    def __str__(self) -> str:
        return f"{self.mechanism}{self.sampling}"


@dataclass(frozen=True, slots=True)
class Events:
    """A fixed list of events, each with the number of times that it is run; equal ones are counted together."""

    parts: tuple[tuple[PrivacyEvent, int], ...]

    def __post_init__(self) -> None:
        counts: dict[PrivacyEvent, int] = {}
        for event, count in self.parts:
            if not isinstance(event, PrivacyEvent):
                raise UsageError(f"a list of events holds events such as Gaussian(1).poisson('0.01'), not {event!r}")
            counts[event] = _refuse_no_count(
                "the number of steps", counts.get(event, 0) + _refuse_no_count("the number of steps", count)
            )
        if not counts:
            raise UsageError("there is no event: give at least one, such as Gaussian(1)")
        object.__setattr__(self, "parts", tuple(counts.items()))
        if not self.relations:
            named = " and ".join(f"{event} ({' or '.join(event.relations)})" for event in counts)
            raise UsageError(
                f"these events have no relation of neighbours in common: {named}. "
                "Account for those of one relation at a time"
            )

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of neighbours for which the whole list is accounted."""
        return tuple(name for name in RELATIONS if all(name in event.relations for event, _ in self.parts))

    def under(self, relation: str | None = None) -> Events:
        """Return the same with every noise multiplier as noise and a sensitivity, as it is between these neighbours.

        Args:
            relation: one of `relations`; None where all of them, by how records come in, say the same.

        Raises:
            UsageError: where they do not, or for another relation.
        """
        if not any(event.clipped for event, _ in self.parts):
            return self
        if relation is not None and relation not in self.relations:
            raise UsageError(
                f"the neighbours do not fit: a noise multiplier is read under {' or '.join(map(repr, self.relations))} "
                f"here, not {relation!r:.40}"
            )
        norms = {_NORMS[name] for name in ((relation,) if relation is not None else self.relations)}
        if len(norms) > 1:
            raise UsageError(
                f"{self!s:.80} has a noise multiplier, and how far a record moves a sum hangs on the neighbours: name "
                f"them, {' or '.join(map(repr, self.relations))} ('replace-one' is twice as far)"
            )
        return Events(tuple((event.under(min(norms)), count) for event, count in self.parts))

    @property
    def steps(self) -> int:
        """The number of events that are run, an epoch of shuffled batches being one."""
        return sum(count for _, count in self.parts)

    def times(self, count: int) -> Events:
        """Run the whole list so many times."""
        _refuse_no_count("the number of steps", count)
        return Events(tuple((event, own * count) for event, own in self.parts))

    def __add__(self, other: PrivacyEvent | Events) -> Events:
        return Events((*self.parts, *as_events(other).parts))

    def __str__(self) -> str:
        return " + ".join(f"{event}" if count == 1 else f"{event}.times({count})" for event, count in self.parts)


def as_events(value: object) -> Events:
    """Return events as a list: a list, one event, or several in a tuple or list.

    Raises:
        UsageError: for anything else.
    """
    if isinstance(value, Events):
        return value
    if isinstance(value, PrivacyEvent):
        return value.times(1)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return Events(tuple(part for item in value for part in as_events(item).parts))
    raise UsageError(f"events are values such as Gaussian(1).poisson('0.01').times(1000), not {value!r}")


# --- mechanisms --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gaussian(UnsampledEvent):
    """Gaussian noise of standard deviation ``sigma`` on answers that move by ``sensitivity`` (Euclidean norm).

    ``Gaussian(noise_multiplier=1.1)`` is noise of 1.1 times the norm that each record's part of a sum is clipped to.
    """

    sigma: Fraction
    sensitivity: Fraction | None = field(default=Fraction(1), kw_only=True)

    def __init__(
        self, sigma: Number | None = None, *, sensitivity: Number | None = None, noise_multiplier: Number | None = None
    ) -> None:
        noise, moved = _noise("sigma", sigma, sensitivity, noise_multiplier)
        object.__setattr__(self, "sigma", noise)
        object.__setattr__(self, "sensitivity", moved)

    @property
    def ratio(self) -> Fraction:
        """The noise over how far one record moves the answer."""
        return self.sigma / _known(self.sensitivity)

    def under(self, norms: int) -> Gaussian:
        """Return the same where a record moves a sum by so many norms that its part is clipped to."""
        return self if self.sensitivity is not None else Gaussian(self.sigma, sensitivity=norms)

    def __str__(self) -> str:
        return _called("Gaussian", self.sigma, self.sensitivity)


@dataclass(frozen=True, slots=True)
class Laplace(UnsampledEvent):
    """Laplace noise of this scale on one answer that moves by ``sensitivity``.

    ``Laplace(noise_multiplier=2)`` is noise of twice the norm (the sum of absolute values) that each record's part of a
    sum is clipped to.
    """

    scale: Fraction
    sensitivity: Fraction | None = field(default=Fraction(1), kw_only=True)

    def __init__(
        self, scale: Number | None = None, *, sensitivity: Number | None = None, noise_multiplier: Number | None = None
    ) -> None:
        noise, moved = _noise("scale", scale, sensitivity, noise_multiplier)
        object.__setattr__(self, "scale", noise)
        object.__setattr__(self, "sensitivity", moved)

    @property
    def ratio(self) -> Fraction:
        """The noise over how far one record moves the answer."""
        return self.scale / _known(self.sensitivity)

    def under(self, norms: int) -> Laplace:
        """Return the same where a record moves a sum by so many norms that its part is clipped to."""
        return self if self.sensitivity is not None else Laplace(self.scale, sensitivity=norms)

    def __str__(self) -> str:
        return _called("Laplace", self.scale, self.sensitivity)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(UnsampledEvent):
    """Noise with P(k) proportional to e^(−|k|/scale) on a whole number that moves by ``sensitivity``."""

    scale: Fraction
    sensitivity: int = field(default=1, kw_only=True)

    def __init__(self, scale: Number, *, sensitivity: int = 1) -> None:
        object.__setattr__(self, "scale", _positive("scale", scale))
        object.__setattr__(self, "sensitivity", _refuse_no_count("the sensitivity of a whole number", sensitivity))

    @property
    def ratio(self) -> Fraction:
        """The noise over how far one record moves the answer."""
        return self.scale / self.sensitivity

    def __str__(self) -> str:
        return _called("DiscreteLaplace", self.scale, Fraction(self.sensitivity))


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(UnsampledEvent):
    """Noise with P(k) proportional to e^(−k²/2σ²) on a whole number that moves by ``sensitivity``."""

    sigma: Fraction
    sensitivity: int = field(default=1, kw_only=True)

    def __init__(self, sigma: Number, *, sensitivity: int = 1) -> None:
        object.__setattr__(self, "sigma", _noise("sigma", sigma, None, None)[0])
        object.__setattr__(self, "sensitivity", _refuse_no_count("the sensitivity of a whole number", sensitivity))

    @property
    def ratio(self) -> Fraction:
        """The noise over how far one record moves the answer."""
        return self.sigma / self.sensitivity

    def __str__(self) -> str:
        return _called("DiscreteGaussian", self.sigma, Fraction(self.sensitivity))


@dataclass(frozen=True, slots=True)
class RandomisedResponse(UnsampledEvent):
    """A bit that is told truly with probability e^ε/(1 + e^ε), and else turned."""

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", _positive("epsilon", epsilon))

    def __str__(self) -> str:
        return f"RandomisedResponse({_written(self.epsilon)})"


@dataclass(frozen=True, slots=True)
class Exponential(UnsampledEvent):
    """The exponential mechanism, P(r) proportional to e^(ε·u(r)/2Δ), which is ε-DP (McSherry & Talwar 2007).

    Δ is the sensitivity of the score u. With e^(ε·u(r)/Δ), for scores that all move in one direction, give 2ε.
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", _positive("epsilon", epsilon))

    def __str__(self) -> str:
        return f"Exponential({_written(self.epsilon)})"


@dataclass(frozen=True, slots=True)
class Block(UnsampledEvent):
    """Anything that keeps a claim: pure ε, (ε, δ), μ-GDP, ρ-zCDP. Its numbers are the decimals that were written."""

    claim: Claim

    def __init__(self, claim: Claim | str) -> None:
        given = claims.as_claim(claim)
        if given is None:
            raise UsageError("a block needs a claim, such as Block('epsilon=1, delta=1e-6')")
        object.__setattr__(self, "claim", given)

    def __str__(self) -> str:
        return f"Block('{self.claim}')"


def _noise(
    name: str, noise: Number | None, sensitivity: Number | None, multiplier: Number | None
) -> tuple[Fraction, Fraction | None]:
    """Noise with how far a record moves the answer; with None beside a multiplier, where that hangs on neighbours."""
    if multiplier is not None:
        if noise is not None or sensitivity is not None:
            raise UsageError(
                f"a noise multiplier is noise over the norm of clipping, and stands alone: give it, or {name} with the "
                "sensitivity, how far one record moves the answer"
            )
        return _positive("the noise multiplier", multiplier), None
    if noise is None:
        raise UsageError(f"give {name}, the noise in the units of the sensitivity, or noise_multiplier")
    read = _positive(name, noise) if name != "sigma" or not isinstance(noise, float) else _sigma(noise)
    return read, _positive("the sensitivity", 1 if sensitivity is None else sensitivity)


def _known(sensitivity: Fraction | None) -> Fraction:
    if sensitivity is None:
        raise UsageError(
            "how far a record moves a sum, in norms of clipping, hangs on which datasets are neighbours: name them, as "
            "in events.under('add-remove')"
        )
    return sensitivity


def _sigma(value: float) -> Fraction:
    """A standard deviation; one that was computed is often a root, σ = Δ/√(2ρ)."""
    _positive("sigma", value)
    return root_of(value)


def _called(name: str, noise: Fraction, sensitivity: Fraction | None) -> str:
    if sensitivity is None:
        return f"{name}(noise_multiplier={_written(noise)})"
    more = "" if sensitivity == 1 else f", sensitivity={_written(sensitivity)}"
    return f"{name}({_written(noise)}{more})"


def _written(number: Fraction) -> str:
    """A number that reads back as itself: as a number where a float holds it, else as a text in quotes."""
    if number.denominator == 1:
        return str(number.numerator)
    try:
        near = float(number)
    except OverflowError:
        return f"'{number}'"
    if Fraction(near) == number == number_of(near) == root_of(near):
        return repr(near)
    return f"'{near!r}'" if decimal_of(near) == number else f"'{number}'"


# --- What does an account say in words? Neighbours, sampling, assumptions, and what the lower bound is ---

WORST = (
    "Where only a claim is listed, the lower bound is that of the worst mechanism that keeps it; yours may lose less."
)
"""What a lower bound says of claims that are listed."""

_NEIGHBOURS = {
    "add-remove": "one has a record more than the other",
    "replace-one": "one record is replaced by another",
    "zero-out": "one record is replaced by one that contributes nothing",
}


def meaning(events: Events | PrivacyEvent | Sequence[PrivacyEvent], relation: str | None = None) -> tuple[str, ...]:
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
    if any(isinstance(_unsampled(event), Block) for event, _ in listed.parts):
        told.append(WORST)
    return tuple(told)


_MOVED = {
    "add-remove": "a record moves a sum by the norm",
    "replace-one": "a record moves a sum by twice the norm",
    "zero-out": "a record moves a sum by the norm",
}


def _unsampled(event: PrivacyEvent) -> PrivacyEvent:
    return event.mechanism if isinstance(event, Sampled) else event


def _times(count: int) -> str:
    return "Once" if count == 1 else f"{count:,} times"


def _event(event: PrivacyEvent) -> str:
    if isinstance(event, Sampled):
        return f"{_mechanism(event.mechanism)}, {_sampling(event.sampling)}"
    assert isinstance(event, UnsampledEvent)
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


def _mechanism(mechanism: UnsampledEvent) -> str:
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


class BeyondError(UsageError):
    """What was listed loses more than curves reach."""


class BelowError(UsageError):
    """What was listed loses less than is accounted for."""
