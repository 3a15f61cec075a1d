"""What is known of one release, from all evidence about it? The command ``dossier``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dpaudit.cli.files import OutputFiles, checked_evidence
from dpaudit.cli.help import Command, examples


@click.command(
    "dossier",
    cls=Command,
    epilog=examples(
        "dpaudit dossier evidence/ --html dossier.html",
        "dpaudit dossier evidence/ --html dossier.html --context pyproject.toml --statement statement.json",
    ),
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--html", "html_file", metavar="FILE", required=True, help="Write the page ('-': standard output).")
@click.option("--name", metavar="TEXT", help="What the release is called; the name of FOLDER without it.")
@click.option("--context", metavar="FILE", help="Answers of people, a TOML file with [tool.dpaudit.context].")
@click.option("--statement", metavar="FILE", help="Write an in-toto statement about all evidence, to be signed.")
def command(folder: str, html_file: str, name: str | None, context: str | None, statement: str | None) -> int:
    """Draw one page about a release from all evidence files in FOLDER: what was examined, and what reviewers ask.

    Each is checked first; other JSON files are passed over, and named. The exit code is that of the gravest verdict.
    """
    from dpaudit.errors import UsageError
    from dpaudit.evidence.canonical_json import read_text
    from dpaudit.report.formats import FORMATS
    from dpaudit.report.formats.context import read_context
    from dpaudit.report.html.index import dossier_page, gravest, gravest_word

    files, passed_over = _evidence_files(Path(folder))
    if not files:
        raise UsageError(f"there is no evidence in {folder!r}; write some with --json, such as dpaudit audit … --json")
    answered = None if context is None else read_context(read_text(context, "the context"), context)
    outputs = OutputFiles(html_file, statement, read=[str(file) for file in files])
    evidence = [checked_evidence(str(file)) for file in files]
    base = Path.cwd() if html_file == "-" else Path(html_file).absolute().parent
    links = [_link(file, base) for file in files]
    outputs.write(html_file, dossier_page(name or Path(folder).resolve().name, evidence, links, answered))
    if statement is not None:
        outputs.write(statement, str(FORMATS["in-toto"].draw(evidence, None)))
    verdict = gravest(evidence)
    verdicts = "1 verdict" if len(evidence) == 1 else f"{len(evidence)} verdicts"
    outputs.say(f"{gravest_word(evidence)} is the gravest of {verdicts}.\n")
    for file in passed_over:
        outputs.say(f"  no evidence  {file}\n")
    return verdict.exit_code


def _evidence_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the evidence files in a folder and below it, by name, and other JSON files."""
    from dpaudit.evidence.canonical_json import read_json

    found: list[Path] = []
    others: list[Path] = []
    for file in sorted(folder.rglob("*.json")):
        try:
            document = read_json(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            document = None
        is_evidence = isinstance(document, dict) and {"id", "evidence"} <= document.keys()
        (found if is_evidence else others).append(file)
    return found, others


def _link(file: Path, base: Path) -> str:
    """Return the address of the page beside an evidence file, or of the file itself, from where the dossier is."""
    from urllib.parse import quote

    page = file.with_suffix(".html")
    shown = page if page.exists() else file
    return quote(os.path.relpath(shown.absolute(), base).replace(os.sep, "/"))
