"""What do a few recorded and replayed runs show, and at which line?"""

from __future__ import annotations

from typing import Any

import click

from dpaudit.cli.apart import Apart, own_process, refuse_other
from dpaudit.cli.files import Results, dataset_in, digests_of, domain_of, loaded, results
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import at_work
from dpaudit.cli.options import all_asked
from dpaudit.request import TraceRequest


@click.command(
    "trace", cls=Command, epilog=examples("dpaudit trace release.py:mean --data people.csv --claim epsilon=1")
)
@click.argument("target")
@all_asked(TraceRequest, confidence={"help": "Of what the measuring runs show."})
@click.option(
    "--require",
    type=click.Choice(["supported"]),
    help="Exit code 1 where the trace does not support the claim, 3 where it could not follow or price all of it.",
)
@own_process(limit="End it after so long, without a verdict.")
@results
def command(target: str, require: str | None, to: Results, apart: Apart, **options: Any) -> int:
    """Follow the noise of a few runs of TARGET, and name the line where it does not hide a change of the data.

    Each run is recorded on one dataset and replayed on a neighbour. TARGET runs in a process of its own, which is ended
    with all that it started.
    """
    read = [*options["pairs"], *filter(None, [options["data"]])]
    to.check(read=read)
    evidence = apart.evidence(traced, {"target": target, "quiet": to.quiet, **options})
    asked = {**options, "data": dataset_in(options["data"]), "domain": domain_of(options["domain"])}
    refuse_other(evidence, trace=TraceRequest(target, **asked), pairs=digests_of(options["pairs"], evidence.relation))
    return to.tell(evidence.with_files(read), require)


def traced(target: str, quiet: bool, **options: Any) -> dict[str, Any]:
    """Return the evidence of a trace as a document."""
    with at_work(quiet) as listen:
        from dpaudit.auditing.trace import trace

        mechanism, found = loaded(target, options)
        return trace(mechanism, **found, listen=listen).document()
