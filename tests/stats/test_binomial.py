"""Are the bounds of one probability Clopper and Pearson's, also for tiny errors and huge counts?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc, betaincc
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from dpaudit.checker import bounds
from dpaudit.stats.joint_region import probability_at_least, probability_at_most

laws = settings(derandomize=True, max_examples=120, deadline=None)
errors = st.sampled_from([1e-9, 1e-6, 1e-3, 0.025, 0.05, 0.2, 0.5])


@st.composite
def counts(draw, most=10**9):
    runs = draw(st.integers(1, most))
    return draw(st.one_of(st.integers(0, runs), st.sampled_from([0, 1, runs // 2, runs - 1, runs]))), runs


@pytest.mark.slow
@laws
@given(counts(), errors)
def test_statsmodels_says_the_same(drawn, error):
    hits, runs = drawn
    low, high = proportion_confint(hits, runs, 2 * error, method="beta")
    assert float(probability_at_least(hits, runs, error)) == pytest.approx(low, rel=1e-9, abs=1e-15)
    assert float(probability_at_most(hits, runs, error)) == pytest.approx(high, rel=1e-9, abs=1e-15)


@pytest.mark.slow
@laws
@given(counts(most=10**7), errors)
def test_quantiles_in_plain_python_are_the_same(drawn, error):
    hits, runs = drawn
    low, high = proportion_confint(hits, runs, 2 * error, method="beta")
    if hits:
        assert bounds.quantile(hits, runs - hits + 1, error) == pytest.approx(low, rel=1e-9, abs=1e-15)
    if hits < runs:
        assert bounds.quantile(hits + 1, runs - hits, error, upper=True) == pytest.approx(high, rel=1e-9, abs=1e-15)


@pytest.mark.slow
@laws
@given(counts(), errors)
def test_the_bounds_invert_their_own_tails(drawn, error):
    hits, runs = drawn
    low, high = float(probability_at_least(hits, runs, error)), float(probability_at_most(hits, runs, error))
    assert 0 <= low <= hits / runs <= high <= 1
    # P(Bin(n, p) ≥ k) = I_p(k, n − k + 1): at the bound no more than the error, beyond the last bits
    if hits > 0:
        assert betainc(hits, runs - hits + 1, low) <= error * (1 + 1e-5)
        assert betainc(hits, runs - hits + 1, min(low * 1.001, (1 + low) / 2)) > error
    if hits < runs:
        assert betaincc(hits + 1, runs - hits, high) <= error * (1 + 1e-5)


@pytest.mark.slow
@laws
@given(counts(), errors)
def test_hits_are_misses_seen_from_the_other_side(drawn, error):
    hits, runs = drawn
    assert float(probability_at_most(hits, runs, error)) == pytest.approx(
        1 - float(probability_at_least(runs - hits, runs, error)), rel=1e-12, abs=1e-15
    )


def test_ends_and_no_runs():
    assert probability_at_least([0, 0], [0, 9], 0.05).tolist() == [0, 0]
    assert probability_at_most([0, 9], [0, 9], 0.05).tolist() == [1, 1]
    assert float(probability_at_least(9, 9, 0.05)) == pytest.approx(0.05 ** (1 / 9))
    assert float(probability_at_most(0, 9, 0.05)) == pytest.approx(1 - 0.05 ** (1 / 9))
    assert float(probability_at_least(10**9, 10**9, 1e-9)) < 1
    assert float(probability_at_most(10**9 - 1, 10**9, 1e-9)) <= 1


def test_no_value_is_missing_anywhere():
    rng = np.random.default_rng(0)
    runs = np.unique(np.round(10 ** rng.uniform(0, 9.5, 300)))
    for error in (1e-12, 1e-9, 0.05, 0.5, 0.999, 1.0):
        for hits in (np.zeros_like(runs), np.minimum(1, runs), np.round(runs * rng.random(len(runs))), runs):
            low, high = probability_at_least(hits, runs, error), probability_at_most(hits, runs, error)
            assert np.all(np.isfinite(low)) and np.all((low >= 0) & (low <= 1))
            assert np.all(np.isfinite(high)) and np.all((high >= 0) & (high <= 1))


@pytest.mark.parametrize("runs", [1, 2, 5, 30, 60])
@pytest.mark.parametrize("error", [1e-6, 0.05, 0.2, 0.5])
def test_the_chance_of_error_over_all_counts(runs, error):
    hits = np.arange(runs + 1)
    low, high = probability_at_least(hits, runs, error), probability_at_most(hits, runs, error)
    truth = np.concatenate([np.linspace(0, 1, 501), low, high, np.nextafter(low, 0), np.nextafter(high, 1)])
    mass = binom.pmf(hits, runs, truth[:, None])
    assert np.max(np.sum(mass * (low > truth[:, None]), axis=1)) <= error * (1 + 1e-9)
    assert np.max(np.sum(mass * (high < truth[:, None]), axis=1)) <= error * (1 + 1e-9)
