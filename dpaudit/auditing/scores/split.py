"""Which recorded outputs choose the event, and which measure it?

A share of each side chooses, and all others measure; the numbers are fixed by how many outputs there are, and an order
that hangs on the seed says which. Bounds hold given the sides, however many outputs each has. An event that speaks for
both sides is measured on equally many of each: the first of that order, where one side has more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.sampling.outputs import Outputs

Positions = np.ndarray[Any, np.dtype[np.int64]]

SHARE = 0.3  # of the outputs, which choose the event; tuned on other seeds than those that are reported
_SPLIT = 4  # the first entry of the spawn key, after those of `sampling.blocks`


@dataclass(frozen=True, slots=True)
class IndexSplit:
    """Positions of the outputs of side 0 and side 1 that choose the event, and of those that measure it."""

    learning: tuple[Positions, Positions]
    measuring: tuple[Positions, Positions]

    @property
    def balanced(self) -> IndexSplit:
        """The same with equally many of both sides to measure."""
        fewer = min(map(len, self.measuring))
        return IndexSplit(self.learning, (self.measuring[0][:fewer], self.measuring[1][:fewer]))


def split(sizes: tuple[int, int], seed: int) -> IndexSplit:
    """Return the split that hangs on the seed."""
    rng = generator(seed, _SPLIT)
    orders = [rng.permutation(size) for size in sizes]
    first, second = ((order[: round(SHARE * len(order))], order[round(SHARE * len(order)) :]) for order in orders)
    return IndexSplit((first[0], second[0]), (first[1], second[1]))


def generator(seed: int, phase: int) -> np.random.Generator:
    """Return the generator of one phase."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(phase,))))


def at(outputs: Outputs, positions: Positions) -> Outputs:
    """Return the outputs at these positions, in this order: recorded ones may have been sorted by somebody."""
    codes = outputs.codes[positions]
    rows = []
    for code, numbers in enumerate(outputs.numbers):
        row = np.cumsum(outputs.codes == code) - 1  # of each output, among those of its form
        rows.append(numbers[row[positions[codes == code]]])
    return Outputs(outputs.forms, codes, tuple(rows))
