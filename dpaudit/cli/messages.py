"""What is printed while a command works? Progress, notices, and what the target prints: all on standard error."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO, Any

import click


def is_terminal(stream: IO[str]) -> bool:
    """Whether somebody looks at a stream on a terminal, and not at a notebook, which keeps all that is printed."""
    return stream.isatty() and "JPY_PARENT_PID" not in os.environ


@contextlib.contextmanager
def prints_to_standard_error() -> Iterator[None]:
    """Redirect everything that a mechanism prints, in this process, in workers or from C, to standard error."""
    with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            kept = os.dup(1)
            stack.callback(_put_back, kept)
            os.dup2(2, 1)
        yield


def _put_back(kept: int) -> None:
    with contextlib.suppress(OSError):  # a mechanism may have closed it
        os.dup2(kept, 1)
        os.close(kept)


@contextlib.contextmanager
def _notices() -> Iterator[None]:
    """Print warnings that something is done differently from the request, one line each, on standard error."""
    import warnings

    from dpaudit.errors import Notice

    with warnings.catch_warnings():
        warnings.simplefilter("always", Notice)
        shown = warnings.showwarning

        def say(message: Warning | str, category: type[Warning], *rest: Any, **further: Any) -> None:
            if issubclass(category, Notice):
                click.echo(f"dpaudit: {message}", err=True)
            else:
                shown(message, category, *rest, **further)

        warnings.showwarning = say
        yield


@contextlib.contextmanager
def at_work(quiet: bool, *, estimate: bool = True) -> Iterator[Callable[[str, int, int], None] | None]:
    """Keep what a target prints apart from results, print notices, and yield a listener that shows progress."""
    with prints_to_standard_error(), _notices(), _progress(quiet, estimate=estimate) as listen:
        yield listen


@contextlib.contextmanager
def _progress(quiet: bool, *, estimate: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show a progress bar on a terminal, and everywhere a line that says how long a long audit will take."""
    terminal = is_terminal(sys.stderr)
    if quiet or not (terminal or estimate):
        yield None
        return
    estimator = Estimator()

    def foresee(stage: str, done: int, total: int) -> str | None:
        return estimator.update(stage, done, total) if estimate else None

    if not terminal:
        yield lambda stage, done, total: _say(foresee(stage, done, total))
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:>9}"),
        BarColumn(),
        TextColumn("{task.completed:,} runs"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def hear(stage: str, done: int, total: int) -> None:
            said = foresee(stage, done, total)
            if said is not None:
                bar.console.print(said, highlight=False)
            bar.update(task, description=stage, completed=done, total=total)

        yield hear


def _say(text: str | None) -> None:
    if text is not None:
        click.echo(text, err=True)


# --- How long will it take? An estimate, if it will take long. ---


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
