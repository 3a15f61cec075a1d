"""Are the true losses true? Each is recomputed by an independent, slower way, or compared with a published value."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

import mechanisms
from dpaudit import Mechanism
from dpaudit.program.noise import ScalarNoise
from mechanisms import additive, local, losses, queries


def loss_of(name: str, **given: Any) -> float:
    found: Mechanism = getattr(mechanisms, name)
    loss = found.true_loss_for(found.parameters_with(given))
    assert loss is not None
    return loss


class StillNoise(ScalarNoise):
    """Noise that is always zero and remembers the scales that it was asked for."""

    __slots__ = ("scales",)

    def __init__(self) -> None:
        super().__init__(np.random.default_rng(0))
        self.scales: list[float] = []

    def _draw(self, method: str, *arguments: Any) -> Any:
        assert method in ("laplace", "discrete_laplace")
        self.scales.append(*arguments)
        return 0


def numbers(output: Any) -> list[float]:
    return list(output.values()) if isinstance(output, dict) else [output]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("laplace", {}),
        ("laplace", {"sensitivity": 0.5, "epsilon": 3}),
        ("geometric", {"sensitivity": 3}),
        ("count", {"epsilon": 0.1}),
        ("bounded_sum", {"low": 18, "high": 90}),
        ("bounded_sum", {"low": -7, "high": 3}),
        ("bounded_sum", {"low": 18, "high": 90, "relation": "replace"}),
        ("bounded_mean", {"low": 18, "high": 90}),
        ("histogram", {}),
        ("histogram", {"relation": "replace"}),
        ("histogram", {"relation": "replace", "bins": ("only",)}),
        ("suggestions", {"most": 7}),
        ("suggestions_per_record", {}),
    ],
)
def test_additive_laplace_noise_loses_distance_over_scale(name: str, given: dict[str, Any]) -> None:
    found: Mechanism = getattr(mechanisms, name)
    parameters = found.parameters_with(given)
    (pair,) = found.pairs_for(parameters)
    still = [StillNoise(), StillNoise()]
    answers = [numbers(found(side, noise, **parameters)) for side, noise in zip(pair, still, strict=True)]
    assert still[0].scales == still[1].scales
    naive = sum(abs(a - b) / scale for a, b, scale in zip(*answers, still[0].scales, strict=True))
    assert loss_of(name, **given) == pytest.approx(naive, rel=1e-12)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """P(loss > ε) − e^ε·Q(loss > ε), by integrating max(0, p − e^ε·q)."""

    def excess(x: float) -> float:
        return max(0.0, float(stats.norm.pdf(x, mu) - math.exp(epsilon) * stats.norm.pdf(x)))

    start = epsilon / mu + mu / 2
    return float(integrate.quad(excess, start, start + 40, epsabs=0, epsrel=1e-10, limit=400)[0])


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-5), (0.1, 1e-7), (5, 0.01), (8, 1e-9)])
def test_the_analytic_calibration_is_tight(epsilon: float, delta: float) -> None:
    mu = additive.gaussian_mu(epsilon, delta)
    assert gaussian_delta(epsilon, mu) == pytest.approx(delta, rel=1e-7)


def test_the_analytic_calibration_agrees_with_dp_accounting() -> None:
    accountant = pytest.importorskip("dp_accounting.pld.accountant")
    common = pytest.importorskip("dp_accounting.pld.common")
    sigma = accountant.get_smallest_gaussian_noise(common.DifferentialPrivacyParameters(1, 1e-5), 1, 1)
    assert 1 / additive.gaussian_mu(1, 1e-5) == pytest.approx(sigma, rel=1e-3)


@pytest.mark.slow
def test_the_true_loss_of_the_classic_formula() -> None:
    mu = 1 / additive.classic_multiplier(0.5, 1e-5)
    naive = optimize.brentq(lambda epsilon: gaussian_delta(epsilon, mu) - 1e-5, 0.01, 1, xtol=1e-13)
    assert loss_of("gaussian_classic") == pytest.approx(naive, rel=1e-6)
    assert loss_of("gaussian_classic") < 0.5


def test_the_classic_formula_is_wrong_at_large_epsilon() -> None:
    mu = 20 / math.sqrt(2 * math.log(1.25 / 1e-5))
    assert gaussian_delta(20, mu) == pytest.approx(1.5e-3, rel=0.05)
    assert losses.of_gaussian(mu, 1e-5) > 20


@pytest.mark.parametrize(("rho", "sensitivity"), [(0.5, 1), (0.02, 1), (0.3, 2)])
def test_the_discrete_gaussian_reaches_rho_at_whole_orders_only(rho: float, sensitivity: int) -> None:
    x = np.arange(-400, 401)
    spread = sensitivity**2 / (2 * rho)
    log_p, log_q = -(x**2) / (2 * spread), -((x - sensitivity) ** 2) / (2 * spread)
    log_p, log_q = log_p - special.logsumexp(log_p), log_q - special.logsumexp(log_q)

    def divergence(order: float) -> float:
        return float(special.logsumexp(order * log_p + (1 - order) * log_q) / (order - 1))

    reached = [divergence(order) / order for order in (1.2, 1.5, 2, 3)]
    assert reached[2] == pytest.approx(loss_of("discrete_gaussian", rho=rho), rel=1e-9)
    assert max(reached) <= rho * (1 + 1e-9)


@pytest.mark.parametrize(
    "given",
    [
        {"bound": 4},
        {"bound": 4, "epsilon": 0.7, "sensitivity": 2},
        {"bound": 0.3},
        {"bound": 5.5, "epsilon": 2},
        {"bound": 1, "sensitivity": 4},
    ],
)
def test_snapping_by_all_its_outputs(given: dict[str, float]) -> None:
    given = {"epsilon": 1, "sensitivity": 1, **given}
    scale, bound = given["sensitivity"] / given["epsilon"], given["bound"]
    grid = 2.0 ** math.ceil(math.log2(scale))
    laws: list[dict[float, float]] = []
    for answer in (0, given["sensitivity"]):
        law: dict[float, float] = {}
        centre = min(max(answer, -bound), bound)
        for cell in range(-60, 61):
            output = min(max(cell * grid, -bound), bound)
            edges = stats.laplace.cdf([(cell - 0.5) * grid, (cell + 0.5) * grid], centre, scale)
            law[output] = law.get(output, 0.0) + float(edges[1] - edges[0])
        laws.append(law)
    naive = max(abs(math.log(laws[0][output] / laws[1][output])) for output in laws[0])
    assert loss_of("snapping", **given) == pytest.approx(naive, rel=1e-9)


@pytest.mark.parametrize("scale", [1, 0.5, 3, 1.0001, 2**-20, 1e9])
def test_the_snapping_grid_is_the_next_power_of_two(scale: float) -> None:
    grid = additive.snapping_grid(scale)
    assert grid / 2 < scale <= grid
    assert math.frexp(grid)[0] == 0.5


def orders_law(scores: list[int], rate: float) -> list[float]:
    """Permute-and-flip by all orders of visiting."""
    heads = [math.exp(rate * (score - max(scores))) for score in scores]
    law = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = 1.0
        for index in order:
            law[index] += reached * heads[index] / len(orders)
            reached *= 1 - heads[index]
    return law


def grid_law(scores: list[int], scale: float, kind: Any) -> list[float]:
    """Noisy max by a Riemann sum over the winner's value."""
    x = np.linspace(-60 * scale, 60 * scale, 200_001) + 1e-7
    step = x[1] - x[0]
    below = [kind.cdf(x, score, scale) for score in scores]
    above = [kind.pdf(x, score, scale) for score in scores]
    return [
        float(step * np.sum(above[i] * np.prod([f for j, f in enumerate(below) if j != i], axis=0)))
        for i in range(len(scores))
    ]


SCORES = [[1, 1, 1, 1, 1], [0, 2, 2, 2, 2], [3, -1, 0, 2, 2]]


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.slow
def test_the_laws_of_selection(scores: list[int], epsilon: float) -> None:
    rate = epsilon / 2
    assert losses.permutation_law(scores, rate) == pytest.approx(orders_law(scores, rate), rel=1e-9)
    exponential = grid_law(scores, 1 / rate, stats.expon)
    assert losses.permutation_law(scores, rate) == pytest.approx(exponential, rel=2e-3)
    laplace = grid_law(scores, 1 / rate, stats.laplace)
    assert losses.laplace_argmax_law(scores, 1 / rate) == pytest.approx(laplace, rel=1e-6)
    gumbel = grid_law(scores, 1 / rate, stats.gumbel_r)
    assert losses.softmax(scores, rate) == pytest.approx(gumbel, rel=1e-6)


@pytest.mark.slow
def test_published_losses_of_noisy_max() -> None:
    # The pair of the published benchmark: 1^5 against (2, 0, 0, 0, 0) at ε = 0.1.
    pair = ([1] * 5, [2, 0, 0, 0, 0])
    laplace = losses.of_laws(*(losses.laplace_argmax_law(scores, 20) for scores in pair))
    exponential = losses.of_laws(*(losses.permutation_law(scores, 0.05) for scores in pair))
    assert laplace == pytest.approx(0.0927, abs=5e-5)
    assert exponential == pytest.approx(0.1, abs=5e-5)
    # Our own pair is worse.
    assert loss_of("report_noisy_max", epsilon=0.1) > laplace
    assert loss_of("report_noisy_max", epsilon=0.1, noise_kind="exponential") == pytest.approx(0.1, rel=1e-9)


def test_the_loss_of_the_exponential_mechanism_in_closed_form() -> None:
    assert loss_of("exponential", epsilon=1) == pytest.approx(math.log((4 * math.e + 1) / 5), rel=1e-12)


def test_two_coins_by_exact_enumeration() -> None:
    half = Fraction(1, 2)
    laws = []
    for truth in (0, 1):
        law = {0: Fraction(0), 1: Fraction(0)}
        law[truth] += half
        for shown in (0, 1):
            law[shown] += half * half
        laws.append(law)
    assert max(laws[0][bit] / laws[1][bit] for bit in (0, 1)) == 3
    assert loss_of("two_coins") == math.log(3) == mechanisms.two_coins.claim.epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_the_probabilities_of_randomised_response(epsilon: float) -> None:
    power = math.exp(epsilon)
    assert local.keep_probability(epsilon) == pytest.approx(power / (1 + power), rel=1e-12)
    assert local.keep_probability(epsilon, 4) == pytest.approx(power / (power + 3), rel=1e-12)
    assert local.bit_probabilities(epsilon, "optimised") == pytest.approx((0.5, 1 / (power + 1)), rel=1e-12)


def bits_loss(ones0: list[float], ones1: list[float]) -> float:
    """Independent bits, by all their outputs."""
    loss = 0.0
    for output in itertools.product((True, False), repeat=len(ones0)):
        chances = [
            math.prod(p if bit else 1 - p for p, bit in zip(ones, output, strict=True)) for ones in (ones0, ones1)
        ]
        loss = max(loss, abs(math.log(chances[0] / chances[1])))
    return loss


@pytest.mark.parametrize("encoding", ["optimised", "symmetric"])
def test_unary_encoding_by_all_outputs(encoding: str) -> None:
    p, q = local.bit_probabilities(1.5, encoding)
    naive = bits_loss([p, q, q, q], [q, p, q, q])
    assert loss_of("unary_encoding", epsilon=1.5, encoding=encoding) == pytest.approx(naive, rel=1e-9)
    assert naive == pytest.approx(1.5, rel=1e-9)


def test_rappor_by_all_outputs_and_its_published_values() -> None:
    low, high = local.rappor_probabilities(0.75, 0.45, 0.55)
    first, second = (local.bloom_filter(value, 20, 4) for value in local.RAPPOR_PAIR)
    differing = sorted(first ^ second)
    naive = bits_loss(*([high if bit in chosen else low for bit in differing] for chosen in (first, second)))
    assert len(differing) == 6
    assert loss_of("rappor") == pytest.approx(naive, rel=1e-9)
    assert loss_of("rappor") == pytest.approx(0.3001, abs=5e-5)
    assert local.rappor_claim(4, 0.75, 0.45, 0.55).epsilon == pytest.approx(0.4001, abs=5e-5)


def naive_ratio_density(r: float, total: float, n: float, total_scale: float, n_scale: float) -> float:
    """∫ |t|·g(t)·h(r·t) dt by quadrature."""

    def integrand(t: float) -> float:
        return float(abs(t) * stats.laplace.pdf(t, n, n_scale) * stats.laplace.pdf(r * t, total, total_scale))

    corners = sorted({-60 * n_scale, 0.0, n, total / r, n + 60 * n_scale})
    return sum(
        integrate.quad(integrand, start, end, epsabs=0, epsrel=1e-9, limit=400)[0]
        for start, end in itertools.pairwise(corners)
    )


@pytest.mark.parametrize("r", [-30.0, -1.0, -0.3, 1e-3, 0.5, 1.0, 7.0])
@pytest.mark.parametrize("setting", [(-2.0, 2.0, 2.0, 2.0), (3.0, 5.0, 18.0, 0.7)])
def test_the_density_of_a_ratio(r: float, setting: tuple[float, float, float, float]) -> None:
    closed = float(queries.ratio_density(np.array([r]), *setting)[0])
    assert closed == pytest.approx(naive_ratio_density(r, *setting), rel=1e-6)


@pytest.mark.slow
def test_the_density_of_a_ratio_integrates_to_one() -> None:
    angle = np.linspace(-np.pi / 2, np.pi / 2, 400_001)[1:-1]
    density = queries.ratio_density(np.tan(angle), -1.0, 3.0, 2.0, 2.0) / np.cos(angle) ** 2
    assert np.trapezoid(density, angle) == pytest.approx(1, abs=1e-4)


@pytest.mark.nightly
def test_the_loss_of_a_noisy_average() -> None:
    def loss(r: float) -> float:
        before, after = naive_ratio_density(r, -2, 2, 2, 2), naive_ratio_density(r, -1, 3, 2, 2)
        return abs(math.log(before / after))

    found = optimize.minimize_scalar(lambda r: -loss(r), bounds=(-8, -3), method="bounded", options={"xatol": 1e-4})
    assert loss_of("noisy_average") == pytest.approx(-found.fun, rel=1e-5)
    assert all(loss(r) <= loss_of("noisy_average") + 1e-9 for r in (-100, -1, -0.1, 0.2, 1, 3, 50))


@pytest.mark.parametrize("name", ["exact_count", "count_with_minimum_set_size", "k_anonymous_release"])
def test_without_randomness_the_loss_is_infinite(name: str) -> None:
    found: Mechanism = getattr(mechanisms, name)
    ((data0, data1),) = found.pairs_for(found.parameters_with({}))
    noise = StillNoise()
    assert found(data0, noise) != found(data1, noise)
    assert noise.scales == []
    assert loss_of(name) == math.inf
    assert losses.of_constants(3, 3) == 0


def test_of_laws_by_all_events() -> None:
    law0, law1 = [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]
    events = [event for size in range(1, 5) for event in itertools.combinations(range(4), size)]
    naive = max(abs(math.log(sum(law0[i] for i in event) / sum(law1[i] for i in event))) for event in events)
    assert losses.of_laws(law0, law1) == pytest.approx(naive)
    assert losses.of_laws([1, 0], [0.5, 0.5]) == math.inf
    assert losses.of_laws([0, 1], [0, 1]) == 0
