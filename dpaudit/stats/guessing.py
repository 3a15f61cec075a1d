"""How large must ε or μ be, given how often a side, a rare event or canaries were guessed correctly?

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

*One run*: each of m canaries was included in the data of one training run, or left out of it, by a fair coin of its
own. An attacker who sees the model guesses r of the coins. The canaries share one model, so the guesses are not
independent, and no binomial interval holds for them. What bounds their number, if r was fixed beforehand, stands at
each law below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, expit, gammaln, logit, ndtr, ndtri

from dpaudit.arrays import Booleans, Floats
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

# --- How large must ε be, given how often an attacker guessed the side correctly? ------------------------

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
        logits = np.log1p(t) - np.log1p(-t)
    return np.asarray(np.where((excess > 0) & (excess >= 2 * apart), np.maximum(logits, 0.0), 0.0))


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
        largest_losses = np.where((region.p <= 0) | (region.q >= 1), np.inf, losses)
        return max(0.0, float(np.max(largest_losses)))

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


# --- How large must ε or μ be, given how many canaries of one model were guessed correctly? --------------

# --- How many canaries of one model are guessed, at which values of a claim's parameter? ---
#
# A test at one value may err only if the mechanism really keeps that value. So each value may be tested by another
# number of guesses, all at the same error level: the values at which the test does not reject contain the true one with
# probability 1 − error, and the bound is the least of them. One must therefore walk upwards and stop at the first value
# that is not ruled out. The highest value that is ruled out by its own test would be no bound: a mechanism that keeps a
# small value keeps every larger one, so every test above it could err as well.
#
# A *step* is a number of guesses and the value up to which it is tried. Steps are fixed before the scores are looked at
# (`dpaudit.auditing.canaries`). The counts are those of the blocks of ranks between all the places where some
# number of guesses ends.

LAST = 100.0
"""The end of the last step: no larger value is tried."""
_HAIR = 1e-9  # relative distance of a value just above the claim


class StepsBound(EventBound):
    """By guesses about the canaries of one model, whose number may depend on the value that is tested.

    The weight is flat: for each step, its number of guesses and the value up to which it is tried. Without a weight,
    the guesses that were counted are tried at every value.
    """

    parameter: ClassVar[str] = ""

    def bounds(self, right: Floats, guesses: Floats, canaries: float, claim: Claim, error: float) -> Floats:
        """Return the value below which everything is ruled out by each number of guesses.

        Args:
            right: (n,) right guesses.
            guesses: (n,) all guesses, each number fixed beforehand.
            canaries: all of one model; half of them if all guesses are of one kind.
            claim: the notion to bound; its own value is not used.
            error: 1 − confidence.

        Returns:
            (n,) values of the claim's parameter, rounded down.
        """
        raise NotImplementedError

    def excludes(self, right: int, guesses: int, canaries: float, claim: Claim, error: float) -> bool:
        """Return whether so many right guesses rule out the claim itself; arguments as for `bounds`."""
        raise NotImplementedError

    def reached(self, chance: float, guesses: int, canaries: float) -> float:
        """Return the value at which guesses are right with this probability.

        Args:
            chance: the probability.
            guesses, canaries: as for `bounds`.

        Returns:
            The value of the claim's parameter.
        """
        raise NotImplementedError

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound; arguments as for `EventBound.lower`."""
        return self.walk(counts, claim, weight, error)[0]

    def walk(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> tuple[float, int]:
        """Return the lower bound, and the number of guesses of the step at which the walk ended.

        Args:
            counts, claim, weight, error: as for `EventBound.lower`.

        Returns:
            The least value that is not ruled out, and its number of guesses.

        Raises:
            ValueError: if the bins do not show how many guesses of a step were right.
        """
        if claim.parameter != self.parameter:
            raise ValueError(f"these guesses bound {self.parameter}, not {claim.parameter}")
        steps = steps_of(weight, counts)
        made = np.array([guesses for guesses, _ in steps], dtype=np.float64)
        right = np.array([right_guesses(counts, guesses) for guesses, _ in steps], dtype=np.float64)
        bounds, start = self.bounds(right, made, effective_canaries(counts), claim, error), 0.0
        for value, (guesses, end) in zip(bounds, steps, strict=True):
            if not value >= end:
                return max(start, float(value)), guesses
            start = end
        return start, steps[-1][0]

    def detectable(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the smallest value that would have been shown to exceed the claim with probability 0.9.

        The step in which the claim lies is looked at; the steps below it rule out smaller values, which takes less.
        Every guess is assumed to be right independently, and as often as that value allows.
        """
        made = next(guesses for guesses, end in steps_of(weight, counts) if end > claim.value)
        canaries = effective_canaries(counts)
        above = claim.with_value(claim.value * (1 + _HAIR) + _HAIR)

        def shown(right: int) -> bool:
            return self.excludes(right, made, canaries, above, error)

        if made <= 0 or not shown(made):
            return math.inf
        low, high = 0, made  # low fails, high succeeds
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if shown(middle) else (middle, high)
        return self.reached(_chance(high, made), made, canaries)


def _chance(right: int, guesses: int) -> float:
    """The probability of a right guess with which so many are right with probability 0.9."""
    return float(betaincinv(right, guesses - right + 1, POWER))


def steps_of(weight: Weight, counts: Counts) -> list[tuple[int, float]]:
    """Return the steps: numbers of guesses, and the values up to which they are tried.

    Raises:
        ValueError: if the weight is not that of steps.
    """
    if weight is None:
        return [(sum(guesses_of(counts)), LAST)]
    if not isinstance(weight, Sequence) or not weight or len(weight) % 2 or counts.bins is None:
        raise ValueError("steps are numbers of guesses, each with the value up to which it is tried, and need bins")
    made, ends = [int(each) for each in weight[::2]], [float(each) for each in weight[1::2]]
    if list(weight[::2]) != made or min(made) < 1 or ends != sorted(set(ends)) or not 0 < ends[0] <= ends[-1] == LAST:
        raise ValueError(f"steps have whole numbers of guesses, and values that rise to {LAST:g}")
    return list(zip(made, ends, strict=True))


def split_guesses(guesses: int) -> tuple[int, int]:
    """Return how many of the highest scores are guessed in, and how many of the lowest out."""
    return guesses - guesses // 2, guesses // 2


def right_guesses(counts: Counts, guesses: int) -> int:
    """Return how many guesses about the ranks at both ends were right.

    Raises:
        ValueError: if no bins of the counts end there.
    """
    if counts.bins is None:
        return guesses_of(counts)[0]
    inside, outside = (np.concatenate([[0], np.cumsum(bins)]) for bins in counts.bins)
    high, low = split_guesses(guesses)
    ends = inside + outside
    at = [int(np.searchsorted(ends, place)) for place in (high, int(ends[-1]) - low)]
    if any(i >= len(ends) or ends[i] != place for i, place in zip(at, (high, ends[-1] - low), strict=True)):
        raise ValueError(f"the counts do not say how many of {guesses} guesses were right")
    return int(inside[at[0]] + outside[-1] - outside[at[1]])


def effective_canaries(counts: Counts) -> float:
    """Return the number of canaries that share δ, or a curve: half of them if all guesses are of one kind.

    A canary that is only ever guessed to be in can be guessed correctly for one of its two coins only.
    """
    one_kind = counts.bins is None and not (sum(counts.toward0) and sum(counts.toward1))
    return sum(counts.runs) / (2 if one_kind else 1)


# --- How large must ε be, given how many canaries of one model were guessed correctly? ---

# --- How large must ε be by the sharpest law there is? ---
#
# Each of m canaries was included by a fair coin, or left out, and r of the coins are guessed from the model alone; r is
# fixed beforehand. Let W be the right guesses and B ~ Binomial(r, e^ε/(1 + e^ε)). For every mechanism that is (ε, δ)-DP
# in each canary,
#
#     P(W ≥ v) ≤ β·(1 + D·P(B < v)/(v·P(B = v))),   β = P(B ≥ v),   D = mδ, or mδ/2 if all guesses are of one kind,
#
# and some mechanism attains it (docs/one-run.md has the proof). It is never above Theorem 5.2 of Steinke, Nasr &
# Jagielski (2023), which bounds the same probability by β + 2mδ·α, α = max over i ≥ 1 of P(v > B ≥ v − i)/i.
#
# The right-hand side increases with ε, because it is the optimum of a linear programme that ε relaxes. So the values
# that a number of right guesses rules out are all those below one.

_HALVINGS_OF_EPSILON = 48  # of an interval of ε: to the last digits of a float
_TINY = 1e-280  # below this, a tail is not divided by its first term


def sharp_p_value(right: ArrayLike, guesses: ArrayLike, epsilon: ArrayLike, budget: ArrayLike) -> Floats:
    """Return the greatest probability of so many right guesses under (ε, δ)-DP (docs/one-run.md, Theorem 1).

    Args:
        right: right guesses, broadcast with the others. Need not be whole, for plans: the formula is continuous.
        guesses: how many of the canaries were guessed, fixed beforehand.
        epsilon: nats, at least 0.
        budget: mδ for m canaries, guessed or not; half of it if all guesses are "in", or all are "out".

    Returns:
        The p-value, at most 1, in the broadcast shape.
    """
    v, r, eps, most = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(right, guesses, epsilon, budget))
    some = np.maximum(v, 1.0)
    chance = 1 / (1 + np.exp(-eps))
    tail, rest = betainc(some, r - some + 1, chance), betainc(r - some + 1, some, 1 / (1 + np.exp(eps)))
    log_mass = gammaln(r + 1) - gammaln(some + 1) - gammaln(r - some + 1) - r * np.logaddexp(0, eps) + some * eps
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        falling = np.exp(eps) * (r - some) / (some + 1)  # P(B = v + 1)/P(B = v); later ratios are smaller
        ratio = np.where(tail > _TINY, np.exp(np.log(tail) - log_mass), 1 / np.maximum(1 - falling, 1e-12))
        extra = np.where(most * rest > 0, most * rest * ratio / some, 0.0)  # far below the mean the tail is 1 anyway
    p_values = np.minimum(1.0, (tail + extra) * (1 + _ROUNDING))
    return np.asarray(np.where(v <= 0, 1.0, np.where(v > r, 0.0, p_values)))


def sharp_bound(right: ArrayLike, guesses: ArrayLike, budget: ArrayLike, error: ArrayLike) -> Floats:
    """Return the lower bound of ε at δ, at confidence 1 − ``error``: every smaller value is ruled out.

    Args:
        right, guesses, budget: as for `sharp_p_value`.
        error: the error level.

    Returns:
        ε in nats, rounded down, in the broadcast shape; 0.0 where nothing is shown.
    """
    v, r, most, level = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(right, guesses, budget, error))
    some = np.clip(v, 1.0, np.maximum(r, 1.0))
    low = np.zeros(v.shape)
    high = np.maximum(
        logit(betaincinv(some, np.maximum(r, some) - some + 1, level)), 0.0
    )  # there, β alone is the level
    for _ in range(_HALVINGS_OF_EPSILON):
        middle = (low + high) / 2
        out = sharp_p_value(v, r, middle, most) <= level
        low, high = np.where(out, middle, low), np.where(out, high, middle)
    shown = (v > 0) & (v <= r) & (sharp_p_value(v, r, 0.0, most) <= level)
    return np.asarray(np.where(shown, low, 0.0))


def is_limited_by_delta(canaries: int, claim: float, delta: float) -> bool:
    """Return whether δ, rather than too few canaries, keeps the p-value of all-correct guesses from falling.

    Args:
        canaries: m.
        claim: ε in nats.
        delta: probability.

    Returns:
        Whether δ more than doubles the p-value of m right guesses.
    """
    with_delta, without = (float(sharp_p_value(canaries, canaries, claim, canaries * at)) for at in (delta, 0.0))
    return with_delta > 2 * without


class SharpOneRun(StepsBound):
    """ε at a δ, by guesses about the canaries of one model."""

    parameter = "epsilon"

    def bounds(self, right: Floats, guesses: Floats, canaries: float, claim: Claim, error: float) -> Floats:
        """Return the ε below which everything is ruled out; arguments as for `StepsBound.bounds`."""
        return sharp_bound(right, guesses, canaries * claim.delta, error)

    def excludes(self, right: int, guesses: int, canaries: float, claim: Claim, error: float) -> bool:
        """Return whether so many right guesses rule out the claim itself."""
        return float(sharp_p_value(right, guesses, claim.value, canaries * claim.delta)) <= error

    def reached(self, chance: float, guesses: int, canaries: float) -> float:
        """Return logit(chance): the most that (ε, 0)-DP allows is e^ε/(1 + e^ε)."""
        return float(logit(chance))


# --- How large must μ be, given how many canaries of one model were guessed correctly? ---
#
# Each of m canaries was included by a fair coin, or left out, and r of the coins are guessed from the model alone; r is
# fixed beforehand. Let W be the right guesses, T_k = P(W ≥ k), S_k = T_{k+1} + T_{k+2} + …, and m' = m, or m/2 if all
# guesses are of one kind. If telling whether a canary was in is no easier than telling N(μ, 1) from N(0, 1) (Dong, Roth
# & Su 2022), then for k = r, …, 1
#
#     T_{k−1} ≥ max(T_k, (m'·Φ(Φ⁻¹(A_k/m') − μ) + S_k + T_k)/(r − k + 1)),   A_k = k·T_k + S_k
#
# (the recursion of Mahloujifar, Melis & Chaudhuri 2025, "Auditing f-differential privacy in one run", for all guesses
# at once; docs/one-run.md has the proof). The right-hand side increases with T_k and S_k. So the least path that starts
# with T_v = τ and S_v = 0 is below every possible one, and if it passes 1, then P(W ≥ v) ≥ τ is impossible. Once the
# path stands still it stays there: A_k no longer changes, and the fraction moves towards T_k from below.
#
# A larger μ allows more, so the values that are ruled out are all those below one.

_HALVINGS_OF_MU = 40  # of an interval of μ
_LARGEST = 40.0  # value of μ that is tried
_ROUNDING_OF_PATHS = 1e-9  # relative; larger than the rounding error of a path


def is_excluded(right: ArrayLike, guesses: ArrayLike, canaries: ArrayLike, mu: ArrayLike, error: ArrayLike) -> Booleans:
    """Return whether so many right guesses have a probability of less than ``error`` under μ-GDP.

    Args:
        right: right guesses, at least 1, broadcast with the others.
        guesses: how many of the canaries were guessed, fixed beforehand.
        canaries: m' of the module's docstring: all of them, or half of them if all guesses are of one kind.
        mu: at least 0.
        error: the error level.

    Returns:
        Booleans, in the broadcast shape (Mahloujifar, Melis & Chaudhuri 2025).
    """
    given = np.broadcast_arrays(right, guesses, canaries, mu, error)
    shape = given[0].shape
    k, r, m, shift, tail = (np.array(x, dtype=np.float64).ravel() for x in given)
    excluded = np.zeros(k.shape, dtype=bool)
    at = np.flatnonzero(k >= 1)
    k, r, m, shift, tail = (x[at] for x in (k, r, m, shift, tail))
    above = np.zeros(k.shape)
    while len(at):
        wrong = m * ndtr(ndtri(np.minimum((k * tail + above) / m, 1.0)) - shift)
        higher = (wrong + above + tail) / (r - k + 1)
        passed = higher > 1 + _ROUNDING_OF_PATHS
        excluded[at[passed]] = True
        on = ~passed & (higher > tail) & (k > 1)
        at, r, m, shift = at[on], r[on], m[on], shift[on]
        k, above, tail = k[on] - 1, (above + tail)[on], higher[on]
    return excluded.reshape(shape)


def gaussian_bound(
    right: ArrayLike, guesses: ArrayLike, canaries: ArrayLike, error: ArrayLike, *, halvings: int = _HALVINGS_OF_MU
) -> Floats:
    """Return the lower bound of μ at confidence 1 − ``error``: every smaller value is ruled out.

    Args:
        right, guesses, canaries, error: as for `is_excluded`.
        halvings: of the interval of μ; fewer give a smaller bound sooner.

    Returns:
        μ, rounded down, in the broadcast shape; 0.0 where nothing is shown.
    """
    v, r, m, level = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(right, guesses, canaries, error))
    low, high = np.zeros(v.shape), np.full(v.shape, _LARGEST)
    for _ in range(halvings):
        middle = (low + high) / 2
        out = is_excluded(v, r, m, middle, level)
        low, high = np.where(out, middle, low), np.where(out, high, middle)
    return low


class GaussianOneRun(StepsBound):
    """μ of a Gaussian claim, by guesses about the canaries of one model."""

    parameter = "mu"

    def bounds(self, right: Floats, guesses: Floats, canaries: float, claim: Claim, error: float) -> Floats:
        """Return the μ below which everything is ruled out; arguments as for `StepsBound.bounds`."""
        return gaussian_bound(right, guesses, canaries, error)

    def excludes(self, right: int, guesses: int, canaries: float, claim: Claim, error: float) -> bool:
        """Return whether so many right guesses rule out the claim itself."""
        return bool(is_excluded(right, guesses, canaries, claim.value, error))

    def reached(self, chance: float, guesses: int, canaries: float) -> float:
        """Return the μ at which an attack on independent Gaussian scores guesses correctly with this probability."""
        right_rate, missed = guesses * chance / canaries, guesses * (1 - chance) / canaries
        return float(ndtri(right_rate) - ndtri(missed)) if right_rate < 1 else np.inf
