"""How many canaries of one model are guessed, at which values of a claim's parameter?

A test at one value may err only if the mechanism really keeps that value. So each value may be tested by another number
of guesses, all at the same error level: the values at which the test does not reject contain the true one with
probability 1 − error, and the bound is the least of them. One must therefore walk upwards and stop at the first value
that is not ruled out. The highest value that is ruled out by its own test would be no bound: a mechanism that keeps a
small value keeps every larger one, so every test above it could err as well.

A *step* is a number of guesses and the value up to which it is tried. Steps are fixed before the scores are looked at
(`dpaudit.auditing.scores.guess_plan`). The counts are those of the blocks of ranks between all the places where some
number of guesses ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from scipy.special import betaincinv

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.event_bound import POWER, EventBound, Weight, guesses_of

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
        found, start = self.bounds(right, made, effective_canaries(counts), claim, error), 0.0
        for value, (guesses, end) in zip(found, steps, strict=True):
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
