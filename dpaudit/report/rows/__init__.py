"""What does evidence state, and how much does each statement matter? Rows, each in the lengths that renderings need.

Every row that any rendering shows is made in this folder; `dpaudit.report.view` puts them in order. A rendering selects
rows and lays them out, and makes none of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Importance", "Row", "audited", "findings", "shown"]


class Importance(IntEnum):
    """Where a row stands: in every rendering that shows rows of this importance or less."""

    OWN = 0  # only where it is asked for by its key or section
    FULL = 1  # where there is room for all: Markdown
    SUMMARY = 2  # in a terminal
    BRIEF = 3  # in the message of a test that failed
    EVERYWHERE = 4  # even in a row of a table: it says more against the mechanism, or its audit, than the verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One statement of evidence.

    Attributes:
        key: by which it is asked for; several rows may share one.
        label: what it is about, in at most 12 characters; empty where it goes on with the row above. name: the same
            as a heading.
        cell: what is stated, and no more: for a column of a table. note: what explains it, or how sure it is.
        line: what is stated, in a line of a summary. text: the same in full, as sentences where it needs them.
        section: the part of a report that it belongs to: "scope", "bounds", "beside", "limits", "again", or none.
        order: what a table sorts it by.
        code: shown as code, and never broken.
    """

    key: str
    label: str
    name: str
    cell: str
    line: str = ""
    text: str = ""
    note: str = ""
    importance: Importance = Importance.FULL
    section: str = ""
    order: float = math.nan
    code: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", self.line or self.cell)
        object.__setattr__(self, "text", self.text or self.cell)

    @property
    def stated(self) -> str:
        """The cell with its note: a bound, and how sure it is."""
        return f"{self.cell} {self.note}".rstrip()

    @property
    def presses(self) -> bool:
        """Whether no rendering is short enough to leave it out."""
        return self.importance is Importance.EVERYWHERE
