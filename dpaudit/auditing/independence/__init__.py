"""Are the runs of each side independent draws from one distribution?

Nobody can be certain of this for a function that keeps a state of its own. But it can be detected that outputs drift
over the course of the calls (`drift`), depend on one another (`dependence`), or were handed in twice (`copies`). In
each case no bound is valid, and the runs are refused. Programs need no such check: they are called again on the same
draws, and keep no state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.arrays import Integers
from dpaudit.auditing.independence.copies import refuse_copies
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
from dpaudit.sampling.runs import untimed

__all__ = [
    "BlockSummary",
    "Cells",
    "HomogeneityCells",
    "are_constant",
    "by_event",
    "homogeneity_cells",
    "outputs_in",
    "refuse_copies",
    "refuse_inhomogeneous",
    "refuse_repeated",
]

Array = np.ndarray[Any, Any]
Cells = tuple[Array, Array]
BlockSummary = tuple[tuple[Array, ...], ...]
"""Recorded of a block: for each side the runs in each cell and the parts of a `RunOrder`.

Last come the pairs across sides, and the outputs of both sides as integers.
"""

_FEW = 64  # runs of each side
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
    """Cells that independent runs fill alike at all times, and the counts of earlier learning runs in them.

    ``classes`` groups the cells into a few classes, by which neighbouring runs are compared.
    """

    cells: Partition
    classes: tuple[int, ...]
    counts: Cells
    timed: bool = False

    def summarise(self, side0: Outputs, side1: Outputs) -> BlockSummary:
        """Record from one block what the checks for drift and dependence need."""
        sides, classes, known = [], [], []
        for outputs in (side0, side1):
            first = outputs.first(MOST_RUNS)
            own = np.asarray(self.classes)[self.cells.places(first)]
            known.append(identities(untimed(first) if self.timed else first))
            order = order_of_runs(own, known[-1])
            sides.append((self.cells.counts(outputs), order.pairs, order.near, order.far))
            classes.append(own)
        return *sides, (across(*classes), *known)


def homogeneity_cells(outputs: tuple[Outputs, Outputs], observe: tuple[str, ...] = ()) -> HomogeneityCells:
    """Build cells from the first half of the learning runs, and check the second half for drift and dependence in them.

    Run times drift with the machine, so the cells ignore them where they are observed.

    Args:
        outputs: of side 0 and side 1, in the order of the calls.
        observe: what is observed beside them, such as "time".

    Returns:
        The cells, with the counts of the second half.

    Raises:
        InvalidRunsError: if the second half drifts, or its runs depend on one another.
    """
    halves = [len(side) // 2 for side in outputs]
    early_half = concatenate([side.first(half) for side, half in zip(outputs, halves, strict=True)])
    cells = blind_to_time(watched(untimed(early_half))) if observe else watched(early_half)
    homogeneity = HomogeneityCells(
        cells, tuple(classes_of(cells.counts(early_half)).tolist()), _nothing(cells), bool(observe)
    )
    parts = [(half, half + (len(side) - half) // 2, len(side)) for side, half in zip(outputs, halves, strict=True)]
    early, late = (
        homogeneity.summarise(*(side.between(part[i], part[i + 1]) for side, part in zip(outputs, parts, strict=True)))
        for i in (0, 1)
    )
    refuse_inhomogeneous(homogeneity, [early, late])
    return HomogeneityCells(
        cells, homogeneity.classes, (early[0][0] + late[0][0], early[1][0] + late[1][0]), homogeneity.timed
    )


def by_event(event: Event, observe: tuple[str, ...] = ()) -> HomogeneityCells:
    """Build cells from an event that was fixed before its runs; no cells if run times, which drift, are observed."""
    cells = Partition(event.family, () if observe else event.rules)
    classes = np.arange(cells.size) * CLASSES // max(cells.size, CLASSES)
    return HomogeneityCells(cells, tuple(classes.tolist()), _nothing(cells), bool(observe))


def are_constant(outputs: tuple[Outputs, Outputs]) -> bool:
    """Whether, on both sides, all runs returned the same output."""
    for length in (_FEW, max(map(len, outputs))):  # a few runs of most mechanisms differ already
        known = [identities(own.first(length)) for own in outputs]
        if not all(bool(len(own)) and bool(np.all(own == own[0])) for own in known):
            return False
    return True


def _nothing(cells: Partition) -> Cells:
    return np.zeros(cells.size, dtype=np.int64), np.zeros(cells.size, dtype=np.int64)


def blind_to_time(cells: Partition) -> Partition:
    """Return cells of outputs without their run time as cells of outputs that include it."""
    rules = []
    for rule in cells.rules:
        score = rule.score
        if isinstance(score, Linear):
            weights = tuple((*row, 0.0) for row in score.weights)
            score = Linear((*score.center, 0.0), (*score.scale, 1.0), score.clips, weights)
        rules.append(Rule(rule.form, score, rule.edges, rule.labels))
    return Partition(cells.family, tuple(rules))


def refuse_inhomogeneous(homogeneity: HomogeneityCells, summaries: Sequence[BlockSummary]) -> None:
    """Raise if late blocks differ from early ones, if all blocks differ from earlier runs, or if runs are dependent.

    Args:
        homogeneity: the cells, and the counts of earlier runs in them.
        summaries: what was recorded of each block, in order.

    Raises:
        InvalidRunsError: with what is wrong with the runs.
    """
    nothing = np.zeros(homogeneity.cells.size, dtype=np.int64)
    half = -(-len(summaries) // 2)
    for side in (0, 1):
        early, late = (
            sum((block[side][0] for block in part), nothing) for part in (summaries[:half], summaries[half:])
        )
        if drifted(early, late) or drifted(homogeneity.counts[side], early + late):
            raise InvalidRunsError(_DRIFT)
        refuse_hanging_together([RunOrder(*block[side][1:]) for block in summaries])
    if summaries and sharing(np.sum([block[2][0] for block in summaries], axis=0)):
        raise InvalidRunsError(_ACROSS)


def refuse_repeated(watch: RepeatDetector, pair: int, runs: Sequence[Integers], sides: Integers | None = None) -> None:
    """Raise `InvalidRunsError` if runs repeat earlier ones of the audit, as noise from a reused buffer does.

    Args:
        watch: what the audit has recorded so far; these runs are added.
        pair: its number.
        runs: for each side, (runs,) integers in the order of the calls, equal exactly where outputs are equal.
        sides: (runs,) the side of each run, in the order of the calls; None if each side was run by itself.
    """
    known = [watch.with_earlier(pair, side, outputs) for side, outputs in enumerate(runs)]
    if any(map(coming_back, known)):
        raise InvalidRunsError(_TOGETHER.format(how=COME_BACK))
    if sides is not None:
        order = watch.sides(pair, sides)
        outputs = np.empty(len(order), dtype=np.int64)
        for side in (0, 1):
            outputs[order == side] = known[side]
        lag = echo(outputs, order)
        if lag is not None:
            how = f"agree with those {lag:,} calls before them as independent runs do not"
            raise InvalidRunsError(_TOGETHER.format(how=how))


def outputs_in(summaries: Sequence[BlockSummary], side: int) -> Integers:
    """Return the recorded outputs of one side, in the form that `refuse_repeated` takes."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *(block[2][1 + side] for block in summaries)])


def refuse_hanging_together(orders: list[RunOrder]) -> None:
    """Raise `InvalidRunsError` if the runs of a side depend on one another in the order of their calls."""
    how = hanging_together(together(orders))
    if how is not None:
        raise InvalidRunsError(_TOGETHER.format(how=how))
