"""Which of the user's methods would Python call here?

Python calls methods of classes without naming them: of operators, ``len``, ``with``, properties, constructors. What it
would call is called as a rewritten function, so that nothing of the user's runs unasked (Python Language Reference,
3.3 Special method names).
"""

from __future__ import annotations

import functools
import types
from typing import Any

from dpaudit.reading.source import is_of_user

_ARITHMETIC = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift",
)  # fmt: skip
REFLECTED = {name: f"__r{name.strip('_')}__" for name in _ARITHMETIC} | {
    "lt": "__gt__", "le": "__ge__", "gt": "__lt__", "ge": "__le__", "eq": "__eq__", "ne": "__ne__",
}  # fmt: skip
"""The method of the right operand that Python tries where the left one has no answer."""
OF_BUILTINS: dict[Any, str] = {
    len: "__len__", str: "__str__", repr: "__repr__", bool: "__bool__", iter: "__iter__", next: "__next__",
    abs: "__abs__", int: "__int__", float: "__float__", round: "__round__", hash: "__hash__", reversed: "__reversed__",
}  # fmt: skip
"""The method of its argument that a builtin calls."""


@functools.cache
def has_own_methods(kind: type) -> bool:
    """Whether a class, or one that it derives from, is written in the user's modules."""
    return any(
        isinstance(member, types.FunctionType) and is_of_user(member.__code__.co_filename)
        for base in kind.__mro__
        if base.__module__ not in ("builtins", "numpy")
        for member in _members(base)
    )


def _members(base: type) -> list[Any]:
    out: list[Any] = []
    for each in vars(base).values():
        if isinstance(each, staticmethod | classmethod):
            out.append(each.__func__)
        elif isinstance(each, property):
            out += [each.fget, each.fset]
        elif isinstance(each, functools.cached_property):
            out.append(each.func)
        else:
            out.append(each)
    return out


def in_class(kind: type, name: str) -> Any:
    """Return what a class has under a name, as it is written there; None if nothing."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def method(value: Any, name: str) -> types.MethodType | None:
    """Return the user's method that Python would call on a value; None if it is not the user's."""
    kind: Any = type(value)
    if not has_own_methods(kind):
        return None
    found = in_class(kind, name)
    if isinstance(found, types.FunctionType) and is_of_user(found.__code__.co_filename):
        return types.MethodType(found, value)
    return None


def getter(value: Any, name: str) -> Any:
    """Return the user's function behind a property; None if the attribute is none."""
    kind: Any = type(value)
    if not has_own_methods(kind):
        return None
    found = in_class(kind, name)
    if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        return found.fget if is_of_user(found.fget.__code__.co_filename) else None
    return None


def operators(name: str, left: Any, right: Any) -> list[tuple[types.MethodType, Any]]:
    """Return the user's methods that Python would try for an operator, each with its argument, in Python's order."""
    out = []
    first, second = method(left, f"__{name.strip('_')}__"), None
    if name in REFLECTED and (type(left) is not type(right) or name in ("eq", "ne")):
        second = method(right, REFLECTED[name])
    if first is not None:
        out.append((first, right))
    if second is not None:
        prior = type(right) is not type(left) and issubclass(type(right), type(left))
        out.insert(0 if prior else len(out), (second, left))
    return out
