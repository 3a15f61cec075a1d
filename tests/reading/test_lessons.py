"""Does every refusal of a name say what to write instead, and is that read?"""
# ruff: noqa: NPY002 – people draw from np.random

import ast
import collections
import re
import statistics
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpaudit.reading.universe import state
from dpaudit.reading.universe.cells import declared
from dpaudit.reading.universe.drive import read
from dpaudit.reading.universe.state import ANY, FORMS, LESSONS

DOMAIN = {"age": declared("age", list(range(12))), "pay": declared("pay", (0.0, 9.0))}
CONSTANTS = {
    "np": np, "pd": pd, "KEY": "age", "NAME": "pay", "NAMES": ("age", "pay"), "VALUES": list(range(12)), "LOW": 0,
    "HIGH": 9, "LIMIT": 4, "RATE": 0.1, "SCALE": 9.0, "PART": 0.9, "FUNCTION": lambda value: value % 3,
    "EDGES": (0, 3, 6, 12), "TABLE": pd.DataFrame({"age": range(12), "zone": [3 * (k > 5) for k in range(12)]}),
}  # fmt: skip


def written(line, tmp_path):
    """Return a function of a line: what it computes last is returned."""
    line = line.removesuffix(", a coin for each record").replace("laplace(…", "np.random.laplace(0, 99")
    *before, last = line.split("; ")
    last = f"({last})" if "=" not in re.sub("[<>=!]=|[a-z_]+=|{.*}", "", last) else last
    before = ["n, m = len(df), x.clip(0, 9).sum()", *before]
    value = f"len({last}) + np.random.laplace(0, 99)" if last.startswith("(df[np") else last
    *before, value = (*before, value) if value.startswith(("(", "len")) else (*before, value, "n")
    body = "\n".join(f"    {each}" for each in ['x, y = df["age"], df["pay"]', *before, f"return {value}"])
    file = tmp_path / "lesson.py"
    file.write_text(f"def lesson(df):\n{body}\n")
    names = dict(CONSTANTS)
    exec(compile(file.read_text(), str(file), "exec"), names)
    return names["lesson"], file


@pytest.mark.parametrize("line", sorted({instead for _, instead in LESSONS.values()} | {*FORMS.values(), ANY}))
def test_a_line_that_is_told_is_read(line, tmp_path):
    function, file = written(line, tmp_path)
    found = read(function, DOMAIN)
    assert not found.refused, f"{file.read_text()}\n{found.refused}"
    assert all(found.paths)


REFUSED = {
    "mean": lambda df: df["age"].mean(),
    "np.mean": lambda df: np.mean(df["age"]),
    "statistics.mean": lambda df: statistics.mean(df["age"]),
    "max": lambda df: df["age"].max(),
    "quantile": lambda df: df["age"].quantile(0.9),
    "np.percentile": lambda df: np.percentile(df["age"], 90),
    "std of a frame": lambda df: df.std(),
    "corr": lambda df: df["age"].corr(df["pay"]),
    "polyfit": lambda df: np.polyfit(df["age"], df["pay"], 1),
    "sample of a number": lambda df: len(df.sample(3)),
    "sample of a part": lambda df: len(df.sample(frac=0.1)),
    "sample with replacement": lambda df: len(df.sample(n=3, replace=True)),
    "head": lambda df: df.head(2)["age"].sum(),
    "iloc": lambda df: df["age"].iloc[0],
    "iloc of a frame": lambda df: df.iloc[0],
    "iat": lambda df: df.iat[0, 0],
    "nlargest": lambda df: df.nlargest(3, "age"),
    "sort_values": lambda df: df.sort_values("age")["age"].to_numpy()[0],
    "unique": lambda df: [each + 1 for each in df["age"].unique()],
    "Counter": lambda df: collections.Counter(df["age"]),
    "mode": lambda df: df["age"].mode(),
    "cumsum": lambda df: df["age"].cumsum().sum(),
    "rolling": lambda df: df["age"].rolling(3).sum().sum(),
    "ewm": lambda df: df["age"].ewm(span=3).mean().sum(),
    "shift": lambda df: df["age"].shift(1).sum(),
    "describe": lambda df: df.describe(),
    "any": lambda df: (df["age"] > 3).any(),
    "to_csv": lambda df: df.to_csv(),
    "melt": lambda df: df.melt(),
    "T": lambda df: df.T,
    "pivot_table": lambda df: df.pivot_table(index="age", values="pay", aggfunc="sum"),
    "ratio": lambda df: df["age"].sum() / len(df),
    "branch": lambda df: 1 if len(df) > 3 else 0,
    "raw": lambda df: len(df),
    "product": lambda df: len(df) * df["age"].sum(),
    "round": lambda df: round(df["age"].sum()),
    "text": lambda df: f"{len(df)} rows",
    "value_counts": lambda df: df["age"].value_counts() + np.random.laplace(0, 1, len(df["age"].value_counts())),
    "scale": lambda df: len(df) + np.random.laplace(0, 1 / len(df)),
    "a label": lambda df: df.drop([0]),
    "a function by its name": lambda df: df["age"].apply("sum"),
    "edges of the data": lambda df: np.digitize(df["age"], df["age"]),
    "raising": lambda df: df["age"].map(lambda age: 1 / age).sum(),
    "division by 0": lambda df: len(df) / 0,
    "groups": lambda df: [len(part) for _, part in df.groupby("age")],
    "to_dict": lambda df: df.to_dict(),
    "clip of a number's end": lambda df: np.clip(df, 0, 9),
    "is": lambda df: df["age"] is True,
    "in": lambda df: 3 in df,
    "rename": lambda df: df.rename(columns=str.upper)["AGE"].sum(),
    "a shallow copy": lambda df: df.copy(deep=False)["age"].sum(),
    "histogram of a frame": lambda df: np.histogram(df, bins=(0, 3, 6))[0],
    "an axis": lambda df: df["age"].sum(axis=2),
    "median of a column": lambda df: np.median(df["age"]),
    "columns of one name": lambda df: df[["age", "age"]].sum(),
    "keywords": lambda df: df["age"].sum(min_count=1) + np.random.laplace(0, 99),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_people_write_is_refused_with_line_reason_and_what_to_write_instead(name):
    found = read(REFUSED[name], DOMAIN)
    assert found.refused
    for each in found.refused:
        assert re.fullmatch(r"test_lessons\.py:\d+", each.line)
        assert each.what
        assert each.instead


@pytest.mark.nightly
def test_what_to_write_instead_of_what_people_write_is_read(tmp_path):
    lines = {each.instead for function in REFUSED.values() for each in read(function, DOMAIN).refused}
    for line in lines:
        function, file = written(line, tmp_path)
        found = read(function, DOMAIN)
        assert not found.refused, f"{file.read_text()}\n{found.refused}"
        assert all(found.paths), file.read_text()
    assert len(lines) >= 30


@pytest.mark.slow
def test_every_form_that_has_a_lesson_is_one_that_is_refused():
    told = set()
    for file in Path(state.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "refuse_form":
                told.add(ast.literal_eval(node.args[0]))
    assert told == set(FORMS)


def test_all_refusals_of_a_function_are_told_at_once():
    def many(df):
        middle = df["age"].median()
        slope = np.polyfit(df["age"], df["pay"], 1)
        if len(df) > 3:
            middle = 0
        return middle, slope, pd.Series([df["pay"].std()])

    found = read(many, DOMAIN)
    first = many.__code__.co_firstlineno
    assert {int(each.line.split(":")[1]) - first for each in found.refused} >= {1, 2, 3, 5}
