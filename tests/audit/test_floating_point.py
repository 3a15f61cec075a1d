"""Do the low-order bits count for what was asked: a finding beside the verdict, the verdict too, or nothing?"""

import math
import random

import numpy as np
import pytest
from scipy.stats import binomtest

import dpaudit as dp
from dpaudit.auditing.question import validated
from dpaudit.request import AuditRequest
from dpaudit.stats.joint_region import lower_bound

pytestmark = pytest.mark.slow

PAIR = [(0, 1)]


def laplace(data, size, rng, epsilon=1.0):
    return data + rng.laplace(0, 1 / epsilon, size)


def textbook(data, size, rng, epsilon=1.0):
    u = rng.random(size) - 0.5
    return data - np.sign(u) * np.log(1 - 2 * np.abs(u)) / epsilon


def gaussian(data, size, rng):
    return data + rng.normal(0, 1, size)


def seeded(data, rng):
    return data + rng.laplace(0, 1)


def opaque(data):
    return data + random.expovariate(1) - random.expovariate(1)


def program(data, noise):
    return data + noise.laplace(1)


def discrete(data, size, rng, step=2.0**-10):
    tail = 1 - math.exp(-step)
    return data + step * (rng.geometric(tail, size) - rng.geometric(tail, size))


def fine_grid(data, size, rng):
    return discrete(data, size, rng, 2.0**-40)


def geometric(data, size, rng):
    return discrete(data, size, rng, 1.0)


def decimals(data, size, rng):
    return np.round(laplace(data, size, rng), 2)


def private(data, size, rng):
    return 1000 + laplace(data, size, rng)  # so far from 0 that doubles are coarser than any noise


def audit(function, **options):
    return dp.audit(function, **{"claim": "epsilon=1", "pairs": PAIR, "runs": 20_000, **options})


@pytest.mark.parametrize("function", [laplace, textbook])
def test_a_hundred_runs_a_side_are_enough_for_ordinary_noise(function):
    found = sum(audit(function, runs=200, seed=seed).floating_point.value > 1 for seed in range(10))
    assert binomtest(found, 10, 0.95, alternative="less").pvalue > 0.01, f"{found} of 10"


@pytest.mark.parametrize("function", [laplace, textbook, gaussian, seeded, opaque])
def test_the_finding_is_a_bound_of_its_own(function):
    random.seed(1)  # of the opaque function
    evidence = audit(function, claim="mu=1" if function is gaussian else "epsilon=1")
    bound = evidence.floating_point
    assert (bound.side, bound.kind, bound.arithmetic, bound.pair) == ("lower", "sampled", "float", 0)
    assert (bound.confidence, evidence.low_bits) == (0.95, "report")
    assert bound.value > 2
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED
    assert evidence.lower.arithmetic == "real"
    assert evidence.lower.value < 1.05
    assert sum(bound.counts.runs) <= evidence.measuring
    again = lower_bound(bound.method, bound.counts, claim=dp.parse_claim(bound.notion), weight=bound.weight, error=0.05)
    assert bound.value == pytest.approx(again, rel=1e-9)


def test_the_finding_changes_nothing_else():
    with_it, without = (audit(laplace, floating_point=policy) for policy in ("report", "ignore"))
    assert with_it.runs == without.runs == 20_000
    assert (with_it.lower, with_it.verdict, with_it.histogram) == (without.lower, without.verdict, without.histogram)
    assert with_it.detectable == without.detectable
    assert without.floating_point is None
    assert (with_it.low_bits, without.low_bits) == ("report", "ignore")
    assert set(with_it.attempts) > set(without.attempts)


def test_a_program_stands_for_mathematics():
    first, second = (audit(program, floating_point=policy) for policy in ("verdict", "ignore"))
    assert first.floating_point is None
    assert first.id == second.id


@pytest.mark.parametrize("name", ["float_laplace"])
def test_the_entry_of_the_catalogue_is_violated_where_low_order_bits_decide(name):
    assert dp.audit(name, runs=20_000).verdict is dp.Verdict.NOT_VIOLATED
    evidence = dp.audit(name, runs=20_000, floating_point="verdict")
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.verdict.exit_code == 1
    assert "for someone who reads the low-order bits" in evidence.reason
    assert evidence.lower.value <= 1 < evidence.floating_point.value


def test_a_verdict_by_the_low_order_bits_shares_the_error():
    pairs = [(0, 1), (1, 2)]
    evidence = audit(laplace, pairs=pairs, floating_point="verdict", confidence=0.9)
    real, low = (
        [1 - attempt.bound.confidence for attempt in evidence.attempts if attempt.bound.arithmetic == arithmetic]
        for arithmetic in ("real", "float")
    )
    assert sum(real) == pytest.approx(0.08)
    assert low == pytest.approx([0.01, 0.01])
    assert evidence.floating_point.confidence == evidence.lower.confidence == 0.9
    assert evidence.floating_point.value == max(a.bound.value for a in evidence.attempts if a.name == "low-order bits")


def test_in_a_report_they_share_an_error_among_themselves_only():
    evidence = audit(laplace, pairs=[(0, 1), (1, 2)])
    for arithmetic in ("real", "float"):
        errors = [1 - a.bound.confidence for a in evidence.attempts if a.bound.arithmetic == arithmetic]
        assert sum(errors) == pytest.approx(0.05)


def test_without_a_claim_low_order_bits_condemn_nothing():
    evidence = dp.audit(laplace, pairs=PAIR, runs=20_000, floating_point="verdict")
    assert evidence.verdict is dp.Verdict.NO_CLAIM
    assert evidence.floating_point.value > 1


def test_too_few_runs_for_the_rest_may_still_show_the_bits():
    assert audit(laplace, claim="epsilon=2", runs=300, floating_point="verdict").verdict is dp.Verdict.VIOLATED


@pytest.mark.parametrize("function", [discrete, geometric, decimals])
def test_coarse_outputs_have_none(function):
    evidence = audit(function, floating_point="verdict", confidence=0.999)
    assert evidence.verdict is not dp.Verdict.VIOLATED
    bound = evidence.floating_point
    assert (bound.value, bound.method, bound.event, bound.arithmetic) == (0.0, "none", None, "float")


def test_constants_have_none():
    assert audit(lambda data: 0.1, runs=1_000).floating_point.value == 0
    assert audit(lambda data: (data + 1) / 10, runs=1_000).floating_point.method == "none"


@pytest.mark.parametrize("function", [fine_grid, private])
def test_where_the_bits_tell_nothing_they_decide_nothing(function):
    for seed in range(5):
        evidence = audit(function, runs=2_000, seed=seed, floating_point="verdict")
        assert evidence.floating_point.event is not None
        assert evidence.verdict is not dp.Verdict.VIOLATED


@pytest.mark.parametrize(
    ("data", "numbers"),
    [
        ((0.25, 3), (0.25, 3.0)),
        (([1, 0.5], [1]), (1.5, 2.0, 1.0)),
        ((["a"], ["b"]), ()),
        ((math.nan, 10**400), ()),
        (({"a": 1}, None), ()),
    ],
)
def test_only_data_that_is_public_may_stand_in_an_event(data, numbers):
    public = dp.mechanism(laplace, pairs=[data], relation="declared")
    assert validated(AuditRequest(public, claim="epsilon=1")).public_numbers(0) == numbers
    assert (
        validated(AuditRequest(laplace, claim="epsilon=1", pairs=[data], relation="declared", seed=0)).public_numbers(0)
        == ()
    )


def test_runs_that_cannot_be_trusted_say_nothing_of_their_bits():
    def repeating(data, size, rng):
        return data + np.random.default_rng(0).laplace(0, 1, size)

    evidence = audit(repeating, floating_point="verdict")
    assert evidence.verdict is dp.Verdict.INVALID
    assert evidence.floating_point is None
