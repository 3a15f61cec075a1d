"""Are the enclosed probabilities of conditions on draws the true ones?"""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from dpaudit.errors import UsageError
from dpaudit.program.symbolic.linear import Affine, Constraint
from dpaudit.program.symbolic.tree import NoiseDraw
from dpaudit.verify.forest_probability import Balls, Landscape, enclosure, exponential, forest, log_ratio, probability

pytest.importorskip("flint")

METHODS = ("laplace", "exponential", "uniform")


def draw(method, scale):
    return NoiseDraw(method, Fraction(scale), ())


def condition(terms, constant=0, sign=">="):
    return Constraint(
        Affine({f"h{place}": Fraction(value) for place, value in terms.items()}, Fraction(constant)), sign
    )


def one(draws, *conditions, point=None):
    found = probability(draws, conditions, point)
    assert found.low <= found.high
    assert found.high - found.low <= found.high * Fraction(1, 1 << 60)
    return float(found.low)


@pytest.mark.parametrize(
    ("draws", "conditions", "expected"),
    [
        ([("laplace", 2)], [({0: 1}, -3)], math.exp(-1.5) / 2),
        ([("laplace", 2)], [({0: -1}, 3)], 1 - math.exp(-1.5) / 2),
        ([("laplace", 2)], [({0: 1}, 4), ({0: -1}, 2)], 1 - (math.exp(-1) + math.exp(-2)) / 2),
        ([("exponential", 3)], [({0: 2}, -3)], math.exp(-0.5)),
        ([("uniform", 4)], [({0: 1}, -1)], 0.75),
        ([("laplace", 1), ("laplace", 5)], [({0: 1, 1: -1}, 0)], 0.5),
        # P(x − y ≥ z) of two Laplace draws of one scale: e^(−z)(2 + z)/4
        ([("laplace", 1), ("laplace", 1)], [({0: 1, 1: -1}, -3)], math.exp(-3) * 5 / 4),
        ([("exponential", 1), ("exponential", 2)], [({0: 1, 1: -1}, 0)], 1 / 3),
        ([("uniform", 1), ("uniform", 1)], [({0: -1, 1: -1}, 1)], 0.5),
        ([("uniform", 2), ("exponential", 1)], [({0: 1, 1: -1}, 0)], (1 + math.exp(-2)) / 2),
        # the first of four is the largest
        ([("laplace", 3)] * 4, [({0: 1, 1: -1}, 0), ({0: 1, 2: -1}, 0), ({0: 1, 3: -1}, 0)], 0.25),
        # one order of four: a chain
        ([("laplace", 3)] * 4, [({0: 1, 1: -1}, 0), ({1: 1, 2: -1}, 0), ({2: 1, 3: -1}, 0)], 1 / 24),
        ([("exponential", 2)] * 4, [({0: 1, 1: -1}, 0), ({1: 1, 2: -1}, 0), ({2: 1, 3: -1}, 0)], 1 / 24),
        # the same with steps of a quarter between: a smaller simplex
        ([("uniform", 1)] * 3, [({0: 1, 1: -1}, Fraction(-1, 4)), ({1: 1, 2: -1}, Fraction(-1, 4))], 1 / 48),
        # two that have nothing to do with each other, and one that is free
        ([("laplace", 1)] * 3, [({0: 1}, -1), ({2: -1}, -2)], math.exp(-3) / 4),
        ([], [({}, 0)], 1.0),
    ],
)
def test_formulas(draws, conditions, expected):
    found = one([draw(*each) for each in draws], *(condition(*each) for each in conditions))
    assert found == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("draws", "conditions"),
    [
        ([("laplace", 1)], [({0: 1}, -2), ({0: -1}, 1)]),
        ([("exponential", 1)], [({0: -1}, 0)]),
        ([("uniform", 2)], [({0: 1}, -2)]),
        ([("uniform", 2), ("exponential", 1)], [({0: 1, 1: -1}, -2)]),
        ([("laplace", 1), ("laplace", 1), ("uniform", 1)], [({0: 1, 1: -1}, 0), ({1: 1, 2: -1}, -1), ({0: -1}, 1)]),
        ([("laplace", 1)], [({}, -1)]),
    ],
)
def test_what_cannot_be_is_exactly_zero(draws, conditions):
    found = probability([draw(*each) for each in draws], [condition(*each) for each in conditions])
    assert found.low == found.high == 0


def test_conditions_without_draws():
    assert one([], condition({}, 1)) == 1
    assert one([], condition({}, 0, "=")) == 1
    for constant, sign in ((0, ">"), (1, "="), (-1, ">=")):
        assert probability([], [condition({}, constant, sign)]).high == 0
    with_data = Constraint(Affine({"q0": 1, "h0": 1}), ">")
    assert one([draw("laplace", 1)], with_data, point={"q0": Fraction(-1)}) == pytest.approx(math.exp(-1) / 2)


def test_rare_events_keep_their_digits():
    far = one([draw("laplace", 1)], condition({0: 1}, -600))
    assert far == pytest.approx(math.exp(-600) / 2, rel=1e-13)
    draws = [draw("laplace", 1), draw("laplace", 1)]
    found = probability(draws, [condition({0: 1, 1: -1}, -2000)])
    ratio = log_ratio(found.low, Fraction(1))
    assert float(ratio.high) == pytest.approx(-2000 + math.log(2002 / 4), rel=1e-14)
    # a difference of two nearly equal numbers
    narrow = Fraction(1, 10**40)
    assert one([draw("laplace", 1)], condition({0: 1}), condition({0: -1}, narrow)) == pytest.approx(0.5e-40)


@pytest.mark.parametrize(
    "conditions",
    [
        [({0: 1, 1: 1, 2: 1}, 0)],
        [({0: 1, 1: -1}, 0), ({1: 1, 2: -1}, 0), ({2: 1, 0: -1}, 1)],
        [({0: 1}, 0, "=")],
    ],
)
def test_what_is_no_forest_is_not_known(conditions):
    assert probability([draw("laplace", 1)] * 3, [condition(*each) for each in conditions]) is None


@pytest.mark.parametrize("method", ["gumbel", "discrete_laplace"])
def test_other_draws_are_not_known(method):
    assert probability([draw(method, 1)], [condition({0: 1})]) is None
    # one that nothing is asked of does no harm
    assert one([draw(method, 1), draw("laplace", 1)], condition({1: 1})) == 0.5


def test_the_roots_are_in_the_middle():
    chain = [condition({a: 1, a + 1: -1}) for a in range(4)]
    (root,) = forest([draw("laplace", 1)] * 5, chain).roots
    assert root.draw == 2 and root.depth == 3
    star = [condition({3: 1, a: -1}) for a in (0, 1, 2, 4)]
    (root,) = forest([draw("laplace", 1)] * 5, star).roots
    assert root.draw == 3 and root.depth == 2 and len(root.children) == 4


def test_the_precision_of_others_is_left_alone():
    import flint

    before = flint.ctx.prec
    try:
        flint.ctx.prec = 77
        one([draw("laplace", 1)], condition({0: 1}, -1))
        assert flint.ctx.prec == 77
    finally:
        flint.ctx.prec = before


CHAIN = [condition({0: 1, 1: -1}, Fraction(1, 3)), condition({1: 2, 2: -1}, -1), condition({2: 1}, Fraction(7, 2))]


@pytest.mark.slow
def test_without_flint_intervals_of_fractions_enclose_the_same(monkeypatch):
    draws = [draw("laplace", Fraction(2, 3)), draw("exponential", 5), draw("uniform", 4)]
    balls = probability(draws, CHAIN)
    monkeypatch.setitem(sys.modules, "flint", None)
    fractions = probability(draws, CHAIN)
    assert max(balls.low, fractions.low) <= min(balls.high, fractions.high)
    assert fractions.high - fractions.low <= fractions.high / 2**64
    assert probability([draw("laplace", 1)], [condition({0: 1}, -700)]).low > 0
    with pytest.raises(UsageError, match="python-flint"):
        log_ratio(Fraction(2), Fraction(1))


@pytest.mark.parametrize("value", [0, 1, -1, Fraction(1, 3), Fraction(-700, 9), 700, Fraction(1, 10**30), -(10**4)])
def test_an_exponential_in_fractions_is_that_of_flint(value):
    import flint

    value = Fraction(value)
    own = exponential(value, 200)
    with Balls(300) as balls:
        ball = enclosure(balls.exp(value))
    assert flint.ctx.prec != 300
    assert own.low <= ball.high and ball.low <= own.high
    assert own.high - own.low <= own.high / 2**190


# --- random stars and trees ------------------------------------------------------------------------------------

FACTORS = st.sampled_from([Fraction(-2), Fraction(-1), Fraction(-1, 2), Fraction(1), Fraction(3, 2)])
CONSTANTS = st.fractions(-4, 4, max_denominator=4)


@st.composite
def systems(draw_from, most=5, star=False):
    count = draw_from(st.integers(1, most))
    draws = [
        draw(draw_from(st.sampled_from(METHODS)), draw_from(st.sampled_from([1, 2, Fraction(1, 2), 3])))
        for _ in range(count)
    ]
    conditions = []
    for place in range(count):
        limits = draw_from(st.lists(st.tuples(FACTORS, CONSTANTS), max_size=2))
        conditions += [condition({place: factor}, constant) for factor, constant in limits]
        if place:
            above = 0 if star else draw_from(st.integers(0, place - 1))
            ties = draw_from(st.lists(st.tuples(FACTORS, FACTORS, CONSTANTS), min_size=1, max_size=2))
            conditions += [condition({place: a, above: b}, constant) for a, b, constant in ties]
    return draws, conditions


def sampled(draws, conditions, runs=40_000):
    rng = np.random.default_rng(0)
    drawn = {
        f"h{place}": {
            "laplace": lambda scale: rng.laplace(0, scale, runs),
            "exponential": lambda scale: rng.exponential(scale, runs),
            "uniform": lambda scale: scale * rng.random(runs),
        }[each.method](float(each.scale))
        for place, each in enumerate(draws)
    }
    held = np.ones(runs, dtype=bool)
    for each in conditions:
        value = float(each.expression.constant) + sum(float(a) * drawn[h] for h, a in each.expression.terms.items())
        held &= value >= 0
    return int(held.sum()), runs


@settings(max_examples=75, deadline=None, derandomize=True)
@given(systems())
@pytest.mark.slow
def test_random_trees_against_runs(system):
    draws, conditions = system
    found = one(draws, *conditions)
    hits, runs = sampled(draws, conditions)
    assert binomtest(hits, runs, min(found, 1.0)).pvalue > 1e-7


@settings(max_examples=30, deadline=None, derandomize=True)
@given(systems(most=3))
@pytest.mark.slow
def test_a_condition_and_its_opposite_share_the_mass(system):
    """P(A, c) + P(A, not c) = P(A), to the last digit."""
    draws, conditions = system
    if not conditions:
        return
    *others, last = conditions
    whole, first, second = (probability(draws, each) for each in (others, [*others, last], [*others, last.negation]))
    assert first.low + second.low <= whole.high and whole.low <= first.high + second.high
    assert first.high + second.high - whole.low <= Fraction(1, 10**15)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(systems(most=4, star=True))
@pytest.mark.slow
def test_the_quadrature_agrees(system):
    draws, conditions = system
    exact = one(draws, *conditions)
    (found,) = Landscape(forest(draws, conditions), conditions, ["q0"]).masses(np.zeros((1, 1)))
    assert found == pytest.approx(exact, rel=1e-4, abs=1e-12)
    assert (found == 0) == (exact == 0) or exact < 1e-12


@pytest.mark.parametrize("method", ["laplace", "exponential"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_quadrature_keeps_the_digits_of_rare_events(method, sign):
    """An interval far out, of a draw alone and of one that hangs on another."""
    draws = [draw(method, 1), draw("laplace", 1)]
    for others in ({}, {1: Fraction(1, 100)}):
        conditions = [condition({0: sign, **others}, -40), condition({0: -sign, **others}, 41)]
        exact = float(probability(draws, conditions).low)
        (found,) = Landscape(forest(draws, conditions), conditions, []).masses(np.zeros((1, 0)))
        assert found == pytest.approx(exact, rel=1e-3, abs=1e-300)


def test_the_quadrature_knows_its_variables():
    """A chain of four, at many points at once; each point is the exact system at that point."""
    draws = [draw("laplace", 2), draw("exponential", 1), draw("laplace", 1), draw("uniform", 4)]
    conditions = [
        Constraint(Affine({"h0": 1, "h1": -1, "q0": 1}), ">"),
        Constraint(Affine({"h1": 2, "h2": -1, "z": -1}, 1), ">="),
        Constraint(Affine({"h2": 1, "h3": 1, "q0": -2}), ">"),
        Constraint(Affine({"q0": 1, "z": 1}, 3), ">="),
    ]
    points = np.array([[0.0, 0.0], [1.5, -1.0], [-2.0, 3.0], [-4.0, 0.5]])
    found = Landscape(forest(draws, conditions), conditions, ["q0", "z"]).masses(points)
    exact = [one(draws, *conditions, point={"q0": Fraction(a), "z": Fraction(b)}) for a, b in points]
    assert exact[-1] == 0 < min(exact[:-1])
    assert found == pytest.approx(exact, rel=0.02)
