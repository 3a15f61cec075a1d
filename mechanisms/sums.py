"""How can sums be released while the answers still come in?

``data`` is the list of answers of one step each; a neighbour moves one of them by at most 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpaudit import PureDP, mechanism
from dpaudit.program.fold import Emit, fold
from dpaudit.program.noise import Noise

from . import losses
from .domain import positive, whole

# The first of five answers moves.
STEPS, ONE_MOVED = [1, 1, 1, 1, 1], [2, 1, 1, 1, 1]


@mechanism(
    claim=PureDP,
    relation="queries(one)",
    pairs=[(STEPS, ONE_MOVED)],
    true_loss=lambda epsilon: losses.of_laplace([sum(STEPS)], [sum(ONE_MOVED)], 1 / epsilon),
    unit="one move of one answer by 1",
    source="Dwork, McSherry, Nissim & Smith (2006), Proposition 1; PartialSum of Zhang & Kifer (2017)",
    family="sums",
)
def partial_sum(data: Sequence[float], noise: Noise, *, epsilon: float = 1) -> Any:
    """Release the sum of all answers with Laplace noise of scale 1/epsilon. Published as PartialSum.

    The true loss is epsilon: the two sums differ by exactly 1.
    """
    return sum(data) + noise.laplace(1 / positive("epsilon", epsilon))


@mechanism(
    claim=PureDP,
    relation="queries(one)",
    pairs=[(STEPS, ONE_MOVED)],
    true_loss=lambda epsilon: losses.of_laplace(STEPS, ONE_MOVED, 1 / epsilon),
    unit="one move of one answer by 1",
    source="Chan, Shi & Song (2011), Simple Counting Mechanism II; PrefixSum of Wang, Ding, Wang, Kifer & Zhang (2019)",
    family="sums",
)
@fold(init=0, finish=None)
def prefix_sum(total: Any, answer: Any, noise: Noise, *, epsilon: float = 1) -> Emit:
    """Add Laplace noise of scale 1/epsilon to every answer, and release all running sums. Published as PrefixSum.

    Summing up is post-processing, and can be undone. The claim is for one answer that moves; if all d of them
    may move at once, the release loses d·ε.

    The true loss is epsilon: one of the noisy answers moves by 1.
    """
    total = total + answer + noise.laplace(1 / positive("epsilon", epsilon))
    return Emit(total, total)


def block_sums(
    data: Sequence[float], block: int, noise: Callable[[], Any], noise_at_end: Callable[[], Any]
) -> list[Any]:
    """Return the running sums of every block: a chain of noisy answers, and a fresh noisy sum at its end.

    Args:
        data: the answers.
        block: how many of them make a block.
        noise: gives the noise of one answer.
        noise_at_end: gives the noise of a whole block's sum.
    """
    total: Any = 0
    exact: Any = 0
    released = []
    for place, answer in enumerate(data, start=1):
        exact = exact + answer
        if place % block == 0:
            total, exact = exact + noise_at_end(), 0
        else:
            total = total + answer + noise()
        released.append(total)
    return released


def block_pairs(block: int) -> list[tuple[list[float], list[float]]]:
    """Return two full blocks and one answer more, with the first answer moved: it is used twice if it can be."""
    steps: list[float] = [1] * (2 * whole("block", block, least=1) + 1)
    return [(steps, [2, *steps[1:]])]


def noisy_parts(data: Sequence[float], block: int) -> tuple[list[float], list[float]]:
    """Return what gets noise of its own: the answers inside a block, and the sums of whole blocks."""
    inside = [answer for place, answer in enumerate(data, start=1) if place % block]
    starts = range(0, len(data) - block + 1, block)
    return inside, [sum(data[start : start + block]) for start in starts]


def smart_sum_loss(epsilon: float, block: int) -> float:
    """Return the distance in norm 1 of all that gets noise, over the scale: subtracting releases recovers it."""
    (pair,) = block_pairs(block)
    parts0, parts1 = ([*inside, *ends] for inside, ends in (noisy_parts(data, block) for data in pair))
    return losses.of_laplace(parts0, parts1, 1 / epsilon)


@mechanism(
    claim=lambda epsilon: PureDP(2 * epsilon),
    relation="queries(one)",
    pairs=block_pairs,
    true_loss=smart_sum_loss,
    unit="one move of one answer by 1",
    source="Chan, Shi & Song (2011), Two-Level Counting Mechanism; SmartSum of Wang, Ding, Kifer & Zhang (2020)",
    family="sums",
)
def smart_sum(data: Sequence[float], noise: Noise, *, epsilon: float = 1, block: int = 2) -> list[Any]:
    """Release running sums in blocks: at the end of a block its exact sum with one noise, not with one for each.

    All noise is Laplace of scale 1/epsilon. An answer is used twice, alone and in the sum of its block, so that
    the claim is 2·epsilon. Published as SmartSum. As verified by Wang et al. a block's end starts afresh; other
    versions carry the noisy total of the blocks before, which is post-processing and changes no loss.

    The true loss is 2·epsilon: alone and in the sum of its block, the first answer moves two noisy numbers by 1.
    In blocks of one answer it is used once, and the loss is epsilon.
    """
    scale = 1 / positive("epsilon", epsilon)
    return block_sums(
        data,
        whole("block", block, least=1),
        noise=lambda: noise.laplace(scale),
        noise_at_end=lambda: noise.laplace(scale),
    )
