"""What do frames of noisy numbers become where their labels decide it? Sums by row, quotients, other shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.runs import arrays
from dpaudit.reading.runs.applied import opened
from dpaudit.reading.runs.values import Array, Container, Numbers, Table, differs

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

ADDED = ("add", "sub", "mul", "truediv")
"""Operators between a frame and an array that pandas leaves to NumPy."""
_SEQUENTIAL = 8
"""From so many numbers on NumPy adds them in another order."""


def along(domain: Active, table: Table, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """``t.sum(axis=…)``, ``max``: a series by column or by row; NotImplemented where it has no form here."""
    import pandas as pd

    axis = args[0] if args else keywords.get("axis", 0)
    columns = list(table.columns.values())
    if len(args) + len(keywords) > 1 or keywords.keys() - {"axis"} or axis not in (0, 1) or type(axis) is not int:
        return NotImplemented
    if not columns or not all(type(each) is Numbers and each.array.dtype == np.float64 for each in columns):
        return NotImplemented
    whole = np.stack([each.array for each in columns], axis=1)  # runs, columns, rows
    if not np.isfinite(whole[domain.active.chosen]).all() or 0 in whole.shape:
        return NotImplemented
    count = whole.shape[2 - axis]
    if name in ("sum", "mean") and count >= _SEQUENTIAL:
        return NotImplemented
    labels = pd.Index(list(table.columns), name=table.title) if axis == 0 else table.index
    if name in ("sum", "mean"):
        found = _added(whole, 2 - axis)
        found = found / count if name == "mean" else found
    else:
        found = getattr(np, name)(whole, axis=2 - axis)
    return Container(Numbers(found, False, labels))


def _added(whole: Array, axis: int) -> Array:
    """Return sums from left to right."""
    parts = np.moveaxis(whole, axis, 0)
    found: Array = parts[0].copy()
    for each in parts[1:]:
        found += each
    return found


def divided(domain: Active, table: Table, other: Any, keywords: dict[str, Any]) -> Any:
    """``t.div(s, axis=0)`` by a series with the same rows."""
    series = opened(other)
    if keywords != {"axis": 0} or type(series) is not Numbers or series.labels is None:
        return NotImplemented
    if type(series.labels) is not type(table.index) or not series.labels.equals(table.index):
        return NotImplemented
    columns = {}
    for label, column in table.columns.items():
        if type(column) is not Numbers:
            return NotImplemented
        with np.errstate(all="ignore"):
            columns[label] = Numbers(column.array / series.array)
    return Container(table.like(columns))


def unstacked(series: Numbers, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """``s.unstack()`` of a series with labels of two levels: where each number goes is asked of pandas."""
    import pandas as pd

    if args or keywords.keys() - {"fill_value"} or not isinstance(series.labels, pd.MultiIndex):
        return NotImplemented
    if series.labels.nlevels != 2 or not series.labels.is_unique:
        return NotImplemented
    where = pd.Series(np.arange(len(series.labels)), index=series.labels).unstack(fill_value=-1)
    places = where.to_numpy()
    if (places < 0).any():
        return NotImplemented
    columns = {label: Numbers(series.array[:, places[:, k]]) for k, label in enumerate(where.columns)}
    return Container(Table(columns, where.index, where.columns.name))


def of_rows(domain: Active, rows: list[Any], index: Any) -> Any:
    """``DataFrame([{…}, {…}])``: all rows with the same keys."""
    import pandas as pd

    contents = [each.content if type(each) is Container else each for each in rows]
    if not contents or not all(type(each) is dict and list(each) == list(contents[0]) for each in contents):
        return NotImplemented
    columns: dict[Any, Any] = {}
    for label in contents[0]:
        values = [each[label] for each in contents]
        if not differs(values):
            columns[label] = Container(list(values))
            continue
        stacked = arrays.stack(domain, values)
        if stacked is None:
            return NotImplemented
        columns[label] = Container(Numbers(stacked))
    return columns, pd.RangeIndex(len(rows)) if index is None else index
