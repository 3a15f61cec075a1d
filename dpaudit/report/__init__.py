"""How is evidence shown to people? As one self-contained HTML page, or as a few lines of plain text.

Everything is rendered from `dpaudit.evidence.evidence.Evidence` alone, so the same evidence gives the same bytes.
Matplotlib and Jinja2 are imported only when a page is rendered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.report.registry import Answer

__all__ = [
    "FORMATS",
    "console_summary",
    "document",
    "evidence_card",
    "evidence_from_page",
    "formats",
    "html",
    "html_page",
    "registry",
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
    from dpaudit.report.html.page import card

    return card(evidence)


def console_summary(evidence: Evidence, *, width: int | None = None, colour: bool = False) -> str:
    """Return the audit in 8 to 15 lines of plain text, verdict first.

    Args:
        evidence: the evidence.
        width: columns to wrap at (100 if None); the id and the command are never broken.
        colour: highlight the verdict for a terminal; see `wants_colour`. Colour adds no information to the words.
    """
    from dpaudit.report.formats import summary

    return summary(evidence, width=width, colour=colour)


def wants_colour(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal with colour: False if NO_COLOR is set, and for a dumb or closed terminal."""
    if stream is None or stream.closed or not stream.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def evidence_from_page(html: str) -> Evidence:
    """Return the evidence embedded in a page; raise `UsageError` if there is none or it was altered."""
    from dpaudit.report.html.templates import extract

    return extract(html)


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write evidence."""

    # (evidence, answers of people (`dpaudit.report.registry`)) → text or bytes
    draw: Callable[[Sequence[Evidence], Mapping[str, Answer] | None], str | bytes]
    several: bool = False  # whether it accepts several evidence files
    asks: bool = False  # whether it includes answers of people


def _pdf(evidences: Sequence[Evidence], _: object) -> bytes:
    from dpaudit.report.formats import pdf

    return pdf(html_page(evidences[0], script=False))


def _markdown(evidences: Sequence[Evidence], _: object) -> str:
    from dpaudit.report.formats import markdown

    return markdown(evidences)


def _registry(evidences: Sequence[Evidence], answers: Mapping[str, Answer] | None) -> str:
    from dpaudit.report.registry import registry_yaml

    return registry_yaml(evidences[0], answers)


def _in_toto(evidences: Sequence[Evidence], _: object) -> str:
    from dpaudit.report.formats import statement_text

    return statement_text(evidences)


def _bibtex(evidences: Sequence[Evidence], _: object) -> str:
    from dpaudit.report.text.reproduce import bibtex

    return "\n".join(bibtex(evidence) + "\n" for evidence in evidences)


FORMATS: dict[str, Format] = {
    "json": Format(lambda evidences, _: evidences[0].to_json()),
    "html": Format(lambda evidences, _: html_page(evidences[0])),
    "markdown": Format(_markdown, several=True),
    "registry-yaml": Format(_registry, asks=True),
    "in-toto": Format(_in_toto, several=True),
    "bibtex": Format(_bibtex, several=True),
    "pdf": Format(_pdf),
}
"""In which formats evidence can be written; the command line takes its choices from here."""
