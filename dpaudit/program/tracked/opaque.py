"""What may be done with values row by row of which nothing is known? More of the same, and the nearest place.

Every operation here treats each row by itself: a record touches its own row, whatever the function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.tracked.columns import Column
from dpaudit.program.tracked.magnitude import of
from dpaudit.program.tracked.path import PATH, refuse
from dpaudit.program.tracked.private import Private
from dpaudit.program.tracked.released import is_private, shape_of
from dpaudit.program.tracked.rows import ColumnDomain, Rows

_LENGTHS = (97, 89)  # of two stand-ins: what fits both by its shape fits any number of rows
_ALONG = {
    np.sum: "sum", np.mean: "mean", np.max: "max", np.min: "min", np.argmin: "argmin", np.argmax: "argmax",
    np.linalg.norm: "norm",
}  # fmt: skip


class Opaque(Private):
    """A value for each row, of which only the shape is known: ``tail`` is that of one row."""

    inner = Private.inner | {"rows", "tail", "as_opaque", "finite"}

    def __init__(self, rows: Rows, tail: tuple[int, ...]) -> None:
        self.rows, self.tail = rows, tail

    def as_opaque(self) -> Opaque:
        """Return the same rows."""
        return self

    @property
    def T(self) -> Any:  # noqa: N802 - as NumPy calls it
        """Refuse a transpose."""
        return refuse("the transpose of private values without a known length; clip them first")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Return what an elementwise function gives."""
        if method != "__call__" or keywords or not is_numpys(ufunc):
            refuse(f"np.{ufunc.__name__} in this form of private rows")
        return by_rows(ufunc, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return what a function along the axes of each row gives."""
        if function is np.nan_to_num and len(args) == 1:
            refuse_infinite(kwargs)
            return self.finite()
        if function in _ALONG:
            return self._along(function, *args[1:], **kwargs)
        return refuse(f"np.{function.__name__} of private rows, which may not treat each by itself")

    def finite(self) -> Any:
        """Return the rows without NaN and infinities, as vectors that can be clipped."""
        from dpaudit.program.tracked.vectors import Vectors

        if len(self.tail) != 1:
            refuse("np.nan_to_num of rows that are no vectors")
        return Vectors(self.rows, self.tail[0])

    def _along(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not kwargs.keys() <= {"axis", "keepdims", "ord"} or len(args) > 1:
            refuse(f"np.{function.__name__} of private rows with other options than axis and keepdims")
        axis = kwargs.get("axis", args[0] if args and function is not np.linalg.norm else None)
        axes = axis if isinstance(axis, tuple) else (axis,)
        if any(not isinstance(each, int) or each % (len(self.tail) + 1) == 0 for each in axes):
            refuse("a sum or extreme over private rows; give an axis from 1 on, or clip the rows and sum those")
        found = _shapes(lambda value: function(value, *args, **kwargs), self)
        if function in (np.argmin, np.argmax) and not found and len(self.tail) == 1:
            return self._places(self.tail[0])
        return Opaque(self.rows, found)

    def _places(self, count: int) -> Column:
        """Return a column that may hold any of so many places."""
        name = f"=place {PATH.get().fresh()} of {count}"
        known = ColumnDomain(values=tuple(map(Fraction, range(count))), whole=True)
        self.rows.known[name] = known
        return Column(self.rows, name, of(Fraction(0)), of(Fraction(count - 1)), whole=True)

    def __getitem__(self, index: Any) -> Opaque:
        return Opaque(self.rows, _indexed(self, index))

    def _method(function: Any) -> Any:  # noqa: N805
        return lambda self, *args, **kwargs: self._along(function, *args, **kwargs)

    sum, mean, max, min, argmin, argmax = map(_method, (np.sum, np.mean, np.max, np.min, np.argmin, np.argmax))

    def __add__(self, other: Any) -> Any:
        return by_rows(np.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return by_rows(np.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return by_rows(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return by_rows(np.subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return by_rows(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return by_rows(np.multiply, other, self)

    def __truediv__(self, other: Any) -> Any:
        return by_rows(np.divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return by_rows(np.divide, other, self)

    def __pow__(self, other: Any) -> Any:
        return by_rows(np.power, self, other)

    def __neg__(self) -> Any:
        return by_rows(np.negative, self)

    def __abs__(self) -> Any:
        return by_rows(np.absolute, self)

    def __matmul__(self, other: Any) -> Any:
        if is_private(other):
            refuse("a product of private rows; clip both, and write x.T @ y")
        return by_rows(np.matmul, self, other)


def refuse_infinite(given: Mapping[str, Any]) -> None:
    """Refuse `np.nan_to_num` with something else than finite numbers for NaN and infinities."""
    if not given.keys() <= {"nan", "posinf", "neginf"} or not all(
        each is None or np.isfinite(float(each)) for each in given.values()
    ):
        refuse("np.nan_to_num that may leave NaN or infinities")


def is_numpys(ufunc: Any) -> bool:
    """Whether an elementwise function is one of NumPy's own: one that was made of Python code may remember rows."""
    return getattr(np, ufunc.__name__, None) is ufunc


def by_rows(function: Callable[..., Any], *values: Any) -> Opaque:
    """Return what a function gives that treats each row by itself."""
    rows = [value.rows for value in values if isinstance(value, Column) or hasattr(type(value), "as_opaque")]
    if any(each != rows[0] for each in rows):
        refuse("arithmetic of the rows of two frames")
    return Opaque(rows[0], _shapes(function, *values))


def _shapes(function: Callable[..., Any], *values: Any) -> tuple[int, ...]:
    """Return the shape of one row of a result."""
    tails = set()
    for length in _LENGTHS:
        try:
            with np.errstate(all="ignore"):
                shape = np.shape(function(*(_stand_in(value, length) for value in values)))
        except (ValueError, TypeError, IndexError) as error:
            refuse(f"private rows that do not go together: {error}")
        if not shape or shape[0] != length:
            refuse("private rows together with something that is not of one row, or the same for all")
        tails.add(shape[1:])
    if len(tails) > 1:
        refuse("private rows of a shape that hangs on how many there are")
    (tail,) = tails
    return tuple(map(int, tail))


def _stand_in(value: Any, length: int) -> Any:
    """Return an array of the same shape, with so many rows where there is one for each record."""
    if hasattr(type(value), "as_opaque"):
        return np.ones((length, *value.as_opaque().tail))
    if isinstance(value, Column):
        return np.ones(length)
    if is_private(value):
        refuse(f"private rows together with a private {type(value).__name__.lower()}")
    return np.ones(shape_of(value))


def _indexed(value: Any, index: Any) -> tuple[int, ...]:
    """Return the shape of one row after an index that keeps all rows in their order."""
    parts = index if isinstance(index, tuple) else (index,)
    plain = all(part is None or isinstance(part, int) or part in (slice(None), Ellipsis) for part in parts[1:])
    if parts[0] != slice(None) or not plain:
        refuse("a choice among private rows by something else than a mask")
    return _shapes(lambda stand_in: stand_in[index], value)
