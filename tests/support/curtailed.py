"""Does something happen too often, or too rarely? Trials are made until the rest cannot change the answer.

Curtailing does not change the answer: it is that of an exact binomial test with all trials, but takes fewer of them.
"""

from __future__ import annotations

from collections.abc import Callable

from scipy.stats import binom


def at_most(trial: Callable[[int], bool], trials: int, rate: float, p_value: float) -> bool:
    """Whether trials 0, 1, … succeed so rarely that a success rate of ``rate`` is not rejected."""
    # the smallest number of successes with a probability of at most `p_value` is one too many
    limit = int(binom.isf(p_value, trials, rate))
    return _successes_within(trial, trials, limit)


def at_least(trial: Callable[[int], bool], trials: int, rate: float, p_value: float) -> bool:
    """Whether trials 0, 1, … succeed so often that a success rate of ``rate`` is not rejected."""
    return at_most(lambda number: not trial(number), trials, 1 - rate, p_value)


def _successes_within(trial: Callable[[int], bool], trials: int, limit: int) -> bool:
    found = 0
    for number in range(trials):
        found += trial(number)
        if found > limit or found + trials - 1 - number <= limit:
            break
    return found <= limit
