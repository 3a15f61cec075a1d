"""Does the exact reading follow every trace, with exact weights, and refuse what it cannot read?"""

from __future__ import annotations

import itertools
import math
import threading
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from math import exp as early_exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

import mechanisms
from dpaudit.errors import UsageError
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.enumerate import Exact, Whole, exact_reading, nearest_float, output_text, parse_exact
from dpaudit.program.enumerate.number import exponential_bounds
from dpaudit.program.fold import Fold, Stop
from dpaudit.program.outcome import entry

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def weights(function, data=None, **parameters):
    return dict(exact_reading(function, data, parameters).weights)


# --- numbers ---------------------------------------------------------------------------------------------

small = st.fractions(-3, 3, max_denominator=6)
terms = st.dictionaries(small, st.integers(-4, 4).filter(bool), max_size=3)
numbers = st.builds(lambda top, bottom: Exact.quotient(top, bottom), terms, terms.filter(lambda found: len(found) > 0))


def high_precision(sums):
    """The twin: 60 decimal digits."""
    with localcontext() as context:
        context.prec = 60
        return sum(
            (c * (Decimal(r.numerator) / Decimal(r.denominator)).exp() for r, c in sums.items()), start=Decimal(0)
        )


def value(number):
    with localcontext() as context:
        context.prec = 60
        return high_precision(number.sums[0]) / high_precision(number.sums[1])


@settings(max_examples=30, deadline=None)
@given(numbers, numbers)
@pytest.mark.slow
def test_arithmetic_and_order_agree_with_sixty_digits(left, right):
    with localcontext() as context:
        context.prec = 60
        a, b = value(left), value(right)
        close = Decimal(10) ** -35 * (1 + abs(a) + abs(b)) ** 2
        assert abs(value(left + right) - (a + b)) < close
        assert abs(value(left - right) - (a - b)) < close
        assert abs(value(left * right) - a * b) < close
        if right:
            assert abs(value(left / right) * b - a) < close * (1 + abs(a / b))
        if abs(a - b) > close:
            assert (left < right) == (a < b) and (left > right) == (a > b) and left != right
        else:
            assert left == right and left <= right and not left < right


@given(numbers, numbers, numbers)
@settings(max_examples=25, deadline=None)
@pytest.mark.slow
def test_numbers_form_a_field(a, b, c):
    assert a * (b + c) == a * b + a * c
    assert (a + b) + c == a + (b + c)
    if b:
        assert a / b * b == a
        assert (a / b).simplified() == a / b
    assert parse_exact(str(a)) == a


@pytest.mark.slow
@given(st.fractions(-200, 0), st.integers(8, 200))
@settings(deadline=None)
def test_an_exponential_lies_between_its_bounds(exponent, bits):
    low, high = exponential_bounds(exponent, bits)
    with localcontext() as context:
        context.prec = 120
        true = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp() * (1 << bits)
        assert low <= true * (1 + Decimal(10) ** -100) and true * (1 - Decimal(10) ** -100) <= high
    assert high - low <= 512 * (1 + abs(exponent))


def test_signs_are_decided_where_floats_give_up():
    e = Exact.exponential(1)
    close = Fraction(math.e)
    assert e != close and (e > close) == (Decimal(1).exp() > Decimal(math.e))
    tiny = Exact.exponential(-1000)
    assert tiny > 0 and 1 - tiny < 1 and tiny.approximate() == pytest.approx(0, abs=1e-300)
    assert tiny.logarithm() == -1000
    assert Exact.exponential(1000).approximate() == math.inf


def test_equal_numbers_are_recognised():
    e = Exact.exponential(1)
    assert (1 + e) * (1 - e) == 1 - e**2
    assert ((1 - e**2) / (1 + e)).simplified().sums[1] == {Fraction(0): 1}
    assert (2 * e / (4 * e)).fraction == HALF
    assert ((1 + e) / (3 + 3 * e)).fraction == THIRD
    assert e / e == 1 and hash(e / e) == hash(1) and {0.1: "found"}[Exact(0.1)] == "found"


def test_what_needs_a_float_is_refused():
    for call in (float, math.sqrt, np.sqrt):
        refused(lambda data, noise, p, call=call: noise.bernoulli(call(p)), "not exact|differently", p=0.5)
    for call in (float, math.sqrt):
        with pytest.raises(UsageError, match="not exact"):
            call(Exact(HALF))


@pytest.mark.parametrize("text", ["", "x", "1/0", "(1)/(0)", "1.5", "e^(1)", "1*e^(1/0)", "(1)/(2"])
def test_a_text_that_is_no_number_is_refused(text):
    with pytest.raises(UsageError):
        parse_exact(text)


def test_a_whole_parameter_divides_exactly():
    k = Whole(3)
    assert 2 / k == Fraction(2, 3) and k / 2 == Fraction(3, 2) and 1 / (k - 1) == HALF and 1 / -k == -THIRD
    assert 1 / (2 * k + 1) == Fraction(1, 7) and k**-1 == THIRD and type(k + 0.5) is Exact
    assert list(range(k)) == [0, 1, 2] and isinstance(k, int)


# --- laws ------------------------------------------------------------------------------------------------


def test_two_coins_by_hand():
    assert weights(mechanisms.two_coins.function, 1) == {"0": Fraction(1, 4), "1": Fraction(3, 4)}


def test_randomised_response_at_one_has_the_ratio_e():
    law = weights(mechanisms.randomised_response.function, 1, epsilon=1.0)
    assert law["1"] / law["0"] == Exact.exponential(1)
    assert law["1"] / law["0"] > Fraction(math.e) or law["1"] / law["0"] < Fraction(math.e)
    assert law == weights(mechanisms.randomised_response.function, 1, epsilon=1)


def test_a_probability_that_rounds_to_one_is_not_one():
    law = weights(mechanisms.randomised_response.function, 1, epsilon=40)
    assert 0 < law["0"] < Fraction(1, 10**17)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.integers(0, 3),
        lambda inner: st.lists(st.tuples(st.integers(0, 3), inner), min_size=1).filter(
            lambda options: any(weight for weight, _ in options)
        ),
        max_leaves=12,
    )
)
def test_a_tree_of_choices_has_the_law_of_the_tree(tree):
    def program(data, noise):
        node = tree
        while isinstance(node, list):
            node = noise.choice([child for _, child in node], [weight for weight, _ in node])
        return node

    def twin(node, weight, found):
        if not isinstance(node, list):
            found[str(node)] = found.get(str(node), 0) + weight
        else:
            for share, child in node:
                if share:
                    twin(child, weight * Fraction(share, sum(w for w, _ in node)), found)
        return found

    assert weights(program) == twin(tree, Fraction(1), {})


def test_parameters_and_data_are_the_decimals_that_are_written():
    def program(data, noise, *, p, k):
        return noise.bernoulli(p / k + data[0])

    assert weights(program, [0.1], p=0.3, k=3) == {"True": Fraction(1, 5), "False": Fraction(4, 5)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["permute_and_flip", "exponential", "generalised_randomised_response", "unary_encoding"]
)
def test_frequencies_of_the_batch_reading_agree(name):
    entry_ = getattr(mechanisms, name)
    parameters = entry_.parameters_with(None)
    data = entry_.pairs_for(parameters)[0][1]
    law = exact_reading(entry_.function, data, parameters).weights
    runs = 20_000
    result = run_batch(lambda noise: entry_.function(data, noise=noise, **parameters), runs, np.random.default_rng(0))
    counts: dict[str, int] = {}
    for path in result.paths:
        for position in range(len(path.runs)):
            text = output_text(entry(path.output, position))
            counts[text] = counts.get(text, 0) + 1
    assert counts.keys() <= law.keys()
    for text, weight in law.items():
        assert binomtest(counts.get(text, 0), runs, nearest_float(weight)).pvalue > 1e-6


def test_exceptions_are_outputs():
    def program(data, noise):
        if noise.bernoulli(0.25):
            raise KeyError("gone")
        return None

    assert weights(program) == {"None": Fraction(3, 4), "Raised(kind='KeyError', message=\"'gone'\")": Fraction(1, 4)}


def test_the_message_of_an_exception_is_that_of_the_plain_run():
    law = weights(lambda data, noise, p: noise.bernoulli(f"{p:.2f}"), p=0.5)
    assert list(law) == [
        "Raised(kind='TypeError', message='noise.bernoulli: the probability must be a number, not str')"
    ]


def test_outputs_differ_by_type_and_value():
    @dataclass
    class Record:
        answer: object

    outputs = [
        1,
        True,
        1.0,
        "1",
        b"1",
        None,
        [1],
        (1,),
        {1: 1},
        {1},
        frozenset([1]),
        float("nan"),
        np.array([1]),
        Record(1),
        Record(True),
        [[1], []],
        [[1, []]],
        -1.0,
    ]
    assert len({output_text(output) for output in outputs}) == len(outputs)
    assert output_text(np.int64(1)) == output_text(Whole(1)) == "1"
    assert output_text(np.float64(0.5)) == output_text(Exact(0.5)) == "0.5" and output_text(-0.0) == "-0.0"
    assert output_text({2, 1}) == output_text({1, 2})
    with pytest.raises(UsageError, match="apart"):
        output_text(object())


# --- refusals --------------------------------------------------------------------------------------------


def refused(function, match, data=None, **parameters):
    with pytest.raises(UsageError, match=match):
        exact_reading(function, data, parameters)


@pytest.mark.parametrize("method", ["laplace", "exponential", "gaussian", "gumbel", "uniform"])
def test_continuous_noise_is_refused_with_its_line(method):
    def program(data, noise):
        return getattr(noise, method)(1, *([2] if method == "uniform" else []))

    refused(program, rf"test_exact.py, line \d+ .*noise.{method} is continuous")


@pytest.mark.parametrize("method", ["discrete_laplace", "discrete_gaussian"])
def test_infinitely_many_values_are_refused_with_a_way_out(method):
    refused(lambda data, noise: getattr(noise, method)(2), "infinitely many values.*clamp it")


@pytest.mark.parametrize("probability", [1 / 3, 0.1 + 0.2, math.sqrt(2) / 2, 1 / (1 + math.exp(-1))])
def test_a_rounded_float_is_refused(probability):
    refused(lambda data, noise: noise.bernoulli(probability), "was rounded")
    refused(lambda data, noise: noise.choice([1, 2], [probability, 1]), "was rounded")


def test_an_exp_out_of_reach_is_refused_not_rounded():
    refused(lambda data, noise, epsilon: noise.bernoulli(early_exp(-epsilon)), "not exact", epsilon=50.0)
    refused(lambda data, noise, epsilon: noise.bernoulli(float(epsilon) / 3), "not exact", epsilon=1.0)
    refused(lambda data, noise, epsilon: noise.bernoulli(math.exp(-math.exp(-epsilon))), "exp", epsilon=1.0)


def test_numpys_exp_is_exact_too():
    law = weights(lambda data, noise, epsilon: noise.bernoulli(np.exp(-epsilon)), epsilon=0.5)
    assert law["True"] == Exact.exponential(-HALF)


def test_a_swallowed_refusal_is_still_one():
    def program(data, noise):
        try:
            return noise.laplace(1)
        except BaseException:
            return 0

    refused(program, "continuous")


def test_a_program_that_looks_at_types_is_refused():
    def strict(data, noise, *, epsilon):
        if not isinstance(epsilon, float):
            raise TypeError("epsilon must be a float")
        return noise.bernoulli(0.5)

    refused(strict, "differently with exact numbers", epsilon=1.0)


def test_a_program_with_state_is_refused():
    calls = itertools.count()
    refused(lambda data, noise: noise.bernoulli(0.5) and next(calls), "differently|state")

    calls = itertools.count()
    refused(lambda data, noise: [noise.choice(range(2 + next(calls) % 2)), noise.bernoulli(0.5)], "state")


def test_changed_data_is_refused():
    refused(lambda data, noise: data.append(noise.bernoulli(0.5)), "changes its data|differently", [1])


@pytest.mark.nightly
def test_loops_without_end_and_too_many_traces_are_refused():
    def endless(data, noise):
        while noise.bernoulli(0.5):
            pass

    refused(endless, "draws more than 500 times")
    with pytest.raises(UsageError, match=r"more than 31 traces.*Fold"):
        exact_reading(lambda data, noise: [noise.bernoulli(0.5) for _ in range(5)], None, most_traces=31)
    assert (
        exact_reading(lambda data, noise: [noise.bernoulli(0.5) for _ in range(5)], None, most_traces=32).traces == 32
    )


def test_bad_probabilities_raise_in_the_program_as_everywhere():
    for draw in (
        "bernoulli(1.5)",
        "bernoulli('x')",
        "choice([])",
        "choice([1], [1, 2])",
        "choice([1], [0])",
        "choice([1, 2], [-1, 2])",
    ):
        law = weights(partial(lambda data, noise, draw: eval(f"noise.{draw}"), draw=draw))
        assert len(law) == 1 and next(iter(law)).startswith("Raised")


@pytest.mark.slow
def test_the_usual_exponential_comes_back_and_other_threads_keep_it():
    usual, seen = math.exp, []

    def program(data, noise):
        other = threading.Thread(target=lambda: seen.append(math.exp(-1)))
        other.start()
        other.join()
        return noise.bernoulli(math.exp(-1))

    weights(program)
    assert set(seen) == {usual(-1)} and math.exp is usual
    refused(lambda data, noise: noise.laplace(math.exp(1)), "continuous")
    assert math.exp is usual and type(math.exp(1)) is float


# --- folds -----------------------------------------------------------------------------------------------


def shuffled(count, record, noise, *, keep):
    return count + (record if noise.bernoulli(keep) else 1 - record)


def sparse(state, record, noise, *, cutoff):
    level, answers = state
    above = record + noise.choice([-1, 0, 1], [1, 2, 1]) >= level
    answers = (*answers, above)
    return Stop((level, answers)) if sum(answers) == cutoff else (level, answers)


SPARSE = Fold(sparse, init=lambda noise, cutoff: (noise.choice([-1, 0, 1], [1, 2, 1]), ()), finish=lambda s: list(s[1]))


@pytest.mark.parametrize(
    ("fold", "data", "parameters"),
    [
        (Fold(shuffled), [0, 1, 1, 0, 1], {"keep": 0.75}),
        (
            Fold(lambda s, x, noise, epsilon: s ^ noise.bernoulli(math.exp(-epsilon * x)), False),
            [1, 2],
            {"epsilon": 0.5},
        ),
        (SPARSE, [0, 1, 0], {"cutoff": 2}),
        (SPARSE, [1, 1, 1], {"cutoff": 1}),
        (Fold(lambda s, x, noise: s / noise.choice([x, 0]), 1), [2, 3], {}),
        (Fold(lambda s, x, noise: Stop(s + 1) if noise.bernoulli(0.5) else s + 1), [0, 0], {}),
    ],
)
def test_a_fold_has_the_law_of_the_same_loop_without_merging(fold, data, parameters):
    merged = exact_reading(fold, data, parameters)
    plain = exact_reading(lambda data, noise, **given: fold(data, noise, **given), data, parameters)
    assert merged.weights.keys() == plain.weights.keys()
    assert all(merged.weights[text] == plain.weights[text] for text in plain.weights)


def test_shuffled_randomised_response_is_a_sum_of_two_binomials():
    n, ones = 60, 7
    law = exact_reading(Fold(shuffled), [1] * ones + [0] * (n - ones), {"keep": 0.75})
    assert law.traces < 4 * n

    def binomial(k, size, p):
        return math.comb(size, k) * p**k * (1 - p) ** (size - k) if 0 <= k <= size else 0

    for k in (0, 7, 20, 60):
        twin = sum(
            binomial(j, ones, Fraction(3, 4)) * binomial(k - j, n - ones, Fraction(1, 4)) for j in range(ones + 1)
        )
        assert law.weights[str(k)] == twin


def test_states_of_different_type_are_not_merged():
    law = weights(Fold(lambda s, x, noise: noise.choice([1, True, 1.0]), None), [0])
    assert law == {"1": THIRD, "True": THIRD, "1.0": THIRD}


def test_a_step_cannot_change_a_state_that_others_share():
    def step(state, record, noise):
        state.append(noise.bernoulli(0.5))
        return state

    law = weights(Fold(step, init=lambda noise: []), [0, 0])
    assert law == {f"[{a}, {b}]": Fraction(1, 4) for a in (True, False) for b in (True, False)}


def test_a_fold_is_sampled_like_any_program():
    result = run_batch(lambda noise: Fold(shuffled)([0, 1, 1], noise, keep=0.75), 4096, np.random.default_rng(0))
    assert result.fallback_reason is None
    counts = np.bincount(
        np.concatenate([np.asarray([entry(p.output, i) for i in range(len(p.runs))]) for p in result.paths])
    )
    law = exact_reading(Fold(shuffled), [0, 1, 1], {"keep": 0.75}).weights
    for k, count in enumerate(counts):
        assert binomtest(int(count), 4096, float(law[str(k)])).pvalue > 1e-6


def test_sparse_vector_stops():
    law = weights(SPARSE, [5, 5, 5], cutoff=2)
    assert law == {"[True, True]": Fraction(1)}
