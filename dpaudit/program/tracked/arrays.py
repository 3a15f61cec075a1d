"""What may be done with an array of private numbers? Linear things, entry by entry, and noise.

The array is no NumPy array: what an array shows besides its numbers (their type, their bytes, another name of the same
memory) is private in a run, and would be public in a reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dpaudit.program.tracked.draw import Draw
from dpaudit.program.tracked.path import refuse
from dpaudit.program.tracked.private import Additive, Number, Private, among
from dpaudit.program.tracked.released import ReleasedArray, ReleasedNumber, is_private

_KNOWN = {
    np.sum, np.cumsum, np.reshape, np.ravel, np.transpose, np.concatenate, np.stack, np.vstack, np.hstack, np.diff,
    np.flip, np.dot, np.append, np.column_stack, np.atleast_1d, np.squeeze,
}  # fmt: skip
"""Functions of NumPy that give each entry as a sum of entries, whatever they are."""


class Numbers(Additive):
    """An array of private numbers, of a public shape."""

    inner = Private.inner | {"cells", "of"}

    def __init__(self, cells: Any) -> None:
        self.cells = cells

    def shown_class(self) -> Any:
        """Return the type that it has in a run."""
        return np.ndarray

    @classmethod
    def of(cls, numbers: Iterable[Any]) -> Numbers:
        """Return an array with one axis."""
        return cls(_array(list(numbers)))

    @property
    def shape(self) -> tuple[int, ...]:
        """How long each axis is."""
        return tuple(self.cells.shape)

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return int(self.cells.ndim)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return int(self.cells.size)

    @property
    def T(self) -> Any:  # noqa: N802 - as NumPy calls it
        """The transpose."""
        return Numbers(self.cells.T)

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self.cells)))

    def __getitem__(self, index: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        for part in parts:
            if is_private(part) or isinstance(part, ReleasedNumber | ReleasedArray):
                refuse("a choice among private numbers by what is private or released; choose by noise.select")
        return _made(self.cells[index])

    # --- NumPy's methods ---------------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Numbers:
        """Return the same numbers in another shape."""
        return Numbers(self.cells.reshape(*shape))

    def ravel(self) -> Numbers:
        """Return the same numbers along one axis."""
        return Numbers(self.cells.ravel())

    flatten = ravel

    def transpose(self) -> Numbers:
        """Return the transpose."""
        return Numbers(self.cells.T)

    def copy(self) -> Numbers:
        """Return the same numbers, which cannot be changed."""
        return self

    def sum(self, axis: Any = None) -> Any:
        """Return the sum of all, or along an axis."""
        if not self.size:
            refuse("a sum of no private numbers")
        return _made(self.cells.sum(axis=axis))

    def cumsum(self, axis: Any = None) -> Numbers:
        """Return the sums up to each."""
        return Numbers(self.cells.cumsum(axis=axis))

    def dot(self, other: Any) -> Any:
        """Return the product with a public matrix."""
        return self @ other

    def tolist(self) -> list[Any]:
        """Return a list of the numbers."""
        return list(self.cells.tolist())

    def _among(self, axis: Any = None) -> Any:
        """Return the largest of all, or the smallest: which one it is nobody sees."""
        if axis is not None or not self.size:
            refuse(
                "an extreme of private numbers along an axis, or of none; take that of all, or write max() of a list"
            )
        return among(self.tolist() if self.ndim == 1 else self.ravel().tolist())

    max = min = _among

    def astype(self, kind: Any) -> Numbers:
        """Return the same numbers: as floats."""
        if kind not in (float, "float", "float64", np.float64):
            refuse("a conversion of private numbers to anything but float")
        return self

    # --- arithmetic --------------------------------------------------------------------------------------

    def _each(self, function: Callable[[Any, Any], Any], other: Any) -> Numbers:
        """Apply a function to each number and its fellow."""
        if isinstance(other, Numbers):
            fellows = other.cells
        elif isinstance(other, ReleasedArray):
            fellows = np.empty(other.shape, dtype=object)
            for place in np.ndindex(*other.shape):
                fellows[place] = other.entry(place)
        elif isinstance(other, Number | ReleasedNumber):
            fellows = _array([other]).reshape(())
        elif is_private(other):
            return refuse(f"arithmetic of private numbers and a private {type(other).__name__.lower()}")
        else:
            fellows = np.asarray(other)
            if fellows.dtype.kind not in "biuf":
                refuse("arithmetic of private numbers and what are no numbers")
        ours, theirs = np.broadcast_arrays(self.cells, fellows)
        found = np.empty(ours.shape, dtype=object)
        for place in np.ndindex(*ours.shape):
            found[place] = function(ours[place], theirs[place])
        return Numbers(found)

    def _plus(self, other: Any, sign: int) -> Any:
        if isinstance(other, Draw):
            if sign < 0 and other.law == "gumbel":
                refuse("numbers minus gumbel noise, whose law is not symmetric")
            return other.protect_all(self, None)
        return self._each(Number.__add__ if sign > 0 else Number.__sub__, other)

    def __neg__(self) -> Numbers:
        return self._each(lambda number, _: -number, 0)

    def __pos__(self) -> Numbers:
        return self

    def __abs__(self) -> Numbers:
        return self._each(lambda number, _: abs(number), 0)

    def __mul__(self, other: Any) -> Any:
        return self._each(Number.__mul__, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._each(Number.__truediv__, other)

    def __matmul__(self, other: Any) -> Any:
        return _made(self.cells @ _matrix(other))

    def __rmatmul__(self, other: Any) -> Any:
        return _made(_matrix(other) @ self.cells)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return what a function of NumPy gives that adds entries up, moves them, or takes one in their order."""
        if function in (np.max, np.min, np.median) and len(args) == 1 and not kwargs and args[0] is self:
            return self._among()
        if function not in _KNOWN or not kwargs.keys() <= {"axis"}:
            named = f"np.{function.__name__}"
            refuse(f"{named} of private numbers, whose stability is not known; release them, and compute with those")
        given = [_bare(each) for each in args]
        return _made(function(*given, **kwargs))


def _array(numbers: list[Any]) -> Any:
    found = np.empty(len(numbers), dtype=object)
    for place, each in enumerate(numbers):
        found[place] = each
    return found


def _made(found: Any) -> Any:
    if not isinstance(found, np.ndarray):
        return found
    if not all(isinstance(each, Number) for each in found.flat):
        refuse("an array of private numbers and others; keep them apart")
    return Numbers(found)


def _bare(value: Any) -> Any:
    if isinstance(value, Numbers):
        return value.cells
    if isinstance(value, list | tuple):
        return type(value)(map(_bare, value))
    if isinstance(value, Number):
        return _array([value]).reshape(())
    if is_private(value) or isinstance(value, ReleasedNumber | ReleasedArray):
        refuse("an array of private numbers and others; keep them apart")
    return value.astype(object) if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" else value


def _matrix(value: Any) -> Any:
    if is_private(value):
        refuse("a product of private values; release both, and multiply those")
    if isinstance(value, ReleasedNumber | ReleasedArray):
        refuse("a product of private numbers and a released matrix, whose entries may be anything")
    given = np.asarray(value)
    if given.dtype.kind not in "biuf":
        refuse("a product of private numbers and what is no matrix of numbers")
    return given.astype(object)


def array_of(make: Callable[..., Any], value: Any, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return an array as a function of NumPy makes it, of a list with private or released numbers in it."""
    leaves = list(_leaves(value))
    privately = any(map(is_private, leaves))
    if not privately and not any(isinstance(each, ReleasedNumber | ReleasedArray) for each in leaves):
        return make(value, *given, **options)
    kind = options.pop("dtype", given[0] if given else None)
    if kind not in (None, float, "float", "float64", np.float64) or options:
        refuse("an array of private or released numbers that is converted; leave the options out")
    if isinstance(value, Private) and not isinstance(value, Number):
        if isinstance(value, Numbers):
            return value
        return value.__array_function__(np.asarray, (), (value,), {})
    if not privately:
        from dpaudit.program.tracked.released import released_array

        return released_array(value)
    if isinstance(value, Number):
        return _made(_array([value]).reshape(()))
    if not all(isinstance(each, Number | Numbers) for each in leaves):
        refuse("an array that mixes private numbers with others")
    return _rows(value)


def _rows(value: Any) -> Any:
    if isinstance(value, Numbers):
        return value
    return Numbers.of(value) if all(isinstance(each, Number) for each in value) else np.stack(list(map(_rows, value)))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value
