"""Is the winner's index private, and what does the winner's value tell?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from support.scripted import Scripted

import dpaudit as dp
import mechanisms
from dpaudit import Mechanism
from mechanisms import losses

KINDS = {"laplace": stats.laplace, "exponential": stats.expon, "gumbel": stats.gumbel_r}


def entry(name: str) -> Mechanism:
    found = getattr(mechanisms, name)
    assert isinstance(found, Mechanism)
    return found


def loss_of(**given: Any) -> float:
    found = entry("noisy_max_value")
    loss = found.true_loss_for(found.parameters_with(given))
    assert loss is not None
    return loss


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_index_and_value_of_the_largest(kind: str) -> None:
    for name, expected in (("report_noisy_max", 2), ("noisy_max_value", 4.5)):
        noise = Scripted(0, -3, 1.5, 1.5)
        assert entry(name)([4, 5, 3, 3], noise, epsilon=0.5, noise_kind=kind) == expected
        assert noise.asked == [(kind, 4)] * 4


def log_density(x: float, scores: list[float], scale: float) -> float:
    """ln Σ_i f(x − s_i)·Π_{j ≠ i} F(x − s_j)."""
    f = [float(stats.laplace.pdf(x, score, scale)) for score in scores]
    below = [float(stats.laplace.cdf(x, score, scale)) for score in scores]
    return math.log(sum(f[i] * math.prod(below[:i] + below[i + 1 :]) for i in range(len(scores))))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_no_value_loses_more_than_the_smallest(epsilon: float) -> None:
    ((data0, data1),) = entry("noisy_max_value").pairs_for({})
    ratios = [
        abs(log_density(x, data0, 2 / epsilon) - log_density(x, data1, 2 / epsilon))
        for x in np.linspace(-20 / epsilon, 20 / epsilon, 81)
    ]
    assert loss_of(epsilon=epsilon) == pytest.approx(max(ratios), rel=1e-9)
    assert ratios[0] == pytest.approx(max(ratios), rel=1e-9)
    assert ratios[-1] < 0.9 * ratios[0]


@pytest.mark.parametrize("kind", ["exponential", "gumbel"])
def test_other_noise_has_no_bound(kind: str) -> None:
    ((data0, data1),) = entry("noisy_max_value").pairs_for({})

    def log_below(x: float, scores: list[float]) -> float:
        return sum(float(KINDS[kind].logcdf(x, score, 2)) for score in scores)

    # the least values: impossible on the side with higher scores, or possible with a ratio that keeps growing
    ratios = [log_below(x, data0) - log_below(x, data1) for x in (1.5, -2.0, -10.0) if log_below(x, data0) > -math.inf]
    assert ratios[-1] == math.inf if kind == "exponential" else ratios == sorted(ratios) and ratios[-1] > 100
    assert loss_of(noise_kind=kind) == math.inf


def test_published_values() -> None:
    assert loss_of(epsilon=0.1) == pytest.approx(0.25)
    # exponential noise of scale 20, scores 1 against 0: the outputs that give themselves away
    assert (1 - math.exp(-1 / 20)) ** 5 == pytest.approx(2.8e-7, rel=0.02)
    # an event of probability 1e-2 loses .36; that is the likelier side's at least, the other's at most
    edge = -20 * math.log(1 - 0.01 ** (1 / 5))
    low, high = (abs(math.log(0.01) - 5 * math.log(1 - math.exp(-x / 20))) for x in (edge + 1, edge - 1))
    assert low < 0.36 < high


def test_the_exact_bound_of_the_benchmark_of_proofs() -> None:
    for n in (2, 5, 8):
        assert losses.of_laplace([1] * n, [2] * n, 2) == n / 2


@pytest.mark.nightly
def test_the_audit_tells_them_apart() -> None:
    index, value = (dp.audit(entry(name)) for name in ("report_noisy_max", "noisy_max_value"))
    assert index.verdict == dp.Verdict.NOT_VIOLATED
    assert value.verdict == dp.Verdict.VIOLATED
    assert value.lower.value <= loss_of()


@pytest.mark.parametrize("kind", ["exponential", "gumbel"])
@pytest.mark.slow
def test_the_audit_finds_the_value_under_other_noise(kind: str) -> None:
    assert dp.audit(entry("noisy_max_value"), parameters={"noise_kind": kind}).verdict == dp.Verdict.VIOLATED
