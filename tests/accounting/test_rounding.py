"""Does every number that is rounded end on its side? Balls so wide, and units so coarse, that it can be seen."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb, fmpz_poly

from dpaudit.accounting import Gaussian, certify, certify_added
from dpaudit.accounting.added import _root
from dpaudit.accounting.balls import ball, decimal, outward, precision, rounded_down, rounded_up, short
from dpaudit.accounting.bounds import Tail
from dpaudit.accounting.certify import _outward
from dpaudit.accounting.compose import Block

NUMBERS = [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(3, 10), Fraction(10**70, 3 * 10**69 + 1)]


def test_an_end_of_a_wide_ball_is_its_own():
    wide = arb(10, 2)  # from 8 to 12
    assert decimal(wide, up=True) >= 12 and decimal(wide, up=False) <= 8
    assert rounded_up(wide, 1) >= 12 and rounded_down(wide, 1) <= 8
    third = ball(Fraction(1, 3))
    assert Fraction(decimal(third, up=False)) < Fraction(1, 3) < Fraction(decimal(third, up=True))


@pytest.mark.parametrize("value", NUMBERS)
def test_a_number_is_between_what_it_is_rounded_to(value):
    assert Fraction(outward(value, up=False)) < value < Fraction(outward(value, up=True))
    assert short(value, up=False) <= value <= short(value, up=True)
    assert value in NUMBERS[:4] or short(value, up=False) < short(value, up=True)
    low, high = _root(value)
    assert low * low < value < high * high
    written = Decimal(value.numerator) / Decimal(value.denominator)
    assert Fraction(_outward(written, up=False)) < Fraction(written) < Fraction(_outward(written, up=True))


def tail(*, up, infinite=0):
    """Of two losses on few places, in units of which 1,000 are 1."""
    unit, size = 1000, ball(Fraction(1, 10))
    x, y = (Block(fmpz_poly([100 * k + 99, 333, 1]), -1, infinite, ball(0), 1, 0.0) for k in (0, 2))
    return Tail(x, y, up=up, unit=unit, size=size)


@pytest.mark.parametrize("up", [True, False])
def test_weights_are_rounded_to_their_side(up):
    with precision(600):
        own = tail(up=up)
        for j, weight in enumerate(own._weights(40)):
            exact = (-own._size * j).exp() * ball(2) ** own._bits
            assert j == 0 or (weight < exact if up else weight > exact)


def test_losses_that_add_up_are_rounded_outward():
    found = certify_added(Gaussian(3).times(1) + Gaussian(7).times(2), "mu")
    true = Fraction(1, 9) + Fraction(2, 49)
    assert Fraction(found.low) ** 2 < true < Fraction(found.high) ** 2


@pytest.mark.parametrize("at", [{"delta": "1e-5"}, {"epsilon": "1"}])
def test_the_curve_is_beside_the_interval(at):
    found = certify(Gaussian(1).poisson("0.5").times(2), **at, points=9)
    assert all(low < high for _, low, high in found.curve[1:4])
    assert all(low <= high for _, low, high in found.curve)
