"""Which calls of libraries that draw by themselves are made in each run, while all around them is read?

One table, an allow-list: the calls of a library of differential privacy whose objects remember nothing but what they
were made with. Such a call is made for each run with the values of that run, and what it returned is kept as a draw is.
What is named nowhere here is called with the whole function, run by run.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

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
