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
from typing import Any

from dpaudit.alone.missing import missing
from dpaudit.alone.ndarray import array, elementwise, ndarray
from dpaudit.alone.tails import tail
from dpaudit.stats import plain

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
