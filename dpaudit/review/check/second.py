"""Is the same bound found another way?

The bounds of an audit are computed with SciPy. Here their Clopper–Pearson limits come from `dpaudit.stats.plain`, which
is plain Python, and from them the guessing bound, the odds bound and the corners of a joint bound are implemented again
from their definitions (`dpaudit.stats.guessing`, `odds`, `joint`, `sides`): what is solved there by a formula is
searched for here, and vice versa. Bounds that weigh every outcome have no second opinion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dpaudit.evidence.records import Bound, Counts
from dpaudit.privacy import Claim
from dpaudit.review.check.finding import Finding, agrees, answered, unchecked
from dpaudit.stats.methods import BOTH_SIDES, GUESS, JOINT, ODDS
from dpaudit.stats.plain import TooLongError, betainc, betaincc, ndtr, ndtri, quantile

_ACCURACY = 1e-6  # relative to the bound
_CORNERS, _CUT = 161, 50
_CUT_GIVEN_SIDES, _ENDS_GIVEN_SIDES, _SURE = 200, 6, 1e-15
_ROOM, _MOST_STEPS, _MOST_FAILURES = 1e-12, 200, 10**18

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def second_opinion(title: str, bound: Bound, counts: Counts, claim: Claim) -> Iterator[Finding]:
    """Yield a finding if there is a second opinion for the method."""
    again = _AGAIN.get(bound.method)
    if again is None:
        return
    try:
        value = again(counts, claim, bound.weight, 1 - bound.confidence)
    except TooLongError as error:
        yield unchecked("second opinion", f"{title}: {error} takes too long", decides=False)
        return
    holds = agrees(value, bound.value, _ACCURACY)
    yield answered("second opinion", holds, f"{title}: computed in another way, it is {value:.7g}")


def _guess(counts: Counts, error: float) -> float:
    right = counts.toward0[0] + counts.toward1[1]
    wrong = counts.toward0[1] + counts.toward1[0]
    if right == 0:
        return 0.0
    least = _ends(right, right + wrong, error)[0]
    return max(0.0, math.log(least / (1 - least))) if 0 < least < 1 else 0.0


def _guess_given_sides(counts: Counts, error: float) -> float:
    """Return the largest ε for which no split of the guesses between the sides makes this many correct ones likely."""
    right = counts.toward0[0] + counts.toward1[1]
    guesses0, guesses1 = counts.toward0[0] + counts.toward1[0], counts.toward0[1] + counts.toward1[1]
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


def _odds(counts: Counts, error: float) -> float:
    """Return the odds bound from Fisher's noncentral hypergeometric law, computed by ratios of successive terms."""
    side = 0 if any(counts.toward0) else 1
    of = counts.toward1 if side else counts.toward0
    hits, others, runs, other_runs = of[side], of[1 - side], counts.runs[side], counts.runs[1 - side]
    if hits == 0 or hits == runs:
        return 0.0
    least, most = max(0, hits + others - other_runs), min(hits + others, runs)
    k = np.arange(least, most, dtype=np.float64)
    steps = (runs - k) / (k + 1) * (hits + others - k) / (other_runs - (hits + others) + k + 1)
    ways = np.concatenate([[0.0], np.cumsum(np.log(steps))])
    extreme, places = hits - least, np.arange(most - least + 1, dtype=np.float64)

    def excess(log_odds: float) -> float:
        logs = ways + log_odds * places
        own, whole = (float(np.sum(np.exp(each - float(logs.max())))) for each in (logs[extreme:], logs))
        return (math.log(own / whole) if own > 0 else -745.0) - math.log(error * (1 - 1 / _CUT))

    if extreme == 0 or excess(0.0) >= 0:
        return 0.0
    odds = _root(excess, 0.0, 60.0)
    return max(0.0, odds + math.log1p(-_ends(hits, runs, error / _CUT)[1]))


def _joint(counts: Counts, claim: Claim, weight: float, error: float, *, two_sided: bool = False) -> float:
    first, second = weight, math.sqrt(1 - weight**2)
    cut = -ndtri(error / _CUT)
    line = -ndtri(error - 2 * error / _CUT)
    far = np.linspace(max((line - first * cut) / second, -37.0), cut, _CORNERS)
    near = np.minimum((line - second * far) / first, cut)
    lows, highs = _above(np.concatenate([[cut], near[:-1]])), _above(far)
    if two_sided:
        runs = sum(counts.runs)
        right = counts.toward0[0] + counts.toward1[1]
        p = _least(right, runs, lows)
        wrong = counts.toward0[1] + counts.toward1[0]
        q = _most(wrong, runs - right, highs) * (1 - p)
    else:
        side = 0 if any(counts.toward0) else 1
        hits = counts.toward1 if side else counts.toward0
        p = _least(hits[side], counts.runs[side], lows)
        q = _most(hits[1 - side], counts.runs[1 - side], highs)
    return float(np.min(claim.least(p, q)))


def _both_sides(counts: Counts, claim: Claim, weight: float, error: float) -> float:
    """Return the joint bound from the corners of (a, b) given the sides, by the negative binomial law."""
    right, wrong = (counts.toward0[0], counts.toward1[1]), (counts.toward1[0], counts.toward0[1])
    left = [runs - hits for runs, hits in zip(counts.runs, right, strict=True)]
    gamma = error / _CUT_GIVEN_SIDES
    level = error - _ENDS_GIVEN_SIDES * gamma - _SURE
    second, cut = math.sqrt(1 - weight**2), -ndtri(level / _CUT)
    line = -ndtri(level - 2 * level / _CUT)
    far = np.linspace(max((line - weight * cut) / second, -37.0), cut, _CORNERS)
    near = np.minimum((line - second * far) / weight, cut)
    lows, highs = _above(np.concatenate([[near[0] if far[0] == -37.0 else cut], near[:-1]])), _above(far)

    ends = [_ends(hits, runs, gamma) for hits, runs in zip(right, counts.runs, strict=True)]
    (least0, most0), (least1, most1) = ends
    chance = [_ends(hits, runs, gamma)[1] for hits, runs in zip(wrong, left, strict=True)]
    hits, runs, likeliest = sum(right), sum(counts.runs), max(most0, most1)
    beyond = runs * _least(hits, runs, lows)
    before = (hits + _failures(lows, max(hits, 1), likeliest) - 1) * likeliest
    nearby = np.where(before >= hits + 1, np.minimum(before, runs), hits - 1)
    mean = np.where(beyond <= hits - 1, beyond, nearby) if hits else np.zeros(_CORNERS)
    missed, rest, likeliest = sum(wrong), sum(left), max(chance)
    beyond = rest * _most(missed, rest, highs)
    before = (missed + 1 + _failures(highs, missed + 1, likeliest, upper=True)) * likeliest
    nearby = np.where(before <= missed - 1, before, missed + 1)
    errors = np.minimum(np.where(beyond >= missed + 1, beyond, nearby), rest)

    a = np.where(lows < 1, np.clip((mean - abs(counts.runs[0] - counts.runs[1]) / 2) / runs, 0, 1), 1)
    both = np.clip(2 * a, least0 + least1, most0 + most1)
    most_errors = [np.minimum(errors, c * n) for c, n in zip(chance, left, strict=True)]
    worst = np.zeros(_CORNERS)
    for part in np.linspace(0, 1, 5):  # every split of correct and of wrong guesses between the sides
        low = np.maximum(least0, both - most1)
        p = low + part * (np.minimum(most0, both - least1) - low)
        for share in np.linspace(0, 1, 5):
            on0 = most_errors[0] + share * (errors - most_errors[1] - most_errors[0])
            beta0 = on0 / left[0] if left[0] else 1.0
            beta1 = (errors - on0) / left[1] if left[1] else 1.0
            worst = np.maximum(worst, ((1 - p) * beta0 + (1 - both + p) * beta1) / 2)
    return float(np.min(claim.least(a, np.minimum(worst, 1.0))))


def _ends(hits: int, runs: int, error: float) -> tuple[float, float]:
    """Return the Clopper–Pearson interval with error ``error`` on each side."""
    return float(_least(hits, runs, [error])[0]), float(_most(hits, runs, [error])[0])


def _least(hits: int, runs: int, errors: Iterable[float]) -> Numbers:
    """Return the lower Clopper–Pearson limit for each error."""
    return np.array([quantile(hits, runs - hits + 1, float(each)) if hits else 0.0 for each in errors])


def _most(hits: int, runs: int, errors: Iterable[float]) -> Numbers:
    """Return the upper Clopper–Pearson limit for each error."""
    return np.array(
        [quantile(hits + 1, runs - hits, float(each), upper=True) if hits < runs else 1.0 for each in errors]
    )


def _above(values: Numbers) -> Numbers:
    """Return the chance of a normal number above each value."""
    return np.array([ndtr(-float(each)) for each in values])


def _failures(levels: Numbers, hits: int, chance: float, *, upper: bool = False) -> Numbers:
    """Return quantiles of the number of failures before so many hits: the least k that exceeds with such a chance."""

    def least(level: float) -> float:
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

    return np.array([least(float(each)) for each in levels])


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
        found = function(at)
        if found == 0 or high - low < _ROOM:
            return at
        if (found > 0) == (at_high > 0):
            high, at_high = at, found
            at_low, kept = (at_low / 2 if kept == 1 else at_low), 1
        else:
            low, at_low = at, found
            at_high, kept = (at_high / 2 if kept == -1 else at_high), -1
    return (low + high) / 2


_AGAIN: dict[str, Callable[[Counts, Claim, Any, float], float]] = {
    GUESS: lambda counts, claim, weight, error: _guess_given_sides(counts, error),
    ODDS: lambda counts, claim, weight, error: _odds(counts, error),
    BOTH_SIDES: _both_sides,
    JOINT: _joint,
    "guess": lambda counts, claim, weight, error: _guess(counts, error),
    "two-sided joint": partial(_joint, two_sided=True),
}
"""For each method, the bound by other means, from counts, claim, weight and error."""
