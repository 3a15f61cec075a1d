"""What does anybody need to see of evidence? One view, made from evidence alone, from which every rendering selects.

A rendering asks for rows by their importance, which says how much room they need, or for one by its key, and lays them
out. None makes a row of its own, so that what is important can be forgotten in none of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.rows import Importance, Row, audited, findings, shown
from dpaudit.report.text.headline import Headline, headline

ORDER: tuple[Callable[[Evidence], Iterator[Row]], ...] = (
    audited.reason,
    audited.scope,
    shown.bounds,
    shown.events,
    audited.pair,
    shown.second_look,
    findings.findings,
    shown.power,
    shown.runs,
    audited.uncovered,
)


@dataclass(frozen=True, slots=True)
class View:
    """Evidence, as people read it.

    Attributes:
        evidence: what everything here is made from.
        headline: the verdict, its sentence, and what must not be concluded from it.
        stated: all that is stated, in the order in which it is read, but for how it is known, run and cited again.
    """

    evidence: Evidence
    headline: Headline
    stated: tuple[Row, ...]

    @property
    def rows(self) -> Iterator[Row]:
        """All rows; the last of them hash the record, which takes longer than all before."""
        yield from self.stated
        yield from audited.again(self.evidence)

    def select(self, importance: Importance, *also: str) -> list[Row]:
        """Return the rows that are at least so important, and those of the named keys."""
        return [row for row in self.rows if row.importance >= importance or row.key in also]

    def section(self, name: str) -> list[Row]:
        """Return the rows of one part."""
        return [row for row in self.stated if row.section == name]

    def row(self, key: str) -> Row | None:
        """Return the first row of a key, or None."""
        return next((row for row in self.rows if row.key == key), None)

    def cell(self, key: str, missing: str = "none") -> str:
        """Return what the first row of a key states, or ``missing``."""
        row = self.row(key)
        return missing if row is None else row.cell

    def sure(self, key: str, missing: str = "none") -> str:
        """Return the same with its note: a bound, and how sure it is."""
        row = self.row(key)
        return missing if row is None else row.stated

    def order(self, key: str) -> float:
        """Return what a table sorts the first row of a key by; NaN where there is none."""
        row = self.row(key)
        return math.nan if row is None else row.order

    @property
    def beside(self) -> list[Row]:
        """What was found beside the verdict, and whatever presses: whoever has room for a table shows all of it."""
        return [row for row in self.stated if row.section == "beside" or row.presses]

    @property
    def pressing(self) -> list[Row]:
        """What says more than the verdict: everybody shows it."""
        return [row for row in self.stated if row.presses]

    @property
    def pressing_lines(self) -> list[str]:
        """The same as lines of text: "low bits: ε ≥ 6.0 …"."""
        return [f"{row.label}: {row.line}" for row in self.pressing]


def view(evidence: Evidence) -> View:
    """Return the view of evidence."""
    return View(evidence, headline(evidence), tuple(row for rows in ORDER for row in rows(evidence)))
