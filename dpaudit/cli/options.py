"""How do commands read their options, and where do their results go?"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpaudit.request import Option, Request, default_of, options_of

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence

Command = TypeVar("Command", bound=Callable[..., Any])


class Count(click.ParamType[int]):
    """A whole number, also as 1e6 or 1_000_000."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number."""
        from decimal import Decimal, InvalidOperation

        try:
            number = Decimal(str(value))
            if not number.is_finite() or number.adjusted() > 99 or number != int(number):
                raise InvalidOperation
        except InvalidOperation:
            self.fail(f"{value!r} is no whole number; write 400000, 4e5 or 400_000", param, ctx)
        return int(number)


class RunSplit(click.ParamType[tuple[int, int]]):
    """LEARNING,MEASURING: two whole numbers of runs."""

    name = "LEARNING,MEASURING"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Split the text and read both numbers."""
        learning, comma, measuring = str(value).partition(",")
        if not comma:
            self.fail(f"{value!r} is no LEARNING,MEASURING, such as 20000,180000", param, ctx)
        return Count().convert(learning, param, ctx), Count().convert(measuring, param, ctx)


class Assignment(click.ParamType[tuple[str, Any]]):
    """NAME=VALUE, where VALUE is JSON (a number, true, a list, …) or else a text."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Split the text and read its value."""
        import json

        name, equals, text = str(value).partition("=")
        if not equals or not name.strip():
            self.fail(f"{value!r} is no NAME=VALUE, such as epsilon=0.5", param, ctx)
        try:
            return name.strip(), json.loads(text)
        except ValueError:
            return name.strip(), text


_TYPES: dict[str, Callable[[Option], Any]] = {
    "count": lambda option: Count(),
    "number": lambda option: float,
    "choice": lambda option: click.Choice(option.allowed),
    "assignment": lambda option: Assignment(),
    "split": lambda option: RunSplit(),
}
_FIRST = ("parameters", "claim", "pairs", "data", "domain", "beyond_domain", "search", "relation")  # in the help

json_option = click.option("--json", "json_file", metavar="FILE", help="Write the evidence ('-': standard output).")
html_option = click.option("--html", "html_file", metavar="FILE", help="Write the report ('-': standard output).")
quiet_option = click.option("--quiet", is_flag=True, help="No progress and no summary.")


def results(command: Command) -> Command:
    """Add the options ``--json``, ``--html`` and ``--quiet``."""
    return json_option(html_option(quiet_option(command)))


def asked(kind: type[Request], name: str, **other: Any) -> Callable[[Command], Command]:
    """Return the command line option for an option of a request; ``other`` overrides click's arguments."""
    option, usual = options_of(kind)[name], default_of(kind, name)
    flags = [option.flag or f"--{name.replace('_', '-')}", name]
    said: dict[str, Any] = {"help": option.help}
    if option.kind == "flag":
        said["is_flag"] = True
    else:
        said |= {"type": _TYPES[option.kind](option) if option.kind in _TYPES else None, "multiple": option.several}
        said["metavar"] = option.shown or ("FILE" if option.kind == "file" else None)
        said |= {} if option.several or usual is None else {"default": usual, "show_default": True}
    return click.option(*([option.short] if option.short else []), *flags, **{**said, **other})


def all_asked(kind: type[Request], **other: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Return all command line options for a kind of request; ``other`` overrides click's arguments by option name."""
    typed = [name for name, option in options_of(kind).items() if option.kind]
    order = [*(name for name in _FIRST if name in typed), *(name for name in typed if name not in _FIRST)]

    def decorated(command: Command) -> Command:
        for name in reversed(order):
            command = asked(kind, name, **other.get(name, {}))(command)
        return command

    return decorated


def merged_parameters(given: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the parameters by name; each may only be given once."""
    from dpaudit.errors import UsageError

    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the parameter {name!r} is given twice; give it once")
    return dict(given)


def read_evidence(name: str) -> Evidence:
    """Read an evidence file, or the evidence embedded in a page."""
    from dpaudit.errors import UsageError
    from dpaudit.evidence.canonical_json import read_text
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.report import evidence_from_page

    text = read_text(name)
    if not text.lstrip().startswith("<"):
        return Evidence.from_json(text, name=name)
    try:
        return evidence_from_page(text)
    except UsageError as error:
        raise UsageError(f"cannot read {name!r}: {error}") from None


class OutputFiles:
    """Where results go: files, or standard output for ``-``. What cannot be written is refused before any work."""

    def __init__(self, *paths: str | None, beside: Iterable[str] = (), read: Iterable[str] = ()) -> None:
        """Check where results go.

        Args:
            paths: as they were typed; None for those that were not.
            beside: files that are written elsewhere.
            read: files that are read, and must not be overwritten.
        """
        from dpaudit.errors import UsageError

        named = [path for path in paths if path is not None]
        self._standard = "-" in named
        # a mechanism may change the working directory
        self._places = {path: Path(path).absolute() for path in named if path != "-"}
        if named.count("-") > 1:
            raise UsageError("only one format can go to standard output ('-'); name a file for the other")
        taken: list[str] = []
        for path in (*named, *beside):
            other = next((other for other in taken if path == other or _same_file(path, other)), None)
            if other is not None:
                how = f"{path!r}" if path == other else f"{path!r} and {other!r} are the same"
                raise UsageError(f"two formats cannot go to one file: {how}; name two files")
            taken.append(path)
        for path in taken:
            if any(_same_file(path, file) for file in read):
                raise UsageError(f"{path!r} is read, and would be overwritten; name another file for the result")
        for path, place in self._places.items():
            why = _unwritable(place)
            if why:
                raise UsageError(f"cannot write {path!r}: {why}")

    def write(self, path: str, text: str) -> None:
        """Write a result atomically."""
        from dpaudit.evidence.canonical_json import write_whole

        if path != "-":
            write_whole(self._places[path], text)
        elif hasattr(sys.stdout, "buffer"):
            _echo(text.encode("utf-8"))  # whatever the encoding of the terminal
        else:
            _echo(text)

    @property
    def colour(self) -> bool:
        """Whether messages to the user may be coloured."""
        from dpaudit.report import wants_colour

        return wants_colour(sys.stderr if self._standard else sys.stdout)

    def say(self, text: str) -> None:
        """Print a message to the user: on standard error if standard output contains a result."""
        _echo(text, err=self._standard)


def tell(evidence: Evidence, outputs: OutputFiles, json_file: str | None, html_file: str | None, quiet: bool) -> int:
    """Write the evidence and its page, print a summary, and return the exit code.

    Args:
        evidence: the evidence.
        outputs: where results go.
        json_file: for the evidence, or None.
        html_file: for the page, or None.
        quiet: print no summary.
    """
    if json_file is not None:
        outputs.write(json_file, evidence.to_json())
    if html_file is not None:
        from dpaudit.report import html_page

        outputs.write(html_file, html_page(evidence))
    if not quiet:
        from dpaudit.report import console_summary

        outputs.say(console_summary(evidence, colour=outputs.colour))
        for label, path in (("evidence", json_file), ("page", html_file)):
            if path not in (None, "-"):
                outputs.say(f"  {label:<13}{path}\n")
    return evidence.verdict.exit_code


def _echo(text: str | bytes, *, err: bool = False) -> None:
    from dpaudit.errors import UsageError

    try:
        click.echo(text, nl=False, err=err)
    except BrokenPipeError:
        raise
    except OSError as error:
        leave_standard_output()
        raise UsageError(f"cannot write standard {'error' if err else 'output'}: {error.strerror}") from None


def _same_file(first: str, second: str) -> bool:
    """Whether two names refer to the same file; the null device does not count."""
    try:
        one, other = (os.fstat(1) if path == "-" else _found(path) for path in (first, second))
        if one is None or other is None:
            return "-" not in (first, second) and Path(first).resolve() == Path(second).resolve()
        return os.path.samestat(one, other) and not os.path.samestat(one, os.stat(os.devnull))
    except (OSError, ValueError, RuntimeError):  # a loop of links, a closed standard output: said when it is written
        return False


def _found(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _unwritable(place: Path) -> str | None:
    """Say why a file cannot be written, or return None if it can."""
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.stat(place)  # raises for a loop of links
        if place.is_dir():
            return "it is a folder; name a file in it"
        if place.exists() and not os.access(place, os.W_OK):
            return "permission denied"
        if place.exists() and not place.is_file():
            return None  # a device or a pipe
        folder = place.resolve().parent
        if not folder.is_dir():
            return f"there is no folder {str(folder)!r}"
        return None if os.access(folder, os.W_OK) else f"no file can be made in {str(folder)!r}"
    except (OSError, ValueError, RuntimeError) as error:  # of these the last for a loop of links
        return str(getattr(error, "strerror", None) or error)


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
def notices() -> Iterator[None]:
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
def progress(quiet: bool, *, estimate: bool = True) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show a progress bar on a terminal, and everywhere a line that says how long a long audit will take.

    ``estimate`` is False if a time budget was given, from which the number of runs follows.
    """
    terminal = sys.stderr.isatty()
    if quiet or not (terminal or estimate):
        yield None
        return
    from dpaudit.cli.eta import Pace

    pace = Pace()

    def foresee(stage: str, done: int, total: int) -> str | None:
        return pace.hear(stage, done, total) if estimate else None

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


def leave_standard_output() -> None:
    """Prevent Python from failing at exit because standard output is closed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
