"""Programs that release: what is recorded of them, and how they are priced, in arrays, coins, samples and frames."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from dpaudit.privacy.claims import as_claim
from dpaudit.sampling.outputs import OutputSnapshot
from dpaudit.targets.mechanism import mechanism
from dpaudit.tracing.findings import Word
from dpaudit.tracing.pair import trace_pair
from dpaudit.tracing.released import released, run_released
from dpaudit.tracing.runs import Target

FRAME = pd.DataFrame({"x": [0.1, 0.5, 0.9, 0.2, 0.7], "k": list("ababb")}, index=[7, 3, 5, 1, 9])
FRAMES = FRAME, FRAME.drop(index=5)
COUNTS = [5, 4, 1], [4, 5, 1]


def word_of(target, pair, claim):
    return trace_pair(Target(mechanism(target), {}, OutputSnapshot), pair, as_claim(claim), seed=0, paths=4).worst.word


def sums(people):
    return people.groupby("k")["x"].sum().reindex(["a", "b"], fill_value=0.0)


def added(people, rng):
    return sums(people) + rng.laplace(0, 1, 2)


def added_in_place(people, rng):
    found = sums(people)
    found += rng.laplace(0, 1, 2)
    return found


def one_draw(people, rng):
    return sums(people) + rng.laplace(0, 1)


def wants_floats(people, rng):
    return np.sqrt(abs(added(people, rng)))


def descent(people, noise):
    weight = np.zeros(1)
    for _ in range(3):
        slope = np.clip(people["x"].to_numpy()[:, None] - weight, -1, 1).sum(axis=0)
        weight = weight + (slope + noise.gaussian(4.0, size=1)) / 10
    return weight


def largest(counts, noise):
    return int(np.argmax(np.array(counts) + noise.gaussian(4.0, 3)))


def flipped(bits, noise):
    return (np.array(bits) ^ noise.bernoulli(0.25, size=len(bits))).tolist()


def flipped_and_told(bits, noise):
    coins = noise.bernoulli(0.25, size=len(bits))
    return (np.array(bits) ^ coins).tolist(), np.array(coins).tolist()


def sampled(people, noise):
    return len(noise.poisson(people, 0.5)) + noise.laplace(1)


BITS = [True] * 7, [True] * 6 + [False]


@pytest.mark.parametrize(
    ("target", "pair", "least", "above"),
    [
        (added, FRAMES, "epsilon=0.9001", Word.VIOLATED),
        (added_in_place, FRAMES, "epsilon=0.9001", Word.VIOLATED),
        (one_draw, FRAMES, "epsilon=0.9001", Word.LEAKS),
        (wants_floats, FRAMES, "epsilon=0.9001", Word.NOT_SUPPORTED),
        (descent, FRAMES, "mu=0.44", Word.NOT_PRICED),
        (largest, COUNTS, f"mu={math.sqrt(2) / 4}", Word.NOT_SUPPORTED),
        (flipped, BITS, f"epsilon={math.log(3) + 1e-9}", Word.NOT_PRICED),
    ],
)
def test_programs_that_release_are_priced_as_they_should_be(target, pair, least, above):
    supported = word_of(target, pair, least)
    assert supported is (Word.SUPPORTED if target is not one_draw else Word.LEAKS)
    notion, value = least.split("=")
    assert word_of(target, pair, f"{notion}={float(value) * 0.8}") is above


def test_coins_that_are_told_hide_nothing():
    assert word_of(flipped_and_told, BITS, "epsilon=50") in (Word.NOT_PRICED, Word.NOT_SUPPORTED, Word.LEAKS)


def test_a_sample_is_the_same_on_both_sides_and_its_price_no_more_than_an_upper_bound():
    assert word_of(sampled, FRAMES, "epsilon=1.1") is Word.SUPPORTED
    assert word_of(sampled, FRAMES, "epsilon=0.3") is Word.NOT_PRICED  # sampling may hide as much


def releases(people, noise):
    total = people["x"].sum() + 2 * noise.laplace(3)
    counts = people["k"].value_counts() + noise.gaussian(2, size=people["k"].nunique())
    best = np.argmax(np.array([len(people), 0.0]) + noise.gumbel(5, 2))
    chosen = noise.select("ab", [len(people), 1], 0.5)
    bits = (people["x"] > 0.3) ^ noise.bernoulli(0.25, size=len(people))
    return total, counts.sort_index(), best, chosen, list(bits), noise.post(lambda value: value > total, total)


def test_what_a_run_releases_is_read_off_and_released_again():
    output, first = run_released(lambda noise: releases(FRAME, noise), [0, 1], 1.0)
    moved, third = run_released(lambda noise: releases(FRAME.assign(x=FRAME["x"] / 2), noise), [0, 1], 1.0, first)
    assert (output[0], *output[2:]) == (moved[0], *moved[2:])
    assert output[1].equals(moved[1])
    own, other = list(released(first)), list(released(third))
    kinds = [
        ("laplace", 6.0),
        ("gaussian", 2.0),
        ("select", 5.0),
        ("select", 2.0),
        ("randomised_response", 1 / math.log(3)),
    ]
    assert [each.law for each in own] == [law for law, _ in kinds]
    assert [each.scale for each in own] == pytest.approx([scale for _, scale in kinds])
    assert all(one.is_like(two) for one, two in zip(own, other, strict=True))
    assert own[0].values - other[0].values == pytest.approx(FRAME["x"].sum() / 2)
    assert list(own[2].values) == [5, 0]


def test_a_run_that_leaves_the_first_one_says_where():
    _, first = run_released(lambda noise: releases(FRAME, noise), [0, 1], 1.0)
    smaller, second = run_released(lambda noise: releases(FRAME[FRAME["k"] == "a"], noise), [0, 1], 1.0, first)
    assert smaller is None
    assert second.diverged is not None
    assert "test_released.py" in second.diverged
