"""Do runs that hang together get noticed, by limits that are exact where they do not?"""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom

from dpaudit.auditing import dependence
from dpaudit.auditing.dependence import (
    CLASSES,
    LAGS,
    across,
    classes_of,
    discordant_moments,
    discordant_tail,
    hanging_together,
    order_of_runs,
    sharing,
    together,
)


def in_order(values):
    """The order of runs whose outputs are small whole numbers, in several blocks."""
    blocks = np.array_split(np.asarray(values), max(1, len(values) // 1000))
    return together([order_of_runs(block % CLASSES, block) for block in blocks])


@pytest.mark.parametrize(("pairs", "ones"), [(1, 1), (2, 2), (3, 2), (4, 3), (4, 4), (5, 7)])
def test_the_law_of_discordant_pairs_is_that_of_all_arrangements(pairs, ones):
    counted = Counter()
    for chosen in itertools.combinations(range(2 * pairs), ones):
        counted[sum((2 * i in chosen) != (2 * i + 1 in chosen) for i in range(pairs))] += 1
    total = math.comb(2 * pairs, ones)
    for found in counted:
        few = sum(count for value, count in counted.items() if value <= found) / total
        many = sum(count for value, count in counted.items() if value >= found) / total
        assert math.exp(discordant_tail(pairs, ones, found, few=True)) == pytest.approx(few, rel=1e-9)
        assert math.exp(discordant_tail(pairs, ones, found, few=False)) == pytest.approx(many, rel=1e-9)
    if pairs >= 2:
        mean, deviation = discordant_moments(pairs, np.array([ones]))
        assert mean[0] == pytest.approx(sum(v * c for v, c in counted.items()) / total)
        square = sum(v * v * c for v, c in counted.items()) / total
        assert deviation[0] == pytest.approx(math.sqrt(square - mean[0] ** 2), abs=1e-9)


@pytest.mark.parametrize(("near", "far"), [((3, 7), (1, 9)), ((0, 20), (13, 2)), ((5, 5), (5, 5))])
def test_the_law_of_repeating_windows_is_hypergeometric(near, far):
    law = hypergeom(sum(near) + sum(far), near[0] + far[0], sum(near))
    more = near[0] * sum(far) > far[0] * sum(near)
    expected = law.sf(near[0] - 1) if more else law.cdf(near[0])
    found = dependence._log_hypergeometric_tail(np.array(near), np.array(far))
    assert math.exp(found) == pytest.approx(expected)


@pytest.mark.parametrize(("first", "second", "n"), [(1, 2, 4), (3, 3, 6), (2, 5, 7), (4, 4, 8)])
def test_pairs_across_are_called_no_more_often_over_all_matchings_than_stated(first, second, n, monkeypatch):
    monkeypatch.setattr(dependence, "_ERROR", error := 0.2 * 12 * CLASSES)  # .2 for each tail of each set
    monkeypatch.setattr(dependence, "OFFSETS", (0,))
    monkeypatch.setattr(dependence, "_WORTH_A_LOOK", 0.0)
    one = (np.arange(n) < first).astype(np.int64)
    called = [
        sharing(across(one, np.isin(np.arange(n), places).astype(np.int64)))
        for places in itertools.combinations(range(n), second)
    ]
    tail = error / (4 * CLASSES)
    law, counts = hypergeom(n, first, second), np.arange(n + 1)
    low, high = law.cdf(counts) <= tail, law.sf(counts - 1) <= tail
    assert np.mean(called) == pytest.approx(np.sum(law.pmf(counts)[low | high]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("turned", [False, True])
def test_twos_that_share_their_noise_are_found_and_others_left_in_peace(seed, turned):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(CLASSES, size=(2, 300))
    assert not sharing(across(one, other))
    assert sharing(across(one, (CLASSES - 1 - one if turned else one)))
    assert not sharing(across(one[:0], other)) and not sharing(across(one, 0 * other))


LAWS = {
    "a coin": lambda rng, n: rng.integers(2, size=n),
    "a rare event": lambda rng, n: rng.random(n) < 0.01,
    "sixty values": lambda rng, n: rng.integers(60, size=n),
    "values of falling chance": lambda rng, n: np.minimum(rng.geometric(0.2, n), 200),
    "a thousand texts": lambda rng, n: rng.integers(1000, size=n),
    "never the same": lambda rng, n: rng.permutation(n),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_independent_runs_are_called_dependent_no_more_often_than_stated(law, monkeypatch):
    monkeypatch.setattr(dependence, "_ERROR", 0.1)
    monkeypatch.setattr(dependence, "_WORTH_A_LOOK", 2.5)
    found = [
        hanging_together(in_order(LAWS[law](np.random.default_rng(seed), 1200).astype(np.int64))) is not None
        for seed in range(40)
    ]
    assert binomtest(sum(found), len(found), 0.1, alternative="greater").pvalue > 1e-3


def repeated(values, times):
    return np.repeat(values, times)


def cycled(values, length):
    return np.resize(values[:length], len(values))


DEPENDENT = {
    "a coin that is tossed every 8 runs": lambda rng: repeated(rng.integers(2, size=500), 8),
    "a rare event in groups of 8": lambda rng: repeated(rng.random(2500) < 0.02, 8),
    "texts that come 8 times each": lambda rng: repeated(rng.integers(10**4, size=500), 8),
    "a store of 100 noises": lambda rng: cycled(rng.permutation(20_000), 100),
    "a store of 1000 noises": lambda rng: cycled(rng.permutation(20_000), 1000),
    "a store of 8000 noises": lambda rng: cycled(rng.permutation(20_000), 8000),
    "a store of 15000 noises": lambda rng: cycled(rng.permutation(20_000), 15_000),
    "texts that are renewed every 2000 runs": lambda rng: np.concatenate(
        [rng.integers(2000, size=2000) + 2000 * part for part in range(10)]
    ),
    "every second noise is the one before turned round": lambda rng: np.stack(
        [coins := rng.integers(2, size=2000), 1 - coins], axis=1
    ).ravel(),
    "a sticky chain": lambda rng: np.cumsum(rng.random(4000) < 0.3) % 2,
    "runs that take turns": lambda rng: np.tile([0, 1], 2000),
    "every 64th run is the same": lambda rng: np.where(np.arange(20_000) % 128 < 64, 1, rng.integers(2, size=20_000)),
}


@pytest.mark.parametrize("kind", DEPENDENT)
@pytest.mark.parametrize("seed", range(3))
def test_runs_that_hang_together_are_found(kind, seed):
    assert hanging_together(in_order(DEPENDENT[kind](np.random.default_rng(seed)).astype(np.int64)))


def test_the_sentence_says_at_which_distance():
    rng = np.random.default_rng(0)
    far = np.concatenate([np.tile(rng.integers(2, size=5), 1), rng.integers(2, size=4000)])
    for i in range(5, len(far)):
        if rng.random() < 0.8:
            far[i] = far[i - 5]
    assert "at a distance of 5 calls" in hanging_together(in_order(far))
    assert 5 in LAGS


def test_classes_are_neighbouring_cells_of_about_the_same_size():
    counts = np.random.default_rng(0).integers(1, 100, size=500)
    classes = classes_of(counts)
    assert np.all(np.diff(classes) >= 0) and classes.max() == CLASSES - 1
    assert max(np.bincount(classes, weights=counts)) < 2 * counts.sum() / CLASSES
    assert classes_of(np.zeros(3, dtype=np.int64)).tolist() == [0, 0, 0]


def at_random(seed, runs):
    """Of which side each run is."""
    rng = np.random.default_rng([seed, 1])
    first = rng.integers(2, size=runs // 2)
    return np.stack([first, 1 - first], axis=1).ravel()


FEW = {
    "a coin": lambda rng, n: rng.integers(2, size=n),
    "flips": lambda rng, n: rng.random(n) < 0.27,
    "six values": lambda rng, n: rng.geometric(0.4, n).clip(max=6),
}


@pytest.mark.parametrize("law", FEW)
@pytest.mark.parametrize("length", [700, 2_000, 3_011])
def test_an_echo_of_a_store_of_few_values_is_found(law, length):
    rng = np.random.default_rng(length)
    flips = np.resize(FEW[law](rng, length).astype(np.int64), 6_000)
    sides = at_random(length, 6_000)
    assert dependence.echo(np.where(sides == 0, flips, flips.max() - flips), sides) is not None
    assert dependence.echo(rng.permutation(flips), sides) is None


def test_the_distance_is_that_of_the_store_and_nothing_has_no_echo():
    flips = np.resize(np.random.default_rng(0).integers(2, size=4_000), 6_000)
    assert dependence.echo(flips, at_random(0, 6_000)) == 4_000
    assert dependence.echo(flips[:0], flips[:0]) is None
    assert dependence.echo(np.ones(100, dtype=np.int64), at_random(0, 100)) is None


@pytest.mark.slow
@pytest.mark.parametrize("law", [*FEW, "a rare event"])
def test_independent_runs_have_an_echo_no_more_often_than_stated(law, monkeypatch):
    monkeypatch.setattr(dependence, "_ERROR", 0.1)
    monkeypatch.setattr(dependence, "_WORTH_A_LOOK", 2.5)
    monkeypatch.setattr(dependence, "_TRIED", 400)
    runs = 400
    found = [
        dependence.echo({**FEW, **LAWS}[law](np.random.default_rng(seed), runs).astype(np.int64), at_random(seed, runs))
        for seed in range(40)
    ]
    assert binomtest(sum(each is not None for each in found), len(found), 0.1, alternative="greater").pvalue > 1e-3


def test_the_distances_that_are_tried_are_those_of_a_count(monkeypatch):
    monkeypatch.setattr(dependence, "_WORTH_A_LOOK", 0.0)
    rng = np.random.default_rng(2)
    ones, sides = rng.random(60) < 0.3, at_random(2, 60)
    centred = np.where(sides == 0, ones - ones[sides == 0].mean(), ones - ones[sides == 1].mean())
    weighed = {
        lag: abs(sum(centred[i] * centred[i + lag] for i in range(60 - lag) if sides[i] == sides[i + lag]))
        / np.sqrt(60 - lag)
        for lag in range(1, 60)
    }
    assert list(dependence._promising(ones, sides)) == sorted(weighed, key=weighed.get, reverse=True)[:8]
