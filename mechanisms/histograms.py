"""How can a histogram be released whose counts have been made already?

``data`` is the list of counts. One record more or less moves one of them by 1; `mechanisms.queries.histogram`
counts the records itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit import PureDP, mechanism
from dpaudit.program.noise import Noise

from . import losses
from .domain import positive

# One of five counts moves.
COUNTS, ONE_MORE = [1, 1, 1, 1, 1], [2, 1, 1, 1, 1]


@mechanism(
    claim=PureDP,
    relation="queries(one)",
    pairs=[(COUNTS, ONE_MORE)],
    true_loss=lambda epsilon: losses.of_laplace(COUNTS, ONE_MORE, 1 / epsilon),
    unit="one move of one count by 1",
    source="Dwork & Roth (2014), Example 3.2",
    family="histograms",
)
def noisy_histogram(data: Sequence[float], noise: Noise, *, epsilon: float = 1) -> list[Any]:
    """Add Laplace noise of scale 1/epsilon to every count.

    The claim is for one count that moves. If all d of them may move at once, the same release loses d·ε: a
    wrong relation, not a wrong mechanism.

    The true loss is epsilon, reached wherever the count that moves comes out below both true counts.
    """
    scale = 1 / positive("epsilon", epsilon)
    return [count + noise.laplace(scale) for count in data]
