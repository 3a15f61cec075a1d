"""Which learning runs have one form, and which of their outputs repeat? What all families of scores share.

Runs along a score are sorted once, and outputs that repeat are found once. A fit then sees each distinct output with
the number of its runs, in place of every run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.events.partition import counts_between, row_keys, score_of
from dpaudit.events.scores import center_and_scale
from dpaudit.evidence.event import Coordinate, Score
from dpaudit.sampling.outputs import Outputs

Counts = tuple[Integers, Integers]

_MOST_ROWS = 50_000
_NEW = 0.95  # values count as repeating if fewer of the runs than this show a new value
_FIRST, _MOSTLY_NEW = 20_000, 0.97  # where this share of the first runs of each side is new, too many will be


@dataclass(frozen=True, slots=True)
class Line:
    """The learning runs of one form along a score, ascending: two halves of each side, and all together."""

    first: tuple[Floats, Floats]
    second: tuple[Floats, Floats]
    pooled: Floats

    @classmethod
    def of(cls, values0: Floats, values1: Floats) -> Line:
        """Sort the scores of the runs of side 0 and side 1, (runs,) each."""
        half0, half1 = len(values0) // 2, len(values1) // 2
        first = np.sort(values0[:half0]), np.sort(values1[:half1])
        second = np.sort(values0[half0:]), np.sort(values1[half1:])
        return cls(first, second, np.sort(np.concatenate([values0, values1])))

    def apart(self, edges: tuple[float, ...]) -> Floats:
        """Return 1 for every edge that is farther from the run below it than most runs are from one another."""
        if not len(self.pooled):
            return np.zeros(len(edges))
        below = self.pooled[np.maximum(np.searchsorted(self.pooled, np.asarray(edges)) - 1, 0)]
        with np.errstate(over="ignore"):
            wide = np.asarray(edges) - below > most_width(self.pooled)
        return np.asarray(wide, dtype=np.float64)

    def counts(self, edges: tuple[float, ...]) -> tuple[Counts, Counts]:
        """Return how many runs of each half and side fall between the edges."""
        first, second = ([counts_between(side, edges) for side in half] for half in (self.first, self.second))
        return (first[0], first[1]), (second[0], second[1])


@dataclass(frozen=True, slots=True)
class Distinct:
    """Outputs of one form that repeat."""

    rows: Floats  # each distinct output once, in lexicographic order, (outputs, numbers)
    # for each run of side 0 and side 1, the place of its output among them, (runs,) each
    which: tuple[Integers, Integers]

    def halves(self) -> tuple[Counts, Counts]:
        """Return the runs of each half and side with each output, (outputs,) each."""
        halves: list[list[Integers]] = [[], []]
        for side in self.which:
            for own, half in zip(halves, (side[: len(side) // 2], side[len(side) // 2 :]), strict=True):
                own.append(np.bincount(half, minlength=len(self.rows)))
        return (halves[0][0], halves[0][1]), (halves[1][0], halves[1][1])


@dataclass(frozen=True, slots=True)
class Form:
    """The learning runs of one form, out of ``of`` runs of each side of any form."""

    form: str
    rows: tuple[Floats, Floats]
    of: tuple[int, int]
    _lines: dict[Score, Line] = field(default_factory=dict, compare=False)
    _found: list[Distinct | None] = field(default_factory=list, compare=False)
    _standard: list[tuple[Floats, Floats]] = field(default_factory=list, compare=False)

    def __len__(self) -> int:
        return len(self.rows[0]) + len(self.rows[1])

    @property
    def columns(self) -> int:
        """The numbers of one output."""
        return int(self.rows[0].shape[1])

    @property
    def distinct(self) -> Distinct | None:
        """The distinct outputs if outputs repeat, else None; looked for only once."""
        if not self._found:
            self._found.append(_distinct(self))
        return self._found[0]

    @property
    def standard(self) -> tuple[Floats, Floats]:
        """The median and the standard deviation of every number; computed only once."""
        if not self._standard:
            self._standard.append(center_and_scale(self.rows))
        return self._standard[0]

    def along(self, score: Score) -> Line:
        """Return all runs along a score that was not fitted; sorted only once, since several families use it."""
        if score not in self._lines:
            self._lines[score] = Line.of(*(score_of(score, side) for side in self.rows))
        return self._lines[score]

    def part(self, *, trial: bool) -> Form:
        """Return the first quarter of the runs, or the rest."""
        quarters = [len(side) // 4 for side in self.rows]
        parts = [side[:n] if trial else side[n:] for side, n in zip(self.rows, quarters, strict=True)]
        of = [n // 4 if trial else n - n // 4 for n in self.of]
        return Form(self.form, (parts[0], parts[1]), (max(of[0], len(parts[0])), max(of[1], len(parts[1]))))


def forms_of(outputs0: Outputs, outputs1: Outputs) -> list[Form]:
    """Return the learning runs of side 0 and side 1 by form, the most frequent form first."""
    tables = [dict(zip(outputs.forms, outputs.numbers, strict=True)) for outputs in (outputs0, outputs1)]
    found = []
    for form in dict.fromkeys([*outputs0.forms, *outputs1.forms]):
        columns = next(table[form].shape[1] for table in tables if form in table)
        empty = np.empty((0, columns))
        rows = (tables[0].get(form, empty), tables[1].get(form, empty))
        found.append(Form(form, rows, (len(outputs0), len(outputs1))))
    return sorted(found, key=lambda item: -len(item))


def most_width(ordered: Floats) -> float:
    """The range of the central 98 % of ascending runs; a wider gap counts as wide."""
    n = len(ordered)
    with np.errstate(over="ignore"):
        return float(ordered[n - 1 - n // 100] - ordered[n // 100])


def repeats(ordered: Floats) -> bool:
    """Whether any value of an ascending array occurs twice."""
    return bool(np.any(ordered[1:] == ordered[:-1]))


def distinct_values(ordered: Floats) -> tuple[Floats, Integers]:
    """Return the distinct values of an ascending array, and their multiplicities."""
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _distinct(item: Form) -> Distinct | None:
    if not item.columns or len(item) < 2:
        return None
    most = min(_MOST_ROWS, _NEW * len(item))
    if item.columns == 1:
        pooled = item.along(Coordinate(0)).pooled
        if not repeats(pooled):
            return None
        values = distinct_values(pooled)[0]
        if len(values) > most:
            return None
        return Distinct(values[:, None], _places(values, [side[:, 0] for side in item.rows]))
    keys = [row_keys(side) for side in item.rows]
    seen = np.concatenate([side[:_FIRST] for side in keys])
    if len(seen) > _FIRST and len(np.unique(seen)) > _MOSTLY_NEW * len(seen):
        return None
    known = np.unique(np.concatenate(keys))
    if len(known) > most:
        return None
    which = _places(known, keys)
    rows = np.empty((len(known), item.columns))
    for own, side in zip(which, item.rows, strict=True):
        rows[own] = side + 0.0  # −0 becomes 0; runs of one key are equal
    order = np.lexsort(rows.T[::-1])
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return Distinct(rows[order], (places[which[0]], places[which[1]]))


def _places(ordered: Floats | Integers, sides: list[Floats] | list[Integers]) -> tuple[Integers, Integers]:
    """Where the values of both sides stand in an ascending array that has all of them."""
    found = [np.searchsorted(ordered, side).astype(np.int64, copy=False) for side in sides]
    return found[0], found[1]
