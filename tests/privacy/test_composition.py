"""Does the arithmetic of claims follow its theorems? Laws, published formulas, and an independent accountant."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import dpaudit
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.privacy.composition import (
    compose,
    group,
    mixture,
    parallel,
    post_process,
    to_approx,
    to_gaussian,
    to_renyi,
    to_zcdp,
)

laws = settings(derandomize=True, max_examples=60, deadline=None)
numbers = st.floats(0, 20)
deltas = st.floats(1e-12, 0.5)
claims = st.one_of(
    st.builds(PureDP, numbers),
    st.builds(ApproxDP, numbers, st.floats(0, 1)),
    st.builds(GaussianDP, numbers),
    st.builds(ZeroConcentratedDP, numbers),
    st.builds(RenyiDP, st.just(2.5), numbers),
)
same_notion = st.sampled_from(
    [
        st.builds(PureDP, numbers),
        st.builds(ApproxDP, numbers, st.floats(0, 1)),
        st.builds(GaussianDP, numbers),
        st.builds(ZeroConcentratedDP, numbers),
        st.builds(RenyiDP, st.just(2.5), numbers),
    ]
).flatmap(lambda kind: st.lists(kind, min_size=1, max_size=5))


def close(left, right):
    assert type(left) is type(right)
    assert left.value == pytest.approx(right.value, rel=1e-9, abs=1e-12)
    assert left.delta == pytest.approx(right.delta, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (["epsilon=0.5", "epsilon=0.25"], PureDP(0.75)),
        (["epsilon=0.1"] * 10, PureDP(1)),
        (["epsilon=1", "epsilon=1, delta=1e-6"], ApproxDP(2, 1e-6)),
        (["epsilon=1, delta=0.75", "epsilon=1, delta=0.75"], ApproxDP(2, 1)),
        (["mu=3", "mu=4"], GaussianDP(5)),
        (["rho=0.5", "rho=0.25"], ZeroConcentratedDP(0.75)),
        (["order=2, epsilon=1", "order=2, epsilon=0.5"], RenyiDP(2, 1.5)),
        (["epsilon=2", "rho=0.5"], ZeroConcentratedDP(2 * math.tanh(1) + 0.5)),
        (["mu=2", "rho=0.5", "epsilon=1, delta=0"], ZeroConcentratedDP(2.5 + math.tanh(0.5))),
        (["order=3, epsilon=1", "rho=0.5"], RenyiDP(3, 2.5)),
        (["mu=1"], GaussianDP(1)),
    ],
)
def test_what_composes(parts, whole):
    assert compose(*parts) == whole


@laws
@given(same_notion)
def test_composition_has_no_order_and_no_brackets(parts):
    together = compose(*parts)
    close(compose(*reversed(parts)), together)
    close(compose(parts[0], compose(*parts)), compose(*parts, parts[0]))


@pytest.mark.slow
@laws
@given(same_notion)
def test_a_whole_is_no_better_than_its_parts_and_a_mixture_no_worse_than_its_worst(parts):
    together, mixed = compose(*parts), mixture(*parts)
    for name in ("value", "delta"):
        worst = max(getattr(part, name) for part in parts)
        assert getattr(together, name) >= worst * (1 - 1e-12)
        assert getattr(mixed, name) == worst
    assert parallel(*parts, relation="add-remove") == mixed == parallel(*parts, relation="queries(one)")


@laws
@given(same_notion)
def test_parallel_under_replace_is_the_worst_pair_of_parts(parts):
    moved = [compose(first, second) for first, second in itertools.combinations(parts, 2)]
    expected = mixture(*parts, *moved)
    close(parallel(*parts, relation="replace"), expected)
    if isinstance(parts[0], PureDP):
        doubled = [group(part, 2) for part in parts]
        close(parallel(*parts, relation="replace", replaced=doubled), mixture(*doubled, *moved))


def test_parallel_by_hand():
    assert parallel("epsilon=1", "epsilon=0.5", "epsilon=0.1", relation="add-remove") == PureDP(1)
    assert parallel("epsilon=0.5", "epsilon=1", "epsilon=0.1", relation="replace") == PureDP(1.5)
    assert parallel("epsilon=1", relation="replace") == PureDP(1)
    assert parallel("epsilon=1", relation="replace", replaced=["epsilon=2"]) == PureDP(2)
    assert parallel("mu=3", "mu=4", "mu=1", relation="replace") == GaussianDP(5)


@laws
@given(claims)
def test_post_processing_and_groups_of_one_change_nothing(claim):
    assert post_process(claim) == claim == group(claim, 1)


def test_groups_are_those_of_the_claim():
    assert group("epsilon=1", 3) == PureDP(3)
    assert group("rho=1", 3) == ZeroConcentratedDP(9)


@pytest.mark.parametrize(
    ("make", "possible"),
    [
        (lambda: compose(), "at least one claim"),
        (lambda: compose("epsilon=1", None), "None is not one"),
        (lambda: compose(1.0), "a claim is"),
        (lambda: compose("epsilon=1, delta=1e-6", "mu=1"), "to_approx"),
        (lambda: mixture("epsilon=1, delta=1e-6", "order=2, epsilon=1"), "to_approx"),
        (lambda: compose("order=2, epsilon=1", "order=4, epsilon=1"), "to_renyi"),
        (lambda: parallel("epsilon=1", relation="queries"), "compose"),
        (lambda: parallel("epsilon=1", relation="add-remove(group=2)"), "group"),
        (lambda: parallel("epsilon=1", relation="replace", replaced=["epsilon=1"] * 2), "one a part"),
        (lambda: to_gaussian("rho=1"), "to_approx"),
        (lambda: to_zcdp("epsilon=1, delta=1e-6"), "divergence"),
        (lambda: to_zcdp("order=2, epsilon=1"), "says nothing"),
        (lambda: to_renyi("order=2, epsilon=1", 3), "at most 2"),
        (lambda: to_renyi("rho=1", 1), "above 1"),
        (lambda: to_approx("mu=1", 0), "between 0 and 1"),
        (lambda: to_approx("mu=1", "small"), "between 0 and 1"),
        (lambda: to_approx("epsilon=1, delta=0.1", 0.01), "smaller delta"),
        (lambda: group("order=2, epsilon=1", 2), "group itself"),
    ],
)
def test_what_no_theorem_allows_is_refused_with_what_is_possible(make, possible):
    with pytest.raises(UsageError, match=possible):
        make()


@pytest.mark.slow
@laws
@given(st.one_of(st.builds(PureDP, numbers), st.builds(GaussianDP, st.floats(0, 3))))
def test_conversions_are_implied(claim):
    """A claim that follows allows every pair (p, q) that the first one allows."""
    q = np.geomspace(1e-6, 0.5, 97)
    p = 1 - claim.tradeoff(q)
    implied = [to_zcdp(claim), to_renyi(claim, 1.5), to_renyi(claim, 40.0), to_gaussian(claim), to_approx(claim, 0.01)]
    for weaker in implied:
        assert np.all(weaker.least(p, q) <= weaker.value * (1 + 1e-6) + 1e-6)


@laws
@given(st.floats(0.01, 10), st.floats(1.01, 50))
def test_a_pure_claim_at_an_order_is_randomised_response(epsilon, order):
    p = 1 / (1 + math.exp(-epsilon))
    law0, law1 = np.array([p, 1 - p]), np.array([1 - p, p])
    divergence = math.log(float(np.sum(law0**order * law1 ** (1 - order)))) / (order - 1)
    found = to_renyi(PureDP(epsilon), order).epsilon
    assert found == pytest.approx(divergence, rel=1e-6, abs=1e-9)
    assert found <= min(epsilon, order * epsilon**2 / 2) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1, 5, 30, 600])
def test_the_curve_of_a_pure_claim_touches_that_of_its_gaussian(epsilon):
    corner = stats.logistic.cdf(-epsilon)
    mu = to_gaussian(PureDP(epsilon)).mu
    assert mu == pytest.approx(-2 * stats.norm.ppf(corner), rel=1e-9)
    assert to_gaussian(PureDP(0)) == GaussianDP(0)


@laws
@given(numbers, st.floats(0, 0.3), deltas)
def test_a_point_moves_along_its_profile(epsilon, own, delta):
    claim = ApproxDP(epsilon, own)
    if delta < own:
        return
    found = to_approx(claim, delta)
    assert found.delta == delta
    assert float(claim.profile(found.epsilon)) <= delta * (1 + 1e-6) + 1e-12
    if found.epsilon > 1e-6:
        assert float(claim.profile(found.epsilon * (1 - 1e-6) - 1e-9)) >= delta * (1 - 1e-6) - 1e-12


@pytest.mark.slow
@laws
@given(st.floats(0.01, 20), deltas)
def test_a_gaussian_claim_at_a_delta_by_integration(mu, delta):
    found = to_approx(GaussianDP(mu), delta).epsilon
    log_excess = stats.norm.logcdf(mu / 2 - found / mu), found + stats.norm.logcdf(-mu / 2 - found / mu)
    excess = math.exp(log_excess[0]) - math.exp(log_excess[1])
    assert excess <= delta * (1 + 1e-6)
    assert found == 0 or excess == pytest.approx(delta, rel=1e-6)


@pytest.mark.slow
@laws
@given(st.floats(1e-4, 20), deltas)
def test_zcdp_at_a_delta_beats_the_first_formula_and_any_single_order(rho, delta):
    found = to_approx(ZeroConcentratedDP(rho), delta).epsilon
    assert found <= rho + 2 * math.sqrt(rho * math.log(1 / delta))
    naive = optimize.minimize_scalar(
        lambda exponent: to_approx(RenyiDP(1 + 10**exponent, rho * (1 + 10**exponent)), delta).epsilon,
        bounds=(-5, 8),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert found <= naive.fun * (1 + 1e-9)
    assert found >= to_approx(GaussianDP(math.sqrt(2 * rho)), delta).epsilon * (1 - 1e-9)  # which is ρ-zCDP


def test_zcdp_at_zero():
    assert to_approx("rho=0", 1e-6) == ApproxDP(0, 1e-6)


@pytest.mark.parametrize(("order", "epsilon", "delta"), [(2, 1, 1e-5), (1.1, 0.1, 0.1), (64, 0.5, 1e-9)])
def test_renyi_at_a_delta_beats_its_first_formula(order, epsilon, delta):
    found = to_approx(RenyiDP(order, epsilon), delta).epsilon
    assert 0 <= found <= epsilon + math.log(1 / delta) / (order - 1)


@pytest.fixture(scope="module")
def pld():
    return pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")


@pytest.mark.parametrize("mus", [(1, 1), (0.5, 2, 0.1)])
def test_composed_gaussians_agree_with_an_accountant(pld, mus):
    parts = [pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-3) for mu in mus]
    accounted = parts[0]
    for part in parts[1:]:
        accounted = accounted.compose(part)
    ours = to_approx(compose(*map(GaussianDP, mus)), 1e-5).epsilon
    assert ours == pytest.approx(accounted.get_epsilon_for_delta(1e-5), rel=2e-3)


def test_composed_pure_claims_bound_an_accountant(pld):
    parts = [pld.from_laplace_mechanism(1 / epsilon, value_discretization_interval=1e-3) for epsilon in (0.5, 0.3)]
    accounted = parts[0].compose(parts[1])
    ours = compose(PureDP(0.5), PureDP(0.3))
    assert ours.epsilon == pytest.approx(0.8)
    for epsilon in (0.0, 0.2, 0.5, 0.7):
        assert accounted.get_delta_for_epsilon(epsilon) <= float(ours.profile(epsilon)) + 1e-6
    worst = pld.from_randomized_response(2 / (1 + math.exp(0.8)), 2)  # reaches the profile
    assert worst.get_epsilon_for_delta(0.1) == pytest.approx(to_approx(ours, 0.1).epsilon, abs=1e-3)


def test_zcdp_agrees_with_a_renyi_accountant():
    rdp = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
    orders = 1 + np.geomspace(0.01, 1000, 2000)
    for rho, delta in ((0.5, 1e-5), (0.01, 1e-9), (8, 1e-3)):
        epsilon, _ = rdp.compute_epsilon(orders, rho * orders, delta)
        assert to_approx(ZeroConcentratedDP(rho), delta).epsilon == pytest.approx(epsilon, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("mus", [(1,), (0.3, 0.4), (2, 1, 0.5)])
def test_the_profile_of_composed_gaussians_is_that_of_an_accountant(pld, mus):
    accounted = pld.from_gaussian_mechanism(1 / math.hypot(*mus), value_discretization_interval=5e-4)
    whole, epsilons = compose(*map(GaussianDP, mus)), np.linspace(0, 4, 17)
    found = whole.profile(epsilons)
    assert found == pytest.approx(accounted.get_delta_for_epsilon(epsilons), rel=5e-3, abs=1e-6)
    # and back: the least ε at each of these δ
    for epsilon, delta in zip(epsilons[1:], found[1:], strict=True):
        if delta > 1e-9:
            assert to_approx(whole, float(delta)).epsilon == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("delta", [1e-2, 1e-6])
@pytest.mark.parametrize("times", [1, 20])
def test_zcdp_of_pure_and_gaussian_releases_bounds_an_accountant(pld, times, delta):
    """A conversion may only say less than the accountant, who knows the mechanism; and it says not very much less."""
    releases = {
        PureDP(0.3): pld.from_randomized_response(2 / (1 + math.exp(0.3)), 2, value_discretization_interval=1e-3),
        GaussianDP(0.3): pld.from_gaussian_mechanism(1 / 0.3, value_discretization_interval=1e-3),
    }
    for claim, one in releases.items():
        accounted = one.self_compose(times).get_epsilon_for_delta(delta)
        ours = to_approx(compose(*[to_zcdp(claim)] * times), delta).epsilon
        assert accounted <= ours * (1 + 1e-2) + 1e-6  # the accountant rounds up
        assert times == 1 or ours <= 1.7 * accounted + 0.3
        too_strong = to_approx(ZeroConcentratedDP(0.5 * to_zcdp(claim).rho * times), delta).epsilon
        assert times == 1 or too_strong < accounted  # half of ρ would be refuted


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0, 64.0])
def test_a_renyi_claim_at_a_delta_bounds_an_accountant(pld, order):
    """The best that one order can say of a Gaussian, by the divergence that it has there: αμ²/2."""
    for mu, delta in ((0.5, 1e-5), (1.0, 1e-3)):
        accounted = pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-3)
        ours = to_approx(to_renyi(GaussianDP(mu), order), delta).epsilon
        assert ours >= accounted.get_epsilon_for_delta(delta) * (1 - 1e-3)


@pytest.mark.parametrize("claim", [PureDP(1), ApproxDP(1, 0.05), GaussianDP(1), ZeroConcentratedDP(0.5), RenyiDP(2, 1)])
@pytest.mark.slow
def test_a_mixture_of_worst_pairs_keeps_the_worst_claim(claim):
    """The coin is seen: its tests take a point of either curve, with any split of the false positives."""
    weaker = claim.with_value(claim.value / 3)
    q0, q1 = np.meshgrid(np.linspace(0, 1, 15), np.linspace(0, 1, 15))
    for weight in (0.1, 0.5, 0.9):
        q = weight * q0 + (1 - weight) * q1
        p = weight * (1 - claim.tradeoff(q0)) + (1 - weight) * (1 - weaker.tradeoff(q1))
        assert np.all(1 - p >= mixture(claim, weaker).tradeoff(q) - 1e-9)


def test_too_strong_a_claim_for_a_mixture_would_be_noticed():
    claim, q = GaussianDP(1), np.linspace(0.01, 0.99, 99)
    p = 0.9 * (1 - claim.tradeoff(q)) + 0.1 * (1 - GaussianDP(0.3).tradeoff(q))
    assert np.any(1 - p < GaussianDP(0.8).tradeoff(q))


def test_composition_is_a_public_name():
    assert dpaudit.composition.compose("epsilon=1", "epsilon=2") == PureDP(3.0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 20.0])
def test_pure_privacy_is_concentrated_as_randomised_response_is(epsilon):
    rho = to_zcdp(f"epsilon={epsilon}").rho
    for order in 1 + np.logspace(-3, 3, 60):  # below, floats cancel
        assert to_renyi(f"epsilon={epsilon}", order).epsilon <= rho * order * (1 + 1e-9)
    near = to_renyi(f"epsilon={epsilon}", 1 + 1e-4)
    assert near.epsilon / near.order > 0.999 * rho  # and no smaller ρ would do
    assert rho <= epsilon**2 / 2
