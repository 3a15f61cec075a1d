"""What is printed while a command works? Progress, notices, and what the target prints: all on standard error."""

from __future__ import annotations

import contextlib
import os
import sys
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
    from dpaudit.cli.eta import Estimator

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
