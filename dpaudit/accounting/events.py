"""What was run? Mechanisms, how their records were sampled, and how often, as plain values.

An event says nothing of data: it is a mechanism with its noise (`Gaussian(2)`), the way in which records come
into it (`.poisson("0.01")`) and how often it is run (`.times(1000)`); `a + b` runs both. Later events may be
chosen after seeing what earlier ones returned, but the list itself is fixed beforehand.

Numbers are kept exactly. A float is the number that it stores, a text is the decimal or the fraction that it
writes: ``Gaussian(0.1)`` and ``Gaussian("0.1")`` differ by 5.6e-18.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

from dpaudit.errors import UsageError
from dpaudit.privacy import Claim
from dpaudit.privacy.claims import as_claim

Number = int | float | str | Fraction | Decimal

RELATIONS = ("add-remove", "replace-one", "zero-out")
_MOST_DIGITS = 400  # of a numerator or denominator: what a certificate holds
_MOST_STEPS = 10**9
_DECIMAL = 15  # digits up to which a float is the decimal that it is written as


def exact(name: str, value: Number) -> Fraction:
    """Return the number that was given, exactly.

    Raises:
        UsageError: for what is no finite number, or has more than 400 digits.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction | Decimal):
        raise UsageError(f"{name} must be a number, or a text such as '0.1' or '1/3', not {value!r}")
    try:
        if isinstance(value, str) and _exponent(value) > _MOST_DIGITS:
            raise UsageError(f"{name}: {value!r} has more than {_MOST_DIGITS} digits; fewer are as good")
        number = Fraction(value)
    except UsageError:
        raise
    except (ValueError, ZeroDivisionError, OverflowError):
        raise UsageError(f"{name} must be a finite number, such as 0.1, '0.1' or '1/3', not {value!r}") from None
    if max(abs(number.numerator), number.denominator) >= 10**_MOST_DIGITS:
        raise UsageError(f"{name} has more than {_MOST_DIGITS} digits; fewer are as good")
    return number


def stated(value: float) -> Fraction:
    """Return the decimal that a number of a claim was written as; of more than 15 digits the number that it stores."""
    written = Decimal(repr(float(value)))
    return Fraction(written) if len(written.normalize().as_tuple().digits) <= _DECIMAL else Fraction(value)


def _exponent(text: str) -> int:
    """The size of the exponent of ten of a text: ``Fraction("1e999999999")`` would fill all memory."""
    _, e, digits = text.lower().strip().partition("e")
    return abs(int(digits)) if e else 0


def _positive(name: str, value: Number) -> Fraction:
    number = exact(name, value)
    if number <= 0:
        raise UsageError(f"{name} must be above 0, not {value!r}")
    return number


def _whole(name: str, value: int, least: int = 1) -> int:
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


class Event:
    """Something that is run once: a mechanism, or one with sampled records."""

    __slots__ = ()

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of neighbours for which something is proved of it."""
        return RELATIONS

    def times(self, count: int) -> Events:
        """Run it so many times."""
        return Events(((self, _whole("the number of steps", count)),))

    def __add__(self, other: Event | Events) -> Events:
        return self.times(1) + other


class Mechanism(Event):
    """A mechanism that reads all records."""

    __slots__ = ()

    def poisson(self, rate: Number) -> Sampled:
        """Let each record take part with probability ``rate``, independently (add-remove neighbours).

        Raises:
            UsageError: for a rate that is not above 0 and at most 1.
        """
        number = exact("rate", rate)
        if not 0 < number <= 1:
            raise UsageError(f"a sampling rate is above 0 and at most 1, not {rate!r}")
        return Sampled(self, Poisson(number))

    def fixed_size(self, batch: int, records: int) -> Sampled:
        """Take ``batch`` of ``records`` records at random without replacement (replace-one neighbours)."""
        _whole("the number of records", records)
        if _whole("the size of the batch", batch) > records:
            raise UsageError(f"a batch of {batch:,} cannot be drawn from {records:,} records without replacement")
        return Sampled(self, FixedSize(batch, records))

    def shuffled(self, batches: int) -> Sampled:
        """Run once over shuffled data that are cut into so many batches: one epoch (zero-out neighbours)."""
        return Sampled(self, Shuffled(_whole("the number of batches", batches)))


@dataclass(frozen=True, slots=True)
class Sampled(Event):
    """A mechanism whose records are sampled."""

    mechanism: Mechanism
    sampling: Sampling

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of neighbours for which something is proved of this sampling."""
        return self.sampling.relations

    def __str__(self) -> str:
        return f"{self.mechanism}{self.sampling}"


@dataclass(frozen=True, slots=True)
class Events:
    """A fixed list of events, each with the number of times that it is run; equal ones are counted together."""

    parts: tuple[tuple[Event, int], ...]

    def __post_init__(self) -> None:
        counts: dict[Event, int] = {}
        for event, count in self.parts:
            if not isinstance(event, Event):
                raise UsageError(f"a list of events holds events such as Gaussian(1).poisson('0.01'), not {event!r}")
            counts[event] = _whole("the number of steps", counts.get(event, 0) + _whole("the number of steps", count))
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

    @property
    def steps(self) -> int:
        """The number of events that are run, an epoch of shuffled batches being one."""
        return sum(count for _, count in self.parts)

    def times(self, count: int) -> Events:
        """Run the whole list so many times."""
        _whole("the number of steps", count)
        return Events(tuple((event, own * count) for event, own in self.parts))

    def __add__(self, other: Event | Events) -> Events:
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
    if isinstance(value, Event):
        return value.times(1)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return Events(tuple(part for item in value for part in as_events(item).parts))
    raise UsageError(f"events are values such as Gaussian(1).poisson('0.01').times(1000), not {value!r}")


# --- mechanisms --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gaussian(Mechanism):
    """Gaussian noise of standard deviation ``sigma`` on answers that move by ``sensitivity`` (Euclidean norm)."""

    sigma: Fraction
    sensitivity: Fraction = field(default=Fraction(1), kw_only=True)

    def __init__(self, sigma: Number, *, sensitivity: Number = 1) -> None:
        object.__setattr__(self, "sigma", _positive("sigma", sigma))
        object.__setattr__(self, "sensitivity", _positive("the sensitivity", sensitivity))

    def __str__(self) -> str:
        return _called("Gaussian", self.sigma, self.sensitivity)


@dataclass(frozen=True, slots=True)
class Laplace(Mechanism):
    """Laplace noise of this scale on one answer that moves by ``sensitivity``."""

    scale: Fraction
    sensitivity: Fraction = field(default=Fraction(1), kw_only=True)

    def __init__(self, scale: Number, *, sensitivity: Number = 1) -> None:
        object.__setattr__(self, "scale", _positive("scale", scale))
        object.__setattr__(self, "sensitivity", _positive("the sensitivity", sensitivity))

    def __str__(self) -> str:
        return _called("Laplace", self.scale, self.sensitivity)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(Mechanism):
    """Noise with P(k) proportional to e^(−|k|/scale) on a whole number that moves by ``sensitivity``."""

    scale: Fraction
    sensitivity: int = field(default=1, kw_only=True)

    def __init__(self, scale: Number, *, sensitivity: int = 1) -> None:
        object.__setattr__(self, "scale", _positive("scale", scale))
        object.__setattr__(self, "sensitivity", _whole("the sensitivity of a whole number", sensitivity))

    def __str__(self) -> str:
        return _called("DiscreteLaplace", self.scale, Fraction(self.sensitivity))


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Mechanism):
    """Noise with P(k) proportional to e^(−k²/2σ²) on a whole number that moves by ``sensitivity``."""

    sigma: Fraction
    sensitivity: int = field(default=1, kw_only=True)

    def __init__(self, sigma: Number, *, sensitivity: int = 1) -> None:
        object.__setattr__(self, "sigma", _positive("sigma", sigma))
        object.__setattr__(self, "sensitivity", _whole("the sensitivity of a whole number", sensitivity))

    def __str__(self) -> str:
        return _called("DiscreteGaussian", self.sigma, Fraction(self.sensitivity))


@dataclass(frozen=True, slots=True)
class RandomisedResponse(Mechanism):
    """A bit that is told truly with probability e^ε/(1 + e^ε), and else turned."""

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", _positive("epsilon", epsilon))

    def __str__(self) -> str:
        return f"RandomisedResponse({_written(self.epsilon)})"


@dataclass(frozen=True, slots=True)
class Exponential(Mechanism):
    """The exponential mechanism, P(r) proportional to e^(ε·u(r)/2Δ), which is ε-DP (McSherry & Talwar 2007).

    Δ is the sensitivity of the score u. With e^(ε·u(r)/Δ), for scores that all move in one direction, give 2ε.
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", _positive("epsilon", epsilon))

    def __str__(self) -> str:
        return f"Exponential({_written(self.epsilon)})"


@dataclass(frozen=True, slots=True)
class Block(Mechanism):
    """Anything that keeps a claim: pure ε, (ε, δ), μ-GDP, ρ-zCDP. Its numbers are the decimals that were written."""

    claim: Claim

    def __init__(self, claim: Claim | str) -> None:
        given = as_claim(claim)
        if given is None:
            raise UsageError("a block needs a claim, such as Block('epsilon=1, delta=1e-6')")
        object.__setattr__(self, "claim", given)

    def __str__(self) -> str:
        return f"Block('{self.claim}')"


def _called(name: str, noise: Fraction, sensitivity: Fraction) -> str:
    more = "" if sensitivity == 1 else f", sensitivity={_written(sensitivity)}"
    return f"{name}({_written(noise)}{more})"


def _written(number: Fraction) -> str:
    """A number that reads back as itself: as a number where a float holds it, else as a text in quotes."""
    if number.denominator == 1:
        return str(number.numerator)
    near = float(number)
    if math.isfinite(near) and Fraction(near) == number:
        return repr(near)
    decimal = repr(near)
    return f"'{decimal}'" if Fraction(decimal) == number else f"'{number}'"
