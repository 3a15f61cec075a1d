"""Are simpler pairs neighbours, and does asking for them again come to an end?"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.nightly import mostly_at_night

from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.candidates.candidates import candidates, smaller

from .conftest import FRAME, RECORDS

RELATIONS = ("add-remove", "replace", "add-remove(group=3)", "replace(group=2)")


def shrunk(pair: Any, relation: str, holds: Any) -> Any:
    """Shrink a pair as far as it goes, as any greedy search would."""
    for _ in range(300):
        pair, before = next((simpler for simpler in smaller(pair, relation) if holds(simpler)), pair), pair
        if pair is before:
            return pair
    raise AssertionError("it does not come to an end")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "relation"), mostly_at_night(itertools.product(RECORDS, RELATIONS)))
def test_simpler_pairs_are_neighbours_and_come_to_an_end(kind: str, relation: str) -> None:
    parsed = parse_relation(relation)
    for candidate in candidates(RECORDS[kind], relation, limit=6)[::3]:
        pair = candidate.pair()
        for simpler in smaller(pair, relation):
            parsed.check(*simpler)
            assert type(simpler[0]) is type(pair[0])
        end = shrunk(pair, relation, lambda simpler: True)
        assert max(map(len, end)) <= 1


def test_a_violation_shrinks_to_what_it_needs() -> None:
    data0 = pd.DataFrame({"x": np.arange(100.0), "y": np.arange(100)})
    data1 = pd.DataFrame({"x": [*np.arange(99.0), 1e308], "y": [*range(99), 7]})
    end = shrunk((data0, data1), "replace", lambda pair: pair[1]["x"].max() > 1e300 and len(pair[0]) >= 3)
    assert len(end[0]) == 3
    assert end[0]["y"].nunique() == 1
    assert end[0]["y"].tolist() == end[1]["y"].tolist()


def test_a_person_loses_records() -> None:
    rows = [{"who": 1, "x": 5}] * 8 + [{"who": 2, "x": 6}]
    end = shrunk((rows, rows[8:]), "add-remove(person=who)", lambda pair: len(pair[0]) > len(pair[1]))
    assert end == ([{"who": 1, "x": 5}], [])


@pytest.mark.parametrize(
    ("pair", "end"),
    [
        (([5, 6, 7], [5, 7, 7]), ([0], [1])),
        (((5.0, 6.0), (5.0, 7.0)), ((0.0,), (1.0,))),
        ((np.array([5, 6]), np.array([5, 7])), (np.array([0]), np.array([1]))),
        ((5, 6), (0, 1)),
    ],
)
def test_answers_shrink_to_one_that_moves_from_0(pair: Any, end: Any) -> None:
    found = shrunk(pair, "queries", lambda simpler: True)
    assert type(found[0]) is type(end[0])
    assert [np.asarray(side).tolist() for side in found] == [np.asarray(side).tolist() for side in end]


def test_declared_pairs_and_single_values_stay_as_they_are() -> None:
    assert list(smaller((1, 2), "declared")) == []
    assert list(smaller(("a", "b"), "replace")) == []


def test_a_large_pair_begins_with_the_boldest() -> None:
    data = FRAME.iloc[np.zeros(100_000, dtype=int)].reset_index(drop=True)
    first = next(smaller((data, data.iloc[:-1]), "add-remove"))
    assert [len(side) for side in first] == [1, 0]
