"""What happens to a sum with half its noise, or with none where it counts?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit import PureDP, mechanism
from dpaudit.program.noise import Noise

from .. import losses
from ..domain import positive, whole
from ..sums import ONE_MOVED, STEPS, block_pairs, block_sums, noisy_parts


@mechanism(
    claim=PureDP,
    relation="queries(one)",
    pairs=[(STEPS, ONE_MOVED)],
    true_loss=lambda epsilon: losses.of_laplace([sum(STEPS)], [sum(ONE_MOVED)], 1 / (2 * epsilon)),
    unit="one move of one answer by 1",
    source="Wang, Ding, Kifer & Zhang (2020), BadPartialSum",
    family="sums",
    correct=False,
)
def partial_sum_half_noise(data: Sequence[float], noise: Noise, *, epsilon: float = 1) -> Any:
    """Release the sum of all answers with Laplace noise of scale 1/(2·epsilon). Published as BadPartialSum.

    What is wrong: the noise is half of what a sum needs that moves by 1. A planted mistake of Wang et al., to try
    verifiers on.

    The true loss is 2·epsilon, twice the claim: the distance of the sums over the scale.
    """
    return sum(data) + noise.laplace(1 / (2 * positive("epsilon", epsilon)))


def exact_ends_loss(epsilon: float, block: int) -> float:
    """Return ∞ if the exact sums of the pair's blocks differ; else what the noisy answers lose."""
    (pair,) = block_pairs(block)
    (inside0, ends0), (inside1, ends1) = (noisy_parts(data, block) for data in pair)
    return losses.of_constants(ends0, ends1) + losses.of_laplace(inside0, inside1, 1 / epsilon)


@mechanism(
    claim=lambda epsilon: PureDP(2 * epsilon),
    relation="queries(one)",
    pairs=block_pairs,
    true_loss=exact_ends_loss,
    unit="one move of one answer by 1",
    source="Wang, Ding, Kifer & Zhang (2020), BadSmartSum",
    family="sums",
    correct=False,
)
def smart_sum_exact_blocks(data: Sequence[float], noise: Noise, *, epsilon: float = 1, block: int = 2) -> list[Any]:
    """Release running sums in blocks, and at the end of a block its exact sum. Published as BadSmartSum.

    What is wrong: no noise is added where a block ends. A planted mistake of Wang et al., to try verifiers on.

    The true loss is ∞: the sum of the first block is a constant of the data, and it moves.
    """
    scale = 1 / positive("epsilon", epsilon)
    return block_sums(
        data,
        whole("block", block, least=1),
        noise=lambda: noise.laplace(scale),
        noise_at_end=lambda: 0,
    )
