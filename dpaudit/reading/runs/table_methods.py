"""What do the methods of arrays, series and frames do whose values differ by run?"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.reading.callables import Effect, effect_of
from dpaudit.reading.runs import joins, numbers, tables
from dpaudit.reading.runs.active import Active
from dpaudit.reading.runs.applied import apply_method, each_alternative, opened
from dpaudit.reading.runs.tables import is_coded, length, plain_column, regrouped
from dpaudit.reading.runs.values import (
    Alternatives,
    Array,
    Coded,
    Container,
    Numbers,
    Table,
    Windows,
    differs,
    raws,
    series,
    the_pandas,
)

_ANY_ORDER = frozenset(("head", "tail", "round", "clip", "astype", "abs", "to_numpy", "tolist", "to_list", "copy"))
"""Methods that do the same in every order."""
_SERIES_SUMS: dict[str, Callable[..., Any]] = {"sum": np.sum, "max": np.max, "min": np.min, "mean": np.mean}


def method(domain: Active, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a method of an array, a series or a frame."""
    value = domain.present(opened(owner))
    if type(value) is Windows:
        return _of_windows(domain, value, name, args, keywords)
    if name == "reset_index" and keywords == {"drop": True} and not args and type(value) in (Numbers, Table):
        index = the_pandas().RangeIndex(length(value))
        if type(value) is Numbers:
            return series(value.array, index, value.name)
        return Container(value.like(dict(value.columns), index))
    if is_coded(value) and name not in _ANY_ORDER:
        value = regrouped(value, domain.active)
        if is_coded(value):
            return apply_method(domain, owner, name, args, keywords)
    if type(value) is Alternatives:
        return each_alternative(domain, value, lambda each: method(domain, Container(each), name, args, keywords))
    typical = value
    if type(value) is Table:
        typical = the_pandas().DataFrame()
    elif type(value) is Numbers:
        typical = np.zeros(0) if value.labels is None else the_pandas().Series(dtype=float)
    effect = effect_of(None, typical, name)
    if effect is Effect.CHANGES or keywords.get("inplace") or "out" in keywords:
        return tables.in_place(domain, owner, name, args, keywords)
    args, keywords = domain.callbacks(args, keywords)
    if effect is not Effect.PURE:
        domain.give_up(f".{name}() of a table or array, which may draw, or remember something, by itself")
    found: Any = NotImplemented
    plain = not differs((args, tuple(keywords.values())))
    if type(value) is Numbers and plain:
        if name == "rolling" and value.labels is not None:
            return Windows(owner, _windows(domain, value, args, keywords))
        found = (_of_array if value.labels is None else _of_series)(domain, value, name, *raws(args, keywords))
    elif type(value) is Numbers and name in _OPERATORS and len(args) == 1 and not keywords:
        return domain.binary(_OPERATORS[name], owner, args[0])
    elif type(value) is Numbers and name == "clip" and value.labels is None:
        ends = (*args, None) if len(args) == 1 and not keywords else args  # the function asks for both
        return domain.call(np.clip, owner, *ends, **keywords)
    elif type(value) is Table and plain:
        found = _of_table(domain, value, name, *raws(args, keywords))
    elif type(value) is Table and name in ("div", "divide", "truediv") and len(args) == 1:
        found = _divided(value, domain.present(args[0]), keywords)
    return apply_method(domain, owner, name, args, keywords) if found is NotImplemented else found


_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "truediv": "truediv", "divide": "truediv",
              "multiply": "mul", "subtract": "sub"}  # fmt: skip


def _of_array(domain: Active, value: Numbers, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    array = value.array
    if array.ndim == 1:  # a scalar of NumPy, or of Python
        if name == "item" and not args:
            return Numbers(array, True)
        return NotImplemented
    found = NotImplemented if args or keywords else numbers.along_last_axis(name, value)
    if found is not NotImplemented:
        return found
    if name == "tolist" and not args:
        return _listed(array)
    if name == "copy" and not args:
        return Container(Numbers(array.copy()))
    if name in ("ravel", "flatten") and not args and not keywords:
        return Container(Numbers(array.reshape(len(array), -1).copy()))
    if name == "reshape" and args and not keywords:
        shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        try:
            return Container(Numbers(array.reshape(len(array), *np.empty(value.shape).reshape(shape).shape)))
        except (TypeError, ValueError):
            return NotImplemented
    if name == "round" and len(args) <= 1 and not keywords and array.dtype == np.float64:
        return Container(Numbers(np.round(array, *args)))
    if name == "clip" and not keywords:
        return Container(Numbers(array.clip(*args)))
    if name == "astype" and len(args) == 1 and not keywords:
        return _converted(domain, value, args[0])
    return NotImplemented


def _listed(array: Array) -> Any:
    if array.ndim == 1:
        return Numbers(array, True)
    return Container([_listed(array[:, place]) for place in range(array.shape[1])])


_KINDS = {
    int: np.int64, float: np.float64, bool: np.bool_, np.int64: np.int64, np.float64: np.float64,
    "int": np.int64, "float": np.float64, "int64": np.int64, "float64": np.float64,
}  # fmt: skip
"""Types that an array is made into."""


def _converted(domain: Active, value: Numbers, kind: Any) -> Any:
    wanted = _KINDS.get(kind) if isinstance(kind, type | str) else None
    if wanted is None:
        return NotImplemented
    array = value.array
    if wanted is np.int64 and array.dtype.kind == "f":
        own = array[domain.active.chosen]
        if not (np.abs(own) < numbers.EXACT).all():
            return NotImplemented
        array = np.where(np.isfinite(array) & (np.abs(array) < numbers.EXACT), array, 0.0)
    return Container(value.like(array.astype(wanted), python=False))


def _of_series(domain: Active, value: Numbers, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    array, labels = value.array, value.labels
    missing = array.dtype.kind == "f" and np.isnan(array[domain.active.chosen]).any()
    if name in _OPERATORS and len(args) == 1 and not keywords:
        return domain.binary(_OPERATORS[name], Container(value), args[0])
    if name == "to_numpy" and not args and not keywords:
        return Container(Numbers(array))
    if name in ("tolist", "to_list"):
        return Container([Numbers(array[:, place], True) for place in range(array.shape[1])])
    if name == "to_dict" and not args and not keywords:
        if not labels.is_unique:
            return NotImplemented
        return Container({label: Numbers(array[:, place], True) for place, label in enumerate(labels.tolist())})
    if name in ("items", "iteritems"):
        return [(label, Numbers(array[:, place], True)) for place, label in enumerate(labels)]
    if name == "copy":
        return Container(value.like(array.copy()))
    if name == "round" and not keywords and len(args) <= 1:
        return Container(value.like(np.round(array, *args))) if array.dtype == np.float64 else NotImplemented
    if name == "abs":
        return Container(value.like(np.abs(array)))
    if name == "astype" and len(args) == 1 and not keywords:
        return _converted(domain, value, args[0])
    if name == "rename" and len(args) <= 1 and not keywords.keys() - {"index"}:
        mapper = args[0] if args else keywords.get("index")
        if callable(mapper) or type(mapper) is dict:
            new = the_pandas().Series(0.0, index=labels).rename(mapper).index
            return series(array, new, value.name)
        return series(array, labels, mapper)
    if name == "unstack":
        return _unstacked(value, args, keywords)
    if name == "reindex" and not missing and not keywords.keys() - {"index"} and len(args) + len(keywords) == 1:
        wanted = the_pandas().Index(args[0] if args else keywords["index"])
        places = labels.get_indexer(wanted) if labels.is_unique else np.array([-1])
        return series(array[:, places], wanted, value.name) if (places >= 0).all() else NotImplemented
    if missing:
        return NotImplemented
    if name in _SERIES_SUMS and not args and not keywords:
        return Numbers(_SERIES_SUMS[name](array, axis=-1))
    if name == "cumsum" and not args and not keywords:
        return Container(value.like(np.cumsum(array, axis=-1)))
    if name in ("fillna", "dropna") and array.dtype.kind in "fiub":
        return Container(value.like(array.copy()))
    if name == "clip":
        given = dict(zip(("lower", "upper"), args, strict=False)) | keywords
        if given.keys() - {"lower", "upper"} or any(np.ndim(each) for each in given.values()):
            return NotImplemented
        found = np.clip(array, given.get("lower"), given.get("upper"))
        return Container(value.like(found)) if found.dtype == array.dtype else NotImplemented
    if name in ("idxmax", "idxmin") and not args and not keywords:
        places = getattr(array, name.replace("idx", "arg"))(axis=1)
        known = labels.tolist() if labels.dtype == object else list(labels)
        return joins.simplified(Alternatives(places.astype(np.int32), known))
    if name in ("sort_values", "nlargest", "nsmallest") and array.dtype.kind == "f":
        return _sorted_series(domain, value, name, args, keywords)
    if name in ("head", "tail") and len(args) <= 1 and not keywords:
        part = slice(None, args[0] if args else 5) if name == "head" else slice(-args[0] if args else -5, None)
        return series(array[:, part], _part(labels, part), value.name)
    return NotImplemented


def _sorted_series(domain: Active, value: Numbers, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A series in an order that differs by run: alternatives of labels, over one array of values."""
    count = None
    if name == "sort_values":
        if args or keywords.keys() - {"ascending"}:
            return NotImplemented
        down = not keywords.get("ascending", True)
    else:
        given = dict(zip(("n",), args, strict=False)) | keywords
        if given.keys() - {"n"}:
            return NotImplemented
        count, down = given.get("n", 5), name == "nlargest"
    order = _order(domain, value.array, down)
    if order is None:
        return NotImplemented
    best = np.take_along_axis(value.array, order, axis=1)
    return series(best[:, :count], Coded(order[:, :count], value.labels), value.name)


def _order(domain: Active, array: Array, down: bool) -> Array | None:
    """Return the order of numbers, (runs, n), in each run; None for equal ones, whose order is pandas' own."""
    order = np.argsort(-array if down else array, axis=1, kind="stable")
    best = np.take_along_axis(array, order, axis=1)
    return None if ((best[:, 1:] == best[:, :-1]).any(axis=1) & domain.active.chosen).any() else order


def _of_table(domain: Active, table: Table, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    def of_column(column: Any) -> Any:
        if type(column) is Coded:
            return column if name in ("round", "copy") else NotImplemented
        if type(column) is not Numbers:
            series = the_pandas().Series(column, index=table.index)
            return plain_column(getattr(series, name)(*args, **keywords))
        index = the_pandas().RangeIndex(len(table.index))
        found = _of_series(domain, Numbers(column.array, False, index), name, args, keywords)
        return found if found is NotImplemented else Numbers(found.content.array)

    if name in ("round", "clip", "abs", "astype", "fillna") and not any(
        type(each_arg) in (dict, list) for each_arg in (*args, *keywords.values())
    ):
        columns = {}
        for label, column in table.columns.items():
            columns[label] = of_column(column)
            if columns[label] is NotImplemented:
                return NotImplemented
        return Container(table.like(columns))
    if name == "copy":
        return Container(table.like(dict(table.columns)))
    if name in ("sum", "mean", "max", "min"):
        return _along(domain, table, name, args, keywords)
    if name == "to_numpy" and not args and not keywords:
        parts = list(table.columns.values())
        if not parts or not all(type(each) is Numbers and each.array.dtype == np.float64 for each in parts):
            return NotImplemented
        return Container(Numbers(np.stack([each.array for each in parts], axis=2)))
    if name == "head" and len(args) <= 1 and not keywords:
        part = slice(None, args[0] if args else 5)
        rows = {
            label: Numbers(column.array[:, part]) if type(column) is Numbers else _part(column, part)
            for label, column in table.columns.items()
        }
        return Container(table.like(rows, _part(table.index, part)))
    if name == "sort_values":
        return _sorted_table(domain, table, args, keywords)
    if name == "to_dict" and len(args) + len(keywords) <= 1:
        orient = args[0] if args else keywords.get("orient", "dict")
        return _table_as_dict(table, orient)
    if name == "merge" and len(args) == 1 and keywords.keys() == {"on"} and isinstance(keywords["on"], str):
        return _merged(table, args[0], keywords["on"])
    if name == "assign" and not args:
        new = Container(table.like(dict(table.columns)))
        for label, value in keywords.items():
            tables.set_item(domain, new, label, domain.call(value, new) if callable(value) else value)
        return new
    if name == "set_index" and len(args) == 1 and isinstance(args[0], str) and not keywords:
        column = table.columns.get(args[0])
        if column is None or type(column) is Numbers:
            return NotImplemented
        rest = {label: each_column for label, each_column in table.columns.items() if label != args[0]}
        return Container(Table(rest, the_pandas().Index(column, name=args[0])))
    return NotImplemented


def _part(labels: Any, rows: Any) -> Any:
    return labels.part(rows) if type(labels) is Coded else labels[rows]


def _merged(table: Table, other: Any, on: str) -> Any:
    """A merge with a plain table, on a plain column: pandas says which rows meet."""
    pd = the_pandas()
    key = table.columns.get(on)
    if key is None or type(key) is Numbers or type(other) is not pd.DataFrame or on not in other:
        return NotImplemented
    if any(label != on and label in other for label in table.columns):
        return NotImplemented
    met = pd.DataFrame({on: key, "__row__": np.arange(len(key))}).merge(other, on=on)
    rows = met["__row__"].to_numpy()
    columns = {
        label: Numbers(column.array[:, rows]) if type(column) is Numbers else _part(column, rows)
        for label, column in table.columns.items()
    }
    for label in other.columns:
        if label != on:
            columns[label] = plain_column(met[label])
    return Container(Table(columns, met.index))


def _table_as_dict(table: Table, orient: str) -> Any:
    labels = table.index.tolist()

    def listed(column: Any) -> list[Any]:
        if type(column) is Numbers:
            return [Numbers(column.array[:, place], True) for place in range(column.array.shape[1])]
        return the_pandas().Series(column).tolist()  # type: ignore[no-any-return]

    if not table.index.is_unique:
        return NotImplemented
    columns = {label: listed(column) for label, column in table.columns.items()}
    if orient == "dict":
        return Container({label: Container(dict(zip(labels, each, strict=True))) for label, each in columns.items()})
    if orient == "list":
        return Container({label: Container(each) for label, each in columns.items()})
    rows = [Container(dict(zip(columns, each, strict=True))) for each in zip(*columns.values(), strict=True)]
    if orient == "records":
        return Container(rows)
    return Container(dict(zip(labels, rows, strict=True))) if orient == "index" else NotImplemented


def _sorted_table(domain: Active, table: Table, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = dict(zip(("by",), args, strict=False)) | keywords
    by = given.get("by")
    by = by[0] if type(by) is list and len(by) == 1 else by
    if given.keys() - {"by", "ascending"} or not isinstance(by, str) or type(given.get("ascending", True)) is not bool:
        return NotImplemented
    column = table.columns.get(by)
    if type(column) is not Numbers or column.array.dtype.kind != "f":
        return NotImplemented
    if np.isnan(column.array[domain.active.chosen]).any():
        return NotImplemented
    order = _order(domain, column.array, not given.get("ascending", True))
    if order is None:
        return NotImplemented
    columns = {
        label: Numbers(np.take_along_axis(each.array, order, axis=1)) if type(each) is Numbers else Coded(order, each)
        for label, each in table.columns.items()
    }
    return Container(table.like(columns, Coded(order, table.index)))


# --- a frame by its labels ---------------------------------------------------------------------------------

_SEQUENTIAL = 8
"""From so many numbers on NumPy adds them in another order."""


def _along(domain: Active, table: Table, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """``t.sum(axis=…)``, ``max``: a series by column or by row; NotImplemented where it has no form here."""
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
    labels = table.labels if axis == 0 else table.index
    if name in ("sum", "mean"):
        found = functools.reduce(np.add, np.moveaxis(whole, 2 - axis, 0))  # from left to right, as of few numbers
        found = found / count if name == "mean" else found
    else:
        found = getattr(np, name)(whole, axis=2 - axis)
    return series(found, labels)


def _divided(table: Table, other: Any, keywords: dict[str, Any]) -> Any:
    """``t.div(s, axis=0)`` by a series with the same rows."""
    by = opened(other)
    if keywords != {"axis": 0} or type(by) is not Numbers or by.labels is None:
        return NotImplemented
    if type(by.labels) is not type(table.index) or not by.labels.equals(table.index):
        return NotImplemented
    columns = {}
    for label, column in table.columns.items():
        if type(column) is not Numbers:
            return NotImplemented
        with np.errstate(all="ignore"):
            columns[label] = Numbers(column.array / by.array)
    return Container(table.like(columns))


def _unstacked(value: Numbers, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """``s.unstack()`` of a series with labels of two levels: where each number goes is asked of pandas."""
    if args or keywords.keys() - {"fill_value"} or not isinstance(value.labels, the_pandas().MultiIndex):
        return NotImplemented
    if value.labels.nlevels != 2 or not value.labels.is_unique:
        return NotImplemented
    where = the_pandas().Series(np.arange(len(value.labels)), index=value.labels).unstack(fill_value=-1)
    places = where.to_numpy()
    if (places < 0).any():
        return NotImplemented
    columns = {label: Numbers(value.array[:, places[:, k]]) for k, label in enumerate(where.columns)}
    return Container(Table(columns, where.index, where.columns.name))


# --- rolling windows over a series ------------------------------------------------------------------------

_METHODS_OF_WINDOWS = ("mean", "sum", "min", "max", "median", "var", "std", "count")
_PLAIN_WINDOWS = {"window", "min_periods", "center"}


def _windows(domain: Active, value: Numbers, args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``.rolling()`` by name; what pandas refuses is raised."""
    own, more = raws(args, keywords)
    with domain.as_python:
        how = inspect.signature(the_pandas().Series.rolling).bind(None, *own, **more).arguments
        del how["self"]
        the_pandas().Series(value.array[0], index=value.labels).rolling(**how)
    return dict(how)


def _of_windows(domain: Active, value: Windows, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    own, how = domain.present(opened(value.owner)), value.how
    dense = type(own) is Numbers and own.array.ndim == 2 and own.array.dtype.kind in "fiu"
    known = name in _METHODS_OF_WINDOWS and not args and not keywords
    if known and how.keys() <= _PLAIN_WINDOWS and type(how.get("window")) is int:
        if dense and own.array.shape[1]:
            return Container(own.like(_rolled(own.array, how, name)))
    elif differs((args, tuple(keywords.values()))) or any(map(callable, (*args, *keywords.values()))):
        domain.give_up(f".{name}() of windows with what differs by run, or a function")
    if effect_of(None, the_pandas().Series(dtype=float).rolling(1), name) is not Effect.PURE:
        domain.give_up(f".{name}() of windows")
    return apply_method(domain, value, name, args, keywords)


def _rolled(array: Array, how: dict[str, Any], name: str) -> Array:
    """What windows give, (runs, n): all runs lie behind each other in one series, and no window reaches over."""
    runs, size = array.shape
    least = how.get("min_periods")
    bounds = _bounds()(size=size, window=how["window"], center=bool(how.get("center")))
    rolled = (
        the_pandas().Series(array.reshape(-1)).rolling(bounds, min_periods=how["window"] if least is None else least)
    )
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
