"""Does the digest tell data apart by its values alone, in every process alike?"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.neighbours.digest import difference, digest

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def typed(value: Any) -> Any:
    """The slow, obvious twin: a value with the types of everything in it, for ``==`` to compare."""
    if isinstance(value, list | tuple):
        return type(value), [typed(item) for item in value]
    if isinstance(value, dict):
        return dict, [(typed(key), typed(item)) for key, item in value.items()]
    return type(value), repr(value)


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Person:
    name: str
    languages: frozenset[str]


class Handle:
    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a connection cannot be pickled")


@pytest.mark.slow
@settings(derandomize=True, max_examples=120, deadline=None)
@given(VALUES, VALUES)
def test_digests_agree_exactly_where_types_and_values_do(left: Any, right: Any) -> None:
    assert (digest(left) == digest(right)) == (typed(left) == typed(right))


DIFFERENT = [
    None,
    False,
    0,
    0.0,
    -0.0,
    "0",
    b"0",
    bytearray(b"0"),
    [],
    (),
    {},
    set(),
    [0],
    [[0]],
    [0, 0],
    ["0"],
    "a,b",
    ["a", "b"],
    ["a,b"],
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    OrderedDict(a=1, b=2),
    {1, 2},
    {1, 3},
    np.array([1, 2]),
    np.array([1.0, 2.0]),
    np.array([[1, 2]]),
    np.array([1, 2], dtype=object),
    np.array([[1, 2]], dtype=object),
    np.array([1, None], dtype=object),
    np.ma.array([1, 2], mask=[False, True]),
    np.array([(1, "a")], dtype=[("x", int), ("y", object)]),
    np.array([(1, "b")], dtype=[("x", int), ("y", object)]),
    pd.DataFrame({"a": [1, 2]}),
    pd.DataFrame({"a": [1, 3]}),
    pd.DataFrame({"b": [1, 2]}),
    pd.DataFrame({"a": [1, 2]}, index=[5, 6]),
    pd.DataFrame({"a": ["x", None]}),
    pd.Series([1, 2]),
    pd.Series([1, 3]),
    pd.Series([1, 2], name="a"),
    Colour.RED,
    Colour.BLUE,
    Decimal(1),
    Fraction(1),
    Fraction(1, 3),
    date(2020, 1, 1),
    date(2020, 1, 2),
    Person("ada", frozenset({"en"})),
    Person("ada", frozenset({"en", "fr"})),
    len,
    int,
    digest,
    Handle(),
    threading.Lock(),
]


def test_different_data_have_different_digests() -> None:
    digests = [digest(data) for data in DIFFERENT]
    same = [(DIFFERENT[i], DIFFERENT[digests.index(d)]) for i, d in enumerate(digests) if digests.index(d) != i]
    assert same == []
    assert all(len(text) == 64 for text in digests)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.int64(1), 1),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        ([np.int64(1), "é"], [1, "é"]),
        ({1, 2, 3}, {3, 2, 1}),
        (np.arange(6).reshape(2, 3).T, np.ascontiguousarray(np.arange(6).reshape(2, 3).T)),
        (Person("ada", frozenset("abcdef")), Person("ada", frozenset("fedcba"))),
        (Handle(), Handle()),
    ],
)
def test_equal_data_have_equal_digests(left: Any, right: Any) -> None:
    assert digest(left) == digest(right)


def test_data_that_holds_itself_has_a_digest() -> None:
    one: list[Any] = [1]
    one.append(one)
    two: list[Any] = [2]
    two.append(two)
    assert digest(one) != digest(two)


CHANGES = [
    ([1, [2]], lambda data: data[1].append(3)),
    ({"a": 1}, lambda data: data.update(b=2)),
    ({"a": 1, "b": 2}, lambda data: data.update(a=data.pop("a"))),
    (np.zeros(3), lambda data: data.__setitem__(1, 1e-300)),
    (np.array([[1], None], dtype=object), lambda data: data[0].append(2)),
    (pd.DataFrame({"a": [1, 2]}), lambda data: data.insert(1, "b", 3)),
    (Person("ada", frozenset()), lambda data: setattr(data, "name", "bob")),
]


@pytest.mark.parametrize(("data", "change"), CHANGES, ids=lambda value: type(value).__name__)
def test_a_change_in_place_changes_the_digest(data: Any, change: Any) -> None:
    before = digest(data)
    assert digest(data) == before
    change(data)
    assert digest(data) != before


@pytest.mark.slow
def test_digests_do_not_depend_on_the_process() -> None:
    code = (
        "from dpaudit.neighbours.digest import digest\n"
        "import datetime, fractions\n"
        "class C:\n"
        "    def __init__(self): self.words = {'a', 'b', 'c', 'd'}\n"
        "C.__module__ = 'm'\n"
        "data = [1, True, 'é', {'x', 'y', 'z'}, {'k': (1.5, None)}, C(), fractions.Fraction(1, 3)]\n"
        "print(digest(data), list({'a', 'b', 'c', 'd', 'e', 'f'}))"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split(maxsplit=1)
        for seed in ("1", "2")
    ]
    assert printed[0][0] == printed[1][0]
    assert printed[0][1] != printed[1][1]  # the processes do order their sets differently


def test_a_changed_record_among_times_is_found_without_reading_them_all() -> None:
    times = pd.Series(pd.date_range("2024-01-01", periods=60, freq="7h"))
    data = pd.DataFrame({"at": times, "day": times.dt.date, "for": times - times[0], "n": range(60)})
    data.loc[[3, 4, 50], "at"] = data.loc[[3, 40], "for"] = None
    for other in (data.drop(index=20), data.assign(at=data["at"].where(data["n"] != 20))):
        found = difference(data, other)
        assert found is not None and found.gone == (20,)
        assert len(found.inner[0]) == 1
    assert difference(data, data.assign(at=data["at"].astype("datetime64[s]"))) is not None
    shifted = difference(data, data.assign(at=data["at"].where(data["n"] != 7, pd.Timestamp("2024-01-03"))))
    assert shifted is not None and shifted.gone == shifted.come == (7,)
