"""Which number does somebody mean who writes 0.1, or computes 1/3?

A float of at most 15 digits is the decimal that Python writes for it: all such decimals survive being stored. A longer
one was computed, and its readers differ by what they need:

- `number_of`, what is accounted for: the simple fraction of which it is the rounding (1/3, 256/60000), where there is
  one, and else the number that it stores;
- `short_decimal`, what a proof may use: nothing;
- `limit_of`, what a bound is held against: the next float on the safe side;
- `decimal_of`, what is compared, also with values of data, or shown: the digits that Python writes, which differ for
  every two floats: a threshold of 0.1 * 3 is not 0.3.

A text is the decimal or the fraction that it writes (`read_number`).

The checker of certificates reads no floats, and shares nothing with this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpaudit.errors import UsageError

Number = int | float | str | Fraction | Decimal

MOST_DIGITS = 400
"""Of a numerator or denominator: what a certificate holds."""

_SURVIVE = 15  # digits: every decimal of so many is told from every other one as a float
_TYPED = 12  # digits: of a float that has as few nobody asks whether it is the rounding of a fraction
_ROUNDING = Fraction(1, 2**53)  # relative, of one operation on floats
_ROUNDINGS = 4  # of a quotient of short decimals, which are rounded themselves
_OF_A_SQUARE = 8  # of the square of a quotient by a root
_SIMPLE = 10**10  # the numerator times the denominator of a simple fraction: one float in 100,000 is near one by chance
_SIMPLE_SQUARE = 10**13
_ROOT_DIGITS = 30


def short_decimal(value: float) -> Fraction | None:
    """Return the decimal that Python writes for a finite float, or None if it has more than 15 digits."""
    return _decimal(value, _SURVIVE)


@lru_cache(maxsize=4096)
def _decimal(value: float, digits: int) -> Fraction | None:
    written = Decimal(repr(float(value)))
    return Fraction(written) if len(written.normalize().as_tuple().digits) <= digits else None


def decimal_of(value: float) -> Fraction:
    """Return the decimal that Python writes for a finite number, whatever its length."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(float(value)))


@lru_cache(maxsize=4096)
def number_of(value: float) -> Fraction:
    """Return the number that a finite float stands for: a short decimal, a simple fraction, or what it stores."""
    if (typed := _decimal(value, _TYPED)) is not None:
        return typed
    stored = Fraction(float(value))
    return _simple(stored, _ROUNDINGS, _SIMPLE) or short_decimal(value) or stored


def root_of(value: float) -> Fraction:
    """Return the number that a σ stands for, where it is a computed root: the next one of 30 digits above the root.

    σ = Δ/√(2ρ) is no float and no fraction, but σ² is a simple fraction. A little more noise than σ keeps the ρ that it
    was computed for; the float itself may be a little less, and not keep it.
    """
    if value <= 0 or _decimal(value, _TYPED) is not None:
        return number_of(value)
    square = _simple(Fraction(float(value)) ** 2, _OF_A_SQUARE, _SIMPLE_SQUARE)
    return number_of(value) if square is None else _root_above(square)


def limit_of(value: float, *, toward: float) -> Fraction:
    """Return the decimal that Python writes for a float; of more than 15 digits the next float ``toward`` a side."""
    short = short_decimal(value)
    return Fraction(math.nextafter(value, toward)) if short is None else short


def read_number(name: str, value: Number) -> Fraction:
    """Return the number that was given, exactly.

    Args:
        name: what it is called in errors.
        value: a text such as '0.1' or '1/3', or a number.

    Raises:
        UsageError: for what is no finite number, or has more than 400 digits.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction | Decimal):
        raise UsageError(f"{name} must be a number, or a text such as '0.1' or '1/3', not {value!r:.60}")
    try:
        if not isinstance(value, float) and _exponent(str(value)) > MOST_DIGITS:
            raise UsageError(f"{name}: {value!r:.60} has more than {MOST_DIGITS} digits; fewer are as good")
        number = number_of(value) if isinstance(value, float) else Fraction(value)
    except UsageError:
        raise
    except (ValueError, ArithmeticError):
        raise UsageError(f"{name} must be a finite number, such as 0.1, '0.1' or '1/3', not {value!r:.60}") from None
    if max(abs(number.numerator), number.denominator) >= 10**MOST_DIGITS:
        raise UsageError(f"{name} has more than {MOST_DIGITS} digits; fewer are as good")
    return number


def read_whole(value: Any) -> int | None:
    """Return a whole number that is written as such, or as 14000.0, 1e4 or 1_000; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, int):
        return value
    try:
        number = Decimal(str(value).strip())
        if not number.is_finite() or number.adjusted() > 99 or number != int(number):
            return None
    except (InvalidOperation, ValueError):
        return None
    return int(number)


def _exponent(text: str) -> int:
    """The size of the exponent of ten of a text: ``Fraction("1e999999999")`` would fill all memory."""
    _, e, digits = text.lower().strip().partition("e")
    return abs(int(digits)) if e else 0


def _simple(number: Fraction, roundings: int, most: int) -> Fraction | None:
    """Return the simple fraction from which a number may come by so many roundings, or None."""
    if not number:
        return None
    room = abs(number) * roundings * _ROUNDING
    simplest = _simplest(abs(number) - room, abs(number) + room)
    if simplest.numerator * simplest.denominator > most:
        return None
    return simplest if number > 0 else -simplest


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of the smallest denominator between two positive numbers (Stern 1858, Brocot 1861)."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / _simplest(1 / (high - below), 1 / (low - below))


def _root_above(square: Fraction) -> Fraction:
    """Return the root of a positive fraction where it is rational, else the next number of 30 digits above it."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    places = max(0, _ROOT_DIGITS - math.floor(math.log10(square) / 2) - 1)
    return Fraction(math.isqrt(square.numerator * 10 ** (2 * places) // square.denominator) + 1, 10**places)


# --- Which values may a confidence, and a chance of a false alarm, have? ---

LEAST_ERROR = 1e-12
"""The smallest error level that is promised.

A confidence is a float, which stores 1 − error to 1e-16, one part in ten thousand of this. Smaller error levels would
be distorted by rounding, and generators, memory and libraries fail more often.
"""

_LEAST = LEAST_ERROR * (1 - 1e-3)  # as 1 − (1 − 1e-12) is a little smaller, in floats
_TOO_SURE = f"promises fewer errors than one in 10^12 ({LEAST_ERROR:g}), which nothing that computes in floats can keep"


def refuse_confidence(confidence: Any, name: str = "confidence") -> None:
    """Raise `UsageError` for anything but a confidence whose error level is large enough to be meaningful."""
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not number or not 0 < confidence < 1:
        raise UsageError(f"{name} lies strictly between 0 and 1, such as 0.95, not {confidence!r}")
    if 1 - confidence >= 1:
        raise UsageError(f"a {name} of {confidence!r} is none: every bound may be wrong; say 0.95")
    if 1 - confidence < _LEAST:
        raise UsageError(f"a {name} of {confidence!r} {_TOO_SURE}; say 0.95, or at most 0.999999")


def refuse_false_alarm(false_alarm: Any, name: str = "false_alarm") -> None:
    """Raise `UsageError` for anything but a probability that is large enough to be meaningful."""
    if isinstance(false_alarm, bool) or not isinstance(false_alarm, int | float) or not 0 < false_alarm < 1:
        raise UsageError(
            f"{name} is the chance that a mechanism that keeps its claim is called violated, strictly between 0 "
            f"and 1, such as 0.001, not {false_alarm!r}"
        )
    if false_alarm < _LEAST:
        raise UsageError(f"a {name} of {false_alarm!r} {_TOO_SURE}; say 0.001, or at least 0.000001")


# --- Between which numbers does something certainly lie? An interval with exact ends. ---


@dataclass(frozen=True)
class Enclosure:
    """An interval that certainly contains a number, with exact ends."""

    low: Fraction
    high: Fraction

    def __contains__(self, value: Any) -> bool:
        return self.low <= Fraction(value) <= self.high

    @property
    def gap(self) -> float:
        """The width relative to the upper end; 0 for a point."""
        return float((self.high - self.low) / self.high) if self.high else 0.0

    def decimals(self, digits: int = 15) -> tuple[str, str]:
        """Return both ends as decimals, rounded outward to ``digits`` significant digits."""
        return _enclosed(self.low, digits, ROUND_FLOOR), _enclosed(self.high, digits, ROUND_CEILING)

    def __str__(self) -> str:
        return "[{}, {}]".format(*self.decimals())


def _enclosed(value: Fraction, digits: int, rounding: str) -> str:
    context = Context(prec=digits, rounding=rounding)
    # a quotient of two exact integers, rounded once
    return format(context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context), "g")
