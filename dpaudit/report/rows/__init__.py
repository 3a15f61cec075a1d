"""What does evidence state, and how important is each statement? Rows, each in the lengths that renderings need.

Every row that any rendering shows is made in this folder; `dpaudit.report.view` puts them in order. A rendering selects
rows and lays them out, but makes none of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Importance", "Row", "audited", "listed"]


class Importance(IntEnum):
    """Where a row is shown: in every rendering that shows rows of this importance or less."""

    OWN = 0  # only if it is selected by its key or section
    FULL = 1  # where there is room for everything: Markdown
    SUMMARY = 2  # in a terminal
    BRIEF = 3  # in the message of a failed test
    EVERYWHERE = 4  # even in a row of a table, since it is worse for the mechanism or its audit than the verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One statement of evidence."""

    key: str  # by which it is selected; several rows may share one
    # its subject, in at most 12 characters; empty if it continues the row above. name: the same as a heading.
    label: str
    name: str
    cell: str  # the bare statement, for a column of a table. note: an explanation, or its confidence.
    line: str = ""  # the statement as a line of a summary. text: the statement in full, as sentences if needed.
    text: str = ""
    note: str = ""
    importance: Importance = Importance.FULL
    # the part of a report that it belongs to: "scope", "bounds", "beside", "limits", "again", or none
    section: str = ""
    order: float = math.nan  # the sort key in tables
    code: bool = False  # whether it is shown as code and never broken

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", self.line or self.cell)
        object.__setattr__(self, "text", self.text or self.cell)

    @property
    def stated(self) -> str:
        """The cell with its note, such as a bound with its confidence."""
        return f"{self.cell} {self.note}".rstrip()

    @property
    def is_urgent(self) -> bool:
        """Whether no rendering is short enough to leave it out."""
        return self.importance is Importance.EVERYWHERE
