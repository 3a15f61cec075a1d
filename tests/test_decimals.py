"""Is every number read as it is meant, in one way by all of dpaudit?"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.decimals import decimal_of, limit_of, number_of, read_number, read_whole, root_of, short_decimal
from dpaudit.errors import UsageError
from dpaudit.program.enumerate.number import Exact, parameter_of

ULP = Fraction(1, 2**52)


def floats(count=3000, seed=7):
    """Floats of all kinds: short and long decimals, computed quotients, powers, extremes."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        digits = int(rng.integers(1, 18))
        yield float(f"{rng.uniform(1, 10):.{digits - 1}f}e{rng.integers(-300, 300)}")
        yield float(rng.integers(1, 1000)) / float(rng.integers(1, 1000))
        yield math.exp(rng.uniform(-20, 20))
    yield from (0.0, -0.0, 1e15, 1e16, 1e22, 123456789012345.0, 5e-324, 1.7e308, -0.1, -1 / 3, 0.1 + 0.2)


def digits_of(value):
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


@pytest.mark.slow
def test_every_short_decimal_is_read_alike_by_all():
    """0.1 is 1/10 where it is proved, enumerated and accounted for, and 1e15 is 10^15."""
    for value in floats():
        written = Fraction(repr(value))
        assert decimal_of(value) == written
        if digits_of(value) <= 15:
            assert short_decimal(value) == written == limit_of(value, toward=0.0)
            assert Exact(value).fraction == written == parameter_of(value).fraction
            if digits_of(value) <= 12:
                assert number_of(value) == written == read_number("it", value) == root_of(value)
        else:
            assert short_decimal(value) is None
            assert limit_of(value, toward=math.inf) == Fraction(math.nextafter(value, math.inf))


@pytest.mark.nightly
def test_no_reading_is_farther_from_a_float_than_its_rounding():
    for value in floats():
        room = abs(Fraction(value)) * 2 * ULP + Fraction(1, 2**1074)
        for reading in (number_of, root_of):
            if reading is not root_of or value > 0:
                assert abs(reading(value) - Fraction(value)) <= room


@pytest.mark.slow
def test_computed_quotients_are_the_fractions_that_they_were_computed_from():
    rng = np.random.default_rng(3)
    for _ in range(2000):
        top, bottom = (int(each) for each in rng.integers(1, 60_000, 2))
        assert number_of(top / bottom) == Fraction(top, bottom)
    for one, other in ((0.1, 0.3), (2.5, 0.7), (1.0, 1e-5)):
        assert number_of(one / other) == decimal_of(one) / decimal_of(other)
    assert number_of(math.log(3)) == Fraction(math.log(3))


@pytest.mark.slow
def test_a_sigma_computed_for_a_rho_keeps_it():
    """σ = Δ/√(2ρ) in floats is a little less than it should be for half of all ρ."""
    rng, less = np.random.default_rng(5), 0
    for _ in range(2000):
        rho, far = round(rng.uniform(0.06, 20), int(rng.integers(2, 5))), round(rng.uniform(0.1, 10), 2)
        sigma = far / math.sqrt(2 * rho)
        kept = number_of(far) ** 2 / (2 * root_of(sigma) ** 2)
        assert number_of(rho) * (1 - Fraction(1, 10**26)) < kept <= number_of(rho)
        less += number_of(far) ** 2 / (2 * Fraction(sigma) ** 2) > number_of(rho)
    assert 500 < less < 1500
    assert root_of(0.0625 * math.sqrt(0.5)) ** 2 >= Fraction(1, 512)
    assert root_of(0.25) == Fraction(1, 4) and root_of(1 / 3) == Fraction(1, 3)


@pytest.mark.parametrize("value", [True, None, "x", "1/0", "nan", math.nan, math.inf, "1e999999999", Decimal("1e9999")])
def test_what_is_no_number_is_refused_in_a_sentence(value):
    with pytest.raises(UsageError, match=r"^it"):
        read_number("it", value)


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        ("14000", 14000),
        ("1e4", 10**4),
        (14000.0, 14000),
        ("1_000", 1000),
        (3, 3),
        ("3.5", None),
        (True, None),
        ("", None),
    ],
)
def test_whole_numbers_are_written_in_many_ways(value, whole):
    assert read_whole(value) == whole


@pytest.mark.parametrize("value", ["nan", "inf", "1e999999999", None, [3], "٣٣x"])
def test_what_is_no_whole_number_is_none(value):
    assert read_whole(value) is None
