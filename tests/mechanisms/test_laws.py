"""Do mechanisms draw from the laws that they state? Against runs, another library, and over the cells of a report."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.auditing.pair import histogram_cells
from dpaudit.events.partition import Partition
from dpaudit.evidence.event import Coordinate, Rows, Rule
from dpaudit.program.noise import ScalarNoise
from mechanisms import losses
from mechanisms.combinators import with_parameters

STATED = sorted(name for name, found in dp.catalogue().items() if found.law is not None)
OTHERS: dict[str, dict[str, Any]] = {
    "laplace": {"epsilon": 0.5, "sensitivity": 3},
    "gaussian": {"epsilon": 2.0, "delta": 1e-3, "sensitivity": 2},
    "gaussian_classic": {"epsilon": 0.9, "sensitivity": 2},
    "geometric": {"epsilon": 0.4, "sensitivity": 2},
    "randomised_response": {"epsilon": 0.3},
    "generalised_randomised_response": {"epsilon": 2, "k": 6},
    "exponential": {"epsilon": 3},
    "permute_and_flip": {"epsilon": 3},
    "count": {"epsilon": 0.2},
}
RUNS, ERROR = 10_000, 1e-7


def test_every_stated_law_is_looked_at_here():
    assert set(STATED) == set(OTHERS)


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("name", mostly_at_night(STATED))
@pytest.mark.slow
def test_runs_follow_the_stated_law(name, changed):
    found, rng = dp.catalogue()[name], np.random.default_rng([3, *name.encode()])
    parameters = found.parameters_with(OTHERS[name] if changed else {})
    for data in found.pairs_for(parameters)[0]:
        outputs = np.array([float(found(data, ScalarNoise(rng), **parameters)) for _ in range(RUNS)])
        places = np.unique(np.concatenate([np.quantile(outputs, np.linspace(0.02, 0.98, 13)), [0.0, 1.0, 2.0]]))
        below = found.law_for(data, parameters)(places)
        for place, probability in zip(places, below, strict=True):
            hits = int((outputs < place).sum())
            assert stats.binomtest(hits, RUNS, min(max(float(probability), 0.0), 1.0)).pvalue > ERROR, (data, place)


@pytest.mark.parametrize("name", [name for name in STATED if not name.startswith("gaussian")])
def test_a_stated_law_loses_what_is_said_to_be_the_true_loss(name):
    found = dp.catalogue()[name]
    parameters = found.parameters_with({})
    edges = np.unique(np.concatenate([np.linspace(-4, 6, 41), np.arange(-4.0, 7.0)]))
    laws = [np.diff(found.law_for(data, parameters)(edges)) for data in found.pairs_for(parameters)[0]]
    cells = (laws[0] > 1e-12) & (laws[1] > 1e-12)
    loss = float(np.max(np.abs(np.log(laws[0][cells] / laws[1][cells]))))
    assert loss == pytest.approx(found.true_loss_for(parameters), rel=1e-9)


def test_the_laws_are_those_of_another_library():
    x = np.concatenate([np.linspace(-30, 30, 241), np.nextafter(np.arange(-5.0, 6), np.inf)])
    assert losses.below_laplace(2, 1.5)(x) == pytest.approx(stats.laplace(2, 1.5).cdf(x), rel=1e-12)
    assert losses.below_gaussian(2, 1.5)(x) == pytest.approx(stats.norm(2, 1.5).cdf(x), rel=1e-12)
    whole = stats.dlaplace(1 / 1.5, loc=2)
    assert losses.below_discrete_laplace(2, 1.5)(x) == pytest.approx(whole.cdf(np.ceil(x) - 1), rel=1e-12, abs=1e-15)
    assert losses.below_chosen([1, 2, 5])(np.array([-1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 9])).tolist() == [
        *[0, 0, 1 / 8, 1 / 8, 3 / 8, 3 / 8, 1, 1, 1],
    ]


@pytest.mark.slow
def test_a_list_of_answers_has_no_law_of_one_number():
    laplace = dp.catalogue()["laplace"]
    assert laplace.law_for([1, 2], laplace.parameters_with({})) is None
    evidence = dp.audit("laplace", pairs=[([0, 0], [0, 1])], runs=2_000)
    assert evidence.histogram.exact is None


def test_settled_parameters_are_those_of_the_law():
    settled = with_parameters(dp.catalogue()["laplace"], epsilon=0.25)
    assert settled.law_for(0, {})(np.array([-4.0])) == pytest.approx(math.exp(-1) / 2)


# --- over the cells of a report ---------------------------------------------------------------------------


def test_a_cell_holds_what_its_law_says():
    edges = (-1.0, 0.0, math.nextafter(0.0, 1.0), 2.5)
    partition = Partition("", (Rule("float", Coordinate(0), edges, ()),))
    counts = np.array([[1, 2, 3, 4, 5, 0], [5, 4, 3, 2, 1, 0]])
    laws = losses.below_laplace(0, 1), losses.below_gaussian(1, 1)
    found = histogram_cells(partition, 0, counts, counts.sum(axis=1), laws)
    for stated, law in zip(found.exact, (stats.laplace(0, 1), stats.norm(1, 1)), strict=True):
        places = law.cdf(np.array([-np.inf, *edges, np.inf]))
        assert stated == pytest.approx(np.diff(places), abs=1e-10)
    assert [cell.count0 for cell in found.cells] == [1, 2, 3, 4, 5]


def test_cells_that_no_run_reached_take_nothing_from_others():
    partition = Partition("", (Rule("int", Rows(((0.0,), (1.0,), (2.0,))), (-0.5, 0.5, 1.5), ()),))
    counts = np.array([[0, 7, 0, 3, 0], [0, 4, 0, 6, 0]])
    laws = losses.below_chosen([5, 3, 2]), losses.below_chosen([2, 3, 5])
    found = histogram_cells(partition, 0, counts, counts.sum(axis=1), laws)
    assert [cell.label for cell in found.cells] == ["0", "2"]
    assert found.exact == ((0.5, 0.2), (0.2, 0.5))


def test_the_rarest_together_have_the_sum_of_their_probabilities():
    rows = Rows(tuple((float(value),) for value in range(500)))
    partition = Partition("", (Rule("int", rows, tuple(place - 0.5 for place in range(500)), ()),))
    counts = np.tile(np.array([0, *range(500, 0, -1), 0]), (2, 1))
    law = losses.below_chosen(list(range(500, 0, -1)))
    found = histogram_cells(partition, 0, counts, counts.sum(axis=1), (law, law))
    assert found.cells[-1].label == "101 rarer outputs"
    assert sum(found.exact[0]) == pytest.approx(1, abs=1e-7)
    assert found.exact[0][-1] == pytest.approx(sum(range(1, 102)) / sum(range(1, 501)), abs=1e-9)


def test_other_outputs_have_no_law_of_one_number():
    other = Partition("", (Rule("[float × 2]", Coordinate(0), (0.0,), ()),))
    two = Partition("", (Rule("float", Coordinate(0), (0.0,), ()), Rule("int", None, (), ())))
    law = losses.below_laplace(0, 1)
    for partition, cells in ((other, 3), (two, 4)):
        counts = np.ones((2, cells), dtype=int)
        assert histogram_cells(partition, 0, counts, counts.sum(axis=1), (law, law)).exact is None
