"""Is every claim audited in its own terms: the parameter that it names, along the whole curve that it is?"""

import functools
import math

import pytest
from scipy.optimize import brentq
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.review.check import check, passes

pytestmark = pytest.mark.slow

NUMBERS = {"pairs": [(0.0, 1.0)], "relation": "declared"}


def gaussian(data, noise, *, sigma=1.0):
    return data + noise.gaussian(sigma)


def discrete_gaussian(data, noise, *, sigma=1.0):
    return int(data) + noise.discrete_gaussian(sigma)


def coin(data, noise, *, keep=0.75):
    return bool(data) if noise.bernoulli(keep) else not data


def analytic_sigma(epsilon, delta):
    """The σ at which a Gaussian of sensitivity 1 has exactly δ(ε) (Balle & Wang 2018)."""
    return 1 / brentq(lambda mu: float(dp.GaussianDP(mu).profile(epsilon)) - delta, 1e-3, 50)


# --- a curve is not a point --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_half_the_noise_is_found_along_the_curve(seed):
    sigma = analytic_sigma(1, 1e-5)
    claim = dp.GaussianDP(1 / sigma)
    evidence = dp.audit(gaussian, parameters={"sigma": sigma / 2}, claim=claim, runs=20_000, seed=seed, **NUMBERS)
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert claim.mu < evidence.lower.value < 2 * claim.mu
    assert evidence.lower.parameter == "mu"


@pytest.mark.parametrize("seed", range(2))
def test_enough_noise_is_not(seed):
    sigma = analytic_sigma(1, 1e-5)
    evidence = dp.audit(
        gaussian, parameters={"sigma": sigma}, claim=dp.GaussianDP(1 / sigma), runs=20_000, seed=seed, **NUMBERS
    )
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED
    assert evidence.lower.value > 0.7 / sigma


def test_a_point_has_no_curve():
    """ε = 1 lies far above the Gaussian curve through (1, 1e-5) elsewhere, and is private all the same."""
    point = dp.audit("laplace", claim="epsilon=1, delta=1e-5", runs=20_000)
    curve = dp.audit("laplace", claim=dp.GaussianDP(1 / analytic_sigma(1, 1e-5)), runs=20_000)
    assert point.verdict is not dp.Verdict.VIOLATED
    assert curve.verdict is dp.Verdict.VIOLATED


# --- each in its own parameter -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "parameters", "claim", "least"),
    mostly_at_night(
        [
            (coin, {}, dp.PureDP(math.log(3)), 0.96),
            (coin, {}, dp.ApproxDP(math.log(2.5), 0.125), 0.9),
            (gaussian, {}, dp.GaussianDP(1), 0.95),
            (gaussian, {}, dp.ZeroConcentratedDP(0.5), 0.80),
            (gaussian, {}, dp.RenyiDP(1.25, 0.625), 0.80),
            (coin, {}, dp.RenyiDP(2, math.log(0.75**2 / 0.25 + 0.25**2 / 0.75)), 0.9),
        ],
        every=5,
    ),
)
def test_most_of_a_tight_claim_is_shown_and_a_smaller_one_refuted(target, parameters, claim, least):
    given = {"parameters": parameters, "runs": 100_000, "seed": 5, **NUMBERS}
    kept = dp.audit(target, claim=claim, **given)
    assert kept.verdict is dp.Verdict.NOT_VIOLATED
    assert least * claim.value < kept.lower.value <= claim.value
    assert kept.lower.parameter == claim.parameter
    smaller = claim.with_value(0.95 * least * claim.value)
    refuted = dp.audit(target, claim=smaller, **given)
    assert refuted.verdict is dp.Verdict.VIOLATED
    assert smaller.value < refuted.lower.value <= claim.value
    assert passes(check(kept))
    assert passes(check(refuted))


# --- bins --------------------------------------------------------------------------------------------------


@functools.cache
def in_bins():
    """Evidence of a divergence that is bounded by bins."""
    return dp.audit(gaussian, claim="rho=0.5", runs=20_000, seed=1, **NUMBERS)


def test_a_divergence_is_bounded_by_bins_and_they_are_kept():
    bound = in_bins().lower
    assert bound.method in ("multinomial", "swapped multinomial")
    most, least = bound.event.degrees
    assert most >= 1 and least <= -1 and most - least == len(bound.counts.bins[0])
    for side in (0, 1):
        bins = bound.counts.bins[side]
        assert sum(bins) == bound.counts.runs[side]
        assert sum(bins[:most]) == bound.counts.toward0[side]
        assert sum(bins[most:]) == bound.counts.toward1[side]
    assert bound.counts.bins[0][0] / bound.counts.runs[0] > bound.counts.bins[1][0] / bound.counts.runs[1]
    assert len(bound.weight) == 2 * (most - least - 1)
    # one event along the same runs shows far less
    from dpaudit.stats.joint_region import joint_region

    one = joint_region(
        bound.counts.toward0[0],
        bound.counts.runs[0],
        bound.counts.toward0[1],
        bound.counts.runs[1],
        weight=0.7,
        error=0.05,
    )
    assert float(one.least(dp.ZeroConcentratedDP(0).least)) < 0.85 * bound.value


def test_evidence_with_bins_is_read_back_and_altered_bins_are_seen(tmp_path):
    import msgspec

    evidence = in_bins()
    evidence.save(tmp_path / "bins.json")
    again = dp.Evidence.load(tmp_path / "bins.json")
    assert again.id == evidence.id and again.lower == evidence.lower
    attempt = evidence.attempts[0]
    bins0, bins1 = attempt.bound.counts.bins
    for changed in (
        {
            "counts": msgspec.structs.replace(
                attempt.bound.counts, bins=((bins0[0] + 9, bins0[1] - 9, *bins0[2:]), bins1)
            )
        },
        {"counts": msgspec.structs.replace(attempt.bound.counts, bins=((bins0[0] + 9, *bins0[1:]), bins1))},
        {"counts": msgspec.structs.replace(attempt.bound.counts, bins=None)},
        {"weight": attempt.bound.weight[:-1]},
        {"weight": 0.5},
        {"method": "joint"},
        {"method": "multinomial" if attempt.bound.method != "multinomial" else "swapped multinomial"},
    ):
        bound = msgspec.structs.replace(attempt.bound, **changed)
        forged = msgspec.structs.replace(evidence, attempts=(msgspec.structs.replace(attempt, bound=bound),))
        assert any(finding.fails for finding in check(forged) if finding.what == "bound"), changed
