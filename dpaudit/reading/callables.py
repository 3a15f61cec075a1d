"""What does a call of a library do besides returning a value? One table, an allow-list.

What is named here depends on its arguments alone (PURE), says something to somebody and returns nothing that matters
(SILENT), may be called once for all runs but not repeated or shared (ONCE), or changes what it is called on or given
(CHANGES). All else is UNKNOWN: it may draw, and is called for each run.
"""

from __future__ import annotations

import functools
import types
from enum import Enum
from typing import Any

import numpy as np


class Effect(Enum):
    """What a call does besides returning a value."""

    PURE = "depends on its arguments alone"
    SILENT = "speaks, and returns nothing"
    ONCE = "is called once"
    CHANGES = "changes its argument"
    UNKNOWN = "not known"


_PURE_MODULES = frozenset((  # of Python
    "math", "cmath", "operator", "_operator", "statistics", "_statistics", "json", "json.encoder", "json.decoder", "re",
    "string", "textwrap", "datetime", "_datetime", "_pydatetime", "decimal", "_decimal", "_pydecimal", "fractions",
    "itertools", "collections", "_collections", "typing", "enum", "bisect", "_bisect", "hashlib", "_hashlib", "base64",
    "numbers",
    "calendar", "unicodedata", "copy", "pprint", "html", "urllib.parse", "zlib", "binascii", "struct", "_struct",
    "dataclasses", "functools", "_functools", "uuid",
))  # fmt: skip
_PURE_LIBRARIES = (
    "numpy",
    "pandas",
    "scipy.special",
    "scipy.linalg",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.stats",
)
_NOT_PURE = frozenset((
    "now", "today", "utcnow", "uuid1", "uuid4", "seed", "default_rng", "rvs", "sample", "save", "savetxt", "load",
    "loadtxt", "to_csv", "to_parquet", "to_pickle", "to_sql", "to_json", "to_excel", "read_csv", "read_parquet",
    "insort", "insort_left", "insort_right", "seterr", "set_option", "set_printoptions", "put", "copyto", "place",
    "putmask", "fill_diagonal", "put_along_axis", "setitem", "delitem", "iadd", "isub", "imul", "itruediv", "ior",
    "iand", "ixor", "ifloordiv", "imod", "ipow", "ilshift", "irshift", "imatmul", "iconcat", "lru_cache", "cache",
    "cached_property", "singledispatch", "gaussian_kde", "shuffle", "permutation", "bootstrap", "permutation_test",
    "monte_carlo_test", "count", "cycle", "repeat", "tee", "from_iterable",
    "cmp_to_key",
))  # fmt: skip
_SHARING = (("copy", "copy"), ("dataclasses", "replace"), ("itertools", "groupby"))
"""What they return shares something with what they are given, which changes later."""
_PURE_BUILTINS = frozenset((
    "abs", "all", "any", "ascii", "bin", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod", "float",
    "format", "frozenset", "getattr", "hasattr", "hash", "hex", "int", "isinstance", "issubclass", "len", "list",
    "max", "min", "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum",
    "tuple", "type", "zip", "enumerate", "object",
))  # fmt: skip
_READS_OF_CONTAINERS = frozenset((
    "copy", "index", "count", "get", "keys", "values", "items", "union", "intersection", "difference",
    "symmetric_difference", "issubset", "issuperset", "isdisjoint", "most_common", "elements", "total",
))  # fmt: skip
_IN_PLACE_OF_ARRAYS = frozenset(("sort", "fill", "put", "resize", "partition", "setflags", "itemset", "byteswap"))
_IN_PLACE_OF_FRAMES = frozenset(("insert", "pop", "update", "drop_inplace"))
_PURE_TYPES: tuple[type, ...] = (
    str, bytes, int, float, complex, bool, tuple, frozenset, range, types.NoneType, slice, np.generic, np.dtype, type,
)  # fmt: skip


@functools.cache
def _of_module(module: str, name: str) -> Effect:
    if module == "warnings" and name in ("simplefilter", "filterwarnings"):
        return Effect.UNKNOWN  # they may turn a warning into an exception
    if module in ("logging", "warnings", "_warnings"):
        return Effect.ONCE if name in ("getLogger", "catch_warnings", "basicConfig") else Effect.SILENT
    if module == "time":
        return Effect.SILENT if name == "sleep" else Effect.ONCE
    if module in ("contextlib", "abc"):
        return Effect.ONCE
    if name in (
        "put",
        "copyto",
        "place",
        "putmask",
        "fill_diagonal",
        "heappush",
        "heapify",
        "heappop",
        "setitem",
        "delitem",
    ):
        return Effect.CHANGES
    if name in ("now", "today", "utcnow"):
        return Effect.ONCE
    if name in _NOT_PURE or (module, name) in _SHARING:
        return Effect.UNKNOWN
    if module in _PURE_MODULES:
        return Effect.PURE
    known = any(module == each or module.startswith(each + ".") for each in _PURE_LIBRARIES)
    return Effect.PURE if known and not module.startswith(("numpy.random", "numpy.ctypeslib")) else Effect.UNKNOWN


def effect_of(function: Any, owner: Any = None, name: str = "") -> Effect:
    """Return what a call does besides returning a value."""
    if owner is not None:
        return _of_method(owner, name)
    kind = type(function)
    if kind is np.ufunc:
        return Effect.PURE
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    if module == "builtins":
        if name == "print":
            return Effect.SILENT
        error = isinstance(function, type) and issubclass(function, BaseException)
        return Effect.PURE if name in _PURE_BUILTINS or error else Effect.UNKNOWN
    if kind is functools.partial:
        return effect_of(function.func)
    if isinstance(function, type) and issubclass(function, BaseException | Enum):
        return Effect.PURE
    if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
        return Effect.PURE
    if kind.__module__ == "functools" and kind.__name__ == "_lru_cache_wrapper":
        return Effect.CHANGES
    if kind.__name__ in ("RClass", "CClass"):
        return Effect.PURE
    if kind.__module__.startswith("scipy.stats"):  # a distribution, frozen by a call
        return Effect.PURE
    if not module and isinstance(getattr(function, "__objclass__", None), type):
        return _of_method_type(function.__objclass__, name)
    return _of_module(module, name)


def _of_method(owner: Any, name: str) -> Effect:
    if isinstance(owner, type):
        if name in ("now", "today", "utcnow"):
            return Effect.ONCE
        return effect_of(owner)
    kind: Any = type(owner)
    return _of_method_type(kind, name)


@functools.cache
def _of_method_type(kind: type, name: str) -> Effect:
    if issubclass(kind, _PURE_TYPES):
        return Effect.PURE
    module = kind.__module__
    if issubclass(kind, np.ndarray):
        return Effect.CHANGES if name in _IN_PLACE_OF_ARRAYS else Effect.PURE
    if issubclass(kind, list | dict | set):
        return Effect.PURE if name in _READS_OF_CONTAINERS else Effect.CHANGES
    if module.startswith("pandas"):
        if name in _NOT_PURE - {"count", "repeat"}:
            return Effect.UNKNOWN
        return Effect.CHANGES if name in _IN_PLACE_OF_FRAMES else Effect.PURE
    if module.split(".")[0] == "logging":
        return Effect.SILENT if name not in ("getLogger", "getChild", "isEnabledFor") else Effect.ONCE
    if module in ("datetime", "decimal", "fractions", "re", "zoneinfo", "uuid", "string"):
        return Effect.PURE
    if module.startswith("scipy.stats"):
        return Effect.UNKNOWN if name in ("rvs", "resample") else Effect.PURE
    if module.startswith("scipy"):
        return Effect.PURE
    if kind in _VIEWS:
        return Effect.PURE
    return Effect.UNKNOWN


_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
