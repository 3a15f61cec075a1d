"""Is evidence consistent, and how is it shown? The commands that read evidence alone."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpaudit.cli.files import (
    OutputFiles,
    checked_evidence,
    evidence_in,
    failing_check,
    no_script,
    prints_to_standard_error,
)
from dpaudit.cli.main import Command, examples
from dpaudit.report import FORMATS

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.report.html.index import Entry

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
def report_command(
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
    from dpaudit.review.compare import compare, compare_json, compare_page, compare_text

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
    from dpaudit.report.registry import read_context

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


# --- Is evidence consistent? The command ``check``. ---


@click.command(
    "check",
    cls=Command,
    epilog=examples("dpaudit check report.html", "dpaudit check evidence.json --against package.module:release"),
)
@click.argument("evidence_file", metavar="EVIDENCE")
@click.option("--against", metavar="TARGET", help="Load TARGET and compare its code, and its proof, with EVIDENCE.")
@click.option("--quiet", is_flag=True, help="Only the exit code.")
def check_command(evidence_file: str, against: str | None, quiet: bool) -> int:
    """Check evidence: its id, every bound from its counts, every certificate.

    Nothing is run. With --against the target is imported, compared, and where it was proved read again. Where node is
    installed, a certificate is also checked by the script of the pages, whose soundness is proved by machine.

    Exit code 0: all that the verdict rests on was computed again and holds; 1: something fails; 2: EVIDENCE cannot be
    read or was altered; 3: nothing fails, and something that the verdict rests on was not checked.
    """
    from dpaudit.review.check import check_file, exit_code
    from dpaudit.review.check.against import by_theorem

    with prints_to_standard_error():
        findings = check_file(evidence_file, target=against)
        findings += by_theorem(evidence_file)
    for finding in () if quiet else findings:
        click.echo(f"{finding.answer!s:<12} {finding.what:<15} {finding.sentence}")
    return exit_code(findings)


# --- How did the evidence about one target change over time? The command ``history``. ---


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
def history_command(evidence_files: tuple[str, ...], html_file: str) -> int:
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


# --- What is known of one release, from all evidence about it? The command ``dossier``. ---


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
def dossier_command(folder: str, html_file: str, name: str | None, context: str | None, statement: str | None) -> int:
    """Draw one page about a release from all evidence files in FOLDER: what was examined, and what reviewers ask.

    Each is checked first; other JSON files are passed over, and named. The exit code is that of the gravest verdict.
    """
    from dpaudit.errors import UsageError
    from dpaudit.evidence.canonical_json import read_text
    from dpaudit.report import FORMATS
    from dpaudit.report.html.index import dossier_page, gravest, gravest_word
    from dpaudit.report.registry import read_context

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

    evidence: list[Path] = []
    others: list[Path] = []
    for file in sorted(folder.rglob("*.json")):
        try:
            document = read_json(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            document = None
        is_evidence = isinstance(document, dict) and {"id", "evidence"} <= document.keys()
        (evidence if is_evidence else others).append(file)
    return evidence, others


def _link(file: Path, base: Path) -> str:
    """Return the address of the page beside an evidence file, or of the file itself, from where the dossier is."""
    from urllib.parse import quote

    page = file.with_suffix(".html")
    shown = page if page.exists() else file
    return quote(os.path.relpath(shown.absolute(), base).replace(os.sep, "/"))


# --- What does a word of dpaudit mean? The command ``explain``. ---


@click.command(
    "explain",
    cls=Command,
    epilog=examples(
        "dpaudit explain", "dpaudit explain epsilon", "dpaudit explain sampling rate", "dpaudit explain claim-violated"
    ),
)
@click.argument("words", metavar="[WORD]", nargs=-1)
def explain_command(words: tuple[str, ...]) -> int:
    """Say what WORD means, and what to do: a verdict, a rule of the gate, a finding of a trace, or a term.

    Without WORD: list them all.
    """
    from dpaudit.errors import UsageError, nearest
    from dpaudit.report.text.verdict import terms, verdicts_and_findings

    word = " ".join(words)
    listed = terms()
    told = {**verdicts_and_findings(), **_rules(), **{names: (text,) for names, text in listed.items()}}
    if not word:
        formatter = click.HelpFormatter(width=100)
        formatter.write_dl([(name, text[0]) for name, text in told.items()], col_max=36)
        click.echo(formatter.getvalue(), nl=False)
        return 0
    asked = [
        name
        for name in told
        if _folded_name(word) in map(_folded_name, (name, name.partition(" (")[0], *name.split(", ")))
    ]
    if not asked:
        known = [*(told.keys() - listed.keys()), *(name for names in listed for name in names.split(", "))]
        raise UsageError(f"{word!r} is no verdict, rule, finding or term; {nearest(word, known)}")
    click.echo("\n\n".join(textwrap.fill(part, 100) for name in asked for part in (name, *told[name])))
    return 0


def _folded_name(name: str) -> str:
    return name.casefold().replace("-", "").replace(" ", "")


def _rules() -> dict[str, tuple[str, ...]]:
    """The rules of the gate: a title, what each means, and what to do."""
    from dpaudit.gate.result import MEANINGS

    # a rule that is called like a verdict is told from it by its title
    return {f"{rule} (gate)": (each.title, each.says, f"Next: {each.next}") for rule, each in MEANINGS.items()}
