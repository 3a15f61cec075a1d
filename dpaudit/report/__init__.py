"""How is evidence shown to people? As one self-contained HTML page, or as a few lines of plain text.

Everything is rendered from `dpaudit.evidence.evidence.Evidence` alone, so the same evidence gives the same bytes.
Matplotlib and Jinja2 are imported only when a page is rendered.
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


def html_page(evidence: Evidence, *, baseline: Evidence | None = None, script: bool = True) -> str:
    """Return one complete HTML page that loads nothing and needs no script.

    Args:
        evidence: the evidence.
        baseline: earlier evidence of the same mechanism, to show what changed.
        script: whether the page of a proof has the script that checks the proof again when the page is opened; the
            policy of the page allows this one script, and a page of anything else has none.
    """
    from dpaudit.report.html.page import render

    return render(evidence, baseline, script=script)


def evidence_card(evidence: Evidence) -> str:
    """Return the compact card that a notebook shows, as an HTML fragment."""
    from dpaudit.report.formats.notebook import card

    return card(evidence)


def console_summary(evidence: Evidence, *, width: int | None = None, colour: bool = False) -> str:
    """Return the audit in 8 to 15 lines of plain text, verdict first.

    Args:
        evidence: the evidence.
        width: columns to wrap at (100 if None); the id and the command are never broken.
        colour: highlight the verdict for a terminal; see `wants_colour`. Colour adds no information to the words.
    """
    from dpaudit.report.console import summary

    return summary(evidence, width=width, colour=colour)


def wants_colour(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal with colour: False if NO_COLOR is set, and for a dumb or closed terminal."""
    if stream is None or stream.closed or not stream.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def evidence_from_page(html: str) -> Evidence:
    """Return the evidence embedded in a page; raise `UsageError` if there is none or it was altered."""
    from dpaudit.report.html.embedded_json import extract

    return extract(html)
