"""How far does one record move what is computed of a frame? Operation by operation, against pandas."""

from functools import cache

import numpy as np
import pytest
from support.nightly import mostly_at_night
from support.releases import BMI, CITIES

from dpaudit.neighbours import parse_relation
from dpaudit.reading.universe.cells import declared
from dpaudit.reading.universe.second import Frames
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify.releases.derive import read_function, second_net
from dpaudit.verify.releases.read import as_releases
from dpaudit.verify.releases.written import price

pandas = pytest.importorskip("pandas")
DOMAIN = {
    "age": (0, 120),
    "debt": (-30, 10),
    "bmi": BMI,
    "city": list(CITIES),
    "children": list(range(8)),
    "smoker": [True, False],
    "person": list(range(50)),
}
COLUMNS = {name: declared(name, given) for name, given in DOMAIN.items()}
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
    "apply": lambda d: d["age"].apply(lambda v: min(max(v, 20), 60)).astype(float).sum(),
    "apply with branches": lambda d: (
        d["age"].apply(lambda v: 3 if v < 18 else -v / 10 if v >= 65 else 1).astype(float).sum()
    ),
    "apply a function": lambda d: d["debt"].apply(banded).astype(float).sum(),
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


def released(operation):
    """Return a program that adds noise to each number that an operation returns."""

    def release(people, noise):
        return operation(people) + noise.laplace(1)

    def release_each(people, noise):
        return [each + noise.laplace(1) for each in operation(people)]

    one = operation(frames(0).frame(5))
    return release_each if np.ndim(one) else release


def frames(seed):
    return Frames(COLUMNS, {}, np.random.default_rng(seed))


def read(operation, kind="add-remove"):
    made = mechanism(released(operation))
    return made, read_function(made, {}, parse_relation(kind), COLUMNS)


@cache
def pairs(kind):
    """Return neighbouring frames, the same for every operation."""
    maker = frames(1)
    return [maker.pair(number, None, kind == "replace")[:2] for number in range(60)]


WIDE = {"product", "square", "where", "and"}
"""Operations of which few of these pairs come near to what the worst record does."""
LOOSE = {("abs of a difference", "replace")}
"""Those of which twice as much is read: who goes and who comes may each move a distance by all of it."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *mostly_at_night(((name, "add-remove") for name in OPERATIONS), every=4),
        *mostly_at_night(((name, "replace") for name in OPERATIONS), every=6),
    ],
)
def test_a_record_moves_a_value_as_far_as_is_read_and_no_farther(name, kind):
    operation, relation = OPERATIONS[name], parse_relation(kind)
    made, reading = read(operation, kind)
    assert reading.refused == ()
    releases = as_releases(reading)
    if kind == "replace":  # both relations go the same way from here on
        assert second_net(made, {}, relation, reading, releases).disagreement is None
    bound = float(price(releases, replace=kind == "replace", group=1, notion="epsilon"))
    most = 0.0
    for pair in pairs(kind):
        one, other = (np.atleast_1d(np.asarray(operation(frame), dtype=float)) for frame in pair)
        most = max(most, float(np.sum(np.abs(one - other))))
    assert most <= bound * (1 + 1e-9)
    assert name in WIDE or most >= (0.3 if (name, kind) in LOOSE else 0.6) * bound


REFUSED = {
    "loc of labels": (lambda d: d.loc[3]),
    "loc of a slice": (lambda d: d.loc[:, "age":"city"]),
    "loc of another frame": (lambda d: d[d["age"] > 3].loc[d["age"] > 3, "age"].sum()),
    "mean": (lambda d: d["age"].mean()),
    "ratio": (lambda d: d["age"].sum() / len(d)),
    "max": (lambda d: d["age"].max()),
    "max of NaN": (lambda d: d["bmi"].fillna(0).clip(0, 9).to_numpy().max()),
    "max by a key": (lambda d: max([len(d), 3], key=abs)),
    "max along an axis": (
        lambda d: np.histogram(d["age"], bins=[0, 50, 120])[0].reshape(1, 2).max(axis=1)),
    "median": (lambda d: d["age"].median()),
    "shift": (lambda d: d["age"].shift().sum()),
    "rank": (lambda d: d["age"].rank().sum()),
    "rolling": (lambda d: d["age"].rolling(3).sum().sum()),
    "sample": (lambda d: d.sample(3)),
    "head": (lambda d: d.head(3)),
    "head of groups": (lambda d: d.groupby("city").head(3)),
    "sort": (lambda d: d.sort_values("age")),
    "merge": (lambda d: d.merge(d)),
    "right join": (lambda d: d.merge(CANTONS, how="right", on="city")),
    "join on what may be missing": (lambda d: d.merge(BY_BMI, on="bmi")),
    "join of one name": (lambda d: d.merge(CANTONS.rename(columns={"share": "age"}), on="city")),
    "join on text and numbers": (lambda d: d.merge(RANKS, on="city")),
    "join on truth": (lambda d: d.merge(RANKS.rename(columns={"children": "smoker"}), on="smoker")),
    "join without a key": (lambda d: d.merge(CANTONS)),
    "apply of what is no function": (lambda d: d["age"].apply("sum")),
    "apply to missing values": (lambda d: d["bmi"].apply(lambda v: 1)),
    "apply that mixes": (lambda d: d["age"].apply(lambda v: "a" if v > 3 else 1)),
    "apply that raises": (lambda d: d["age"].apply(lambda v: 1 if v > 3 else {}["a"])),
    "apply that looks": (lambda d: d["age"].apply(lambda v: int(v))),
    "apply of a curve": (lambda d: d["age"].apply(lambda v: 1 / v)),
    "numbers of texts": (lambda d: d["city"].map({"bern": 1}).sum()),
    "numbers of each text": (lambda d: d["city"].apply(lambda v: 2 if v == "bern" else 1)),
    "join on what was made": (
        lambda d: d.assign(n=d["children"].map({1: 7})).merge(RANKS.rename(columns={"children": "n"}), on="n")),
    "join on what a function made": (
        lambda d: d.assign(n=d["age"].apply(lambda v: 1)).merge(RANKS.rename(columns={"children": "n"}), on="n")),
    "map without keys": (lambda d: d["age"].map({1: 2})),
    "map of mixed keys": (lambda d: d["city"].map({"bern": 1, 2: 3})),
    "int": (lambda d: int(d["age"].sum())),
    "round": (lambda d: round(d["age"].sum(), 1)),
    "branch": (lambda d: 1 if len(d) > 5 else 2),
    "truth": (lambda d: 1 if len(d) else 2),
    "text": (lambda d: f"{len(d)}"),
    "hash": (lambda d: {len(d): 1}),
    "index": (lambda d: [1, 2, 3][len(d)]),
    "iteration": (lambda d: list(d["age"])),
    "membership": (lambda d: 3 in d["age"]),
    "assignment": (lambda d: d.__setitem__("age", 3)),
    "text column": (lambda d: d["city"].sum()),
    "clip at the data": (lambda d: d["age"].clip(0, d["age"].sum())),
    "to_numpy of NaN": (lambda d: d["bmi"].to_numpy().sum()),
    "another mask": (lambda d: d[d[d["age"] > 3]["age"] > 5]),
    "another column": (lambda d: (d["age"] + d[d["age"] > 3]["age"]).sum()),
    "division by a column": (lambda d: (d["age"] / d["children"]).sum()),
    "histogram of the data": (lambda d: np.histogram(d["age"])[0]),
    "keys of the data": (lambda d: dict(d["city"].value_counts().items())),
    "a key": (lambda d: d["city"].value_counts()["oslo"]),
    "NaN for missing keys": (lambda d: d["city"].value_counts().reindex(CITIES)),
    "bincount that grows": (lambda d: np.bincount(d["children"], minlength=3)),
    "place of the largest cell": (lambda d: np.argmax(np.histogram(d["age"], bins=[0, 50, 120])[0])),
    "division by 0": (lambda d: d["age"].sum() / 0),
    "infinite gradients": (lambda d: np.nan_to_num(d[["age"]].to_numpy(), posinf=np.inf)),
    "sum of unclipped rows": (lambda d: (d[["age", "debt"]].to_numpy() ** 2).sum(axis=0)),
    "order of rows": (lambda d: np.sort(d[["age", "debt"]].to_numpy() ** 2)),
    "rows and a fixed length": (lambda d: d[["age"]].to_numpy() + np.zeros((97, 1))),
    "exp": (lambda d: np.exp(len(d))),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused_by_its_line(name):
    def release(people, noise):
        return REFUSED[name](people) + noise.laplace(1)

    made = mechanism(release)
    with np.errstate(all="ignore"):
        reading = read_function(made, {}, parse_relation("add-remove"), COLUMNS)
    assert reading.refused
    assert reading.refused[0].line.startswith("test_operations.py:")
