"""How is evidence shown to people? As one offline HTML page, or as a few lines of plain text.

Everything here is drawn from `dpaudit.evidence.evidence.Evidence` alone: the same evidence gives the same bytes.
Matplotlib and Jinja2 are imported only when a page is asked for.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence

__all__ = [
    "console_summary",
    "evidence_card",
    "evidence_from_page",
    "formats",
    "html",
    "html_page",
    "rows",
    "text",
    "view",
    "wants_colour",
]


def html_page(evidence: Evidence, *, baseline: Evidence | None = None) -> str:
    """Return one complete HTML page that loads nothing from anywhere and needs no script.

    Args:
        evidence: what was found.
        baseline: earlier evidence of the same mechanism, to be shown beside it.
    """
    from dpaudit.report.html.page import render

    return render(evidence, baseline)


def evidence_card(evidence: Evidence) -> str:
    """Return the compact card that a notebook shows, as a piece of HTML."""
    from dpaudit.report.formats.notebook import card

    return card(evidence)


def console_summary(evidence: Evidence, *, width: int | None = None, colour: bool = False) -> str:
    """Return the audit in 8 to 15 lines of plain text, verdict first.

    Args:
        evidence: what was found.
        width: columns to wrap at (100 where None); the id and the command are never broken.
        colour: set the verdict off for a terminal; see `wants_colour`. Colour says nothing that words do not.
    """
    from dpaudit.report.console import summary

    return summary(evidence, width=width, colour=colour)


def wants_colour(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that shows colour: not where NO_COLOR is set, nor on a dumb or closed one."""
    if stream is None or stream.closed or not stream.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def evidence_from_page(html: str) -> Evidence:
    """Return the evidence that a page carries; raises `UsageError` where there is none or it was altered."""
    from dpaudit.report.html.embedded_json import extract

    return extract(html)
