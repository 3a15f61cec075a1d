"""How does evidence read?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from dpaudit.terminal import Outputs, read_evidence


@click.command("report")
@click.argument("evidence_files", metavar="EVIDENCE...", nargs=-1, required=True)
@click.option("--html", "html_to", metavar="FILE-OR-FOLDER", help="Write the pages ('-': standard output).")
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence again ('-': standard output).")
def command(evidence_files: tuple[str, ...], html_to: str | None, json_file: str | None) -> None:
    """Draw the report of evidence files or pages; without a flag the console summary."""
    from dpaudit.errors import UsageError
    from dpaudit.report import console_summary, html_page

    if json_file is not None and len(evidence_files) > 1:
        raise UsageError("--json writes one evidence file; give one EVIDENCE")
    evidence = [read_evidence(name) for name in evidence_files]
    pages = [] if html_to is None else _page_names(evidence_files, html_to)
    outputs = Outputs(json_file, *pages)
    drawn = [html_page(item) for item in evidence] if pages else []
    for page, text in zip(pages, drawn, strict=True):
        outputs.write(page, text)
    if json_file is not None:
        outputs.write(json_file, evidence[0].to_json())
    if html_to is None and json_file is None:
        outputs.say("\n".join(console_summary(item) for item in evidence))


def _page_names(evidence_files: Sequence[str], html_to: str) -> list[str]:
    """Return where the page of each evidence file goes."""
    from dpaudit.errors import UsageError

    folder = Path(html_to)
    if not folder.is_dir():
        if len(evidence_files) > 1 or html_to.endswith(("/", os.sep)):
            raise UsageError(f"--html {html_to!r} is no folder that exists; make it first, or write one page to a file")
        return [html_to]
    pages = [str(folder / f"{Path(name).stem}.html") for name in evidence_files]
    if len(set(pages)) < len(pages):
        raise UsageError("two evidence files have the same name and would write the same page; rename one")
    return pages
