"""How far, in which unit? A fraction times a product of released numbers.

A clipping bound that was released itself cancels against the scale that is made of it. Numbers that a program writes
are taken as they are written: 0.1 is one tenth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.decimals import decimal_of
from dpaudit.program.tracked.path import PATH, Unit, refuse


@dataclass(frozen=True, slots=True)
class Magnitude:
    """A number: ``coefficient`` times a product of released numbers; without a unit where it is 0."""

    coefficient: Fraction
    unit: Unit = ()

    @property
    def is_zero(self) -> bool:
        """Whether it is 0."""
        return not self.coefficient

    def __neg__(self) -> Magnitude:
        return Magnitude(-self.coefficient, self.unit)

    def __add__(self, other: Magnitude) -> Magnitude:
        if self.is_zero or other.is_zero:
            return other if self.is_zero else self
        if self.unit != other.unit:
            refuse("a movement that is a sum of different released numbers; clip by one of them")
        return of(self.coefficient + other.coefficient, self.unit)

    def __mul__(self, other: Magnitude) -> Magnitude:
        if cancels(self.unit, other.unit):
            refuse("a product and a quotient with the same released number, which floats need not undo; leave both out")
        return of(self.coefficient * other.coefficient, times(self.unit, other.unit))

    def over(self, other: Magnitude) -> Magnitude:
        """Return the quotient."""
        if cancels(self.unit, other.unit, -1):
            refuse("a product and a quotient with the same released number, which floats need not undo; leave both out")
        return of(self.coefficient / other.coefficient, times(self.unit, other.unit, -1))


def of(coefficient: Fraction, unit: Unit = ()) -> Magnitude:
    """Return a magnitude in its one form."""
    return Magnitude(coefficient, unit if coefficient else ())


ZERO, ONE = Magnitude(Fraction(0)), Magnitude(Fraction(1))


def times(one: Unit, other: Unit, sign: int = 1) -> Unit:
    """Multiply two products, or divide them."""
    powers = dict(one)
    for token, power in other:
        powers[token] = powers.get(token, 0) + sign * power
    return tuple(sorted((token, power) for token, power in powers.items() if power))


def cancels(one: Unit, other: Unit, sign: int = 1) -> bool:
    """Whether a product (or a quotient) holds less of a released number than one of the two."""
    powers = dict(one)
    return any(powers.get(token, 0) * power * sign < 0 for token, power in other)


def exact(value: Any) -> Fraction:
    """Return a public number, exactly; refuse what is none."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return decimal_of(float(value))
    if isinstance(value, float | np.floating):
        refuse(f"the number {float(value)!r}, which bounds nothing")
    return refuse(f"a {type(value).__name__} where a public number is known")


def hull(values: Iterable[Magnitude]) -> tuple[Magnitude, Magnitude]:
    """Return the smallest and the largest of several numbers, which must be multiples of one positive unit."""
    listed = list(values)
    units = {each.unit for each in listed if not each.is_zero}
    if len(units) > 1:
        refuse("a bound that is the larger of different released numbers; take their maximum before, as one number")
    unit = units.pop() if units else ()
    if not PATH.get().is_positive(unit):
        refuse("a bound made of a released number that may be negative; test that it is above 0 first")
    coefficients = [each.coefficient for each in listed]
    return of(min(coefficients), unit), of(max(coefficients), unit)


def widened(low: Magnitude, high: Magnitude) -> tuple[Magnitude, Magnitude]:
    """Return the interval with 0 in it."""
    return hull((low, high, ZERO))
