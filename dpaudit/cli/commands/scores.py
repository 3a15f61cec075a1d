"""What do the scores of an attack on a model show? The command ``scores``."""

from __future__ import annotations

from pathlib import Path

import click

from dpaudit.cli.files import Results, results
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import prints_to_standard_error
from dpaudit.cli.options import Count, asked
from dpaudit.request import AuditRequest


@click.command(
    "scores",
    cls=Command,
    epilog=examples(
        "dpaudit scores in.npy out.npy --design one-run --claim 'epsilon=4, delta=1e-5'",
        "dpaudit scores in.npy out.npy --design independent",
    ),
)
@click.argument("in_file", metavar="IN")
@click.argument("out_file", metavar="OUT")
@asked(AuditRequest, "claim", help="The claim to hold it against, such as 'epsilon=1, delta=1e-5'.")
@click.option("--delta", type=float, default=1e-5, show_default=True, help="Where no claim is given.")
@asked(AuditRequest, "confidence")
@click.option(
    "--design",
    metavar="[independent|one-run]",
    help="A training run for every score, or canaries of one model, each included by a fair coin (which at a large δ, "
    "such as 1e-4 at ε = 1, show nothing surely enough for VIOLATED). Has to be said.",
)
@click.option(
    "--canaries", type=Count(), metavar="N", help="How many the one model had, where not all of them have a score."
)
@asked(AuditRequest, "seed", help="Root of the split of the scores; by default a fresh one, which is recorded.")
@asked(AuditRequest, "false_alarm")
@results
def command(
    in_file: str,
    out_file: str,
    claim: str | None,
    delta: float,
    confidence: float,
    design: str | None,
    canaries: int | None,
    seed: int | None,
    false_alarm: float,
    to: Results,
) -> int:
    """Audit a model by scores of records IN its training data and OUT of it.

    IN and OUT are .npy, .csv with one column, .jsonl with one number a line, or .json with a list of numbers.
    """
    to.check()
    with prints_to_standard_error():
        from dpaudit.auditing.scores import audit_scores, read_scores, refuse_design

        refuse_design(design)
        members, others = read_scores(in_file), read_scores(out_file)
        evidence = audit_scores(
            members,
            others,
            claim=claim,
            delta=delta,
            false_alarm=false_alarm,
            confidence=confidence,
            design=design,
            canaries=canaries,
            seed=seed,
            name=f"scores in {Path(in_file).name} and {Path(out_file).name}",
        )
    return to.tell(evidence.with_files([in_file, out_file]))
