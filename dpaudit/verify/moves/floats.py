"""Which floats enclose a value? Intervals rounded outwards, for the search of trees; what they find is checked again.

An end is rounded only where its operation is not exact (TwoSum: Møller 1965, Knuth 1969): expressions that are equal at
corners are then equal there, and flat ridges need no cutting.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import inf, nextafter

Interval = tuple[float, float]
ZERO: Interval = (0.0, 0.0)
UNIT: Interval = (1.0, 1.0)
_POWERS = frozenset(sign * 2.0**e for e in range(-30, 31) for sign in (1, -1))  # exact factors


def constant(value: Fraction) -> Interval:
    """Return the floats on both sides of a number."""
    near = float(value)
    exact = Fraction(near) if math.isfinite(near) else None
    if exact == value:
        return near, near
    return nextafter(near, -inf), nextafter(near, inf)


def add(a: Interval, b: Interval) -> Interval:
    """Return the sum."""
    ends = []
    for x, y, outward in ((a[0], b[0], -inf), (a[1], b[1], inf)):
        total = x + y
        back = total - x
        is_exact = (x - (total - back)) + (y - back) == 0 or total - total != 0
        ends.append(total if is_exact else nextafter(total, outward))
    return ends[0], ends[1]


def neg(a: Interval) -> Interval:
    """Return minus an interval."""
    return -a[1], -a[0]


def sub(a: Interval, b: Interval) -> Interval:
    """Return the difference."""
    return add(a, (-b[1], -b[0]))


def mul(a: Interval, b: Interval) -> Interval:
    """Return the product: which ends make the least and the greatest one hangs on the signs alone."""
    if a == ZERO or b == ZERO:
        return ZERO
    if a == UNIT:
        return b
    if b == UNIT:
        return a
    (low, high), (first, last) = a, b
    if low >= 0:
        least, most = (low if first >= 0 else high, first), (high if last >= 0 else low, last)
    elif high <= 0:
        least, most = (low if last >= 0 else high, last), (high if first >= 0 else low, first)
    elif first >= 0:
        least, most = (low, last), (high, last)
    elif last <= 0:
        least, most = (high, first), (low, first)
    else:
        return (
            min(_product(low, last, -inf), _product(high, first, -inf)),
            max(_product(low, first, inf), _product(high, last, inf)),
        )
    return _product(*least, -inf), _product(*most, inf)


def _product(x: float, y: float, outward: float) -> float:
    if x == 0 or y == 0:
        return 0.0
    return x * y if x in _POWERS or y in _POWERS else nextafter(x * y, outward)


def inverse(a: Interval) -> Interval:
    """Return 1/a; of what is not 0, where an end is."""
    if a[0] < 0 < a[1] or a == ZERO:
        return -inf, inf
    low, high = (
        out if end == 0 else 1 / end if end in _POWERS else nextafter(1 / end, out)
        for end, out in ((a[1], -inf), (a[0], inf))
    )
    return low, high


def meet(a: Interval, b: Interval) -> Interval:
    """Return what two enclosures of one value have in common."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else b


def hull(a: Interval, b: Interval) -> Interval:
    """Return the least interval that holds two."""
    return min(a[0], b[0]), max(a[1], b[1])


def _wider(low: float, high: float, least: float = -inf, most: float = inf) -> Interval:
    for _ in range(3):  # the library may err in the last place
        low, high = nextafter(low, -inf), nextafter(high, inf)
    return max(low, least), min(high, most)


def power(a: Interval, exponent: int) -> Interval:
    """Return a whole power."""
    if exponent == 0:
        return UNIT
    if exponent % 2 == 0 and a[0] < 0:
        a = (0.0, max(-a[0], a[1])) if a[1] > 0 else neg(a)
    low, high = (_to(end, exponent) for end in a)
    return low[0], high[1]


def _to(value: float, exponent: int) -> Interval:
    try:
        found = value**exponent
    except OverflowError:
        return (1e308, inf) if value > 0 or exponent % 2 == 0 else (-inf, -1e308)
    return (found, found) if value == 0 or value in _POWERS else _wider(found, found)


def size(a: Interval) -> Interval:
    """Return the absolute value."""
    return (0.0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1]))), max(abs(a[0]), abs(a[1]))


def _root(a: Interval) -> Interval:
    low, high = (max(end, 0.0) for end in a)
    return (
        low if low in (0.0, 1.0) else _wider(math.sqrt(low), math.sqrt(low), 0.0)[0],
        high if high in (0.0, 1.0) else _wider(math.sqrt(high), math.sqrt(high))[1],
    )


def _increasing(
    function: Callable[[float], float], at: float, value: float, least: float = -inf
) -> Callable[..., Interval]:
    """An increasing function of the library, with one point at which it is exact."""

    def called(a: Interval) -> Interval:
        low, high = (value if end == at else function(end) for end in a)
        return (
            low if a[0] == at else _wider(low, low, least)[0],
            high if a[1] == at else _wider(high, high)[1],
        )

    return called


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else inf


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -inf


def _wave(function: Callable[[float], float], peak: float) -> Callable[[Interval], Interval]:
    def called(a: Interval) -> Interval:
        if max(map(abs, a)) > 1e4 or a[1] - a[0] > 6:
            return -1.0, 1.0
        ends = [function(end) for end in a]
        low, high = min(ends) - 1e-12, max(ends) + 1e-12
        first, last = ((end - peak) / math.tau for end in (a[0] - 1e-9, a[1] + 1e-9))
        if math.floor(last) >= math.ceil(first):
            high = 1.0
        if math.floor(last - 0.5) >= math.ceil(first - 0.5):
            low = -1.0
        return max(low, -1.0), min(high, 1.0)

    return called


_exponential, _cosine = _increasing(_exp, 0.0, 1.0, 0.0), _wave(math.cos, 0.0)
_sine = _wave(math.sin, math.pi / 2)
FUNCTIONS: dict[str, Callable[[Interval], Interval]] = {
    "sqrt": _root,
    "exp": _exponential,
    "log": _increasing(_log, 1.0, 0.0),
    "atan": _increasing(math.atan, 0.0, 0.0),
    "sin": _sine,
    "cos": _cosine,
}
"""What encloses each function of one number."""
SLOPES: dict[str, Callable[[Interval], Interval]] = {
    "exp": _exponential,
    "log": inverse,
    "atan": lambda a: inverse(add(UNIT, power(a, 2))),
    "sin": _cosine,
    "cos": lambda a: neg(_sine(a)),
}
"""What encloses the slope of each smooth function."""
