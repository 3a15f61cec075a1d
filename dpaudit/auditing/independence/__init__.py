"""Are the runs of a side independent draws of one law, whenever they are made?

Nobody can know this of a function with a state of its own. What can be known is that outputs drift with the order of
the calls (`drift`), or depend on one another in it (`dependence`): then no bound holds, and the runs
are refused. Programs need no such check: they are called again on the same draws, and keep no state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.arrays import Integers
from dpaudit.auditing.independence.dependence import (
    CLASSES,
    COME_BACK,
    MOST_RUNS,
    RunOrder,
    across,
    classes_of,
    coming_back,
    echo,
    hanging_together,
    order_of_runs,
    sharing,
    together,
)
from dpaudit.auditing.independence.drift import drifted
from dpaudit.errors import InvalidRunsError
from dpaudit.events import Partition, identities, watched
from dpaudit.evidence.event import Event, Linear, Rule
from dpaudit.sampling.outputs import Outputs, concatenate
from dpaudit.sampling.play import RepeatDetector
from dpaudit.sampling.timed import untimed

__all__ = [
    "Cells",
    "HomogeneityCells",
    "Noted",
    "are_constant",
    "by_event",
    "outputs_in",
    "refuse_repeated",
    "refuse_unsteady",
    "steadiness",
]

Array = np.ndarray[Any, Any]
Cells = tuple[Array, Array]
Noted = tuple[tuple[Array, ...], ...]
"""Of a block: for each side how many runs fill each steady cell, and the parts of an `RunOrder`.

Last come pairs across, and the outputs of both sides as numbers.
"""

_DRIFT = (
    "the outputs drift with the order of the calls: the mechanism keeps a state between calls, so its runs "
    "are not independent draws of one law"
)
_TOGETHER = (
    "the outputs of a side hang together: they {how}, so its runs are not independent draws. A chain that goes on from "
    "its last state, a store of noise, or a cache does that: draw all noise afresh in every call"
)
_ACROSS = (
    "the outputs of the two sides hang together from one call to the next: they share their noise, so a bound on both "
    "sides does not hold: draw all noise afresh in every call, and record each side with noise of its own"
)


@dataclass(frozen=True, slots=True)
class HomogeneityCells:
    """Cells in which runs must fall alike at all times, and how learning runs that did not make them fell.

    ``classes`` are a few groups of these cells, by which neighbouring runs are compared.
    """

    cells: Partition
    classes: tuple[int, ...]
    counts: Cells
    timed: bool = False

    def note(self, side0: Outputs, side1: Outputs) -> Noted:
        """Note of a block what tells whether it is steady."""
        sides, classes, known = [], [], []
        for outputs in (side0, side1):
            first = outputs.first(MOST_RUNS)
            own = np.asarray(self.classes)[self.cells.places(first)]
            known.append(identities(untimed(first) if self.timed else first))
            order = order_of_runs(own, known[-1])
            sides.append((self.cells.counts(outputs), order.pairs, order.near, order.far))
            classes.append(own)
        return *sides, (across(*classes), *known)


def steadiness(outputs: tuple[Outputs, Outputs], observe: tuple[str, ...] = ()) -> HomogeneityCells:
    """Make cells of the first half of the learning runs; refuse a second half that is not steady in them.

    Run times drift with the machine: where they are observed, the cells do not look at them.
    """
    halves = [len(side) // 2 for side in outputs]
    early_half = concatenate([side.first(half) for side, half in zip(outputs, halves, strict=True)])
    cells = blind_to_time(watched(untimed(early_half))) if observe else watched(early_half)
    steady = HomogeneityCells(
        cells, tuple(classes_of(cells.counts(early_half)).tolist()), _nothing(cells), bool(observe)
    )
    parts = [(half, half + (len(side) - half) // 2, len(side)) for side, half in zip(outputs, halves, strict=True)]
    early, late = (
        steady.note(*(side.take(np.arange(part[i], part[i + 1])) for side, part in zip(outputs, parts, strict=True)))
        for i in (0, 1)
    )
    refuse_unsteady(steady, [early, late])
    return HomogeneityCells(cells, steady.classes, (early[0][0] + late[0][0], early[1][0] + late[1][0]), steady.timed)


def by_event(event: Event, observe: tuple[str, ...] = ()) -> HomogeneityCells:
    """Make cells of an event that was known before its runs; of none where these carry their times, which drift."""
    cells = Partition(event.family, () if observe else event.rules)
    classes = np.arange(cells.size) * CLASSES // max(cells.size, CLASSES)
    return HomogeneityCells(cells, tuple(classes.tolist()), _nothing(cells), bool(observe))


def are_constant(outputs: tuple[Outputs, Outputs]) -> bool:
    """Whether all runs of a side returned the same output, on both sides."""
    known = map(identities, outputs)
    return all(bool(len(own)) and bool(np.all(own == own[0])) for own in known)


def _nothing(cells: Partition) -> Cells:
    return np.zeros(cells.size, dtype=np.int64), np.zeros(cells.size, dtype=np.int64)


def blind_to_time(cells: Partition) -> Partition:
    """Return cells of outputs without their run time as cells of outputs with it."""
    rules = []
    for rule in cells.rules:
        score = rule.score
        if isinstance(score, Linear):
            weights = tuple((*row, 0.0) for row in score.weights)
            score = Linear((*score.center, 0.0), (*score.scale, 1.0), score.clips, weights)
        rules.append(Rule(rule.form, score, rule.edges, rule.labels))
    return Partition(cells.family, tuple(rules))


def refuse_unsteady(steady: HomogeneityCells, noted: Sequence[Noted]) -> None:
    """Raise where late blocks fall differently from early ones, or all from earlier runs, or runs hang together.

    Args:
        steady: the cells, and how earlier runs fell.
        noted: of each block in turn, what was noted of it.

    Raises:
        InvalidRunsError: with what is wrong with the runs.
    """
    nothing = np.zeros(steady.cells.size, dtype=np.int64)
    half = -(-len(noted) // 2)
    for side in (0, 1):
        early, late = (sum((block[side][0] for block in part), nothing) for part in (noted[:half], noted[half:]))
        if drifted(early, late) or drifted(steady.counts[side], early + late):
            raise InvalidRunsError(_DRIFT)
        refuse_hanging_together([RunOrder(*block[side][1:]) for block in noted])
    if noted and sharing(np.sum([block[2][0] for block in noted], axis=0)):
        raise InvalidRunsError(_ACROSS)


def refuse_repeated(watch: RepeatDetector, pair: int, runs: Sequence[Integers], sides: Integers | None = None) -> None:
    """Raise `InvalidRunsError` where runs repeat earlier ones of the audit, as from a store of noise.

    Args:
        watch: what the audit has noted so far; these runs are added.
        pair: its number.
        runs: for each side a number for each run, the same only for equal outputs, in the order of the calls.
        sides: of which side each run is, in the order of the calls; None where each side was run by itself.
    """
    noted = [watch.with_earlier(pair, side, outputs) for side, outputs in enumerate(runs)]
    if any(map(coming_back, noted)):
        raise InvalidRunsError(_TOGETHER.format(how=COME_BACK))
    if sides is not None:
        order = watch.sides(pair, sides)
        outputs = np.empty(len(order), dtype=np.int64)
        for side in (0, 1):
            outputs[order == side] = noted[side]
        lag = echo(outputs, order)
        if lag is not None:
            how = f"agree with those {lag:,} calls before them as independent runs do not"
            raise InvalidRunsError(_TOGETHER.format(how=how))


def outputs_in(noted: Sequence[Noted], side: int) -> Integers:
    """Return the outputs of a side that were noted, as `refuse_repeated` takes them."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *(block[2][1 + side] for block in noted)])


def refuse_hanging_together(orders: list[RunOrder]) -> None:
    """Raise `InvalidRunsError` where the runs of a side hang together in the order of their calls."""
    how = hanging_together(together(orders))
    if how is not None:
        raise InvalidRunsError(_TOGETHER.format(how=how))
