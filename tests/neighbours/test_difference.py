"""Is what two datasets share found at once, and never what they do not share?"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.neighbours import digest as module
from dpaudit.neighbours.digest import difference, listed, record_digest

VALUES = st.sampled_from([0.0, -0.0, float("nan"), 1.0])
WHOLE = st.integers(0, 2)
MAKERS = {
    "list": lambda rows: [row[0] for row in rows],
    "list of tuples": lambda rows: rows,
    "array": lambda rows: np.array([row[0] for row in rows], dtype=np.float64),
    "small floats": lambda rows: np.array([row[0] for row in rows], dtype=np.float32),
    "table": lambda rows: np.array([[row[0], row[1]] for row in rows], dtype=np.float64).reshape(-1, 2),
    "frame": lambda rows: pd.DataFrame(rows, columns=["a", "b", "c"]),
    "objects": lambda rows: pd.DataFrame(rows, columns=["a", "b", "c"]).astype(object),
    "series": lambda rows: pd.Series([row[2] for row in rows], dtype=object),
    "polars": lambda rows: pl.DataFrame(rows, schema={"a": pl.Float64, "b": pl.Int64, "c": pl.String}, orient="row"),
    "polars series": lambda rows: pl.Series("a", [row[2] for row in rows], dtype=pl.String),
}
ROWS = st.lists(st.tuples(VALUES, WHOLE, st.sampled_from(["x", "y", None])), max_size=8)


@pytest.mark.slow
@settings(derandomize=True, max_examples=40, deadline=None)
@given(ROWS, ROWS, st.integers(0, 8))
@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_set_aside_is_what_both_sides_share(kind: str, left: Any, right: Any, shared: int) -> None:
    make = MAKERS[kind]
    data0, data1 = make(left), make(left[:shared] + right + left[shared:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LARGE", 1)
        found = difference(data0, data1)
    assert found is not None
    digests = [[record_digest(record) for record in listed(data)] for data in (data0, data1)]
    counts = [Counter(own) for own in digests]  # the slow, obvious twin
    assert Counter(digests[0][place] for place in found.gone) == counts[0] - counts[1]
    assert Counter(digests[1][place] for place in found.come) == counts[1] - counts[0]
    assert [digests[0][place] for place in found.common[0]] == [digests[1][place] for place in found.common[1]]
    for own, changed, common in zip(digests, (found.gone, found.come), found.common, strict=True):
        assert sorted([*changed, *common.tolist()]) == list(range(len(own)))
    assert found.sizes == tuple(map(len, digests))


@pytest.mark.parametrize(("data0", "data1"), [(1, 2), ("ab", "a"), ([1], 1)])
def test_single_values_have_no_records(data0: Any, data1: Any) -> None:
    assert difference(data0, data1) is None


@pytest.mark.parametrize("kind", ["list", "array", "small floats", "table", "frame", "objects", "polars"])
def test_what_is_equal_but_not_the_same_is_not_set_aside(kind: str) -> None:
    rows = [(0.0, 1, "x")] * 50
    found = difference(MAKERS[kind](rows), MAKERS[kind]([*rows[:30], (-0.0, 1, "x"), *rows[31:]]))
    assert found is not None
    assert len(found.gone) == 1
    assert found.come == (30,)


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), ("a", b"a")])
def test_types_count_in_long_lists_too(one: Any, other: Any) -> None:
    found = difference([one] * 50, [*[one] * 30, other, *[one] * 19])
    assert found is not None
    assert found.come == (30,)
