"""How much work may reading and proving a program be? A number of steps, which every long loop counts.

Steps are the same on every machine, so that what a proof says never depends on how fast it is, or how busy. A user may
limit the seconds, too. If either is used up before there is a proof, the error names what was too large, and there are
no partial results. What is only looked for beside a proof, a counterexample, has a budget of its own: where that is
used up, the proof stays.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from dpaudit.errors import UsageError


class SpentError(BaseException):
    """The budget is used up; no ``except Exception`` of a program may swallow it."""


@dataclass(slots=True)
class Budget:
    """A budget, and what it was spent on."""

    steps: int | None  # in total, each about ten microseconds of work; None for no limit
    seconds: float | None  # in total; None for no limit
    ends: float | None  # when the seconds end, on the monotonic clock
    used: int = 0  # how many steps were counted
    doing: str = "reading it"  # the current activity
    paths: int = 0  # how many were read; for an enumeration, how many traces were followed
    branches: Counter[str] = field(default_factory=Counter)  # how many new branches each line of the program made

    def count(self, steps: int) -> None:
        """Count steps; raise `SpentError` if there are too many, or the seconds are over."""
        self.used += steps
        if self.is_over_steps or (self.ends is not None and time.monotonic() > self.ends):
            raise SpentError

    @property
    def is_over_steps(self) -> bool:
        """Whether more steps were counted than there may be."""
        return self.steps is not None and self.used > self.steps

    def message(self, name: str) -> str:
        """Return the error message for a budget that is used up."""
        limit = f"{self.steps:,} steps" if self.is_over_steps else f"{self.seconds:g} s"
        option = "steps=, --steps" if self.is_over_steps else "time_budget=, --time-budget"
        text = f"{name} is too large for {limit}: they were over while {self.doing}"
        if self.paths:
            text += f", {self.paths:,} paths so far"
        if self.branches:
            line, times = self.branches.most_common(1)[0]
            text += f"; the line that keeps branching is {line}, {times:,} of {self.branches.total():,} branches"
        return (
            f"{text}. Take fewer answers or a smaller domain, write a maximum as noise.argmax(values), which is one "
            f"branch, or allow more ({option})"
        )


_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budget(steps: int | None, seconds: float | None, name: str) -> Iterator[None]:
    """Limit the work inside to so many steps, and seconds.

    Args:
        steps: None for no limit.
        seconds: None for no limit.
        name: of the program, for the message.

    Raises:
        UsageError: when either is used up.
    """
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 1):
        raise UsageError(f"steps is a whole number above 0, not {steps!r}")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0):
        raise UsageError(f"a time budget is a number of seconds above 0, not {seconds!r}")
    limits = Budget(steps, seconds, None if seconds is None else time.monotonic() + seconds)
    token = _BUDGET.set(limits)
    try:
        yield
    except SpentError:
        raise UsageError(limits.message(name)) from None
    finally:
        _BUDGET.reset(token)


@contextmanager
def beside() -> Iterator[None]:
    """Do something that a proof does not need, with as many steps again: where they are used up, it is left."""
    limits = _BUDGET.get()
    if limits is None:
        yield
        return
    token = _BUDGET.set(Budget(limits.steps, limits.seconds, limits.ends))
    try:
        yield
    except SpentError:
        pass
    finally:
        _BUDGET.reset(token)


def spend(steps: int = 1) -> None:
    """Count steps of the budget; raise `SpentError` if it is used up."""
    limits = _BUDGET.get()
    if limits is not None:
        limits.count(steps)


def now(doing: str) -> None:
    """Name the current activity; the error message completes 'they were over while' with it."""
    limits = _BUDGET.get()
    if limits is not None:
        limits.doing = doing
    spend()


def count_path() -> None:
    """Count a path."""
    limits = _BUDGET.get()
    if limits is not None:
        limits.paths += 1
    spend(5)


def count_branch(line: str) -> None:
    """Count a new branch that a line of the program makes."""
    limits = _BUDGET.get()
    if limits is not None:
        limits.branches[line] += 1
