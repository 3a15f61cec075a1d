"""Are the bounds what their formulas say, and do they behave as evidence should?"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm
from statsmodels.stats.proportion import proportion_confint
from support.nightly import mostly_at_night

from dpaudit.evidence.records import Counts
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.stats.guessing import guess_bound
from dpaudit.stats.joint_region import joint_region, joint_weight, lower_bound, two_sided_region, two_sided_weight

laws = settings(derandomize=True, max_examples=100, deadline=None)
errors = st.sampled_from([1e-9, 1e-6, 0.01, 0.05, 0.2])
weights = st.sampled_from([1e-3, 0.2, 0.7071, 0.95, 1 - 1e-6])
CLAIMS = [PureDP(1), ApproxDP(1, 1e-5), ApproxDP(1, 0.05), GaussianDP(1), ZeroConcentratedDP(1), RenyiDP(2, 1)]
claims = st.sampled_from(CLAIMS)
numbers = st.one_of(st.integers(0, 300), st.sampled_from([0, 1, 10**4, 10**6]))


def naive_region(hits, runs, others, other_runs, weight, error, steps=161):
    """The corners, one by one, from statsmodels' intervals."""
    gamma = error / 50
    back = math.sqrt(1 - weight * weight)
    critical, cut = norm.isf(error - 2 * gamma), norm.isf(gamma)
    start = max((critical - weight * cut) / back, -37.0)
    z2 = [start + (cut - start) * i / (steps - 1) for i in range(steps)]
    corners = []
    for i in range(steps):
        z1 = cut if i == 0 else min((critical - back * z2[i - 1]) / weight, cut)
        low = proportion_confint(hits, runs, 2 * norm.sf(z1), method="beta")[0] if norm.sf(z1) < 0.5 else None
        high = proportion_confint(others, other_runs, 2 * norm.sf(z2[i]), method="beta")[1]
        corners.append((low, high if norm.sf(z2[i]) < 0.5 else None))
    return corners


SOME = mostly_at_night(itertools.product([0.3, 0.7071, 0.95], [1e-6, 0.05]))


@pytest.mark.slow
@pytest.mark.parametrize("counts", [(30, 100, 10, 120), (900, 1000, 20, 900), (5, 5, 0, 9), (10**6, 10**8, 4, 10**8)])
@pytest.mark.parametrize(("weight", "error"), SOME)
def test_the_region_is_its_naive_twin(counts, weight, error):
    region = joint_region(*counts, weight=weight, error=error)
    naive = naive_region(*counts, weight, error)
    for (low, high), p, q in zip(naive, region.p, region.q, strict=True):
        assert low is None or p == pytest.approx(low, rel=1e-9)
        assert high is None or q == pytest.approx(high, rel=1e-9)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_arrays_of_counts_are_counts_one_by_one(claim):
    hits, others = np.array([[30, 90], [80, 150]]), np.array([2, 10])
    runs = np.array([[100, 200], [100, 300]])
    joint = joint_region(hits, runs, others, 90, weight=0.6, error=0.05).least(claim.least)
    sided = two_sided_region(hits, others, 400, weight=0.6, error=0.05).least(claim.least)
    assert joint.shape == sided.shape == (2, 2) and np.all(np.diff(np.sort(joint.ravel())) > 0)
    for i, j in np.ndindex(2, 2):
        k, other, n = int(hits[i, j]), int(others[j]), int(runs[i, j])
        for found, counts, method in (
            (joint, Counts((n, 90), (k, other), (0, 0)), "joint"),
            (sided, Counts((200, 200), (k, 0), (other, 0)), "two-sided joint"),
        ):
            assert found[i, j] == lower_bound(method, counts, claim=claim, weight=0.6, error=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("counts", [(30, 10, 120), (600, 20, 900), (5, 0, 9), (10**6, 4, 10**8)])
@pytest.mark.parametrize(("weight", "error"), SOME)
def test_the_two_sided_region_is_its_naive_twin(counts, weight, error):
    right, wrong, runs = counts
    region = two_sided_region(right, wrong, runs, weight=weight, error=error)
    naive = naive_region(right, runs, wrong, runs - right, weight, error)
    for (low, high), p, q in zip(naive, region.p, region.q, strict=True):
        assert low is None or p == pytest.approx(low, rel=1e-9)
        assert low is None or high is None or q == pytest.approx(high * (1 - low), rel=1e-9)


def test_the_guess_bound_is_its_naive_twin():
    for right in range(0, 60, 7):
        for wrong in range(0, 60, 7):
            low = proportion_confint(right, right + wrong, 0.1, method="beta")[0] if right else 0.0
            expected = max(0.0, math.log(low / (1 - low))) if low > 0 else 0.0
            assert float(guess_bound(right, wrong, 0.05)) == pytest.approx(expected, abs=1e-12)


@laws
@given(st.integers(1, 10**9), errors)
def test_no_wrong_guess_is_at_least_so_much_and_never_infinite(right, error):
    # logit(error^(1/right))
    chance = error ** (1 / right)
    expected = max(0.0, math.log(chance) - math.log(-math.expm1(math.log(error) / right)))
    found = float(guess_bound(right, 0, error))
    assert math.isfinite(found) and found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.slow
@laws
@given(numbers, numbers, numbers, numbers, weights, errors, claims)
def test_every_bound_is_a_number_that_shows_nothing_where_nothing_was_seen(k, rest, others, more, weight, error, claim):
    counts = Counts((k + rest, others + more), (k, others), (0, 0))
    bound = lower_bound("joint", counts, claim=claim, weight=weight, error=error)
    assert 0 <= bound < math.inf
    if k * (others + more) <= others * (k + rest):
        # a lower frequency on the side that the event speaks for: nothing, at any error below ½
        assert bound <= 1e-9
    pair = (
        lower_bound(
            "two-sided joint", Counts((k + rest, more), (k, others), (0, 0)), claim=claim, weight=weight, error=error
        )
        if others <= more
        else 0.0
    )
    assert 0 <= pair < math.inf


@pytest.mark.slow
@laws
@given(
    numbers, numbers, numbers, numbers, weights, errors, st.sampled_from([PureDP(1), ApproxDP(1, 0.01), GaussianDP(1)])
)
def test_both_sides_are_treated_alike(k, rest, others, more, weight, error, claim):
    toward0 = Counts((k + rest, others + more), (k, others), (0, 0))
    toward1 = Counts((others + more, k + rest), (0, 0), (others, k))
    found = [lower_bound("joint", c, claim=claim, weight=weight, error=error) for c in (toward0, toward1)]
    assert found[0] == found[1]
    swapped = Counts((9, 9), (3, 1), (2, 4)), Counts((9, 9), (4, 2), (1, 3))
    for method in ("two-sided joint", "guess") if claim.pure else ("two-sided joint",):
        a, b = (lower_bound(method, c, claim=claim, weight=weight, error=error) for c in swapped)
        assert a == b


@pytest.mark.slow
@laws
@given(st.integers(0, 200), st.integers(0, 200), errors, errors)
def test_guesses_are_monotone(right, wrong, error, other):
    bound = float(guess_bound(right, wrong, error))
    assert float(guess_bound(right + 1, wrong, error)) >= bound
    assert float(guess_bound(right, wrong + 1, error)) <= bound
    assert (float(guess_bound(right, wrong, max(error, other))) >= bound) or other <= error


@pytest.mark.slow
@laws
@given(numbers, numbers, numbers, numbers, weights, errors, errors, claims)
def test_more_confidence_shows_no_more(k, rest, others, more, weight, error, other, claim):
    counts = Counts((k + rest, others + more), (k, others), (0, 0))
    strict, loose = (lower_bound("joint", counts, claim=claim, weight=weight, error=e) for e in sorted((error, other)))
    assert strict <= loose * 1.02 + 1e-9  # the corners move a little


def test_the_joint_bound_is_tighter_than_two_intervals_and_close_to_what_is_true():
    n, p, q = 100_000, 0.5, 0.5 * math.exp(-1)
    counts = Counts((n, n), (round(n * p), round(n * q)), (0, 0))
    joint = lower_bound("joint", counts, claim=PureDP(1), weight=joint_weight(p, q, n, n), error=0.05)
    low = proportion_confint(round(n * p), n, 0.05, method="beta")[0]
    high = proportion_confint(round(n * q), n, 0.05, method="beta")[1]
    assert math.log(low / high) < joint < 1
    two = two_sided_weight(0.36, 0.13, n)
    assert 0 < two < 1 and np.all(two_sided_region(36_000, 13_000, n, weight=two, error=0.05).p < 0.36 + 0.01)


@pytest.mark.slow
@laws
@given(
    st.floats(1e-12, 1 - 1e-12),
    st.floats(1e-12, 1 - 1e-12),
    st.floats(1, 1e12),
    st.sampled_from([0.0, 1e-12, 1.0, 1e12]),
    st.sampled_from([0.0, 1e-12, 1.0, 1e12]),
)
def test_weights_always_lie_between_nothing_and_everything(p, q, runs, slope_p, slope_q):
    assert 0 < joint_weight(p, q, runs, runs, slope_p, slope_q) < 1
    assert 0 < two_sided_weight(p, min(q, 1 - p), runs, slope_p, slope_q) < 1


@pytest.mark.parametrize("weight", [math.nan, 0.0, 1.0, -0.5, 2.0])
def test_weights_that_are_none_are_refused(weight):
    with pytest.raises(ValueError, match="weight"):
        joint_region(5, 10, 1, 10, weight=weight, error=0.05)


def test_what_does_not_fit_is_refused():
    counts = Counts((9, 9), (5, 1), (0, 0))
    with pytest.raises(ValueError, match="pure"):
        lower_bound("guess", counts, claim=ApproxDP(1, 1e-5), weight=None, error=0.05)
    with pytest.raises(ValueError, match="weight"):
        lower_bound("joint", counts, claim=PureDP(1), weight=None, error=0.05)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
@pytest.mark.parametrize("error", [1e-9, 0.05])
def test_a_billion_runs(claim, error):
    n = 10**9
    counts = Counts((n, n), (n // 5, n // 10), (0, 0))
    weight = joint_weight(0.2, 0.1, n, n)
    found = lower_bound("joint", counts, claim=claim, weight=weight, error=error)
    true = float(claim.least(0.2, 0.1))
    assert 0.99 * true < found < true
    nothing = Counts((n, n), (n // 5, n // 5), (0, 0))
    assert lower_bound("joint", nothing, claim=claim, weight=weight, error=error) == 0


def test_binomial_tails_are_the_p_values_that_the_region_rests_on():
    # P(Bin(n, p) ≥ k) at the lower bound is the error level: the direction of the inequality
    region = joint_region(30, 100, 10, 100, weight=0.7, error=0.05)
    z1 = norm.isf(binom.sf(29, 100, region.p))
    z2 = norm.isf(binom.cdf(10, 100, region.q))
    middle = slice(40, 120)
    back = math.sqrt(1 - 0.49)
    assert np.all(0.7 * z1[middle] + back * z2[middle] >= norm.isf(0.048) - 1e-6)
