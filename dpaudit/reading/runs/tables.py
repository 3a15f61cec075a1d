"""How are arrays, series and frames made whose values differ by run, under labels that do not?

What has no form here is done by NumPy or pandas themselves, run by run.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.callables import Effect, effect_of
from dpaudit.reading.runs import applied, arrays, joins
from dpaudit.reading.runs.values import (
    Alternatives,
    Array,
    Coded,
    Container,
    Mask,
    Numbers,
    Table,
    Windows,
    differs,
    raw,
)

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

# --- What do frames of noisy numbers become where their labels decide it? --------------------------------

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
    series = applied.opened(other)
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
    data = applied.opened(domain.present(given.pop("data", None)))
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
        rows = of_rows(domain, data.content, index)
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
        own = applied.opened(domain.present(value))
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


# --- What do rolling windows over a series give whose values differ by run? ------------------------------

_METHODS = ("mean", "sum", "min", "max", "median", "var", "std", "count")
_PLAIN = {"window", "min_periods", "center"}


def asked(domain: Active, value: Numbers, args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``.rolling()`` by name; what pandas refuses is raised."""
    import pandas as pd

    plain = tuple(map(raw, args)), {key: raw(each) for key, each in keywords.items()}
    try:
        how = inspect.signature(pd.Series.rolling).bind(None, *plain[0], **plain[1]).arguments
        del how["self"]
        pd.Series(value.array[0], index=value.labels).rolling(**how)
    except Exception as error:
        domain.leave(error)
        raise
    return dict(how)


def method(domain: Active, value: Windows, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a method of windows."""
    import pandas as pd

    series, how = domain.present(applied.opened(value.owner)), value.how
    dense = type(series) is Numbers and series.array.ndim == 2 and series.array.dtype.kind in "fiu"
    if name in _METHODS and not args and not keywords and how.keys() <= _PLAIN and type(how.get("window")) is int:
        if dense and series.array.shape[1]:
            return Container(series.like(_rolled(series.array, how, name)))
    elif differs((args, tuple(keywords.values()))) or any(map(callable, (*args, *keywords.values()))):
        domain.give_up(f".{name}() of windows with what differs by run, or a function")
    if effect_of(None, pd.Series(dtype=float).rolling(1), name) is not Effect.PURE:
        domain.give_up(f".{name}() of windows")
    return applied.apply(domain, lambda own, *rest, **more: getattr(own, name)(*rest, **more), (value, *args), keywords)


def _rolled(array: Array, how: dict[str, Any], name: str) -> Array:
    """What windows give, (runs, n): all runs lie behind each other in one series, and no window reaches over."""
    import pandas as pd

    runs, size = array.shape
    least = how.get("min_periods")
    bounds = _bounds()(size=size, window=how["window"], center=bool(how.get("center")))
    rolled = pd.Series(array.reshape(-1)).rolling(bounds, min_periods=how["window"] if least is None else least)
    found: Array = getattr(rolled, name)().to_numpy().reshape(runs, size)
    return found


@functools.cache
def _bounds() -> Any:
    """The windows within parts of equal size (``pandas.api.indexers.BaseIndexer``)."""
    from pandas.api.indexers import BaseIndexer

    class Bounds(BaseIndexer):  # type: ignore[misc]  # pandas has no stubs here
        def get_window_bounds(
            self,
            num_values: int = 0,
            min_periods: Any = None,
            center: Any = None,
            closed: Any = None,
            step: Any = None,
        ) -> tuple[Array, Array]:
            place = np.arange(self.size)
            past = place + 1 + ((self.window - 1) // 2 if self.center else 0)
            first, last = np.clip(past - self.window, 0, self.size), np.clip(past, 0, self.size)
            parts = np.arange(0, num_values, self.size)[:, None]
            return (parts + first).reshape(-1), (parts + last).reshape(-1)

    return Bounds
