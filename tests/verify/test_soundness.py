"""Is a bound ever wrong? Random programs, against the exact probabilities of their outputs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_programs import Program, programs

import mechanisms
from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import parse_relation
from dpaudit.program.noise import ScalarNoise
from dpaudit.program.symbolic.linear import Affine
from dpaudit.program.symbolic.tree import NoiseDraw
from dpaudit.verify.alignment import Shifter
from dpaudit.verify.fold import prove_program

RELATIONS = ["queries", "queries(one)", "queries(monotone)", "queries(norm=1)", "queries(one, group=2)"]
HALVES = [value / 2 for value in range(-4, 5)]
MOVES = {
    relation: [
        moved for moved in itertools.product(HALVES, HALVES) if parse_relation(relation).accepts([0, 0], list(moved))
    ]
    for relation in RELATIONS
}
MOVED = st.sampled_from([(relation, moved) for relation, moves in MOVES.items() for moved in moves])
CDF = {
    "laplace": lambda x: 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x),
    "exponential": lambda x: -math.expm1(-x) if x > 0 else 0.0,
    "gumbel": lambda x: math.exp(-math.exp(-x)) if x > -30 else 0.0,
    "uniform": lambda x: min(max(x, 0.0), 1.0),
}


def run_on(program: Program, data: list, draws: list) -> object:
    """Run a program on the draws that are given, and on no other."""
    asked = (program.method, *((0.0, float(program.scale)) if program.method == "uniform" else (float(program.scale),)))
    noise = ScalarNoise(np.random.default_rng(0), [(asked, draw) for draw in draws])
    output = program(list(data), noise)
    assert noise.drawn == len(draws) and not noise.diverged
    return output


def line_law(program: Program, data: list[float]) -> Counter:
    """Exact probabilities with one draw: the output is constant between the places where a guard turns."""
    turns = [
        -(constant + sum(b * q for b, q in zip(of_data, data, strict=True))) / of_draws[0]
        for of_draws, of_data, constant, _ in program.guards
    ]
    turns = sorted({*turns, 0.0, float(program.scale)})
    cells = [(-math.inf, turns[0]), *itertools.pairwise(turns), (turns[-1], math.inf)]
    law: Counter = Counter()
    for low, high in cells:
        middle = high - 1 if low == -math.inf else low + 1 if high == math.inf else (low + high) / 2
        ends = [
            CDF[program.method](end / program.scale) if math.isfinite(end) else float(end > 0) for end in (low, high)
        ]
        law[run_on(program, data, [middle])] += ends[1] - ends[0]
    return law


def whole_law(program: Program, data: list[int]) -> Counter:
    """Probabilities with two whole draws, cut off where 1e-6 of them is left."""
    reach = 15 * program.scale
    values = range(-reach, reach + 1)
    weight = {x: math.exp(-abs(x) / program.scale) for x in values}
    total = sum(weight.values())
    law: Counter = Counter()
    for a, b in itertools.product(values, values):
        output = run_on(program, data, [a, b])
        law[output] += weight[a] * weight[b] / total**2
    return law


def assert_within(law0: Counter, law1: Counter, bound: float, slack: float) -> None:
    for output in law0 | law1:
        assert law0[output] <= math.exp(bound) * law1[output] + slack
        assert law1[output] <= math.exp(bound) * law0[output] + slack


@settings(max_examples=75, deadline=None, derandomize=True)
@given(
    programs(["laplace", "exponential", "gumbel", "uniform"], 1),
    MOVED,
    st.tuples(*[st.integers(-8, 8)] * 2),
)
@pytest.mark.slow
def test_one_continuous_draw(program, relation_and_move, data):
    relation, moved = relation_and_move
    data0 = [value / 2 for value in data]
    data1 = [a + b for a, b in zip(data0, moved, strict=True)]
    proof = prove_program(program, length=2, relation=relation, runs=5)
    if proof.bound is not None:
        assert_within(line_law(program, data0), line_law(program, data1), float(proof.bound), 1e-12)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    programs(["discrete_laplace"], 2, scales=st.just(1)),
    MOVED.filter(lambda found: all(value == int(value) for value in found[1])),
    st.tuples(*[st.integers(-3, 3)] * 2),
)
@pytest.mark.slow
def test_two_whole_draws(program, relation_and_move, data):
    relation, moved = relation_and_move
    data0, data1 = list(data), [a + int(b) for a, b in zip(data, moved, strict=True)]
    proof = prove_program(program, length=2, relation=relation, domain="integer", runs=5)
    if proof.bound is not None:
        assert_within(whole_law(program, data0), whole_law(program, data1), float(proof.bound), 1e-5)


@pytest.mark.parametrize("method", ["exponential", "gumbel"])
def test_one_sided_noise_shifts_up_only(method):
    """The noisy answer itself has no bound: a move of the answer up needs a shift down."""
    assert (
        prove_program(lambda data, noise: data[0] + getattr(noise, method)(1), length=1, relation="queries").bound
        is None
    )
    above = prove_program(
        lambda data, noise: [data[0] + getattr(noise, method)(1) > 0][:0], length=1, relation="queries"
    )
    assert above.bound in (None, 0)
    shifter = Shifter([], [Affine({"h0": 1, "q0": 1})], [NoiseDraw(method, Fraction(1), ())], ["q0"])
    assert shifter.cheapest((1,)) is None
    assert shifter.cheapest((-1,)).cost == 1


def test_uniform_noise_does_not_shift():
    assert prove_program(lambda data, noise: data[0] + noise.uniform(), length=1, relation="queries").bound is None


def test_real_data_under_whole_noise_have_no_proof():
    with pytest.raises(UsageError, match="domain='integer'"):
        prove_program(mechanisms.geometric, length=1)
    with pytest.raises(UsageError, match="½"):
        prove_program(lambda data, noise: data[0] + noise.discrete_laplace(1), length=1, relation="queries")


@pytest.mark.slow
def test_true_losses_stay_below_their_bounds():
    """The catalogue's true losses at the worst-case pairs are lower bounds, proved by other means."""
    for name in (
        "above_threshold",
        "gap_svt",
        "numeric_svt",
        "report_noisy_max",
        "svt_unscaled_noise",
        "svt_unlimited",
    ):
        found = getattr(mechanisms, name)
        parameters = found.parameters_with({})
        length = len(found.pairs_for(parameters)[0][0])
        if name == "svt_unlimited" and length > 8:
            continue  # 2^10 paths
        proof = prove_program(found, length=length, runs=5)
        assert found.true_loss_for(parameters) <= float(proof.bound) + 1e-9
