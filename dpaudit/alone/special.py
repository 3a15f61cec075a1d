"""Which values have the special functions of statistics? Those of SciPy that the check needs, from ``math``.

Binomial quantiles, from which every bound follows, can be `certified`: the exact sums of `tails` show that the root
lies within 1e-11 of the number that was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache, wraps
from statistics import NormalDist
from typing import Any

from dpaudit.alone.arrays import elementwise
from dpaudit.alone.missing import missing
from dpaudit.alone.tails import tail

_NEAR = 1e-11  # relative, of a certified quantile; bounds have 10 digits
_TINY, _STEPS = 1e-300, 100_000
_CERTIFYING = [False]


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


# --- the normal distribution, and small functions -----------------------------------------------------------


def _ndtr(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


_NORMAL = NormalDist()


def _ndtri(p: float) -> float:
    if p <= 0 or p >= 1:
        return -math.inf if p == 0 else math.inf if p == 1 else math.nan
    return _NORMAL.inv_cdf(p) if p >= 1e-300 else math.nan


def _log_ndtr(x: float) -> float:
    if x > -37:
        chance = _ndtr(x)
        return math.log(chance) if x < 6 else math.log1p(-_ndtr(-x))
    series, term = 1.0, 1.0  # Abramowitz & Stegun 26.2.12
    for i in range(1, 10):
        term *= -(2 * i - 1) / (x * x)
        series += term
    return -x * x / 2 - math.log(-x) - math.log(2 * math.pi) / 2 + math.log(series)


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


def _deviance(x: float, mean: float) -> float:
    """x·log(x/mean) + mean − x without cancellation (Loader 2000)."""
    if x == 0:
        return mean
    if abs(x - mean) < 0.1 * (x + mean):
        v = (x - mean) / (x + mean)
        found, power = (x - mean) * v, 2 * x * v
        for i in range(1, 1000):
            power *= v * v
            more = found + power / (2 * i + 1)
            if more == found:
                break
            found = more
        return found
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
    """The continued fraction of I_x(a, b) (Abramowitz & Stegun 26.5.8), by Lentz's method."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    found = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 + even * d
        c = 1 + even / c
        d = 1 / (d if abs(d) > _TINY else _TINY)
        c = c if abs(c) > _TINY else _TINY
        found *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 + odd * d
        c = 1 + odd / c
        d = 1 / (d if abs(d) > _TINY else _TINY)
        c = c if abs(c) > _TINY else _TINY
        found *= d * c
        if abs(d * c - 1) < 1e-16 * 4:
            return found
    raise missing("so long a continued fraction")


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


def _betainc(a: float, b: float, x: float) -> float:
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    return math.exp(_log_both(a, b, x, 1 - x)[0])


def _betaincc(a: float, b: float, x: float) -> float:
    if x <= 0 or x >= 1:
        return 1.0 if x <= 0 else 0.0
    return math.exp(_log_both(a, b, x, 1 - x)[1])


def _betaincinv(a: float, b: float, chance: float) -> float:
    return _quantile(float(a), float(b), float(chance), False)


def _betainccinv(a: float, b: float, chance: float) -> float:
    return _quantile(float(a), float(b), float(chance), True)


@lru_cache(maxsize=200_000)
def _quantile(a: float, b: float, chance: float, upper: bool) -> float:
    """Return x with I_x(a, b) = chance, or 1 − I_x(a, b) = chance; Newton's method on the logit of x."""
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
    z = min(max(_ndtri(chance) * (-1 if upper else 1), -38.0), 38.0)
    spread = math.sqrt(1 / a + 1 / b)
    return min(max(math.log(a / b) + z * spread + (1 / (2 * b) - 1 / (2 * a)), -700.0), 700.0)


def _sure(find: Callable[[float, float, float], float], upper: bool) -> Callable[[float, float, float], float]:
    """The same quantile, certified where that is asked for."""

    def found(a: float, b: float, chance: float) -> float:
        x = find(a, b, chance)
        if _CERTIFYING[0] and 0 < chance < 1:
            _certify(a, b, chance, x, upper)
        return x

    return found


@lru_cache(maxsize=100_000)
def _certify(a: float, b: float, chance: float, x: float, upper: bool) -> None:
    """Show that the quantile lies near x, or raise `MissingError`."""
    if a != int(a) or b != int(b):
        raise missing("a quantile that is not of whole counts")
    hits, runs = int(a), int(a + b - 1)
    near = _NEAR * min(x, 1 - x)
    if not 0 < x - near < x < x + near < 1:
        near = 4 * math.ulp(x)
    below, above = max(x - near, 0.0), min(x + near, 1.0)
    wanted = 1 - Fraction(chance) if upper else Fraction(chance)
    if not (tail(hits, runs, below)[1] <= wanted <= tail(hits, runs, above)[0]):
        raise missing(f"a quantile of {hits:,} of {runs:,} that exact sums confirm")


def _bdtr(k: float, n: float, p: float) -> float:
    return 1.0 if k >= n else 0.0 if k < 0 else _betaincc(math.floor(k) + 1, n - math.floor(k), p)


def _bdtrc(k: float, n: float, p: float) -> float:
    return 0.0 if k >= n else 1.0 if k < 0 else _betainc(math.floor(k) + 1, n - math.floor(k), p)


ndtr, ndtri, log_ndtr, expit, logit = map(elementwise, (_ndtr, _ndtri, _log_ndtr, _expit, _logit))
gammaln, xlogy, xlog1py = map(elementwise, (_gammaln, _xlogy, _xlog1py))
betainc, betaincc, bdtr, bdtrc = map(elementwise, (_betainc, _betaincc, _bdtr, _bdtrc))
betaincinv, betainccinv = elementwise(_sure(_betaincinv, False)), elementwise(_sure(_betainccinv, True))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)

    def absent(*given: Any, **named: Any) -> Any:
        raise missing(f"scipy.special.{name}")

    return absent
