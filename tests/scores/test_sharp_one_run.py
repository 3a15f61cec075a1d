"""Is the law of right guesses about one model the sharpest there is, and is no value skipped on the way to a bound?"""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from scipy.special import ndtr
from scipy.stats import binom, norm
from support.steinke import one_run_p_value

from dpaudit.auditing.canaries import plan_guesses
from dpaudit.evidence.records import Counts
from dpaudit.privacy import ApproxDP, GaussianDP
from dpaudit.stats.guessing import (
    LAST,
    SharpOneRun,
    gaussian_bound,
    is_excluded,
    right_guesses,
    sharp_bound,
    sharp_p_value,
)


def most_of_all_mechanisms(m, v, epsilon, delta):
    """The greatest probability of v right guesses of m, over all mechanisms that are (ε, δ)-DP for each coin.

    Without loss of generality an output is the guesses themselves. The variables are the probability of each output
    given each vector of coins, and the part of each by which it exceeds e^ε times that of a neighbour.
    """
    points = list(itertools.product([0, 1], repeat=m))
    size, at = len(points), {p: i for i, p in enumerate(points)}
    flips = [(i, at[tuple(b ^ (j == k) for j, b in enumerate(p))]) for i, p in enumerate(points) for k in range(m)]
    gain = np.zeros(size * size + len(flips) * size)
    for (i, coins), (j, guess) in itertools.product(enumerate(points), repeat=2):
        gain[i * size + j] = -(sum(map(int.__eq__, coins, guess)) >= v) / size
    rows, limits = lil_matrix((len(flips) * (size + 1), len(gain))), np.zeros(len(flips) * (size + 1))
    for k, (i, j) in enumerate(flips):
        for y in range(size):
            row, excess = k * size + y, size * size + k * size + y
            rows[row, i * size + y], rows[row, j * size + y], rows[row, excess] = 1, -math.exp(epsilon), -1
            rows[len(flips) * size + k, excess] = 1
        limits[len(flips) * size + k] = delta
    whole = lil_matrix((size, len(gain)))
    for i in range(size):
        whole[i, i * size : (i + 1) * size] = 1
    return -linprog(gain, rows.tocsr(), limits, whole.tocsr(), np.ones(size), method="highs").fun


@pytest.mark.parametrize(
    ("m", "v", "epsilon", "delta"),
    [(2, 2, 0.5, 0.05), (2, 1, 0.5, 0.1), (3, 3, 1, 0.02), (3, 2, 1, 0.1), (4, 4, 0.7, 0.03), (4, 3, 1.5, 0.05)],
)
def test_some_mechanism_attains_the_law_and_none_is_above(m, v, epsilon, delta):
    found = float(sharp_p_value(v, m, epsilon, m * delta))
    assert found == pytest.approx(most_of_all_mechanisms(m, v, epsilon, delta), abs=1e-6)


def most_of_all_laws(v, r, epsilon, budget):
    """The optimum over all laws π of right guesses with Σ (w·π_w − e^ε·(r − w + 1)·π_{w−1})₊ ≤ D."""
    w = np.arange(1, r + 1)
    differences = np.zeros((r, 2 * r + 1))
    differences[w - 1, w], differences[w - 1, w - 1] = w, -math.exp(epsilon) * (r - w + 1)
    differences[w - 1, r + w] = -1
    spent = np.concatenate([np.zeros(r + 1), np.ones(r)])
    gain = np.concatenate([-(np.arange(r + 1) >= v).astype(float), np.zeros(r)])
    whole = np.concatenate([np.ones(r + 1), np.zeros(r)])
    return -linprog(gain, np.vstack([differences, spent]), [*[0] * r, budget], whole[None], [1], method="highs").fun


def test_the_formula_is_the_optimum_of_its_linear_programme():
    rng = np.random.default_rng(2)
    for _ in range(25):
        r = int(rng.integers(1, 30))
        v, epsilon, budget = int(rng.integers(1, r + 1)), rng.uniform(0, 3), 10 ** rng.uniform(-4, 0.7)
        assert float(sharp_p_value(v, r, epsilon, budget)) == pytest.approx(
            most_of_all_laws(v, r, epsilon, budget), rel=1e-5, abs=1e-8
        )


def test_it_is_never_above_the_theorem_of_steinke_nasr_and_jagielski():
    rng = np.random.default_rng(0)
    surplus = []
    for _ in range(400):
        r = int(rng.integers(1, 400))
        m, epsilon, delta = r + int(rng.integers(0, 3 * r)), rng.uniform(0, 4), 10 ** rng.uniform(-6, -1)
        mean, spread = r / (1 + math.exp(-epsilon)), math.sqrt(r) / (2 * math.cosh(epsilon / 2))
        v = int(np.clip(round(mean + rng.uniform(-1, 4) * spread), 1, r))
        ours, theirs = float(sharp_p_value(v, r, epsilon, m * delta)), float(one_run_p_value(v, r, m, epsilon, delta))
        assert ours <= theirs * (1 + 1e-7)
        if theirs < 1:
            beta = binom.sf(v - 1, r, 1 / (1 + math.exp(-epsilon)))
            surplus.append((ours - beta) / (theirs - beta))
    assert 0.05 < np.median(surplus) < 0.2


def test_far_tails_neither_vanish_nor_overflow():
    assert float(sharp_p_value(2_000, 2_000, 0.1, 0.02)) == pytest.approx(1e-5, rel=1e-6)  # all right: D/r
    assert float(sharp_p_value(1, 200_000, 5.0, 0.0)) == float(sharp_p_value(1, 200_000, 5.0, 1.0)) == 1
    assert float(sharp_p_value(1_999, 2_000, 0.1, 0.02)) >= 1e-5


def test_the_bound_is_the_least_epsilon_that_is_not_ruled_out():
    found = float(sharp_bound(180, 200, 0.1, 0.01))
    assert np.all(sharp_p_value(180, 200, np.linspace(0, found, 300), 0.1) <= 0.01)
    assert float(sharp_p_value(180, 200, found + 1e-6, 0.1)) > 0.01
    bounds = sharp_bound(np.arange(101), 100, 0.01, 0.05)
    assert np.all(np.diff(bounds) >= 0) and bounds[50] == 0 < bounds[-1] < math.inf


# --- μ ----------------------------------------------------------------------------------------------------


def naive_path(right, guesses, canaries, mu, error):
    """The recursion in (T_k, S_k), one number after the other."""
    tail, above = error, 0.0
    for k in range(right, 0, -1):
        least = norm.cdf(norm.ppf(min((k * tail + above) / canaries, 1)) - mu)
        tail, above = max(tail, (canaries * least + above + tail) / (guesses - k + 1)), above + tail
        if tail > 1:
            return True
    return False


@pytest.mark.slow
def test_paths_are_those_of_the_naive_twin():
    rng = np.random.default_rng(3)
    made = rng.integers(1, 80, 60)
    right = np.array([rng.integers(r // 2 + 1, r + 1) for r in made])
    canaries, mu = made * rng.uniform(1, 5, 60), rng.uniform(0.01, 2, 60)
    found = is_excluded(right, made, canaries, mu, 0.05)
    wanted = [naive_path(*each, 0.05) for each in zip(right.tolist(), made.tolist(), canaries, mu, strict=True)]
    assert found.tolist() == wanted and 5 < found.sum() < 55


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.0])
def test_no_law_that_is_possible_is_excluded(mu):
    # each coin is told by randomised response as often as N(μ, 1) and N(0, 1), cut in the middle, allow
    chance = float(ndtr(mu / 2))
    for m in (1, 5, 40):
        right = np.arange(1, m + 1)
        tails = binom.sf(right - 1, m, chance)
        assert not is_excluded(right, m, m, mu, tails * (1 - 1e-6)).any()
    # one coin decides all guesses: nothing but the guess about it is more often right than not
    assert not is_excluded(40, 40, 40, mu, chance * 2.0**-39).any()


def test_one_guess_is_bounded_sharply():
    # one canary, guessed always: right with probability Φ(μ/2) at most
    found = float(gaussian_bound(1, 1, 1, ndtr(0.5) - 1e-9))
    assert not is_excluded(1, 1, 1, 1.0, ndtr(0.5) - 1e-9)
    assert 0 < found <= 1.0
    bounds = gaussian_bound(np.arange(101), 100, 400, 0.05)
    assert np.all(np.diff(bounds) >= 0) and bounds[50] == 0 < bounds[-1] < 5


# --- steps ------------------------------------------------------------------------------------------------


def test_a_walk_ends_at_the_first_value_that_is_not_ruled_out():
    # 40 guesses at the ends are all right, and all 400 hardly more than half: what 40 would show does not count
    counts = Counts((200, 200), (0, 0), (0, 0), ((20, 95, 85, 0), (0, 85, 95, 20)))
    assert (right_guesses(counts, 400), right_guesses(counts, 40)) == (230, 40)
    all_of_them = float(sharp_bound(230, 400, 0.0, 0.05))
    claim, method = ApproxDP(0.0, 0.0), SharpOneRun()
    assert all_of_them < 0.25 < float(sharp_bound(40, 40, 0.0, 0.05))
    assert method.walk(counts, claim, (400.0, 1.0, 40.0, LAST), 0.05) == (pytest.approx(all_of_them), 400)
    assert method.walk(counts, claim, (400.0, 0.1, 40.0, LAST), 0.05)[1] == 40
    with pytest.raises(ValueError, match="do not say"):
        method.walk(counts, claim, (60.0, LAST), 0.05)
    for broken in ((400.5, LAST), (400.0, 1.0), (400.0, 2.0, 40.0, 1.0), (400.0,)):
        with pytest.raises(ValueError, match="steps"):
            method.walk(counts, claim, broken, 0.05)
    with pytest.raises(ValueError, match="not mu"):
        method.walk(counts, GaussianDP(0.0), None, 0.05)


@pytest.mark.parametrize("notion", [ApproxDP(0.0, 1e-5), GaussianDP(0.0)])
def test_the_plan_shares_the_error_and_fits_the_canaries(notion):
    for canaries in (40, 1_001):
        plan = plan_guesses(canaries, notion, 0.05)
        assert sum(each.share for each in plan) == pytest.approx(1)
        assert all(each.high + each.low <= canaries for each in plan)
        assert plan[0].steps is not None and plan[0].steps[-1] == LAST and max(plan[0].steps[::2]) <= canaries
        assert any(each.low == 0 for each in plan) == (canaries > 40)
