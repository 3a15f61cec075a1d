"""Are the mistakes real? Each is found by a small audit, and its true loss recomputed in a slower way."""

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import dpaudit as dp
import mechanisms
from dpaudit.program.noise import ScalarNoise
from mechanisms.broken import learning

FOUND = [
    "clip_then_forget",
    "data_bounds_mean",
    "half_sensitivity",
    "int_overflow_sum",
    "keys_leak",
    "microbatch_sgd",
    "no_clipping_sgd",
    "public_n_mean",
    "seeded",
    "threshold_too_low",
]


def loss_of(name, **given):
    found = getattr(mechanisms, name)
    return found.true_loss_for(found.parameters_with(given))


def pair_of(name, **given):
    found = getattr(mechanisms, name)
    ((data0, data1),) = found.pairs_for(found.parameters_with(given))
    return data0, data1


class StillNoise(ScalarNoise):
    """Noise that is always zero and remembers how large it should have been."""

    __slots__ = ("scales",)

    def __init__(self):
        super().__init__(np.random.default_rng(0))
        self.scales = []

    def _draw(self, method, *arguments):
        self.scales += arguments
        return 0.0


def still(name, data, **given):
    """Return what a mechanism releases without noise, as a list, and the scales of its noise."""
    noise = StillNoise()
    output = getattr(mechanisms, name)(data, noise, **given)
    return np.ravel(list(output.values()) if isinstance(output, dict) else output), noise.scales


# --- audits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.slow
def test_a_small_audit_finds_it(name):
    evidence = dp.audit(name, runs=30_000)
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.lower.value <= loss_of(name)


@pytest.mark.slow
def test_an_audit_finds_the_shuffled_epoch():
    evidence = dp.audit("shuffle_not_poisson", runs=150_000)
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.lower.value <= loss_of("shuffle_not_poisson")


@pytest.mark.parametrize("name", ["classic_gaussian_large_epsilon", "float_laplace"])
@pytest.mark.slow
def test_an_audit_does_not_find_what_is_too_rare_or_in_the_last_bits(name):
    evidence = dp.audit(name, runs=30_000)
    assert evidence.verdict in (dp.Verdict.NOT_VIOLATED, dp.Verdict.INCONCLUSIVE)


# --- additive noise of a wrong scale ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given", "known"),
    [
        ("half_sensitivity", {}, 2),
        ("half_sensitivity", {"reach": 3, "epsilon": 0.5}, 1),
        ("clip_then_forget", {}, 200),
        ("clip_then_forget", {"most": 100, "epsilon": 2}, 20),
        ("int_overflow_sum", {}, (2**32 - 1e8) / 1e8),
        ("int_overflow_sum", {"most": 2**31 - 1}, (2**31 + 1) / (2**31 - 1)),
    ],
)
def test_laplace_noise_loses_distance_over_scale(name, given, known):
    (output0, scales0), (output1, scales1) = (still(name, data, **given) for data in pair_of(name, **given))
    assert scales0 == scales1
    assert abs(output0 - output1).sum() / scales0[0] == pytest.approx(known)
    assert loss_of(name, **given) == pytest.approx(known)


@pytest.mark.parametrize("name", ["half_sensitivity", "clip_then_forget"])
def test_with_ordinary_data_nothing_shows(name):
    outputs = [still(name, data)[0] for data in ([0.5, -0.5], [0.5, 0.5])]
    assert abs(outputs[0] - outputs[1]) <= 1


def test_a_sum_that_fits_does_not_wrap():
    assert still("int_overflow_sum", [1, 2, 10**12])[0] == 3 + 100_000_000
    assert still("int_overflow_sum", [2**31 - 1], most=2**31 - 1)[0] == 2**31 - 1
    assert still("int_overflow_sum", [2**31 - 1, 1], most=2**31 - 1)[0] == -(2**31)


@pytest.mark.parametrize("name", ["data_bounds_mean", "public_n_mean"])
def test_different_scales_have_no_finite_loss(name):
    (output0, (scale0,)), (output1, (scale1,)) = (still(name, data) for data in pair_of(name))
    assert scale0 != scale1
    far = np.array([10, 100, 1_000]) * max(scale0, scale1)
    losses = abs(np.log(scale1 / scale0) - abs(far - output0) / scale0 + abs(far - output1) / scale1)
    assert losses[0] > 1
    assert losses[2] > 9 * losses[1] > 80 * losses[0]
    assert loss_of(name) == math.inf


def test_records_that_agree_get_no_noise_from_their_own_bounds():
    output, scales = still("data_bounds_mean", [3, 3, 3])
    assert (output, scales) == (3, [])
    for name in ("data_bounds_mean", "public_n_mean"):
        with pytest.raises(dp.UsageError, match="at least one record"):
            still(name, [])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "known"), [(2, 0.142), (5, 0.041), (100, 0.0018)])
def test_the_delta_of_a_mean_whose_n_is_not_public(n, known):
    fewer, more = [0] * (n - 1), [0] * (n - 1) + [1]
    p, q = (
        stats.laplace(float(output[0]), scales[0])
        for output, scales in (still("public_n_mean", data) for data in (fewer, more))
    )

    def excess(x):
        return max(0.0, p.pdf(x) - math.e * q.pdf(x))

    corners = [-60 / n, -20 / n, -5 / n, 0, 1 / n, 5 / n, 20 / n, 60 / n]
    pieces = [integrate.quad(excess, *ends, limit=400, epsabs=1e-12)[0] for ends in pairwise(corners)]
    assert sum(pieces) == pytest.approx(known, rel=0.03)


def test_the_classic_formula_at_large_epsilon():
    (_, scales0), (_, scales1) = (still("classic_gaussian_large_epsilon", data) for data in (0, 1))
    assert scales0 == scales1
    (sigma,) = scales0

    def delta(epsilon):
        log_p, log_q = (stats.norm.logcdf(sign / (2 * sigma) - epsilon * sigma) for sign in (1, -1))
        return math.exp(log_p) - math.exp(epsilon + log_q)

    assert delta(20) == pytest.approx(1.5e-3, rel=0.05)
    naive = optimize.brentq(lambda epsilon: delta(epsilon) - 1e-5, 20, 40)
    assert loss_of("classic_gaussian_large_epsilon") == pytest.approx(naive, rel=1e-6)


# --- names of groups -------------------------------------------------------------------------------------


def test_the_name_of_a_group_is_there_with_its_only_member():
    noise = ScalarNoise(np.random.default_rng(1))
    few, many = pair_of("keys_leak")
    released = [set(mechanisms.keys_leak(data, noise)) for data in (few, many)]
    assert released[1] - released[0] == {"plague"}


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "epsilon"), [(1, 1), (3, 0.5), (0.5, 2)])
def test_how_often_a_group_of_one_passes_a_threshold(threshold, epsilon):
    noise, (few, many) = ScalarNoise(np.random.default_rng(1)), pair_of("threshold_too_low")
    release = partial(mechanisms.threshold_too_low, noise=noise, threshold=threshold, epsilon=epsilon)
    hits = sum("plague" in release(many) for _ in range(5_000))
    chance = float(stats.laplace.sf(threshold, 1, 1 / epsilon))
    assert stats.binomtest(hits, 5_000, chance).pvalue > 1e-6
    assert not any("plague" in release(few) for _ in range(100))
    assert loss_of("threshold_too_low", threshold=threshold, epsilon=epsilon, delta=chance * 0.99) == math.inf
    assert loss_of("threshold_too_low", threshold=threshold, epsilon=epsilon, delta=chance * 1.01) == 0


# --- generators and doubles ------------------------------------------------------------------------------


def test_a_generator_that_is_seeded_in_the_call_repeats_itself():
    rng = np.random.default_rng(5)
    outputs = {mechanisms.seeded(data, rng) for data in (0, 1) for _ in range(20)}
    assert len(outputs) == 2
    assert max(outputs) - min(outputs) == pytest.approx(1)
    noise = [mechanisms.seeded(0, rng, seed=seed) for seed in range(3_000)]
    assert stats.kstest(noise, stats.laplace.cdf).pvalue > 1e-6


def test_the_textbook_inverse_is_right_in_real_numbers_and_leaks_in_doubles():
    rng, count = np.random.default_rng(5), 5_000
    outputs = [mechanisms.float_laplace(answer, count, rng) for answer in (0, 1)]
    for answer, drawn in enumerate(outputs):
        assert stats.kstest(drawn, stats.laplace(answer).cdf).pvalue > 1e-6
    between = [float(np.mean(drawn * 2.0**53 % 1 != 0)) for drawn in outputs]
    assert between[0] > 0.25
    assert between[1] == 0


# --- learning --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "known"),
    [("no_clipping_sgd", 50), ("microbatch_sgd", 2)],
)
@pytest.mark.parametrize("given", [{}, {"mu": 0.5, "reach": 2}])
def test_a_step_loses_distance_over_standard_deviation(name, known, given):
    mu, reach = given.get("mu", 1), given.get("reach", 1)
    (weights0, scales0), (weights1, scales1) = (still(name, data, **given) for data in pair_of(name))
    assert scales0 == scales1 == [reach / mu] * 2
    moved = np.linalg.norm((weights0 - weights1) / learning.RATE)
    assert loss_of(name, **given) == pytest.approx(moved * mu / reach)
    if name == "microbatch_sgd" or not given:
        assert loss_of(name, **given) == pytest.approx(known * mu)


def test_gradients_are_those_of_the_squared_error():
    def error(w1, w2, example):
        x1, x2, y = example
        return (w1 * x1 + w2 * x2 - y) ** 2 / 2

    w1, w2 = learning.WEIGHTS
    for example in [*learning.USUAL, learning.CANARY]:
        slopes = (
            (error(w1 + 1e-6, w2, example) - error(w1 - 1e-6, w2, example)) / 2e-6,
            (error(w1, w2 + 1e-6, example) - error(w1, w2 - 1e-6, example)) / 2e-6,
        )
        assert learning.gradient(example) == pytest.approx(slopes, abs=1e-6)
    assert learning.clipped((3, 4), 1) == pytest.approx((0.6, 0.8))
    assert learning.clipped((0.3, 0.4), 1) == (0.3, 0.4)
    assert learning.clipped((0, 0), 1) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "sigma", "batches"), [(1, 1.013, 20), (3, 0.7, 10), (0.2, 1.5, 2), (0.5, 3, 4), (0.9, 1, 20)]
)
def test_the_accounting_of_poisson_sampling_agrees_with_an_accountant(epsilon, sigma, batches):
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    one = pld.from_gaussian_mechanism(sigma, sampling_prob=1 / batches, value_discretization_interval=1e-3)
    accounted = one.self_compose(batches).get_delta_for_epsilon(epsilon)
    ours = learning.poisson_delta(epsilon, sigma, batches)
    assert ours == pytest.approx(accounted, rel=0.03)


@pytest.mark.slow
def test_the_accounting_of_two_batches_by_quadrature():
    """Two batches, each with the record by a coin; a Riemann sum over both outputs, in both directions."""
    sigma, x = 1.2, np.linspace(-12, 13, 2_501)
    without = stats.norm.pdf(x, 0, sigma)
    present = (without + stats.norm.pdf(x, 1, sigma)) / 2
    p, q = np.outer(present, present), np.outer(without, without)
    for epsilon in (0.1, 0.6):
        naive = max(np.maximum(0, a - math.exp(epsilon) * b).sum() for a, b in ((p, q), (q, p)))
        ours = learning.poisson_delta(epsilon, sigma, 2)
        assert naive * (x[1] - x[0]) ** 2 <= ours * (1 + 1e-6)
        assert ours == pytest.approx(naive * (x[1] - x[0]) ** 2, rel=0.01)


def test_the_noise_of_an_epoch_is_just_enough_for_poisson_sampling():
    sigma = learning.poisson_sigma(1, 1e-3, 20)
    assert learning.poisson_delta(1, sigma, 20) <= 1e-3 < learning.poisson_delta(1, sigma * (1 - 1e-5), 20)


@pytest.mark.slow
def test_the_loss_of_a_shuffled_epoch_by_the_densities_of_its_maximum():
    batches, delta = 20, 1e-3
    sigma = learning.poisson_sigma(1, delta, batches)
    x = np.linspace(-8, 12, 400_001)

    def density(shift):
        below, own = stats.norm.cdf(x, 0, sigma), stats.norm.cdf(x, shift, sigma)
        others = (batches - 1) * below ** (batches - 2) * stats.norm.pdf(x, 0, sigma) * own
        return below ** (batches - 1) * stats.norm.pdf(x, shift, sigma) + others

    with_record, without = density(2), density(1)
    loss = loss_of("shuffle_not_poisson")
    excess = np.maximum(0, with_record - math.exp(loss) * without).sum() * (x[1] - x[0])
    assert excess == pytest.approx(delta, rel=1e-3)
    assert np.trapezoid(with_record, x) == pytest.approx(1, abs=1e-6)
    assert loss == pytest.approx(2.87, abs=0.01)


@pytest.mark.slow
def test_the_sums_of_a_shuffled_epoch():
    """With hardly any noise: the batch of the record is −1 + 2·[there], that of the free place 0."""
    rng, given = np.random.default_rng(2), {"epsilon": 1e3, "delta": 0.5, "batches": 2, "size": 2}
    noise = StillGaussian(rng)
    few, many = pair_of("shuffle_not_poisson", batches=2, size=2)
    assert (few, many) == ([-1.0] * 3, [-1.0] * 3 + [1.0])
    assert {mechanisms.shuffle_not_poisson(few, noise, **given) for _ in range(50)} == {-1}
    assert {mechanisms.shuffle_not_poisson(many, noise, **given) for _ in range(50)} == {0}
    shuffled = [mechanisms.shuffle_not_poisson([1, 0.5, -1, -1], noise, **given) for _ in range(3_000)]
    assert stats.binomtest(shuffled.count(1.5), 3_000, 1 / 3).pvalue > 1e-6
    assert set(shuffled) == {1.5, 0}
    with pytest.raises(dp.UsageError, match="places for 4 records"):
        mechanisms.shuffle_not_poisson([0] * 5, noise, **given)


class StillGaussian(ScalarNoise):
    """Noise whose Gaussian draws are zero; the uniform ones are drawn."""

    __slots__ = ()

    def _draw(self, method, *arguments):
        return 0.0 if method == "gaussian" else super()._draw(method, *arguments)
