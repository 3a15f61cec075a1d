"""Does the scalar reading hand out its tape first, and plain numbers always?"""

import numpy as np
import pytest

from dpaudit.program.noise import MOST_DRAWS, EndlessLoopError, ScalarNoise


def every(noise):
    return [
        noise.laplace(1),
        noise.exponential(1),
        noise.gaussian(1),
        noise.gumbel(1),
        noise.discrete_laplace(1),
        noise.discrete_gaussian(1),
        noise.bernoulli(0.5),
        noise.uniform(2, 3),
        noise.choice([1, 2]),
        noise.choice("ab"),
    ]


def test_draws_are_plain_numbers():
    kinds = [type(draw) for draw in every(ScalarNoise(np.random.default_rng(0)))]
    assert kinds == [float] * 4 + [int] * 2 + [bool, float, int, str]


def test_the_same_seed_draws_the_same():
    assert every(ScalarNoise(np.random.default_rng(3))) == every(ScalarNoise(np.random.default_rng(3)))


def test_the_tape_comes_first_and_then_the_generator():
    noise = ScalarNoise(
        np.random.default_rng(0), [(("laplace", 1.0), 1.5), (("bernoulli", 1.0), False), (("pick", 1.0, 1.0), 1)]
    )
    assert [noise.laplace(1), noise.bernoulli(1), noise.choice("ab")] == [1.5, False, "b"]
    assert noise.gaussian(1) == np.random.default_rng(0).normal(0.0, 1.0, 1)[0]
    assert noise.drawn == 4 and not noise.diverged


def test_a_tape_of_other_draws_is_left_for_good():
    tape = [(("laplace", 1.0), 1.5), (("laplace", 2.0), 2.5), (("laplace", 1.0), 3.5)]
    noise = ScalarNoise(np.random.default_rng(0), tape)
    found = [noise.laplace(1.0), noise.laplace(2.1), noise.laplace(1.0)]
    own = ScalarNoise(np.random.default_rng(0))
    assert found == [1.5, own.laplace(2.1), own.laplace(1.0)]
    assert noise.diverged and [value for _, value in noise.tape] == found


@pytest.mark.slow
def test_a_run_without_end_raises():
    noise = ScalarNoise(np.random.default_rng(0), [(("laplace", 1.0), 0.0)] * MOST_DRAWS)
    for _ in range(MOST_DRAWS):
        noise.laplace(1)
    with pytest.raises(EndlessLoopError, match="more than 100,000 times"):
        noise.laplace(1)
    assert noise.drawn == MOST_DRAWS + 1
