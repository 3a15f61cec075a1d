"""Which real numbers may a value be, as it moves? Intervals whose ends are whole numbers of 2⁻⁹⁶, rounded outwards.

``OPEN`` stands for infinity. Roots are exact integer roots; exp and log come from `decimal`, which rounds them
correctly; sine, cosine and the inverse tangent from their alternating series.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt

BITS = 96
ONE = 1 << BITS
OPEN = 1 << 4096
"""Beyond all numbers: an end that is not known."""
Interval = tuple[int, int]
ALL: Interval = (-OPEN, OPEN)
ZERO: Interval = (0, 0)
UNIT: Interval = (ONE, ONE)

_DOWN, _UP = (decimal.Context(prec=40, rounding=r, Emax=10**6, Emin=-(10**6)) for r in (ROUND_FLOOR, ROUND_CEILING))
_ROOM = Decimal(10) ** -36  # relative: beyond the last of 40 digits
_LEAST = Decimal(10) ** -38
_LONGEST = 1_000 * ONE  # an angle that is looked at
_MOST_EXPONENT = 2_000 * ONE
_PI: Interval = (248902613312231085230521944622, 248902613312231085230521944623)  # π·2⁹⁶


def exact(value: Fraction) -> Interval:
    """Return the interval of a fraction."""
    top = value.numerator << BITS
    return within(top // value.denominator, -(-top // value.denominator))


def within(low: int, high: int) -> Interval:
    """Return an interval whose ends are at most infinite."""
    return max(low, -OPEN), min(high, OPEN)


def add(a: Interval, b: Interval) -> Interval:
    """Return the sum."""
    low = -OPEN if a[0] == -OPEN or b[0] == -OPEN else a[0] + b[0]
    return within(low, OPEN if a[1] == OPEN or b[1] == OPEN else a[1] + b[1])


def neg(a: Interval) -> Interval:
    """Return minus an interval."""
    return -a[1], -a[0]


def sub(a: Interval, b: Interval) -> Interval:
    """Return the difference."""
    return add(a, neg(b))


def mul(a: Interval, b: Interval) -> Interval:
    """Return the product; 0 times infinity is 0, because an infinite end is no value."""
    if a == ZERO or b == ZERO:
        return ZERO
    if a == UNIT or b == UNIT:
        return b if a == UNIT else a
    if OPEN in (-a[0], a[1], -b[0], b[1]):
        ends = [x * y << (4096 if OPEN in (abs(x), abs(y)) else 0) for x in a for y in b]
    else:
        ends = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]]
    return within(min(ends) >> BITS, -(-max(ends) >> BITS))


def inverse(a: Interval) -> Interval:
    """Return 1/a; of what is not 0, where an end is."""
    if a[0] < 0 < a[1] or a == ZERO:
        return ALL
    low = -OPEN if a[1] == 0 else ONE * ONE // a[1]
    return within(low, OPEN if a[0] == 0 else -(-ONE * ONE // a[0]))


def meet(a: Interval, b: Interval) -> Interval:
    """Return what two enclosures of one value have in common."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else b


def hull(a: Interval, b: Interval) -> Interval:
    """Return the least interval that holds two."""
    return min(a[0], b[0]), max(a[1], b[1])


def power(a: Interval, exponent: int) -> Interval:
    """Return a whole power, at least 0."""
    if exponent <= 1:
        return a if exponent else UNIT
    if exponent % 2 == 0 and a[0] < 0:
        a = (0, max(-a[0], a[1])) if a[1] > 0 else neg(a)  # of the absolute value
    ends = []
    for end in a:
        powered = (end, end)
        for _ in range(exponent - 1):
            powered = mul(powered, (end, end))
        ends.append(powered)
    return ends[0][0], ends[1][1]


def size(a: Interval) -> Interval:
    """Return the absolute value."""
    return (0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1]))), max(abs(a[0]), abs(a[1]))


def root(a: Interval) -> Interval:
    """Return the square root of what is not negative."""
    low, high = max(a[0], 0) << BITS, max(a[1], 0) << BITS
    above = isqrt(high)
    return isqrt(low), OPEN if a[1] == OPEN else above + (above * above < high)


def exponential(a: Interval) -> Interval:
    """Return e to the power of a."""
    low = 0 if a[0] < -_MOST_EXPONENT else ONE if a[0] == 0 else _decimal(min(a[0], _MOST_EXPONENT), "exp")[0]
    high = OPEN if a[1] > _MOST_EXPONENT else ONE if a[1] == 0 else _decimal(max(a[1], -_MOST_EXPONENT), "exp")[1]
    return within(max(low, 0), high)


def logarithm(a: Interval) -> Interval:
    """Return the natural logarithm of what is positive."""
    low = -OPEN if a[0] <= 0 else 0 if a[0] == ONE else _decimal(a[0], "ln")[0]
    return low, OPEN if a[1] == OPEN or a[1] <= 0 else 0 if a[1] == ONE else _decimal(a[1], "ln")[1]


@lru_cache(maxsize=4_096)  # the ends of a box are those of its neighbours
def _decimal(value: int, name: str) -> Interval:
    """An increasing function of `decimal`, in both directions."""
    ends = []
    for context, up in ((_DOWN, -1), (_UP, 1)):
        computed = getattr(context, name)(context.divide(Decimal(value), Decimal(ONE)))
        with decimal.localcontext(context):
            computed = computed + abs(computed) * _ROOM * up + _LEAST * up
            ends.append(int((computed * ONE).to_integral_value(context.rounding)))
    return ends[0], ends[1]


def arctangent(a: Interval) -> Interval:
    """Return the inverse tangent."""
    return _arctangent(a[0])[0], _arctangent(a[1])[1]


@lru_cache(maxsize=4_096)
def _arctangent(value: int) -> Interval:
    if value < 0:
        return neg(_arctangent(-value))
    if value > ONE:  # π/2 − arctan 1/v, where the inverse is cut off by less than its last bit
        low, high = _arctangent(0 if value == OPEN else ONE * ONE // value)
        return _PI[0] // 2 - high - 2, _PI[1] // 2 + 1 - low
    for _ in range(3):  # halve the angle
        value = (value << BITS) // (ONE + isqrt((ONE << BITS) + value * value))
    term, total, k = value, value, 1
    for _ in range(80):
        term, k = -((term * value >> BITS) * value >> BITS), k + 2
        total += term // k
    return 8 * total - (1 << 14), 8 * total + (1 << 14)


def sine(a: Interval) -> Interval:
    """Return the sine of an angle in radians."""
    return _wave(a, 1)


def cosine(a: Interval) -> Interval:
    """Return the cosine of an angle in radians."""
    return _wave(a, 0)


def _wave(a: Interval, odd: int) -> Interval:
    """Sine (odd) or cosine: the values at both ends, and 1 or −1 where one of them may be met between."""
    if a[0] < -_LONGEST or a[1] > _LONGEST or a[1] - a[0] > 6 * ONE:
        return -ONE, ONE
    ends = [_wave_at(end, odd) for end in a]
    low, high = min(ends[0][0], ends[1][0]), max(ends[0][1], ends[1][1])
    # extremes at (k + odd/2)·π, 1 for even k: doubled, so that all is in whole multiples of π/2
    first, last = (2 * end // _PI[1] for end in a)
    for half in range(first - 2, last + 3):
        if (half - odd) % 2:
            continue
        place = mul((half * ONE, half * ONE), (_PI[0] // 2, _PI[1] // 2 + 1))
        if place[1] >= a[0] and place[0] <= a[1]:
            low, high = (low, ONE) if (half - odd) % 4 == 0 else (-ONE, high)
    return max(low, -ONE), min(high, ONE)


@lru_cache(maxsize=4_096)
def _wave_at(value: int, odd: int) -> Interval:
    turns = value // (2 * _PI[0])  # with |turns| < 200 its error is below 2⁹ units
    value -= turns * 2 * _PI[0]
    term = total = value if odd else ONE
    k = 2 if odd else 1
    for _ in range(60):
        term = -((term * value >> BITS) * value >> BITS) // (k * (k + 1))
        total, k = total + term, k + 2
    return total - (1 << 20), total + (1 << 20)


FUNCTIONS: dict[str, Callable[[Interval], Interval]] = {
    "sqrt": root,
    "exp": exponential,
    "log": logarithm,
    "atan": arctangent,
    "sin": sine,
    "cos": cosine,
}
"""What encloses each function of one number."""
SLOPES: dict[str, Callable[[Interval], Interval]] = {
    "exp": exponential,
    "log": inverse,
    "atan": lambda a: inverse(add(UNIT, power(a, 2))),
    "sin": cosine,
    "cos": lambda a: neg(sine(a)),
}
"""What encloses the slope of each smooth function."""
