"""How large must ε be, given how often an attacker guessed the side right?

The attacker guesses or abstains. Under ε-DP a guess is right with probability at most e^ε/(1 + e^ε), whatever the event
(Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015): so it is on average over fair coins that pick the sides, and
`guess_bound` is one binomial bound, exact at every n, without nuisance parameters. Earlier audits used it.

`guess_bound_given_sides` needs no coins: it holds given how many runs, and how many guesses, there were of each side.
Let u and v be the probabilities that a guess on side 0, and on side 1, is right. Of G₀ and G₁ guesses Bin(G₀, u) and
Bin(G₁, v) are right, independently. With odds(u) = p₁/p₂ and odds(v) = q₂/q₁ for the probabilities of guessing 0 and 1
on each side, ε-DP says p₁ ≤ e^ε·q₁ and q₂ ≤ e^ε·p₂, hence logit u + logit v ≤ 2ε. With t = tanh(ε/2), r = √G₀, s = √G₁
the mean G₀u + G₁v is then at most

    M(ε) = (r² + s²)/2 + ((r + s)²·t + (r − s)²/t)/4        where t ≥ |r − s|/(r + s), else max(G₀, G₁):

at u = σ(ε + y), v = σ(ε − y), the derivative G₀σ'(ε + y) − G₁σ'(ε − y) has the sign of something that falls in y, since
σ' is log-concave and even, and it vanishes at tanh(y/2) = (r − s)/((r + s)·t). M rises with ε. A sum of coins with
mean M' ≤ M is at least k with a probability of at most P(Bin(G₀ + G₁, M/(G₀ + G₁)) ≥ k) where k ≥ M + 1 (Hoeffding
1956, Theorem 5). Where both sides guess equally often, M is the binomial's own mean, and nothing is lost.
Pure DP only, both of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from dpaudit.stats.clopper_pearson import probability_at_least

Floats = np.ndarray[Any, np.dtype[np.float64]]


def guess_bound(right: ArrayLike, wrong: ArrayLike, error: ArrayLike) -> Floats:
    """Return the lower bound of ε, at confidence 1 − ``error``; 0 where nothing is shown.

    Args:
        right, wrong: numbers of right and wrong guesses, broadcast. The sides must come from a fair coin.
        error: the error level.

    With no wrong guess at all it is logit(error^(1/right)): "at least so much", never infinity.
    """
    a, b = np.asarray(right, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    least = probability_at_least(a, a + b, error)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(0.0, np.log(least) - np.log1p(-least)))


def guess_bound_given_sides(right: ArrayLike, guesses0: ArrayLike, guesses1: ArrayLike, error: ArrayLike) -> Floats:
    """Return the lower bound of ε at confidence 1 − ``error``, whatever the sides are; 0 where nothing is shown.

    Args:
        right: right guesses of both sides together, broadcast with the others.
        guesses0, guesses1: how many guesses were made on side 0 and on side 1.
        error: the error level.
    """
    k, g0, g1 = (np.asarray(each, dtype=np.float64) for each in np.broadcast_arrays(right, guesses0, guesses1))
    total = g0 + g1
    mean = np.minimum(total * probability_at_least(k, total, error), k - 1)  # the largest that is not ruled out
    apart, reach = np.abs(g0 - g1), (np.sqrt(g0) + np.sqrt(g1)) ** 2
    excess = 4 * mean - 2 * total
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (excess + np.sqrt(excess**2 - 4 * apart**2)) / (2 * reach)
        found = np.log1p(t) - np.log1p(-t)
    return np.asarray(np.where((excess > 0) & (excess >= 2 * apart), np.maximum(found, 0.0), 0.0))


def detectable_guess(guesses: int | tuple[int, int], claim: float, error: float, power: float = 0.9) -> float:
    """Return the least ε that ``guesses`` guesses would show to exceed ``claim`` with probability ``power``.

    Two numbers are the guesses of each side, bounded given these; one is that of all, with sides by fair coins.

    k* is the least number of right guesses whose bound exceeds the claim; the answer is the least ε with
    P(Bin(guesses, e^ε/(1 + e^ε)) ≥ k*) ≥ power; ∞ where no number of right guesses suffices.
    """
    total = guesses if isinstance(guesses, int) else sum(guesses)

    def shown(right: int) -> bool:
        if isinstance(guesses, int):
            return bool(guess_bound(right, total - right, error) > claim)
        return bool(guess_bound_given_sides(right, *guesses, error) > claim)

    if total <= 0 or not shown(total):
        return np.inf
    low, high = 0, total  # the bound is increasing in the right guesses: low fails, high succeeds
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    # P(Bin(n, p) ≥ k) = I_p(k, n − k + 1)
    chance = float(betaincinv(high, total - high + 1, power))
    return float(np.log(chance) - np.log1p(-chance)) if chance < 1 else np.inf
