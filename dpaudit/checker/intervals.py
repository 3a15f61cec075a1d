"""Which real numbers may a value be, or are between two decimals? Intervals, every end rounded outwards.

Ends in whole numbers of 2⁻⁹⁶, for movements: ``OPEN`` stands for infinity. Roots are exact integer roots; exp and log
come from `decimal`, which rounds them correctly; sine, cosine and the inverse tangent from their alternating series.

Ends that are decimals, for accounts: the standard library's `decimal` rounds sums, products and quotients as it is
told, and `exp` and `ln` correctly to the last place, so that one place more on each side encloses them.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from statistics import NormalDist

# --- Which real numbers may a value be? ------------------------------------------------------------------

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

# --- What are the tails of normal and binomial laws, and their quantiles, in plain Python? Computed without SciPy.
#
# Audits compute their bounds with SciPy; here the same limits come from continued fractions, and from Newton's method
# on the logit.

_STEPS, _LAST = 100_000, 4e-16


class TooLongError(Exception):
    """A value that would take minutes."""


def ndtr(x: float) -> float:
    """Return Φ(x)."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


_NORMAL = NormalDist()


def ndtri(p: float) -> float:
    """Return x with Φ(x) = p; NaN for p below 1e-300."""
    if p <= 0 or p >= 1:
        return -math.inf if p == 0 else math.inf if p == 1 else math.nan
    return _NORMAL.inv_cdf(p) if p >= 1e-300 else math.nan


def log_ndtr(x: float) -> float:
    """Return ln Φ(x)."""
    if x > -37:
        chance = ndtr(x)
        return math.log(chance) if x < 6 else math.log1p(-ndtr(-x))
    series, term = 1.0, 1.0  # Abramowitz & Stegun 26.2.12
    for i in range(1, 10):
        term *= -(2 * i - 1) / (x * x)
        series += term
    return -x * x / 2 - math.log(-x) - math.log(2 * math.pi) / 2 + math.log(series)


# --- the binomial distribution ------------------------------------------------------------------------------


def _deviance(x: float, mean: float) -> float:
    """x·log(x/mean) + mean − x without cancellation (Loader 2000)."""
    if x == 0:
        return mean
    if abs(x - mean) < 0.1 * (x + mean):
        v = (x - mean) / (x + mean)
        deviance, power = (x - mean) * v, 2 * x * v
        for i in range(1, 1000):
            power *= v * v
            more = deviance + power / (2 * i + 1)
            if more == deviance:
                break
            deviance = more
        return deviance
    return x * math.log(x / mean) + mean - x


@lru_cache(maxsize=4096)
def _stirling(n: float) -> float:
    """log n! − log(√(2πn)·(n/e)^n)."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2 * math.pi) / 2 if n else 0.0
    m = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * m)) / m) / m) / m) / n


def _log_chance(k: float, n: float, p: float, q: float) -> float:
    """Log P(Bin(n, p) = k), by the saddle point (Loader 2000); q = 1 − p."""
    if k <= 0:
        return n * math.log1p(-p) if p < 0.5 else n * math.log(q)
    if k >= n:
        return n * math.log(p) if p < 0.5 else n * math.log1p(-q)
    exact = _stirling(n) - _stirling(k) - _stirling(n - k) - _deviance(k, n * p) - _deviance(n - k, n * q)
    return exact + 0.5 * math.log(n / (2 * math.pi * k * (n - k)))


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of I_x(a, b) (Abramowitz & Stegun 26.5.8), by Lentz's method; at most near the mean."""
    n, c = a + b, 1.0
    try:
        fraction = d = 1 / (1 - n * x / (a + 1))
        for m in range(1, _STEPS):
            at = a + 2 * m
            even = m * (b - m) * x / ((at - 1) * at)
            d = 1 / (1 + even * d)
            c = 1 + even / c
            fraction *= d * c
            odd = -(a + m) * (n + m) * x / (at * (at + 1))
            d = 1 / (1 + odd * d)
            c = 1 + odd / c
            step = d * c
            fraction *= step
            if -_LAST < step - 1 < _LAST:
                return fraction
    except ZeroDivisionError:
        pass
    raise TooLongError(f"I_x({a:.6g}, {b:.6g}) by its continued fraction")


def _log_both(a: float, b: float, x: float, y: float) -> tuple[float, float, float]:
    """Return log I_x(a, b), the log of its complement, and the log of x·(1 − x) times its derivative; y = 1 − x."""
    n = a + b
    slope = _log_chance(a, n, x, y) + math.log(a * b / n)  # x^a·y^b/B(a, b)
    if x <= (a + 1) / (n + 2):
        own = min(slope + math.log(_fraction(a, b, x) / a), 0.0)
        return own, _log_rest(own), slope
    other = min(slope + math.log(_fraction(b, a, y) / b), 0.0)
    return _log_rest(other), other, slope


def _log_rest(log: float) -> float:
    rest = -math.expm1(log)
    return math.log(rest) if rest > 0 else -math.inf


def betainc(a: float, b: float, x: float) -> float:
    """Return I_x(a, b), which is P(Bin(a + b − 1, x) ≥ a) for whole numbers.

    Args:
        a, b: positive.
        x: the chance.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    return math.exp(_log_both(a, b, x, 1 - x)[0])


def betaincc(a: float, b: float, x: float) -> float:
    """Return 1 − I_x(a, b).

    Args:
        a, b: positive.
        x: the chance.
    """
    if x <= 0 or x >= 1:
        return 1.0 if x <= 0 else 0.0
    return math.exp(_log_both(a, b, x, 1 - x)[1])


@lru_cache(maxsize=200_000)
def quantile(a: float, b: float, chance: float, upper: bool = False) -> float:
    """Return x with I_x(a, b) = chance, by Newton's method on the logit of x.

    Args:
        a, b: positive.
        chance: from 0 to 1.
        upper: whether 1 − I_x(a, b) is to be the chance.

    Raises:
        TooLongError: if it would take minutes.
    """
    if not (a > 0 and b > 0 and 0 <= chance <= 1):
        return math.nan
    if chance in (0, 1):
        return float((chance == 1) != upper)
    small = chance <= 0.5
    wanted = math.log(chance if small else 1 - chance)
    of_lower = small != upper  # whether log I_x is compared, rather than the log of its complement
    at = _guess(a, b, chance, upper)
    low, high = -745.0, 745.0
    for _ in range(200):
        grown = math.exp(-abs(at))
        x, y = (1 / (1 + grown), grown / (1 + grown)) if at >= 0 else (grown / (1 + grown), 1 / (1 + grown))
        lower, other, slope = _log_both(a, b, x, y)
        gap = (lower if of_lower else other) - wanted
        rising = gap if of_lower else -gap
        low, high = (at, high) if rising < 0 else (low, at)
        rate = math.exp(min(slope - (lower if of_lower else other), 700.0))
        step = -rising / rate if rate > 0 else math.inf
        new = at + step
        if not low < new < high:
            new = (low + high) / 2
        if abs(new - at) <= 1e-15 * max(abs(at), 1.0) or high - low <= 1e-15 * max(abs(at), 1.0):
            at = new
            break
        if abs(step) < 1e-9 and low < at + step < high:
            at = new
            break
        at = new
    grown = math.exp(-abs(at))
    x = 1 / (1 + grown) if at >= 0 else grown / (1 + grown)
    return x


def _guess(a: float, b: float, chance: float, upper: bool) -> float:
    """The logit at which to begin: as if the logit of a beta number were normal."""
    z = min(max(ndtri(chance) * (-1 if upper else 1), -38.0), 38.0)
    spread = math.sqrt(1 / a + 1 / b)
    return min(max(math.log(a / b) + z * spread + (1 / (2 * b) - 1 / (2 * a)), -700.0), 700.0)


# --- Between which decimals is a real number? ------------------------------------------------------------

_ONE, _TWO = Decimal(1), Decimal(2)
_GUARD_BITS = 24  # of the series of the normal law


class DecimalField:
    """Intervals of decimals of so many digits.

    Args:
        digits: significant digits of every end.
    """

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self.down = Context(prec=digits, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)
        self.up = Context(prec=digits, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
        self._bits = math.ceil(digits * 3.33) + _GUARD_BITS
        self.density = (self(1) / (self._pi() * 2)).root()  # 1/√(2π)

    def __call__(self, value: Fraction | int) -> Real:
        """Return an interval around an exact number."""
        number = Fraction(value)
        return self.ratio(number.numerator, number.denominator)

    def ratio(self, top: int, bottom: int) -> Real:
        """Return an interval around a quotient of whole numbers."""
        a, b = Decimal(top), Decimal(bottom)
        return Real(self.down.divide(a, b), self.up.divide(a, b), self)

    def _pi(self) -> Real:
        """16·arctan(1/5) − 4·arctan(1/239) (Machin 1706), in whole numbers of 10^−(digits + 10)."""
        unit = 10 ** (self.digits + 10)

        def arctan(n: int) -> tuple[int, int]:
            power, total, k = unit // n, 0, 0
            while power:
                total += (-1) ** k * (power // (2 * k + 1))
                power, k = power // (n * n), k + 1
            return total, 3 * k + 3  # each term is off by less than 3 units, the rest by less than one

        (a, first), (b, second) = arctan(5), arctan(239)
        mid, off = 16 * a - 4 * b, 16 * first + 4 * second
        return Real(self.ratio(mid - off, unit).low, self.ratio(mid + off, unit).high, self)

    def normal(self, z: Real) -> Real:
        """Return the density of a standard normal number."""
        return (-(z * z) / 2).exp() * self.density

    def beyond(self, z: Real, density: Real | None = None) -> Real:
        """Return the probability that a standard normal number is above z.

        For z ≥ 0 it is 1/2 − φ(z)·S(z) with S = z + z³/3 + z⁵/(3·5) + … (Marsaglia 2004), φ being the density. S is
        summed in whole numbers of 2^−B for the point z' = ⌊z·2^B⌋/2^B. A term T_k is rounded down, by at most 2 units
        beyond what the one before passes on, so that after K terms S is too small by at most 2K·Σ max(1, T_k/T_0)
        units, less than 2K(K + e^(z²/2)); rounding z² costs less than z·e^(z²/2) units, and after the last term, once
        terms fall by half, the rest is below the sum of these. Times φ ≤ 0.4·e^(−z²/2) this is below (K + 10)²·(1 + z).
        From z' to z, S rises by at most (z − z')·(1 + z·S(z)), because S' = 1 + zS, and φ·S < 1/2.

        Args:
            z: where.
            density: φ(z), where it is known.
        """
        if z.low < 0:
            if z.high > 0:
                # φ < 0.4: within this interval the probability moves by less than 0.4 times its width
                half = self(Fraction(1, 2))
                width = self.up.multiply(self.up.subtract(z.high, z.low), Decimal("0.4"))
                return Real(self.down.subtract(half.low, width), self.up.add(half.high, width), self)
            return 1 - self.beyond(-z, density)
        scale = 1 << self._bits
        if density is None:
            density = self.normal(z)
        if self.far(z):
            # φ(z)/z is above it (Gordon 1941)
            return Real(Decimal(0), (density / z).high, self)
        point = int(self.down.multiply(z.low, Decimal(scale)))
        square = point * point >> self._bits
        term = total = point
        k = 1
        while term or 2 * square > (k + 2) << self._bits:
            k += 2
            term = (term * square >> self._bits) // k
            total += term
        off = self.ratio((k // 2 + 11) ** 2 * (2 + (point >> self._bits)), scale)
        tail = self(Fraction(1, 2)) - density * self.ratio(total, scale)
        moved = self.up.subtract(z.high, self.ratio(point, scale).low)
        moved = self.up.multiply(moved, self.up.add(Decimal(1), z.high))
        low = self.down.subtract(self.down.subtract(tail.low, off.high), moved)
        return Real(max(Decimal(0), low), self.up.add(tail.high, off.high), self)

    def far(self, z: Real) -> bool:
        """Whether less than 10^−digits of the normal law is above z."""
        return float(z.low) > math.sqrt(4.7 * self.digits)

    def mills(self, z: Real) -> Real:
        """Return the probability above z > 0 over the density there: 1/z − 1/z³ + 3/z⁵ − 3·5/z⁷ + …

        A sum that ends in + is above it, one that ends in − is below (partial integration; Gordon 1941).
        """
        square, term, k = z * z, 1 / z, 1
        high, low, least = term, self(0), self.down.scaleb(term.low, -self.digits)
        while k < square.low and term.high > least:
            term, k = term * k / square, k + 2
            low, high = (high - term, high) if k % 4 == 3 else (low, low + term)
        return Real(low.low, high.high, self)


class Real:
    """An interval that holds a real number.

    Attributes:
        low, high: its ends.
        field: with how many digits to go on.
    """

    __slots__ = ("_exp", "field", "high", "low")

    def __init__(self, low: Decimal, high: Decimal, field: DecimalField, exp: Real | None = None) -> None:
        self.low, self.high, self.field = low, high, field
        self._exp = exp

    def _of(self, other: Real | int) -> Real:
        return other if isinstance(other, Real) else Real(Decimal(other), Decimal(other), self.field)

    def __add__(self, other: Real | int) -> Real:
        b, f = self._of(other), self.field
        return Real(f.down.add(self.low, b.low), f.up.add(self.high, b.high), f)

    __radd__ = __add__

    def __sub__(self, other: Real | int) -> Real:
        b, f = self._of(other), self.field
        return Real(f.down.subtract(self.low, b.high), f.up.subtract(self.high, b.low), f)

    def __rsub__(self, other: int) -> Real:
        return self._of(other) - self

    def __neg__(self) -> Real:
        return Real(self.high.copy_negate(), self.low.copy_negate(), self.field)  # unary minus would round

    def __mul__(self, other: Real | int) -> Real:
        b, f = self._of(other), self.field
        if self.low >= 0 and b.low >= 0:
            return Real(f.down.multiply(self.low, b.low), f.up.multiply(self.high, b.high), f)
        pairs = [(x, y) for x in (self.low, self.high) for y in (b.low, b.high)]
        return Real(min(f.down.multiply(x, y) for x, y in pairs), max(f.up.multiply(x, y) for x, y in pairs), f)

    __rmul__ = __mul__

    def __truediv__(self, other: Real | int) -> Real:
        b, f = self._of(other), self.field
        if not (b.low > 0 or b.high < 0):
            raise ZeroDivisionError
        pairs = [(x, y) for x in (self.low, self.high) for y in (b.low, b.high)]
        return Real(min(f.down.divide(x, y) for x, y in pairs), max(f.up.divide(x, y) for x, y in pairs), f)

    def __rtruediv__(self, other: int) -> Real:
        return self._of(other) / self

    def exp(self) -> Real:
        """e to this power; `decimal` rounds it to the nearest. Over a width w ≤ 1 it grows by at most 1 + 2w."""
        if self._exp is None:
            f, middle = self.field, self.field.down.exp(self.low)
            low, high = f.down.next_minus(middle), f.up.next_plus(middle)
            width = f.up.subtract(self.high, self.low)
            if width > 1:
                high = f.up.next_plus(f.up.exp(self.high))
            elif width:
                high = f.up.multiply(high, f.up.add(_ONE, f.up.multiply(_TWO, width)))
            self._exp = Real(low, high, f)
        return self._exp

    def log(self) -> Real:
        """The natural logarithm of what is above 0. Over a width w it grows by at most w divided by the lower end."""
        f, middle = self.field, self.field.down.ln(self.low)
        high = f.up.next_plus(middle)
        if self.high != self.low:
            high = f.up.add(high, f.up.divide(f.up.subtract(self.high, self.low), self.low))
        return Real(f.down.next_minus(middle), high, f, self)

    def root(self) -> Real:
        """The square root of what is not below 0."""
        f = self.field
        return Real(f.down.next_minus(f.down.sqrt(self.low)), f.up.next_plus(f.up.sqrt(self.high)), f)

    def smaller(self, other: Real) -> Real:
        """The smaller of two numbers."""
        return Real(min(self.low, other.low), min(self.high, other.high), self.field)


_CONCENTRATED = Context(prec=15, rounding=ROUND_CEILING)
_LARGE = 100


@lru_cache(maxsize=1024)
def pure_rho(epsilon: Fraction) -> Fraction:
    """Return a fraction at or hardly above the ρ of ε-DP, ε·tanh(ε/2) ≤ ε²/2 (proof: ``verified/on_paper.md``).

    Randomised response has D_α ≤ αρ with equality in the limit α = 1, and every pair that is ε-DP is made of its pair
    (Kairouz, Oh & Viswanath 2015). ε²/2 is Bun & Steinke (2016), Proposition 1.4.
    """
    most = min(epsilon, epsilon**2 / 2)
    if epsilon > _LARGE:
        return most
    falls = (-DecimalField(50)(epsilon)).exp()
    rho = DecimalField(50)(epsilon) * ((1 - falls) / (1 + falls))
    return min(most, Fraction(_CONCENTRATED.plus(rho.high)))
