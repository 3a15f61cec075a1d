"""Are the four mistakes in `examples/release.py` found from the penguins alone, and their corrected twins let alone?"""

from pathlib import Path

import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.neighbours.data_files import read_dataset

EXAMPLES = Path(__file__).parents[2] / "examples"
TWINS = {
    "mean_mass": "mean_mass_bounded",
    "total_mass": "total_mass_clipped",
    "mean_mass_public_n": "mean_mass_private_n",
    "mean_mass_half": "mean_mass_replace",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of means of nothing, in what is wrong
]


@pytest.fixture(scope="module")
def birds():
    return read_dataset(EXAMPLES / "data" / "penguins.csv")


def verdict(name, birds):
    evidence = dp.audit(f"{EXAMPLES / 'release.py'}:{name}", data=birds, claim="epsilon=1", runs=5_000, seed=1)
    return evidence.verdict


@pytest.mark.parametrize("name", mostly_at_night(TWINS, every=2))
def test_the_mistake_is_found(name, birds):
    assert verdict(name, birds) is dp.Verdict.VIOLATED


@pytest.mark.parametrize("name", mostly_at_night(TWINS.values()))
def test_its_corrected_twin_is_let_alone(name, birds):
    assert verdict(name, birds) is not dp.Verdict.VIOLATED


@pytest.mark.nightly
def test_workers_change_nothing(birds):
    target = f"{EXAMPLES / 'release.py'}:mean_mass_replace"
    ids = {dp.audit(target, data=birds, claim="epsilon=1", runs=3_000, workers=workers).id for workers in (1, 2)}

    assert len(ids) == 1
