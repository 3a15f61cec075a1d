"""Between which two numbers does the loss of one frozen event lie, given these counts?

A lower bound says how much an event certainly tells; to say that it tells more than it did, one needs to know how
much it told at most. The upper end is the lower one in a mirror: with the sides (or right and wrong guesses) in each
other's place the same regions bound p from above and q from below, and what increases in p and decreases in q is at
most its largest value over the corners. Both ends are exact at every number of runs; each takes half of the error.

The loss of an event is what its own kind of bound is about: for a guess logit P(right | guessed), given sides the mean
of it over both sides, and the claim's `least` at the probabilities of the event for the others. It is a loss of the
mechanism too, but seldom all of it: an upper end says nothing of other events, and so never that something is private.
"""

from __future__ import annotations

import math

from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.methods import method_of
from dpaudit.stats.statement import lower_bound


def loss_interval(
    method: str, counts: Counts, *, claim: Claim, weight: float | None, error: float
) -> tuple[float, float]:
    """Return (low, high) of an event's loss, in the claim's parameter, at confidence 1 − ``error``.

    Args:
        method: the bound's method (`lower_bound`), fixed before measuring.
        counts: what was measured on fresh runs.
        claim: the notion with its δ or order; its own value is not used.
        weight: w₁ of a joint bound.
        error: 1 − confidence; half of it for each end.

    The upper end is ∞ where the counts leave any loss possible.
    """
    low = lower_bound(method, counts, claim=claim, weight=weight, error=error / 2)
    high = method_of(method).computed.upper(counts, claim, weight, error / 2)
    if math.isnan(low) or math.isnan(high):
        raise ArithmeticError(f"the loss of {counts} is not a number")
    return min(low, high), high  # where the ends cross, one of them is wrong; the weaker lower end is no less true
