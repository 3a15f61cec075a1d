"""What is an exact number? A quotient of two sums Σ c·e^r. If it cannot stay exact, the program is refused."""

from __future__ import annotations

import copy
import linecache
import math
import operator
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from dpaudit.decimals import decimal_of, short_decimal
from dpaudit.errors import UsageError

_HERE = str(Path(__file__).parents[2])


class Refusing(Protocol):
    """A run that can be refused; ``refused`` is the first reason."""

    refused: str | None


class NotExactError(BaseException):
    """The exact reading does not support what the program does; no ``except Exception`` may swallow it."""


READING: ContextVar[Refusing | None] = ContextVar("reading", default=None)


def refuse(reason: str) -> NoReturn:
    """Refuse the program for a reason, naming its line."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    name, line = frame.f_code.co_filename, frame.f_lineno
    text = f"{Path(name).name}, line {line} ({linecache.getline(name, line).strip()}): {reason}"
    trace = READING.get()
    if trace is None:
        raise UsageError(text)
    trace.refused = trace.refused or text
    raise NotExactError(text)


# --- How are sums Σ c·e^r added, multiplied and compared, with integers c and rational r? ---
#
# Different e^r are linearly independent over the rationals (Lindemann & Weierstrass 1885). So equality is decided by
# comparing coefficients, and the sign of a sum that is not zero by computing enough digits.

Sum = dict[Fraction, int]  # exponent r → coefficient c ≠ 0 of e^r
ONE: Sum = {Fraction(0): 1}


def plus(left: Sum, right: Sum, sign: int = 1) -> Sum:
    """Return left + sign·right."""
    total = dict(left)
    for exponent, coefficient in right.items():
        total[exponent] = total.get(exponent, 0) + sign * coefficient
    return {exponent: coefficient for exponent, coefficient in total.items() if coefficient}


def times(left: Sum, right: Sum) -> Sum:
    """Return left·right."""
    product: Sum = {}
    for r, c in left.items():
        for s, d in right.items():
            product[r + s] = product.get(r + s, 0) + c * d
    return {exponent: coefficient for exponent, coefficient in product.items() if coefficient}


def divided(top: Sum, bottom: Sum) -> Sum | None:
    """Return top/bottom if that is a sum again (long division from the largest exponent), else None."""
    quotient: Sum = {}
    lead, least = max(bottom), min(top) - min(bottom)
    while top:
        highest = max(top)
        coefficient, rest = divmod(top[highest], bottom[lead])
        if rest or highest - lead < least:
            return None
        term = {highest - lead: coefficient}
        quotient |= term
        top = plus(top, times(term, bottom), -1)
    return quotient


@lru_cache(maxsize=2**16)
def exponential_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Return lower and upper bounds of e^exponent, exponent ≤ 0, in units of 2^−bits."""
    one, size = 1 << bits, -exponent
    if size > bits:
        return 0, 1
    if not size:
        return one, one
    halvings = max(0, int(size).bit_length() + 4)
    low = high = term_low = term_high = one
    numerator, denominator = size.numerator, size.denominator << halvings
    # e^t from its series, all terms positive, then e^−t = 1/e^t: each bound rounds in one direction only
    count = 0
    while term_high > 1:
        count += 1
        term_low = term_low * numerator // (denominator * count)
        term_high = -(-term_high * numerator // (denominator * count))
        low, high = low + term_low, high + term_high
    high += 2  # the remaining terms are at most a geometric series of ratio 1/16 that starts with one unit
    low, high = one * one // high, -(-one * one // low)
    for _ in range(halvings):
        low, high = low * low >> bits, -(-high * high >> bits)
    return low, high


def bounds_of(terms: Sum, bits: int) -> tuple[int, int]:
    """Return bounds of Σ c·e^(r − max r) in units of 2^−bits."""
    top, low, high = max(terms), 0, 0
    for exponent, coefficient in terms.items():
        bounds = exponential_bounds(exponent - top, bits)
        low += coefficient * bounds[coefficient < 0]
        high += coefficient * bounds[coefficient > 0]
    return low, high


def sign_of(terms: Sum) -> int:
    """Return −1, 0 or 1."""
    if not terms:
        return 0
    signs = {coefficient > 0 for coefficient in terms.values()}
    if len(signs) == 1:
        return 1 if signs.pop() else -1
    bits = 64
    while True:  # terminates, because the sum is not zero
        low, high = bounds_of(terms, bits)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        bits *= 2


_BOUND_BITS = 128
USUAL = {"exp": math.exp, "expm1": math.expm1}


class Exact:
    """A quotient of two sums of integer multiples of e^r, r rational; every rational number is one.

    Arithmetic with integers, fractions, short decimals and other exact numbers is exact, and comparisons are decided.
    An operation that needs a float refuses the program. The number stands for a float, so a zero has a sign (IEEE 754).
    """

    __slots__ = ("_enclosed", "_fraction", "_minus", "_sums")
    _minus: bool  # whether it is −0.0
    _fraction: Fraction | None
    _sums: tuple[Sum, Sum] | None
    _enclosed: tuple[Fraction, Fraction] | None

    def __init__(self, value: Any = 0) -> None:
        self._fraction, self._sums, self._enclosed = _rational(value), None, None
        self._minus = isinstance(value, float) and value == 0 and math.copysign(1, value) < 0

    def _zero(self, *, minus: bool) -> Exact:
        """Return the number itself; if it is zero, with this sign."""
        if self._fraction == 0:
            self._minus = minus
        return self

    @property
    def is_minus(self) -> bool:
        """Whether the sign bit of the float is set, also for a zero."""
        return self._minus or self.sign() < 0

    @classmethod
    def quotient(cls, top: Sum, bottom: Sum) -> Exact:
        """Return top/bottom, reduced by common integers and single terms."""
        if top.keys() == bottom.keys():
            ratios = {Fraction(coefficient, bottom[exponent]) for exponent, coefficient in top.items()}
            if len(ratios) == 1:
                return cls(ratios.pop())
        if not top:
            return cls()
        if bottom != ONE:
            shift = min(bottom)
            common = math.gcd(*top.values(), *bottom.values()) * (1 if bottom[max(bottom)] > 0 else -1)
            top = {exponent - shift: coefficient // common for exponent, coefficient in top.items()}
            bottom = {exponent - shift: coefficient // common for exponent, coefficient in bottom.items()}
        number = cls.__new__(cls)
        number._fraction, number._sums, number._enclosed, number._minus = None, (top, bottom), None, False
        return number

    @property
    def fraction(self) -> Fraction | None:
        """The number itself if it is rational, else None (proportional sums are the only rational quotients)."""
        return self._fraction

    @property
    def sums(self) -> tuple[Sum, Sum]:
        """Numerator and denominator."""
        if self._sums is None:
            number = self._fraction or Fraction(0)
            self._sums = {Fraction(0): number.numerator} if number else {}, {Fraction(0): number.denominator}
        return self._sums

    @classmethod
    def exponential(cls, value: Any) -> Exact:
        """Return e^value for a rational value; `UsageError` if it is not rational."""
        number = exact(value).fraction
        if number is None:
            raise UsageError("the exponential of an exponential has no exact form")
        return cls.quotient({number: 1}, ONE)

    @property
    def parts(self) -> tuple[Exact, Exact]:
        """Numerator and denominator, both without a denominator."""
        top, bottom = self.sums
        return Exact.quotient(top, ONE), Exact.quotient(bottom, ONE)

    def simplified(self) -> Exact:
        """Return the same number without a denominator, if the division leaves no remainder."""
        top, bottom = self.sums
        quotient = divided(top, bottom) if self._fraction is None else None
        return self if quotient is None else Exact.quotient(quotient, ONE)

    def sign(self) -> int:
        """Return −1, 0 or 1."""
        if self._fraction is not None:
            return (self._fraction > 0) - (self._fraction < 0)
        top, bottom = self.sums
        return sign_of(top) * sign_of(bottom)

    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """Return rational numbers below and above, close together; None if 128 bits do not decide the signs."""
        if self._fraction is not None:
            return self._fraction, self._fraction
        if self._enclosed is None:
            (top, bottom), shift = self.sums, Fraction(0)
            ends = [bounds_of(terms, _BOUND_BITS) for terms in (top, bottom)]
            shift = max(top) - max(bottom)
            ends.append(exponential_bounds(-abs(shift), _BOUND_BITS))
            (a, b), (c, d), (low, high) = ends
            if c <= 0 or low <= 0 or a <= 0:
                return None
            one = 1 << _BOUND_BITS
            scale = (
                (Fraction(one, high), Fraction(one, low)) if shift > 0 else (Fraction(low, one), Fraction(high, one))
            )
            self._enclosed = Fraction(a, d) * scale[0], Fraction(b, c) * scale[1]
        return self._enclosed

    def approximate(self) -> float:
        """Return the number as a float, to about 15 digits (0 or ∞ beyond the range of floats)."""
        return math.copysign(_clipped_exp(abs(self).logarithm()), self.sign()) if self else -0.0 if self._minus else 0.0

    def logarithm(self) -> float:
        """Return the natural logarithm of a positive number, to about 15 digits."""
        bits, values = 128, []
        for terms in self.sums:
            while True:
                low, high = bounds_of(terms, bits)
                if (low > 0 or high < 0) and high - low < min(abs(low), abs(high)) >> 60:
                    break
                bits *= 2
            values.append((Fraction(low + high, 2 << bits), max(terms)))
        (top, up), (bottom, down) = values
        ratio = top / bottom
        return math.log(ratio.numerator) - math.log(ratio.denominator) + float(up - down)

    def __add__(self, other: Any) -> Any:
        right = _operand(other)
        if right is None:
            return NotImplemented
        if self._fraction is not None and right._fraction is not None:
            return Exact(self._fraction + right._fraction)._zero(minus=self._minus and right._minus)
        (a, b), (c, d) = self.sums, right.sums
        if b == d:
            return Exact.quotient(plus(a, c), b)
        larger, smaller = (b, d) if len(b) >= len(d) else (d, b)
        factor = divided(larger, smaller)
        if factor is None:
            return Exact.quotient(plus(times(a, d), times(c, b)), times(b, d))
        total = plus(a, times(c, factor)) if larger is b else plus(times(a, factor), c)
        return Exact.quotient(total, larger)

    def __mul__(self, other: Any) -> Any:
        right = _operand(other)
        if right is None:
            return NotImplemented
        if self._fraction is not None and right._fraction is not None:
            product = Exact(self._fraction * right._fraction)
        else:
            (a, b), (c, d) = self.sums, right.sums
            product = Exact.quotient(times(a, c), times(b, d))
        return product if product else product._zero(minus=self.is_minus != right.is_minus)

    def __truediv__(self, other: Any) -> Any:
        right = _operand(other)
        if right is None:
            return NotImplemented
        if not right:
            raise ZeroDivisionError("division by zero")
        top, bottom = right.sums
        return self * (Exact(1 / right._fraction) if right._fraction is not None else Exact.quotient(bottom, top))

    def __neg__(self) -> Exact:
        negative: Exact = self * -1
        return negative

    def __pos__(self) -> Exact:
        return self

    def __abs__(self) -> Exact:
        return -self if self.is_minus else self

    def __sub__(self, other: Any) -> Any:
        right = _operand(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: Any) -> Any:
        left = _operand(other)
        return NotImplemented if left is None else left + -self

    def __rtruediv__(self, other: Any) -> Any:
        left = _operand(other)
        return NotImplemented if left is None else left / self

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, power: Any) -> Any:
        exponent = exact(power).fraction
        if exponent is None or exponent.denominator != 1:
            refuse(f"the power {power} of an exact number is not exact")
        base = self if exponent >= 0 else 1 / self
        powered = Exact(1)
        for _ in range(abs(int(exponent))):
            powered = powered * base
        return powered

    def __rpow__(self, base: Any) -> Any:
        return exact(base) ** self

    def _compared(self, other: Any) -> int | None:
        """Return the sign of self − other, or None if the other is no number (or NaN)."""
        if isinstance(other, float) and not math.isfinite(other):
            return None if math.isnan(other) else (-1 if other > 0 else 1)
        right = _operand(other)
        return None if right is None else apart(self, right) or (self - right).sign()

    def __eq__(self, other: object) -> bool:
        return self._compared(other) == 0

    def __lt__(self, other: Any) -> Any:
        return _ordered(self, other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return _ordered(self, other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return _ordered(self, other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return _ordered(self, other, operator.ge)

    def __bool__(self) -> bool:
        return self._fraction is None or self._fraction != 0

    def __hash__(self) -> int:
        number = self.fraction
        # the hash of the float, so that 0.1 in a dict of the program is found
        return hash(Exact) if number is None else hash(number.numerator / number.denominator)

    def __floor__(self) -> int:
        number = self.fraction
        return math.floor(number) if number is not None else refuse("an irrational number cannot be rounded")

    def __ceil__(self) -> int:
        return -math.floor(-self)

    def __trunc__(self) -> int:
        return math.floor(self) if self.sign() >= 0 else math.ceil(self)

    __int__ = __trunc__

    def __float__(self) -> float:
        refuse("a float of an exact number is not exact; write the formula with + − × ÷ and math.exp")

    def exp(self) -> Exact:
        """Return e^self; ``numpy.exp`` calls this."""
        power: Exact = exponential_of(self)
        return power

    def __str__(self) -> str:
        if self._fraction is not None:
            return "-0" if self._minus else str(self._fraction)
        top, bottom = map(_sum_text, self.sums)
        return top if bottom == "1" else f"({top})/({bottom})"

    def __repr__(self) -> str:
        return str(self)


def apart(left: Exact, right: Exact) -> int:
    """Return the sign of left − right if bounds decide it, else 0; cheaper than the difference."""
    near, far = left.bounds(), right.bounds()
    if near is None or far is None:
        return 0
    return (near[0] > far[1]) - (near[1] < far[0])


def _clipped_exp(power: float) -> float:
    return math.exp(power) if power < 709 else math.inf


def _ordered(left: Exact, right: Any, relation: Callable[[int, int], bool]) -> Any:
    sign = left._compared(right)
    if sign is not None:
        return relation(sign, 0)
    return False if isinstance(right, float) else NotImplemented


def _sum_text(terms: Sum) -> str:
    return "+".join(f"{terms[r]}*e^({r})" if r else str(terms[r]) for r in sorted(terms)) or "0"


def parse_exact(text: str) -> Exact:
    """Read an exact number from its text; the inverse of ``str``. Raises `UsageError`."""
    match = re.fullmatch(r"\((.+)\)/\((.+)\)", text) or re.fullmatch(r"([^/()]+)/([^/()]+)", text)
    sums = []
    for part in match.groups() if match else (text,):
        terms: Sum = {}
        for term in part.split("+"):
            read = re.fullmatch(r"(-?[0-9]+)(?:\*e\^\((-?[0-9]+(?:/[1-9][0-9]*)?)\))?", term)
            if read is None:
                raise UsageError(f"{text!r:.80} is no exact number such as 3/4 or (1)/(1+1*e^(-1))")
            terms = plus(terms, {Fraction(read[2] or 0): int(read[1])} if int(read[1]) else {})
        sums.append(terms)
    if len(sums) == 2 and not sums[1]:
        raise UsageError(f"{text!r:.80} divides by zero")
    return Exact.quotient(sums[0], sums[1] if len(sums) == 2 else ONE)


def _rational(value: Any) -> Fraction:
    if type(value) is Fraction:
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | Fraction | Decimal):
        return Fraction(int(value)) if isinstance(value, int) else Fraction(value)
    if not isinstance(value, float):
        raise TypeError(f"{type(value).__name__} is no exact number")
    if not math.isfinite(value):
        raise UsageError(f"{value!r} is no exact number")
    decimal = short_decimal(value)
    if decimal is None:
        refuse(
            f"the float {value!r} was rounded; write a short decimal or a fractions.Fraction, "
            "or compute it from parameters with + − × ÷ and math.exp"
        )
    return decimal


def _operand(value: Any) -> Exact | None:
    if isinstance(value, Exact):
        return value
    if isinstance(value, int | float | Fraction | Decimal | np.integer | np.floating | np.bool_):
        return Exact(value)
    return None


def exact(value: Any) -> Exact:
    """Return an integer, a fraction, or a float of at most 15 digits as an `Exact`."""
    return value if isinstance(value, Exact) else Exact(value)


def parameter_of(value: float) -> Exact:
    """Return what a float means as a parameter: the decimal that Python writes for it, whatever its length."""
    return Exact(decimal_of(float(value)))._zero(minus=math.copysign(1, value) < 0)


def exponential_of(value: Any) -> Any:
    """Return e^value; programs under the exact reading call this instead of ``math.exp``."""
    if isinstance(value, float) and not math.isfinite(value):
        return USUAL["exp"](value)
    number = exact(value)
    return Exact.exponential(number) if number.fraction is not None else refuse("exp of an exp is not exact")


# --- What is passed to a program so that its numbers stay exact? ---

_LOCK = threading.RLock()


class Whole(int):
    """An int parameter whose quotients are exact: ``2 / k`` is a fraction, not a float."""

    def __truediv__(self, other: Any) -> Any:
        return Exact(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / Exact(self)

    def __pow__(self, power: Any, modulus: Any = None) -> Any:
        if isinstance(power, int) and power >= 0:
            return Whole(pow(int(self), int(power), modulus))
        return Exact(self) ** power


def _closed(name: str) -> Callable[..., Any]:
    """Return an int's operation whose integer results divide exactly too, and whose float operands become exact."""

    def operation(self: Whole, other: Any) -> Any:
        if isinstance(other, float):
            return getattr(Exact(self), name)(other)
        result = getattr(int, name)(self, other)
        return Whole(result) if type(result) is int else result

    return operation


for _name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__"):
    setattr(Whole, _name, _closed(_name))
Whole.__neg__ = lambda self: Whole(-int(self))  # type: ignore[method-assign]


def exactly(value: Any) -> Any:
    """Return a parameter or dataset with every float replaced by its decimal; containers are copied."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return parameter_of(value) if math.isfinite(value) else value
    if type(value) in (list, tuple):
        return type(value)(map(exactly, value))
    if type(value) is dict:
        return {key: exactly(item) for key, item in value.items()}
    return copy.deepcopy(value)


def exact_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters that stay exact."""
    return {name: Whole(value) if type(value) is int else exactly(value) for name, value in given.items()}


@contextmanager
def exact_exponentials() -> Iterator[None]:
    """Make ``math.exp`` exact while a program is read; every other thread and call keeps the usual one."""
    replaced = {"exp": exponential_of, "expm1": lambda value: exponential_of(value) - 1}

    def chosen(name: str) -> Callable[[Any], Any]:
        return lambda value: (USUAL if READING.get() is None else replaced)[name](value)

    with _LOCK:
        for name in USUAL:
            setattr(math, name, chosen(name))
        try:
            yield
        finally:
            for name, usual in USUAL.items():
                setattr(math, name, usual)
