"""How do the counts over a partition read? Cells with labels, for the histograms of a report."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.attack.partition import Partition
from dpaudit.event import Coordinate, Rows, Rule
from dpaudit.evidence import Cell, Histogram
from dpaudit.privacy.claims import number_text

_MOST_CELLS = 400
_PLAIN = {"float", "int", "bool"}


def histogram_cells(
    partition: Partition, pair: int, counts: np.ndarray[Any, Any], runs: np.ndarray[Any, Any]
) -> Histogram:
    """Return the histogram of one pair.

    Args:
        partition: the cells, frozen on learning runs.
        pair: index of the pair.
        counts: (2, cells) counts of side 0 and side 1.
        runs: (2,) runs of each side.
    """
    cells: list[Cell] = []
    start = 0
    for rule in partition.rules:
        for index in range(len(rule.edges) + 1):
            label, low, high = _label(rule, index)
            cells.append(Cell(label, low, high, int(counts[0, start]), int(counts[1, start])))
            start += 1
    cells.append(Cell("any other output", None, None, int(counts[0, start]), int(counts[1, start])))
    seen = [cell for cell in cells if cell.count0 or cell.count1]
    return Histogram(pair, _axis(partition), (int(runs[0]), int(runs[1])), tuple(_merged(seen)))


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


def _merged(cells: list[Cell]) -> list[Cell]:
    """Keep the largest categories where there are too many to show, and add up the rest."""
    if len(cells) <= _MOST_CELLS:
        return cells
    ranked = sorted(range(len(cells)), key=lambda i: -(cells[i].count0 + cells[i].count1))
    kept = sorted(ranked[: _MOST_CELLS - 1])
    rest = [cells[i] for i in ranked[_MOST_CELLS - 1 :]]
    lumped = Cell(f"{len(rest)} rarer outputs", None, None, sum(c.count0 for c in rest), sum(c.count1 for c in rest))
    return [*(cells[i] for i in kept), lumped]
