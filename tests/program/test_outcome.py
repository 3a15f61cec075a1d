"""What is an output, and when are two of them the same?"""

from __future__ import annotations

import collections
import dataclasses
import math

import numpy as np
import pytest

from dpaudit.program.batch_reading import run_batch
from dpaudit.program.noise import ScalarNoise
from dpaudit.program.outcome import Raised, entry, ordinary, raised, run_once, same

Point = collections.namedtuple("Point", ["x"])


@dataclasses.dataclass(frozen=True)
class Record:
    x: object
    fixed: int = dataclasses.field(default=3, init=False)


@dataclasses.dataclass
class Doubling:
    x: object

    def __post_init__(self):
        self.x = self.x * 2


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("x = -3.25e-07 at 0x7f3ade of 1,000"), "raises ValueError: x = -3.25e-07 at 0x7f3ade of 1,000"),
        (ValueError("<object at 0x7f3ade01b2c0>"), "raises ValueError: <object at 0x…>"),
        (ValueError("3"), "raises ValueError: 3; args = ('3', )"),
        (KeyError("blue"), "raises KeyError: 'blue'"),
        (SystemExit(3), "raises SystemExit: 3"),
        (ValueError(), "raises ValueError"),
        (ValueError("a" * 500), "raises ValueError: " + "a" * 500),
    ],
)
def test_exceptions_as_outputs(error, text):
    assert str(raised(error)) == text


def test_an_exception_that_cannot_say_what_it_is():
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError

    assert raised(MuteError()) == Raised("MuteError", "", (("its text raises", "RuntimeError"),))


def test_what_was_handled_before_the_call_is_not_its_own():
    def program(noise):
        raise ValueError("no")

    try:
        raise KeyError("outside")
    except KeyError:
        assert run_once(program, ScalarNoise(np.random.default_rng(0))) == Raised("ValueError", "no")


def test_what_a_call_may_raise():
    noise = ScalarNoise(np.random.default_rng(0))

    def leave(error):
        def program(noise):
            raise error

        return program

    assert run_once(leave(SystemExit(1)), noise) == Raised("SystemExit", "1")
    assert run_once(leave(MemoryError("full")), noise) == Raised("MemoryError", "full")
    with pytest.raises(KeyboardInterrupt):
        run_once(leave(KeyboardInterrupt()), noise)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x: [x, (x, "a")], "[2.0, (2.0, 'a')]"),
        (lambda x: {"a": {"b": x}}, "{'a': {'b': 2.0}}"),
        (lambda x: collections.OrderedDict(a=x), repr(collections.OrderedDict(a=2.0))),
        (Point, "Point(x=2.0)"),
        (Record, "Record(x=2.0, fixed=3)"),
        (Doubling, "Doubling(x=4.0)"),
    ],
)
def test_the_entry_of_one_run(make, expected):
    result = run_batch(lambda noise: make(noise.choice([2.0])), 20, np.random.default_rng(0))
    assert result.fallback_reason is None
    assert repr(entry(result.paths[0].output, 7)) == expected


def test_the_entry_of_an_object_array():
    def program(noise):
        found = np.zeros((2, 2), dtype=object)
        found[0, 0] = [noise.choice([2.0])]
        return found

    result = run_batch(program, 20, np.random.default_rng(0))
    assert entry(result.paths[0].output, 3).tolist() == [[[2.0], 0], [0, 0]]


SAME = [
    (1.0, 1.0 + 1e-15),
    (math.nan, math.nan),
    (-math.inf, -math.inf),
    (np.float64(1), 1.0),
    (np.bool_(True), True),
    ([1, {"a": math.nan}], [1, {"a": math.nan}]),
    (np.array([1, math.nan]), np.array([1, math.nan])),
    (Record(1.0), Record(1.0)),
    (None, None),
    ({1, 2}, {2, 1}),
    (Point(1), Point(1)),
]
DIFFERENT = [
    (1, True),
    (1, 1.0),
    (1.0, 1.0 + 1e-9),
    ([1], (1,)),
    ([1], [1, 2]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ("1", 1),
    (None, False),
    (np.array([1]), np.array([1.0])),
    (np.zeros((2, 1)), np.zeros((1, 2))),
    (math.inf, math.nan),
    (Record(1), Record(True)),
    (object(), object()),
    (Point(1), (1,)),
    (0, False),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_same(left, right):
    assert same(left, right) and same(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_different(left, right):
    assert not same(left, right) and not same(right, left)


def test_ordinary():
    assert ordinary([1, ("a", None, {"b": 2.0})])
    assert not ordinary([object()]) and not ordinary(Raised("a", "")) and not ordinary({"a": {1}})


def test_tables_are_the_same_with_the_same_labels_and_entries():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, math.nan], index=["a", "b"])
    assert same(series, series.copy())
    assert not same(series, series.rename({"a": "c"}))
    assert not same(series, pandas.Series([2.0, math.nan], index=["a", "b"]))
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None]})
    assert same(frame, frame.copy())
    assert not same(frame, frame.rename(columns={"a": "c"}))


def _changed(change):
    pandas = pytest.importorskip("pandas")
    index = pandas.Index(["x", "y"], name="key")
    frame = pandas.DataFrame({"a": [1, 2], "b": pandas.Categorical(["u", "v"])}, index=index)
    return frame, change(frame.copy())


CHANGES = {
    "attributes": lambda frame: frame.attrs.update(n=3) or frame,
    "flags": lambda frame: frame.set_flags(allows_duplicate_labels=False),
    "name of the index": lambda frame: frame.rename_axis("other"),
    "name of the columns": lambda frame: frame.rename_axis("other", axis=1),
    "type of a column": lambda frame: frame.astype({"a": "int32"}),
    "categories nobody has": lambda frame: frame.assign(b=frame["b"].cat.add_categories("w")),
    "order of categories": lambda frame: frame.assign(b=frame["b"].cat.as_ordered()),
    "order of columns": lambda frame: frame[["b", "a"]],
    "name of a series": lambda frame: frame["a"].rename("c"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_tables_differ_by_all_that_they_hold(change):
    frame, other = _changed(change)
    if not hasattr(other, "columns"):
        frame = frame["a"]
    assert same(frame, frame.copy())
    assert not same(frame, other) and not same(other, frame)


def test_an_object_that_equals_everything_is_compared_by_what_it_holds():
    class Agrees:
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return True

        __hash__ = None

    assert same(Agrees(1), Agrees(1))
    assert not same(Agrees(1), Agrees(2))
