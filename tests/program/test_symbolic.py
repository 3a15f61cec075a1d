"""Is the tree the program? Paths, types, branches, and a refusal, naming the line, of all that is not known."""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agreement import agree

from dpaudit.errors import UsageError
from dpaudit.program.symbolic.linear import Affine, Constraint, LinearProgram, adds_up, contradiction
from dpaudit.program.symbolic.noise import SymbolicError, UnknownNumber, queries, read
from dpaudit.program.symbolic.tree import DeadNode, LeafNode, ProgramTree


def tree_of(function: Any, length: int = 2, **parameters: Any) -> ProgramTree:
    return read(function, queries(length), {"epsilon": 1, **parameters})


def outputs(tree: ProgramTree) -> list[Any]:
    return [leaf.output for leaf in tree.leaves]


# --- reading -----------------------------------------------------------------------------------------------


def test_paths_of_a_comparison():
    def program(data, noise, epsilon):
        return data[0] + noise.laplace(2 / epsilon) >= 3

    tree = tree_of(program, 1, epsilon=0.3)
    assert outputs(tree) == [("bool", False), ("bool", True)]
    assert [str(leaf.conditions[0]) for leaf in tree.leaves] == ["-1·h0 − 1·q0 + 3 > 0", "h0 + q0 − 3 ≥ 0"]
    assert tree.leaves[0].draws[0].scale == Fraction(20, 3)  # 0.3 is 3/10


def test_equality_has_three_ways_and_the_middle_one_is_null():
    def program(data, noise, epsilon):
        return data[0] + noise.laplace(1 / epsilon) == 0

    tree = tree_of(program)
    assert [leaf.is_null for leaf in tree.leaves] == [False, True, False]
    assert [leaf.conditions[0].sign for leaf in tree.leaves] == [">", "=", ">"]


def test_equality_of_data_is_not_null():
    tree = tree_of(lambda data, noise, epsilon: data[0] == data[1])
    assert [leaf.is_null for leaf in tree.leaves] == [False, False, False]
    assert outputs(tree) == [("bool", False), ("bool", True), ("bool", False)]


def test_equality_of_whole_numbers_is_not_null():
    def program(data, noise, epsilon):
        return data[0] + noise.discrete_laplace(1 / epsilon) == 0

    assert not any(leaf.is_null for leaf in read(program, queries(1, integer=True), {"epsilon": 1}).leaves)


def test_in_and_truth_values_branch():
    def program(data, noise, epsilon):
        x = data[0] + noise.laplace(1 / epsilon)
        return (x in [data[1]], bool(x), not x)

    live = [leaf.output for leaf in tree_of(program).leaves if not leaf.is_null]
    assert len(live) == 4
    assert set(live) == {("tuple", ("bool", False), ("bool", True), ("bool", False))}


def test_a_comparison_that_is_decided_is_not_asked_again():
    def program(data, noise, epsilon):
        x = data[0] + noise.laplace(1 / epsilon)
        return [x > 0, 2 * x > 0, x > -1, x <= 0]

    tree = tree_of(program)
    assert len(tree.leaves) == 3
    for node in tree.nodes:
        if isinstance(node, DeadNode):
            assert node.reason


@pytest.mark.parametrize(
    ("method", "dead"), [("exponential", True), ("uniform", True), ("laplace", False), ("gumbel", False)]
)
def test_supports_decide(method, dead):
    def program(data, noise, epsilon):
        return getattr(noise, method)(1) < -data[0] * 0

    live = outputs(tree_of(program))
    assert (("bool", True) not in live) is dead


def test_ways_that_no_run_takes_are_dead_with_a_reason():
    def program(data, noise, epsilon):
        a, b, c = (x + noise.laplace(1 / epsilon) for x in data)
        return a < b, b < c, a < c

    tree = tree_of(program, 3)
    assert len(set(outputs(tree))) == len(tree.leaves) == 6
    dead = [node for node in tree.nodes if isinstance(node, DeadNode)]
    assert len(dead) == 2 and all(node.reason for node in dead)


def test_sorting_has_a_path_for_every_order_whatever_it_compares():
    def program(data, noise, epsilon):
        return sorted(range(3), key=[x + noise.laplace(1 / epsilon) for x in data].__getitem__)

    tree = tree_of(program, 3)  # newer versions of Python compare more often: what comes of it is dead
    orders = {("list", *(("int", Affine({}, place)) for place in order)) for order in itertools.permutations(range(3))}
    assert set(outputs(tree)) == orders and len(tree.leaves) == 6


def test_min_max_abs_sum_and_argmax():
    def program(data, noise, epsilon):
        values = [x + noise.laplace(2 / epsilon) for x in data]
        return [min(values), max(values), abs(values[0]), sum(values), noise.argmax(values)]

    tree = tree_of(program)
    assert agree(tree, program, {"epsilon": 1}, 2).disagreement is None
    kinds = {tuple(member[0] for member in output[1:]) for output in outputs(tree)}
    assert kinds == {("float", "float", "float", "float", "int")}


def test_argmax_is_one_branch():
    tree = tree_of(lambda data, noise, epsilon: noise.argmax([x + noise.laplace(1 / epsilon) for x in data]), 7)
    assert len(tree.leaves) == 7
    assert [condition.sign for condition in tree.leaves[3].conditions] == [">"] * 3 + [">="] * 3


def test_argmax_over_expressions_that_exclude_each_other():
    def program(data, noise, epsilon):
        x = noise.laplace(1 / epsilon)
        return noise.argmax([x, 2 * x, 3 * x])

    assert set(outputs(tree_of(program))) == {("int", Affine()), ("int", Affine({}, 2))}


def test_types_count():
    def program(data, noise, epsilon):
        return [1, True, 1.0, None, "1", (1,), {"a": 2}, np.float64(0.5), math.inf, math.nan]

    (output,) = outputs(tree_of(program))
    one = Affine({}, 1)
    assert output == (
        "list",
        ("int", one),
        ("bool", True),
        ("float", one),
        ("none",),
        ("str", "1"),
        ("tuple", ("int", one)),
        ("dict", (("str", "a"), ("int", Affine({}, 2)))),
        ("float", Affine({}, Fraction(1, 2))),
        ("float", "inf"),
        ("float", "nan"),
    )
    assert ("int", one) != ("bool", True)


def test_exceptions_are_outputs():
    def program(data, noise, epsilon):
        if data[0] + noise.laplace(1 / epsilon) > 0:
            raise ValueError("too large by 3")
        return 0

    tree = tree_of(program)
    assert ("exception", "ValueError: too large by 3") in outputs(tree)
    assert agree(tree, program, {"epsilon": 1}, 2).disagreement is None


def test_parameters_stay_exact():
    def program(data, noise, epsilon, most):
        return data[0] + noise.laplace(most / (3 * epsilon)) + 0.1 + np.float64(0.2)

    (leaf,) = tree_of(program, 1, epsilon=Fraction(1, 7), most=2).leaves
    assert leaf.draws[0].scale == Fraction(14, 3)
    assert leaf.output[1].constant == Fraction(3, 10)


def test_whole_parameters_are_good_for_counting():
    def program(data, noise, epsilon, most):
        return [data[k] for k in range(most)] + ["x"] * most + [most == 2, int(most), f"{most}", {most: 1}[2]]

    (output,) = outputs(tree_of(program, 3, most=2))
    assert output[1:3] == (("float", Affine.variable("q0")), ("float", Affine.variable("q1")))
    assert output[5:] == (("bool", True), ("int", Affine({}, 2)), ("str", "2"), ("int", Affine({}, 1)))


def test_a_cache_of_parameters_survives_the_reading():
    @functools.lru_cache
    def scale(epsilon):
        return 2 / epsilon

    def program(data, noise, epsilon):
        return data[0] + noise.laplace(scale(epsilon)) > 0

    assert len(tree_of(program).leaves) == 2
    assert scale(1) == 2  # the key of an earlier run is compared here, without any run


def test_coins_and_choices():
    def program(data, noise, epsilon):
        coin, kind = noise.bernoulli(0.25), noise.choice(["a", "b", "c"], [1, 2, 0])
        return [coin, kind, noise.bernoulli(1), data[0] + noise.uniform(-1, 1)]

    tree = tree_of(program)
    assert len(tree.leaves) == 4
    assert agree(tree, program, {"epsilon": 1}, 2).leaves == 4


def test_nothing_is_shared_between_leaves_and_nodes():
    tree = tree_of(lambda data, noise, epsilon: [x + noise.laplace(1) > 0 for x in data], 3)
    for leaf in tree.leaves:
        node = tree.nodes[leaf.node]
        assert isinstance(node, LeafNode) and node.leaf is leaf


# --- refusals ----------------------------------------------------------------------------------------------

LEAVING = {
    "hash": hash,
    "set": lambda x: {x},
    "key": lambda x: {x: 1},
    "str": str,
    "repr": repr,
    "format": lambda x: f"{x:.2f}",
    "percent": lambda x: "%s" % x,  # noqa: UP031
    "float": float,
    "int": int,
    "complex": complex,
    "round": round,
    "round to digits": lambda x: round(x, 2),
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "index": lambda x: [1, 2][x],
    "range": range,
    "repeat": lambda x: [0] * x,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "isnan": math.isnan,
    "fsum": lambda x: math.fsum([x]),
    "whole division": lambda x: x // 1,
    "remainder": lambda x: x % 1,
    "divmod": lambda x: divmod(x, 2),
    "power": lambda x: x**2,
    "power of": lambda x: 2**x,
    "product": lambda x: x * x,
    "quotient": lambda x: 1 / x,
    "bits": lambda x: x & 1,
    "numpy function": np.exp,
    "numpy array": lambda x: np.array([x]),
    "numpy times": lambda x: np.ones(2) * x,
    "attribute": lambda x: x.is_integer(),
    "json": lambda x: json.dumps([x]),
    "iteration": list,
    "long float": lambda x: x + 0.1 + (0.1 + 0.2),
    "third": lambda x: x + 1 / 3,
    "logarithm": lambda x: x * math.log(2),
    "infinity": lambda x: x + math.inf,
    "unknown output": lambda x: iter([x]),
}


@pytest.mark.parametrize("name", LEAVING)
def test_what_leaves_the_reading_is_refused_naming_the_line(name):
    leave = LEAVING[name]

    def program(data, noise, epsilon):
        return leave(data[0] + noise.laplace(1 / epsilon))

    with pytest.raises(SymbolicError) as caught:
        tree_of(program)
    assert isinstance(caught.value, UsageError)
    assert str(caught.value).startswith("test_symbolic.py:")


def raising(data, noise):
    raise ValueError(iter(data))


def of_two_ends(data, noise):
    drawn = noise.discrete_laplace(2.0) * 0.5
    if drawn > 0:
        return drawn
    return [-drawn]


ENDS = {
    "one return": (lambda data, noise: -(noise.discrete_laplace(2.0) * 0.5), "−0.0", "noise.discrete_laplace"),
    "two returns": (of_two_ends, "−0.0", "(def of_two_ends(data, noise):)"),
    "a constant": (lambda data, noise: -0.0, "the output -0.0", "lambda data, noise: -0.0"),
    "a type": (lambda data, noise: {1, 2}, "an output of type set", "lambda data, noise: {1, 2}"),
    "a text": (lambda data, noise: "\ud800", "lone surrogate", "lone surrogate"),
    "an exception": (raising, "an exception that holds", "raise ValueError(iter(data))"),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_output_that_is_refused_names_the_line_where_the_program_ends(name):
    """It is read when the program is over; a frame that is left then is dpaudit's, or the caller's."""
    program, reason, line = ENDS[name]
    with pytest.raises(SymbolicError) as caught:
        read(program, [UnknownNumber("q0")], {})
    said = str(caught.value)
    assert reason in said and line in said and said.startswith("test_symbolic.py:")


@pytest.mark.parametrize("name", [name for name in LEAVING if name not in ("unknown output", "iteration", "json")])
@pytest.mark.parametrize("swallow", [Exception, BaseException])
def test_swallowed_refusals_are_detected(name, swallow):
    leave = LEAVING[name]

    def program(data, noise, epsilon):
        try:
            return leave(data[0] + noise.laplace(1 / epsilon))
        except swallow:
            return 0

    with pytest.raises(SymbolicError, match=r"test_symbolic\.py:"):
        tree_of(program)


@pytest.mark.parametrize("method", ["laplace", "exponential", "gumbel", "discrete_laplace", "bernoulli", "uniform"])
def test_scales_that_depend_on_data_are_refused(method):
    def program(data, noise, epsilon):
        return getattr(noise, method)(data[0])

    with pytest.raises(SymbolicError, match="depends on data or noise"):
        tree_of(program)


@pytest.mark.parametrize("method", ["gaussian", "discrete_gaussian"])
def test_noise_without_shifts_is_refused(method):
    with pytest.raises(SymbolicError, match=f"noise.{method}"):
        tree_of(lambda data, noise, epsilon: data[0] + getattr(noise, method)(1))


@pytest.mark.parametrize("scale", [1 / 3, math.log(3)])
def test_scales_that_are_rounded_are_refused(scale):
    with pytest.raises(SymbolicError, match="no short decimal"):
        tree_of(lambda data, noise, epsilon: data[0] + noise.laplace(scale))


def test_rounded_parameters_are_refused():
    with pytest.raises(SymbolicError, match="Fraction"):
        tree_of(lambda data, noise, epsilon: 0, epsilon=1 / 3)


def test_state_between_runs_is_refused():
    kept: list[Any] = []

    def keeps_numbers(data, noise, epsilon):
        kept.append(data[0] + noise.laplace(1 / epsilon))
        try:
            return kept[0] > 0
        except BaseException:
            return False

    counter = iter(range(1000))

    def counts(data, noise, epsilon):
        return [next(counter), data[0] + noise.laplace(1 / epsilon) > 0]

    def changes_scale(data, noise, epsilon):
        return data[0] + noise.laplace(1 + next(counter)) > 0

    def changes_scale_late(data, noise, epsilon):
        return data[0] + noise.laplace(1 if next(late) < 2 else 2) > 0

    late = iter(range(1000))

    def draws_elsewhere(data, noise, epsilon):
        random.random()
        return 0

    def changes_data(data, noise, epsilon):
        data.sort()
        data[0] = 0
        return 0

    for program in (keeps_numbers, counts, changes_scale, changes_scale_late, draws_elsewhere, changes_data):
        with pytest.raises(SymbolicError):
            tree_of(program)


def test_errors_that_the_reading_may_have_caused_are_no_outputs():
    with pytest.raises(SymbolicError, match="raises TypeError"):
        tree_of(lambda data, noise, epsilon: data[0].__add__("x")())


def test_names_of_unknowns():
    with pytest.raises(UsageError):
        UnknownNumber("h3")


# --- agreement ---------------------------------------------------------------------------------------------


def test_agreement_sees_programs_that_look_at_types():
    def program(data, noise, epsilon):
        return type(data[0]) is float

    tree = tree_of(program)
    assert agree(tree, program, {"epsilon": 1}, 2).disagreement is not None


def test_agreement_sees_another_scale_another_path_another_output():
    def right(data, noise, epsilon):
        return 1 if data[0] + noise.laplace(1 / epsilon) > 0 else 0

    def scale(data, noise, epsilon):
        return 1 if data[0] + noise.laplace(2 / epsilon) > 0 else 0

    def path(data, noise, epsilon):
        return 1 if data[0] + noise.laplace(1 / epsilon) > 0.5 else 0

    def type_of_output(data, noise, epsilon):
        return data[0] + noise.laplace(1 / epsilon) > 0

    tree = tree_of(right)
    assert agree(tree, right, {"epsilon": 1}, 2).disagreement is None
    for other in (scale, path, type_of_output):
        assert agree(tree, other, {"epsilon": 1}, 2).disagreement is not None


# --- contradictions ----------------------------------------------------------------------------------------

numbers = st.integers(-2, 2)
conditions = st.lists(
    st.builds(
        lambda a, b, c, k, sign: Constraint(Affine({"x": a, "y": b, "h0": c}, k), sign),
        numbers,
        numbers,
        numbers,
        numbers,
        st.sampled_from([">", ">=", "="]),
    ),
    min_size=1,
    max_size=6,
)
GRID = [
    {"x": Fraction(x, 2), "y": Fraction(y, 2), "h0": Fraction(h, 2)}
    for x in range(-4, 5)
    for y in range(-4, 5)
    for h in range(-4, 5)
]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(conditions)
@pytest.mark.slow
def test_contradictions_add_up_and_hold(found):
    vector = contradiction(found)
    if vector is not None:
        assert adds_up(found, vector)
        assert not any(all(condition.holds(point) for condition in found) for point in GRID)


def test_boundaries_of_continuous_draws_have_probability_zero():
    pinched = [Constraint(Affine({"h0": 1}), ">="), Constraint(Affine({"h0": -1}), ">=")]
    assert contradiction(pinched) is None
    vector = contradiction(pinched, ["h0"])
    assert vector is not None and adds_up(pinched, vector, ["h0"]) and not adds_up(pinched, vector)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.lists(numbers, min_size=3, max_size=3), numbers), min_size=1, max_size=5),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
)
@pytest.mark.slow
def test_the_exact_simplex_agrees_with_highs(rows, costs):
    from scipy.optimize import linprog

    program = LinearProgram(costs, parameters=2)
    for row, side in rows:
        program.require_at_least(dict(enumerate(row)), [side, 1])
    for shift in (0, 1, -1):
        exact = program.minimise([1, shift])
        near = linprog(
            costs,
            A_ub=[[-a for a in row] for row, _ in rows],
            b_ub=[-(side + shift) for _, side in rows],
            method="highs",
        )
        assert (exact is None) == (near.status == 2)
        if exact is not None:
            assert all(x >= 0 for x in exact)
            for row, side in rows:
                assert sum(a * x for a, x in zip(row, exact, strict=True)) >= side + shift
            assert float(sum(c * x for c, x in zip(costs, exact, strict=True))) == pytest.approx(near.fun, abs=1e-9)


@pytest.mark.parametrize("zero", [0.0, 0, [0.0], {"a": (0.0,)}], ids=repr)
def test_a_zero_agrees_with_the_zero_of_its_own_sign(zero):
    def turned(value):
        if isinstance(value, list | tuple):
            return type(value)(map(turned, value))
        return {key: turned(item) for key, item in value.items()} if isinstance(value, dict) else -value

    tree = read(lambda data, noise: zero, queries(1), {})
    agreed = agree(tree, lambda data, noise: turned(zero), {}, 1).disagreement
    assert (agreed is None) == (type(zero) is int)  # there is no −0 among whole numbers
    assert agree(tree, lambda data, noise: zero, {}, 1).disagreement is None
