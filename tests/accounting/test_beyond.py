"""Is a claim judged where losses are beyond all curves? More noise loses no more, by exact masses."""

import copy
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.accounting import as_events, certify
from dpaudit.accounting.certificate import written
from dpaudit.accounting.closed_forms import loses_no_more, with_more_noise
from dpaudit.checker import CertificateError, check_certificate
from dpaudit.review.check import check, exit_code

CLAIM = "epsilon=3, delta=1e-5"
LOUD = [
    dp.accounting.Gaussian("1/40000"),
    dp.accounting.Gaussian("1e-12").times(10),
    dp.accounting.Gaussian(noise_multiplier="1/40000").poisson("0.01").times(100),
    dp.accounting.Gaussian("1/40000").fixed_size(10, 1000).times(100),
    dp.accounting.Gaussian("1/100").shuffled(10).times(100),
    dp.accounting.Laplace("1/40000").times(100),
    dp.accounting.Laplace("1e-30") + dp.accounting.Block("rho=40000"),
    dp.accounting.DiscreteGaussian("1/40000").times(100),
    dp.accounting.DiscreteGaussian("1/40", sensitivity=3).poisson("0.1").times(20),
    dp.accounting.RandomisedResponse(10**7).times(3),
    dp.accounting.Exponential(10**7).times(3),
    dp.accounting.Block("epsilon=1e7"),
    dp.accounting.Block("mu=40000"),
]


@pytest.mark.slow
@pytest.mark.parametrize("events", mostly_at_night(LOUD, every=5), ids=str)
def test_the_grossest_violation_is_red(events):
    evidence = dp.account(events, claim=CLAIM, alone=True)
    assert evidence.verdict.value == "violated" and evidence.lower.value > 3 and evidence.upper is None
    findings = list(check(evidence))
    assert exit_code(findings) == 0, findings


@pytest.mark.slow
def test_too_much_noise_keeps_a_claim():
    evidence = dp.account(
        dp.accounting.Gaussian("1e30") + dp.accounting.Laplace("1e25"), claim="epsilon=1e-9, delta=1e-9", alone=True
    )
    assert evidence.verdict.value == "proved" and exit_code(check(evidence)) == 0


def test_delta_is_bounded_beyond_the_range_too():
    found = certify(dp.accounting.RandomisedResponse(10**7), epsilon=5)
    assert 0.9 < found.low <= 1 == found.high
    assert check_certificate(found.certificate)


def curve(p, q, alphas):
    return np.maximum(p[None, :] - alphas[:, None] * q[None, :], 0).sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("less", [Fraction(1, 2), Fraction(2), Fraction(9, 2)])
def test_more_noise_loses_no_more_at_any_epsilon(less):
    alphas = np.exp(np.linspace(-6, 6, 200))
    at = np.arange(-4000, 4001)
    for law in (stats.dlaplace.pmf, lambda k, a: np.exp(-a * np.abs(k)) * (1 - np.exp(-a)) / (1 + np.exp(-a))):
        rates = [1 / float(scale) for scale in (less, less * Fraction(11, 10))]
        curves = [curve(law(at - 1, rate), law(at, rate), alphas) for rate in rates]
        assert np.all(curves[0] >= curves[1] - 1e-12)
    # an observer of discrete Gaussian noise learns no less than randomised response tells
    for sigma in (0.45, 0.3, 0.2):
        weights = np.exp(-(at.astype(float) ** 2) / (2 * sigma**2))
        masses, y = weights / weights.sum(), 1 / (2 * sigma**2) - 2
        truth = np.array([1 / (1 + np.exp(-y)), 1 / (1 + np.exp(y))])
        for far in (1, 3):
            assert np.all(curve(np.roll(masses, far), masses, alphas) >= curve(truth, truth[::-1], alphas) - 1e-12)


@pytest.mark.parametrize("events", [each for each in LOUD if "shuffled" not in str(each)], ids=str)
def test_lists_with_more_noise_are_recognised_and_others_are_not(events):
    def told(listed):
        return [written(event, count) for event, count in listed.parts]

    own = told(as_events(events).under())
    noisier = [told(each) for each in with_more_noise(as_events(events).under(), Fraction(16))][:12]
    assert noisier and all(loses_no_more(each, own) for each in noisier)
    assert not any(loses_no_more(own, each) for each in noisier)
    for one in noisier[:2]:
        fewer = copy.deepcopy(one)
        fewer[0]["count"] += 1
        assert not loses_no_more(fewer, own)
        assert not loses_no_more(one[:-1], own)
        other = copy.deepcopy(one)
        other[0]["mechanism"]["name"] = "another"
        assert not loses_no_more(other, own)


def forged(evidence, change):
    import msgspec

    certificate = copy.deepcopy(evidence.accounting.certificates[0])
    change(certificate)
    accounting = msgspec.structs.replace(evidence.accounting, certificates=(certificate,))
    return msgspec.structs.replace(evidence, accounting=accounting)


def test_less_noise_bounds_nothing_from_below_and_more_nothing_from_above():
    loud = dp.account(dp.accounting.Gaussian("1/10"), claim=CLAIM, alone=True)
    for noise in ("1/20", "1"):  # other lists than is stated, each with an interval of its own
        own = certify(dp.accounting.Gaussian(noise), delta="1e-5")
        swapped = forged(loud, lambda one, own=own: one.update(own.certificate))
        assert exit_code(check(swapped)) == 1
    open_above = dict(certify(dp.accounting.Gaussian("1/20"), delta="1e-5").certificate, high="infinity")
    assert exit_code(check(forged(loud, lambda one: one.update(open_above)))) == 1


@pytest.mark.slow
def test_an_interval_that_is_open_needs_no_composition_there_and_may_not_have_one():
    found = certify(dp.accounting.Laplace(2).times(3), delta="1e-5").certificate
    below = [end for end in found["ends"] if end["side"] == "below"]
    assert check_certificate({**found, "high": "infinity", "ends": below})
    for wrong in (
        {**found, "high": "infinity"},
        {**found, "ends": below},
        {**found, "low": "infinity", "high": "infinity", "ends": below},
        {**found, "parameter": "delta", "at": "1", "high": "infinity", "ends": below},
        {**found, "low": "infinity"},
    ):
        with pytest.raises(CertificateError):
            check_certificate(wrong)


def test_an_infinite_loss_is_checked():
    block = certify(dp.accounting.Block("epsilon=1, delta=1e-3").times(2), delta="1e-5").certificate
    assert block["low"] == "infinity" and check_certificate(block)
    with pytest.raises(CertificateError):
        check_certificate({**block, "at": "1/100"})
    with pytest.raises(CertificateError):
        check_certificate(
            {**certify(dp.accounting.Laplace(1), delta=0).certificate, "low": "infinity", "high": "infinity"}
        )
    assert check_certificate(certify(dp.accounting.Gaussian(1).poisson("0.1"), delta=0).certificate)
