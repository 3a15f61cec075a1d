"""Would the audit have said so? What is called detectable is found in nine of ten audits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import binom

from dpaudit.bounds import guess_bound, joint_weight, two_sided_weight
from dpaudit.bounds.guess import detectable_guess
from dpaudit.bounds.statement import detectable, detectable_gaussian, lower_bound
from dpaudit.evidence import Counts
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP


@pytest.mark.parametrize("guesses", [10, 50, 400])
@pytest.mark.parametrize("claim", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("error", [0.01, 0.05])
def test_guesses_exactly(guesses, claim, error):
    shown = [k for k in range(guesses + 1) if float(guess_bound(k, guesses - k, error)) > claim]
    found = detectable_guess(guesses, claim, error)
    if not shown:
        assert found == math.inf
        return
    direct = brentq(lambda e: binom.sf(min(shown) - 1, guesses, expit(e)) - 0.9, -5, 30, xtol=1e-12)
    assert found == pytest.approx(direct, abs=1e-8)
    assert found > claim


def test_too_few_guesses_can_show_nothing():
    assert detectable_guess(0, 1.0, 0.05) == math.inf
    assert detectable_guess(2, 1.0, 0.05) == math.inf
    assert detectable_guess(10**9, 1.0, 0.05) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("claim", "q", "n"),
    [
        (PureDP(1), 0.1, 2000),
        (PureDP(0.1), 0.4, 20_000),
        (PureDP(3), 0.002, 20_000),
        (ApproxDP(1, 0.01), 0.1, 5000),
        (GaussianDP(1), 0.1, 3000),
        (ZeroConcentratedDP(0.3), 0.05, 3000),
        (RenyiDP(2, 0.3), 0.2, 3000),
    ],
    ids=str,
)
def test_one_sided(claim, q, n):
    p = _event(claim, q, claim.value)
    weight = joint_weight(p, q, n, n)
    counts = Counts((n, n), (round(n * p), round(n * q)), (0, 0))
    least = detectable("joint", counts, claim=claim, weight=weight, error=0.05)
    assert least > claim.value
    true_q = (round(n * q) + 0.5) / (n + 1)
    true_p = _event(claim, true_q, least)
    rng = np.random.default_rng(0)
    found = sum(
        lower_bound("joint", Counts((n, n), (int(k), int(o)), (0, 0)), claim=claim, weight=weight, error=0.05)
        > claim.value
        for k, o in zip(rng.binomial(n, true_p, 600), rng.binomial(n, true_q, 600), strict=True)
    )
    assert 0.85 <= found / 600 <= 0.95


@pytest.mark.parametrize(("claim", "mass"), [(ApproxDP(1, 0.01), 0.3), (GaussianDP(1), 0.5)], ids=str)
def test_two_sided(claim, mass):
    runs = 8000
    weight = two_sided_weight(0.75 * mass, 0.25 * mass, runs)
    right = round(0.73 * mass * runs)
    counts = Counts((runs // 2, runs // 2), (right, 0), (round(mass * runs) - right, 0))
    least = detectable("two-sided joint", counts, claim=claim, weight=weight, error=0.05)
    a = brentq(lambda a: float(claim.least(a, mass - a)) - least, mass / 2 + 1e-9, mass - 1e-9)
    rng = np.random.default_rng(1)
    rights = rng.binomial(runs, a, 600)
    wrongs = rng.binomial(runs - rights, (mass - a) / (1 - a))
    found = sum(
        lower_bound(
            "two-sided joint",
            Counts((runs // 2, runs // 2), (int(k), 0), (int(o), 0)),
            claim=claim,
            weight=weight,
            error=0.05,
        )
        > claim.value
        for k, o in zip(rights, wrongs, strict=True)
    )
    assert 0.85 <= found / 600 <= 0.95


def _event(claim, q, value):
    return brentq(lambda p: float(claim.least(p, q)) - value, q, 1 - 1e-12, xtol=1e-12)


def test_an_event_without_counts_detects_nothing_small():
    nothing = Counts((500, 500), (0, 0), (0, 0))
    assert detectable("guess", nothing, claim=PureDP(1), weight=None, error=0.05) == math.inf
    for claim in (ApproxDP(1, 1e-5), GaussianDP(1), ZeroConcentratedDP(0.5)):
        assert detectable("joint", nothing, claim=claim, weight=0.7, error=0.05) > 2 * claim.value


def test_more_runs_detect_less():
    claim = ApproxDP(1, 1e-5)
    found = [detectable_gaussian(claim, runs, 0.05) for runs in (10**3, 10**4, 10**5, 10**6)]
    assert found == sorted(found, reverse=True)
    assert found[-1] > 1
