"""Are all candidates neighbours, of the same kind as the data, without a trace of the data in their names?"""

from __future__ import annotations

import copy
import itertools
import pickle
import re
import time
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.nightly import mostly_at_night

from dpaudit import UsageError
from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.candidates.candidates import KINDS, candidates
from dpaudit.neighbours.digest import digest

from .conftest import COLUMNS, FRAME, RECORDS, ROWS, SINGLES

RELATIONS = ["add-remove", "replace", "add-remove(group=3)", "replace(group=2)"]
PEOPLE = [
    "add-remove(person=who)",
    "replace(person=who)",
    "add-remove(group=2, person=who)",
    "replace(group=2, person=who)",
]


def form(data: Any) -> Any:
    """The type of data, of their columns and of their records: what no candidate may change."""
    if isinstance(data, pd.DataFrame):
        return type(data), list(data.columns), list(data.dtypes), data.index.names
    if isinstance(data, pl.DataFrame):
        return pl.DataFrame, data.schema
    if isinstance(data, pd.Series | pl.Series):
        return type(data), data.dtype, data.name
    if isinstance(data, np.ndarray):
        return type(data), data.dtype, data.shape[1:]
    return type(data)


def record_types(data: Any) -> set[Any]:
    records = data.values() if isinstance(data, dict) else data
    types = set()
    for record in records:
        fields = record.values() if isinstance(record, dict) else record if isinstance(record, tuple) else [record]
        types.add((type(record), tuple(type(field) for field in fields)))
    return types


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "relation"), mostly_at_night(itertools.product(RECORDS, RELATIONS)))
def test_every_candidate_is_a_pair_of_neighbours_of_the_same_kind(kind: str, relation: str) -> None:
    data = RECORDS[kind]
    before = digest(data)
    found = candidates(data, relation, limit=150 if relation == "add-remove" else 40)
    parsed = parse_relation(relation)
    assert found
    for candidate in found:
        pair = candidate.pair()
        parsed.check(*pair)
        assert form(pair[0]) == form(pair[1]) == form(data), candidate.name
        if isinstance(data, list | tuple | set | dict) and "both types" not in kind:
            assert record_types(pair[0]) | record_types(pair[1]) <= record_types(data), candidate.name
        if candidate.kind not in ("base",) and ":" not in candidate.name.split(", replaced")[0]:
            assert pair[0] is data, candidate.name
    assert digest(data) == before
    assert len({candidate.name for candidate in found}) == len(found)


@pytest.mark.parametrize("kind", SINGLES)
def test_one_value_is_replaced(kind: str) -> None:
    data = SINGLES[kind]
    for candidate in candidates(data, "replace"):
        pair = candidate.pair()
        parse_relation("replace").check(*pair)
        assert type(pair[0]) is type(pair[1]) is type(data)
    with pytest.raises(UsageError, match=r"needs records, and .* holds none; give a list"):
        candidates(data, "add-remove")


WHO = ["p1", "p2", "p1", None]
CROWDS: dict[str, Any] = {
    "rows": [{**row, "who": who} for row, who in zip(ROWS, WHO, strict=True)],
    "rows by number": [{**row, "who": who} for row, who in zip(ROWS, [7, 7, 9, 200], strict=True)],
    "mapping": {place: {**row, "who": who} for place, (row, who) in enumerate(zip(ROWS, WHO, strict=True))},
    "frame": FRAME.assign(who=WHO),
    "frame of small numbers": FRAME.assign(who=np.array([1, 1, 127, 3], dtype=np.int8)),
    "frame of floats": FRAME.assign(who=[1.0, np.nan, np.nan, 2.0]),
    "frame of categories": FRAME.assign(who=pd.Categorical(["a", "b", "a", "b"], categories=list("abcdef"))),
    "polars": pl.DataFrame({**COLUMNS, "who": WHO}),
    "structured": np.array(
        [(1, 2.5, "a"), (2, 3.5, "b"), (3, 3.5, "a")], dtype=[("x", int), ("y", float), ("who", "U1")]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "relation"),
    [
        (kind, relation)
        for kind in CROWDS
        for relation in PEOPLE
        if "group" not in relation or kind in ("mapping", "frame", "structured")  # groups are made alike of every kind
    ],
)
def test_people_join_leave_and_change_with_all_their_records(kind: str, relation: str) -> None:
    data = CROWDS[kind]
    parsed = parse_relation(relation)
    found = candidates(data, relation, limit=60)
    for candidate in found:
        pair = candidate.pair()
        parsed.check(*pair)
        assert form(pair[0]) == form(pair[1]) == form(data)
    assert any("with 100 records" in one.name or "by 100 records" in one.name for one in found)


def test_a_person_leaves_with_all_records() -> None:
    found = {one.name: one for one in candidates(CROWDS["frame"], "add-remove(person=who)")}
    data0, data1 = found["the person of record 0 removed"].pair()
    assert data0 is CROWDS["frame"]
    assert data1["who"].tolist()[0] == "p2"
    assert len(data1) == 2


# --- which candidates there are ---


def names(data: Any, relation: str, **options: Any) -> list[str]:
    return [one.name for one in candidates(data, relation, **options)]


def test_each_record_of_small_data_is_removed() -> None:
    removed = [name for name in names(FRAME, "add-remove") if re.fullmatch(r"record \d+ removed", name)]
    assert sorted(removed) == [f"record {place} removed" for place in range(4)]


def test_extremes_of_large_data_are_removed_beside_a_seeded_sample() -> None:
    data = np.random.default_rng(0).normal(size=5000)
    removed = [name for name in names(data, "add-remove", limit=200) if name.endswith(" removed")]
    assert removed[:2] == [f"record {data.argmax()} removed", f"record {data.argmin()} removed"]
    assert len(removed) > 50
    assert removed == [name for name in names(data, "add-remove", limit=200) if name.endswith(" removed")]
    assert removed != [name for name in names(data, "add-remove", limit=200, seed=1) if name.endswith(" removed")]


@pytest.mark.parametrize(
    ("data", "values"),
    [
        ([1.5, 2.5], ["inf", "-inf", "-0.0", "5e-324", "1.7976931348623157e+308", "2500.0"]),
        ([1, 2], [str(2**63 - 1), str(2**64), str(2**53 + 1), "0", "-1", "2000"]),
        (np.array([1, 2], dtype=np.int16), ["32767", "-32768", "2000"]),
        (np.array([1.5, np.nan], dtype=np.float32), ["nan", "inf", "3.4028235e+38", "1e-45", "-0.0"]),
        (["a", "b"], ["", "new category", "x" * 100_000]),
        (pd.Series(["a", None]), ["", "new category", "nan"]),
        ([True, True], ["False"]),
    ],
)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_odd_values_of_the_own_type_are_tried(data: Any, values: list[str], relation: str) -> None:
    tried = set()
    for candidate in candidates(data, relation):
        if candidate.kind in ("extreme", "outlier", "odd value"):
            tried.update(map(str, candidate.pair()[1]))
    assert set(values) <= tried


@pytest.mark.slow
def test_no_integer_column_gets_a_missing_value_and_no_text_column_a_number() -> None:
    for candidate in candidates(FRAME, "add-remove"):
        for data in candidate.pair():
            assert data["age"].dtype == np.int64
            assert all(type(value) is str for value in data["kind"])


DOMAIN = {"age": (0, 120), "mass": (2000.0, 7000.0), "kind": ["ada-x", "bob-y", "eve-z", "new-w"]}


def within(data: pd.DataFrame) -> bool:
    return bool(
        data["age"].between(0, 120).all()
        and data["mass"].between(2000, 7000).all()
        and data["kind"].isin(DOMAIN["kind"]).all()
    )


@pytest.mark.slow
@pytest.mark.parametrize("relation", mostly_at_night(RELATIONS))
def test_what_lies_outside_the_domain_is_tried_only_on_request(relation: str) -> None:
    inside = candidates(FRAME, relation, domain=DOMAIN, limit=80)
    assert all(within(data) for one in inside for data in one.pair())
    ends = [data for one in inside for data in one.pair() if (data["mass"] == 7000.0).any()]
    assert ends and any((data["mass"] == 2000.0).any() for one in inside for data in one.pair())
    beyond = candidates(FRAME, relation, domain=DOMAIN, beyond_domain=True, limit=80)
    assert any(not within(data) for one in beyond for data in one.pair())
    assert any(data["mass"].isna().any() for one in beyond for data in one.pair())


def test_records_outside_the_domain_take_no_part_in_any_change() -> None:
    data = [50.0, 3.0, float("nan"), 60.0]
    for candidate in candidates(data, "add-remove", domain=(10.0, 100.0)):
        data0, data1 = candidate.pair()
        if candidate.kind == "removal":
            assert {3.0} <= set(data1)
        assert parse_relation("add-remove").accepts(data0, data1)
    assert "record 1 removed" in names(data, "add-remove", domain=(10.0, 100.0), beyond_domain=True)


@pytest.mark.parametrize(("relation", "left"), [("add-remove", [1, 2, 3, 4]), ("replace", [1, 2, 3])])
def test_somebody_new_comes_first_and_all_others_keep_their_order(relation: str, left: list[int]) -> None:
    found = [one.pair() for one in candidates([1, 2, 3, 4], relation) if one.kind == "order"]
    assert any(pair[1][1:] == left for pair in found)
    assert all(pair[1] != sorted(pair[1], reverse=True) for pair in found)


def test_almost_nothing_and_all_the_same_are_tried() -> None:
    pairs = [one.pair() for one in candidates([3.0, 8.0, 5.0], "add-remove", domain=(0.0, 10.0))]
    assert ([], [10.0]) in pairs
    assert ([], [0.0]) in pairs
    assert ([0.0] * 10, [0.0] * 10 + [10.0]) in pairs
    pairs = [one.pair() for one in candidates([3.0, 8.0, 5.0], "replace", domain=(0.0, 10.0))]
    assert ([0.0], [10.0]) in pairs
    assert ([10.0, 10.0], [10.0, 0.0]) in pairs
    assert ([0.0, 8.0, 5.0], [10.0, 8.0, 5.0]) in pairs  # from one end to the other, among the user's own data


def test_a_group_changes_as_many_records_as_it_has() -> None:
    pairs = [one.pair() for one in candidates(list(range(20)), "add-remove(group=3)")]
    assert (list(range(20)), list(range(17))) in pairs  # the three largest
    assert max(len(data1) - len(data0) for data0, data1 in pairs) == 3


@pytest.mark.parametrize("limit", [1, 3, 7, 20, 60])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_every_kind_keeps_its_share_of_the_limit(limit: int, relation: str) -> None:
    every = candidates(FRAME, relation, limit=10_000)
    some = candidates(FRAME, relation, limit=limit)
    assert len(some) == min(limit, len(every))
    kinds = [one.kind for one in some]
    assert kinds == sorted(kinds, key=KINDS.index)
    there = {one.kind for one in every}
    assert len(set(kinds)) == min(limit, len(there))


def test_candidates_are_the_same_for_the_same_seed_and_travel_to_other_processes() -> None:
    once, again = candidates(FRAME, "add-remove", seed=3), candidates(FRAME, "add-remove", seed=3)
    assert [one.name for one in once] == [one.name for one in again]
    moved = pickle.loads(pickle.dumps(once[0]))
    assert digest(moved.pair()[1]) == digest(once[0].pair()[1])


# --- names ---

SECRETS = [f"secret{place}" for place in range(40)]


@pytest.mark.parametrize(
    "data",
    [
        [917_331, 917_349, 917_353],
        [917_331.5, 917_349.5],
        SECRETS,
        dict.fromkeys(SECRETS, 917_331),
        {name: {"age": 917_331} for name in SECRETS},
        [{name: 917_331} for name in SECRETS],
        [{"age": 917_331, "who": name} for name in SECRETS],
        pd.DataFrame({"age": [917_331] * 40, "who": SECRETS}, index=SECRETS),
        pd.DataFrame({"who": pd.Categorical(SECRETS)}),
        pl.DataFrame({"age": [917_331.5] * 40, "who": SECRETS}),
        np.array(SECRETS),
    ],
    ids=lambda data: type(data).__name__,
)
@pytest.mark.parametrize("relation", ["add-remove", "replace", "add-remove(person=who)", "replace(person=who)"])
def test_no_name_holds_a_value_of_the_data(data: Any, relation: str) -> None:
    said = ""
    try:
        found = candidates(data, relation, limit=2000)
    except UsageError as error:
        found, said = [], str(error)
    assert found or "column 'who'" in said or "nothing that could change" in said
    for text in [said, *(candidate.name for candidate in found)]:
        assert not re.search(r"secret|9173|917[_,.]", text)


# --- what cannot be ---


@pytest.mark.parametrize(
    ("data", "relation", "domain", "why"),
    [
        (
            FRAME,
            "queries",
            None,
            "the data are answers to queries, and this DataFrame holds something else than numbers",
        ),
        (["a"], "queries", None, "something else than numbers"),
        ([True], "queries", None, "something else than numbers"),
        ([1.0, float("nan")], "queries", None, "one is not finite"),
        ([], "queries", None, "no answer to move"),
        (3, "add-remove", None, "an int holds none"),
        ("abc", "add-remove", None, "a str holds none"),
        (FRAME, "add-remove(person=nobody)", None, "no column 'nobody': the data have 'age', 'mass', 'kind'"),
        ([1, 2], "add-remove(person=who)", None, "no column 'who': the data have no columns with names"),
        (FRAME, "declared", None, "give pairs"),
        (FRAME, "add-remove", {"ages": (0, 1)}, "names the column 'ages'.*did you mean 'age'"),
        (FRAME, "add-remove", (0, 1), "have columns .*'age'.*: \\(low, high\\)"),
        ([1, 2], "add-remove", {"age": (0, 1)}, "the data are plain values"),
        (FRAME, "add-remove", {"age": (120, 0)}, "starts at 120 and ends below"),
        (FRAME, "add-remove", {"age": (0, float("inf"))}, "finite ends"),
        (FRAME, "add-remove", {"age": (0.2, 0.8)}, "none lies from 0.2 to 0.8"),
        (FRAME, "add-remove", {"age": ["a"]}, "'age' holds whole numbers, and its domain allows 'a'"),
        (FRAME, "add-remove", {"age": [1.5]}, "allows 1.5"),
        (FRAME, "add-remove", {"kind": (0, 1)}, "'kind' holds texts, and its domain is a range"),
        (FRAME, "add-remove", {"age": []}, "allows no value"),
        (FRAME, "add-remove", {"age": 7}, "cannot be 7"),
        (np.array([1], dtype=np.int8), "add-remove", [1, 300], "cannot be 300"),
        ([], "add-remove", None, "hold no record"),
        ({}, "add-remove", None, "hold no record"),
        (pl.LazyFrame({"a": [1]}), "add-remove", None, "collect"),
        (iter([1]), "add-remove", None, "make a list"),
        (pd.DataFrame(index=[0, 1]), "add-remove", None, "no column"),
        (object(), "replace", None, "nothing that could change"),
        ([{"who": [1]}], "add-remove(person=who)", None, "names a person by a list"),
    ],
)
def test_what_the_data_cannot_have_is_refused_with_a_way_out(data: Any, relation: str, domain: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        candidates(data, relation, domain=domain)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True])
def test_a_limit_is_a_whole_number(limit: Any) -> None:
    with pytest.raises(UsageError, match="limit"):
        candidates([1], "add-remove", limit=limit)


def test_a_domain_is_cut_to_what_the_type_can_hold() -> None:
    for candidate in candidates(np.array([5], dtype=np.int8), "add-remove", domain=(0, 1000)):
        for data in candidate.pair():
            assert np.all(data >= 0)


@pytest.mark.parametrize("domain", [(0, 9), {"age": (0, 9), "kind": ["a", "b"]}])
def test_a_list_without_records_is_filled_over_its_domain(domain: Any) -> None:
    found = candidates([], "add-remove", domain=domain)
    assert found
    for candidate in found:
        parse_relation("add-remove").check(*candidate.pair())


# --- any data at all ---

VALUES = st.integers() | st.floats() | st.text(max_size=4) | st.booleans() | st.none()
ANYTHING = (
    st.lists(VALUES, min_size=1, max_size=5)
    | st.lists(st.fixed_dictionaries({"a": st.integers(0, 3), "b": VALUES}), min_size=1, max_size=4)
    | st.lists(st.tuples(st.integers(), VALUES), min_size=1, max_size=4)
    | st.dictionaries(st.text(max_size=2), VALUES, min_size=1, max_size=4)
)


@pytest.mark.slow
@settings(derandomize=True, max_examples=60, deadline=None)
@given(ANYTHING, st.sampled_from(RELATIONS), st.integers(0, 3))
def test_candidates_of_any_data_are_neighbours(data: Any, relation: str, seed: int) -> None:
    parsed, kept = parse_relation(relation), copy.deepcopy(data)
    try:
        found = candidates(data, relation, limit=60, seed=seed)
    except UsageError:
        return
    for candidate in found:
        parsed.check(*candidate.pair())
    assert digest(data) == digest(kept)


# --- a million rows ---


@pytest.mark.slow
def test_a_million_rows_take_a_second_and_one_copy_for_each_pair_that_is_made() -> None:
    rng = np.random.default_rng(0)
    size = 1_000_000
    data = pd.DataFrame({"a": rng.normal(size=size), "b": rng.integers(0, 9, size), "c": rng.normal(size=size)})
    own = data.memory_usage().sum()
    clock = time.process_time()
    found = candidates(data, "add-remove")
    assert time.process_time() - clock < 1.0
    assert len(found) == 500
    tracemalloc.start()
    for candidate in [found[0], next(one for one in found if one.kind == "removal")]:
        tracemalloc.reset_peak()
        data0, data1 = candidate.pair()
        assert data0 is data
        assert tracemalloc.get_traced_memory()[1] < 1.3 * own
        del data1
    tracemalloc.stop()


def test_neighbours_among_a_million_records_are_checked_quickly() -> None:
    data = np.random.default_rng(0).normal(size=1_000_000)
    pair = next(one for one in candidates(data, "add-remove") if one.kind == "removal").pair()
    clock = time.process_time()
    parse_relation("add-remove").check(*pair)
    assert time.process_time() - clock < 2.0
