"""How are arrays, series and frames made whose values differ by run, under labels that do not?

What has no form here is done by NumPy or pandas themselves, run by run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.runs import arrays, joins, shapes
from dpaudit.reading.runs.applied import opened
from dpaudit.reading.runs.values import (
    Alternatives,
    Coded,
    Container,
    Mask,
    Numbers,
    Table,
    differs,
    raw,
)

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

_ROUNDED = 2.0**40
"""Numbers above this, times the power of ten, are rounded by Python itself."""


def the_pandas() -> Any:
    """Return pandas, which takes long to import."""
    import pandas as pd

    return pd


def is_frame(value: Any) -> bool:
    """Whether a value is a frame of pandas, which need not be there."""
    return "pandas" in sys.modules and type(value) is the_pandas().DataFrame


def length(content: Any) -> Any:
    """``len`` of an array, a series or a frame."""
    return (
        len(content.index)
        if type(content) is Table
        else content.array.shape[1]
        if type(content) is Numbers
        else len(content)
    )


def row(value: Numbers, place: int) -> Any:
    """Return a member of an array along its first axis."""
    found = Numbers(value.array[:, place])
    return found if found.array.ndim == 1 else Container(found)


def members(domain: Active, content: Any) -> Iterable[Any]:
    """Yield what a loop over an array, a series or a frame goes through."""
    if type(content) is Table:
        yield from content.columns
    elif type(content) is Numbers:
        for place in range(content.array.shape[1]):
            found = row(content, place)
            yield found if content.labels is None else Numbers(content.array[:, place], True)  # pandas gives Python's
    else:
        yield from content


def rounded(domain: Active, number: Numbers, places: int) -> Any:
    """``round(a, n)``: NumPy's rounding, and Python's own near ties, where the two differ."""
    own = np.where(domain.active.chosen, number.array, 0.0)
    if not -15 <= places <= 15:
        return NotImplemented
    found = number.like(np.round(own, places))
    if not number.python:
        return found  # as NumPy's own numbers are rounded
    with np.errstate(all="ignore"):
        scaled = np.abs(own) * 10.0**places
        near = np.abs(np.mod(scaled, 1.0) - 0.5) < 1e-6
        odd = (near | ~(scaled < _ROUNDED)) & domain.active.chosen
    if not odd.any():
        return found
    return arrays.repaired(domain, odd, lambda value: round(value, places), (number,), found)


# --- what makes series and frames -------------------------------------------------------------------------


def made(domain: Active, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the series or frame that a call makes of values that differ by run; NotImplemented if it has none."""
    if not differs((args, tuple(keywords.values()))):
        return NotImplemented
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", "") or ""
    if not module.startswith("pandas") or name not in ("Series", "DataFrame"):
        return NotImplemented
    pd = the_pandas()
    given = dict(zip(("data", "index", "columns" if name == "DataFrame" else "dtype"), args, strict=False)) | keywords
    data = opened(domain.present(given.pop("data", None)))
    if differs(tuple(given.values())):
        return NotImplemented
    index = raw(given.pop("index", None))
    if name == "Series":
        title = raw(given.pop("name", None))
        return NotImplemented if given else _series(domain, data, index, title)
    if given.keys() - {"columns"}:
        return NotImplemented
    columns = raw(given.get("columns"))
    if type(data) is Container and type(data.content) is list and columns is None:
        rows = shapes.of_rows(domain, data.content, index)
        return NotImplemented if rows is NotImplemented else frame_of_columns(domain, *rows)
    if type(data) is Container and type(data.content) is dict and columns is None:
        return frame_of_columns(domain, data.content, index)
    if type(data) is Numbers and data.labels is None and data.array.ndim == 3:
        labels = pd.RangeIndex(data.array.shape[2]) if columns is None else pd.Index(columns)
        rows = pd.RangeIndex(data.array.shape[1]) if index is None else pd.Index(index)
        if (len(rows), len(labels)) != data.shape or not labels.is_unique:
            return NotImplemented
        return Container(Table({label: Numbers(data.array[:, :, k]) for k, label in enumerate(labels)}, rows))
    return NotImplemented


def _series(domain: Active, data: Any, index: Any, title: Any) -> Any:
    pd = the_pandas()
    if type(data) is Numbers and data.array.ndim == 2:
        if data.labels is not None:
            if index is not None and not pd.Index(index).equals(data.labels):
                return NotImplemented
            return Container(Numbers(data.array, False, data.labels, data.name if title is None else title))
        labels = pd.RangeIndex(data.array.shape[1]) if index is None else pd.Index(index)
        return (
            Container(Numbers(data.array, False, labels, title))
            if len(labels) == data.array.shape[1]
            else NotImplemented
        )
    content = data.content if type(data) is Container else data
    if type(content) is dict and index is None and content:
        stacked = arrays.stack(domain, list(content.values()))
        return NotImplemented if stacked is None else Container(Numbers(stacked, False, pd.Index(list(content)), title))
    if type(content) in (list, tuple) and content:
        stacked = arrays.stack(domain, list(content))
        labels = pd.RangeIndex(len(content)) if index is None else pd.Index(index)
        if stacked is None or len(labels) != len(content):
            return NotImplemented
        return Container(Numbers(stacked, False, labels, title))
    return NotImplemented


def frame_of_columns(domain: Active, columns: dict[Any, Any], index: Any) -> Any:
    """Return a frame of columns, a table where some of them differ by run."""
    pd = the_pandas()
    out: dict[Any, Any] = {}
    rows = None if index is None else pd.Index(index)
    for label, value in columns.items():
        own = opened(domain.present(value))
        listed = own.content if type(own) is Container else own
        if type(listed) in (list, tuple, range):
            stacked = arrays.stack(domain, list(listed)) if differs(own) else None
            own = (
                Numbers(stacked) if stacked is not None else own if differs(own) else plain_column(pd.Series(raw(own)))
            )
        labels = own.labels if type(own) is Numbers else own.index if joins.is_of_pandas(type(own)) else None
        if type(own) is Numbers and own.array.ndim == 2:
            size = own.array.shape[1]
        elif type(own) is not Numbers and labels is not None and own.ndim == 1:
            size, own = len(own), plain_column(own)
        elif isinstance(own, np.ndarray | pd.api.extensions.ExtensionArray) and own.ndim == 1:
            size = len(own)
        else:
            return NotImplemented
        if labels is not None and (rows is None or isinstance(rows, pd.RangeIndex)) and index is None:
            if rows is not None and not rows.equals(labels):
                return NotImplemented
            rows = labels
        elif labels is not None and not (rows is not None and rows.equals(labels)):
            return NotImplemented
        if rows is None:
            rows = pd.RangeIndex(size)
        if len(rows) != size:
            return NotImplemented
        out[label] = Numbers(own.array) if type(own) is Numbers else own
    return NotImplemented if rows is None else Container(Table(out, rows))


def plain_column(series: Any) -> Any:
    """Return the values of a plain series as a column of a frame, with their type."""
    return series.to_numpy() if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiub" else series.array


def regrouped(domain: Active, content: Any) -> Any:
    """Return a series or frame in an order that differs by run as alternatives, for the active runs; see `regroup`."""
    return regroup(content, domain.active, domain.count)


def regroup(content: Any, mask: Mask, count: int) -> Any:
    """Return a series or frame in an order that differs by run as alternatives, each with plain labels."""
    parts = [content.labels] if type(content) is Numbers else [content.index, *content.columns.values()]
    coded = [each for each in parts if type(each) is Coded]
    if not coded:
        return content
    places = mask.places
    key = np.zeros(len(places), dtype=np.int64)
    for each in {id(one.codes): one for one in coded}.values():
        for column in each.codes[places].T:
            key = np.unique(key, return_inverse=True)[1] * (int(column.max(initial=0)) + 1) + column
    known, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    if len(known) > max(256, len(places) // 4):
        return content
    codes = np.zeros(count, dtype=np.int32)
    codes[places] = inverse

    def plain(part: Any, run: int) -> Any:
        return part.of(run) if type(part) is Coded else part

    def one(run: int) -> Any:
        if type(content) is Numbers:
            return Numbers(content.array, False, plain(content.labels, run), content.name)
        columns = {label: plain(column, run) for label, column in content.columns.items()}
        return content.like(columns, plain(content.index, run))

    values = [one(int(places[place])) for place in first]
    return values[0] if len(values) == 1 else Alternatives(codes, values)


def is_coded(content: Any) -> bool:
    """Whether a series or frame stands in an order that differs by run."""
    if type(content) is Numbers:
        return type(content.labels) is Coded
    return type(content) is Table and any(type(each) is Coded for each in (content.index, *content.columns.values()))
