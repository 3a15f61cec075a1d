"""Are the bounds of the published mechanisms the exact ones, and does a bound keep to its scope?"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import pytest
from support import provable

import mechanisms
from dpaudit.checker import check_text
from dpaudit.errors import UsageError
from dpaudit.loading import load
from dpaudit.neighbours.relation import Relation, parse_relation
from dpaudit.program.symbolic.noise import queries, read
from dpaudit.verify.alignment import ProgramPart, align, align_parts
from dpaudit.verify.differences import Direction, direction, worst_differences
from dpaudit.verify.fold import prove_program

ROWS = [
    pytest.param(name, given, five, eight, id=f"{name}{given or ''}") for name, given, five, eight in provable.TABLE
]


def bound_of(target, length, relation=None, **options):
    return prove_program(target, options.pop("parameters", None), length=length, relation=relation, **options).bound


def finite(value):
    return None if value == "oo" else value


@pytest.mark.parametrize(("name", "given", "five", "eight"), ROWS)
@pytest.mark.slow
def test_the_published_mechanisms_at_five_answers(name, given, five, eight):
    proof = prove_program(load(name), given, length=5, runs=60)
    assert proof.bound == finite(five)
    assert proof.agreement.disagreement is None
    assert proof.agreement.runs > 50
    assert proof.scope.length == 5 and str(proof.scope.relation) == proof.scope.relation.__str__()
    if proof.bound is not None:
        assert max(shift.cost for each in proof.alignment.classes for shift in each.shifts) == proof.bound
        assert max(shift.cost for shift in proof.worst.shifts) == proof.bound
        assert proof.worst.worst in [shift.difference for shift in proof.worst.shifts]


@pytest.mark.parametrize(("name", "given", "five", "eight"), ROWS)
@pytest.mark.slow
def test_the_published_mechanisms_at_eight_answers(name, given, five, eight):
    found = load(name)
    parameters = found.parameters_with(given)
    tree = read(found.function, queries(8), parameters)
    assert align(tree, parse_relation(found.relation_for(parameters)), 8).bound == finite(eight)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 7), 0.3, 3])
def test_bounds_scale_with_epsilon_exactly(epsilon):
    exact = Fraction(str(epsilon))
    assert bound_of(mechanisms.above_threshold, 4, parameters={"epsilon": epsilon}) == exact
    assert bound_of(mechanisms.svt_unscaled_noise, 4, parameters={"epsilon": epsilon}) == exact * Fraction(7, 4)


@pytest.mark.slow
def test_a_small_length_hides_a_mistake():
    """At three answers svt_releasing_values is within its claim, and yet it is not private."""
    given = {"scale": 4}
    bounds = [bound_of(mechanisms.svt_releasing_values, n, parameters=given) for n in (3, 4, 5, 8)]
    assert bounds == [Fraction(3, 4), 1, Fraction(5, 4), 2]


@pytest.mark.parametrize(
    ("relation", "bound"),
    [
        ("queries", 5),
        ("queries(group=2)", 10),
        ("queries(one)", 1),
        ("queries(one, group=3)", 3),
        ("queries(norm=1)", 1),
        ("queries(monotone)", 5),
        ("queries(monotone, group=2)", 10),
    ],
)
def test_relations(relation, bound):
    assert bound_of(mechanisms.prefix_sum, 5, relation) == bound


def test_monotone_answers_cost_half():
    assert bound_of(mechanisms.report_noisy_max, 4, "queries(monotone)") == Fraction(1, 2)
    assert bound_of(mechanisms.report_noisy_max, 4, "queries(one)") == Fraction(1, 2)
    assert bound_of(mechanisms.above_threshold, 4, "queries(monotone)") == Fraction(3, 4)


@pytest.mark.slow
def test_merged_classes_are_cheaper_than_their_paths():
    proof = prove_program(provable.noisy_max, length=5, relation="queries")
    assert proof.bound == 1 == bound_of(mechanisms.report_noisy_max, 5)
    merged = [each for each in proof.alignment.classes if each.merged is not None]
    assert merged and all(len(each.leaves) > 1 for each in merged)
    first_wins = next(each for each in merged if each.output[1].constant == 2)
    assert len(first_wins.merged.hull) == 4


def test_a_class_that_is_not_convex_is_not_merged():
    proof = prove_program(provable.outside, length=1, relation="queries")
    assert proof.bound == 1
    assert [each.merged for each in proof.alignment.classes] == [None] * 3


@pytest.mark.parametrize(
    ("program", "length", "bound"),
    [
        (provable.ranking, 3, 1),
        (provable.ranking, 4, 2),
        (provable.index_of_largest, 3, 1),
        (provable.coins, 2, 1),
    ],
)
def test_other_programs(program, length, bound):
    assert bound_of(program, length, "queries") == bound


def test_noise_of_whole_numbers():
    assert bound_of(provable.geometric, 2, "queries", domain="integer") == 2
    assert bound_of(provable.geometric_max, 4, "queries", domain="integer") == 1
    assert bound_of(mechanisms.geometric, 3, domain="integer") == 1
    with pytest.raises(UsageError, match="domain='integer'"):
        bound_of(provable.geometric, 2, "queries")


@pytest.mark.slow
def test_whole_shifts_may_cost_more_than_fractions():
    """3·h ≥ 1 − q needs a shift of 1/3 where draws are real, and of 1 where they are whole."""

    def program(data, noise):
        return 3 * noise.discrete_laplace(1) + data[0] > 0

    def real(data, noise):
        return 3 * noise.laplace(1) + data[0] > 0

    assert bound_of(real, 1, "queries") == Fraction(1, 3)
    assert bound_of(program, 1, "queries", domain="integer") == 1


def test_what_has_no_shift_has_no_bound():
    proof = prove_program(load("svt_noiseless_answers"), length=3)
    assert proof.bound is None and proof.certificate is None
    assert proof.worst.cost is None
    assert len(proof.worst.worst) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, "length"),
        ({"length": True}, "length"),
        ({"length": 2, "relation": "add-remove"}, "relation"),
        ({"length": 2, "relation": "queries(norm=2)"}, "relation"),
        ({"length": 2, "domain": "bits"}, "domain"),
        ({"length": 2, "parameters": {"epsilon": 0}}, "raises in every run"),
    ],
)
def test_bad_requests(options, message):
    with pytest.raises(UsageError, match=message):
        prove_program(mechanisms.above_threshold, **options)


def test_what_is_no_program_is_refused():
    with pytest.raises(UsageError, match="only a program"):
        prove_program(lambda data: 0, length=2)
    with pytest.raises(UsageError, match="norm=2"):
        prove_program(mechanisms.gaussian, length=2)


# --- differences, against the definition -----------------------------------------------------------------------


def neighbours(relation: Relation, length: int) -> list[tuple[int, ...]]:
    """All whole-number differences of a relation, from one step at a time."""
    steps = []
    for step in itertools.product((-1, 0, 1), repeat=length):
        if relation.movement == "monotone" and {-1, 1} <= set(step):
            continue
        if relation.movement in ("one", "norm=1") and sum(map(abs, step)) > 1:
            continue
        steps.append(step)
    found = {(0,) * length}
    for _ in range(relation.group):
        found = {tuple(a + b for a, b in zip(far, step, strict=True)) for far in found for step in steps}
    return sorted(found)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("movement", ["all", "one", "monotone", "norm=1"])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.slow
def test_worst_differences_dominate_all(movement, group, whole):
    """Every difference is no harder than a listed one (whole), or than a mixture of listed ones."""
    from scipy.optimize import linprog

    relation = Relation("queries", movement, group)
    for directions in itertools.product(Direction, repeat=2):
        listed = worst_differences(directions, relation, whole=whole)
        harder = [{Direction.LOW: -1, Direction.HIGH: 1, Direction.BOTH: 0}[each] for each in directions]
        for point in neighbours(relation, 2):
            if whole:
                assert any(
                    all(w == p or (w - p) * h > 0 for w, p, h in zip(worst, point, harder, strict=True))
                    for worst in listed
                )
                continue
            rows, sides, equal, values = [], [], [[1] * len(listed)], [1]
            for place, h in enumerate(harder):
                row = [worst[place] for worst in listed]
                if h:
                    rows.append([-h * value for value in row])
                    sides.append(-h * point[place])
                else:
                    equal.append(row)
                    values.append(point[place])
            found = linprog([0] * len(listed), rows or None, sides or None, equal, values, method="highs")
            assert found.status == 0, (directions, point, listed)


def test_too_many_differences_are_refused():
    with pytest.raises(UsageError, match="worst differences"):
        worst_differences([Direction.BOTH] * 20, Relation("queries"), whole=False)


def vector(data, noise, *, epsilon=1):
    return [answer + noise.laplace(1 / epsilon) for answer in data]


def whole_vector(data, noise, *, epsilon=1):
    return {place: answer + noise.discrete_laplace(1 / epsilon) for place, answer in enumerate(data)}


def running(data, noise, *, epsilon=1):
    sums, total = [], 0
    for answer in data:
        total = total + answer + noise.laplace(1 / epsilon)
        sums.append(total)
    return sums


def total_of(data, noise, *, epsilon=1):
    return sum(data) + noise.laplace(1 / epsilon)


def one_for_all(data, noise, *, epsilon=1):
    shared = noise.laplace(1 / epsilon)
    return [answer + shared for answer in data]


def last_without(data, noise, *, epsilon=1):
    return [answer + noise.laplace(1 / epsilon) for answer in data[:-1]] + [data[-1]]


@pytest.mark.parametrize(
    ("program", "relation", "domain", "bound"),
    [
        (vector, "queries", None, 30),
        (vector, "queries(monotone, group=2)", None, 60),
        (vector, "queries(one)", None, 1),
        (vector, "queries(norm=1, group=3)", None, 3),
        (whole_vector, "queries(monotone)", "integer", 30),
        (whole_vector, "queries(norm=1)", "integer", 1),
        (running, "queries", None, 30),
        (running, "queries(one)", None, 1),
        (total_of, "queries(monotone)", None, 30),
        (one_for_all, "queries(monotone)", None, None),
        (last_without, "queries", None, None),
    ],
)
def test_long_outputs_are_aligned_part_by_part(program, relation, domain, bound):
    proof = prove_program(program, {}, length=40 if bound in (1, 3) else 30, relation=relation, domain=domain, runs=4)
    assert proof.bound == bound
    if bound is not None:
        assert proof.worst.parts
        assert check_text(json.dumps(proof.certificate)).bound == bound
        assert proof.worst.cost == bound
        moved = proof.worst.worst
        assert sum(map(abs, moved)) == (bound if "one" in relation or "norm" in relation else 30 * max(map(abs, moved)))


def test_parts_cost_what_the_whole_does():
    """Of what has few differences, shifts by parts and shifts of the whole give the same bound."""
    for relation in map(parse_relation, ("queries", "queries(monotone, group=2)", "queries(group=2)")):
        for length in (3, 4):
            tree = read(running, queries(length), {"epsilon": 1})
            (leaf,) = tree.leaves
            variables = [f"q{number}" for number in range(length)]
            ways = [direction(name, (), leaf.released) for name in variables]
            parts = [ProgramPart((number,), (number,)) for number in range(length)]
            _, cost, _ = align_parts(parts, (), leaf.released, leaf.draws, ways, relation)
            assert cost == align(tree, relation, length).bound
