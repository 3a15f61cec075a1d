"""Are the numbers of a report true: rounded to the safe side, and equal to a slow and obvious computation?"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from support import made_evidence as made

import dpaudit as dp
from dpaudit.evidence.event import Box, Coordinate, Event, Rows, Rule
from dpaudit.evidence.records import Bound, Cell, Histogram
from dpaudit.report.document import Span
from dpaudit.report.figures.event import EventInterval, bars, regions, speaks_for
from dpaudit.report.figures.loss import LEAST, beyond, cell_losses, frequency_interval, loss_bins
from dpaudit.report.html.certain import differences
from dpaudit.report.text.phrases import (
    claim_text,
    confidence_text,
    enclosure_text,
    error_text,
    full_text,
    lower_text,
    share_text,
    upper_text,
)

values = st.floats(1e-12, 1e12, allow_nan=False)


def read(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf"))


@pytest.mark.slow
@given(values, st.none() | values)
def test_bounds_round_outward_and_never_across_the_claim(value: float, claim: float | None) -> None:
    from dpaudit.evidence.records import round_outward

    lower, upper = round_outward(value, "lower"), round_outward(value, "upper")
    low, high = read(lower_text(lower, claim=claim)), read(upper_text(upper, claim=claim))
    assert low <= lower <= upper <= high
    assert low >= lower * 0.998
    assert high <= upper * 1.002
    if claim is not None:
        assert (low > claim) == (lower > claim)
        assert (high <= claim) == (upper <= claim)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (lower_text(0.3), "0.3"),
        (lower_text(0.98576), "0.9857"),
        (upper_text(0.98571), "0.9858"),
        (lower_text(1.0987654, claim=math.log(3)), "1.0987"),
        (lower_text(12345.678), "12340"),
        (lower_text(1.23456e-7), "1.234e-7"),
        (upper_text(math.inf), "∞"),
        (claim_text(math.log(3)), "1.09861…"),
        (claim_text(1e-6), "1e-6"),
        (confidence_text(0.95), "95\u00a0%"),
        (confidence_text(0.9999999), "99.99999\u00a0%"),
        (error_text(0.99), "1\u00a0%"),
        (share_text(0.18), "18.0\u00a0%"),
        (share_text(0.0012349, rounding="upper"), "0.124\u00a0%"),
        (share_text(0.0), "0\u00a0%"),
        (share_text(0.99999), "100\u00a0%"),
        (share_text(0.99999, rounding="lower"), "99.9\u00a0%"),
    ],
)
def test_written_numbers(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize("runs", [1, 7, 400])
def test_intervals_are_the_exact_ones(runs: int) -> None:
    for count in {0, 1, runs // 2, runs}:
        own = frequency_interval(count, runs, 0.9)
        theirs = binomtest(count, runs).proportion_ci(0.9, "exact")
        assert np.allclose([float(own[0]), float(own[1])], [theirs.low, theirs.high], rtol=1e-9, atol=1e-12)
    assert [float(end) for end in frequency_interval(0, 0)] == [0.0, 1.0]


counts = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=12)


def histogram(cells: list[tuple[int, int]]) -> Histogram:
    runs = (sum(a for a, _ in cells) + 5, sum(b for _, b in cells) + 3)
    return Histogram(0, "category", runs, tuple(Cell(str(i), None, None, a, b) for i, (a, b) in enumerate(cells)))


@pytest.mark.slow
@given(counts, st.floats(0.0, 3.0))
def test_losses_against_a_naive_computation(cells: list[tuple[int, int]], epsilon: float) -> None:
    made_of = histogram(cells)
    losses = cell_losses(made_of)
    if losses is None:
        assert all(a == b == 0 for a, b in cells)
        return
    n0, n1 = made_of.runs
    above = below = excess0 = excess1 = 0.0
    for a, b in cells:
        p, q = a / n0, b / n1
        if a and (b == 0 or math.log(a / n0) - math.log(b / n1) > epsilon):
            above += p
        if b and (a == 0 or math.log(a / n0) - math.log(b / n1) < -epsilon):
            below += q
        excess0 += max(p - math.exp(epsilon) * q, 0.0)
        excess1 += max(q - math.exp(epsilon) * p, 0.0)
    found = beyond(losses, epsilon)
    assert math.isclose(found.clear[0] + found.unclear[0], above, abs_tol=1e-12)
    assert math.isclose(found.clear[1] + found.unclear[1], below, abs_tol=1e-12)
    assert np.allclose(found.excess, [excess0, excess1], atol=1e-12)
    assert np.all(losses.low <= losses.loss)
    assert np.all(losses.loss <= losses.high)


@pytest.mark.slow
@given(counts, st.none() | st.floats(0.0, 30.0))
def test_bins_hold_every_cell_once(cells: list[tuple[int, int]], limit: float | None) -> None:
    losses = cell_losses(histogram(cells))
    if losses is None:
        return
    bins = loss_bins(losses, limit)
    for side, own in ((0, losses.count0), (1, losses.count1)):
        alone = bins.plus[0] if side == 0 else bins.minus[0]
        atoms = sum(atom.sides[side][0] for atom in bins.atoms)
        drawn = bins.mass[side].sum() + atoms + alone + own[losses.rare].sum() / losses.runs[side]
        assert math.isclose(drawn, own.sum() / losses.runs[side], abs_tol=1e-12)
    assert len(bins.edges) <= 200
    assert np.all(bins.low <= bins.mass + 1e-12)
    assert np.all(bins.mass <= bins.high + 1e-12)


stated = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60)), min_size=2, max_size=12)


def with_law(rows: list[tuple[int, int, int]]) -> Histogram:
    """A histogram of outputs that all came, and a law beside it."""
    made_of = histogram([(count, count) for count, _, _ in rows])
    total0, total1 = sum(a for _, a, _ in rows) + 1, sum(b for _, _, b in rows) + 1
    law = tuple(round(a / total0, 10) for _, a, _ in rows), tuple(round(b / total1, 10) for _, _, b in rows)
    return msgspec.structs.replace(made_of, exact=law)


@pytest.mark.slow
@given(stated, st.none() | st.floats(0.0, 5.0))
def test_bins_hold_a_stated_law_once_where_both_sides_have_it(
    rows: list[tuple[int, int, int]], limit: float | None
) -> None:
    losses = cell_losses(with_law(rows))
    assert losses is not None
    assert losses.exact is not None
    law = loss_bins(losses, limit).stated
    for side, own in enumerate(losses.exact):
        drawn = 0.0 if law is None else law.mass[side].sum() + sum(atom[1 + side] for atom in law.atoms)
        assert math.isclose(drawn, sum(own[(losses.exact > 0).all(axis=0)]), abs_tol=1e-12)


@pytest.mark.slow
@given(stated, st.floats(0.0, 3.0))
def test_a_stated_law_beyond_a_claim_against_a_naive_computation(
    rows: list[tuple[int, int, int]], epsilon: float
) -> None:
    losses = cell_losses(with_law(rows))
    assert losses is not None
    assert losses.exact is not None
    p, q = losses.exact
    for (mass, excess), (a, b) in zip(beyond(losses, epsilon).stated or (), ((p, q), (q, p)), strict=True):
        over = [(x, x - math.exp(epsilon) * y) for x, y in zip(a, b, strict=True)]
        assert math.isclose(mass, sum(x for x, more in over if more > 1e-8), abs_tol=1e-7)
        assert math.isclose(excess, sum(more for _, more in over if more > 1e-8), abs_tol=1e-7)


def test_laplace_at_its_claim_has_no_stated_mass_beyond_it() -> None:
    evidence = dp.audit("laplace", runs=40_000)
    losses = cell_losses(evidence.histogram)
    assert losses is not None
    assert beyond(losses, 1.0).stated == ((0.0, 0.0), (0.0, 0.0))
    (above, excess), _ = beyond(losses, 0.5).stated or ((0.0, 0.0), (0.0, 0.0))
    assert above > 0.5
    assert excess == pytest.approx(1 - math.exp((0.5 - 1) / 2), rel=0.005)
    law = loss_bins(losses, 1.0).stated
    assert law is not None
    assert [atom[0] for atom in law.atoms] == pytest.approx([-1, 1], abs=1e-4)
    assert law.atoms[1][1] == pytest.approx(0.5, abs=0.02)
    assert law.mass.sum() > 0.2


def test_the_claim_falls_on_an_edge() -> None:
    losses = cell_losses(made.laplace().histogram)
    assert losses is not None
    bins = loss_bins(losses, 1.0)
    assert np.min(np.abs(bins.edges - 1.0)) < 1e-12


def test_laplace_at_its_claim_is_not_clearly_beyond_and_half_of_it_is() -> None:
    losses = cell_losses(made.laplace().histogram)
    assert losses is not None
    assert beyond(losses, 1.0).clear == (0.0, 0.0)
    assert beyond(losses, 0.5).clear[0] > 0.5


def test_infinite_needs_enough_runs() -> None:
    losses = cell_losses(histogram([(LEAST, 0), (LEAST - 1, 0), (5, 5)]))
    assert losses is not None
    assert losses.infinite.tolist() == [True, False, False]
    assert losses.rare.tolist() == [False, True, False]


def test_regions_join_and_cells_know_their_side() -> None:
    event = Event("tails", (Rule("float", Coordinate(0), (0.0, 1.0, 2.0), (1, 0, -1, -1)),))
    assert regions(event) == [EventInterval(None, 0.0, 0), EventInterval(1.0, None, 1)]
    assert speaks_for(event, Cell("-3", None, None, 1, 1)) == 0
    assert speaks_for(event, Cell("0.5", None, None, 1, 1)) is None
    assert speaks_for(event, Cell("7", None, None, 1, 1)) == 1
    rows = Event("categories", (Rule("int", Rows(((2.0,), (5.0,))), (-0.5, 0.5), (0, 1, -1)),))
    sides = [speaks_for(rows, Cell(text, None, None, 1, 1)) for text in ("2", "5", "another int")]
    assert sides == [0, 1, None]


def test_an_output_that_is_written_out_knows_whether_it_lies_in_a_box() -> None:
    event = Event("", (Rule("[bool × 3]", Box((0.0, 0.0, 1.0), (0.0, None, 1.0)), (0.5,), (0, 1)),))
    cells = ["[bool × 3] = 0 0 1", "[bool × 3] = 0 1 1", "[bool × 3] = 1 0 1", "[bool × 2] = 0 1", "another [bool × 3]"]
    assert [speaks_for(event, Cell(label, None, None, 1, 1)) for label in cells] == [0, 0, None, None, None]


def test_many_categories_are_lumped_and_none_is_lost() -> None:
    cells = tuple(Cell(f"'{i}'", None, None, i, 2 * i) for i in range(100))
    shown = bars(Histogram(0, "category", (10_000, 10_000), cells), None)
    assert len(shown) == 25
    assert sum(bar.count0 for bar in shown) == sum(range(100))


def test_differences_mark_what_differs_and_leave_out_long_equal_parts() -> None:
    first = str(list(range(300)))
    second = first.replace("150,", "999,")
    pieces0, pieces1 = differences(first, second)
    for shown, differing in ((pieces0, "150"), (pieces1, "999")):
        set_apart = [piece for piece in shown.content if isinstance(piece, Span)]
        assert [piece.text for piece in set_apart if piece.kind == "differs"] == [differing]
        assert any("equal" in str(piece.text) for piece in set_apart if piece.kind == "note")
        assert sum(len(piece.text if isinstance(piece, Span) else piece) for piece in shown.content) < 300


@pytest.mark.slow
@given(st.decimals(0, 1, places=30), st.decimals(0, 1, places=30))
def test_a_probability_between_two_limits_stays_between_what_is_written(one: Decimal, other: Decimal) -> None:
    low, high = sorted((one, other))
    text = enclosure_text(str(low), str(high))
    if high == 0:
        assert text == "0\u00a0%, impossible"
        return
    ends = [Decimal(end) for end in text.removesuffix("\u00a0%").split(" to ")]
    assert Fraction(ends[0]) <= 100 * Fraction(low)
    assert 100 * Fraction(high) <= Fraction(ends[-1])
    assert Fraction(ends[-1]) - 100 * Fraction(high) <= 100 * Fraction(high) / 10**5


def test_probabilities_that_are_no_numbers_or_too_small_for_a_float() -> None:
    assert enclosure_text("<b>", "1") == "<b> to 1"
    assert enclosure_text("0", "1e-400") == "0 to 1e-398\u00a0%"
    assert enclosure_text("0.5", "0.5") == "50\u00a0%"
    # rounded once: at 28 digits in between, the lower end would be rounded up to 10
    assert enclosure_text("0.0999999999999999999999999999999", "0.1") == "9.99999 to 10\u00a0%"


def _upper(value: float, text: str | None) -> Bound:
    return Bound(value, "upper", "proof", "epsilon", "epsilon=1", 1.0, 0.0, "alignment", exact=text)


@pytest.mark.parametrize(
    ("value", "text", "written"),
    [
        (0.625, "5/8", "0.625\u00a0=\u00a05/8"),
        (0.3333333334, "1/3", "0.3334 (exact: 1/3)"),
        (1.0, "1", "1"),
        (1.098612289, "ln(3)", "1.099 (exact: ln(3))"),
        (1.0, None, "1"),
        (2.0, "2" * 30, "2"),  # too long to be read
        (2.0, "1/0", "2 (exact: 1/0)"),
    ],
)
def test_the_exact_value_stands_beside_the_decimals(value: float, text: str | None, written: str) -> None:
    assert full_text(_upper(value, text), None) == f"ε\u00a0≤\u00a0{written}"
