"""Are counts under keys of the data proved where a threshold cuts them, and never where anything tells what it cut?"""
# ruff: noqa: NPY002 – people draw from np.random

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.reading.universe.second import alike

DOMAIN = {"city": list("abcd"), "kind": ["x", "y"], "age": (0, 60)}


def of_numpy(df):
    counts = df["city"].value_counts()
    noisy = counts + np.random.laplace(scale=1.0, size=len(counts))
    return noisy[noisy > 20].sort_index()


def of_a_generator(df):
    counts = df.groupby("city").size()
    noisy = counts + np.random.default_rng().laplace(0, 1.0, len(counts))
    return noisy[noisy >= 20].sort_index().to_dict()


def of_scipy(df):
    counts = pd.cut(df["age"], bins=[0, 20, 40, 60]).value_counts()
    noisy = counts + stats.laplace.rvs(scale=1.0, size=len(counts))
    kept = noisy[noisy > 20].sort_index()
    return len(kept), kept.sum()


def of_two_keys(df):
    counts = df.groupby(["city", "kind"]).size()
    noisy = counts + np.random.laplace(scale=1.0, size=len(counts))
    return noisy[noisy > 20].sort_index().to_dict()


def levels(df):
    """Its index keeps the labels of keys that were cut away."""
    counts = df.groupby(["city", "kind"]).size()
    noisy = counts + np.random.laplace(scale=1.0, size=len(counts))
    return noisy[noisy > 20].sort_index()


def levels_of_a_program(df, noise):
    counts = df.groupby(["city", "kind"]).size()
    noisy = counts + noise.laplace(1.0, len(counts))
    return noisy[noisy >= 20].sort_index()


def order(df):
    counts = df["city"].value_counts()
    noisy = counts + np.random.laplace(scale=1.0, size=len(counts))
    return noisy[noisy > 20].to_dict()


def used_twice(df):
    counts = df["city"].value_counts()
    noise = np.random.laplace(scale=1.0, size=len(counts))
    one, two = counts + noise, counts + noise
    return one[one > 20].sort_index(), two[two > 25].sort_index()


def below(df):
    counts = df["city"].value_counts()
    noisy = counts + np.random.laplace(scale=1.0, size=len(counts))
    return noisy[~(noisy > 20)].sort_index()


def without_threshold(df):
    counts = df["city"].value_counts()
    return counts + np.random.laplace(scale=1.0, size=len(counts))


def of_other_keys(df):
    counts, others = df["city"].value_counts(), df["kind"].value_counts()
    noisy = counts + np.random.laplace(scale=1.0, size=len(others))
    return noisy[noisy > 20].sort_index()


def how_many(df):
    counts = df["city"].value_counts()
    return float(np.random.laplace(scale=1.0, size=len(counts)).sum())


def off_centre(df):
    counts = df["city"].value_counts()
    noisy = counts + np.random.laplace(5.0, 1.0, size=len(counts))
    return noisy[noisy > 20].sort_index()


def of_several_scales(df):
    counts = df["city"].value_counts()
    noisy = counts + np.random.laplace(scale=[1.0], size=len(counts))
    return noisy[noisy > 20].sort_index()


def seeded(df):
    counts = df["city"].value_counts()
    noisy = counts + np.random.default_rng(0).laplace(scale=1.0, size=len(counts))
    return noisy[noisy > 20].sort_index()


def as_many_uniform(df):
    """No noise, but its length is how many keys the data hold."""
    counts = df["city"].value_counts()
    return np.random.uniform(size=len(counts)), len(df) + np.random.laplace()


def as_many_logistic(df):
    counts = df["city"].value_counts()
    return stats.logistic.rvs(size=len(counts)), len(df) + np.random.laplace()


def as_many_by_rand(df):
    return np.random.rand(len(df["city"].value_counts())), len(df) + np.random.laplace()


def as_many_by_a_shape(df):
    return np.random.uniform(size=(len(df), 2)), len(df) + np.random.laplace()


def of_gauss(df):
    counts = df["city"].value_counts()
    noisy = counts + np.random.normal(scale=1.0, size=len(counts))
    return noisy[noisy > 20].sort_index()


def loop_of_groups(df):
    counts = df.groupby("city").size()
    out = {}
    for city, n in counts.items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            out[city] = round(noisy, 1)
    return out


def loop_sorted_at_the_end(df):
    counts = df["city"].value_counts()
    kept = {}
    for city, n in counts.items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = noisy
    return dict(sorted(kept.items()))


def loop_that_goes_on(df):
    rng = np.random.default_rng()
    kept = []
    for city, n in df["city"].value_counts().sort_index().items():
        noisy = n + rng.laplace(scale=1.0)
        if noisy < 20:
            continue
        kept.append({"city": city, "n": max(0, round(noisy))})
    return kept


def loop_of_sorted_pairs(df):
    kept = {}
    for city, n in df["city"].value_counts().items():
        if n + np.random.laplace(0, 1.0) > 20:
            kept[city] = True
    return sorted(kept.items())


def loop_of_two_keys(df):
    out = {}
    for (city, kind), n in df.groupby(["city", "kind"]).size().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy >= 20:
            out[(city, kind)] = noisy
    return out


def loop_with_other_keys(df):
    out: dict[str, float] = {}
    for city, n in df["city"].value_counts().sort_index().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy >= 20:
            out[f"{city}"] = noisy
    return out


def loop_in_order_of_counts(df):
    kept = {}
    for city, n in df["city"].value_counts().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = noisy
    return kept


def loop_that_keeps_counts(df):
    kept = {}
    for city, n in df.groupby("city").size().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = n
    return kept


def loop_of_one_draw(df):
    z = np.random.laplace(0, 1.0)
    kept = {}
    for city, n in df.groupby("city").size().items():
        if n + z > 20:
            kept[city] = 1
    return kept


def loop_that_counts_keys(df):
    kept = {}
    seen = []
    for city, n in df.groupby("city").size().items():
        seen.append(1)
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = noisy
    return kept, len(seen)


def loop_under_two_names(df):
    kept = {}
    alias = kept
    for city, n in df["city"].value_counts().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = noisy
    return alias


def loop_with_a_last_key(df):
    kept = {}
    last = None
    for city, n in df["city"].value_counts().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            last = city
            kept[city] = noisy
    return last


def loop_that_looks_at_keys(df):
    kept = {}
    for city, n in df.groupby("city").size().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20 or city == "a":
            kept[city] = noisy
    return kept


def loop_of_those_below(df):
    kept = {}
    for city, n in df.groupby("city").size().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy <= 20:
            kept[city] = noisy
    return kept


def loop_into_an_older_list(df):
    kept = {"a": []}
    for city, n in df.groupby("city").size().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept["a"].append(city)
    return kept


def loop_sorted_by_counts(df):
    kept = []
    for city, n in df["city"].value_counts().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept.append((round(noisy), city))
    return sorted(kept)


def loop_sorted_by_a_function(df):
    kept = {}
    for city, n in df["city"].value_counts().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = round(noisy)
    return sorted(kept.items(), key=lambda kv: kv[1])


def loop_over_sums(df):
    kept = {}
    for city, s in df.groupby("city")["age"].sum().items():
        noisy = s + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = noisy
    return kept


def loop_unsorted(df):
    kept = {}
    for city, n in df.groupby("city", sort=False).size().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = noisy
    return kept


def loop_with_two_draws(df):
    kept = {}
    for city, n in df.groupby("city").size().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = n + np.random.laplace(0, 1.0)
    return kept


def loop_with_two_thresholds(df):
    kept = {}
    for city, n in df.groupby("city").size().items():
        noisy = n + np.random.laplace(0, 1.0)
        if noisy > 20:
            kept[city] = noisy
        elif noisy > 5:
            kept[city] = 0.0
    return kept


def loop_that_prints(df):
    kept = {}
    for city, n in df.groupby("city").size().items():
        print(city)
        if n + np.random.laplace(0, 1.0) > 20:
            kept[city] = True
    return kept


def loop_within_a_loop(df):
    kept = {}
    for _ in range(2):
        for city, n in df.groupby("city").size().items():
            if n + np.random.laplace(0, 1.0) > 20:
                kept[city] = True
    return kept


def loop_that_raises_above(df):
    for city, n in df.groupby("city").size().items():
        if n + np.random.laplace(0, 1.0) > 20:
            raise ValueError(city)
    return 1


def loop_that_raises_below(df):
    for city, n in df.groupby("city").size().items():
        if n + np.random.laplace(0, 1.0) <= 20:
            raise SystemExit(city)
    return 1


RIGHT = [
    of_numpy,
    of_a_generator,
    of_scipy,
    of_two_keys,
    loop_of_groups,
    loop_sorted_at_the_end,
    loop_of_sorted_pairs,
    loop_of_two_keys,
    loop_with_other_keys,
]
WRONG = [
    levels,
    levels_of_a_program,
    order,
    used_twice,
    below,
    without_threshold,
    of_other_keys,
    how_many,
    off_centre,
    of_several_scales,
    seeded,
    as_many_uniform,
    as_many_logistic,
    as_many_by_rand,
    as_many_by_a_shape,
    of_gauss,
    loop_in_order_of_counts,
    loop_that_keeps_counts,
    loop_of_one_draw,
    loop_that_counts_keys,
    loop_under_two_names,
    loop_with_a_last_key,
    loop_that_looks_at_keys,
    loop_of_those_below,
    loop_into_an_older_list,
    loop_sorted_by_counts,
    loop_sorted_by_a_function,
    loop_over_sums,
    loop_unsorted,
    loop_with_two_draws,
    loop_with_two_thresholds,
    loop_that_prints,
    loop_within_a_loop,
    loop_that_raises_above,
    loop_that_raises_below,
]


def proved(function):
    return dp.prove(function, domain=DOMAIN, relation="add-remove", claim="epsilon=1, delta=1e-6", runs=0)


@pytest.mark.slow
@pytest.mark.parametrize("function", [*mostly_at_night(RIGHT), loop_that_goes_on], ids=lambda each: each.__name__)
def test_counts_above_a_threshold_are_proved_at_a_delta(function):
    evidence = proved(function)
    assert evidence.verdict is dp.Verdict.PROVED and evidence.upper.value == 1, evidence.reason


@pytest.mark.slow
@pytest.mark.parametrize("function", mostly_at_night(WRONG), ids=lambda each: each.__name__)
def test_what_tells_of_keys_that_were_cut_is_refused(function):
    evidence = proved(function)
    assert evidence.verdict is not dp.Verdict.PROVED and evidence.upper is None
    assert "write instead" in evidence.reason and "agree with runs" not in evidence.reason  # the reading by itself


def test_two_tables_are_alike_only_if_all_that_their_labels_show_is():
    index = pd.MultiIndex.from_tuples([("a", "x"), ("b", "y")])
    cut = pd.Series([1.0, 2.0], index=index)[1:]
    without_levels = pd.Series([2.0], index=cut.index.remove_unused_levels())
    assert alike(cut, cut.copy()) and not alike(cut, without_levels)
    assert not alike(pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]}))
