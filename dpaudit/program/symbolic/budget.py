"""How long may reading and proving a program take? A time budget, which every long loop checks.

If the time is up, the error names what was too large. There are no partial results, so what a proof says never depends
on the speed of the machine.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from dpaudit.errors import UsageError

SECONDS = 60.0  # by default: about as long as anybody waits


class TimeUpError(BaseException):
    """The budget is used up; no ``except Exception`` of a program may swallow it."""


@dataclass(slots=True)
class TimeBudget:
    """A time budget, and what it was spent on.

    Attributes:
        seconds: in total.
        ends: when it ends, on the monotonic clock.
        doing: the current activity.
        paths: how many were read; for an enumeration, how many traces were followed.
        branches: how many new branches each line of the program made.
    """

    seconds: float
    ends: float
    doing: str = "reading it"
    paths: int = 0
    branches: Counter[str] = field(default_factory=Counter)

    def message(self, name: str) -> str:
        """Return the error message for a budget that is used up."""
        text = f"{name} is too large for {self.seconds:g} s: they were over while {self.doing}"
        if self.paths:
            text += f", {self.paths:,} paths so far"
        if self.branches:
            line, times = self.branches.most_common(1)[0]
            text += f"; the line that keeps branching is {line}, {times:,} of {self.branches.total():,} branches"
        return (
            f"{text}. Take fewer answers or a smaller domain, write a maximum as noise.argmax(values), which is one "
            "branch, or allow more (time_budget=, --time-budget)"
        )


_BUDGET: ContextVar[TimeBudget | None] = ContextVar("budget", default=None)


@contextmanager
def time_budget(seconds: float | None, name: str) -> Iterator[None]:
    """Limit the time spent inside to ``seconds`` (None: no limit); ``name`` is the program's, for the message.

    Raises:
        UsageError: when the time is up.
    """
    if seconds is None:
        yield
        return
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise UsageError(f"a time budget is a number of seconds above 0, not {seconds!r}")
    budget = TimeBudget(seconds, time.monotonic() + seconds)
    token = _BUDGET.set(budget)
    try:
        yield
    except TimeUpError:
        raise UsageError(budget.message(name)) from None
    finally:
        _BUDGET.reset(token)


def spend() -> None:
    """Raise `TimeUpError` if the time is up."""
    budget = _BUDGET.get()
    if budget is not None and time.monotonic() > budget.ends:
        raise TimeUpError


def now(doing: str) -> None:
    """Name the current activity; the error message completes 'they were over while' with it."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.doing = doing
    spend()


def count_path() -> None:
    """Count a path."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.paths += 1
    spend()


def count_branch(line: str) -> None:
    """Count a new branch that a line of the program makes."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.branches[line] += 1
