"""Is the bound of how far one of n numbers moves a function the exact one, and is nothing read that is not so?"""

import copy
import itertools
import math
import operator
import random
import re
from fractions import Fraction

import numpy as np
import pytest
from support import numbers

from dpaudit.checker import CertificateError, check_certificate
from dpaudit.errors import UsageError
from dpaudit.loading import load
from dpaudit.reading.expressions.ways import read
from dpaudit.report.text.verdict import headline
from dpaudit.request import ProofRequest
from dpaudit.verify.answer import prove, proving
from dpaudit.verify.moves.bound import moving_part, renamed, simplest
from dpaudit.verify.moves.derive import NumberData, both_ends, derive, listed
from dpaudit.verify.moves.movement import evaluated

UNIT = NumberData(3, Fraction(0), Fraction(1))


def derived(function, *, notion="epsilon", delta=0, within=UNIT):
    """What is derived of a function of three numbers from 0 to 1."""
    return derive(load(function), {}, within, notion=notion, delta=Fraction(delta))


def released(statistic, scale):
    """A statistic with Laplace noise."""

    def release(x):
        return statistic(x) + np.random.laplace(0, scale)

    return release


@pytest.mark.slow
@pytest.mark.parametrize("length", [2, 3])
def test_every_statistic_is_bounded_at_what_it_moves(length):
    within = NumberData(length, Fraction(0), Fraction(1))
    for statistic, moves in numbers.FUNCTIONS.items():
        found = derived(released(statistic, moves(length)), within=within)
        assert found.bound == 1, (statistic.__name__, found.bound, found.open_ends)
        assert max(each.least for each in found.moves) == pytest.approx(moves(length), rel=1e-8)


@pytest.mark.slow
def test_no_statistic_is_proved_with_less_noise_and_no_tampered_certificate_is_accepted():
    """With .999 of its noise, and with trees that are cut, repeated and turned under a bound that is false."""
    rng, tried = random.Random(11), 0
    for statistic, moves in numbers.FUNCTIONS.items():
        found = derived(released(statistic, 0.999 * moves(2)), within=NumberData(2, Fraction(0), Fraction(1)))
        assert found.bound > 1, statistic.__name__
        for _ in range(8):
            forged = copy.deepcopy(found.certificate)
            forged["bound"] = str(Fraction(forged["bound"]) * Fraction(999, 1000))
            for move in forged["moves"]:
                move["most"] = [str(Fraction(each) * Fraction(999, 1000)) for each in move["most"]]
                _tamper(rng.choice([tree for trees in move["trees"] for tree in trees]), rng)
            tried += 1
            with pytest.raises(CertificateError):
                check_certificate(forged)
    assert tried > 300


def _tamper(tree, rng):
    place = rng.randrange(len(tree))
    if isinstance(tree[place], list) and tree[place][0] == "m" and rng.random() < 0.5:
        tree[place][1][0][1] = 1 - tree[place][1][0][1]
    elif rng.random() < 0.5:
        tree[place] = rng.choice([".", "c"])
    else:
        tree.insert(place, tree[rng.randrange(len(tree))])


def test_simplest_fractions():
    assert simplest(Fraction(314, 100), Fraction(315, 100)) == Fraction(22, 7)
    assert simplest(Fraction(0), Fraction(1, 10)) == 0
    assert simplest(Fraction(7, 3), Fraction(7, 3)) == Fraction(7, 3)


# --- what is read ---------------------------------------------------------------------------------------------


def vector(x):
    return np.array(x) + np.random.laplace(0, 1, size=len(x))


def histogram(x):
    values = np.asarray(x)
    return np.array([np.sum(values < 0.5), np.sum(values >= 0.5)]) + np.random.laplace(0, 2, size=2)


def rounded(x):
    noisy = sum(x) + np.random.laplace(0, 1)
    return {"rounded": round(float(noisy), 2), "text": f"{noisy:.1f}", "clipped": np.clip(noisy, 0, 3)}


def filled(x):
    values = np.zeros(len(x))
    for place, value in enumerate(x):
        values[place] = value * value
    return values.sum() + np.random.laplace(0, 1)


def of_an_array(x):
    return (x**2).sum() + np.random.laplace(0, 1)


def of_a_generator(x, rng):
    return sum(value for value in x if value > 0.5) + rng.laplace(scale=1)


def of_noise(x, noise):
    return max(x) - min(x) + noise.laplace(1)


def scaled(x):
    return sum(x) + 2 * np.random.laplace(0, 0.5)


class Total:
    def __init__(self):
        self.total = 0

    def add(self, value):
        self.total += value


def with_an_object(x):
    total = Total()
    for value in x:
        total.add(value)
    return total.total + np.random.laplace(0, 1)


def counted(x):
    count = 0

    def is_large(value):
        nonlocal count
        count += 1
        if value > 0.5:
            return 1
        return 0

    return sum(is_large(value) for value in x) + count * x[0] + np.random.laplace(0, 4)


def moved_noise(x):
    noise = np.random.laplace(0, 101)
    if x[0] > 0.5:
        noise = noise + 100
    return sum(x) + noise


def best_of_three(x):
    return np.argmax([score + np.random.exponential(2) for score in (sum(x), max(x), 0.5)])


def chosen(x):
    scores = np.array([sum(x), -sum(x)]) / 2
    weights = np.exp(scores - scores.max())
    return np.random.choice(["more", "less"], p=weights / weights.sum())


def of_ways(x):
    return np.random.choice(2, p=[0.25 + x[0] / 2, 0.75 - x[0] / 2])


READ = {
    vector: 1, histogram: 1, rounded: 1, filled: 1, of_an_array: 1, of_a_generator: 1, of_noise: 1, scaled: 1,
    with_an_object: 1, counted: 1, moved_noise: 1, best_of_three: Fraction(1, 2), chosen: 1, of_ways: math.log(3),
}  # fmt: skip


@pytest.mark.parametrize("function", READ, ids=lambda function: function.__name__)
def test_functions_as_people_write_them_have_the_bound_of_theory(function):
    found = derived(function)
    assert found.open_ends == ()
    assert float(found.bound) == pytest.approx(float(READ[function]), rel=2e-9)
    assert check_certificate(found.certificate).bound == found.bound


def test_other_notions():
    def gaussian(x):
        return sum(x) + np.random.normal(0, 2)

    assert derived(gaussian, notion="mu").bound == Fraction(1, 2)
    assert derived(gaussian, notion="rho").bound == Fraction(1, 8)
    pure = derived(lambda x: sum(x) + np.random.laplace(0, 1), notion="rho")
    assert float(pure.bound) == pytest.approx(math.tanh(0.5))
    chosen = derived(lambda x: np.argmax([each + np.random.gumbel(0, 1) for each in x]), notion="rho")
    assert float(chosen.bound) == pytest.approx(1 / 8)  # the loss lies in an interval of length 1
    assert 1 < derived(gaussian, delta=Fraction(1, 10**5)).bound < 3
    assert derived(gaussian).open_ends == (
        "its releases show no finite bound of epsilon: its noise is of another kind",
    )


def gaussian_sum(x):
    return sum(x) + np.random.normal(0, 2)


def laplace_sum(x):
    return sum(x) + np.random.laplace(0, 1)


@pytest.mark.parametrize("order", [Fraction(11, 10), Fraction(2), Fraction(50)])
def test_an_order_is_bounded_by_the_price_of_its_noise(order):
    notion = f"order {order}"
    assert derived(gaussian_sum, notion=notion).bound == order / 8  # αΔ²/2σ² (Mironov 2017, Proposition 7)
    found, a = derived(laplace_sum, notion=notion).bound, float(order)
    exact = math.log(a / (2 * a - 1) * math.exp(a - 1) + (a - 1) / (2 * a - 1) * math.exp(-a)) / (a - 1)
    assert exact <= found <= min(1, a * math.tanh(0.5) * (1 + 1e-8)) + Fraction(1, 10**8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "kept"),
    [("order=2, epsilon=0.25", True), ("order=2, epsilon=0.2499", False), ("order=3, epsilon=0.25", False)],
)
def test_a_claim_at_an_order_is_proved_where_it_is_kept(claim, kept):
    found = prove(gaussian_sum, domain=(0, 1), length=3, claim=claim, runs=0, seed=1)
    assert (found.verdict.value == "proved") == kept
    assert found.proof.certificate["notion"] == f"order {claim[6]}"
    frame = prove(
        lambda df: df["age"].sum() + np.random.normal(0, 200), domain={"age": (0, 100)}, relation="add-remove",
        claim=claim, runs=0, seed=1,
    )  # fmt: skip
    assert (frame.verdict.value == "proved") == kept


def test_a_certificate_of_another_order_is_refused():
    found = prove(gaussian_sum, domain=(0, 1), length=3, claim="order=2, epsilon=0.25", runs=0, seed=1)
    certificate = found.proof.certificate
    for notion, said in (("order 3", "bound"), ("order 1", "above 1"), ("order 1/2", "above 1"), ("order x", "order")):
        with pytest.raises(CertificateError, match=said):
            check_certificate({**certificate, "notion": notion})
    assert check_certificate(certificate).statement.startswith("ε ≤ 1/4 at order 2, given")


# --- what is refused ------------------------------------------------------------------------------------------

STATE = {"calls": 0}
KEPT, COUNTER, ARRAY = [], itertools.count(), np.zeros(3)


def scale_of_the_data(x):
    return sum(x) + np.random.laplace(0, 1 + x[0])


def scale_by_a_branch(x):
    return sum(x) + np.random.laplace(0, 1 if x[0] > 0.5 else 2)


def other_post_processing(x):
    noisy = sum(x) + np.random.laplace(0, 1)
    return noisy * 2 if x[0] > 0.5 else noisy


def one_draw_twice(x):
    noise = np.random.laplace(0, 1)
    return sum(x) + noise, max(x) + noise


def without_noise(x):
    return sum(x) + np.random.laplace(0, 1), x[0]


def a_state(x):
    STATE["calls"] += 1
    return sum(x) + np.random.laplace(0, 1 if STATE["calls"] < 3 else 1e-9)


def a_state_by_operator(x):
    operator.setitem(STATE, "calls", 5)
    return sum(x) + np.random.laplace(0, 1)


def a_state_by_out(x):
    np.add(1, 2, ARRAY)
    return sum(x) + np.random.laplace(0, 1)


def kept(x):
    list.append(KEPT, 1)
    return sum(x) + np.random.laplace(0, 1)


def an_iterator(x):
    return sum(x) + np.random.laplace(0, 1 if next(COUNTER) < 3 else 1e-9)


def a_seed(x):
    return sum(x) + np.random.default_rng(0).laplace(0, 1)


def a_type(x):
    return sum(x) + np.random.laplace(0, 1e-9 if isinstance(x[0], float) else 1)


def a_handler(x):
    try:
        kind = {x[0]: 1e-9}[x[0]]
    except TypeError:
        kind = 1
    return sum(x) + np.random.laplace(0, kind)


def a_handler_of_overflow(x):
    try:
        math.exp(1000 * x[0])
        scale = 1
    except OverflowError:
        scale = 1e-9
    return sum(x) + np.random.laplace(0, scale)


def an_identity(x):
    return sum(x) + np.random.laplace(0, 1 if x[0] is x[0] else 1e-9)


def a_text(x):
    return len(f"{x[0]}") + np.random.laplace(0, 1)


def an_order_of_a_set(x):
    return sum(x) + np.random.laplace(0, 1 if next(iter({"a", "b"})) == "a" else 1e-9)


def noise_of_one_side(x):
    return sum(x) + np.random.exponential(1)


def seen_and_compared(x):
    noisy = np.array([x[0], x[1]]) + np.random.laplace(0, 1, size=2)
    return np.argmax(noisy), noisy[0]


def chances_of_less_than_one(x):
    return np.random.choice(2, p=np.array([x[0], 0.5]) / 2)


def a_logarithm(x):
    return math.log(x[0]) + np.random.laplace(0, 1)


def a_pole(x):
    return 1 / (x[0] - 0.3) + np.random.laplace(0, 1)


def a_place(x):
    return int(np.argmax(x)) + np.random.laplace(0, 1)


def a_raise(x):
    if x[0] > 0.9:
        raise ValueError
    return sum(x) + np.random.laplace(0, 1)


def beside(one, other):
    """Return the sum with noise, and one of two things beside it, which the data decide."""

    def decided(x):
        noisy = sum(x) + np.random.laplace(0, 1)
        shown = one(noisy) if x[0] > 0.5 else other(noisy)
        return noisy, shown

    return decided


OTHER_FORMS = [
    beside(lambda n: 1, lambda n: 1.0), beside(lambda n: True, lambda n: 1), beside(lambda n: 0.0, lambda n: -0.0),
    beside(lambda n: 1.0, lambda n: np.float64(1)), beside(lambda n: [n], lambda n: (n,)),
    beside(lambda n: np.array([n]), lambda n: [n]), beside(lambda n: np.array([[n]]), lambda n: np.array([n])),
    beside(lambda n: {"k": n}, lambda n: ["'k'", n]), beside(lambda n: f"{[n]}", lambda n: f"{np.array([n])}"),
]  # fmt: skip


@pytest.mark.parametrize("function", OTHER_FORMS)
def test_what_is_returned_has_one_form_whatever_the_data_decide(function):
    assert derived(function).bound is None


def test_a_text_that_a_method_makes_of_noise_releases_it():
    assert derived(lambda x: "{}".format(100 * x[0] + np.random.laplace(0, 1))).bound == 100  # noqa: UP032


REFUSED = {
    scale_of_the_data: "two scales of one noise", scale_by_a_branch: "with which noise",
    other_post_processing: "beside its numbers", one_draw_twice: "used twice", without_noise: "without noise",
    a_state: "outlasts", a_state_by_operator: "not known", a_state_by_out: "not known", kept: "not known",
    an_iterator: "outlasts", a_seed: "fixed seed", a_type: "isinstance", a_handler: "a key",
    a_handler_of_overflow: "defined", an_identity: "identity", a_text: "text", an_order_of_a_set: "a set",
    noise_of_one_side: "noise alone", seen_and_compared: "after it was compared",
    chances_of_less_than_one: "add up to 1", a_logarithm: "defined", a_pole: "defined", a_place: "argmax",
    a_raise: "ValueError",
}  # fmt: skip


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_has_no_bound_is_told_why(function):
    found = derived(function)
    assert found.bound is None and found.certificate is None
    assert REFUSED[function] in found.open_ends[0]


PARTS = {
    a_logarithm: (r"a logarithm of what may be 0 or less where number 0 is from 0 to \S+e-\d+;", r"at least \d"),
    a_pole: (r"a quotient by what may be 0 where number 0 is 0\.3;", r"at least \d"),
    lambda x: math.sqrt(x[0] - x[1]) + np.random.laplace(0, 1): (
        r"a root of what may be below 0 where number 0 is from 0 to 0\.25 and number 1 is from 0\.5 to 1;",
        r"at least 1, from \[0, 0, 0\] to \[1, 0, 0\]",
    ),
    lambda x: math.exp(1000 * x[1]) + np.random.laplace(0, 1): (
        r"too large a number where number 1 is from 0\.75 to 1;",
        r"at least \d",
    ),
}


@pytest.mark.parametrize("function", PARTS)
def test_where_it_is_not_defined_is_told_and_how_far_it_moves_elsewhere(function):
    found = derived(function)
    for part in PARTS[function]:
        assert re.search(part, found.open_ends[0]), found.open_ends
    assert f"from {listed(found.pair[0])} to {listed(found.pair[1])}" in found.open_ends[0]  # which is measured


# --- the whole way --------------------------------------------------------------------------------------------


def right(x):
    return sum(value * value for value in x) + np.random.laplace(0, 1)


def halved(x):
    return np.abs(np.diff(x)).sum() + np.random.laplace(0, 1)


def test_a_proof_says_for_how_many_numbers_it_holds():
    found = prove(right, domain=(0, 1), length=3, claim="epsilon=1", runs=0, seed=1)
    assert (found.verdict.value, found.upper.exact) == ("proved", "1")
    assert found.proof.scope == "lists of 3 numbers from 0 to 1, under replace; scales are taken to one part in 10⁹"


@pytest.mark.parametrize(
    ("function", "length", "at"),
    [
        (lambda x: sum(x) ** 2 + np.random.laplace(0, 7), 3, 5),
        (lambda x: np.median(x) + np.random.laplace(0, 0.5), 2, 3),
        (lambda x: np.argmax(np.array([sum(x) ** 2, 3.0]) + np.random.gumbel(0, 5, size=2)), 3, 4),
        (lambda x: sum(x) ** 2 + np.random.laplace(0, 13), 3, None),
        (right, 3, None),
    ],
)
def test_a_proof_says_at_how_many_numbers_it_would_be_above_the_claim(function, length, at):
    found = prove(function, domain=(0, 1), length=length, claim="epsilon=1", runs=0, seed=1)
    assert found.verdict.value == "proved" and found.proof.exceeds_at == at
    said = headline(found).sentence
    assert (f"(it exceeds the claim at n = {at})" in said) == (at is not None)


@pytest.mark.slow
def test_the_pair_of_the_bound_refutes_a_claim():
    found = prove(halved, domain=(0, 1), length=3, claim="epsilon=1", runs=10_000, seed=1)
    assert found.verdict.value == "violated" and found.upper.value == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"domain": (1, 0), "length": 3}, "starts at"),
        ({"domain": (0, math.inf), "length": 3}, "an end at inf"),
        ({"domain": (0, 1), "length": 100}, "1 to 64"),
        ({"domain": (0, 1), "length": 3, "relation": "add-remove"}, "under 'replace'"),
        ({"domain": (0, 1), "length": 3, "claim": "order=2,rdp=1"}, "rdp|order"),
    ],
)
def test_bad_requests_get_a_sentence(given, said):
    with pytest.raises(UsageError, match=said):
        proving(ProofRequest(right, runs=0, **given))


def test_both_ends():
    found = both_ends(numbers.ups_and_downs, domain=(0, 1), length=4, claimed=1)
    assert (found.least, found.most, found.exceeded, found.kept) == (pytest.approx(2), 2, True, False)
    assert both_ends(numbers.squares, domain=(-2, 1), length=2, claimed=4).kept
    with pytest.raises(UsageError, match="defined"):
        both_ends(lambda x: math.log(x[0]), domain=(0, 1), length=1)
    with pytest.raises(UsageError, match="range"):
        both_ends(numbers.squares, domain=None, length=2)


def test_what_moves_is_a_part_of_few_numbers_with_trees_for_the_whole():
    reading = read(lambda x: (sum(v**3 for v in x) - np.abs(x[1] - x[3])) / 7, 4, "array", {}, {})
    rng = np.random.default_rng(2)
    for replaced, many in ((0, 1), (1, 2), (3, 2)):
        part, kept, scale = moving_part(reading.result, replaced)
        assert kept[0] == replaced and len(kept) == many
        one, other = rng.uniform(0, 1, (2, 50, 4))
        other = np.where(np.arange(4) == replaced, other, one)
        moved = evaluated(reading.result, one) - evaluated(reading.result, other)
        alone = evaluated(part, one[:, kept]) - evaluated(part, other[:, kept])
        assert alone * float(scale) == pytest.approx(moved, abs=1e-12)
    assert moving_part(reading.graph.constant(3), 0)[1] == []
    assert renamed([["m", [[0, 1], [1, 0]]], ["s", 1, "1/2"], ".", "c"], [2, 4])[:2] == [
        ["m", [[2, 1], [4, 0]]],
        ["s", 4, "1/2"],
    ]
