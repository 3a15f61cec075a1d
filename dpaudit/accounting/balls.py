"""How is a real number computed with certainty? Arb's balls, at a precision that belongs to one computation.

A ball contains the exact number (Johansson 2017, Arb). Everything that accounting proves is computed in balls or
in whole numbers; floating point only chooses where to look.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from dpaudit.errors import UsageError

_KEPT_DIGITS = 12  # of a number that is certified
_LONGEST, _ROUNDED = 60, 30  # digits of a rational one


def flint() -> Any:
    """Return python-flint; raise `UsageError` where it is not installed."""
    try:
        import flint as found
    except ImportError:
        raise UsageError(
            "certified accounting needs python-flint; install it with: pip install 'dpaudit[proof]'"
        ) from None
    return found


@contextmanager
def precision(bits: int) -> Iterator[Any]:
    """Compute in balls of so many bits, whatever the process has set; gives python-flint."""
    found = flint()
    before, found.ctx.prec = found.ctx.prec, bits
    try:
        yield found
    finally:
        found.ctx.prec = before


def ball(value: Fraction | int) -> Any:
    """Return a ball around an exact number."""
    found = flint()
    number = Fraction(value)
    return found.arb(found.fmpq(number.numerator, number.denominator))


def middle(value: Any) -> float:
    """Return the middle of a ball as a float: for searching only."""
    return float(value.mid())


def rounded_up(value: Any, unit: int) -> int:
    """Return ⌊value·unit + 1.3⌋: at least value·unit, whatever is done to it by errors below 0.3."""
    return _floor(value * unit + ball(Fraction(13, 10)))


def rounded_down(value: Any, unit: int) -> int:
    """Return ⌊value·unit − 0.3⌋, or 0 where that is negative: at most value·unit, for values that are not negative.

    The shift keeps whole numbers, which occur, away from the jumps of ⌊·⌋, so that another way of computing
    ``value`` ends at the same whole number.
    """
    return max(0, _floor(value * unit - ball(Fraction(3, 10)), down=True))


def _floor(value: Any, *, down: bool = False) -> int:
    found = value.floor().unique_fmpz()
    if found is None:
        end = value.lower() if down else value.upper()
        found = end.floor().unique_fmpz()
    return int(found)


def decimal(value: Any, *, up: bool) -> Decimal:
    """Return a decimal of 12 digits that is certainly not below (``up``), or not above, what a ball holds."""
    end = value.upper() if up else value.lower()
    mantissa, exponent = (int(part) for part in end.man_exp())
    exactly = Fraction(mantissa) * Fraction(2) ** exponent
    context = Context(prec=_KEPT_DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return context.divide(Decimal(exactly.numerator), Decimal(exactly.denominator))


def short(value: Fraction, *, up: bool) -> Fraction:
    """Return a number itself, or rounded to one side to 30 digits where it has more than 60."""
    if max(value.numerator, value.denominator) < 10**_LONGEST:
        return value
    scale = 10 ** (_ROUNDED + max(0, len(str(value.denominator)) - len(str(value.numerator))))
    return Fraction(math.ceil(value * scale) if up else math.floor(value * scale), scale)


def outward(value: Fraction | None, *, up: bool) -> float:
    """Return the nearest float that is not inside of an interval with this end; None is infinity."""
    if value is None:
        return math.inf
    try:
        found = float(value)
    except OverflowError:
        return math.inf if up else sys.float_info.max
    if up and found < value:
        return math.nextafter(found, math.inf)
    return math.nextafter(found, -math.inf) if not up and found > value else found
