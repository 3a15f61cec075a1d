"""What can be done from the command line?

Exit codes: 0 proved, not violated or no claim; 1 only with a written VIOLATED; 2 no verdict; 3 inconclusive;
4 evidence with the verdict INVALID; 130 interrupted.
"""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from dpaudit.terminal import leave_standard_output

_COMMANDS = ("list", "audit", "sensitivity", "plan", "prove", "check", "replay", "report", "scores", "gate", "init")
_NO_VERDICT, _INTERRUPTED = 2, 130


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; nothing but a written VIOLATED ever exits with 1."""
    cli.main(arguments)


class _Program(click.Group):
    """The commands with their exit codes, however they are called. Each is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name not in _COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"dpaudit.commands.{cmd_name}").command
        return found

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        """Run a command and exit."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # an ε that the terminal cannot show
        sys.exit(self._run(args))

    def _run(self, args: Sequence[str] | None) -> int:
        try:
            code = super().main(args, prog_name="dpaudit", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
        except (click.Abort, KeyboardInterrupt):
            click.echo("dpaudit: interrupted; there is no verdict", err=True)
            return _INTERRUPTED
        except click.ClickException as error:
            error.show()
            return _NO_VERDICT
        except SystemExit as stop:  # of click, where whoever reads our output has left
            leave_standard_output()
            return _NO_VERDICT if stop.code else 0
        except BaseException as error:  # whatever it is: it must not end in exit code 1
            return _report_failure(error)
        return code if isinstance(code, int) else 0


def _report_failure(error: BaseException) -> int:
    from dpaudit.errors import UsageError

    if isinstance(error, BrokenPipeError):
        leave_standard_output()
    elif isinstance(error, UsageError):
        click.echo(f"dpaudit: {error}", err=True)
    else:
        import traceback

        traceback.print_exception(error)
        click.echo("dpaudit: this is a fault of dpaudit, not a verdict; please report it", err=True)
    return _NO_VERDICT


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dpaudit")
def cli() -> None:
    """Audit mechanisms of differential privacy.

    A lower bound of ε that is certain at the stated confidence, held against the claim, with evidence.
    """
