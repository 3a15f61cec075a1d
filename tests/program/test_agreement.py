"""Do floats decide only what fractions would, and is an output compared as it was when it came?"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from support.agreement import agree

from dpaudit.errors import InvalidRunsError
from dpaudit.loading import load
from dpaudit.program.symbolic.linear import Affine, as_float
from dpaudit.program.symbolic.noise import queries, read

WIDE = [0.0, 1.0, -1.0, 0.1, 1 / 3, 1e16, -1e16, 1e300, -1e300, 1e-300, 5e-324, math.inf, math.nan]
NUMBERS = [1, -1, Fraction(1, 3), Fraction(-2, 7), 10**30, Fraction(1, 10**30), 10**400, Fraction(1, 10**400)]


@pytest.mark.slow
def test_the_exact_value_lies_within_the_bound_or_none_is_given():
    rng, finite = random.Random(1), 0
    for _ in range(3000):
        names = [f"q{number}" for number in range(rng.randrange(1, 7))]
        expression = Affine({name: rng.choice(NUMBERS) for name in names}, rng.choice([0, *NUMBERS]))
        exact = {name: Fraction(rng.choice(WIDE[:-2])) for name in names}
        if rng.random() < 0.5:
            exact = {name: Fraction(rng.choice([1, -1]) * rng.random()) for name in names}
        value, error = expression.near({name: float(number) for name, number in exact.items()})
        if math.isfinite(error):
            finite += 1
            assert abs(Fraction(value) - expression.at(exact)) <= Fraction(error)
    assert finite > 500


def test_what_rounding_is_not_relative_for_is_no_float():
    assert as_float(Fraction(1, 3)) == 1 / 3 and as_float(0) == 0 and as_float(5e-324) == 5e-324
    assert math.isnan(as_float(Fraction(1, 10**320))) and math.isnan(as_float(10**400))


@pytest.mark.parametrize(
    ("name", "given"), [("adaptive_svt", {"cutoff": 2}), ("report_noisy_max", {}), ("noisy_max_value", {})]
)
def test_floats_come_to_no_other_leaf_than_fractions(name, given):
    entry, rng = load(name), random.Random(2)
    tree = read(entry.function, queries(4), entry.parameters_with(given))
    decided = close = 0
    for turn in range(400):
        some = [rng.choice(WIDE) if turn % 4 == 0 else rng.gauss(0, 8) for _ in range(4)]
        draws = [rng.choice([0.0, some[0], -some[0], rng.gauss(0, 8)]) for _ in range(12)]
        if turn % 4 == 1:  # a tie, which rounding would decide
            some, draws = [some[0]] * 4, [0.1 + 0.2] * 12
        leaf = tree.surely({f"q{k}": value for k, value in enumerate(some)}, draws)
        if leaf is None:
            close += 1
        else:
            decided += 1
            exact = {f"q{k}": Fraction(value) for k, value in enumerate(some) if math.isfinite(value)}
            assert tree.follow(exact, list(map(Fraction, draws)))[0] == leaf
    assert decided > 200 and close > 50


def two(data, noise):
    return [data[0] + noise.laplace(1), data[1] + noise.laplace(1)]


def test_an_output_that_a_later_run_mends_is_compared_as_it_was():
    given_out: list[list[float]] = []

    def mends(data, noise):
        for wrong in given_out:  # what was handed out before is put right
            wrong[1] -= 1
        given_out[:] = [two(data, noise)]
        given_out[0][1] += 1
        return given_out[0]

    assert agree(read(two, queries(2), {}), mends, {}, 2).disagreement is not None


def test_an_output_that_a_later_run_fills_anew_is_compared_as_it_was():
    kept: list[float] = []

    def fills(data, noise):
        kept[:] = two(data, noise)
        return kept

    def fills_within(data, noise):
        return {"a": (fills(data, noise),)}

    assert agree(read(two, queries(2), {}), fills, {}, 2).disagreement is None
    nested = read(lambda data, noise: {"a": (two(data, noise),)}, queries(2), {})
    assert agree(nested, fills_within, {}, 2).disagreement is None


def test_a_list_of_another_type_is_no_list_whatever_its_name():
    other = type("list", (list,), {})
    found = agree(read(two, queries(2), {}), lambda data, noise: other(two(data, noise)), {}, 2)
    assert found.disagreement is not None


def test_a_function_that_a_run_replaces_is_refused():
    before = math.copysign

    def replaces(data, noise):
        math.copysign = lambda x, y: 1.0
        return two(data, noise)

    tree = read(two, queries(2), {})
    try:
        with pytest.raises(InvalidRunsError, match="copysign"):
            agree(tree, replaces, {}, 2)
        assert math.copysign is before
    finally:
        math.copysign = before
