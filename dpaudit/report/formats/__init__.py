"""In which formats can evidence be written? There is one entry each, from which the command line takes its choices.

A new format is a module in this folder, an entry here, and a row in docs/formats.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.report.formats.context import Answer

__all__ = ["FORMATS", "context", "markdown", "notebook"]


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write evidence."""

    # (evidence, answers of people (`dpaudit.report.formats.context`)) → text or bytes
    draw: Callable[[Sequence[Evidence], Mapping[str, Answer] | None], str | bytes]
    several: bool = False  # whether it accepts several evidence files
    asks: bool = False  # whether it includes answers of people


def _html(evidences: Sequence[Evidence], _: object) -> str:
    from dpaudit.report import html_page

    return html_page(evidences[0])


def _pdf(evidences: Sequence[Evidence], _: object) -> bytes:
    from dpaudit.report import html_page
    from dpaudit.report.formats.pdf import pdf

    return pdf(html_page(evidences[0], script=False))


def _markdown(evidences: Sequence[Evidence], _: object) -> str:
    from dpaudit.report.formats.markdown import markdown

    return markdown(evidences)


def _registry(evidences: Sequence[Evidence], answers: Mapping[str, Answer] | None) -> str:
    from dpaudit.report.formats.registry import registry_yaml

    return registry_yaml(evidences[0], answers)


def _in_toto(evidences: Sequence[Evidence], _: object) -> str:
    from dpaudit.report.formats.in_toto import statement_text

    return statement_text(evidences)


def _bibtex(evidences: Sequence[Evidence], _: object) -> str:
    from dpaudit.report.text.cite import bibtex

    return "\n".join(bibtex(evidence) + "\n" for evidence in evidences)


FORMATS: dict[str, Format] = {
    "json": Format(lambda evidences, _: evidences[0].to_json()),
    "html": Format(_html),
    "markdown": Format(_markdown, several=True),
    "registry-yaml": Format(_registry, asks=True),
    "in-toto": Format(_in_toto, several=True),
    "bibtex": Format(_bibtex, several=True),
    "pdf": Format(_pdf),
}
