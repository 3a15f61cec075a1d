"""Are the arguments of a draw checked alike in every reading, and is every method there?"""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import kstest

from dpaudit.program.noise import WIDEST, Noise, ScalarNoise

SCALED = ["laplace", "exponential", "gaussian", "gumbel", "discrete_laplace", "discrete_gaussian"]


@pytest.fixture
def noise():
    return ScalarNoise(np.random.default_rng(0))


@pytest.mark.parametrize("method", SCALED)
@pytest.mark.parametrize("scale", [0, -1, math.inf, math.nan, -math.inf, np.float64(0)])
def test_scales_that_are_not_positive_and_finite(noise, method, scale):
    with pytest.raises(ValueError, match=rf"noise.{method}: \w+ must be positive and finite, not"):
        getattr(noise, method)(scale)


@pytest.mark.parametrize("method", SCALED)
@pytest.mark.parametrize("scale", ["1", None, [1.0], np.array([1.0, 2.0]), 1j, b"1"])
def test_scales_that_are_no_numbers(noise, method, scale):
    with pytest.raises(TypeError, match=f"noise.{method}: .* must be a number, not {type(scale).__name__}"):
        getattr(noise, method)(scale)


@pytest.mark.parametrize("method", ["discrete_laplace", "discrete_gaussian"])
def test_integer_noise_too_wide_for_its_integers(noise, method):
    getattr(noise, method)(WIDEST)
    with pytest.raises(ValueError, match="must be at most 1e\\+12"):
        getattr(noise, method)(2 * WIDEST)


@pytest.mark.slow
def test_truncated_laplace_noise_has_its_law(noise):
    drawn = noise.truncated_laplace(2, 3, size=20_000)
    assert np.all(np.abs(drawn) <= 3)

    def below(x):
        return (np.sign(x) * np.expm1(-np.abs(x) / 2) / np.expm1(-1.5) + 1) / 2

    assert kstest(drawn, below).pvalue > 1e-3
    assert kstest(drawn, lambda x: below(x / 1.1)).pvalue < 1e-3


@pytest.mark.slow
def test_what_leads_by_far_is_released(noise):
    named = [noise.propose_test_release("abc", [4, 20, 9], 1, threshold) for threshold in (-100, 11, 100)]
    assert named[0] == "b"
    assert named[1] in ("b", None)
    assert named[2] is None
    rate = np.mean([noise.propose_test_release("ab", [0, 2], 1, 3) == "b" for _ in range(4_000)])
    assert rate == pytest.approx(np.exp(-1) / 2, abs=0.02)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda n: n.bernoulli(1.1), "must lie in"),
        (lambda n: n.bernoulli(math.nan), "must lie in"),
        (lambda n: n.uniform(1, 1), "need finite low < high"),
        (lambda n: n.uniform(0, math.inf), "need finite low < high"),
        (lambda n: n.uniform(-1e308, 1e308), "need finite low < high"),
        (lambda n: n.choice([]), "at least one option"),
        (lambda n: n.choice("ab", [1]), "2 options, but 1 weights"),
        (lambda n: n.choice("ab", [0, 0]), "not all zero"),
        (lambda n: n.choice("ab", [1, math.nan]), "must be finite"),
        (lambda n: n.choice("ab", [1e308, 1e308]), "must be finite"),
        (lambda n: n.argmax([]), "at least one value"),
        (lambda n: n.truncated_laplace(1, 0), "bound must be positive"),
        (lambda n: n.propose_test_release("a", [1], 1, 2), "two or more"),
    ],
)
def test_other_arguments(noise, call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(noise)


def test_noise_cannot_be_pickled(noise):
    with pytest.raises(TypeError, match="cannot be copied"):
        pickle.dumps(noise)


def test_argmax_is_the_first_of_equals_and_never_nan_unless_it_comes_first(noise):
    assert noise.argmax([1, 3, 3]) == 1
    assert noise.argmax(iter([1, math.nan, 2])) == 2
    assert noise.argmax([math.nan, 2]) == 0


def test_another_reading_only_says_how_one_draw_is_made():
    class Zero(Noise):
        __slots__ = ()

        def _draw(self, method, *arguments):
            return 0

        def _pick(self, weights):
            return 0

    zero = Zero()
    assert [zero.laplace(1), zero.bernoulli(0.5), zero.choice("ab"), zero.argmax([0, 1])] == [0, 0, "a", 1]
