"""How is evidence written as Markdown? As a table of all audits, and the findings of each, for pull requests or wikis.

Names, reasons and data come from outside: everything that Markdown or HTML would interpret is written as a character
reference, so that it is shown literally.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.report.rows import Importance, Row
from dpaudit.report.text.headline import NO_PROOF
from dpaudit.report.text.numerals import count_text
from dpaudit.report.text.phrases import shortened, visible
from dpaudit.report.view import View, view

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
