"""How large must ε be, given how often an attacker guessed the side correctly, or how often a rare event occurred?

The attacker guesses or abstains. Under ε-DP a guess is right with probability at most e^ε/(1 + e^ε), whatever the event
(Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015), on average over fair coins that pick the sides. `guess_bound` is
therefore a single binomial bound, exact at every n, without nuisance parameters. Earlier audits used it.

`guess_bound_given_sides` needs no coins: it holds given how many runs, and how many guesses, there were of each side.
Let u and v be the probabilities that a guess on side 0, and on side 1, is right. Of G₀ and G₁ guesses Bin(G₀, u) and
Bin(G₁, v) are right, independently. With odds(u) = p₁/p₂ and odds(v) = q₂/q₁ for the probabilities of guessing 0 and 1
on each side, ε-DP says p₁ ≤ e^ε·q₁ and q₂ ≤ e^ε·p₂, hence logit u + logit v ≤ 2ε. With t = tanh(ε/2), r = √G₀, s = √G₁
the mean G₀u + G₁v is then at most

    M(ε) = (r² + s²)/2 + ((r + s)²·t + (r − s)²/t)/4        if t ≥ |r − s|/(r + s), else max(G₀, G₁):

at u = σ(ε + y), v = σ(ε − y), the derivative G₀σ'(ε + y) − G₁σ'(ε − y) has the sign of a function that decreases in y,
since σ' is log-concave and even, and it vanishes at tanh(y/2) = (r − s)/((r + s)·t). M increases with ε. A sum of coins
with mean M' ≤ M is at least k with probability at most P(Bin(G₀ + G₁, M/(G₀ + G₁)) ≥ k) if k ≥ M + 1 (Hoeffding 1956,
Theorem 5). If both sides guess equally often, M is the mean of the binomial itself, and nothing is lost.
Both bounds are for pure DP only.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, expit, gammaln

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.event_bound import (
    POWER,
    UNLUCKY,
    CountedEvent,
    EventBound,
    Numbers,
    Rates,
    Weight,
    guesses_by_side,
    guesses_of,
    of_one_side,
    unlucky_bound,
)
from dpaudit.stats.joint_region import (
    EVEN,
    Joint,
    joint_region,
    joint_weight,
    probability_at_least,
    probability_at_most,
)

# --- How large must ε be, given how often an attacker guessed the side correctly? ---


def guess_bound(right: ArrayLike, wrong: ArrayLike, error: ArrayLike) -> Floats:
    """Return the lower bound of ε at confidence 1 − ``error``; 0 if nothing is shown.

    Without any wrong guess it is logit(error^(1/right)), never infinity. Exact binomial bound (Clopper & Pearson 1934)
    of the probability that a guess is right (Kairouz, Oh & Viswanath 2015).

    Args:
        right, wrong: numbers of right and wrong guesses, broadcast. The sides must come from a fair coin.
        error: the error level.

    Returns:
        ε in nats, in the broadcast shape.
    """
    a, b = np.asarray(right, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    least = probability_at_least(a, a + b, error)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(0.0, np.log(least) - np.log1p(-least)))


def guess_bound_given_sides(right: ArrayLike, guesses0: ArrayLike, guesses1: ArrayLike, error: ArrayLike) -> Floats:
    """Return the lower bound of ε at confidence 1 − ``error``, however the sides were picked; 0 if nothing is shown.

    Proof in the module's docstring (Hoeffding 1956, Theorem 5).

    Args:
        right: right guesses of both sides together, broadcast with the others.
        guesses0, guesses1: how many guesses were made on side 0 and on side 1.
        error: the error level.

    Returns:
        ε in nats, in the broadcast shape.
    """
    k, g0, g1 = (np.asarray(each, dtype=np.float64) for each in np.broadcast_arrays(right, guesses0, guesses1))
    total = g0 + g1
    mean = np.minimum(total * probability_at_least(k, total, error), k - 1)  # any smaller mean is ruled out
    apart, reach = np.abs(g0 - g1), (np.sqrt(g0) + np.sqrt(g1)) ** 2
    excess = 4 * mean - 2 * total
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (excess + np.sqrt(excess**2 - 4 * apart**2)) / (2 * reach)
        found = np.log1p(t) - np.log1p(-t)
    return np.asarray(np.where((excess > 0) & (excess >= 2 * apart), np.maximum(found, 0.0), 0.0))


def detectable_guess(guesses: int | tuple[int, int], claim: float, error: float, power: float = 0.9) -> float:
    """Return the smallest ε that ``guesses`` guesses would show to exceed ``claim`` with probability ``power``.

    Let k* be the smallest number of right guesses whose bound exceeds the claim. The answer is the smallest ε with
    P(Bin(guesses, e^ε/(1 + e^ε)) ≥ k*) ≥ power.

    Args:
        guesses: of each side, bounded given these; or one number of all guesses, with sides by fair coins.
        claim: ε in nats.
        error: the error level of the bound.
        power: probability with which the claim is exceeded.

    Returns:
        ε in nats; infinity if no number of right guesses suffices.
    """
    total = guesses if isinstance(guesses, int) else sum(guesses)

    def shown(right: int) -> bool:
        if isinstance(guesses, int):
            return bool(guess_bound(right, total - right, error) > claim)
        return bool(guess_bound_given_sides(right, *guesses, error) > claim)

    if total <= 0 or not shown(total):
        return np.inf
    low, high = 0, total  # the bound increases with the right guesses: low fails, high succeeds
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    # P(Bin(n, p) ≥ k) = I_p(k, n − k + 1)
    chance = float(betaincinv(high, total - high + 1, power))
    return float(np.log(chance) - np.log1p(-chance)) if chance < 1 else np.inf


# --- the methods --------------------------------------------------------------------------------------------


class GuessGivenSides(EventBound):
    """By the number of right guesses, given how many guesses each side made."""

    two_sided = True
    by_guesses = True

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound of ε; arguments as for `EventBound.lower`."""
        return float(guess_bound_given_sides(guesses_of(counts)[0], *guesses_by_side(counts), error))

    def upper(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return an upper bound of the mean of logit P(right | guessed) over both sides."""
        # an upper bound of (logit u + logit v)/2, where guesses on side 0 are right with probability u, on
        # side 1 with v. Given the guesses of each side, the right ones are independent binomials, like the
        # runs of a joint region
        right, wrong = (counts.toward0[0], counts.toward1[1]), (counts.toward1[0], counts.toward0[1])
        made = right[0] + wrong[0], right[1] + wrong[1]
        region = joint_region(wrong[0], made[0], right[1], made[1], weight=EVEN, error=error)
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = (np.log1p(-region.p) - np.log(region.p) + np.log(region.q) - np.log1p(-region.q)) / 2
        found = np.where((region.p <= 0) | (region.q >= 1), np.inf, losses)
        return max(0.0, float(np.max(found)))

    def expected(self, rates: Rates, runs: tuple[float, float], claim: Claim, weight: Weight, error: float) -> float:
        """Return the expected bound; the numbers of guesses of the two sides will differ by chance too."""
        n, m = (max(round(each), 1) for each in runs)
        made0, made1 = n * (rates[0] + rates[1]), m * (rates[2] + rates[3])
        chance = n * (1 - rates[0] - rates[1]) * (rates[0] + rates[1]) + m * (1 - rates[2] - rates[3]) * (
            rates[2] + rates[3]
        )
        apart = min(math.sqrt((made0 - made1) ** 2 + max(chance, 0.0)), made0 + made1)
        guesses = ((made0 + made1 + apart) / 2, (made0 + made1 - apart) / 2)
        return float(guess_bound_given_sides(n * rates[0] + m * rates[2], *guesses, error))

    def shown(self, event: CountedEvent, value: float, times: float) -> float:
        """Return the bound in the unlucky tenth of right guesses."""
        made = guesses_by_side(event.counts)
        return _shown_by_guesses((round(times * made[0]), round(times * made[1])), value, event.error)

    def detectable(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the smallest ε that so many guesses would have shown to exceed the claim."""
        return detectable_guess(guesses_by_side(counts), claim.value, error)


class GuessByCoins(GuessGivenSides):
    """By the number of right guesses, where fair coins picked the sides; used by earlier audits."""

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound of ε; arguments as for `EventBound.lower`."""
        return float(guess_bound(*guesses_of(counts), error))

    def upper(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return an upper bound of logit P(right | guessed)."""
        right, wrong = guesses_of(counts)
        most = float(probability_at_most(right, right + wrong, error))
        return max(0.0, math.log(most) - math.log1p(-most)) if most < 1 else math.inf

    def shown(self, event: CountedEvent, value: float, times: float) -> float:
        """Return the bound in the unlucky tenth of right guesses."""
        runs = max(round(times * event.runs[0]), 1)
        return _shown_by_guesses(round(runs * event.kept), value, event.error)

    def detectable(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the smallest ε that so many guesses would have shown to exceed the claim."""
        return detectable_guess(sum(guesses_of(counts)), claim.value, error)


def _shown_by_guesses(made: int | tuple[int, int], value: float, error: float) -> float:
    """Return the bound from a number of guesses (all, or of each side) of loss ``value``, in their unlucky tenth."""
    chance, guesses = float(expit(value)), made if isinstance(made, int) else sum(made)
    middle = guesses * chance - UNLUCKY * math.sqrt(guesses * chance * (1 - chance))
    near = np.arange(max(math.floor(middle) - 3, 1), min(math.ceil(middle) + 4, guesses) + 1)
    often = near[betainc(near, guesses - near + 1, chance) >= POWER]  # P(Bin(n, p) ≥ k)
    if not len(often):
        return 0.0
    if isinstance(made, int):
        return float(guess_bound(often[-1], guesses - often[-1], error))
    return float(guess_bound_given_sides(often[-1], *made, error))


# --- How large must ε be, given how often a rare event occurred on each side? ---
#
# k of n runs of one side and l of m runs of the other show an event with probabilities p and q. Given k + l, the count
# k follows Fisher's noncentral hypergeometric distribution, which depends on p and q only through the odds ratio ψ =
# p(1 − q)/(q(1 − p)): one parameter, so the test of ψ is exact given the sides, however many runs each has (Fisher
# 1935; Cornfield 1956). And p/q = ψ·(1 − p)/(1 − q) ≥ ψ·(1 − p), so that under ε-DP
#
#     ε ≥ log(p/q) ≥ log ψ + log(1 − p),
#
# with ψ bounded from below at nearly the whole error level, and p from above at a fiftieth of it (Bonferroni). For a
# rare event 1 − p costs nothing, and small counts lose less here than in the combination of two p-values
# (`dpaudit.stats.joint_region`).

_CUT = 50  # p is bounded at error/50; chosen to cost little, like that of `joint_region`
_FARTHEST, _HALVINGS = 60.0, 60  # range of log ψ, and bisection steps within it
_ROUNDING = 1e-8  # relative; larger than the rounding error of any sum here
_MOST_COUNTS = 200_000  # beyond which an odds ratio is slow and gains nothing


def odds_bound(hits: int, runs: int, others: int, other_runs: int, error: float) -> float:
    """Return the lower bound of ε at confidence 1 − ``error`` (Cornfield 1956); 0.0 if nothing is shown.

    Args:
        hits, runs: count and runs of the side on which the event is likelier.
        others, other_runs: count and runs of the other side.
        error: 1 − confidence.

    Returns:
        ε in nats.
    """
    if hits <= 0:
        return 0.0
    most = float(probability_at_most(hits, runs, error / _CUT))
    if most >= 1:
        return 0.0
    odds = log_odds_at_least(hits, runs, others, other_runs, error * (1 - 1 / _CUT))
    return max(0.0, odds + math.log1p(-most))


def log_odds_at_least(hits: int, runs: int, others: int, other_runs: int, error: float) -> float:
    """Return the lower bound of log ψ (Cornfield 1956), or 0.0 if it is negative; by bisection, from below.

    Args:
        hits, runs, others, other_runs, error: as for `odds_bound`.

    Returns:
        The natural logarithm of the odds ratio.
    """
    total = hits + others
    counts = np.arange(max(0, total - other_runs), min(runs, total) + 1, dtype=np.float64)
    ways = _log_ways(runs, counts) + _log_ways(other_runs, total - counts)
    extreme = counts >= hits

    def unlikely(log_odds: float) -> bool:
        logs = ways + log_odds * counts
        weights = np.exp(logs - logs.max())
        return float(weights[extreme].sum()) <= error * (1 - _ROUNDING) * float(weights.sum())

    low, high = 0.0, _FARTHEST
    if not unlikely(low):
        return 0.0
    if len(counts) == 1:  # no other count was possible
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if unlikely(middle) else (low, middle)
    return low


def _log_ways(runs: int, counts: Floats) -> Floats:
    return np.asarray(gammaln(runs + 1) - gammaln(counts + 1) - gammaln(runs - counts + 1))


class OddsRatio(EventBound):
    """By the odds ratio of a one-sided event, given how often it occurred on both sides."""

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound of ε; arguments as for `EventBound.lower`."""
        return odds_bound(*of_one_side(counts), error)

    def upper(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the largest value that some point of a joint region allows."""
        return Joint().upper(counts, claim, EVEN, error)

    def expected(self, rates: Rates, runs: tuple[float, float], claim: Claim, weight: Weight, error: float) -> float:
        """Return the expected bound; −∞ if computing it would take long."""
        counts = (rates[0] + rates[1]) * runs[0] + (rates[2] + rates[3]) * runs[1]
        return -math.inf if counts > _MOST_COUNTS else super().expected(rates, runs, claim, weight, error)

    def shown(self, event: CountedEvent, value: float, times: float) -> float:
        """Return the bound in the unlucky tenth of the event."""
        p, q = event.rates(value)
        n, m = (max(round(times * runs), 1) for runs in event.runs)

        def bound(numbers: Numbers) -> float:
            return odds_bound(*numbers, event.error)

        return unlucky_bound(bound, p, q, n, m, joint_weight(p, q, n, m))
