"""How far apart are two answers? Exactly where numbers are exact, with room for rounding where they are not."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.auditing.sensitivity import NORMS, answer_of, movement, norm_of, same


def moved(first, second, norm="1"):
    return movement(answer_of(lambda _: first, None), answer_of(lambda _: second, None), norm)


def naive(first, second, norm):
    apart = [abs(Fraction(b) - Fraction(a)) for a, b in zip(first, second, strict=True)]
    if norm == "inf":
        return max(apart, default=Fraction(0))
    return sum(apart) if norm == "1" else sum(each**2 for each in apart)


exact = st.integers(-(2**70), 2**70) | st.fractions(max_denominator=50)


@pytest.mark.slow
@given(st.lists(st.tuples(exact, exact), max_size=5), st.sampled_from(NORMS))
def test_exact_numbers_have_exact_distances(pairs, norm):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = moved(first, second, norm)
    assert found.distance == naive(first, second, norm)
    assert found.room == 0.0
    limit = Fraction(3)
    assert found.exceeds(limit) == (found.distance > (9 if norm == "2" else 3))


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 2), min_size=1, max_size=5), st.sampled_from(NORMS))
def test_floats_agree_with_fractions_and_move_alike_in_both_directions(pairs, norm):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = moved(first, second, norm), moved(second, first, norm)
    assert there.distance == back.distance
    assert float(there.distance) == pytest.approx(float(naive(first, second, norm)), rel=1e-12, abs=1e-300)
    assert there.size == pytest.approx(np.linalg.norm(np.subtract(second, first), float(norm)), rel=1e-12, abs=1e-150)


def test_the_smallest_step_beyond_a_claim_of_whole_numbers_is_found():
    assert not moved(10**20, 10**20 + 1).exceeds(Fraction(1))
    assert moved(10**20, 10**20 + 2).exceeds(Fraction(1))
    assert moved([10**20, 0], [10**20 + 1, 1], "2").exceeds(Fraction(1))
    assert not moved([10**20, 0], [10**20 + 1, 1], "inf").exceeds(Fraction(1))
    assert not moved([3, 4], [0, 0], "2").exceeds(Fraction(5))
    assert moved([3, 4], [0, 0], "2").exceeds(Fraction(49, 10))
    assert not moved([3.0, 4.0], [0.0, 0.0], "2").exceeds(Fraction(5))
    assert moved([3.0, 4.0], [0.0, 0.0], "2").exceeds(Fraction(49, 10))


def test_a_rounding_error_is_no_counterexample_and_more_than_one_is():
    tenth = Fraction("0.1")
    assert 0.1 + 0.2 - 0.2 > 0.1
    assert not moved(0.2, 0.1 + 0.2).exceeds(tenth)
    numbers = [0.1 * k for k in range(1000)]
    assert not moved(sum(numbers), sum(reversed(numbers))).exceeds(Fraction(0))
    assert moved(0.2, 0.3 + 1e-8).exceeds(tenth)
    assert moved(1.0, 2.0 + 1e-8).exceeds(Fraction(1))


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        (True, False, 1),
        (np.int64(3), 5, 2),
        (np.array([True, False]), np.array([True, True]), 1),
        (np.uint8(250), np.uint8(3), 247),
        (Decimal("0.1"), Decimal("0.3"), Fraction("0.2")),
        ((1, 2), [1, 4], 2),
        (np.array(3), 4, 1),
        ({"a": 1, "b": 2}, {"a": 1}, 2),
        ({"a": [1, 2]}, {"a": [1, 3], "b": [4]}, 5),
        ({}, {}, 0),
        ([], [], 0),
        (pd.Series({"x": 1, "y": 2}), pd.Series({"y": 2}), 1),
        (pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [1, 5]}), 3),
        ([np.nan, 1.0], [np.nan, 3.0], 2),
        ([math.inf, 1.0], [math.inf, 3.0], 2),
    ],
)
def test_answers_of_many_kinds(first, second, distance):
    assert moved(first, second).distance == distance


@pytest.mark.parametrize(
    ("first", "second", "trouble"),
    [
        (math.nan, 1.0, "returns NaN on the first dataset"),
        ([1.0, 2.0], [1.0, math.nan], "returns NaN on the second dataset"),
        (math.inf, -math.inf, "returns an infinity on the first dataset"),
        (1.0, math.inf, "returns an infinity on the second dataset"),
        (1.0, None, "returns None on the second dataset"),
        ("text", 1.0, "returns a str on the first dataset"),
        ([1, 2], [1], "answers with another number of numbers"),
        (-1.7e308, 1.7e308, "moves farther than floats reach"),
        ([1.0, "a"], [1.0, 2.0], "returns a str on the first dataset"),
    ],
)
def test_what_is_no_number_on_one_side_is_infinitely_far(first, second, trouble):
    for norm in NORMS:
        found = moved(first, second, norm)
        assert (found.distance, found.trouble) == (math.inf, trouble)
        assert found.exceeds(Fraction(10**9))


def test_what_is_no_number_on_both_sides_says_nothing():
    for first, second in ((math.nan, math.nan), (None, None), ([math.inf], [math.inf])):
        assert moved(first, second).silent


def test_an_exception_is_an_answer():
    def fails(data):
        return 1 / data

    first, second = answer_of(fails, 0), answer_of(fails, 2)
    assert first.trouble == "raises ZeroDivisionError"
    assert movement(first, second, "1").trouble == "raises ZeroDivisionError on the first dataset"
    assert movement(first, first, "1").silent


def test_the_same_answer_is_the_same_to_the_last_bit():
    answers = [
        answer_of(lambda _, value=value: value, None) for value in ([1.0, math.nan], [1.0, math.nan], [1.0, 2.0])
    ]
    assert same(answers[0], answers[1])
    assert not same(answers[0], answers[2])
    assert not same(answers[0], answer_of(lambda _: [1.0], None))
    assert not same(answers[0], answer_of(lambda _: {"a": 1.0}, None))


def test_norms_are_read_as_they_are_written():
    assert [norm_of(norm) for norm in (1, "1", 2, "inf", math.inf)] == ["1", "1", "2", "inf", "inf"]
    for wrong in (0, 3, "max", True, None):
        with pytest.raises(dp.UsageError, match="the norm of a sensitivity is 1, 2 or 'inf'"):
            norm_of(wrong)
