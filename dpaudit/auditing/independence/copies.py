"""Were recorded outputs handed in more than once?

Copies of outputs, and a bootstrap of them, are no further runs, and shuffled they show it neither by drift nor by
distances in time. Four signs do, whatever the order; none is ever shown by counts, rounded numbers or categories:

*Multiplicities.* Of independent draws from any law, let N_k outcomes occur k times, and m_k = k!·E N_k. With λ the
expected number of an outcome, m_k = Σ λ^k·e^(−λ) (as for Poisson sampling; Good 1953), so m_k² ≤ m_(k−1)·m_(k+1) by
Cauchy and Schwarz. Outputs that are all there twice break this.

*Sides.* In expectation two independent sides meet in an outcome n₀n₁·Σpq times, and each meets itself n²/2·Σp² times.
So the sides meet at most as often as both meet themselves (2ab ≤ a² + b²); a file that is part of both breaks this.

*Own values.* Numbers that repeat on one side and are missing on the other come from no law that is nearly private, and
where they lie on no grid they come from no rounding either. Where there are many such numbers, and most outputs of a
side are among them, they were copied, or drawn again from fewer runs. A function that has but a few states of noise
looks the same, which is why the answer is a question.

*Lines.* Numbers of one side that are those of the other but for a shift and a scale, or those of their own side
mirrored, were made of the same noise (common or antithetic random numbers): independent ones lie on no line.

Numbers count as equal if they are far nearer to one another than to their neighbours: copies may have been changed a
little. What is true of one number of an output is enough: a run number beside copies makes no new runs of them. Numbers
in texts count as numbers.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict

import numpy as np

from dpaudit.arrays import Booleans, Floats, Integers
from dpaudit.errors import InvalidRunsError
from dpaudit.events import identities
from dpaudit.sampling.outputs import Outputs

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
        times = _too_regular(np.unique(_known(outputs), return_counts=True)[1])
        if times:
            return f"far too many outputs of side {side} are there exactly {times} times"
    sizes = len(sides[0]), len(sides[1])
    for form in dict.fromkeys(form for side in sides for form, numbers in _by_form(side) if numbers.shape[1]):
        both = [dict(_by_form(side)).get(form, np.empty((0, 0))) for side in sides]
        found = _of_form(both[0], both[1], sizes)
        if found:
            return found
    return ""


def _known(outputs: Outputs) -> Integers:
    return np.asarray(identities(outputs))


def _by_form(outputs: Outputs) -> list[tuple[str, Floats]]:
    """Return the numbers of the outputs of each form, and those in the texts of each pattern."""
    found = list(zip(outputs.forms, outputs.numbers, strict=True))
    if len(found) <= _FEWEST:
        return found
    often = np.bincount(outputs.codes, minlength=len(found))
    texts: dict[str, list[list[float]]] = defaultdict(list)
    for form, times in zip(outputs.forms, often.tolist(), strict=True):
        if "'" in form or '"' in form:
            texts[_DECIMAL.sub("#", form)] += [list(map(float, _DECIMAL.findall(form)))] * times
    return [*found, *((pattern, np.array(rows)) for pattern, rows in texts.items())]


def _of_form(numbers0: Floats, numbers1: Floats, sizes: tuple[int, int]) -> str:
    """Say how outputs of one form are copies, by any number in them."""
    width = max(numbers0.shape[1], numbers1.shape[1])
    both = [each if each.size else np.empty((0, width)) for each in (numbers0, numbers1)]
    joined = np.concatenate(both)
    columns = sorted(range(width), key=lambda place: -len(np.unique(joined[:, place])))[:_MOST_COLUMNS]
    found = (_of_numbers(both[0][:, place], both[1][:, place], sizes) for place in columns)
    return next(filter(None, found), "")


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
            return f"the numbers of side {side} are there mirrored as well, as those of antithetic noise are"
    alike = len(sides[0]) == len(sides[1]) >= max(_FEWEST_ON_A_LINE, len(numbers0) / 2)
    if alike and not any(map(_on_a_grid, sides)):
        for other in (sides[1], -sides[1][::-1]):
            if _on_a_line(sides[0], other, scaled=True):
                return "the numbers of side 1 are those of side 0 but for a shift and a scale: they share noise"
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
            return f"far too many outputs of side {side} are there exactly {times} times, or nearly so"
    within = [int((each * (each - 1) // 2).sum()) for each in counts]
    across = int((counts[0] * counts[1]).sum())
    if across >= _MEETINGS and sum(within) < across / 4:
        return f"{across:,} outputs of one side are on the other too, and far fewer are twice on one side"
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
                f"{share:.0%} of the outputs of side {side} are numbers that are there several times, on that side "
                "alone, as numbers of full precision never are"
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
