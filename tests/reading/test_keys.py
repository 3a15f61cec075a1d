"""Are counts under keys of the data proved where a threshold cuts them, and never where anything tells what it cut?"""
# ruff: noqa: NPY002 – people draw from np.random

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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


RIGHT = [of_numpy, of_a_generator, of_scipy, of_two_keys]
WRONG = [
    levels, levels_of_a_program, order, used_twice, below, without_threshold, of_other_keys, how_many, off_centre,
    of_several_scales, seeded, as_many_uniform, as_many_logistic, as_many_by_rand,
    as_many_by_a_shape, of_gauss,
]  # fmt: skip


def proved(function):
    return dp.prove(function, domain=DOMAIN, relation="add-remove", claim="epsilon=1, delta=1e-6", runs=0)


@pytest.mark.parametrize("function", RIGHT, ids=lambda each: each.__name__)
def test_counts_above_a_threshold_are_proved_at_a_delta(function):
    evidence = proved(function)
    assert evidence.verdict is dp.Verdict.PROVED and evidence.upper.value == 1, evidence.reason


@pytest.mark.parametrize("function", WRONG, ids=lambda each: each.__name__)
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
