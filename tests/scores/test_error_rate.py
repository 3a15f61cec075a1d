"""How often is a score audit wrong? At most as often as it admits, also where all scores come from one model.

Every mechanism is tight at its claim, so that a bound above it is an error. The number of errors is judged by an
exact binomial test with fixed seeds; benchmarks/scores.py counts more of them.
"""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

import dpaudit as dp

pytestmark = pytest.mark.slow

CONFIDENCE = 0.8


def answers(rng, sides, epsilon):
    """Randomised response on each side, as scores."""
    keeps = 1 / (1 + math.exp(-epsilon))
    return [np.where(rng.random(n) < keeps, own, 1 - own).astype(float) for n, own in zip(sides, (1, 0), strict=True)]


def one_model(rng, canaries, epsilon, delta):
    """Canaries of one model that gives all of them away with probability δ, and each a little otherwise."""
    coins = rng.random(canaries) < 0.5
    lies = (rng.random(canaries) > 1 / (1 + math.exp(-epsilon))) & (rng.random() >= delta)
    scores = (coins != lies).astype(float)
    return scores[coins], scores[~coins]


def errors(draw, repeats, design, epsilon, delta):
    wrong = 0
    for repeat in range(repeats):
        members, others = draw(np.random.default_rng([11, repeat]))
        found = dp.tools.audit_scores(members, others, delta=delta, confidence=CONFIDENCE, design=design, seed=repeat)
        wrong += found.lower.value > epsilon
    return wrong, binomtest(wrong, repeats, 1 - CONFIDENCE, alternative="greater").pvalue


@pytest.mark.parametrize("sizes", [(150, 150), (100, 500)])
def test_scores_with_a_training_run_each(sizes):
    wrong, p = errors(lambda rng: answers(rng, sizes, 1.0), 25, "independent", 1.0, 0.0)
    assert p > 0.01
    assert wrong > 0  # so tight that it errs at times


def test_scores_that_say_nothing():
    _, p = errors(lambda rng: (rng.normal(size=60), rng.normal(size=80)), 8, "independent", 0.0, 1e-5)
    assert p > 0.01


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.0, 1e-3)])
def test_canaries_of_one_model(epsilon, delta):
    _, p = errors(lambda rng: one_model(rng, 200, epsilon, delta), 60, "one-run", epsilon, delta)
    assert p > 0.01


@pytest.mark.nightly
def test_mu_of_canaries_of_one_model():
    # each coin is told by randomised response, in which N(0, 1) and N(1, 1) are cut in the middle: 1-GDP, and tight
    def draw(rng):
        told = one_model(rng, 200, math.log(ndtr(0.5) / ndtr(-0.5)), 0.0)
        return [scores + 1e-9 * rng.random(len(scores)) for scores in told]  # equal scores would show less

    found = [
        dp.tools.audit_scores(*draw(np.random.default_rng([12, k])), claim="mu=1", design="one-run") for k in range(20)
    ]
    wrong = sum(evidence.lower.value > 1 for evidence in found)
    assert binomtest(wrong, 20, 0.05, alternative="greater").pvalue > 0.01
    assert max(evidence.lower.value for evidence in found) > 0.3


@pytest.mark.nightly
def test_canaries_of_one_model_are_not_independent():
    # the same scores under the wrong design are wrong far more often than they say: the right one holds
    def draw(rng):
        return one_model(rng, 100, 1.0, 0.6)

    _, p = errors(draw, 40, "independent", 1.0, 0.6)
    assert p < 1e-3
    _, p = errors(draw, 40, "one-run", 1.0, 0.6)
    assert p > 0.01
