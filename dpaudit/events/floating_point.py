"""Do the low-order bits of the outputs distinguish the datasets? Learning runs in, one frozen event out.

Doubles are a grid that is finer near 0 than elsewhere. Noise that falls between the points of the coarser grid is
rounded when it is added to an answer, so the last bits of the sum show which answers it may come from (Mironov 2012, On
significance of the least significant bits for differential privacy). Two kinds of events test for that: *granularity*,
whether a number is a multiple of a power of two, and *reachability*, whether it is a possible sum of an answer and some
double. The answers are guessed: numbers that the caller knows, and round numbers near the middle of the outputs.

Only fine outputs are examined: those with digits far below the spread of the outputs. Integers, multiples of a coarse
step and rounded decimals are like any other distribution, and are covered by the verdict's own events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.events import partition, predict, select
from dpaudit.evidence.event import Event, Reach, Rule, Score, Step
from dpaudit.evidence.records import Candidate
from dpaudit.privacy import Claim
from dpaudit.sampling.outputs import Outputs
from dpaudit.stats.joint_region import probability_at_least

NAME = "low-order bits"
# chosen; no benchmark measures them
_MOST_RUNS = 5_000  # learning runs of a side that are examined
_MOST_FORMS, _MOST_NUMBERS = 3, 4  # numbers of a form
_MOST_STEPS = 12
_MOST_READ_AS_TEXT = 500
_BELOW_SPREAD = 20  # bits; a step that far below the spread of the outputs is of low order
_DECIMALS = 12  # digits; a number that so few digits determine is a rounded one
_LEAST_FINE = 5
_DOUBT, _MORE_DOUBT = 0.05, 0.005  # error levels of the bounds that compare events; smaller for many similar events
_SHOWN = 12
_USUAL_ERROR = 0.05  # at which methods are compared
_UNITS = (1.0, 0.1, 0.01)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The two cells of a score on the learning runs, for every edge: (edges,) counts below and above it."""

    form: str
    score: Score
    edges: Floats
    below: tuple[Floats, Floats]
    above: tuple[Floats, Floats]
    likely: bool  # among the few that usual code suggests


def choose_low_bits(
    outputs0: Outputs, outputs1: Outputs, *, claim: Claim, measuring: int, known: Sequence[float] = ()
) -> select.SelectedEvent | None:
    """Choose an event in the low-order bits, from learning runs alone (Mironov 2012).

    Args:
        outputs0, outputs1: learning runs of side 0 and side 1.
        claim: the notion to bound (its δ or order; its own value is not used).
        measuring: the runs, of both sides together, that will measure the choice.
        known: numbers that noise may have been added to.

    Returns:
        The choice, with the whole error level as its share; None if no output has low-order bits.
    """
    sides = (outputs0.first(_MOST_RUNS), outputs1.first(_MOST_RUNS))
    choices = [item for form in _main_forms(*sides) for item in _of_form(form, sides, known)]
    if not choices:
        return None
    runs = (len(sides[0]), len(sides[1]))
    rated = [
        (value, item, int(at), below, side)
        for item in choices
        for below in (True, False)
        for side in (0, 1)
        for at, value in enumerate(_rates(item, below, side, runs, claim))
    ]
    rated.sort(key=lambda entry: -entry[0])
    _, item, at, below, side = rated[0]
    cells = item.below if below else item.above
    p, q = ((float(cells[own][at]) + 0.5) / (runs[own] + 1) for own in (side, 1 - side))
    method, weight = predict.method_for_one_side(p, q, (measuring / 2, measuring / 2), claim, _USUAL_ERROR)
    considered = tuple(
        Candidate(_words(entry[1]), method, float(f"{max(entry[0], -99.0):.6g}")) for entry in rated[:_SHOWN]
    )
    return select.SelectedEvent(NAME, _event(item, at, below, side), method, weight, 1.0, considered)


def _words(item: _Candidates) -> str:
    return "granularity" if isinstance(item.score, Step) else "reachability"


def _event(item: _Candidates, at: int, below: bool, side: int) -> Event:
    own = 1 if side == 0 else -1
    labels = (own, 0) if below else (0, own)
    return Event(NAME, (Rule(item.form, item.score, (float(item.edges[at]),), labels),))


def _rates(item: _Candidates, below: bool, side: int, runs: tuple[int, int], claim: Claim) -> Floats:
    """Return how much the learning runs show of each edge's event, if it points to ``side``; (edges,).

    This is the logit of a lower bound of the side's share in the event, beyond δ, as for a guess.
    """
    cells = item.below if below else item.above
    hits = np.maximum(cells[side] - claim.delta * runs[side], 0.0)
    share = probability_at_least(hits, hits + cells[1 - side], _DOUBT if item.likely and below else _MORE_DOUBT)
    with np.errstate(divide="ignore"):
        return np.log(share) - np.log1p(-share)


def _main_forms(outputs0: Outputs, outputs1: Outputs) -> list[str]:
    """The most frequent forms that hold numbers."""
    counts: dict[str, int] = {}
    for outputs in (outputs0, outputs1):
        for form, numbers in zip(outputs.forms, outputs.numbers, strict=True):
            counts[form] = counts.get(form, 0) + (len(numbers) if numbers.shape[1] else 0)
    ranked = sorted((form for form in counts if counts[form]), key=lambda form: -counts[form])
    return ranked[:_MOST_FORMS]


def _of_form(form: str, outputs: tuple[Outputs, Outputs], known: Sequence[float]) -> Iterator[_Candidates]:
    tables = [dict(zip(side.forms, side.numbers, strict=True)) for side in outputs]
    if any(form not in table or not len(table[form]) for table in tables):
        return  # a form of one side alone distinguishes the sides without its numbers
    rows0, rows1 = tables[0][form], tables[1][form]
    for index in _telling_numbers(rows0, rows1):
        limit = _finest_of_interest(rows0[:, index], rows1[:, index])
        if limit is None:
            continue
        middles = _middles(rows0[:, index], rows1[:, index])
        centers = tuple(dict.fromkeys([*known, *middles]))
        for score in (Step(index), *(kind(index, center) for center in centers for kind in (Reach, Step))):
            values = partition.score_of(score, rows0), partition.score_of(score, rows1)
            edges = np.array([0.5])
            if isinstance(score, Step):
                edges = np.unique(np.concatenate(values)) + 1
                edges = edges[edges <= limit][-_MOST_STEPS:]  # finer ones are rarer by half each
            if len(edges):
                below = [np.searchsorted(np.sort(side), edges).astype(np.float64) for side in values]
                above = [len(side) - counts for side, counts in zip(values, below, strict=True)]
                likely = isinstance(score, Reach) and (score.center.is_integer() or score.center in known)
                yield _Candidates(form, score, edges, (below[0], below[1]), (above[0], above[1]), likely)


def _telling_numbers(rows0: Floats, rows1: Floats) -> list[int]:
    """The numbers of a form whose medians differ most between the sides, relative to their spread."""
    if rows0.shape[1] <= _MOST_NUMBERS:
        return list(range(rows0.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(np.median(rows0, axis=0) - np.median(rows1, axis=0))
        spread = np.subtract(*np.quantile(np.concatenate([rows0, rows1]), [0.75, 0.25], axis=0))
        ratio = np.nan_to_num(apart / np.maximum(spread, 1e-300))
    return [int(index) for index in np.argsort(-ratio, kind="stable")[:_MOST_NUMBERS]]


def _finest_of_interest(side0: Floats, side1: Floats) -> float | None:
    """Return the exponent below which a step is of low order; None if no numbers have smaller steps."""
    spreads = [_spread(np.unique(side)) for side in (side0, side1)]
    if min(spreads) <= 0:
        return None
    limit = float(np.frexp(min(spreads))[1] - 1 - _BELOW_SPREAD)
    distinct, counts = np.unique(
        np.concatenate([side0[:_MOST_READ_AS_TEXT], side1[:_MOST_READ_AS_TEXT]]), return_counts=True
    )
    fine = (partition.steps(distinct) < limit) & (counts == 1) & ~_rounded(distinct)
    return limit if np.count_nonzero(fine) >= max(_LEAST_FINE, len(distinct) / 4) else None


def _spread(distinct: Floats) -> float:
    """The interquartile range of distinct values; 0 if there is none, or it is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(np.subtract(*np.quantile(distinct, [0.75, 0.25])))
    return spread if np.isfinite(spread) else 0.0


def _rounded(numbers: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array([float(f"{number:.{_DECIMALS}g}") == number for number in numbers.tolist()])


def _middles(side0: Floats, side1: Floats) -> list[float]:
    """Round numbers near the median of each side: answers that noise may have been added to."""
    middles = []
    for side in (side0, side1):
        middle, reach = float(np.median(side)), 2 * _spread(np.unique(side)) / len(side) ** 0.5
        for digits, unit in enumerate(_UNITS):
            if abs(middle) / unit < 2.0**52 and (unit == 1 or reach < 4 * unit):
                nearest = [round(middle + shift * unit, digits) for shift in (0, -1, 1)]
                middles += [value for value in nearest if abs(value - middle) <= max(unit / 2, reach)]
    return middles
