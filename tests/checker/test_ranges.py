"""Is what an operation makes of numbers always within what it makes of the ranges that they are in?"""

import math
import operator
import random
from fractions import Fraction

import pytest

from dpaudit.checker import CertificateError, ranges
from dpaudit.checker.ranges import EITHER, NumberRange, on_numbers, plain

TWO = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": lambda x, y: Fraction(x) / y,
    "floor_divide": lambda x, y: math.floor(Fraction(x) / y),
    "remainder": lambda x, y: x - y * math.floor(Fraction(x) / y),
    "minimum": min, "maximum": max,
}  # fmt: skip
ONE = {
    "negative": operator.neg, "floor": math.floor, "ceil": math.ceil, "truncate": math.trunc, "absolute": abs,
}  # fmt: skip
TRUTHS = {"less": operator.lt, "less_equal": operator.le, "equal": operator.eq}


def a_range(rng):
    low, high = sorted(Fraction(rng.randint(-6, 6), rng.choice([1, 1, 2, 3])) for _ in range(2))
    if low == high:
        return NumberRange(plain(low), plain(low))
    ends = [plain(low), plain(high)]
    is_open = [rng.random() < 0.5, rng.random() < 0.5]
    for place, end in enumerate((-math.inf, math.inf)):
        if rng.random() < 0.1:
            ends[place], is_open[place] = end, True
    return NumberRange(*ends, *is_open)


def within(given, rng):
    low, high = max(given.low, -50), min(given.high, 50)
    close = Fraction(1, 10**6)
    parts = [0, close, *(Fraction(k, 7) for k in range(1, 7)), 1 - close, 1]
    found = [plain(low + (high - low) * Fraction(part)) for part in parts] + list(range(-7, 8))
    return rng.sample([each for each in found if given.holds(each)], 3) if low < high else [low]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_result_is_in_the_range_of_results(seed):
    rng = random.Random(f"ranges {seed}")
    for _ in range(300):
        one, other = a_range(rng), a_range(rng)
        xs, ys = within(one, rng), within(other, rng)
        for name, function in TWO.items():
            try:
                found = NumberRange.of(on_numbers(getattr(ranges, name))(one, other))
            except CertificateError:
                assert name in ("divide", "floor_divide", "remainder")
                assert other.low <= 0 <= other.high
                continue
            assert all(found.holds(function(x, y)) for x in xs for y in ys), (name, one, other)
        for name, function in TRUTHS.items():
            found = getattr(ranges, name)(one.value, other.value)
            assert found is EITHER or all(found is function(x, y) for x in xs for y in ys), (name, one, other)
        for name, function in ONE.items():
            found = NumberRange.of(on_numbers(getattr(ranges, name))(one))
            assert all(found.holds(function(x)) for x in xs), (name, one)
        exponent, digits, right = rng.choice([2, 3, 4]), rng.choice([-1, 0, 1]), rng.random() < 0.5
        edges = sorted(rng.sample(range(-6, 7), 3))
        low, high = edges[0], edges[2]
        assert all(ranges.power(one, exponent).holds(x**exponent) for x in xs)
        assert all(ranges.rounded(one, digits).holds(round(Fraction(x), digits)) for x in xs)
        assert all(ranges.clip(one, low, high).holds(min(max(x, low), high)) for x in xs)
        for x in xs:
            assert ranges.bins(one, edges, right).holds(sum(edge < x if right else edge <= x for edge in edges))


@pytest.mark.parametrize(("name", "function"), [("sqrt", math.sqrt), ("exp", math.exp), ("log", math.log)])
def test_ends_that_are_no_fractions_are_proved(name, function):
    of = {"sqrt": ranges.square_root, "exp": ranges.exponentiated, "log": ranges.natural_logarithm}[name]
    for x in (Fraction(1, 7), Fraction(9, 4), 1, 3, Fraction(10**9, 3)):
        if name == "exp" and x > 100:
            continue
        found = of(NumberRange(x, x))
        assert float(found.low) == pytest.approx(function(x), rel=1e-14, abs=1e-14)
        assert 0 <= found.high - found.low < Fraction(1, 10**30) * max(1, found.high)


def test_a_range_that_may_be_missing_is_less_than_nothing_for_certain():
    maybe = NumberRange(0, 1, missing=True)
    assert ranges.less(maybe, 2) is EITHER
    assert ranges.less(2, maybe) is False
    assert ranges.equal(None, None) is False
    assert on_numbers(ranges.add)(maybe, None) is None
    assert on_numbers(ranges.add)(maybe, 1) == NumberRange(1, 2, missing=True)
    assert ranges.filled(maybe, 5) == NumberRange(0, 5)
