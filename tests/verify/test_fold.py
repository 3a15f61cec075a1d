"""Are the bounds for every length the exact ones, never below those of a fixed length, and believed by the checker?"""

from __future__ import annotations

import copy
import itertools
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import mechanisms
from dpaudit.checker import CertificateError, check_certificate, check_text
from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import parse_relation
from dpaudit.program.fold import Emit, Fold, Stop
from dpaudit.program.symbolic import fold_machine
from dpaudit.program.symbolic.fold_machine import read_fold
from dpaudit.program.symbolic.noise import queries, read
from dpaudit.verify.alignment import align
from dpaudit.verify.fold import align_fold, prove_fold

FOLDS = {name: found for name in mechanisms.__all__ if isinstance((found := getattr(mechanisms, name)).function, Fold)}

ONE, INFINITE = Fraction(1), None
CUTOFFS = (1, 2, 5, 20)
# entry, other parameters → the bound for any number of answers, at each cutoff
TABLE: list[tuple[str, dict[str, Any], list[Fraction | None]]] = [
    ("above_threshold", {}, [ONE] * 4),
    ("monotone_svt", {}, [ONE] * 4),
    ("gap_svt", {}, [ONE] * 4),
    ("numeric_svt", {}, [ONE] * 4),
    ("adaptive_svt", {}, [ONE] * 4),
    ("redrawn_svt", {}, [ONE] * 4),
    ("svt_unscaled_noise", {}, [Fraction(1 + 6 * cutoff, 4) for cutoff in CUTOFFS]),
    ("svt_releasing_values", {"scale": 4}, [INFINITE] * 4),
    ("adaptive_svt_releasing_values", {}, [INFINITE] * 4),
]
UNLIMITED = [("svt_noiseless_answers", INFINITE), ("svt_unlimited", INFINITE), ("prefix_sum", ONE)]
ROWS = [
    pytest.param(name, {**others, "cutoff": cutoff}, bound, id=f"{name}-{cutoff}")
    for name, others, bounds in TABLE
    for cutoff, bound in zip(CUTOFFS, bounds, strict=True)
] + [pytest.param(name, {}, bound, id=name) for name, bound in UNLIMITED]


def bounded(fold, parameters, relation, length, *, integer=False):
    """The bound for one length, from the tree of that length."""
    tree = read(lambda data, noise, **given: fold(data, noise, **given), queries(length, integer=integer), parameters)
    return align(tree, parse_relation(relation), length).bound


def at_most(one, other):
    return other is None or (one is not None and one <= other)


# --- the table -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "parameters", "bound"), ROWS)
@pytest.mark.slow
def test_the_published_mechanisms_at_any_length(name, parameters, bound):
    proof = prove_fold(FOLDS[name], parameters, runs=30)
    assert proof.bound == bound
    assert proof.scope.length == "any" and str(proof.scope.relation) == FOLDS[name].relation
    assert proof.agreement.disagreement is None and proof.agreement.runs > 25
    assert proof.agreement.leaves + proof.agreement.missed == proof.agreement.paths  # each path of each step is run
    if bound is None:
        assert proof.certificate is None and proof.cases is None
        return
    checked = check_text(json.dumps(proof.certificate))
    assert checked.bound == bound and checked.kind == "fold" and checked.scope["length"] == "any"
    assert checked.mechanism["name"] == name


@pytest.mark.parametrize(("name", "parameters", "bound"), [row for row in ROWS if row.values[1].get("cutoff", 1) < 5])
@pytest.mark.slow
def test_no_length_has_a_larger_bound(name, parameters, bound):
    """The loops of the catalogue themselves, at fixed lengths; with one positive the bound is reached."""
    found = getattr(mechanisms, name)
    parameters = found.parameters_with(parameters)
    relation = found.relation_for(parameters)
    bounds = [
        align(read(found.function, queries(length), parameters), parse_relation(relation), length).bound
        for length in range(1, 7)
    ]
    assert all(at_most(each, bound) for each in bounds)
    assert all(at_most(a, b) for a, b in itertools.pairwise(bounds))
    if bound is not None and parameters.get("cutoff", 1) == 1:
        assert bounds[-1] == bound


@pytest.mark.parametrize("epsilon", [Fraction(1, 7), 0.3, Fraction(1, 10**9), 50])
@pytest.mark.parametrize("name", ["above_threshold", "adaptive_svt"])
def test_bounds_scale_with_epsilon_exactly(name, epsilon):
    exact = Fraction(str(epsilon))
    proof = prove_fold(FOLDS[name], {"epsilon": epsilon, "cutoff": 3}, runs=6)
    assert proof.bound == exact == check_certificate(proof.certificate).bound
    assert proof.scope.parameters["epsilon"] == str(exact)


@pytest.mark.parametrize(
    ("name", "relation", "bound"),
    [
        ("above_threshold", "queries(one)", Fraction(1, 4)),
        ("above_threshold", "queries(norm=1)", Fraction(1, 4)),
        ("above_threshold", "queries(one, group=2)", Fraction(1, 2)),
        ("above_threshold", "queries(monotone)", Fraction(3, 4)),
        ("above_threshold", "queries(group=3)", Fraction(3)),
        ("monotone_svt", "queries", Fraction(3, 2)),
        ("monotone_svt", "queries(monotone, group=2)", Fraction(2)),
        ("prefix_sum", "queries", INFINITE),
        ("prefix_sum", "queries(one, group=3)", Fraction(3)),
        ("svt_unlimited", "queries(one)", Fraction(1, 2)),
        ("svt_unlimited", "queries(monotone)", INFINITE),
    ],
)
def test_relations(name, relation, bound):
    """What the move of one answer costs is counted once, whichever it is."""
    proof = prove_fold(FOLDS[name], {}, relation=relation, runs=6)
    assert proof.bound == bound
    fold, parameters = FOLDS[name].function, FOLDS[name].defaults
    bounds = [bounded(fold, parameters, relation, length) for length in (1, 2, 3, 5)]
    assert all(at_most(each, bound) for each in bounds)
    if bound is not None:
        assert bounds[-1] == bound == check_certificate(proof.certificate).bound


@pytest.mark.slow
def test_one_move_costs_once_though_every_step_would():
    """A leak that all steps share: under queries(one) only the step of the answer that moves pays."""
    fold = Fold(lambda s, x, noise: Emit(x + noise.laplace(2), s), finish=None)
    assert prove_fold(fold, relation="queries(one)").bound == Fraction(1, 2)
    assert prove_fold(fold, relation="queries").bound is None


@pytest.mark.parametrize("scales", [(1, 2), (2, 1)])
def test_a_start_with_several_states_pays_for_the_worst_of_them(scales):
    def step(scale, answer, noise):
        return Emit(answer + noise.laplace(scale), Stop())

    proof = prove_fold(Fold(step, lambda noise: scales[noise.bernoulli(0.5)], None), relation="queries")
    assert proof.bound == 1 == check_certificate(proof.certificate).bound


# --- whole numbers, half-lines, ends ---------------------------------------------------------------------


def whole_step(state, answer, noise, *, cutoff=2):
    level, positives = state
    if answer + noise.discrete_laplace(4 * cutoff) < level:
        return Emit(0, state)
    return Emit(1, Stop() if positives + 1 == cutoff else (level, positives + 1))


WHOLE = Fold(whole_step, lambda noise, *, cutoff=2: (noise.discrete_laplace(2), 0), None)


@pytest.mark.parametrize("relation", ["queries", "queries(one)", "queries(monotone)", "queries(group=2)"])
def test_whole_numbers(relation):
    proof = prove_fold(WHOLE, {}, relation=relation, domain="integer")
    assert proof.bound == {"queries": 1, "queries(one)": Fraction(1, 8), "queries(monotone)": Fraction(3, 4),
                           "queries(group=2)": 2}[relation]  # fmt: skip
    assert check_certificate(proof.certificate).scope["values"] == "integer"
    for length in (1, 2, 3):
        assert at_most(bounded(WHOLE, {"cutoff": 2}, relation, length, integer=True), proof.bound)


@pytest.mark.slow
@pytest.mark.parametrize("turned", [1, -1])
def test_whole_draws_keep_whole_distances(turned):
    """A step of 1 would be the cheapest distance, but twice a whole draw cannot make it."""

    def fold(draw):
        def step(state, answer, noise):
            up = answer + turned * draw(noise, 8) > turned * state
            return Emit(up, Stop() if up else state)

        return Fold(step, lambda noise: draw(noise, 8) * 2, None)

    real, whole = (fold(lambda noise, scale, m=method: getattr(noise, m)(scale)) for method in METHODS)
    assert prove_fold(real, relation="queries").bound == Fraction(5, 16)
    found = prove_fold(whole, relation="queries", domain="integer")
    assert found.bound == Fraction(1, 2)
    assert [case.distances for case in found.cases] == [(2 * turned,)]
    assert check_certificate(found.certificate).bound == found.bound


def test_whole_answers_that_are_released_move_by_every_whole_number():
    fold = Fold(lambda s, x, noise: Emit(x + noise.discrete_laplace(2), Stop()), finish=None)
    for relation, bound in {"queries": Fraction(1, 2), "queries(group=2)": 1, "queries(one)": Fraction(1, 2)}.items():
        proof = prove_fold(fold, relation=relation, domain="integer")
        assert proof.bound == bound == check_certificate(proof.certificate).bound


def test_distances_need_not_be_whole():
    def step(level, answer, noise):
        up = answer / 3 + noise.laplace(4) >= level
        return Emit(up, Stop() if up else level)

    proof = prove_fold(Fold(step, lambda noise: noise.laplace(2), None), relation="queries")
    assert proof.bound == Fraction(1, 3) == check_certificate(proof.certificate).bound
    assert proof.cases[0].distances == (Fraction(1, 3),)


METHODS = ("laplace", "discrete_laplace")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exponential", "gumbel"])
def test_half_line_noise_shifts_up_only(method):
    def step(level, answer, noise):
        up = answer + getattr(noise, method)(4) >= level
        return Emit(up, Stop() if up else level)

    assert prove_fold(Fold(step, lambda noise: getattr(noise, method)(2), None), relation="queries").bound == 1
    turned = Fold(step, lambda noise: -getattr(noise, method)(2), None)
    assert prove_fold(turned, relation="queries").bound is None
    values = Fold(lambda s, x, noise: Emit(x + getattr(noise, method)(1), Stop()), finish=None)
    assert prove_fold(values, relation="queries").bound is None


@pytest.mark.slow
def test_uniform_noise_does_not_shift():
    fold = Fold(lambda level, x, noise: Emit(x > level, level), lambda noise: noise.uniform(0, 9), None)
    assert prove_fold(fold, relation="queries").bound is None
    coin = Fold(lambda s, x, noise: Emit(noise.bernoulli(0.3), s), finish=None)
    proof = prove_fold(coin, relation="queries")
    assert proof.bound == 0 == check_certificate(proof.certificate).bound


@pytest.mark.slow
def test_what_is_released_at_the_end_counts():
    def step(level, answer, noise):
        return Stop(level) if answer + noise.laplace(4) >= level else level

    def init(noise):
        return noise.laplace(2)

    silent = prove_fold(Fold(step, init, finish=lambda level: "over"), relation="queries")
    assert silent.bound == 1 == check_certificate(silent.certificate).bound
    assert silent.certificate["states"][0]["end"] is not None
    assert prove_fold(Fold(step, init), relation="queries").bound is None  # the level itself comes out


def test_a_step_that_raises_ends_the_run():
    def step(level, answer, noise):
        if answer + noise.laplace(4) >= level:
            raise OverflowError
        return Emit(False, level)

    proof = prove_fold(Fold(step, lambda noise: noise.laplace(2), None), relation="queries")
    assert proof.bound == 1 == check_certificate(proof.certificate).bound


# --- random folds ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """Compares, releases, and changes its level in one of some ways."""

    of_level: int
    of_answer: int
    of_draw: int
    method: str
    scale: int
    above: str
    below: str
    limit: int | None

    def __call__(self, state, answer, noise):
        level, count = state
        draw = getattr(noise, self.method)(self.scale)
        is_above = self.of_level * level + self.of_answer * answer + self.of_draw * draw > 1
        count += is_above and self.limit is not None
        released = self._made(self.above if is_above else self.below, level, answer, draw, noise)
        renewed = {"renew": noise.laplace, "move": lambda scale: answer + noise.laplace(scale)}
        kind = self.above if is_above else self.below
        level = renewed[kind](3) if kind in renewed else level
        return Emit(released, Stop() if count == self.limit and is_above else (level, count))

    def _made(self, kind, level, answer, draw, noise):
        made = {"gap": lambda: level - answer - draw, "value": lambda: answer + draw,
                "fresh": lambda: answer + noise.laplace(2)}  # fmt: skip
        return made[kind]() if kind in made else kind


KINDS = ["yes", "no", "gap", "value", "fresh", "renew", "move"]
SMALL = st.sampled_from([-1, 0, 1])
FOLDS_AT_RANDOM = st.builds(
    lambda step, scale: Fold(step, lambda noise: (noise.laplace(scale), 0), None),
    st.builds(
        Step,
        SMALL,
        SMALL,
        st.sampled_from([-2, -1, 1]),
        st.sampled_from(["laplace", "exponential"]),
        st.integers(1, 4),
        st.sampled_from(KINDS),
        st.sampled_from(KINDS),
        st.sampled_from([1, 2, None]),
    ),
    st.integers(1, 4),
)
RELATIONS = ["queries", "queries(one)", "queries(monotone)", "queries(group=2)", "queries(one, group=2)"]


def cheapest(leaf, reals, moved, distances):
    """The naive twin of a shift: a linear programme in floats for one path of one step."""
    known = {"x": moved, **{f"s{k}": value for k, value in enumerate(distances)}}
    rows = [each.expression.terms for each in leaf.conditions if each.sign != "="]
    equal = [(released.terms, 0) for released in leaf.released]
    equal += [(real.terms, distance) for real, distance in zip(reals, distances, strict=bool(reals))]
    names = [f"h{k}" for k in range(len(leaf.draws))]

    def split(terms, value):
        side = float(value - sum(number * known[name] for name, number in terms.items() if name in known))
        own = [float(terms.get(name, 0)) for name in names]
        return [*own, *(-number for number in own)], side

    upper = [split(terms, 0) for terms in rows]
    exact = [split(terms, value) for terms, value in equal]
    found = linprog(
        [1 / float(draw.scale) for draw in leaf.draws] * 2,
        [[-number for number in row] for row, _ in upper] or None,
        [-side for _, side in upper] or None,
        [row for row, _ in exact] or None,
        [side for _, side in exact] or None,
        [(0, None)] * len(names) + [(0, None if draw.method == "laplace" else 0) for draw in leaf.draws],
        method="highs",
    )
    return found.fun if found.status == 0 else None


def over_a_grid(machine, low, high, grid):
    """The naive twin of the induction for boxes: constant distances on a grid, all ends, the longest path."""
    best = None
    for distances in itertools.product(grid, repeat=machine.reals):
        edges = []
        for number, part in [(None, machine.start), *enumerate(state.step for state in machine.states)]:
            for ending in part.endings:
                moves = [0] if number is None else [low, high]
                costs = [cheapest(ending.leaf, ending.reals, moved, distances) for moved in moves]
                edges += [(number, ending.next, cost) for cost in costs]
        if any(cost is None for _, _, cost in edges):
            continue
        left = dict.fromkeys([None, *range(len(machine.states))], 0.0)
        for _ in range(len(left) + 1):
            before, left = left, {**left, **{
                number: max([0.0, *(cost + left[follows] for at, follows, cost in edges if at == number)])
                for number in range(len(machine.states))}}  # fmt: skip
        if any(left[number] > before[number] + 1e-9 for number in left):
            continue
        total = max(cost + left[follows] for at, follows, cost in edges if at is None)
        best = total if best is None else min(best, total)
    return best


@settings(max_examples=25, deadline=None, derandomize=True)
@given(FOLDS_AT_RANDOM, st.sampled_from(RELATIONS))
@pytest.mark.nightly
def test_random_folds_at_fixed_lengths(fold, relation):
    proof = prove_fold(fold, relation=relation, runs=6)
    if proof.bound is None:
        return
    assert check_certificate(proof.certificate).bound == proof.bound
    for length in (1, 2, 3):
        assert at_most(bounded(fold, {}, relation, length), proof.bound)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(FOLDS_AT_RANDOM, st.sampled_from([(-1, 1), (-2, 2)]))
@pytest.mark.slow
def test_random_folds_against_the_naive_twin(fold, ends):
    """Distances on a grid never beat those that are found; where the twin finds a bound, there is one."""
    machine = read_fold(fold, {})
    cases = align_fold(machine, parse_relation(f"queries(group={ends[1]})"))
    twin = over_a_grid(machine, *ends, [k / 2 for k in range(-2 * ends[1], 2 * ends[1] + 1)])
    if twin is not None:
        assert cases is not None and float(cases[0].cost) <= twin + 1e-7
    if cases is not None and set(cases[0].distances) <= {Fraction(k, 2) for k in range(-2 * ends[1], 2 * ends[1] + 1)}:
        assert float(cases[0].cost) == pytest.approx(twin)


# --- certificates ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[("gap_svt", "queries"), ("numeric_svt", "queries(monotone)"),
                                        ("adaptive_svt", "queries(one)"), ("svt_unscaled_noise", "queries"),
                                        ("prefix_sum", "queries(one)")], ids=str)  # fmt: skip
def certificate(request):
    name, relation = request.param
    parameters = {"cutoff": 2} if "cutoff" in FOLDS[name].defaults else {}
    return prove_fold(FOLDS[name], parameters, relation=relation, runs=6).certificate


def lower(certificate):
    certificate["bound"] = str(Fraction(certificate["bound"]) - Fraction(1, 100))


def lower_allowances_too(certificate):
    lower(certificate)
    for case in certificate["cases"]:
        case["allowances"] = [[str(Fraction(a) * Fraction(9, 10)) for a in each] for each in case["allowances"]]


def other_distances(certificate):
    for case in certificate["cases"]:
        case["distances"] = [str(Fraction(each) + Fraction(1, 2)) for each in case["distances"]]


def shift_nothing(certificate):
    for nodes in [certificate["init"], *(state["step"] for state in certificate["states"])]:
        for node in nodes:
            for entry in itertools.chain.from_iterable(node.get("shifts", [])):
                entry["shift"] = ["0"] * len(entry["shift"])


def stop_after_a_step(certificate):
    for node in certificate["states"][0]["step"]:
        if node.get("next") == 0:
            node["next"] = 7


@pytest.mark.parametrize("change", [lower, lower_allowances_too, other_distances, shift_nothing, stop_after_a_step])
def test_the_checker_rejects_what_is_changed(certificate, change):
    check_certificate(copy.deepcopy(certificate))
    forged = copy.deepcopy(certificate)
    change(forged)
    if forged == certificate:
        pytest.skip("nothing to change")
    with pytest.raises(CertificateError):
        check_certificate(forged)


@pytest.mark.slow
def test_certificates_are_the_same_every_time_and_name_their_source():
    first, second = (prove_fold(FOLDS["adaptive_svt"], {"cutoff": 2}, runs=6).certificate for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
    assert first["mechanism"]["source"].startswith("sha256:")
    assert first["mechanism"]["source"] != prove_fold(FOLDS["prefix_sum"], runs=6).source


# --- bad requests ----------------------------------------------------------------------------------------


def counted(state, answer, noise):
    """Keeps a state of its own, beside the fold's."""
    CALLS.append(answer)
    return Emit(answer + noise.laplace(1 + len(CALLS)), state)


CALLS: list[Any] = []


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (mechanisms.report_noisy_max, {}, "no Fold"),
        (lambda data: 0, {}, "no Fold"),
        (FOLDS["gap_svt"], {"relation": "add-remove"}, "relation"),
        (FOLDS["gap_svt"], {"relation": "queries(norm=2)"}, "relation"),
        (FOLDS["gap_svt"], {"domain": "bits"}, "domain"),
        (FOLDS["gap_svt"], {"parameters": {"cutoff": 0}}, "raises in every run.*cutoff"),
        (FOLDS["gap_svt"], {"parameters": {"cutof": 1}}, "cutoff"),
        (Fold(lambda s, x, noise: Emit(x, s)), {"relation": "queries"}, "raises in every run.*finish=None"),
        (Fold(lambda s, x, noise: s), {}, "relation"),
        (Fold(lambda s, x, noise: s + "1", init=""), {"relation": "queries"}, "states"),
        (Fold(lambda s, x, noise: x * x), {"relation": "queries"}, "product of two unknown"),
        (Fold(counted, finish=None), {"relation": "queries"}, "state"),
        (WHOLE, {"relation": "queries"}, "½.*domain='integer'"),
        (WHOLE, {"relation": "queries(one, group=2)", "domain": "integer"}, "one step"),
    ],
)
@pytest.mark.slow
def test_bad_requests(target, options, message, monkeypatch):
    monkeypatch.setattr(fold_machine, "_FEW_STATES", 5)
    monkeypatch.setattr(fold_machine, "MOST_STATES", 10)
    with pytest.raises(UsageError, match=message):
        prove_fold(target, options.pop("parameters", None), **options)


def test_a_fold_that_behaves_differently_when_it_is_run_is_refused():
    fold = Fold(lambda s, x, noise: Emit("read" if type(x) is not float else x, s), finish=None)
    with pytest.raises(UsageError, match="read wrongly"):
        prove_fold(fold, relation="queries")
