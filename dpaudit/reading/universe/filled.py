"""What is in an array that private numbers are put into, place by place?

An array that the function made for itself, and of which nobody else holds a part, may be filled with private numbers:
``table[k] = n``. It stands for an array of private numbers from then on. What a place held before is no part of it, and
a number that was there before is public and moves nothing. Once something has looked at the array, which may show it
later too (a part of it is a view, an iterator goes on), nothing more is put into it.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from dpaudit.reading.universe.base import naturally
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.state import Private, refuse
from dpaudit.reading.universe.values import NP_FLOAT, NP_INT, PUBLIC, Token, array, number, sort_of

_WHOLE = frozenset(("np.int64", "bool"))


class Mixed(Private):
    """An array of which some numbers are private, and others released."""

    __slots__ = ()
    noun = "table of private and released numbers"
    to_release = "table = table + laplace(…, size=table.shape)"


class Filled:
    """An array with private numbers.

    Args:
        owner: the array itself; what is public in it stands there.
    """

    def __init__(self, owner: Any) -> None:
        if owner.base is not None or owner.dtype not in ("float64", "int64"):
            refuse("a private number that is put into a view, or an array of another type", "np.zeros(len(VALUES))")
        self.owner, self.is_private, self.is_released = owner, np.zeros(owner.shape, bool), np.zeros(owner.shape, bool)
        self.number: Number | None = None

    def store(self, key: Any, value: Any) -> None:
        """``table[key] = value``."""
        keys = key if isinstance(key, tuple) else (key,)
        if sort_of(key) != PUBLIC or not all(type(each) is int or isinstance(each, slice | np.int64) for each in keys):
            refuse("a private number that is put into an array other than at a public place", "table[0] = n")
        shape = naturally(operator.getitem, self.is_private, keys).shape
        if isinstance(value, Number):
            self._put(keys, shape, value)
        elif isinstance(value, Token):
            if self.owner.dtype != "float64" or not (value.is_number or (value.is_array and value.shape == shape)):
                refuse("a released value of another shape that is put among private numbers", Mixed.to_release)
        elif sort_of(value) == PUBLIC:
            naturally(operator.setitem, self.owner, keys, value)
        else:
            refuse("a private value that is put into an array, and is no number", Mixed.to_release)
        self.is_private[keys], self.is_released[keys] = isinstance(value, Number), isinstance(value, Token)

    def _put(self, keys: tuple[Any, ...], shape: tuple[int, ...], value: Number) -> None:
        is_float = self.owner.dtype == "float64"
        if value.columns is not None or value.shape != shape:
            refuse("private numbers that are put into an array of another shape", "numbers of one shape")
        if not is_float and not (value.is_whole and value.kinds <= _WHOLE):
            refuse("a private number that is put into an array of whole numbers", "np.zeros(len(VALUES))")

        def placed(table: Any) -> Any:
            several = np.zeros((len(table), *self.owner.shape))
            several[(slice(None), *keys)] = table
            return several

        is_whole = value.is_whole and self._is_whole()
        kinds = NP_FLOAT if is_float else NP_INT
        added = value.mapped(placed, labels=None, kinds=kinds, is_whole=is_whole, known=None)
        rest = self._without(keys)
        self.number = added if rest is None else rest.plus(added, 1)

    def _is_whole(self) -> bool:
        return bool(np.all(self.owner == np.round(self.owner)))

    def _without(self, keys: tuple[Any, ...]) -> Number | None:
        """Return what is left of the numbers where others are put in the place of some."""
        if self.number is None:
            return None

        def emptied(table: Any) -> Any:
            table = table.copy()
            table[(slice(None), *keys)] = 0
            return table

        return self.number.mapped(emptied, known=None)

    def at(self, key: Any) -> Any:
        """Return a single number; None of anything else."""
        if sort_of(key) != PUBLIC or type(naturally(operator.getitem, self.owner, key)) is np.ndarray:
            return None
        if self.is_private[key] and self.number is not None:
            return self.number.at(key)
        return number("np.float64") if self.is_released[key] else self.owner[key]

    def stands_for(self) -> Any:
        """Return what the array is."""
        if not self.is_private.any():
            return array(self.owner.shape)
        if self.is_released.any() or self.number is None:
            return Mixed()
        kept: Number = self.number.mapped(lambda table: np.where(self.is_private, table, 0), known=None)
        self.number = kept
        return kept


__all__ = ["Filled", "Mixed"]
