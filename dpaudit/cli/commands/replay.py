"""Does an audit or a proof give the same result today? The command ``replay``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.apart import Apart, evidence_of, own_process
from dpaudit.cli.files import OutputFiles, dataset_in, read_evidence
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import at_work
from dpaudit.cli.options import asked
from dpaudit.request import AuditRequest, ProofRequest

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence

_MOST_DIFFERENCES = 20  # printed, to fit one screen


@click.command("replay", cls=Command, epilog=examples("dpaudit replay evidence.json"))
@click.argument("evidence_file", metavar="EVIDENCE")
@click.option("--target", metavar="TARGET", help="What to run, where the name in the evidence does not lead to it.")
@asked(AuditRequest, "pairs", help="The datasets, where they were not kept.")
@asked(AuditRequest, "data", help="The dataset that was searched, where it was not kept.")
@asked(
    ProofRequest,
    "domain",
    help="The domain that was enumerated, where it was not kept: a JSON list.",
    metavar="JSON",
    multiple=False,
)
@click.option("--trust", is_flag=True, help="Run what EVIDENCE names wherever it lies, also outside this folder.")
@asked(AuditRequest, "workers", help="Processes.")
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence of now ('-': standard output).")
@click.option("--quiet", is_flag=True, help="Only the exit code.")
@own_process()
def command(evidence_file: str, json_file: str | None, quiet: bool, apart: Apart, **options: Any) -> int:
    """Run the audit or proof of EVIDENCE again. Exit code 0: the same was found, 1: it differs, 2: not possible.

    What it names is run in a process of its own, which is ended with all that it started. Evidence may come from
    anybody: only what lies under the working directory or in an installed catalogue is run, unless --target names it or
    --trust says that the file is trusted. What is run, and whether its code is that of EVIDENCE, is said before.
    """
    outputs = OutputFiles(json_file)
    arguments = {"evidence_file": evidence_file, "quiet": quiet, **options}
    found = apart.carry_out(replayed, arguments)
    holds = found["holds"] is True
    if json_file is not None:
        if found["after"] is None:
            from dpaudit.errors import UsageError

            raise UsageError("the events were counted again, without new evidence; leave out --json")
        outputs.write(json_file, evidence_of(found["after"]).to_json())
    if not quiet:
        lines = list(map(str, found["sentences"]))
        more = [f"… and {len(lines) - _MOST_DIFFERENCES} more"] if len(lines) > _MOST_DIFFERENCES else []
        shown = [*lines[:_MOST_DIFFERENCES], *more]
        outputs.say("".join(f"{'holds' if holds else 'DIFFERS':<8} {line}\n" for line in shown))
    return 0 if holds else 1


def replayed(
    evidence_file: str,
    quiet: bool,
    pairs: Sequence[str],
    data: str | None,
    domain: str | None,
    **options: Any,
) -> dict[str, Any]:
    """Return whether the same was found, the sentences about it, and the new evidence."""
    with at_work(quiet) as listen:
        from dpaudit.review.replay import replay

        before = read_evidence(evidence_file)
        found = replay(
            before,
            pairs=_pairs(before, pairs) if pairs else None,
            data=dataset_in(data),
            domain=None if domain is None else _domain(domain),
            say=None if quiet else lambda sentence: click.echo(f"dpaudit: {sentence}", err=True),
            listen=listen,
            **options,
        )
        return {
            "holds": bool(found.holds),
            "sentences": list(found.sentences()),
            "after": None if found.after is None else found.after.document(),
        }


def _pairs(evidence: Evidence, names: Sequence[str]) -> list[tuple[Any, Any]]:
    """Read the datasets; if a file can be read in two ways, choose the one whose digests are in the evidence."""
    from dpaudit.neighbours.data_files import read_pairs
    from dpaudit.neighbours.digest import digest

    wanted = {(pair.digest0, pair.digest1) for pair in evidence.pairs}
    files = [Path(name).absolute() for name in names]
    return read_pairs(files, lambda pair: (digest(pair[0]), digest(pair[1])) in wanted)


def _domain(text: str) -> list[Any]:
    import json

    from dpaudit.errors import UsageError

    try:
        found = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--domain is a JSON list of datasets; this is none: {error}") from None
    if not isinstance(found, list):
        raise UsageError(f"--domain is a JSON list of datasets, not {text!r:.60}")
    return found
