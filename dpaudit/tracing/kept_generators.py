"""Which generators of NumPy does a target keep in what it reaches? In attributes, closures, classes and containers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

GENERATORS = (np.random.Generator, np.random.RandomState)
_MOST = 5_000  # objects that are looked through
_PASSED = ("numpy", "scipy", "pandas", "polars", "torch", "jax", "builtins", "dpaudit", "threading", "logging")
_ATOMS = (str, bytes, int, float, complex, bool, type(None), np.ndarray, ModuleType, CodeType)


def kept_generators(function: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield generators that a function keeps where they can be replaced: whose they are, their name there, and which.

    Args:
        function: the target. What it names in its module, closes over, is bound to and has as attributes is looked
            through, and so is what is found there.
    """
    pending, seen, kept = [function], {id(function)}, [function]
    while pending and len(seen) < _MOST:
        value = pending.pop()
        for owner, name, part in _listed(value):
            if type(part) in GENERATORS:
                if owner is not None:
                    yield owner, name, part
            elif id(part) not in seen and not issubclass(type(part), _ATOMS):
                seen.add(id(part))
                kept.append(part)  # so that no other object gets its id
                pending.append(part)


def _listed(value: Any) -> list[tuple[Any, Any, Any]]:
    try:
        return list(_parts(value))
    except Exception:  # an object may answer to being looked at with anything
        return []


def _parts(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield what an object is made of, with whose it is and its name there; None for what cannot be replaced."""
    kind = type(value)
    if kind is dict or kind is list:
        items = list(value.items() if kind is dict else enumerate(value))
        yield from ((value, name, part) for name, part in items)
    elif kind in (tuple, set, frozenset):
        yield from ((None, None, part) for part in value)
    elif kind is FunctionType:
        yield from _parts_of_function(value)
    elif kind is MethodType:
        yield from ((None, None, part) for part in (value.__self__, value.__func__))
    elif kind is functools.partial:
        yield from ((None, None, part) for part in (value.func, value.args, value.keywords))
    elif isinstance(value, staticmethod | classmethod):
        yield None, None, value.__func__
    elif isinstance(value, property):
        yield from ((None, None, part) for part in (value.fget, value.fset) if part is not None)
    elif isinstance(value, type):
        if value.__module__.partition(".")[0] not in _PASSED:
            yield from ((value, name, part) for name, part in list(vars(value).items()))
            yield from ((None, None, base) for base in value.__bases__)
    elif kind.__module__.partition(".")[0] not in _PASSED:
        yield None, None, kind
        own = getattr(value, "__dict__", None)
        if type(own) is dict:
            yield from ((own, name, part) for name, part in list(own.items()))
        for base in kind.__mro__:
            names = vars(base).get("__slots__", ())
            for name in (names,) if isinstance(names, str) else names:
                if name != "__dict__" and hasattr(value, name):
                    yield value, name, getattr(value, name)


def _parts_of_function(function: FunctionType) -> Iterator[tuple[Any, Any, Any]]:
    for cell in function.__closure__ or ():
        try:
            yield cell, "cell_contents", cell.cell_contents
        except ValueError:  # it is empty
            continue
    yield from ((None, None, part) for part in function.__defaults__ or ())
    yield from ((function.__kwdefaults__, name, part) for name, part in (function.__kwdefaults__ or {}).items())
    own = function.__globals__
    if function.__module__ and function.__module__.partition(".")[0] not in _PASSED:
        yield from ((own, name, own[name]) for name in _names(function.__code__) if name in own)
    yield from ((None, None, part) for part in vars(function).values())


def _names(code: CodeType) -> set[str]:
    """The names that code uses, with what is defined inside of it."""
    inside = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(_names, inside))
