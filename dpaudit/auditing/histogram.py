"""How are the counts over a partition shown in a report? As labelled cells.

Where a mechanism states the law of its outputs, the probability of each cell is given too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.events.partition import Partition
from dpaudit.evidence.event import Coordinate, Rows, Rule
from dpaudit.evidence.records import Cell, Histogram
from dpaudit.privacy.claims import number_text

_MOST_CELLS = 400  # bars that a drawing can still show
_PLAIN = {"float", "int", "bool"}
_DECIMALS = 10  # of a probability: further digits of a difference of distribution functions depend on the machine

Below = Callable[[Floats], Floats]
"""x ↦ P(output < x), over arrays."""


def histogram_cells(
    partition: Partition,
    pair: int,
    counts: np.ndarray[Any, Any],
    runs: np.ndarray[Any, Any],
    laws: Sequence[Below | None] = (None, None),
) -> Histogram:
    """Return the histogram of one pair."""
    cells: list[Cell] = []
    start = 0
    for rule in partition.rules:
        for index in range(len(rule.edges) + 1):
            label, low, high = _label(rule, index)
            cells.append(Cell(label, low, high, int(counts[0, start]), int(counts[1, start])))
            start += 1
    cells.append(Cell("any other output", None, None, int(counts[0, start]), int(counts[1, start])))
    seen = [at for at, cell in enumerate(cells) if cell.count0 or cell.count1]
    groups = _groups([cells[at] for at in seen])
    law0, law1 = (None if below is None else _chances(partition, below) for below in laws)
    exact = None
    if law0 is not None and law1 is not None:
        exact = tuple(_sums(law0[seen], groups)), tuple(_sums(law1[seen], groups))
    shown = tuple(_together([cells[seen[at]] for at in group]) for group in groups)
    return Histogram(pair, _axis(partition), (int(runs[0]), int(runs[1])), shown, exact)


def _chances(partition: Partition, below: Below) -> Floats | None:
    """Return the probability of each cell, (cells,), 0 for other forms; None if outputs are not single numbers."""
    if len(partition.rules) != 1 or partition.rules[0].form not in _PLAIN:
        return None
    rule = partition.rules[0]
    if isinstance(rule.score, Rows):
        values = np.array([row[0] for row in rule.score.rows])
        listed = below(np.nextafter(values, np.inf)) - below(values)
        return np.array([1 - listed.sum(), *listed, 0.0])
    if rule.score is not None and not isinstance(rule.score, Coordinate):
        return None
    under = below(np.asarray(rule.edges, dtype=np.float64))
    return np.array([*np.diff([0.0, *under, 1.0]), 0.0])


def _sums(chances: Floats, groups: Sequence[Sequence[int]]) -> Iterator[float]:
    for group in groups:
        yield round(min(max(float(chances[list(group)].sum()), 0.0), 1.0), _DECIMALS)


def _axis(partition: Partition) -> str:
    scored = [rule for rule in partition.rules if rule.edges]
    if not scored or any(isinstance(rule.score, Rows) for rule in scored):
        return "category"
    plain = all(isinstance(rule.score, Coordinate) and rule.form in _PLAIN for rule in scored)
    return "output" if plain else "score"


def _label(rule: Rule, index: int) -> tuple[str, float | None, float | None]:
    if rule.score is None or not rule.edges:
        return rule.form, None, None
    if isinstance(rule.score, Rows):
        if index == 0:
            return f"another {rule.form}", None, None
        row = rule.score.rows[index - 1]
        numbers = " ".join(number_text(x) for x in row)
        return numbers if rule.form in _PLAIN else f"{rule.form} = {numbers}", None, None
    low = rule.edges[index - 1] if index else None
    high = rule.edges[index] if index < len(rule.edges) else None
    left = "below" if low is None else f"{low:.4g} to"
    right = "and more" if high is None else f"{high:.4g}"
    text = f"{left} {right}"
    return text if rule.form in _PLAIN else f"{rule.form}, score {text}", low, high


def _groups(cells: list[Cell]) -> list[list[int]]:
    """Return which cells are shown together: each by itself, or the rarest as one if there are too many."""
    if len(cells) <= _MOST_CELLS:
        return [[at] for at in range(len(cells))]
    ranked = sorted(range(len(cells)), key=lambda i: -(cells[i].count0 + cells[i].count1))
    return [*([at] for at in sorted(ranked[: _MOST_CELLS - 1])), ranked[_MOST_CELLS - 1 :]]


def _together(cells: list[Cell]) -> Cell:
    if len(cells) == 1:
        return cells[0]
    return Cell(f"{len(cells)} rarer outputs", None, None, sum(c.count0 for c in cells), sum(c.count1 for c in cells))
