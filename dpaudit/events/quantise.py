"""Into which few bins should outputs be put, to bound a divergence that is spread over all of them?

Cells of a candidate partition are ordered by how strongly they point to a side, and neighbours are joined where that
loses least, down to a handful of bins. Runs must not be scored by bins that they were used to make: each half of the
learning runs is counted in the bins, and along the ratio, made by the other half.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpaudit.arrays import Floats, Integers
from dpaudit.events.candidate_partitions import FittedPartition
from dpaudit.events.partition import Partition, score_of
from dpaudit.evidence.event import Event, Rows, Rule
from dpaudit.privacy import Claim
from dpaudit.sampling.outputs import Outputs
from dpaudit.stats import e_process, methods, renyi

Counts = tuple[Integers, Integers]

# chosen by bounds of zCDP and Rényi claims
_BINS = (16, 12, 8, 5, 3)
_MOST_CELLS = 600
_LEAST = 20  # runs of a bin, both sides together
_DOUBT = 1.5  # standard deviations of the learning runs by which a prediction is lowered
_MORE, _A_BIN = 0.1, 12.0  # cost of the bound in standard deviations: beyond the quantile, and per bin and 1/√runs


@dataclass(frozen=True, slots=True)
class Quantised:
    """Bins for the cells of a partition, with their predicted bound."""

    predicted: float  # the bound, in the unit of the claim's parameter
    method: str  # which side's divergence from the other is bounded
    partition: Partition  # the cells
    labels: Integers  # a degree for every cell of the partition; 0 for cells that may carry none
    weights: tuple[float, ...]  # of the multinomial bound


def graded(fitted: Iterable[FittedPartition], *, claim: Claim, measuring: int, error: float) -> Quantised | None:
    """Return the bins with the highest predicted bound."""
    if not claim.is_divergence:
        return None
    best: tuple[float, FittedPartition, int, int, float] | None = None
    for item in fitted:
        if item.partition.size > _MOST_CELLS or not len(item.partition.telling):
            continue
        cells = item.partition.telling
        halves = item.first, item.second
        made = [_bins(half, cells) for half in halves]
        for toward in (0, 1):
            for bins in _BINS:
                tests = [
                    _predicted(_joined(joined, bins), made_of, tested, cells, toward, claim, measuring, error)
                    for joined, made_of, tested in zip(made, halves, halves[::-1], strict=True)
                ]
                value, order = max(((tests[0][order] + tests[1][order]) / 2, order) for order in tests[0])
                if (best is None or value > best[0]) and made[0][0].max() and made[1][0].max():
                    best = value, item, toward, bins, order
    if best is None:
        return None
    value, item, toward, bins, order = best
    cells = item.partition.telling
    place = _joined(_bins(item.counts, cells), bins)
    if not place.max():
        return None
    p, q = _filled(place, item.counts, cells, toward)
    labels = np.zeros(item.partition.size, dtype=np.int64)
    degrees = place - _negative(place, item.counts, cells)
    labels[cells] = np.where(degrees >= 0, degrees + 1, degrees)
    weights = renyi.multinomial_weights(p, q, measuring / 2, measuring / 2, order)
    method = methods.MULTINOMIAL if toward == 0 else methods.SWAPPED
    return Quantised(value, method, item.partition, labels, tuple(float(f"{weight:.6g}") for weight in weights))


def _bins(counts: Counts, cells: Integers) -> list[Integers]:
    """Join cells step by step; return the bin of every cell, by how strongly it points to side 0, for fewer and fewer
    bins.

    The first entry has the most bins, each of which holds enough runs.
    """
    a, b = (side[cells].astype(np.float64) for side in counts)
    n, m = max(float(counts[0].sum()), 1.0), max(float(counts[1].sum()), 1.0)
    order = np.argsort(np.log((a + 0.5) / (b + 0.5)), kind="stable")
    starts = list(range(len(cells)))  # the first cell, in this order, of every bin
    first, second = a[order].tolist(), b[order].tolist()

    def said(hits: float, others: float) -> float:
        p, q = (hits + 0.5) / n, (others + 0.5) / m
        return (p - q) * math.log(p / q)

    def loss(i: int) -> float:
        """What joining bin i with the next one loses; bins of few runs are joined first."""
        joined = said(first[i] + first[i + 1], second[i] + second[i + 1])
        return alone[i] + alone[i + 1] - joined - (1e3 if few[i] or few[i + 1] else 0.0)

    alone = [said(x, y) for x, y in zip(first, second, strict=True)]
    few = [x + y < _LEAST for x, y in zip(first, second, strict=True)]
    lost = [loss(i) for i in range(len(starts) - 1)]
    stages: list[Integers] = []
    while True:
        if len(starts) <= _BINS[0] and not any(few):
            place = np.empty(len(cells), dtype=np.int64)
            place[order] = np.searchsorted(starts, np.arange(len(cells)), side="right") - 1
            stages.append(place)
        if len(starts) <= 2:
            return stages or [np.zeros(len(cells), dtype=np.int64)]
        at = lost.index(min(lost))
        first[at] += first.pop(at + 1)
        second[at] += second.pop(at + 1)
        alone[at], few[at] = said(first[at], second[at]), first[at] + second[at] < _LEAST
        del alone[at + 1], few[at + 1], starts[at + 1], lost[at]
        for i in (at - 1, at):
            if 0 <= i < len(lost):
                lost[i] = loss(i)


def _joined(stages: list[Integers], bins: int) -> Integers:
    """The stage with at most so many bins."""
    return next((place for place in stages if place.max(initial=0) < bins), stages[-1])


def _negative(place: Integers, counts: Counts, cells: Integers) -> int:
    """How many bins point to side 1: at least one, and not all."""
    p, q = (np.bincount(place, weights=side[cells]) / max(float(side.sum()), 1.0) for side in counts)
    return int(np.clip(np.count_nonzero(p <= q), 1, len(p) - 1))


def _filled(place: Integers, counts: Counts, cells: Integers, toward: int) -> tuple[Floats, Floats]:
    """The (smoothed) probabilities of the bins, of the side they point to and of the other, strongest first.

    Cells that may carry no label have the degree −1.
    """
    size = int(place.max(initial=0)) + 1
    weakest = max(_negative(place, counts, cells) - 1, 0)
    probabilities = []
    for side in counts:
        filled = np.bincount(place, weights=side[cells], minlength=size)
        filled[weakest] += side.sum() - side[cells].sum()
        probabilities.append((filled + 0.5) / (filled.sum() + 0.5 * size))
    return (probabilities[0][::-1], probabilities[1][::-1]) if toward == 0 else (probabilities[1], probabilities[0])


def _predicted(
    place: Integers,
    made: Counts,
    tested: Counts,
    cells: Integers,
    toward: int,
    claim: Claim,
    measuring: int,
    error: float,
) -> dict[float, float]:
    """Return, for every order, the bound to expect of bins and a ratio that other runs made."""
    p, q = _filled(place, made, cells, toward)
    p_seen, q_seen = _filled(place, tested, cells, toward)
    log_h = np.log(p / q)
    ahead = measuring / 2
    cost = _MORE - float(ndtri(error)) + _A_BIN * len(p) / math.sqrt(max(ahead, 1.0))
    bounds = {}
    for order in renyi.orders_of(claim):
        value = renyi.variational(order, log_h, p_seen, q_seen)
        noise = renyi.variational_noise(order, log_h, p_seen, q_seen, ahead, ahead)
        # the value is an average over two halves, with twice the runs of one
        n, m = (2 * max(float(side.sum()), 1.0) for side in (tested if toward == 0 else tested[::-1]))
        doubt = renyi.variational_noise(order, log_h, p_seen, q_seen, n, m)
        bounds[order] = float(renyi.value_of(claim, order, value - cost * noise - _DOUBT * doubt))
    return bounds


# --- Into which bins should outputs be put along an event's own score, so that every bin can be bet on? ---
#
# Few runs are known when a sequential audit begins to bet. The bins hold about equally many of them, and are put in
# order by a fit that may only rise or only fall along the score.

# chosen by the runs that false claims took
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
    log_odds = [np.zeros(0)]
    start = 0
    for rule in partition.rules:
        cells = slice(start, start + len(rule.edges) + 1)
        start = cells.stop
        a, n = first[cells], both[cells]
        down, up = e_process.falling(a, n), e_process.falling(a[::-1], n[::-1])[::-1]
        fit, along = max((_likelihood(a, n, down), 0, down, -1.0), (_likelihood(a, n, up), 1, up, 1.0))[2:]
        if isinstance(rule.score, Rows):
            fit, along = a / n, 0.0
        log_odds.append(np.log(fit) - np.log1p(-fit) + _HAIR * along * np.arange(len(a)))
    return np.concatenate([*log_odds, np.zeros(1)])


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
