"""Are outputs that differ told apart, and outputs that agree held together, however they arrive?"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpaudit.errors import UsageError
from dpaudit.program.batch_reading import PathOutputs, run_batch
from dpaudit.program.outcome import ManyNumbers, ManyTexts, Raised, entry, raised
from dpaudit.sampling.forms import BELOW_ZERO
from dpaudit.sampling.outputs import OutputSnapshot, concatenate, from_array, from_list, from_paths, information

Point = collections.namedtuple("Point", ["x"])
Other = collections.namedtuple("Other", ["x"])
Colour = enum.Enum("Colour", ["RED", "BLUE"])
Number = enum.IntEnum("Number", ["ONE", "TWO"])
Flags = enum.Flag("Flags", ["A", "B"])


@dataclasses.dataclass
class Record:
    x: Any


class Shown:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


class Text(str):
    def __repr__(self):
        return "'disguised'"


# all of these are different outputs, whatever else they share
DIFFERENT = [
    1,
    1.0,
    True,
    None,
    "1",
    b"1",
    bytearray(b"1"),
    "True",
    "None",
    "1.0",
    "int",
    "float",
    "'a'",
    '"a"',
    "a",
    "[int]",
    "[bool × 2]",
    "a', 'b",
    math.nan,
    math.inf,
    -math.inf,
    "nan",
    "inf",
    2**60,
    -(2**60),
    2**53 + 1,
    10**5000,
    "int 0x1000000000000000",
    0.5j,
    complex(math.nan, 0),
    [],
    (),
    {},
    set(),
    [1],
    (1,),
    [1.0],
    [True],
    [1, 1],
    [[1], 1],
    [[1, 1]],
    [[], []],
    ["a", "b"],
    ["a, b"],
    ["a', 'b"],
    "['a', 'b']",
    [[1]],
    ["a", "a"],
    ["'a' × 2"],
    {"a": 1},
    {"a": 1.0},
    {"a": 1, "b": 1},
    {"b": 1, "a": 1},
    {1: 1},
    {True: 1},
    {1.0: 1},
    {"1": 1},
    {(1, 2): 1},
    {(1, 3): 1},
    {None: 1},
    {"a: int, 'b'": 1},
    {2.5: 1},
    {math.nan: 1},
    {2**70: 1},
    {1},
    {1.0},
    {"a", "b"},
    {frozenset("ab")},
    Point(1),
    Other(1),
    Point(1.0),
    Record(1),
    Record([1]),
    Colour.RED,
    Colour.BLUE,
    Number.ONE,
    "Colour.RED",
    Flags.A | Flags.B,
    Flags.A,
    Fraction(1, 3),
    Decimal("0.5"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("1e999"),
    Shown("a"),
    Shown("'a'"),
    Shown("[int]"),
    Shown("None"),
    Raised("ValueError", ""),
    Raised("ValueError", "no"),
    "raises ValueError",
    ValueError("no"),
    datetime.date(2020, 1, 1),
    datetime.date(2020, 1, 2),
    int,
    float,
    np.float64,
    np.array(1),
    np.array([]),
    np.array([1]),
    np.array([1.0]),
    np.array([True]),
    np.array(["1"]),
    np.array([None]),
    np.array([[1]]),
    np.array([1, 2], dtype=object),
    np.array([[1, 2], None], dtype=object),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    np.zeros((2, 0)),
    np.array([1j]),
    np.array([b"1"]),
    np.array([math.nan]),
    np.array([2**64 - 1], dtype=np.uint64),
    np.datetime64("2020-01-01"),
    np.datetime64("2020-01-01", "ns"),
    np.datetime64("2020-01-02", "ns"),
    np.datetime64("NaT", "D"),  # without a unit, newer versions of NumPy warn
    np.timedelta64(1, "s"),
    np.array(["2020-01-01"], dtype="M8[ns]"),
    np.array(["2020-01-02"], dtype="M8[ns]"),
    np.array([1], dtype="m8[s]"),
    np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
    np.array([(1, 2.0)], dtype=[("a", int), ("c", float)]),
    np.array([("x", 2.0)], dtype=[("a", "U1"), ("b", float)]),
    np.ma.array([1, 2], mask=[0, 1]),
    np.ma.array([1, 2], mask=[1, 0]),
    pd.Series([1.0, 2.0]),
    pd.Series([1.0, 2.0], index=["a", "b"]),
    pd.Series([1.0, 2.0], index=["a", "a"]),
    pd.Series([1.0, 2.0], name="x"),
    pd.Series(["a"]),
    pd.Series([1, 2]),
    pd.Series([1.0, None]),
    pd.DataFrame({"a": [1.0]}),
    pd.DataFrame({"b": [1.0]}),
    pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]),
    pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "x"]),
    pd.DataFrame(),
    pd.Timestamp("2020-01-01"),
    pd.NA,
    pd.NaT,
    pd.Index([1.0, 2.0]),
]


def form_of(output):
    outputs = from_list([output])
    return outputs.forms[0]


def test_different_outputs_have_different_forms():
    forms = [form_of(output) for output in DIFFERENT]
    clashes = [
        (DIFFERENT[i], DIFFERENT[j], forms[i])
        for i, j in itertools.combinations(range(len(forms)), 2)
        if forms[i] == forms[j]
    ]
    assert not clashes


@pytest.mark.parametrize(
    "values",
    [
        [1, np.int64(1)],
        [1.5, np.float64(1.5)],
        [True, np.bool_(True)],
        ["a", np.str_("a")],
        [1j, np.complex128(1j)],
        [{"a": 1}, collections.OrderedDict(a=1), collections.Counter(a=1)],
        [{1, 2, 3}, {3, 2, 1}],
        [{1: 2}, {np.int64(1): 2}],
        [[1, 2.0], [np.int64(1), np.float64(2)]],
        [np.array([1.0, 2.0]), np.array([1.0, 0.0, 2.0])[::2]],
    ],
)
def test_what_means_the_same_is_the_same(values):
    outputs = from_list(values)
    assert len(outputs.forms) == 1
    assert all(np.array_equal(row, outputs.numbers[0][0]) for row in outputs.numbers[0])


def test_forms_read_as_a_person_would_write_them():
    outputs = [
        [True, True, "stop"],
        {"a": 1},
        Point(0.5),
        (1, None),
        np.zeros((2, 2)),
        Raised("ValueError", "no"),
        Record(2),
    ]
    assert [form_of(output) for output in outputs] == [
        "[bool × 2, 'stop']",
        "{'a': int}",
        "Point{x: float}",
        "(int, None)",
        "array(2, 2) of float × 4",
        "raises ValueError: no",
        "Record{x: int}",
    ]


def test_a_subclass_of_str_cannot_disguise_itself():
    assert form_of(Text("a")) == "'a'"


def test_numbers_stand_in_their_order_and_negative_zero_is_the_largest_below_zero():
    outputs = from_list([[1, {"a": 2.5}, (True, -0.0)]])
    assert outputs.numbers[0].tolist() == [[1.0, 2.5, 1.0, BELOW_ZERO]]


def test_sets_stand_in_the_order_of_their_numbers():
    assert from_list([{10.5, 9.5, -1.5}]).numbers[0].tolist() == [[-1.5, 9.5, 10.5]]


def _cyclic():
    found: list[Any] = []
    found.append(found)
    return found


class Mute:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (object(), "only says where in memory"),
        (lambda: 1, "only says where in memory"),
        ((x for x in []), "only says where in memory"),
        ([object()], "only says where in memory"),
        (Mute(), "its repr raises RuntimeError"),
        (_cyclic(), "nested too deeply, or contains itself"),
    ],
    ids=["object", "lambda", "generator", "list", "mute", "cyclic"],
)
def test_what_cannot_be_compared_is_refused_with_a_sentence(output, why):
    with pytest.raises(UsageError, match=f"cannot be compared with another one .*{why}.*; return numbers, texts"):
        from_list([output])


def test_a_text_may_say_where_in_memory():
    assert form_of("object at 0x7f") == "'object at 0x7f'"


def test_numbers_in_the_text_of_an_exception_are_numbers_of_the_output():
    outputs = from_list([raised(ValueError(f"at {x}")) for x in (1, 2.5, -3e-7, -7, 1 / 3, "1e3", "x2")])
    assert outputs.forms == tuple(f"raises ValueError: at {text}" for text in ("#", "#.#", "#float", "1e3", "x2"))
    assert [rows.tolist() for rows in outputs.numbers] == [[[1], [-7]], [[2.5]], [[-3e-7], [1 / 3]], [[]], [[]]]


def test_texts_that_report_numbers_hold_them_and_names_do_not():
    outputs = from_list(
        ['{"n": 3, "sums": [1.5, -0.0]}', "mean 2.25, 7 rows", "a\n| b | 12 |", "c12", "18 to 25", "v1.2.3"]
    )
    assert outputs.forms == (
        """the text '{"n": #, "sums": [#.#, #.#]}'""",
        "the text 'mean #.##, # rows'",
        r"the text 'a\n| b | # |'",
        "'c12'",
        "'18 to 25'",
        "'v1.2.3'",
    )
    assert [rows.tolist() for rows in outputs.numbers] == [
        [[3, 1.5, BELOW_ZERO]],
        [[2.25, 7]],
        [[12]],
        [[]],
        [[]],
        [[]],
    ]
    assert from_list([{"1.5": 2, ("a 0.5",): 1}]).forms == ("{'1.5': int, ('a 0.5'): int}",)


def test_texts_of_many_runs_are_those_of_each():
    def report(codes):
        texts = ["1.5", "-0.25", "2.125", "a", "b\n3"]
        return [ManyNumbers(codes * 1.0), ManyTexts(codes, texts), 7.0, ManyTexts(4 - codes, texts)]

    codes = np.array([0, 1, 2, 3, 4, 4, 1, 0])
    whole = OutputSnapshot(report(codes))
    found = sorted((run, form.form, [float(column[place]) if np.ndim(column) else column for column in form.numbers])
                   for runs, form in whole.by_text() for place, run in enumerate(runs.tolist()))  # fmt: skip
    texts = ["1.5", "-0.25", "2.125", "a", "b\n3"]
    single = [OutputSnapshot([float(code), texts[code], 7.0, texts[4 - code]]) for code in codes.tolist()]
    assert found == [(run, one.form, one.numbers) for run, one in enumerate(single)]


# --- laws ------------------------------------------------------------------------------------------------

REPORTS = st.text(alphabet="01.-e{[\n\\#'a, ", max_size=8)
ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2) | st.just(Colour.RED)
OUTPUTS = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=1) | st.integers(0, 2), inner, max_size=2)
    ),
    max_leaves=5,
)
FEW = st.sampled_from([1, 1.5, True, "a", None, [1], [1.5, "a"], math.nan, (2,), {"k": 3}])


def rows(outputs):
    """For each run: its form and its numbers, whatever the order of the forms."""
    seen = [0] * len(outputs.forms)
    found = []
    for code in outputs.codes:
        found.append((outputs.forms[code], outputs.numbers[code][seen[code]].tobytes()))
        seen[code] += 1
    assert seen == [len(numbers) for numbers in outputs.numbers]
    return found


def equal(one, two):
    return (
        one.forms == two.forms
        and np.array_equal(one.codes, two.codes)
        and all(
            a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
            for a, b in zip(one.numbers, two.numbers, strict=True)
        )
    )


def identical(one, two):
    if type(one) is not type(two):
        return False
    if isinstance(one, dict):
        return [(type(k), k) for k in one] == [(type(k), k) for k in two] and all(
            map(identical, one.values(), two.values())
        )
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(identical, one, two))
    return repr(one) == repr(two)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=400)
@given(one=REPORTS, two=REPORTS)
def test_two_reports_are_one_row_exactly_where_they_are_equal(one, two):
    first, second = rows(from_list([one, two]))
    assert (first == second) is (one == two)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=120)
@given(one=OUTPUTS, two=OUTPUTS)
def test_two_outputs_are_one_row_exactly_where_they_are_identical(one, two):
    first, second = rows(from_list([one, two]))
    assert (first == second) is identical(one, two)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=150)
@given(outputs=st.lists(FEW, max_size=30), data=st.data())
def test_take_is_taking_from_the_list(outputs, data):
    whole = from_list(outputs)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(outputs), max_size=len(outputs))), dtype=bool)
    assert rows(whole.take(mask)) == [row for row, chosen in zip(rows(whole), mask, strict=True) if chosen]
    assert rows(whole.take(np.flatnonzero(mask))) == rows(whole.take(mask))
    assert len(whole.take(slice(2, 5))) == len(outputs[2:5])


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=150)
@given(outputs=st.lists(FEW, max_size=30), data=st.data())
def test_between_is_a_slice_of_the_list(outputs, data):
    start, stop = sorted(data.draw(st.lists(st.integers(0, len(outputs)), min_size=2, max_size=2)))
    whole = from_list(outputs)
    assert rows(whole.between(start, stop)) == rows(from_list(outputs[start:stop]))
    assert rows(whole.first(stop)) == rows(from_list(outputs[:stop]))


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=150)
@given(parts=st.lists(st.lists(FEW, max_size=8), max_size=4))
def test_joining_blocks_is_joining_lists(parts):
    joined = concatenate([from_list(part) for part in parts])
    assert equal(joined, from_list([output for part in parts for output in part]))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(outputs=st.lists(FEW, max_size=20))
def test_forms_stand_in_the_order_of_their_first_run(outputs):
    codes = from_list(outputs).codes
    assert list(dict.fromkeys(codes.tolist())) == list(range(len(set(codes.tolist()))))


DTYPES = st.sampled_from(
    [
        "?",
        "i1",
        "i8",
        "u1",
        "u8",
        "f2",
        "f4",
        "f8",
        "c8",
        "c16",
        "U2",
        "S2",
        "O",
        "g",
        "M8[ns]",
        "m8[s]",
        "i4,f8",
        "M8[D]",
    ]
)
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=150)
@given(data=st.data(), dtype=DTYPES, shape=SHAPES)
def test_an_array_is_the_list_of_its_runs(data, dtype, shape):
    elements = ATOMS if dtype == "O" else None
    array = data.draw(hnp.arrays(np.dtype(dtype), shape, elements=elements))
    assert equal(from_array(array), from_list(list(array)))


def test_integers_at_the_edge_of_what_floats_hold():
    for array in (
        np.array([2**53, 2**53 + 1]),
        np.array([-(2**53) - 1, 3]),
        np.array([2**64 - 1, 2**53, 1], dtype=np.uint64),
    ):
        assert equal(from_array(array), from_list(list(array)))
    for array in (np.array([1, 2], dtype=np.int8), np.array([1, 2], dtype=np.float32)):
        assert equal(from_array(array), from_list(list(array)))
    assert from_array(np.array([-(2**63)])).forms == ("int -0x8000000000000000",)


def test_a_side_without_runs():
    for array in (np.zeros(0), np.zeros((0, 3)), np.array([], dtype=object)):
        assert len(from_array(array)) == 0 and equal(from_array(array), from_list([]))
    assert len(concatenate([])) == 0 and len(from_paths([], 0)) == 0


def test_runs_without_numbers():
    array = np.zeros((4, 0))
    assert from_array(array).forms == ("array(0,) of float × 0",)
    assert equal(from_array(array), from_list(list(array)))


def program(noise):
    k = noise.discrete_laplace(2)
    if k > 2:
        return [k, noise.choice([1.0, math.nan, -math.inf])]
    if k == 0:
        return {"k": k, "big": noise.choice([2**53 + 1, 5]), "b": noise.bernoulli(0.5)}
    if k < -2:
        raise ValueError(f"{7}")
    return [noise.laplace(1), "a", (noise.choice("xy"),)]


@pytest.mark.slow
def test_paths_are_the_list_of_their_entries():
    size = 3000
    result = run_batch(program, size, np.random.default_rng(0))
    assert result.fallback_reason is None
    single: list[Any] = [None] * size
    for path in result.paths:
        for position, run in enumerate(path.runs):
            single[run] = entry(path.output, position)
    assert equal(from_paths(result.paths, size), from_list(single))
    assert len(from_list(single).forms) == 8


def test_a_run_that_was_lost_is_noticed():
    with pytest.raises(RuntimeError, match="runs were lost"):
        from_paths([PathOutputs(np.array([0, 2]), "a")], 3)


def test_information_is_the_entropy_of_all_runs():
    assert information(from_list(["a"] * 100)) == 0
    assert information(from_list(["a", "b"] * 50)) == pytest.approx(100)
    assert information(from_list([float(x) for x in range(64)])) == pytest.approx(64 * 6)
    assert information(from_list([])) == 0
