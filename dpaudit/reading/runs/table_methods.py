"""What do the methods of arrays, series and frames do whose values differ by run?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.callables import Effect, effect_of
from dpaudit.reading.runs import arrays, joins, table_items, tables
from dpaudit.reading.runs.applied import apply, opened
from dpaudit.reading.runs.tables import is_coded, length, plain_column, regrouped, the_pandas
from dpaudit.reading.runs.values import Alternatives, Array, Coded, Container, Numbers, Table, Windows, differs, raw

if TYPE_CHECKING:
    from dpaudit.reading.runs.called import Calls


_ANY_ORDER = frozenset(("head", "tail", "round", "clip", "astype", "abs", "to_numpy", "tolist", "to_list", "copy"))
"""Methods that do the same in every order."""
_SERIES_SUMS: dict[str, Callable[..., Any]] = {"sum": np.sum, "max": np.max, "min": np.min, "mean": np.mean}


def method(domain: Calls, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a method of an array, a series or a frame."""
    value = domain.present(opened(owner))
    if type(value) is Windows:
        return tables.method(domain, value, name, args, keywords)
    if name == "reset_index" and keywords == {"drop": True} and not args and type(value) in (Numbers, Table):
        index = the_pandas().RangeIndex(length(value))
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
        return table_items.in_place(domain, owner, name, args, keywords)
    args, keywords = domain.callbacks(None, args, keywords)
    if effect is not Effect.PURE:
        domain.give_up(f".{name}() of a table or array, which may draw, or remember something, by itself")
    dense = None
    plain = not differs((args, tuple(keywords.values())))
    if type(value) is Numbers:
        if plain:
            dense = _of_series if value.labels is not None else _of_array
            if name == "rolling" and value.labels is not None:
                return Windows(owner, tables.asked(domain, value, args, keywords))
            found = dense(
                domain, value, name, tuple(map(raw, args)), {key: raw(each) for key, each in keywords.items()}
            )
            if found is not NotImplemented:
                return found
        elif name in _OPERATORS and len(args) == 1 and not keywords:
            return domain.binary(_OPERATORS[name], owner, args[0])
        elif name == "clip" and value.labels is None:
            ends = (*args, None) if len(args) == 1 and not keywords else args  # the function asks for both
            return domain.call(np.clip, owner, *ends, **keywords)
    elif type(value) is Table and plain:
        found = _of_table(
            domain, value, name, tuple(map(raw, args)), {key: raw(each) for key, each in keywords.items()}
        )
        if found is not NotImplemented:
            return found
    elif type(value) is Table and name in ("div", "divide", "truediv") and len(args) == 1:
        found = tables.divided(domain, value, domain.present(args[0]), keywords)
        if found is not NotImplemented:
            return found
    return apply(domain, lambda own, *rest, **more: getattr(own, name)(*rest, **more), (owner, *args), keywords)


def _typed(value: Any) -> Any:
    if type(value) is Table:
        return the_pandas().DataFrame()
    return np.zeros(0) if value.labels is None else the_pandas().Series(dtype=float)


_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "truediv": "truediv", "divide": "truediv",
              "multiply": "mul", "subtract": "sub"}  # fmt: skip


def _result(array: Array) -> Any:
    found = Numbers(array)
    return found if array.ndim == 1 else Container(found)


def _of_array(domain: Calls, value: Numbers, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
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
        return Container(Numbers(array.clip(*args)))
    if name == "astype" and len(args) == 1 and not keywords:
        return _converted(domain, value, args[0])
    return NotImplemented


def _listed(array: Array) -> Any:
    if array.ndim == 1:
        return Numbers(array, True)
    return Container([_listed(array[:, place]) for place in range(array.shape[1])])


def _converted(domain: Calls, value: Numbers, kind: Any) -> Any:
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


def _of_series(domain: Calls, value: Numbers, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
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
            new = the_pandas().Series(0.0, index=labels).rename(mapper).index
            return Container(Numbers(array, False, new, value.name))
        return Container(Numbers(array, False, labels, mapper))
    if name == "unstack":
        return tables.unstacked(value, args, keywords)
    if name == "reindex" and not missing and not keywords.keys() - {"index"} and len(args) + len(keywords) == 1:
        wanted = the_pandas().Index(args[0] if args else keywords["index"])
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


def _sorted_series(domain: Calls, value: Numbers, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
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


def _of_table(domain: Calls, table: Table, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
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
            series = the_pandas().Series(column, index=table.index)
            return plain_column(getattr(series, name)(*args, **keywords))
        index = the_pandas().RangeIndex(len(table.index))
        found = _of_series(domain, Numbers(column.array, False, index), name, args, keywords)
        return found if found is NotImplemented else Numbers(found.content.array)

    if name in ("round", "clip", "abs", "astype", "fillna") and not any(
        type(each_arg) in (dict, list) for each_arg in (*args, *keywords.values())
    ):
        return each(of_column)
    if name == "copy":
        return Container(table.like(dict(table.columns)))
    if name in ("sum", "mean", "max", "min"):
        return tables.along(domain, table, name, args, keywords)
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
            table_items.set_item(domain, new, label, domain.call(value, new) if callable(value) else value)
        return new
    if name in ("set_index",) and len(args) == 1 and isinstance(args[0], str) and not keywords:
        column = table.columns.get(args[0])
        if column is None or type(column) is Numbers:
            return NotImplemented
        rest = {label: each_column for label, each_column in table.columns.items() if label != args[0]}
        return Container(Table(rest, the_pandas().Index(column, name=args[0])))
    return NotImplemented


def _as_array(domain: Calls, table: Table) -> Any:
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
    pd = the_pandas()
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
            columns[label] = plain_column(met[label])
    return Container(Table(columns, met.index))


def _taken(column: Any, rows: Array) -> Any:
    return column.iloc[rows] if hasattr(column, "iloc") else column[rows]


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


def _sorted_table(domain: Calls, table: Table, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
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
