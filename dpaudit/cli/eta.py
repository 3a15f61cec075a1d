"""How long will it take? An estimate, if it will take long.

The first runs are slow: modules are loaded, code is compiled, small blocks are made. So the speed is that of a second
span of time, after one that seems to say that it will take long.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_LOOK, _LONG = 2.0, 20.0  # seconds: when the estimate is made, and the remaining time from which it is worth printing
_VERY_LONG = 600.0  # seconds, from which on another way is told
_FEW = 3  # runs; fewer give no estimate
NOT_RUNS = ("resumed", "sensitivity", "candidates")  # stages without runs


class Estimator:
    """Listens to the progress of an audit and measures its speed, starting with the first call of `hear`."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._since: float | None = None
        self._from = 0
        self._warm = False  # whether the first span of time is over
        self._stage = ""
        self._said = False

    def update(self, stage: str, done: int, total: int) -> str | None:
        """Return the estimate as a sentence, once, when it is due and the rest takes long; else None."""
        now = self._clock()
        other = stage != self._stage and self._stage not in NOT_RUNS  # between them anything may take time
        if stage in NOT_RUNS or self._since is None or other:
            self._since, self._from, self._stage, self._warm = now, done, stage, False
            return None
        made, spent = done - self._from, now - self._since
        if self._said or made < _FEW or spent < _LOOK or total <= done:
            return None
        each = spent / made
        left = each * (total - done)
        if left >= _LONG and not self._warm:
            self._since, self._from, self._warm = now, done, True
            return None
        self._said = True
        if left < _LONG:
            return None
        told = f"about {duration(left)} to go, for {total - done:,} runs at {_each(each)} each"
        return told if left < _VERY_LONG else f"{told}; --time-budget 60 looks with as many as fit into a minute"


def duration(seconds: float) -> str:
    """Return a duration in words with two digits, such as "4.2 minutes"."""
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(max(seconds, 0.1))} seconds"


def _digits(value: float) -> str:
    """Return two digits, and all of a whole number."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def _each(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
