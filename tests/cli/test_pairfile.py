"""Are datasets read from files as what they are?"""

import json
from pathlib import Path

import numpy as np
import pytest

from dpaudit import UsageError
from dpaudit.neighbours.data_files import read_pairs
from dpaudit.neighbours.relation import neighbouring


@pytest.mark.parametrize(
    ("value", "pairs"),
    [
        ([0, 1], [(0, 1)]),
        (["a", None], [("a", None)]),
        ([[], [1]], [([], [1])]),
        ([[1, 2], [1, 3]], [([1, 2], [1, 3])]),
        ([[1, 2, 3], [1, 2]], [([1, 2, 3], [1, 2])]),
        ([{"a": 1}, {"a": 2}], [({"a": 1}, {"a": 2})]),
        ([[{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 3}]], [([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 3}])]),
        ([[[1], [1, 2]]], [([1], [1, 2])]),
        ([[0, 1]], [(0, 1)]),
        ([[0, 1], [1, 2], [2, 3]], [(0, 1), (1, 2), (2, 3)]),
        ([[[1], [1, 2]], [[], [3]]], [([1], [1, 2]), ([], [3])]),
    ],
)
def test_one_pair_or_a_list_of_pairs(value, pairs, tmp_path):
    (tmp_path / "pair.json").write_text("\ufeff" + json.dumps(value), encoding="utf-8")
    assert read_pairs([str(tmp_path / "pair.json")]) == pairs


def test_where_two_readings_are_possible_the_one_of_neighbours_is_taken(tmp_path):
    (tmp_path / "pair.json").write_text("[[0, 1], [5, 6]]", encoding="utf-8")
    names = [tmp_path / "pair.json"]
    assert read_pairs(names) == read_pairs(names, lambda pair: False) == [([0, 1], [5, 6])]
    assert read_pairs(names, lambda pair: isinstance(pair[0], int)) == [(0, 1), (5, 6)]


def test_a_file_that_may_mean_two_things_is_refused_and_says_what_to_write(tmp_path):
    """Two datasets of two list records each, or two pairs, where the relation allows both: nobody can tell."""
    records = [[[1, 2], [3, 4]], [[1, 2], [3, 5]]]
    (tmp_path / "pair.json").write_text(json.dumps(records), encoding="utf-8")
    with pytest.raises(UsageError, match=r"one pair of datasets with two records each, or two pairs.*\[\[data0"):
        read_pairs([tmp_path / "pair.json"], neighbouring("declared"))
    assert read_pairs([tmp_path / "pair.json"], neighbouring("replace")) == [(records[0], records[1])]
    (tmp_path / "one.json").write_text(json.dumps([records]), encoding="utf-8")
    assert read_pairs([tmp_path / "one.json"], neighbouring("declared")) == [(records[0], records[1])]
    for number, pair in enumerate(records):
        (tmp_path / f"{number}.json").write_text(json.dumps([pair]), encoding="utf-8")
    names = [tmp_path / "0.json", tmp_path / "1.json"]
    assert read_pairs(names, neighbouring("declared")) == [tuple(pair) for pair in records]


def test_arrays_and_tables(tmp_path):
    names = [tmp_path / name for name in ("a.npy", "B.NPY", "a.csv", "b.csv")]
    for number, name in enumerate(names[:2]):
        with open(name, "wb") as file:
            np.save(file, np.arange(3) + number)
    names[2].write_text("name,age\nada,30\nbob,40\n", encoding="utf-8")
    names[3].write_text("1,30\n0,40\n", encoding="utf-8")  # all numbers: no line of names
    arrays, tables = read_pairs(names)
    assert [list(side) for side in arrays] == [[0, 1, 2], [1, 2, 3]]
    assert tables[0].to_dict("list") == {"name": ["ada", "bob"], "age": [30, 40]}
    assert tables[1].to_numpy().tolist() == [[1, 30], [0, 40]]


@pytest.mark.parametrize("contents", [b"", b"nothing", b"PK\x03\x04", b"\x93NUMPY"])
def test_a_file_that_holds_no_dataset_is_named(contents, tmp_path):
    (tmp_path / "a.npy").write_bytes(contents)
    with pytest.raises(UsageError, match=r"cannot read the dataset .*a\.npy"):
        read_pairs([tmp_path / "a.npy", tmp_path / "a.npy"])


def test_an_odd_dataset_is_named(tmp_path):
    names = [tmp_path / f"{name}.csv" for name in "abc"]
    for name in names:
        name.write_text("x\n1\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"c\.csv' holds one dataset, and a pair needs two"):
        read_pairs(names)


def test_objects_are_never_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], dtype=object))
    with pytest.raises(UsageError, match="cannot read the dataset"):
        read_pairs([tmp_path / "a.npy", tmp_path / "a.npy"])


def test_a_table_without_pandas_is_refused_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    Path(tmp_path / "a.csv").write_text("x\n1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="needs pandas: install it, or give the data as JSON"):
        read_pairs([tmp_path / "a.csv"])
