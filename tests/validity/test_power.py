"""Do whole audits, which learn their own events, find what was planned and what was called detectable?

Judged by exact binomial tests with fixed seeds: at least 80 % are promised, so
that six of ten audits have to find it.
"""

import math

import numpy as np
import pytest
from support.curtailed import at_least
from support.nightly import mostly_at_night

import dpaudit as dp

PAIR = [(0, 1)]
AUDITS = 10

pytestmark = pytest.mark.slow


def laplace(data, size, rng, loss=1.0):
    return rng.laplace(data, 1 / loss, size)


def randomised_response(data, size, rng, loss=1.0):
    return np.where(rng.random(size) < 1 / (1 + math.exp(-loss)), data, 1 - data)


def catastrophe(data, size, rng, loss=1.0):
    return np.where(rng.random(size) < 0.05, 2 + data, randomised_response(data, size, rng, loss))


def gaussian(data, size, rng, loss=1.0):
    return rng.normal(data * loss, 1, size)


CASES = {
    "Laplace": (laplace, dp.PureDP(1), 1.3),
    "twice the loss": (laplace, dp.PureDP(1), 2.0),
    "randomised response": (randomised_response, dp.PureDP(1), 1.3),
    "catastrophe": (catastrophe, dp.ApproxDP(1, 0.05), 1.3),
    "Gaussian": (gaussian, dp.GaussianDP(1), 1.1),
}


def promised(function, claim, loss, runs):
    """Whether so many audits find that this loss breaks the claim that each may find it with probability 0.8."""
    return at_least(
        lambda seed: _audit(function, claim, loss, runs, seed).verdict is dp.Verdict.VIOLATED, AUDITS, 0.8, 0.05
    )


def _audit(function, claim, loss, runs, seed):
    options = {"parameters": {"loss": loss}, "claim": claim, "pairs": PAIR, "floating_point": "ignore"}
    return dp.audit(function, runs=runs, seed=seed, **options)


@pytest.mark.parametrize("name", mostly_at_night(CASES, stay=("Laplace", "catastrophe")))
def test_audits_find_what_they_were_planned_to_find(name):
    function, claim, value = CASES[name]
    plan = dp.plan(function, value, parameters={"loss": claim.value}, claim=claim, pairs=PAIR, seed=7)
    assert promised(function, claim, value, plan.runs), plan.runs


@pytest.mark.parametrize("name", mostly_at_night(["Laplace", "catastrophe", "Gaussian"]))
def test_audits_find_what_one_before_called_detectable(name):
    function, claim, _ = CASES[name]
    before = _audit(function, claim, claim.value, 8_000, 101)
    assert before.verdict is dp.Verdict.NOT_VIOLATED
    assert promised(function, claim, before.detectable, 8_000), before.detectable


def test_audits_of_fewer_runs_do_not_find_it():
    # the control of the tests above
    function, claim, value = CASES["Laplace"]
    plan = dp.plan(function, value, parameters={"loss": claim.value}, claim=claim, pairs=PAIR, seed=7)
    assert not promised(function, claim, value, plan.runs // 6)


def test_the_table_of_smaller_violations_keeps_its_word():
    function, claim, _ = CASES["Laplace"]
    row = _audit(function, claim, claim.value, 2_000, 100).power[0]
    assert promised(function, claim, row.value, row.runs), row
