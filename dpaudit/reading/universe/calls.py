"""Which functions of libraries are known, and what do they do with public and released values? One allow-list.

A row is the exact object and what it is: *pure* (its result is made of its arguments alone, which it does not change),
or handled by name. What has no row is refused. Methods are listed by the exact type of their owner, with those that
change it apart. Built before anything of the user's runs, and only of objects that are what their name says.
"""

from __future__ import annotations

import bisect
import builtins
import cmath
import collections
import copy
import datetime
import decimal
import fractions
import functools
import inspect
import itertools
import json
import math
import operator
import re
import statistics
import string
import textwrap
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.source import is_of_user

_PURE: dict[Any, str] = {
    np: (
        "array asarray zeros ones full empty zeros_like ones_like full_like arange linspace logspace geomspace "
        "eye identity log log2 log10 exp exp2 sqrt cbrt log1p expm1 abs absolute fabs sign floor ceil rint trunc "
        "round around clip sum nansum mean max min amax amin prod cumsum cumprod argsort sort argmax argmin where "
        "maximum minimum positive isin unique concatenate stack vstack hstack column_stack diff dot outer inner matmul "
        "histogram searchsorted digitize isnan isfinite isinf nan_to_num median quantile percentile std var any "
        "all count_nonzero flatnonzero nonzero tile repeat reshape ravel transpose squeeze expand_dims bincount "
        "meshgrid add subtract multiply divide true_divide floor_divide power negative square hypot sin cos tan "
        "arctan arctan2 tanh logical_and logical_or logical_not logical_xor equal not_equal less less_equal "
        "greater greater_equal interp average trace diag triu tril polyfit polyval select ptp isclose allclose "
        "array_equal remainder mod histogram_bin_edges ndim shape size broadcast_to atleast_1d triu_indices "
        "tril_indices cross roll flip bitwise_and bitwise_or invert split array_split insert append delete "
        "swapaxes moveaxis maximum_sctype indices nanmean nanmax nanmin"
    ),
    np.linalg: "solve inv norm det lstsq pinv eigh eigvalsh cholesky",
    pd: (
        "date_range to_datetime to_timedelta to_numeric cut qcut concat isna notna isnull notnull merge "
        "get_dummies crosstab unique interval_range period_range"
    ),
    math: " ".join(each for each in dir(math) if each[0] != "_"),
    cmath: "exp log sqrt phase polar",
    operator: (
        "add sub mul truediv floordiv mod pow neg pos abs lt le gt ge eq ne not_ and_ or_ xor index truth "
        "contains getitem"
    ),
    json: "dumps loads",
    re: "compile match search sub split findall fullmatch escape",
    statistics: "mean median fmean pstdev stdev variance pvariance quantiles mode",
    copy: "copy deepcopy",
    bisect: "bisect bisect_left bisect_right",
    textwrap: "dedent fill indent shorten wrap",
    string: "capwords",
    datetime.date: "fromisoformat",
}
_TYPES = (
    complex, bytes, frozenset, range, slice, np.float64, np.int64, np.bool_, np.float32, np.int32, pd.Series,
    pd.DataFrame, pd.Index, pd.RangeIndex, pd.MultiIndex, pd.Timestamp, pd.Timedelta, pd.Categorical,
    pd.CategoricalDtype, pd.Interval,
    datetime.date, datetime.datetime, datetime.timedelta, decimal.Decimal, fractions.Fraction, collections.OrderedDict,
    collections.Counter, collections.deque, collections.defaultdict, types.SimpleNamespace, types.MappingProxyType,
    itertools.product, itertools.combinations, itertools.permutations, itertools.chain, itertools.islice,
    itertools.pairwise, itertools.repeat, itertools.zip_longest, itertools.accumulate, itertools.count, itertools.cycle,
    ValueError, TypeError, KeyError, RuntimeError, Exception, AssertionError, IndexError, ZeroDivisionError,
    NotImplementedError, ArithmeticError, LookupError, OverflowError, AttributeError, OSError,
    UserWarning, RuntimeWarning,
    operator.itemgetter, operator.attrgetter,
)  # fmt: skip
_ITERATING = (itertools.product, itertools.combinations, itertools.permutations, itertools.chain, itertools.islice,
              itertools.pairwise, itertools.zip_longest)  # fmt: skip

_GROUPED = (pd.core.groupby.SeriesGroupBy, pd.core.groupby.DataFrameGroupBy)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE: dict[int, tuple[Any, str]] = {}
"""Functions and types of libraries whose result is made of their arguments alone, by their identity."""

READS: dict[type, frozenset[str]] = {
    list: _words("index count copy"),
    tuple: _words("index count"),
    dict: _words("get keys values items copy"),
    types.MappingProxyType: _words("get keys values items copy"),
    collections.OrderedDict: _words("get keys values items copy"),
    collections.Counter: _words("get keys values items copy most_common total elements"),
    collections.defaultdict: _words("keys values items copy"),
    collections.deque: _words("index count copy"),
    set: _words("copy union intersection difference symmetric_difference issubset issuperset isdisjoint"),
    frozenset: _words("copy union intersection difference symmetric_difference issubset issuperset isdisjoint"),
    range: _words("index count"),
    str: frozenset(each for each in dir(str) if each[0] != "_"),
    bytes: _words("decode hex split strip startswith endswith"),
    int: _words("bit_length to_bytes conjugate as_integer_ratio is_integer"),
    float: _words("is_integer as_integer_ratio hex conjugate"),
    re.Pattern: _words("match search sub split findall fullmatch finditer"),
    re.Match: _words("group groups groupdict start end span"),
    decimal.Decimal: _words("quantize sqrt ln exp normalize"),
    fractions.Fraction: _words("limit_denominator"),
    datetime.date: _words("isoformat strftime weekday isoweekday replace toordinal"),
    datetime.datetime: _words("isoformat strftime weekday isoweekday replace date time timestamp"),
    datetime.timedelta: _words("total_seconds"),
    np.ndarray: _words(
        "sum mean max min std var any all argsort argmax argmin cumsum cumprod round clip copy astype tolist "
        "item reshape ravel flatten transpose squeeze dot prod ptp repeat nonzero trace diagonal searchsorted"
    ),
    pd.Series: _words(
        "sum mean max min idxmax idxmin abs round clip astype copy to_dict to_list tolist to_numpy items keys "
        "get head tail nlargest nsmallest sort_values sort_index rename reindex isin between where mask "
        "fillna dropna isna notna add sub mul div cumsum cumprod median std var quantile value_counts unique "
        "nunique any all eq ne lt le gt ge to_frame reset_index drop count diff shift rank to_string prod "
        "truediv map"
    ),
    pd.DataFrame: _words(
        "sum mean max min abs round clip astype copy to_dict to_numpy items keys get head tail nlargest "
        "nsmallest sort_values sort_index rename reindex isin where mask fillna dropna isna notna add sub mul "
        "div cumsum set_index reset_index drop groupby pivot_table pivot melt stack unstack merge assign "
        "iterrows itertuples any all count to_records transpose to_string join agg rename_axis"
    ),
    pd.Index: _words("tolist to_list to_numpy get_loc isin copy astype unique sort_values map"),
    pd.Timestamp: _words("isoformat strftime weekday isoweekday date"),
}
"""Methods that read their owner, by its exact type (or that of a base, for pandas)."""
WRITES: dict[type, frozenset[str]] = {
    list: _words("append extend insert pop remove clear sort reverse"),
    dict: _words("update setdefault pop popitem clear"),
    collections.OrderedDict: _words("update setdefault pop popitem clear move_to_end"),
    collections.Counter: _words("update subtract pop clear"),
    collections.defaultdict: _words("update setdefault pop popitem clear get"),
    collections.deque: _words("append appendleft pop popleft extend clear rotate"),
    set: _words("add discard remove pop clear update"),
    np.ndarray: _words("fill sort"),
}
"""Methods that change their owner."""
MOVES_ALONE = _words("append appendleft extend insert pop popleft reverse clear copy keys values items rotate")
"""Methods of containers that look at no value within: they may hold what is not public."""
POSITIONAL = {
    "clip": 3, "where": 3, "interp": 3, "linspace": 3, "arange": 3, "histogram": 2, "searchsorted": 2, "round": 2,
    "around": 2,
    "argsort": 1, "sort": 1, "cumsum": 1, "cumprod": 1, "sum": 2, "mean": 2, "max": 2, "min": 2, "amax": 2,
    "amin": 2, "prod": 2,
    "any": 2, "all": 2, "argmax": 2, "argmin": 2, "nan_to_num": 1, "median": 2, "std": 2, "var": 2, "dot": 2,
    "outer": 2,
    "quantile": 2, "percentile": 2, "array": 2, "asarray": 2, "concatenate": 2, "stack": 2, "trace": 1, "average": 1,
    "nanmean": 1, "nanmax": 1, "nanmin": 1, "nansum": 1, "norm": 1, "ptp": 1, "squeeze": 2,
}  # fmt: skip
"""How many arguments of a function of NumPy may be given by place, of which none is ``out``."""
NEVER = _words("out where inplace casting order subok signature dtype_backend engine parser object_hook default cls")
"""Keywords that no function of a table is given: they change what is given, or call what is not known."""


def _rows() -> Iterator[tuple[Any, str]]:
    for owner, names in _PURE.items():
        for name in names.split():
            function = getattr(owner, name, None)
            if callable(function) and _is_what_it_says(function, name):
                yield function, name
    for kind in _TYPES:
        if isinstance(kind, type):
            yield kind, kind.__name__


def _is_what_it_says(function: Any, name: str) -> bool:
    code = getattr(function, "__code__", None)
    if code is not None and is_of_user(code.co_filename):
        return False
    if not _is_called(function, name):
        return False
    module = getattr(function, "__module__", None) or ""
    known = ("numpy", "pandas", "math", "cmath", "_operator", "operator", "json", "re", "statistics", "copy", "_bisect",
             "bisect", "textwrap", "string", "datetime", "builtins", "")  # fmt: skip
    return isinstance(function, type) or module.split(".")[0] in known


_ALSO = (
    ("abs", "absolute"), ("true_divide", "divide"), ("mod", "remainder"), ("isnull", "isna"), ("notnull", "notna"),
    ("bisect", "bisect_right"), ("agg", "aggregate"), ("subtract", "sub"), ("multiply", "mul"), ("div", "truediv"),
    ("to_list", "tolist"), ("around", "round"), ("round", "round_"), ("amax", "max"), ("amin", "min"),
)  # fmt: skip
"""Names of functions of NumPy and pandas, and of what they are beside."""


def _is_called(function: Any, name: str) -> bool:
    """Whether a function calls itself so, where it has a name."""
    called = getattr(function, "__name__", name)
    return called == name or (name, called) in _ALSO or (called, name) in _ALSO


@functools.cache
def replaced(module: str) -> str:
    """Return which method of pandas is not pandas' own once a module is imported; "" for none."""
    del module
    for kind in (pd.Series, pd.DataFrame, pd.Index, *_GROUPED):
        for base in kind.__mro__[:-1]:
            for name, value in vars(base).items():
                function = getattr(value, "__func__", getattr(value, "fget", value))
                code = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
                is_read = name in READS[pd.Series] or name in READS[pd.DataFrame]
                if code is not None and (is_of_user(code.co_filename) or (is_read and not _is_called(function, name))):
                    return f"{kind.__name__}.{name}"
    return ""


def build() -> None:
    """Make the tables; again where it was done."""
    if not PURE:
        PURE.update({id(function): (function, name) for function, name in _rows()})
        for each in _ITERATING:
            PURE.pop(id(each), None)


def pure(function: Any) -> str | None:
    """Return the name of a function whose result is made of its arguments alone; None if it has no row."""
    row = PURE.get(id(function))
    return row[1] if row is not None and row[0] is function else None


ITERATING = {id(each): each for each in _ITERATING}
BUILTINS = {
    id(getattr(builtins, name)): name
    for name in _words(
        "len sum min max round abs int float str bool list tuple dict set sorted enumerate zip map filter any "
        "all isinstance issubclass hasattr print reversed iter next repr format divmod pow getattr type super "
        "callable range frozenset setattr ord chr bin hex oct ascii"
    )
}
"""Builtins that are handled by name."""
CLOCK = _words("time perf_counter monotonic process_time time_ns perf_counter_ns monotonic_ns")
LOGGING = _words("debug info warning error exception critical log isEnabledFor")
MODULES = _words(
    "numpy pandas math cmath statistics random secrets scipy itertools functools operator collections re "
    "json string datetime decimal fractions textwrap copy bisect typing dataclasses enum abc logging "
    "warnings time contextlib numbers types"
)
"""Modules that a function may name."""
