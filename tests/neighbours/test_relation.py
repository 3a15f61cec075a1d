"""Are two datasets neighbours, by the definition and by nothing else?"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpaudit import UsageError
from dpaudit.neighbours import parse_relation
from dpaudit.tools import Relation

MOVEMENTS = ["all", "one", "monotone", "norm=1", "norm=2"]
RELATIONS = st.builds(Relation, st.sampled_from(["add-remove", "replace", "declared"]), group=st.integers(1, 9)) | (
    st.builds(Relation, st.just("queries"), st.sampled_from(MOVEMENTS), st.integers(1, 9))
)
RECORDS = st.lists(st.integers(0, 3), max_size=5)
ANSWERS = st.lists(st.integers(-2, 2), min_size=1, max_size=3)
laws = settings(derandomize=True, max_examples=120, deadline=None)


# --- texts ---


@laws
@given(RELATIONS)
def test_a_relation_is_read_back_from_its_text(relation: Relation) -> None:
    assert parse_relation(str(relation)) == relation
    assert parse_relation(relation) is relation


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("add-remove", Relation("add-remove")),
        (" replace ( group = 3 ) ", Relation("replace", group=3)),
        ("queries", Relation("queries", "all")),
        ("queries(all)", Relation("queries")),
        ("queries(norm=1)", Relation("queries", "norm=1")),
        ("queries(group=2, monotone)", Relation("queries", "monotone", 2)),
        ("declared", Relation("declared")),
    ],
)
def test_texts_of_relations(text: str, relation: Relation) -> None:
    assert parse_relation(text) == relation


@pytest.mark.parametrize(
    "text",
    [
        "",
        "neighbours",
        "Add-Remove",
        "add-remove(",
        "add-remove(one)",
        "queries(norm=3)",
        "queries(one, all)",
        "replace(group=0)",
        "replace(group=-1)",
        "replace(group=1.5)",
        "replace(group=2, group=3)",
        "replace(2)",
    ],
)
def test_a_text_that_is_no_relation_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(UsageError, match=r"add-remove\(group=5\)") as refusal:
        parse_relation(text)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize("wrong", [("nearby", "all", 1), ("replace", "one", 1), ("replace", "all", 0)])
def test_no_relation_can_be_made_that_does_not_exist(wrong: tuple[str, str, int]) -> None:
    with pytest.raises(UsageError):
        Relation(*wrong)


# --- laws, against a search for a chain of steps: the slow, obvious twin ---


def one_step(kind: str, records: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Every dataset that one step leads to: all other records keep their order."""
    less = [records[:i] + records[i + 1 :] for i in range(len(records))]
    more = [
        (*base[:place], new, *base[place:])
        for base in (less if kind == "replace" else [records])
        for new in range(4)
        for place in range(len(base) + 1)
    ]
    return set(more if kind == "replace" else less + more)


def within_steps(kind: str, start: list[int], end: list[int], steps: int) -> bool:
    reached = {tuple(start)}
    for _ in range(steps):
        reached |= set().union(*(one_step(kind, data) for data in reached))
    return tuple(end) in reached


@pytest.mark.slow
@laws
@given(st.sampled_from(["add-remove", "replace"]), st.integers(1, 2), RECORDS, RECORDS)
def test_records_are_neighbours_exactly_if_a_chain_of_steps_connects_them(
    kind: str, group: int, left: list[int], right: list[int]
) -> None:
    expected = Counter(left) != Counter(right) and within_steps(kind, left, right, group)
    assert Relation(kind, group=group).accepts(left, right) == expected


def moves(movement: str, length: int) -> list[tuple[int, ...]]:
    """Every whole-numbered step of ``length`` answers."""
    steps = itertools.product((-1, 0, 1), repeat=length)
    allowed = {
        "all": lambda step: True,
        "one": lambda step: sum(map(abs, step)) <= 1,
        "monotone": lambda step: min(step) >= 0 or max(step) <= 0,
        "norm=1": lambda step: sum(map(abs, step)) <= 1,
    }
    return [step for step in steps if allowed[movement](step)]


@pytest.mark.slow
@laws
@given(st.sampled_from(["all", "one", "monotone", "norm=1"]), st.integers(1, 3), ANSWERS, st.data())
def test_answers_are_neighbours_exactly_if_a_chain_of_steps_connects_them(
    movement: str, group: int, left: list[int], data: st.DataObject
) -> None:
    right = data.draw(st.lists(st.integers(-2, 2), min_size=len(left), max_size=len(left)))
    assume(left != right)
    reached = {(0,) * len(left)}
    for _ in range(group):
        reached |= {
            tuple(a + b for a, b in zip(at, step, strict=True)) for at in reached for step in moves(movement, len(left))
        }
    moved = tuple(b - a for a, b in zip(left, right, strict=True))
    assert Relation("queries", movement, group).accepts(left, right) == (moved in reached)


@pytest.mark.slow
@laws
@given(RELATIONS, RECORDS | ANSWERS, RECORDS | ANSWERS)
def test_the_relation_is_symmetric(relation: Relation, left: list[int], right: list[int]) -> None:
    assert relation.accepts(left, right) == relation.accepts(right, left)


@pytest.mark.slow
@laws
@given(RELATIONS, RECORDS | ANSWERS, RECORDS | ANSWERS)
def test_a_larger_group_allows_more(relation: Relation, left: list[int], right: list[int]) -> None:
    larger = Relation(relation.kind, relation.movement, relation.group + 1)
    assert larger.accepts(left, right) >= relation.accepts(left, right)


@pytest.mark.slow
@laws
@given(st.permutations(range(5)), st.permutations(range(5)))
def test_sets_and_mappings_have_no_order(left: list[int], right: list[int]) -> None:
    relation = Relation("add-remove")
    assert relation.accepts(dict.fromkeys(left), dict.fromkeys(right[1:]))
    assert relation.accepts(set(left), set(right[1:]))
    assert relation.accepts(left, right[1:]) == within_steps("add-remove", left, right[1:], 1)


# --- cases ---

FRAME = pd.DataFrame({"age": [30, 40], "name": ["ada", "bob"]})

NEIGHBOURS = [
    ("add-remove", [], [0]),
    ("add-remove", (1, 2), (2,)),
    ("add-remove", np.array([[1, 2], [3, 4]]), np.array([[3, 4]])),
    ("add-remove", FRAME, FRAME.iloc[:1]),
    ("add-remove", pd.Series([1, 2]), pd.Series([1])),
    ("add-remove", {"ada": 1}, {"ada": 1, "bob": 2}),
    ("add-remove", {1, 2}, {1}),
    ("add-remove", [{"a": 1, "b": 2}, {"a": 2, "b": 2}], [{"b": 2, "a": 2}]),
    ("add-remove(group=2)", [1, 2], [2, 3]),
    ("add-remove(person=0)", [(1, 5), (2, 6), (1, 7)], [(2, 6)]),
    ("replace(person=0)", [(1, 5), (2, 6), (1, 7)], [(2, 6), (1, 7), (1, 6)]),
    ("replace", [1, 2], [2, 3]),
    ("replace", "blue", "green"),
    ("replace", 0, 1),
    ("replace", np.array(3), np.array(4)),
    ("replace", FRAME, FRAME.assign(age=[30, 41])),
    ("replace", {"ada": 1}, {"ada": 2}),
    ("queries", 3, 4),
    ("queries", [1, 2, 3], [2, 1, 4]),
    ("queries", [0.1], [1.1]),
    ("queries", np.zeros((2, 2)), np.ones((2, 2))),
    ("queries(one)", [1, 2], [1, 3]),
    ("queries(one)", [0.0], [0.3]),
    ("queries(one, group=2)", [0, 0], [1, -1]),
    ("queries(monotone)", [1, 2, 3], [2, 2, 4]),
    ("queries(monotone, group=2)", [0, 0], [1, -1]),
    ("queries(norm=1)", [0, 0], [0.5, -0.5]),
    ("queries(norm=2)", [0, 0], [0.6, 0.8]),
    ("queries(norm=2, group=2)", [0, 0], [1.2, 1.6]),
    ("declared", "anything", 7),
    ("declared", [1], [1]),
]

STRANGERS = [
    ("add-remove", [1], [2], "allowed in all: 1"),
    ("add-remove", [1], [1], "same records"),
    ("add-remove", 3, 4, "no list"),
    ("add-remove", "abc", "ab", "no list"),
    ("add-remove", [1], [1.0], "removed: 1, added: 1"),
    ("add-remove(group=2)", [1], [1, 2, 3, 4], "added: 3"),
    ("add-remove", FRAME, FRAME.assign(age=[30, 41]), "removed: 1"),
    ("replace", [1], [1, 2], "1 and 2 records"),
    ("replace", [1, 2], [3, 4], "2 records differ"),
    ("add-remove", [1, 2, 3], [3, 2], "in another order"),
    ("add-remove", pd.concat([FRAME, FRAME + FRAME]), FRAME.iloc[::-1], "2, added: 0"),
    ("add-remove(group=2)", pd.concat([FRAME, FRAME + FRAME]), FRAME.iloc[::-1], "in another order"),
    ("replace", [1, 2, 3], [3, 2, 4], "in another order"),
    ("add-remove(person=0)", [(1, 5), (2, 6), (3, 6)], [(3, 6), (2, 6)], "in another order"),
    ("replace", "blue", "blue", "same records"),
    ("queries", [1], [1, 2], r"shapes \(1,\) and \(2,\)"),
    ("queries", [1], [2.5], "moves by 1.5"),
    ("queries", [1], [1], "the same"),
    ("queries", [1], [float("nan")], "not finite"),
    ("queries", [1], [None], "no number|not finite"),
    ("queries", "3", "4", "no number"),
    ("queries", {"a": 1}, {"a": 2}, "no number"),
    ("queries", [1e308], [-1e308], "moves by inf"),
    ("queries(one)", [0, 0], [1, 1], "2 answers move"),
    ("queries(one, group=2)", [0, 0], [2, 2], "4 steps"),
    ("queries(monotone)", [0, 0], [1, -1], "up and some go down"),
    ("queries(norm=1)", [0, 0], [1, 1], "norm 1"),
    ("queries(norm=2)", [0, 0], [1, 1], "norm 2"),
]


@pytest.mark.parametrize(("relation", "left", "right"), NEIGHBOURS)
def test_neighbours_pass(relation: str, left: Any, right: Any) -> None:
    parse_relation(relation).check(left, right)
    parse_relation(relation).check(right, left)


@pytest.mark.parametrize(("relation", "left", "right", "why"), STRANGERS)
def test_strangers_are_refused_with_the_reason_and_a_way_out(relation: str, left: Any, right: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refusal:
        parse_relation(relation).check(left, right)
    assert relation in str(refusal.value)
    assert "declared" in str(refusal.value)


@pytest.mark.parametrize("options", ["", "(group=3)", "(person=user_id)", "(person=user_id, group=2)"])
def test_replace_one_is_replace(options: str) -> None:
    assert parse_relation(f"replace-one{options}") == parse_relation(f"replace{options}")
    assert str(parse_relation(f"replace-one{options}")) == f"replace{options}"
    assert Relation("replace-one") == Relation("replace")
