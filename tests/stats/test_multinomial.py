"""Is the bound from many bins never larger than its region allows, and wrong no more often than it says?"""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from dpaudit.privacy import GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.stats import renyi as multinomial
from dpaudit.stats.joint_region import joint_region, probability_at_least, probability_at_most
from dpaudit.stats.renyi import (
    detectable_divergence,
    multinomial_bound,
    multinomial_weights,
    orders_of,
    variational,
    variational_noise,
)

pytestmark = pytest.mark.slow

ZCDP = ZeroConcentratedDP(0.0)


def gaussian_bins(mu, bins):
    """Probabilities of bins of equal width for N(mu, 1) and N(0, 1), the likeliest for the first side first."""
    edges = np.linspace(mu / 2 + 2.2, mu / 2 - 2.2, bins - 1) if bins > 2 else np.array([mu / 2])
    ends = [np.concatenate([[0.0], norm.sf(edges, side), [1.0]]) for side in (mu, 0.0)]
    return np.diff(ends[0]), np.diff(ends[1])


def divergence(order, p, q):
    """D_α(p‖q) by its definition."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if order == 1:
            return float(np.sum(np.where(p > 0, p * np.log(p / q), 0.0)))
        return float(np.log(np.sum(np.where(p > 0, p**order * q ** (1 - order), 0.0))) / (order - 1))


# --- the inequality ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1.0, 1.1, 2.0, 7.5, 40.0])
def test_any_h_gives_less_than_the_divergence_and_the_ratio_gives_it(order):
    rng = np.random.default_rng(1)
    for _ in range(50):
        p, q = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
        true = divergence(order, p, q)
        assert variational(order, np.log(p / q), p, q) == pytest.approx(true, abs=1e-9, rel=1e-6)
        assert variational(order, rng.normal(size=5), p, q) <= true + 1e-9


def test_the_noise_is_that_of_simulation():
    p, q = gaussian_bins(1.0, 6)
    rng, log_h, n, m = np.random.default_rng(2), np.log(p / q) * 0.9, 4000, 9000
    for order in (1.0, 1.5):
        seen = [variational(order, log_h, rng.multinomial(n, p) / n, rng.multinomial(m, q) / m) for _ in range(3000)]
        assert variational_noise(order, log_h, p, q, n, m) == pytest.approx(np.std(seen), rel=0.06)


def claim_value(claim, point):
    """What a point shows of the claim's parameter, at every order."""
    return [divergence(order, *point) / (order if claim is ZCDP else 1) for order in orders_of(claim)]


# --- the region --------------------------------------------------------------------------------------------


def in_region(rng, bins, weights, error, side, far):
    """Chances of bins at a random point of the region's surface, as the statistics say: half the twin below."""
    statistics = rng.normal(size=2 * (len(bins[0]) - 1))
    gamma = error / 25 / (4 * (len(bins[0]) - 1))
    cut = -norm.ppf(gamma)
    statistics = np.clip(statistics + far * weights, -cut, cut)
    over = float(np.dot(weights, statistics)) + norm.ppf(error * 24 / 25)
    statistics = np.clip(statistics - max(over, 0.0) * weights, -cut, cut)
    if np.dot(weights, statistics) > -norm.ppf(error * 24 / 25):
        return None
    found = []
    for counts, own, bound in zip(
        bins, np.split(statistics, 2), (probability_at_least, probability_at_most), strict=True
    ):
        left, rest, chances = int(sum(counts)), 1.0, []
        for hits, z in zip(counts[:-1], own, strict=True):
            chance = float(bound(hits, left, norm.sf(z)))
            chances.append(rest * chance)
            rest, left = rest * (1 - chance), left - int(hits)
        found.append(np.array([*chances, rest]))
    return found


@pytest.mark.parametrize(("mu", "n"), [(1.0, 400), (0.4, 3000)])
def test_no_point_of_the_region_has_less(mu, n):
    rng = np.random.default_rng(3)
    p, q = gaussian_bins(mu, 5)
    weights = np.array(multinomial_weights(p, q, n, n, 1.0))
    bins = rng.multinomial(n, p), rng.multinomial(n, q)
    points = [in_region(rng, bins, weights, 0.1, side, far) for far in (0, 1, 1.6, 3) for side in range(200)]
    points = [point for point in points if point is not None]
    assert len(points) > 400
    region = multinomial._ChancesLeft(*bins, weights, 0.1)
    assert region.critical == pytest.approx(norm.isf(0.1 * 24 / 25))  # the level that `in_region` has too
    for order in (1.0, 1.5, 3.0):
        least = min(divergence(order, *point) for point in points)
        assert region.divergence(order, 0.02) <= least
        assert region.divergence(order, 0.005) <= least
        # not far below the least of so few points, where no bin is nearly empty
        assert order > 1 or n < 1000 or region.divergence(order, 0.005) > 0.8 * least
    for claim in (ZCDP, RenyiDP(2.0, 0.0)):
        bound = multinomial_bound(*bins, claim=claim, weights=weights, error=0.1)
        assert 0 < bound <= min(max(claim_value(claim, point)) for point in points)


def test_two_bins_are_a_joint_region():
    p, q = np.array([0.7, 0.3]), np.array([0.3, 0.7])
    n, weights = 5000, np.array(multinomial_weights([0.7, 0.3], [0.3, 0.7], 5000, 5000, 1.0))
    bound = multinomial_bound(n * p, n * q, claim=RenyiDP(1.1, 0.0), weights=weights, error=0.05)
    deficit = divergence(1.1, p, q) - bound
    noise = variational_noise(1.1, np.log(p / q), p, q, n, n)
    assert 1.645 < deficit / noise < 2.2


# --- errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "q", "n", "repetitions"),
    [
        ([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], 200, 150),
        pytest.param([0.05, 0.25, 0.6, 0.1], [0.002, 0.2, 0.65, 0.148], 2000, 60, marks=pytest.mark.nightly),
    ],
)
def test_it_is_wrong_no_more_often_than_it_says(p, q, n, repetitions, monkeypatch):
    monkeypatch.setattr(multinomial, "_FINE", multinomial._COARSE)  # a finer grid gives hardly more: see below
    rng, claim = np.random.default_rng(4), RenyiDP(1.25, 0.0)
    p, q = np.array(p), np.array(q)
    true = divergence(1.25, p, q)
    weights = multinomial_weights(p, q, n, n, 1.25)
    bounds = np.array(
        [
            multinomial_bound(rng.multinomial(n, p), rng.multinomial(n, q), claim=claim, weights=weights, error=0.2)
            for _ in range(repetitions)
        ]
    )
    wrong = int(np.count_nonzero(bounds > true))
    assert binomtest(wrong, repetitions, 0.2, alternative="greater").pvalue > 1e-3
    assert np.median(bounds) > 0.3 * true  # a bound of 0 would never be wrong
    assert wrong > 0 or min(q) < 0.01  # so few runs in a bin leave a bound that is seldom wrong


@pytest.mark.nightly
def test_equal_sides_show_nothing_most_of_the_time(monkeypatch):
    monkeypatch.setattr(multinomial, "_FINE", multinomial._COARSE)
    rng, p = np.random.default_rng(5), np.full(6, 1 / 6)
    weights = multinomial_weights(p + np.linspace(0.01, -0.01, 6), p, 500, 500, 1.1)
    claim = RenyiDP(1.1, 0.0)
    shown = sum(
        multinomial_bound(rng.multinomial(500, p), rng.multinomial(500, p), claim=claim, weights=weights, error=0.2) > 0
        for _ in range(40)
    )
    assert binomtest(shown, 40, 0.2, alternative="greater").pvalue > 1e-3


# --- what it is worth --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "least"), [(10_000, 0.40), (100_000, 0.455)])
def test_it_recovers_most_of_a_gaussian(n, least):
    p, q = gaussian_bins(1.0, 8)
    weights = multinomial_weights(p, q, n, n, 1.0)
    found = multinomial_bound(np.round(n * p), np.round(n * q), claim=ZCDP, weights=weights, error=0.05)
    assert least < found < 0.5
    one = joint_region(round(0.05 * n), n, round(n * norm.sf(norm.isf(0.05) + 1)), n, weight=0.3, error=0.05)
    assert float(one.least(ZCDP.least)) < 0.8 * found  # what a single event at a usual mass shows


@pytest.mark.nightly
def test_what_it_would_have_found():
    p, q = gaussian_bins(1.0, 8)
    n, weights = 10_000, multinomial_weights(p, q, 10_000, 10_000, 1.0)
    bins = np.round(n * p).astype(int), np.round(n * q).astype(int)
    found = [
        detectable_divergence(*bins, claim=ZeroConcentratedDP(rho), weights=weights, error=0.05)
        for rho in (0.1, 0.3, 0.5)
    ]
    assert 0.1 < found[0] < 0.17 and 0.3 < found[1] < 0.4 and 0.5 < found[2] < 0.65
    rng, caught = np.random.default_rng(6), 0
    p, q = gaussian_bins(math.sqrt(2 * 0.5 * found[1] / divergence(1.0, *gaussian_bins(1.0, 8)) * 0.5), 8)
    for _ in range(10):
        seen = rng.multinomial(n, p), rng.multinomial(n, q)
        caught += multinomial_bound(*seen, claim=RenyiDP(1.1, 0.0), weights=weights, error=0.05) > 0.1
    assert caught == 10
    assert (
        detectable_divergence([50, 50], [50, 50], claim=ZeroConcentratedDP(50), weights=[1, 1], error=0.05) == math.inf
    )


# --- edges -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bins",
    [
        ([0, 100], [0, 100]),
        ([100, 0], [0, 100]),
        ([0, 0, 100], [100, 0, 0]),
        ([100, 0, 0], [0, 0, 100]),
        ([1, 0, 0], [0, 0, 1]),
        ([0, 0, 0], [0, 0, 0]),
        ([10**9, 10**9], [1, 2 * 10**9]),
    ],
)
def test_empty_bins_and_many_runs(bins):
    weights = [1.0] * (2 * (len(bins[0]) - 1))
    for claim in (ZCDP, RenyiDP(3.0, 0.0)):
        bound = multinomial_bound(*bins, claim=claim, weights=weights, error=0.05)
        assert 0 <= bound < 100 and not math.isnan(bound)
    if bins[0][0] >= 100 and bins[1][0] <= 1:
        assert bound > 1


def test_bins_in_the_wrong_order_show_less():
    p, q = gaussian_bins(1.0, 6)
    n, weights = 5000, multinomial_weights(*gaussian_bins(1.0, 6), 5000, 5000, 1.0)
    bins = np.round(n * p).astype(int), np.round(n * q).astype(int)
    straight = multinomial_bound(*bins, claim=ZCDP, weights=weights, error=0.05)
    backward = multinomial_bound(bins[0][::-1], bins[1][::-1], claim=ZCDP, weights=weights, error=0.05)
    assert backward < 0.5 * straight


def test_only_ratios_of_weights_count():
    weights = np.array([0.2, 0.4, 0.5, 0.1])
    found = {
        round(multinomial_bound([60, 30, 10], [20, 30, 50], claim=ZCDP, weights=scale * weights, error=0.1), 10)
        for scale in (0.01, 1, 7)
    }
    assert len(found) == 1


def test_orders():
    assert orders_of(RenyiDP(1.05, 0)) == (1.0, 1.05)
    assert orders_of(RenyiDP(2.0, 0))[-2:] == (1.5, 2.0)
    for claim in (PureDP(1), GaussianDP(1)):
        with pytest.raises(ValueError, match="zCDP and Rényi"):
            orders_of(claim)


@pytest.mark.parametrize(
    ("bins", "weights"),
    [
        (([5, 5], [5, 5]), [0.5]),
        (([5, 5], [5, 5, 1]), [0.5, 0.5]),
        (([5], [5]), []),
        (([5, 5], [5, 5]), [0.0, 1.0]),
        (([5, 5], [5, 5]), [math.nan, 1.0]),
    ],
)
def test_what_does_not_fit_is_refused(bins, weights):
    with pytest.raises(ValueError, match="weights"):
        multinomial_bound(*bins, claim=ZCDP, weights=weights, error=0.05)


def test_a_finer_grid_gives_a_little_more():
    p, q = gaussian_bins(1.0, 6)
    n, weights = 3000, np.array(multinomial_weights(*gaussian_bins(1.0, 6), 3000, 3000, 1.0))
    region = multinomial._ChancesLeft(np.round(n * p).astype(int), np.round(n * q).astype(int), weights, 0.05)
    coarse, usual, fine = (region.divergence(1.25, step) for step in (0.04, 0.01, 0.0025))
    assert coarse <= usual <= fine
    assert fine - usual < 0.02 * fine
