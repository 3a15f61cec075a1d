"""What do methods of private columns do? Tables by name: what treats each record by itself, and sums over records.

Each row is a Python function whose signature is what is read: an argument that it does not name is refused. What pandas
does for each record is left to it. A table in which columns were replaced by released ones is each of its columns.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe import groups, keys, noise, numbers, records, sizes, steps, vectors
from dpaudit.reading.universe.columns import CASTS, Column, ListedColumn, Selection, TableRows, plain, steps_of
from dpaudit.reading.universe.frames import Frame
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.sizes import column_sum, refuse_to_wrap, row_sum
from dpaudit.reading.universe.state import Private, current, current_domain, refuse, refuse_by_name, refuse_form
from dpaudit.reading.universe.undecided import ChosenRows, ChosenValues, Undecided
from dpaudit.reading.universe.values import PUBLIC, Token, number, parts_are_copies, sort_of


class Written(Private):
    """A table of private numbers, whatever it is called by, since something was assigned to a column of it.

    Attributes:
        table: the private numbers.
        public: columns that are.
        released: columns by name.
    """

    __slots__ = ("public", "released", "table")
    noun = "table of which some columns are released"
    to_release = "table[NAME] = table[NAME] + laplace(…, size=len(table)) of each column"

    def __init__(self, table: Number, public: Any = None) -> None:
        if not parts_are_copies() or current().scope != (0,):
            refuse("an assignment to a column of private numbers here", "noisy = table[NAME] + laplace(…, size=…)")
        self.table, self.released = table, dict[str, Token]()
        self.public = pd.DataFrame(index=table.labels) if public is None else public

    def store(self, key: Any, value: Any) -> Any:
        """``table[name] = value``; return what it is then."""
        shape, labels = self.table.shape[:1], self.table.labels
        is_one = isinstance(value, Token) and (value.is_number or (value.is_array and value.shape == shape))
        is_series = isinstance(value, Token) and value.kinds == frozenset(("series",)) and value.shape == shape
        if is_series and (value.labels is None or not value.labels.equals(labels)):
            is_series = False
        is_public = sort_of(value) == PUBLIC and isinstance(value, int | float | str)
        if type(key) is not str or not (is_one or is_series or is_public):
            refuse("an assignment into a table of private numbers of what is no noisy column of it", self.to_release)
        self.released[key] = Token(shape, frozenset(("series",)), labels)
        names = list(dict.fromkeys([*self.public.columns, *self.table.columns, *self.released]))
        if not set(self.table.columns) <= self.released.keys():
            return self
        return Token((*shape, len(names)), frozenset(("frame",)), labels, pd.Index(names))

    def select(self, key: Any) -> Any:
        """``table[name]``."""
        if isinstance(key, str) and key in self.public.columns and key not in self.released:
            return self.public[key].copy()
        return self.released[key] if isinstance(key, str) and key in self.released else self.table.at(key)

    def get(self, name: str) -> Any:
        """``table.index``."""
        return self.table.labels if name == "index" else refuse(f".{name} of a {self.noun}", self.to_release)


Function = Callable[..., Any]

# --- columns: what treats each record by itself -------------------------------------------------------------


def c_clip(x: Column, lower: Any = None, upper: Any = None) -> Column:
    """``clip(low, high)``."""
    if x.is_series:
        return x.apply("clip", lambda v, a, b: v.clip(a, b), lower, upper)
    return x.apply("clip", lambda v, a, b: np.clip(v, a, b), lower, upper)


def c_isin(x: Column, values: Any) -> Column:
    """``isin(list)``."""
    values = constants("isin", x, values, set, frozenset, type({}.keys()))
    return x.apply("isin", lambda v, a: v.isin(a), values, made=steps.is_in(x.step(), values))


def constants(name: str, x: Column, values: Any, *kinds: type) -> list[Any]:
    """Return the constants that a list holds, or an array or what else Python and NumPy take for one.

    What matches values of another type hangs on how many records there are: NumPy has two ways of looking.
    """
    is_known = type(values) in (list, tuple, range, pd.Series, pd.Index, *kinds) or np.ndim(values) == 1
    if not is_known or sort_of(values) != PUBLIC:
        refuse(f"{name} of values that are no public list", "a list of constants")
    constants_listed, kind = list(values), plain(x.low).dtype.kind
    of_kinds: dict[str, Any] = {"b": bool | np.bool_, "O": str | None, "U": str, "M": datetime.date}
    of_kind = of_kinds.get(kind, int | float | np.number)
    if not all(
        isinstance(each, of_kind) and (kind == "b") == isinstance(each, bool | np.bool_) for each in constants_listed
    ):
        refuse(f"{name} of values of another type than the column's", "constants of its type")
    return constants_listed


def missing(x: Column) -> Column:
    """``isna()``."""
    return x.apply("isna", lambda v: v.isna())


def not_missing(x: Column) -> Column:
    """``notna()``."""
    return x.apply("notna", lambda v: v.notna())


def rounded(x: Column, decimals: Any, function: Callable[[Any], Any]) -> Column:
    """``round(decimals)``, by pandas or NumPy."""
    return x.apply("round", function, made=steps.operation("round", x.step(), (decimals,)))


def c_between(x: Column, left: Any, right: Any, inclusive: str = "both") -> Column:
    """``between(low, high)``."""
    if any(isinstance(each, Column) for each in (left, right)):
        made = None
    else:
        made = steps.between(x.step(), left, right, inclusive)
    return x.apply("between", lambda v, a, b: v.between(a, b, inclusive=inclusive), left, right, made=made)


def c_astype(x: Column, dtype: Any) -> Column:
    """``astype(float)``."""
    kind = CASTS.get(dtype) if dtype is None or isinstance(dtype, str | type) else None
    if kind is None and not (dtype in (str, "str", "category") or isinstance(dtype, pd.CategoricalDtype)):
        refuse(f"a conversion to {dtype}, which may wrap", ".astype(float) or .astype(int)")
    has_categories = not isinstance(dtype, pd.CategoricalDtype) or (dtype.categories is not None and x.is_series)
    if not has_categories or (isinstance(dtype, str) and dtype == "category"):
        refuse("categories that are those of the data", "pd.CategoricalDtype([…])")
    if kind is None:
        if not x.is_exact or (
            dtype in (str, "str")
            and (
                pd.isna(plain(x.low)).any()
                or (
                    plain(x.low).dtype.kind in "fO"
                    and not isinstance(x.low.dtype, pd.StringDtype)
                    and not _is_of_texts(x)
                )
            )
        ):
            refuse("texts of values that cannot be listed, or may be missing", "comparisons of numbers")
        return x.apply("astype", lambda v: v.astype(dtype))
    if kind == "bool" and not x.is_exact:  # 0 may lie between two ends that are not
        return x.apply("ne", lambda v, zero: v != zero, 0)
    whole = plain(x.low).dtype.kind in "iub"
    cast = x.apply("astype", lambda v: v.astype(kind), made=steps.cast(x.step(), kind, whole))
    cast.is_stable = True
    return cast


def _is_of_texts(x: Column) -> bool:
    """Whether a column is one of categories that are texts, as pd.cut with labels gives."""
    categories = getattr(x.low.dtype, "categories", None)
    return categories is not None and all(isinstance(each, str) for each in categories)


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
        made=steps.operation("where", cond.step(), steps_of(yes, no)),
    )


def c_to_numpy(x: Column, dtype: Any = None) -> Column:
    """``to_numpy()``."""
    if dtype is not None:
        x = c_astype(x, dtype)
    if not x.is_stable:
        how = ".astype(float)" if x.is_series else "np.array(x, dtype=float)"
        refuse("an array of a column whose type hangs on the data", how)
    if not x.is_series:
        return x
    low = x.low.to_numpy()
    array = Column(x.rows, x.space, low, low if x.is_exact else x.high.to_numpy(), x.source, made=x.made, what=x.what)
    array.chain = x.chain
    return array


def c_map(x: Column, arg: Any) -> Column:
    """``map({…})`` or ``map(function)``."""
    if not callable(arg) and sort_of(arg) != PUBLIC:
        refuse("map by what is not public", "a dict of constants")
    if type(arg) is dict:
        if not x.is_exact:
            refuse("map of values that cannot be listed", "the values that are possible, in the domain")
        return x.apply("map", lambda v: v.map(arg), dtype_hangs=True, made=steps.looked_up(x.step(), arg))
    if isinstance(arg, pd.Series) and x.is_exact:
        return x.apply("map", lambda v: v.map(arg), dtype_hangs=True)
    if callable(arg):
        return records.applied(arg, x, "map")
    return refuse("map by something else than a dict or a function", "a dict")


def c_apply(x: Column, func: Any) -> Column:
    """``apply(function)``."""
    return (
        records.applied(func, x, "apply")
        if callable(func)
        else refuse("apply of a name", "x.clip(LOW, HIGH).sum() + laplace(…)")
    )


def c_replace(x: Column, to_replace: Any, value: Any = None) -> Column:
    """``replace({old: new})`` or ``replace(old, new)``."""
    if not x.is_exact or sort_of((to_replace, value)) != PUBLIC:
        refuse("replace of values that cannot be listed", "where(mask, other)")
    if type(to_replace) is dict and value is None:
        return x.apply("replace", lambda v: v.replace(to_replace), dtype_hangs=True)
    if isinstance(to_replace, int | float | str) and isinstance(value, int | float | str):
        return x.apply("replace", lambda v: v.replace(to_replace, value), dtype_hangs=True)
    return refuse("replace in this form", "replace({old: new})")


def c_rename(x: Column, index: Any) -> Column:
    """``rename(name)``."""
    return x.named(index) if isinstance(index, str) and x.is_series else refuse_form("rename of labels")


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
            refuse_to_wrap(x.low, x.high)
            whole = x.is_exact and bool(np.all(x.low == np.round(x.low)))
            known: Any = {"whole": whole, "labels": None, "columns": None, "kinds": None}
            return numbers.summed_of(x.rows, x.space, x.low, x.high, is_sum=True, **known)
        refuse("a sum over rows and columns at once", ".sum(axis=0)")
    return column_sum(x) if axis in (None, 0) else refuse_form("a sum over an axis that is not there")


def c_max(x: Column, *, initial: Any = None) -> Number:
    """``max(initial=0)`` of an array."""
    return x.refuse_others("max") if x.is_series or initial is None else numbers.beyond(x, initial, 1)


def c_min(x: Column, *, initial: Any = None) -> Number:
    """``min(initial=0)`` of an array."""
    return x.refuse_others("min") if x.is_series or initial is None else numbers.beyond(x, initial, -1)


def c_var(x: Column, *, ddof: Any = None) -> Number:
    """``var()``, where records are replaced; of pandas over n − 1."""
    return sizes.variance(x, int(x.is_series) if ddof is None else ddof)


def c_count(x: Column) -> Any:
    """``count()``: how many are not missing."""
    many = sizes.length(x.rows) if not pd.isna(plain(x.low)).any() else None
    return sizes.same(number("np.int64"), many) if isinstance(many, Token) else column_sum(not_missing(x))


def length(value: Any) -> Any:
    """``len(x)``."""
    if isinstance(value, Frame | Column | TableRows):
        rows = value if isinstance(value, TableRows) else value.rows
        return UnboundedLength(rows) if rows.selection.kind == "unbounded" else sizes.length(rows)
    if isinstance(value, ListedColumn) and not value.is_once:
        return length(value.column)
    if isinstance(value, records.Records) and not value.is_once:
        return length(value.rows)
    if isinstance(value, Undecided):
        return length(value.rows)
    if isinstance(value, ChosenRows | ChosenValues):
        return value.mask.many("int")
    if isinstance(value, Number | noise.Draw):
        return value.shape[0] if value.shape else refuse_form("len() of a number")
    if isinstance(value, Written):
        return value.table.shape[0]
    if isinstance(value, groups.Keyed):
        return keys.HowMany(value)
    if isinstance(value, groups.PersonTable):
        value = next(iter(value.parts.values()), value)
    if isinstance(value, groups.PerPerson):
        return value.m_count().same(kinds=frozenset(("int",)))
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
            terms=steps.of_persons(x.rows.made, 0.0, 1.0),
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
    totals: Selection = state.totals
    return totals


def c_value_counts(x: Column, *, sort: bool = True, dropna: bool = True) -> Any:
    """``value_counts()``."""
    if dropna is not True:
        refuse("value_counts(dropna=False)", ".fillna(label).value_counts()")
    if (persons := _of_persons(x)) is not None:
        return groups.Groups(persons, [x], None).m_size()
    ones = np.ones(len(x.space), "int64")
    counts = groups.Keyed([x], {"count": x.with_values(x.space, ones, made=steps.constant(1))}, "count")
    if counts.categories is None:
        return counts
    counts.is_of_all = True
    return counts.m_sort_index() if sort is False else counts


def tally(value: Any) -> groups.Tally:
    """``Counter(column)``, or ``Counter(f(row) for row in rows)``."""
    if not isinstance(value, Column | ListedColumn):
        refuse_by_name("Counter", "private values")
    x = value.gone_through() if isinstance(value, ListedColumn) else value
    if not x.is_series:
        high = None if x.is_exact else pd.Series(plain(x.high))
        x = x.with_values(x.space, pd.Series(plain(x.low)), high, made=x.made)
    return groups.Tally(c_value_counts(x))


def _of_persons(x: Column) -> Frame | None:
    """Return the rows of persons, where a column is that of their names."""
    is_theirs = x.rows.selection.kind == "unbounded" and x.source and x.source == current().person
    return Frame(x.space.universe, x.rows, {x.source: x}) if is_theirs else None


def c_drop_duplicates(x: Column) -> Any:
    """``drop_duplicates()`` of the names of persons, and ``unique()``."""
    persons = _of_persons(x)
    return x.refuse_others("drop_duplicates") if persons is None else persons.m_drop_duplicates().column(x.source)


def c_unique(x: Column) -> Any:
    """``unique()`` of the names of persons."""
    return c_to_numpy(c_drop_duplicates(x)) if _of_persons(x) is not None else x.refuse_others("unique")


def c_groupby(x: Column, by: Any) -> Any:
    """``x.groupby(column)``."""
    if not isinstance(by, Column) or not by.rows.same(x.rows):
        refuse("groupby by something else than a column of the same rows", "a column of the same frame")
    frame = Frame(x.space.universe, x.rows, {"#x": x})
    return groups.Groups(frame, [by], "#x")


def c_pipe(x: Any, function: Any, *args: Any, **keywords: Any) -> Any:
    """``pipe(f)``."""
    return current_domain().call(function, x, *args, **keywords)


def c_ravel(x: Column) -> Column:
    """``ravel()`` of an array with one number for each record."""
    if x.width > 1:
        refuse("an array of several numbers of each record as one row", "x.sum(axis=0), or one column")
    return x.with_values(x.space, x.low[:, 0], None if x.is_exact else x.high[:, 0]) if x.width else x


def c_reshape(x: Column, *shape: Any) -> Column:
    """``reshape(-1)``."""
    return c_ravel(x) if shape == (-1,) else x.refuse_others("reshape")


COLUMN: dict[str, Function] = {
    name[2:]: function for name, function in list(globals().items()) if name.startswith("c_") and callable(function)
}
COLUMN |= {
    name: _operator(name)
    for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne")
}
COLUMN |= {
    "div": _operator("truediv"), "truediv": _operator("truediv"), "flatten": c_ravel,
    "multiply": _operator("mul"), "subtract": _operator("sub"), "isna": missing, "isnull": missing,
    "notna": not_missing, "notnull": not_missing,
}  # fmt: skip
COLUMN |= {
    "fillna": lambda x, value: x.apply("fillna", lambda v, a: v.fillna(a), value, dtype_hangs=True),
    "round": lambda x, decimals=0: rounded(x, decimals, lambda v: v.round(decimals)),
    "abs": lambda x: x.apply("abs", abs),
    "copy": lambda x: x,
    "dropna": lambda x: x.kept(not_missing(x)),
    "mean": lambda x: sizes.mean(x),  # of this and the next two, where records are replaced
    "std": lambda x, *, ddof=None: vectors.power(c_var(x, ddof=ddof), 0.5),
    "tolist": lambda x: records.records_of(x),  # to loop over
    "to_list": lambda x: records.records_of(x),
}
_ONE_ROW = ("ravel", "flatten", "reshape")
_OTHERS = ("clip", "round", "astype", "copy", "sum", "tolist", "max", "min", "mean", "var", "std")
_OF_ARRAYS = frozenset((*_ONE_ROW, *_OTHERS))


def column_method(x: Column, name: str) -> Function | None:
    """Return a method of a column."""
    if x.is_series and name in _ONE_ROW:
        return None
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
        return TurnedRows(x)
    if name == "index" and x.is_series:
        return x.rows
    if name in ("str", "dt", "cat") and x.is_series:
        return Accessor(x, name)
    if name in ("dtype", "name") and current().record:
        refuse(f".{name} within what is done with each record or group, which may tell its key", "a constant")
    if name == "name" and x.is_series and x.source:
        return x.low.name
    if name == "dtype" and x.is_stable:
        return x.low.dtype
    return x.refuse_others(name)


class TurnedRows(Private):
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
        if not all(plain(each.low).dtype in ("int64", "float64") for each in (x, other)):
            refuse("a matrix product of truth values, or of numbers of a small type, which wraps", ".astype(float)")
        space, mine, theirs = x.space.join(other.space)
        left = [plain(end).astype(float)[mine][:, :, None] for end in (x.low, x.high)]
        right = [plain(end).astype(float)[theirs] for end in (other.low, other.high)]
        right = [each[:, None, :] if each.ndim == 2 else each[:, None, None] for each in right]
        corners = np.stack([a * b for a in left for b in right])
        if all(plain(each.low).dtype.kind == "i" for each in (x, other)):
            refuse_to_wrap(corners.astype("int64") if np.abs(corners).max(initial=0) < 2**62 else np.array([2**62]))
        low, high = corners.min(0), corners.max(0)
        if other is x:
            place = np.arange(low.shape[1])
            low[:, place, place] = np.maximum(low[:, place, place], 0)
        if not other.width:
            low, high = low[..., 0], high[..., 0]
        known: Any = {"whole": False, "labels": None, "columns": None, "kinds": None}
        return numbers.summed_of(x.rows, space, low, high, is_sum=True, **known)


_TEXT = {
    "len": 0, "lower": 0, "upper": 0, "strip": 0, "lstrip": 0, "rstrip": 0, "title": 0, "capitalize": 0,
    "startswith": 1,
    "endswith": 1, "contains": 1, "isdigit": 0, "isalpha": 0, "isnumeric": 0, "slice": 2, "zfill": 1, "count": 1,
    "get": 1,
    "replace": 2,
}  # fmt: skip
_TIME = (
    "year", "month", "day", "hour", "minute", "second", "dayofweek", "day_of_week", "weekday", "quarter", "dayofyear",
    "day_of_year", "is_month_end", "is_month_start",
)  # fmt: skip

_TEXT_OF_TIME = {"strftime": 1, "day_name": 0, "month_name": 0}


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
        if name not in (_TEXT if self.kind == "str" else _TEXT_OF_TIME if self.kind == "dt" else ()):
            return None

        def method(*args: Any, **how: bool) -> Column:
            is_read = how.keys() <= {"na", "case", "regex"} and all(type(each) is bool for each in how.values())
            most = (_TEXT if self.kind == "str" else _TEXT_OF_TIME)[name]
            if len(args) > most or not is_read or not all(isinstance(each, str | int) for each in args):
                refuse(f".{self.kind}.{name} in this form")
            return self.column.apply(
                f"{self.kind}.{name}", lambda v: getattr(getattr(v, self.kind), name)(*args, **how), dtype_hangs=True
            )

        return method
