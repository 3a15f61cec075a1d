# ruff: noqa: NPY002, PERF401, PERF402, B007, A001, C416, RUF024 – functions as people write them
"""Is a loop that is left to Python what it is in the function, and is one that is more than plain never left?"""

import math
import types
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest

from dpaudit.program.outcome import same
from dpaudit.reading import definite
from dpaudit.reading.runs.passes import UnreadError, make

PUBLIC = [1, 2]
NESTED = [[1], [2]]


def _data():
    rng = np.random.default_rng(3)
    return pd.DataFrame({
        "age": rng.integers(0, 100, 40), "income": rng.uniform(0, 1000, 40), "city": rng.choice(list("abc"), 40),
    })  # fmt: skip


def counted_by_rows(df):
    total, n = 0.0, {}
    for _, row in df.iterrows():
        if row["age"] > 30:
            n[row["city"]] = n.get(row["city"], 0) + 1
            total += min(row["income"], 500.0)
    return total, n, row["city"], np.random.random() > 2


def tuples(df):
    old = 0
    for row in df.itertuples(index=False):
        old += row.age >= 65
    return old, row.age, np.random.random() > 2


def grouped(df):
    groups, last = {}, None
    for city, age in zip(df["city"], df["age"]):  # noqa: B905
        groups.setdefault(city, []).append(age)
        last = groups
    same_one = groups["a"]
    same_one.append(7)
    groups["b"] += [8]
    return groups, last is groups, last["a"][-1], np.random.random() > 2


def lists_of_before(df):
    first = []
    groups = {"a": first, "b": [], "c": []}
    for city in df["city"].tolist():
        groups[city].append(math.floor(len(groups[city]) / 2))
    first.append(1)
    return groups, np.random.random() > 2


def keys_of_one_list(df):
    found, one = dict.fromkeys("ab", 0), dict.fromkeys(["a", "b"], [])
    for city in df["city"]:
        if city in found:
            found[city] += 1
    one["a"].append(3)
    return found, one["b"], one["a"] is one["b"], dict.fromkeys("aa"), np.random.random() > 2


def default(df):
    counts = defaultdict(int)
    for city in df["city"]:
        counts[city] += 1
    return dict(counts), np.random.random() > 2


def broken_off(df):
    for place, age in enumerate(df["age"]):
        if age > 90:
            break
    else:
        place = -1
    return place, age, np.random.random() > 2


def raises(df):
    seen = []
    try:
        for age in df["age"]:
            seen.append(age)
            done = math.fmod(1, age - df["age"].iloc[3])
    except ValueError as error:
        return str(error), len(seen), done, np.random.random() > 2


def never_bound(df):
    try:
        for age in []:
            last = age
        return last, np.random.random()
    except UnboundLocalError as error:
        return str(error), np.random.random() > 2


def some_runs(df):
    seen, n = [], 0
    if np.random.random() < 0.5:
        for age in df["age"]:
            seen.append(age)
            n += 1
    return len(seen) - n


def twice(df):
    first, second = [], []
    for age in df["age"]:
        first.append(age)
    for age in df["age"]:
        second.append(age)
    second.append(0)
    return first, second, np.random.random() > 2


def keeps_public(df):
    seen = []
    for age in df["age"]:
        seen.append(PUBLIC)
    return seen[3] is PUBLIC, np.random.random() > 2


def counted_by_generator(df):
    counts = Counter(min(int(age) // 10, 5) for age in df["age"])
    return {decade: counts.get(decade, 0) for decade in range(6)}, counts["x"], np.random.random() > 2


def comprehensions(df):
    ages = [round(age / 7, 2) for age in df["age"] if age > 10]
    cities = {city.upper() for city in df["city"].tolist()}
    best = {f"{city}!": max(ages) for city, age in zip(df["city"], df["age"]) if age}  # noqa: B905
    pairs = [(age, other) for age in df["age"][:9] for other in df["age"][:9] if age < other]
    ages.append(1.0)
    best["a"] = 0
    return ages, cities, best, pairs, sum(x for x in ages), " ".join(c for c in df["city"]), np.random.random() > 2


def one_name_twice(df):
    x = df["age"].tolist()
    x = [x for x in x if x in [y for y in x]] if False else [x + 1 for x in x]
    return x, [x for x in [x for x in x]], np.random.random() > 2


def rows_of_a_list(df):
    rows = [[age, city] for age, city in zip(df["age"], df["city"])]  # noqa: B905
    same_one = rows[3]
    same_one.append("z")
    return rows, max(row for row in rows) is same_one, np.random.random() > 2


def raises_within(df):
    try:
        return [1 / (age - int(df["age"].iloc[3])) for age in df["age"].tolist()], np.random.random()
    except ZeroDivisionError as error:
        return str(error), np.random.random() > 2


def some_runs_comprehend(df):
    seen = [0]
    if np.random.random() < 0.5:
        seen = [age * 2 for age in df["age"]]
    return len(seen) in (1, 40)


LEFT = [
    counted_by_generator,
    comprehensions,
    one_name_twice,
    rows_of_a_list,
    raises_within,
    some_runs_comprehend,
    keys_of_one_list,
    counted_by_rows,
    tuples,
    grouped,
    lists_of_before,
    default,
    broken_off,
    raises,
    never_bound,
    some_runs,
    twice,
    keeps_public,
]


@pytest.mark.slow
@pytest.mark.parametrize("function", LEFT)
def test_all_runs_return_what_the_function_returns(function):
    """Its draws are of no account, so that each run returns what a call does; twice, as the second time it is known."""
    data = _data()
    for _ in range(2):
        found = make(function, (data,), {}, 40, np.random.SeedSequence(1), 40)
        for part in found.parts:
            assert all(same(part.of(place), function(data)) for place in range(len(part.runs)))


@pytest.mark.parametrize(
    "function",
    [counted_by_rows, tuples, grouped, lists_of_before, default, broken_off, twice, counted_by_generator],
)
def test_it_is_left_to_python(function, monkeypatch):
    """The loop is no row-by-row reading of ours."""
    made = []
    known = definite.looped
    monkeypatch.setattr(definite, "looped", lambda *args: made.append(known(*args)) or made[-1])
    make(function, (_data(),), {}, 10, np.random.SeedSequence(1), 0)
    assert made and all(each is not None for each in made)


class Odd(float):
    """A number that draws."""

    def __add__(self, other):
        return np.random.random()

    __radd__ = __add__


ODD = [Odd(1.0), Odd(2.0)]
TABLE = pd.DataFrame({"odd": pd.Series(ODD, dtype=object)})


def draws_by_operator(df):
    total = 0.0
    for each in ODD:
        total += each
    return total


def draws_by_cell(df):
    total = 0.0
    for _, row in TABLE.iterrows():
        total += row["odd"]
    return total


class Like(type):
    """What says that it is float."""

    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return hash(float)


class Forged(float, metaclass=Like):
    def __radd__(self, other):
        return np.random.random()


def draws_by_forged_type(df):
    total = 0.0
    for each in FORGED:
        total += each
    return total


class Factory:
    def __eq__(self, other):
        return True

    __hash__ = None

    def __call__(self):
        return np.random.random()


def draws_by_factory(df):
    found, total = defaultdict(FACTORY), 0.0
    for each in (1, 2):
        total += found[each]
    return total


FORGED, FACTORY, pandas = [Forged(1.0)], Factory(), types.ModuleType("pandas")
pandas.isna = lambda value: np.random.random()


def draws_by_forged_module(df):
    total = 0.0
    for each in (1, 2):
        total += pandas.isna(each)
    return total


def draws_by_name(df):
    total, sum = 0.0, np.random.random
    for _ in range(3):
        total += sum()
    return total


def draws_of_frame(df):
    total = 0.0
    for _ in range(3):
        total += df.sample(1)["income"].sum()
    return total


def draws_by_module(df):
    total = 0.0
    for _ in range(3):
        total += np.random.random()
    return total


def draws_in_comprehension(df):
    return sum([np.random.random() for _ in df["age"]])


def draws_in_generator(df):
    return sum(each for each in ODD)


def draws_by_name_in_generator(df):
    sum = lambda values: np.random.random() + len(list(values))  # noqa: E731
    return sum(age for age in df["age"])


def draws_by_key(df):
    int = ODD[0].__add__
    return str([int(each) for each in df["age"]])


def draws_by_target(df):
    return str([int(each) for int in [ODD[0].__add__] for each in df["age"]])


@pytest.mark.parametrize(
    "function",
    [draws_in_comprehension, draws_in_generator, draws_by_name_in_generator, draws_by_key, draws_by_target,
     draws_by_operator, draws_by_cell, draws_by_name, draws_of_frame, draws_by_module, draws_by_forged_type,
     draws_by_factory, draws_by_forged_module],
)  # fmt: skip
def test_what_draws_is_not_left(function):
    """Each run has draws of its own, or it is not read."""
    try:
        found = make(function, (_data(),), {}, 20, np.random.SeedSequence(1))
    except UnreadError:
        return
    (part,) = found.parts
    assert len({part.of(place) for place in range(20)}) > 1


def writes_what_is_not_its_own(df):
    for each in df["age"]:
        PUBLIC.append(each)
    return np.random.random()


def writes_by_third_argument(df):
    out = np.zeros(2)
    other = out
    for each in (1.0, 2.0):
        np.add(each, each, out)
    return other[0] + np.random.random()


def writes_into_a_part(df):
    for each in NESTED:
        each.append(1)
    return np.random.random()


def writes_through_a_list(df):
    kept = []
    for each in NESTED:
        kept.append(each)
    kept[0].append(5)
    return np.random.random()


def writes_in_a_comprehension(df):
    return len([PUBLIC.append(each) for each in df["age"]]) + np.random.random()


@pytest.mark.parametrize(
    "function",
    [
        writes_in_a_comprehension,
        writes_what_is_not_its_own,
        writes_by_third_argument,
        writes_into_a_part,
        writes_through_a_list,
    ],
)
def test_what_changes_something_else_is_not_left(function):
    """What was there before the call stays as it is."""
    with pytest.raises(UnreadError):
        make(function, (_data(),), {}, 20, np.random.SeedSequence(1), 0)
    assert PUBLIC == [1, 2] and NESTED == [[1], [2]]
