"""What can be done from the command line?

Exit codes: 0 proved, not violated or no claim; 1 only with a written VIOLATED; 2 no verdict; 3 inconclusive;
4 evidence with the verdict INVALID; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from dpaudit.evidence import Evidence
    from dpaudit.function import Mechanism

_NO_VERDICT, _INTERRUPTED = 2, 130


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; nothing but a written VIOLATED ever exits with 1."""
    try:
        code = cli.main(args=arguments, prog_name="dpaudit", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted: nothing was written", err=True)
        code = _INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = _NO_VERDICT
    except BrokenPipeError:
        # whoever read our output has left; keep Python from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = _NO_VERDICT
    except Exception as error:
        code = _report_failure(error)
    sys.exit(code if isinstance(code, int) else 0)


def _report_failure(error: Exception) -> int:
    from dpaudit.errors import UsageError

    if isinstance(error, UsageError):
        click.echo(f"dpaudit: {error}", err=True)
    else:
        import traceback

        traceback.print_exception(error)
        click.echo("dpaudit: this is a fault of dpaudit, not a verdict; please report it", err=True)
    return _NO_VERDICT


class Count(click.ParamType[int]):
    """A whole number, also as 1e6 or 1_000_000."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number."""
        try:
            number = float(str(value).replace("_", ""))
            if number != int(number):
                raise ValueError
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no whole number; write 400000, 4e5 or 400_000", param, ctx)
        return int(str(value).replace("_", "")) if str(value).replace("_", "").isdigit() else int(number)


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


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dpaudit")
def cli() -> None:
    """Audit mechanisms of differential privacy.

    A lower bound of ε that is certain at the stated confidence, held against the claim, with evidence.
    """


@cli.command("list")
@click.argument("name", required=False)
@click.option("--json", "json_file", metavar="FILE", help="Write the list as JSON ('-': standard output).")
def list_(name: str | None, json_file: str | None) -> None:
    """List the mechanisms of the catalogue, or show the page of one."""
    import json

    from dpaudit.loading import catalogue, load

    found = catalogue()
    chosen = (
        [load(name)] if name is not None else sorted(found.values(), key=lambda m: (not m.correct, m.family, m.name))
    )
    outputs = _checked_outputs(json_file)
    with outputs.summary_stream():
        if name is not None:
            click.echo(_page(chosen[0]))
        elif json_file != "-":
            click.echo(_table(chosen))
    if json_file is not None:
        outputs.write(json_file, json.dumps([_listed(item) for item in chosen], indent=1, ensure_ascii=False) + "\n")


def _listed(mechanism: Mechanism) -> dict[str, Any]:
    from dpaudit.evidence import plain_value

    parameters = mechanism.parameters_with(None)
    claim = mechanism.claim_for(parameters)
    return {
        "name": mechanism.name,
        "family": mechanism.family,
        "correct": mechanism.correct,
        "claim": None if claim is None else str(claim),
        "relation": mechanism.relation_for(parameters),
        "parameters": {key: plain_value(value) for key, value in parameters.items()},
        "true_loss": plain_value(mechanism.true_loss_for(parameters)),
        "source": mechanism.source,
        "summary": mechanism.summary,
        "asks": str(mechanism.shape),
    }


def _table(mechanisms: list[Mechanism]) -> str:
    rows = [("NAME", "FAMILY", "CLAIM", "STATUS", "")]
    for item in mechanisms:
        facts = _listed(item)
        status = "correct" if item.correct else "broken"
        rows.append((item.name, item.family, facts["claim"] or "none", status, item.summary))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[4]]) for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _page(mechanism: Mechanism) -> str:
    import inspect

    facts = _listed(mechanism)
    loss = facts["true_loss"]
    pairs = "; ".join(f"{a!r:.60} vs {b!r:.60}" for a, b in mechanism.pairs_for(mechanism.parameters_with(None)))
    lines = [
        f"{mechanism.name}: {'correct' if mechanism.correct else 'broken'}, family {mechanism.family or 'none'}",
        "",
        inspect.getdoc(mechanism.function) or "no description",
        "",
        f"claim       {facts['claim'] or 'none'}",
        f"true loss   {'unknown' if loss is None else loss}",
        f"relation    {facts['relation'] or 'declared'}",
        f"unit        {mechanism.unit or 'not stated'}",
        f"pairs       {pairs or 'none'}",
        f"parameters  {', '.join(f'{k}={v!r}' for k, v in facts['parameters'].items()) or 'none'}",
        f"runs as     {mechanism.shape}",
        f"source      {mechanism.source or 'not stated'}",
    ]
    return "\n".join(lines)


@cli.command()
@click.argument("target")
@click.option("-p", "--parameter", "parameters", type=Assignment(), multiple=True, help="A parameter of the mechanism.")
@click.option("--claim", help="The claim to hold it against, such as 'epsilon=1, delta=1e-6'.")
@click.option(
    "--pair",
    "pair_files",
    metavar="FILE",
    multiple=True,
    help="Neighbouring datasets: JSON, or two .npy/.csv.",
)
@click.option("--relation", help="add-remove, replace, queries, queries(norm=1), declared, ….")
@click.option("--runs", type=Count(), default=400_000, show_default=True, help="Executions in all.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the whole audit.")
@click.option("--seed", type=Count(), default=0, show_default=True, help="Root of every random draw.")
@click.option(
    "--workers",
    type=Count(),
    default=1,
    show_default=True,
    help="Processes; they do not change the evidence.",
)
@click.option("--time-budget", type=float, metavar="SECONDS", help="Instead of --runs.")
@click.option("--sequential", is_flag=True, help="Stop early (not available in this version).")
@click.option("--curve", is_flag=True, help="The whole privacy curve (not available in this version).")
@click.option(
    "--floating-point",
    type=click.Choice(["report", "verdict", "ignore"]),
    default="report",
    help="What the low-order bits count for (not examined in this version).",
)
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence ('-': standard output).")
@click.option("--html", "html_file", metavar="FILE", help="Write the report ('-': standard output).")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def audit(target: str, json_file: str | None, html_file: str | None, quiet: bool, **options: Any) -> int:
    """Audit TARGET: a catalogue name, package.module:name or path/to/file.py:name."""
    outputs = _checked_outputs(json_file, html_file)
    # A mechanism may print: that must not end up in an evidence file on standard output.
    with contextlib.redirect_stdout(sys.stderr):
        from dpaudit.conductor import audit as conduct
        from dpaudit.pairfile import read_pairs

        pairs = read_pairs(options.pop("pair_files")) or None
        parameters = dict(options.pop("parameters"))
        with _progress(quiet) as listen:
            evidence = conduct(target, parameters=parameters, pairs=pairs, listen=listen, **options)
    _write_evidence(outputs, evidence, json_file, html_file)
    if not quiet:
        _summarise(outputs, evidence, html_file)
    return evidence.verdict.exit_code


def _write_evidence(outputs: _Outputs, evidence: Evidence, json_file: str | None, html_file: str | None) -> None:
    if json_file is not None:
        outputs.write(json_file, evidence.to_json())
    if html_file is not None:
        from dpaudit.report import html_page

        outputs.write(html_file, html_page(evidence))


def _summarise(outputs: _Outputs, evidence: Evidence, html_file: str | None) -> None:
    from dpaudit.report import console_summary

    with outputs.summary_stream():
        click.echo(console_summary(evidence))
        if html_file not in (None, "-"):
            click.echo(f"Report       {html_file}")


@cli.command()
@click.argument("evidence_files", metavar="EVIDENCE...", nargs=-1, required=True)
@click.option("--html", "html_to", metavar="FILE-OR-FOLDER", help="Write the pages ('-': standard output).")
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence again ('-': standard output).")
def report(evidence_files: tuple[str, ...], html_to: str | None, json_file: str | None) -> None:
    """Draw the report of evidence files or pages; without a flag the console summary."""
    from dpaudit.errors import UsageError
    from dpaudit.report import console_summary, html_page

    evidence = [(Path(name), _read_evidence(name)) for name in evidence_files]
    if json_file is not None:
        if len(evidence) != 1:
            raise UsageError("--json writes one evidence file; give one EVIDENCE")
        _checked_outputs(json_file).write(json_file, evidence[0][1].to_json())
    if html_to is not None:
        folder = Path(html_to)
        if len(evidence) > 1 or folder.is_dir():
            if not folder.is_dir():
                raise UsageError(f"several pages need a folder that exists; {html_to!r} is none")
            targets = [str(folder / f"{path.stem}.html") for path, _ in evidence]
            if len(set(targets)) < len(targets):
                raise UsageError("two evidence files have the same name and would write the same page")
        else:
            targets = [html_to]
        outputs = _checked_outputs(*targets)
        for target, (_, item) in zip(targets, evidence, strict=True):
            outputs.write(target, html_page(item))
    if html_to is None and json_file is None:
        click.echo("\n\n".join(console_summary(item) for _, item in evidence))


def _read_evidence(name: str) -> Evidence:
    from dpaudit.evidence import Evidence
    from dpaudit.report import evidence_from_page

    if name.lower().endswith((".html", ".htm")):
        from dpaudit.errors import UsageError

        try:
            return evidence_from_page(Path(name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {name!r}: {error}") from None
    return Evidence.load(name)


class _Outputs:
    """Where the results go: files, checked before any work, or standard output."""

    def __init__(self, to_standard_output: bool) -> None:
        self._standard = to_standard_output

    def write(self, path: str, text: str) -> None:
        from dpaudit.evidence import write_whole

        if path == "-":
            sys.stdout.write(text)
        else:
            write_whole(path, text)

    def summary_stream(self) -> contextlib.AbstractContextManager[Any]:
        """The summary goes to standard error where standard output holds a file."""
        return contextlib.redirect_stdout(sys.stderr) if self._standard else contextlib.nullcontext()


def _checked_outputs(*paths: str | None) -> _Outputs:
    """Refuse outputs that cannot be written, before anything is run."""
    from dpaudit.errors import UsageError

    named = [path for path in paths if path is not None]
    if named.count("-") > 1:
        raise UsageError("only one format can go to standard output ('-')")
    for path in named:
        folder = Path(path).resolve().parent
        if path == "-":
            continue
        if Path(path).is_dir():
            raise UsageError(f"cannot write {path!r}: it is a folder; name a file in it")
        if not folder.is_dir():
            raise UsageError(f"cannot write {path!r}: there is no folder {str(folder)!r}")
        if not os.access(folder, os.W_OK) or (Path(path).exists() and not os.access(path, os.W_OK)):
            raise UsageError(f"cannot write {path!r}: permission denied")
    return _Outputs("-" in named)


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A progress bar on a terminal; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
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
        yield lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total)
