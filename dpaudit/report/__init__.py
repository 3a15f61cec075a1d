"""How is evidence shown to people? As one offline HTML page, or as a few lines of plain text.

Everything here is drawn from `dpaudit.evidence.Evidence` alone: the same evidence gives the same bytes.
Matplotlib and Jinja2 are imported only when a page is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.evidence import Evidence

__all__ = ["console_summary", "evidence_from_page", "html_page"]


def html_page(evidence: Evidence) -> str:
    """Return one complete HTML page that loads nothing from anywhere and needs no script."""
    from dpaudit.report.page import render

    return render(evidence)


def console_summary(evidence: Evidence, *, width: int | None = None) -> str:
    """Return the audit in 8 to 15 lines of plain text, verdict first.

    Args:
        evidence: what was found.
        width: columns to wrap at (100 where None); the id and the command are never broken.
    """
    from dpaudit.report.console import summary

    return summary(evidence, width=width)


def evidence_from_page(html: str) -> Evidence:
    """Return the evidence that a page carries; raises `UsageError` where there is none or it was altered."""
    from dpaudit.report.embed import extract

    return extract(html)
