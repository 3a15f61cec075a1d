"""How large must ε be, given how often an attacker guessed the side right?

A fair coin picks the side of every run; the attacker guesses or abstains. Under ε-DP a guess is right with
probability at most e^ε/(1 + e^ε), whatever the event (Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015),
so one binomial bound says it all: exact at every n, no nuisance parameter. Pure DP only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from dpaudit.bounds.binomial import probability_at_least

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


def detectable_guess(guesses: int, claim: float, error: float, power: float = 0.9) -> float:
    """Return the least ε that ``guesses`` guesses would show to exceed ``claim`` with probability ``power``.

    k* is the least number of right guesses whose bound exceeds the claim; the answer is the least ε with
    P(Bin(guesses, e^ε/(1 + e^ε)) ≥ k*) ≥ power; ∞ where no number of right guesses suffices.
    """
    if guesses <= 0 or not guess_bound(guesses, 0, error) > claim:
        return np.inf
    low, high = 0, guesses  # the bound is increasing in the right guesses: low fails, high succeeds
    while high - low > 1:
        middle = (low + high) // 2
        if guess_bound(middle, guesses - middle, error) > claim:
            high = middle
        else:
            low = middle
    # P(Bin(n, p) ≥ k) = I_p(k, n − k + 1)
    chance = float(betaincinv(high, guesses - high + 1, power))
    return float(np.log(chance) - np.log1p(-chance)) if chance < 1 else np.inf
