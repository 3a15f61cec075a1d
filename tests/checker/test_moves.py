"""Does the checker accept trees that show how far an expression moves, and none that show less?"""

import random
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from dpaudit.checker import CertificateError
from dpaudit.checker.intervals import FUNCTIONS, ONE, exact
from dpaudit.checker.movement import MovedExpression, check_defined, check_tree, read_nodes
from dpaudit.checker.reading import ForgedError, Steps


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_intervals_hold_the_true_values(name):
    rng = random.Random(3)
    before, ctx.prec = ctx.prec, 300
    try:
        for _ in range(150):
            ends = sorted(Fraction(rng.uniform(-9, 9)).limit_denominator(1000) for _ in range(2))
            if name in ("sqrt", "log"):
                ends = sorted(abs(end) + Fraction(1, 7) for end in ends)
            low, high = FUNCTIONS[name]((exact(ends[0])[0], exact(ends[1])[1]))
            for part in range(5):
                point = ends[0] + (ends[1] - ends[0]) * part / 4
                value = getattr(arb(fmpq(point.numerator, point.denominator)), name)() * ONE
                assert value > low - 1 and value < high + 1
    finally:
        ctx.prec = before


def test_ends_are_close_where_the_interval_is_a_point():
    for name, function in FUNCTIONS.items():
        low, high = function(exact(Fraction(7, 5)))
        assert 0 <= high - low < 2**30, name  # of 2⁹⁶


def test_roots_of_squares_are_exact():
    assert FUNCTIONS["sqrt"]((4 * ONE, 9 * ONE)) == (2 * ONE, 3 * ONE)


def shown(most, trees):
    """Check trees of x² on [0, 1], for x ≥ x′ and x ≤ x′."""
    nodes, unit = read_nodes([["var", 0], ["pow", 0, 2]], 1), (0, ONE)
    for sign, tree in zip((1, -1), trees, strict=True):
        check_tree(MovedExpression(nodes, 1, 0, Steps()), (unit, unit), sign, exact(Fraction(most)), tree, "tree")


def test_trees_by_hand():
    shown(1, [["."], ["."]])
    shown(1, [[["m", [[0, 1], [1, 0]]], "."], [["s", 0, "1/2"], ".", "."]])
    for most, tree, why in (
        ("999/1000", ["."], "above the bound"),
        ("999/1000", [["m", [[0, 1], [1, 0]]], "."], "above the bound"),
        ("999/1000", ["c"], "above the bound by mean values"),
        (1, [["m", [[0, 0]]], "."], "not monotone"),
        (1, [["s", 0, "2"], ".", "."], "outside"),
        (1, [["s", 0, "1/2"], "."], "ends too early"),
        (1, [".", "."], "goes on"),
        (1, [["t", 0]], "no part"),
        (1, ["."] * 0, "between 1"),
    ):
        with pytest.raises(CertificateError, match=why):
            shown(most, [tree, ["."]])


@pytest.mark.parametrize(
    "nodes",
    [
        [["var", 0], ["log", 0]],
        [["var", 0], ["const", "1/3"], ["sub", 0, 1], ["div", 1, 2]],
        [["var", 0], ["const", "1/2"], ["sub", 0, 1], ["sqrt", 2]],
        [["var", 0], ["const", "5000"], ["mul", 1, 0], ["exp", 2]],
    ],
)
def test_what_may_be_undefined_is_refused(nodes):
    with pytest.raises(ForgedError, match="defined"):
        check_defined(read_nodes(nodes, 1), ((0, ONE),), Steps())


def test_a_remainder_is_of_whole_numbers():
    with pytest.raises(ForgedError, match="whole"):
        read_nodes([["var", 0], ["mod", 0, 2]], 1)
