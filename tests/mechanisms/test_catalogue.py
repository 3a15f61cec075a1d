"""Is every entry of the catalogue complete, consistent with itself, and careful with what it is given?"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

import mechanisms
from dpaudit import Claim, Mechanism
from dpaudit.neighbours.relation import parse_relation
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.noise import ScalarNoise

FAMILIES = {
    "additive",
    "queries",
    "selection",
    "local",
    "contributions",
    "no privacy",
    "sparse vector",
    "histograms",
    "sums",
    "combinators",
    "learning",
}
BAD_NUMBERS: tuple[Any, ...] = (0, -1, math.inf, math.nan, "much", None)
BAD_BOUNDS = [{"low": 2}, {"high": -1}, {"high": math.inf}, {"low": -math.inf}, {"low": "a"}]

# Entries that keep or break their claim only away from ε = 1.
ELSEWHERE = {"classic_gaussian_large_epsilon", "gaussian_classic", "noisy_histogram_inverted_scale"}

# Entries whose mistake only code of another shape can make.
SHAPES = {"float_laplace": "sampler", "seeded": "seeded"}

# What these get wrong is in the low-order bits of doubles: in real arithmetic they lose what they claim.
REAL_ARITHMETIC = {"float_laplace"}
BAD_SENSITIVITIES: list[dict[str, Any]] = [{"sensitivity": bad} for bad in BAD_NUMBERS]
BAD_STEPS: list[dict[str, Any]] = [{name: bad} for name in ("mu", "reach") for bad in BAD_NUMBERS]
BAD_THRESHOLDS = [{"threshold": bad} for bad in (math.inf, math.nan, "high")]
BAD_CUTOFFS = [{"cutoff": bad} for bad in (0, 1.5, math.inf, "two")]

# What each entry must refuse beside the bad epsilons, by parameter.
REFUSED: dict[str, list[dict[str, Any]]] = {
    "above_threshold": [*BAD_THRESHOLDS, *BAD_CUTOFFS],
    "adaptive_svt": [*BAD_THRESHOLDS, *BAD_CUTOFFS, {"margin": 0}, {"margin": math.inf}],
    "adaptive_svt_releasing_values": [*BAD_THRESHOLDS, *BAD_CUTOFFS, {"margin": 0}],
    "bounded_mean": BAD_BOUNDS,
    "bounded_sum": [*BAD_BOUNDS, {"relation": "queries"}],
    "classic_gaussian_large_epsilon": [{"delta": 0}, {"delta": 1}, *BAD_SENSITIVITIES],
    "clip_then_forget": [{"most": bad} for bad in BAD_NUMBERS],
    "count": [],
    "count_with_minimum_set_size": [{"minimum": 0}, {"minimum": 2.5}],
    "data_bounds_mean": [],
    "discrete_gaussian": [
        *({"rho": bad} for bad in BAD_NUMBERS),
        {"sensitivity": 0.5},
        {"sensitivity": math.inf},
    ],
    "exact_count": [],
    "exponential": [],
    "float_laplace": [],
    "gap_svt": [*BAD_THRESHOLDS, *BAD_CUTOFFS],
    "gaussian": [{"delta": 0}, {"delta": 1}, *({"sensitivity": bad} for bad in BAD_NUMBERS)],
    "gaussian_classic": [{"epsilon": 1}, {"epsilon": 20}, {"delta": 0}, {"sensitivity": math.inf}],
    "generalised_randomised_response": [{"k": 1}, {"k": 2.5}],
    "geometric": [{"sensitivity": 0.5}, {"sensitivity": 0}],
    "half_sensitivity": [{"reach": bad} for bad in BAD_NUMBERS],
    "histogram": [{"bins": ()}, {"bins": ("a", "a")}, {"relation": "declared"}],
    "int_overflow_sum": [{"most": 0}, {"most": 1.5}, {"most": 2**31}, {"most": "all"}],
    "k_anonymous_release": [{"k": 0}],
    "keys_leak": [],
    "laplace": [{"sensitivity": bad} for bad in BAD_NUMBERS],
    "laplace_group": [{"size": 0}, {"size": 1.5}],
    "microbatch_sgd": [*BAD_STEPS, {"size": 1}, {"size": 2.5}],
    "mixture_of_noises": [{"p": 0}, {"p": 1}, {"p": "half"}],
    "monotone_svt": [*BAD_THRESHOLDS, *BAD_CUTOFFS],
    "no_clipping_sgd": BAD_STEPS,
    "noisy_average": BAD_BOUNDS,
    "noisy_histogram": [],
    "noisy_histogram_inverted_scale": [],
    "noisy_max_value": [{"noise_kind": "gaussian"}],
    "numeric_svt": [*BAD_THRESHOLDS, *BAD_CUTOFFS],
    "partial_sum": [],
    "partial_sum_half_noise": [],
    "partition_counts": [{"relation": "queries"}],
    "permute_and_flip": [],
    "prefix_sum": [],
    "public_n_mean": BAD_BOUNDS,
    "randomised_response": [],
    "rappor": [{"hashes": 0}, {"bits": 0}, {"f": 1}, {"p": 0}, {"q": 1.5}, {"p": 0.55, "q": 0.45}],
    "redrawn_svt": [*BAD_THRESHOLDS, *BAD_CUTOFFS],
    "report_noisy_max": [{"noise_kind": "gaussian"}],
    "rounded_laplace": [],
    "seeded": [],
    "shuffle_not_poisson": [{"delta": 0}, {"delta": 1}, {"batches": 1}, {"batches": 2.5}, {"size": 0}],
    "smart_sum": [{"block": 0}, {"block": 1.5}],
    "smart_sum_exact_blocks": [{"block": 0}],
    "snapping": [{"bound": 0}, {"bound": math.inf}, {"sensitivity": -1}],
    "suggestions": [{"most": 0}, {"most": 1.5}],
    "suggestions_per_record": [{"most": 0}],
    "svt_noiseless_answers": BAD_THRESHOLDS,
    "svt_releasing_values": [*BAD_THRESHOLDS, *BAD_CUTOFFS, {"scale": 0}],
    "svt_unlimited": BAD_THRESHOLDS,
    "svt_unscaled_noise": [*BAD_THRESHOLDS, *BAD_CUTOFFS],
    "threshold_too_low": [*BAD_THRESHOLDS, {"delta": 0}, {"delta": 1}],
    "two_coins": [],
    "two_counts": [],
    "unary_encoding": [{"k": 1}, {"encoding": "binary"}],
}

# Parameters that show another side of an entry; its claim, relation, pairs and loss must agree there too.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("above_threshold", {"epsilon": 0.1, "threshold": 0.5}),
    ("adaptive_svt", {"epsilon": 3, "margin": 2}),
    ("gap_svt", {"epsilon": 0.1}),
    ("monotone_svt", {"epsilon": 3, "threshold": -1}),
    ("noisy_histogram", {"epsilon": 0.1}),
    ("noisy_max_value", {"noise_kind": "exponential"}),
    ("noisy_max_value", {"noise_kind": "gumbel"}),
    ("numeric_svt", {"epsilon": 0.1, "threshold": 1}),
    ("redrawn_svt", {"epsilon": 0.1, "threshold": 1}),
    ("smart_sum", {"block": 1}),
    ("smart_sum", {"block": 4, "epsilon": 0.1}),
    ("smart_sum_exact_blocks", {"block": 3}),
    ("svt_noiseless_answers", {"epsilon": 0.1, "threshold": 1}),
    ("svt_releasing_values", {"scale": 4}),
    ("svt_unlimited", {"epsilon": 0.1, "threshold": 1}),
    ("svt_unscaled_noise", {"epsilon": 0.1, "threshold": 1}),
    ("bounded_sum", {"relation": "replace", "low": 18, "high": 90}),
    ("bounded_sum", {"low": -7, "high": 3}),
    ("bounded_mean", {"low": 18, "high": 90}),
    ("discrete_gaussian", {"rho": 0.02, "sensitivity": 3}),
    ("exponential", {"epsilon": 0.1}),
    ("gaussian", {"epsilon": 8, "delta": 1e-9, "sensitivity": 2.5}),
    ("gaussian_classic", {"epsilon": 0.99}),
    ("generalised_randomised_response", {"k": 2, "epsilon": 3}),
    ("geometric", {"sensitivity": 3}),
    ("histogram", {"relation": "replace"}),
    ("histogram", {"bins": ("only",), "relation": "replace"}),
    ("laplace", {"sensitivity": 3}),
    ("laplace", {"sensitivity": 0.5}),
    ("noisy_average", {"low": -9, "high": 3, "epsilon": 0.2}),
    ("permute_and_flip", {"epsilon": 4}),
    ("rappor", {"bits": 64, "hashes": 2, "f": 0.5}),
    ("report_noisy_max", {"noise_kind": "exponential"}),
    ("report_noisy_max", {"noise_kind": "gumbel", "epsilon": 0.1}),
    ("snapping", {"epsilon": 0.3, "sensitivity": 2, "bound": 9}),
    ("suggestions", {"most": 1}),
    ("suggestions_per_record", {"most": 2}),
    ("unary_encoding", {"encoding": "symmetric", "k": 9}),
    ("classic_gaussian_large_epsilon", {"epsilon": 50, "delta": 1e-9, "sensitivity": 2}),
    ("half_sensitivity", {"reach": 7, "epsilon": 0.1}),
    ("public_n_mean", {"low": -9, "high": 3}),
    ("clip_then_forget", {"most": 100}),
    ("int_overflow_sum", {"most": 2**31 - 1}),
    ("int_overflow_sum", {"most": 500_000_000, "epsilon": 0.1}),
    ("laplace_group", {"size": 1}),
    ("microbatch_sgd", {"mu": 0.3, "reach": 2}),
    ("mixture_of_noises", {"p": 0.01, "epsilon": 3}),
    ("no_clipping_sgd", {"mu": 0.3, "reach": 2}),
    ("partition_counts", {"relation": "replace"}),
    ("rounded_laplace", {"epsilon": 0.1}),
    ("shuffle_not_poisson", {"epsilon": 3, "delta": 1e-2, "batches": 8, "size": 2}),
    ("threshold_too_low", {"threshold": 13}),
]
CASES = [(name, {}) for name in mechanisms.__all__] + VARIANTS

every = pytest.mark.parametrize("name", mechanisms.__all__)
every_case = pytest.mark.parametrize(("name", "given"), CASES, ids=lambda value: str(value).replace("'", ""))


def entry(name: str) -> Mechanism:
    found = getattr(mechanisms, name)
    assert isinstance(found, Mechanism)
    return found


def fresh(seed: int = 0) -> ScalarNoise:
    return ScalarNoise(np.random.default_rng(seed))


def release(found: Mechanism, side: Any, **parameters: Any) -> Any:
    """Call an entry once, whatever it asks for, a list where it is an array."""
    asked = {"noise": fresh(), "rng": np.random.default_rng(0), "size": 3}
    output = found(side, **{name: asked[name] for name in found.asked}, **parameters)
    return output.tolist() if isinstance(output, np.ndarray) else output


def claim_of(found: Mechanism, parameters: dict[str, Any]) -> Claim:
    claim = found.claim_for(parameters)
    assert claim is not None
    return claim


def test_all_is_sorted_and_matches_the_table_of_refusals() -> None:
    assert sorted(mechanisms.__all__) == mechanisms.__all__ == sorted(REFUSED)


@every
def test_it_is_documented_as_a_textbook_page(name: str) -> None:
    found = entry(name)
    doc = found.function.__doc__ or ""
    assert found.name == name
    assert found.summary.endswith(".")
    assert "true loss is" in " ".join(doc.split())
    assert ("What is wrong:" in doc) == (not found.correct)
    assert found.family in FAMILIES
    assert found.source
    assert found.unit


@every
def test_it_is_a_program_with_a_default_for_every_parameter(name: str) -> None:
    found = entry(name)
    assert str(found.shape) == SHAPES.get(name, "program")
    parameters = found.parameters_with({})
    if "epsilon" in parameters and name not in ELSEWHERE:
        assert parameters["epsilon"] == 1


@every_case
def test_its_pairs_are_neighbours_and_both_sides_run(name: str, given: dict[str, Any]) -> None:
    found = entry(name)
    parameters = found.parameters_with(given)
    relation = found.relation_for(parameters)
    pairs = found.pairs_for(parameters)
    assert relation is not None
    assert pairs
    for pair in pairs:
        parse_relation(relation).check(*pair)
        for side in pair:
            before = copy.deepcopy(side)
            assert release(found, side, **parameters) == release(found, side, **parameters)
            assert side == before


@every_case
def test_the_batch_reading_knows_everything_that_it_does(name: str, given: dict[str, Any]) -> None:
    found = entry(name)
    parameters = found.parameters_with(given)
    if name in SHAPES:
        pytest.skip("it is no program")
    for side in found.pairs_for(parameters)[0]:
        result = run_batch(lambda noise, data=side: found(data, noise, **parameters), 2_000, np.random.default_rng(0))
        assert result.fallback_reason is None
        assert len(result.paths) < 50


@every_case
@pytest.mark.slow
def test_its_true_loss_keeps_the_claim_exactly_if_it_is_correct(name: str, given: dict[str, Any]) -> None:
    found = entry(name)
    parameters = found.parameters_with(given)
    loss, claim = found.true_loss_for(parameters), claim_of(found, parameters)
    assert loss is not None
    assert loss > 0
    if found.correct or name in REAL_ARITHMETIC:
        assert loss <= claim.value * (1 + 1e-9)
    else:
        assert loss > claim.value


@every
def test_it_refuses_parameters_outside_its_domain(name: str) -> None:
    found = entry(name)
    side = found.pairs_for(found.parameters_with({}))[0][0]
    bad = list(REFUSED[name])
    if "epsilon" in found.defaults:
        bad += [{"epsilon": value} for value in BAD_NUMBERS]
    for given in bad:
        with pytest.raises(ValueError, match=r"must|need") as refusal:
            release(found, side, **given)
        assert all(repr(value) in str(refusal.value) for value in given.values()), str(refusal.value)


@pytest.mark.parametrize(
    ("name", "data", "given"),
    [
        ("bounded_mean", [], {}),
        ("geometric", 0.5, {}),
        ("discrete_gaussian", [1, 0.5], {}),
        ("generalised_randomised_response", 4, {}),
        ("unary_encoding", -1, {}),
    ],
)
def test_it_refuses_data_for_which_its_claim_would_not_hold(name: str, data: Any, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not"):
        entry(name)(data, fresh(), **given)


@pytest.mark.parametrize("name", ["laplace", "gaussian", "geometric", "discrete_gaussian", "snapping"])
def test_an_additive_entry_takes_any_number_of_answers(name: str) -> None:
    found = entry(name)
    answers = [3, 0, -2]
    released = found(answers, fresh())
    assert len(released) == 3
    assert len(set(released)) > 1
    assert answers == [3, 0, -2]
    assert isinstance(found(np.array([1, 2]), fresh()), list)


@pytest.mark.parametrize(
    ("sensitivity", "relation"),
    [(1, "queries(norm=1)"), (3.0, "queries(norm=1, group=3)"), (0.5, "declared")],
)
def test_the_relation_of_laplace_follows_its_sensitivity(sensitivity: float, relation: str) -> None:
    assert entry("laplace").relation_for({"sensitivity": sensitivity}) == relation


def test_k_anonymous_groups_have_k_people_each() -> None:
    rows = entry("k_anonymous_release")([(age, "flu") for age in range(20, 60)], fresh(), k=5)
    sizes = [sum(row[:2] == group for row in rows) for group in {row[:2] for row in rows}]
    assert len(rows) == 40
    assert min(sizes) >= 5
    assert len(sizes) == 5
    assert entry("k_anonymous_release")([(20, "flu")] * 4, fresh(), k=5) == []


def test_a_small_count_is_withheld() -> None:
    assert entry("count_with_minimum_set_size")([1] * 4, fresh()) is None
    assert entry("count_with_minimum_set_size")([1] * 5, fresh()) == 5


def test_records_are_clipped_before_they_are_added() -> None:
    quiet = {"epsilon": 1e12}
    assert entry("bounded_sum")([5, -5, 5], fresh(), **quiet) == pytest.approx(1)
    assert entry("bounded_mean")([5, -5, 5], fresh(), **quiet) == pytest.approx(1 / 3)
    assert entry("noisy_average")([5, -5, 5], fresh(), **quiet) == pytest.approx(1 / 3)
