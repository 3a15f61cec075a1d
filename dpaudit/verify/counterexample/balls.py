"""How are real numbers computed with rigorous error bounds? As balls: intervals that contain the true number.

Where python-flint is installed these are Arb's balls (Johansson 2017). Otherwise they are intervals of dyadic
fractions, rounded outward after every step (Moore 1966), in pure Python: slower, but just as rigorous.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_GUARD = 64  # extra bits while an exponential is computed


@dataclass(frozen=True, slots=True)
class Interval:
    """A real number between two fractions, which are rounded outward to ``bits`` significant bits."""

    low: Fraction
    high: Fraction
    bits: int

    def __add__(self, other: Interval | int) -> Interval:
        if isinstance(other, int):
            return self._rounded(self.low + other, self.high + other)
        return self._rounded(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low, self.bits)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval | int) -> Interval:
        if isinstance(other, int):
            ends = [self.low * other, self.high * other]
        else:
            ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return self._rounded(min(ends), max(ends))

    __rmul__ = __mul__

    def __truediv__(self, other: Interval | int) -> Interval:
        bottom = (Fraction(other), Fraction(other)) if isinstance(other, int) else (other.low, other.high)
        if bottom[0] <= 0 <= bottom[1]:
            raise ZeroDivisionError("an interval around 0 is no divisor")
        ends = [a / b for a in (self.low, self.high) for b in bottom]
        return self._rounded(min(ends), max(ends))

    def _rounded(self, low: Fraction, high: Fraction) -> Interval:
        return Interval(_cut(low, self.bits, up=False), _cut(high, self.bits, up=True), self.bits)


def _cut(value: Fraction, bits: int, *, up: bool) -> Fraction:
    """Round to ``bits`` significant bits, up or down."""
    if not value:
        return value
    shift = bits - value.numerator.bit_length() + value.denominator.bit_length()
    top, bottom = (
        (value.numerator << shift, value.denominator) if shift >= 0 else (value.numerator, value.denominator << -shift)
    )
    whole = -(-top // bottom) if up else top // bottom
    return Fraction(whole, 1 << shift) if shift >= 0 else Fraction(whole << -shift)


def exponential(value: Fraction, bits: int) -> Interval:
    """Return e^value: the Taylor series of value/2^k, squared k times.

    For |t| ≤ 1/2, the remainder of the series after t^n/n! is at most twice the next term.
    """
    precise = bits + _GUARD + max(0, value.numerator.bit_length() - value.denominator.bit_length())
    if value < 0:
        inverse = exponential(-value, bits + 2)
        return Interval(Fraction(1), Fraction(1), bits) / inverse
    halvings = max(0, value.numerator.bit_length() - value.denominator.bit_length() + 8)
    small = value / (1 << halvings)
    t = Interval(_cut(small, precise, up=False), _cut(small, precise, up=True), precise)
    total = term = Interval(Fraction(1), Fraction(1), precise)
    number, least = 0, Fraction(1, 1 << precise)
    while term.high > least:
        number += 1
        term = term * t / number
        total = total + term
    total = Interval(total.low, total.high + 2 * term.high, precise)
    for _ in range(halvings):
        total = total * total
    return Interval(_cut(total.low, bits, up=False), _cut(total.high, bits, up=True), bits)


def _flint() -> Any:
    try:
        import flint
    except ImportError:
        return None
    return flint


class Balls:
    """A context (``with``) that makes balls of one precision, and remembers exponentials."""

    def __init__(self, bits: int) -> None:
        self._flint = _flint()
        self._bits = bits
        self._powers: dict[Fraction, Any] = {}

    def __enter__(self) -> Balls:
        if self._flint is not None:
            self._before = self._flint.ctx.prec
            self._flint.ctx.prec = self._bits
        return self

    def __exit__(self, *_: object) -> None:
        if self._flint is not None:
            self._flint.ctx.prec = self._before

    def ball(self, value: Fraction) -> Any:
        """Return a fraction as a ball."""
        if self._flint is not None:
            return self._flint.arb(self._flint.fmpq(value.numerator, value.denominator))
        return Interval(_cut(value, self._bits, up=False), _cut(value, self._bits, up=True), self._bits)

    def exp(self, value: Fraction) -> Any:
        """Return e^value as a ball."""
        if value not in self._powers:
            own = self.ball(value).exp() if self._flint is not None else exponential(value, self._bits)
            self._powers[value] = own
        return self._powers[value]
