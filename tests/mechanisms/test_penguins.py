"""Does the penguin example count what it says, and does it run as a script would?"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit import load
from dpaudit.neighbours.relation import parse_relation
from dpaudit.program.noise import ScalarNoise

FILE = Path(__file__).parents[2] / "examples" / "penguins.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("penguins_example", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_146_of_the_333_complete_rows_are_adelie(example: ModuleType) -> None:
    assert len(example.penguins()) == 333
    assert example.adelie(example.penguins()) == 146


def test_the_made_up_bird_was_not_there_before(example: ModuleType) -> None:
    (birds, more), (same, less) = example.neighbours()
    assert birds == same == example.penguins()
    assert (len(more), example.adelie(more)) == (334, 147)
    assert (len(less), example.adelie(less)) == (332, 145)
    assert more[-1] not in birds


def test_the_gaussian_scale_is_the_least_for_its_claim(example: ModuleType) -> None:
    sigma = example.standard_deviation(0.1, 1e-7)

    def delta(sigma: float) -> float:
        return float(norm.cdf(0.5 / sigma - 0.1 * sigma) - np.exp(0.1) * norm.cdf(-0.5 / sigma - 0.1 * sigma))

    assert delta(sigma) <= 1e-7 < delta(sigma * (1 - 1e-6))


@pytest.mark.parametrize(
    ("name", "claim"), [("laplace_count", "epsilon=0.1"), ("gaussian_count", "epsilon=0.1, delta=1e-7")]
)
def test_both_counts_can_be_named_as_targets(name: str, claim: str) -> None:
    count = load(f"{FILE}:{name}")
    parameters = count.parameters_with({})
    relation = count.relation_for(parameters)
    assert str(count.claim_for(parameters)) == claim
    assert relation == "add-remove"
    assert count.unit == "one bird"
    noise = ScalarNoise(np.random.default_rng(0))
    for pair in count.pairs_for(parameters):
        parse_relation(relation).check(*pair)
        for side in pair:
            assert 0 < count(side, noise) < 400


@pytest.mark.nightly
def test_the_script_writes_pages_and_evidence(
    example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert example.main(["--runs", "20000", "--out", str(tmp_path)]) == 0
    written = {file.name for file in tmp_path.iterdir()}
    assert written == {"laplace_count.html", "laplace_count.json", "gaussian_count.html", "gaussian_count.json"}
    json.loads((tmp_path / "laplace_count.json").read_text(encoding="utf-8"))
    assert str(tmp_path / "gaussian_count.html") in capsys.readouterr().out
