"""What can be done from the command line?

Exit codes: 0 proved, not violated or no claim; 1 only with a written VIOLATED; 2 no verdict; 3 inconclusive;
4 evidence with the verdict INVALID; 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from dpaudit.terminal import (
    Assignment,
    Count,
    Outputs,
    leave_standard_output,
    merged_parameters,
    prints_to_standard_error,
    progress,
    read_evidence,
)

if TYPE_CHECKING:
    from dpaudit.evidence import Evidence
    from dpaudit.function import Mechanism

_NO_VERDICT, _INTERRUPTED = 2, 130


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; nothing but a written VIOLATED ever exits with 1."""
    cli.main(arguments)


class _Program(click.Group):
    """The commands with their exit codes, however they are called."""

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


@cli.command("list")
@click.argument("name", required=False)
@click.option("--json", "json_file", metavar="FILE", help="Write the list as JSON ('-': standard output).")
def list_(name: str | None, json_file: str | None) -> None:
    """List the mechanisms of the catalogue, or show the page of one."""
    import json

    from dpaudit.loading import catalogue, load

    outputs = Outputs(json_file)
    with prints_to_standard_error():
        if name is not None:
            chosen = [load(name)]
        else:
            chosen = sorted(catalogue().values(), key=lambda item: (not item.correct, item.family, item.name))
        # a true loss may take a quadrature, and the table does not show it
        facts = [_listed(item, losses=name is not None or json_file is not None) for item in chosen]
        text = _table(facts) if name is None else _page(chosen[0], facts[0])
    if json_file is not None:
        outputs.write(json_file, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    if name is not None or json_file != "-":
        outputs.say(text + "\n")


def _listed(mechanism: Mechanism, *, losses: bool) -> dict[str, Any]:
    from dpaudit.evidence import plain_value

    parameters = _defaults(mechanism)
    claim = _known(mechanism.claim_for, parameters)
    return {
        "name": mechanism.name,
        "family": mechanism.family,
        "correct": mechanism.correct,
        "claim": None if claim is None else str(claim),
        "relation": _known(mechanism.relation_for, parameters),
        "parameters": {key: plain_value(value) for key, value in parameters.items()},
        "needs": [name for name in mechanism.defaults if name not in parameters],
        "true_loss": plain_value(_known(mechanism.true_loss_for, parameters)) if losses else None,
        "unit": mechanism.unit,
        "source": mechanism.source,
        "summary": mechanism.summary,
        "asks": str(mechanism.shape),
    }


def _defaults(mechanism: Mechanism) -> dict[str, Any]:
    import inspect

    return {name: value for name, value in mechanism.defaults.items() if value is not inspect.Parameter.empty}


def _known(resolve: Callable[[dict[str, Any]], Any], parameters: dict[str, Any]) -> Any:
    """What a mechanism says at its default parameters; None where it needs others."""
    from dpaudit.errors import UsageError

    try:
        return resolve(parameters)
    except UsageError:
        return None


def _table(listed: list[dict[str, Any]]) -> str:
    rows = [("NAME", "FAMILY", "CLAIM", "STATUS", "")]
    for facts in listed:
        status = "correct" if facts["correct"] else "broken"
        rows.append((facts["name"], facts["family"], facts["claim"] or "none", status, facts["summary"]))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join([*map(str.ljust, row[:4], widths), row[4]]) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _page(mechanism: Mechanism, facts: dict[str, Any]) -> str:
    loss = facts["true_loss"]
    pairs = "; ".join(f"{a!r:.60} vs {b!r:.60}" for a, b in _known(mechanism.pairs_for, _defaults(mechanism)) or ())
    parameters = [f"{name}={value!r}" for name, value in facts["parameters"].items()]
    status = f": {'correct' if mechanism.correct else 'broken'}, family {mechanism.family}" if mechanism.family else ""
    lines = [
        f"{mechanism.name}{status}",
        "",
        mechanism.description or "no description",
        "",
        f"claim       {facts['claim'] or 'none'}",
        f"true loss   {'unknown' if loss is None else loss}",
        f"relation    {facts['relation'] or 'declared'}",
        f"unit        {mechanism.unit or 'not stated'}",
        f"pairs       {pairs or 'none'}",
        f"parameters  {', '.join([*parameters, *(f'{name} (to be given)' for name in facts['needs'])]) or 'none'}",
        f"runs as     {mechanism.shape}",
        f"source      {mechanism.source or 'not stated'}",
        *([f"to find it  {mechanism.needs}"] if mechanism.needs else []),
    ]
    return "\n".join(lines)


@cli.command()
@click.argument("target")
@click.option(
    "-p",
    "--parameter",
    "parameters",
    type=Assignment(),
    multiple=True,
    help="A parameter; VALUE is JSON, or else text.",
)
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
    show_default=True,
    help="Low-order bits: a finding beside the verdict, part of it, or not examined.",
)
@click.option("--learn", metavar="NAME", help="Let a learner compete with the built-in scores: trees.")
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence ('-': standard output).")
@click.option("--html", "html_file", metavar="FILE", help="Write the report ('-': standard output).")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def audit(target: str, json_file: str | None, html_file: str | None, quiet: bool, **options: Any) -> int:
    """Audit TARGET: a catalogue name, package.module:name or path/to/file.py:name."""
    outputs = Outputs(json_file, html_file)
    with prints_to_standard_error():
        from dpaudit.conductor import audit as conduct
        from dpaudit.loading import load

        pair_files = [Path(name).absolute() for name in options.pop("pair_files")]
        parameters = merged_parameters(options.pop("parameters"))
        mechanism = load(target)
        pairs = _pairs(mechanism, parameters, options["relation"], pair_files) if pair_files else None
        with progress(quiet) as listen:
            evidence = conduct(mechanism, parameters=parameters, pairs=pairs, listen=listen, **options)
    return _tell(evidence, outputs, json_file, html_file, quiet)


def _tell(evidence: Evidence, outputs: Outputs, json_file: str | None, html_file: str | None, quiet: bool) -> int:
    """Write the evidence and its page, say what was found, and return the exit code."""
    if json_file is not None:
        outputs.write(json_file, evidence.to_json())
    if html_file is not None:
        from dpaudit.report import html_page

        outputs.write(html_file, html_page(evidence))
    if not quiet:
        from dpaudit.report import console_summary

        outputs.say(console_summary(evidence))
        for label, path in (("evidence", json_file), ("page", html_file)):
            if path not in (None, "-"):
                outputs.say(f"  {label:<13}{path}\n")
    return evidence.verdict.exit_code


@cli.command()
@click.argument("target")
@click.option(
    "-p",
    "--parameter",
    "parameters",
    type=Assignment(),
    multiple=True,
    help="A parameter; VALUE is JSON, or else text. Numbers are exact.",
)
@click.option("--claim", help="The claim to hold it against, such as 'epsilon=1'.")
@click.option("--relation", help="queries, queries(one), queries(monotone), queries(norm=1), replace, ….")
@click.option("--length", type=Count(), help="How many answers the data hold; without it any number, for a Fold.")
@click.option("--domain", help="'real' or 'integer' answers, or a JSON list of all datasets that there are.")
@click.option("--runs", type=Count(), default=100_000, show_default=True, help="To confirm what is found; 0: none.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of what the runs show.")
@click.option("--seed", type=Count(), default=0, show_default=True, help="Root of every random draw.")
@click.option("--workers", type=Count(), default=1, show_default=True, help="Processes.")
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence ('-': standard output).")
@click.option("--html", "html_file", metavar="FILE", help="Write the report ('-': standard output).")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def prove(
    target: str, domain: str | None, json_file: str | None, html_file: str | None, quiet: bool, **options: Any
) -> int:
    """Prove an upper bound for the program TARGET, or refute its claim by an exact counterexample."""
    outputs = Outputs(json_file, html_file)
    with prints_to_standard_error():
        from dpaudit.loading import load
        from dpaudit.prover import prove as conduct

        parameters = merged_parameters(options.pop("parameters"))
        mechanism = load(target)
        with progress(quiet) as listen:
            evidence = conduct(mechanism, parameters=parameters, domain=_domain(domain), listen=listen, **options)
    return _tell(evidence, outputs, json_file, html_file, quiet)


def _domain(text: str | None) -> str | list[Any] | None:
    from dpaudit.errors import UsageError

    if text is None or not text.lstrip().startswith("["):
        return text
    import json

    try:
        return list(json.loads(text))
    except ValueError as error:
        raise UsageError(f"--domain is 'real', 'integer' or a JSON list of datasets; this is none: {error}") from None


@cli.command()
@click.argument("evidence_file", metavar="EVIDENCE")
@click.option("--quiet", is_flag=True, help="Only the exit code.")
def check(evidence_file: str, quiet: bool) -> int:
    """Check evidence: its id, every bound from its counts, every certificate. Exit code 0 holds, 1 differs."""
    from dpaudit.check import check_file

    findings = check_file(evidence_file)
    for finding in () if quiet else findings:
        click.echo(f"{'holds' if finding.holds else 'DIFFERS':<8} {finding.what:<15} {finding.sentence}")
    return 0 if all(finding.holds for finding in findings) else 1


def _pairs(
    mechanism: Mechanism, parameters: dict[str, Any], relation: str | None, files: list[Path]
) -> list[tuple[Any, Any]]:
    from dpaudit.neighbours import parse_relation
    from dpaudit.pairfile import read_pairs

    own = relation or mechanism.relation_for(mechanism.parameters_with(parameters)) or "declared"
    chosen = parse_relation(own)
    return read_pairs(files, lambda pair: chosen.accepts(*pair))


@cli.command()
@click.argument("evidence_files", metavar="EVIDENCE...", nargs=-1, required=True)
@click.option("--html", "html_to", metavar="FILE-OR-FOLDER", help="Write the pages ('-': standard output).")
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence again ('-': standard output).")
def report(evidence_files: tuple[str, ...], html_to: str | None, json_file: str | None) -> None:
    """Draw the report of evidence files or pages; without a flag the console summary."""
    from dpaudit.errors import UsageError
    from dpaudit.report import console_summary, html_page

    if json_file is not None and len(evidence_files) > 1:
        raise UsageError("--json writes one evidence file; give one EVIDENCE")
    evidence = [read_evidence(name) for name in evidence_files]
    pages = [] if html_to is None else _page_names(evidence_files, html_to)
    outputs = Outputs(json_file, *pages)
    drawn = [html_page(item) for item in evidence] if pages else []
    for page, text in zip(pages, drawn, strict=True):
        outputs.write(page, text)
    if json_file is not None:
        outputs.write(json_file, evidence[0].to_json())
    if html_to is None and json_file is None:
        outputs.say("\n".join(console_summary(item) for item in evidence))


def _page_names(evidence_files: Sequence[str], html_to: str) -> list[str]:
    """Return where the page of each evidence file goes."""
    from dpaudit.errors import UsageError

    folder = Path(html_to)
    if not folder.is_dir():
        if len(evidence_files) > 1 or html_to.endswith(("/", os.sep)):
            raise UsageError(f"--html {html_to!r} is no folder that exists; make it first, or write one page to a file")
        return [html_to]
    pages = [str(folder / f"{Path(name).stem}.html") for name in evidence_files]
    if len(set(pages)) < len(pages):
        raise UsageError("two evidence files have the same name and would write the same page; rename one")
    return pages
