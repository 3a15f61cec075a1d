"""Between which decimals is a real number, and which fraction is just above it? Every end is rounded outwards.

The standard library's `decimal` rounds sums, products and quotients as it is told, and `exp` and `ln` correctly to the
last place, so that one place more on each side encloses them.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from dpaudit.checker.reading import CertificateError

_ONE, _TWO = Decimal(1), Decimal(2)
_GUARD_BITS = 24  # of the series of the normal law
_PRECISE = Context(prec=60, rounding=ROUND_CEILING)
_ROOM = Fraction(1, 10**40)  # relative: far more than the last of 60 digits
_ROOT_DIGITS = 40
_GAUSSIAN_DIGITS, _GAUSSIAN_PLACES = 50, 12  # of the arithmetic, and of the ε that is found


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


def gaussian_delta(mu: Real, epsilon: Real) -> Real:
    """Return δ = Φᶜ(z) − e^ε·Φᶜ(z + μ) with z = ε/μ − μ/2 of a μ-GDP mechanism, where e^ε is φ(z)/φ(z + μ)."""
    field = mu.field
    near = epsilon / mu - mu / 2
    density, far = field.normal(near), near + mu
    tail = density * field.mills(near) if field.far(near) else field.beyond(near)
    return tail - (density * field.mills(far) if field.far(far) else epsilon.exp() * field.beyond(far))


# --- fractions just above ---------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def gaussian_epsilon(square: Fraction, delta: Fraction) -> Fraction:
    """Return a fraction above the ε at which a μ-GDP mechanism has this δ, for μ² = ``square`` (Balle & Wang 2018)."""
    if not square:
        return Fraction(0)
    field = DecimalField(
        _GAUSSIAN_DIGITS + min(2_000, int(square / 4) + 2 * isqrt(int(square)))
    )  # Φ(−μ/2 − ε/μ) is tiny
    mu = field(square).root()

    def is_enough(steps: int) -> bool:
        epsilon = field(Fraction(steps, 10**_GAUSSIAN_PLACES))
        return Fraction(gaussian_delta(mu, epsilon).high) <= delta

    low, high = -1, 10**_GAUSSIAN_PLACES
    while not is_enough(high):
        low, high = high, 2 * high
        if high > 4_000 * 10**_GAUSSIAN_PLACES:
            raise CertificateError("Gaussian noise that costs an ε above 4,000")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return Fraction(high, 10**_GAUSSIAN_PLACES)


def root(value: Fraction) -> Fraction:
    """Return a fraction at or above the square root: the root itself where it is a fraction."""
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if top**2 == value.numerator and bottom**2 == value.denominator:
        return Fraction(top, bottom)
    scale = 10**_ROOT_DIGITS
    return Fraction(isqrt(value.numerator * scale**2 // value.denominator) + 1, scale)


def exponential(value: Fraction) -> Fraction:
    """Return a fraction above e^value."""
    if value > 10_000:
        raise CertificateError("a cost of more than 10,000")
    power = Fraction(_PRECISE.exp(_decimal(value)))
    return power * (1 + _ROOM)


def logarithm(value: Fraction) -> Fraction:
    """Return a fraction above ln(value), for a value of at least 1."""
    return Fraction(_PRECISE.ln(_decimal(value))) + _ROOM * max(1, value.numerator.bit_length())


def logarithm_below(value: Fraction) -> Fraction:
    """Return a fraction below ln(value), for a value of at most 1."""
    return -logarithm(1 / value)


def _decimal(value: Fraction) -> Decimal:
    """Return a decimal at or above a fraction, to 60 digits."""
    return _PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


def amplified(rate: Fraction, epsilon: Fraction) -> Fraction:
    """Return a fraction above ln(1 + q(e^ε − 1)), at most ε."""
    if rate == 1 or not epsilon:
        return epsilon
    return min(epsilon, logarithm(1 + rate * (exponential(epsilon) - 1)))
