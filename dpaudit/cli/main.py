"""Which commands are there, how are their options typed, and how do they end?

Exit codes: 0 proved, not violated or no claim; 1 only with a written VIOLATED (or with a difference, for ``check`` and
``replay``); 2 no verdict; 3 inconclusive; 4 evidence with the verdict INVALID; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import click

from dpaudit.cli.apart import OWNED, OwnFaultError, blamed_on_target
from dpaudit.cli.files import leave_standard_output
from dpaudit.decimals import read_whole
from dpaudit.request import Option, Request, default_of, options_of

# --- How are the options of a request typed on the command line? -----------------------------------------

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Count(click.ParamType[int]):
    """A whole number, also as 1e6 or 1_000_000."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number."""
        number = read_whole(value)
        if number is None:
            self.fail(f"{value!r} is no whole number; write 400000, 4e5 or 400_000", param, ctx)
        return number


class Assignment(click.ParamType[tuple[str, Any]]):
    """NAME=VALUE, where VALUE is JSON (a number, true, a list, …), a table as @FILE, or else a text."""

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
            from dpaudit.neighbours.data_files import table_name

            return name.strip(), table_name(text) if text.startswith("@") else text


_TYPES: dict[str, Callable[[Option], Any]] = {
    "count": lambda option: Count(),
    "number": lambda option: float,
    "choice": lambda option: click.Choice(option.allowed),
    "assignment": lambda option: Assignment(),
}
_FIRST = ("parameters", "claim", "pairs", "data", "domain", "beyond_domain", "search", "relation")  # in the help


def asked(kind: type[Request], name: str, **other: Any) -> Callable[[Decorated], Decorated]:
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
        said |= {"callback": _merged} if option.kind == "assignment" else {}
    return click.option(*([option.short] if option.short else []), *flags, **{**said, **other})


def all_asked(kind: type[Request], **other: Mapping[str, Any]) -> Callable[[Decorated], Decorated]:
    """Return all command line options for a kind of request; ``other`` overrides click's arguments by option name."""
    typed = [name for name, option in options_of(kind).items() if option.kind]
    order = [*(name for name in _FIRST if name in typed), *(name for name in typed if name not in _FIRST)]

    def decorated(command: Decorated) -> Decorated:
        for name in reversed(order):
            command = asked(kind, name, **other.get(name, {}))(command)
        return command

    return decorated


def _merged(ctx: click.Context, param: click.Parameter, given: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return what was assigned, by name; each name may only be given once."""
    from dpaudit.errors import UsageError

    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the parameter {name!r} is given twice; give it once")
    return dict(given)


# --- What do all commands have in common? Options in groups, each given once, and examples at the end of the help. ---

MECHANISMS = (
    *("gaussian", "noise_multiplier", "laplace", "discrete_laplace", "discrete_gaussian"),
    *("randomised_response", "exponential", "block"),
)
"""The options that say what one release is; one of them is given."""

_SECTIONS = {
    "What is released": (
        *MECHANISMS,
        *("sensitivity", "rate", "batch", "records", "batches", "epochs", "steps", "record"),
    ),
    "What is asked": (
        *(
            "parameters",
            "claim",
            "claimed",
            "norm",
            "detect",
            "error",
            "vary",
            "lengths",
            "pairs",
            "data",
            "domain",
            "given",
            "beyond_domain",
            "search",
        ),
        *("relation", "length", "delta", "epsilon", "design", "sigma", "clip", "sampling", "calibrate", "against"),
    ),
    "How it is examined": (
        *("runs", "confidence", "false_alarm", "seed", "floating_point", "sequential", "observe", "types"),
        *("curve", "learn", "candidates", "paths", "tolerance", "alone", "require", "fresh", "update_baseline"),
        *("nightly", "config_file", "target", "trust", "canaries"),
    ),
    "Limits and workers": (
        "workers",
        "block_size",
        "reading",
        "backend",
        "scheduler",
        "steps",
        "time_budget",
        "seconds",
        "resume",
        "time_limit",
        "memory_limit",
        "here",
    ),
    "What is written": (
        *(
            "json_file",
            "html_file",
            "html_to",
            "html_folder",
            "script",
            "junit",
            "sarif",
            "markdown",
            "json",
            "format_name",
            "output",
        ),
        *("compare", "context", "keep_data", "quiet"),
    ),
}
_FEW = 7  # options, up to which one list is easier to read


class Command(click.Command):
    """A command whose help has its options in groups, and which overlooks nothing that was typed.

    Attributes:
        twice: what to do instead of giving an option of one value twice.
    """

    twice = "give it once"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; an option of one value that is given twice is refused, where click takes the last."""
        _, __, order = self.make_parser(ctx).parse_args(list(args))
        for each in order:
            single = isinstance(each, click.Option) and not (each.multiple or each.is_flag)
            if single and order.count(each) > 1:
                raise click.UsageError(f"{each.opts[-1]} is given {order.count(each)} times; {self.twice}", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, in groups where there are many."""
        named = {str(each.name): each for each in self.get_params(ctx) if isinstance(each, click.Option)}
        if len(named) <= _FEW:
            super().format_options(ctx, formatter)
            return
        for title, names in _SECTIONS.items():
            self._section(ctx, formatter, title, [named.pop(name) for name in names if name in named])
        self._section(ctx, formatter, "Other options", list(named.values()))

    def _section(
        self, ctx: click.Context, formatter: click.HelpFormatter, title: str, options: list[click.Option]
    ) -> None:
        rows = [record for option in options if (record := option.get_help_record(ctx)) is not None]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def examples(*lines: str) -> str:
    """Return the end of a command's help: commands as they are typed, each perhaps with "  # a remark"."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))


# --- Which commands are there, and how do they end? ------------------------------------------------------

_GROUPS = {  # in the order of the help, which imports none of them
    "Examine a mechanism": {
        "audit": "Bound what a mechanism loses from below, by running it.",
        "trace": "Name the line where noise does not hide a change of the data.",
        "prove": "Bound what a program loses from above, or refute its claim.",
        "sensitivity": "Search for neighbours that move a query too far.",
        "compare": "Several mechanisms, or values of a parameter, side by side.",
        "plan": "How many runs find a violation of a given size?",
        "list": "The mechanisms of the catalogue, or what is known of one.",
    },
    "Examine releases and models": {
        "account": "Bound what a list of releases loses, from both sides.",
        "train": "Watch a training loop, and judge its claim by what is seen.",
        "scores": "Audit a model by scores of an attack on it.",
    },
    "Work with evidence": {
        "check": "Does evidence follow from what it holds?",
        "replay": "Run the audit or proof of evidence again.",
        "report": "Draw evidence as a summary, a page or another format.",
        "history": "How did the evidence about a target change over time?",
        "dossier": "One page about a release, from all evidence about it.",
        "explain": "What does a verdict, a rule of the gate, a finding or a term mean?",
    },
    "Guard a repository": {
        "init": "Give a project a gate.",
        "gate": "Hold every target of a project to its claim, as CI does.",
    },
}
_COMMANDS = [name for group in _GROUPS.values() for name in group]
_MODULES = {  # of `dpaudit.cli.commands`
    "examine": ("audit", "trace", "prove", "account", "train", "scores", "replay", "sensitivity"),
    "choose": ("compare", "plan", "list"),
    "evidence": ("check", "report", "history", "dossier", "explain"),
    "repository": ("init", "gate"),
}
_NO_VERDICT, _INTERRUPTED = 2, 130
_DEBUG = "DPAUDIT_DEBUG"
_COMPLETE = "_DPAUDIT_COMPLETE"


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    This process belongs to dpaudit, so targets run in other processes.
    """
    for name in ("SIGTERM", "SIGHUP"):  # end and clean up, as after an interrupt
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(getattr(signal, name), signal.default_int_handler)
    cli.main(arguments, obj=OWNED)


class _Program(click.Group):
    """The commands and their exit codes, from the shell or from Python. A command is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return _COMMANDS

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; if there is none of that name, suggest one."""
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            from dpaudit.errors import nearest

            asked = "did you mean 'dpaudit --help'?" if args[0] == "help" else nearest(args[0], _COMMANDS)
            ctx.fail(f"no command {args[0]!r}; {asked}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does, in groups."""
        for title, commands in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name not in _COMMANDS:
            return None
        home = next(module for module, names in _MODULES.items() if cmd_name in names)
        command: click.Command = getattr(importlib.import_module(f"dpaudit.cli.commands.{home}"), f"{cmd_name}_command")
        return command

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        """Read the words; help is written here."""
        with _seen_by_us():
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _seen_by_us():
            return super().invoke(ctx)

    def main(self, args: Sequence[str] | None = None, *_: Any, obj: Any = None, **__: Any) -> NoReturn:
        """Run a command and exit; ``obj`` is `OWNED` if the process belongs to dpaudit."""
        if _COMPLETE in os.environ:  # a shell asks for completions, and no command is run
            super().main(args, prog_name="dpaudit")
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # an ε that the terminal cannot show
        sys.exit(self._run(args, obj))

    def _run(self, args: Sequence[str] | None, obj: Any) -> int:
        try:
            code = super().main(args, prog_name="dpaudit", standalone_mode=False, obj=obj)
            if sys.stdout is not None:
                sys.stdout.flush()
        except (click.Abort, KeyboardInterrupt):
            _say(f"interrupted; there is no verdict; {_kept(args)}")
            return _INTERRUPTED
        except click.ClickException as error:
            error.show()
            return _NO_VERDICT
        except BaseException as error:  # no exception may lead to exit code 0 or 1
            return _report_failure(error)
        return code if isinstance(code, int) else 0


class _ReaderGoneError(Exception):
    """Who read our output has gone, as ``head`` does when it has seen enough."""


@contextlib.contextmanager
def _seen_by_us() -> Iterator[None]:
    """Hide from click that the reader has gone: it would exit with 1, which means VIOLATED."""
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGoneError from error


def _kept(args: Sequence[str] | None) -> str:
    """Say which files an interrupted command leaves behind."""
    words = list(sys.argv[1:] if args is None else args)
    file = next((after for word, after in itertools.pairwise(words) if word == "--resume"), None)
    file = file or next((word.partition("=")[2] for word in words if word.startswith("--resume=")), None)
    if file is None:
        return "nothing was kept (audit --resume FILE keeps finished blocks)"
    return f"finished blocks are kept in {file!r}, and the same command goes on from there"


def _report_failure(error: BaseException) -> int:
    """Say why there is no verdict, in a sentence; return the exit code."""
    from dpaudit.errors import InvalidRunsError, UsageError

    if isinstance(error, BrokenPipeError | _ReaderGoneError):
        leave_standard_output()
    elif isinstance(error, UsageError | InvalidRunsError):
        _say(str(error))
    else:
        blamed = blamed_on_target(error)
        if blamed is not None:
            _say(f"there is no verdict: {blamed}")
        else:
            _report_fault(error)
    return _NO_VERDICT


def _report_fault(error: BaseException) -> None:
    """Ask the user to report an error of dpaudit itself; the traceback is shown on request."""
    import traceback

    trace = str(error) if isinstance(error, OwnFaultError) else "".join(traceback.format_exception(error))
    if os.environ.get(_DEBUG):
        with contextlib.suppress(OSError, ValueError):
            click.echo(trace, err=True)
    last = trace.strip().splitlines()[-1][:300]
    _say(
        f"there is no verdict: this is a fault of dpaudit ({last}); please report it, with what {_DEBUG}=1 shows "
        "beside the same command"
    )


def _say(sentence: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        click.echo(f"dpaudit: {sentence}", err=True)


@click.group(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "dpaudit audit laplace --claim epsilon=0.8",
        "dpaudit prove above_threshold",
        "dpaudit account --gaussian 1.1 --rate 0.004 --steps 14000 --claim 'epsilon=3.2, delta=1e-5'",
        "dpaudit COMMAND --help",
    ),
)
@click.version_option(package_name="dpaudit")
def cli() -> None:
    """Is a claim of differential privacy to be believed?

    Bounds of what a mechanism loses, from below by running it and from above by reading it, held against the claim,
    with evidence that others can check.
    """
