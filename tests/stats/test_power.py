"""Would the audit have said so? What is called detectable is found in nine of ten audits."""

import math
import time

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import binom

from dpaudit.evidence.records import Attempt, Bound, Counts
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.stats import event_bound
from dpaudit.stats.guessing import detectable_guess, guess_bound
from dpaudit.stats.joint_region import joint_weight, lower_bound, two_sided_weight
from dpaudit.stats.methods import BOTH_SIDES
from dpaudit.stats.two_looks import detectable, detectable_gaussian, foresee, runs_to_show, runs_to_show_gaussian

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("guesses", [10, 50, 400])
@pytest.mark.parametrize("claim", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("error", [0.01, 0.05])
def test_guesses_exactly(guesses, claim, error):
    shown = [k for k in range(guesses + 1) if float(guess_bound(k, guesses - k, error)) > claim]
    found = detectable_guess(guesses, claim, error)
    if not shown:
        assert found == math.inf
        return
    direct = brentq(lambda e: binom.sf(min(shown) - 1, guesses, expit(e)) - 0.9, -5, 30, xtol=1e-12)
    assert found == pytest.approx(direct, abs=1e-8)
    assert found > claim


def test_too_few_guesses_can_show_nothing():
    assert detectable_guess(0, 1.0, 0.05) == math.inf
    assert detectable_guess(2, 1.0, 0.05) == math.inf
    assert detectable_guess(10**9, 1.0, 0.05) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("claim", "q", "n"),
    [
        (PureDP(1), 0.1, 2000),
        (PureDP(0.1), 0.4, 20_000),
        (PureDP(3), 0.002, 20_000),
        (ApproxDP(1, 0.01), 0.1, 5000),
        (GaussianDP(1), 0.1, 3000),
        (ZeroConcentratedDP(0.3), 0.05, 3000),
        (RenyiDP(2, 0.3), 0.2, 3000),
    ],
    ids=str,
)
def test_one_sided(claim, q, n):
    p = _event(claim, q, claim.value)
    weight = joint_weight(p, q, n, n)
    counts = Counts((n, n), (round(n * p), round(n * q)), (0, 0))
    least = detectable("joint", counts, claim=claim, weight=weight, error=0.05)
    assert least > claim.value
    true_q = (round(n * q) + 0.5) / (n + 1)
    true_p = _event(claim, true_q, least)
    rng = np.random.default_rng(0)
    found = sum(
        lower_bound("joint", Counts((n, n), (int(k), int(o)), (0, 0)), claim=claim, weight=weight, error=0.05)
        > claim.value
        for k, o in zip(rng.binomial(n, true_p, 200), rng.binomial(n, true_q, 200), strict=True)
    )
    assert 0.83 <= found / 200 <= 0.97


@pytest.mark.parametrize(("claim", "mass"), [(ApproxDP(1, 0.01), 0.3), (GaussianDP(1), 0.5)], ids=str)
def test_two_sided(claim, mass):
    runs = 8000
    weight = two_sided_weight(0.75 * mass, 0.25 * mass, runs)
    right = round(0.73 * mass * runs)
    counts = Counts((runs // 2, runs // 2), (right, 0), (round(mass * runs) - right, 0))
    least = detectable("two-sided joint", counts, claim=claim, weight=weight, error=0.05)
    a = brentq(lambda a: float(claim.least(a, mass - a)) - least, mass / 2 + 1e-9, mass - 1e-9)
    rng = np.random.default_rng(1)
    rights = rng.binomial(runs, a, 600)
    wrongs = rng.binomial(runs - rights, (mass - a) / (1 - a))
    found = sum(
        lower_bound(
            "two-sided joint",
            Counts((runs // 2, runs // 2), (int(k), 0), (int(o), 0)),
            claim=claim,
            weight=weight,
            error=0.05,
        )
        > claim.value
        for k, o in zip(rights, wrongs, strict=True)
    )
    assert 0.85 <= found / 600 <= 0.95


def _event(claim, q, value):
    return brentq(lambda p: float(claim.least(p, q)) - value, q, 1 - 1e-12, xtol=1e-12)


def test_an_event_without_counts_detects_nothing_small():
    nothing = Counts((500, 500), (0, 0), (0, 0))
    assert detectable("guess", nothing, claim=PureDP(1), weight=None, error=0.05) == math.inf
    for claim in (ApproxDP(1, 1e-5), GaussianDP(1), ZeroConcentratedDP(0.5)):
        assert detectable("joint", nothing, claim=claim, weight=0.7, error=0.05) > 2 * claim.value


def test_more_runs_detect_less():
    claim = ApproxDP(1, 1e-5)
    found = [detectable_gaussian(claim, runs, 0.05) for runs in (10**3, 10**4, 10**5, 10**6)]
    assert found == sorted(found, reverse=True)
    assert found[-1] > 1


# --- events whose counts hang together ---


@pytest.mark.parametrize("mass", [1.0, 0.9])
def test_where_every_run_is_a_guess_of_a_side(mass):
    # right guesses that are lucky leave fewer runs to be wrong in: the two counts are not moved one by one
    claim, runs = ApproxDP(1, 0.05), 20_000
    counts = Counts((runs // 2, runs // 2), (round(0.73 * mass * runs), 0), (round(0.27 * mass * runs), 0))
    weight = two_sided_weight(0.73 * mass, 0.27 * mass, runs)
    least = detectable("two-sided joint", counts, claim=claim, weight=weight, error=0.05)
    found = _found("two-sided joint", counts, claim, weight, least, runs)
    assert 0.85 <= found <= 0.95


@pytest.mark.nightly
def test_where_the_complement_tells_as_much():
    # p + q = 1: the larger loss of the two counts, and is unlucky only where both are
    claim, n, q = ApproxDP(1, 0.05), 8_000, 0.95 / (1 + math.e)
    p = _event(claim, q, 1.0)
    assert p + q == pytest.approx(1)
    counts = Counts((n, n), (round(n * p), round(n * q)), (0, 0))
    weight = joint_weight(p, q, n, n)
    least = detectable("joint", counts, claim=claim, weight=weight, error=0.05)
    assert 0.87 <= _found("joint", counts, claim, weight, least, 2 * n, repetitions=2_000) <= 0.95


@pytest.mark.parametrize(
    ("method", "claim"),
    [
        ("joint", PureDP(1)),
        ("odds given sides", PureDP(1)),
        ("joint", ApproxDP(1, 0.01)),
        ("joint", GaussianDP(1)),
        ("joint", ZeroConcentratedDP(0.3)),
    ],
    ids=str,
)
def test_of_a_constant_event_and_complement_are_a_guess_in_every_run(method, claim):
    """An event that is certain on both sides has no room above it: its own ratio could show no violation at all."""
    n, weight = 8_000, None if method.startswith("odds") else math.sqrt(0.5)
    least = detectable(method, Counts((n, n), (n, n), (0, 0)), claim=claim, weight=weight, error=0.05)
    assert claim.value < least < 1.5 * claim.value
    p = brentq(lambda p: float(claim.least(np.array(p), np.array(1 - p))) - least, 0.501, 0.999)
    rng = np.random.default_rng(0)
    counts = zip(rng.binomial(n, p, 120), rng.binomial(n, 1 - p, 120), strict=True)
    found = sum(
        lower_bound(method, Counts((n, n), (int(k), int(o)), (0, 0)), claim=claim, weight=weight, error=0.05)
        > claim.value
        for k, o in counts
    )
    assert 0.85 <= found / 120 <= 0.98


@pytest.mark.parametrize(
    ("claim", "counts", "weight"),
    [
        (ApproxDP(1, 1e-3), Counts((1500, 1500), (363, 373), (1137, 1127)), 0.9995),
        (ApproxDP(3, 0.05), Counts((5000, 5000), (2896, 2917), (2104, 2083)), 0.95),
        (GaussianDP(1), Counts((5000, 5000), (1622, 1610), (3378, 3390)), 0.7),
        (ApproxDP(0.3, 1e-3), Counts((1500, 1500), (768, 34), (732, 1466)), 0.95),
    ],
    ids=str,
)
def test_what_just_keeps_the_claim_is_not_called_detectable(claim, counts, weight):
    # a side that would have more right guesses than runs has some on the other side, and no guess is lost
    found = {"claim": claim, "weight": weight, "error": 0.02}
    least = detectable(BOTH_SIDES, counts, **found)
    assert least > 1.02 * claim.value
    twice = Counts(*(tuple(2 * own for own in part) for part in (counts.runs, counts.toward0, counts.toward1)))
    assert claim.value < detectable(BOTH_SIDES, twice, **found) < least


# --- how many runs it takes ---


def test_where_nothing_is_shown_the_search_for_runs_takes_large_steps(monkeypatch):
    # at a claim of 0 a bound that shows nothing says 0 whatever is missing: the search crept by 0.4 % of the runs
    asked = []
    margin = event_bound.CountedEvent.margin
    monkeypatch.setattr(event_bound.CountedEvent, "margin", lambda self, *of: asked.append(of) or margin(self, *of))
    counts, claim = Counts((280, 280), (28, 29), (0, 0)), ApproxDP(0, 0)
    found = runs_to_show("joint", counts, claim=claim, weight=0.7, error=0.05, value=0.1)
    assert 5_000 < found < 200_000 and len(asked) < 40


EVENTS = [
    ("guess", PureDP(1), 1.2, 0.3),
    ("guess", PureDP(0.1), 0.15, 0.9),
    ("guess", PureDP(0), 0.1, 0.5),
    ("joint", PureDP(3), 3.5, 0.002),
    ("joint", ApproxDP(1, 0.01), 1.2, 0.1),
    ("joint", ApproxDP(1, 0.05), 1.2, 0.25),
    ("joint", GaussianDP(1), 1.1, 0.1),
    ("joint", ZeroConcentratedDP(0.3), 0.4, 0.05),
    ("joint", RenyiDP(2, 0.3), 0.4, 0.2),
    ("two-sided joint", ApproxDP(1, 0.01), 1.2, 0.3),
    ("two-sided joint", GaussianDP(1), 1.1, 0.5),
]


@pytest.mark.parametrize(("method", "claim", "value", "mass"), EVENTS, ids=str)
def test_the_runs_that_are_planned_find_it_in_nine_of_ten_audits(method, claim, value, mass):
    counts, weight = _counted(method, claim, mass, 20_000)
    runs = runs_to_show(method, counts, claim=claim, weight=weight, error=0.05, value=value)
    assert 0.83 <= _found(method, counts, claim, weight, value, math.ceil(runs)) <= 0.97
    # and half of them do not: the number says something
    assert _found(method, counts, claim, weight, value, math.ceil(runs / 2)) < 0.8


@pytest.mark.parametrize(("method", "claim", "value", "mass"), EVENTS, ids=str)
def test_what_so_many_runs_detect_is_what_was_asked_for(method, claim, value, mass):
    counts, weight = _counted(method, claim, mass, 20_000)
    runs = runs_to_show(method, counts, claim=claim, weight=weight, error=0.05, value=value)
    there, _ = _counted(method, claim, mass, round(runs))
    least = detectable(method, there, claim=claim, weight=weight, error=0.05)
    assert least - claim.value == pytest.approx(value - claim.value, rel=0.04)


def test_bins_detect_in_the_planned_runs_what_was_asked_for():
    claim, weights = ZeroConcentratedDP(0.3), [1.0] * 6
    shares = np.array([0.4, 0.3, 0.2, 0.1])

    def counts(a_side):
        bins = tuple(tuple(int(count) for count in np.round(side * a_side)) for side in (shares, shares[::-1]))
        return Counts((sum(bins[0]), sum(bins[1])), (0, 0), (0, 0), bins)

    options = {"claim": claim, "weight": weights, "error": 0.05}
    runs = [runs_to_show("multinomial", counts(5_000), value=value, **options) for value in (0.36, 0.45)]
    assert 1.5 * runs[1] < runs[0] < math.inf
    for value, needed in zip((0.36, 0.45), runs, strict=True):
        least = detectable("multinomial", counts(needed / 2), **options)
        assert least - claim.value == pytest.approx(value - claim.value, rel=0.06)


def test_what_no_number_of_runs_would_show():
    nothing = Counts((500, 500), (0, 0), (0, 0))
    assert runs_to_show("guess", nothing, claim=PureDP(1), weight=None, error=0.05, value=2) == math.inf
    some = Counts((500, 500), (100, 50), (50, 100))
    for value in (1.0, 0.5, -1.0):
        assert runs_to_show("guess", some, claim=PureDP(1), weight=None, error=0.05, value=value) == math.inf
    assert runs_to_show_gaussian(ApproxDP(1, 1e-5), 1000, 0.05, 1.0) == math.inf


def test_smaller_violations_take_more_runs_and_a_better_confidence_too():
    counts = Counts((500, 500), (100, 50), (50, 100))

    def runs(value, error):
        return runs_to_show("guess", counts, claim=PureDP(1), weight=None, error=error, value=value)

    found = [runs(value, 0.05) for value in (3, 2, 1.5, 1.2, 1.1, 1.01)]
    assert found == sorted(found)
    assert runs(1.2, 0.001) > 1.5 * runs(1.2, 0.05)


@pytest.mark.parametrize("claim", [ApproxDP(1, 1e-2), ApproxDP(1, 1e-5), ApproxDP(0.5, 1e-3)], ids=str)
def test_the_runs_of_the_yardstick_detect_on_it_what_was_asked_for(claim):
    value = 1.6 * claim.value
    runs = runs_to_show_gaussian(claim, 10_000, 0.05, value)
    assert detectable_gaussian(claim, round(runs), 0.05) == pytest.approx(value, rel=0.02)


# --- what a whole audit says of it ---


def _attempt(pair, method, counts, claim, weight, confidence=0.95, value=0.9):
    bound = Bound(
        value, "lower", "sampled", claim.parameter, str(claim), confidence, claim.delta, method, weight, counts
    )
    return Attempt(pair, "stable", bound, ())


@pytest.mark.parametrize(("method", "claim", "value", "mass"), EVENTS, ids=str)
def test_the_table_of_smaller_violations_is_what_a_search_finds(method, claim, value, mass):
    counts, weight = _counted(method, claim, mass, 20_000)
    foreseen = foresee(claim, [_attempt(0, method, counts, claim, weight)], learning=5_000)
    # the level that is read back from the evidence
    least = detectable(method, counts, claim=claim, weight=weight, error=1 - 0.95)
    assert (foreseen.value, foreseen.where) == (least, "event")
    assert len(foreseen.smaller) == 3
    assert [row.value for row in foreseen.smaller] == sorted({row.value for row in foreseen.smaller}, reverse=True)
    for row in foreseen.smaller:
        assert claim.value < row.value < least
        exact = runs_to_show(method, counts, claim=claim, weight=weight, error=0.05, value=row.value)
        assert row.runs == pytest.approx(exact * 25_000 / 20_000, rel=0.25 if isinstance(claim, RenyiDP) else 0.12)


def test_the_table_of_the_yardstick_is_what_a_search_finds():
    claim = ApproxDP(1, 1e-3)
    counts = Counts((10_000, 10_000), (4_000, 2_500), (0, 0))  # an event that is easily shown to exceed the claim
    foreseen = foresee(claim, [_attempt(0, "joint", counts, claim, 0.5, value=0.1)], learning=0)
    assert foreseen.where == "gaussian"
    for row in foreseen.smaller:
        assert row.runs == pytest.approx(runs_to_show_gaussian(claim, 20_000, 0.05, row.value), rel=0.15)


def test_the_weakest_pair_decides_by_its_better_event():
    claim = PureDP(1)
    many, few, none = (Counts((9_000, 9_000), (k, k // 2), (k // 2, k)) for k in (4_000, 400, 0))
    alone = {
        name: foresee(claim, [_attempt(0, "guess", counts, claim, None)], 0).value
        for name, counts in (("many", many), ("few", few))
    }
    both = [_attempt(0, "guess", many, claim, None), _attempt(1, "guess", few, claim, None)]
    assert foresee(claim, both, 0).value == alone["few"] > alone["many"]
    both.append(_attempt(1, "guess", none, claim, None))
    assert foresee(claim, both, 0).value == alone["few"]


def test_where_nothing_shows_yet_the_table_says_what_would():
    counts = Counts((20, 20), (3, 1), (1, 3))
    foreseen = foresee(PureDP(2), [_attempt(0, "guess", counts, PureDP(2), None)], learning=10)
    assert foreseen.value == math.inf
    assert [row.value for row in foreseen.smaller] == [4, 3, 2.4]
    assert [row.runs for row in foreseen.smaller] == sorted(row.runs for row in foreseen.smaller)
    nothing = Counts((20, 20), (0, 0), (0, 0))
    assert foresee(PureDP(2), [_attempt(0, "guess", nothing, PureDP(2), None)], learning=10).smaller == ()


def test_a_long_audit_spends_little_on_it():
    claims = [("guess", PureDP(1), 0.4), ("joint", ApproxDP(1, 0.01), 0.1), ("joint", GaussianDP(1), 0.1)]
    for method, claim, mass in claims:
        counts, weight = _counted(method, claim, mass, 10_000_000)
        attempts = [_attempt(0, method, counts, claim, weight)]
        clock = time.process_time()
        for _ in range(3):
            foresee(claim, attempts, 500_000)
        assert (time.process_time() - clock) / 3 < 0.1  # about 0.015 s on an idle machine


def _counted(method, claim, mass, runs):
    """Counts of an event as common as ``mass`` that has the claimed loss, and the weight of its bound."""
    if method == "joint":
        p = _event(claim, mass, max(claim.value, 1e-3))
        n = runs // 2
        return Counts((n, n), (round(n * p), round(n * mass)), (0, 0)), joint_weight(p, mass, n, n)
    right = brentq(lambda a: float(claim.least(a, mass - a)) - claim.value, mass / 2, mass - 1e-9)
    counts = Counts((runs // 2, runs // 2), (round(right * runs), 0), (round((mass - right) * runs), 0))
    return counts, None if method == "guess" else two_sided_weight(right, mass - right, runs)


def _found(method, counts, claim, weight, value, runs, repetitions=200):
    """The share of repetitions in which such an event, of this loss, in so many runs, shows more than the claim."""
    rng = np.random.default_rng(0)
    if method == "joint":
        q = (counts.toward0[1] + 0.5) / (counts.runs[1] + 1)
        p, n = _event(claim, q, value), runs // 2
        drawn = [
            Counts((n, n), (int(k), int(o)), (0, 0))
            for k, o in zip(rng.binomial(n, p, repetitions), rng.binomial(n, q, repetitions), strict=True)
        ]
    else:
        mass = (sum(counts.toward0) + sum(counts.toward1)) / sum(counts.runs)
        a = brentq(lambda a: float(claim.least(a, mass - a)) - value, mass / 2 + 1e-12, mass - 1e-12, xtol=1e-13)
        rights = rng.binomial(runs, a, repetitions)
        wrongs = rng.binomial(runs - rights, min((mass - a) / (1 - a), 1.0))
        half = runs // 2
        drawn = [Counts((half, runs - half), (int(k), 0), (int(o), 0)) for k, o in zip(rights, wrongs, strict=True)]
    shown = [lower_bound(method, each, claim=claim, weight=weight, error=0.05) > claim.value for each in drawn]
    return sum(shown) / repetitions
