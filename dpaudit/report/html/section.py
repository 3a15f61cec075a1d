"""What is a section of the page? Its anchor, how the contents list it, and what its template is handed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page.

    Attributes:
        name: its anchor, and the name of its template in ``sections/``.
        title: how the contents list it.
        parts: what its template is handed; no two sections name a part alike.
        plain: whether it needs no template of its own: then ``parts`` has paragraphs and rows (`plain`).
    """

    name: str
    title: str
    parts: dict[str, Any]
    plain: bool = False

    @property
    def template(self) -> str:
        """The file that lays it out."""
        return f"sections/{'plain' if self.plain else self.name}.html.j2"


def plain(name: str, title: str, paragraphs: Sequence[str], rows: Sequence[tuple[str, str]] = ()) -> Section:
    """Return a section of paragraphs, and of rows of name and text: one that needs no template of its own."""
    return Section(name, title, {"paragraphs": paragraphs, "rows": rows}, plain=True)
