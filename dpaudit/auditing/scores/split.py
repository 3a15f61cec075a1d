"""Which recorded outputs choose the event, and which measure it?

A share of each side chooses the event, and all others measure it. The sizes depend only on how many outputs there are;
a random order that depends on the seed says which outputs they are. Bounds are valid given the sides, however many
outputs each has. An event that points to both sides is measured on equally many outputs of each: the first in that
order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.sampling.outputs import Outputs

Positions = np.ndarray[Any, np.dtype[np.int64]]

SHARE = 0.3  # of the outputs choose the event; tuned on other seeds than benchmarks/scores.py reports
_SPLIT = 4  # the first entry of the spawn key


@dataclass(frozen=True, slots=True)
class IndexSplit:
    """Positions of the outputs of each side that choose the event, and of those that measure it."""

    learning: tuple[Positions, Positions]
    measuring: tuple[Positions, Positions]

    @property
    def balanced(self) -> IndexSplit:
        """The same split with equally many measuring outputs of both sides."""
        fewer = min(map(len, self.measuring))
        return IndexSplit(self.learning, (self.measuring[0][:fewer], self.measuring[1][:fewer]))


def split(sizes: tuple[int, int], seed: int) -> IndexSplit:
    """Return the split that the seed determines."""
    rng = generator(seed, _SPLIT)
    orders = [rng.permutation(size) for size in sizes]
    first, second = ((order[: round(SHARE * len(order))], order[round(SHARE * len(order)) :]) for order in orders)
    return IndexSplit((first[0], second[0]), (first[1], second[1]))


def generator(seed: int, phase: int) -> np.random.Generator:
    """Return the random generator of one phase."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(phase,))))


def at(outputs: Outputs, positions: Positions) -> Outputs:
    """Return the outputs at these positions, in this order, because recorded outputs may have been sorted."""
    codes = outputs.codes[positions]
    rows = []
    for code, numbers in enumerate(outputs.numbers):
        row = np.cumsum(outputs.codes == code) - 1  # of each output, among those of its form
        rows.append(numbers[row[positions[codes == code]]])
    return Outputs(outputs.forms, codes, tuple(rows))
