"""Is the bound from the guesses of one training run the theorem's, and never more?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.stats.guessing import guess_bound
from dpaudit.stats.one_run import detectable_one_run, one_run_bound, one_run_p_value


def naive_p_value(right, guesses, canaries, epsilon, delta):
    """Theorem 5.2 of Steinke, Nasr & Jagielski (2023), one probability after the other."""
    chance = 1 / (1 + math.exp(-epsilon))
    mass = [math.comb(guesses, k) * chance**k * (1 - chance) ** (guesses - k) for k in range(guesses + 1)]
    beta = sum(mass[right:])
    alpha, below = 0.0, 0.0
    for i in range(1, right + 1):
        below += mass[right - i]
        alpha = max(alpha, below / i)
    return min(1.0, beta + 2 * canaries * delta * alpha)


def test_p_values_are_those_of_the_naive_twin():
    rng = np.random.default_rng(1)
    for _ in range(25):
        canaries = int(rng.integers(1, 60))
        guesses = int(rng.integers(1, canaries + 1))
        right = np.arange(guesses + 1)
        epsilon, delta = rng.exponential(1.5), 10 ** -rng.uniform(1, 7)
        wanted = [naive_p_value(int(v), guesses, canaries, epsilon, delta) for v in right]
        found = one_run_p_value(right, guesses, canaries, epsilon, delta)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-14)


def test_large_tables_are_cut_into_parts():
    epsilons = np.linspace(0.5, 4, 40)
    found = one_run_p_value(99_000, 100_000, 100_000, epsilons, 1e-6)
    alone = [float(one_run_p_value(99_000, 100_000, 100_000, e, 1e-6)) for e in epsilons]
    np.testing.assert_allclose(found, alone, rtol=1e-12)


@pytest.mark.parametrize("delta", [0.0, 0.001, 0.05])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_model_that_gives_all_away_at_once_is_within_the_theorem(epsilon, delta):
    # tight at (ε, δ), and as dependent as can be; its law of right guesses is known
    canaries = 40
    right = np.arange(canaries + 1)
    chance = 1 / (1 + math.exp(-epsilon))
    tail = (1 - delta) * binom.sf(right - 1, canaries, chance) + delta
    assert np.all(tail <= one_run_p_value(right, canaries, canaries, epsilon, delta) * (1 + 1e-9))


def test_without_delta_it_is_the_bound_of_independent_guesses():
    for right, guesses in ((30, 40), (40, 40), (900, 1000)):
        found = one_run_bound(right, guesses, 2 * guesses, delta=0.0, error=0.05)
        assert found == pytest.approx(float(guess_bound(right, guesses - right, 0.05)), abs=1e-9)
        assert found <= float(guess_bound(right, guesses - right, 0.05))


def test_the_bound_is_the_least_epsilon_that_is_not_ruled_out():
    found = one_run_bound(180, 200, 1000, delta=1e-4, error=0.01)
    below = one_run_p_value(180, 200, 1000, np.linspace(0, found, 200), 1e-4)
    assert np.all(below <= 0.01)
    assert float(one_run_p_value(180, 200, 1000, found + 1e-6, 1e-4)) > 0.01
    assert 1 < found < math.log(180 / 20)


def test_more_right_guesses_show_more_and_a_larger_delta_less():
    bounds = [one_run_bound(v, 100, 500, delta=1e-5, error=0.05) for v in range(0, 101, 5)]
    assert bounds == sorted(bounds)
    assert bounds[10] == 0.0 < bounds[-1] < math.inf
    looser = [one_run_bound(90, 100, 500, delta=delta, error=0.05) for delta in (0.0, 1e-5, 1e-4, 1e-3, 0.1)]
    assert looser == sorted(looser, reverse=True)
    assert looser[0] > looser[3] and looser[-1] == 0.0


def test_what_would_have_been_found_is_found_with_that_probability():
    claim, error, delta = 1.0, 0.01, 1e-5
    found = detectable_one_run(300, 1000, claim, delta=delta, error=error)
    shows = [v for v in range(301) if one_run_bound(v, 300, 1000, delta=delta, error=error) > claim]
    assert binom.sf(shows[0] - 1, 300, 1 / (1 + math.exp(-found))) == pytest.approx(0.9, abs=1e-6)
    assert detectable_one_run(4, 1000, claim, delta=delta, error=error) == math.inf
    assert detectable_one_run(0, 1000, claim, delta=delta, error=error) == math.inf
