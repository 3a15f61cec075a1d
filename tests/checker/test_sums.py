"""Are μ, ρ and sums of largest losses accepted where they add up, and nowhere else?"""

import copy
import math
from fractions import Fraction

import pytest

from dpaudit.accounting import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    RandomisedResponse,
    certify,
    certify_added,
)
from dpaudit.checker import CertificateError, check_certificate


def changed(account, name, value):
    return copy.deepcopy(account) | {name: value}


@pytest.mark.parametrize(
    ("account", "closed"),
    [
        (certify_added(Gaussian(2).times(3) + Block("mu=0.1"), "mu"), False),
        (certify_added(Gaussian(2).times(4), "mu"), True),
        (certify_added(Gaussian(2).times(3) + Block("rho=0.1"), "rho"), True),
        (certify_added(Laplace(2).times(3) + Gaussian(1) + Exponential(1), "rho"), False),
        (certify(Laplace(3).times(3) + DiscreteLaplace(7, sensitivity=2), delta=0), True),
    ],
    ids=["mu", "mu, a square", "rho", "rho from above", "largest losses"],
)
def test_a_sum_is_accepted_and_no_narrower_one(account, closed):
    given = account.certificate
    found = check_certificate(given)
    assert found.scope["parameter"] == account.parameter and found.sentences
    low, high = Fraction(given["low"]), Fraction(given["high"])
    assert (low == high) is closed and float(low) >= account.low and float(high) <= account.high
    tiny = max(high - low, Fraction(1, 10**25)) * 2
    for other in (
        changed(given, "high", str(high - tiny)),
        changed(given, "low", str(low + tiny)),
        changed(given, "at", "1/10"),
        changed(given, "digits", 10),
        changed(given, "ends", [{"side": "above", "order": "2"}]),
        changed(
            given, "events", [given["events"][0] | {"count": given["events"][0]["count"] + 1}, *given["events"][1:]]
        ),
    ):
        with pytest.raises(CertificateError):
            check_certificate(other)


@pytest.mark.parametrize(
    ("event", "mean"),
    [
        (Laplace(2), 0.5 + math.exp(-0.5) - 1),
        (RandomisedResponse(2), 2 * math.tanh(1)),
        (Block("epsilon=0.5"), 0.5 * math.tanh(0.25)),
        (Exponential(1), 0.5 * math.tanh(0.25)),
        (DiscreteLaplace(2, sensitivity=1), 0.5 * math.tanh(0.25)),
        (DiscreteGaussian(2, sensitivity=3), 9 / 8),
        (Laplace("1e19"), 5e-39),
    ],
    ids=str,
)
def test_rho_is_at_least_the_mean_loss(event, mean):
    found = certify_added(event.times(3), "rho")
    assert found.low == pytest.approx(3 * mean, rel=1e-9)
    check_certificate(found.certificate)
    low = Fraction(found.certificate["low"])
    for more in (Fraction(1, 10**10), Fraction(1, 1000)):
        with pytest.raises(CertificateError):
            check_certificate(changed(found.certificate, "low", str(low * (1 + more))))


@pytest.mark.parametrize("parameter", ["mu", "rho"])
def test_what_has_no_such_parameter_is_refused(parameter):
    given = certify_added(Gaussian(2).times(4), parameter).certificate
    sampled = given["events"][0] | {"sampling": {"name": "poisson", "rate": "1/10"}}
    whole = given["events"][0] | {"sampling": {"name": "poisson", "rate": "1"}}
    claim = {"mechanism": {"name": "claim", "epsilon": "1/100", "delta": "1/100"}, "count": 1}
    noise = {"mechanism": {"name": "laplace", "noise": "100"}, "count": 1}
    wide = changed(given, "high", "9") | {"low": "0"}
    check_certificate(wide)
    for event in (sampled, whole, claim, *([noise] if parameter == "mu" else [])):
        with pytest.raises(CertificateError, match="no theorem"):
            check_certificate(changed(wide, "events", [event]))
    with pytest.raises(CertificateError, match="parameter"):
        check_certificate(changed(given, "parameter", "nu"))
