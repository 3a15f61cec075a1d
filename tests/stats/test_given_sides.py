"""Do bounds hold given the sides? Exact errors by enumeration of all counts, at many nuisance parameters."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaln, xlogy
from scipy.stats import binom, nchypergeom_fisher

from dpaudit.evidence.records import Counts
from dpaudit.privacy import ApproxDP, PureDP
from dpaudit.stats.e_process import FRACTIONS
from dpaudit.stats.guessing import guess_bound, guess_bound_given_sides, log_odds_at_least, odds_bound
from dpaudit.stats.joint_region import (
    _mean_at_least,
    _mean_at_most,
    loss_interval,
    lower_bound,
    region_given_sides,
    two_sided_region,
    two_sided_weight,
)
from dpaudit.stats.methods import BOTH_SIDES, GUESS, ODDS

pytestmark = pytest.mark.slow

EPSILONS = (0.0, 0.05, 0.4, 1.0, 2.5)


def pmf(counts, probabilities):
    """The multinomial law of the last axis."""
    rest = counts.sum(axis=-1)
    return np.exp(gammaln(rest + 1) - gammaln(counts + 1).sum(axis=-1) + xlogy(counts, probabilities).sum(axis=-1))


def outcomes(n):
    """All (right, wrong, neither) of n runs."""
    return np.array([(right, wrong, n - right - wrong) for right in range(n + 1) for wrong in range(n + 1 - right)])


def worst_laws(epsilon, delta=0.0):
    """(p₁, p₂) of side 0 and (q₂, q₁) of side 1 that just keep the claim, of every shape."""
    odds = math.exp(epsilon)
    for q1, p2 in itertools.product((1e-3, 0.02, 0.1, 0.25, 0.45), repeat=2):
        p1, q2 = min(odds * q1 + delta, 1.0), min(odds * p2 + delta, 1.0)
        if p1 + p2 <= 1 and q2 + q1 <= 1:
            yield (p1, p2), (q2, q1)


# --- guesses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [0.01, 0.05, 0.2, 0.45])
@pytest.mark.parametrize("made", [(6, 6), (9, 9), (12, 7), (3, 15), (1, 1), (40, 38)])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_guesses_err_no_more_given_the_guesses_of_each_side(made, error, epsilon):
    right = np.arange(sum(made) + 1)
    rejects = guess_bound_given_sides(right, *made, error) > epsilon
    for y in np.concatenate([np.linspace(-4, 4, 41), [-12.0, 12.0]]):
        law = np.convolve(
            binom.pmf(np.arange(made[0] + 1), made[0], expit(epsilon + y)),
            binom.pmf(np.arange(made[1] + 1), made[1], expit(epsilon - y)),
        )
        assert law[rejects].sum() <= error * (1 + 1e-9)


def test_with_equal_sides_nothing_is_lost_and_with_others_little():
    assert guess_bound_given_sides(700, 500, 500, 0.05) == pytest.approx(guess_bound(700, 300, 0.05), abs=1e-12)
    assert guess_bound_given_sides(700, 520, 480, 0.05) > guess_bound(700, 300, 0.05) - 0.003
    # one side alone guessed: whether it always says the same cannot be told
    assert guess_bound_given_sides(300, 300, 100, 0.05) == 0.0


@pytest.mark.parametrize(("made", "epsilon"), [((30, 30), 1.0), ((30, 25), 0.5), ((200, 120), 0.8)])
def test_the_mean_is_the_largest_there_is(made, epsilon):
    found = minimize_scalar(lambda y: -made[0] * expit(epsilon + y) - made[1] * expit(epsilon - y), bounds=(-6, 6)).fun
    t, (r, s) = math.tanh(epsilon / 2), np.sqrt(made)
    assert ((r + s) ** 2 * t + (r - s) ** 2 / t) / 4 + sum(made) / 2 == pytest.approx(-found, rel=1e-9)


def test_rejections_are_nested_in_the_error():
    levels = np.geomspace(1e-9, 0.45, 40)
    for right, made in itertools.product((40, 60, 75), ((40, 40), (50, 30))):
        assert np.all(np.diff(guess_bound_given_sides(right, *made, levels)) >= 0)
    for hits, others in ((12, 3), (30, 2)):
        found = [odds_bound(hits, 200, others, 150, float(level)) for level in levels]
        assert np.all(np.diff(found) >= -1e-12)


# --- the odds of a rare event -----------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [(12, 12), (8, 30), (40, 6)])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_odds_err_no_more_for_any_sides(runs, epsilon):
    n, m = runs
    hits, others = np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij")
    for error in (0.05, 0.3):
        found = np.array([[odds_bound(int(a), n, int(b), m, error) for b in range(m + 1)] for a in range(n + 1)])
        for q in (1e-3, 0.01, 0.05, 0.2, 0.36, 0.6):
            p = min(math.exp(epsilon) * q, 1.0)
            chance = binom.pmf(hits, n, p) * binom.pmf(others, m, q)
            assert chance[found > epsilon].sum() <= error


def test_the_odds_limit_is_fishers():
    for hits, runs, others, other_runs in ((9, 30, 2, 40), (15, 15, 3, 20)):
        found = log_odds_at_least(hits, runs, others, other_runs, 0.05)
        law = nchypergeom_fisher(runs + other_runs, runs, hits + others, math.exp(found))
        assert law.sf(hits - 1) == pytest.approx(0.05, rel=1e-5)
    assert odds_bound(0, 10, 0, 10, 0.05) == odds_bound(3, 10, 3, 10, 0.05) == odds_bound(5, 5, 0, 0, 0.05) == 0.0


# --- a region of both sides -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(("weight", "error"), [(0.5, 0.25), (0.9, 0.1), (0.2, 0.4)])
def test_the_region_holds_the_truth_as_often_as_it_says(n, weight, error):
    every = outcomes(n)
    pairs = list(itertools.product(range(len(every)), repeat=2))
    regions = {
        (i, j): region_given_sides(
            (*map(int, every[i][:2]), n), (*map(int, every[j][:2]), n), weight=weight, error=error
        )
        for i, j in pairs
    }
    for epsilon, delta in ((0.0, 0.0), (1.0, 0.0), (0.7, 0.1)):
        for (p1, p2), (q2, q1) in worst_laws(epsilon, delta):
            first, second = pmf(every, [p1, p2, 1 - p1 - p2]), pmf(every, [q2, q1, 1 - q2 - q1])
            a, b = (p1 + q2) / 2, (p2 + q1) / 2
            missed = sum(
                first[i] * second[j]
                for (i, j), region in regions.items()
                if not np.any((region.p <= a + 1e-12) & (region.q >= b - 1e-12))
            )
            assert missed <= error


@pytest.mark.parametrize("likeliest", [0.15, 0.5, 0.9])
def test_means_of_unequal_coins_are_never_missed(likeliest):
    rng = np.random.default_rng(5)
    n = 14
    level = 0.3
    for coins in [rng.random(n) * likeliest for _ in range(30)] + [np.repeat([0.0, likeliest], n // 2)]:
        law = np.ones(1)
        for coin in coins:
            law = np.convolve(law, [1 - coin, coin])
        for error in (level, 0.5, 0.8, 0.97):
            low = np.array([_mean_at_least(k, n, np.array([error]), likeliest)[0] for k in range(n + 1)])
            high = np.array([_mean_at_most(k, n, np.array([error]), likeliest)[0] for k in range(n + 1)])
            assert law[low > coins.sum() + 1e-9].sum() <= error * (1 + 1e-9)
            assert law[high < coins.sum() - 1e-9].sum() <= error * (1 + 1e-9)


@pytest.mark.parametrize("rates", [(0.5, 0.18), (0.1, 0.04), (0.02, 2e-4), (0.73, 0.27)])
def test_the_region_costs_a_hundredth_of_what_coins_gave(rates):
    n = 20_000
    counts = round(n * rates[0]), n - round(n * rates[0]) if sum(rates) == 1 else round(n * rates[1]), n
    weight = two_sided_weight(*rates, 2 * n)
    own = region_given_sides(counts, counts, weight=weight, error=0.05).least(PureDP(0).least)
    coins = two_sided_region(2 * counts[0], 2 * counts[1], 2 * n, weight=min(weight, 0.999), error=0.05)
    assert own > 0.99 * coins.least(PureDP(0).least)


# --- bets in twos -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.1)])
def test_two_runs_gain_nothing_on_average_given_their_order(epsilon, delta):
    odds = math.exp(epsilon)
    for (p1, p2), (q2, q1) in worst_laws(epsilon, delta):
        stake = FRACTIONS / (odds + delta)
        factors = [1 + stake * (right - odds * wrong - delta) for right, wrong in ((p1, p2), (q2, q1))]
        assert np.all(factors[0] * factors[1] <= 1 + 1e-12)


# --- statements -------------------------------------------------------------------------------------------


def test_old_methods_are_what_they_were():
    counts = Counts((5000, 5000), (2500, 900), (900, 2500))
    assert lower_bound("guess", counts, claim=PureDP(0), weight=None, error=0.05) == float(
        guess_bound(5000, 1800, 0.05)
    )
    found = lower_bound("two-sided joint", counts, claim=PureDP(0), weight=0.7, error=0.05)
    assert found == pytest.approx(
        float(two_sided_region(5000, 1800, 10_000, weight=0.7, error=0.05).least(PureDP(0).least))
    )


@pytest.mark.parametrize("method", [GUESS, ODDS])
def test_methods_for_pure_claims_refuse_others(method):
    with pytest.raises(ValueError, match="pure DP only"):
        lower_bound(method, Counts((9, 9), (5, 1), (0, 0)), claim=ApproxDP(1, 0.1), weight=None, error=0.05)


@pytest.mark.parametrize(("method", "weight"), [(GUESS, None), (BOTH_SIDES, 0.7)])
def test_intervals_hold_the_loss_of_an_event(method, weight):
    rng = np.random.default_rng(3)
    n, p1, p2, q2, q1 = 400, 0.4, 0.12, 0.3, 0.1
    truth = math.log((p1 + q2) / (p2 + q1)) if weight else (math.log(p1 / p2) + math.log(q2 / q1)) / 2
    outside = 0
    for _ in range(80):
        side0, side1 = rng.multinomial(n, [p1, p2, 1 - p1 - p2]), rng.multinomial(n, [q2, q1, 1 - q2 - q1])
        counts = Counts((n, n), (int(side0[0]), int(side1[1])), (int(side0[1]), int(side1[0])))
        low, high = loss_interval(method, counts, claim=PureDP(0), weight=weight, error=0.1)
        outside += not low <= truth <= high
    assert binom.sf(outside - 1, 80, 0.1) > 1e-4
