"""What draws noise does a target keep in what it reaches? In attributes, closures, defaults, classes and containers.

Kept are generators of NumPy, their methods, and functions of ``numpy.random`` and ``random``. What is kept in a tuple
is replaced with the tuple; what is kept in a set, or by an object that does not let it go, is named.
"""

from __future__ import annotations

import functools
import random
from collections import deque
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

GENERATORS = (np.random.Generator, np.random.RandomState)
_MOST = 5_000  # objects that are looked through
_DEEPEST = 3  # tuples within tuples
_PASSED = ("numpy", "scipy", "pandas", "polars", "torch", "jax", "builtins", "dpaudit", "threading", "logging")
_ATOMS = (str, bytes, int, float, complex, bool, type(None), np.ndarray, ModuleType, CodeType)


def kept_generators(*roots: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield what a target keeps that draws: whose it is, its name there, and what it is; None for whom no part of
    can be replaced.

    Args:
        *roots: the target, and its parameters. What a function names in its module, closes over, is bound to and has as
            attributes and defaults is looked through, and so is what is found there.
    """
    pending, seen, kept = list(roots), set(map(id, roots)), list(roots)
    while pending and len(seen) < _MOST:
        value = pending.pop()
        for owner, name, part in _listed(value):
            if draws(part) or (issubclass(type(part), tuple) and any(map(draws, _flat(part)))):
                yield owner, name, part
            elif id(part) not in seen and not issubclass(type(part), _ATOMS):
                seen.add(id(part))
                kept.append(part)  # so that no other object gets its id
                pending.append(part)


def draws(value: Any) -> bool:
    """Whether it is a generator, a method of one, or a function that draws."""
    if type(value) in GENERATORS or any(value is each for each in _MAKERS):
        return True
    owner = getattr(value, "__self__", None) if type(value) in _METHODS else None
    return type(owner) in GENERATORS or owner is _OF_RANDOM


_MAKERS = (np.random.default_rng, *GENERATORS)
_METHODS = (MethodType, type(random.random))
_OF_RANDOM = random.gauss.__self__  # type: ignore[attr-defined]


def _flat(value: tuple[Any, ...], depth: int = 0) -> Iterator[Any]:
    for part in value:
        if issubclass(type(part), tuple) and depth < _DEEPEST:
            yield from _flat(part, depth + 1)
        else:
            yield part


def _listed(value: Any) -> list[tuple[Any, Any, Any]]:
    try:
        return list(_parts(value))
    except Exception:  # an object may answer to being looked at with anything
        return []


def _parts(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield what an object is made of, with whose it is and its name there; None for what cannot be replaced."""
    kind = type(value)
    if kind in (dict, list, deque):
        items = list(value.items() if kind is dict else enumerate(value))
        yield from ((value, name, part) for name, part in items)
    elif issubclass(kind, tuple | set | frozenset):
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
    if function.__defaults__:
        yield function, "__defaults__", function.__defaults__
    yield from ((function.__kwdefaults__, name, part) for name, part in (function.__kwdefaults__ or {}).items())
    own = function.__globals__
    if function.__module__ and function.__module__.partition(".")[0] not in _PASSED:
        yield from ((own, name, own[name]) for name in _names(function.__code__) if name in own)
    yield from ((None, None, part) for part in vars(function).values())


def _names(code: CodeType) -> set[str]:
    """The names that code uses, with what is defined inside of it."""
    inside = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(_names, inside))
