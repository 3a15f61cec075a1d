"""How did the evidence about one target change over time? The command ``history``."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpaudit.cli.files import OutputFiles, checked_evidence, evidence_in, failing_check
from dpaudit.cli.help import Command, examples

if TYPE_CHECKING:
    from dpaudit.report.html.index import Entry


@click.command(
    "history",
    cls=Command,
    epilog=examples(
        "dpaudit history privacy/count.json --html history.html",
        "dpaudit history january.json february.json march.json --html history.html",
    ),
)
@click.argument("evidence_files", metavar="EVIDENCE...", nargs=-1, required=True)
@click.option("--html", "html_file", metavar="FILE", required=True, help="Write the page ('-': standard output).")
def command(evidence_files: tuple[str, ...], html_file: str) -> int:
    """Draw how the evidence about a target changed over time.

    Of one EVIDENCE file, or page with evidence such as those of `dpaudit gate --html`: all versions that git has of
    it, and the file as it is. Of several: these, by the time of their runs. Each is checked first.
    """
    from dpaudit.report.html.index import history_page

    outputs = OutputFiles(html_file, read=evidence_files)
    entries = list(_committed(Path(evidence_files[0]))) if len(evidence_files) == 1 else _given(evidence_files)
    outputs.write(html_file, history_page(entries))
    outputs.say(f"{len(entries)} pieces of evidence, from {entries[0].when} to {entries[-1].when}\n")
    return 0


def _given(evidence_files: tuple[str, ...]) -> list[Entry]:
    from dpaudit.report.html.index import Entry

    entries = []
    for file in evidence_files:
        evidence = checked_evidence(file)
        entries.append(Entry(evidence, evidence.run.started if evidence.run else "unknown", Path(file).name))
    return sorted(entries, key=lambda entry: entry.when)


def _committed(file: Path) -> Iterator[Entry]:
    """Yield every committed version of a file from the oldest on, and the file as it is; the same id once."""
    from dpaudit.errors import UsageError
    from dpaudit.report.html.index import Entry

    now, last = checked_evidence(str(file)), ""
    for line in reversed(_git(file, "log", "--format=%H %cI %s", "--", file.name).splitlines()):
        commit, when, subject = line.split(" ", 2)
        try:
            text = _git(file, "show", f"{commit}:./{file.name}")
            evidence = evidence_in(text, f"{file} in {commit[:10]}")
        except UsageError:
            continue  # a commit that removed the file, or in which it was no evidence
        why = failing_check(evidence)
        if why:
            raise UsageError(f"{file} in {commit[:10]} fails its check: {why}")
        if evidence.id != last:
            yield Entry(evidence, when, subject)
            last = evidence.id
    if now.id != last:
        yield Entry(now, now.run.started if now.run else "now", "not committed")


def _git(file: Path, *arguments: str) -> str:
    """Return what git says of a file's repository; nothing where there is none."""
    try:
        done = subprocess.run(
            ["git", "-C", str(file.absolute().parent), *arguments],
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""
