"""Are the curves of a page true? Against naive twins, exact laws, and how often the certain limits err."""

from __future__ import annotations

import itertools
import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from support import made_evidence as made

import dpaudit as dp
from dpaudit.evidence.event import Coordinate, Event, Rule
from dpaudit.evidence.records import Bound, Counts, Curve, Power, Verdict
from dpaudit.privacy import GaussianDP, PureDP
from dpaudit.report import console_summary, html_page
from dpaudit.report.document import TableBlock
from dpaudit.report.figures.curves import Point, certified_profile, frontier, measured_points
from dpaudit.report.html.measured import (
    certain_points,
    certified_loss,
    curves_section,
    mistake_rows,
    raised,
    suspicion,
    suspicion_rows,
)
from dpaudit.report.html.page import power_section
from dpaudit.report.view import view

RATES = st.floats(0.0, 1.0, allow_subnormal=False)  # between which a line is not too steep for np.interp


def point(fpr: float, fnr: float) -> Point:
    return Point("", (fpr, fnr), (fpr, fnr))


@pytest.mark.slow
@given(st.lists(st.tuples(RATES, RATES), max_size=6), RATES)
def test_the_frontier_is_what_mixing_two_events_reaches(rates: list[tuple[float, float]], at: float) -> None:
    points = [point(*pair) for pair in rates]
    hull = frontier(points)
    shown = np.interp(at, *zip(*hull, strict=True))
    ends = [(0.0, 1.0), (1.0, 0.0), *rates]
    naive = min(
        (
            b[1] + (a[1] - b[1]) * (0 if b[0] == a[0] else (b[0] - at) / (b[0] - a[0]))
            if a[0] < b[0]
            else min(a[1], b[1])
        )
        for a, b in itertools.product(ends, repeat=2)
        if a[0] <= at <= b[0]
    )
    assert shown == pytest.approx(min(naive, 1 - at), abs=1e-9)


@pytest.mark.slow
@given(st.floats(0.05, 5.0), RATES)
def test_a_claim_never_forbids_what_its_own_curve_allows(epsilon: float, at: float) -> None:
    claim = PureDP(epsilon)
    allowed = point(at, float(claim.tradeoff(at)))
    grid = np.linspace(0, 6, 50)
    assert np.all(certified_profile([allowed], grid) <= claim.profile(grid) + 1e-9)


def test_the_profile_of_one_event_is_its_definition() -> None:
    found = certified_profile([point(0.1, 0.5)], np.array([0.0, 1.0, 3.0]))
    assert found == pytest.approx([0.4, 0.5 - math.e * 0.1, 0.0])
    swapped = certified_profile([point(0.5, 0.1)], np.array([0.0, 1.0, 3.0]))  # the pair in the other order
    assert swapped == pytest.approx(found)


@pytest.mark.slow
def test_the_limits_err_no_more_often_than_they_say() -> None:
    """A two-sided event of Laplace laws: all four limits must hold together in 95 % of audits, or more."""
    runs, rng = 400, np.random.default_rng(1)
    p0, q0 = 0.5, 0.5 * math.exp(-1)  # below 0 for side 0, above 1 for side 1
    wrong = 0
    for _ in range(600):
        rest0, rest1 = rng.multinomial(runs, [p0, q0, 1 - p0 - q0]), rng.multinomial(runs, [q0, p0, 1 - p0 - q0])
        counts = Counts((runs, runs), (int(rest0[0]), int(rest1[0])), (int(rest0[1]), int(rest1[1])))
        bound = msgspec.structs.replace(made.laplace().lower, counts=counts)
        attempt = msgspec.structs.replace(made.laplace().attempts[0], bound=bound)
        points = measured_points(msgspec.structs.replace(made.laplace(), attempts=(attempt,)))
        corners = [one.corner for one in points]
        true = [(q0, 1 - p0), (1 - p0, q0)]
        wrong += any(c[own] < t[own] for c, t in zip(corners, true, strict=True) for own in (0, 1))
    assert binomtest(wrong, 600, 0.05, alternative="greater").pvalue > 1e-3
    assert wrong > 0  # limits that never err would be wasteful, or not limits


def test_only_counts_of_independent_runs_have_limits() -> None:
    attempt = made.laplace().attempts[0]
    for changes in ({"method": "sharp one-run"}, {"method": "sequential"}, {"arithmetic": "float"}, {"counts": None}):
        other = msgspec.structs.replace(attempt, bound=msgspec.structs.replace(attempt.bound, **changes))
        assert measured_points(msgspec.structs.replace(made.laplace(), attempts=(other,))) == []
    assert measured_points(msgspec.structs.replace(made.laplace(), verdict=Verdict.INVALID)) == []
    assert len(made.low_bits().attempts) == 2
    assert measured_points(made.low_bits()) == measured_points(made.laplace())


def mistakes(evidence: Any, claim: Any = None) -> list[Any]:
    """The rows of the table of an attacker's mistakes."""
    return mistake_rows(certain_points(evidence), evidence.claimed if claim is None else claim)


def is_beyond(row: Any) -> bool:
    return "beyond the claim" in str(row[-1].content)


@pytest.mark.slow
def test_a_computed_counterexample_stands_beyond_the_claim() -> None:
    first, *_ = mistakes(made.refuted())
    assert first[0].content == "counterexample, computed"
    assert is_beyond(first)
    kept = mistakes(made.proved())
    assert kept and not any(map(is_beyond, kept))


def curved(**changes: Any) -> Any:
    """A Gaussian of μ = 1 whose curve was certified at μ = 0.9."""
    weaker, fprs = GaussianDP(0.9), np.linspace(0.05, 0.95, 19)
    epsilons = np.linspace(0.0, 2.0, 9)
    basis = Curve(
        confidence=0.95,
        statements=(made.inconclusive().lower,) * 16,
        epsilons=tuple(epsilons.tolist()),
        deltas=tuple(weaker.profile(epsilons).tolist()),
        fprs=tuple(fprs.tolist()),
        fnrs=tuple(weaker.tradeoff(fprs).tolist()),
        mu=0.9,
    )
    curve = msgspec.structs.replace(basis, **changes)
    return msgspec.structs.replace(made.laplace(), claim="mu=1", curve=curve)


@pytest.mark.nightly
def test_a_certified_curve_takes_the_place_of_the_events() -> None:
    rows = mistakes(curved(), GaussianDP(1.0))
    assert 5 < len(rows) <= 10
    assert not any(map(is_beyond, rows))
    assert all(map(is_beyond, mistakes(curved(), GaussianDP(0.8))))
    page = html_page(curved())
    assert 'id="profile"' in page and "16 statements" in page


def test_a_delta_that_is_needed_at_one_epsilon_is_needed_at_smaller_ones() -> None:
    grid = np.array([0.0, 0.5, 1.0, 1.1])
    assert certified_profile([], grid, [(1.0, 0.2), (0.5, 0.3)]) == pytest.approx([0.3, 0.3, 0.2, 0.0])


def test_runs_for_smaller_violations_are_listed() -> None:
    power = (Power(1.01, 1_000_000), Power(1.005, 4_000_000))
    (section,) = power_section(view(msgspec.structs.replace(made.laplace(), power=power)))
    (listed,) = (block for block in section.blocks if isinstance(block, TableBlock))
    assert [tuple(cell.content for cell in row) for row in listed.rows] == [
        ("ε ≥ 1.01", "1,000,000"),
        ("ε ≥ 1.005", "4,000,000"),
    ]
    assert not [*power_section(view(made.invalid())), *power_section(view(made.no_claim()))]


@pytest.mark.slow
def test_nothing_measured_has_no_curves() -> None:
    for kind in (made.invalid, made.proved_for_any_length, made.boundless):
        assert not [*curves_section(view(kind()))]
        assert 'id="tradeoff"' not in html_page(kind())


# --- what an attacker can believe ------------------------------------------------------------------------


@pytest.mark.slow
@given(st.floats(1e-6, 1 - 1e-6), st.floats(-5, 5))
def test_a_suspicion_rises_by_bayes_rule(prior: float, loss: float) -> None:
    naive = prior * math.exp(loss) / (1 + prior * (math.exp(loss) - 1))
    assert float(raised(np.array(prior), loss)) == pytest.approx(naive)
    assert raised(np.array([0.0, 1.0]), loss) == pytest.approx([0.0, 1.0])


def suspicions(evidence: Any) -> list[tuple[str, str, str]]:
    """The rows of the table of suspicions: before, at most by the claim, at least by the evidence."""
    limit, _, loss = suspicion(evidence)
    return suspicion_rows(limit, loss)


def test_suspicions_are_rounded_to_the_side_of_truth() -> None:
    for prior, (_, *row) in zip((0.01, 0.1, 0.5), suspicions(made.laplace()), strict=True):
        most, least = (float(text.split("\u00a0")[0]) / 100 for text in row)
        assert most >= prior * math.e / (1 + prior * (math.e - 1)) - 1e-15
        lower = math.exp(made.laplace().lower.value)
        assert prior < least <= prior * lower / (1 + prior * (lower - 1))
        assert least == pytest.approx(prior * lower / (1 + prior * (lower - 1)), rel=0.01)


@pytest.mark.parametrize("kind", ["approximate", "renyi", "inconclusive", "no claim"])
def test_only_a_pure_claim_limits_single_outputs(kind: str) -> None:
    assert {most for _, most, _ in suspicions(made.KINDS[kind]())} == {"no limit"}


def test_an_infinite_loss_makes_certain() -> None:
    assert [least for _, _, least in suspicions(made.refuted_infinitely())] == ["100\u00a0%"] * 3
    assert certified_loss(made.boundless().lower) == math.inf


def test_guesses_of_one_run_say_nothing_of_single_outputs() -> None:
    lower = msgspec.structs.replace(made.laplace().lower, method="sharp one-run")
    assert suspicion(msgspec.structs.replace(made.laplace(), lower=lower))[2] == 0


def test_a_finite_loss_never_makes_certain() -> None:
    lower = msgspec.structs.replace(made.boundless().lower, value=60.0)
    evidence = msgspec.structs.replace(made.boundless(), lower=lower)
    assert [least for _, _, least in suspicions(evidence)] == ["99.9\u00a0%"] * 3


def test_runs_that_cannot_be_trusted_raise_no_suspicion() -> None:
    broken = msgspec.structs.replace(made.laplace(), verdict=Verdict.INVALID)
    assert suspicion(broken)[2] == 0


def test_a_bound_of_mu_shows_no_more_than_its_counts() -> None:
    """The loss of an event that a bound of μ is read as must not exceed the true one more often than it says."""
    runs, mu, rng = 500, 1.0, np.random.default_rng(2)
    event = Event("tails", (Rule("float", Coordinate(0), (1.5,), (0, -1)),))
    q, p = 0.0668, 0.3085  # N(0, 1) and N(1, 1) above 1.5
    basis = Bound(0.5, "lower", "sampled", "mu", "mu=1", 0.95, 0.0, "joint", 0.5, event=event, pair=0)
    losses = np.array(
        [
            certified_loss(msgspec.structs.replace(basis, counts=Counts((runs, runs), (0, 0), (int(a), int(b)))))
            for a, b in zip(rng.binomial(runs, q, 600), rng.binomial(runs, p, 600), strict=True)
        ]
    )
    wrong = int(np.sum(losses > math.log(p / q)))
    assert binomtest(wrong, 600, 0.05, alternative="greater").pvalue > 1e-3
    assert np.median(losses) > 0.6 * math.log(p / q)
    assert float(GaussianDP(mu).least(p, q)) == pytest.approx(1.0, abs=1e-2)


@pytest.mark.slow
def test_the_console_names_a_few_places_of_a_certified_curve():
    evidence = dp.audit("gaussian", curve=True, runs=4_000)
    text = " ".join(console_summary(evidence, width=300).split())

    first = evidence.curve.deltas[0]
    told = float(text.split("curve δ ≥ ")[1].split(" at ε = 0,")[0])
    assert told <= first < told * 1.01
    assert "all at once, at 95 % confidence" in text
