"""How often does a bound exceed the truth? Every outcome of small audits, weighted by its exact probability."""

import functools

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom
from support.nightly import mostly_at_night

from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.stats.guessing import guess_bound
from dpaudit.stats.joint_region import joint_region, two_sided_region

pytestmark = pytest.mark.slow

SLACK = 1 + 1e-9
CLAIMS = [
    PureDP(0),
    ApproxDP(0, 0.05),
    ApproxDP(0, 0.5),
    GaussianDP(0),
    ZeroConcentratedDP(0),
    RenyiDP(2, 0),
    RenyiDP(16, 0),
]
each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=str)
each_error = pytest.mark.parametrize("error", [1e-6, 0.05, 0.2])


@functools.cache
def truths():
    """Pairs of probabilities over the whole square, close to its edges and to its diagonal."""
    rng = np.random.default_rng(0)
    some = np.concatenate([rng.random(12), [0.0, 1e-4, 0.01, 0.05, 0.5, 0.95, 0.99, 1.0]])
    p, q = (grid.ravel() for grid in np.meshgrid(some, some))
    return np.concatenate([p, some]), np.concatenate([q, some])


@pytest.mark.parametrize("guesses", [1, 2, 7, 40, 200])
@pytest.mark.parametrize("error", [1e-9, 0.05, 0.2, 0.5])
def test_guess(guesses, error):
    right = np.arange(guesses + 1)
    bounds = guess_bound(right, guesses - right, error)
    epsilon = np.concatenate([np.linspace(0, 12, 400), bounds, np.nextafter(bounds, 0)]).clip(0)
    mass = binom.pmf(right, guesses, expit(epsilon)[:, None])
    assert np.max(np.sum(mass * (bounds > epsilon[:, None]), axis=1)) <= error * SLACK


@functools.cache
def joint_regions(n, m, weight, error):
    """The regions of all outcomes, which hang on no claim."""
    k, others = np.indices((n + 1, m + 1))
    return joint_region(k, n, others, m, weight=weight, error=error)


@functools.cache
def chances(n, m):
    """The chances of all outcomes of either side, for each of the truths."""
    p, q = truths()
    return binom.pmf(np.arange(n + 1), n, p[:, None]), binom.pmf(np.arange(m + 1), m, q[:, None])


@each_claim
@each_error
@pytest.mark.parametrize("weight", mostly_at_night([1e-3, 0.3, 0.7071, 0.95, 1 - 1e-6], stay=(1e-3, 0.7071)))
@pytest.mark.parametrize(("n", "m"), mostly_at_night([(24, 24), (30, 6), (1, 20)], stay=[(30, 6), (1, 20)]))
def test_joint(claim, error, weight, n, m):
    if claim.parameter == "rho" and error != 0.05:
        pytest.skip("the regions hang on no claim, and its divergence is slow")
    if claim.parameter == "rho" and (n, m) == (24, 24):
        n, m = 14, 14
    bounds = joint_regions(n, m, weight, error).least(claim.least)
    p, q = truths()
    true = claim.least(p, q)
    mass_p, mass_q = chances(n, m)
    wrong = bounds > (true * SLACK)[:, None, None]
    assert np.max(np.einsum("ik,il,ikl->i", mass_p, mass_q, wrong)) <= error * SLACK
    assert np.all(np.diff(bounds, axis=0) >= -1e-9 * (1 + bounds[1:]))  # more hits, no less
    assert np.all(np.diff(bounds, axis=1) <= 1e-9 * (1 + bounds[:, 1:]))  # more of the others, no more


@functools.cache
def two_sided_regions(runs, weight, error):
    """The regions of all outcomes, which hang on no claim."""
    return two_sided_region(*guesses_of(runs), runs, weight=weight, error=error)


def guesses_of(runs):
    """The right and the wrong guesses of all outcomes."""
    return np.array([(a, b) for a in range(runs + 1) for b in range(runs + 1 - a)]).T


@functools.cache
def two_sided_chances(runs):
    """The chances of all outcomes, for each of the truths with p + q ≤ 1."""
    right, wrong = guesses_of(runs)
    p, q = truths()
    p, q = p[p + q <= 1], q[p + q <= 1]
    # right ~ Bin(N, p), wrong | right ~ Bin(N − right, q/(1 − p))
    with np.errstate(divide="ignore", invalid="ignore"):
        among = np.where(p < 1, np.minimum(q / (1 - p), 1), 0.0)
    mass = binom.pmf(right, runs, p[:, None]) * binom.pmf(wrong, runs - right, among[:, None])
    assert mass.sum(axis=1) == pytest.approx(1)
    return p, q, mass


@each_claim
@each_error
@pytest.mark.parametrize("weight", mostly_at_night([1e-3, 0.7071, 0.95, 1 - 1e-6], stay=(0.7071, 1 - 1e-6)))
def test_two_sided_joint(claim, error, weight):
    runs = 12 if claim.parameter == "rho" else 24
    bounds = two_sided_regions(runs, weight, error).least(claim.least)
    p, q, mass = two_sided_chances(runs)
    wrong_bound = bounds > (claim.least(p, q) * SLACK)[:, None]
    assert np.max(np.sum(mass * wrong_bound, axis=1)) <= error * SLACK


def test_the_enumeration_notices_a_bound_that_errs():
    # the control: the same sum over plain frequencies is far above any error level
    n = 24
    k, others = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    plugged = PureDP(0).least(k / n, others / n)
    mass = np.outer(binom.pmf(np.arange(n + 1), n, 0.4), binom.pmf(np.arange(n + 1), n, 0.2))
    assert np.sum(mass * (plugged > np.log(2))) > 0.3


def test_a_whole_game_of_guesses_under_a_pure_claim():
    # fair coin for the side, abstentions, both sides of the event: exact over all results of a few runs
    epsilon, error, runs = 0.8, 0.1, 12
    s1, s2 = np.array([0.3, 0.3 * np.exp(-epsilon)]), np.array([0.2 * np.exp(-epsilon), 0.2])
    right, wrong = (s1[0] + s2[1]) / 2, (s1[1] + s2[0]) / 2
    total = 0.0
    for a in range(runs + 1):
        for b in range(runs + 1 - a):
            if float(guess_bound(a, b, error)) > epsilon:
                total += binom.pmf(a, runs, right) * binom.pmf(b, runs - a, wrong / (1 - right))
    assert 0 < total <= error
