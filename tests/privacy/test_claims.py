"""Are claims values that survive being written down, and is nonsense refused with a sentence?"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP, parse_claim
from dpaudit.privacy.claims import as_claim, needs_delta, number_text

laws = settings(derandomize=True, max_examples=300, deadline=None)
finite = st.floats(0, allow_nan=False, allow_infinity=False)
claims = st.one_of(
    st.builds(PureDP, finite),
    st.builds(ApproxDP, finite, st.floats(0, 1)),
    st.builds(GaussianDP, finite),
    st.builds(ZeroConcentratedDP, finite),
    st.builds(RenyiDP, st.floats(1, exclude_min=True, allow_infinity=False), finite),
)


@pytest.mark.slow
@laws
@given(claims)
def test_a_claim_reads_back_from_its_text(claim):
    assert parse_claim(str(claim)) == claim
    assert str(parse_claim(str(claim))) == str(claim)
    assert as_claim(claim) is claim and as_claim(str(claim)) == claim


@pytest.mark.slow
@laws
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_from_their_text(number):
    assert float(number_text(number)) == number


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("epsilon=1", PureDP(1)),
        (" ε = 1 ", PureDP(1)),
        ("EPS=ln(3)", PureDP(math.log(3))),
        ("delta=1e-6, epsilon=.5", ApproxDP(0.5, 1e-6)),
        ("μ=2", GaussianDP(2)),
        ("rho=0.5", ZeroConcentratedDP(0.5)),
        ("order=2,epsilon=1", RenyiDP(2, 1)),
        ("epsilon=-0", PureDP(0)),
    ],
)
def test_ways_to_write_a_claim(text, claim):
    assert parse_claim(text) == claim


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "''"),
        ("one", "'one'"),
        ("epsilon", "'epsilon'"),
        ("epsilon=", "''"),
        ("epsilon=one", "'one'"),
        ("epsilon=ln(0)", "'ln(0)'"),
        ("epsilon=ln(-1)", "'ln(-1)'"),
        ("epsilon=nan", "nan"),
        ("epsilon=inf", "inf"),
        ("epsilon=1e999", "inf"),
        ("epsilon=-1", "-1"),
        ("epsilon=1, delta=2", "2.0"),
        ("epsilon=1, delta=-1e-9", "-1e-09"),
        ("epsilon=1, epsilon=2", "twice"),
        ("delta=1e-5", "'delta=1e-5'"),
        ("mu=1, delta=1e-5", "'mu=1, delta=1e-5'"),
        ("order=1, epsilon=1", "1.0"),
        ("order=0.5, epsilon=1", "0.5"),
        ("sigma=1", "'sigma=1'"),
    ],
)
def test_nonsense_is_refused_naming_what_was_given(text, named):
    with pytest.raises(UsageError) as refusal:
        parse_claim(text)
    assert named in str(refusal.value)


@pytest.mark.parametrize("value", [None, "1", True, math.nan, math.inf, -math.inf, -1e-300, 1j, [1], 10**400])
@pytest.mark.parametrize("notion", [PureDP, GaussianDP, ZeroConcentratedDP, lambda v: ApproxDP(v, 0.1)])
def test_values_that_are_no_loss_are_refused(notion, value):
    with pytest.raises(UsageError, match="must be a"):
        notion(value)


@pytest.mark.parametrize("value", [3, 0.5, b"epsilon=1", [PureDP(1)]])
def test_what_is_no_claim_is_refused(value):
    with pytest.raises(UsageError, match="a claim is"):
        as_claim(value)


@pytest.mark.slow
@laws
@given(claims)
def test_a_gross_violation_is_larger_and_another_value_keeps_the_rest(claim):
    assert claim.gross() > claim.value or math.isinf(2 * claim.value)
    changed = claim.with_value(0.25)
    assert type(changed) is type(claim) and changed.value == 0.25 and changed.delta == claim.delta
    assert getattr(changed, "order", None) == getattr(claim, "order", None)


def test_groups():
    assert PureDP(0.5).group(3) == PureDP(1.5)
    assert GaussianDP(0.5).group(3) == GaussianDP(1.5)
    assert ZeroConcentratedDP(0.5).group(3) == ZeroConcentratedDP(4.5)
    two = ApproxDP(1, 1e-3).group(2)
    assert two.epsilon == 2 and two.delta == pytest.approx(1e-3 * (1 + math.e))
    assert ApproxDP(0, 1e-3).group(4) == ApproxDP(0, 4e-3)
    assert ApproxDP(700, 1e-3).group(5).delta == 1
    assert ApproxDP(1, 0).group(5) == ApproxDP(5, 0)
    assert RenyiDP(2, 1).group(1) == RenyiDP(2, 1)
    with pytest.raises(UsageError, match="Rényi"):
        RenyiDP(2, 1).group(2)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "2", None])
def test_what_is_no_group_is_refused(size):
    with pytest.raises(UsageError, match="group"):
        PureDP(1).group(size)


def test_a_group_of_two_is_a_chain_of_two_neighbours():
    # f of the group is f after f: 1 − f_2(α) = 1 − f(1 − f(α)) for randomised response and the Gaussian
    at = np.linspace(0, 1, 101)
    gaussian = GaussianDP(0.7)
    assert gaussian.group(2).tradeoff(at) == pytest.approx(gaussian.tradeoff(1 - gaussian.tradeoff(at)), abs=1e-9)
    approx = ApproxDP(0.7, 0.01)
    chained = approx.tradeoff(np.minimum(1, 1 - approx.tradeoff(at)))
    assert np.all(approx.group(2).tradeoff(at) <= chained + 1e-12)


def test_what_gaussian_noise_is_told_to_claim_is_a_claim():
    assert parse_claim(needs_delta("Gaussian noise", "3").split("'")[1]) == ApproxDP(3, 1e-5)
