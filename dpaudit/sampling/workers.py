"""May other processes make runs with copies of a mechanism?

A mechanism that has a name is loaded by each process itself. One that exists only in this process would have to be
copied, and a copy of a generator, or of any state from which noise comes, produces the same noise in every process:
dependent runs would pass for independent ones, and the bound would be wrong. So only plain functions are copied, with
plain data around them; anything that might hold a state runs in one process, and this is reported.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, np.ufunc, Enum, ModuleType)


def why_alone(
    mechanism: Mechanism, others: Any = None, *, timed: bool = False, made_as: Shape | None = None
) -> str | None:
    """Say why only this process can make runs of a mechanism, as a sentence; None if others can too."""
    if timed:
        return "run times are measured in one process: others beside it would slow it down"
    if mechanism.own_randomness or made_as is Shape.OPAQUE:
        return (
            f"{mechanism.name} runs in one process: it has randomness of its own, and other processes might make the "
            "same noise again"
        )
    if mechanism.reference is not None:
        return None
    state = _state_in(mechanism.function, set())
    if state is not None:
        return (
            f"{mechanism.name} runs in one process: it only exists in this one, and holds {state}, of which copies "
            "might make the same noise again; define it in a file, as a function with a name"
        )
    try:
        import cloudpickle

        cloudpickle.dumps((mechanism, others))
    except Exception as error:
        return (
            f"{mechanism.name} runs in one process: it only exists in this one, and cannot be copied "
            f"({type(error).__name__}); define it in a file, as a function with a name"
        )
    return None


def _state_in(value: Any, seen: set[int]) -> str | None:
    """Return a description of what might hold a state in a value that would be copied; None if it is plain."""
    if isinstance(value, _PLAIN) or id(value) in seen:
        return None
    seen.add(id(value))
    if isinstance(value, Mechanism):
        return _state_in(value.function, seen)
    if isinstance(value, functools.partial):
        return _first([value.func, *value.args, *value.keywords.values()], seen)
    if isinstance(value, FunctionType):
        return None if _is_found(value) else _first(_around(value), seen)
    if isinstance(value, BuiltinFunctionType):
        return None if isinstance(value.__self__, ModuleType | None) else _named(value.__self__)
    if isinstance(value, type):
        return None if _is_found(value) else f"the class {value.__name__}"
    if isinstance(value, np.ndarray):
        return _named(value) if value.dtype.hasobject else None
    if type(value) in (list, tuple, set, frozenset):
        return _first(value, seen)
    if type(value) is dict:
        return _first([*value.keys(), *value.values()], seen)
    return None if hasattr(value, "to_numpy") else _named(value)


def _first(values: Any, seen: set[int]) -> str | None:
    return next((found for value in values if (found := _state_in(value, seen)) is not None), None)


def _named(value: Any) -> str:
    return f"an object of type {type(value).__name__}"


def _is_found(value: Any) -> bool:
    """Whether another process finds the same object by its name, so that it is not copied."""
    module = sys.modules.get(value.__module__ or "")
    if module is None or value.__module__ == "__main__":
        return False
    found: Any = module
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


def _around(function: FunctionType) -> Iterator[Any]:
    """What is copied with a function: its closure, its defaults, and the globals that it names."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue  # an empty cell
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from _globals_of(function.__code__, function.__globals__)


def _globals_of(code: CodeType, known: Mapping[str, Any]) -> Iterator[Any]:
    """The globals named by a code object, and by functions and comprehensions within it."""
    yield from (known[name] for name in code.co_names if name in known)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant, known)
