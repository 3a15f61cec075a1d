"""What do arrays, series and frames do whose values differ by run, under labels that do not?

What has no form here is done by NumPy or pandas themselves, run by run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.callables import Effect, effect_of
from dpaudit.reading.runs import arrays, joins, shapes
from dpaudit.reading.runs.applied import apply, opened
from dpaudit.reading.runs.values import (
    CONTENTS,
    Alternatives,
    Array,
    Coded,
    Container,
    Mask,
    Numbers,
    Table,
    differs,
    raw,
)

if TYPE_CHECKING:
    from dpaudit.reading.runs.domain import Runs

_ROUNDED = 2.0**40
"""Numbers above this, times the power of ten, are rounded by Python itself."""


def _pandas() -> Any:
    import pandas as pd

    return pd


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


def members(domain: Runs, content: Any) -> Iterable[Any]:
    """Yield what a loop over an array, a series or a frame goes through."""
    if type(content) is Table:
        yield from content.columns
    elif type(content) is Numbers:
        for place in range(content.array.shape[1]):
            found = row(content, place)
            yield found if content.labels is None else Numbers(content.array[:, place], True)  # pandas gives Python's
    else:
        yield from content


def rounded(domain: Runs, number: Numbers, places: int) -> Any:
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


def made(domain: Runs, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the series or frame that a call makes of values that differ by run; NotImplemented if it has none."""
    if not differs((args, tuple(keywords.values()))):
        return NotImplemented
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", "") or ""
    if not module.startswith("pandas") or name not in ("Series", "DataFrame"):
        return NotImplemented
    pd = _pandas()
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
        return NotImplemented if rows is NotImplemented else _frame_of_columns(domain, *rows)
    if type(data) is Container and type(data.content) is dict and columns is None:
        return _frame_of_columns(domain, data.content, index)
    if type(data) is Numbers and data.labels is None and data.array.ndim == 3:
        labels = pd.RangeIndex(data.array.shape[2]) if columns is None else pd.Index(columns)
        rows = pd.RangeIndex(data.array.shape[1]) if index is None else pd.Index(index)
        if (len(rows), len(labels)) != data.shape or not labels.is_unique:
            return NotImplemented
        return Container(Table({label: Numbers(data.array[:, :, k]) for k, label in enumerate(labels)}, rows))
    return NotImplemented


def _series(domain: Runs, data: Any, index: Any, title: Any) -> Any:
    pd = _pandas()
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


def _frame_of_columns(domain: Runs, columns: dict[Any, Any], index: Any) -> Any:
    pd = _pandas()
    out: dict[Any, Any] = {}
    rows = None if index is None else pd.Index(index)
    for label, value in columns.items():
        own = opened(domain.present(value))
        listed = own.content if type(own) is Container else own
        if type(listed) in (list, tuple, range):
            stacked = arrays.stack(domain, list(listed)) if differs(own) else None
            own = (
                Numbers(stacked) if stacked is not None else own if differs(own) else _plain_column(pd.Series(raw(own)))
            )
        labels = own.labels if type(own) is Numbers else own.index if joins.is_of_pandas(type(own)) else None
        if type(own) is Numbers and own.array.ndim == 2:
            size = own.array.shape[1]
        elif type(own) is not Numbers and labels is not None and own.ndim == 1:
            size, own = len(own), _plain_column(own)
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


def _plain_column(series: Any) -> Any:
    """Return the values of a plain series as a column of a frame, with their type."""
    return series.to_numpy() if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiub" else series.array


# --- methods ----------------------------------------------------------------------------------------------

_ANY_ORDER = frozenset(("head", "tail", "round", "clip", "astype", "abs", "to_numpy", "tolist", "to_list", "copy"))
"""Methods that do the same in every order."""
_SERIES_SUMS: dict[str, Callable[..., Any]] = {"sum": np.sum, "max": np.max, "min": np.min, "mean": np.mean}


def method(domain: Runs, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a method of an array, a series or a frame."""
    value = domain.present(opened(owner))
    if name == "reset_index" and keywords == {"drop": True} and not args and type(value) in (Numbers, Table):
        index = _pandas().RangeIndex(length(value))
        return Container(
            Numbers(value.array, False, index, value.name)
            if type(value) is Numbers
            else value.like(dict(value.columns), index)
        )
    if is_coded(value) and name not in _ANY_ORDER:
        value = regrouped(domain, value)
    if type(value) is Alternatives:
        return domain.each_alternative(value, lambda each: method(domain, Container(each), name, args, keywords))
    if is_coded(value) and name not in _ANY_ORDER:
        return apply(domain, lambda own, *rest, **more: getattr(own, name)(*rest, **more), (owner, *args), keywords)
    effect = effect_of(None, value if type(value) not in (Numbers, Table) else _typed(value), name)
    if effect is Effect.CHANGES or keywords.get("inplace") or "out" in keywords:
        return _in_place(domain, owner, name, args, keywords)
    args, keywords = domain._callbacks(None, args, keywords)
    if effect is not Effect.PURE:
        domain.give_up(f".{name}() of a table or array, which may draw, or remember something, by itself")
    dense = None
    plain = not differs((args, tuple(keywords.values())))
    if type(value) is Numbers:
        if plain:
            dense = _of_series if value.labels is not None else _of_array
            found = dense(
                domain, value, name, tuple(map(raw, args)), {key: raw(each) for key, each in keywords.items()}
            )
            if found is not NotImplemented:
                return found
        elif name in _OPERATORS and len(args) == 1 and not keywords:
            return domain.binary(_OPERATORS[name], owner, args[0])
        elif name == "clip" and value.labels is None:
            return domain.call(np.clip, owner, *args, **keywords)
    elif type(value) is Table and plain:
        found = _of_table(
            domain, value, name, tuple(map(raw, args)), {key: raw(each) for key, each in keywords.items()}
        )
        if found is not NotImplemented:
            return found
    elif type(value) is Table and name in ("div", "divide", "truediv") and len(args) == 1:
        found = shapes.divided(domain, value, domain.present(args[0]), keywords)
        if found is not NotImplemented:
            return found
    return apply(domain, lambda own, *rest, **more: getattr(own, name)(*rest, **more), (owner, *args), keywords)


def _typed(value: Any) -> Any:
    if type(value) is Table:
        return _pandas().DataFrame()
    return np.zeros(0) if value.labels is None else _pandas().Series(dtype=float)


_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "truediv": "truediv", "divide": "truediv",
              "multiply": "mul", "subtract": "sub"}  # fmt: skip


def _result(array: Array) -> Any:
    found = Numbers(array)
    return found if array.ndim == 1 else Container(found)


def _of_array(domain: Runs, value: Numbers, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    array = value.array
    if array.ndim == 1:  # a scalar of NumPy, or of Python
        if name == "item" and not args:
            return Numbers(array, True)
        return NotImplemented
    if name in arrays._OF_LAST_AXIS and array.ndim == 2 and not args and not keywords:
        return _result(getattr(np, name)(array, axis=-1))
    if name in ("cumsum", "argsort") and array.ndim == 2 and not args and not keywords:
        return _result(getattr(np, name)(array, axis=-1))
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
        return Container(Numbers(np.clip(array, *args)))
    if name == "astype" and len(args) == 1 and not keywords:
        return _converted(domain, value, args[0])
    return NotImplemented


def _listed(array: Array) -> Any:
    if array.ndim == 1:
        return Numbers(array, True)
    return Container([_listed(array[:, place]) for place in range(array.shape[1])])


def _converted(domain: Runs, value: Numbers, kind: Any) -> Any:
    wanted = (
        {
            int: np.int64,
            float: np.float64,
            bool: np.bool_,
            "int": np.int64,
            "float": np.float64,
            "int64": np.int64,
            "float64": np.float64,
        }.get(kind, kind if kind in (np.int64, np.float64) else None)
        if isinstance(kind, type | str)
        else None
    )
    if wanted is None:
        return NotImplemented
    array = value.array
    if wanted is np.int64 and array.dtype.kind == "f":
        own = array[domain.active.chosen]
        if not (np.abs(own) < arrays.EXACT).all():
            return NotImplemented
        array = np.where(np.isfinite(array) & (np.abs(array) < arrays.EXACT), array, 0.0)
    return Container(value.like(array.astype(wanted), python=False))


def _of_series(domain: Runs, value: Numbers, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    array, labels = value.array, value.labels
    missing = array.dtype.kind == "f" and np.isnan(array[domain.active.chosen]).any()
    if name in _OPERATORS and len(args) == 1 and not keywords:
        return domain.binary(_OPERATORS[name], Container(value), args[0])
    if name in ("to_numpy",) and not args and not keywords:
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
            new = _pandas().Series(0.0, index=labels).rename(mapper).index
            return Container(Numbers(array, False, new, value.name))
        return Container(Numbers(array, False, labels, mapper))
    if name == "unstack":
        return shapes.unstacked(value, args, keywords)
    if name == "reindex" and not missing and not keywords.keys() - {"index"} and len(args) + len(keywords) == 1:
        wanted = _pandas().Index(args[0] if args else keywords["index"])
        places = labels.get_indexer(wanted) if labels.is_unique else np.array([-1])
        return (
            Container(Numbers(array[:, places], False, wanted, value.name)) if (places >= 0).all() else NotImplemented
        )
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
        places = getattr(array, name.removeprefix("idx").join(["arg", ""]))(axis=1)
        return joins.simplified(
            Alternatives(places.astype(np.int32), labels.tolist() if labels.dtype == object else list(labels))
        )
    if name in ("sort_values", "nlargest", "nsmallest") and array.dtype.kind == "f":
        return _sorted_series(domain, value, name, args, keywords)
    if name in ("head", "tail") and len(args) <= 1 and not keywords:
        part = slice(None, args[0] if args else 5) if name == "head" else slice(-args[0] if args else -5, None)
        return Container(Numbers(array[:, part], False, _part(labels, part), value.name))
    return NotImplemented


def _sorted_series(domain: Runs, value: Numbers, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
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
    array = value.array
    order = np.argsort(-array if down else array, axis=1, kind="stable")
    best = np.take_along_axis(array, order, axis=1)
    active = domain.active.chosen
    ties = (best[:, 1:] == best[:, :-1]).any(axis=1) & active
    if ties.any():
        return NotImplemented  # pandas' order of equal values is its own
    return Container(Numbers(best[:, :count], False, Coded(order[:, :count], value.labels), value.name))


def regrouped(domain: Runs, content: Any) -> Any:
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


def _of_table(domain: Runs, table: Table, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    def each(function: Callable[[Any], Any]) -> Any:
        columns = {}
        for label, column in table.columns.items():
            new = function(column)
            if new is NotImplemented:
                return NotImplemented
            columns[label] = new
        return Container(table.like(columns))

    def of_column(column: Any) -> Any:
        if type(column) is Coded:
            return column if name in ("round", "copy") else NotImplemented
        if type(column) is not Numbers:
            series = _pandas().Series(column, index=table.index)
            return _plain_column(getattr(series, name)(*args, **keywords))
        index = _pandas().RangeIndex(len(table.index))
        found = _of_series(domain, Numbers(column.array, False, index), name, args, keywords)
        return found if found is NotImplemented else Numbers(found.content.array)

    if name in ("round", "clip", "abs", "astype", "fillna") and not any(
        type(each_arg) in (dict, list) for each_arg in (*args, *keywords.values())
    ):
        return each(of_column)
    if name == "copy":
        return Container(table.like(dict(table.columns)))
    if name in ("sum", "mean", "max", "min"):
        return shapes.along(domain, table, name, args, keywords)
    if name in ("to_numpy",) and not args and not keywords:
        return _as_array(domain, table)
    if name == "head" and len(args) <= 1 and not keywords:
        return _rows(table, slice(None, args[0] if args else 5))
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
            set_item(domain, new, label, domain.call(value, new) if callable(value) else value)
        return new
    if name in ("set_index",) and len(args) == 1 and isinstance(args[0], str) and not keywords:
        column = table.columns.get(args[0])
        if column is None or type(column) is Numbers:
            return NotImplemented
        rest = {label: each_column for label, each_column in table.columns.items() if label != args[0]}
        return Container(Table(rest, _pandas().Index(column, name=args[0])))
    return NotImplemented


def _as_array(domain: Runs, table: Table) -> Any:
    columns = list(table.columns.values())
    if not columns or not all(type(each) is Numbers and each.array.dtype == np.float64 for each in columns):
        return NotImplemented
    return Container(Numbers(np.stack([each.array for each in columns], axis=2)))


def _part(labels: Any, rows: Any) -> Any:
    return labels.part(rows) if type(labels) is Coded else labels[rows]


def _rows(table: Table, part: Any) -> Any:
    columns = {
        label: Numbers(column.array[:, part]) if type(column) is Numbers else _part(column, part)
        for label, column in table.columns.items()
    }
    return Container(table.like(columns, _part(table.index, part)))


def _merged(table: Table, other: Any, on: str) -> Any:
    """A merge with a plain table, on a plain column: pandas says which rows meet."""
    pd = _pandas()
    key = table.columns.get(on)
    if key is None or type(key) is Numbers or type(other) is not pd.DataFrame or on not in other:
        return NotImplemented
    if any(label != on and label in other for label in table.columns):
        return NotImplemented
    met = pd.DataFrame({on: key, "__row__": np.arange(len(key))}).merge(other, on=on)
    rows = met["__row__"].to_numpy()
    columns = {
        label: Numbers(column.array[:, rows]) if type(column) is Numbers else _taken(column, rows)
        for label, column in table.columns.items()
    }
    for label in other.columns:
        if label != on:
            columns[label] = _plain_column(met[label])
    return Container(Table(columns, met.index))


def _taken(column: Any, rows: Array) -> Any:
    return column.iloc[rows] if hasattr(column, "iloc") else column[rows]


def _table_as_dict(table: Table, orient: str) -> Any:
    labels = table.index.tolist()

    def listed(column: Any) -> list[Any]:
        if type(column) is Numbers:
            return [Numbers(column.array[:, place], True) for place in range(column.array.shape[1])]
        return _pandas().Series(column).tolist()  # type: ignore[no-any-return]

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


def _sorted_table(domain: Runs, table: Table, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = dict(zip(("by",), args, strict=False)) | keywords
    by = given.get("by")
    by = by[0] if type(by) is list and len(by) == 1 else by
    if given.keys() - {"by", "ascending"} or not isinstance(by, str) or type(given.get("ascending", True)) is not bool:
        return NotImplemented
    column = table.columns.get(by)
    if (
        type(column) is not Numbers
        or column.array.dtype.kind != "f"
        or np.isnan(column.array[domain.active.chosen]).any()
    ):
        return NotImplemented
    down = not given.get("ascending", True)
    order = np.argsort(-column.array if down else column.array, axis=1, kind="stable")
    best = np.take_along_axis(column.array, order, axis=1)
    if ((best[:, 1:] == best[:, :-1]).any(axis=1) & domain.active.chosen).any():
        return NotImplemented
    numbers = {
        label: np.take_along_axis(each.array, order, axis=1)
        for label, each in table.columns.items()
        if type(each) is Numbers
    }

    columns = {
        label: Numbers(numbers[label]) if label in numbers else Coded(order, each)
        for label, each in table.columns.items()
    }
    return Container(table.like(columns, Coded(order, table.index)))


# --- attributes and items ---------------------------------------------------------------------------------


class Located:
    """``s.loc``, ``s.iloc`` of a series or frame whose values differ by run."""

    def __init__(self, domain: Runs, owner: Container, name: str) -> None:
        self.domain, self.owner, self.name = domain, owner, name

    def assign(self, key: Any, value: Any) -> None:
        """``s.loc[k] = v``."""
        content = self.domain.present(opened(self.owner))
        simple = type(content) is Numbers and not differs(key)
        if not simple:
            self.domain.give_up(f"an assignment by .{self.name}")
        if self.name in ("iloc", "iat"):
            key = content.labels[raw(key)]
        set_item(self.domain, self.owner, key, value)


_METHODS_OF_ARRAYS = frozenset(
    (
        "shape",
        "ndim",
        "size",
        "T",
        "dtype",
        "flat",
        "real",
        "values",
        "index",
        "name",
        "columns",
        "empty",
        "loc",
        "iloc",
        "at",
        "iat",
        "str",
        "dt",
        "cat",
    )
)


def attribute(domain: Runs, owner: Any, name: str) -> Any:
    """``a.name`` of an array, a series, a frame, a list."""
    from dpaudit.reading.runs.values import Member

    value = domain.present(opened(owner))
    if is_coded(value) and name in ("index", "loc", "iloc", "at", "iat", "T"):
        value = regrouped(domain, value)
        if is_coded(value):
            return apply(domain, getattr, (owner, name))
    if type(value) is Alternatives:
        if name not in _METHODS_OF_ARRAYS:
            return Member(owner, name)
        return domain.each_alternative(value, lambda each: attribute(domain, Container(each), name))
    if type(value) is Numbers:
        if name == "shape":
            return value.shape
        if name == "ndim":
            return len(value.shape)
        if name == "size":
            return int(np.prod(value.shape, dtype=np.int64))
        if name == "T" and value.array.ndim >= 2:
            turned = Container(
                Numbers(
                    np.transpose(value.array, (0, *range(value.array.ndim - 1, 0, -1))), False, value.labels, value.name
                )
            )
            return owner.view(turned) if type(owner) is Container else turned
        if value.labels is not None:
            if name == "values":  # which pandas lets nobody change
                shown = Container(Numbers(value.array))
                shown.is_part = True
                return shown
            if name in ("index", "name", "empty"):
                return {"index": value.labels, "name": value.name, "empty": not len(value.labels)}[name]
            if name in ("loc", "iloc", "at", "iat"):
                return Located(domain, owner, name)
        if name in ("dtype", "flat", "real", "str", "dt"):
            return apply(domain, getattr, (owner, name)) if name == "dtype" else domain.give_up(f".{name}")
        return Member(owner, name)
    if type(value) is Table:
        if name in ("index", "shape", "empty", "size"):
            size = (len(value.index), len(value.columns))
            return {"index": value.index, "shape": size, "empty": 0 in size, "size": size[0] * size[1]}[name]
        if name == "columns":
            return _pandas().Index(list(value.columns), name=value.title)
        if name in value.columns and not hasattr(_pandas().DataFrame, name):
            return item(domain, owner, name)
        if name in ("loc", "iloc", "at", "iat"):
            return Located(domain, owner, name)
        return (
            apply(domain, getattr, (owner, name)) if name in ("values", "T", "dtypes", "axes") else Member(owner, name)
        )
    if not differs(value):
        try:
            found = getattr(raw(value), name)
        except Exception as error:
            domain.leave(error)
            raise
        if (
            callable(found)
            and not isinstance(found, type)
            and not joins.is_of_pandas(type(found))
            and not hasattr(found, "__getitem__")
        ):
            return Member(owner, name)
        if isinstance(found, CONTENTS):  # such as attrs: who changes it changes what it belongs to
            domain.give_up(f".{name} of an array or a frame")
        return joins.wrapped(found)
    return Member(owner, name)


def item(domain: Runs, owner: Any, key: Any) -> Any:
    """``a[k]`` of an array, a series, a frame, a text."""
    if type(owner) is Located:
        return _located(domain, owner, domain.present(key))
    value = domain.present(opened(owner))
    key = domain.present(key)
    if is_coded(value) and not (type(value) is Table and isinstance(key, list)):
        value = regrouped(domain, value)
        if is_coded(value):
            return apply(domain, _get, (owner, key))
    if type(value) is Alternatives:
        return domain.each_alternative(value, lambda each: item(domain, Container(each), key))
    if type(value) is Numbers and not differs(key):
        found = _item_of_numbers(value, raw(key))
        if found is not NotImplemented:
            return owner.view(found) if type(owner) is Container and type(found) is Container else found
    if type(value) is Table and not differs(key):
        found = _item_of_table(value, raw(key))
        if found is not NotImplemented:
            return found
    if isinstance(value, np.ndarray) and type(key) is Numbers and key.array.dtype.kind == "i" and value.ndim == 1:
        return _taken_by(domain, value, key)
    if type(value) is Numbers and value.labels is None and type(opened(key)) is Numbers and value.array.ndim == 2:
        own = opened(key)
        if own.array.ndim == 1 and own.array.dtype.kind == "i":
            places, outside = _inside(domain, own.array, value.array.shape[1])
            if outside is None:
                return Numbers(np.take_along_axis(value.array, places[:, None], axis=1)[:, 0])
    if type(opened(key)) is Numbers and isinstance(value, np.ndarray):
        own = opened(key)
        if own.array.ndim == 2 and own.array.dtype.kind == "i" and value.ndim == 1 and value.dtype.kind in "fiub":
            places, outside = _inside(domain, own.array, len(value))
            if outside is None:
                return Container(Numbers(value[places]))
    return apply(domain, _get, (owner, key))


def _get(value: Any, key: Any) -> Any:
    return value[key]


def _inside(domain: Runs, places: Array, size: int) -> tuple[Array, Array | None]:
    """Return places from 0 on, and for which active runs one is outside; None if for none."""
    outside = ~((places >= -size) & (places < size))
    outside = (outside if outside.ndim == 1 else outside.any(axis=tuple(range(1, outside.ndim)))) & domain.active.chosen
    return np.where(places < 0, places + size, places) % max(size, 1), outside if outside.any() else None


def _taken_by(domain: Runs, table: Array, key: Numbers) -> Any:
    places, outside = _inside(domain, key.array, len(table))
    if outside is not None:
        return apply(domain, _get, (table, key))
    if table.dtype.kind in "fiub" and table.dtype in (np.float64, np.int64, np.bool_):
        return Numbers(table[places])
    return joins.simplified(Alternatives(places.astype(np.int32), list(table)))


def _is_basic(key: Any) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(each, slice | types_of_place) and not isinstance(each, bool) for each in parts)


types_of_place = int | np.integer


def _item_of_numbers(value: Numbers, key: Any) -> Any:
    if value.labels is None:
        if not _is_basic(key) and not (isinstance(key, list | np.ndarray) and np.asarray(key).dtype.kind in "ib"):
            return NotImplemented
        try:
            found = value.array[(slice(None), *(key if isinstance(key, tuple) else (key,)))]
        except IndexError:
            return NotImplemented
        return Numbers(found) if found.ndim == 1 else Container(Numbers(found))
    labels = value.labels
    if isinstance(key, list) or (hasattr(key, "dtype") and np.ndim(key) == 1):
        series = _pandas().Series(np.arange(len(labels)), index=labels)
        try:
            places = series[key]
        except Exception:
            return NotImplemented
        return Container(Numbers(value.array[:, places.to_numpy()], False, places.index, value.name))
    if isinstance(key, slice):
        try:
            places = _pandas().Series(np.arange(len(labels)), index=labels)[key]
        except Exception:
            return NotImplemented
        return Container(Numbers(value.array[:, places.to_numpy()], False, places.index, value.name))
    try:
        place = labels.get_loc(key)
    except (KeyError, TypeError):
        return NotImplemented
    return Numbers(value.array[:, place]) if isinstance(place, int) else NotImplemented


def _item_of_table(table: Table, key: Any) -> Any:
    if isinstance(key, list):
        if not all(each in table.columns for each in key) or len(set(key)) < len(key):
            return NotImplemented
        return Container(table.like({each: table.columns[each] for each in key}))
    try:
        column = table.columns[key]
    except (KeyError, TypeError):
        return NotImplemented
    if type(column) is Numbers:
        return Container(Numbers(column.array, False, table.index, key))
    return joins.wrapped(_pandas().Series(column, index=table.index, name=key))


def _located(domain: Runs, located: Located, key: Any) -> Any:
    content = domain.present(opened(located.owner))
    if type(content) is Numbers and not differs(key):
        key = raw(key)
        labels = _pandas().Series(np.arange(len(content.labels)), index=content.labels)
        try:
            places = getattr(labels, located.name)[key]
        except Exception:
            places = None
        if isinstance(places, int | np.integer):
            return Numbers(content.array[:, places])
        if places is not None:
            return Container(Numbers(content.array[:, places.to_numpy()], False, places.index, content.name))
    if type(content) is Table and located.name in ("loc", "at") and isinstance(key, tuple) and len(key) == 2:
        column = _item_of_table(content, raw(key[1]))
        if column is not NotImplemented and type(column) is Container:
            return _located(domain, Located(domain, column, "loc"), key[0])
    name = located.name
    return apply(domain, lambda own, place: getattr(own, name)[place], (located.owner, key))


# --- changes ----------------------------------------------------------------------------------------------


def replace(domain: Runs, owner: Container, new: Any) -> None:
    """Put other values into an array or series, for the active runs."""
    if owner.is_viewed:
        domain.give_up("a change of an array of which a part is held elsewhere")
    content = new.content if type(new) is Container else new
    if domain.active.whole:
        owner.change(content)
        return
    old = owner.content
    if not isinstance(old, Numbers | Table) and not isinstance(content, Numbers | Table):
        domain.split_here()
    owner.change(joins.with_content(domain.active.chosen, _as_numbers(domain, content), _as_numbers(domain, old)))


def _as_numbers(domain: Runs, content: Any) -> Any:
    """Return a plain array or series as one that may differ by run."""
    if isinstance(content, np.ndarray) and content.dtype.kind in "fiub":
        return Numbers(np.broadcast_to(content, (domain.count, *content.shape)).copy())
    if joins.is_of_pandas(type(content)) and content.ndim == 1 and content.dtype.kind in "fiub":
        array = content.to_numpy()
        return Numbers(np.broadcast_to(array, (domain.count, *array.shape)).copy(), False, content.index, content.name)
    return content


def set_item(domain: Runs, owner: Container, key: Any, value: Any) -> None:
    """``a[k] = v`` of an array, series or frame that was made in this call."""
    if owner.is_viewed:
        domain.give_up("a change of an array of which a part is held elsewhere")
    content = domain.present(owner.content)
    value, key = domain.present(opened(value)), domain.present(opened(key))
    if isinstance(content, np.ndarray) and content.base is not None and not differs((key, value)):
        domain.give_up("a change of a part of an array")
    if not differs((content, key, value)) and not isinstance(content, Table):
        if not domain.active.whole:
            domain.split_here()
        try:
            content[raw(key)] = raw(value)
        except Exception as error:
            domain.leave(error)
        return
    if joins.is_of_pandas(type(content)) and content.ndim == 2:
        content = _table_of(content)
    if type(content) is Table:
        _set_column(domain, owner, content, key, value)
        return
    numbers = _as_numbers(domain, content)
    if type(numbers) is not Numbers:
        domain.give_up("an assignment into what differs by run")
    _set_numbers(domain, owner, numbers, key, value)


def _table_of(frame: Any) -> Table:
    return Table({label: _plain_column(frame[label]) for label in frame}, frame.index, frame.columns.name)


def _set_column(domain: Runs, owner: Container, table: Table, key: Any, value: Any) -> None:
    if differs(key) or isinstance(key, list | np.ndarray | tuple) or not domain.active.whole:
        domain.give_up("an assignment to several columns or rows, or to a frame that some runs change")
    made_columns = _frame_of_columns(domain, {"column": value}, None)
    if made_columns is NotImplemented and type(value) is Numbers and value.array.ndim == 1:
        column: Any = Numbers(np.repeat(value.array[:, None], len(table.index), axis=1))
    elif made_columns is NotImplemented:
        if differs(value):
            domain.give_up("an assignment of this to a column")
        column = _plain_column(_pandas().Series(raw(value), index=table.index))
    else:
        new = made_columns.content
        labelled = (type(value) is Numbers and value.labels is not None) or joins.is_of_pandas(type(value))
        if len(new.index) != len(table.index) or (labelled and not new.index.equals(table.index)):
            domain.give_up("an assignment of a column with other labels")
        column = new.columns["column"]
    owner.change(table.like({**table.columns, raw(key): column}))


def _set_numbers(domain: Runs, owner: Container, numbers: Numbers, key: Any, value: Any) -> None:
    array = numbers.array.copy()
    mask = domain.active
    if type(key) is Numbers and key.array.dtype == bool and key.array.shape == array.shape:
        chosen = key.array & joins.spread(mask.chosen, array.shape[1:])
        if type(value) is Numbers or np.ndim(raw(value)):
            domain.give_up("an assignment of several values by a mask")
        own = np.asarray(raw(value))
        if np.result_type(array.dtype, own.dtype) != array.dtype and not (
            array.dtype == np.float64 and own.dtype.kind in "iub"
        ):
            domain.give_up("an assignment that changes the type")
        array[chosen] = own
        owner.change(numbers.like(array))
        return
    if differs(key):
        if (
            type(key) is Numbers
            and key.array.ndim == 1
            and key.array.dtype.kind == "i"
            and array.ndim == 2
            and numbers.labels is None
        ):
            places, outside = _inside(domain, key.array, array.shape[1])
            if outside is not None:
                domain.leave(IndexError(f"index out of bounds for axis 0 with size {array.shape[1]}"), outside)
                mask = domain.active
            own = value.array if type(value) is Numbers else raw(value)
            column = np.where(mask.chosen, own, array[np.arange(len(array)), places])
            array[np.arange(len(array)), places] = column
            owner.change(numbers.like(array))
            return
        domain.give_up("an assignment to a place that differs by run")
    where = raw(key)
    if numbers.labels is not None:
        series = _pandas().Series(np.arange(len(numbers.labels)), index=numbers.labels)
        try:
            where = series[where]
        except Exception:
            domain.give_up("an assignment to a label that is not there")
        where = where.to_numpy() if hasattr(where, "to_numpy") else int(where)
    own = value.array if type(value) is Numbers else raw(value)
    if array.dtype.kind in "iub" and (own.dtype if isinstance(own, np.ndarray) else np.asarray(own).dtype).kind == "f":
        if numbers.labels is not None:
            domain.give_up("an assignment that changes the type of a series")
        own = np.trunc(own)  # as an array of whole numbers takes it
    place = (slice(None), *(where if isinstance(where, tuple) else (where,)))
    try:
        part = array[place]
        if type(value) is Numbers:
            own = own.reshape(len(own), *[1] * (part.ndim - own.ndim), *own.shape[1:])
        array[place] = np.where(joins.spread(mask.chosen, part.shape[1:]), own, part)
    except (IndexError, ValueError, TypeError):
        domain.give_up("an assignment that does not fit")
    owner.change(numbers.like(array))


def _in_place(domain: Runs, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A method that changes an array or frame."""
    content = opened(owner)
    if type(owner) is not Container:
        domain.give_up(f".{name}() of something that was not made in this call")
    if type(content) is Numbers and name == "sort" and not args and not keywords and content.labels is None:
        replace(domain, owner, Numbers(np.sort(content.array, axis=-1)))
        return None
    if name in ("fill",) and len(args) == 1:
        set_item(domain, owner, slice(None), args[0])
        return None
    if differs((owner, args, tuple(keywords.values()))) or not domain.active.whole or owner.is_viewed:
        domain.give_up(f".{name}() in place")
    try:
        return getattr(content, name)(*map(raw, args), **{key: raw(each) for key, each in keywords.items()})
    except Exception as error:
        domain.leave(error)
        raise


def set_attribute(domain: Runs, owner: Any, name: str, value: Any) -> None:
    """``t.columns = …`` and the like."""
    content = opened(owner)
    if type(owner) is not Container or differs((owner, value)) or not domain.active.whole:
        domain.give_up(f"an assignment to .{name}")
    try:
        setattr(content, name, raw(value))
    except Exception as error:
        domain.leave(error)


def binary(domain: Runs, name: str, left: Any, right: Any) -> Any:
    """An operator between a frame whose values differ by run and a number, column by column."""
    parts = [domain.present(opened(each)) for each in (left, right)]
    is_grid = [type(each) is Numbers and each.labels is None and each.array.ndim == 3 for each in parts]
    frames = [each for each in parts if type(each) is _pandas().DataFrame]
    if any(is_grid) and frames and frames[0].columns.is_unique:
        parts = [_table_of(each) if each is frames[0] else each for each in parts]
    if not any(type(each) is Table for each in parts):
        return NotImplemented
    table = next(each for each in parts if type(each) is Table)
    other = parts[1] if table is parts[0] else parts[0]
    if any(is_grid) and (name not in shapes.ADDED or other.shape != (len(table.index), len(table.columns))):
        return NotImplemented
    columns = {}
    for place, (label, column) in enumerate(table.columns.items()):
        own = Container(Numbers(column.array)) if type(column) is Numbers else joins.wrapped(column)
        if any(is_grid):
            two: Any = Container(Numbers(other.array[:, :, place]))
        elif type(other) is Table:
            if table.title != other.title:
                return NotImplemented
            if list(other.columns) != list(table.columns) or not other.index.equals(table.index):
                return NotImplemented
            two = other.columns[label]
            two = Container(Numbers(two.array)) if type(two) is Numbers else joins.wrapped(two)
        elif type(other) in (int, float, np.float64, np.int64) or (type(other) is Numbers and other.array.ndim == 1):
            two = other
        else:
            return NotImplemented
        found = opened(arrays.binary(domain, name, *((own, two) if table is parts[0] else (two, own))))
        if type(found) is not Numbers and not isinstance(found, np.ndarray):
            return NotImplemented
        columns[label] = found
    return Container(table.like(columns))
