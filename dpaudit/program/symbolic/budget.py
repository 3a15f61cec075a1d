"""How long may a program be read and proved? A budget of time, looked at wherever something is done again and again.

What takes too long ends with a sentence that names what was too large. There is no half result: what a proof says
never hangs on how fast a machine is.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from dpaudit.errors import UsageError

SECONDS = 60.0


class TimeUpError(BaseException):
    """The budget is used up; no ``except Exception`` of a program may swallow it."""


@dataclass(slots=True)
class TimeBudget:
    """What is left of a budget, and what it was spent on.

    Attributes:
        seconds: in all.
        ends: when the clock shows this.
        doing: what is being done.
        paths: how many were read; for an enumeration, how many ways were followed.
        branches: how many new branches each line of the program made.
    """

    seconds: float
    ends: float
    doing: str = "reading it"
    paths: int = 0
    branches: Counter[str] = field(default_factory=Counter)

    def told(self, name: str) -> str:
        """Return the sentence for a budget that is used up."""
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
    """Allow what is done inside only so many seconds (None: any number), for a program that goes by a name.

    Raises:
        UsageError: where they are over.
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
        raise UsageError(budget.told(name)) from None
    finally:
        _BUDGET.reset(token)


def spend() -> None:
    """Look at the clock."""
    budget = _BUDGET.get()
    if budget is not None and time.monotonic() > budget.ends:
        raise TimeUpError


def now(doing: str) -> None:
    """Say what is being done from here on, to follow 'they were over while'."""
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
