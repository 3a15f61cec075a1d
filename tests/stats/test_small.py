"""Are bounds of a few runs what summing over every outcome says, and do they err as rarely as they say?"""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import betaincinv
from scipy.stats import beta, binom, norm
from support.nightly import mostly_at_night

from dpaudit.evidence.records import Counts
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.stats import exact_region as small
from dpaudit.stats.exact_region import enumerated_region
from dpaudit.stats.joint_region import joint_region, joint_weight, lower_bound
from dpaudit.stats.methods import method_for
from dpaudit.stats.two_looks import detectable

pytestmark = pytest.mark.slow

SLACK = 1 + 1e-9
CLAIMS = [PureDP(0), ApproxDP(0, 0.05), ApproxDP(0, 0.5), GaussianDP(0), ZeroConcentratedDP(0), RenyiDP(2, 0)]
each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=str)


def naive_extreme(hits, n, others, m, claim, weight, error):
    """Outcomes at least as extreme, with all that have more hits and fewer others."""
    critical = norm.isf(error)
    back = math.sqrt(1 - weight * weight)

    def rank(k, other):
        found = []
        for along in (-0.7, 0, 0.7):
            low = beta.ppf(norm.sf(weight * critical - along * back), k + 0.5, n - k + 0.5)
            high = beta.isf(norm.sf(back * critical + along * weight), other + 0.5, m - other + 0.5)
            found.append(float(claim.least(low, high)))
        return min(found)

    outcomes = [(k, other) for k in range(n + 1) for other in range(m + 1)]
    least = rank(hits, others) - 1e-11
    seeds = [outcome for outcome in outcomes if rank(*outcome) >= least]
    return np.array([(k, o) for k, o in outcomes if any(a <= k and b >= o for a, b in seeds)]).T


def naive_chance(extreme, n, m, p, q):
    k, others = extreme
    return np.sum(binom.pmf(k, n, p) * binom.pmf(others, m, q))


@pytest.mark.parametrize(("claim", "weight"), [*zip(CLAIMS, [0.3, 0.8] * 3, strict=True)], ids=str)
def test_the_region_is_its_naive_twin(claim, weight):
    n, error, corners = 9, 0.1, 7
    gamma = error / 50
    for hits, others, m in ((8, 1, 6), (9, 0, 6), (5, 0, 11)):
        arguments = {"claim": claim, "weight": weight, "error": error, "corners": corners}
        region = enumerated_region(hits, n, others, m, **arguments)
        if np.all(region.p == 0):
            continue
        cut = beta.ppf(gamma, hits, n - hits + 1)
        extreme = naive_extreme(hits, n, others, m, claim, weight, error)
        for p, q in zip(region.p, [0.0, *region.q[:-1]], strict=True):

            def above(at, q=q, m=m, extreme=extreme):
                return naive_chance(extreme, n, m, at, q) - (error - 2 * gamma)

            expected = max(brentq(above, 1e-9, 1 - 1e-9, xtol=1e-7), cut) if above(1 - 1e-9) > 0 else 1.0
            assert p == pytest.approx(expected, abs=1e-4) or (expected > 0.999 and p > 0.99)


@pytest.mark.parametrize(
    ("error", "weight"),
    mostly_at_night([(0.05, 0.7071), (0.2, 0.3), (0.2, 1 - 1e-6), (0.05, 1e-3), (1e-6, 0.5)]),
)
@each_claim
def test_errors_by_enumeration(claim, error, weight):
    for n, m in ((8, 8), (1, 6), (9, 3)):
        k, others = np.array([(k, o) for k in range(n + 1) for o in range(m + 1)]).T
        found = enumerated_region(k, n, others, m, claim=claim, weight=weight, error=error, corners=40)
        bounds = found.least(claim.least)
        p, q = truths()
        mass = binom.pmf(k, n, p[:, None]) * binom.pmf(others, m, q[:, None])
        assert mass.sum(axis=1) == pytest.approx(1)
        wrong = bounds > (claim.least(p, q) * SLACK)[:, None]
        assert np.max(np.sum(mass * wrong, axis=1)) <= error * SLACK


def truths():
    rng = np.random.default_rng(0)
    some = np.concatenate([rng.random(12), [0.0, 1e-4, 0.01, 0.05, 0.5, 0.95, 0.99, 1.0]])
    p, q = (grid.ravel() for grid in np.meshgrid(some, some))
    return np.concatenate([p, some]), np.concatenate([q, some])


def test_more_of_the_error_level_is_used():
    # what the sum over outcomes is for: two p-values combined leave nearly all of it unused here
    n, error, claim = 30, 0.05, PureDP(0)
    k, others = np.indices((n + 1, n + 1))
    q = np.linspace(0.05, 0.25, 12)[:, None, None]
    mass = binom.pmf(k, n, q * math.e) * binom.pmf(others, n, q)
    enumerated = enumerated_region(k, n, others, n, claim=claim, weight=0.6, error=error, corners=60)
    combined = joint_region(k, n, others, n, weight=0.6, error=error)
    used, before = (
        np.sum(mass * (region.least(claim.least) > claim.least(q * math.e, q)), axis=(1, 2)) / error
        for region in (enumerated, combined)
    )
    assert np.max(used) <= 1
    assert np.mean(used) > 0.4 > 0.2 > np.mean(before)


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.delta < 0.5], ids=str)
def test_few_runs_show_more_than_two_p_values_combined(claim):
    for n, k, others in ((100, 54, 20), (300, 60, 2)):
        weight = joint_weight(k / n, others / n, n, n)
        plain = joint_region(k, n, others, n, weight=weight, error=0.05)
        found = enumerated_region(k, n, others, n, claim=claim, weight=weight, error=0.05)
        assert found.least(claim.least) > plain.least(claim.least) > 0


@pytest.mark.nightly
def test_windows_and_corners_change_no_truth():
    # the sums leave out what is far away, on the safe side: all outcomes must allow as much
    n, m, error, weight, claim = 2000, 1500, 0.05, 0.4, ApproxDP(1, 1e-3)
    for hits, others in ((60, 2), (1990, 300)):
        few = enumerated_region(hits, n, others, m, claim=claim, weight=weight, error=error, corners=25)
        many = enumerated_region(hits, n, others, m, claim=claim, weight=weight, error=error)
        assert 0 < few.least(claim.least) <= many.least(claim.least)
        most = naive_most(hits, n, others, m, claim, weight, error)
        q = np.concatenate([[0.0], few.q[:-1]])
        mass = binom.pmf(np.arange(n + 1), n, few.p[:, None])
        chance = np.sum(mass * binom.cdf(most, m, q[:, None]), axis=1)
        cut = few.p == few.p.min()
        assert np.all(chance[~cut] <= error * 0.96) and np.max(chance[~cut]) > error * 0.955


def test_a_window_that_is_too_narrow_only_costs_tightness(monkeypatch):
    arguments = {"claim": PureDP(1), "weight": 0.4, "error": 0.05, "corners": 40}
    whole = enumerated_region(60, 200, 15, 200, **arguments)
    monkeypatch.setattr(small, "_SPARE", -0.5)
    narrow = enumerated_region(60, 200, 15, 200, **arguments)
    assert np.all(narrow.p <= whole.p) and np.any(narrow.p < whole.p) and np.array_equal(narrow.q, whole.q)


def naive_most(hits, n, others, m, claim, weight, error):
    critical, back = norm.isf(error), math.sqrt(1 - weight * weight)
    k, rest = np.arange(n + 1), np.arange(m + 1)
    ranks = np.full((n + 1, m + 1), np.inf)
    for along in (-0.7, 0, 0.7):
        low = betaincinv(k + 0.5, n - k + 0.5, norm.cdf(along * back - weight * critical))
        high = betaincinv(rest + 0.5, m - rest + 0.5, norm.cdf(along * weight + back * critical))
        ranks = np.minimum(ranks, claim.least(low[:, None], high))
    return np.sum(ranks >= ranks[hits, others] - 1e-11, axis=1) - 1


def test_outcomes_that_show_nothing():
    for hits, n, others, m in ((0, 5, 0, 5), (0, 0, 0, 0), (0, 1, 0, 2000), (3, 10, 9, 10), (1, 1, 1, 1)):
        region = enumerated_region(hits, n, others, m, claim=PureDP(1), weight=0.5, error=0.05)
        assert region.least(PureDP(1).least) == 0
    with pytest.raises(ValueError, match="weight"):
        enumerated_region(5, 10, 1, 10, claim=PureDP(1), weight=1.0, error=0.05)


@pytest.mark.parametrize(("error", "weight"), [(1e-9, 1e-3), (1e-9, 1 - 1e-6), (0.05, 0.5), (0.5, 1 - 1e-6)])
@each_claim
def test_extreme_counts_are_numbers(claim, weight, error):
    for (hits, n), (others, m) in itertools.product([(1, 1), (1, 400), (400, 400)], [(0, 1), (0, 400), (399, 400)]):
        region = enumerated_region(hits, n, others, m, claim=claim, weight=weight, error=error, corners=30)
        assert 0 <= region.least(claim.least) < math.inf


def test_the_method_hangs_on_the_runs_alone():
    assert method_for("joint", 2000) == "enumerated joint" and method_for("joint", 2001) == "joint"
    assert method_for("guess", 100) == "guess"
    assert method_for("enumerated joint", 100) == "enumerated joint"


def test_statements_are_read_from_counts():
    claim = ApproxDP(1, 0.01)
    toward0, toward1 = Counts((100, 120), (70, 10), (0, 0)), Counts((120, 100), (0, 0), (10, 70))
    region = enumerated_region(70, 100, 10, 120, claim=claim, weight=0.6, error=0.05)
    for counts in (toward0, toward1):
        found = lower_bound("enumerated joint", counts, claim=claim, weight=0.6, error=0.05)
        assert found == float(region.least(claim.least)) > 1
    with pytest.raises(ValueError, match="weight"):
        lower_bound("enumerated joint", toward0, claim=claim, weight=None, error=0.05)
    with pytest.raises(ValueError, match="no method"):
        lower_bound("any", toward0, claim=claim, weight=0.5, error=0.05)


def test_what_is_detectable_is_found_in_nine_of_ten_audits():
    claim, n, q = PureDP(1), 200, 0.1
    weight = joint_weight(q * math.e, q, n, n)
    counts = Counts((n, n), (54, 20), (0, 0))
    least = detectable("enumerated joint", counts, claim=claim, weight=weight, error=0.05)
    assert least <= detectable("joint", counts, claim=claim, weight=weight, error=0.05)
    true_q = 20.5 / (n + 1)
    rng = np.random.default_rng(0)
    k, others = rng.binomial(n, true_q * math.exp(least), 100), rng.binomial(n, true_q, 100)
    region = enumerated_region(k, n, others, n, claim=claim, weight=weight, error=0.05, corners=60)
    assert 0.83 <= np.mean(region.least(claim.least) > 1) <= 0.97
