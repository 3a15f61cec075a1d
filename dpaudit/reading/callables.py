"""What does a call of a library do besides returning a value? One table, an allow-list.

What is named here depends on its arguments alone (PURE), says something to somebody and returns nothing that matters
(SILENT), may be called once for all runs but not repeated or shared (ONCE), or changes what it is called on or given
(CHANGES). All else is UNKNOWN: it may draw, and is called for each run.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np

from dpaudit.reading.source import is_of_user


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

# --- Which numbers and texts stand in a function's code? Near them it may go wrong. ---
#
# Those of the function itself, of the functions and classes of the user that it names, and of plain values and
# containers that it names, closes over or has as defaults.

_MOST = 64  # constants that are kept
_DEEPEST = 6
_LONGEST = 200  # members of a container that are looked through, and characters of a text


def constants_of(function: Any) -> list[int | float | str]:
    """Return the numbers and texts in a function's code, each once, in the order in which they are met."""
    constants: dict[tuple[type, Any], None] = {}
    for value in _of(function, set(), 0):
        if value == value and not isinstance(value, bool):
            constants.setdefault((type(value), value))
        if len(constants) >= _MOST:
            break
    return [value for _, value in constants]


def _of(value: Any, seen: set[int], depth: int) -> Iterator[Any]:
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, str):
        if 0 < len(value) <= _LONGEST:
            yield value
    elif depth <= _DEEPEST and id(value) not in seen:
        seen.add(id(value))
        for part in _parts(value):
            yield from _of(part, seen, depth + 1)


def _parts(value: Any) -> Iterator[Any]:
    kind = type(value)
    if kind is types.FunctionType:
        if is_of_user(value.__code__.co_filename):
            yield value.__code__
            yield value.__defaults__
            yield value.__kwdefaults__
            yield from _contents(value.__closure__)
            yield from (value.__globals__[name] for name in _names(value.__code__) if name in value.__globals__)
    elif kind is types.CodeType:
        document = value.co_consts[:1] if value.co_consts and isinstance(value.co_consts[0], str) else ()
        yield from (each for each in value.co_consts if not document or each is not document[0])
    elif kind is types.MethodType:
        yield value.__func__
        yield value.__self__
    elif kind is functools.partial:
        yield from (value.func, value.args, value.keywords)
    elif kind in (list, tuple, set, frozenset):
        yield from list(value)[:_LONGEST]
    elif kind is dict:
        yield from list(value.keys())[:_LONGEST]
        yield from list(value.values())[:_LONGEST]
    elif kind is type and any(type(each) is types.FunctionType for each in vars(value).values()):
        yield from (each for name, each in vars(value).items() if name[:2] != "__" or name == "__init__")
    elif isinstance(getattr(kind, "__call__", None), types.FunctionType):  # noqa: B004
        yield kind.__call__
        yield from vars(value).values() if hasattr(value, "__dict__") else ()


def _contents(cells: tuple[Any, ...] | None) -> Iterator[Any]:
    for cell in cells or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is empty
            continue


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _names(each)


# --- Which calls of libraries that draw by themselves are made in each run, while all around them is read? ---
#
# One table, an allow-list: the calls of a library of differential privacy whose objects remember nothing but what they
# were made with. Such a call is made for each run with the values of that run, and what it returned is kept as a draw
# is. What is named nowhere here is called with the whole function, run by run.

_LIBRARIES = ("diffprivlib", "opendp")
_HOLD_NOTHING = ("diffprivlib.mechanisms", "opendp.mod")
"""Modules of classes whose objects remember nothing from call to call."""
_MAKERS = (
    "opendp.combinators", "opendp.context", "opendp.core", "opendp.domains", "opendp.measurements", "opendp.measures",
    "opendp.metrics", "opendp.prelude", "opendp.transformations",
)  # fmt: skip
"""Modules whose functions make such objects, and draw nothing."""
_RANDOM = ("diffprivlib.mechanisms", "diffprivlib.tools", "opendp.mod")
"""Modules whose functions, methods and objects are called in each run."""
_SEEDS = ("random_state", "seed", "rng")
_PLAIN = (str, bytes, int, float, bool, types.NoneType, np.generic)


def _is_in(module: str, modules: tuple[str, ...]) -> bool:
    return any(module == each or module.startswith(each + ".") for each in modules)


def is_of_library(value: Any) -> bool:
    """Whether this is an object of such a library."""
    return _is_in(type(value).__module__, _HOLD_NOTHING)


def title_of(function: Any) -> str | None:
    """Return the name of a call that is made in each run; None if it is none."""
    owner = getattr(function, "__self__", None)
    if type(function) is types.MethodType and not isinstance(owner, type):
        if any(getattr(owner, each, None) is not None for each in _SEEDS):
            return None  # a fixed seed is no noise
        kind, name = type(owner), f".{function.__name__}"
    elif isinstance(function, type) or type(function) is types.FunctionType:
        module = str(function.__module__)
        return f"{module}.{function.__qualname__}" if _is_in(module, _RANDOM) else None
    else:
        kind, name = type(function), ""
    module = kind.__module__
    return f"{module}.{kind.__qualname__}{name}" if _is_in(module, _RANDOM) and _is_in(module, _HOLD_NOTHING) else None


def makes(function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> bool:
    """Whether a call makes an object that all runs may share: it draws nothing, and has no seed."""
    module = str(getattr(function, "__module__", ""))
    if module.partition(".")[0] not in _LIBRARIES:
        return False
    if type(function) is types.FunctionType:
        return _is_in(module, _MAKERS)
    if not isinstance(function, type) or not _is_in(module, _HOLD_NOTHING):
        return False
    try:
        given = inspect.signature(function).bind(*args, **keywords).arguments
    except (TypeError, ValueError):
        return False
    return all(given.get(each) is None for each in _SEEDS) and given.get("kwargs") is None


def is_taken(value: Any) -> bool:
    """Whether a library may be given this in each run: plain values, arrays and tables, and objects of its own."""
    kind = type(value)
    if is_of_library(value):
        return True
    if kind in (list, tuple, set, frozenset):
        return all(map(is_taken, value))
    if kind is dict:
        return all(map(is_taken, value.values())) and all(map(is_taken, value))
    if isinstance(value, _PLAIN):
        return True
    if kind is np.ndarray:
        return not value.dtype.hasobject
    return kind.__name__ in ("Series", "DataFrame", "Index") and kind.__module__.startswith("pandas")
