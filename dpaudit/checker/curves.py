"""How far do functions of numbers move that are no straight lines? Powers, logarithms, exponentials, products, norms.

From what a number can be, whatever the data are, and how far it moves. A function of one bend is steepest at one end of
its range: there it moves farthest. Fractions, rounded outward.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from dpaudit.checker.ranges import (
    Number,
    NumberRange,
    absolute,
    add,
    clip,
    divide,
    exponentiated,
    hull,
    multiply,
    natural_logarithm,
    plain,
    power,
    square_root,
    subtract,
)
from dpaudit.checker.reading import CertificateError, rational, shown
from dpaudit.checker.reals import root

Ends = tuple[Number, Number]
EVERYTHING = NumberRange(-math.inf, math.inf, True, True)
_MOST_EXPONENT = 100
_ONE = NumberRange(1, 1)


class Curved:
    """x to a power other than 0 and 1, ln x or e^x.

    Attributes:
        falls: whether it falls.
        is_steep_above: whether it is steepest at the largest x.
    """

    def __init__(self, function: object, exponent: object, where: str) -> None:
        if type(function) is not str or function not in ("power", "log", "exp"):
            raise CertificateError(f"{where}: {shown(function)} is no function that is known")
        if (exponent is None) is (function == "power"):
            raise CertificateError(f"{where}: a power has an exponent, and nothing else")
        self.where, self.exponent, self._function = where, Fraction(0), function
        if exponent is not None:
            self.exponent = rational(exponent, f"{where}: exponent")
            if self.exponent in (0, 1) or abs(self.exponent) > _MOST_EXPONENT:
                raise CertificateError(f"{where}: an exponent other than 0 and 1, and at most {_MOST_EXPONENT}")
        self.falls = self.exponent < 0
        self.is_steep_above = function == "exp" or self.exponent > 1

    def range(self, of: NumberRange) -> NumberRange:
        """Return what it can be, where it is defined on all of a range."""
        if self._function == "exp":
            return exponentiated(of)
        if of.low < 0 or (of.low == 0 and (self._function == "log" or self.falls)):
            raise CertificateError(f"{self.where}: of a number that may be {'0 or ' * (of.low == 0)}less than 0")
        if self._function == "log":
            return natural_logarithm(of)
        if self.exponent == Fraction(1, 2):
            return square_root(of)
        powered = self._power(of, abs(self.exponent))
        return divide(_ONE, powered) if self.falls else powered

    @staticmethod
    def _power(of: NumberRange, exponent: Fraction) -> NumberRange:
        if exponent.denominator == 1:
            return power(of, int(exponent))
        factor = NumberRange(exponent, exponent)
        if of.low > 0:
            return exponentiated(multiply(natural_logarithm(of), factor))
        if of.high == 0:
            return of
        high = of.high
        if high != math.inf:
            high = exponentiated(multiply(natural_logarithm(NumberRange(high, high)), factor)).high
        return NumberRange(0, high, of.low_open, of.high_open)

    def moved(self, of: NumberRange, ends: Ends) -> Ends:
        """Return how far it moves where a number of a range moves within two ends."""
        self.range(of)
        up, down = (self._farthest(of, max(far, 0)) for far in (ends[1], -ends[0]))
        return (-up, down) if self.falls else (-down, up)

    def _farthest(self, of: NumberRange, far: Number) -> Number:
        """Return how far it moves at most where its number moves so far, one way or the other."""
        end = of.high if self.is_steep_above else of.low
        if type(end) is float:
            raise CertificateError(f"{self.where}: a function that becomes steeper, of a number without an end there")
        if not far:
            return 0
        if type(of.low) is not float and type(of.high) is not float:
            far = min(far, of.high - of.low)
        other = end - far if self.is_steep_above else end + far
        return absolute(subtract(self.range(NumberRange(end, end)), self.range(NumberRange(other, other)))).high


def range_of_sums(added: Iterable[Mapping[int, Ends]], size: int) -> list[NumberRange]:
    """Return what sums of rows can be: of no row 0, and without an end on a side on which any row adds something."""
    ends: list[Ends] = [(0, 0)] * size
    for adds in added:
        for place, (low, high) in adds.items():
            ends[place] = min(ends[place][0], low), max(ends[place][1], high)
    return [
        NumberRange(-math.inf if low < 0 else 0, math.inf if high > 0 else 0, low < 0, high > 0) for low, high in ends
    ]


def range_of(
    kind: str, given: Any, inner: list[list[NumberRange]], constants: Sequence[Number], size: int
) -> list[NumberRange]:
    """Return what each place of a function of numbers can be, from what those can be; of others everything."""
    if kind == "deviations":
        return [NumberRange(0, math.inf, False, True)]
    if kind == "stack":
        return [each for ranges in inner for each in ranges]
    if kind == "linear":
        summed = [NumberRange(each, each) for each in constants]
        for place, goes in given.items():
            for to, factor in goes:
                summed[to] = add(summed[to], multiply(inner[0][place], NumberRange(factor, factor)))
        return summed
    if kind == "among":
        listed = [[EVERYTHING if place is None else inner[0][place] for place in places] for places in given]
        return [NumberRange.of(reduce(hull, each)) for each in listed]
    if kind == "clip":
        low, high = (given[name] and plain(rational(given[name], name)) for name in ("low", "high"))
        return [clip(each, -math.inf if low is None else low, math.inf if high is None else high) for each in inner[0]]
    if kind == "product":
        return [product_range(one, other, given) for one, other in zip(*inner, strict=True)]
    if kind == "norm":
        return [norm_range(inner[0])]
    if kind in ("abs", "curve"):
        return [(absolute if kind == "abs" else given.range)(each) for each in inner[0]]
    return [EVERYTHING] * size


def product_range(one: NumberRange, other: NumberRange, where: str) -> NumberRange:
    """Return what a product of two numbers can be, each of which has both ends."""
    if any(type(end) is float for each in (one, other) for end in (each.low, each.high)):
        raise CertificateError(f"{where}: a product of a number without an end")
    return multiply(one, other)


def product_moved(ranges: tuple[NumberRange, NumberRange], moves: tuple[Ends, Ends]) -> Ends:
    """Return how far a product x·y moves: by dx·y′ + x·dy."""
    (x, y), (of_x, of_y) = ranges, (NumberRange(*each) for each in moves)
    moved = add(multiply(of_x, y), multiply(x, of_y))
    return moved.low, moved.high


def norm(ends: Iterable[Ends]) -> Number:
    """Return the Euclidean length of a vector, at most."""
    square = plain(sum((Fraction(max(-low, high, 0)) ** 2 for low, high in ends), Fraction(0)))
    return plain(root(Fraction(square)))


def norm_range(ranges: Iterable[NumberRange]) -> NumberRange:
    """Return what the length of a vector can be."""
    ends = [(each.low, each.high) for each in ranges]
    if any(type(end) is float for pair in ends for end in pair):
        return NumberRange(0, math.inf, False, True)
    return NumberRange(0, norm(ends))
