"""Does every kind of noise follow its law, in both readings?"""

import numpy as np
import pytest
from scipy import stats

from dpaudit.program.batch_reading import run_batch
from dpaudit.program.laws import LAWS, pick
from dpaudit.program.noise import ScalarNoise
from dpaudit.program.outcome import entry

N = 100_000
ERROR = 1e-9
TWINS = {
    "laplace": ((2.0,), stats.laplace(scale=2)),
    "exponential": ((2.0,), stats.expon(scale=2)),
    "gaussian": ((2.0,), stats.norm(scale=2)),
    "gumbel": ((2.0,), stats.gumbel_r(scale=2)),
    "uniform": ((-1.0, 3.0), stats.uniform(-1, 4)),
    "discrete_laplace": ((2.0,), stats.dlaplace(0.5)),
    "bernoulli": ((0.3,), stats.bernoulli(0.3)),
}


def distance(draws, law):
    """Kolmogorov's distance at the values drawn; right also for integers, whose steps are at the values."""
    values, counts = np.unique(draws, return_counts=True)
    above = np.cumsum(counts) / len(draws)
    left = law.cdf(values - 1) if draws.dtype.kind in "bi" else law.cdf(values)
    return max(np.max(np.abs(above - law.cdf(values))), np.max(np.abs(above - counts / len(draws) - left)))


def limit(n):
    """Massart (1990): the distance exceeds this with probability at most ERROR."""
    return np.sqrt(np.log(2 / ERROR) / (2 * n))


@pytest.mark.parametrize("method", TWINS)
def test_the_law_of_many_draws(method):
    arguments, law = TWINS[method]
    draws = LAWS[method].sample(np.random.default_rng(1), N, *arguments)
    as_numbers = draws.astype(np.int64) if draws.dtype == bool else draws
    assert distance(as_numbers, law) < limit(N)
    deviations = 7 / np.sqrt(N)
    assert abs(as_numbers.mean() - law.mean()) < deviations * law.std()
    kurtosis = float(law.stats(moments="k")) + 3
    assert abs(as_numbers.var() - law.var()) < deviations * law.var() * np.sqrt(kurtosis)


@pytest.mark.parametrize("method", TWINS)
def test_too_little_noise_would_be_noticed(method):
    arguments, law = TWINS[method]
    weaker = tuple(argument * 0.9 for argument in arguments)
    draws = LAWS[method].sample(np.random.default_rng(1), N, *weaker)
    assert distance(draws.astype(np.int64) if draws.dtype == bool else draws, law) > limit(N)


@pytest.mark.parametrize("method", TWINS)
def test_scalar_and_batch_draw_from_the_same_law(method):
    arguments, law = TWINS[method]
    n = 5000
    scalar = ScalarNoise(np.random.default_rng(2))
    single = []
    for _ in range(n):
        scalar.drawn = 0
        single.append(getattr(scalar, method)(*arguments))
    many = run_batch(lambda noise: getattr(noise, method)(*arguments), n, np.random.default_rng(3)).paths[0]
    assert type(entry(many.output, 0)) is type(single[0])
    for draws in (np.array(single), np.array([entry(many.output, run) for run in range(n)])):
        assert distance(draws.astype(np.int64) if draws.dtype == bool else draws, law) < limit(n)


@pytest.mark.parametrize("method", ["laplace", "exponential", "gaussian", "gumbel", "discrete_laplace"])
def test_a_scale_of_its_own_for_every_draw(method):
    scales = np.where(np.arange(N) % 2, 2.0, 0.1)
    draws = LAWS[method].sample(np.random.default_rng(4), N, scales)
    assert distance(draws[1::2], TWINS[method][1]) < limit(N // 2)
    assert np.abs(draws[::2]).mean() < 0.3


@pytest.mark.parametrize("sigma", [0.3, 1.0, 1.7, 12.5])
def test_discrete_gaussian_against_its_probabilities(sigma):
    draws = LAWS["discrete_gaussian"].sample(np.random.default_rng(5), N, sigma)
    support = np.arange(-int(40 * sigma) - 5, int(40 * sigma) + 6)
    probabilities = np.exp(-(support**2) / (2 * sigma**2))
    probabilities /= probabilities.sum()
    observed = np.bincount(draws - support[0], minlength=len(support))
    expected = N * probabilities
    common = expected >= 10
    cells = np.append(observed[common], observed[~common].sum())
    chances = np.append(expected[common], max(expected[~common].sum(), 1e-12))
    # the pooled tail may be rarer than a χ² test likes; a few runs there are already impossible
    assert cells[-1] <= stats.poisson(chances[-1]).isf(1e-12) + 1
    statistic = np.sum((cells[:-1] - chances[:-1]) ** 2 / chances[:-1])
    assert statistic < stats.chi2(len(cells)).isf(ERROR)


@pytest.mark.parametrize("sigma", [1e-320, 1e-170, 1e-9, 1e12])
def test_extreme_discrete_gaussians_end(sigma):
    draws = LAWS["discrete_gaussian"].sample(np.random.default_rng(6), 100, sigma)
    assert np.all(draws == 0) if sigma < 1 else np.std(draws) > 1e11


def test_bernoulli_at_its_ends():
    rng = np.random.default_rng(7)
    assert LAWS["bernoulli"].sample(rng, 1000, 1.0).all()
    assert not LAWS["bernoulli"].sample(rng, 1000, 0.0).any()


def test_pick_follows_its_weights_and_never_takes_a_weight_of_zero():
    weights = [0.0, 1.0, 0.0, 3.0, 0.0]
    counts = np.bincount(pick(np.random.default_rng(8), N, weights), minlength=5)
    assert counts[[0, 2, 4]].sum() == 0
    assert abs(counts[1] / N - 0.25) < limit(N)


def test_pick_where_rounding_leads_past_the_end():
    class Edge:
        def random(self, size):
            return np.full(size, np.nextafter(1, 2))

    assert pick(Edge(), 2, [1.0, 1.0, 0.0]).tolist() == [1, 1]
