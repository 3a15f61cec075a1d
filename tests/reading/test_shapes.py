# ruff: noqa: NPY002 – functions as people write them
"""Is a frame of noisy numbers, in each run, the frame that pandas makes?"""

import sys

import numpy as np
import pandas as pd
import pytest
from support.nightly import mostly_at_night

from dpaudit.reading.runs.passes import UnreadError, make
from dpaudit.reading.runs.tables import is_frame
from dpaudit.sampling.outputs import agree, from_reading


def _data():
    rng = np.random.default_rng(3)
    return pd.DataFrame({"n": rng.integers(0, 100, 60), "city": rng.choice(list("abc"), 60), "sex": ["f", "m"] * 30})


def crossed(df):
    counts = pd.crosstab(df["city"], df["sex"])
    return counts + np.random.laplace(0, 1, size=counts.shape)


def pivoted(df):
    counts = df.pivot_table(index="city", columns="sex", values="n", aggfunc="count", fill_value=0)
    return (np.random.laplace(0, 1, size=counts.shape) + counts).round().astype(int).clip(lower=0)


def shares(df):
    counts = df.groupby(["city", "sex"]).size().unstack(fill_value=0)
    noisy = counts - np.random.laplace(0, 1, size=counts.shape)
    return noisy.div(noisy.sum(axis=1), axis=0), noisy.max(), noisy.min(axis=1), noisy.mean(), noisy[["m"]]


def unstacked(df):
    noisy = df.groupby(["city", "sex"]).size() + np.random.laplace(0, 1, size=6)
    return noisy.unstack(), noisy.unstack().to_numpy(), list(noisy.unstack().columns)


def rows(df):
    out = []
    for city in "abc":
        n = (df["city"] == city).sum() + np.random.laplace(0, 1)
        out.append({"city": city, "n": n, "share": n / len(df), "where": "here"})
    return pd.DataFrame(out)


def some(df):
    counts = pd.crosstab(df["city"], df["sex"])
    noisy = counts + np.random.laplace(0, 1, size=counts.shape)
    if noisy.loc["a", "f"] > 10:
        noisy = noisy * 2
    return noisy


def of_text(df):
    return pd.DataFrame({"a": ["x", "y"], "b": ["z", "z"]}) + np.random.laplace(0, 1, size=(2, 2))


def divided_by_zero(df):
    return pd.DataFrame({"a": [0, 1], "b": [2.0, 0.0]}) / np.zeros((2, 2)) * np.random.laplace(0, 1, size=(2, 2))


def floored(df):
    return pd.DataFrame({"a": [0, 1], "b": [2.0, -1.0]}) // np.round(np.random.laplace(0, 1, size=(2, 2)))


def of_another_shape(df):
    return pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}) + np.random.laplace(0, 1, size=(3, 2))


def nothing(df):
    return (df == np.random.laplace(0, 1, size=df.shape)).sum() is None or pd.crosstab(df["city"], df["sex"]) is None


def with_gaps(df):
    few = df[(df["city"] != "a") | (df["sex"] != "f")]
    return (few.groupby(["city", "sex"]).size() + np.random.laplace(0, 1, size=5)).unstack()


def many_rows(df):
    noisy = df.groupby("n")[["n"]].count() + np.random.laplace(0, 1, size=(df["n"].nunique(), 1))
    return noisy.sum(), noisy.mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    mostly_at_night([crossed, pivoted, shares, unstacked, rows, some, of_text, divided_by_zero, floored,
                     of_another_shape, nothing, with_gaps, many_rows]),
)  # fmt: skip
def test_each_run_is_what_pandas_makes(function):
    """All runs are repeated by the function itself, with their draws."""
    made = make(function, (_data(),), {}, 60, np.random.SeedSequence(1), 60)
    assert len(made.repeated) == 60
    assert agree(from_reading(made, 60), made.repeated)


def noisy(value, scale=1):
    return value + np.random.laplace(0, scale)


GIVEN_TO_PANDAS = {
    "map": lambda df: df["city"].value_counts().map(noisy).clip(lower=0).to_dict(),
    "apply": lambda df: df["city"].value_counts().apply(noisy, scale=2).sort_index().tolist(),
    "some values": lambda df: df["city"].value_counts().apply(lambda n: noisy(n) if n > 20 else 0.0),
    "texts": lambda df: df["city"].value_counts().map(lambda n: "many" if noisy(n) > 20 else "few").to_dict(),
    "of a type": lambda df: df["city"].value_counts().map(lambda n: max(0, round(noisy(n)))),
    "rows": lambda df: df.head(9).apply(lambda row: noisy(row["n"]), axis=1).sum(),
    "groups": lambda df: df.groupby("city").apply(lambda one: noisy(len(one))).round(1).to_dict(),
    "column of groups": lambda df: df.groupby("city")["n"].apply(lambda n: noisy(n.clip(0, 50).sum(), 50)),
    "agg": lambda df: df.groupby(["city", "sex"])["n"].agg(lambda n: noisy(n.sum())).to_dict(),
    "pipe": lambda df: df["city"].value_counts().pipe(lambda n: noisy(n)).to_dict(),
    "assign": lambda df: df["city"].value_counts().to_frame("n").assign(n=lambda x: noisy(x["n"]), m=lambda x: 2 * x.n),
    "ends of arrays": lambda df: noisy(np.bincount(df["n"])).clip(0).sum() + noisy(np.ones(3)).clip(noisy(1)),
}  # fmt: skip


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("function", GIVEN_TO_PANDAS.values(), ids=GIVEN_TO_PANDAS.keys())
def test_pandas_may_call_what_draws(function):
    made = make(function, (_data(),), {}, 40, np.random.SeedSequence(1), 40)
    assert len(made.repeated) == 40
    assert agree(from_reading(made, 40), made.repeated)


@pytest.mark.parametrize(
    "function",
    [
        lambda df: df.astype({"city": "category"})["city"].map(lambda name: noisy(ord(name))).tolist(),
        lambda df: df.groupby("city")["n"].apply(lambda n: pd.Series({"n": noisy(len(n))})).to_dict(),
        lambda df: df["n"].transform(lambda n: noisy(n)).max(),
    ],
    ids=["categories", "series", "transform"],
)
def test_what_pandas_makes_of_draws_is_not_guessed(function):
    with pytest.raises(UnreadError, match="a function that draws"):
        make(function, (_data(),), {}, 40, np.random.SeedSequence(1), 40)


@pytest.mark.parametrize("function", [crossed, pivoted, shares, unstacked, rows])
def test_frames_are_made_once(function, monkeypatch):
    """None is made run by run."""
    import dpaudit.reading.runs.applied as applied

    def refused(*args, **keywords):
        raise UnreadError("run by run")

    monkeypatch.setattr(applied, "singly", refused)
    make(function, (_data(),), {}, 60, np.random.SeedSequence(1), 0)


def test_arrays_do_not_import_pandas(monkeypatch):
    monkeypatch.delitem(sys.modules, "pandas")
    assert not is_frame(np.zeros(2))
    assert "pandas" not in sys.modules


def _series():
    return pd.Series(np.random.laplace(0, 1, 6), index=list("abcdef"), name="s")


def _shared_copy():
    series = _series()
    copied = series.copy(deep=False)
    copied["a"] = 5.0
    return series, copied


def _filled_with_nothing():
    try:
        return _series().fillna()
    except (TypeError, ValueError):
        return "refused"


ARGUMENTS = {
    "none of the last": lambda: _series().tail(0),
    "as many as there are, but one": lambda: (_series().head(-1), _series().nlargest(0), _series().head(n=2)),
    "an order in a list": lambda: _series().sort_values(ascending=[False]),
    "a copy that shares": _shared_copy,
    "no value": _filled_with_nothing,
    "by name": lambda: (_series().round(decimals=1), _series().clip(upper=0.5), _series().astype(dtype=int)),
    "of arrays, by name": lambda: (_series().to_numpy().round(decimals=1), _series().to_numpy().clip(max=0.5)),
}


@pytest.mark.parametrize("function", ARGUMENTS.values(), ids=ARGUMENTS)
def test_every_argument_of_a_method_is_accounted_for(function):
    made = make(function, (), {}, 30, np.random.SeedSequence(1), 30)
    assert len(made.repeated) == 30
    assert agree(from_reading(made, 30), made.repeated)


@pytest.mark.parametrize(
    ("function", "law", "kind"),
    [
        (lambda: np.random.default_rng().integers(0, 1, None, np.int64, True), {0, 1}, np.int64),
        (lambda: np.random.default_rng().integers(3, 4, None, np.int32, True), {3, 4}, np.int32),
        (lambda: np.random.randint(0, 2, None, np.int32), {0, 1}, np.int32),
        (lambda: np.random.default_rng().choice(2, None, True, [0.5, 0.5], 0), {0, 1}, int),
    ],
)
def test_every_argument_of_a_law_counts_also_by_its_place(function, law, kind):
    made = make(function, (), {}, 100, np.random.SeedSequence(1))
    drawn = [part.of(place) for part in made.parts for place in range(len(part.runs))]
    assert len(drawn) == 100
    assert set(drawn) == law
    assert {type(each) for each in drawn} == {kind}
