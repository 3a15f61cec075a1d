"""Does something happen too often, or too seldom, in so many trials? Asked until the rest cannot change the answer.

Stopping there changes no answer: it is that of all trials, by an exact binomial test, and takes fewer of them.
"""

from __future__ import annotations

from collections.abc import Callable

from scipy.stats import binom


def at_most(trial: Callable[[int], bool], trials: int, rate: float, p_value: float) -> bool:
    """Whether trial 0, 1, … succeeds so seldom that its rate may be as low as ``rate``."""
    # the least number of successes whose chance is at most `p_value` is one too many
    limit = int(binom.isf(p_value, trials, rate))
    return _successes_within(trial, trials, limit)


def at_least(trial: Callable[[int], bool], trials: int, rate: float, p_value: float) -> bool:
    """Whether trial 0, 1, … succeeds so often that its rate may be as high as ``rate``."""
    return at_most(lambda number: not trial(number), trials, 1 - rate, p_value)


def _successes_within(trial: Callable[[int], bool], trials: int, limit: int) -> bool:
    found = 0
    for number in range(trials):
        found += trial(number)
        if found > limit or found + trials - 1 - number <= limit:
            break
    return found <= limit
