"""Does every pair that a strategy draws pass its relation, and does it shrink to something small?"""

from __future__ import annotations

import doctest
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit import strategies
from dpaudit.neighbours import parse_relation

laws = settings(derandomize=True, max_examples=60, deadline=None)
RECORDS = ["add-remove", "replace", "add-remove(group=3)", "replace(group=2)"]
ANSWERS = ["queries", "queries(one)", "queries(monotone)", "queries(norm=1)", "queries(norm=2, group=2)"]
FRAME = pd.DataFrame({"age": np.array([3], dtype=np.int8), "mass": [2.5], "kind": ["a"], "on": [True]})
DOMAINS: list[Any] = [(0, 3), (0.0, 1.0), ["a", "b"], {"age": (0, 2), "kind": ["a", "b"]}]
LIKES: list[Any] = [
    FRAME,
    pl.from_pandas(FRAME),
    FRAME.astype({"kind": "category"}),
    np.zeros((2, 2), dtype=np.float32),
    np.array([(1, "ab")], dtype="i4,U3"),
    {"ada": 1},
    ("a",),
    [1.5],
    pd.Series([1, 2], name="n"),
]


@pytest.mark.slow
@laws
@given(st.data(), st.sampled_from(RECORDS), st.integers(1, 4))
def test_pairs_over_a_domain_are_neighbours(data: st.DataObject, relation: str, size: int) -> None:
    domain = data.draw(st.sampled_from(DOMAINS))
    pair = data.draw(strategies.pairs(relation, domain=domain, max_size=size))
    parse_relation(relation).check(*pair)
    assert all(len(side) <= size for side in pair)
    for value in (
        value for side in pair for record in side for value in (record.values() if type(record) is dict else [record])
    ):
        assert value in ("a", "b") or 0 <= value <= 3


@pytest.mark.slow
@laws
@given(st.data(), st.sampled_from(RECORDS), st.integers(0, len(LIKES) - 1))
def test_pairs_like_data_are_neighbours_of_their_form(data: st.DataObject, relation: str, number: int) -> None:
    like = LIKES[number]
    pair = data.draw(strategies.pairs(relation, like=like))
    parse_relation(relation).check(*pair)
    for side in pair:
        assert type(side) is type(like)
        if isinstance(like, pd.DataFrame):
            assert list(side.dtypes) == list(like.dtypes)


@pytest.mark.slow
@laws
@given(st.data(), st.sampled_from(["add-remove(person=u)", "replace(person=u)", "add-remove(group=2, person=u)"]))
def test_people_are_neighbours(data: st.DataObject, relation: str) -> None:
    pair = data.draw(strategies.pairs(relation, domain={"u": [1, 2, 3], "x": (0, 1)}))
    parse_relation(relation).check(*pair)


@pytest.mark.slow
@laws
@given(st.data(), st.sampled_from(ANSWERS), st.sampled_from([(0, 3), (0.0, 2.0), None]))
def test_answers_are_neighbours(data: st.DataObject, relation: str, domain: Any) -> None:
    pair = data.draw(strategies.pairs(relation, domain=domain))
    parse_relation(relation).check(*pair)


@laws
@given(strategies.pairs("replace", like="a", domain=["a", "b"]))
def test_single_values_are_replaced(pair: tuple[str, str]) -> None:
    assert set(pair) == {"a", "b"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("relation", "domain", "holds", "found"),
    [
        ("add-remove", (0, 9), lambda pair: abs(sum(pair[0]) - sum(pair[1])) >= 5, [[], [5]]),
        ("replace", (0, 9), lambda pair: abs(sum(pair[0]) - sum(pair[1])) >= 5, [[0], [5]]),
        ("add-remove", {"age": (0, 9)}, lambda pair: len(pair[0]) > 1, [[{"age": 0}], [{"age": 0}, {"age": 0}]]),
        ("queries", (0, 9), lambda pair: True, [[0], [1]]),
    ],
)
def test_pairs_shrink_to_small_datasets(relation: str, domain: Any, holds: Any, found: list[Any]) -> None:
    pair = find(strategies.pairs(relation, domain=domain), holds)
    assert sorted(map(list, pair), key=repr) == sorted(found, key=repr)


@pytest.mark.slow
def test_both_directions_and_every_change_are_drawn() -> None:
    for holds in (lambda p: len(p[0]) < len(p[1]), lambda p: len(p[0]) > len(p[1]), lambda p: min(map(len, p)) >= 3):
        find(strategies.pairs("add-remove", domain=(0, 9)), holds)
    find(strategies.pairs("add-remove(group=2)", domain=(0, 9)), lambda p: len(p[0]) == len(p[1]))
    find(strategies.pairs("replace(person=u)", domain={"u": [1, 2]}), lambda p: len(p[0]) != len(p[1]))
    find(strategies.datasets(like=[1.5]), lambda data: any(np.isnan(data)))


@laws
@given(strategies.datasets({"age": (0, 9)}, min_size=2, max_size=3))
def test_datasets_have_the_size_asked_for(data: Any) -> None:
    assert 2 <= len(data) <= 3


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: strategies.datasets(), "give a domain"),
        (lambda: strategies.datasets((0, 1), min_size=3, max_size=2), "min_size"),
        (lambda: strategies.pairs("declared"), "no neighbours follow"),
        (lambda: strategies.pairs("replace", domain=(0, 1), max_size=0), "max_size"),
        (lambda: strategies.pairs("queries", domain=["a"]), "domain of numbers"),
        (lambda: strategies.pairs("add-remove", like=3), "needs records"),
        (lambda: strategies.pairs("replace(person=u)", domain={"x": (0, 1)}), "no column 'u'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make: Any, why: str) -> None:
    with pytest.raises(dp.UsageError, match=why):
        make()


@pytest.mark.slow
def test_the_examples_of_the_documentation_hold() -> None:
    outcome = doctest.testmod(strategies)
    assert outcome.attempted >= 4
    assert outcome.failed == 0


@pytest.mark.slow
def test_hypothesis_is_imported_with_strategies_alone() -> None:
    code = (
        "import sys, dpaudit, dpaudit.neighbours.candidates.candidates, dpaudit.neighbours.candidates.exhaustive\n"
        "assert 'hypothesis' not in sys.modules and 'pandas' not in sys.modules\n"
        "dpaudit.strategies\n"
        "assert 'hypothesis' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
