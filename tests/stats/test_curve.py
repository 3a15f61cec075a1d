"""Do a few regions say of the whole privacy curve what they show, no more and at every point at once?"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from dpaudit.evidence.records import Bound, Counts
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP
from dpaudit.stats.joint_region import ConfidenceRegion, joint_region, two_sided_region
from dpaudit.stats.renyi import DeltaAt, PowerAt, about, delta_at_least, fnr_at_most, mu_at_least, region_of_bound

laws = settings(derandomize=True, max_examples=100, deadline=None)
chances = st.floats(0, 1)


def point(p, q):
    """The region of one point."""
    return ConfidenceRegion(np.array([float(p)]), np.array([float(q)]))


# --- what one event shows ----------------------------------------------------------------------------------


@pytest.mark.slow
@laws
@given(chances, chances, st.floats(0, 8))
def test_delta_is_the_excess_of_an_event_or_of_its_complement(p, q, epsilon):
    found = float(DeltaAt(epsilon).least(p, q))
    expected = max(0.0, p - math.exp(epsilon) * q, 1 - q - math.exp(epsilon) * (1 - p)) if p > q else 0.0
    assert found == pytest.approx(expected, abs=1e-12)
    assert found <= expected


@pytest.mark.slow
@laws
@given(chances, chances, chances)
def test_power_is_the_height_of_the_hull(p, q, fpr):
    """The naive twin: the best mixture of any two of the four corners, one of them left and one right of the rate."""
    corners = [(0.0, 0.0), (1.0, 1.0)] + ([(q, p), (1 - p, 1 - q)] if p > q else [])
    best = fpr
    for x0, y0 in corners:
        for x1, y1 in corners:
            if x0 <= fpr <= x1:
                best = max(best, y1 if x1 == x0 else y0 + (y1 - y0) * (fpr - x0) / (x1 - x0))
    assert float(PowerAt(fpr).least(p, q)) == pytest.approx(best - fpr, abs=1e-12)


@pytest.mark.slow
@laws
@given(chances, chances, chances, chances, st.one_of(st.builds(DeltaAt, st.floats(0, 5)), st.builds(PowerAt, chances)))
def test_more_is_shown_by_a_likelier_event_and_less_by_a_likelier_mistake(p0, p1, q0, q1, notion):
    low, high = sorted((p0, p1))
    few, many = sorted((q0, q1))
    assert float(notion.least(low, many)) <= float(notion.least(high, few)) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("claim", [PureDP(1), ApproxDP(0.5, 0.1), GaussianDP(1), ZeroConcentratedDP(0.3)])
def test_what_keeps_a_claim_shows_no_more_than_its_curve(claim):
    q = np.concatenate([[0.0], np.geomspace(1e-5, 0.05, 20), np.linspace(0.05, 0.99, 90)])
    regions = [point(1 - fnr, rate) for fnr, rate in zip(claim.tradeoff(q), q, strict=True)]
    epsilons, rates = np.linspace(0, 4, 9), np.linspace(0, 1, 21)
    delta, profile = delta_at_least(regions, epsilons), claim.profile(epsilons)
    assert np.all(delta <= profile + 1e-6)
    assert np.all(delta >= profile - 0.02)  # many points of the curve show nearly all of it
    left, curve = fnr_at_most(regions, rates), claim.tradeoff(rates)
    assert np.all(left >= curve - 1e-9)
    assert np.all(left <= curve + 0.02)
    if isinstance(claim, GaussianDP):
        assert mu_at_least(regions) == pytest.approx(1)


def test_the_ends():
    regions = [point(0.6, 0.2)]
    assert fnr_at_most(regions, [0.0, 1.0]) == pytest.approx([1.0, 0.0])
    assert delta_at_least(regions, 1e6) == 0
    assert delta_at_least([], [0.0, 1.0]) == pytest.approx([0, 0])
    assert fnr_at_most([], [0.25]) == pytest.approx([0.75])
    assert mu_at_least([]) == 0
    assert delta_at_least([point(0.3, 0.0)], 20.0) == pytest.approx(0.3)


# --- texts, and statements as they are written down --------------------------------------------------------


@pytest.mark.parametrize("notion", [DeltaAt(0.0), DeltaAt(0.123456789), PowerAt(1e-5), PowerAt(1.0), GaussianDP(0.0)])
def test_what_a_statement_is_about_is_read_back(notion):
    assert about(notion.parameter, str(notion)) == notion


@pytest.mark.parametrize(
    ("parameter", "notion"),
    [
        ("delta", "fpr=1"),
        ("delta", "epsilon=-1"),
        ("delta", "epsilon=nan"),
        ("", ""),
        ("mu", "epsilon=1"),
        ("delta", "x"),
    ],
)
def test_other_texts_are_refused(parameter, notion):
    with pytest.raises(ValueError):
        about(parameter, notion)


def test_nobody_claims_what_a_statement_is_about():
    for ask in (lambda: DeltaAt(1).profile(0), lambda: DeltaAt(1).tradeoff(0), lambda: PowerAt(0.1).group(2)):
        with pytest.raises(NotImplementedError):
            ask()


def statement(counts, method="joint", weight=0.6, confidence=0.99, notion="epsilon=1"):
    return Bound(0.0, "lower", "sampled", "delta", notion, confidence, 0.0, method, weight=weight, counts=counts)


def test_the_region_of_a_statement_is_that_of_its_method():
    counts = Counts((9000, 9100), (3000, 700), (0, 0))
    for method, expected in (
        ("joint", joint_region(3000, 9000, 700, 9100, weight=0.6, error=1 - 0.99)),
        ("two-sided joint", two_sided_region(3000, 700, 18_100, weight=0.6, error=1 - 0.99)),
    ):
        found = region_of_bound(statement(counts, method))
        assert np.array_equal(found.p, expected.p) and np.array_equal(found.q, expected.q)


def test_a_statement_without_counts_or_weight_is_refused():
    for wrong in (statement(None), statement(Counts((9, 9), (3, 1), (0, 0)), weight=None)):
        with pytest.raises(ValueError, match="counts and a weight"):
            region_of_bound(wrong)


# --- all at once -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_whole_curve_is_wrong_no_more_often_than_it_says():
    """Tight everywhere: each event is the best of a Gaussian at some ε, and any point of the curve may fail."""
    rng, n, claim, error = np.random.default_rng(1), 2000, GaussianDP(1.0), 0.3
    thresholds = np.linspace(-0.5, 2.5, 6)
    p, q = norm.sf(thresholds - 1), norm.sf(thresholds)
    cells_p, cells_q = (-np.diff(np.concatenate([[1.0], side, [0.0]])) for side in (p, q))
    epsilons, rates = np.linspace(0, 3, 13), np.array([0.01, 0.1, 0.3, 0.6])
    profile, curve = claim.profile(epsilons), claim.tradeoff(rates)
    wrong, repetitions, shown = 0, 150, []
    for _ in range(repetitions):
        hits, others = (np.cumsum(rng.multinomial(n, cells)[::-1])[::-1][1:] for cells in (cells_p, cells_q))
        regions = [
            joint_region(k, n, rest, n, weight=0.7, error=error / len(thresholds))
            for k, rest in zip(hits, others, strict=True)
        ]
        delta, left = delta_at_least(regions, epsilons), fnr_at_most(regions, rates)
        wrong += bool(np.any(delta > profile) or np.any(left < curve) or mu_at_least(regions) > 1)
        shown.append(delta[4])
    assert binomtest(wrong, repetitions, error, alternative="greater").pvalue > 1e-3
    assert wrong > 0.1 * error * repetitions  # and bounds of 0 would never be wrong
    assert np.median(shown) > 0.7 * profile[4]
