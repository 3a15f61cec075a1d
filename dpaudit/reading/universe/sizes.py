"""What is the number of records where records are replaced? Public: both datasets have as many, and at least one.

A released number that is a multiple of a power of it remembers so: a total divided by it moves the less, the more
records there are, and noise whose scale is divided by it hides just that, whatever the number is. An empty dataset has
no neighbour, so that nothing that is said of one record or more is wrong of it.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe import cells, numbers, steps
from dpaudit.reading.universe.columns import Column, TableRows, plain
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.state import current, refuse, refuse_by_name
from dpaudit.reading.universe.values import NP_FLOAT, NP_INT, Token, combined, number

_MOST_POWER = 4


@dataclass(frozen=True, slots=True)
class Size:
    """factor · nᵖ, of the number n of records."""

    factor: float  # not 0
    power: Fraction
    number: Number  # n, as a private number, of whose rows there may be one draw each


def length(rows: TableRows) -> Any:
    """Return how many rows there are: a private number, or a released one of all records where those are replaced."""
    many, state = numbers.length_of(rows), current()
    is_public = state.replaced and state.person is None and rows.has_all and rows.sample is None
    if not is_public or rows.selection.kind != "record":
        return many
    public_length = number("int")
    public_length.size = Size(1.0, Fraction(1), many)
    return public_length


def as_number(value: Any) -> Any:
    """Return the number of records as a private number, of whose rows there may be one draw each; all else as it is."""
    size = value.size if isinstance(value, Token) else None
    return size.number if size is not None and (size.factor, size.power) == (1, 1) else value


def same(token: Token, of: Any) -> Token:
    """Return a released number that is the same as a value, perhaps of another type."""
    token.size = of.size if isinstance(of, Token) else None
    return token


def operated(name: str, left: Any, right: Any) -> Token | None:
    """Return a product, a quotient or a power of the number of records; None of all else."""
    many = next((each.size.number for each in (left, right) if isinstance(each, Token) and each.size is not None), None)
    sides = [each.size if isinstance(each, Token) else _plain(each, many) for each in (left, right)]
    one, other = sides
    if many is None or one is None or other is None:
        return None
    if name == "mul":
        size = Size(one.factor * other.factor, one.power + other.power, one.number)
    elif name == "truediv":
        size = Size(one.factor / other.factor, one.power - other.power, one.number)
    elif name == "pow" and not other.power and one.factor > 0 and abs(other.factor) <= _MOST_POWER:
        size = Size(one.factor**other.factor, one.power * cells.simple(other.factor), one.number)
    else:
        return None
    if not 0 < abs(size.factor) < math.inf or abs(size.power) > _MOST_POWER:
        return None
    token = combined(name, left, right)
    token.size = size
    return token


def _plain(value: Any, many: Any) -> Size | None:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return Size(float(value), Fraction(0), many) if is_number and value != 0 and abs(value) < math.inf else None


def called(function: Any, name: str, args: tuple[Any, ...], keywords: Any) -> Token | None:
    """Return the root of a multiple of the number of records, or the larger of it and 1; None of other calls."""
    if keywords or not any(isinstance(each, Token) and each.size is not None for each in args):
        return None
    if name == "sqrt" and len(args) == 1:
        return same(number("float" if function is math.sqrt else "np.float64"), operated("pow", args[0], 0.5))
    many = at_least_1(*args) if name == "maximum" and len(args) == 2 else None
    is_whole = {type(each) for each in args} == {Token, int} and many is not None and many.kinds == frozenset(("int",))
    return None if many is None else same(number("np.int64" if is_whole else "np.float64"), many)


def inverse(token: Token) -> Token:
    """Return 1 over a multiple of a power of the number of records."""
    size, reciprocal = token.size, number()
    reciprocal.size = Size(1 / size.factor, -size.power, size.number)
    return reciprocal


def at_least_1(*values: Any) -> Token | None:
    """Return the number of records as ``max(n, 1)``; None of other values."""
    for value, other in (values, values[::-1]):
        if isinstance(value, Token) and as_number(value) is not value and type(other) in (int, float) and other <= 1:
            return value
    return None


def unit(scale: Any) -> tuple[Any, Fraction]:
    """Return a scale of noise in units of a power of the number of records, by which it is divided, and that power."""
    size = scale.size if isinstance(scale, Token) else None
    return (scale, Fraction(0)) if size is None else (size.factor, -size.power)


def shown(per: Fraction) -> str:
    """Return in what units of the number n of records noise is, for people."""
    if not per:
        return ""
    power = {Fraction(1): "n", Fraction(1, 2): "√n"}.get(per, f"n^({per})")
    return f" (in units of 1/{power}, of n records)"


def over(total: Number, token: Token) -> Number:
    """Return a private number divided by a multiple of a power of the number of records."""
    size = token.size
    quotient = total.times(1.0 / size.factor)
    kinds = frozenset(("float" if total.kinds <= {"int", "float"} else "np.float64",))
    quotient = quotient.same(is_whole=False, kinds=kinds)
    quotient.per = total.per + size.power
    if not quotient.is_plain:
        quotient.terms = None
    if quotient.known is None:
        return quotient
    least, most, _ = quotient.known
    if size.power > 0:
        least, most = np.minimum(least, 0.0), np.maximum(most, 0.0)
    elif size.power < 0:
        least, most = (np.where(end * sign >= 0, 0.0, -sign * np.inf) for end, sign in ((least, 1), (most, -1)))
    column = total.summand
    if size.power == 1 and column is not None and column.rows.has_all and _is_there(column):
        least, most = np.sort([plain(column.low).min() / size.factor, plain(column.high).max() / size.factor])
    quotient.known = numbers.spanned(*numbers.widened_range(least, most))
    return quotient


def _is_there(column: Column) -> bool:
    """Whether every record has a number."""
    return len(column.low) > 0 and not np.isnan(plain(column.low).astype(float)).any()


def column_sum(column: Column) -> Number:
    """Return ``column.sum()``."""
    low, high = plain(column.low), plain(column.high)
    is_of_numbers = column.none is not None and plain(column.none).dtype.kind in "ifb"
    if not column.is_stable and not is_of_numbers:
        refuse("a sum of a column whose type hangs on the data, as that of an empty table does", ".astype(float).sum()")
    if low.dtype.kind not in "ifb":
        refuse(f"a sum of a column of type {column.low.dtype}", "numbers")
    refuse_to_wrap(low, high)
    whole = low.dtype.kind in "ib" or (column.is_exact and bool(np.all((low == np.round(low)) | np.isnan(low))))
    kinds = NP_INT if low.dtype.kind in "ib" else None
    kinds = kinds if column.is_stable else frozenset(("np.int64", "np.float64"))
    low, high = low.astype(float), high.astype(float)
    if column.is_series:  # pandas leaves out what is missing
        low, high = np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 0.0, high)
    total = numbers.summed_of(
        column.rows, column.space, low, high, whole=whole, labels=None, columns=None, kinds=kinds,
        made=steps.total(column.rows.made, column.step(), plain(column.low)), is_sum=True,
    )  # fmt: skip
    total.summand = column if column.is_series else None
    return total


def refuse_to_wrap(*ends: Any) -> None:
    """Refuse a sum over records of whole numbers that may wrap, or of floats of a small type, which are rounded."""
    for end in map(plain, ends):
        if end.dtype.kind == "f" and end.dtype.itemsize < 8:
            refuse(f"a sum of numbers of the type {end.dtype}, at which it is rounded, and overflows", ".astype(float)")
        if end.dtype.kind == "i" and max(-int(end.min(initial=0)), int(end.max(initial=0))) > 2**31:
            refuse("a sum of whole numbers so large that it may wrap", ".astype(float).sum()")


def row_sum(column: Column, *, is_series: bool = False) -> Column:
    """Return the sum of each record's row of numbers."""
    if np.isnan(column.low).any():
        refuse("a sum over columns of which one may be missing", ".fillna(0) first")
    wrap = pd.Series if is_series else np.asarray
    low = wrap(column.low.sum(1))
    return column.with_values(column.space, low, None if column.is_exact else wrap(column.high.sum(1)))


def mean(column: Column) -> Number:
    """Return the mean of a column of all records, of which it is public how many there are."""
    many = _many(column, "mean")
    return over(column_sum(column), many).same(kinds=NP_FLOAT)


def variance(column: Column, ddof: Any) -> Number:
    """Return the variance of a column of all records.

    The sum of squared deviations is Σ (xᵢ − xⱼ)²/n over pairs; n − 1 of them hang on a record, and lie between 0 and
    the square of the range, so that it moves by (n − 1)/n of that square. Over n, or n − 1, that is at most 1/n of it.
    """
    many = _many(column, "var")
    if type(ddof) is not int or ddof not in (0, 1) or plain(column.low).dtype.kind not in "ifb" or not column.is_stable:
        refuse_by_name("var", "a private column")
    are_errors = any(action == "error" for action, *_ in warnings.filters)
    if ddof and not column.is_series and are_errors:  # NumPy warns of one record, and pandas does not
        refuse("a variance over n - 1 where warnings are errors, as that of one record is", "ddof=0")
    square = (float(plain(column.high).max()) - float(plain(column.low).min())) ** 2
    far, step = np.full(len(column.space), square), column.step()
    made = None if column.rows.made is None or step is None else steps.MadeStep("deviations", (column.rows.made, step))
    known: Any = {"whole": False, "labels": None, "columns": None, "kinds": NP_FLOAT, "made": made}
    total = numbers.summed_of(column.rows, column.space, 0 * far, far, **known)
    total.known = numbers.spanned(0.0, np.inf)
    moved = over(total, many)
    moved.known = numbers.spanned(*numbers.widened_range(0.0, square / (2 if ddof else 4)))
    return moved


def _many(column: Column, name: str) -> Token:
    """Return how many records there are, where that is public and each has a number."""
    many = length(column.rows)
    if not isinstance(many, Token) or column.width or not _is_there(column):
        refuse_by_name(name, "a private column")
    return many
