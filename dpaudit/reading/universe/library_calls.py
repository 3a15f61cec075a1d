"""What do functions of NumPy and pandas do with private values? Tables by name.

Each row is a Python function whose signature is what is read: an argument that it does not name is refused.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe import decisions, groups, numbers, sizes, steps, vectors
from dpaudit.reading.universe.column_methods import (
    c_max,
    c_min,
    c_sum,
    c_to_numpy,
    constants,
    missing,
    not_missing,
    rounded,
)
from dpaudit.reading.universe.columns import Column, plain
from dpaudit.reading.universe.frames import Frame
from dpaudit.reading.universe.noise import Exponentials, Half, Normaliser, Perturbed, Shifted, largest, one_sided
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.operators import ROUNDED, n_clip, n_cumsum, n_median, n_sum, n_to_numpy
from dpaudit.reading.universe.sizes import column_sum
from dpaudit.reading.universe.state import NOISE_FIRST, Private, current_domain, refuse, refuse_by_name, refuse_form
from dpaudit.reading.universe.values import NP_FLOAT, NP_INT, Token

Function = Callable[..., Any]

# --- functions of NumPy and pandas, by name -----------------------------------------------------------------


def _of_column(name: str, function: Callable[[Column], Any], value: Any) -> Any:
    """Return what a function makes of a column; of a private number it is refused."""
    return function(value) if isinstance(value, Column) else refuse(f"{name} of a private number", NOISE_FIRST)


def np_clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    """``np.clip``."""
    if isinstance(a, Column):
        return a.apply("clip", lambda v, low, high: np.clip(v, low, high), a_min, a_max)
    return n_clip(a, a_min, a_max) if isinstance(a, Number) else refuse_form("np.clip of this")


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
    return n_sum(a, axis) if isinstance(a, Number) else refuse_form("np.sum of this")


def np_count_nonzero(a: Any) -> Any:
    """``np.count_nonzero``."""
    if not isinstance(a, Column) or a.width or plain(a.low).dtype.kind not in "iufb":
        refuse_form("np.count_nonzero of this")
    if plain(a.low).dtype != bool:
        a = current_domain().binary("ne", a, 0)
    return column_sum(a)


def np_where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``np.where(mask, x, y)``."""
    if not isinstance(condition, Column) or not condition.is_mask or x is None or y is None:
        refuse("np.where in this form", "np.where(mask, a, b) of columns of one frame")
    base = c_to_numpy(condition)
    numbers.refuse_small(x)
    numbers.refuse_small(y)
    sides = [
        each
        if isinstance(each, Column)
        else base.constant(each)
        if np.ndim(each) == 0
        else refuse_form("np.where with an array of a length of its own")
        for each in (x, y)
    ]
    return base.apply("where", lambda c, a, b: np.where(c, a, b), *[c_to_numpy(each) for each in sides])


def np_select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """``np.select``."""
    if not isinstance(condlist, list) or not isinstance(choicelist, list) or len(condlist) != len(choicelist):
        refuse_form("np.select in this form")
    selected: Any = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        selected = np_where(condition, choice, selected)
    return selected


def np_array(a: Any, dtype: Any = None) -> Any:
    """``np.array``."""
    if isinstance(a, list | tuple):
        if all(isinstance(each, Number) for each in a):
            array = numbers.stacked(a)
            return array if dtype is None else array.cast(dtype)
        if all(isinstance(each, Perturbed) for each in a):
            return list(a)
        if all(isinstance(each, Column) for each in a):
            refuse("columns as rows of an array", "df[names].to_numpy()")
        refuse("an array of private and other values", "noise on all of them")
    if isinstance(a, Column):
        return c_to_numpy(a, dtype)
    if isinstance(a, Frame):
        return a.m_to_numpy(dtype)
    return n_to_numpy(a, dtype) if isinstance(a, Number) else refuse_form("an array of this")


def np_argmax(a: Any) -> Any:
    """``np.argmax``: which score is largest."""
    scores = list(a) if isinstance(a, list | tuple) else [a]
    for kind, ask in ((Perturbed, largest), (Half, one_sided)):
        if scores and all(isinstance(each, kind) for each in scores):
            token = ask(scores)
            return decisions.place(token, len(scores) if isinstance(a, list | tuple) else a.number.shape[0])
    return refuse("which private number is largest", "np.argmax(scores + np.random.gumbel(0, scale, len(scores)))")


def np_exp(x: Any) -> Any:
    """``np.exp``: of a column each; of scores the exponential mechanism's weights."""
    if isinstance(x, Number) and len(x.shape) == 1:
        return Exponentials(x)
    if isinstance(x, Shifted):
        return Exponentials(x.scores, "chances" if x.is_whole else "each")
    return elementwise("exp", np.exp)(x)


def np_mean(a: Any) -> Any:
    """``np.mean``, where records are replaced."""
    if isinstance(a, Number) and a.shape and a.columns is None:
        return a.total().over(a.shape[0] if len(a.shape) == 1 else int(np.prod(a.shape)))
    return sizes.mean(a) if isinstance(a, Column) else refuse_by_name("mean", "private values")


def np_var(a: Any, *, ddof: int = 0) -> Any:
    """``np.var``, where records are replaced."""
    return sizes.variance(a, ddof) if isinstance(a, Column) else refuse_by_name("var", "private values")


def np_std(a: Any, *, ddof: int = 0) -> Any:
    """``np.std``, where records are replaced."""
    return vectors.power(np_var(a, ddof=ddof), 0.5)


def np_norm(x: Any, ord: Any = None) -> Number:  # noqa: A002 – its name in NumPy
    """``np.linalg.norm`` of private numbers, or of a column: the root of the sum of squares."""
    if isinstance(x, Number):
        return vectors.norm(x, ord)
    column = x.matrix() if isinstance(x, Frame) else x
    if ord not in (None, 1, 2) or (column.width and ord is not None) or not column.is_stable:
        refuse("a norm of private columns in this form", "np.linalg.norm(x)")
    if np.isnan(plain(column.low).astype(float)).any():
        refuse("a norm of values of which one may be missing", ".fillna(0)")
    column = c_to_numpy(column).apply("astype", lambda v: v.astype(float), made=steps.as_number(column.step()))
    if ord == 1:
        return column_sum(column.apply("abs", abs)).same(kinds=NP_FLOAT)
    squares = column.apply("pow", operator.pow, 2)
    return vectors.power(c_sum(squares, 0).total() if column.width else column_sum(squares), 0.5).same(kinds=NP_FLOAT)


def np_histogram(a: Any, bins: Any = 10, range: Any = None) -> Any:  # noqa: A002 – its name in NumPy
    """``np.histogram(x, bins=[…])``."""
    if not isinstance(a, Column) or isinstance(bins, Private | Token):
        refuse_form("np.histogram of this")
    if np.ndim(bins) == 0 and type(bins) is not int:
        refuse("np.histogram with as many bins as a rule makes of the data", "bins=20, range=(low, high)")
    if not a.is_stable:
        refuse("np.histogram of a column whose type hangs on the data", ".astype(float)")
    if np.ndim(bins) == 0 and range is None:
        refuse("np.histogram takes its edges from the data", "bins=[…], or range=(low, high)")
    edges = np.histogram_bin_edges(np.zeros(0), bins, range)
    if np.isnan(edges).any():
        refuse("np.histogram with edges of which one is missing", "bins=[…]")
    values = plain(a.low).astype(float)
    if np.isnan(values).any():
        refuse("np.histogram of values that may be missing", ".dropna() first")
    ends = []
    for end in (a.low, a.high):
        values = plain(end).astype(float)
        place = np.searchsorted(edges, values, "right") - 1  # -1 below all bins, and as many as there are above them
        place[values == edges[-1]] = len(edges) - 2
        ends.append(place)
    if not np.array_equal(*ends):
        a.cut([float(each) for each in edges])
        refuse("np.histogram of values of which only bounds are known", "a histogram of the column itself")
    hits = (ends[0][:, None] == np.arange(len(edges) - 1)).astype(float)
    within, place = steps.between(a.step(), edges[0], edges[-1], "both"), a.step()
    if len(edges) > 2:
        place = steps.operation("bin", place, (edges[1:-1], False))
    elif place is not None:
        place = steps.constant(0)
    made = steps.by_key(steps.kept(a.rows.made, within), None, [place], np.arange(len(edges) - 1)[:, None].tolist())
    counts = numbers.summed_of(
        a.rows, a.space, hits, hits, whole=True, labels=None, columns=None, kinds=NP_INT, made=made,
        what="np.histogram of", is_sum=True,
    )  # fmt: skip
    return counts, edges


def np_bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """``np.bincount(x, weights=…, minlength=…)``."""
    if not isinstance(x, Column) or not x.is_exact or plain(x.low).dtype.kind != "i" or len(x.low) == 0:
        refuse("np.bincount of values that are no whole numbers that can be listed", "np.histogram(x, bins=[…])")
    if not x.is_stable:
        refuse("np.bincount of a column whose type hangs on the data", ".astype(int)")
    values = plain(x.low)
    if values.min() < 0 or values.max() >= minlength:
        refuse("np.bincount grows with the largest value", "minlength=…, above every value that is possible")
    hits = (values[:, None] == np.arange(minlength)).astype(float)
    keys = [(each,) for each in range(minlength)]
    if weights is not None:
        ends = [] if not isinstance(weights, Column) else [plain(end) for end in (weights.low, weights.high)]
        is_right = ends and weights.rows.same(x.rows) and all(e.ndim == 1 and e.dtype.kind in "ifb" for e in ends)
        if not is_right or not np.isfinite([end.astype(float) for end in ends]).all():
            refuse("np.bincount with weights that are no numbers of the same rows", "a column of the same frame")
        space, mine, theirs = x.space.join(weights.space)
        low, high = (end.astype(float)[theirs, None] * hits[mine] for end in ends)
        made = steps.by_key(x.rows.made, steps.as_number(weights.step()), [x.step()], keys)
        return numbers.summed_of(
            x.rows, space, low, high, whole=False, labels=None, columns=None, kinds=NP_FLOAT,
            made=made, what="np.bincount of", is_sum=True,
        )  # fmt: skip
    made = steps.by_key(x.rows.made, None, [x.step()], keys)
    return numbers.summed_of(
        x.rows, x.space, hits, hits, whole=True, labels=None, columns=None, kinds=NP_INT, made=made,
        what="np.bincount of", is_sum=True,
    )  # fmt: skip


def np_stack(arrays: Any, axis: int = 0) -> Any:
    """``np.stack`` of private arrays."""
    return (
        numbers.stacked(arrays)
        if axis == 0 and isinstance(arrays, list | tuple)
        else refuse_form("np.stack in this form")
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
        refuse(
            "np.digitize in this form",
            "np.bincount(np.digitize(x, EDGES), minlength=len(EDGES) + 1) + laplace(…, size=len(EDGES) + 1)",
        )
    if not np.array_equal(*(np.digitize(plain(end), bins, right) for end in (x.low, x.high))):
        x.cut([float(each) for each in bins])
    x = c_to_numpy(x)
    made = steps.operation("bin", x.step(), (list(bins), right))
    return x.apply("digitize", lambda v: np.digitize(v, bins, right), made=made)


def np_isnan(x: Any) -> Any:
    """``np.isnan``."""
    return _of_column("np.isnan", lambda column: column.apply("isna", np.isnan), x)


def np_nan_to_num(x: Any, *, nan: float = 0.0) -> Any:
    """``np.nan_to_num``."""
    if not isinstance(x, Column):
        refuse("np.nan_to_num of a private number", NOISE_FIRST)
    return c_to_numpy(x).apply("fillna", lambda v: np.nan_to_num(v, nan=nan))


def np_round(a: Any, decimals: int = 0) -> Any:
    """``np.round``."""
    if not isinstance(a, Column):
        refuse(*ROUNDED)
    return rounded(a, decimals, lambda v: np.round(v, decimals))


def np_max(a: Any, *, initial: Any = None) -> Any:
    """``np.max``, of a column from a public number on."""
    if isinstance(a, Column):
        return c_max(a, initial=initial)
    return a.extreme() if isinstance(a, Number) and initial is None else refuse_form("np.max of this")


def np_min(a: Any, *, initial: Any = None) -> Any:
    """``np.min``, of a column from a public number on."""
    return c_min(a, initial=initial) if isinstance(a, Column) else np_max(a, initial=initial)


def np_median(a: Any) -> Any:
    """``np.median``."""
    if isinstance(a, Column):
        a.refuse_others("median")
    return n_median(a) if isinstance(a, Number) else refuse_form("np.median of this")


def np_cumsum(a: Any) -> Any:
    """``np.cumsum``."""
    if isinstance(a, Column):
        a.refuse_others("cumsum")
    return n_cumsum(a) if isinstance(a, Number) else refuse_form("np.cumsum of this")


def np_isin(element: Any, test_elements: Any) -> Any:
    """``np.isin``."""
    if not isinstance(element, Column):
        refuse("np.isin in this form", "a list of constants")
    values = constants("np.isin", element, test_elements)
    return c_to_numpy(element).apply("isin", lambda v, a: np.isin(v, a), values)


NUMPY: dict[str, Function] = {
    name[3:]: function for name, function in list(globals().items()) if name.startswith("np_") and callable(function)
}
NUMPY |= {
    "asarray": np_array,
    "around": np_round,
    "amax": np_max,
    "amin": np_min,
    "abs": lambda x: current_domain().absolute(x),
    "absolute": lambda x: current_domain().absolute(x),
    "fabs": lambda x: current_domain().absolute(x),
}
OF_OPERATORS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv", "power": "pow",
    "floor_divide": "floordiv", "remainder": "mod", "mod": "mod", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "equal": "eq", "not_equal": "ne", "logical_and": "and_", "logical_or": "or_",
    "bitwise_and": "and_",
    "bitwise_or": "or_", "logical_xor": "xor", "matmul": "matmul",
}  # fmt: skip
_ELEMENTWISE = (
    "sqrt", "cbrt", "log", "log2", "log10", "log1p", "expm1", "floor", "ceil", "rint", "trunc", "tanh", "arctan",
    "sign", "square", "isfinite",
)  # fmt: skip


def elementwise(name: str, function: Any) -> Function:
    """Return a function of each record's value."""

    def handler(x: Any) -> Any:
        if isinstance(x, Number) and (name in CURVES or name == "square"):
            return vectors.power(x, 2) if name == "square" else CURVES[name](x, NP_FLOAT)
        if not isinstance(x, Column):
            return refuse(f"np.{name} of a private number, which moves it farther than a record does", NOISE_FIRST)
        if name == "square":
            return x.apply("pow", operator.pow, 2)
        return x.apply(name, function)

    return handler


_OF_CURVES: dict[str, Callable[[Number], Number]] = {
    "sqrt": lambda x: vectors.power(x, 0.5),
    "cbrt": lambda x: vectors.power(x, 1 / 3),
    "log": vectors.logarithm,
    "log1p": lambda x: vectors.logarithm(x.plus(1, 1)),
    "log2": lambda x: vectors.logarithm(x).times(1 / math.log(2)),
    "log10": lambda x: vectors.logarithm(x).times(1 / math.log(10)),
    "exp": vectors.exponential,
    "expm1": lambda x: vectors.exponential(x).plus(-1, 1),
}


def _curve(function: Callable[[Number], Number]) -> Callable[[Number, Any], Number]:
    return lambda x, kinds: function(x).same(is_whole=False, kinds=kinds)


CURVES = {name: _curve(function) for name, function in _OF_CURVES.items()}
"""Functions of private numbers that are no straight lines, by their names in NumPy and ``math``."""


def _of_math(name: str) -> Function:
    def handler(x: Any, base: Any = math.e) -> Any:
        is_base = isinstance(base, int | float) and 1 < base < math.inf
        if not isinstance(x, Number) or x.shape or not (is_base and (base == math.e or name == "log")):
            refuse_by_name(name, "private values")
        curve = CURVES[name](x, frozenset(("float",)))
        return curve if base == math.e else curve.times(1 / math.log(base)).same(kinds=frozenset(("float",)))

    return handler


MATH = {name: _of_math(name) for name in CURVES if hasattr(math, name)}


def math_pow(x: Any, y: Any) -> Any:
    """``math.pow``."""
    if not isinstance(x, Number) or x.shape or not isinstance(y, int | float):
        refuse_by_name("pow", "private values")
    return vectors.power(x, float(y)).same(is_whole=False, kinds=frozenset(("float",)))


MATH |= {"pow": math_pow, "fabs": lambda x: current_domain().absolute(x).same(kinds=frozenset(("float",)))}


def _binary(name: str, operation: str) -> Function:
    def handler(x1: Any, x2: Any) -> Any:
        if isinstance(x1, list | tuple) or isinstance(x2, list | tuple):
            refuse(f"np.{name} of a list, which is no operand of Python's operator", "np.array(…) of it")
        if operation in ("and_", "or_", "xor"):
            for each in (x1, x2):
                if not (isinstance(each, Column) and each.is_mask):
                    refuse(f"np.{name} of what is no mask", "comparisons of columns")
        return current_domain().binary(operation, x1, x2)

    return handler


def reduced(name: str, values: Any) -> Any:
    """``np.logical_and.reduce([mask, mask])``: an array, where masks are series too."""
    row = {"np.logical_and.reduce": "logical_and", "np.logical_or.reduce": "logical_or"}.get(name)
    if row is None or type(values) not in (list, tuple) or len(values) < 2:
        refuse(f"{name} of private values", f"{name}(counts + laplace(…, size=len(VALUES)))")
    return functools.reduce(NUMPY[row], [c_to_numpy(each) if isinstance(each, Column) else each for each in values])


def _extreme(name: str, function: Any, first: Any, second: Any) -> Any:
    if isinstance(first, Column):
        return first.apply(name, function, second)
    if isinstance(second, Column):
        return second.apply(name, function, first)
    exact, other = (first, second) if isinstance(first, Number) else (second, first)
    if not isinstance(exact, Number) or isinstance(other, Number):
        refuse(f"np.{name} of these private values", NOISE_FIRST)
    return n_clip(exact, other) if name == "maximum" else n_clip(exact, None, other)


NUMPY |= {name: _binary(name, operation) for name, operation in OF_OPERATORS.items()}
NUMPY |= {name: elementwise(name, getattr(np, name)) for name in _ELEMENTWISE}
NUMPY |= {
    "maximum": lambda x1, x2: _extreme("maximum", np.maximum, x1, x2),
    "minimum": lambda x1, x2: _extreme("minimum", np.minimum, x1, x2),
    "negative": lambda x: current_domain().unary("neg", x),
    "logical_not": lambda x: current_domain().unary("invert", x),
    "invert": lambda x: current_domain().unary("invert", x),
}


def pd_cut(x: Any, bins: Any, right: bool = True, labels: Any = None, include_lowest: bool = False) -> Any:
    """``pd.cut(x, edges)``."""
    if not isinstance(x, Column) or isinstance(bins, Private | Token):
        refuse_form("pd.cut of this")
    if np.ndim(bins) == 0:
        refuse("pd.cut takes its edges from the data", "bins=[0, 18, 65, 121]")
    if not x.is_exact and not np.array_equal(
        *(np.searchsorted(bins, plain(end).astype(float)) for end in (x.low, x.high))
    ):
        x.cut([float(each) for each in bins])
    made = None
    if isinstance(labels, list) and not include_lowest and len(labels) == len(bins) - 1:
        places = steps.operation("bin", x.step(), (list(bins), right))
        made = steps.looked_up(places, dict(enumerate(labels, 1)))
    return x.apply(
        "cut",
        lambda v: pd.cut(v, bins, right=right, labels=labels, include_lowest=include_lowest),
        made=made,
        dtype_hangs=True,
    )


def pd_crosstab(index: Any, columns: Any) -> Any:
    """``pd.crosstab(a, b)``."""
    if not isinstance(index, Column) or not isinstance(columns, Column) or not index.rows.same(columns.rows):
        refuse("pd.crosstab other than of two columns of one frame", "pd.crosstab(df.a, df.b)")
    if not all(each.is_series and each.low.name for each in (index, columns)):
        refuse("pd.crosstab of what has no name", "columns of a frame")
    ones = np.ones(len(index.space), "int64")
    return groups.Keyed(
        [index, columns], {"n": index.with_values(index.space, ones, made=steps.constant(1))}, "n", is_table=True
    )


def pd_get_dummies(data: Any) -> Any:
    """``pd.get_dummies(column)``: a column for each value that the data have; reindex(columns=…) makes them known."""
    return Dummies(data) if isinstance(data, Column) and data.is_exact else refuse_form("pd.get_dummies of this")


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
        indicators: dict[Any, Column] = {}
        labels = pd.Index(list(columns))
        if not labels.is_unique:
            refuse("reindex to a label twice", "each label once")
        for label, hits in zip(labels, groups.hit(self.column.low, labels).T, strict=True):
            column = self.column.apply("eq", lambda _, label, hits=hits: pd.Series(hits), label)
            column.is_stable = False  # truth values, or whole numbers where no record has the value
            indicators[label] = column
        return DummyFrame(self.column, indicators)


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
            refuse_form("a sum over an axis that is not there")
        sums = []
        for each in self.columns.values():
            values = plain(each.low).astype(float)
            made = steps.total(each.rows.made, each.step(), values)
            known: Any = {"whole": True, "labels": None, "columns": None, "kinds": NP_INT, "made": made}
            sums.append(numbers.summed_of(each.rows, each.space, values, values, is_sum=True, **known))
        counts = numbers.stacked(sums)
        return counts.same(labels=pd.Index(list(self.columns)))


def _scores(x: Any) -> Number:
    if not isinstance(x, Number) or len(x.shape) != 1:
        refuse_form("a choice by something else than a list of scores")
    return x


SCIPY: dict[str, Function] = {
    "softmax": lambda x: Exponentials(_scores(x), "chances"),  # the chances of the exponential mechanism
    "logsumexp": lambda a: Normaliser(_scores(a)),
}
PANDAS: dict[str, Function] = {
    name[3:]: function for name, function in list(globals().items()) if name.startswith("pd_") and callable(function)
}
PANDAS |= dict.fromkeys(("isna", "isnull"), lambda obj: _of_column("pd.isna", missing, obj))
PANDAS |= dict.fromkeys(("notna", "notnull"), lambda obj: _of_column("pd.notna", not_missing, obj))
