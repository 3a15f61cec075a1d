"""What exactly is claimed, and which events would refute it?

A claim is an immutable value. Its *trade-off curve* f gives the smallest false negative rate that any attacker can
reach at a false positive rate (Dong, Roth & Su 2022, Gaussian differential privacy, Definition 2.1), its *privacy
profile* δ(ε) the smallest δ such that the claim implies (ε, δ)-DP (Balle, Barthe & Gaboardi 2018), and `least` turns
the probabilities of one event into the smallest value of the claim's own parameter that allows them. The three describe
the same set of pairs (p, q).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpaudit.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def number_text(value: float) -> str:
    """Write a float so that reading it back gives the same float, without padding: 1, 0.5, 1e-6."""
    text = repr(float(value)).removesuffix(".0")
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}" if e else text


def require(name: str, value: float, low: float, high: float, *, open_low: bool = False) -> float:
    """Return a number of a claim as a float.

    Args:
        name: what it is called in an error.
        value: as it was given.
        low, high: the range of values.
        open_low: whether ``low`` itself is excluded.

    Returns:
        The number; −0 becomes 0.

    Raises:
        UsageError: if it is not a finite number in the range.
    """
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name} must be a number, not {value!r}") from None
    inside = (low < number if open_low else low <= number) and number <= high and math.isfinite(number)
    if not inside:
        span = f"{'above' if open_low else 'at least'} {number_text(low)}"
        span += "" if math.isinf(high) else f" and at most {number_text(high)}"
        raise UsageError(f"{name} must be a finite number {span}, not {value!r}")
    return number + 0.0  # −0 becomes 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How a claim is described to readers. Braces contain its numbers by name, {value} and, for e^value, {factor}.

    Attributes:
        kind: the kind of promise, in one word.
        source: who defined it, and where.
        meaning: what it promises, as a sentence for experts; {about} is " ≈ e^value" if that is short.
        more: what is written after its parameter.
        at: where bounds of its parameter hold, besides δ.
        claimed: what was promised, in plain words for a person in the data.
        proved, not_violated, violated: what these verdicts mean for that person.
    """

    kind: str
    source: str
    meaning: str
    more: str = ""
    at: str = ""
    claimed: str
    proved: str
    not_violated: str
    violated: str


class Claim(ABC):
    """A privacy promise: a notion with its numbers and its words.

    A new notion is a class like those in the neighbouring modules, and an entry in `dpaudit.privacy.text.NOTIONS`.

    Attributes:
        parameter: the name of the number that bounds are about: "epsilon", "rho" or "mu".
        symbol: the letter for it.
        notion: the name of the notion in words.
        variant: its name in registries of deployments.
        example: a claim of this notion as it is typed.
    """

    __slots__ = ()
    parameter: ClassVar[str]
    symbol: ClassVar[str]
    notion: ClassVar[str]
    variant: ClassVar[str] = "Custom"
    example: ClassVar[str]

    @property
    def value(self) -> float:
        """The number that bounds are compared with (of `parameter`)."""
        return float(getattr(self, self.parameter))

    @property
    def delta(self) -> float:
        """The δ at which ε is stated; 0 for every notion without one."""
        return 0.0

    @property
    def pure(self) -> bool:
        """Whether the claim is plain ε-DP, for which the guess bound is valid."""
        return False

    @property
    def is_point(self) -> bool:
        """Whether it is an (ε, δ) claim: one point of the privacy profile, where the loss of an event is a ratio."""
        return False

    @property
    def is_divergence(self) -> bool:
        """Whether it limits Rényi divergences, for which the multinomial bound is valid."""
        return False

    @property
    @abstractmethod
    def words(self) -> Words:
        """How it is described to readers."""

    @abstractmethod
    def tradeoff(self, fpr: ArrayLike) -> Floats:
        """Return the smallest false negative rate f(fpr) that the claim allows; shape of ``fpr``."""

    @abstractmethod
    def profile(self, epsilon: ArrayLike) -> Floats:
        """Return δ(ε), the smallest δ for which the claim implies (ε, δ)-DP; shape of ``epsilon`` (nats ≥ 0)."""

    @abstractmethod
    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """Return the smallest value of `parameter` that allows an event of probabilities ``p`` and ``q``.

        Non-decreasing in ``p``, non-increasing in ``q``, 0 if nothing is shown (p ≤ q), ∞ if no finite value allows it.
        Other numbers of the claim (δ, the order) stay fixed.
        """

    @abstractmethod
    def group(self, size: int) -> Claim:
        """Return what the claim implies for datasets that differ by ``size`` neighbouring steps."""

    def gross(self) -> float:
        """Return the value of a gross violation, max(2v, v + 0.1), which every audit should be able to find."""
        return max(2 * self.value, self.value + 0.1)

    def with_value(self, value: float) -> Claim:
        """Return the same notion with another value of `parameter`."""
        return type(self)(**{**self.numbers, self.parameter: value})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of its numbers, in their order."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    @property
    def numbers(self) -> dict[str, float]:
        """Its numbers by name, in their order."""
        return {name: getattr(self, name) for name in self.names()}

    def __str__(self) -> str:
        return ", ".join(f"{name}={number_text(value)}" for name, value in self.numbers.items())


def check_group(size: int) -> int:
    """Return the size of a group; raise `UsageError` if it is not a whole number of at least 1."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise UsageError(f"a group is a whole number of records, 1 or more, not {size!r}")
    return size


def probabilities(*values: ArrayLike) -> list[Floats]:
    """Return probabilities as arrays of one shape."""
    return [np.asarray(value, dtype=np.float64) for value in np.broadcast_arrays(*values)]


def as_claim(value: Any) -> Claim | None:
    """Return ``value`` as a claim: a Claim, its text, or None."""
    if value is None or isinstance(value, Claim):
        return value
    if isinstance(value, str):
        from dpaudit.privacy.text import parse_claim

        return parse_claim(value)
    raise UsageError(f"a claim is a Claim or a text such as 'epsilon=1, delta=1e-6', not {value!r}")
