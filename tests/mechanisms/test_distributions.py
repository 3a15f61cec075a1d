"""Do the mechanisms draw what their pages say? Runs with fixed seeds against closed forms, by exact binomial tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import mechanisms
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.noise import ScalarNoise
from dpaudit.program.outcome import entry
from mechanisms import local, losses, queries

RUNS = 20_000
ERROR = 1e-6


def runs(name: str, data: Any, given: dict[str, Any], count: int = RUNS) -> list[Any]:
    """Outputs of the batch reading, in any order; `test_readings.py` holds it against the scalar one."""
    found, rng = getattr(mechanisms, name), np.random.default_rng([7, *name.encode()])
    paths = run_batch(lambda noise: found(data, noise, **given), count, rng).paths
    return [entry(path.output, position) for path in paths for position in range(len(path.runs))]


def agrees(hits: int, count: int, probability: float) -> bool:
    return bool(stats.binomtest(hits, count, probability).pvalue > ERROR)


def tail(x: float) -> Callable[[Any], bool]:
    return lambda output: bool(output > x)


def equal(value: Any) -> Callable[[Any], bool]:
    return lambda output: bool(output == value)


EQUAL, BEHIND = [1, 1, 1, 1, 1], [0, 2, 2, 2, 2]
GEOMETRIC = math.exp(-0.5)
GAUSSIANS = np.exp(-(np.arange(-60.0, 61.0) ** 2) / (2 * 9 / 0.8))
SIGMA = math.sqrt(2 * math.log(1.25 / 1e-5)) / 0.5

Case = tuple[str, Any, dict[str, Any], Callable[[Any], bool], float]
CASES: list[Case] = [
    ("laplace", 3, {"epsilon": 0.5}, tail(3 + 2 * math.log(5)), 0.1),
    ("laplace", 3, {"sensitivity": 4}, tail(3 - 4 * math.log(5)), 0.9),
    ("gaussian", 3, {}, tail(3 + 3.730632), float(stats.norm.sf(1))),
    ("gaussian", 3, {"sensitivity": 10}, tail(3 - 37.30632), float(stats.norm.cdf(1))),
    ("gaussian_classic", 3, {}, tail(3 + SIGMA), float(stats.norm.sf(1))),
    ("geometric", 3, {"epsilon": 0.5}, equal(3), (1 - GEOMETRIC) / (1 + GEOMETRIC)),
    ("geometric", 3, {"sensitivity": 2}, tail(4), GEOMETRIC**2 / (1 + GEOMETRIC)),
    ("discrete_gaussian", 3, {"rho": 0.4, "sensitivity": 3}, equal(3), float(1 / GAUSSIANS.sum())),
    ("discrete_gaussian", 3, {"rho": 0.4, "sensitivity": 3}, tail(5), float(GAUSSIANS[63:].sum() / GAUSSIANS.sum())),
    ("snapping", 0, {"epsilon": 0.7}, equal(0), 1 - math.exp(-0.7)),
    ("snapping", 9, {"bound": 2}, equal(2), 1 - math.exp(-0.5) / 2),
    ("count", [1, 0, 1], {"epsilon": 0.1}, tail(2 + 10 * math.log(5)), 0.1),
    ("bounded_sum", [50, 100], {"low": 18, "high": 90}, tail(140 + 90 * math.log(5)), 0.1),
    (
        "bounded_sum",
        [50, 100],
        {"low": 18, "high": 90, "relation": "replace"},
        tail(140 + 72 * math.log(5)),
        0.1,
    ),
    ("bounded_mean", [50, 100], {"low": 18, "high": 90}, tail(70 + 36 * math.log(5)), 0.1),
    ("histogram", ["blue", "pink"], {}, lambda output: output["blue"] > 1 + math.log(5), 0.1),
    ("histogram", ["blue"], {"relation": "replace"}, lambda output: output["green"] > 2 * math.log(5), 0.1),
    ("suggestions", ["Ada"] * 8, {}, tail(8 + 5 * math.log(5)), 0.1),
    ("suggestions_per_record", ["Ada"] * 8, {}, tail(8 + math.log(5)), 0.1),
    ("exponential", BEHIND, {}, equal(0), 1 / (1 + 4 * math.e)),
    ("exponential", EQUAL, {}, equal(4), 0.2),
    ("permute_and_flip", BEHIND, {}, equal(0), math.exp(-1) / 5),
    ("permute_and_flip", [3, 1, 0], {"epsilon": 2}, equal(1), losses.permutation_law([3, 1, 0], 1.0)[1]),
    ("report_noisy_max", BEHIND, {}, equal(0), losses.laplace_argmax_law(BEHIND, 2.0)[0]),
    ("report_noisy_max", BEHIND, {"noise_kind": "exponential"}, equal(0), math.exp(-1) / 5),
    ("report_noisy_max", BEHIND, {"noise_kind": "gumbel"}, equal(0), 1 / (1 + 4 * math.e)),
    ("two_coins", 1, {}, equal(1), 0.75),
    ("two_coins", 0, {}, equal(1), 0.25),
    ("randomised_response", 1, {"epsilon": 2}, equal(1), 1 / (1 + math.exp(-2))),
    ("randomised_response", 0, {"epsilon": 2}, equal(1), 1 / (1 + math.exp(2))),
    ("generalised_randomised_response", 2, {}, equal(2), math.e / (math.e + 3)),
    ("generalised_randomised_response", 2, {}, equal(0), 1 / (math.e + 3)),
    ("unary_encoding", 2, {}, lambda output: output[2], 0.5),
    ("unary_encoding", 2, {}, lambda output: output[0], 1 / (math.e + 1)),
    ("unary_encoding", 2, {"encoding": "symmetric"}, lambda output: output[2], 1 / (1 + math.exp(-0.5))),
]


@pytest.mark.parametrize(("name", "data", "given", "event", "probability"), CASES)
@pytest.mark.slow
def test_an_event_has_its_probability(
    name: str, data: Any, given: dict[str, Any], event: Callable[[Any], bool], probability: float
) -> None:
    hits = sum(map(bool, map(event, runs(name, data, given))))
    assert agrees(hits, RUNS, probability)


@pytest.mark.parametrize("name", ["laplace", "count", "suggestions"])
@pytest.mark.slow
def test_a_tenth_less_noise_would_be_noticed(name: str) -> None:
    data = 0 if name == "laplace" else []
    scale = 0.9 * (5 if name == "suggestions" else 1)
    hits = sum(map(tail(scale * math.log(5)), runs(name, data, {})))
    assert not agrees(hits, RUNS, 0.1)


@pytest.mark.parametrize("bit", [0, 19, *sorted(local.bloom_filter("blue", 20, 4))])
@pytest.mark.slow
def test_every_bit_of_rappor_has_its_probability(bit: int) -> None:
    low, high = local.rappor_probabilities(0.1, 0.3, 0.7)
    outputs = runs("rappor", "blue", {"f": 0.1, "p": 0.3, "q": 0.7}, 3_000)
    expected = high if bit in local.bloom_filter("blue", 20, 4) else low
    assert agrees(sum(output[bit] for output in outputs), 3_000, expected)


@pytest.mark.slow
def test_the_noisy_average_has_its_density() -> None:
    outputs = np.array(runs("noisy_average", [-1, -1, 1], {}))
    for edge in (-1.0, -1 / 3, 0.5):
        angle = np.linspace(-np.pi / 2, math.atan(edge), 100_001)[1:]
        density = queries.ratio_density(np.tan(angle), -1.0, 3.0, 2.0, 2.0) / np.cos(angle) ** 2
        assert agrees(int(np.sum(outputs <= edge)), RUNS, float(np.trapezoid(density, angle)))


def test_the_risk_of_laplace_noise_is_twice_the_scale_squared() -> None:
    errors = np.array(runs("laplace", 0, {"epsilon": 0.5})) ** 2
    # the squared error of Lap(b) has mean 2b² and variance 24b⁴ − 4b⁴
    assert abs(errors.mean() - 8) < 5 * math.sqrt(20 * 16 / RUNS)


def one_by_one(name: str, data: Any) -> list[Any]:
    rng = np.random.default_rng(7)
    return [getattr(mechanisms, name)(data, ScalarNoise(rng)) for _ in range(100)]


@pytest.mark.parametrize("name", ["geometric", "discrete_gaussian"])
def test_integer_noise_gives_whole_numbers(name: str) -> None:
    assert {type(output) for output in one_by_one(name, 3)} == {int}
    assert {type(output) for output in one_by_one(name, 3.0)} == {int}


@pytest.mark.parametrize("truth", [True, 1])
def test_a_truth_value_does_not_betray_itself_by_its_type(truth: Any) -> None:
    for name in ("two_coins", "randomised_response"):
        assert {type(output) for output in one_by_one(name, truth)} == {int}
