"""Does another library find the same bound?

Clopper–Pearson limits come from statsmodels (`proportion_confint`, method "beta"). From them the guessing bound, the
odds bound and the corners of a joint bound are implemented again from their definitions (`dpaudit.stats.guessing`,
`odds`, `joint`, `sides`): what is solved there by a formula is searched for here, and vice versa. Bounds that weigh
every outcome have no second opinion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from dpaudit.evidence.records import Bound, Counts
from dpaudit.privacy import Claim
from dpaudit.review.check.finding import Finding, agrees, answered, unchecked
from dpaudit.stats.methods import BOTH_SIDES, GUESS, JOINT, ODDS

_ACCURACY = 1e-6  # relative to the bound; the accuracy of the other library's quantiles
_CORNERS, _CUT = 161, 50
_CUT_GIVEN_SIDES, _ENDS_GIVEN_SIDES, _SURE = 200, 6, 1e-15

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def second_opinion(title: str, bound: Bound, counts: Counts, claim: Claim) -> Iterator[Finding]:
    """Yield a finding if there is a second opinion for the method.

    Args:
        title: what the finding is about.
        bound: the bound.
        counts: its counts.
        claim: the privacy notion that is bounded.
    """
    if find_spec("statsmodels") is None:
        said = f"{title}: was not asked for: that takes statsmodels (pip install statsmodels)"
        yield unchecked("second opinion", said, decides=False)
        return
    again = _AGAIN.get(bound.method)
    if again is None:
        return
    value = again(counts, claim, bound.weight, 1 - bound.confidence)
    holds = agrees(value, bound.value, _ACCURACY)
    yield answered("second opinion", holds, f"{title}: with the intervals of statsmodels it is {value:.7g}")


def _guess(counts: Counts, error: float) -> float:
    right = counts.toward0[0] + counts.toward1[1]
    wrong = counts.toward0[1] + counts.toward1[0]
    if right == 0:
        return 0.0
    least = float(_ends(right, right + wrong, error)[0])
    return max(0.0, math.log(least / (1 - least))) if 0 < least < 1 else 0.0


def _guess_given_sides(counts: Counts, error: float) -> float:
    """Return the largest ε for which no split of the guesses between the sides makes this many correct ones likely."""
    from scipy.optimize import brentq
    from scipy.special import expit, log_expit

    right = counts.toward0[0] + counts.toward1[1]
    guesses0, guesses1 = counts.toward0[0] + counts.toward1[0], counts.toward0[1] + counts.toward1[1]
    total = guesses0 + guesses1
    if right == 0:
        return 0.0
    mean = min(total * float(_ends(right, total, error)[0]), right - 1)

    def largest(epsilon: float) -> float:
        """Return the largest mean under ε, over y: guesses are correct with logits ε + y and ε − y."""

        def slope(y: float) -> float:
            up, down = epsilon + y, epsilon - y
            logs = log_expit(up) + log_expit(-up) - log_expit(down) - log_expit(-down)
            return float(logs) + math.log(guesses0 / guesses1)

        if min(guesses0, guesses1) == 0 or slope(-40.0) <= 0 or slope(40.0) >= 0:
            return float(max(guesses0, guesses1))
        y = brentq(slope, -40.0, 40.0, xtol=1e-12)
        return float(guesses0 * expit(epsilon + y) + guesses1 * expit(epsilon - y))

    if largest(0.0) >= mean:
        return 0.0
    return float(brentq(lambda epsilon: largest(epsilon) - mean, 0.0, 60.0, xtol=1e-12))


def _odds(counts: Counts, error: float) -> float:
    """Return the odds bound from Fisher's noncentral hypergeometric law, computed by ratios of successive terms."""
    from scipy.optimize import brentq
    from scipy.special import logsumexp

    side = 0 if any(counts.toward0) else 1
    of = counts.toward1 if side else counts.toward0
    hits, others, runs, other_runs = of[side], of[1 - side], counts.runs[side], counts.runs[1 - side]
    if hits == 0 or hits == runs:
        return 0.0
    least, most = max(0, hits + others - other_runs), min(hits + others, runs)
    k = np.arange(least, most, dtype=np.float64)
    steps = (runs - k) / (k + 1) * (hits + others - k) / (other_runs - (hits + others) + k + 1)
    ways = np.concatenate([[0.0], np.cumsum(np.log(steps))])
    extreme = hits - least

    def excess(log_odds: float) -> float:
        logs = ways + log_odds * np.arange(len(ways))
        return float(logsumexp(logs[extreme:]) - logsumexp(logs)) - math.log(error * (1 - 1 / _CUT))

    if extreme == 0 or excess(0.0) >= 0:
        return 0.0
    odds = float(brentq(excess, 0.0, 60.0, xtol=1e-12))
    return max(0.0, odds + math.log1p(-float(_ends(hits, runs, error / _CUT)[1])))


def _joint(counts: Counts, claim: Claim, weight: float, error: float, *, two_sided: bool = False) -> float:
    from scipy.stats import norm

    first, second = weight, math.sqrt(1 - weight**2)
    cut = float(norm.isf(error / _CUT))
    line = float(norm.isf(error - 2 * error / _CUT))
    far = np.linspace(max((line - first * cut) / second, -37.0), cut, _CORNERS)
    near = np.minimum((line - second * far) / first, cut)
    lows, highs = norm.sf(np.concatenate([[cut], near[:-1]])), norm.sf(far)
    if two_sided:
        runs = sum(counts.runs)
        right = counts.toward0[0] + counts.toward1[1]
        p = _ends(right, runs, lows)[0]
        wrong = counts.toward0[1] + counts.toward1[0]
        q = _ends(wrong, runs - right, highs)[1] * (1 - p)
    else:
        side = 0 if any(counts.toward0) else 1
        hits = counts.toward1 if side else counts.toward0
        p = _ends(hits[side], counts.runs[side], lows)[0]
        q = _ends(hits[1 - side], counts.runs[1 - side], highs)[1]
    return float(np.min(claim.least(p, q)))


def _both_sides(counts: Counts, claim: Claim, weight: float, error: float) -> float:
    """Return the joint bound from the corners of (a, b) given the sides, by the negative binomial law."""
    from scipy.stats import nbinom, norm

    right, wrong = (counts.toward0[0], counts.toward1[1]), (counts.toward1[0], counts.toward0[1])
    left = [runs - hits for runs, hits in zip(counts.runs, right, strict=True)]
    gamma = error / _CUT_GIVEN_SIDES
    level = error - _ENDS_GIVEN_SIDES * gamma - _SURE
    second, cut = math.sqrt(1 - weight**2), float(norm.isf(level / _CUT))
    line = float(norm.isf(level - 2 * level / _CUT))
    far = np.linspace(max((line - weight * cut) / second, -37.0), cut, _CORNERS)
    near = np.minimum((line - second * far) / weight, cut)
    lows, highs = norm.sf(np.concatenate([[near[0] if far[0] == -37.0 else cut], near[:-1]])), norm.sf(far)

    ends = [_ends(hits, runs, gamma) for hits, runs in zip(right, counts.runs, strict=True)]
    (least0, most0), (least1, most1) = ([float(end) for end in pair] for pair in ends)
    chance = [float(_ends(hits, runs, gamma)[1]) for hits, runs in zip(wrong, left, strict=True)]
    hits, runs, likeliest = sum(right), sum(counts.runs), max(most0, most1)
    beyond = runs * _ends(hits, runs, lows)[0]
    before = (hits + nbinom.ppf(lows, max(hits, 1), likeliest) - 1) * likeliest
    nearby = np.where(before >= hits + 1, np.minimum(before, runs), hits - 1)
    mean = np.where(beyond <= hits - 1, beyond, nearby) if hits else np.zeros(_CORNERS)
    missed, rest, likeliest = sum(wrong), sum(left), max(chance)
    beyond = rest * _ends(missed, rest, highs)[1]
    before = (missed + 1 + nbinom.isf(highs, missed + 1, likeliest)) * likeliest
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


def _ends(hits: int, runs: int, error: float | Numbers) -> tuple[Numbers, Numbers]:
    """Return the Clopper–Pearson interval with error ``error`` on each side."""
    from statsmodels.stats.proportion import proportion_confint

    levels = np.atleast_1d(np.asarray(error, dtype=np.float64))
    none = 0.0, 1.0  # the interval without runs
    ends = [proportion_confint(hits, runs, alpha=2 * level, method="beta") if runs else none for level in levels]
    low, high = np.array(ends, dtype=np.float64).T
    return (low, high) if np.ndim(error) else (low[0], high[0])


_AGAIN: dict[str, Callable[[Counts, Claim, Any, float], float]] = {
    GUESS: lambda counts, claim, weight, error: _guess_given_sides(counts, error),
    ODDS: lambda counts, claim, weight, error: _odds(counts, error),
    BOTH_SIDES: _both_sides,
    JOINT: _joint,
    "guess": lambda counts, claim, weight, error: _guess(counts, error),
    "two-sided joint": partial(_joint, two_sided=True),
}
"""For each method, the bound by the other library, from counts, claim, weight and error."""
