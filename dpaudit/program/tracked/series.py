"""What may be done with private numbers under public keys, as a pandas object has them?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpaudit.program.tracked.arrays import Numbers
from dpaudit.program.tracked.draw import Draw
from dpaudit.program.tracked.path import refuse
from dpaudit.program.tracked.private import Number, Private, among
from dpaudit.program.tracked.released import is_private, shape_of


class Series(Private):
    """Private numbers under public keys, as a pandas object has them."""

    inner = Private.inner | {"tracked_len"}

    def __init__(self, keys: Iterable[Any], numbers: Iterable[Number]) -> None:
        self._keys, self._numbers = tuple(keys), tuple(numbers)
        if len(set(self._keys)) < len(self._keys):
            refuse("the same key twice, which stands for two numbers")
        self.shape = (len(self._keys),)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, list):
            return Series(key, [self[each] for each in key])
        if is_private(key):
            refuse("a key that depends on data")
        if key not in self._keys:
            raise KeyError(key)
        return self._numbers[self._keys.index(key)]

    @property
    def loc(self) -> Series:
        """Look up by key."""
        return self

    at = loc

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the number of a key."""
        return self[key] if key in self._keys else default

    @property
    def index(self) -> list[Any]:
        """The keys."""
        return list(self._keys)

    def keys(self) -> list[Any]:
        """Return the keys."""
        return list(self._keys)

    def __iter__(self) -> Any:
        return iter(self._numbers)

    def tracked_len(self) -> int:
        """Return how many there are: a public number."""
        return len(self._keys)

    __len__ = tracked_len

    def items(self) -> Any:
        """Yield keys and numbers."""
        return zip(self._keys, self._numbers, strict=True)

    def to_dict(self) -> dict[Any, Number]:
        """Return the numbers by their keys."""
        return dict(self.items())

    def to_numpy(self) -> Any:
        """Return the numbers alone, as an array."""
        return Numbers.of(self._numbers)

    values = property(to_numpy)

    def tolist(self) -> list[Number]:
        """Return the numbers alone."""
        return list(self._numbers)

    def sum(self) -> Any:
        """Return the sum of all."""
        return sum(self._numbers[1:], self._numbers[0])

    def _among(self) -> Number:
        """Return the largest number, the smallest, or the median."""
        return among(self._numbers)

    max = min = median = _among

    def sort_index(self) -> Series:
        """Sort by the keys."""
        return Series(*zip(*sorted(self.items(), key=lambda each: each[0]), strict=True))

    def cumsum(self) -> Series:
        """Return the sums up to each."""
        return Series(self._keys, self.to_numpy().cumsum())

    def astype(self, kind: Any) -> Series:
        """Return the same numbers: as floats; whole numbers stay what they are."""
        if kind not in (float, "float", "float64", np.float64):
            refuse("a conversion of private numbers to anything but float")
        return self

    def copy(self) -> Series:
        """Return the same numbers."""
        return self

    def _each(self, function: Callable[[Number], Any]) -> Series:
        return Series(self._keys, map(function, self._numbers))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Draw):
            return other.protect_all(self.to_numpy(), self._keys)
        if is_private(other) or shape_of(other):
            refuse("a sum of a series and another; pandas would align them by their keys")
        return self._each(lambda number: number + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Draw):
            return self + other if other.law != "gumbel" else refuse("numbers minus gumbel noise")
        if is_private(other) or shape_of(other):
            refuse("a difference of a series and another; pandas would align them by their keys")
        return self._each(lambda number: number - other)

    def __mul__(self, other: Any) -> Any:
        if is_private(other) or shape_of(other):
            refuse("a product of a series and another; pandas would align them by their keys")
        return self._each(lambda number: number * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if is_private(other) or shape_of(other):
            refuse("a ratio of private numbers; release both with noise of their own, and divide those")
        return self._each(lambda number: number / other)

    def __rmatmul__(self, matrix: Any) -> Any:
        return matrix @ self.to_numpy()

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return what a function of NumPy gives of the numbers alone."""
        if args[0] is not self:
            refuse(f"np.{function.__name__} of private numbers under keys; write .to_numpy()")
        if function in (np.asarray, np.array):
            return self.to_numpy()
        return function(self.to_numpy(), *args[1:], **kwargs)
