"""Does a mechanism keep its claim, as far as runs can show?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpaudit.cli.apart import Apart, own_process, refuse_other
from dpaudit.cli.files import Results, dataset_in, digests_of, domain_of, loaded, no_script, results
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import at_work
from dpaudit.cli.options import all_asked
from dpaudit.request import AuditRequest


@click.command(
    "audit",
    cls=Command,
    epilog=examples(
        "dpaudit audit laplace --claim epsilon=0.8 --html laplace.html",
        "dpaudit audit release.py:mean --data people.csv --claim epsilon=1",
        "dpaudit audit release.py:count --domain 'age=[0, 120]' --claim epsilon=1",
    ),
)
@click.argument("target")
@all_asked(AuditRequest)
@own_process(limit="End it after so long, without a verdict; a second look has twice as long to itself.")
@no_script
@results
def command(target: str, to: Results, apart: Apart, **options: Any) -> int:
    """Audit TARGET: a catalogue name, package.module:name or path/to/file.py:name.

    TARGET runs in a process of its own, which is ended with all that it started.
    """
    read = [*options["pairs"], *filter(None, [options["data"]])]
    to.check(beside=filter(None, [options["resume"]]), read=read)
    evidence = apart.evidence(audited, {"target": target, "quiet": to.quiet, **options})
    pairs = None if options["search"] else digests_of(options["pairs"], evidence.relation)
    asked = {**options, "data": dataset_in(options["data"]), "domain": domain_of(options["domain"])}
    refuse_other(evidence, audit=AuditRequest(target, **asked), pairs=pairs)
    return to.tell(evidence.with_files(read))


def audited(target: str, quiet: bool, **options: Any) -> dict[str, Any]:
    """Return the evidence of an audit as a document."""
    with at_work(quiet, estimate=options["time_budget"] is None) as listen:
        from dpaudit.verify.answer import audit

        if options["resume"] is not None:
            options["resume"] = Path(options["resume"]).absolute()  # a mechanism may change the working directory
        mechanism, found = loaded(target, options)
        return audit(mechanism, **found, listen=listen).document()
