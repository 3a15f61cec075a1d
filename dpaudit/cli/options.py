"""How are the options of a request typed on the command line?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from dpaudit.decimals import read_whole
from dpaudit.request import Option, Request, default_of, options_of

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
