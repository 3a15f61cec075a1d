"""Are outputs that were handed in more than once refused, in any order, and honest outputs never?

Protects: copies, a bootstrap, jittered copies and shared rows are no further runs.
"""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing.independence import copied
from dpaudit.review.check import check
from dpaudit.sampling.outputs import from_array, from_list

SIZES = (100, 1_000, 10_000)
COPIES = {
    "twice": lambda rng, x: np.tile(x, 2),
    "ten times": lambda rng, x: np.tile(x, 10),
    "half of them twice": lambda rng, x: np.concatenate([x, x[: len(x) // 2]]),
    "a bootstrap": lambda rng, x: rng.choice(x, len(x)),
    "a larger bootstrap": lambda rng, x: rng.choice(x, 3 * len(x)),
    "jittered": lambda rng, x: np.tile(x, 5) + rng.normal(0, 1e-8, 5 * len(x)),
    "scaled a little": lambda rng, x: np.concatenate([x, x * (1 + 1e-10)]),
    "sorted": lambda rng, x: np.sort(np.tile(x, 3)),
    "printed": lambda rng, x: np.round(np.tile(x, 2), 9),
    "a bootstrap in single precision": lambda rng, x: rng.choice(x.astype(np.float32), 2 * len(x)),
    "vectors": lambda rng, x: np.column_stack([x, x**2, np.sin(x)])[rng.integers(0, len(x), 2 * len(x))],
}


def laplace(seed, size):
    rng = np.random.default_rng([67, seed, size])
    return rng, rng.laplace(0, 1, size), rng.laplace(1, 1, size)


def said(outputs0, outputs1):
    return copied(tuple(map(from_array, (outputs0, outputs1))))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("how", COPIES)
def test_copies_are_noticed_in_any_order(how, size):
    rng, *sides = laplace(0, size)
    made = [rng.permutation(COPIES[how](rng, side)) for side in sides]
    assert said(*made)
    assert said(made[0], laplace(1, size)[2]) or how == "vectors"  # one side is enough


@pytest.mark.parametrize("size", SIZES[1:])
def test_rows_that_stand_on_both_sides_are_noticed(size):
    rng, side0, side1 = laplace(2, size)
    assert "on the other too" in said(side0, rng.permutation(np.concatenate([side0[: size // 2], side1[: size // 2]])))
    assert "on the other too" in said(side0, rng.permutation(side0))


def drawn_again(rng, x, times=2):
    return rng.choice(x, times * len(x))


def beside(rng, x):
    """A random number of the run beside what it returned."""
    return np.column_stack([rng.random(len(x)), x])


SHARED = {  # noise that both sides, or both halves of a side, were made of
    "the same noise on both sides": lambda rng, x: (x, x + 1),
    "the same noise, twice as large": lambda rng, x: (x, 2 * x + 1),
    "the same noise, mirrored": lambda rng, x: (x, 1 - x),
    "the same noise, printed": lambda rng, x: (np.round(x, 9), np.round(x + 1, 9)),
    "the same noise in vectors": lambda rng, x: (beside(rng, x), beside(rng, x + 1)),
    "the same exponential noise": lambda rng, x: (np.exp(x), np.exp(x) * 3),
    "antithetic noise": lambda rng, x: (np.r_[x, -x], np.r_[x**3 + 7, 7 - x**3]),
    "antithetic noise on one side": lambda rng, x: (np.r_[x, 4 - x], rng.laplace(1, 1, len(x))),
    "antithetic noise beside run numbers": lambda rng, x: (beside(rng, np.r_[x, -x]), beside(rng, np.r_[x, 2 - x])),
}
AGAIN = {  # lists of outputs, made of numbers that stand there several times
    "texts": lambda rng, x: [f"{each:.12g}" for each in drawn_again(rng, x)],
    "texts of nine decimals": lambda rng, x: [f"{each:.9f}" for each in drawn_again(rng, x)],
    "JSON": lambda rng, x: [f'{{"count": {each:.12g}}}' for each in drawn_again(rng, x)],
    "sentences": lambda rng, x: [f"about {each!r} of them" for each in map(float, drawn_again(rng, x))],
    "texts in dicts": lambda rng, x: [{"sum": f"{each:.12g}", "unit": "EUR"} for each in drawn_again(rng, x)],
    "dicts with run numbers": lambda rng, x: [
        {"run": number, "sum": each} for number, each in enumerate(map(float, drawn_again(rng, x)))
    ],
    "random ids": lambda rng, x: [(float(each), float(other)) for each, other in beside(rng, drawn_again(rng, x))],
    "times": lambda rng, x: [
        [1e9 + number + float(rng.random()), float(each)] for number, each in enumerate(rng.permutation(np.tile(x, 3)))
    ],
    "nested lists": lambda rng, x: [[["sum", each], [1]] for each in map(float, drawn_again(rng, x))],
    "half of them None": lambda rng, x: [
        None if rng.random() < 0.5 else float(each) for each in drawn_again(rng, x, 4)
    ],
    "truth values": lambda rng, x: [(bool(rng.random() < 0.5), float(each)) for each in drawn_again(rng, x)],
    "several kinds": lambda rng, x: [
        float(each) if rng.random() < 0.8 else f"no count, {each:.12g}" for each in drawn_again(rng, x)
    ],
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("how", SHARED)
def test_noise_that_is_shared_or_mirrored_is_noticed_in_any_order(how, size):
    rng, noise, _ = laplace(4, size)
    assert said(*map(rng.permutation, SHARED[how](rng, noise)))


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("size", [300, 3_000])
@pytest.mark.parametrize("how", AGAIN)
def test_what_stands_beside_numbers_that_were_drawn_again_hides_nothing(how, size):
    rng, *sides = laplace(5, size)
    made = [AGAIN[how](rng, side) for side in sides]
    assert copied(tuple(from_list([each[place] for place in rng.permutation(len(each))]) for each in made))


CANDIDATES = np.random.default_rng(9).normal(size=5_000)
HONEST = {
    "laplace": lambda rng, n, shift: rng.laplace(shift, 1, n),
    "heavy tails": lambda rng, n, shift: rng.standard_cauchy(n) + shift,
    "many sizes": lambda rng, n, shift: np.exp(5 * rng.laplace(shift, 1, n)),
    "counts": lambda rng, n, shift: rng.poisson(5 + shift, n),
    "large counts": lambda rng, n, shift: rng.poisson(50_000 + shift, n),
    "one decimal": lambda rng, n, shift: np.round(rng.laplace(shift, 1, n), 1),
    "three decimals": lambda rng, n, shift: np.round(rng.laplace(shift, 1, n), 3),
    "five decimals": lambda rng, n, shift: np.round(rng.laplace(shift, 1, n), 5),
    "tenths by sums": lambda rng, n, shift: rng.poisson(50 + shift, n) * 0.1 + 0.2,
    "sevenths": lambda rng, n, shift: rng.poisson(300 + shift, n) / 7,
    "logarithms of counts": lambda rng, n, shift: np.log(rng.poisson(300 + shift, n)),
    "noisy means of counts": lambda rng, n, shift: rng.poisson(300 + shift, n) / rng.poisson(30, n),
    "one of many candidates": lambda rng, n, shift: rng.choice(CANDIDATES, n),
    "one of few candidates": lambda rng, n, shift: rng.choice(CANDIDATES[:200], n),
    "clipped": lambda rng, n, shift: np.clip(rng.laplace(shift, 1, n), 0.123456789012, 1.23456789012),
    "zero or noise": lambda rng, n, shift: np.where(rng.random(n) < 0.5, 0.0, rng.laplace(shift, 1, n)),
    "a constant": lambda rng, n, shift: np.full(n, 5.123456789012 + shift),
    "even or odd": lambda rng, n, shift: 2 * rng.integers(0, 400, n) + shift,
    "single precision": lambda rng, n, shift: rng.laplace(shift, 1, n).astype(np.float32),
    "half precision": lambda rng, n, shift: rng.laplace(shift, 1, n).astype(np.float16),
    "counts with dither": lambda rng, n, shift: rng.poisson(5 + shift, n) + rng.normal(0, 1e-7, n),
    "vectors": lambda rng, n, shift: rng.laplace(shift, 1, (n, 3)),
    "flags": lambda rng, n, shift: rng.random(n) < 0.3,
}


TABLE = 3 * np.tan(np.linspace(-1.5, 1.5, 64))
HONEST |= {
    "ids beside noise": lambda rng, n, shift: beside(rng, rng.laplace(shift, 1, n)),
    "one of a symmetric table": lambda rng, n, shift: rng.choice(TABLE, n),
    "one of a symmetric table of thousands": lambda rng, n, shift: (
        3 * np.tan(np.linspace(-1.5, 1.5, 4_000)[rng.integers(0, 4_000, n)])
    ),
    "symmetric counts": lambda rng, n, shift: rng.binomial(40, 0.5, n) - 20.0 + shift,
    "noise with its sign beside it": lambda rng, n, shift: (
        lambda x: np.column_stack([np.sign(x), np.abs(x), rng.integers(0, 9, n)])
    )(rng.laplace(shift, 1, n)),
}


@pytest.mark.parametrize("size", [60, *SIZES])
@pytest.mark.parametrize("law", HONEST)
def test_what_repeats_by_itself_is_no_copy(law, size):
    for seed in range(3):
        rng = np.random.default_rng([68, seed, size])
        assert said(HONEST[law](rng, size, 0), HONEST[law](rng, size, 1)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_neither_are_texts_of_honest_numbers(size):
    _, *sides = laplace(6, size)
    for write in ("{:.12g}", "{:.2f}", "{:.5f} of {:.5f}", "a word", "{:d} people"):
        made = [[write.format(*[int(x) if "d}" in write else x] * 2) for x in map(float, side)] for side in sides]
        assert copied(tuple(map(from_list, made))) == "", write


@pytest.mark.parametrize("size", SIZES)
def test_neither_are_categories_nor_sides_of_unequal_sizes(size):
    rng = np.random.default_rng([69, size])
    words = [[f"city {number}" for number in rng.zipf(1.5, size) % 1_000] for _ in range(2)]
    assert copied(tuple(map(from_list, words))) == ""
    for law in ("laplace", "one of many candidates", "three decimals", "noisy means of counts"):
        assert said(HONEST[law](rng, size, 0), HONEST[law](rng, max(size // 4, 30), 1)) == ""


@pytest.mark.parametrize("kind", ["outputs", "independent", "one-run"])
def test_the_audit_is_invalid_and_asks_what_they_are(kind):
    rng, side0, side1 = laplace(3, 300)
    made = [rng.permutation(np.tile(side, 3)) for side in (side0, side1)]
    if kind == "outputs":
        evidence = dp.tools.audit_outputs(*made, claim="epsilon=1", seed=0)
    else:
        evidence = dp.tools.audit_scores(*made, claim="epsilon=1, delta=1e-6", design=kind, seed=0)
    assert evidence.verdict is dp.Verdict.INVALID and evidence.verdict.exit_code == 4
    assert "the same outputs in another order" in evidence.reason and evidence.lower.value == 0
    assert not [finding for finding in check(evidence) if finding.fails]


def test_without_the_copies_the_same_runs_are_in_order():
    _, side0, side1 = laplace(3, 300)
    assert dp.tools.audit_outputs(side0, side1, claim="epsilon=1", seed=0).verdict is not dp.Verdict.INVALID
