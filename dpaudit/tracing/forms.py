"""Which numbers are offset + Σ coefficient·noise, and what do sums, multiples and picks of them make of that?

A `Form` holds n numbers at once; its terms are kept in order, so that equal forms are equal arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.arrays import Floats

Whole = np.ndarray[Any, np.dtype[np.int64]]

# the functions of NumPy that are used while a target runs, when its own names are replaced
_array, _asarray, _zeros, _full, _ones = np.array, np.asarray, np.zeros, np.full, np.ones
_concatenate, _lexsort, _arange, _repeat = np.concatenate, np.lexsort, np.arange, np.repeat
_bincount, _searchsorted, _cumsum, _flatnonzero = np.bincount, np.searchsorted, np.cumsum, np.flatnonzero
_NONE: Whole = np.zeros(0, dtype=np.int64)
_NO_NUMBERS: Floats = np.zeros(0)


class Form:
    """n numbers: number i is offset[i] + Σ coefficient[t]·noise[column[t]] over the terms t with row[t] = i.

    Attributes:
        offset: (n,) what the data and constants give.
        row, column: (terms,) in the order of rows, and of columns within a row; each place once.
        coefficient: (terms,), none of them 0.
    """

    __slots__ = ("coefficient", "column", "offset", "row")

    def __init__(self, offset: Floats, row: Whole, column: Whole, coefficient: Floats) -> None:
        self.offset, self.row, self.column, self.coefficient = offset, row, column, coefficient

    @classmethod
    def constant(cls, values: Any) -> Form:
        """Numbers without noise."""
        return cls(_array(values, dtype=np.float64).reshape(-1), _NONE, _NONE, _NO_NUMBERS)

    @classmethod
    def noise(cls, offset: Floats, first: int) -> Form:
        """Numbers with a noise of their own each; their columns count from ``first``."""
        size = len(offset)
        return cls(offset, _arange(size), _arange(first, first + size), _ones(size))

    @classmethod
    def joined(cls, forms: Sequence[Form]) -> Form:
        """The numbers of several forms, one after the other."""
        if len(forms) == 1:
            return forms[0]
        if not forms:
            return cls(_NO_NUMBERS, _NONE, _NONE, _NO_NUMBERS)
        starts = _cumsum([0, *(len(each) for each in forms)])
        return cls(
            _concatenate([each.offset for each in forms]),
            _concatenate([each.row + start for each, start in zip(forms, starts, strict=False)]),
            _concatenate([each.column for each in forms]),
            _concatenate([each.coefficient for each in forms]),
        )

    def __len__(self) -> int:
        return len(self.offset)

    @property
    def is_noisy(self) -> bool:
        """Whether any noise is in it."""
        return len(self.row) > 0

    def noisy_rows(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(n,) whether there is noise in each number."""
        found = _zeros(len(self), dtype=bool)
        found[self.row] = True
        return found

    def plus(self, other: Form, sign: float = 1.0) -> Form:
        """Return the sums, number by number; with ``sign`` −1 the differences."""
        offset = self.offset + sign * other.offset
        if not other.is_noisy:
            return Form(offset, self.row, self.column, self.coefficient)
        if not self.is_noisy:
            return Form(offset, other.row, other.column, sign * other.coefficient)
        return _collected(
            offset,
            _concatenate([self.row, other.row]),
            _concatenate([self.column, other.column]),
            _concatenate([self.coefficient, sign * other.coefficient]),
        )

    def times(self, factors: Floats) -> Form:
        """Return each number times its factor; factors: (n,)."""
        scaled = self.coefficient * factors[self.row]
        found = Form(self.offset * factors, self.row, self.column, scaled)
        return found if scaled.all() else found._without_zeros()

    def over(self, divisors: Floats) -> Form:
        """Return each number divided by its divisor; divisors: (n,)."""
        found = Form(self.offset / divisors, self.row, self.column, self.coefficient / divisors[self.row])
        return found if found.coefficient.all() else found._without_zeros()

    def take(self, places: Whole) -> Form:
        """Return the numbers at these places, in this order; a place may come again."""
        if not self.is_noisy:
            return Form(self.offset[places], _NONE, _NONE, _NO_NUMBERS)
        begin = _searchsorted(self.row, places, side="left")
        count = _searchsorted(self.row, places, side="right") - begin
        row = _repeat(_arange(len(places)), count)
        within = _arange(len(row)) - _repeat(_cumsum(count) - count, count)
        terms = _repeat(begin, count) + within
        return Form(self.offset[places], row, self.column[terms], self.coefficient[terms])

    def put(self, places: Whole, other: Form) -> Form:
        """Return the numbers with those of ``other`` at these places."""
        order = _arange(len(self))
        order[places] = len(self) + _arange(len(places))
        return Form.joined([self, other]).take(order)

    def summed(self, groups: Whole, count: int) -> Form:
        """Return ``count`` sums, each of the numbers of its group; groups: (n,) from 0."""
        offset = _asarray(_bincount(groups, weights=self.offset, minlength=count), dtype=np.float64)
        return _collected(offset, groups[self.row], self.column, self.coefficient)

    def at(self, noise: Floats) -> Floats:
        """(n,) the numbers at this noise."""
        with np.errstate(over="ignore", invalid="ignore"):  # of the largest floats
            terms = self.coefficient * noise[self.column]
            return _asarray(self.offset + _bincount(self.row, weights=terms, minlength=len(self)), dtype=np.float64)

    def same_terms(self, other: Form) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(n,) whether each number has the same noise with the same coefficients in both, up to rounding."""
        found = _ones(len(self), dtype=bool)
        if len(self.row) == len(other.row) and (self.row == other.row).all() and (self.column == other.column).all():
            found[self.row[~close(self.coefficient, other.coefficient)]] = False
            return found
        unlike = self.plus(other, -1.0)
        size = _zeros(len(self))
        np.maximum.at(size, self.row, abs(self.coefficient))
        far = abs(unlike.coefficient) > _ROUNDING * size[unlike.row]
        found[unlike.row[far]] = False
        return found

    def _without_zeros(self) -> Form:
        kept = _flatnonzero(self.coefficient)
        return Form(self.offset, self.row[kept], self.column[kept], self.coefficient[kept])


_ROUNDING = 1e-9  # by which sums in another order may differ


def close(one: Any, other: Any, scale: Any = 0.0) -> Any:
    """Whether numbers are equal up to rounding, element by element; equal infinities are, and NaN with NaN."""
    with np.errstate(all="ignore"):
        near = abs(one - other) <= _ROUNDING * np.maximum(np.maximum(abs(one), abs(other)), scale)
    return near | (one == other) | ((one != one) & (other != other))


def _collected(offset: Floats, row: Whole, column: Whole, coefficient: Floats) -> Form:
    """Put terms in order, and add those of one place."""
    if len(row) == 0:
        return Form(offset, row, column, coefficient)
    order = _lexsort((column, row))
    row, column, coefficient = row[order], column[order], coefficient[order]
    first = _ones(len(row), dtype=bool)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    if first.all():
        return Form(offset, row, column, coefficient)
    starts = _flatnonzero(first)
    summed = np.add.reduceat(coefficient, starts)
    size = np.maximum.reduceat(abs(coefficient), starts)
    kept = abs(summed) > 1e-15 * size  # what cancels but for rounding is gone
    return Form(offset, row[starts][kept], column[starts][kept], summed[kept])
