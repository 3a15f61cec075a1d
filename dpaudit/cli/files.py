"""What goes into a command, and what comes out? Files read and written, and messages on standard error."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.targets.mechanism import Mechanism

# --- Which files does a command read, and where do its results go? ---------------------------------------


def read_evidence(name: str) -> Evidence:
    """Read an evidence file, or the evidence embedded in a page."""
    from dpaudit.evidence.canonical_json import read_text

    return evidence_in(read_text(name), name)


def evidence_in(text: str, name: str) -> Evidence:
    """Return the evidence that a text is, or that is embedded in a page; ``name`` is for errors."""
    from dpaudit.errors import UsageError
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.report import evidence_from_page

    if not text.lstrip().startswith("<"):
        return Evidence.from_json(text, name=name)
    try:
        return evidence_from_page(text)
    except UsageError as error:
        raise UsageError(f"cannot read {name!r}: {error}") from None


def loaded(target: str, options: Mapping[str, Any]) -> tuple[Mechanism, dict[str, Any]]:
    """Return a target, and the options with what the files hold that ``pairs``, ``data`` and ``domain`` name."""
    from dpaudit.loading import load
    from dpaudit.neighbours.data_files import with_tables

    # a target may change the working directory
    named = [Path(name).absolute() for name in options.get("pairs", ())]
    data = None if options.get("data") is None else str(Path(options["data"]).absolute())
    given = dict(options)
    if "parameters" in options:
        given["parameters"] = with_tables(options["parameters"])
    mechanism = load(target)
    if "pairs" in options:
        given["pairs"] = _pairs_in(named, mechanism, given["parameters"], options["relation"]) if named else None
    if "data" in options:
        given["data"] = dataset_in(data)
    if "domain" in options:
        given["domain"] = domain_of(options["domain"])
    return mechanism, given


def digests_of(files: Sequence[str], relation: str) -> list[tuple[str, str]] | None:
    """Return digests of the pairs in files, None if there are none; the relation tells one pair from several."""
    if not files:
        return None
    from dpaudit.neighbours.data_files import read_pairs
    from dpaudit.neighbours.digest import digest
    from dpaudit.neighbours.relation import neighbouring

    return [(digest(data0), digest(data1)) for data0, data1 in read_pairs(files, neighbouring(relation))]


def dataset_in(name: str | None) -> Any:
    """Read a dataset, or return None if none is named."""
    if name is None:
        return None
    from dpaudit.neighbours.data_files import read_dataset

    return read_dataset(Path(name).absolute())


def domain_of(texts: Sequence[str]) -> Any:
    """Read the domain of records, or return None if none is given."""
    if not texts:
        return None
    from dpaudit.neighbours.domain import read_domain

    return read_domain(texts)


def _pairs_in(
    files: list[Path], mechanism: Mechanism, parameters: dict[str, Any], relation: str | None
) -> list[tuple[Any, Any]]:
    """Read the pairs in files; the relation (by default the mechanism's own) tells one pair from several."""
    from dpaudit.neighbours.data_files import read_pairs
    from dpaudit.neighbours.relation import neighbouring

    said = relation or mechanism.relation_for(mechanism.parameters_with(parameters))
    return read_pairs(files, neighbouring(said))


def checked_evidence(name: str) -> Evidence:
    """Read evidence and check it, since a summary or a page would not show that a check fails."""
    from dpaudit.errors import UsageError

    evidence = read_evidence(name)
    why = failing_check(evidence)
    if why:
        raise UsageError(
            f"{name!r} fails its check, so nothing is drawn of it: {why}; dpaudit check {shlex.quote(name)} says all"
        )
    return evidence


def failing_check(evidence: Evidence) -> str:
    """Return what fails in a check of evidence, or an empty text."""
    from dpaudit.review.check import TOO_MANY, check

    for finding in check(evidence, second=False):
        if finding.fails or finding.what == TOO_MANY:
            return f"{finding.what}: {finding.sentence}"
    return ""


# --- Where do the results of a command go? Files that are replaced whole, or standard output. ---


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


# --- What is printed while a command works? --------------------------------------------------------------


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
        told = f"about {duration(left)} to go, for {total - done:,} runs at {_seconds_text(each)} each"
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


def _seconds_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
