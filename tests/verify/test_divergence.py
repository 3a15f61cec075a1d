"""Do the intervals contain δ(ε), and are they narrow? Known digits, naive sums, and dp-accounting's two estimates."""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.errors import UsageError
from dpaudit.program.enumerate import Exact

flint = pytest.importorskip("flint")
from dpaudit.accounting.compose import Level, enclosed  # noqa: E402
from dpaudit.accounting.losses import LaplaceLaw  # noqa: E402
from dpaudit.accounting.losses import randomised_response as randomised_response_law  # noqa: E402
from dpaudit.decimals import Enclosure  # noqa: E402
from dpaudit.verify import certified_delta as divergence  # noqa: E402
from dpaudit.verify.certified_delta import (  # noqa: E402
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    randomised_response,
)


@pytest.mark.parametrize(
    ("found", "digits"),
    [
        (lambda: gaussian(1, 1), "0.126936737506644"),
        (lambda: gaussian(1, 20), "2.66470670536549e-86"),
        (lambda: laplace(1, 0.5), "0.221199216928595"),
        (lambda: randomised_response(0.1, 2, releases=1000), "0.728990790298729"),
        (lambda: discrete_laplace(10, 2, releases=1000), "0.728990790298729"),
        (lambda: discrete_gaussian(100, 0.25), "2.27685192563309e-4"),
        (lambda: discrete_gaussian(100, 3, releases=50), "7.0967007592197e-6"),
        (lambda: discrete_gaussian(100, 12, releases=500), "3.5186721869698e-6"),
    ],
)
def test_measured_digits(found, digits):
    enclosure = found()
    nearby = Fraction(digits) * Fraction(1, 10**12)
    assert Fraction(digits) - nearby < enclosure.low and enclosure.high < Fraction(digits) + nearby
    assert enclosure.gap < 1e-15 and enclosure.low <= enclosure.high


# --- naive twins -----------------------------------------------------------------------------------------


def hockey_stick(masses, ratio, releases):
    """Sum over every sequence of outputs; ``masses`` are pairs (P, Q) of one release."""
    return sum(
        max(math.prod(p for p, _ in outputs) - ratio * math.prod(q for _, q in outputs), 0)
        for outputs in itertools.product(masses, repeat=releases)
    )


@pytest.mark.parametrize("releases", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0, 0.3, 1, 1.1, 2.5])
def test_randomised_response_against_every_sequence(releases, epsilon):
    e = Exact.exponential(Fraction(1, 2))
    masses = [(e / (1 + e), 1 / (1 + e)), (1 / (1 + e), e / (1 + e))]
    twin = hockey_stick(masses, Exact.exponential(Fraction(repr(epsilon))), releases)
    found = randomised_response(0.5, epsilon, releases=releases)
    assert found.low <= twin <= found.high and found.high - found.low < Fraction(1, 10**40)


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "releases"), [(1, 3), (2, 2), (4, 1), (3, 2)])
def test_discrete_laplace_against_every_sequence(shift, releases):
    t = Exact.exponential(Fraction(-1, 2))
    normal = (1 - t) / (1 + t)
    inside = range(shift + 1)
    # all outputs below 0, and all above the shift, share one ratio each
    masses = [(t / (1 + t), t ** (shift + 1) / (1 + t)), (t ** (shift + 1) / (1 + t), t / (1 + t))]
    masses += [(normal * t**x, normal * t ** (shift - x)) for x in inside]
    for epsilon in ("ln(3/2)", 0.4):
        ratio = Fraction(3, 2) if epsilon == "ln(3/2)" else Exact.exponential(Fraction(2, 5))
        found = discrete_laplace(2, epsilon, shift=shift, releases=releases)
        twin = hockey_stick(masses, ratio, releases)
        assert found.low <= twin <= found.high and found.high - found.low < Fraction(1, 10**40)


@pytest.mark.parametrize(("variance", "shift", "epsilon"), [(4, 1, 0.5), (0.25, 1, 1), (9, 2, 0.1), (2, 3, 1.5)])
def test_discrete_gaussian_against_a_plain_sum(variance, shift, epsilon):
    weights = {x: math.exp(-x * x / (2 * variance)) for x in range(-60, 61)}
    whole = sum(weights.values())
    twin = sum(max(w - math.exp(epsilon) * weights.get(x - shift, 0), 0) for x, w in weights.items()) / whole
    found = discrete_gaussian(variance, epsilon, shift=shift)
    assert float(found.low) == pytest.approx(twin, rel=1e-9) and found.gap < 1e-15


@pytest.mark.parametrize(("sigma", "shift", "releases", "epsilon"), [(1, 1, 1, 1), (2, 3, 4, 0.5), (5, 1, 10, 0)])
def test_gaussian_against_the_formula_in_floats(sigma, shift, releases, epsilon):
    mu = math.sqrt(releases) * shift / sigma
    twin = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    found = gaussian(sigma, epsilon, shift=shift, releases=releases)
    assert float(found.low) == pytest.approx(twin, rel=1e-9) and found.gap < 1e-15


@pytest.mark.parametrize("epsilon", [0, 0.2, 0.9])
def test_the_cells_of_laplace_noise_enclose_its_formula(epsilon):
    """One release, by the cells that composition uses: they must enclose the formula, closer with more cells."""
    once, gaps = laplace(1, epsilon), []
    for cells in (6, 60):
        found = enclosed(lambda digits: LaplaceLaw(Fraction(1)), 1, Level(Fraction(repr(epsilon))), cells=cells)
        assert found.low < once.low and once.high < found.high
        gaps.append(found.high - found.low)
    assert gaps[1] < gaps[0] / 10


@pytest.mark.slow
def test_two_laplace_releases_against_a_midpoint_sum():
    """δ = E[(1 − e^(ε − loss))₊] over the outputs of both releases."""
    n = 1000
    start = np.arange(n) / n
    inner = (np.exp(-start) - np.exp(-start - 1 / n)) / 2
    losses = np.concatenate([[1, -1], 1 - 2 * start - 1 / n])
    masses = np.concatenate([[0.5, math.exp(-1) / 2], inner])
    twin = np.sum(np.outer(masses, masses) * np.maximum(1 - np.exp(0.5 - np.add.outer(losses, losses)), 0))
    found = laplace(1, 0.5, releases=2, cells=n)
    assert float(found.low) == pytest.approx(twin, rel=1e-7) and twin < found.high and found.gap < 1e-6


# --- an independent implementation -----------------------------------------------------------------------


@pytest.mark.parametrize("releases", [1, 10])
@pytest.mark.slow
def test_the_other_implementation_agrees(releases):
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    cases = [
        (pld.from_gaussian_mechanism, 2.0, gaussian, 2),
        (pld.from_laplace_mechanism, 3.0, laplace, 3),
        (pld.from_discrete_laplace_mechanism, 0.25, discrete_laplace, 4),
        (pld.from_discrete_gaussian_mechanism, 3.0, discrete_gaussian, 9),
    ]
    for make, parameter, ours, argument in cases:
        ends = [
            make(parameter, value_discretization_interval=1e-4, pessimistic_estimate=pessimistic)
            .self_compose(releases)
            .get_delta_for_epsilon(0.7)
            for pessimistic in (False, True)
        ]
        found = ours(argument, 0.7, releases=releases)
        # theirs is rounded like any floating-point sum
        assert ends[0] * (1 - 1e-9) - 1e-12 <= found.high and found.low <= ends[1] * (1 + 1e-9) + 1e-12
        assert float(found.high) == pytest.approx(ends[1], rel=1e-2, abs=1e-12)


# --- laws and refusals -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_more_shift_more_releases_and_less_epsilon_lose_more():
    for noise, argument in ((gaussian, 3), (laplace, 3), (discrete_laplace, 3), (discrete_gaussian, 9)):
        base = noise(argument, 0.2, releases=2)
        assert noise(argument, 0.2, shift=2, releases=2).low > base.high
        assert noise(argument, 0.2, releases=3).low > base.high
        assert noise(argument, 0.1, releases=2).low > base.high
        assert Fraction(0) < base.low <= base.high < 1


def test_a_loss_that_never_exceeds_epsilon_has_delta_zero():
    assert laplace(2, 0.5) == laplace(2, 7) == Enclosure(Fraction(0), Fraction(0))
    assert discrete_laplace(2, 3, releases=5) == Enclosure(Fraction(0), Fraction(0))
    at_the_edge = randomised_response(0.5, 1, releases=2)
    assert at_the_edge.low == 0 and at_the_edge.high < Fraction(1, 10**30)


def test_epsilon_is_read_exactly():
    assert 0 in randomised_response("1", 1)
    found = randomised_response(1, "ln(2)")
    e = Exact.exponential(1)
    assert found.low <= (e - 2) / (1 + e) <= found.high


def test_the_precision_of_others_is_left_alone(monkeypatch):
    monkeypatch.setattr(flint.ctx, "prec", 77)
    gaussian(1, 1)
    discrete_gaussian(1, 1, releases=2)
    assert flint.ctx.prec == 77


# --- what is cut off counts against us -------------------------------------------------------------------


@pytest.mark.parametrize("digits", [1, 2, 5, 10])
@pytest.mark.parametrize("releases", [1, 3])
def test_a_discrete_gaussian_that_is_cut_short_is_still_enclosed(digits, releases):
    true = discrete_gaussian(4, 0.6, shift=2, releases=releases)
    cut = enclosed(lambda _: law_of_digits(digits), releases, Level(Fraction("0.6")))
    assert cut.low < true.low and true.high < cut.high


def law_of_digits(digits):
    """Noise of variance 4 whose values are listed as if masses of so few digits were wanted, less 5."""
    return divergence.discrete_gaussian_law(Fraction(4), 2, digits - 5)


def test_an_infinite_loss_in_any_release_counts():
    law = randomised_response_law(Fraction(1), Fraction(1, 2))
    for releases, at_least in ((1, Fraction(1, 2)), (2, Fraction(3, 4)), (3, Fraction(7, 8))):
        found = enclosed(lambda digits: law, releases, Level(Fraction(4)))
        assert found.low <= at_least <= found.high and found.high - found.low < Fraction(1, 2)


def test_ends_are_shown_rounded_outward():
    assert Enclosure(Fraction(1, 3), Fraction(2, 3)).decimals(3) == ("0.333", "0.667")
    assert str(Enclosure(Fraction(0), Fraction(1))) == "[0, 1]"
    assert 0.5 in Enclosure(Fraction(1, 3), Fraction(2, 3)) and Enclosure(Fraction(0), Fraction(0)).gap == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: gaussian(0, 1),
        lambda: gaussian(-1, 1),
        lambda: gaussian(math.inf, 1),
        lambda: gaussian(1, -0.5),
        lambda: laplace(1, math.nan),
        lambda: laplace(1, 1, releases=0),
        lambda: laplace(1, 1, releases=2, cells=0),
        lambda: laplace("one", 1),
        lambda: discrete_laplace(1, 1, shift=0.5),
        lambda: discrete_gaussian(1, 1, shift=-1),
        lambda: discrete_gaussian(1e12, 1),
        lambda: discrete_gaussian(True, 1),
        lambda: randomised_response(1, 1, releases=True),
    ],
)
def test_bad_arguments_get_a_sentence(call):
    with pytest.raises(UsageError, match=r"must be|more than|cannot read"):
        call()


def test_without_flint_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(UsageError, match=r"pip install 'dpaudit\[proof\]'"):
        gaussian(1, 1)
