"""Does a witness refute what it says it refutes, and nothing that is proved?"""

import functools
import json
import math
import sys
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from support import provable
from support.nightly import mostly_at_night
from support.random_programs import programs

from dpaudit.decimals import Enclosure
from dpaudit.errors import UsageError
from dpaudit.events.partition import count_event, score_of
from dpaudit.evidence.event import Box, Event, Rule
from dpaudit.loading import load
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.symbolic.linear import Affine
from dpaudit.sampling.outputs import from_list, from_paths
from dpaudit.verify.counterexample import ExactCounterexample, find_counterexample, read_output
from dpaudit.verify.fold import prove_program

pytest.importorskip("flint")


def proof_of(name, given, length):
    relation = None if isinstance(name, str) else "queries"
    return prove_program(
        load(name) if isinstance(name, str) else name, given, length=length, relation=relation, runs=20
    )


@functools.cache
def known_proof(name, given, length):
    return proof_of(name, dict(given), length)


def witness_of(name, given=None, length=5, **options):
    if not isinstance(name, str):
        proof = proof_of(name, given, length)
        return find_counterexample(proof, name, {}, **options), proof
    found, proof = load(name), known_proof(name, tuple((given or {}).items()), length)
    return find_counterexample(proof, found.function, found.parameters_with(given), **options), proof


def loss(counterexample):
    return math.inf if counterexample.infinite else float(counterexample.epsilon)


# what is proved at five answers, however rare the event, and for an event that has probability 0.01 on side 0 (where
# the best one is so likely itself, or another row asks the same, there is nothing more to see)
BELOW = [
    ("svt_noiseless_answers", {}, math.inf, None),
    ("svt_unlimited", {}, 2.48, 2.1),
    ("svt_unscaled_noise", {"cutoff": 1}, 1.749999, 1.74),
    ("svt_unscaled_noise", {"cutoff": 2}, 3.2499, 2.9),
    ("noisy_max_value", {}, 2.4999999, None),
    ("svt_releasing_values", {"cutoff": 1, "scale": 4}, 1.2499999, 1.07),
    ("partial_sum_half_noise", {}, 1.9999999, None),
    ("adaptive_svt_releasing_values", {"cutoff": 1}, 1.62, None),
    ("smart_sum_exact_blocks", {}, math.inf, None),
    ("above_threshold", {"cutoff": 1}, 0.9999, 0.92),
    ("above_threshold", {"cutoff": 2}, 0.62499999, 0.59),
    ("report_noisy_max", {}, 0.9999999, None),
    ("numeric_svt", {"cutoff": 1}, 0.9999, 0.91),
]


@pytest.mark.parametrize(
    ("name", "given", "rare", "likely"),
    mostly_at_night(BELOW, every=4),
    ids=[f"{row[0]}{row[1] or ''}" for row in BELOW],
)
@pytest.mark.slow
def test_published_mechanisms(name, given, rare, likely):
    for least_mass, expected in ((None, rare),) if likely is None else ((None, rare), (0.01, likely)):
        counterexample, proof = witness_of(name, given, least_mass=least_mass)
        assert loss(counterexample) >= expected
        assert counterexample.infinite == (expected == math.inf) == (counterexample.epsilon is None)
        assert counterexample.probabilities[0].low >= (least_mass or 0)
        assert all(Fraction(value).denominator <= 1024 for data in counterexample.pair for value in data)
        if proof.bound is not None:
            assert counterexample.epsilon <= proof.bound
            assert not counterexample.exceeds(proof.bound) and counterexample.exceeds(Fraction(1, 4))


EACH = {name: given for name, given, *_ in reversed(provable.TABLE)}  # the first row of each mechanism


@pytest.mark.parametrize(("name", "given"), EACH.items(), ids=EACH)
@pytest.mark.slow
def test_no_witness_contradicts_a_proof(name, given):
    """At two answers; the pair is one of neighbours, and runs agree with the probabilities."""
    found = load(name)
    counterexample, proof = witness_of(name, given, length=2, budget_runs=100_000, seed=1)
    if given.get("noise_kind") == "gumbel":
        assert counterexample is None
        return
    assert proof.scope.relation.accepts(*map(list, counterexample.pair))
    assert proof.bound is None or counterexample.epsilon <= proof.bound
    assert_runs_agree(counterexample, partial(found.function, **found.parameters_with(given)))


def assert_runs_agree(counterexample, function, runs=10_000):
    for side, data in enumerate(counterexample.pair):
        result = run_batch(partial(function, list(data)), runs, np.random.default_rng(side))
        hits, others = count_event(counterexample.event, from_paths(result.paths, runs))
        p = counterexample.probabilities[side]
        assert others == 0
        assert binomtest(hits, runs, float(p.low)).pvalue > 1e-5, (hits, float(p.low))


@settings(max_examples=6, deadline=None, derandomize=True)
@given(programs(["laplace", "exponential", "uniform"], 2), st.integers(0, 99))
@pytest.mark.slow
def test_random_programs(program, seed):
    proof = prove_program(program, length=2, relation="queries", runs=5)
    counterexample = find_counterexample(proof, program, {}, budget_runs=100_000, seed=seed)
    if counterexample is None:
        return
    assert proof.bound is None or not counterexample.exceeds(proof.bound)
    assert proof.scope.relation.accepts(*map(list, counterexample.pair))
    assert_runs_agree(counterexample, program)


@pytest.mark.slow
def test_paths_with_the_same_output_are_one_event():
    """Side 0 may return 1 in two ways; an event of only one of them would be unobservable."""
    counterexample, proof = witness_of(provable.outside, length=1)
    assert_runs_agree(counterexample, provable.outside)
    assert 0 < loss(counterexample) <= proof.bound
    counterexample, _ = witness_of(provable.noisy_max, length=3, least_mass=0.05)
    assert_runs_agree(counterexample, provable.noisy_max)
    assert loss(counterexample) > 0.95


@pytest.mark.slow
def test_a_released_number_and_a_constant_may_have_one_form():
    def program(data, noise):
        value = data[0] + noise.laplace(2)
        return value if value < 3 else 0.5

    counterexample, _ = witness_of(program, length=1, least_mass=0.1)
    assert_runs_agree(counterexample, program)
    assert loss(counterexample) > 0.4


@pytest.mark.slow
def test_exceptions_texts_and_dicts():
    def program(data, noise):
        value = data[0] + noise.laplace(1)
        if value < -2:
            raise ValueError("too small")
        return {"a": [value > 1, "yes"], 3: (None, 7, value)} if value > 0 else "no"

    for seed in range(3):
        counterexample, _ = witness_of(program, length=1, budget_runs=10_000, seed=seed)
        assert loss(counterexample) > 0.9
        assert_runs_agree(counterexample, program)


def test_numbers_without_noise_are_held():
    """A third of an answer is no short binary fraction."""

    def program(data, noise):
        return [data[0] / 3, data[1] + noise.laplace(1)]

    counterexample, _ = witness_of(program, length=2)
    assert counterexample.infinite and float(counterexample.probabilities[0].low) == 1.0
    assert_runs_agree(counterexample, program)
    box, third = counterexample.event.rules[0].score, Fraction(counterexample.pair[0][0]) / 3
    assert box.low[0] < third < box.high[0] < box.low[0] + 1 / 4

    def still(data, noise):
        return [1 / 4, data[1] + noise.laplace(1)]

    counterexample, _ = witness_of(still, length=2)
    assert loss(counterexample) == pytest.approx(1)
    box = counterexample.event.rules[0].score
    assert box.low[0] < 1 / 4 < box.high[0]
    assert_runs_agree(counterexample, still)


def test_what_no_probability_is_known_for_has_no_witness():
    proof = prove_program(provable.geometric, length=2, relation="queries", domain="integer")
    assert find_counterexample(proof, provable.geometric, {}) is None


def test_likely_events_lose_less():
    """A half-line of probability p > ½ loses ln(p/(1 − (1 − p)e))."""
    counterexample = witness_of("partial_sum", length=1, least_mass=0.9)[0]
    assert counterexample.probabilities[0].low >= Fraction(9, 10)
    most = math.log(0.9 / (1 - 0.1 * math.e))
    assert 0.95 * most < loss(counterexample) <= most

    def program(data, noise):
        return 1 if noise.bernoulli(0.25) and data[0] + noise.laplace(1) > 0 else 0

    assert witness_of(program, length=1, least_mass=0.2)[0].probabilities[0].low >= Fraction(1, 5)


def test_a_constant_program_has_no_witness():
    assert witness_of(lambda data, noise: [7, None], length=1)[0] is None


@pytest.mark.slow
def test_numbers_that_cannot_tell_have_no_limit():
    """One answer moves; the other four noisy ones say nothing, and limits would only make the event rarer."""
    counterexample, _ = witness_of("laplace", budget_runs=100_000)
    box = counterexample.event.rules[0].score
    assert sum(limit is not None for limit in box.low + box.high) == 1
    assert float(counterexample.probabilities[0].low) == pytest.approx(0.5, abs=0.05)


def test_whole_data_stay_whole():
    def program(data, noise):
        return data[0] + noise.laplace(3) > 0

    proof = prove_program(program, length=2, relation="queries", domain="integer")
    counterexample = find_counterexample(proof, program, {})
    assert all(type(value) is int for data in counterexample.pair for value in data)
    assert loss(counterexample) == pytest.approx(1 / 3)


def test_whole_numbers_among_real_answers_are_floats():
    """The sum of two whole floats is a float; that of two ints would be another form."""

    def program(data, noise):
        return [data[0] + data[1], data[2] + noise.laplace(1)]

    for seed in range(3):
        counterexample, _ = witness_of(program, length=3, seed=seed)
        assert all(type(value) is float for data in counterexample.pair for value in data)
        assert counterexample.infinite


def test_a_search_repeats():
    """And where one event is as good as another, the seed decides."""
    first, second, other = (witness_of("partial_sum", length=3, seed=seed)[0] for seed in (3, 3, 4))
    assert first.record() == second.record()
    assert other.record() != first.record()


@pytest.mark.nightly
def test_more_runs_show_rarer_events():
    few, many = (witness_of("svt_releasing_values", {"scale": 4}, budget_runs=runs)[0] for runs in (2000, 10**9))
    assert few.probabilities[0].low > 4 * many.probabilities[0].low
    assert few.epsilon < many.epsilon


def test_runs_that_contradict_are_a_fault():
    """The tree of one program and runs of another."""
    found = load("partial_sum")
    proof = prove_program(found, length=2, runs=5)
    with pytest.raises(AssertionError, match="occurs"):
        find_counterexample(proof, lambda data, noise, epsilon: 100 + noise.laplace(1), {"epsilon": 1}, least_mass=0.3)


@pytest.mark.parametrize(
    "options", [{"budget_runs": 1}, {"budget_runs": 2.5}, {"least_mass": 0}, {"budget_runs": 10, "least_mass": 0.1}]
)
def test_bad_requests(options):
    with pytest.raises(UsageError, match=r"budget_runs|least_mass"):
        witness_of("partial_sum", length=1, **options)


def test_without_flint(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(UsageError, match="python-flint"):
        witness_of("partial_sum", length=1)


def made(p0, p1):
    ends = [Enclosure(Fraction(a), Fraction(b)) for a, b in (p0, p1)]
    return ExactCounterexample(((0,), (1,)), Event("witness", ()), (ends[0], ends[1]), None)


def test_the_bound_takes_the_unfavourable_ends():
    counterexample = made(("0.3", "0.4"), ("0.1", "0.15"))
    exact = Fraction(Context(prec=60).ln(Decimal(2)))
    assert 0 < exact - counterexample.epsilon <= Fraction(1, 10**20)
    assert float(counterexample.least(Fraction("0.1"))) == pytest.approx(math.log(0.2 / 0.15))
    assert counterexample.least(Fraction("0.2")) == 0 == counterexample.least(Fraction("0.5"))
    assert not made(("0", "0.4"), ("0", "0")).infinite
    assert made(("0.1", "0.4"), ("0", "0")).infinite
    assert not made(("0.1", "0.4"), ("0", "0.001")).infinite
    assert made(("0.1", "0.4"), ("0", "0")).least(Fraction("0.2")) == 0


# --- the record, by itself -------------------------------------------------------------------------------------


def run_record(record, side, rng):
    """One run of the tree in a record, as a naive reader would: the numbers of its output, and whether it is a hit."""
    values = {f"q{place}": float(Fraction(value)) for place, value in enumerate(record["pair"][side])}

    def at(expression):
        return sum(float(Fraction(number)) * values.get(name, 1.0) for name, number in expression.items())

    node, drawn = record["nodes"][0], 0
    while "leaf" not in node:
        if "draw" in node:
            scale = float(Fraction(node["scale"]))
            sample = {"laplace": rng.laplace, "exponential": lambda _, b: rng.exponential(b)}[node["draw"]]
            values[f"h{drawn}"] = sample(0, scale)
            node, drawn = record["nodes"][node["then"]], drawn + 1
        elif "argmax" in node:
            found = [at(each) for each in node["argmax"]]
            node = record["nodes"][node["then"][found.index(max(found))]]
        else:
            value = at(node["compare"])
            ways = {"<": value < 0, "<=": value <= 0, "=": value == 0, ">=": value >= 0, ">": value > 0}
            node = record["nodes"][next(node[way] for way, holds in ways.items() if way in node and holds)]

    def plain(output):
        if output[0] in ("list", "tuple"):
            return (list if output[0] == "list" else tuple)(map(plain, output[1:]))
        if output[0] in ("float", "int"):
            return float(at(output[1])) if output[0] == "float" else round(at(output[1]))
        return output[1]

    seen = from_list([plain(node["leaf"])])
    limits = zip(record["event"]["low"], record["event"]["high"], seen.numbers[0][0], strict=False)
    return seen.forms[0] == record["event"]["form"] and all(
        (low is None or number >= float(Fraction(low))) and (high is None or number <= float(Fraction(high)))
        for low, high, number in limits
    )


@pytest.mark.parametrize(
    ("name", "given"),
    mostly_at_night([("svt_releasing_values", {"scale": 4}), ("report_noisy_max", {}), ("prefix_sum", {})]),
)
@pytest.mark.slow
def test_the_record_says_it_all(name, given):
    counterexample, proof = witness_of(name, given, length=3, least_mass=0.2)
    record = json.loads(json.dumps(counterexample.record()))
    assert record["scope"]["length"] == 3 and record["mechanism"]["name"] == proof.name
    rng = np.random.default_rng(5)
    for side, (low, high) in enumerate(record["probabilities"]):
        assert (
            Fraction(low)
            <= counterexample.probabilities[side].low
            <= counterexample.probabilities[side].high
            <= Fraction(high)
        )
        assert Fraction(high) - Fraction(low) <= Fraction(high) / 10**15
        hits = sum(run_record(record, side, rng) for _ in range(2000))
        assert binomtest(hits, 2000, float(Fraction(low))).pvalue > 1e-5
    differences = [Fraction(b) - Fraction(a) for a, b in zip(*record["pair"], strict=True)]
    assert all(abs(each) <= 1 for each in differences)
    top, bottom = Fraction(record["probabilities"][0][0]), Fraction(record["probabilities"][1][1])
    assert 0 < math.log(top / bottom) - float(Fraction(record["epsilon"])) + 1e-14 < 1e-13
    assert str(counterexample).startswith("ε is at least")


# --- boxes -----------------------------------------------------------------------------------------------------

LIMITS = st.one_of(st.none(), st.integers(-2, 2).map(float))


@pytest.mark.slow
@given(
    st.lists(st.tuples(LIMITS, LIMITS), min_size=1, max_size=3),
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), max_size=8),
)
def test_boxes_by_definition(limits, rows):
    box = Box(tuple(low for low, _ in limits), tuple(high for _, high in limits))
    numbers = np.array(rows, dtype=float).reshape(-1, 3)[:, : len(limits)]
    expected = [
        float(all((a is None or a <= x) and (b is None or x <= b) for x, (a, b) in zip(row, limits, strict=True)))
        for row in numbers
    ]
    assert score_of(box, numbers).tolist() == expected


def test_a_box_in_words_and_as_json():
    box = Box((0.0, 0.0, None, 1.5, None), (0.0, 0.0, 2.0, None, None))
    event = Event("witness", (Rule("[bool × 2, float × 3]", box, (0.5,), (0, 1)),))
    assert event.describe(0) == (
        "an output that is [bool × 2, float × 3] with numbers 0 to 1 = 0 and number 2 at most 2 "
        "and number 3 at least 1.5"
    )
    other = Event("witness", (Rule("(float × 2)", Box((None, 0.0), (None, 1.0)), (0.5,), (1, 0)),))
    assert other.describe(0) == "an output that is (float × 2) other than with number 1 from 0 to 1"
    assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event


def test_forms_of_outputs_of_the_tree():
    expression = Affine({"h0": 1})
    found = read_output(
        (
            "list",
            ("bool", True),
            ("float", expression),
            ("dict", (("int", Affine({}, 3)), ("int", expression))),
            ("none",),
            ("str", "x"),
            ("float", "nan"),
            ("float", Affine({}, Fraction(1, 4))),
        )
    )
    assert found.form == from_list([[True, 0.5, {3: 1}, None, "x", math.nan, 0.25]]).forms[0]
    assert [str(number) for number in found.numbers] == ["1", "h0", "h0", "1/4"]
    assert found.whole == (True, False, True, False)
    found = read_output(("exception", "ValueError: 3 # too small"))
    assert found.form == "raises ValueError: # \\# too small" and [str(number) for number in found.numbers] == ["3"]
    assert read_output(("exception", "KeyError")).form == "raises KeyError"
