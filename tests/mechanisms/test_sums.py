"""Do the running sums add up as their pages say, and lose what they say?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.scripted import Scripted

import dpaudit as dp
import mechanisms
from dpaudit import Mechanism
from dpaudit.program.noise import ScalarNoise
from mechanisms import losses, sums


def entry(name: str) -> Mechanism:
    found = getattr(mechanisms, name)
    assert isinstance(found, Mechanism)
    return found


def loss_of(name: str, **given: Any) -> float:
    found = entry(name)
    loss = found.true_loss_for(found.parameters_with(given))
    assert loss is not None
    return loss


DATA = [1, 2, 4, 8, 16]


@pytest.mark.parametrize(
    ("name", "given", "script", "output", "scales"),
    [
        ("partial_sum", {"epsilon": 0.5}, [0.5], 31.5, [2]),
        ("partial_sum_half_noise", {"epsilon": 0.5}, [0.5], 31.5, [1]),
        ("prefix_sum", {}, [0.5, 0, 0, -1, 0], [1.5, 3.5, 7.5, 14.5, 30.5], [1] * 5),
        # the end of a block starts from its exact sum; what comes between hangs on the release before it
        ("smart_sum", {}, [0.5, 0.25, 0, 1, -1], [1.5, 3.25, 7.25, 13, 28], [1] * 5),
        ("smart_sum", {"block": 3, "epsilon": 2}, [1, 1, 0.5, 1, 1], [2, 5, 7.5, 16.5, 33.5], [0.5] * 5),
        ("smart_sum", {"block": 1}, [1, 1, 1, 1, 1], [2, 3, 5, 9, 17], [1] * 5),
        ("smart_sum_exact_blocks", {}, [0.5, 0, -1], [1.5, 3, 7, 12, 27], [1] * 3),
    ],
)
def test_it_is_the_published_definition(
    name: str, given: dict[str, Any], script: list[float], output: Any, scales: list[float]
) -> None:
    noise = Scripted(*script)
    assert entry(name)(DATA, noise, **given) == output
    assert noise.scales == scales
    assert noise.script == []


def naive_smart_loss(data0: list[float], data1: list[float], epsilon: float, block: int) -> float:
    """Recover the noise of side 1 that gives the same output as zero noise does on side 0, and price it."""
    output = entry("smart_sum")(data0, Scripted(*[0.0] * len(data0)), epsilon=epsilon, block=block)
    cost, before, exact = 0.0, 0.0, 0.0
    for place, (answer, released) in enumerate(zip(data1, output, strict=True), start=1):
        exact += answer
        if place % block == 0:
            cost, exact = cost + abs(released - exact), 0.0
        else:
            cost += abs(released - before - answer)
        before = released
    return cost * epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("block", [1, 2, 3, 5])
def test_the_loss_of_smart_sum(block: int, epsilon: float) -> None:
    ((data0, data1),) = sums.block_pairs(block)
    assert len(data0) == 2 * block + 1
    assert loss_of("smart_sum", block=block, epsilon=epsilon) == pytest.approx(
        naive_smart_loss(data0, data1, epsilon, block)
    )
    assert loss_of("smart_sum", block=block, epsilon=epsilon) == pytest.approx((1 if block == 1 else 2) * epsilon)


@pytest.mark.parametrize("block", [1, 2, 3])
def test_no_position_loses_more_than_the_first(block: int) -> None:
    steps = [1.0] * (2 * block + 1)
    for place in range(len(steps)):
        moved = [*steps]
        moved[place] += 1
        assert naive_smart_loss(steps, moved, 1, block) <= loss_of("smart_sum", block=block)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_other_losses(epsilon: float) -> None:
    assert loss_of("partial_sum", epsilon=epsilon) == pytest.approx(epsilon)
    assert loss_of("partial_sum_half_noise", epsilon=epsilon) == pytest.approx(2 * epsilon)
    assert loss_of("prefix_sum", epsilon=epsilon) == pytest.approx(epsilon)
    assert loss_of("smart_sum_exact_blocks", epsilon=epsilon) == math.inf


def test_an_exact_block_is_a_constant_that_moves() -> None:
    ((data0, data1),) = sums.block_pairs(2)
    ends = [
        {entry("smart_sum_exact_blocks")(data, ScalarNoise(np.random.default_rng(seed)))[1] for seed in range(5)}
        for data in (data0, data1)
    ]
    assert ends == [{2}, {3}]


def test_published_values() -> None:
    assert loss_of("prefix_sum", epsilon=0.1) == pytest.approx(0.1)
    # a wrong relation: all ten answers at once
    assert losses.of_laplace([1] * 10, [2] * 10, 1 / 0.1) == pytest.approx(1.0)
    claim = entry("smart_sum").claim_for({"epsilon": 0.3, "block": 2})
    assert claim == dp.PureDP(0.6)


@pytest.mark.parametrize("name", ["partial_sum_half_noise", "smart_sum_exact_blocks"])
@pytest.mark.slow
def test_a_broken_one_is_found_violated(name: str) -> None:
    evidence = dp.audit(entry(name), runs=100_000)
    assert evidence.verdict == dp.Verdict.VIOLATED
    assert evidence.lower.value <= loss_of(name)
