"""Where do the results of a command go? Files that are replaced whole, or standard output."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence


class OutputFiles:
    """Where results go: files, or standard output for ``-``. What cannot be written is refused before any work."""

    def __init__(self, *paths: str | None, beside: Iterable[str] = (), read: Iterable[str] = ()) -> None:
        """Check where results go."""
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


class Results:
    """Where the evidence of a command goes, as ``--json``, ``--html``, ``--no-script`` and ``--quiet`` say."""

    def __init__(self, json_file: str | None, html_file: str | None, quiet: bool, *, script: bool = True) -> None:
        self._json, self._html, self._script = json_file, html_file, script
        self._outputs: OutputFiles | None = None
        self.quiet = quiet

    def check(self, *, beside: Iterable[str] = (), read: Iterable[str] = ()) -> None:
        """Refuse what cannot be written, before any work; the arguments are those of `OutputFiles`."""
        self._outputs = OutputFiles(self._json, self._html, beside=beside, read=read)

    def say(self, text: str) -> None:
        """Print a message to the user, unless nothing is to be said."""
        assert self._outputs is not None
        if not self.quiet:
            self._outputs.say(text)

    def tell(self, evidence: Evidence, require: str | None = None) -> int:
        """Write evidence and page, print a summary, and return the exit code, by what is required (`exit_code`)."""
        from dpaudit.evidence.evidence import exit_code

        outputs = self._outputs
        assert outputs is not None
        if self._json is not None:
            outputs.write(self._json, evidence.to_json())
        if self._html is not None:
            from dpaudit.report import html_page

            outputs.write(self._html, html_page(evidence, script=self._script))
        if not self.quiet:
            from dpaudit.report import console_summary

            self.say(console_summary(evidence, colour=outputs.colour))
            for label, path in (("evidence", self._json), ("page", self._html)):
                if path not in (None, "-"):
                    self.say(f"  {label:<13}{path}\n")
        return exit_code(evidence, require)


no_script = click.option(
    "--no-script", "script", flag_value=False, default=True, help="A page without the script that checks its proof."
)
"""The option of commands that write pages of proofs."""


def results(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options ``--json``, ``--html`` and ``--quiet``, which the command is given as ``to``.

    A command that proves has `no_script` besides.
    """

    @click.option("--json", "json_file", metavar="FILE", help="Write the evidence ('-': standard output).")
    @click.option("--html", "html_file", metavar="FILE", help="Write the report ('-': standard output).")
    @click.option("--quiet", is_flag=True, help="No progress and no summary.")
    @functools.wraps(command)
    def typed(
        *args: Any, json_file: str | None, html_file: str | None, quiet: bool, script: bool = True, **options: Any
    ) -> int:
        return command(*args, to=Results(json_file, html_file, quiet, script=script), **options)

    return typed


def leave_standard_output() -> None:
    """Prevent Python from failing at exit because standard output is closed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
