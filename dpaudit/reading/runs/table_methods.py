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
    by_name,
    differs,
    raw,
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
    result: Any = NotImplemented
    plain = not differs((args, tuple(keywords.values())))
    if type(value) is Numbers and plain:
        if name == "rolling" and value.labels is not None:
            return Windows(owner, _windows(domain, value, args, keywords))
        given = _given(_OF_ARRAYS if value.labels is None else _OF_SERIES, name, *raws(args, keywords))
        if given is not None:
            result = (_of_array if value.labels is None else _of_series)(domain, value, name, given)
        elif name == "reshape" and value.labels is None and args and not keywords:
            result = _reshaped(value.array, tuple(map(raw, args)))
    elif type(value) is Numbers and name in _OPERATORS and len(args) == 1 and not keywords:
        return domain.binary(_OPERATORS[name], owner, args[0])
    elif type(value) is Numbers and name == "clip" and value.labels is None:
        ends = (*args, None) if len(args) == 1 and not keywords else args  # the function asks for both
        return domain.call(np.clip, owner, *ends, **keywords)
    elif type(value) is Table and plain:
        own, more = raws(args, keywords)
        given = more if name == "assign" and not own else _given(_OF_TABLES, name, own, more)
        result = NotImplemented if given is None else _of_table(domain, value, name, given)
    elif type(value) is Table and name in ("div", "divide", "truediv") and len(args) == 1:
        result = _divided(value, domain.present(args[0]), keywords)
    return apply_method(domain, owner, name, args, keywords) if result is NotImplemented else result


_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "truediv": "truediv", "divide": "truediv",
              "multiply": "mul", "subtract": "sub"}  # fmt: skip
_OF_ARRAYS = {
    **dict.fromkeys((*numbers.OF_LAST_AXIS, "item", "tolist", "copy", "ravel", "flatten"), ""),
    "round": "decimals", "clip": "min max", "astype": "dtype",
}  # fmt: skip
_OF_SERIES = {
    **dict.fromkeys(_OPERATORS, "other"),
    **dict.fromkeys(("to_numpy", "tolist", "to_list", "to_dict", "items", "abs", "sum", "max", "min", "mean"), ""),
    **dict.fromkeys(("cumsum", "dropna", "idxmax", "idxmin"), ""),
    **dict.fromkeys(("nlargest", "nsmallest", "head", "tail"), "n"),
    "copy": "deep", "round": "decimals", "astype": "dtype", "rename": "index", "reindex": "index", "fillna": "value",
    "clip": "lower upper", "unstack": "* fill_value", "sort_values": "* ascending",
}  # fmt: skip
_OF_TABLES = {
    **dict.fromkeys(("abs", "to_numpy"), ""), **dict.fromkeys(("sum", "mean", "max", "min"), "axis"),
    "copy": "deep", "round": "decimals", "clip": "lower upper", "astype": "dtype", "fillna": "value", "head": "n",
    "sort_values": "by * ascending", "to_dict": "orient", "merge": "right * on", "set_index": "keys",
}  # fmt: skip
"""Methods that are done here, with all arguments that are read: those after a star by their names alone."""


def _given(known: dict[str, str], name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of a call by name; None where the method is not known here, or one of them."""
    if name not in known:
        return None
    places, _, others = known[name].partition("*")
    given = by_name(places.split(), args, keywords)
    return given if given is not None and given.keys() <= {*places.split(), *others.split()} else None


def _of_array(domain: Active, value: Numbers, name: str, given: dict[str, Any]) -> Any:
    array = value.array
    if array.ndim == 1:  # a scalar of NumPy, or of Python
        return Numbers(array, True) if name == "item" else NotImplemented
    if name == "tolist":
        return _listed(array)
    if name == "copy":
        return Container(Numbers(array.copy()))
    if name in ("ravel", "flatten"):
        return Container(Numbers(array.reshape(len(array), -1).copy()))
    if name == "round" and array.dtype == np.float64:
        return Container(Numbers(np.round(array, **given)))
    if name == "clip" and given:
        return Container(Numbers(array.clip(**given)))
    if name == "astype" and given:
        return _converted(domain, value, given["dtype"])
    return numbers.along_last_axis(name, value)


def _reshaped(array: Array, args: tuple[Any, ...]) -> Any:
    shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    try:
        return Container(Numbers(array.reshape(len(array), *np.empty(array.shape[1:]).reshape(shape).shape)))
    except (TypeError, ValueError):
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


def _of_series(domain: Active, value: Numbers, name: str, given: dict[str, Any]) -> Any:
    array, labels = value.array, value.labels
    missing = array.dtype.kind == "f" and np.isnan(array[domain.active.chosen]).any()
    if name in _OPERATORS:
        return domain.binary(_OPERATORS[name], Container(value), given["other"]) if given else NotImplemented
    if name == "to_numpy":
        return Container(Numbers(array))
    if name in ("tolist", "to_list"):
        return Container([Numbers(array[:, place], True) for place in range(array.shape[1])])
    if name == "to_dict":
        if not labels.is_unique:
            return NotImplemented
        return Container({label: Numbers(array[:, place], True) for place, label in enumerate(labels.tolist())})
    if name == "items":
        return [(label, Numbers(array[:, place], True)) for place, label in enumerate(labels)]
    if name == "copy":
        return Container(value.like(array.copy())) if given.get("deep", True) is True else NotImplemented
    if name == "round":
        return Container(value.like(np.round(array, **given))) if array.dtype == np.float64 else NotImplemented
    if name == "abs":
        return Container(value.like(np.abs(array)))
    if name == "astype":
        return _converted(domain, value, given["dtype"]) if given else NotImplemented
    if name == "rename":
        mapper = given.get("index")
        if callable(mapper) or type(mapper) is dict:
            new = the_pandas().Series(0.0, index=labels).rename(mapper).index
            return series(array, new, value.name)
        return series(array, labels, mapper)
    if name == "unstack":
        return _unstacked(value)
    if name == "reindex" and given and not missing:
        wanted = the_pandas().Index(given["index"])
        places = labels.get_indexer(wanted) if labels.is_unique else np.array([-1])
        return series(array[:, places], wanted, value.name) if (places >= 0).all() else NotImplemented
    if missing:
        return NotImplemented
    if name in _SERIES_SUMS:
        return Numbers(_SERIES_SUMS[name](array, axis=-1))
    if name == "cumsum":
        return Container(value.like(np.cumsum(array, axis=-1)))
    if (name == "dropna" or (name == "fillna" and given.get("value") is not None)) and array.dtype.kind in "fiub":
        return Container(value.like(array.copy()))
    if name == "clip" and not any(np.ndim(each) for each in given.values()):
        clipped = np.clip(array, given.get("lower"), given.get("upper"))
        return Container(value.like(clipped)) if clipped.dtype == array.dtype else NotImplemented
    if name in ("idxmax", "idxmin"):
        places = getattr(array, name.replace("idx", "arg"))(axis=1)
        known = labels.tolist() if labels.dtype == object else list(labels)
        return joins.simplified(Alternatives(places.astype(np.int32), known))
    many, ascending = given.get("n", 5), given.get("ascending", True)
    if type(many) is not int or many < 1 or type(ascending) is not bool:
        return NotImplemented
    if name in ("sort_values", "nlargest", "nsmallest") and array.dtype.kind == "f":  # labels that differ by run
        down = name == "nlargest" or not ascending
        order = _order(domain, array, down)
        if order is None:
            return NotImplemented
        count = None if name == "sort_values" else many
        best = np.take_along_axis(array, order, axis=1)
        return series(best[:, :count], Coded(order[:, :count], labels), value.name)
    if name in ("head", "tail"):
        part = slice(None, many) if name == "head" else slice(-many, None)
        return series(array[:, part], _part(labels, part), value.name)
    return NotImplemented


def _order(domain: Active, array: Array, down: bool) -> Array | None:
    """Return the order of numbers, (runs, n), in each run; None for equal ones, whose order is pandas' own."""
    order = np.argsort(-array if down else array, axis=1, kind="stable")
    best = np.take_along_axis(array, order, axis=1)
    return None if ((best[:, 1:] == best[:, :-1]).any(axis=1) & domain.active.chosen).any() else order


def _of_table(domain: Active, table: Table, name: str, given: dict[str, Any]) -> Any:
    if name in ("round", "clip", "abs", "astype", "fillna"):
        return _by_column(domain, table, name, given)
    if name == "copy":
        return Container(table.like(dict(table.columns))) if given.get("deep", True) is True else NotImplemented
    if name in ("sum", "mean", "max", "min"):
        return _along(domain, table, name, given.get("axis", 0))
    if name == "to_numpy":
        parts = list(table.columns.values())
        if not parts or not all(type(each) is Numbers and each.array.dtype == np.float64 for each in parts):
            return NotImplemented
        return Container(Numbers(np.stack([each.array for each in parts], axis=2)))
    if name == "head":
        part = slice(None, given.get("n", 5))
        return Container(table.like(_rows(table, part), _part(table.index, part)))
    if name == "sort_values":
        return _sorted_table(domain, table, given)
    if name == "to_dict":
        return _table_as_dict(table, given.get("orient", "dict"))
    if name == "merge" and isinstance(given.get("on"), str):
        return _merged(table, given.get("right"), given["on"])
    if name == "assign":
        new = Container(table.like(dict(table.columns)))
        for label, value in given.items():
            tables.set_item(domain, new, label, domain.call(value, new) if callable(value) else value)
        return new
    key = given.get("keys")
    column = table.columns.get(key) if name == "set_index" and isinstance(key, str) else None
    if column is None or type(column) is Numbers:
        return NotImplemented
    rest = {label: each for label, each in table.columns.items() if label != key}
    return Container(Table(rest, the_pandas().Index(column, name=key)))


def _by_column(domain: Active, table: Table, name: str, given: dict[str, Any]) -> Any:
    """Return what a method does that treats each column by itself."""
    if any(type(each) in (dict, list) for each in given.values()):
        return NotImplemented
    columns: dict[Any, Any] = {}
    for label, column in table.columns.items():
        if type(column) is Numbers:
            index = the_pandas().RangeIndex(len(table.index))
            result = _of_series(domain, Numbers(column.array, False, index), name, given)
            columns[label] = result if result is NotImplemented else Numbers(result.content.array)
        elif type(column) is Coded:
            columns[label] = column if name == "round" else NotImplemented
        else:
            columns[label] = plain_column(getattr(the_pandas().Series(column, index=table.index), name)(**given))
        if columns[label] is NotImplemented:
            return NotImplemented
    return Container(table.like(columns))


def _rows(table: Table, rows: Any) -> dict[Any, Any]:
    """Return some rows of each column."""
    return {
        label: Numbers(column.array[:, rows]) if type(column) is Numbers else _part(column, rows)
        for label, column in table.columns.items()
    }


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
    columns = _rows(table, rows)
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


def _sorted_table(domain: Active, table: Table, given: dict[str, Any]) -> Any:
    by = given.get("by")
    by = by[0] if type(by) is list and len(by) == 1 else by
    if not isinstance(by, str) or type(given.get("ascending", True)) is not bool:
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


def _along(domain: Active, table: Table, name: str, axis: Any) -> Any:
    """``t.sum(axis=…)``, ``max``: a series by column or by row; NotImplemented where it has no form here."""
    columns = list(table.columns.values())
    if type(axis) is not int or axis not in (0, 1):
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
        totals = functools.reduce(np.add, np.moveaxis(whole, 2 - axis, 0))  # from left to right, as of few numbers
        totals = totals / count if name == "mean" else totals
    else:
        totals = getattr(np, name)(whole, axis=2 - axis)
    return series(totals, labels)


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


def _unstacked(value: Numbers) -> Any:
    """``s.unstack()`` of a series with labels of two levels: where each number goes is asked of pandas."""
    if not isinstance(value.labels, the_pandas().MultiIndex):
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
    windows: Array = getattr(rolled, name)().to_numpy().reshape(runs, size)
    return windows


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
