"""What are the tails of normal and binomial laws, and their quantiles, in plain Python? Computed without SciPy.

Audits compute their bounds with SciPy; here the same limits come from continued fractions, and from Newton's method on
the logit.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

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
    """The continued fraction of I_x(a, b) (Abramowitz & Stegun 26.5.8), by Lentz's method; at most near the mean."""
    n, c = a + b, 1.0
    try:
        found = d = 1 / (1 - n * x / (a + 1))
        for m in range(1, _STEPS):
            at = a + 2 * m
            even = m * (b - m) * x / ((at - 1) * at)
            d = 1 / (1 + even * d)
            c = 1 + even / c
            found *= d * c
            odd = -(a + m) * (n + m) * x / (at * (at + 1))
            d = 1 / (1 + odd * d)
            c = 1 + odd / c
            step = d * c
            found *= step
            if -_LAST < step - 1 < _LAST:
                return found
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
