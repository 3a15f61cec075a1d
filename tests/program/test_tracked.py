"""Does the tracked reading know how far one record moves what is computed? Operation by operation, against pandas."""

from __future__ import annotations

import builtins
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.releases import BMI, CITIES

from dpaudit.neighbours import parse_relation
from dpaudit.program.tracked.path import RefusedReading
from dpaudit.program.tracked.reading import read_releases
from dpaudit.verify.releases.agreement import compare
from dpaudit.verify.releases.frames import FrameMaker, column_domains
from dpaudit.verify.releases.kinds import kinds_of, moved
from dpaudit.verify.releases.prices import price

DOMAIN = {
    "age": (0, 120),
    "debt": (-30, 10),
    "bmi": BMI,
    "city": list(CITIES),
    "children": list(range(8)),
    "smoker": [True, False],
    "person": list(range(50)),
}
COLUMNS = column_domains(DOMAIN)
pandas = pytest.importorskip("pandas")
CANTONS = pandas.DataFrame({"city": ["bern", "rome", "york"], "share": [0.5, -2.0, 9.0], "land": ["ch", "it", "uk"]})
RANKS = pandas.DataFrame({"children": [0, 1, 1, 1, 7, 9], "rank": [1, 2, 3, 4, 5, 600]})
BY_BMI = pandas.DataFrame({"bmi": [10.0, None], "share": [1, 2]})

# each is a function of the frame that returns private numbers: alone, in a list, or as an array
OPERATIONS = {
    "loc of a column": lambda d: d.loc[d["age"] > 30, "age"].sum(),
    "loc of columns": lambda d: d.loc[:, ["age", "city"]].loc[d["age"] > 30]["age"].clip(0, 50).sum(),
    "len": lambda d: len(d),
    "len of a column": lambda d: len(d["age"]),
    "sum": lambda d: d["age"].sum(),
    "sum of negative ones": lambda d: d["debt"].sum(),
    "np.sum": lambda d: np.sum(d["age"]),
    "sum without NaN": lambda d: d["bmi"].sum(),
    "count": lambda d: d["bmi"].count(),
    "clip": lambda d: d["age"].clip(5, 60).sum(),
    "clip of negative ones": lambda d: d["debt"].clip(-7, 3).sum(),
    "np.clip": lambda d: np.clip(d["debt"], -7, 3).sum(),
    "fillna": lambda d: d["bmi"].fillna(5).sum(),
    "arithmetic": lambda d: (d["age"] - 2 * d["debt"] + 3).sum(),
    "quotient": lambda d: (d["age"] / 4 - 1).sum(),
    "reversed difference": lambda d: (100 - d["age"]).sum(),
    "product": lambda d: (d["age"] * d["debt"]).sum(),
    "square": lambda d: (d["debt"] * d["debt"]).sum(),
    "abs": lambda d: abs(d["debt"]).sum(),
    "where": lambda d: d["age"].where(d["age"] > 18, 0).sum(),
    "filter": lambda d: d[d["age"] >= 65]["debt"].sum(),
    "filter twice": lambda d: len((lambda adults: adults[adults["age"] < 65])(d[d["age"] >= 18])),
    "and": lambda d: len(d[(d["age"] >= 18) & (d["debt"] < 0)]),
    "or": lambda d: d[(d["age"] >= 65) | (d["debt"] < -10)]["age"].sum(),
    "not": lambda d: len(d[~((d["age"] >= 18) & (d["debt"] < 0))]),
    "equal": lambda d: len(d[d["city"] == "oslo"]),
    "unequal": lambda d: len(d[d["city"] != "oslo"]),
    "comparison with NaN": lambda d: [len(d[d["bmi"] > 20]), len(d[d["bmi"] <= 20]), len(d[d["bmi"] != 25])],
    "isna": lambda d: [len(d[d["bmi"].isna()]), len(d[d["bmi"].notna()])],
    "isin": lambda d: len(d[d["city"].isin(["oslo", "rome"])]),
    "between": lambda d: len(d[d["age"].between(18, 65)]),
    "a column of truth": lambda d: [len(d[d["smoker"]]), d["smoker"].sum()],
    "sum of a mask": lambda d: (d["age"] > 30).sum(),
    "dropna": lambda d: d.dropna(subset="bmi")["bmi"].sum(),
    "assign": lambda d: d.assign(pay=d["age"].clip(0, 9))["pay"].sum(),
    "histogram": lambda d: np.histogram(d["age"], bins=[0, 20, 40, 120])[0],
    "histogram of equal bins": lambda d: np.histogram(d["debt"], bins=4, range=(-30, 10))[0],
    "bincount": lambda d: np.bincount(d["children"], minlength=8),
    "value_counts": lambda d: d["city"].value_counts().reindex(CITIES, fill_value=0).to_numpy(),
    "groupby sum": lambda d: d.groupby("city")["debt"].sum().reindex(CITIES, fill_value=0).to_numpy(),
    "groupby count": lambda d: d.groupby("city")["bmi"].count().reindex(CITIES, fill_value=0).to_numpy(),
    "groupby two": lambda d: d.groupby(["city", "children"]).size().reindex([("oslo", 3)], fill_value=0).to_numpy(),
    "sum of cells": lambda d: np.histogram(d["age"], bins=[0, 20, 40, 120])[0].sum(),
    "prefix sums": lambda d: np.cumsum(np.histogram(d["age"], bins=[0, 20, 40, 120])[0]),
    "a matrix": lambda d: np.array([[1, -2, 0.5]]) @ np.histogram(d["age"], bins=[0, 20, 40, 120])[0],
    "difference of counts": lambda d: len(d) - len(d[d["age"] < 18]),
    "abs of a difference": lambda d: -abs(0.5 * len(d) - len(d[d["age"] < 60])),
    "join": lambda d: d.merge(CANTONS, on="city")["share"].sum(),
    "join with several matches": lambda d: (lambda j: [len(j), j["rank"].sum()])(d.merge(RANKS, on="children")),
    "join and what matches none": lambda d: d.merge(CANTONS, how="left", on="city")["share"].sum(),
    "groups of a join": lambda d: (
        d.merge(CANTONS, on="city").groupby("land")["debt"].sum().reindex(["ch", "it"], fill_value=0).to_numpy()
    ),
    "filter of a join": lambda d: len((lambda j: j[(j["rank"] > 2) & (j["age"] < 60)])(d.merge(RANKS, on="children"))),
    "apply": lambda d: d["age"].apply(lambda v: min(max(v, 20), 60)).sum(),
    "apply with branches": lambda d: d["age"].apply(lambda v: 3 if v < 18 else -v / 10 if v >= 65 else 1).sum(),
    "apply a function": lambda d: d["debt"].apply(banded).sum(),
    "apply and count": lambda d: (
        d["age"].apply(lambda v: "young" if v < 30 else "old").value_counts().reindex(["old"], fill_value=0).to_numpy()
    ),
    "apply to whole numbers": lambda d: d["children"].apply(lambda v: v * v if v in (1, 2) else 2 * v + 1).sum(),
    "map by a dict": lambda d: d["children"].map({number: number % 3 for number in range(8)}).sum(),
    "map by a dict with a gap": lambda d: (lambda v: [v.sum(), v.count()])(d["children"].map({1: 2.5, 2: -1})),
    "map of texts": lambda d: (
        d["city"].map({"bern": "ch", "rome": "it"}).value_counts().reindex(["ch"], fill_value=0).to_numpy()
    ),
    "largest of counts": lambda d: np.histogram(d["age"], bins=[0, 20, 40, 120])[0].max(),
    "median of counts": lambda d: np.median(np.histogram(d["age"], bins=[0, 20, 40, 120])[0]),
    "smallest of sums": lambda d: d.groupby("city")["debt"].sum().reindex(CITIES, fill_value=0).min(),
    "largest of two": lambda d: max(len(d[d["age"] < 30]), len(d[d["age"] >= 60]), 3),
    "clipped difference": lambda d: np.maximum(len(d[d["age"] < 30]) - len(d[d["age"] >= 60]), 0),
    "largest value": lambda d: d["age"].clip(0, 50).to_numpy().max(initial=0),
    "smallest value": lambda d: np.min(d["debt"].to_numpy(), initial=5),
    "sums of vectors": lambda d: d[["age", "debt"]].to_numpy().sum(axis=0),
}  # fmt: skip


def banded(value):
    if value < 0:
        return abs(value) if value > -10 else 10
    return 2 * value - 1 if value != 3 else 0


def program(operation):
    def release(people, noise):
        found = operation(people)
        if type(found).__name__ in ("Numbers", "ndarray"):
            return found + noise.laplace(1, found.shape)
        return [each + noise.laplace(1) for each in (found if type(found) is list else [found])]

    return release


@pytest.mark.parametrize("kind", ["add-remove", "replace"])
@pytest.mark.parametrize("name", OPERATIONS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=2, deadline=None)
def test_no_record_moves_a_value_by_more_than_is_derived(name, kind, seed):
    release = program(OPERATIONS[name])
    releases = read_releases(release, COLUMNS, {})
    compared = compare(
        release, {}, COLUMNS, parse_relation(kind), releases, notion="epsilon", watched=None, seed=seed, pairs=6
    )
    assert compared.disagreement is None
    assert compared.raised == 0


@cache
def pairs(kind):
    """Return neighbouring frames, the same for every operation."""
    maker = FrameMaker(COLUMNS, parse_relation(kind), np.random.default_rng(0))
    return [maker.pair() for _ in range(50)]


WIDE = {"product", "square", "arithmetic", "or", "where", "apply a function", "apply to whole numbers"}
"""Operations of which the bounds are those of each of their parts."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["add-remove", "replace"])
@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - WIDE))
def test_what_is_derived_is_reached(name, kind):
    """A control: intervals are hardly wider than what the worst of many pairs does."""
    release = program(OPERATIONS[name])
    bound = price(read_releases(release, COLUMNS, {}), replace=kind == "replace", group=1, notion="epsilon").bound
    most = 0.0
    for pair in pairs(kind):
        one, other = (np.atleast_1d(np.asarray(OPERATIONS[name](frame), dtype=float)) for frame in pair)
        most = max(most, float(np.sum(np.abs(one - other))))
    assert most <= float(bound) * (1 + 1e-9)
    assert most >= 0.6 * float(bound)


REFUSED = {
    "loc of labels": (lambda d: d.loc[3], "rows by something else than a condition"),
    "loc of a slice": (lambda d: d.loc[:, "age":"city"], "columns by something else than their names"),
    "loc of another frame": (lambda d: d[d["age"] > 3].loc[d["age"] > 3, "age"].sum(), "a mask of another frame"),
    "mean": (lambda d: d["age"].mean(), "a mean is a ratio"),
    "ratio": (lambda d: d["age"].sum() / len(d), "a ratio of private numbers"),
    "max": (lambda d: d["age"].max(), r"an extreme, which is NaN.*max\(initial=0\)"),
    "max of NaN": (lambda d: d["bmi"].fillna(0).clip(0, 9).to_numpy().max(), "an extreme, which is NaN"),
    "max by a key": (lambda d: max([len(d), 3], key=abs), "with a key or a default"),
    "max along an axis": (
        lambda d: np.histogram(d["age"], bins=[0, 50, 120])[0].reshape(1, 2).max(axis=1), "along an axis"
    ),
    "median": (lambda d: d["age"].median(), "an extreme or a quantile"),
    "shift": (lambda d: d["age"].shift().sum(), r"\.shift of a private column"),
    "rank": (lambda d: d["age"].rank().sum(), r"\.rank of a private column"),
    "rolling": (lambda d: d["age"].rolling(3).sum().sum(), r"\.rolling of a private column"),
    "sample": (lambda d: d.sample(3), r"\.sample of a private frame"),
    "head": (lambda d: d.head(3), r"\.head of a private frame"),
    "head of groups": (lambda d: d.groupby("city").head(3), "one record pushes another one out"),
    "sort": (lambda d: d.sort_values("age"), r"\.sort_values of a private frame"),
    "merge": (lambda d: d.merge(d), r"a join with something else than a public table"),
    "right join": (lambda d: d.merge(CANTONS, how="right", on="city"), "rows of the table that no record matches"),
    "join on what may be missing": (lambda d: d.merge(BY_BMI, on="bmi"), "lets a missing value match one"),
    "join of one name": (lambda d: d.merge(CANTONS.rename(columns={"share": "age"}), on="city"), "of one name, age"),
    "join on text and numbers": (lambda d: d.merge(RANKS, on="city"), "which both sides have to have"),
    "join on truth": (lambda d: d.merge(RANKS.rename(columns={"children": "smoker"}), on="smoker"), "of the kind that"),
    "join without a key": (lambda d: d.merge(CANTONS), "a join in another form"),
    "apply of what is no function": (lambda d: d["age"].apply("sum"), "something else than a function of one value"),
    "apply to missing values": (lambda d: d["bmi"].apply(lambda v: 1), "on values that may be missing"),
    "apply that asks for truth": (lambda d: d["age"].apply(lambda v: v > 3).sum(), "returns a comparison"),
    "apply that mixes": (lambda d: d["age"].apply(lambda v: "a" if v > 3 else 1), "numbers for some and texts"),
    "apply that raises": (lambda d: d["age"].apply(lambda v: 1 if v > 3 else {}["a"]), "raises KeyError for some"),
    "apply that looks": (lambda d: d["age"].apply(lambda v: int(v)), r"int\(\) of a private value"),
    "apply of a curve": (lambda d: d["age"].apply(lambda v: 1 / v), "a quotient of a private value"),
    "numbers of texts": (lambda d: d["city"].map({"bern": 1}).sum(), "numbers made of texts.*join a table"),
    "numbers of each text": (lambda d: d["city"].apply(lambda v: 2 if v == "bern" else 1), "numbers made of texts"),
    "join on what was made": (
        lambda d: d.assign(n=d["children"].map({1: 7})).merge(RANKS.rename(columns={"children": "n"}), on="n"),
        "which may be missing"
    ),
    "join on what a function made": (
        lambda d: d.assign(n=d["age"].apply(lambda v: 1)).merge(RANKS.rename(columns={"children": "n"}), on="n"),
        "no column of the data"
    ),
    "map without keys": (lambda d: d["age"].map({1: 2}), "are not listed in the domain"),
    "map of mixed keys": (lambda d: d["city"].map({"bern": 1, 2: 3}), "of another kind than the column"),
    "int": (lambda d: int(d["age"].sum()), r"int\(\) of a private value"),
    "float": (lambda d: float(d["age"].sum()), r"float\(\) of a private value"),
    "round": (lambda d: round(d["age"].sum(), 1), r"round\(\) of a private value"),
    "branch": (lambda d: 1 if len(d) > 5 else 2, "a comparison of a private value"),
    "truth": (lambda d: 1 if len(d) else 2, "a branch of a private value"),
    "text": (lambda d: f"{len(d)}", "the text of a private value"),
    "hash": (lambda d: {len(d): 1}, r"hash\(\) of a private value"),
    "index": (lambda d: [1, 2, 3][len(d)], "an index of a private value"),
    "iteration": (lambda d: list(d["age"]), "iteration of a private value"),
    "membership": (lambda d: 3 in d["age"], "membership of a private value"),
    "assignment": (lambda d: d.__setitem__("age", 3), "an assignment of a private value"),
    "no such column": (lambda d: d["agee"].sum(), "the domain does not declare; did you mean 'age'"),
    "text column": (lambda d: d["city"].sum(), "whose bounds are not known"),
    "text of another kind": (lambda d: len(d[d["age"] == "old"]), "which its domain does not hold"),
    "wrong clip": (lambda d: d["age"].clip(60, 5).sum(), "the wrong way round"),
    "clip at the data": (lambda d: d["age"].clip(0, d["age"].sum()), "depends on data without noise"),
    "to_numpy of NaN": (lambda d: d["bmi"].to_numpy().sum(), "a sum gives NaN|NumPy sums give NaN"),
    "another mask": (lambda d: d[d[d["age"] > 3]["age"] > 5], "a mask of another frame"),
    "another column": (lambda d: (d["age"] + d[d["age"] > 3]["age"]).sum(), "columns of two frames"),
    "division by a column": (lambda d: (d["age"] / d["children"]).sum(), "which may be 0"),
    "histogram of the data": (lambda d: np.histogram(d["age"])[0], "edges from the data"),
    "keys of the data": (lambda d: dict(d["city"].value_counts().items()), "keys of the data"),
    "a key": (lambda d: d["city"].value_counts()["oslo"], "a KeyError tells"),
    "NaN for missing keys": (lambda d: d["city"].value_counts().reindex(CITIES), "NaN says which keys"),
    "bincount that grows": (lambda d: np.bincount(d["children"], minlength=3), "np.bincount grows"),
    "place of the largest cell": (lambda d: np.argmax(np.histogram(d["age"], bins=[0, 50, 120])[0]), "np.argmax of"),
    "division by 0": (lambda d: d["age"].sum() / 0, "a division of a private number by 0"),
    "infinite gradients": (lambda d: np.nan_to_num(d[["age"]].to_numpy(), posinf=np.inf), "may leave NaN"),
    "sum of unclipped rows": (lambda d: (d[["age", "debt"]].to_numpy() ** 2).sum(axis=0), "over private rows"),
    "order of rows": (lambda d: np.sort(d[["age", "debt"]].to_numpy() ** 2), "may not treat each by itself"),
    "rows and a fixed length": (lambda d: d[["age"]].to_numpy() + np.zeros((97, 1)), "do not go together"),
    "exp": (lambda d: np.exp(len(d)), "TypeError"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused_by_line_and_with_what_to_write_instead(name):
    operation, told = REFUSED[name]
    with pytest.raises(RefusedReading, match=told) as refused:
        read_releases(program(operation), COLUMNS, {})
    assert "test_tracked.py:" in str(refused.value)


def test_two_threads_read_one_after_the_other():
    """While a program is read, len() is another one: a second thread has to wait."""
    inside, leave, seen = Event(), Event(), []

    def slow(people, noise):
        inside.set()
        assert leave.wait(30)
        seen.append("slow")
        return len(people) + noise.laplace(1)

    def quick(people, noise):
        seen.append("quick")
        return len(people) + noise.laplace(2)

    plain = builtins.len
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(read_releases, slow, COLUMNS, {})
        assert inside.wait(30)
        assert builtins.len is not plain
        second = pool.submit(read_releases, quick, COLUMNS, {})
        leave.set()
        assert [found.result().paths[0][0].scale for found in (first, second)] == [1, 2]
    assert seen == ["slow", "slow", "quick", "quick"]  # each is read twice
    assert builtins.len is plain


def test_a_reading_within_a_reading_is_refused():
    def release(people, noise):
        read_releases(lambda data, noise: 0, COLUMNS, {})
        return len(people) + noise.laplace(1)

    with pytest.raises(RefusedReading, match="within another one"):
        read_releases(release, COLUMNS, {})


def test_the_kinds_of_records_are_the_ways_in_which_tests_come_out():
    def release(people, noise):
        young, old = people[people["age"] < 18], people[people["age"] >= 65]
        return len(young) + noise.laplace(1), len(old) + noise.laplace(1)

    (path,) = read_releases(release, COLUMNS, {}).paths
    kinds = kinds_of(path, COLUMNS)
    assert sorted(tuple(moved(each.values[0], kind, None)[1] for each in path) for kind in kinds) == [
        (0, 0),
        (0, 1),
        (1, 0),
    ]
