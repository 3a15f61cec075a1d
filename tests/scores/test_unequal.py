"""Does a side with more outputs never weaken a bound, and do bounds hold for the seeds that everyone might have?"""

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit as dp


def normal(seed, mean, size):
    return np.random.default_rng([seed, size]).normal(mean, 1, size)


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
def test_more_outputs_of_one_side_show_more(swapped):
    few, many = [], []
    for seed in range(4):
        sides = normal(seed, 1, 30_000), normal(seed, 0, 1_500)
        fewer = sides[0][:1_500], sides[1]
        order = slice(None, None, -1 if swapped else 1)
        many.append(dp.tools.audit_outputs(*sides[order], seed=seed).lower.value)
        few.append(dp.tools.audit_outputs(*fewer[order], seed=seed).lower.value)
    assert min(many) > np.median(few) and np.median(many) > np.median(few) + 0.1


@pytest.mark.slow
def test_500_scores_in_and_many_out():
    found = [
        dp.tools.audit_scores(
            normal(seed, 2.5, 500), normal(seed, 0, 40_000), delta=1e-5, seed=seed, design="independent"
        ).lower.value
        for seed in range(3)
    ]
    assert min(found) > 4.2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_errors_are_as_rare_as_stated_at_a_fixed_seed(seed):
    wrong, repeats = 0, 20
    for repeat in range(repeats):
        rng = np.random.default_rng([17, seed, repeat])
        coins = rng.random(400) < 0.1, rng.random(400) < 0.1
        wrong += dp.tools.audit_outputs(*coins, seed=seed).lower.value > 0
    assert binom.sf(wrong - 1, repeats, 0.05) > 1e-3
