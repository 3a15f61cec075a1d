"""Does this repository keep its privacy claims? The command ``gate``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpaudit.cli.apart import OWNED
from dpaudit.cli.files import OutputFiles
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import is_terminal
from dpaudit.cli.options import Count

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpaudit.gate.result import GateResult, TargetResult


_FORMATS = {
    "junit": "Write JUnit XML",
    "sarif": "Write SARIF 2.1.0",
    "markdown": "Write a summary",
    "json": "Write what other programs read",
}
"""The help of its option, by the name of a format."""


def _written(name: str, result: GateResult, configuration: Path) -> str:
    """Return the result of a gate in a format, as text."""
    from dpaudit.gate import drawn

    if name == "sarif":
        return drawn.sarif_text(result, configuration=drawn.seen_from_repository(configuration))
    return {"junit": drawn.junit, "markdown": drawn.markdown, "json": drawn.gate_json}[name](result)


def _formats(command: Callable[..., int]) -> Callable[..., int]:
    """Add an option for each file that a gate can write."""
    for name, words in reversed(_FORMATS.items()):
        option = click.option(f"--{name}", metavar="FILE", help=f"{words} ('-': standard output).")
        command = option(command)
    return command


@click.command("gate", cls=Command, epilog=examples("dpaudit gate", "dpaudit gate count mean --html pages"))
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--config", "config_file", metavar="FILE", help="Instead of the nearest pyproject.toml.")
@click.option("--update-baseline", is_flag=True, help="Write dpaudit-baseline.json, to be compared with later.")
@click.option("--nightly", is_flag=True, help="Fresh seeds; evidence accumulates in dpaudit-nightly.json.")
@click.option("--workers", type=Count(), help="Targets side by side; by default one for each processor.")
@click.option("--seed", type=Count(), help="Root of every random draw, instead of the configuration's.")
@click.option("--require", type=click.Choice(["audited", "proved"]), help="What every target needs to pass.")
@click.option("--fresh", "--no-cache", "fresh", is_flag=True, help="Run unchanged targets again.")
@_formats
@click.option("--html", "html_folder", metavar="FOLDER", help="Write a page for each target, and an index.")
@click.option("--quiet", is_flag=True, help="No progress and no table.")
def command(
    names: tuple[str, ...],
    config_file: str | None,
    update_baseline: bool,
    nightly: bool,
    workers: int | None,
    seed: int | None,
    require: str | None,
    fresh: bool,
    html_folder: str | None,
    quiet: bool,
    **files: str | None,
) -> int:
    """Hold every target in [tool.dpaudit] of pyproject.toml, or those that are named, against its claim.

    Exit codes: 0 all passed or accepted; 1 a claim violated, or a target leakier than its baseline; 4 a target that
    could not be run or trusted; 3 no verdict on some target; 2 a configuration that cannot be read.
    """
    from dpaudit.errors import UsageError
    from dpaudit.gate.baseline import FILE as BASELINE
    from dpaudit.gate.config import find, read
    from dpaudit.gate.nightly import FILE as NIGHTS
    from dpaudit.gate.run import GateOptions, run
    from dpaudit.processes.process import adopt_orphans

    if workers is not None and workers < 1:
        raise UsageError(f"workers must be at least 1, not {workers}")
    configuration = read(find(Path.cwd()) if config_file is None else Path(config_file))
    kept = [str(configuration.root / name) for name in (BASELINE, NIGHTS)]
    outputs = OutputFiles(*files.values(), read=[str(configuration.path), *kept])
    folder = _folder(html_folder)
    _refuse_pages(folder, *files.values())
    if click.get_current_context().obj is OWNED:
        adopt_orphans()
    options = GateOptions(
        names=names,
        workers=workers or _processors(),
        seed=seed,
        require=require,
        fresh=fresh,
        update_baseline=update_baseline,
        nightly=nightly,
    )
    finished = run(configuration, options, listen=_listener(quiet), alive=None if quiet else _alive)
    result = finished.result
    if folder is not None:
        from dpaudit.gate.drawn import write_pages

        result = write_pages(result, folder)
    for name, file in files.items():
        if file is not None:
            outputs.write(file, _written(name, result, configuration.path))
    if not quiet:
        import sys

        from dpaudit.gate.words import summary

        terminal = is_terminal(sys.stdout) and "-" not in files.values()
        outputs.say(summary(result, terminal=terminal, pages=html_folder or ""))
    if finished.refused is not None:
        click.echo(f"dpaudit: {finished.refused}", err=True)
    return result.exit_code


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _folder(name: str | None) -> Path | None:
    """Return the folder of the pages; it is created before any work."""
    from dpaudit.errors import UsageError

    if name is None:
        return None
    folder = Path(name).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write pages to {name!r}: {error.strerror or error}") from None
    return folder


def _refuse_pages(folder: Path | None, *files: str | None) -> None:
    """Refuse a result file that a page might overwrite."""
    from dpaudit.errors import UsageError

    for name in files:
        if folder is None or name is None or name == "-" or not name.lower().endswith(".html"):
            continue
        if Path(name).resolve().parent == folder.resolve():
            raise UsageError(f"{name!r} lies in the folder of the pages, which may overwrite it; name another place")


def _alive(line: str) -> None:
    """Say on standard error what is running, since a build that is silent for long is ended."""
    from dpaudit.report.text.phrases import one_line

    click.echo(f"dpaudit gate: {one_line(line)}", err=True)


def _listener(quiet: bool) -> Callable[[TargetResult], None] | None:
    """Print the result of each target on a terminal when it is ready."""
    import sys

    if quiet or not is_terminal(sys.stderr):
        return None
    return lambda result: click.echo(f"{result.outcome!s:<12} {result.name}", err=True)
