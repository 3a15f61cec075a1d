"""What may be done with a private number, or a private array? Linear things, and noise.

A number is a sum over records: each `Term` says what a record adds that meets its conditions, as an interval. Every
kind of record is kept apart, so that what different records do is never added up. ``abs`` and clipping to constants
move no farther than what they are made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.tracked.guarded import Guarded, never
from dpaudit.program.tracked.magnitude import ONE, Magnitude, of
from dpaudit.program.tracked.movement import Ball, Bent, Linear, Term
from dpaudit.program.tracked.path import PATH, Sample, refuse
from dpaudit.program.tracked.released import ReleasedNumber, is_private, magnitude_of

_ADD_NOISE = "add noise to it first, and compute with what is released"
_ARITHMETIC = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "truediv", np.matmul: "matmul",
}  # fmt: skip
_EXTREMES = (np.maximum, np.minimum)
_ALONE = {np.negative: "neg", np.positive: "pos", np.absolute: "abs"}


class Private(Guarded):
    """What depends on records and has no noise: nothing that Python demands a plain value for."""

    is_private = True
    sort = "private"

    __bool__ = never("a branch", f"branch on a released one: {_ADD_NOISE}")
    __float__ = __complex__ = never("float()", _ADD_NOISE)
    __int__ = never("int()", _ADD_NOISE)
    __index__ = never("an index", _ADD_NOISE)
    __str__ = __bytes__ = __fspath__ = never("the text", _ADD_NOISE)
    __format__ = never("the text", _ADD_NOISE)
    __round__ = never("round()", _ADD_NOISE)
    __floor__ = __trunc__ = never("floor()", _ADD_NOISE)
    __ceil__ = never("ceil()", _ADD_NOISE)
    __lt__ = __le__ = __gt__ = __ge__ = never("a comparison", _ADD_NOISE)
    __eq__ = __ne__ = never("a comparison", _ADD_NOISE)
    __hash__ = never("hash()", _ADD_NOISE)
    __iter__ = __next__ = __reversed__ = never("iteration", "sum or count it")
    __len__ = __length_hint__ = never(
        "a length that was looked up before the reading", "write len(…) with Python's own name"
    )
    __contains__ = never("membership", _ADD_NOISE)
    __reduce_ex__ = __reduce__ = __copy__ = __deepcopy__ = never("a copy", "work on the value itself")
    __getitem__ = never("a choice among the insides")
    __setitem__ = never("an assignment", "write frame.assign(column=…), which leaves the data as they are")
    __delitem__ = never("a deletion", "choose columns instead")
    __dir__ = __sizeof__ = __buffer__ = never("another use")
    __array__ = never(
        "an array", "write np.array([…]) with NumPy's own name, and without a dtype; or keep them in a list"
    )
    __add__ = __radd__ = __sub__ = __rsub__ = never("a sum")
    __mul__ = __rmul__ = __matmul__ = __rmatmul__ = never("a product")
    __truediv__ = __rtruediv__ = never("a quotient")
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = never(
        "a rounded quotient", _ADD_NOISE
    )
    __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = never("a curved function", _ADD_NOISE)
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = never("a combination by bits")
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = never("a combination by bits")
    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = __imatmul__ = never(
        "arithmetic in place", "it changes every other name of the same values: write x = x + …"
    )
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = __iadd__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return refuse(f".{name} of a private {type(self).__name__.lower()}, whose stability is not known")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Return what arithmetic gives that NumPy began."""
        if any(hasattr(type(each), "as_opaque") for each in inputs) and not hasattr(type(self), "as_opaque"):
            return NotImplemented  # they know what to do
        if method == "__call__" and not keywords:
            if ufunc in _ALONE and len(inputs) == 1:
                return getattr(type(self), f"__{_ALONE[ufunc]}__")(self)
            if ufunc in _EXTREMES and all(isinstance(each, Number) or not _shape(each) for each in inputs):
                return among(inputs)
            if ufunc in _ARITHMETIC and len(inputs) == 2:
                name, found = _ARITHMETIC[ufunc], NotImplemented
                if is_private(inputs[0]):
                    found = getattr(type(inputs[0]), f"__{name}__")(*inputs)
                if found is NotImplemented and is_private(inputs[1]):
                    found = getattr(type(inputs[1]), f"__r{name}__")(*inputs[::-1])
                if found is not NotImplemented:
                    return found
        return refuse(f"np.{ufunc.__name__} of a private {type(self).__name__.lower()} in this form")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Refuse functions of NumPy, but for those that a kind of value knows."""
        return refuse(
            f"np.{function.__name__} of a private {type(self).__name__.lower()}, whose stability is not known"
        )


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

    inner = Private.inner | {"moves", "sample", "whole"}

    def __init__(self, moves: Linear, sample: Sample | None, *, whole: bool = False) -> None:
        self.moves, self.sample, self.whole = moves, sample, whole

    def _plus(self, other: Any, sign: int) -> Any:
        if isinstance(other, Number):
            if other.sample != self.sample:
                refuse("a sum over two different samples, or over a sample and all records")
            added = other if sign > 0 else other._times(Fraction(-1))
            moves = Linear(self.moves.terms + added.moves.terms, self.moves.bent + added.moves.bent)
            return Number(moves, self.sample, whole=self.whole and other.whole)
        if isinstance(other, Private):
            return NotImplemented
        if _shape(other):
            return self._array()._plus(other, sign)
        given = magnitude_of(other)
        whole = self.whole and not given.unit and given.coefficient.denominator == 1
        return Number(self.moves, self.sample, whole=whole)

    def _array(self) -> Any:
        from dpaudit.program.tracked.arrays import Numbers

        return Numbers.of([self]).reshape(())

    def _times(self, factor: Fraction, unit: Magnitude = ONE) -> Number:
        if unit.unit and (self.moves.bent or not PATH.get().is_positive(unit.unit)):
            refuse("a product with a released number that may be negative, or of an absolute value")
        scale = of(factor, unit.unit)
        if not factor:
            return Number(Linear(()), self.sample, whole=self.whole and not unit.unit)
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
        if isinstance(factor, Private):
            refuse("a product of private values; release both, and multiply those")
        if _shape(factor):
            return self._array() * factor
        given = magnitude_of(factor)
        return self._times(given.coefficient, given)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        if isinstance(divisor, Private):
            refuse("a ratio of private numbers; release both with noise of their own, and divide those")
        if _shape(divisor):
            return self._array() / divisor
        given = magnitude_of(divisor)
        if given.is_zero:
            refuse("a division of a private number by 0, which NumPy makes infinite or NaN")
        inverse = ONE.over(given)
        return self._times(inverse.coefficient, inverse)

    __rtruediv__ = never("a division by the number", "release it, and divide by max(released, 1)")

    # numbers do not change: x += y gives x another value, and leaves what else has this one
    __iadd__, __isub__, __imul__, __itruediv__ = Additive.__add__, Additive.__sub__, __mul__, __truediv__

    def __abs__(self) -> Number:
        return Number(Linear((), (Bent("abs", Fraction(1), (self.moves,)),)), self.sample, whole=self.whole)

    def clip(self, lower: Any = None, upper: Any = None) -> Number:
        """Clip to constants, which moves no farther."""
        for each in (lower, upper):
            if each is not None and magnitude_of(each).unit:
                refuse("a private number clipped to a released one; clip to constants")
        return Number(Linear((), (Bent("clip", Fraction(1), (self.moves,)),)), self.sample)

    def item(self) -> Number:
        """Return the number itself."""
        return self


def among(values: Iterable[Any]) -> Number:
    """Return the largest, the smallest or the median of private numbers and constants: it moves as one of them does.

    Where all numbers move up by at most h, so does each number in their order.
    """
    listed = list(values)
    numbers = [each for each in listed if isinstance(each, Number)]
    for each in listed:
        if not isinstance(each, Number):
            magnitude_of(each)  # a private value that is no number is refused
    if len({each.sample for each in numbers}) > 1:
        refuse("the largest or smallest of numbers of several samples; release each by itself")
    moves = tuple(each.moves if isinstance(each, Number) else Linear(()) for each in listed)
    whole = all(
        each.whole
        if isinstance(each, Number)
        else magnitude_of(each).coefficient.denominator == 1 and not magnitude_of(each).unit
        for each in listed
    )
    return Number(
        Linear((), (Bent("among", Fraction(1), tuple(dict.fromkeys(moves))),)), numbers[0].sample, whole=whole
    )


class Array(Private):
    """A private array of which the Euclidean length of the movement is known."""

    inner = Private.inner | {"moves", "sample"}

    def __init__(self, moves: Ball, sample: Sample | None, shape: tuple[int, ...]) -> None:
        self.moves, self.sample, self.shape = moves, sample, shape

    def __add__(self, other: Any) -> Any:
        if is_private(other):
            return NotImplemented
        if not _shape(other):
            magnitude_of(other)
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


def _shape(value: Any) -> tuple[int, ...]:
    """Return the shape of a public or released value; of what has none, a number's."""
    return tuple(np.shape(value)) if isinstance(value, list | tuple | np.ndarray) else getattr(value, "shape", ())
