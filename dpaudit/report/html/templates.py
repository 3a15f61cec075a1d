"""How do templates become pages? Escaped throughout, strict about missing values, and in sections.

A page is a list of `Section` values, each with a template of its own in ``sections/`` or made of plain paragraphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from dpaudit.report.text.phrases import visible


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page."""

    name: str  # its anchor, and the name of its template in ``sections/``
    title: str  # its name in the table of contents
    parts: dict[str, Any]  # the values for its template; names are unique over all sections
    plain: bool = False  # whether it has no template of its own: then ``parts`` are paragraphs and rows (`plain`)

    @property
    def template(self) -> str:
        """The file of its template."""
        return f"sections/{'plain' if self.plain else self.name}.html.j2"


def plain(name: str, title: str, paragraphs: Sequence[str], rows: Sequence[tuple[str, str]] = ()) -> Section:
    """Return a section that needs no template of its own.

    Args:
        name: its anchor.
        title: its name in the table of contents.
        paragraphs: of text.
        rows: (name, text), below the paragraphs.
    """
    return Section(name, title, {"paragraphs": paragraphs, "rows": rows}, plain=True)


def source(name: str) -> str:
    """Return the text of a file in the folder of the templates."""
    return files("dpaudit.report.html").joinpath(name).read_text(encoding="utf-8")


@cache
def environment() -> jinja2.Environment:
    """Return the Jinja environment of every page; characters that a browser would interpret are made visible."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(source),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
