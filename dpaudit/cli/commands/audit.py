"""Does a mechanism keep its claim, as far as runs can show?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.apart import carried_out, evidence_of, in_process, limits_of, refuse_other
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
from dpaudit.request import AuditRequest

if TYPE_CHECKING:
    from dpaudit.targets.mechanism import Mechanism


@click.command("audit")
@click.argument("target")
@all_asked(AuditRequest)
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="End it after so long, without a verdict; a second look has twice as long to itself.",
)
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
    """Audit TARGET: a catalogue name, package.module:name or path/to/file.py:name.

    TARGET runs in a process of its own, which is ended with all that it started.
    """
    read = [*options["pairs"], *filter(None, [options["data"]])]
    outputs = OutputFiles(json_file, html_file, beside=filter(None, [options["resume"]]), read=read)
    options["parameters"] = merged_parameters(options["parameters"])
    arguments = {"target": target, "quiet": quiet, **options}
    document = carried_out(audited, arguments, here=in_process, limits=limits_of(time_limit, memory_limit))
    evidence = evidence_of(document)
    pairs = None if options["search"] else digests_of(options["pairs"], evidence.relation)
    asked = {**options, "domain": options["domain"] or None}
    refuse_other(evidence, audit=AuditRequest(target, **asked), pairs=pairs)
    return tell(evidence.with_files(read), outputs, json_file, html_file, quiet)


def digests_of(files: Sequence[str], relation: str) -> list[tuple[str, str]] | None:
    """Return digests of the pairs in files, None if there are none; the relation tells one pair from several."""
    if not files:
        return None
    from dpaudit.neighbours.digest import digest
    from dpaudit.neighbours.inferred import neighbouring
    from dpaudit.neighbours.pair_files import read_pairs

    return [(digest(data0), digest(data1)) for data0, data1 in read_pairs(files, neighbouring(relation))]


def audited(target: str, quiet: bool, **options: Any) -> dict[str, Any]:
    """Return the evidence of an audit as a document."""
    with prints_to_standard_error(), notices(), progress(quiet, estimate=options["time_budget"] is None) as listen:
        from dpaudit.auditing.audit import audit as conduct
        from dpaudit.loading.named import load

        if options["resume"] is not None:
            options["resume"] = Path(options["resume"]).absolute()  # a mechanism may change the working directory
        files = [Path(name).absolute() for name in options["pairs"]]
        mechanism = load(target)
        options["pairs"] = pairs_for(mechanism, options["parameters"], options["relation"], files) if files else None
        options["data"] = dataset_in(options["data"])
        options["domain"] = domain_of(options["domain"])
        return conduct(mechanism, **{**options, "listen": listen}).document()


def dataset_in(name: str | None) -> Any:
    """Read a dataset, or return None if none is named."""
    if name is None:
        return None
    from dpaudit.neighbours.data_files import read_dataset

    return read_dataset(Path(name).absolute())


def domain_of(texts: Sequence[str]) -> Any:
    """Read the domain of records, or return None if none is given."""
    if not texts:
        return None
    from dpaudit.neighbours.domain import read_domain

    return read_domain(texts)


def pairs_for(
    mechanism: Mechanism, parameters: dict[str, Any], relation: str | None, files: list[Path]
) -> list[tuple[Any, Any]]:
    """Read the pairs in files.

    Args:
        mechanism: its own relation is used if none is given.
        parameters: of the mechanism.
        relation: distinguishes one pair in a file from a list of pairs; None for the mechanism's own.
        files: JSON files.
    """
    from dpaudit.neighbours.inferred import neighbouring
    from dpaudit.neighbours.pair_files import read_pairs

    said = relation or mechanism.relation_for(mechanism.parameters_with(parameters))
    return read_pairs(files, neighbouring(said))
