"""Do certified intervals hold what is true? Closed forms, exact sums, and other accountants."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.special import ndtr

from dpaudit.accounting import Block, Gaussian, Laplace, RandomisedResponse, certify, decide
from dpaudit.errors import UsageError


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Balle & Wang (2018), Theorem 8."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(1, 1, 1.0), (2, 10, 2.5), (10, 50, 0.5), (0.7, 3, 9.0)])
def test_gaussian_noise_has_its_closed_form(sigma, steps, epsilon):
    """By the formula, and composed (a rate of 1 samples nothing): each a check of the other."""
    true = gaussian_delta(math.sqrt(steps) / sigma, epsilon)
    composed = certify(Gaussian(sigma).poisson(1).times(steps), epsilon=epsilon)
    assert composed.low <= true <= composed.high
    assert composed.high / composed.low < 1.02
    found = certify(Gaussian(sigma).times(steps), epsilon=epsilon)
    assert found.low * (1 - 1e-9) <= true <= found.high * (1 + 1e-9)
    assert found.low < found.high < found.low * (1 + 1e-11)
    back = certify(Gaussian(sigma).times(steps), delta=found.high)
    assert back.low <= epsilon <= back.high * (1 + 1e-11) and back.width < 1e-10


def test_gaussian_noise_of_every_size_has_its_formula():
    loud, quiet = Gaussian("1e18"), Gaussian("0.013")
    assert certify(loud, epsilon=0).low == pytest.approx(1e-18 / math.sqrt(2 * math.pi), rel=1e-11)
    assert (certify(loud, epsilon=1).low, certify(loud, epsilon=1).high) == (0, 1e-300)
    assert certify(loud, delta="1e-6").high == 0
    assert certify(quiet, delta="0.3").low == pytest.approx(2997.92, abs=0.01)
    assert certify(Gaussian(1), delta="1e-150").low == pytest.approx(26.4966, abs=1e-3)
    assert certify(Gaussian("1e-9"), epsilon=3000).high == 1
    with pytest.raises(UsageError, match="adds nothing"):
        certify(Gaussian(1) + Block("mu=0"), delta="1e-6")


@pytest.mark.parametrize("epsilon", [0, 1, 2])
def test_randomised_response_is_a_binomial_sum(epsilon):
    # the interval of δ at ε, against fractions with e ≈ its first digits: the lattice is exact
    steps, own = 30, 0.25
    p = math.exp(own) / (1 + math.exp(own))
    true = 0.0
    for k in range(steps + 1):
        loss = own * (2 * k - steps)
        if loss > epsilon:
            true += math.comb(steps, k) * p**k * (1 - p) ** (steps - k) * (1 - math.exp(epsilon - loss))
    found = certify(RandomisedResponse(own).times(steps), epsilon=epsilon)
    assert found.low <= true * (1 + 1e-9) and true * (1 - 1e-9) <= found.high
    assert found.high - found.low < 1e-4 * found.high


@pytest.mark.slow
def test_a_published_row():
    # dp-accounting's PLD says 1.82824
    found = certify(Gaussian(1).poisson("0.01").times(1000), delta="1e-5")
    assert 1.8275 < found.low < 1.82824 < found.high < 1.8286
    assert found.width <= 5e-4


def test_pure_losses_add_up():
    found = certify(Laplace(2).times(3) + RandomisedResponse("1/4"), delta=0)
    assert found.low <= 1.75 <= found.high
    assert found.width < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("epsilon=1.83, delta=1e-5", "PROVED"),
        ("epsilon=1.82, delta=1e-5", "VIOLATED"),
        ("epsilon=1.8283, delta=1e-5", "INCONCLUSIVE"),
        ("epsilon=50", "VIOLATED"),
    ],
)
def test_claims_are_decided(claim, verdict):
    assert decide(Gaussian(1).poisson("0.01").times(1000), claim).verdict == verdict


def test_gaussian_claims_are_decided_exactly():
    events = Gaussian(2).times(4)
    assert decide(events, "mu=1").verdict == "PROVED"
    assert decide(events, "mu=0.9999999").verdict == "VIOLATED"
    assert decide(events, "rho=0.5").verdict == "PROVED"
    assert decide(events, "rho=0.4999999").verdict == "VIOLATED"
    assert Fraction(decide(events, "rho=0.5").high) == Fraction(1, 2)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_claims_of_rho_are_bounded_by_one_order(delta):
    # Canonne, Kamath & Steinke 2020, Proposition 12, and Gaussian noise of σ = 2 that keeps ρ = 1/8
    found, noise = certify(Block("rho=0.125").times(4), delta=delta), certify(Gaussian(2).times(4), delta=delta)
    best = min(
        a * 0.5 + math.log1p(-1 / a) - math.log(delta * a) / (a - 1) for a in (1 + k / 1000 for k in range(1, 60_000))
    )
    assert best * (1 - 1e-5) <= found.high <= best * (1 + 1e-5)
    assert found.low == noise.low and noise.high < found.high
    back = certify(Block("rho=0.125").times(4), epsilon=found.high)
    assert delta * (1 - 1e-6) <= back.high <= delta * (1 + 1e-6) and 0 < back.low < back.high


@pytest.mark.slow
def test_an_atom_a_hair_below_the_lattice_is_not_certified_too_low():
    """Floats cannot tell it from the node above: split between the nodes beside it, one would get a negative mass."""
    near = RandomisedResponse(1).times(50) + RandomisedResponse("0.99999999999999999").times(2)
    on, beside = certify(RandomisedResponse(1).times(52), delta="1e-6"), certify(near, delta="1e-6")
    assert beside.high >= on.low - 1e-12
    assert beside.low <= on.high


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [5e-3, 2e-4])
def test_few_steps_with_little_noise_are_narrow(tolerance):
    """Nearly all mass of a step lies just above ln(1 − q), in one cell; on a fine lattice ε is 9.63992."""
    found = certify(Gaussian("0.36").poisson("0.01").times(10), delta="1e-5", tolerance=tolerance)
    assert found.low <= 9.639918 <= found.high
    assert found.width <= tolerance and not found.note
