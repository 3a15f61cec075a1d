"""Is an interval ever wrong? Oracles by other ways, and each rounding seen by itself."""

import math
import random
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant
from scipy.integrate import quad
from scipy.special import ndtr

from dpaudit.accounting import DiscreteLaplace, Exponential, Gaussian, Laplace, RandomisedResponse, certify
from dpaudit.accounting.closed_forms import LARGE
from dpaudit.accounting.compose import Composition, Tail
from dpaudit.accounting.lattice import Masses, above, below, coarser, shares
from dpaudit.accounting.losses import (
    BoundedRangeLaw,
    GaussianLaw,
    LaplaceLaw,
    SampledLaw,
    ball,
    precision,
    rounded_down,
    rounded_up,
)
from dpaudit.accounting.plan import tilted

UNIT = 10**20


def one_step(sigma, q, epsilon, *, add):
    """δ(ε) of one step with sampled records (Zhu, Dong & Wang 2022, Theorem 11), for any real ε."""

    def remove(alpha):
        if alpha <= 1 - q:
            return 1 - alpha
        x = sigma**2 * math.log((alpha - 1) / q + 1) + 0.5
        a, b = ndtr(-x / sigma), ndtr(-(x - 1) / sigma)
        return (1 - q) * a + q * b - alpha * a

    alpha = math.exp(epsilon)
    return 1 - alpha + alpha * remove(1 / alpha) if add else remove(alpha)


def two_steps(sigma, q, epsilon, *, add):
    """∫ p(x)·δ(ε − L(x)) dx."""

    def loss(x):
        return math.log(1 - q + q * math.exp((2 * x - 1) / (2 * sigma**2)))

    def inside(x):
        plain, moved = (math.exp(-((x - m) ** 2) / (2 * sigma**2)) for m in (0, 1))
        density = (plain if add else (1 - q) * plain + q * moved) / (sigma * math.sqrt(2 * math.pi))
        return density * one_step(sigma, q, epsilon + (loss(x) if add else -loss(x)), add=add)

    return quad(inside, -12 * sigma, 1 + 12 * sigma, epsabs=1e-14, epsrel=1e-11, limit=400)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "q", "epsilon"), [(1.0, 0.5, 1.0), (0.7, 0.1, 0.5), (2.0, 0.25, 0.1), (1.5, 0.75, 0.25)]
)
def test_one_and_two_steps_are_integrals(sigma, q, epsilon):
    for steps, law in ((1, one_step), (2, two_steps)):
        found = certify(Gaussian(sigma).poisson(q).times(steps), epsilon=epsilon)
        true = max(law(sigma, q, epsilon, add=add) for add in (False, True))
        assert found.low <= true * (1 + 1e-9) and true * (1 - 1e-9) <= found.high
        assert found.high - found.low <= 0.02 * true


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0, 1, 3])
def test_laplace_noise_twice(epsilon):
    b = 0.8

    def once(level):  # δ of Laplace noise, for any real ε
        if level >= 1 / b:
            return 0.0
        return 1 - math.exp(level) if level <= -1 / b else 1 - math.exp((level - 1 / b) / 2)

    def inside(x):
        return math.exp(-abs(x) / b) / (2 * b) * once(epsilon - (abs(x - 1) - abs(x)) / b)

    true = quad(inside, -40, 40, points=[0, 1, (1 - epsilon * b) / 2], epsabs=1e-13, limit=400)[0]
    found = certify(Laplace(b).times(2), epsilon=epsilon)
    assert found.low <= true + 1e-10 and true - 1e-10 <= found.high
    assert found.high - found.low <= 0.01 * true + 1e-9


def test_discrete_laplace_noise_is_a_sum():
    t, delta, epsilon = 2.0, 3, 1.0
    r = math.exp(-1 / t)
    p = {k: (1 - r) / (1 + r) * r ** abs(k) for k in range(-300, 300)}
    losses = {k: (abs(k - delta) - abs(k)) / t for k in p}
    true = sum(
        p[i] * p[j] * max(0.0, -math.expm1(epsilon - losses[i] - losses[j]))
        for i in p
        for j in p
        if p[i] * p[j] > 1e-18
    )
    found = certify(DiscreteLaplace(2, sensitivity=3).times(2), epsilon=epsilon)
    assert found.low <= true + 1e-12 and true - 1e-12 <= found.high
    assert found.high - found.low <= 1e-6


def response(own):
    """(P, Q) of randomised response, of 28 digits."""
    e = Fraction(own.exp())
    return [(e / (1 + e), 1 / (1 + e)), (1 / (1 + e), e / (1 + e))]


def discrete_laplace_by_two(scale):
    """(P, Q) of discrete Laplace noise around 0 and 2: at most 0, 1, at least 2."""
    r = Fraction((-1 / scale).exp())
    end, middle = 1 / (1 + r), (1 - r) / (1 + r) * r
    return [(end, end * r**2), (middle, middle), (end * r**2, end)]


@pytest.mark.slow
@pytest.mark.parametrize("q", [1, Fraction(1, 5)])
@pytest.mark.parametrize(
    ("event", "outcomes"),
    [
        (RandomisedResponse("0.7"), response(Decimal("0.7"))),
        (DiscreteLaplace("1.5", sensitivity=2), discrete_laplace_by_two(Decimal("1.5"))),
    ],
    ids=["response", "discrete Laplace"],
)
def test_few_steps_are_convolved_by_fractions(event, outcomes, q):
    """Sampled by coins; and of a fixed size, of which both directions are bounded by the curve of one above 1."""
    sampled = [(q * p + (1 - q) * other, other) for p, other in outcomes]
    above = [(p, other) for p, other in sampled if p > other]
    left = 1 - sum(p + other for p, other in above)
    spliced = [*above, (left, left), *((other, p) for p, other in above)]
    q = Fraction(q)
    for steps in (1, 2, 3, 4):
        for epsilon in ("0", "0.3", "1"):
            alpha, close = Fraction(Decimal(epsilon).exp()), Fraction(1, 10**20)
            true, most = (curve(each, steps, alpha) for each in (sampled, spliced))
            found = certify(event.poisson(q).times(steps), epsilon=epsilon)
            assert Fraction(found.low) <= true + close and true - close <= Fraction(found.high)
            assert found.high - found.low <= 0.05 * true + 1e-9
            found = certify(event.fixed_size(q.numerator, q.denominator).times(steps), epsilon=epsilon)
            assert Fraction(found.low) <= true + close and true - close <= most
            assert most - close <= Fraction(found.high) <= Fraction(105, 100) * most + Fraction(1, 10**9)


def curve(pairs, steps, alpha):
    """H(α) of the larger direction, of so many steps of outcomes with these (P, Q)."""
    ways = [(math.prod(p), math.prod(o)) for p, o in (zip(*way, strict=True) for way in product(pairs, repeat=steps))]
    return max(
        sum(max(Fraction(0), p - alpha * o) for p, o in ways), sum(max(Fraction(0), o - alpha * p) for p, o in ways)
    )


def test_the_exponential_mechanism_keeps_between_its_pairs():
    """Losses of two answers lie in [t − ε, t]; no such pair is above, and the one with t = ε/2 is not below."""
    own, at = 1.0, 0.25
    found = certify(Exponential(own), epsilon=at)
    pairs = []
    for t in (own * k / 100 for k in range(1, 100)):
        p = (math.exp(own) - math.exp(t)) / math.expm1(own)
        pairs.append(p * max(0.0, -math.expm1(at - t)) + (1 - p) * max(0.0, -math.expm1(at - t + own)))
    assert max(pairs) <= found.high <= max(pairs) * 1.001
    assert found.low <= pairs[49] * (1 + 1e-9) and pairs[49] * (1 - 1e-6) <= found.low


@pytest.mark.slow
def test_random_rows_hold_another_accountant():
    """dp-accounting's PLD is pessimistic: below the lower end it would be wrong, or we would."""
    draw = random.Random(1)
    for _ in range(6):
        sigma, q = round(draw.uniform(0.7, 4), 2), round(10 ** draw.uniform(-3, -0.5), 4)
        steps, delta = round(10 ** draw.uniform(0, 2.7)), 10 ** draw.uniform(-9, -3)
        found = certify(Gaussian(sigma).poisson(q).times(steps), delta=delta, tolerance=2e-3)
        accountant = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-3)
        accountant.compose(dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(sigma)), steps)
        assert found.low <= found.high
        assert found.low <= accountant.get_epsilon(delta) * (1 + 1e-9) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "batches", "epochs", "low"),
    [("0.5", 10_000, 1, 10.9947), ("0.8", 1000, 4, 9.1994), ("1", 1000, 10, 5.4530), ("2", 1, 4, None)],
)
def test_shuffled_batches_lose_at_least_what_their_largest_output_shows(sigma, batches, epochs, low):
    found = certify(Gaussian(sigma).shuffled(batches).times(epochs), delta="1e-6")
    known = certify(Gaussian(sigma).times(epochs), delta="1e-6")
    assert abs(found.high - known.high) < 1e-3
    assert abs(found.low - (known.low if low is None else low)) < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 2.0])
def test_two_shuffled_batches_are_an_integral(epsilon):
    x, step = np.linspace(-7, 9, 1601, retstep=True)
    densities = [np.exp(-((x - moved) ** 2) / 2) / math.sqrt(2 * math.pi) for moved in (0, 1, 2)]
    p, q = (np.outer(densities[m], densities[0]) / 2 + np.outer(densities[0], densities[m]) / 2 for m in (2, 1))
    true = float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) * step**2
    found = certify(Gaussian(1).shuffled(2), epsilon=epsilon, tolerance=0.01)
    assert found.low <= true <= found.high
    assert found.low >= 0.9 * true  # the largest output tells most of it


# --- each rounding by itself -----------------------------------------------------------------------------


def test_masses_are_rounded_to_their_side():
    with precision(200):
        for value in (Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(5, UNIT), Fraction(1, 3 * UNIT)):
            assert rounded_up(ball(value), UNIT) >= value * UNIT + Fraction(3, 10)
            assert rounded_down(ball(value), UNIT) <= max(0, value * UNIT - Fraction(3, 10))


LAWS = [GaussianLaw(Fraction(1)), SampledLaw(GaussianLaw(Fraction(1)), Fraction(1, 5)), LaplaceLaw(Fraction(1)),
        BoundedRangeLaw(Fraction(1)), SampledLaw(GaussianLaw(Fraction(1)), Fraction(1, 5)).reversed()]  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_curves_are_on_their_side(law):
    """At every α the masses from above are above the curve, those from below are below it; and both are near."""
    with precision(200):
        ends = law.ends()
        size = ball(Fraction(1, 10))
        base, count = (ball(-6), 120) if ends is None else (ends[0], 20)
        exact = ends is not None
        over = above(law, list(range(count + 1)), base, size, count if exact else None, UNIT)
        middles = [4096 * k + 2048 for k in range(count)]
        events = [*middles[:-1], 4096 * count]
        if exact:
            events[0] = 0
        under = below(law, list(range(count + 1)), events, base, size, UNIT)

        def curve(masses, epsilon):
            total = ball(masses.infinite)
            for place, mass in enumerate(masses.masses):
                loss = masses.base + size * (masses.start + place)
                if loss > epsilon:
                    total += mass * (1 - (epsilon - loss).exp())
            return total / UNIT

        for k in range(1, 38):
            epsilon = base + (size * count) * k / 38 + ball(Fraction(1, 1000))
            p, q = law.tails(epsilon)
            true = p - epsilon.exp() * q
            high, low = curve(over, epsilon), curve(under, epsilon)
            assert low <= true <= high
            # the law of bounded ranges only ever stands above
            assert high - (true if isinstance(law, BoundedRangeLaw) else low) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("up", [True, False])
def test_products_are_rounded_to_their_side_and_cuts_move_mass_to_theirs(up):
    draw = random.Random(0)
    unit = 10**12
    laws = [(GaussianLaw(Fraction(4)), 8)]
    with precision(150):
        tilt = tilted(laws, log_delta=math.log(1e-6))
        composer = Composition(up=up, unit=unit, size=ball(Fraction(1, 100)), tilt=tilt, check=lambda places: None)
        first_masses, second_masses = (
            Masses([draw.choice((0, 1, draw.randrange(10**11))) for _ in range(200)], -100, 7, ball(0)) for _ in "ab"
        )
        a, b = composer.block(first_masses, 0.0), composer.block(second_masses, 0.0)
        x, y = ([int(value) for value in one.poly.coeffs()] for one in (a, b))
        exact = [Fraction(0)] * (len(x) + len(y) - 1)
        for i, left in enumerate(x):
            for j, right in enumerate(y):
                exact[i + j] += Fraction(left * right, unit)
        found = composer.times(a, b)
        low, high = composer.cuts[-1]
        assert found.steps == 2
        whole = [math.ceil(value) if up else math.floor(value) for value in exact]
        first = found.start - a.start - b.start
        kept = [int(value) for value in found.poly.coeffs()]
        last = first + len(kept)
        dropped, beyond = sum(whole[:first]), sum(whole[last:])
        assert dropped <= low and beyond <= high
        wanted = whole[first:last]
        if up:
            wanted[0] += dropped
            assert found.infinite == a.infinite + b.infinite + beyond
        else:
            wanted[-1] += beyond
            both = a.infinite * (sum(y) + b.infinite) + b.infinite * sum(x)
            assert found.infinite == both // unit
        assert kept == wanted


@pytest.mark.slow
@pytest.mark.parametrize("up", [True, False])
def test_coarser_lattices_keep_to_their_side(up):
    """At every ε the curve of what was moved is on its side; no mass of P is made, and from above none is lost."""
    draw, unit, size = random.Random(0), 10**12, Fraction(1, 7)
    low, high = (Fraction((Decimal(1) / 7).exp()) + sign * Fraction(1, 10**20) for sign in (-1, 1))
    with precision(200):
        share = shares(ball(size), unit)
    assert Fraction(share.below, unit) <= 1 / (1 + high) < Fraction(share.below + 2, unit)
    assert Fraction(share.partner, unit) <= 1 / high < Fraction(share.partner + 2, unit)
    near = (low + high) / 2

    def curve(masses, first, step, level):
        """Σ m·(1 − e^(ε − l))₊ at ε = level·h/2, with e^(h/2) for a root."""
        root = Fraction(math.isqrt(int(near * 10**40)), 10**20)
        return sum(
            m * (1 - root ** (level - 2 * step * (first + i)))
            for i, m in enumerate(masses)
            if 2 * step * (first + i) > level
        )

    for start, odd in ((-7, False), (-7, True), (4, False), (4, True)):
        masses = [draw.choice((0, 1, 7, draw.randrange(10**9))) for _ in range(24)]
        found, first = coarser(masses, start, odd, share, unit, up=up)
        # in steps as they were, from the base as it was
        assert sum(found) == sum(masses)
        for level in range(-20, 64):
            was = curve(masses, start, 1, level)
            now = curve(found, first, 2, level - 2 * odd)
            assert now - was >= -1e-6 if up else was - now >= -1e-6
            if level > 2 * (start + 26):
                assert was == now == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_losses_beyond_floats_are_planned_without_a_word():
    law = SampledLaw(GaussianLaw(Fraction(1, 2500)), Fraction(1, 10**6))
    for own in (law, law.reversed()):
        tilt = tilted([(own, 1)], log_delta=math.log(1e-5))
        assert math.isfinite(tilt.tilt) and all(np.isfinite(weights).all() for weights in tilt.weights)
    found = certify(Gaussian("0.02").poisson("1e-6"), delta="1e-20", tolerance=0.5)
    assert found.low <= 1236 and found.high == math.inf  # about what a curve in floats says
    assert found.note == LARGE


@pytest.mark.slow
def test_what_is_searched_for_is_shown_before_it_is_returned(monkeypatch):
    """A search that ends elsewhere makes the interval wide, never wrong."""
    true = certify(Gaussian(1).poisson(1), delta="1e-5")
    for wrong in (4.0, 5.0):
        monkeypatch.setattr(Tail, "_root", lambda self, delta, guess, at=wrong: at)
        found = certify(Gaussian(1).poisson(1), delta="1e-5", tolerance=0.1)
        assert found.low <= true.low + 1e-6 and true.high - 1e-6 <= found.high
