"""Between which numbers does something certainly lie? An interval with exact ends."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any


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
        return _decimal(self.low, digits, ROUND_FLOOR), _decimal(self.high, digits, ROUND_CEILING)

    def __str__(self) -> str:
        return "[{}, {}]".format(*self.decimals())


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    context = Context(prec=digits, rounding=rounding)
    # a quotient of two exact integers, rounded once
    return format(context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context), "g")
