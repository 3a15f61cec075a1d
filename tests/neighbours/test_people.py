"""Where a column names the person, do neighbours differ in people instead of records?"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit import UsageError
from dpaudit.neighbours import parse_relation
from dpaudit.tools import Relation


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("add-remove(person=user_id)", Relation("add-remove", person="user_id")),
        ("replace( group=2 , person = user id )", Relation("replace", group=2, person="user id")),
        ("add-remove(person=group=3)", Relation("add-remove", person="group=3")),
    ],
)
def test_texts_with_a_person(text: str, relation: Relation) -> None:
    assert parse_relation(text) == relation
    assert parse_relation(str(relation)) == relation


@pytest.mark.parametrize(
    "text", ["queries(person=a)", "declared(person=a)", "replace(person=)", "replace(person=a, person=b)"]
)
def test_texts_without_sense_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="person=user_id"):
        parse_relation(text)


@pytest.mark.parametrize("name", ["", " a", "a,b", "a(b)", 7])
def test_a_name_that_could_not_be_read_back_is_refused(name: Any) -> None:
    with pytest.raises(UsageError, match="rename the column"):
        Relation("replace", person=name)


ROWS = st.lists(st.fixed_dictionaries({"who": st.sampled_from([1, 2, 3, None]), "x": st.integers(0, 1)}), max_size=5)


def steps(kind: str, left: list[Any], right: list[Any]) -> float:
    """The fewest steps from one dataset to another, all others in their order: the slow, obvious twin."""

    def by_person(rows: list[Any]) -> dict[Any, list[int]]:
        return {
            who: sorted(row["x"] for row in rows if row["who"] == who) for who in {row["who"] for row in rows} - {None}
        }

    own, other = by_person(left), by_person(right)
    nobody = [sorted(row["x"] for row in rows if row["who"] is None) for rows in (left, right)]
    gone, come = map(list, nobody)
    for x in list(gone):
        if x in come:
            gone.remove(x)
            come.remove(x)
    changed = {who for who in own.keys() & other.keys() if own[who] != other[who]}
    leaving, joining = own.keys() - other.keys(), other.keys() - own.keys()

    def kept(rows: list[Any], less: set[Any], alone: list[int]) -> set[tuple[Any, ...]]:
        """What may be left of the rows without those people, and without so many rows of nobody."""
        rest = [(row["who"], row["x"]) for row in rows if row["who"] not in less]
        places = [place for place, (who, _) in enumerate(rest) if who is None]
        return {
            tuple(row for place, row in enumerate(rest) if place not in out)
            for out in itertools.combinations(places, len(alone))
            if sorted(rest[place][1] for place in out) == alone
        }

    if not kept(left, changed | leaving, gone) & kept(right, changed | joining, come):
        return float("inf")
    removed, added = len(leaving) + len(gone), len(joining) + len(come)
    if kind == "add-remove":
        return removed + added + 2 * len(changed)
    return removed + len(changed) if removed == added else float("inf")


@pytest.mark.slow
@settings(derandomize=True, max_examples=120, deadline=None)
@given(st.sampled_from(["add-remove", "replace"]), st.integers(1, 3), ROWS, ROWS, st.integers(0, 5))
def test_people_are_neighbours_exactly_if_few_enough_change(
    kind: str, group: int, common: Any, new: Any, cut: int
) -> None:
    left, right = common, common[:cut] + new
    relation = Relation(kind, group=group, person="who")
    assert relation.accepts(left, right) == (0 < steps(kind, left, right) <= group)
    assert relation.accepts(left, right) == relation.accepts(right, left)


FRAME = pd.DataFrame({"who": [1, 1, 2], "x": [5, 6, 7]})


@pytest.mark.parametrize(
    "make",
    [
        lambda f: f,
        pl.from_pandas,
        lambda f: f.to_dict("records"),
        lambda f: f.to_records(index=False),
        lambda f: dict(enumerate(f.to_dict("records"))),
    ],
)
def test_all_kinds_of_data_have_people(make: Any) -> None:
    relation = parse_relation("add-remove(person=who)")
    relation.check(
        make(FRAME),
        make(FRAME.iloc[2:].set_axis([2], axis=0)) if not isinstance(make(FRAME), dict) else {2: make(FRAME)[2]},
    )
    data, less = make(FRAME), make(FRAME.iloc[:1])
    with pytest.raises(UsageError, match=r"two steps each|people removed"):
        relation.check(data, less)


def test_positions_name_a_person_where_records_are_tuples() -> None:
    parse_relation("add-remove(person=0)").check([(1, 5), (1, 6), (2, 7)], [(2, 7)])


@pytest.mark.parametrize("data", [FRAME, [1, 2], [{"x": 1}], np.zeros(3)])
def test_data_without_the_column_are_refused(data: Any) -> None:
    with pytest.raises(UsageError, match="no column 'user'"):
        parse_relation("replace(person=user)").check(data, data[:0])


def test_one_and_true_are_two_people() -> None:
    rows = [{"who": 1}, {"who": True}]
    for who, other in itertools.permutations(rows):
        parse_relation("add-remove(person=who)").check([who, other], [other])


@pytest.mark.slow
def test_a_new_person_may_own_what_all_others_have():
    data = pd.DataFrame({"user": range(1, 6), "word": [0, 1, 2, 3, 3]})

    def wrong(people):
        return float(len(people.drop_duplicates("word").groupby("user").head(1)) + np.random.laplace())  # noqa: NPY002

    found = dp.audit(wrong, data=data, relation="add-remove(person=user)", claim="epsilon=1", runs=2_000, seed=0)
    assert found.verdict is dp.Verdict.VIOLATED
    assert "before all others with every different record" in found.to_json()
