"""May a function be handed what was released? It must hold nothing private, and nothing that it could change unseen."""

from __future__ import annotations

import dis
import functools
import re
import sys
import types
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.noise import Noise
from dpaudit.program.tracked.path import refuse
from dpaudit.program.tracked.private import Private
from dpaudit.program.tracked.released import ReleasedArray, ReleasedNumber
from dpaudit.program.tracked.truth import Truth

_MOST_HELD = 10_000  # things that a function of post-processing holds
_PLAIN = {
    type(None), bool, int, float, complex, str, bytes, Fraction, Decimal, range, slice, type(Ellipsis), np.dtype,
    re.Pattern,
}  # fmt: skip
_KNOWN = {
    "builtins", "math", "cmath", "numpy", "pandas", "re", "fractions", "decimal", "statistics", "operator", "json",
    "itertools", "functools", "collections", "scipy",
}  # fmt: skip
"""Modules of which functions and classes hold nothing of the program's."""
_CHANGES = {
    "append", "extend", "insert", "pop", "popitem", "clear", "update", "setdefault", "add", "remove", "discard", "sort",
    "reverse", "appendleft", "rotate", "move_to_end", "setitem", "delitem", "iadd", "iconcat", "ior", "heappush",
    "heapify", "heappop", "insort", "insort_left", "insort_right", "shuffle", "__init__", "__setitem__", "__delitem__",
    "__iadd__", "__ior__", "__imul__", "imul",
}  # fmt: skip
_PEEKS = {
    "getattr", "setattr", "delattr", "attrgetter", "methodcaller", "eval", "exec", "compile", "globals", "locals",
    "vars", "dir", "open", "input", "breakpoint", "__import__", "__setattr__", "__delattr__", "__getattribute__",
    "sys", "gc", "inspect", "ctypes", "importlib", "traceback", "threading", "builtins", "os", "io", "_getframe",
    "__dict__", "__globals__", "__closure__", "__code__", "__builtins__", "__traceback__", "__subclasses__",
    "__defaults__", "__kwdefaults__", "__self__", "__func__", "__wrapped__", "cell_contents",
}  # fmt: skip
"""What shows a function more than it was given, or lets it change that."""
_FRAMES = ("f_", "gi_", "cr_", "ag_", "tb_")


def refuse_private(root: Any, function: Any) -> None:
    """Refuse a function that holds private values, unused noise, a source of noise, or what it may change."""
    pending, seen, kept = [(root, False)], set(), []
    while pending:
        value, is_captured = pending.pop()
        if id(value) in seen or type(value) in _PLAIN or isinstance(value, np.generic):
            continue
        seen.add(id(value))
        kept.append(value)
        if len(seen) > _MOST_HELD:
            refuse(
                "a handed-on function that holds more than can be looked through; give it what it needs as arguments"
            )
        if isinstance(value, Private):
            refuse("a handed-on function that sees private values or noise; give it released values alone")
        if isinstance(value, Noise):
            refuse("a handed-on function that draws noise; draw outside of it")
        if isinstance(value, ReleasedNumber | ReleasedArray | Truth):
            if is_captured and not (isinstance(value, ReleasedNumber) and value.is_constant):
                refuse("a handed-on function that closes over a released value; hand it over: noise.post(f, value)")
            continue
        if is_captured and isinstance(value, _MUTABLE):
            refuse(
                "a handed-on function that closes over a list, dict, set or array, which it could change; use a "
                "tuple, or hand it over"
            )
        pending += [(each, captured or is_captured) for each, captured in _held(value)]


_MUTABLE = (list, dict, set, bytearray, np.ndarray)


def _held(value: Any) -> Iterable[tuple[Any, bool]]:
    """What a value holds, and whether the value could change it unseen."""
    kind = type(value)
    if kind is types.FunctionType:
        if _is_known(value):
            return
        for cell in value.__closure__ or ():
            try:
                yield (cell.cell_contents, True)
            except ValueError:  # an empty cell
                refuse("a handed-on function that closes over a name without a value")
        yield from ((each, True) for each in value.__defaults__ or ())
        yield from ((each, True) for each in (value.__kwdefaults__ or {}).values())
        yield from ((each, True) for each in vars(value).values())
        changes = _changes(value.__code__)
        for name in _names(value.__code__):
            if name in value.__globals__:
                found = value.__globals__[name]
                yield (found, changes or isinstance(found, np.ndarray))
    elif kind is types.MethodType:
        yield (value.__self__, True)
        yield (value.__func__, False)
    elif kind is functools.partial:
        yield from ((each, True) for each in (*value.args, *value.keywords.values()))
        yield (value.func, False)
    elif kind is types.BuiltinFunctionType:
        if value.__self__ is not None and not isinstance(value.__self__, types.ModuleType | type):
            yield (value.__self__, True)
    elif kind is dict:
        yield from ((each, False) for pair in value.items() for each in pair)
    elif kind in (list, tuple, set, frozenset):
        yield from ((each, False) for each in value)
    elif kind is np.ndarray:
        if value.dtype == object:
            yield from ((each, False) for each in value.ravel().tolist())
    elif kind is types.ModuleType:
        if value.__name__.partition(".")[0] not in _KNOWN:
            refuse(f"a handed-on function that uses the module {value.__name__}; hand over what it needs")
    elif not _is_known(value):
        refuse(
            f"a handed-on function that holds a {kind.__name__}, which cannot be looked through; give it plain values"
        )


def _is_known(value: Any) -> bool:
    """Whether a function or class is the one that its module has under its name, and the module is a known one."""
    if isinstance(value, np.ufunc):
        return getattr(np, value.__name__, None) is value
    named = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not all(type(each) is str for each in named) or str(named[0]).partition(".")[0] not in _KNOWN:
        return False
    found: Any = sys.modules.get(str(named[0]))
    for name in str(named[1]).split("."):
        found = getattr(found, name, None)
    public = getattr(np, str(named[1]), getattr(np.linalg, str(named[1]), None))
    return found is value or public is value


def _changes(code: types.CodeType) -> bool:
    """Whether code may change what it did not make itself; refuse code that looks at more than it was given."""
    known = [*code.co_names, *code.co_freevars]
    for name in code.co_names:
        if name in _PEEKS or name.startswith(_FRAMES):
            refuse(f"a handed-on function that uses {name}, which shows more than it was given")
    found = not _CHANGES.isdisjoint(known)
    for each in dis.get_instructions(code):
        if each.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR") or (
            each.opname in ("STORE_DEREF", "DELETE_DEREF") and each.argval in code.co_freevars
        ):
            refuse("a handed-on function that assigns to a name or an attribute outside of it; return the value")
        if each.opname == "IMPORT_NAME" and str(each.argval).partition(".")[0] not in _KNOWN:
            refuse(f"a handed-on function that imports {each.argval}; hand over what it needs")
        found |= each.opname.startswith(("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"))
        found |= each.opname == "BINARY_OP" and each.argrepr.endswith("=")
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= _changes(inner)
    return found


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
