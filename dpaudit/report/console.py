"""What does a user need to see in a terminal? Ten to eighteen lines, the verdict first."""

from __future__ import annotations

import textwrap

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.rows import Importance, Row
from dpaudit.report.text.phrases import one_line
from dpaudit.report.view import view

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
