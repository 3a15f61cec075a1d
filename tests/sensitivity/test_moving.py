"""Is a declared sensitivity that is wrong found out, and one that is right left in peace?"""

import math
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpaudit as dp
from dpaudit.auditing.sensitivity import GivenPair, worst_by_query

pytestmark = pytest.mark.slow

NUMBERS = [3.0, 41.5, 17.25, 90.0, 66.5, 12.0]


def clipped_sum(data, upper=100.0):
    return float(np.clip(np.asarray(data, dtype=float), 0, upper).sum())


def plain_sum(data):
    return float(np.asarray(data, dtype=float).sum())


def spread(data):
    return float(np.ptp(data))


@pytest.mark.parametrize(
    ("query", "relation", "right"),
    [
        (clipped_sum, "add-remove", 100),
        (clipped_sum, "replace", 100),
        (len, "add-remove", 1),
        (lambda data: [sum(x > 50 for x in data), sum(x <= 50 for x in data)], "replace", 2),
        (lambda data: {bool(x > 50): sum((y > 50) == (x > 50) for y in data) for x in data}, "replace", 2),
    ],
)
def test_the_right_sensitivity_stands_and_a_little_less_falls(query, relation, right):
    search = {"data": NUMBERS, "relation": relation, "domain": (0.0, 200.0)}
    found = dp.tools.sensitivity(query, claimed=right, **search)
    assert not found.exceeded
    assert found.largest == pytest.approx(right, rel=1e-12)
    low = dp.tools.sensitivity(query, claimed=0.999 * right, **search)
    assert low.exceeded
    assert low.smallest is not None
    dp.tools.Relation(relation).check(*low.smallest)


def test_without_a_claim_the_largest_movement_is_told():
    found = dp.tools.sensitivity(clipped_sum, data=NUMBERS, domain=(0.0, 200.0))
    assert (found.largest, found.exceeded, found.claimed, found.smallest) == (100.0, False, None, None)
    assert "no sensitivity is declared" in str(found)


def test_bounds_from_the_data_and_forgotten_clipping_are_found():
    within = {"data": NUMBERS, "domain": (0.0, 200.0)}
    assert dp.tools.sensitivity(spread, claimed=100, relation="replace", **within).exceeded
    assert dp.tools.sensitivity(plain_sum, claimed=100, **within).largest == 200.0
    assert dp.tools.sensitivity(plain_sum, claimed=100, data=NUMBERS).exceeded


def test_a_counterexample_is_shrunk_to_a_small_one():
    found = dp.tools.sensitivity(plain_sum, data=NUMBERS * 5, claimed=100, domain=(0.0, 200.0))
    assert [len(side) for side in found.smallest] in ([0, 1], [1, 0])
    assert found.smallest_distance > 100


def test_shrinking_keeps_what_makes_it_a_counterexample():
    found = dp.tools.sensitivity(lambda data: len(data) ** 2, data=NUMBERS * 2, claimed=8)
    assert sorted(map(len, found.smallest)) == [4, 5]
    assert found.smallest_distance == 9.0


def test_nan_infinities_and_exceptions_are_findings_of_their_own():
    mean = dp.tools.sensitivity(
        lambda data: float(np.sum(data)) / len(data), data=NUMBERS, claimed=100, domain=(0.0, 100.0)
    )
    assert mean.largest == math.inf
    assert mean.exceeded
    assert "raises ZeroDivisionError on the first dataset" in [each.what for each in mean.troubles]
    assert mean.finite == pytest.approx(50, abs=1)
    assert "moves without a bound" in str(mean)

    def chokes(data):
        return math.nan if any(x > 150 for x in data) else 0.0

    nan = dp.tools.sensitivity(chokes, data=NUMBERS, claimed=1, domain=(0.0, 200.0))
    assert nan.exceeded
    assert {each.what for each in nan.troubles} <= {
        "returns NaN on the first dataset",
        "returns NaN on the second dataset",
    }
    assert max(nan.smallest, key=len)


def test_a_frame_and_its_columns():
    frame = pd.DataFrame({"mass": NUMBERS, "kind": ["a", "b", "a", "c", "b", "a"]})
    counts = dp.tools.sensitivity(lambda data: data["kind"].value_counts(), data=frame, claimed=1)
    assert (counts.largest, counts.exceeded) == (1.0, False)
    assert dp.tools.sensitivity(
        lambda data: data["kind"].value_counts(), data=frame, claimed=1, relation="replace"
    ).exceeded


def test_a_group_may_move_as_often_as_it_has_members():
    pair = [([1, 1, 1], [1])]
    assert not dp.tools.sensitivity(len, pairs=pair, relation="add-remove(group=2)", claimed=1).exceeded
    assert dp.tools.sensitivity(len, pairs=pair, relation="add-remove(group=2)", claimed=0.9).exceeded


def test_norms_and_parameters():
    def scaled(data, times=1):
        return [times * x for x in data]

    pair = [([3, 4], [0, 0])]
    for norm, distance in ((1, 7.0), (2, 5.0), ("inf", 4.0)):
        found = dp.tools.sensitivity(scaled, pairs=pair, relation="declared", norm=norm, claimed=distance)
        assert (found.largest, found.exceeded) == (distance, False)
    twice = dp.tools.sensitivity(scaled, pairs=pair, relation="declared", norm=2, claimed=5, parameters={"times": 2})
    assert (twice.largest, twice.exceeded) == (10.0, True)


def test_a_float_claim_is_the_decimal_that_is_written():
    third = [([0], [Fraction(1, 10)])]
    assert not dp.tools.sensitivity(lambda data: data[0], pairs=third, claimed=0.1).exceeded
    assert dp.tools.sensitivity(
        lambda data: data[0], pairs=[([0], [Fraction(1, 10) + Fraction(1, 10**30)])], claimed=0.1
    ).exceeded


def test_a_mechanism_exposes_its_query():
    @dp.mechanism(claim=dp.PureDP, relation="add-remove", query=clipped_sum, sensitivity=lambda upper: (upper / 2, 1))
    def noisy(data, noise, *, epsilon=1.0, upper=100.0):
        return clipped_sum(data, upper) + noise.laplace(upper / 2 / epsilon)

    found = dp.tools.sensitivity(noisy, data=NUMBERS, parameters={"upper": 50.0}, domain=(0.0, 200.0))
    assert (found.query, found.claimed, found.largest, found.exceeded) == ("clipped_sum", 25.0, 50.0, True)
    assert not dp.tools.sensitivity(noisy, data=NUMBERS, claimed=100, domain=(0.0, 200.0)).exceeded


def calls(query):
    def counted(data):
        counted.times += 1
        return query(data)

    counted.times = 0
    return counted


def test_the_side_that_all_pairs_share_is_asked_about_once():
    query = calls(len)
    found = dp.tools.sensitivity(query, data=NUMBERS, claimed=1)
    assert query.times < 1.5 * found.tried + 10


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (lambda data: len(data) + random.random(), "answers differently when it is asked twice"),
        (lambda data: data.sort(), "changes its data"),
        (lambda data: None, "gives no number on any dataset: it returns None"),
        (lambda data: {}["missing"], "gives no number on any dataset: it raises KeyError"),
        (lambda data, noise: 0, "asks for noise, so it is no deterministic query"),
    ],
)
def test_what_is_no_query_is_refused(query, message):
    with pytest.raises(dp.UsageError, match=message):
        dp.tools.sensitivity(query, data=[2, 1, 3], claimed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "there is nothing to try"),
        ({"pairs": [[1]]}, "a pair is two datasets"),
        ({"pairs": [([1, 2], [3, 4])], "relation": "add-remove"}, "not neighbouring"),
        ({"data": [1], "claimed": -1}, "a sensitivity is a number of at least 0"),
        ({"data": [1], "claimed": "one"}, "a sensitivity is a number of at least 0"),
        ({"data": [1], "claimed": math.nan}, "a sensitivity is a number of at least 0"),
        ({"data": [1], "claimed": True}, "a sensitivity is a number of at least 0"),
        ({"data": [1], "norm": 3}, "the norm of a sensitivity"),
        ({"data": [1], "parameters": {"nothing": 1}}, "has no parameter 'nothing'"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(dp.UsageError, match=message):
        dp.tools.sensitivity(clipped_sum, **options)


def test_the_farthest_pair_comes_first():
    pairs = [GivenPair(name, pair) for name, pair in (("small", ([1], [2])), ("none", ([1], [1])), ("far", ([1], [9])))]
    assert worst_by_query(pairs, sum) == [2, 0, 1]
    broken = [*pairs, GivenPair("broken", ([1], ["a"]))]
    assert worst_by_query(broken, sum) == [3, 2, 0, 1]
    crowd = [*[GivenPair("broken", ([1], ["a"]))] * 6, *pairs]
    assert worst_by_query(crowd, sum) == [0, 1, 2, 3, 8, 6, 7, 4, 5]


def test_all_tiny_datasets_over_a_domain_are_asked():
    found = dp.tools.sensitivity(lambda data: 100 if data == [3, 3] else len(data), domain=[1, 2, 3], claimed=1)

    assert found.exceeded and [3, 3] in found.pair and found.largest == 99


def test_all_tiny_datasets_are_asked_beside_data():
    found = dp.tools.sensitivity(
        lambda data: 100 if data == [3, 3] else len(data), data=[1, 2] * 9, domain=[1, 2, 3], claimed=1
    )

    assert found.exceeded and [3, 3] in found.pair
