"""How is one pair learned and measured? Learning runs leave frozen choices behind, measuring runs counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpaudit.attack import Choice, Partition, choose, count_event, halves
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.evidence import Counts, Histogram
from dpaudit.function import Shape
from dpaudit.game.blocks import Block, Purpose, Watch, blocks_of, play, ramp_of
from dpaudit.game.drift import drifted
from dpaudit.game.outputs import Outputs, concatenate
from dpaudit.game.trial import first_exception
from dpaudit.picture import histogram_cells
from dpaudit.question import LEAST_RUNS, Question

_LEARNING_SHARE, _DEMANDING_SHARE = 0.25, 0.4
_LEARNING_CAP, _LEARNING_CAP_DELTA = 500_000, 2_000_000  # of both sides together
_PICTURE_RUNS = 400_000  # measuring runs, of both sides, that the histogram counts

Tell = Callable[[int, int], None]
Cells = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


@dataclass(frozen=True, slots=True)
class Learned:
    """What the learning runs of a pair left behind: frozen choices and a few counts."""

    choices: tuple[Choice, ...]
    picture: Partition
    cells: Cells  # of each side, how the learning runs that it was not fitted on fill the picture
    runs: int
    speed: float  # runs per second
    seconds: float  # for learning altogether
    fell_back: str | None  # why a program was read run by run


@dataclass(frozen=True, slots=True)
class _Counted:
    """What one measuring block is reduced to: counts for each choice, and cells for the picture."""

    events: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    cells: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What the measuring runs of a pair come to: counts for each choice, in their order, and the picture."""

    counts: tuple[Counts, ...]
    histogram: Histogram
    fell_back: str | None


def _pair_of_outputs(side0: Outputs, side1: Outputs) -> tuple[Outputs, Outputs]:
    return side0, side1


def learn(
    question: Question,
    pair: int,
    runs: int,
    budget: float | None,
    error: float,
    watch: Watch,
    tell: Tell,
) -> Learned:
    """Run the learning runs of a pair and freeze what will be measured."""
    clock = time.perf_counter()
    cap = _LEARNING_CAP if question.notion.delta == 0 else _LEARNING_CAP_DELTA
    first = min(max(int(_LEARNING_SHARE * runs), LEAST_RUNS // 2), cap)
    shape = question.mechanism.shape
    blocks = ramp_of(shape, Purpose.LEARNING, pair, first if budget is None else cap)
    sides, reason = _gather(question, blocks, watch, tell, None if budget is None else 0.25 * budget)
    outputs = _joined(sides)
    if budget is None and _demanding(outputs):
        more = min(max(int(_DEMANDING_SHARE * runs), first), cap) - first
        rest = blocks_of(shape, Purpose.LEARNING, pair, more, len(blocks))
        extra, slow = _gather(question, rest, watch, lambda done, _: tell(first + done, first + more), None)
        outputs = _joined(sides + extra)
        reason = reason or slow
    _refuse_if_nothing_ran(question, pair, outputs)
    used = len(outputs[0]) + len(outputs[1])
    speed = used / max(time.perf_counter() - clock, 1e-9)
    ahead = max(runs - used, LEAST_RUNS) if budget is None else max(3 * used, LEAST_RUNS)
    choices, picture = choose(outputs[0], outputs[1], claim=question.notion, measuring=ahead, error=error)
    # only the runs that the picture was not fitted on say how they fill it
    unfitted = [halves(side)[1] for side in outputs]
    early, late = ([picture.counts(halves(side)[part]) for side in unfitted] for part in (0, 1))
    if shape is not Shape.PROGRAM:
        _refuse_drift(early, late)
    cells = (early[0] + late[0], early[1] + late[1])
    return Learned(choices, picture, cells, used, speed, time.perf_counter() - clock, reason)


def _gather(
    question: Question,
    blocks: list[Block],
    watch: Watch,
    tell: Tell,
    seconds: float | None,
) -> tuple[list[tuple[Outputs, Outputs]], str | None]:
    clock = time.perf_counter()
    gathered: list[tuple[Outputs, Outputs]] = []
    reason: str | None = None
    done, total = 0, sum(block.size for block in blocks)
    groups = [blocks] if seconds is None else [[block] for block in blocks]
    for group in groups:
        for played in play(question.game, group, _pair_of_outputs, workers=question.workers, watch=watch):
            gathered.append(played.result)
            reason = reason or played.fell_back
            done += played.block.size
            tell(done, total)
        if seconds is not None and time.perf_counter() - clock > seconds and done >= LEAST_RUNS // 2:
            break
    return gathered, reason


def _joined(blocks: list[tuple[Outputs, Outputs]]) -> tuple[Outputs, Outputs]:
    return concatenate([side0 for side0, _ in blocks]), concatenate([side1 for _, side1 in blocks])


def _demanding(outputs: tuple[Outputs, Outputs]) -> bool:
    """Whether the outputs ask for more learning: vectors, or many categories."""
    if len(outputs[0].forms) > 256:
        return True
    wide = any(numbers.shape[1] > 1 for numbers in outputs[0].numbers)
    main = max(outputs[0].numbers, key=len, default=np.empty((0, 0)))
    return wide or (main.shape[1] == 1 and 256 < len(np.unique(main)) < 0.7 * len(main))


def _refuse_if_nothing_ran(question: Question, pair: int, outputs: tuple[Outputs, Outputs]) -> None:
    forms = {side.forms for side in outputs}
    if len(forms) == 1 and len(outputs[0].forms) == 1 and outputs[0].forms[0].startswith("raises "):
        what = first_exception(question.mechanism, question.pairs[pair][0], question.parameters)
        raise UsageError(f"{question.mechanism.name} raises in every run, so nothing can be measured: {what}")


def _refuse_drift(early: Sequence[np.ndarray[Any, Any]], late: Sequence[np.ndarray[Any, Any]]) -> None:
    """Raise where the cells of either side are filled differently by early and by late runs."""
    if any(drifted(early[side], late[side]) for side in (0, 1)):
        raise InvalidRunsError(_DRIFT)


_DRIFT = (
    "the outputs drift with the order of the calls: the mechanism keeps a state between calls, so its runs "
    "are not independent draws of one law"
)


def _count(choices: tuple[Choice, ...], picture: Partition | None, side0: Outputs, side1: Outputs) -> _Counted:
    events = tuple((count_event(choice.event, side0), count_event(choice.event, side1)) for choice in choices)
    cells = None if picture is None else (picture.counts(side0), picture.counts(side1))
    return _Counted(events, cells)


def measure(
    question: Question,
    pair: int,
    learned: Learned,
    runs: int,
    watch: Watch,
    tell: Tell,
) -> Measured:
    """Run fresh runs against the frozen choices, keeping counts only."""
    blocks = blocks_of(question.mechanism.shape, Purpose.MEASURING, pair, runs)
    drawn = -(-_PICTURE_RUNS // blocks[0].size)
    drawn_runs = sum(block.size for block in blocks[:drawn])
    totals = np.zeros((len(learned.choices), 2, 2), dtype=np.int64)
    cells = np.zeros((2, 2, learned.picture.size), dtype=np.int64)  # early and late, side, cell
    sizes, pictured = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    reason, done = None, 0
    for part, picture in ((blocks[:drawn], learned.picture), (blocks[drawn:], None)):
        reduce = partial(_count, learned.choices, picture)
        for played in play(question.game, part, reduce, workers=question.workers, watch=watch):
            counted = np.array(played.result.events)
            totals += counted
            sizes += played.sizes
            if played.result.cells is not None:
                cells[0 if 2 * done < drawn_runs else 1] += np.array(played.result.cells)
                pictured += played.sizes
            reason = reason or played.fell_back
            done += played.block.size
            tell(done, runs)
    if question.mechanism.shape is not Shape.PROGRAM:
        _refuse_drift(cells[0], cells[1])
        _refuse_drift(learned.cells, cells.sum(axis=0))
    counts = tuple(
        Counts(
            runs=(int(sizes[0]), int(sizes[1])),
            toward0=(int(counted[0, 0]), int(counted[1, 0])),
            toward1=(int(counted[0, 1]), int(counted[1, 1])),
        )
        for counted in totals
    )
    return Measured(counts, histogram_cells(learned.picture, pair, cells.sum(axis=0), pictured), reason)
