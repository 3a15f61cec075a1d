"""Does a mechanism keep its claim, as far as runs can show?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.apart import carried_out, evidence_of, in_process, limits_of, refuse_other
from dpaudit.cli.options import (
    Assignment,
    Count,
    Outputs,
    Split,
    merged_parameters,
    notices,
    prints_to_standard_error,
    progress,
    tell,
)

if TYPE_CHECKING:
    from dpaudit.targets.mechanism import Mechanism


@click.command("audit")
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
@click.option(
    "--data",
    "data_file",
    metavar="FILE",
    help="One dataset, whose neighbours are searched: .csv, .parquet, .npy or .json.",
)
@click.option(
    "--domain",
    "domains",
    metavar="[NAME=]JSON",
    multiple=True,
    help="What a column may hold: [LOW, HIGH], or a list of values. Without --data: small datasets over it.",
)
@click.option("--beyond-domain", is_flag=True, help="Try records outside of the declared domain too.")
@click.option("--search", is_flag=True, help="Search among all pairs for the worst; else each is audited.")
@click.option("--relation", help="add-remove, replace, queries, queries(norm=1), declared, ….")
@click.option("--runs", type=Count(), default=400_000, show_default=True, help="Executions in all.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the whole audit.")
@click.option("--seed", type=Count(), help="Root of every random draw; by default a fresh one, which is recorded.")
@click.option(
    "--workers",
    type=Count(),
    default=1,
    show_default=True,
    help="Processes; they do not change the evidence.",
)
@click.option("--time-budget", type=float, metavar="SECONDS", help="Instead of --runs.")
@click.option(
    "--fixed",
    type=Split(),
    multiple=True,
    help="Learning and measuring runs of each pair, instead of --runs: as a time budget left them.",
)
@click.option("--sequential", is_flag=True, help="Stop as soon as the claim is refuted; --runs is the limit.")
@click.option("--curve", is_flag=True, help="Bound the whole privacy curve too: δ at every ε.")
@click.option(
    "--floating-point",
    type=click.Choice(["report", "verdict", "ignore"]),
    default="report",
    show_default=True,
    help="Low-order bits: a finding beside the verdict, part of it, or not examined.",
)
@click.option("--observe", type=click.Choice(["time"]), multiple=True, help="Let the run time join every output.")
@click.option("--resume", metavar="FILE", help="Keep finished blocks of runs there, and go on from them.")
@click.option(
    "--types",
    type=click.Choice(["count", "ignore"]),
    default="count",
    show_default=True,
    help="Whether an int is told apart from a float, a list from a tuple, and so on.",
)
@click.option("--learn", metavar="NAME", help="Let a learner compete with the built-in scores: trees.")
@click.option("--keep-data", is_flag=True, help="Keep the datasets in the evidence, for replay; else digests alone.")
@click.option(
    "--false-alarm",
    type=float,
    default=1e-3,
    show_default=True,
    help="Chance that a mechanism that keeps its claim is called VIOLATED.",
)
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="End it after so long, without a verdict; a second look has twice as long to itself.",
)
@click.option("--memory-limit", type=float, metavar="MB", help="End it where it takes more memory, without a verdict.")
@in_process
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence ('-': standard output).")
@click.option("--html", "html_file", metavar="FILE", help="Write the report ('-': standard output).")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
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
    read = [*options["pair_files"], *filter(None, [options["data_file"]])]
    outputs = Outputs(json_file, html_file, beside=filter(None, [options["resume"]]), read=read)
    options["parameters"] = merged_parameters(options["parameters"])
    arguments = {"target": target, "quiet": quiet, **options}
    document = carried_out(audited, arguments, here=in_process, limits=limits_of(time_limit, memory_limit))
    evidence = evidence_of(document)
    refuse_other(
        evidence,
        target=target,
        pairs=None if options["search"] else _digests(options["pair_files"], evidence.relation),
        runs=None if options["fixed"] or options["time_budget"] is not None else options["runs"],
        **{name: options[name] for name in _ASKED},
    )
    return tell(evidence.with_files(read), outputs, json_file, html_file, quiet)


_ASKED = (
    *("parameters", "claim", "relation", "confidence", "seed", "false_alarm", "types"),
    *("floating_point", "learn", "observe", "sequential", "curve"),
)


def _digests(files: Sequence[str], relation: str) -> list[tuple[str, str]] | None:
    """Return digests of the pairs in files, None where there are none; the relation tells one pair from several."""
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
        pair_files = [Path(name).absolute() for name in options.pop("pair_files")]
        parameters = options.pop("parameters")
        mechanism = load(target)
        pairs = pairs_for(mechanism, parameters, options["relation"], pair_files) if pair_files else None
        options["data"] = dataset_in(options.pop("data_file"))
        options["domain"] = domain_of(options.pop("domains"))
        return conduct(mechanism, parameters=parameters, pairs=pairs, listen=listen, **options).document()


def dataset_in(name: str | None) -> Any:
    """Read a dataset, or return None where none is named."""
    if name is None:
        return None
    from dpaudit.neighbours.data_files import read_dataset

    return read_dataset(Path(name).absolute())


def domain_of(texts: Sequence[str]) -> Any:
    """Read what records may hold, or return None where nothing is said."""
    if not texts:
        return None
    from dpaudit.neighbours.domain import read_domain

    return read_domain(texts)


def pairs_for(
    mechanism: Mechanism, parameters: dict[str, Any], relation: str | None, files: list[Path]
) -> list[tuple[Any, Any]]:
    """Read the pairs of files; the relation tells one pair from a list of pairs."""
    from dpaudit.neighbours.inferred import neighbouring
    from dpaudit.neighbours.pair_files import read_pairs

    said = relation or mechanism.relation_for(mechanism.parameters_with(parameters))
    return read_pairs(files, neighbouring(said))
