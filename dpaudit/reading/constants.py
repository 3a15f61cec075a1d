"""Which numbers and texts stand in a function's code? Near them it may go wrong.

Those of the function itself, of the functions and classes of the user that it names, and of plain values and containers
that it names, closes over or has as defaults.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

from dpaudit.reading.source import is_of_user

_MOST = 64  # constants that are kept
_DEEPEST = 6
_LONGEST = 200  # members of a container that are looked through, and characters of a text


def constants_of(function: Any) -> list[int | float | str]:
    """Return the numbers and texts in a function's code, each once, in the order in which they are met."""
    found: dict[tuple[type, Any], None] = {}
    for value in _of(function, set(), 0):
        if value == value and not isinstance(value, bool):
            found.setdefault((type(value), value))
        if len(found) >= _MOST:
            break
    return [value for _, value in found]


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
