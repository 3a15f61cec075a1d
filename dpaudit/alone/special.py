"""Which values have the special functions of statistics? Those of SciPy that the check needs, from ``math``.

Binomial quantiles, from which every bound follows, can be `certified`: the exact sums of `tails` show that the root
lies within 1e-11 of the number that was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any

from dpaudit.alone.ndarray import array, elementwise, missing, ndarray
from dpaudit.stats import plain

# --- Between which numbers does a binomial tail certainly lie? ---
#
# P(Bin(n, p) ≥ k) for a float p, which is a fraction a/2^s: the first term is computed with 60 decimal digits (by
# Stirling's series, whose error is less than the first term that is left out), all others follow from it by ratios of
# integers, rounded down, and what was rounded off is added up. Sums begin at the count and go away from the mean, where
# each term is smaller than the one before; what is left out is at most a geometric series.

_DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LOOSE = Decimal("1e-30")  # of a logarithm here: far more than its rounding errors and less than anything that matters
_ONE = 1 << 192  # a term of 1, in units of the sums
_MOST_TERMS = 300_000
_EXACT = 64  # up to which factorials are computed whole
_TWO_PI = Decimal("6.28318530717958647692528676655900576839433879875021164194989")
_STIRLING = [  # B(2i)/(2i(2i − 1)), i = 1, 2, …
    Fraction(1, 12), Fraction(-1, 360), Fraction(1, 1260), Fraction(-1, 1680), Fraction(1, 1188),
    Fraction(-691, 360360), Fraction(1, 156), Fraction(-3617, 122400), Fraction(43867, 244188),
    Fraction(-174611, 125400), Fraction(77683, 5796), Fraction(-236364091, 1506960),
]  # fmt: skip


def tail(hits: int, runs: int, chance: float) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of P(Bin(runs, chance) ≥ hits).

    Args:
        hits: the count k.
        runs: the number n.
        chance: p, taken as the fraction that the float is.

    Raises:
        MissingError: if it would take too long.
    """
    if hits <= 0:
        return Fraction(1), Fraction(1)
    if hits > runs or chance <= 0:
        return Fraction(0), Fraction(0)
    if chance >= 1:
        return Fraction(1), Fraction(1)
    above, whole = chance.as_integer_ratio()
    if hits * whole > runs * above:  # above the mean: the terms fall
        return _sum(hits, runs, above, whole - above)
    low, high = _sum(runs - hits + 1, runs, whole - above, above)  # P(Bin < hits), of the failures
    return 1 - high, 1 - low


def _sum(hits: int, runs: int, yes: int, no: int) -> tuple[Fraction, Fraction]:
    """Bounds of the upper tail from above the mean, with odds ``yes`` : ``no``."""
    if hits > runs:
        return Fraction(0), Fraction(0)
    first = _first(hits, runs, yes, no)
    term = total = _ONE
    count, terms = hits, 1
    while count < runs:
        term = term * ((runs - count) * yes) // ((count + 1) * no)
        count, terms = count + 1, terms + 1
        total += term
        if term < _ONE >> 110:
            break
        if terms > _MOST_TERMS:
            raise missing(f"a binomial tail of {runs:,} runs")
    rest = Fraction(0)
    if count < runs:
        ratio = Fraction((runs - count) * yes, (count + 1) * no)
        rest = Fraction(term + terms) * ratio / (1 - ratio)
    low, high = Fraction(total, _ONE), (total + terms * terms + rest) / _ONE
    return low * first[0], high * first[1]


def _first(hits: int, runs: int, yes: int, no: int) -> tuple[Fraction, Fraction]:
    """Bounds of the probability of exactly ``hits`` of ``runs``."""
    context = _DIGITS
    ways = context.subtract(_factorial(runs), context.add(_factorial(hits), _factorial(runs - hits)))
    whole = context.ln(Decimal(yes + no))
    chances = context.add(
        context.multiply(Decimal(hits), context.subtract(context.ln(Decimal(yes)), whole)),
        context.multiply(Decimal(runs - hits), context.subtract(context.ln(Decimal(no)), whole)),
    )
    middle = context.add(ways, chances)
    loose = context.multiply(_LOOSE, Decimal(runs))
    low, high = context.exp(context.subtract(middle, loose)), context.exp(context.add(middle, loose))
    return Fraction(low), Fraction(high)


def _factorial(number: int) -> Decimal:
    """Return ln(n!), with an error far below `_LOOSE`."""
    context = _DIGITS
    if number <= _EXACT:
        return context.ln(Decimal(math.factorial(number)))
    n = Decimal(number)
    found = context.multiply(n, context.subtract(context.ln(n), Decimal(1)))
    found = context.add(found, context.divide(context.ln(context.multiply(_TWO_PI, n)), Decimal(2)))
    power = n
    for each in _STIRLING:
        found = context.add(found, context.divide(Decimal(each.numerator), Decimal(each.denominator) * power))
        power = context.multiply(power, context.multiply(n, n))
    return found


_NEAR = 1e-11  # relative, of a certified quantile; bounds have 10 digits
_MOST_QUANTILES = 500_000
_CERTIFYING, _asked = [False], [0]


def start() -> None:
    """Begin to count quantiles for another file."""
    _asked[0] = 0


@contextmanager
def certified() -> Iterator[None]:
    """Within it every binomial quantile is certified, or not given at all."""
    before, _CERTIFYING[0] = _CERTIFYING[0], True
    try:
        yield
    finally:
        _CERTIFYING[0] = before


def certifying(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function, with every quantile in it certified."""

    @wraps(function)
    def sure(*given: Any, **named: Any) -> Any:
        with certified():
            return function(*given, **named)

    return sure


# --- small functions ----------------------------------------------------------------------------------------


def _expit(x: float) -> float:
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    grown = math.exp(x) if x > -745 else 0.0
    return grown / (1 + grown)


def _logit(p: float) -> float:
    return -math.inf if p == 0 else math.inf if p == 1 else math.log(p) - math.log1p(-p) if 0 < p < 1 else math.nan


def _gammaln(x: float) -> float:
    return math.inf if x in (0, math.inf) else math.lgamma(x)


def _xlogy(x: float, y: float) -> float:
    return 0.0 if x == 0 else x * (math.log(y) if y > 0 else -math.inf if y == 0 else math.nan)


def _xlog1py(x: float, y: float) -> float:
    return 0.0 if x == 0 else x * (math.log1p(y) if y > -1 else -math.inf if y == -1 else math.nan)


# --- the binomial distribution ------------------------------------------------------------------------------


def _in_time(function: Callable[..., float]) -> Callable[..., float]:
    """The same function, that is missing where it would take too long."""

    @wraps(function)
    def found(*given: float) -> float:
        try:
            return function(*given)
        except plain.TooLongError as error:
            raise missing(str(error)) from None

    return found


def _sure(upper: bool) -> Callable[[float, float, float], float]:
    """Quantiles of a beta law, certified where that is asked for."""

    @_in_time
    def found(a: float, b: float, chance: float) -> float:
        _asked[0] += 1
        if _asked[0] > _MOST_QUANTILES:
            raise missing("so many quantiles")
        x = plain.quantile(float(a), float(b), float(chance), upper)
        if _CERTIFYING[0] and 0 < chance < 1:
            _certify(a, b, chance, x, upper)
        return x

    return found


@lru_cache(maxsize=100_000)
def _certify(a: float, b: float, chance: float, x: float, upper: bool) -> None:
    """Show that the quantile lies near x, or raise `MissingError`."""
    if a != int(a) or b != int(b):  # no binomial law: it orders outcomes, and no bound rests on it
        return
    hits, runs = int(a), int(a + b - 1)
    near = max(_NEAR * min(x, 1 - x), 4 * math.ulp(x))
    below, above = max(x - near, 0.0), min(x + near, 1.0)
    wanted = 1 - Fraction(chance) if upper else Fraction(chance)
    if not (tail(hits, runs, below)[1] <= wanted <= tail(hits, runs, above)[0]):
        raise missing(f"a quantile of {hits:,} of {runs:,} that exact sums confirm")


@_in_time
def _bdtr(k: float, n: float, p: float) -> float:
    return 1.0 if k >= n else 0.0 if k < 0 else plain.betaincc(math.floor(k) + 1, n - math.floor(k), p)


@_in_time
def _bdtrc(k: float, n: float, p: float) -> float:
    return 0.0 if k >= n else 1.0 if k < 0 else plain.betainc(math.floor(k) + 1, n - math.floor(k), p)


def _bdtrik(chance: float, n: float, p: float) -> float:
    """Return the largest whole number that is exceeded with at least 1 − ``chance``, where SciPy interpolates."""
    low, high = 0, int(n) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _bdtr(middle, n, p) <= chance else (low, middle)
    return float(low)


ndtr, ndtri, log_ndtr, expit, logit = map(elementwise, (plain.ndtr, plain.ndtri, plain.log_ndtr, _expit, _logit))
gammaln, xlogy, xlog1py = map(elementwise, (_gammaln, _xlogy, _xlog1py))
betainc, betaincc, bdtr, bdtrc = map(elementwise, (_in_time(plain.betainc), _in_time(plain.betaincc), _bdtr, _bdtrc))
bdtrik = elementwise(_bdtrik)
betaincinv, betainccinv = elementwise(_sure(False)), elementwise(_sure(True))


class Isotonic:
    """The rows that fall or rise, nearest to given ones."""

    def __init__(self, x: ndarray) -> None:
        """Keep the row."""
        self.x = x


def isotonic_regression(values: Any, *, weights: Any, increasing: bool) -> Isotonic:
    """As SciPy's: the row nearest to ``values`` that never rises, by pooling neighbours (Ayer et al. 1955).

    Args:
        values, weights: of each place.
        increasing: False.
    """
    if increasing:
        raise missing("isotonic regression of rising rows")
    blocks: list[tuple[float, float, int]] = []  # mean, weight, places
    for value, weight in zip(values, weights, strict=True):
        blocks.append((value, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] <= blocks[-1][0]:
            (mean0, weight0, places0), (mean1, weight1, places1) = blocks[-2:]
            both = weight0 + weight1
            blocks[-2:] = [((mean0 * weight0 + mean1 * weight1) / both, both, places0 + places1)]
    return Isotonic(array([mean for mean, _, places in blocks for _ in range(places)]))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)

    def absent(*given: Any, **named: Any) -> Any:
        raise missing(f"scipy.special.{name}")

    return absent
