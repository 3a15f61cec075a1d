"""What is certain of a program?"""

from __future__ import annotations

from typing import Any

import click

from dpaudit.cli.apart import carried_out, evidence_of, in_process, refuse_other
from dpaudit.cli.options import Assignment, Count, Outputs, merged_parameters, prints_to_standard_error, progress, tell


@click.command("prove")
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
@click.option("--seed", type=Count(), help="Root of every random draw; by default a fresh one, which is recorded.")
@click.option("--workers", type=Count(), default=1, show_default=True, help="Processes.")
@click.option("--time-budget", type=float, default=60.0, show_default=True, help="Seconds for reading and proving.")
@click.option("--keep-data", is_flag=True, help="Keep the domain in the evidence, for replay.")
@click.option(
    "--false-alarm",
    type=float,
    default=1e-3,
    show_default=True,
    help="Chance that a mechanism that keeps its claim is called VIOLATED.",
)
@in_process
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence ('-': standard output).")
@click.option("--html", "html_file", metavar="FILE", help="Write the report ('-': standard output).")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def command(
    target: str,
    json_file: str | None,
    html_file: str | None,
    quiet: bool,
    in_process: bool,
    **options: Any,
) -> int:
    """Prove an upper bound for the program TARGET, or refute its claim by an exact counterexample.

    TARGET runs in a process of its own, which is ended with all that it started.
    """
    outputs = Outputs(json_file, html_file)
    options["parameters"] = merged_parameters(options["parameters"])
    arguments = {"target": target, "quiet": quiet, **options}
    evidence = evidence_of(carried_out(proved, arguments, here=in_process))
    asked = ("parameters", "claim", "relation", "confidence", "seed", "false_alarm", "length")
    refuse_other(
        evidence,
        target=target,
        runs=None,
        prove=True,
        domain=_domain(options["domain"]),
        **{name: options[name] for name in asked},
    )
    return tell(evidence, outputs, json_file, html_file, quiet)


def proved(target: str, quiet: bool, domain: str | None, **options: Any) -> dict[str, Any]:
    """Return the evidence of a proof as a document."""
    with prints_to_standard_error(), progress(quiet) as listen:
        from dpaudit.loading.named import load
        from dpaudit.verify.prove_and_audit import prove as conduct

        mechanism = load(target)
        return conduct(mechanism, domain=_domain(domain), listen=listen, **options).document()


def _domain(text: str | None) -> str | list[Any] | None:
    from dpaudit.errors import UsageError

    if text is None or not text.lstrip().startswith("["):
        return text
    import json

    try:
        return list(json.loads(text))
    except ValueError as error:
        raise UsageError(f"--domain is 'real', 'integer' or a JSON list of datasets; this is none: {error}") from None
