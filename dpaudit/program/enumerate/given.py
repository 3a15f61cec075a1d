"""What is passed to a program so that its numbers stay exact? Decimals, integers with exact quotients, exponentials."""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpaudit.program.enumerate.number import USUAL, Exact, exponential_of, parameter_of
from dpaudit.program.enumerate.refusal import READING

_LOCK = threading.RLock()


class Whole(int):
    """An int parameter whose quotients are exact: ``2 / k`` is a fraction, not a float."""

    def __truediv__(self, other: Any) -> Any:
        return Exact(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / Exact(self)

    def __pow__(self, power: Any, modulus: Any = None) -> Any:
        if isinstance(power, int) and power >= 0:
            return Whole(pow(int(self), int(power), modulus))
        return Exact(self) ** power


def _closed(name: str) -> Callable[..., Any]:
    """Return an int's operation whose integer results divide exactly too, and whose float operands become exact."""

    def operation(self: Whole, other: Any) -> Any:
        if isinstance(other, float):
            return getattr(Exact(self), name)(other)
        found = getattr(int, name)(self, other)
        return Whole(found) if type(found) is int else found

    return operation


for _name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__"):
    setattr(Whole, _name, _closed(_name))
Whole.__neg__ = lambda self: Whole(-int(self))  # type: ignore[method-assign]


def exactly(value: Any) -> Any:
    """Return a parameter or dataset with every float replaced by its decimal; containers are copied."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return parameter_of(value) if math.isfinite(value) else value
    if type(value) in (list, tuple):
        return type(value)(map(exactly, value))
    if type(value) is dict:
        return {key: exactly(item) for key, item in value.items()}
    return copy.deepcopy(value)


def exact_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters that stay exact."""
    return {name: Whole(value) if type(value) is int else exactly(value) for name, value in given.items()}


@contextmanager
def exact_exponentials() -> Iterator[None]:
    """Make ``math.exp`` exact while a program is read; every other thread and call keeps the usual one."""
    replaced = {"exp": exponential_of, "expm1": lambda value: exponential_of(value) - 1}

    def chosen(name: str) -> Callable[[Any], Any]:
        return lambda value: (USUAL if READING.get() is None else replaced)[name](value)

    with _LOCK:
        for name in USUAL:
            setattr(math, name, chosen(name))
        try:
            yield
        finally:
            for name, usual in USUAL.items():
                setattr(math, name, usual)
