# ruff: noqa: NPY002 – targets draw from what people draw from
"""Is what people make of noisy numbers followed, or post-processing, in functions as they are, and the same as ever?"""

import json
import random

import numpy as np
import pandas as pd
import pytest

import dpaudit as dp
from dpaudit.sampling.outputs import OutputSnapshot
from dpaudit.targets.mechanism import mechanism
from dpaudit.tracing.domain import Labelled
from dpaudit.tracing.pair import Word, trace_pair
from dpaudit.tracing.runs import FollowedTarget

FRAME = pd.DataFrame({"city": list("aabbcab"), "age": [30, 41, 52, 63, 74, 25, 36]})
FRAMES = FRAME, FRAME.iloc[:-1]
CITIES = ["a", "b", "c"]


def counts(df):
    return df["city"].value_counts().reindex(CITIES, fill_value=0)


def noisy(df):
    return counts(df) + np.random.laplace(0, 1, 3)


def whole(df):
    return int(round(len(df) + np.random.laplace()))  # noqa: RUF046


def text(df):
    n = len(df) + np.random.laplace()
    return f"about {n:.1f} of {n}, {n!r}" + str(n) + "%.2f" % n  # noqa: UP031


def as_json(df):
    n = len(df) + np.random.laplace()
    return json.dumps({"n": round(n, 2), "exactly": n})


def largest(df):
    return noisy(df).nlargest(2).round(1).to_dict()


def sorted_frame(df):
    out = pd.DataFrame({"city": CITIES, "n": noisy(df)})
    return out.sort_values("n").head(2).reset_index(drop=True)


def of_a_dict(df):
    found = noisy(df).to_dict()
    return sorted(found, key=found.get), max(found.values()), pd.Series(found).clip(lower=0)


def in_place(df):
    table = counts(df)
    other = table
    table += np.random.laplace(0, 1, 3)
    rows = np.zeros(3)
    rows += table.to_numpy()
    rows[rows < 0] = 0
    return table, other, rows


def into_a_column(df):
    table = pd.DataFrame({"n": counts(df)})
    table["noisy"] = table["n"] + np.random.laplace(0, 1, 3)
    return table["noisy"].where(table["noisy"] > 1, 0.0)


def solved(df):
    a = np.eye(2) * 3 + np.random.laplace(0, 1, (2, 2)) * 0
    return np.linalg.solve(a, np.array([len(df) + np.random.laplace(), 1.0]))


def masked(df):
    found = noisy(df)
    return found[found > 1].index.tolist(), found.iloc[0], found["b"], len(found), "a" in found


def merged(df):
    table = noisy(df).rename("n").rename_axis("city").reset_index()
    return table.merge(pd.DataFrame({"city": CITIES, "size": [1, 2, 4]}), on="city").assign(
        rate=lambda t: t["n"] / t["size"]
    )


def pivoted(df):
    table = pd.crosstab(df["city"], df["age"] > 40).reindex(index=CITIES, columns=[False, True], fill_value=0)
    return (table + np.random.laplace(0, 1, table.shape)).T.clip(lower=0).astype(int)


def by_callbacks(df):
    return list(map(lambda n: round(n), noisy(df))), noisy_of_python(df)  # noqa: C417


def noisy_of_python(df):
    return sum(np.random.laplace() * 0 for _ in range(2))


def two_draws_of_random(df):
    return max(0, round(len(df) + (random.expovariate(1) - random.expovariate(1))))


class Budget:
    def __init__(self, left):
        self.left = left

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.left = 0

    def scale(self, epsilon):
        self.left -= epsilon
        return 1 / epsilon


def by_a_manager(df):
    with Budget(1.0) as budget:
        n = len(df) + np.random.laplace(0, budget.scale(1.0))
    match round(n):
        case 0:
            return "nobody"
        case found:
            return found


EVERY = [noisy, whole, text, as_json, largest, sorted_frame, of_a_dict, in_place, into_a_column, solved, masked, merged,
         pivoted, by_callbacks, two_draws_of_random, by_a_manager]  # fmt: skip


def traced(function, claim, pair=FRAMES):
    target = FollowedTarget(mechanism(function), {}, OutputSnapshot)
    return trace_pair(target, pair, dp.parse_claim(claim), seed=0, paths=3)


@pytest.mark.slow
@pytest.mark.parametrize("function", EVERY, ids=lambda each: each.__name__)
def test_what_is_made_of_released_numbers_costs_nothing_more(function):
    found = traced(function, "epsilon=1")
    assert found.worst.word is Word.SUPPORTED, [each.text for each in found.worst.found]
    assert found.worst.price.epsilon == pytest.approx(1.0)
    assert traced(function, "epsilon=0.49").worst.word >= Word.NOT_SUPPORTED


@pytest.mark.parametrize("function", EVERY, ids=lambda each: each.__name__)
def test_a_run_that_is_followed_returns_what_the_function_returns(function):
    for seed in range(3):
        run = FollowedTarget(mechanism(function), {}, OutputSnapshot).run(FRAME, seed)
        np.random.seed(seed)
        random.seed(seed)
        plain = OutputSnapshot(function(FRAME.copy()))
        assert (run.kept.form, run.kept.numbers) == (plain.form, plain.numbers)


@pytest.mark.slow
def test_the_largest_of_a_noisy_series_is_one_decision():
    """The exponential mechanism by Gumbel noise of scale 2/ε: each count moves by 1 at most, for ε/2."""

    def winner(df):
        return (counts(df) + np.random.gumbel(0, 2, 3)).idxmax()

    for pair in (FRAMES, FRAMES[::-1]):
        assert traced(winner, "epsilon=0.5", pair).worst.word is Word.SUPPORTED
    assert traced(winner, "epsilon=0.4").worst.word is Word.NOT_SUPPORTED


def test_a_function_whose_source_is_not_read_is_followed_as_it_is():
    space = {"np": np}
    exec("def release(data):\n    return len(data) + np.random.laplace(0, 0.5)\n", space)
    assert traced(space["release"], "epsilon=1").worst.word is Word.VIOLATED


STATE = 0


def with_a_global(data):
    global STATE
    STATE += 1
    return len(data) + np.random.laplace(0, 0.5)


def test_nor_is_one_that_writes_a_global_name():
    assert traced(with_a_global, "epsilon=1").worst.word is Word.VIOLATED


@pytest.mark.slow
def test_what_a_library_gets_counts_as_released_once_and_nothing_leaks_beside_it():
    """The plain number that a library got, and the one that is followed, are one number: c = 0 and c = −1 are not."""

    def both(df):
        noise = np.random.laplace()
        return json.dumps(noise), len(df) + noise

    assert traced(both, "epsilon=1").worst.word >= Word.NOT_PRICED
    assert traced(both, "epsilon=1").certain is None


@pytest.mark.slow
def test_labels_are_those_of_pandas_and_a_column_is_reached_by_its_name():
    seen = []

    def release(df):
        found = pd.DataFrame({"n": counts(df), "m": counts(df)}) + np.random.laplace(0, 1, (3, 2))
        seen.append((isinstance(found, pd.DataFrame), list(found.columns), type(found.n) is type(found)))
        return found.n

    found = traced(release, "epsilon=1").worst
    assert found.word is Word.SUPPORTED and found.price.epsilon == pytest.approx(1.0)
    assert seen[0][:2] == (True, ["n", "m"]) and Labelled.__name__ == "Labelled"
