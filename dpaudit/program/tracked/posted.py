"""May a function be handed what was released? It must hold nothing private, and nothing that it could change unseen."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.noise import Noise
from dpaudit.program.tracked.path import refuse
from dpaudit.program.tracked.private import Private
from dpaudit.program.tracked.released import ReleasedArray, ReleasedNumber

_MOST_HELD = 10_000  # things that a function of post-processing holds
_PLAIN = (type(None), bool, int, float, complex, str, bytes, Fraction, range, slice, np.generic, types.ModuleType)
_KNOWN = {
    "builtins",
    "math",
    "cmath",
    "numpy",
    "pandas",
    "re",
    "fractions",
    "decimal",
    "statistics",
    "operator",
    "json",
}
_CHANGES = {
    "append", "extend", "insert", "pop", "popitem", "clear", "update", "setdefault", "add", "remove", "discard", "sort",
    "reverse", "setattr", "delattr", "__setitem__", "__setattr__", "__delitem__",
}  # fmt: skip


def refuse_private(root: Any, function: Any) -> None:
    """Refuse post-processing that holds private values, unused noise, a source of noise, or what it may change."""
    pending, seen, kept = [(root, False)], set(), []
    while pending:
        value, is_captured = pending.pop()
        if id(value) in seen or isinstance(value, _PLAIN):
            continue
        seen.add(id(value))
        kept.append(value)
        if len(seen) > _MOST_HELD:
            refuse("post-processing that holds more than can be looked through; give it what it needs as arguments")
        if isinstance(value, Private):
            refuse("post-processing that sees private values or noise; give it released values alone")
        if isinstance(value, Noise):
            refuse("post-processing that draws noise; draw outside of it")
        if isinstance(value, ReleasedNumber | ReleasedArray):
            if is_captured:
                refuse("post-processing that closes over a released value; hand it over: noise.post(f, value)")
            continue
        if is_captured and isinstance(value, list | dict | set | bytearray) and value is not function:
            refuse(
                "post-processing that closes over a list, dict or set, which it could change; hand it over, or use a "
                "tuple"
            )
        pending += [(each, captured or is_captured) for each, captured in _held(value)]


def _held(value: Any) -> Iterable[tuple[Any, bool]]:
    """What a value holds, and whether the value could change it unseen."""
    if isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            yield (cell.cell_contents, True)
        yield from ((each, True) for each in value.__defaults__ or ())
        yield from ((each, True) for each in (value.__kwdefaults__ or {}).values())
        yield from ((each, True) for each in vars(value).values())
        changes = _changes(value.__code__)
        for name in _names(value.__code__):
            if name in value.__globals__:
                yield (value.__globals__[name], changes)
    elif isinstance(value, types.MethodType):
        yield (value.__self__, True)
        yield (value.__func__, False)
    elif isinstance(value, functools.partial):
        yield from ((each, True) for each in (*value.args, *value.keywords.values()))
        yield (value.func, False)
    elif isinstance(value, types.BuiltinFunctionType):
        if value.__self__ is not None and not isinstance(value.__self__, types.ModuleType | type):
            yield (value.__self__, True)
    elif isinstance(value, dict):
        yield from ((each, False) for pair in value.items() for each in pair)
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((each, False) for each in value)
    elif isinstance(value, np.ndarray):
        if value.dtype == object:
            yield from ((each, False) for each in value.ravel().tolist())
    else:
        home = value if isinstance(value, type) else type(value)
        if home.__module__.partition(".")[0] in _KNOWN:
            return
        refuse(
            f"post-processing that holds a {type(value).__name__}, which cannot be looked through; give it plain values"
        )


def _changes(code: types.CodeType) -> bool:
    """Whether code may change what it did not make itself."""
    stores = any(
        each.opname.startswith(("STORE_SUBSCR", "STORE_ATTR", "STORE_GLOBAL", "DELETE_"))
        for each in dis.get_instructions(code)
    )
    inner = any(_changes(each) for each in code.co_consts if isinstance(each, types.CodeType))
    return stores or inner or not _CHANGES.isdisjoint(code.co_names)


def code_within(code: Any) -> Iterable[types.CodeType]:
    """Yield a code object and all that it holds; nothing of what is none."""
    if isinstance(code, types.CodeType):
        yield code
        for each in code.co_consts:
            yield from code_within(each)


def _names(code: types.CodeType) -> Iterable[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _names(each)
