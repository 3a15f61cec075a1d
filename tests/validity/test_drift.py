"""Are runs whose law changes on the way noticed, and runs of one law left in peace?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

import dpaudit as dp
from dpaudit.game.drift import drifted


@pytest.mark.parametrize(("early", "late"), [(30, 30), (10, 50)])
@pytest.mark.parametrize("hits", [1, 7, 30, 50])
def test_the_chance_of_a_false_alarm_over_all_orders(early, late, hits):
    # a cell with so many of the runs: how many are early is hypergeometric where the order does not matter
    error = 0.2
    k = np.arange(max(0, hits - late), min(hits, early) + 1)
    alarm = [drifted(np.array([x, early - x]), np.array([hits - x, late - hits + x]), error) for x in k]
    assert np.sum(hypergeom.pmf(k, early + late, early, hits) * alarm) <= error


def test_runs_of_one_law_with_many_cells_raise_no_alarm():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(200):
        weights = rng.dirichlet(np.full(60, 0.3))
        alarms += drifted(rng.multinomial(5000, weights), rng.multinomial(9000, weights), 0.05)
    assert alarms <= 20


def test_a_change_is_noticed_in_one_cell_and_spread_over_many():
    assert drifted(np.array([500, 500]), np.array([800, 200]))
    many = np.full(100, 200)
    shifted = many + np.where(np.arange(100) < 50, 25, -25)
    assert drifted(many, shifted)
    assert not drifted(many, many)


def test_without_runs_nothing_has_drifted():
    assert not drifted(np.array([0, 0]), np.array([5, 5]))
    assert not drifted(np.array([5, 5]), np.array([0, 0]))
    assert not drifted(np.array([0, 0]), np.array([0, 0]))


def unique(data, rng):
    """A category that no other run shows."""
    return f"{rng.random()} of {data}"


def test_categories_that_never_come_again_are_no_drift():
    evidence = dp.audit(unique, claim="epsilon=1", pairs=[(0, 0)], relation="declared", runs=4_000)
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE


def test_categories_that_begin_to_change_are_a_drift():
    calls = []

    def changing(data):
        calls.append(None)
        return "the same" if len(calls) < 700 else str(len(calls))

    evidence = dp.audit(changing, claim="epsilon=1", pairs=[(0, 0)], relation="declared", runs=4_000)
    assert evidence.verdict is dp.Verdict.INVALID and "drift" in evidence.reason
