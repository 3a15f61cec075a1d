"""Do the released counts move as far as their pages say, over the noise that they say?"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from support.scripted import Scripted

import dpaudit as dp
import mechanisms
from dpaudit import Mechanism
from mechanisms import losses


def entry(name: str) -> Mechanism:
    found = getattr(mechanisms, name)
    assert isinstance(found, Mechanism)
    return found


@pytest.mark.parametrize(("name", "scale"), [("noisy_histogram", 4), ("noisy_histogram_inverted_scale", 0.25)])
def test_every_count_gets_noise_of_its_own(name: str, scale: float) -> None:
    noise = Scripted(0.5, -1, 2)
    assert entry(name)([3, 0, 7], noise, epsilon=0.25) == [3.5, -1, 9]
    assert noise.scales == [scale] * 3


def naive_loss(name: str, epsilon: float) -> float:
    """The largest log density ratio of the count that moves, on a fine grid."""
    ((data0, data1),) = entry(name).pairs_for({"epsilon": epsilon})
    noise = Scripted(*[0.0] * len(data0))
    entry(name)(data0, noise, epsilon=epsilon)
    x = np.linspace(-50, 50, 20_001)
    moved = [(a, b, scale) for a, b, scale in zip(data0, data1, noise.scales, strict=True) if a != b]
    return sum(float(np.max(np.abs(np.abs(x - b) - np.abs(x - a)))) / scale for a, b, scale in moved)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("name", ["noisy_histogram", "noisy_histogram_inverted_scale"])
def test_the_true_loss(name: str, epsilon: float) -> None:
    found = entry(name)
    assert found.true_loss_for(found.parameters_with({"epsilon": epsilon})) == pytest.approx(naive_loss(name, epsilon))


def test_published_values() -> None:
    right, inverted = entry("noisy_histogram"), entry("noisy_histogram_inverted_scale")
    assert right.true_loss_for({"epsilon": 0.1}) == pytest.approx(0.1)
    assert inverted.true_loss_for(inverted.parameters_with({})) == pytest.approx(10)
    # a wrong relation: all five counts at once
    assert losses.of_laplace([1] * 5, [2] * 5, 10) == pytest.approx(0.5)
    assert right.relation_for({}) == "queries(one)"
    with pytest.raises(dp.UsageError, match="5 answers move"):
        dp.audit(right, pairs=[([1] * 5, [2] * 5)], runs=1000)


def test_the_loss_of_laplace_noise_by_all_corners() -> None:
    a, b, scale = [0.0, 3.0, -1.0, 2.0], [1.0, 2.5, -1.0, 4.0], 0.7
    corners = itertools.product(*[(min(x, y) - 1, max(x, y) + 1) for x, y in zip(a, b, strict=True)])
    ratios = [sum(abs(x - q) - abs(x - p) for x, p, q in zip(corner, a, b, strict=True)) / scale for corner in corners]
    assert losses.of_laplace(a, b, scale) == pytest.approx(max(map(abs, ratios)))
    assert losses.of_laplace(a, a, scale) == 0


@pytest.mark.nightly
def test_the_audit_tells_them_apart() -> None:
    right, inverted = (
        dp.audit(name, parameters={"epsilon": 0.1}, runs=100_000)
        for name in (entry("noisy_histogram"), entry("noisy_histogram_inverted_scale"))
    )
    assert right.verdict == dp.Verdict.NOT_VIOLATED
    assert inverted.verdict == dp.Verdict.VIOLATED
    assert right.lower.value <= 0.1
    assert 1 < inverted.lower.value <= 10
    assert math.isfinite(inverted.lower.value)
