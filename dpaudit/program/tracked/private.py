"""What may be done with a private number, or a private array? Linear things, and noise.

A number is a sum over records: each `Term` says what a record adds that meets its conditions, as an interval. Every
kind of record is kept apart, so that what different records do is never added up. ``abs`` and clipping to constants
move no farther than what they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from dpaudit.program.tracked.magnitude import ONE, Magnitude, of
from dpaudit.program.tracked.movement import Ball, Bent, Linear, Term
from dpaudit.program.tracked.path import PATH, Sample, refuse
from dpaudit.program.tracked.released import ReleasedNumber, is_private, magnitude_of


def _never(what: str, instead: str = "") -> Callable[..., NoReturn]:
    def method(self: Any, *_: Any, **__: Any) -> NoReturn:
        refuse(f"{what} of a private value{'; ' if instead else ''}{instead}")

    return method


_ADD_NOISE = "add noise to it first, and compute with what is released"


class Private:
    """What depends on records and has no noise: nothing that Python demands a plain value for."""

    is_private = True
    __array_ufunc__: Any = None

    __bool__ = _never("a branch", f"branch on a released one: {_ADD_NOISE}")
    __float__ = _never("float()", _ADD_NOISE)
    __int__ = _never("int()", _ADD_NOISE)
    __index__ = _never("an index", _ADD_NOISE)
    __str__ = _never("the text", _ADD_NOISE)
    __format__ = _never("the text", _ADD_NOISE)
    __round__ = _never("round()", _ADD_NOISE)
    __floor__ = _never("floor()", _ADD_NOISE)
    __ceil__ = _never("ceil()", _ADD_NOISE)
    __lt__ = __le__ = __gt__ = __ge__ = _never("a comparison", _ADD_NOISE)
    __eq__ = __ne__ = _never("a comparison", _ADD_NOISE)
    __hash__ = _never("hash()", _ADD_NOISE)
    __iter__ = _never("iteration", "sum or count it")
    __len__ = _never("a length that was looked up before the reading", "write len(…) with Python's own name")
    __contains__ = _never("membership", _ADD_NOISE)
    __reduce_ex__ = _never("a copy", "work on the value itself")
    __setitem__ = _never("an assignment", "write frame.assign(column=…), which leaves the data as they are")
    __delitem__ = _never("a deletion", "choose columns instead")

    def __repr__(self) -> str:
        return "<private>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return refuse(f".{name} of a private {type(self).__name__.lower()}, whose stability is not known")


class Additive(Private):
    """A private value of which sums are known: each kind says what ``_plus`` and negation are."""

    def _plus(self, other: Any, sign: int) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus(other, 1)

    def __neg__(self) -> Any:
        raise NotImplementedError


class Number(Additive):
    """A private number.

    ``whole``: whether it is a whole number for certain. ``sample``: what it is made of, None for all records.
    """

    def __init__(self, moves: Linear, sample: Sample | None, *, whole: bool = False) -> None:
        self.moves, self.sample, self.whole = moves, sample, whole

    def _plus(self, other: Any, sign: int) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Number):
            if other.sample != self.sample:
                refuse("a sum over two different samples, or over a sample and all records")
            added = other if sign > 0 else other._times(Fraction(-1))
            moves = Linear(self.moves.terms + added.moves.terms, self.moves.bent + added.moves.bent)
            return Number(moves, self.sample, whole=self.whole and other.whole)
        if isinstance(other, Private):
            return NotImplemented
        if hasattr(other, "shape") and not isinstance(other, ReleasedNumber | np.generic):
            return NotImplemented
        known = isinstance(other, ReleasedNumber) and not other.is_constant
        whole = self.whole and not known and magnitude_of(other).coefficient.denominator == 1
        return Number(self.moves, self.sample, whole=whole)

    def _times(self, factor: Fraction, unit: Magnitude = ONE) -> Number:
        if unit.unit and (self.moves.bent or not PATH.get().is_positive(unit.unit)):
            refuse("a product with a released number that may be negative, or of an absolute value")
        scale = of(factor, unit.unit)
        if not factor:
            return Number(Linear(()), self.sample, whole=True)
        terms = [
            Term(
                each.part,
                *((each.low * scale, each.high * scale) if factor >= 0 else (each.high * scale, each.low * scale)),
            )
            for each in self.moves.terms
        ]
        bent = tuple(replace(each, factor=each.factor * factor) for each in self.moves.bent)
        return Number(
            Linear(tuple(terms), bent), self.sample, whole=self.whole and not unit.unit and factor.denominator == 1
        )

    def __neg__(self) -> Number:
        return self._times(Fraction(-1))

    def __pos__(self) -> Number:
        return self

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, np.ndarray) or (hasattr(factor, "shape") and factor.shape != ()):
            return NotImplemented
        if isinstance(factor, Private):
            refuse("a product of private values; release both, and multiply those")
        given = magnitude_of(factor)
        return self._times(given.coefficient, given)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        if isinstance(divisor, np.ndarray):
            return NotImplemented
        if isinstance(divisor, Private):
            refuse("a ratio of private numbers; release both with noise of their own, and divide those")
        given = magnitude_of(divisor)
        if given.is_zero:
            refuse("a division of a private number by 0, which NumPy makes infinite or NaN")
        inverse = ONE.over(given)
        return self._times(inverse.coefficient, inverse)

    __rtruediv__ = _never("a division by the number", "release it, and divide by max(released, 1)")
    __floordiv__ = __rfloordiv__ = __mod__ = __pow__ = _never("a rounded or curved function", _ADD_NOISE)

    def __abs__(self) -> Number:
        return Number(Linear((), (Bent("abs", Fraction(1), self.moves),)), self.sample, whole=self.whole)

    def clip(self, lower: Any = None, upper: Any = None) -> Number:
        """Clip to constants, which moves no farther."""
        for each in (lower, upper):
            if each is not None:
                magnitude_of(each)
        return Number(Linear((), (Bent("clip", Fraction(1), self.moves),)), self.sample)

    def item(self) -> Number:
        """Return the number itself."""
        return self

    def conjugate(self) -> Number:
        """Return the number itself, as NumPy asks of objects."""
        return self


class Array(Private):
    """A private array of which the Euclidean length of the movement is known."""

    def __init__(self, moves: Ball, sample: Sample | None, shape: tuple[int, ...]) -> None:
        self.moves, self.sample, self.shape = moves, sample, shape

    def __add__(self, other: Any) -> Any:
        if is_private(other):
            return NotImplemented
        if np.broadcast_shapes(getattr(other, "shape", ()), self.shape) != self.shape:
            refuse(f"a sum of a private array of the shape {self.shape} and one of {getattr(other, 'shape', ())}")
        return Array(self.moves, self.sample, self.shape)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + other

    __rsub__ = __sub__

    def __mul__(self, factor: Any) -> Array:
        given = magnitude_of(factor)
        if given.unit and not PATH.get().is_positive(given.unit):
            refuse("a product with a released number that may be negative")
        radius = self.moves.radius * of(abs(given.coefficient), given.unit)
        return Array(Ball(self.moves.part, radius), self.sample, self.shape)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Array:
        given = magnitude_of(divisor)
        if given.is_zero:
            refuse("a division of a private array by 0, which NumPy makes infinite or NaN")
        return self * ReleasedNumber(ONE.over(given))

    def __neg__(self) -> Array:
        return self


def as_array(numbers: Iterable[Any]) -> Any:
    """Return an array of objects."""
    listed = list(numbers)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found
