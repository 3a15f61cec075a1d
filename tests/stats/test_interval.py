"""How often does the interval of one event's loss miss it? Every outcome, weighed; a naive twin of the upper end."""

import functools
import math

import numpy as np
import pytest
from scipy.special import expit, ndtri
from scipy.stats import binom
from support.nightly import mostly_at_night

from dpaudit.evidence.records import Counts
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.stats.joint_region import loss_interval

pytestmark = pytest.mark.slow

SLACK = 1 + 1e-9
CLAIMS = [PureDP(0), ApproxDP(0, 0.05), GaussianDP(0), ZeroConcentratedDP(0), RenyiDP(2, 0)]


def one_sided(k, n, others, m, side=0):
    """Counts of an event that speaks for ``side`` alone."""
    if side == 0:
        return Counts(runs=(n, m), toward0=(k, others), toward1=(0, 0))
    return Counts(runs=(m, n), toward0=(0, 0), toward1=(others, k))


def two_sided(right, wrong, runs):
    """Counts of ``runs`` runs with so many guesses, however they fall on the sides."""
    half = runs // 2
    right0 = min(right, half)
    wrong0 = min(wrong, half - right0)
    return Counts(runs=(half, runs - half), toward0=(right0, wrong - wrong0), toward1=(wrong0, right - right0))


def missed(intervals, truths):
    """Whether the interval of each outcome (first axis) lies above or below each truth (last axis)."""
    low, high = np.array(intervals).T[..., None]
    return low > truths * SLACK, high < truths / SLACK


@pytest.mark.parametrize("error", [0.01, 0.1, 0.4])
@pytest.mark.parametrize("guesses", [1, 9, 60])
def test_guess_errs_at_most_half_at_each_end(guesses, error):
    right = np.arange(guesses + 1)
    intervals = [
        loss_interval(
            "guess", two_sided(int(a), guesses - int(a), 2 * guesses), claim=PureDP(0), weight=None, error=error
        )
        for a in right
    ]
    truths = np.linspace(0, 8, 300)
    mass = binom.pmf(right[:, None], guesses, expit(truths))
    above, below = missed(intervals, truths)
    assert np.max(np.sum(mass * above, axis=0)) <= error / 2 * SLACK
    assert np.max(np.sum(mass * below, axis=0)) <= error / 2 * SLACK
    assert np.max(np.sum(mass * below, axis=0)) > error / 8 or guesses == 1  # it does use its error


@pytest.mark.parametrize("claim", mostly_at_night(CLAIMS), ids=str)
@pytest.mark.parametrize(("method", "weight"), [("joint", 0.3), ("joint", 0.9), ("enumerated joint", 0.7071)])
@pytest.mark.parametrize("side", [0, 1])
def test_one_sided_events_err_at_most_half_at_each_end(claim, method, weight, side):
    n, m, error = (9, 7, 0.2) if claim.parameter != "rho" else (5, 4, 0.2)
    if method != "joint" and (side or claim.parameter == "rho"):
        pytest.skip("the enumerated lower end is slow and tested elsewhere; once is enough for the upper")
    if claim.parameter == "rho" and (side or weight != 0.3):
        pytest.skip("its divergence takes both directions, and is slow")
    outcomes = [(k, others) for k in range(n + 1) for others in range(m + 1)]
    intervals = [
        loss_interval(method, one_sided(k, n, others, m, side), claim=claim, weight=weight, error=error)
        for k, others in outcomes
    ]
    some = np.array([0.0, 0.001, 0.03, 0.1, 0.3, 0.5, 0.6, 0.8, 0.95, 1.0])
    p, q = (grid.ravel() for grid in np.meshgrid(some, some))
    k, others = np.array(outcomes).T[..., None]
    mass = binom.pmf(k, n, p) * binom.pmf(others, m, q)
    above, below = missed(intervals, claim.least(p, q))
    assert np.max(np.sum(mass * above, axis=0)) <= error / 2 * SLACK
    assert np.max(np.sum(mass * below, axis=0)) <= error / 2 * SLACK
    assert np.max(np.sum(mass * below, axis=0)) > 1e-3  # it does use its error


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
@pytest.mark.parametrize("weight", [0.3, 0.9])
def test_two_sided_events_err_at_most_half_at_each_end(claim, weight):
    if claim.parameter == "rho" and weight != 0.3:
        pytest.skip("slow")
    runs, error = (11, 0.2) if claim.parameter != "rho" else (6, 0.2)
    outcomes = [(a, b) for a in range(runs + 1) for b in range(runs + 1 - a) if a + b <= runs]
    intervals = [
        loss_interval("two-sided joint", two_sided(a, b, runs), claim=claim, weight=weight, error=error)
        for a, b in outcomes
    ]
    some = np.array([0.0, 0.01, 0.1, 0.25, 0.4, 0.5, 0.7, 0.9, 1.0])
    p, q = (grid.ravel() for grid in np.meshgrid(some, some))
    p, q = p[p + q <= 1], q[p + q <= 1]
    right, wrong = np.array(outcomes).T[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        among = np.where(p < 1, np.minimum(q / (1 - p), 1), 0.0)
    mass = binom.pmf(right, runs, p) * binom.pmf(wrong, runs - right, among)
    assert mass.sum(axis=0) == pytest.approx(1)
    above, below = missed(intervals, claim.least(p, q))
    assert np.max(np.sum(mass * above, axis=0)) <= error / 2 * SLACK
    assert np.max(np.sum(mass * below, axis=0)) <= error / 2 * SLACK


@functools.cache
def naively_possible(k, n, others, m, weight, error):
    """A fine grid of all (p, q), and which of them Stouffer's test and the two cuts leave possible."""
    p, q = np.meshgrid(np.linspace(1e-4, 1 - 1e-4, 600), np.linspace(1e-4, 1 - 1e-4, 600))
    gamma, other = error / 50, math.sqrt(1 - weight * weight)
    small_p, large_q = binom.cdf(k, n, p), binom.sf(others - 1, m, q)
    with np.errstate(invalid="ignore"):
        z = -weight * ndtri(small_p) - other * ndtri(large_q)
    return p, q, (z <= -ndtri(error - 2 * gamma)) & (small_p >= gamma) & (large_q >= gamma)


@pytest.mark.parametrize("claim", [PureDP(0), ApproxDP(0, 0.05), GaussianDP(0), RenyiDP(2, 0)], ids=str)
@pytest.mark.parametrize(("k", "n", "others", "m"), [(60, 200, 20, 190), (300, 500, 200, 480), (30, 40, 8, 50)])
def test_the_upper_end_is_that_of_a_naive_twin(claim, k, n, others, m):
    weight, error = 0.6, 0.1
    _, high = loss_interval("joint", one_sided(k, n, others, m), claim=claim, weight=weight, error=error)
    p, q, kept = naively_possible(k, n, others, m, weight, error / 2)
    naive = np.max(claim.least(p[kept], q[kept]))
    assert naive <= high <= 1.05 * naive + 0.02


def test_an_upper_end_of_rho_is_above_every_order_and_close_to_the_largest():
    from dpaudit.stats.joint_region import _outer

    rng = np.random.default_rng(1)
    p = rng.random(50)
    q = p * rng.random(50)
    orders = 1 + np.geomspace(1e-5, 1e5, 4_000)
    dense = np.max([RenyiDP(float(order), 0.0).least(p, q) / order for order in orders], axis=0)
    outer = _outer(ZeroConcentratedDP(0), p, q)
    assert np.all(outer >= dense)
    assert np.all(outer <= 1.04 * dense + 1e-4)
    assert np.any(ZeroConcentratedDP(0).least(p, q) < dense)  # the loss itself looks at fewer orders


def test_nothing_counted_leaves_everything_possible():
    low, high = loss_interval("guess", two_sided(0, 0, 100), claim=PureDP(0), weight=None, error=0.1)
    assert (low, high) == (0.0, math.inf)
    low, high = loss_interval("joint", one_sided(50, 100, 0, 100), claim=PureDP(0), weight=0.5, error=0.1)
    assert low > 0 and high == math.inf


def test_more_runs_narrow_it():
    wide = loss_interval("joint", one_sided(60, 200, 20, 200), claim=PureDP(0), weight=0.6, error=0.1)
    narrow = loss_interval("joint", one_sided(6000, 20_000, 2000, 20_000), claim=PureDP(0), weight=0.6, error=0.1)
    assert wide[0] < narrow[0] < math.log(3) < narrow[1] < wide[1]
