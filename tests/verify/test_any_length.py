"""Is what is proved for lists of any length true of every length, and is nothing read that hangs on one?"""

# ruff: noqa: NPY002, C416, RUF007, RUF015

import copy
import itertools
import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from support import numbers

from dpaudit.checker import CertificateError, check_certificate
from dpaudit.checker.intervals import ONE
from dpaudit.checker.moves import WrittenOut, settled
from dpaudit.loading import load
from dpaudit.request import ProofRequest
from dpaudit.verify.answer import prove, proving
from dpaudit.verify.moves.derive import NumberData, derive

ANY = NumberData(None, Fraction(0), Fraction(1))
EXACT = (  # each at its largest movement of any length
    numbers.total, numbers.product, numbers.largest, numbers.length_of_vector, numbers.ups_and_downs,
    numbers.squares_below_one, numbers.squares, numbers.cubes, numbers.roots, numbers.logarithms,
    numbers.exponentials, numbers.sines, numbers.cosines, numbers.angles, numbers.uncertainty,
    numbers.squared_uncertainty, numbers.middle, numbers.quartile_range, numbers.above_half,
    numbers.products_of_neighbours, numbers.more_than_half, numbers.above_seventy, numbers.all_above_half,
    numbers.logarithm_of_squares, numbers.bell, numbers.inverse_squares, numbers.logistic,
    numbers.distance_from_half, numbers.squared_steps, numbers.backwards, numbers.harmonic, numbers.entropy_like,
    numbers.from_uniform,
)  # fmt: skip


def derived(function, *, within=ANY):
    return derive(load(function), {}, within, notion="epsilon", delta=Fraction(0), seed=1)


def released(statistic):
    def release(x):
        return statistic(x) + np.random.laplace(0, 1)

    return release


def farthest(statistic, length, low=0.0, high=1.0, tries=200):
    """How far one number moves a statistic, by trying."""
    rng, far = np.random.default_rng(length), 0.0
    for _ in range(tries):
        one = rng.choice([low, high, (low + high) / 2, rng.uniform(low, high)], size=length)
        other = one.copy()
        other[rng.integers(length)] = rng.choice([low, high, rng.uniform(low, high)])
        far = max(far, abs(float(statistic(one.tolist())) - float(statistic(other.tolist()))))
    return far


@pytest.mark.parametrize("statistic", EXACT)
def test_what_reductions_know_is_bounded_exactly_for_any_length(statistic):
    found = derived(released(statistic))
    assert found.open_ends == ()
    sharp = max(numbers.FUNCTIONS[statistic](length) for length in range(1, 9))
    assert float(found.bound) == pytest.approx(sharp, rel=1e-8)
    assert check_certificate(found.certificate).scope["length"] == "any"


@pytest.mark.slow
def test_no_statistic_is_bounded_below_what_it_moves_at_any_length():
    read = 0
    for statistic, moves in numbers.FUNCTIONS.items():
        found = derived(released(statistic))
        if found.bound is not None:
            read += 1
            assert all(found.bound >= moves(length) * (1 - 1e-8) for length in range(2, 40)), statistic.__name__
    assert read >= 36


def spread(x):
    return max(x) - min(x)


def skewed(x):
    return np.sqrt(sum(x) + 1) * statistics.median(x)


def mixed(x):
    y = np.asarray(x)
    return np.quantile(y, 0.9) - np.mean(np.minimum(y, 0.3)) + np.log1p(np.sum(y * y))


def steps(x):
    return sum(a - b for a, b in zip(x, x[1:], strict=False)) + 0.5 * np.sum(np.diff(x))


def weighed(x):
    return sum(v / (place + 2) for place, v in enumerate(x)) / len(x)


def all_and_any(x):
    return all(v > 0.2 for v in x) - 2 * np.any(np.asarray(x) > 0.9)


def folded(x):
    return np.prod(np.asarray(x) - 0.5) + math.prod(v * v for v in x)


def guarded(x):
    if len(x) == 0:
        return 0.0
    return np.mean([v**2 for v in x])


def tail(x):
    return sum(x[1:]) - sum(x[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("function", [spread, skewed, mixed, steps, weighed, all_and_any, folded, guarded, tail])
def test_the_bound_holds_at_every_length_that_is_tried(function):
    found = derived(released(function))
    assert found.open_ends == ()
    far = max(farthest(function, length) for length in (1, 2, 3, 4, 7, 20))
    assert far <= float(found.bound) * (1 + 1e-8)
    assert check_certificate(found.certificate).bound == found.bound


def scaled(x):
    return sum(x) / len(x) + np.random.laplace(0, 2 / len(x))


def two_ways(x):
    if sum(x) > 3:
        return np.random.laplace(0, 2) + 1.0
    return 0.5 + np.random.laplace(0, 2)


def noisy(x):
    return np.argmax([sum(x) + np.random.gumbel(0, 2), len(x) + np.random.gumbel(0, 2)])


@pytest.mark.parametrize(("function", "bound"), [(scaled, 1 / 2), (two_ways, 1 / 4), (noisy, 1 / 2)])
def test_releases_of_any_length(function, bound):
    found = derived(function)
    assert found.open_ends == ()
    assert float(found.bound) == pytest.approx(bound, rel=1e-8)


# --- what hangs on the length, or on one number ---------------------------------------------------------------

SEEN = []


def helper_loops(x):
    def count():
        found = 0
        for _ in x:
            found += 1
        return found

    return sum([count() for _ in (1,)])


def counts_by_hand(x):
    calls = []
    total = sum((calls.append(1) or v) for v in x)
    return total + len(calls)


def by_walrus(x):
    last = 0
    total = sum((last := v) for v in x)
    return total + last


def by_nonlocal(x):
    calls = 0

    def taken(v):
        nonlocal calls
        calls += 1
        return v

    return sum(taken(v) for v in x) + calls


def outlasts(x):
    return sum((SEEN.append(v) or v) for v in x)


def in_part(x):
    values = (v for v in x)
    return next(values) + sum(values)


def looped(x):
    total = 0.0
    for v in x:
        total += v
    return total


def by_length(x):
    return sum(x) * (3 if len(x) > 9 else 1)


def matched(x):
    match x:
        case [_, *_]:
            return 9.0
        case _:
            return 0.0


def deleted(x):
    try:
        del x[0]
    except TypeError:
        return 0.0
    return sum(x) * 7


def by_scale(x):
    return np.random.laplace(0, len(x) - 2) + sum(x)


def by_negative_scale(x):
    return np.random.laplace(0, -1 / len(x)) + sum(x)


HOSTILE = {
    "helper": helper_loops, "append": counts_by_hand, "walrus": by_walrus, "nonlocal": by_nonlocal, "global": outlasts,
    "part": in_part, "match": matched, "deleted": deleted, "scale": by_scale, "negative scale": by_negative_scale,
    "loop": looped, "length": by_length,
    "filter": lambda x: sum(v for v in x if v > 0.5), "first": lambda x: x[0], "listed": lambda x: [v for v in x][0],
    "turned": lambda x: sum(a * b for a, b in zip(x, reversed(x), strict=False)),
    "kind": lambda x: 9 * isinstance(x, list) + sum(x),
    "type": lambda x: 9 * (type(x) is list) + sum(x), "truth": lambda x: 5 if x else 0,
    "range": lambda x: sum(x[i] for i in range(len(x))), "centred": lambda x: sum(abs(v - np.mean(x)) for v in x),
    "inner": lambda x: sum(a * b for a in x for b in x), "branch": lambda x: sum(1 if v > 0.5 else 0 for v in x),
    "member": lambda x: 0.5 in x, "text": lambda x: len(f"{x}"), "turned steps": lambda x: np.sum(np.diff(x[::-1])),
    "second": lambda x: sum(np.diff(np.diff(x))), "set": lambda x: len({v for v in x}), "star": lambda x: max(*x),
    "map of two": lambda x: sum(map(lambda a, b: a * b, x, x[1:])), "unpacked": lambda x: (lambda a, *b: a)(*x),
    "sorted": lambda x: sorted(x)[0], "noise": lambda x: sum(v + np.random.laplace(0, 1) for v in x),
    "places": lambda x: sum(i == 10 for i, _ in enumerate(x) if i == 10),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_hangs_on_the_length_or_on_one_number_is_refused_with_what_to_do(name):
    found = derived(released(HOSTILE[name]))
    assert found.bound is None and found.certificate is None
    assert SEEN == []
    assert found.open_ends and found.pair


def test_products_of_numbers_above_one_have_no_bound():
    found = derived(released(math.prod), within=NumberData(None, Fraction(0), Fraction(2)))
    assert found.bound is None and "larger than 1" in found.open_ends[0]


# --- the certificate -------------------------------------------------------------------------------------------


def test_a_certificate_that_says_less_is_refused():
    whole = derived(released(lambda x: np.sqrt(np.sum(np.square(x))))).certificate
    for change in (
        lambda c: c["moves"][0].update(most=["999/1000"]),
        lambda c: c["scope"].update(length=3),
        lambda c: c["moves"][0].update(node=0),
        lambda c: c["releases"][0].update(values=[0]),
        lambda c: c["scope"].update(low="-2"),
    ):
        changed = copy.deepcopy(whole)
        change(changed)
        with pytest.raises(CertificateError):
            check_certificate(changed)


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([["var", 0], ["total", 0], ["sub", 0, 1], ["total", 2]], "single number together"),
        ([["var", 0], ["total", 0], ["total", 1]], "what all numbers come to"),
        ([["var", 1], ["total", 0]], "single numbers of what follows"),
        ([["place"], ["steps", 0]], "place within"),
        ([["var", 2], ["total", 0]], "from 0 to 1"),
        ([["var", 0], ["quantile", 0, "2"]], "from 0 to 1"),
        ([["var", 0], ["total", 1]], "from 0 to 0"),
        ([["const", [1]]], "rational|number|fraction"),
        ([["total"]], "of 0"),
    ],
)
def test_reductions_of_no_meaning_are_refused(nodes, why):
    with pytest.raises(CertificateError, match=why):
        WrittenOut(nodes, (0, ONE))


def test_the_others_come_to_no_more_than_is_said():
    """By hand: what a sum, a largest number, a product and steps are beside one number."""
    nodes = [["var", 0], ["total", 0], ["largest", 0], ["product", 0], ["var", 1], ["sub", 4, 0], ["steps", 5]]
    written = WrittenOut(nodes, (0, ONE))
    assert written.box[0] == (0, ONE)
    assert written.box[1] == (0, (2**30 - 1) * ONE)  # the sum
    assert written.box[2:4] == [(0, ONE), (0, ONE)]  # the largest, the product
    assert written.box[6] == (-(2**30 - 1) * ONE, (2**30 - 1) * ONE)  # all other steps, from −1 to 1 each


def test_conditions_on_the_length_are_settled_only_where_they_hold_for_all():
    count = [["count"], ["const", "0"], ["sub", 0, 1], ["step", 2], ["const", "5"], ["sub", 0, 4], ["step", 5]]
    assert settled(count, 3) is True
    assert settled(count, 6) is None


# --- the whole way ----------------------------------------------------------------------------------------------


def test_it_is_proved_for_any_n():
    found = prove(scaled, domain=(0, 1), claim="epsilon=0.5", runs=0, seed=1)
    assert found.verdict.value == "proved"
    assert "any number of numbers" in found.proof.scope and found.proof.length is None


@pytest.mark.slow
def test_half_the_noise_is_refuted_at_a_length_of_three():
    def half(x):
        return sum(abs(a - b) for a, b in itertools.pairwise(x)) + np.random.laplace(0, 1)

    found = prove(half, domain=(0, 1), claim="epsilon=1", runs=8_000, seed=1)
    assert (found.verdict.value, found.upper.exact) == ("violated", "2")


def test_what_is_not_read_says_to_give_a_length():
    found = proving(ProofRequest(released(looped), domain=(0, 1), claim="epsilon=1", runs=0, seed=1))
    assert "give a length" in found.why_not
