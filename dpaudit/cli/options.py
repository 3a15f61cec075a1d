"""How are the options of a request typed on the command line?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from dpaudit.decimals import read_whole
from dpaudit.request import Option, Request, default_of, options_of

Command = TypeVar("Command", bound=Callable[..., Any])


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
        said |= {"callback": _merged} if option.kind == "assignment" else {}
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


def _merged(ctx: click.Context, param: click.Parameter, given: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return what was assigned, by name; each name may only be given once."""
    from dpaudit.errors import UsageError

    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the parameter {name!r} is given twice; give it once")
    return dict(given)
