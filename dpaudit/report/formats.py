"""How is evidence written besides its page? As lines of a terminal, Markdown, a Statement, and a PDF.

A new format is a function here, an entry of `FORMATS` in `dpaudit.report`, and a row in docs/formats.md. Names, reasons
and data come from outside: everything that Markdown or HTML would interpret is written as a character reference, so
that it is shown literally.

The Statement (in-toto Attestation Framework, v1) names the evidence and the code by their digests; its predicate is
the framework's test result (``https://in-toto.io/attestation/test-result/v0.1``). A passed test found nothing against
a claim; it does not say that the claim holds. A proof, which does say so, is a separate test.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence, qualified
from dpaudit.evidence.records import Verdict
from dpaudit.report.document import Importance, Row
from dpaudit.report.text.phrases import count_text, one_line, shortened, visible
from dpaudit.report.text.verdict import NO_PROOF
from dpaudit.report.view import View, view

# --- What does a user need to see in a terminal? ---------------------------------------------------------

_WIDTH, _LABEL = 100, 13
# the largest number of lines of a row, by its key or section; all others have one
_MOST = {
    "reason": 24,  # six refusals of a proof, each with a line to write instead
    "fact": 12,
    "partial": 12,
    "trust": 4,
    "target": 2,
    "event": 3,
    "search": 3,
    "rates": 2,
    "second": 2,
    "beside": 6,
    "note": 4,
    "release": 2,
    "chain": 2,
    "relation": 2,
    "other": 2,
}
_MOST_NARROW = {**_MOST, "claim": 2, "upper": 2}
# the colours of the page, for terminals with 16 colours; only PROVED is green
_COLOURS = {"violated": "31", "proved": "32", "inconclusive": "33", "invalid": "35"}


def summary(evidence: Evidence, *, width: int | None = None, colour: bool = False) -> str:
    """Return the summary as text that ends in a line break."""
    columns = max(_WIDTH if width is None else width, 40)
    shown = view(evidence)
    head = shown.headline
    lines = [
        line
        for text in (f"{head.word}: {head.sentence}", head.brief)
        for line in textwrap.wrap(one_line(text), columns)
    ]
    if colour:
        lines[0] = _coloured(lines[0], head.word, head.tone)
    for row in shown.select(Importance.SUMMARY):
        lines += _lines(shown.told_once(row), columns)
    return "\n".join(lines) + "\n"


def _coloured(line: str, word: str, tone: str) -> str:
    """Return the first line with its verdict in bold and in colour; no text of the evidence is inside the codes."""
    codes = ";".join(filter(None, ("1", _COLOURS.get(tone))))
    return f"\x1b[{codes}m{word}\x1b[0m{line.removeprefix(word)}"


def _lines(row: Row, columns: int) -> list[str]:
    if row.code:
        return ["  " + row.label.ljust(_LABEL) + row.line]
    most = _MOST if columns >= _WIDTH else _MOST_NARROW
    wrapped = textwrap.wrap(
        one_line(row.line),
        columns - _LABEL - 2,
        break_on_hyphens=False,
        max_lines=most.get(row.key, most.get(row.section, 1)),
        placeholder=" …",
    )
    labels = [row.label] + [""] * len(wrapped)
    return ["  " + label.ljust(_LABEL) + line for label, line in zip(labels, wrapped or [""], strict=False)]


# --- How is evidence written as Markdown? ----------------------------------------------------------------

_SENTENCE, _NAME, _COMMAND = 800, 160, 4_000
_OBEYED = re.compile(r"[\\`*_{}\[\]<>#|~@&!$\"]|:(?=//|[\w+-]+:)|(?<=[wW])\.")  # never at the start of a line


def escaped(text: str, length: int = _SENTENCE) -> str:
    """Return one line of at most ``length`` characters in which nothing is markup."""
    return _OBEYED.sub(lambda mark: f"&#{ord(mark[0])};", shortened(text, length))


def markdown(evidences: Sequence[Evidence]) -> str:
    """Return a summary of one or several audits in GitHub's Markdown, in the given order."""
    views = [view(evidence) for evidence in evidences]
    parts = [_details(shown) for shown in views]
    if len(views) > 1:
        parts.insert(0, _overview(views))
    if any(evidence.verdict is Verdict.NOT_VIOLATED for evidence in evidences) and len(views) > 1:
        parts.append(f"Not violated means that no violation was found. {NO_PROOF}")
    return "\n\n".join(parts) + "\n"


def _overview(views: Sequence[View]) -> str:
    lines = [
        f"# {count_text(len(views))} audits of differential privacy",
        "",
        "| Mechanism | Verdict | Claim | Lower bound | Upper bound | Beside the verdict |",
        "|---|---|---|---|---|---|",
    ]
    for shown in views:
        pressing = "; ".join(shown.pressing_lines) or "–"
        cells = (shown.headline.word, shown.cell("claim"), shown.sure("lower"), shown.sure("upper"), pressing)
        lines.append(f"| {_code(shown.cell('target'))} | {' | '.join(map(escaped, cells))} |")
    return "\n".join(lines)


def _details(shown: View) -> str:
    head = shown.headline
    lines = [f"## {_code(shown.cell('target'))}: {head.word}", "", escaped(head.sentence), ""]
    lines += [f"**{escaped(head.caution)}**", ""] if head.caution else []
    lines += ["| What | Stated |", "|---|---|"]
    rows = (row for row in shown.select(Importance.FULL) if row.key != "target")  # the target is the heading
    return "\n".join([*lines, *(f"| {escaped(row.name)} | {_cell(shown.told_once(row))} |" for row in rows)])


def _cell(row: Row) -> str:
    if row.code:
        return _code(visible(row.text, one_line=True), _COMMAND)
    return f"**{escaped(row.text)}**" if row.is_urgent else escaped(row.text)


def _code(text: str, length: int = _NAME) -> str:
    return f"<code>{escaped(text, length)}</code>"


# --- How does a build attest what was found? -------------------------------------------------------------

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"

_FAILED, _WARNED, _PASSED = "FAILED", "WARNED", "PASSED"
_ASKED = ("claim", "relation", "learning", "measuring", "confidence", "seed", "low_bits", "versions")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def statement(evidences: Sequence[Evidence]) -> dict[str, Any]:
    """Return one Statement about one or several audits, as JSON values.

    ``result`` is FAILED if a claim is violated or runs cannot be trusted; else WARNED if nothing was decided, nothing
    was claimed, or a finding beside the verdict is worse than the verdict; else PASSED.
    """
    lists: dict[str, list[str]] = {_PASSED: [], _WARNED: [], _FAILED: []}
    views = [view(evidence) for evidence in evidences]
    for evidence, shown in zip(evidences, views, strict=True):
        lists[_result(shown)].append(f"no violation of the claim found: {_title(evidence)}")
        if evidence.verdict is Verdict.PROVED:
            lists[_PASSED].append(f"claim {qualified(evidence)}: {_title(evidence)}")
    return {
        "_type": STATEMENT,
        "subject": _unique([subject for evidence in evidences for subject in _subjects(evidence)]),
        "predicateType": PREDICATE,
        "predicate": {
            "result": next(result for result in (_FAILED, _WARNED, _PASSED) if lists[result]),
            "configuration": [_configuration(evidence) for evidence in evidences],
            "passedTests": lists[_PASSED],
            "warnedTests": lists[_WARNED],
            "failedTests": lists[_FAILED],
            "dpaudit_findings": [_finding(shown) for shown in views],
        },
    }


def statement_text(evidences: Sequence[Evidence]) -> str:
    """Return the Statement as text."""
    return json.dumps(statement(evidences), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _result(shown: View) -> str:
    verdict = shown.evidence.verdict
    if verdict in (Verdict.VIOLATED, Verdict.INVALID):
        return _FAILED
    if verdict in (Verdict.INCONCLUSIVE, Verdict.NO_CLAIM):
        return _WARNED
    return _WARNED if shown.pressing else _PASSED


def _title(evidence: Evidence) -> str:
    """Return a test name that a policy can refer to: the target and its claim, as they are written."""
    return one_line(f"{evidence.target.name} ({evidence.claim or 'no claim'})")


def _subjects(evidence: Evidence) -> list[dict[str, Any]]:
    """Return what is attested: the record by its id, its evidence file, and the function's source."""
    identity = evidence.id.removeprefix("dpa1:")
    file = hashlib.sha256(evidence.to_json().encode("utf-8")).hexdigest()
    subjects = [_subject(evidence.id, identity), _subject(f"{evidence.id}.json", file)]
    source = evidence.target.digest
    if source is not None and _DIGEST.fullmatch(source):
        subjects.append(_subject(f"source of {one_line(evidence.target.name)} {source[:12]}", source))
    return subjects


def _subject(name: str, digest: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": digest}}


def _unique(subjects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each artifact once, for digests that two audits share and evidence that is given twice."""
    return list({subject["digest"]["sha256"]: subject for subject in reversed(subjects)}.values())[::-1]


def _configuration(evidence: Evidence) -> dict[str, Any]:
    """Return the settings of the audit, with the SHA-256 of the RFC 8785 form of its annotations."""
    import rfc8785

    record = evidence.record()
    asked = {
        "target": record["target"]["name"],
        "parameters": record["target"]["parameters"],
        "pairs": [[pair["digest0"], pair["digest1"]] for pair in record["pairs"]],
        **{name: record.get(name) for name in _ASKED},
    }
    return {
        "name": f"configuration of {evidence.id}",
        "digest": {"sha256": hashlib.sha256(rfc8785.dumps(asked)).hexdigest()},
        "mediaType": "application/json",
        "annotations": asked,
    }


def _finding(shown: View) -> dict[str, Any]:
    return {
        "evidence": shown.evidence.id,
        "verdict": qualified(shown.evidence),
        "sentence": one_line(shown.headline.sentence),
        "caution": one_line(shown.headline.caution),
        "beside": [{"about": row.name, "text": one_line(row.text)} for row in shown.beside],
    }


# --- How does a page become a PDF? -----------------------------------------------------------------------

EXTRA = "pip install 'dpaudit[pdf]'"


def pdf(html: str) -> bytes:
    """Return a page from `dpaudit.report.html_page` as a PDF."""
    try:
        import weasyprint
        from weasyprint.urls import URLFetcher
    except ImportError:
        raise UsageError(f"a PDF needs WeasyPrint, which is not installed; {EXTRA}, or print the HTML page") from None
    except OSError as error:  # WeasyPrint is installed, but Pango is not
        raise UsageError(f"WeasyPrint does not find its libraries ({error}); or print the HTML page") from None
    logger = logging.getLogger("weasyprint")
    before = logger.level
    logger.setLevel(logging.CRITICAL)  # warnings about properties for screens only
    nothing = URLFetcher(allowed_protocols=())
    paper = weasyprint.CSS(string=".record { display: none }")  # the raw record, which browsers print collapsed
    try:
        opened = html.replace('<details class="part"', '<details open class="part"')
        with _without_clock():
            printed: bytes = weasyprint.HTML(string=_self_contained(opened), url_fetcher=nothing).write_pdf(
                stylesheets=[paper]
            )
    finally:
        logger.setLevel(before)
    return printed


@contextlib.contextmanager
def _without_clock() -> Iterator[None]:
    """Give the fonts within a page one date, so that a page printed twice is the same file."""
    before = os.environ.get(_DATE)
    os.environ[_DATE] = "0" if before is None else before
    try:
        yield
    finally:
        if before is None:
            del os.environ[_DATE]


_DATE = "SOURCE_DATE_EPOCH"  # of what is built; fontTools keeps to it
_DRAWING = re.compile(r"(<svg\b[^>]*>)(.*?)(</svg>)", re.DOTALL)  # ours: text of the evidence has no "<"
_SHEET = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_NESTED = re.compile(r"@[^{;]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")  # rules for some media only
_VARIABLE = re.compile(r"(--[\w-]+)\s*:\s*([^;}]+)")


def _self_contained(html: str) -> str:
    """Return the page with styles copied into its drawings, since WeasyPrint does not look for them elsewhere."""
    sheet = _NESTED.sub("", "".join(_SHEET.findall(html)[:1]))
    tone = re.search(r'class="verdict ([\w-]+)"', html)
    values: dict[str, str] = {}
    for selector in (":root", *([f".{tone[1]}"] if tone else [])):
        for block in re.findall(rf"(?m)^{re.escape(selector)} \{{([^}}]*)\}}", sheet):
            values |= {name: value.strip().replace('"', "'") for name, value in _VARIABLE.findall(block)}

    def resolved(text: str) -> str:
        return re.sub(r"var\((--[\w-]+)\)", lambda match: values.get(match[1], "currentColor"), text)

    style = f"<style>{resolved(sheet)}</style>"

    def drawn(parts: re.Match[str]) -> str:
        inside = re.sub(r"<[^>]*>", lambda tag: resolved(tag[0]), parts[2])
        return f"{parts[1]}{style}{inside}{parts[3]}"

    return _DRAWING.sub(drawn, html)
