"""What do methods of private numbers do, and of arrays and tables of them? A table by name.

Each row is a Python function whose signature is what is read: an argument that it does not name is refused.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe.frames import current_domain
from dpaudit.reading.universe.lessons import refuse_form
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.state import NOISE_FIRST, refuse

_OPTIONS = frozenset(("arg", "by_row", "convert_dtype", "engine", "na_action"))
_INT = frozenset(("np.int64",))
_KNOWN = frozenset(("int", "float", "np.int64", "np.float64"))
Function = Callable[..., Any]


# --- numbers ---------------------------------------------------------------------------------------------


def n_clip(x: Number, lower: Any = None, upper: Any = None) -> Number:
    """``clip(low, high)``."""
    found = x.clipped(lower, upper)
    if x.shape or not x.kinds <= _KNOWN:
        return found
    whole = x.kinds <= {"int", "np.int64"} and all(type(each) in (int, type(None)) for each in (lower, upper))
    return found.same(kinds=_INT if whole else frozenset(("np.float64",)))


def n_sum(x: Number, axis: Any = "") -> Number:
    """``sum()``: of a table over its rows, where no axis is said."""
    if x.columns is not None and axis not in ("", 0, 1):
        refuse_form("a sum over an axis that is not there")
    return x.total(None if axis == "" else axis)


def n_max(x: Number) -> Number:
    """``max()``."""
    return x.extreme()


def n_median(x: Number) -> Number:
    """``median()`` of an array: as any of a place in their order, it moves no farther than one of them."""
    return x.extreme(middle=True).same(is_whole=False, kinds=frozenset(("np.float64",)))


def n_cumsum(x: Number) -> Number:
    """``cumsum()``."""
    if len(x.shape) != 1:
        refuse("cumsum of a private table", "one row of it")
    return x.mapped(lambda table: table.cumsum(1)).rounded()


def n_to_numpy(x: Number, dtype: Any = None) -> Number:
    """``to_numpy()``."""
    return x.as_array() if dtype is None else x.as_array().cast(dtype)


def n_astype(x: Number, dtype: Any) -> Number:
    """``astype(float)``."""
    return x.cast(dtype)


def n_copy(x: Number) -> Number:
    """``copy()``."""
    return x.same()


def n_items(x: Number) -> Any:
    """``items()``."""
    if x.labels is None or x.columns is not None:
        refuse_form("items() of this private table")
    return current_domain().born(zip(list(x.labels), x.parts(), strict=True))


def n_keys(x: Number) -> Any:
    """``keys()``."""
    return x.labels if x.labels is not None else refuse_form("keys() of a private array")


def n_to_dict(x: Number) -> dict[Any, Number]:
    """``to_dict()``."""
    found: dict[Any, Number] = current_domain().born(dict(n_items(x)))
    return found


def n_tolist(x: Number) -> list[Number]:
    """``tolist()``."""
    if len(x.shape) != 1:
        refuse_form("tolist() of a private table")
    found: list[Number] = current_domain().born(x.as_array().parts())
    return found


def n_to_frame(x: Number, name: str) -> Number:
    """``to_frame(name)``."""
    if x.labels is None or x.columns is not None or not isinstance(name, str):
        refuse("to_frame of this", 'table.to_frame("n")')
    return x.mapped(lambda table: table[..., None], columns=pd.Index([name]))


def n_sort_index(x: Number) -> Number:
    """``sort_index()``."""
    if x.labels is None or x.columns is not None:
        refuse_form("sort_index() of this private table")
    places = x.labels.argsort()
    return x.mapped(lambda table: table[:, places], labels=x.labels[places])


def n_reindex(x: Number, labels: Any, *, fill_value: Any = None) -> Number:
    """``reindex(labels, fill_value=0)`` of a table whose labels are public."""
    wanted = pd.Index(list(labels))
    if (
        x.labels is None
        or x.columns is not None
        or not wanted.is_unique
        or any(each not in x.labels for each in wanted)
    ):
        refuse("reindex of this private table", "labels that it has")
    wanted = wanted.rename(labels.name if hasattr(labels, "name") else x.labels.name)
    places = [int(x.labels.get_loc(each)) for each in wanted]
    return x.mapped(lambda table: table[:, places], labels=wanted)


def n_reshape(x: Number, *shape: Any) -> Number:
    """``reshape(rows, columns)``."""
    if x.labels is not None:
        refuse("reshape of a table with labels", ".to_numpy().reshape(…)")
    size = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    shape = np.empty(x.shape).reshape(size).shape
    return x.mapped(lambda table: table.reshape(len(table), *shape))


def n_round(x: Number, *_: Any) -> Any:
    """Refused."""
    return refuse("a private number that is rounded, which jumps where the number does not", "round after the noise")


def n_pipe(x: Number, function: Any, *args: Any, **keywords: Any) -> Any:
    """``pipe(f)`` of a series or frame."""
    if x.labels is None and x.columns is None:
        refuse("pipe of a private number", NOISE_FIRST)
    return current_domain().call(function, x, *args, **keywords)


def n_map(x: Number, func: Any, **keywords: Any) -> Any:
    """``map(f)`` of a series: what a function makes of each of its numbers, with its labels."""
    return n_apply(x, func, **keywords)


def n_apply(x: Number, func: Any, args: Any = (), **keywords: Any) -> Any:
    """``apply(f)`` of a series, as `n_map`."""
    is_function = isinstance(func, types.FunctionType | types.MethodType)
    if x.labels is None or x.columns is not None or not is_function or type(args) is not tuple:
        refuse("map of this private table", "table.map(lambda n: n + laplace(…))")
    if _OPTIONS.intersection(keywords):
        refuse("an option of pandas beside the function", "table.map(lambda n: n + laplace(…))")
    domain = current_domain()
    return domain.call(pd.Series, [domain.call(func, each, *args, **keywords) for each in x.parts()], index=x.labels)


NUMBER: dict[str, Function] = {
    name[2:]: function for name, function in list(globals().items()) if name.startswith("n_") and callable(function)
}
NUMBER |= {
    "min": n_max,
    "to_list": n_tolist,
    "item": lambda x: x,
    "flatten": lambda x: n_reshape(x, -1),
    "ravel": lambda x: n_reshape(x, -1),
}


def number_method(x: Number, name: str) -> Function | None:
    """Return a method of a private number or table."""
    return NUMBER.get(name)


def number_attribute(x: Number, name: str) -> Any:
    """Return an attribute of a private number or table that is no method."""
    if name == "shape":
        return x.shape
    if name == "size":
        return int(np.prod(x.shape))
    if name == "ndim":
        return len(x.shape)
    if name == "index" and x.labels is not None:
        return x.labels
    if name == "columns" and x.columns is not None:
        return x.columns
    if name == "values":
        return x.as_array()
    if name == "loc" and x.labels is not None and x.columns is None:
        return x
    if name == "T" and len(x.shape) == 2:
        return x.mapped(lambda table: table.swapaxes(1, 2), labels=x.columns, columns=x.labels)
    if x.columns is not None and name in x.columns and not hasattr(pd.DataFrame, name):
        return x.at(name)
    return refuse(f".{name} of a private number is not known", NOISE_FIRST)
