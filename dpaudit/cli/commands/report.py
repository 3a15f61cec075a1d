"""How is evidence shown? As a summary, a page or another format, or compared with earlier evidence.

The command ``report``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpaudit.cli.files import OutputFiles, checked_evidence, no_script
from dpaudit.cli.help import Command, examples
from dpaudit.report.formats import FORMATS

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence

_INDEX = "index.html"


@click.command(
    "report",
    cls=Command,
    epilog=examples(
        "dpaudit report evidence.json --html page.html",
        "dpaudit report --compare old.json new.json",
        "dpaudit report evidence.json --format bibtex",
    ),
)
@click.argument("evidence_files", metavar="EVIDENCE...", nargs=-1, required=True)
@click.option(
    "--html",
    "html_to",
    metavar="FILE-OR-FOLDER",
    help="Write the page, or several and an index.",
)
@no_script
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence again ('-': standard output).")
@click.option("--compare", is_flag=True, help="Say what changed between two EVIDENCE files, the older one first.")
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="Write another format; see docs/formats.md."
)
@click.option("--output", metavar="FILE", help="Where --format goes; standard output without it, or with '-'.")
@click.option("--context", metavar="FILE", help="Answers for registry-yaml, a TOML file with [tool.dpaudit.context].")
def command(
    evidence_files: tuple[str, ...],
    html_to: str | None,
    script: bool,
    json_file: str | None,
    compare: bool,
    format_name: str | None,
    output: str | None,
    context: str | None,
) -> None:
    """Draw the report of evidence files or pages; without a flag the console summary.

    Each is checked first. Exit code 2: EVIDENCE cannot be read, or fails its check (dpaudit check), and is not drawn.
    """
    from dpaudit.errors import UsageError

    if output is not None and format_name is None:
        raise UsageError(f"--output says where --format goes; add --format with one of {', '.join(FORMATS)}")
    if context is not None and (format_name is None or not FORMATS[format_name].asks):
        asking = " or ".join(name for name, known in FORMATS.items() if known.asks)
        raise UsageError(f"--context answers the questions of a registry; add --format {asking}")
    if format_name is not None and (compare or html_to is not None or json_file is not None):
        raise UsageError("--format writes one result; leave out --compare, --html and --json, or call twice")
    with _legible():
        if format_name is not None:
            _format(evidence_files, format_name, output or "-", context)
        elif compare:
            _compare(evidence_files, html_to, json_file)
        else:
            _draw(evidence_files, html_to, json_file, script)


@contextlib.contextmanager
def _legible() -> Iterator[None]:
    """Explain what to do if evidence cannot be rendered; inconsistent evidence may fail in any way."""
    from dpaudit.errors import UsageError

    try:
        yield
    except (UsageError, click.ClickException, OSError):
        raise
    except Exception as error:
        raise UsageError(
            f"the evidence cannot be drawn ({type(error).__name__}: {str(error)[:200]}); dpaudit check says whether it "
            "contradicts itself, and if it does not, this is a fault of dpaudit: please report it"
        ) from error


def _draw(evidence_files: Sequence[str], html_to: str | None, json_file: str | None, script: bool) -> None:
    """Write summaries, or pages, or the evidence again; several pages get an index."""
    from dpaudit.errors import UsageError
    from dpaudit.report import console_summary, html_page

    if json_file is not None and len(evidence_files) > 1:
        raise UsageError("--json writes one evidence file; give one EVIDENCE")
    evidence = [checked_evidence(name) for name in evidence_files]
    pages = [] if html_to is None else _page_names(evidence_files, html_to)
    index = [] if len(pages) < 2 else [str(Path(pages[0]).with_name(_INDEX))]
    outputs = OutputFiles(json_file, *pages, *index)
    drawn = [html_page(item, script=script) for item in evidence] if pages else []
    for page, text in zip(pages, drawn, strict=True):
        outputs.write(page, text)
    for page in index:
        outputs.write(page, _index_page(evidence, evidence_files, pages))
    if json_file is not None:
        outputs.write(json_file, evidence[0].to_json())
    if html_to is None and json_file is None:
        outputs.say("\n".join(console_summary(item, colour=outputs.colour) for item in evidence))


def _page_names(evidence_files: Sequence[str], html_to: str) -> list[str]:
    """Return the file of each page; a folder for pages is made: for several, or where the name is that of a folder."""
    folder, several = Path(html_to), len(evidence_files) > 1
    if several or html_to.endswith(("/", os.sep)) or not (folder.suffix or html_to == "-" or folder.exists()):
        _make_folder(html_to)
    elif not folder.is_dir():
        return [html_to]
    names: list[str] = []
    taken = {_INDEX} if several else set()
    for file in evidence_files:
        again = (f"-{number}" for number in itertools.count(2))
        tries = (f"{Path(file).stem}{mark}.html" for mark in itertools.chain([""], again))
        names.append(next(name for name in tries if name.casefold() not in taken))
        taken.add(names[-1].casefold())  # some file systems ignore case
    return [str(folder / name) for name in names]


def _make_folder(name: str) -> None:
    from dpaudit.errors import UsageError

    if name == "-":
        raise UsageError("several pages cannot go to standard output ('-'); name a folder with --html")
    if not Path(name).exists() and Path(name).suffix in (".html", ".htm"):
        raise UsageError(f"several pages go to a folder, and {name!r} is named like a page; name a folder")
    try:
        Path(name).mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {name!r}: {error.strerror or error}") from None


def _index_page(evidence: Sequence[Evidence], evidence_files: Sequence[str], pages: Sequence[str]) -> str:
    """Return the index page: the most urgent verdicts first, then by name."""
    from urllib.parse import quote

    from dpaudit.report.html.index import GRAVEST, IndexEntry, index_page

    entries = [
        IndexEntry(item, quote(Path(page).name), Path(file).name)
        for item, file, page in zip(evidence, evidence_files, pages, strict=True)
    ]
    entries.sort(key=lambda entry: (GRAVEST.index(entry.evidence.verdict), entry.evidence.target.name))
    return index_page(f"{len(entries)} reports", "The remark is the name of the evidence file.", entries)


def _compare(evidence_files: Sequence[str], html_file: str | None, json_file: str | None) -> None:
    """Show what changed; the exit code is always 0, since a change is not a failure."""
    from dpaudit.errors import UsageError

    if len(evidence_files) != 2:
        raise UsageError(f"--compare takes two evidence files, the older one first, not {len(evidence_files)}")
    from dpaudit.review.compare.intervals import compare
    from dpaudit.review.compare.page import compare_json, compare_page, compare_text

    before, now = (checked_evidence(name) for name in evidence_files)
    outputs = OutputFiles(json_file, html_file)
    comparison = compare(before, now)
    if html_file is not None:
        outputs.write(html_file, compare_page(before, now, comparison))
    if json_file is not None:
        outputs.write(json_file, compare_json(before, now, comparison))
    outputs.say(compare_text(before, now, comparison))


def _format(evidence_files: Sequence[str], name: str, output: str, context: str | None) -> None:
    from dpaudit.errors import UsageError
    from dpaudit.evidence.canonical_json import read_text
    from dpaudit.report.formats.context import read_context

    if len(evidence_files) > 1 and not FORMATS[name].several:
        more = ", ".join(other for other, known in FORMATS.items() if known.several)
        raise UsageError(f"--format {name} is about one evidence file; give one EVIDENCE ({more} take more)")
    outputs = OutputFiles(output)
    evidence = [checked_evidence(file) for file in evidence_files]
    drawn = FORMATS[name].draw(
        evidence, None if context is None else read_context(read_text(context, "the context"), context)
    )
    if isinstance(drawn, bytes):
        _write_bytes(output, drawn)
    else:
        outputs.write(output, drawn)


def _write_bytes(path: str, content: bytes) -> None:
    """Write a binary file atomically."""
    from dpaudit.errors import UsageError
    from dpaudit.evidence.canonical_json import replace_whole

    try:
        if path == "-":
            click.echo(content, nl=False)
            return
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        replace_whole(target, content)
    except BrokenPipeError:
        raise
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        raise UsageError(f"cannot write {path!r}: {getattr(error, 'strerror', None) or error}") from None
