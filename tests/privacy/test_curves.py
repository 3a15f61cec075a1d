"""Do trade-off curve, privacy profile and `least` say the same thing, and does it agree with others?"""

import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP

CLAIMS = [
    PureDP(0),
    PureDP(0.1),
    PureDP(3),
    ApproxDP(1, 0.05),
    ApproxDP(0, 0.3),
    ApproxDP(0.5, 1),
    GaussianDP(0),
    GaussianDP(0.3),
    GaussianDP(2),
    ZeroConcentratedDP(0.02),
    ZeroConcentratedDP(0.5),
    RenyiDP(2, 0.5),
    RenyiDP(1.0001, 0.1),
    RenyiDP(32, 2),
]
laws = settings(derandomize=True, max_examples=60, deadline=None)
chance = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1e-12, 1e-3, 0.5, 1 - 1e-12, 1.0]))
each = pytest.mark.parametrize("claim", CLAIMS, ids=str)


def naive_renyi(p, q, order):
    """D_order of two bits by its definition, p and q strictly between 0 and 1."""
    return np.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


@each
def test_tradeoff_curves_are_curves(claim):
    at = np.linspace(0, 1, 401)
    f = claim.tradeoff(at)
    assert f.shape == at.shape and np.ndim(claim.tradeoff(0.5)) == 0
    assert np.all(f >= 0) and np.all(f <= 1 - at + 1e-9)
    assert np.all(np.diff(f) <= 1e-12)
    assert np.all(f[:-2] + f[2:] - 2 * f[1:-1] >= -1e-9)  # convex
    back = claim.tradeoff(f)  # symmetric: f is its own inverse where it is above 0
    assert np.all(back[f > 0] <= at[f > 0] + 1e-6)


@each
@pytest.mark.slow
def test_profiles_are_the_conjugates_of_the_tradeoff_curves(claim):
    # δ(ε) = 1 + f*(−e^ε) = sup_α 1 − f(α) − e^ε·α (Dong, Roth & Su 2022, Proposition 2.12)
    coarse = 500
    alpha = np.unique(np.concatenate([[0.0], np.geomspace(1e-13, 1, coarse), np.linspace(0, 1, coarse)]))
    epsilon = np.array([0, 0.01, 0.3, 1, 2.4, 6])
    for _ in range(2):  # refined around the highest points
        best = np.argmax(1 - claim.tradeoff(alpha) - np.exp(epsilon)[:, None] * alpha, axis=1)
        near = np.linspace(alpha[np.maximum(best - 1, 0)], alpha[np.minimum(best + 1, len(alpha) - 1)], 60)
        alpha = np.unique(np.concatenate([alpha, near.ravel()]))
    f = claim.tradeoff(alpha)
    brute = np.max(1 - f - np.exp(epsilon)[:, None] * alpha, axis=1)
    assert claim.profile(epsilon) == pytest.approx(np.maximum(brute, 0), rel=1e-4, abs=1e-9)
    assert np.ndim(claim.profile(0.5)) == 0


@pytest.mark.parametrize("mu", [0.05, 0.5, 1, 3])
def test_gaussian_profiles_are_those_of_dp_accounting(mu):
    oracle = GaussianPrivacyLoss(1 / mu)
    for epsilon in (0.0, 0.1, 1.0, 3.0, 8.0):
        assert float(GaussianDP(mu).profile(epsilon)) == pytest.approx(
            oracle.get_delta_for_epsilon(epsilon), rel=1e-7, abs=1e-15
        )


def test_gaussian_profiles_survive_extremes():
    assert float(GaussianDP(1).profile(np.inf)) == 0
    assert float(GaussianDP(1e-300).profile(1.0)) == 0
    assert float(GaussianDP(1e3).profile(1.0)) == 1
    assert 0 < float(GaussianDP(1).profile(30.0)) < 1e-100


def test_the_gaussian_mechanism_just_satisfies_its_zcdp():
    # N(0,1) against N(μ,1) is μ²/2-zCDP (Bun & Steinke 2016, Proposition 1.6): no event says more, the best nearly so
    mu, threshold = 1.0, np.linspace(-5, 6, 400)
    found = ZeroConcentratedDP(1).least(norm.cdf(mu - threshold), norm.cdf(-threshold))
    assert np.all(found <= mu**2 / 2) and found.max() > 0.4


@laws
@given(st.floats(1e-6, 1 - 1e-6), st.floats(1e-6, 1 - 1e-6), st.floats(1.01, 40))
def test_renyi_least_is_the_definition(p, q, order):
    p, q = max(p, q), min(p, q)
    expected = max(naive_renyi(p, q, order), naive_renyi(q, p, order)) if p > q else 0.0
    assert float(RenyiDP(order, 1).least(p, q)) == pytest.approx(expected, rel=1e-8, abs=1e-10)


@laws
@given(st.floats(1e-6, 1 - 1e-6), st.floats(1e-6, 1 - 1e-6))
@pytest.mark.slow
def test_zcdp_least_is_the_supremum_over_orders_and_never_above_it(p, q):
    p, q = max(p, q), min(p, q)
    bits = np.array([[p, q], [q, p]])[:, :, None]
    t = np.geomspace(1e-9, 1e5, 20_001)
    order = 1 + t
    a, b = bits[:, 0], bits[:, 1]
    with np.errstate(all="ignore"):
        far = np.logaddexp(order * np.log(a) - t * np.log(b), order * np.log1p(-a) - t * np.log1p(-b)) / t
        near = np.log1p(a * np.expm1(t * np.log(a / b)) + (1 - a) * np.expm1(t * np.log((1 - a) / (1 - b)))) / t
    supremum = float(np.max(np.where(t < 0.01, near, far) / order)) if p > q else 0.0
    found = float(ZeroConcentratedDP(1).least(p, q))
    assert found <= supremum * (1 + 1e-6) + 1e-12
    assert found >= supremum * (1 - 2e-3) - 1e-12


def test_renyi_orders_close_to_one_and_huge_do_not_drown_in_rounding():
    kl = 0.3 * np.log(0.3 / 0.2) + 0.7 * np.log(0.7 / 0.8)
    swapped = 0.2 * np.log(0.2 / 0.3) + 0.8 * np.log(0.8 / 0.7)
    assert float(RenyiDP(1 + 1e-12, 1).least(0.3, 0.2)) == pytest.approx(max(kl, swapped), rel=1e-9)
    assert float(RenyiDP(1 + 1e-12, 1).least(0.3 + 1e-9, 0.3)) < 1e-15
    assert float(RenyiDP(1e300, 1).least(0.3, 0.2)) == pytest.approx(np.log(1.5))


@each
@laws
@given(chance, chance, chance, chance)
@pytest.mark.slow
def test_least_rises_with_p_and_falls_with_q(claim, p, p2, q, q2):
    low_p, high_p, low_q, high_q = min(p, p2), max(p, p2), min(q, q2), max(q, q2)
    weak, strong = float(claim.least(low_p, high_q)), float(claim.least(high_p, low_q))
    assert 0 <= weak <= strong * (1 + 1e-6) + 1e-12
    assert float(claim.least(low_p, max(low_p, q))) == 0


@each
@laws
@given(chance, chance)
@pytest.mark.slow
def test_least_depends_on_nothing_but_the_event(claim, p, q):
    # an event and its complement, seen from the other side, say the same
    p, q = max(p, q), min(p, q)
    if q > 1e-9 and p < 1 - 1e-9:
        assert float(claim.least(p, q)) == pytest.approx(float(claim.least(1 - q, 1 - p)), rel=1e-5, abs=1e-9)
    assert float(claim.with_value(7).least(p, q)) == float(claim.least(p, q))


@each
@laws
@given(st.floats(0, 1), st.floats(0, 1))
@pytest.mark.slow
def test_an_event_is_allowed_where_it_lies_under_the_curve(claim, p, q):
    p, q = max(p, q), min(p, q)
    margin = p - (1 - float(claim.tradeoff(q)))
    if margin < -1e-6:
        assert float(claim.least(p, q)) <= claim.value
    elif margin > 1e-6:
        assert float(claim.least(p, q)) > claim.value


@pytest.mark.parametrize("claim", [PureDP(1), ApproxDP(1, 0.05)], ids=str)
def test_least_is_the_loss_of_every_event_of_a_tight_mechanism(claim):
    # randomised response with a catastrophe: outputs (exposed 0, no, yes, exposed 1)
    stay, delta = (1 - claim.delta) * np.exp(1) / (1 + np.exp(1)), claim.delta
    side0 = np.array([delta, stay, 1 - delta - stay, 0])
    side1 = side0[::-1]
    events = np.array([[bit >> i & 1 for i in range(4)] for bit in range(16)])
    p, q = np.minimum(events @ side0, 1), np.minimum(events @ side1, 1)
    losses = claim.least(p, q)
    assert losses.max() == pytest.approx(1.0, abs=1e-9)
    assert np.all(losses <= 1 + 1e-9)


def test_nothing_shown_and_everything_shown():
    for claim in CLAIMS:
        if claim.delta < 1:
            assert float(claim.least(1.0, 0.0)) == np.inf
        for p in (0.0, 0.3, 1.0):
            assert float(claim.least(p, p)) == 0
    assert float(ApproxDP(1, 0.1).least(0.1, 0.0)) == 0
    assert float(ApproxDP(1, 0.1).least(0.05, 0.01)) == 0
    assert float(PureDP(1).least(1e-300, 0.0)) == np.inf
