"""Which interval holds the loss of one frozen event, given these counts?

A lower bound says how much an event certainly reveals; to say that it reveals more than before, one needs to know how
much it revealed at most. The upper end mirrors the lower one: with the sides (or right and wrong guesses) exchanged,
the same regions bound p from above and q from below, and a quantity that increases in p and decreases in q is at most
its largest value over the corners. Both ends are exact at every number of runs; each uses half of the error level.

The loss of an event is the quantity that its bound is about: for guesses logit P(right | guessed), given sides the mean
of it over both sides, and for others the claim's `least` at the probabilities of the event. It is part of the loss of
the mechanism, but seldom all of it: an upper end says nothing about other events, and so never that something is
private.
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
    """Return (low, high) of an event's loss, in the unit of the claim's parameter, at confidence 1 − ``error``.

    Args:
        method: the bound's method (`lower_bound`), fixed before measuring.
        counts: of fresh runs.
        claim: the notion with its δ or order; its own value is not used.
        weight: w₁ of a joint bound.
        error: 1 − confidence; each end uses half of it.

    Returns:
        Both ends; the upper one is infinity if the counts leave any loss possible.

    Raises:
        ValueError: if the method has no interval.
        ArithmeticError: if an end is not a number.
    """
    low = lower_bound(method, counts, claim=claim, weight=weight, error=error / 2)
    high = method_of(method).computed.upper(counts, claim, weight, error / 2)
    if math.isnan(low) or math.isnan(high):
        raise ArithmeticError(f"the loss of {counts} is not a number")
    return min(low, high), high  # if the ends cross, one of them is wrong; the smaller lower end is valid too
