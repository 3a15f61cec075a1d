"""Data of every kind, small enough to read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl

COLUMNS = {
    "age": [31, 47, 62, 25],
    "mass": [3750.5, 4201.25, 2893.75, 5512.5],
    "kind": ["ada-x", "bob-y", "ada-x", "eve-z"],
}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
FRAME = pd.DataFrame(COLUMNS)

RECORDS: dict[str, Any] = {
    "list of whole numbers": [31, 47, 62, 25],
    "list of numbers": [3750.5, 4201.25, 2893.75],
    "list of numbers of both types": [31, 4201.25, 62],
    "list of texts": ["ada-x", "bob-y", "ada-x"],
    "list of truths": [True, False, True],
    "list with gaps": [31, None, 47],
    "list of NumPy numbers": [np.int32(31), np.int32(47)],
    "tuple": (31, 47, 62),
    "set": {31, 47, 62},
    "list of tuples": [(31, "ada-x"), (47, "bob-y")],
    "list of lists of two lengths": [[31, 47], [62]],
    "list of arrays": [np.array([1.5, 2.5]), np.array([3.5, 4.5])],
    "list of dicts": ROWS,
    "list of dicts with other keys": [{"age": 31, "x": 1}, {"age": 47, "y": 2}],
    "list of objects": [1 + 2j, 3 + 4j],
    "mapping of numbers": {"ada-x": 31, "bob-y": 47},
    "mapping of dicts": {"ada-x": {"age": 31}, "bob-y": {"age": 47}},
    "mapping by numbers": {7: 31.5, 9: 47.5},
    "array of floats": np.array([3750.5, 4201.25, 2893.75]),
    "array of small floats": np.array([3750.5, 4201.25], dtype=np.float32),
    "array of integers": np.array([31, 47, 62]),
    "array of bytes of integers": np.array([31, 47, 62], dtype=np.uint8),
    "array of truths": np.array([True, False]),
    "array of texts": np.array(["ada-x", "bob-y"]),
    "array of objects": np.array([31, "ada-x", None], dtype=object),
    "array of times": np.array(["2020-01-01", "2021-06-01"], dtype="M8[s]"),
    "table": np.array([[31.0, 3750.5], [47.0, 4201.25], [62.0, 2893.75]]),
    "table in another order": np.asfortranarray([[31.0, 3750.5], [47.0, 4201.25], [62.0, 2893.75]]),
    "images": np.arange(24.0).reshape(3, 4, 2).transpose(0, 2, 1),
    "structured array": np.array([(31, 3750.5, "ada-x"), (47, 4201.25, "bob-y")], dtype="i4,f8,U5"),
    "masked array": np.ma.array([31.0, 47.0, 62.0], mask=[False, True, False]),
    "frame": FRAME,
    "frame with labels": FRAME.set_axis(["p", "q", "r", "s"], axis=0),
    "frame with gaps in its index": FRAME.iloc[[0, 2, 3]],
    "frame with gaps": FRAME.assign(mass=[1.5, np.nan, 2.5, 3.5], kind=["ada-x", None, "bob-y", "ada-x"]),
    "frame of nullable columns": FRAME.convert_dtypes().assign(n=pd.array([1, None, 3, 4], dtype="Int8")),
    "frame of categories": FRAME.assign(
        kind=pd.Categorical(FRAME["kind"], categories=["ada-x", "bob-y", "eve-z", "old"])
    ),
    "frame of times": FRAME.assign(day=pd.to_datetime(["2020-01-01"] * 3 + ["2021-05-05"])),
    "frame with one name twice": pd.DataFrame([[1, 2.5], [3, 4.5]], columns=["a", "a"]),
    "frame of two levels": FRAME.set_index(["age", "kind"]),
    "series": pd.Series([31, 47, 62], name="age"),
    "series without a name": pd.Series([1.5, 2.5, 3.5]),
    "polars frame": pl.DataFrame(COLUMNS),
    "polars frame with gaps": pl.DataFrame({"a": [1, None, 3], "b": ["ada-x", None, "bob-y"], "c": [1.5, None, 2.5]}),
    "polars frame of categories": pl.DataFrame(
        {"a": pl.Series(["u", "v", "u"], dtype=pl.Enum(["u", "v", "w"])), "b": pl.Series([1, 2, 3], dtype=pl.Int8)}
    ),
    "polars series": pl.Series("age", [31, 47, 62]),
    "empty frame": FRAME.iloc[:0],
    "empty array": np.array([], dtype=np.float64),
}

SINGLES: dict[str, Any] = {
    "number": 31,
    "float": 31.5,
    "text": "ada-x",
    "truth": True,
    "NumPy number": np.float32(2.5),
    "array of no dimension": np.array(7),
}
