"""How is one pair learned and measured? Learning runs yield frozen choices; measuring runs yield counts."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.auditing import independence
from dpaudit.auditing.accuracy import sample
from dpaudit.auditing.question import LEAST_RUNS, Question
from dpaudit.errors import UsageError
from dpaudit.events import (
    Partition,
    SelectedEvent,
    choose,
    choose_low_bits,
    count_event,
    counts_by_degree,
    identities,
    led,
)
from dpaudit.evidence.event import Coordinate, Event, Rows, Rule
from dpaudit.evidence.records import Cell, Counts, Histogram, Led
from dpaudit.privacy.claims import number_text
from dpaudit.sampling.checkpoint import LEAST_BLOCK, Phase, RunBlock, block_size, blocks_of, ramp_of, sides_of
from dpaudit.sampling.engines import Processes
from dpaudit.sampling.outputs import Outputs, concatenate
from dpaudit.sampling.play import play, repeats, why_alone
from dpaudit.sampling.runs import RaisedTogetherError, UnreadRunsError, first_exception, outputs_of, untimed
from dpaudit.targets.signature import Shape

# --- How are the counts over a partition shown in a report? As labelled cells ---
#
# Where a mechanism states the law of its outputs, the probability of each cell is given too.

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


# shares and caps of learning runs are measured by benchmarks/goal_table.py (tuned on its seeds 0 to 99)
_LEARNING_SHARE, _LATER_SHARE, _DEMANDING_SHARE, _FEW_VALUES_SHARE = 0.25, 0.2, 0.4, 0.35
_FEW_RUNS = 50_000  # up to which learning gets the larger share
_FEW_VALUES, _MANY_VALUES = 12, 256
_LEARNING_CAP, _LATER_CAP = 500_000, 2_000_000  # both sides together; the second for outputs that need more runs
_LEARNING_NUMBERS = 20_000_000  # bounds memory: outputs of many numbers are learned from fewer runs
_READ_PAIRS, READ_RUNS, _FEW_READ = 8, 1_024, 64  # of which runs show whether a function is read
_SETTLING_RUNS = {Shape.SAMPLER: 256, Shape.SEEDED: 8}  # made twice, before all others
_EARLY = 2_048  # runs before a mechanism that always raises is given up
_PICTURE_RUNS = 400_000  # measuring runs, of both sides, for the histogram, drift and low-order bits; bounds time

Counted = tuple[tuple[int, int], tuple[int, int]]
Further = Callable[[Outputs, Outputs, int], tuple[SelectedEvent, ...]]


@dataclass(frozen=True, slots=True)
class LearnedPair:
    """The result of a pair's learning runs: frozen choices and a few counts."""

    choices: tuple[SelectedEvent, ...]
    histogram_partition: Partition
    # what measuring runs must agree with; None for programs, which keep no state
    homogeneity: independence.HomogeneityCells | None
    runs: int
    seconds: float  # for all of learning
    fallback_reason: str | None  # why a program was run one call at a time
    width: int  # numbers in one output
    low_bits: SelectedEvent | None = None  # the event in the low-order bits; None if they are not examined
    further: tuple[SelectedEvent, ...] = ()  # measured in addition, on the same runs
    constant: bool = False  # whether all runs of a side returned the same output, though they could have differed
    made_as: Shape | None = None  # the call style of measuring runs, if it is not the function's own
    led: Led | None = None  # what a trace points to, as far as learning runs show it
    sample: Outputs | None = None  # runs of side 0, from which errors are estimated


@dataclass(frozen=True, slots=True)
class _Tally:
    """What is counted in each measuring block: events, the cells of partitions, and data for the homogeneity checks."""

    events: tuple[Event, ...]
    partitions: tuple[Partition, ...]
    homogeneity: independence.HomogeneityCells | None = None

    def __call__(
        self, side0: Outputs, side1: Outputs
    ) -> tuple[list[Counted], list[independence.Cells], independence.BlockSummary]:
        """Count one block: for each event, the runs of each side that point to side 0 and 1; and runs in each cell."""
        events = [(count_event(event, side0), count_event(event, side1)) for event in self.events]
        cells = [(cells.counts(side0), cells.counts(side1)) for cells in self.partitions]
        return events, cells, () if self.homogeneity is None else self.homogeneity.summarise(side0, side1)


@dataclass(frozen=True, slots=True)
class MeasuredPair:
    """The result of a pair's measuring runs: counts for each choice, in their order, and the histogram."""

    counts: tuple[Counts, ...]
    histogram: Histogram
    fallback_reason: str | None
    low_bits: Counts | None = None
    further: tuple[Counts, ...] = ()


def with_call_style(question: Question, pair: int = 0) -> Question:
    """Return the question with the call style that its runs use, as far as a few preliminary runs show it.

    A function that receives a generator has randomness or state of its own if the same generator gives different
    outputs. A sampler that raises is called for one run at a time.
    """
    if question.may_be_read:
        question = _read_if_possible(question, READ_RUNS)
    if question.runs_as not in (Shape.SAMPLER, Shape.SEEDED) or question.made_as is not None:
        return question

    def same(question: Question) -> bool:
        block = RunBlock(Phase.SETTLING, pair, 0, _SETTLING_RUNS[question.runs_as])
        return repeats(question.experiment, block, workers=question.engine)

    try:
        alike = same(question)
    except RaisedTogetherError:
        question = replace(question, made_as=Shape.SEEDED)
        alike = same(question)
    if alike:
        return question
    alone = None if not question.engine.apart else why_alone(question.mechanism, made_as=Shape.OPAQUE)
    return replace(question, made_as=Shape.OPAQUE, alone=question.alone or alone)


def read_of(question: Question, runs: int = _FEW_READ) -> Question | None:
    """Return the question with runs that are made by reading the function, as far as a few show; None if not."""
    read = _read_if_possible(question, runs) if question.may_be_read else question
    return read if read.made_as is Shape.READ else None


def _read_if_possible(question: Question, runs: int) -> Question:
    """Return the question with runs that are made by reading the function; with the reason, if they cannot be."""
    alone = None if question.mechanism.reference is not None else question.alone  # each worker reads it
    read = replace(question, made_as=Shape.READ, alone=alone)
    called = None
    for pair in range(min(len(question.pairs), _READ_PAIRS)):
        try:
            _, reason = outputs_of(
                replace(read.experiment, mechanism=read.mechanism), RunBlock(Phase.SETTLING, pair, 0, runs)
            )
        except UnreadRunsError as error:
            return replace(question, unread=error.why)
        except UsageError:
            return question  # as it is said when the function is called
        called = called or reason
    if called is None:
        return read
    alone = why_alone(question.mechanism, made_as=Shape.OPAQUE) if question.engine.apart else None
    return replace(read, called=called, alone=alone)


def few_blocks(question: Question, runs: int) -> str | None:
    """Say that there are fewer blocks than workers of an engine, as a sentence; None if there are not."""
    shape, workers = question.runs_as, question.engine.count
    if isinstance(question.engine, Processes) or shape is not Shape.SEEDED or question.alone is not None:
        return None
    blocks = -(-runs // block_size(shape, 1, question.block_size))
    smaller = max(LEAST_BLOCK, 2 ** int(math.log2(max(runs / (4 * workers), 1))))
    if blocks >= workers or question.block_size == LEAST_BLOCK:
        return None
    return (
        f"{runs:,} runs of one call each are about {blocks:,} blocks, so that most of {workers:,} workers have nothing "
        f"to do; block_size={smaller} (--block-size {smaller}) makes more blocks, with other draws"
    )


def both_sides(side0: Outputs, side1: Outputs) -> tuple[Outputs, Outputs]:
    """Keep the outputs of a block unchanged."""
    return side0, side1


def learn(question: Question, pair: int, runs: int, error: float, further: Further | None = None) -> LearnedPair:
    """Make the learning runs of a pair and freeze what will be measured.

    If a sampler raises here, it is called for one run at a time from then on: in new learning runs and in all measuring
    runs.
    """
    try:
        return _learn(question, pair, runs, error, further)
    except RaisedTogetherError:
        return _learn(replace(question, made_as=Shape.SEEDED), pair, runs, error, further)


def _learn(question: Question, pair: int, runs: int, error: float, further: Further | None) -> LearnedPair:
    clock = time.perf_counter()
    shape = question.runs_as
    share = _LEARNING_SHARE if runs <= _FEW_RUNS else _LATER_SHARE
    wanted = min(max(int(share * runs), LEAST_RUNS // 2), _LATER_CAP)
    first = ramp_of(shape, Phase.LEARNING, pair, wanted, most=question.block_size)[:1]
    sides, reason = gather(question, first)
    made = first[: len(sides)]
    start = joined(sides)
    width = numbers_a_run(start)
    simple = question.notion.delta == 0 and width == 1 and len(start[0].forms) == 1
    cap = _LEARNING_CAP if simple else _LATER_CAP
    cap = min(cap, max(_LEARNING_NUMBERS // width, first[0].size))
    wanted = min(wanted, cap)
    blocks = ramp_of(shape, Phase.LEARNING, pair, wanted, width, question.block_size)[1:]
    if nothing_ran(start):  # a few more show whether any run succeeds: successful runs may be rare
        so_far = itertools.accumulate(block.size for block in blocks)
        early = [block for block, runs in zip(blocks, so_far, strict=True) if runs <= _EARLY]
        more, slow = gather(question, early)
        made = made + early[: len(more)]
        sides, reason, blocks = sides + more, reason or slow, blocks[len(early) :]
        refuse_if_nothing_ran(question, pair, joined(sides))
    more, slow = gather(question, blocks)
    sides, reason, made = sides + more, reason or slow, made + blocks[: len(more)]
    before = sum(len(side0) + len(side1) for side0, side1 in sides)
    extra = min(int(_share([side0 for side0, _ in sides], runs) * runs), cap) - before
    rest = blocks_of(shape, Phase.LEARNING, pair, max(extra, 0), len(made), width, question.block_size)
    more, slow = gather(question, rest)
    sides, reason, made = sides + more, reason or slow, made + rest[: len(more)]
    outputs = joined(sides)
    del start, sides, more
    refuse_if_nothing_ran(question, pair, outputs)
    used = len(outputs[0]) + len(outputs[1])
    ahead = max(runs - used, LEAST_RUNS)
    choices, histogram_partition = choose(
        outputs[0],
        outputs[1],
        claim=question.notion,
        measuring=ahead,
        error=error,
        learn=question.learn,
        leads=question.leads_of(pair),
    )
    homogeneity = None
    if shape not in (Shape.PROGRAM, Shape.READ):
        homogeneity = independence.homogeneity_cells(outputs, question.observe)
        looked = [untimed(side) if question.observe else side for side in outputs]
        most = [min(len(side), _PICTURE_RUNS // 2) for side in looked]
        order = _order(question, made, sum(most))
        if order is not None:
            most = [int(np.count_nonzero(order == side)) for side in (0, 1)]
        known = [identities(side.first(own)) for side, own in zip(looked, most, strict=True)]
        independence.refuse_repeated(question.watch, pair, known, order)
    low_bits = None
    if question.reads_low_bits:
        low_bits = choose_low_bits(
            *outputs, claim=question.notion, measuring=ahead, known=question.public_numbers(pair)
        )
    beside = () if further is None else further(*outputs, ahead)
    seconds = time.perf_counter() - clock
    constant = homogeneity is not None and independence.are_constant(outputs)
    return LearnedPair(
        choices,
        histogram_partition,
        homogeneity,
        used,
        seconds,
        reason,
        width,
        low_bits,
        beside,
        constant,
        question.made_as,
        led(outputs, question.leads_of(pair), claim=question.notion, error=error, pair=pair),
        sample(outputs[0]) if pair == 0 else None,
    )


def numbers_a_run(outputs: tuple[Outputs, Outputs]) -> int:
    """Return how many numbers one output holds, on average and at least 1."""
    numbers = sum(rows.size for side in outputs for rows in side.numbers)
    return max(1, round(numbers / max(len(outputs[0]) + len(outputs[1]), 1)))


def gather(question: Question, blocks: list[RunBlock]) -> tuple[list[tuple[Outputs, Outputs]], str | None]:
    """Run blocks; return their outputs, and why a program was run one call at a time (or None)."""
    gathered: list[tuple[Outputs, Outputs]] = []
    reason: str | None = None
    for played in play(question.experiment, blocks, both_sides, workers=question.engine, watch=question.watch):
        gathered.append(played.result)
        reason = reason or played.fallback_reason
    return gathered, reason


def _order(question: Question, blocks: Sequence[RunBlock], most: int | None = None) -> Integers | None:
    """The side of each run of these blocks, in the order of the calls; None if each side is run by itself."""
    if question.runs_as is not Shape.OPAQUE:
        return None
    return np.concatenate([sides_of(question.experiment, block) for block in blocks])[:most]


def joined(blocks: list[tuple[Outputs, Outputs]]) -> tuple[Outputs, Outputs]:
    """Return the outputs of several blocks as those of one."""
    return concatenate([side0 for side0, _ in blocks]), concatenate([side1 for _, side1 in blocks])


def _share(blocks: list[Outputs], runs: int) -> float:
    """The share of the runs that learning gets: more for vectors, for many categories, and for a few ordered values."""
    forms = {form for block in blocks for form in block.forms}
    if len(forms) > _MANY_VALUES or any(numbers.shape[1] > 1 for block in blocks for numbers in block.numbers):
        return _DEMANDING_SHARE
    main = max(concatenate(blocks).numbers, key=len, default=np.empty((0, 0)))
    values = len(forms) if main.shape[1] == 0 else len(np.unique(main))
    if _MANY_VALUES < values < 0.95 * len(main):
        return _DEMANDING_SHARE
    return _FEW_VALUES_SHARE if 2 < values <= _FEW_VALUES and runs <= _FEW_RUNS else 0.0


def nothing_ran(outputs: tuple[Outputs, Outputs]) -> bool:
    """Whether every run of both sides raised the same."""
    forms = {form for side in outputs for form in side.forms}
    return len(forms) == 1 and next(iter(forms)).startswith("raises ")


def refuse_if_nothing_ran(question: Question, pair: int, outputs: tuple[Outputs, Outputs]) -> None:
    """Raise `UsageError` if every run of both sides raises the same exception."""
    if nothing_ran(outputs):
        what = first_exception(question.mechanism, question.pairs[pair][0], question.parameters)
        raise UsageError(f"{question.mechanism.name} raises in every run, so nothing can be measured: {what}")


def measure(question: Question, pair: int, learned: LearnedPair, runs: int) -> MeasuredPair:
    """Make fresh runs and count the frozen choices in them; only counts are kept.

    The first of these runs also fill the histogram, the cells that detect drift, and the event in the low-order bits.
    """
    question = replace(question, made_as=learned.made_as)
    shape, most = question.runs_as, question.block_size
    blocks = blocks_of(shape, Phase.MEASURING, pair, runs, width=learned.width, most=most)
    drawn = -(-_PICTURE_RUNS // blocks[0].size)
    wanted = (*learned.choices, *learned.further)
    events = tuple(choice.event for choice in wanted)
    # a graded event is its own partition: its cells are counted over all runs
    graded = tuple(Partition(choice.event.family, choice.event.rules) for choice in wanted if choice.graded)
    low_bits = () if learned.low_bits is None else (learned.low_bits.event,)
    counted = np.zeros((len(events), 2, 2), dtype=np.int64)  # event, side of the run, side it points to
    hits_low = np.zeros((len(low_bits), 2, 2), dtype=np.int64)
    bins = [np.zeros((2, cells.size), dtype=np.int64) for cells in graded]
    filled = np.zeros((2, learned.histogram_partition.size), dtype=np.int64)
    summaries: list[independence.BlockSummary] = []  # of each block that is checked for drift and dependence
    sizes, pictured = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    laws = [question.mechanism.law_for(data, question.parameters) for data in question.pairs[pair]]
    reason = None
    for index, played in enumerate(
        itertools.chain(
            play(
                question.experiment,
                blocks[:drawn],
                _Tally(events + low_bits, (*graded, learned.histogram_partition), learned.homogeneity),
                workers=question.engine,
                watch=question.watch,
            ),
            play(
                question.experiment,
                blocks[drawn:],
                _Tally(events, graded),
                workers=question.engine,
                watch=question.watch,
            ),
        )
    ):
        hits, cells, summary = played.result
        counted += np.array(hits[: len(events)])
        sizes += played.sizes
        for total, own in zip(bins, cells, strict=False):
            total += np.array(own)
        if index < drawn:
            cells = cells[len(graded) :]
            hits_low += np.array(hits[len(events) :], dtype=np.int64).reshape(hits_low.shape)
            filled += np.array(cells[0])
            summaries.append(summary)
            pictured += played.sizes
        reason = reason or played.fallback_reason
    if learned.homogeneity is not None:
        independence.refuse_inhomogeneous(learned.homogeneity, summaries)
        order = _order(question, blocks[:drawn])
        independence.refuse_repeated(
            question.watch, pair, [independence.outputs_in(summaries, side) for side in (0, 1)], order
        )
    filled_bins = iter(bins)
    counts = tuple(
        _in_bins(choice.event, _counts(sizes, own), next(filled_bins)) if choice.graded else _counts(sizes, own)
        for choice, own in zip(wanted, counted, strict=True)
    )
    return MeasuredPair(
        counts=counts[: len(learned.choices)],
        histogram=histogram_cells(learned.histogram_partition, pair, filled, pictured, laws),
        fallback_reason=reason,
        low_bits=_counts(pictured, hits_low[0]) if low_bits else None,
        further=counts[len(learned.choices) :],
    )


def measure_event(
    question: Question,
    pair: int,
    event: Event,
    runs: int,
    phase: Phase,
    *,
    graded: bool = False,
    width: int = 1,
) -> Counts:
    """Count an event that was fixed beforehand, in fresh runs of a phase of their own.

    The first of them are checked for drift and dependence by the cells of the event, as measuring runs are.
    """
    question = with_call_style(question, pair)
    sizes, counted = np.zeros(2, dtype=np.int64), np.zeros((2, 2), dtype=np.int64)
    cells = (Partition(event.family, event.rules),) if graded else ()
    filled = [np.zeros((2, each.size), dtype=np.int64) for each in cells]
    blocks = blocks_of(question.runs_as, phase, pair, runs, width=width, most=question.block_size)
    homogeneity = None if question.runs_as is Shape.PROGRAM else independence.by_event(event, question.observe)
    looked = 0 if homogeneity is None else -(-_PICTURE_RUNS // blocks[0].size)
    summaries: list[independence.BlockSummary] = []
    for played in itertools.chain(
        play(
            question.experiment,
            blocks[:looked],
            _Tally((event,), cells, homogeneity),
            workers=question.engine,
            watch=question.watch,
        ),
        play(
            question.experiment,
            blocks[looked:],
            _Tally((event,), cells),
            workers=question.engine,
            watch=question.watch,
        ),
    ):
        hits, bins, summary = played.result
        summaries += [summary] if summary else []
        counted += np.array(hits[0])
        sizes += played.sizes
        for total, own in zip(filled, bins, strict=True):
            total += np.array(own)
    if homogeneity is not None:
        independence.refuse_inhomogeneous(homogeneity, summaries)
        order = _order(question, blocks[:looked])
        independence.refuse_repeated(
            question.watch, pair, [independence.outputs_in(summaries, side) for side in (0, 1)], order
        )
    counts = _counts(sizes, counted)
    return _in_bins(event, counts, filled[0]) if graded else counts


def _in_bins(event: Event, counts: Counts, cells: np.ndarray[Any, Any]) -> Counts:
    return msgspec.structs.replace(counts, bins=(counts_by_degree(event, cells[0]), counts_by_degree(event, cells[1])))


def _counts(sizes: np.ndarray[Any, Any], counted: np.ndarray[Any, Any]) -> Counts:
    return Counts(
        runs=(int(sizes[0]), int(sizes[1])),
        toward0=(int(counted[0, 0]), int(counted[1, 0])),
        toward1=(int(counted[0, 1]), int(counted[1, 1])),
    )
