"""What do methods of columns and numbers, and functions of NumPy and pandas, do with private values? Tables by name.

Each row is a Python function whose signature is what is read: an argument that it does not name is refused. What pandas
or NumPy does for each record is left to them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe import numbers, records
from dpaudit.reading.universe.columns import CASTS, Column, plain
from dpaudit.reading.universe.frames import Frame, Keyed, PerPerson, Selection, column_sum, current_domain, row_sum
from dpaudit.reading.universe.keys import HowMany
from dpaudit.reading.universe.noise import Draw, Exponentials, Half, Perturbed, Shifted, largest
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.released import Token, array
from dpaudit.reading.universe.state import NOISE_FIRST, Private, current, refuse

_INT = frozenset(("np.int64",))
Function = Callable[..., Any]


# --- columns: what treats each record by itself -------------------------------------------------------------


def c_clip(x: Column, lower: Any = None, upper: Any = None) -> Column:
    """``clip(low, high)``."""
    if x.is_series:
        return x.apply("clip", lambda v, a, b: v.clip(a, b), lower, upper)
    return x.apply("clip", lambda v, a, b: np.clip(v, a, b), lower, upper)


def c_fillna(x: Column, value: Any) -> Column:
    """``fillna(constant)``."""
    return x.apply("fillna", lambda v, a: v.fillna(a), value, dtype_hangs=True)


def c_isin(x: Column, values: Any) -> Column:
    """``isin(list)``."""
    if isinstance(values, Private | Token):
        refuse("isin of values that are not public", "a list of constants")
    return x.apply("isin", lambda v, a: v.isin(a), list(values))


def c_isna(x: Column) -> Column:
    """``isna()``."""
    return x.apply("isna", lambda v: v.isna())


def c_notna(x: Column) -> Column:
    """``notna()``."""
    return x.apply("notna", lambda v: v.notna())


def c_between(x: Column, left: Any, right: Any, inclusive: str = "both") -> Column:
    """``between(low, high)``."""
    return x.apply("between", lambda v, a, b: v.between(a, b, inclusive=inclusive), left, right)


def c_astype(x: Column, dtype: Any) -> Column:
    """``astype(float)``."""
    kind = CASTS.get(dtype) if dtype is None or isinstance(dtype, str | type) else None
    if kind is None and not (dtype in (str, "str", "category") or isinstance(dtype, pd.CategoricalDtype)):
        refuse(f"a conversion to {dtype}, which may wrap", ".astype(float) or .astype(int)")
    if isinstance(dtype, str) and dtype == "category":
        refuse("categories that are those of the data", "pd.CategoricalDtype([…])")
    if kind is None:
        if not x.is_exact or (
            dtype in (str, "str")
            and (
                pd.isna(plain(x.low)).any()
                or (plain(x.low).dtype.kind in "fO" and not isinstance(x.low.dtype, pd.StringDtype))
            )
        ):
            refuse("texts of values that cannot be listed, or may be missing", "comparisons of numbers")
        if isinstance(dtype, pd.CategoricalDtype) and (dtype.categories is None or not x.is_series):
            refuse("categories that are those of the data", "pd.CategoricalDtype([…])")
        return x.apply("astype", lambda v: v.astype(dtype))
    found = x.apply("astype", lambda v: v.astype(kind))
    found.is_stable = True
    return found


def c_where(x: Column, cond: Any, other: Any = np.nan) -> Column:
    """``where(mask, other)``."""
    _mask(cond)
    return _chosen(x, cond, x, other)


def c_mask(x: Column, cond: Any, other: Any = np.nan) -> Column:
    """``mask(mask, other)``."""
    _mask(cond)
    return _chosen(x, cond, other, x)


def _mask(cond: Any) -> None:
    if not isinstance(cond, Column) or not cond.is_mask:
        refuse("where by something that is no mask of these rows", "a comparison of columns of the same frame")


def _chosen(x: Column, cond: Column, yes: Any, no: Any) -> Column:
    """Return what NumPy's or pandas' where gives, at both ends."""
    return x.apply(
        "where",
        lambda v, c, other: v.where(c, other) if yes is x else v.mask(c, other),
        cond,
        no if yes is x else yes,
        dtype_hangs=True,
    )


def c_round(x: Column, decimals: int = 0) -> Column:
    """``round(decimals)``."""
    return x.apply("round", lambda v: v.round(decimals))


def c_abs(x: Column) -> Column:
    """``abs()``."""
    return x.apply("abs", abs)


def c_copy(x: Column) -> Column:
    """``copy()``."""
    return x


def c_to_numpy(x: Column, dtype: Any = None) -> Column:
    """``to_numpy()``."""
    if dtype is not None:
        x = c_astype(x, dtype)
    if not x.is_stable:
        refuse("an array of a column whose type hangs on the data", ".astype(float)")
    if not x.is_series:
        return x
    low = x.low.to_numpy()
    found = Column(x.rows, x.space, low, low if x.is_exact else x.high.to_numpy(), x.source)
    found.chain = x.chain
    return found


def c_map(x: Column, arg: Any) -> Column:
    """``map({…})`` or ``map(function)``."""
    if isinstance(arg, Private | Token):
        refuse("map by what is not public", "a dict of constants")
    if type(arg) is dict:
        if not x.is_exact:
            refuse("map of values that cannot be listed", "the values that are possible, in the domain")
        return x.apply("map", lambda v: v.map(arg), dtype_hangs=True)
    if isinstance(arg, pd.Series) and x.is_exact:
        return x.apply("map", lambda v: v.map(arg), dtype_hangs=True)
    if callable(arg):
        return records.applied(arg, x, "map")
    return refuse("map by something else than a dict or a function", "a dict")


def c_apply(x: Column, func: Any) -> Column:
    """``apply(function)``."""
    return (
        records.applied(func, x, "apply") if callable(func) else refuse("apply of a name", "the method itself: x.sum()")
    )


def c_replace(x: Column, to_replace: Any, value: Any = None) -> Column:
    """``replace({old: new})`` or ``replace(old, new)``."""
    if not x.is_exact or isinstance(to_replace, Private | Token) or isinstance(value, Private | Token):
        refuse("replace of values that cannot be listed", "where(mask, other)")
    if type(to_replace) is dict and value is None:
        return x.apply("replace", lambda v: v.replace(to_replace), dtype_hangs=True)
    if isinstance(to_replace, int | float | str) and isinstance(value, int | float | str):
        return x.apply("replace", lambda v: v.replace(to_replace, value), dtype_hangs=True)
    return refuse("replace in this form", "replace({old: new})")


def c_rename(x: Column, index: Any) -> Column:
    """``rename(name)``."""
    return x if isinstance(index, str) else refuse("rename of labels")


def _operator(name: str) -> Function:
    def method(x: Column, other: Any) -> Any:
        return current_domain().binary(name, x, other)

    method.__doc__ = f"``{name}(other)``."
    return method


# --- columns: sums over records ---------------------------------------------------------------------------


def c_sum(x: Column, axis: Any = None) -> Any:
    """``sum()``."""
    if x.width:
        if axis == 1:
            return row_sum(x)
        if axis == 0:
            whole = x.is_exact and bool(np.all(x.low == np.round(x.low)))
            return numbers.summed_of(x.rows, x.space, x.low, x.high, whole=whole, labels=None, columns=None, kinds=None)
        refuse("a sum over rows and columns at once", ".sum(axis=0)")
    return column_sum(x) if axis in (None, 0) else refuse("a sum over an axis that is not there")


def c_max(x: Column, *, initial: Any = None) -> Number:
    """``max(initial=0)`` of an array."""
    return x.refuse_others("max") if x.is_series or initial is None else numbers.beyond(x, initial, 1)


def c_min(x: Column, *, initial: Any = None) -> Number:
    """``min(initial=0)`` of an array."""
    return x.refuse_others("min") if x.is_series or initial is None else numbers.beyond(x, initial, -1)


def c_count(x: Column) -> Number:
    """``count()``: how many are not missing."""
    return column_sum(c_notna(x))


def length(value: Any) -> Any:
    """``len(x)``."""
    if isinstance(value, Frame | Column):
        if value.rows.selection.kind == "unbounded":
            return UnboundedLength(value.rows)
        return numbers.length_of(value.rows)
    if isinstance(value, Number | Draw):
        return value.shape[0] if value.shape else refuse("len() of a number")
    if isinstance(value, Keyed):
        return HowMany(value)
    return refuse(f"len() of a {value.noun}")


class UnboundedLength(Private):
    """How many rows there are, of which a person may have any number."""

    __slots__ = ("rows",)
    noun = "number of rows, of which a person may have any"

    def __init__(self, rows: Any) -> None:
        self.rows = rows


def c_nunique(x: Column) -> Number:
    """``nunique()``."""
    selection = x.rows.selection
    state = current()
    if not (x.source or x.is_exact):
        refuse("nunique of a computed column", "nunique of a column of the data")
    if selection.kind == "unbounded":
        if x.source != state.person:
            selection.allows_sums()
        one = numbers.Number(
            x.space.universe,
            (),
            np.zeros(1),
            np.ones(1),
            _totals(),
            x.rows.sample,
            is_whole=True,
            kinds=frozenset(("int",)),
        )
        return one
    ones = np.ones(len(x.space))
    return numbers.summed_of(
        x.rows, x.space, 0 * ones, ones, whole=True, labels=None, columns=None, kinds=frozenset(("int",))
    )


def _totals() -> Selection:
    state: Any = current()
    if not hasattr(state, "totals"):
        state.totals = Selection("total")
    found: Selection = state.totals
    return found


def c_value_counts(x: Column, *, sort: bool = True, dropna: bool = True) -> Any:
    """``value_counts()``."""
    if dropna is not True:
        refuse("value_counts(dropna=False)", ".fillna(label).value_counts()")
    ones = np.ones(len(x.space), "int64")
    found = Keyed([x], {"count": x.with_values(x.space, ones)}, "count")
    categories = getattr(getattr(x.low, "dtype", None), "categories", None)
    if categories is not None and sort is False:
        return found.m_reindex(
            pd.CategoricalIndex(categories, categories=categories, ordered=x.low.dtype.ordered), fill_value=0
        )
    return found


def c_dropna(x: Column) -> Column:
    """``dropna()``."""
    return x.kept(c_notna(x))


def c_groupby(x: Column, by: Any) -> Any:
    """``x.groupby(column)``."""
    from dpaudit.reading.universe.frames import Groups

    if not isinstance(by, Column) or not by.rows.same(x.rows):
        refuse("groupby by something else than a column of the same rows", "a column of the same frame")
    frame = Frame(x.space.universe, x.rows, {"#x": x})
    return Groups(frame, [by], "#x")


def c_pipe(x: Any, function: Any, *args: Any, **keywords: Any) -> Any:
    """``pipe(f)``."""
    return current_domain().call(function, x, *args, **keywords)


def c_tolist(x: Column) -> Any:
    """A list of the values of all records, to loop over."""
    return records.records_of(x)


COLUMN: dict[str, Function] = {
    name[2:]: function for name, function in list(globals().items()) if name.startswith("c_") and callable(function)
}
COLUMN |= {
    name: _operator(name)
    for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne")
}
COLUMN |= {
    "div": _operator("truediv"), "truediv": _operator("truediv"), "isnull": c_isna, "notnull": c_notna,
    "to_list": c_tolist, "multiply": _operator("mul"), "subtract": _operator("sub"),
}  # fmt: skip
_OF_ARRAYS = frozenset(("clip", "round", "astype", "copy", "sum", "tolist", "max", "min"))


def column_method(x: Column, name: str) -> Function | None:
    """Return a method of a column."""
    if not x.is_series and name not in _OF_ARRAYS:
        return None
    return COLUMN.get(name)


def column_attribute(x: Column, name: str) -> Any:
    """Return an attribute of a column that is no method."""
    if name in ("values", "array") and x.is_series:
        return c_to_numpy(x)
    if name == "shape":
        return (length(x), *([x.width] if x.width else []))
    if name == "size" and not x.width:
        return length(x)
    if name == "ndim":
        return 2 if x.width else 1
    if name == "loc" and x.is_series:
        return x
    if name == "T" and x.width:
        return Turned(x)
    if name == "index" and x.is_series:
        return x.rows
    if name in ("str", "dt", "cat") and x.is_series:
        return Accessor(x, name)
    if name in ("dtype", "name") and x.is_stable:
        return getattr(x.low, name, None) if x.is_series or name == "dtype" else refuse(f".{name} of an array")
    return x.refuse_others(name)


class Turned(Private):
    """``X.T`` of private rows: its product with columns of the same rows is a sum over records."""

    __slots__ = ("column",)
    noun = "transposed private array"

    def __init__(self, column: Column) -> None:
        self.column = column

    def times(self, other: Any) -> Number:
        """``X.T @ y``."""
        x = self.column
        if not isinstance(other, Column) or not other.rows.same(x.rows):
            refuse("X.T @ something that is no column of the same rows", "X.T @ y of one frame")
        space, mine, theirs = x.space.join(other.space)
        left = [plain(end).astype(float)[mine][:, :, None] for end in (x.low, x.high)]
        right = [plain(end).astype(float)[theirs] for end in (other.low, other.high)]
        right = [each[:, None, :] if each.ndim == 2 else each[:, None, None] for each in right]
        corners = np.stack([a * b for a in left for b in right])
        low, high = corners.min(0), corners.max(0)
        if other is x:
            place = np.arange(low.shape[1])
            low[:, place, place] = np.maximum(low[:, place, place], 0)
        if not other.width:
            low, high = low[..., 0], high[..., 0]
        return numbers.summed_of(x.rows, space, low, high, whole=False, labels=None, columns=None, kinds=None)


_TEXT = {
    "len": 0, "lower": 0, "upper": 0, "strip": 0, "lstrip": 0, "rstrip": 0, "title": 0, "capitalize": 0,
    "startswith": 1,
    "endswith": 1, "contains": 1, "isdigit": 0, "isalpha": 0, "isnumeric": 0, "slice": 2, "zfill": 1, "count": 1,
    "get": 1,
    "replace": 2,
}  # fmt: skip
_TIME = frozenset(
    (
        "year",
        "month",
        "day",
        "hour",
        "minute",
        "second",
        "dayofweek",
        "weekday",
        "quarter",
        "dayofyear",
        "is_month_end",
        "is_month_start",
    )
)


class Accessor(Private):
    """``x.str`` or ``x.dt``."""

    __slots__ = ("column", "kind")
    noun = "accessor of a private column"

    def __init__(self, column: Column, kind: str) -> None:
        self.column, self.kind = column, kind
        if not column.is_exact:
            refuse(f".{kind} of values that cannot be listed", "the values that are possible, in the domain")

    def get(self, name: str) -> Any:
        """``x.dt.year``."""
        if self.kind == "dt" and name in _TIME:
            return self.column.apply(f"dt.{name}", lambda v: getattr(v.dt, name), dtype_hangs=True)
        if self.kind == "cat" and name == "codes":
            return self.column.apply("cat.codes", lambda v: v.cat.codes)
        return refuse(f".{self.kind}.{name} is not known", "columns and comparisons")

    def method(self, name: str) -> Any:
        """``x.str.lower()``."""
        if self.kind != "str" or name not in _TEXT:
            return None

        def method(*args: Any) -> Column:
            if len(args) > _TEXT[name] or not all(isinstance(each, str | int) for each in args):
                refuse(f".str.{name} in this form")
            return self.column.apply(f"str.{name}", lambda v: getattr(v.str, name)(*args), dtype_hangs=True)

        return method


# --- numbers ---------------------------------------------------------------------------------------------


def n_clip(x: Number, lower: Any = None, upper: Any = None) -> Number:
    """``clip(low, high)``."""
    return x.clipped(lower, upper)


def n_sum(x: Number, axis: Any = None) -> Number:
    """``sum()``."""
    return x.total(axis)


def n_max(x: Number) -> Number:
    """``max()``."""
    return x.extreme()


def n_median(x: Number) -> Number:
    """``median()`` of an array: as any of a place in their order, it moves no farther than one of them."""
    found = x.extreme()
    return found.like(found.low, found.high, is_whole=False, kinds=frozenset(("np.float64",)))


def n_cumsum(x: Number) -> Number:
    """``cumsum()``."""
    if len(x.shape) != 1:
        refuse("cumsum of a private table", "one row of it")
    return x.like(x.low.cumsum(1), x.high.cumsum(1))


def n_to_numpy(x: Number, dtype: Any = None) -> Number:
    """``to_numpy()``."""
    return x.as_array() if dtype is None else x.as_array().cast(dtype)


def n_astype(x: Number, dtype: Any) -> Number:
    """``astype(float)``."""
    return x.cast(dtype)


def n_copy(x: Number) -> Number:
    """``copy()``."""
    return x.like(x.low, x.high)


def n_items(x: Number) -> Any:
    """``items()``."""
    if x.labels is None or x.columns is not None:
        refuse("items() of this private table")
    return list(zip(list(x.labels), x.parts(), strict=True))


def n_keys(x: Number) -> Any:
    """``keys()``."""
    return x.labels if x.labels is not None else refuse("keys() of a private array")


def n_to_dict(x: Number) -> dict[Any, Number]:
    """``to_dict()``."""
    found: dict[Any, Number] = current_domain().born(dict(n_items(x)))
    return found


def n_tolist(x: Number) -> list[Number]:
    """``tolist()``."""
    if len(x.shape) != 1:
        refuse("tolist() of a private table")
    found: list[Number] = current_domain().born(x.as_array().parts())
    return found


def n_sort_index(x: Number) -> Number:
    """``sort_index()``."""
    if x.labels is None or x.columns is not None:
        refuse("sort_index() of this private table")
    places = x.labels.argsort()
    return x.like(x.low[:, places], x.high[:, places], labels=x.labels[places])


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
    places = [int(x.labels.get_loc(each)) for each in wanted]
    return x.like(x.low[:, places], x.high[:, places], labels=wanted)


def n_reshape(x: Number, *shape: Any) -> Number:
    """``reshape(rows, columns)``."""
    if x.labels is not None:
        refuse("reshape of a table with labels", ".to_numpy().reshape(…)")
    size = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    low = x.low.reshape(len(x.low), *np.empty(x.shape).reshape(size).shape)
    return x.like(low, x.high.reshape(low.shape))


def n_round(x: Number, *_: Any) -> Any:
    """Refused."""
    return refuse("a private number that is rounded, which jumps where the number does not", "round after the noise")


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
        return x.like(x.low.swapaxes(1, 2), x.high.swapaxes(1, 2), labels=x.columns, columns=x.labels)
    if x.columns is not None and name in x.columns and not hasattr(pd.DataFrame, name):
        return x.at(name)
    return refuse(f".{name} of a private number is not known", NOISE_FIRST)


# --- functions of NumPy and pandas, by name -----------------------------------------------------------------


def _first(x: Any, *kinds: type) -> bool:
    return isinstance(x, kinds)


def np_clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    """``np.clip``."""
    if isinstance(a, Column):
        return a.apply("clip", lambda v, low, high: np.clip(v, low, high), a_min, a_max)
    return a.clipped(a_min, a_max) if isinstance(a, Number) else refuse("np.clip of this")


def np_sum(a: Any, axis: Any = None) -> Any:
    """``np.sum``."""
    if isinstance(a, Column):
        if not a.is_series and not a.width and np.isnan(plain(a.low).astype(float)).any():
            refuse("a sum in which a value may be missing", "np.nansum, or .fillna(0)")
        return c_sum(a, axis)
    if isinstance(a, list | tuple):
        return numbers.stacked(a).total(axis)
    if isinstance(a, Exponentials):
        return a.total()
    return a.total(axis) if isinstance(a, Number) else refuse("np.sum of this")


def np_count_nonzero(a: Any) -> Any:
    """``np.count_nonzero``."""
    if not isinstance(a, Column) or a.width:
        refuse("np.count_nonzero of this")
    if plain(a.low).dtype != bool:
        a = current_domain().binary("ne", a, 0)
    return column_sum(a)


def np_where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``np.where(mask, x, y)``."""
    if not isinstance(condition, Column) or not condition.is_mask or x is None or y is None:
        refuse("np.where in this form", "np.where(mask, a, b) of columns of one frame")
    base = c_to_numpy(condition)
    sides = [
        each
        if isinstance(each, Column)
        else base.constant(each)
        if np.ndim(each) == 0
        else refuse("np.where with an array of a length of its own")
        for each in (x, y)
    ]
    return base.apply("where", lambda c, a, b: np.where(c, a, b), *[c_to_numpy(each) for each in sides])


def np_select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """``np.select``."""
    if not isinstance(condlist, list) or not isinstance(choicelist, list) or len(condlist) != len(choicelist):
        refuse("np.select in this form")
    found: Any = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = np_where(condition, choice, found)
    return found


def np_array(a: Any, dtype: Any = None) -> Any:
    """``np.array``."""
    if isinstance(a, list | tuple):
        if all(isinstance(each, Number) for each in a):
            found = numbers.stacked(a)
            return found if dtype is None else found.cast(dtype)
        if all(isinstance(each, Perturbed) for each in a):
            return list(a)
        if all(isinstance(each, Column) for each in a):
            refuse("columns as rows of an array", "df[names].to_numpy()")
        refuse("an array of private and other values", "noise on all of them")
    if isinstance(a, Column):
        return c_to_numpy(a, dtype)
    if isinstance(a, Frame):
        return a.m_to_numpy(dtype)
    return n_to_numpy(a, dtype) if isinstance(a, Number) else refuse("an array of this")


def np_argmax(a: Any) -> Any:
    """``np.argmax``: which score is largest."""
    if isinstance(a, Perturbed):
        return largest([a])
    if isinstance(a, list | tuple) and a and all(isinstance(each, Perturbed) for each in a):
        return largest(a)
    return refuse("which private number is largest", "np.argmax(scores + np.random.gumbel(0, scale, len(scores)))")


def np_exp(x: Any) -> Any:
    """``np.exp``: of a column each; of scores the exponential mechanism's weights."""
    if isinstance(x, Number) and len(x.shape) == 1:
        return Exponentials(x.as_array())
    if isinstance(x, Shifted):
        return Exponentials(x.scores)
    return elementwise("exp", np.exp)(x)


def np_histogram(a: Any, bins: Any = 10, range: Any = None) -> Any:  # noqa: A002 – its name in NumPy
    """``np.histogram(x, bins=[…])``."""
    if not isinstance(a, Column) or isinstance(bins, Private | Token):
        refuse("np.histogram of this")
    if not a.is_stable:
        refuse("np.histogram of a column whose type hangs on the data", ".astype(float)")
    if np.ndim(bins) == 0 and range is None:
        refuse("np.histogram takes its edges from the data", "bins=[…], or range=(low, high)")
    edges = np.histogram_bin_edges(np.zeros(0), bins, range)
    values = plain(a.low).astype(float)
    if np.isnan(values).any():
        refuse("np.histogram of values that may be missing", ".dropna() first")
    ends = []
    for end in (a.low, a.high):
        values = plain(end).astype(float)
        place = np.searchsorted(edges, values, "right") - 1
        place[values == edges[-1]] = len(edges) - 2
        place[(values < edges[0]) | (values > edges[-1])] = -1
        ends.append(place)
    if not np.array_equal(*ends):
        a.cut([float(each) for each in edges])
        refuse("np.histogram of values of which only bounds are known", "a histogram of the column itself")
    hits = (ends[0][:, None] == np.arange(len(edges) - 1)).astype(float)
    counts = numbers.summed_of(a.rows, a.space, hits, hits, whole=True, labels=None, columns=None, kinds=_INT)
    return counts, edges


def np_bincount(x: Any, *, minlength: int = 0) -> Any:
    """``np.bincount(x, minlength=…)``."""
    if not isinstance(x, Column) or not x.is_exact or plain(x.low).dtype.kind != "i" or len(x.low) == 0:
        refuse("np.bincount of values that are no whole numbers that can be listed", "np.histogram(x, bins=[…])")
    if not x.is_stable:
        refuse("np.bincount of a column whose type hangs on the data", ".astype(int)")
    values = plain(x.low)
    if values.min() < 0 or values.max() >= minlength:
        refuse("np.bincount grows with the largest value", "minlength=…, above every value that is possible")
    hits = (values[:, None] == np.arange(minlength)).astype(float)
    return numbers.summed_of(x.rows, x.space, hits, hits, whole=True, labels=None, columns=None, kinds=_INT)


def np_stack(arrays: Any, axis: int = 0) -> Any:
    """``np.stack`` of private arrays."""
    return (
        numbers.stacked(arrays) if axis == 0 and isinstance(arrays, list | tuple) else refuse("np.stack in this form")
    )


def np_concatenate(arrays: Any) -> Any:
    """``np.concatenate`` of private arrays."""
    if not isinstance(arrays, list | tuple) or not all(
        isinstance(each, Number) and len(each.shape) == 1 for each in arrays
    ):
        refuse("np.concatenate in this form", "arrays of private counts")
    return numbers.stacked([part for each in arrays for part in each.as_array().parts()])


def np_column_stack(tup: Any) -> Any:
    """``np.column_stack`` of private columns."""
    from dpaudit.reading.universe.frames import beside

    if not isinstance(tup, list | tuple) or not all(isinstance(each, Column) and not each.width for each in tup):
        refuse("np.column_stack in this form", "columns of one frame")
    return beside(list(tup))


def np_digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """``np.digitize``."""
    if not isinstance(x, Column) or isinstance(bins, Private | Token):
        refuse("np.digitize in this form", "np.digitize(x, EDGES), with EDGES of your own")
    if not np.array_equal(*(np.digitize(plain(end), bins, right) for end in (x.low, x.high))):
        x.cut([float(each) for each in bins])
    return c_to_numpy(x).apply("digitize", lambda v: np.digitize(v, bins, right))


def np_isnan(x: Any) -> Any:
    """``np.isnan``."""
    return x.apply("isna", np.isnan) if isinstance(x, Column) else refuse("np.isnan of a private number", NOISE_FIRST)


def np_nan_to_num(x: Any, *, nan: float = 0.0) -> Any:
    """``np.nan_to_num``."""
    if not isinstance(x, Column):
        refuse("np.nan_to_num of a private number", NOISE_FIRST)
    return c_to_numpy(x).apply("fillna", lambda v: np.nan_to_num(v, nan=nan))


def np_round(a: Any, decimals: int = 0) -> Any:
    """``np.round``."""
    return a.apply("round", lambda v: np.round(v, decimals)) if isinstance(a, Column) else n_round(a)


def np_max(a: Any, *, initial: Any = None) -> Any:
    """``np.max``, of a column from a public number on."""
    if isinstance(a, Column):
        return c_max(a, initial=initial)
    return a.extreme() if isinstance(a, Number) and initial is None else refuse("np.max of this")


def np_min(a: Any, *, initial: Any = None) -> Any:
    """``np.min``, of a column from a public number on."""
    return c_min(a, initial=initial) if isinstance(a, Column) else np_max(a, initial=initial)


def np_median(a: Any) -> Any:
    """``np.median``."""
    if isinstance(a, Column):
        a.refuse_others("median")
    return n_median(a) if isinstance(a, Number) else refuse("np.median of this")


def np_cumsum(a: Any) -> Any:
    """``np.cumsum``."""
    if isinstance(a, Column):
        a.refuse_others("cumsum")
    return n_cumsum(a) if isinstance(a, Number) else refuse("np.cumsum of this")


def np_isin(element: Any, test_elements: Any) -> Any:
    """``np.isin``."""
    if not isinstance(element, Column) or isinstance(test_elements, Private | Token):
        refuse("np.isin in this form", "a list of constants")
    return c_to_numpy(element).apply("isin", lambda v, a: np.isin(v, a), list(test_elements))


def np_abs(x: Any) -> Any:
    """``np.abs``."""
    return current_domain().absolute(x)


NUMPY: dict[str, Function] = {
    name[3:]: function for name, function in list(globals().items()) if name.startswith("np_") and callable(function)
}
NUMPY |= {
    "asarray": np_array,
    "around": np_round,
    "absolute": np_abs,
    "fabs": np_abs,
    "amax": np_max,
    "amin": np_min,
}
_OPERATORS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv", "power": "pow",
    "floor_divide": "floordiv", "remainder": "mod", "mod": "mod", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "equal": "eq", "not_equal": "ne", "logical_and": "and_", "logical_or": "or_",
    "bitwise_and": "and_",
    "bitwise_or": "or_", "logical_xor": "xor", "matmul": "matmul",
}  # fmt: skip
_ELEMENTWISE = (
    "sqrt",
    "cbrt",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "floor",
    "ceil",
    "rint",
    "trunc",
    "tanh",
    "arctan",
    "sign",
    "square",
    "isfinite",
)


def elementwise(name: str, function: Any) -> Function:
    """Return a function of each record's value."""

    def handler(x: Any) -> Any:
        if not isinstance(x, Column):
            return refuse(f"np.{name} of a private number, which moves it farther than a record does", NOISE_FIRST)
        if name == "square":
            return x.apply("pow", operator.pow, 2)
        return x.apply(name, function)

    return handler


def _binary(name: str, operation: str) -> Function:
    def handler(x1: Any, x2: Any) -> Any:
        if operation in ("and_", "or_", "xor"):
            for each in (x1, x2):
                if not (isinstance(each, Column) and each.is_mask):
                    refuse(f"np.{name} of what is no mask", "comparisons of columns")
        return current_domain().binary(operation, x1, x2)

    return handler


def np_maximum(x1: Any, x2: Any) -> Any:
    """``np.maximum``."""
    return _extreme("maximum", np.maximum, x1, x2)


def np_minimum(x1: Any, x2: Any) -> Any:
    """``np.minimum``."""
    return _extreme("minimum", np.minimum, x1, x2)


def _extreme(name: str, function: Any, first: Any, second: Any) -> Any:
    if isinstance(first, Column):
        return first.apply(name, function, second)
    if isinstance(second, Column):
        return second.apply(name, function, first)
    exact, other = (first, second) if isinstance(first, Number) else (second, first)
    if not isinstance(exact, Number) or isinstance(other, Number):
        refuse(f"np.{name} of these private values", NOISE_FIRST)
    return exact.clipped(other)


NUMPY |= {"maximum": np_maximum, "minimum": np_minimum}
NUMPY |= {name: _binary(name, operation) for name, operation in _OPERATORS.items()}
NUMPY |= {name: elementwise(name, getattr(np, name)) for name in _ELEMENTWISE}
NUMPY |= {
    "negative": lambda x: current_domain().unary("neg", x),
    "logical_not": lambda x: current_domain().unary("invert", x),
    "invert": lambda x: current_domain().unary("invert", x),
}


def pd_cut(x: Any, bins: Any, right: bool = True, labels: Any = None, include_lowest: bool = False) -> Any:
    """``pd.cut(x, edges)``."""
    if not isinstance(x, Column) or isinstance(bins, Private | Token):
        refuse("pd.cut of this")
    if np.ndim(bins) == 0:
        refuse("pd.cut takes its edges from the data", "bins=[0, 18, 65, 121]")
    if not x.is_exact and not np.array_equal(
        *(np.searchsorted(bins, plain(end).astype(float)) for end in (x.low, x.high))
    ):
        x.cut([float(each) for each in bins])
    return x.apply("cut", lambda v: pd.cut(v, bins, right=right, labels=labels, include_lowest=include_lowest))


def pd_crosstab(index: Any, columns: Any) -> Any:
    """``pd.crosstab(a, b)``."""
    if not isinstance(index, Column) or not isinstance(columns, Column) or not index.rows.same(columns.rows):
        refuse("pd.crosstab other than of two columns of one frame", "pd.crosstab(df.a, df.b)")
    ones = np.ones(len(index.space), "int64")
    return Keyed([index, columns], {"n": index.with_values(index.space, ones)}, "n", is_table=True)


def pd_isna(obj: Any) -> Any:
    """``pd.isna``."""
    return c_isna(obj) if isinstance(obj, Column) else refuse("pd.isna of a private number", NOISE_FIRST)


def pd_notna(obj: Any) -> Any:
    """``pd.notna``."""
    return c_notna(obj) if isinstance(obj, Column) else refuse("pd.notna of a private number", NOISE_FIRST)


def pd_get_dummies(data: Any) -> Any:
    """``pd.get_dummies(column)``: a column for each value that the data have; reindex(columns=…) makes them known."""
    return Dummies(data) if isinstance(data, Column) and data.is_exact else refuse("pd.get_dummies of this")


class Dummies(Private):
    """A column of truth for each value of a column."""

    __slots__ = ("column",)
    noun = "table with a column for each value of the data"

    def __init__(self, column: Column) -> None:
        self.column = column

    def method(self, name: str) -> Any:
        """Return a method."""
        return {"reindex": self.reindex}.get(name)

    def reindex(self, *, columns: Any, fill_value: Any = None) -> Any:
        """``reindex(columns=LABELS, fill_value=0)``."""
        if isinstance(columns, Private | Token) or type(fill_value) not in (int, bool) or fill_value:
            refuse("reindex of this table in this form", ".reindex(columns=LABELS, fill_value=0)")
        found: dict[Any, Column] = {}
        for label in columns:
            column = self.column.apply("eq", operator.eq, label)
            column.is_stable = False  # truth values, or whole numbers where no record has the value
            found[label] = column
        return DummyFrame(self.column, found)


class DummyFrame(Private):
    """Truth values of each record by public labels, of which the sums are counts."""

    __slots__ = ("column", "columns")
    noun = "table of private truth values"

    def __init__(self, column: Column, columns: dict[Any, Column]) -> None:
        self.column, self.columns = column, columns

    def method(self, name: str) -> Any:
        """Return a method."""
        return {"sum": self.sum}.get(name)

    def sum(self, axis: Any = 0) -> Number:
        """``sum()``: counts."""
        if axis != 0:
            refuse("a sum over an axis that is not there")
        sums = []
        for each in self.columns.values():
            values = plain(each.low).astype(float)
            sums.append(
                numbers.summed_of(
                    each.rows, each.space, values, values, whole=True, labels=None, columns=None, kinds=_INT
                )
            )
        found = numbers.stacked(sums)
        return found.like(found.low, found.high, labels=pd.Index(list(self.columns)))


PANDAS: dict[str, Function] = {
    name[3:]: function for name, function in list(globals().items()) if name.startswith("pd_") and callable(function)
}
PANDAS |= {"isnull": pd_isna, "notnull": pd_notna}

__all__ = [
    "COLUMN",
    "NUMBER",
    "NUMPY",
    "PANDAS",
    "Half",
    "PerPerson",
    "array",
    "column_attribute",
    "column_method",
    "length",
    "number_attribute",
    "number_method",
]
