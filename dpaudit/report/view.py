"""What should every rendering of evidence show? One view, made from evidence alone, from which all of them select.

A rendering selects rows by their importance, or one row by its key, and lays them out. It never makes its own rows, so
that nothing important is forgotten in any of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from dpaudit.evidence.evidence import Evidence, qualified
from dpaudit.report import rows
from dpaudit.report.rows import Importance, Row, listed
from dpaudit.report.text.findings import trace_line, trace_story
from dpaudit.report.text.listed import accounting_of
from dpaudit.report.text.verdict import Headline, headline

ORDER: tuple[Callable[[Evidence], Iterator[Row]], ...] = (
    rows.reason,
    rows.scope,
    rows.bounds,
    rows.events,
    rows.pair,
    rows.second_look,
    rows.findings,
    rows.next_step,
    rows.power,
    rows.accuracy,
    rows.runs,
    rows.uncovered,
)


@dataclass(frozen=True, slots=True)
class View:
    """Evidence as people read it."""

    evidence: Evidence  # the source of everything here
    headline: Headline  # the verdict, its sentence, and what must not be concluded from it
    stated: tuple[Row, ...]  # all rows in reading order, except how the evidence is identified, reproduced and cited
    baseline: Evidence | None = None  # earlier evidence of the same mechanism, to show what changed

    @property
    def verdict(self) -> str:
        """The verdict, with the statements that it rests on."""
        return qualified(self.evidence)

    @property
    def rows(self) -> Iterator[Row]:
        """Yield all rows; the last ones hash the record, which takes longer than all others."""
        yield from self.stated
        yield from rows.again(self.evidence)

    def select(self, importance: Importance, *also: str) -> list[Row]:
        """Return the rows of at least this importance, and those with the named keys."""
        return [row for row in self.rows if row.importance >= importance or row.key in also]

    def section(self, name: str) -> list[Row]:
        """Return the rows of one section."""
        return [row for row in self.stated if row.section == name]

    def row(self, key: str) -> Row | None:
        """Return the first row with a key, or None."""
        return next((row for row in self.rows if row.key == key), None)

    def cell(self, key: str, missing: str = "none") -> str:
        """Return the cell of the first row with a key, or ``missing``."""
        row = self.row(key)
        return missing if row is None else row.cell

    def sure(self, key: str, missing: str = "none") -> str:
        """Return the cell with its note, such as a bound with its confidence, or ``missing``."""
        row = self.row(key)
        return missing if row is None else row.stated

    def order(self, key: str) -> float:
        """Return the sort key of the first row with a key; NaN if there is none."""
        row = self.row(key)
        return math.nan if row is None else row.order

    def told_once(self, row: Row) -> Row:
        """Return a row without the story that the headline tells already, for renderings that show both."""
        story = " ".join(trace_story(self.evidence))
        if row.key != "trace" or not story or story not in self.headline.sentence:
            return row
        line = trace_line(self.evidence, told=True) or row.line
        return replace(row, line=line, text=row.text.replace(f"{story} ", "", 1))

    @property
    def beside(self) -> list[Row]:
        """All findings beside the verdict, and all pressing rows; renderings with room for a table show all of them."""
        return [row for row in self.stated if row.section == "beside" or row.is_urgent]

    @property
    def pressing(self) -> list[Row]:
        """The rows that are worse than the verdict; every rendering shows them."""
        return [row for row in self.stated if row.is_urgent]

    @property
    def pressing_still(self) -> list[Row]:
        """The pressing rows that the headline does not tell already, for renderings that show both."""
        return [row for row in self.pressing if self.told_once(row) is row]

    @property
    def pressing_lines(self) -> list[str]:
        """The pressing rows as lines of text: "low bits: ε ≥ 6.0 …"."""
        return [f"{row.label}: {row.line}" for row in self.pressing]


def view(evidence: Evidence, baseline: Evidence | None = None) -> View:
    """Return the view of evidence, beside earlier evidence if there is any."""
    order = ORDER if accounting_of(evidence) is None else (listed.accounted,)
    order = order if evidence.training is None else (listed.trained,)
    rows = tuple(row for yielded in order for row in yielded(evidence))
    return View(evidence, headline(evidence), rows, baseline)
