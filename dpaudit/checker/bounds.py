"""Which bound follows from the counts of an event? Computed in plain Python, by other formulas than audits use.

What audits solve by a formula is searched for here, and vice versa: the Clopper–Pearson limits come from
continued fractions, and the bounds by guesses, by odds and by joint regions are implemented again from their
definitions. Bounds that weigh every outcome, those of several bins and those of one run have no second opinion.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from statistics import NormalDist

__all__ = ["METHODS", "Hits", "Notion", "TooLongError", "second_bound"]

_CORNERS, _CUT = 161, 50
_CUT_GIVEN_SIDES, _ENDS_GIVEN_SIDES, _SURE = 200, 6, 1e-15
_ROOM, _MOST_STEPS, _MOST_FAILURES = 1e-12, 200, 10**18
_FAR = 60.0  # in nats: what is less likely by so much does not count

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hits:
    """What was counted: the runs of both sides, and how many of each spoke for side 0 and for side 1."""

    runs: Pair
    toward0: Pair
    toward1: Pair


@dataclass(frozen=True, slots=True)
class Notion:
    """A notion of privacy whose parameter is bounded: ε, ε at a δ, μ, ρ, or ε at an order."""

    parameter: str
    delta: float = 0.0
    order: float | None = None

    def least(self, p: float, q: float) -> float:
        """Return the smallest value of the parameter that allows an event of probabilities p and q, 0 if p ≤ q."""
        if not p > q:
            return 0.0
        if self.parameter == "mu":  # Φ⁻¹(p) − Φ⁻¹(q) (Dong, Roth & Su 2022)
            return ndtri(p) - ndtri(q)
        if self.parameter == "rho":  # the largest D_α/α over the orders (Bun & Steinke 2016)
            return _highest(lambda above: _divergence(p, q, above) / (1 + above))
        if self.order is not None:
            return _divergence(p, q, self.order - 1)
        rounding = 4 * 2.0**-52 if self.delta else 0.0  # a remainder after δ that may be due to rounding shows nothing
        event, rest = p - self.delta, 1 - q - self.delta
        return max(
            _log(event) - _log(q) if event > rounding else 0.0,
            math.log1p(-min(q + self.delta, 1.0)) - _log(1 - p) if rest > rounding else 0.0,
            0.0,
        )


def second_bound(method: str, hits: Hits, notion: Notion, weight: float | None, error: float) -> float | None:
    """Return the lower bound on the parameter of a notion; None if there is no second opinion for it.

    Args:
        method: by which an audit bounded it.
        hits: what was counted.
        notion: what is bounded.
        weight: of the first count in the statistic of a joint bound.
        error: 1 − the confidence.

    Raises:
        TooLongError: if it would take minutes.
    """
    known = METHODS.get(method)
    return None if known is None else known(hits, notion, weight, error)


# --- what two probabilities tell --------------------------------------------------------------------------------


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _divergence(p: float, q: float, above: float) -> float:
    """The larger Rényi divergence of two bits, of order 1 + ``above`` (van Erven & Harremoës 2014, equation 10)."""
    return max(_one_way(p, q, above), _one_way(q, p, above), 0.0)


def _one_way(p: float, q: float, t: float) -> float:
    parts = [(own, t * (math.log(own) - _log(other))) for own, other in ((p, q), (1 - p, 1 - q)) if own > 0]
    if any(step == math.inf for _, step in parts):
        return math.inf
    if max(abs(step) for _, step in parts) < 0.5:  # the terms add up to nearly 1
        return math.log1p(sum(own * math.expm1(step) for own, step in parts)) / t
    logs = [math.log(own) + step for own, step in parts]
    return (max(logs) + math.log(sum(math.exp(each - max(logs)) for each in logs))) / t


def _highest(height: Callable[[float], float]) -> float:
    """Return the largest value of a function of a positive number with one peak, on the grids that audits try."""
    best = max((10 ** (0.4 * step - 6) for step in range(31)), key=height)
    for exponent in (0.4, 0.1):
        best = max((best * 10 ** (exponent * step / 4) for step in range(-4, 5)), key=height)
    return max(height(best), 0.0)


# --- by guesses -------------------------------------------------------------------------------------------------


def _guess(hits: Hits, error: float) -> float:
    right, wrong = hits.toward0[0] + hits.toward1[1], hits.toward0[1] + hits.toward1[0]
    if right == 0:
        return 0.0
    least = _ends(right, right + wrong, error)[0]
    return max(0.0, math.log(least / (1 - least))) if 0 < least < 1 else 0.0


def _guess_given_sides(hits: Hits, error: float) -> float:
    """Return the largest ε for which no split of the guesses between the sides makes this many correct ones likely."""
    right = hits.toward0[0] + hits.toward1[1]
    guesses0, guesses1 = (hits.toward0[side] + hits.toward1[side] for side in (0, 1))
    total = guesses0 + guesses1
    if right == 0:
        return 0.0
    mean = min(total * _ends(right, total, error)[0], right - 1)

    def largest(epsilon: float) -> float:
        """Return the largest mean under ε, over y: guesses are correct with logits ε + y and ε − y."""

        def slope(y: float) -> float:
            up, down = epsilon + y, epsilon - y
            logs = _log_expit(up) + _log_expit(-up) - _log_expit(down) - _log_expit(-down)
            return logs + math.log(guesses0 / guesses1)

        if min(guesses0, guesses1) == 0 or slope(-40.0) <= 0 or slope(40.0) >= 0:
            return float(max(guesses0, guesses1))
        y = _root(slope, -40.0, 40.0)
        return guesses0 * math.exp(_log_expit(epsilon + y)) + guesses1 * math.exp(_log_expit(epsilon - y))

    if largest(0.0) >= mean:
        return 0.0
    return _root(lambda epsilon: largest(epsilon) - mean, 0.0, 60.0)


# --- by odds ----------------------------------------------------------------------------------------------------


def _odds(hits: Hits, error: float) -> float:
    """Return the odds bound from Fisher's noncentral hypergeometric law, computed by ratios of successive terms."""
    side = 0 if any(hits.toward0) else 1
    of = hits.toward1 if side else hits.toward0
    own, others, runs, other_runs = of[side], of[1 - side], hits.runs[side], hits.runs[1 - side]
    if own == 0 or own == runs:
        return 0.0
    both = own + others
    least, most = max(0, both - other_runs), min(both, runs)
    steps = [math.log((runs - k) / (k + 1) * (both - k) / (other_runs - both + k + 1)) for k in range(least, most)]
    ways = list(accumulate(steps, initial=0.0))  # concave
    extreme = own - least

    def excess(log_odds: float) -> float:
        likeliest = bisect_left(steps, log_odds, key=lambda step: -step)
        near = _near(ways, log_odds, likeliest)
        most_likely = ways[likeliest] + log_odds * likeliest
        terms = [math.exp(ways[k] + log_odds * k - most_likely) for k in near]
        tail = math.fsum(terms[max(0, extreme - near.start) :])
        return (math.log(tail / math.fsum(terms)) if tail > 0 else -745.0) - math.log(error * (1 - 1 / _CUT))

    if extreme == 0 or excess(0.0) >= 0:
        return 0.0
    odds = _root(excess, 0.0, 60.0)
    return max(0.0, odds + math.log1p(-_ends(own, runs, error / _CUT)[1]))


def _near(ways: Sequence[float], log_odds: float, likeliest: int) -> range:
    """Return the places whose terms count beside the likeliest: terms fall off on both sides of it."""
    most = ways[likeliest] + log_odds * likeliest

    def far(place: int) -> bool:
        return ways[place] + log_odds * place < most - _FAR

    before, after = range(likeliest + 1), range(likeliest, len(ways))
    return range(
        bisect_left(before, True, key=lambda place: not far(place)),
        likeliest + bisect_left(after, True, key=far),
    )


# --- by joint regions -------------------------------------------------------------------------------------------


def _corners(weight: float | None, error: float) -> tuple[list[float], list[float]]:
    """Return the two standard scores at the corners of a region whose weighted sum is cut at an error level.

    Exact binomial tests are combined with weights (Stouffer et al. 1949), and cut as in Berger & Boos (1994).
    """
    if weight is None or not 0 < weight < 1:
        raise ValueError(f"a joint bound has a weight between 0 and 1, not {weight}")
    other, cut = math.sqrt(1 - weight**2), -ndtri(error / _CUT)
    line = -ndtri(error - 2 * error / _CUT)
    start = max((line - weight * cut) / other, -37.0)
    far = [start + (cut - start) * step / (_CORNERS - 1) for step in range(_CORNERS)]
    return [min((line - other * each) / weight, cut) for each in far], far


def _joint(hits: Hits, notion: Notion, weight: float | None, error: float, *, two_sided: bool = False) -> float:
    """Return the bound from the corners of a joint region of two counts."""
    near, far = _corners(weight, error)
    lows, highs = _above([-ndtri(error / _CUT), *near[:-1]]), _above(far)
    if two_sided:
        runs = sum(hits.runs)
        right, wrong = hits.toward0[0] + hits.toward1[1], hits.toward0[1] + hits.toward1[0]
        p = _least(right, runs, lows)
        q = [most * (1 - own) for most, own in zip(_most(wrong, runs - right, highs), p, strict=True)]
    else:
        side = 0 if any(hits.toward0) else 1
        of = hits.toward1 if side else hits.toward0
        p = _least(of[side], hits.runs[side], lows)
        q = _most(of[1 - side], hits.runs[1 - side], highs)
    return min(map(notion.least, p, q))


def _both_sides(hits: Hits, notion: Notion, weight: float | None, error: float) -> float:
    """Return the joint bound from the corners of (a, b) given the sides, by the negative binomial law."""
    right, wrong = (hits.toward0[0], hits.toward1[1]), (hits.toward1[0], hits.toward0[1])
    left = (hits.runs[0] - right[0], hits.runs[1] - right[1])
    gamma = error / _CUT_GIVEN_SIDES
    level = error - _ENDS_GIVEN_SIDES * gamma - _SURE
    near, far = _corners(weight, level)
    lows, highs = _above([near[0] if far[0] == -37.0 else -ndtri(level / _CUT), *near[:-1]]), _above(far)

    (least0, most0), (least1, most1) = (_ends(own, runs, gamma) for own, runs in zip(right, hits.runs, strict=True))
    chances = [_ends(own, runs, gamma)[1] for own, runs in zip(wrong, left, strict=True)]
    hits_right, runs, missed, rest = sum(right), sum(hits.runs), sum(wrong), sum(left)
    lead = abs(hits.runs[0] - hits.runs[1]) / 2
    least = math.inf
    for low, high in zip(lows, highs, strict=True):
        mean = _least_mean(hits_right, runs, low, max(most0, most1)) if hits_right else 0.0
        errors = _most_errors(missed, rest, high, max(chances))
        a = min(max((mean - lead) / runs, 0.0), 1.0) if low < 1 else 1.0
        both = min(max(2 * a, least0 + least1), most0 + most1)
        most_errors = [min(errors, chance * each) for chance, each in zip(chances, left, strict=True)]
        worst = 0.0
        for part in (0.0, 0.25, 0.5, 0.75, 1.0):  # every split of correct and of wrong guesses between the sides
            start = max(least0, both - most1)
            p = start + part * (min(most0, both - least1) - start)
            for share in (0.0, 0.25, 0.5, 0.75, 1.0):
                on0 = most_errors[0] + share * (errors - most_errors[1] - most_errors[0])
                beta0 = on0 / left[0] if left[0] else 1.0
                beta1 = (errors - on0) / left[1] if left[1] else 1.0
                worst = max(worst, ((1 - p) * beta0 + (1 - both + p) * beta1) / 2)
        least = min(least, notion.least(a, min(worst, 1.0)))
    return least


def _least_mean(hits: int, runs: int, level: float, likeliest: float) -> float:
    """Return the least mean number of correct guesses that a level leaves possible."""
    beyond = runs * _least(hits, runs, [level])[0]
    if beyond <= hits - 1:
        return beyond
    before = (hits + _failures(level, max(hits, 1), likeliest) - 1) * likeliest
    return min(before, runs) if before >= hits + 1 else hits - 1


def _most_errors(hits: int, runs: int, level: float, likeliest: float) -> float:
    """Return the most wrong guesses, in the mean, that a level leaves possible."""
    beyond = runs * _most(hits, runs, [level])[0]
    if beyond < hits + 1:
        before = (hits + 1 + _failures(level, hits + 1, likeliest, upper=True)) * likeliest
        beyond = before if before <= hits - 1 else hits + 1
    return min(beyond, runs)


def _ends(hits: int, runs: int, error: float) -> tuple[float, float]:
    """Return the Clopper–Pearson interval with error ``error`` on each side."""
    return _least(hits, runs, [error])[0], _most(hits, runs, [error])[0]


def _least(hits: int, runs: int, errors: Iterable[float]) -> list[float]:
    """Return the lower Clopper–Pearson limit for each error."""
    return [quantile(hits, runs - hits + 1, each) if hits else 0.0 for each in errors]


def _most(hits: int, runs: int, errors: Iterable[float]) -> list[float]:
    """Return the upper Clopper–Pearson limit for each error."""
    return [quantile(hits + 1, runs - hits, each, upper=True) if hits < runs else 1.0 for each in errors]


def _above(values: Iterable[float]) -> list[float]:
    """Return the chance of a normal number above each value."""
    return [ndtr(-each) for each in values]


def _failures(level: float, hits: int, chance: float, *, upper: bool = False) -> float:
    """Return a quantile of the number of failures before so many hits: the least k that exceeds with such a chance."""

    def reached(k: int) -> bool:
        if upper:
            return betaincc(hits, k + 1, chance) <= level
        return betainc(hits, k + 1, chance) >= level

    if level == (0.0 if upper else 1.0):
        return math.inf
    low, high = -1, max(int(hits * (1 - chance) / chance), 1)
    while high < _MOST_FAILURES and not reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return float(high)


def _log_expit(x: float) -> float:
    return -math.log1p(math.exp(-x)) if x > 0 else x - math.log1p(math.exp(x))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes its sign, by regula falsi with the Illinois rule (Dowell & Jarratt 1971)."""
    at_low, at_high = function(low), function(high)
    if (at_low > 0) == (at_high > 0):
        return low if abs(at_low) < abs(at_high) else high
    kept = 0
    for _ in range(_MOST_STEPS):
        at = (low * at_high - high * at_low) / (at_high - at_low)
        if not low < at < high:
            at = (low + high) / 2
        value = function(at)
        if value == 0 or high - low < _ROOM:
            return at
        if (value > 0) == (at_high > 0):
            high, at_high = at, value
            at_low, kept = (at_low / 2 if kept == 1 else at_low), 1
        else:
            low, at_low = at, value
            at_high, kept = (at_high / 2 if kept == -1 else at_high), -1
    return (low + high) / 2


METHODS: Mapping[str, Callable[[Hits, Notion, float | None, float], float]] = {
    "guess given sides": lambda hits, notion, weight, error: _guess_given_sides(hits, error),
    "odds given sides": lambda hits, notion, weight, error: _odds(hits, error),
    "two-sided joint given sides": _both_sides,
    "joint": _joint,
    "guess": lambda hits, notion, weight, error: _guess(hits, error),
    "two-sided joint": partial(_joint, two_sided=True),
}
"""For each method, the bound by other means, from hits, notion, weight and error."""

PURE = frozenset({"guess given sides", "odds given sides", "guess"})
"""The methods that bound a pure ε alone."""


# --- tails and quantiles of normal and binomial laws ------------------------------------------------------------
#
# Audits compute them with SciPy; here they come from continued fractions, and from Newton's method on the logit.

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
    at = _beginning(a, b, chance, upper)
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


def _beginning(a: float, b: float, chance: float, upper: bool) -> float:
    """The logit at which to begin: as if the logit of a beta number were normal."""
    z = min(max(ndtri(chance) * (-1 if upper else 1), -38.0), 38.0)
    spread = math.sqrt(1 / a + 1 / b)
    return min(max(math.log(a / b) + z * spread + (1 / (2 * b) - 1 / (2 * a)), -700.0), 700.0)
