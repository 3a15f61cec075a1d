"""Are the limits of true positive rates and of the ROC as certain as they say? Is the estimate what it is called?"""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binomtest, poisson

from dpaudit.auditing.accuracy import gaussian_epsilon, gaussian_mu, ranks, rate_at, roc, roc_counts, thresholds
from dpaudit.privacy import GaussianDP

ERROR = 0.2
REPEATS = 400


def is_held(misses, repeats=REPEATS):
    return binomtest(misses, repeats, ERROR, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize("rate", [0.1, 0.01])
def test_limits_of_a_true_positive_rate_hold(rate):
    rng, truth, misses, width = np.random.default_rng(2), ndtr(1 + ndtri(rate)), 0, []
    for _ in range(REPEATS):
        found = rate_at(rng.normal(1, 1, 300), rng.normal(0, 1, 400), rate, ERROR)
        low, high = found.limits
        assert low <= found.estimate <= high
        misses += not low <= truth <= high
        width.append(high - low)
    assert is_held(misses)
    assert misses > 0 or rate == 0.01  # not so wide that they say nothing
    assert np.median(width) < 0.3


def test_limits_hold_for_scores_that_repeat_themselves():
    # of the tests "score ≥ t", the one with the largest FPR up to x
    rate, law, other = 0.05, poisson(5), poisson(3)
    first = next(t for t in range(50) if other.sf(t - 1) <= rate)
    truth = law.sf(first - 1)
    rng, misses = np.random.default_rng(4), 0
    for _ in range(REPEATS):
        low, high = rate_at(rng.poisson(5, 300) * 1.0, rng.poisson(3, 300) * 1.0, rate, ERROR).limits
        misses += not low <= truth <= high
    assert is_held(misses)


@pytest.mark.slow
def test_the_roc_lies_within_its_limits_at_all_thresholds_at_once():
    rng, misses = np.random.default_rng(5), 0
    for _ in range(REPEATS):
        at = thresholds(rng.normal(1, 1, 80), rng.normal(0, 1, 80))
        points = roc(rng.normal(1, 1, 200), rng.normal(0, 1, 250), at, ERROR)
        limits = np.array([point.limits for point in points])
        t = np.array([point.threshold for point in points])
        tpr, fpr = ndtr(1 - t), ndtr(-t)
        inside = (limits[:, 0] <= tpr) & (tpr <= limits[:, 1]) & (limits[:, 2] <= fpr) & (fpr <= limits[:, 3])
        misses += not inside.all()
    assert is_held(misses)
    assert 8 <= len(at) <= 22


def test_ranks_are_those_of_the_binomial_law():
    certain, possible = ranks(0.1, 50, 0.2)
    from scipy.stats import binom

    assert binom.cdf(certain, 50, 0.1) <= 0.05 < binom.cdf(certain + 1, 50, 0.1)
    assert binom.sf(possible - 1, 50, 0.1) <= 0.05 < binom.sf(possible - 2, 50, 0.1)
    assert ranks(0.001, 50, 0.2)[0] == -1
    assert ranks(0.999, 50, 0.2)[1] == 51


def test_few_others_leave_nothing_certain_about_a_small_rate():
    found = rate_at(np.full(100, 5.0), np.zeros(100), 0.001, 0.05)
    assert found.limits[0] == 0.0
    assert found.estimate == 1.0 and found.limits[1] == 1.0


def test_nan_is_above_no_threshold():
    members, others = np.array([np.nan] * 50 + [3.0] * 50), np.array([np.nan, *range(99)], dtype=float)
    assert roc_counts(members, others, np.array([-5.0, 2.0])) == [(50, 99), (50, 97)]
    assert rate_at(members, others, 0.98, None).estimate == 0.5
    assert not np.isnan(thresholds(members, others)).any()


def test_without_independence_there_are_no_limits():
    members, others = np.arange(50.0), np.arange(40.0)
    assert rate_at(members, others, 0.01, None).limits is None
    assert all(point.limits is None for point in roc(members, others, np.array([3.0]), None))


def test_the_gaussian_estimate_is_that_of_a_gaussian_mechanism():
    assert gaussian_epsilon(1.0, 1e-5) == pytest.approx(4.377, abs=6e-4)
    assert gaussian_epsilon(2.0, 1e-5) == pytest.approx(9.997, abs=6e-4)
    assert float(GaussianDP(1.7).profile(gaussian_epsilon(1.7, 1e-3))) == pytest.approx(1e-3, rel=1e-4)
    assert gaussian_epsilon(-1.0, 1e-5) == gaussian_epsilon(1.0, 1e-5)
    assert gaussian_epsilon(1.0, 0.0) is None
    assert gaussian_epsilon(0.0, 1e-5) == 0.0
    scores = np.random.default_rng(0).normal(size=500)
    assert gaussian_mu(scores + 2 * np.std(scores, ddof=1), scores) == pytest.approx(2.0, rel=1e-5)


@pytest.mark.parametrize("scores", [np.ones(30), np.full(30, math.nan), np.full(30, math.inf), np.full(30, 1e308)])
def test_scores_that_do_not_vary_have_no_gaussian_estimate(scores):
    assert gaussian_mu(scores, scores) is None
