"""Does the same question get the same answer today?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.apart import carried_out, evidence_of, in_process
from dpaudit.cli.options import Count, Outputs, prints_to_standard_error, progress, read_evidence

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence

_MOST_DIFFERENCES = 20


@click.command("replay")
@click.argument("evidence_file", metavar="EVIDENCE")
@click.option("--target", metavar="TARGET", help="What to run, where the name in the evidence does not lead to it.")
@click.option("--pair", "pair_files", metavar="FILE", multiple=True, help="The datasets, where they were not kept.")
@click.option("--data", "data_file", metavar="FILE", help="The dataset that was searched, where it was not kept.")
@click.option("--domain", help="The domain that was enumerated, where it was not kept: a JSON list.")
@click.option("--trust", is_flag=True, help="Run what EVIDENCE names wherever it lies, also outside this folder.")
@click.option("--workers", type=Count(), default=1, show_default=True, help="Processes.")
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence of now ('-': standard output).")
@click.option("--quiet", is_flag=True, help="Only the exit code.")
@in_process
def command(evidence_file: str, json_file: str | None, quiet: bool, in_process: bool, **options: Any) -> int:
    """Run the audit or proof of EVIDENCE again. Exit code 0: the same was found, 1: it differs, 2: not possible.

    What it names is run in a process of its own, which is ended with all that it started. Evidence may come from
    anybody: only what lies under the working directory or in an installed catalogue is run, unless --target names it or
    --trust says that the file is trusted. What is run, and whether its code is that of EVIDENCE, is said before.
    """
    outputs = Outputs(json_file)
    arguments = {"evidence_file": evidence_file, "quiet": quiet, **options}
    found = carried_out(replayed, arguments, here=in_process)
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
    pair_files: Sequence[str],
    data_file: str | None,
    domain: str | None,
    **options: Any,
) -> dict[str, Any]:
    """Return whether the same was found, what may be said of it, and the evidence of now."""
    with prints_to_standard_error(), progress(quiet) as listen:
        from dpaudit.review.replay import replay

        before = read_evidence(evidence_file)
        found = replay(
            before,
            pairs=_pairs(before, pair_files) if pair_files else None,
            data=None if data_file is None else _dataset(data_file),
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
    """Read the datasets; of two readings of a file the one whose digests are in the evidence."""
    from dpaudit.neighbours.digest import digest
    from dpaudit.neighbours.pair_files import read_pairs

    wanted = {(pair.digest0, pair.digest1) for pair in evidence.pairs}
    files = [Path(name).absolute() for name in names]
    return read_pairs(files, lambda pair: (digest(pair[0]), digest(pair[1])) in wanted)


def _dataset(name: str) -> Any:
    from dpaudit.neighbours.data_files import read_dataset

    return read_dataset(Path(name).absolute())


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
