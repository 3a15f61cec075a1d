"""Are the runs of each side independent draws from one distribution?

Nobody can be certain of this for a function that keeps a state of its own. But it can be detected that outputs drift
over the course of the calls (`drifted`), depend on one another (`dependence`), or were handed in twice
(`refuse_copies`). In each case no bound is valid, and the runs are refused. Programs need no such check: they are
called again on the same draws, and keep no state.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.arrays import Booleans, Floats, Integers
from dpaudit.auditing.dependence import (
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
from dpaudit.errors import InvalidRunsError
from dpaudit.events import Partition, identities, watched
from dpaudit.evidence.event import DATASETS, Event, Linear, Rule
from dpaudit.sampling.outputs import Outputs, concatenate
from dpaudit.sampling.play import RepeatDetector
from dpaudit.sampling.runs import untimed

# --- Were recorded outputs handed in more than once? ---
#
# Copies of outputs, and a bootstrap of them, are no further runs, and shuffled they show it neither by drift nor by
# distances in time. Four signs do, whatever the order; none is ever shown by counts, rounded numbers or categories:
#
# *Multiplicities.* Of independent draws from any law, let N_k outcomes occur k times, and m_k = k!·E N_k. With λ the
# expected number of an outcome, m_k = Σ λ^k·e^(−λ) (as for Poisson sampling; Good 1953), so m_k² ≤ m_(k−1)·m_(k+1) by
# Cauchy and Schwarz. Outputs that are all there twice break this.
#
# *Sides.* In expectation two independent sides meet in an outcome n₀n₁·Σpq times, and each meets itself n²/2·Σp² times.
# So the sides meet at most as often as both meet themselves (2ab ≤ a² + b²); a file that is part of both breaks this.
#
# *Own values.* Numbers that repeat on one side and are missing on the other come from no law that is nearly private,
# and where they lie on no grid they come from no rounding either. Where there are many such numbers, and most outputs
# of a side are among them, they were copied, or drawn again from fewer runs. A function that has but a few states of
# noise looks the same, which is why the answer is a question.
#
# *Lines.* Numbers of one side that are those of the other but for a shift and a scale, or those of their own side
# mirrored, were made of the same noise (common or antithetic random numbers): independent ones lie on no line.
#
# Numbers count as equal if they are far nearer to one another than to their neighbours: copies may have been changed a
# little. What is true of one number of an output is enough: a run number beside copies makes no new runs of them.
# Numbers in texts count as numbers.

_FEWEST = 10  # numbers that repeat on one side alone; fewer may be all that a function without noise returns
_SHARE = 0.1  # of the outputs of a side, which fewer copies change hardly
_OTHER_SIDE = 5  # numbers that the other side would have to share
_NEAR = 1e-3  # of the mean distance to neighbours; independent numbers are so near in one of a thousand
_AROUND = (8, 32, 128, 512)  # neighbours
_EQUAL_STEPS = 1e-3  # relative difference of two steps of a grid
_ON_A_GRID = 0.02  # share of equal steps; of independent numbers it is .0005
_MANY = 20  # outcomes that occur equally often
_MEETINGS = 64
_ASKED = (
    "{}. Are these the same outputs in another order, copied, or drawn again from fewer runs (a bootstrap)? A bound "
    "holds for outputs of runs of their own, with noise of their own: hand in every run once"
)
_MOST_COLUMNS = 32  # numbers of an output that are looked at: those that have most values
_DECIMAL = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")
_FEWEST_ON_A_LINE = 20
_ON_A_LINE = 1e-3  # of the distance of neighbours; of n independent numbers it is about √n


def refuse_copies(sides: tuple[Outputs, Outputs]) -> None:
    """Raise if outputs of either side were handed in more than once.

    Args:
        sides: the outputs of side 0 and side 1, in any order.

    Raises:
        InvalidRunsError: with the question what they are.
    """
    why = copied(sides)
    if why:
        raise InvalidRunsError(_ASKED.format(why))


def copied(sides: tuple[Outputs, Outputs]) -> str:
    """Say how outputs are there more than once, which independent runs do not show; empty if they are not."""
    for side, outputs in enumerate(sides):
        times = _too_regular(np.unique(np.asarray(identities(outputs)), return_counts=True)[1])
        if times:
            return f"far too many outputs on {DATASETS[side]} are there exactly {times} times"
    sizes = len(sides[0]), len(sides[1])
    for form in dict.fromkeys(form for side in sides for form, numbers in _by_form(side) if numbers.shape[1]):
        both = [dict(_by_form(side)).get(form, np.empty((0, 0))) for side in sides]
        reason = _of_form(both[0], both[1], sizes)
        if reason:
            return reason
    return ""


def _by_form(outputs: Outputs) -> list[tuple[str, Floats]]:
    """Return the numbers of the outputs of each form, and those in the texts of each pattern."""
    forms = list(zip(outputs.forms, outputs.numbers, strict=True))
    if len(forms) <= _FEWEST:
        return forms
    often = np.bincount(outputs.codes, minlength=len(forms))
    texts: dict[str, list[list[float]]] = defaultdict(list)
    for form, times in zip(outputs.forms, often.tolist(), strict=True):
        if "'" in form or '"' in form:
            texts[_DECIMAL.sub("#", form)] += [list(map(float, _DECIMAL.findall(form)))] * times
    return [*forms, *((pattern, np.array(rows)) for pattern, rows in texts.items())]


def _of_form(numbers0: Floats, numbers1: Floats, sizes: tuple[int, int]) -> str:
    """Say how outputs of one form are copies, by any number in them."""
    width = max(numbers0.shape[1], numbers1.shape[1])
    both = [each if each.size else np.empty((0, width)) for each in (numbers0, numbers1)]
    joined = np.concatenate(both)
    columns = sorted(range(width), key=lambda place: -len(np.unique(joined[:, place])))[:_MOST_COLUMNS]
    reasons = (_of_numbers(both[0][:, place], both[1][:, place], sizes) for place in columns)
    return next(filter(None, reasons), "")


def _of_numbers(numbers0: Floats, numbers1: Floats, sizes: tuple[int, int]) -> str:
    """Say how outputs are copies, by one number in them; empty if it does not show that they are."""
    joined = np.concatenate([numbers0, numbers1])
    order = np.argsort(joined)
    values, of_side1 = joined[order], order >= len(numbers0)
    first = np.concatenate([[True], ~_near(values)])  # of numbers that count as equal
    places = np.cumsum(first) - 1
    counts = np.stack([np.bincount(places[of_side1 == side], minlength=int(places[-1]) + 1) for side in (0, 1)])
    return _of_counts(counts, values[first], sizes) or _of_lines(numbers0, numbers1)


def _of_lines(numbers0: Floats, numbers1: Floats) -> str:
    """Say how numbers were made of the same noise; empty where that does not show."""
    sides = [np.unique(each) for each in (numbers0, numbers1)]
    for side, (own, given) in enumerate(zip(sides, (numbers0, numbers1), strict=True)):
        if len(own) >= max(_FEWEST_ON_A_LINE, len(given) / 2) and not _on_a_grid(own) and _on_a_line(own, -own[::-1]):
            return f"the numbers on {DATASETS[side]} are there mirrored as well, as those of antithetic noise are"
    alike = len(sides[0]) == len(sides[1]) >= max(_FEWEST_ON_A_LINE, len(numbers0) / 2)
    if alike and not any(map(_on_a_grid, sides)):
        for other in (sides[1], -sides[1][::-1]):
            if _on_a_line(sides[0], other, scaled=True):
                return "the second dataset has the numbers of the first but for a shift and a scale: they share noise"
    return ""


def _on_a_line(values: Floats, others: Floats, *, scaled: bool = False) -> bool:
    """Whether sorted numbers are nearly all those of another list but for a shift, and perhaps a scale."""
    low, high = len(values) // 4, 3 * len(values) // 4
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        spread, reach = values[high] - values[low], others[high] - others[low]
        slope = reach / spread if scaled else 1.0
        apart = np.abs(others - others[low] - slope * (values - values[low]))
        return bool(np.median(apart) <= _ON_A_LINE * np.median(np.diff(others)))


def _of_counts(counts: Integers, values: Floats, sizes: tuple[int, int]) -> str:
    """Say how outputs are copies."""
    for side in (0, 1):
        times = _too_regular(counts[side])
        if times:
            return f"far too many outputs on {DATASETS[side]} are there exactly {times} times, or nearly so"
    within = [int((each * (each - 1) // 2).sum()) for each in counts]
    across = int((counts[0] * counts[1]).sum())
    if across >= _MEETINGS and sum(within) < across / 4:
        return f"{across:,} outputs on one dataset are on the other too, and far fewer are twice on one"
    if _on_a_grid(values):
        return ""
    for side in (0, 1):
        own, other = counts[side], counts[1 - side]
        repeated = own >= 2
        alone = repeated & (other == 0)
        share = own[alone].sum() / max(sizes[side], 1)
        ratio = sizes[1 - side] / max(sizes[side], 1)
        # what the other side would share if its law were the same: each as often as numbers come back (Good 1953)
        often = float(own[own >= 3].sum()) / max(int(np.count_nonzero(repeated)), 1)
        expected = -math.expm1(-ratio * often) * np.count_nonzero(repeated)
        missed = np.count_nonzero(repeated & (other > 0)) <= 0.1 * expected and expected >= _OTHER_SIDE
        if np.count_nonzero(alone) >= _FEWEST and share >= _SHARE and missed:
            return (
                f"{share:.0%} of the outputs on {DATASETS[side]} are numbers that are there several times, "
                "on that dataset alone, as numbers of full precision never are"
            )
    return ""


def _near(values: Floats) -> Booleans:
    """Return whether each number is far nearer to the next than numbers around it are to one another, (n − 1,)."""
    with np.errstate(over="ignore"):  # of numbers that lie 1e308 apart
        steps, places = np.diff(values), np.arange(len(values) - 1)
        near = steps == 0
        for around in _AROUND:
            if around > _AROUND[0] and around > len(steps) // 20:
                break
            first, last = np.maximum(places - around // 2, 0), np.minimum(places + around // 2 + 1, len(steps))
            near |= steps <= _NEAR * (values[last] - values[first]) / (last - first)
    return np.asarray(near)


def _on_a_grid(values: Floats) -> bool:
    """Whether neighbouring numbers are equally far from one another, as those of a grid are, also of a bent one."""
    with np.errstate(over="ignore"):
        steps = np.diff(values)
    if len(steps) < 2:
        return True
    with np.errstate(invalid="ignore"):
        apart = np.abs(np.diff(steps))
    alike = apart <= _EQUAL_STEPS * np.minimum(steps[1:], steps[:-1])
    return bool(np.count_nonzero(alike) >= max(_ON_A_GRID * len(alike), min(3, len(alike))))


def _too_regular(counts: Integers) -> int:
    """Return a number of times that far too many outcomes occur; 0 if there is none."""
    numbers = np.bincount(counts).astype(np.float64)
    for times in np.flatnonzero(numbers >= _MANY):
        if times < 2:
            continue
        after = numbers[times + 1] if times + 1 < len(numbers) else 0.0
        fewer, more = (each + 3 * math.sqrt(each) + 5 for each in (float(numbers[times - 1]), float(after)))
        if numbers[times] ** 2 * times > 4 * fewer * more * (times + 1):  # m_k² against m_(k−1)·m_(k+1), over (k!)²
            return int(times)
    return 0


_ERROR = 1e-9  # probability of a false alarm, small enough for millions of audits


def drifted(early: np.ndarray[Any, Any], late: np.ndarray[Any, Any], error: float = _ERROR) -> bool:
    """Whether early and late runs differ more than chance allows, in some cell or in all cells up to some cell.

    Given the k runs of a set of cells, the number of early ones is hypergeometric if the order does not matter, so it
    deviates from its mean by t with probability at most 2·exp(−2t²/k) (Hoeffding 1963, Theorem 2 and section 6).
    """
    runs = early.sum(), late.sum()
    if min(runs) == 0:
        return False
    early, late = (np.concatenate([counts, np.cumsum(counts)]) for counts in (early, late))
    total = early + late
    expected = total * (runs[0] / (runs[0] + runs[1]))
    strayed = np.abs(early - expected)
    limit = np.sqrt(np.maximum(total, 1) / 2 * np.log(2 * len(early) / error))
    return bool(np.any(strayed > limit))


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
