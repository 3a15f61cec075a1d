"""What may be done with rows as vectors? Clip each by its Euclidean length, and then sum them or multiply them out."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.program.tracked.arrays import Numbers
from dpaudit.program.tracked.columns import Column
from dpaudit.program.tracked.magnitude import ONE, Magnitude, of
from dpaudit.program.tracked.movement import Ball
from dpaudit.program.tracked.opaque import Opaque, by_rows, is_numpys, refuse_infinite
from dpaudit.program.tracked.path import PATH, refuse
from dpaudit.program.tracked.private import Array, Private
from dpaudit.program.tracked.released import is_private, magnitude_of
from dpaudit.program.tracked.rows import Mask, Rows


class Vectors(Private):
    """One vector for each row.

    Attributes:
        rows: whose.
        width: how many numbers each has.
        radius: at most this long, in Euclidean length; None where nothing is known.
        columns: what it is made of, where it is the data itself.
        finite: whether no number is missing or infinite.
    """

    inner = Private.inner | {"rows", "width", "radius", "columns", "finite", "turned", "of_columns", "as_opaque"}

    def __init__(
        self,
        rows: Rows,
        width: int,
        radius: Magnitude | None = None,
        *,
        columns: list[Column] | None = None,
        finite: bool = True,
        turned: bool = False,
    ) -> None:
        self.rows, self.width, self.radius, self.columns = rows, width, radius, columns
        self.finite, self.turned = finite, turned

    @classmethod
    def of_columns(cls, rows: Rows, columns: list[Column]) -> Vectors:
        """Return the rows of several columns of numbers."""
        for column in columns:
            if column.low is None:
                refuse(
                    f"an array of rows with {column.name!r}, of which no bounds are known; choose columns of numbers"
                )
        return cls(rows, len(columns), columns=columns, finite=not any(column.missing for column in columns))

    @property
    def T(self) -> Vectors:  # noqa: N802 - as NumPy calls it
        """The transpose."""
        return Vectors(self.rows, self.width, self.radius, finite=self.finite, turned=not self.turned)

    def as_opaque(self) -> Opaque:
        """Return the same rows, of which only the shape is known."""
        return Opaque(self.rows, (self.width,))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Return what an elementwise function gives, of which nothing is known."""
        if self.turned and ufunc is np.matmul and len(inputs) == 2 and inputs[0] is self:
            return self @ inputs[1]
        if method != "__call__" or keywords or self.turned or not is_numpys(ufunc):
            refuse(f"np.{ufunc.__name__} in this form of private vectors")
        return by_rows(ufunc, *inputs)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, Mask):
            if index.rows != self.rows or self.turned:
                refuse("a mask of other rows")
            return Vectors(self.rows.kept(index.parts), self.width, self.radius, finite=self.finite)
        return self.as_opaque()[index]

    def __add__(self, other: Any) -> Any:
        return self._opaquely(np.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._opaquely(np.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._opaquely(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._opaquely(np.subtract, other, self)

    def __pow__(self, other: Any) -> Any:
        return self._opaquely(np.power, self, other)

    def _opaquely(self, function: Any, *values: Any) -> Any:
        if self.turned:
            refuse("arithmetic of transposed private vectors")
        return by_rows(function, *values)

    def _bounded(self) -> Magnitude:
        if not self.finite:
            refuse("vectors that may hold NaN or infinities, which a clip by length keeps; np.nan_to_num first")
        if self.radius is None:
            refuse(
                "vectors of unknown length; clip each: x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / r)"
            )
        return self.radius

    def _ball(self, radius: Magnitude, shape: tuple[int, ...]) -> Array:
        if len(self.rows.parts) != 1 or self.rows.most is None:
            refuse("a sum of vectors of rows that are chosen by 'or', or of which a person has any number")
        return Array(
            Ball(self.rows.parts[0], radius * of(magnitude_of(self.rows.most).coefficient)), self.rows.sample, shape
        )

    def sum(self, axis: int | None = None) -> Any:
        """Return the sum over all rows."""
        if axis != 0 or self.turned:
            refuse("a sum of vectors along another axis than the rows; write sum(axis=0)")
        if self.columns is not None and self.radius is None:
            return Numbers.of(column.sum() for column in self.columns)
        return self._ball(self._bounded(), (self.width,))

    def __matmul__(self, other: Any) -> Any:
        if not is_private(other) and not self.turned:
            return by_rows(np.matmul, self, other)
        if not isinstance(other, Vectors) or not self.turned or other.turned or other.rows != self.rows:
            refuse("a product of private vectors that is no x.T @ y of the same rows")
        return self._ball(self._bounded() * other._bounded(), (self.width, other.width))

    def __truediv__(self, divisor: Any) -> Any:
        if isinstance(divisor, Shrink) and divisor.vectors is self:
            if not divisor.column:
                refuse("vectors divided by their lengths as a row; keep the column: [:, None] or keepdims=True")
            return Vectors(self.rows, self.width, divisor.radius, finite=self.finite)
        if isinstance(divisor, Shrink):
            refuse("vectors divided by the lengths of others")
        if is_private(divisor) or np.shape(divisor):
            return self._opaquely(np.divide, self, divisor)
        given = magnitude_of(divisor)
        if given.is_zero:
            refuse("a division of private vectors by 0, which gives NaN and infinities")
        return self * (1 / given.coefficient) if not given.unit else refuse("vectors divided by a released number")

    def __mul__(self, factor: Any) -> Any:
        if is_private(factor) or np.shape(factor):
            return self._opaquely(np.multiply, self, factor)
        given = magnitude_of(factor)
        if given.unit and not PATH.get().is_positive(given.unit):
            refuse("a product with a released number that may be negative")
        radius = None if self.radius is None else self.radius * of(abs(given.coefficient), given.unit)
        return Vectors(self.rows, self.width, radius, finite=self.finite)

    __rmul__ = __mul__

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return what an array function gives of private vectors."""
        if function is np.linalg.norm:
            given = dict(zip(("ord", "axis", "keepdims"), args[1:], strict=False)) | kwargs
            if given.get("ord") not in (None, 2) or given.get("axis") != 1:
                refuse("np.linalg.norm of private vectors in another form than axis=1")
            return Shrink(self, None, column=bool(given.get("keepdims", False)))
        if function is np.nan_to_num:
            refuse_infinite(kwargs)
            return Vectors(self.rows, self.width, finite=True)
        if function is np.sum:
            return self.sum(*args[1:], **kwargs)
        return refuse(f"np.{function.__name__} of private vectors, whose stability is not known")


class Shrink(Private):
    """By how much each vector is divided: its length, over a radius, or 1 where that is less."""

    inner = Private.inner | {"vectors", "over", "column", "radius"}

    def __init__(
        self, vectors: Vectors, over: Magnitude | None, *, column: bool, radius: Magnitude | None = None
    ) -> None:
        self.vectors, self.over, self.column, self.radius = vectors, over, column, radius

    def __truediv__(self, radius: Any) -> Shrink:
        given = magnitude_of(radius)
        if self.over is not None or given.coefficient <= 0 or not PATH.get().is_positive(given.unit):
            refuse("lengths of vectors over a number that may not be positive")
        return Shrink(self.vectors, given, column=self.column)

    def __getitem__(self, index: Any) -> Shrink:
        if index != (slice(None), None):
            refuse("a choice among the lengths of private vectors")
        return Shrink(self.vectors, self.over, column=True, radius=self.radius)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Return the larger of 1 and the lengths over the radius."""
        one = next((each for each in inputs if each is not self), None)
        plain = ufunc is np.maximum and method == "__call__" and not keywords and len(inputs) == 2
        if not plain or is_private(one) or magnitude_of(one) != ONE:
            refuse("lengths of private vectors in another form than np.maximum(1, lengths / radius)")
        return Shrink(self.vectors, self.over, column=self.column, radius=self.over or ONE)
