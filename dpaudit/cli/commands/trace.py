"""What do a few recorded and replayed runs show, and at which line?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpaudit.cli.apart import carried_out, evidence_of, in_process, limits_of, refuse_other
from dpaudit.cli.commands.audit import dataset_in, digests_of, domain_of, pairs_for
from dpaudit.cli.options import (
    OutputFiles,
    all_asked,
    merged_parameters,
    notices,
    prints_to_standard_error,
    progress,
    results,
    tell,
)
from dpaudit.request import TraceRequest


@click.command("trace")
@click.argument("target")
@all_asked(TraceRequest, confidence={"help": "Of what the measuring runs show."})
@click.option("--time-limit", type=float, metavar="SECONDS", help="End it after so long, without a verdict.")
@click.option("--memory-limit", type=float, metavar="MB", help="End it where it takes more memory, without a verdict.")
@in_process
@results
def command(
    target: str,
    json_file: str | None,
    html_file: str | None,
    quiet: bool,
    time_limit: float | None,
    memory_limit: float | None,
    in_process: bool,
    **options: Any,
) -> int:
    """Follow the noise of a few runs of TARGET, and name the line where it does not hide a change of the data.

    Each run is recorded on one dataset and replayed on a neighbour. TARGET runs in a process of its own, which is ended
    with all that it started.
    """
    read = [*options["pairs"], *filter(None, [options["data"]])]
    outputs = OutputFiles(json_file, html_file, read=read)
    options["parameters"] = merged_parameters(options["parameters"])
    arguments = {"target": target, "quiet": quiet, **options}
    document = carried_out(traced, arguments, here=in_process, limits=limits_of(time_limit, memory_limit))
    evidence = evidence_of(document)
    asked = {**options, "domain": options["domain"] or None}
    refuse_other(evidence, trace=TraceRequest(target, **asked), pairs=digests_of(options["pairs"], evidence.relation))
    return tell(evidence.with_files(read), outputs, json_file, html_file, quiet)


def traced(target: str, quiet: bool, **options: Any) -> dict[str, Any]:
    """Return the evidence of a trace as a document."""
    with prints_to_standard_error(), notices(), progress(quiet) as listen:
        from dpaudit.auditing.trace import trace as conduct
        from dpaudit.loading.named import load

        files = [Path(name).absolute() for name in options["pairs"]]
        mechanism = load(target)
        options["pairs"] = pairs_for(mechanism, options["parameters"], options["relation"], files) if files else None
        options["data"] = dataset_in(options["data"])
        options["domain"] = domain_of(options["domain"])
        return conduct(mechanism, **{**options, "listen": listen}).document()
