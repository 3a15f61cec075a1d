"""Are all pairs of tiny datasets there, each once?"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpaudit import UsageError
from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.candidates.exhaustive import tiny_pairs


def key(data: Any) -> tuple[Any, ...]:
    return tuple(sorted(map(repr, data)))


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("relation", ["add-remove", "replace", "add-remove(group=2)", "replace(group=2)"])
def test_all_pairs_of_tiny_datasets_are_there_once(relation: str, size: int) -> None:
    records = [0, 10, 5]
    every = [list(rows) for n in range(size + 1) for rows in itertools.combinations_with_replacement(records, n)]
    parsed = parse_relation(relation)
    expected = {frozenset((key(a), key(b))) for a, b in itertools.combinations(every, 2) if parsed.accepts(a, b)}
    found = Counter(frozenset(map(key, one.pair())) for one in tiny_pairs((0, 10), relation, size=size))
    assert set(found) == expected
    assert set(found.values()) <= {1}


@pytest.mark.parametrize("relation", ["add-remove(person=u)", "replace(person=u)"])
def test_all_pairs_of_tiny_datasets_of_people_are_there(relation: str) -> None:
    records = [{"u": u, "x": x} for u in (1, 2) for x in (0, 1)]
    every = [list(rows) for n in range(3) for rows in itertools.combinations_with_replacement(records, n)]
    parsed = parse_relation(relation)
    expected = {frozenset((key(a), key(b))) for a, b in itertools.combinations(every, 2) if parsed.accepts(a, b)}
    found = {frozenset(map(key, one.pair())) for one in tiny_pairs({"u": [1, 2], "x": (0, 1)}, relation, size=2)}
    assert found == expected


def test_answers_move_within_their_range() -> None:
    for relation in ("queries", "queries(one)", "queries(monotone)", "queries(norm=2)"):
        found = tiny_pairs((0, 3), relation, size=2)
        assert ([0], [1]) in [one.pair() for one in found]
        for one in found:
            parse_relation(relation).check(*one.pair())
            assert all(0 <= answer <= 3 for side in one.pair() for answer in side)


@pytest.mark.slow
def test_tiny_datasets_take_the_form_of_data() -> None:
    like = pd.DataFrame({"age": np.array([3, 4], dtype=np.int8), "kind": ["a", "b"]})
    for one in tiny_pairs({"age": (0, 100), "kind": ["a", "b"]}, "replace", size=2, like=like, limit=200):
        for side in one.pair():
            assert list(side.dtypes) == list(like.dtypes)
        parse_relation("replace").check(*one.pair())


def test_many_columns_are_varied_one_by_one_and_the_smallest_pairs_come_first() -> None:
    domain = {f"c{place}": (0, 9) for place in range(8)}
    found = tiny_pairs(domain, "add-remove", limit=100)
    assert len(found) == 100
    added = [one.pair()[1][0] for one in found[:19]]
    assert {tuple(record.values()) for record in added} >= {(0,) * 8, (9,) * 8, (9, *(0,) * 7), (*(0,) * 7, 9)}
    assert len({one.name for one in found}) == 100


@pytest.mark.parametrize(
    ("domain", "relation", "why"),
    [
        (None, "replace", "a declared domain"),
        ((0, 1), "declared", "no neighbours follow"),
        (["a"], "queries", "a domain of numbers"),
        ({}, "replace", "names no column"),
        ({"a": (0, 1)}, "replace(person=b)", "no column 'b'"),
    ],
)
def test_what_cannot_be_is_refused(domain: Any, relation: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        tiny_pairs(domain, relation)
