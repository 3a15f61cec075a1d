"""Into which bins should outputs be put along an event's own score, so that every bin can be bet on?

Few runs are known when a sequential audit begins to bet. The bins hold about equally many of them, and are put in order
by a fit that may only rise or only fall along the score.
"""

from __future__ import annotations

import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.events.partition import Partition, score_of
from dpaudit.evidence.event import Event, Rows, Rule
from dpaudit.sampling.outputs import Outputs
from dpaudit.stats.e_process import falling

# measured by benchmarks/sequential.py
_FEWEST, _MOST, _RUNS_A_BIN = 4, 12, 12
_HAIR = 1e-9  # keeps cells with the same odds in the order of the score


def graded_along(event: Event, outputs: tuple[Outputs, Outputs]) -> Event:
    """Return an event with degrees along the scores of another event, from side 0 to side 1.

    Args:
        event: whose scores are cut into bins.
        outputs: of both sides, (side 0, side 1), from which the bins are made.

    Returns:
        The event; with degrees of both signs if more than one bin was found.
    """
    runs = sum(len(side) for side in outputs)
    bins = min(_MOST, max(_FEWEST, runs // _RUNS_A_BIN))
    own = {rule.form: rule for rule in event.rules}
    often = {form: _rows(form, outputs) for side in outputs for form in side.forms}
    forms = sorted(form for form, rows in often.items() if form in own or bins * len(rows) >= runs)
    rules = tuple(
        _cut(own.get(form, Rule(form, None, (), ())), often[form], bins * len(often[form]) / runs) for form in forms
    )
    partition = Partition("graded", rules)
    counts = np.stack([partition.counts(side) for side in outputs])
    labels = np.zeros(partition.size, dtype=np.int64)
    told = partition.telling
    if len(told):
        order = told[np.argsort(-_log_odds(partition, counts)[told], kind="stable")]
        labels[order] = _degrees(counts[:, order], bins)
    return partition.event(labels)


def _rows(form: str, outputs: tuple[Outputs, Outputs]) -> Floats:
    """The numbers of all runs of a form, (runs, numbers)."""
    return np.concatenate([side.numbers[side.forms.index(form)] for side in outputs if form in side.forms])


def _cut(rule: Rule, rows: Floats, bins: float) -> Rule:
    """The rule with bins of equally many runs; rows that are listed one by one stay so."""
    if rule.score is None or isinstance(rule.score, Rows) or not len(rows):
        return Rule(rule.form, rule.score, rule.edges, ())
    values = np.sort(score_of(rule.score, rows))
    parts = max(round(bins), 1)
    edges = np.unique(values[(np.arange(1, parts) * len(values)) // parts])
    edges = edges[np.isfinite(edges) & (edges > values[0])]
    return Rule(rule.form, rule.score if len(edges) else None, tuple(edges.tolist()), ())


def _log_odds(partition: Partition, counts: Integers) -> Floats:
    """How strongly each cell points to side 0, (cells,)."""
    first, both = counts[0] + 0.5, counts.sum(axis=0) + 1.0
    found = [np.zeros(0)]
    start = 0
    for rule in partition.rules:
        cells = slice(start, start + len(rule.edges) + 1)
        start = cells.stop
        a, n = first[cells], both[cells]
        down, up = falling(a, n), falling(a[::-1], n[::-1])[::-1]
        fit, along = max((_likelihood(a, n, down), 0, down, -1.0), (_likelihood(a, n, up), 1, up, 1.0))[2:]
        if isinstance(rule.score, Rows):
            fit, along = a / n, 0.0
        found.append(np.log(fit) - np.log1p(-fit) + _HAIR * along * np.arange(len(a)))
    return np.concatenate([*found, np.zeros(1)])


def _likelihood(hits: Floats, runs: Floats, chance: Floats) -> float:
    return float(np.sum(hits * np.log(chance) + (runs - hits) * np.log1p(-chance)))


def _degrees(counts: Integers, bins: int) -> Integers:
    """Degrees of cells that are in order, (2, cells) → (cells,): cells of few runs are joined with their neighbours."""
    filled = counts.sum(axis=0)
    middle = np.cumsum(filled) - filled / 2
    _, place = np.unique((middle * bins / max(filled.sum(), 1)).astype(np.int64), return_inverse=True)
    sides = np.stack([np.bincount(place, weights=side) / max(side.sum(), 1) for side in counts])
    last = int(place.max())
    positive = int(np.clip(np.count_nonzero(sides[0] > sides[1]), 1, max(last, 1)))
    return np.where(place < positive, positive - place, positive - 1 - place)
