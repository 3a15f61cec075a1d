"""Does every number that is rounded end on its side? Balls so wide, and units so coarse, that it can be seen."""

from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb, fmpz_poly

from dpaudit.accounting import Block as Claimed
from dpaudit.accounting import Exponential, Gaussian, Laplace, RandomisedResponse, certify, certify_added, decide
from dpaudit.accounting.certify import _outward, _root
from dpaudit.accounting.closed_forms import best_order, concentrated
from dpaudit.accounting.compose import MassBlock, Tail
from dpaudit.accounting.decide import judged
from dpaudit.accounting.lattice import Grid, LatticeStep, _lowered, _split, above, below
from dpaudit.accounting.losses import (
    GaussianLaw,
    SampledLaw,
    ball,
    decimal,
    discrete_gaussian,
    outward,
    precision,
    randomised_response,
    rounded_down,
    rounded_up,
    short,
)
from dpaudit.checker.reals import pure_rho
from dpaudit.privacy import PureDP

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
    x, y = (MassBlock(fmpz_poly([100 * k + 99, 333, 1]), -1, infinite, ball(0), 1, 0.0) for k in (0, 2))
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


@pytest.mark.slow
@pytest.mark.parametrize("at", [{"delta": "1e-5"}, {"epsilon": "1"}])
def test_the_curve_is_beside_the_interval(at):
    found = certify(Gaussian(1).poisson("0.5").times(2), **at, points=9)
    assert all(low < high for _, low, high in found.curve[1:4])
    assert all(low <= high for _, low, high in found.curve)


@pytest.mark.parametrize("up", [True, False])
def test_where_two_places_are_possible_the_larger_sum_counts(up, monkeypatch):
    with precision(200):
        own = tail(up=up)
        own._size = arb("0.1", "1e-3")
        places = list(own._places(ball(Fraction(1, 5))))
        each = []
        for place in places:
            monkeypatch.setattr(Tail, "_places", lambda self, at, only=place: range(only, only + 1))
            each.append(own.delta(Fraction(1, 5)).upper())
        monkeypatch.setattr(Tail, "_places", lambda self, at: range(places[0], places[-1] + 1))
        assert len(places) > 1 and min(each) < own.delta(Fraction(1, 5)).upper() == max(each)


def test_a_delta_that_is_not_certainly_on_its_side_shows_nothing(monkeypatch):
    eighth = Fraction(1, 8)
    monkeypatch.setattr(Tail, "_root", lambda self, delta, guess: 0.5)
    with precision(200):
        ends = {up: tail(up=up) for up in (True, False)}
        for first in (arb("0.125", "0.01"), ball(Fraction(1, 2))):
            # at 0, and elsewhere: as large as was asked for, about or exactly
            for later in (arb("0.125", "0.01"), ball(eighth)):
                monkeypatch.setattr(Tail, "delta", lambda self, at, f=first, o=later: o if at else f)
                assert ends[False].epsilon(eighth, 0.1) == 0
                if later.rad() > 0:
                    assert ends[True].epsilon(eighth, 0.1) == Decimal("Infinity")


@pytest.mark.parametrize("law", [GaussianLaw(Fraction(1)), SampledLaw(GaussianLaw(Fraction(1)), Fraction(1, 5))])
def test_masses_in_coarse_units_are_on_their_side(law):
    """Of units of which 1,000 are 1, all roundings together are far larger than what chords and test lines lose."""
    with precision(200):
        size, base, places = ball(Fraction(1, 20)), ball(-3), list(range(160))
        middles = [4096 * k + 2048 for k in places[:-2]]
        over = above(law, places, base, size, None, 1000)
        under = below(law, list(range(160)), [*middles, 4096 * 159], base, size, 1000)
        beyond = law.tails(base + size * 159)[0] - (base + size * 159).exp() * law.tails(base + size * 159)[1]
        assert over.infinite >= beyond * 1000 + 0.3
        for epsilon in (ball(Fraction(-1, 5)), ball(0)):
            p, q = law.tails(epsilon)
            true = p - epsilon.exp() * q
            for found in (over, under):
                curve = ball(found.infinite)
                for place, mass in enumerate(found.masses):
                    loss = found.base + size * (found.start + place)
                    curve += mass * (1 - (epsilon - loss).exp()) if loss > epsilon else 0
                assert curve > true * 1000 + 5 if found is over else curve < true * 1000 - 5


def test_atoms_in_coarse_units_and_on_uncertain_places_are_on_their_side():
    third = Fraction(1, 3)
    with precision(200):
        grid = Grid(randomised_response(Fraction(1), third), 0, LatticeStep(Fraction(2)), ball(2), None, 100)
        e = float(ball(1).exp().mid())
        high = 100 * float(1 - third) * e / (1 + e)
        over, under = grid.above(), grid.below()
        assert under.infinite <= 100 * third - Fraction(3, 10) < 100 * third + Fraction(3, 10) <= over.infinite
        assert under.masses[-1] <= high - 0.3 < high + 0.3 <= over.masses[-1]
        base, size, mass = ball(0), ball(1), ball(Fraction(1, 2))
        start = (base, mass, mass)
        # nobody knows on which side of 2 these lie
        for at in ("1.9999999", "2.0000001"):
            unsure = arb(at, "1e-6")
            assert min(k for k in _split([start, (unsure, mass, mass)], base, size) if k) >= 2
            assert max(_lowered([start, (unsure, mass, mass)], base, size)) <= 1


def test_infinite_masses_of_two_factors_add_up_to_their_side():
    with precision(200):
        over, under = tail(up=True, infinite=300), tail(up=False, infinite=300)
        assert over.infinite_units == 600 * 1000
        assert under.infinite_units == 300 * (299 + 334 + 300) + 300 * (99 + 334)
        spare = discrete_gaussian(Fraction(1, 2), 1, 3)
        left = 1 - sum((mass for _, mass, _ in spare.values()), ball(0))
        assert Grid(spare, 0, LatticeStep(Fraction(4)), ball(4), None, 10).above().infinite >= left * 10 + 0.3


def test_sums_of_many_digits_are_rounded_outward():
    sigma = 1 + Fraction(1, 10**40)
    found = certify_added(Gaussian(sigma), "rho").certificate
    assert Fraction(found["low"]) < 1 / (2 * sigma**2) < Fraction(found["high"])


@pytest.mark.parametrize(
    ("events", "claim", "verdict"),
    [
        # ρ is from .1225 to .125 for the exponential mechanism, and 1/2 for Gaussian noise
        (Exponential(1), "rho=0.123", "INCONCLUSIVE"),
        (Exponential(1), "rho=0.125", "PROVED"),
        (Gaussian(1) + Exponential(1), "rho=0.623", "INCONCLUSIVE"),
        (Gaussian(1) + Exponential(1), "rho=0.62", "VIOLATED"),
    ],
)
def test_only_a_larger_loss_violates_and_only_a_smaller_bound_proves(events, claim, verdict):
    assert decide(events, claim).verdict == verdict
    assert judged(PureDP(1.0), Fraction(1), Fraction(2)) == "INCONCLUSIVE"


def ends(found):
    """The ends of the certificate, and those of the interval outside of them."""
    low, high = (Fraction(found.certificate[name]) for name in ("low", "high"))
    assert Fraction(found.low) <= low and high <= Fraction(found.high)
    return low, high


@pytest.mark.slow
@pytest.mark.parametrize("delta", ["1e-5", "1e-7"])
def test_an_interval_is_outside_of_its_certificate_and_that_of_the_truth(delta):
    ends(certify(Gaussian(1).poisson("0.5").times(2), delta=delta))
    order = best_order(Fraction(1, 8), delta=Fraction(delta))
    with precision(200):
        exact = order.epsilon(Fraction(delta))
        assert ball(ends(certify(Claimed("rho=0.125"), delta=delta))[1]) > exact
        mixed, both = Claimed("rho=0.125") + Laplace(2), Fraction(1, 8) + concentrated(Laplace(2)).rho
        exact = best_order(both, delta=Fraction(delta)).epsilon(Fraction(delta))
        assert ball(ends(certify(mixed, delta=delta, tolerance=0.1))[1]) > exact
        exact = best_order(both, epsilon=Fraction(2)).delta(Fraction(2))
        assert ball(ends(certify(mixed, epsilon=2, tolerance=0.1))[1]) > exact
        # Balle & Wang 2018, Theorem 8, with μ = 1/3
        low, high = (ball(end) for end in ends(certify(Gaussian(3), delta=delta)))
        mu, root = ball(Fraction(1, 3)), ball(2).sqrt()

        def at(epsilon):
            first, second = (sign * mu / 2 - epsilon / mu for sign in (1, -1))
            return ((-first / root).erfc() - epsilon.exp() * (-second / root).erfc()) / 2

        assert at(high) <= ball(Fraction(delta)) < at(low)


def test_largest_losses_are_rounded_outward():
    own = 1 + Fraction(1, 3 * 10**61)
    low, high = ends(certify(RandomisedResponse(own), delta=0))
    assert low < own < high
    low, high = ends(certify(Laplace(3).poisson("1/3"), delta=0))
    with precision(200):
        true = (1 + ball(Fraction(1, 3)).expm1() / 3).log()
        assert ball(low) < true < ball(high)


@pytest.mark.parametrize("epsilon", ["1e-12", "0.001", "0.1", "1/3", "1", "7", "99.9", "101", "1e9"])
def test_the_concentration_of_pure_privacy_is_rounded_up(epsilon):
    exact = Fraction(epsilon)
    with precision(400):
        truth = ball(exact) * (ball(exact) / 2).tanh()
        assert not truth > ball(pure_rho(exact))
        assert ball(pure_rho(exact)) < truth * ball(1 + Fraction(1, 10**13))
    assert pure_rho(exact) <= exact**2 / 2
    own = concentrated(RandomisedResponse(exact)).rho  # the prover computes it by itself, and rounds it up farther
    assert pure_rho(exact) <= own <= pure_rho(exact) * (1 + Fraction(1, 10**11))
