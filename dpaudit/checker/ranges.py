"""What can an operation make of values of which only the ends are known? Exact arithmetic with open and closed ends.

A value is a number, a text or a truth; None where it is missing; a `NumberRange`, which may besides be missing; or
`EITHER` truth. An operation returns all that it can make of its values, and perhaps more.
"""

from __future__ import annotations

import itertools
import math
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.checker.reading import (
    MOST_COLUMNS,
    CertificateError,
    ForgedError,
    fields,
    items,
    point,
    rational,
    shown,
    text,
)
from dpaudit.checker.reals import exponential, logarithm, root

Number = Any
"""A whole number as an int, any other as a fraction; a float only for what has no end."""
_MOST_BITS = 1_000  # of a numerator or denominator
_ROUGH = Fraction(1, 2**50)  # relative; by more than one operation on floats, and writing one as a decimal, are off
_MOST_EXPONENT = 1_000


class _Either:
    """A truth of which both are possible."""


EITHER: Final = _Either()
Value = Any
"""int | Fraction | str | bool | None | Range | EITHER."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """All numbers between two ends; an open end does not belong to it. Without an end: an infinite one, open."""

    low: Number
    high: Number
    low_open: bool = False
    high_open: bool = False
    missing: bool = False

    @staticmethod
    def of(value: Value) -> NumberRange:
        """Return a number or a range as a range."""
        return value if type(value) is NumberRange else NumberRange(value, value)

    @property
    def value(self) -> Value:
        """The number where it is one."""
        return self.low if self.low == self.high and not self.missing else self

    def holds(self, number: Number) -> bool:
        """Whether a number belongs to it."""
        above = self.low < number or (self.low == number and not self.low_open)
        return above and (number < self.high or (number == self.high and not self.high_open))


def plain(number: Number) -> Number:
    """Return a fraction that is a whole number as one."""
    if type(number) is Fraction:
        if max(abs(number.numerator), number.denominator).bit_length() > _MOST_BITS:
            raise CertificateError("numbers of more than 300 digits: give rounder ones")
        return number.numerator if number.denominator == 1 else number
    if type(number) is int and number.bit_length() > _MOST_BITS:
        raise CertificateError("numbers of more than 300 digits: give rounder ones")
    return number


def _made(low: Number, high: Number, low_open: bool, high_open: bool) -> NumberRange:
    low, high = plain(low), plain(high)
    return NumberRange(low, high, low_open or low == -math.inf, high_open or high == math.inf)


def on_numbers(
    function: Callable[..., NumberRange], on_points: Callable[..., Number] | None = None
) -> Callable[..., Value]:
    """Return a function of ranges as one of values: what it is made of is missing where one of them is.

    Args:
        function: of ranges.
        on_points: the same of numbers, which is quicker.
    """

    def applied(*values: Value) -> Value:
        if on_points is not None and all(type(value) in _POINTS for value in values):
            return plain(on_points(*values))
        if any(value is None for value in values):
            return None
        ranges = [NumberRange.of(value) for value in values]
        result = function(*ranges)
        return replace(result, missing=True) if any(each.missing for each in ranges) else result.value

    return applied


_POINTS = (int, Fraction)


def hull(one: Value, other: Value) -> Value:
    """Return what may be either of two values."""
    if one is other or (type(one) is type(other) and one == other):
        return one
    if isinstance(one, str) or isinstance(other, str):
        raise CertificateError("a text of which it is not known which of two it is")
    if isinstance(one, bool | _Either) or isinstance(other, bool | _Either):
        return EITHER
    if one is None or other is None:
        return replace(NumberRange.of(other if one is None else one), missing=True)
    left, right = NumberRange.of(one), NumberRange.of(other)
    low = min((left.low, left.low_open), (right.low, right.low_open))
    high = max((left.high, not left.high_open), (right.high, not right.high_open))
    return NumberRange(low[0], high[0], low[1], not high[1], left.missing or right.missing)


def rough(value: Value) -> Value:
    """Return what a number may be once it was rounded as floats are."""
    if value is None or value == 0:
        return value
    given = NumberRange.of(value)
    low, high = given.low - abs(given.low) * _ROUGH, given.high + abs(given.high) * _ROUGH
    return replace(_made(low, high, False, False), missing=given.missing)


# --- arithmetic ---------------------------------------------------------------------------------------------


def add(one: NumberRange, other: NumberRange) -> NumberRange:
    """x + y."""
    return _made(
        one.low + other.low, one.high + other.high, one.low_open or other.low_open, one.high_open or other.high_open
    )


def negative(one: NumberRange) -> NumberRange:
    """−x."""
    return NumberRange(-one.high, -one.low, one.high_open, one.low_open)


def subtract(one: NumberRange, other: NumberRange) -> NumberRange:
    """x − y."""
    return add(one, negative(other))


def multiply(one: NumberRange, other: NumberRange) -> NumberRange:
    """x·y."""
    corners = []
    for left, left_open in ((one.low, one.low_open), (one.high, one.high_open)):
        for right, right_open in ((other.low, other.low_open), (other.high, other.high_open)):
            closed_zero = (left == 0 and not left_open) or (right == 0 and not right_open)
            product = 0 if left == 0 or right == 0 else left * right
            corners.append((product, (left_open or right_open) and not closed_zero))
    low = min(corners)
    high = max((product, not is_open) for product, is_open in corners)
    return _made(low[0], high[0], low[1], not high[1])


def divide(one: NumberRange, other: NumberRange) -> NumberRange:
    """x/y."""
    if other.low < 0 < other.high or other.holds(0):
        raise CertificateError("a quotient by what may be 0")
    ends = [(other.high, other.high_open, 1), (other.low, other.low_open, -1)]
    inverse: list[tuple[Number, bool]] = []
    for end, is_open, side in ends:
        if end in (math.inf, -math.inf):
            inverse.append((0, True))
        elif end == 0:  # open: from below as the high end, from above as the low one
            inverse.append((-math.inf if side == 1 else math.inf, True))
        else:
            inverse.append((1 / Fraction(end), is_open))
    return multiply(one, _made(inverse[0][0], inverse[1][0], inverse[0][1], inverse[1][1]))


def _floor(end: Number) -> Number:
    return end if type(end) is float else math.floor(end)


def _ceil(end: Number) -> Number:
    return end if type(end) is float else math.ceil(end)


def floor(one: NumberRange) -> NumberRange:
    """The largest whole number that is at most x."""
    return _made(_floor(one.low), _ceil(one.high) - 1 if one.high_open else _floor(one.high), False, False)


def ceil(one: NumberRange) -> NumberRange:
    """The smallest whole number that is at least x."""
    return negative(floor(negative(one)))


def truncate(one: NumberRange) -> NumberRange:
    """X without its digits after the point."""
    low = floor(one).low if one.low >= 0 else ceil(one).low
    high = ceil(one).high if one.high <= 0 else floor(one).high
    return _made(low, high, False, False)


def floor_divide(one: NumberRange, other: NumberRange) -> NumberRange:
    """⌊x/y⌋."""
    return floor(divide(one, other))


def remainder(one: NumberRange, other: NumberRange) -> NumberRange:
    """x − y·⌊x/y⌋, which has the sign of y."""
    times = floor_divide(one, other)
    if times.low == times.high and other.low == other.high:
        return subtract(one, multiply(times, other))
    low, high = (0, other.high) if other.low >= 0 else (other.low, 0)
    return _made(low, high, other.low < 0, other.low >= 0)


def rounded(one: NumberRange, digits: int) -> NumberRange:
    """X to so many digits after the point, halves to even ones."""
    return _made(_round(one.low, digits), _round(one.high, digits), False, False)


def _round(end: Number, digits: int) -> Number:
    return end if type(end) is float else round(Fraction(end), digits)


def absolute(one: NumberRange) -> NumberRange:
    """|x|."""
    if one.low >= 0:
        return one
    if one.high <= 0:
        return negative(one)
    high = max((-one.low, not one.low_open), (one.high, not one.high_open))
    return _made(0, high[0], False, not high[1])


def power(one: NumberRange, exponent: int) -> NumberRange:
    """X to the power of a whole number from 1 on."""
    base = absolute(one) if exponent % 2 == 0 else one
    for end in (base.low, base.high):
        if type(end) is not float and exponent * max(abs(end.numerator), end.denominator).bit_length() > 2 * _MOST_BITS:
            raise CertificateError("numbers of more than 300 digits: give rounder ones")
    return _made(base.low**exponent, base.high**exponent, base.low_open, base.high_open)


def minimum(one: NumberRange, other: NumberRange) -> NumberRange:
    """The smaller of x and y."""
    low = min((one.low, one.low_open), (other.low, other.low_open))
    high = min((one.high, not one.high_open), (other.high, not other.high_open))
    return _made(low[0], high[0], low[1], not high[1])


def maximum(one: NumberRange, other: NumberRange) -> NumberRange:
    """The larger of x and y."""
    return negative(minimum(negative(one), negative(other)))


def clip(one: NumberRange, low: Number, high: Number) -> NumberRange:
    """X, but at least low and at most high."""
    return minimum(
        maximum(one, NumberRange(low, low, low == -math.inf)), NumberRange(high, high, False, high == math.inf)
    )


def square_root(one: NumberRange) -> NumberRange:
    """√x."""
    if one.low < 0:
        raise CertificateError("a root of what may be negative")
    return _rising(one, _root_below, lambda end: root(Fraction(end)))


def exponentiated(one: NumberRange) -> NumberRange:
    """e^x."""
    if max((abs(end) for end in (one.low, one.high) if type(end) is not float), default=0) > _MOST_EXPONENT:
        raise CertificateError(f"an exponential of what may be above {_MOST_EXPONENT:,}")
    below = 0 if one.low == -math.inf else None
    raised = _rising(one, lambda end: 1 / exponential(-Fraction(end)), lambda end: exponential(Fraction(end)))
    return raised if below is None else NumberRange(0, raised.high, True, raised.high_open)


def natural_logarithm(one: NumberRange) -> NumberRange:
    """ln x."""
    if one.low < 0 or one.holds(0):
        raise CertificateError("a logarithm of what may be 0 or less")
    if one.low == 0:
        high = one.high if type(one.high) is float else _log_above(one.high)
        return _made(-math.inf, high, True, False)
    return _rising(one, _log_below, _log_above)


def _rising(one: NumberRange, below: Callable[[Number], Number], above: Callable[[Number], Number]) -> NumberRange:
    low = one.low if type(one.low) is float else below(one.low)
    high = one.high if type(one.high) is float else above(one.high)
    return _made(low, high, False, False)


def _root_below(end: Number) -> Number:
    below = root(Fraction(end))
    return below if below**2 == end else below - Fraction(2, 10**40)


def _log_above(end: Number) -> Number:
    if end == 1:
        return 0
    return logarithm(Fraction(end)) if end > 1 else -_log_below(1 / Fraction(end))


def _log_below(end: Number) -> Number:
    if end == 1:
        return 0
    if end < 1:
        return -_log_above(1 / Fraction(end))
    room = Fraction(4 * max(1, Fraction(end).numerator.bit_length()), 10**40)
    return logarithm(Fraction(end)) - room


def bins(one: NumberRange, edges: Sequence[Number], right: bool) -> NumberRange:
    """How many edges are at most x; below x with ``right``."""
    if right:
        low = (bisect_right if one.low_open else bisect_left)(edges, one.low)
        return NumberRange(low, bisect_left(edges, one.high))
    high = (bisect_left if one.high_open else bisect_right)(edges, one.high)
    return NumberRange(bisect_right(edges, one.low), high)


# --- truths -------------------------------------------------------------------------------------------------


def both(one: Value, other: Value) -> Value:
    """Whether both are true."""
    if one is False or other is False:
        return False
    return True if one is True and other is True else EITHER


def negated(one: Value) -> Value:
    """Whether it is false."""
    return EITHER if one is EITHER else not one


def any_of(one: Value, other: Value) -> Value:
    """Whether one of both is true."""
    return negated(both(negated(one), negated(other)))


def one_of(one: Value, other: Value) -> Value:
    """Whether one of both is true, and not the other."""
    return EITHER if one is EITHER or other is EITHER else one is not other


def less(one: Value, other: Value) -> Value:
    """Whether x < y; a missing value is less than none."""
    return _compared(one, other, _less, operator.lt)


def less_equal(one: Value, other: Value) -> Value:
    """Whether x ≤ y; a missing value is not."""
    return _compared(one, other, lambda left, right: negated(_less(right, left)), operator.le)


def equal(one: Value, other: Value) -> Value:
    """Whether two values of one type are equal; a missing one equals none."""
    if one is None or other is None:
        return False
    if isinstance(one, bool | _Either):
        return negated(one_of(one, other))
    if isinstance(one, str):
        return one == other
    return _compared(one, other, _same, operator.eq)


def _compared(
    one: Value, other: Value, function: Callable[[NumberRange, NumberRange], Value], on_points: Callable[..., bool]
) -> Value:
    if one is None or other is None:
        return False
    if type(one) in _POINTS and type(other) in _POINTS:
        return on_points(one, other)
    left, right = NumberRange.of(one), NumberRange.of(other)
    truth = function(left, right)
    return EITHER if truth is True and (left.missing or right.missing) else truth


def _less(one: NumberRange, other: NumberRange) -> Value:
    if one.high < other.low or (one.high == other.low and (one.high_open or other.low_open)):
        return True
    return False if one.low >= other.high else EITHER


def _same(one: NumberRange, other: NumberRange) -> Value:
    if one.low == one.high == other.low == other.high:
        return True
    apart = _less(one, other) is True or _less(other, one) is True
    return False if apart else EITHER


def among(one: Value, values: frozenset[Any]) -> Value:
    """Whether it is one of these values, of its type; a missing value is none of them."""
    if type(one) is not NumberRange:
        return (EITHER if values else False) if one is EITHER else one is not None and one in values
    return EITHER if any(one.holds(each) for each in values) else False


def filled(one: Value, other: Value) -> Value:
    """Y where x is missing, else x."""
    if one is None:
        return other
    if type(one) is NumberRange and one.missing:
        return hull(replace(one, missing=False).value, other)
    return one


def chosen(condition: Value, one: Value, other: Value) -> Value:
    """X where a condition holds, else y."""
    if condition is EITHER:
        return hull(one, other)
    return one if condition else other


def counted(one: Value) -> Value:
    """1 for true, 0 for false."""
    return NumberRange(0, 1) if one is EITHER else int(one)


def is_missing(one: Value) -> Value:
    """Whether it is missing."""
    return EITHER if type(one) is NumberRange and one.missing else one is None


# --- Which values may a column hold, and is each of them in one of the cells that it is cut into? ---
#
# A cell is a point, all numbers strictly between two ends, all whole numbers from one to another, or the missing value.

MOST_CELLS = 10_000  # of a column
_TYPES = {"int64": "number", "float64": "number", "text": "text", "truth": "truth", "match": "number"}
_TAGS = {"number": Fraction, "text": str, "truth": bool}


@dataclass(frozen=True, slots=True)
class DomainColumn:
    """A column of the declared domain."""

    name: str  # as the data call it
    type: str  # "number", "text" or "truth"
    whole: bool  # whether all of its numbers are whole
    match: bool  # whether it is no column of the data, but numbers the rows of a table that a record matches
    # the values of each cell, as a point or a range; None where no expression uses the column
    cells: tuple[Value, ...] | None
    told: dict[str, Any]  # what it may hold, as the certificate says it


def read_columns(value: object) -> list[DomainColumn]:
    """Return the columns that a certificate lists.

    Raises:
        ForgedError: if the cells of a column are not disjoint, or do not cover what it may hold.
        CertificateError: if a column is not in this format.
    """
    columns = [_column(each, f"column {number}") for number, each in enumerate(items(value, "columns", MOST_COLUMNS))]
    if len({each.name for each in columns}) < len(columns):
        raise CertificateError("columns: two of them have one name")
    return columns


def _column(value: object, where: str) -> DomainColumn:
    given = fields(value, {"name", "type", "low", "high", "values", "missing", "cells"}, where)
    name, kind = text(given["name"], f"{where}: name"), given["type"]
    if type(kind) is not str or kind not in _TYPES:
        raise CertificateError(f"{where}: no type {shown(kind)}; known are {', '.join(_TYPES)}")
    if type(given["missing"]) is not bool:
        raise CertificateError(f"{where}: missing is true or false")
    if given["missing"] and kind not in ("float64", "text"):
        raise CertificateError(f"{where}: a column of type {kind} has no missing values")
    low, high = (None if given[end] is None else rational(given[end], f"{where}: {end}") for end in ("low", "high"))
    if low is not None and high is not None and low > high:
        raise CertificateError(f"{where}: its low end is above its high end")
    listed = None
    if given["values"] is not None:
        listed = [point(each, where) for each in items(given["values"], f"{where}: values", MOST_CELLS, 1)]
        if any(type(each) is not _TAGS[_TYPES[kind]] for each in listed) or len(set(listed)) < len(listed):
            raise CertificateError(f"{where}: its values are of type {kind}, each of them once")
    if (low, high) != (None, None) and (listed is not None or _TYPES[kind] != "number"):
        raise CertificateError(f"{where}: numbers have ends or values, not both, and nothing else has ends")
    if kind == "int64" and any(
        each is not None and each.denominator > 1 for each in (low, high, *_fractions_in(listed))
    ):
        raise CertificateError(f"{where}: its values and its ends are whole numbers")
    cells = None
    if given["cells"] is not None:
        members = items(given["cells"], f"{where}: cells", MOST_CELLS, 1)
        cells = tuple(_cell(each, kind, f"{where}: a cell") for each in members)
        _cover(cells, kind, (low, high), listed, given["missing"], where)
    if kind == "match" and (cells is None or cells != tuple(range(len(cells))) or listed is not None):
        raise CertificateError(f"{where}: the cells of a match are 0, 1, and so on")
    points = cells or ()
    whole = kind in ("int64", "match") or (
        kind == "float64" and bool(points) and all(type(cell) is int or cell is None for cell in points)
    )
    told = {key: given[key] for key in ("name", "type", "low", "high", "values", "missing")}
    return DomainColumn(name, _TYPES[kind], whole, kind == "match", cells, told)


def _fractions_in(values: list[Any] | None) -> list[Fraction]:
    return [each for each in values or () if type(each) is Fraction]


def _cell(value: object, kind: str, where: str) -> Value:
    members = items(value, where, 3, 1)
    if members == ["missing"]:
        return None
    if members[0] in ("open", "range") and type(members[0]) is str and len(members) == 3:
        if members[0] != {"float64": "open", "int64": "range"}.get(kind):
            raise CertificateError(f"{where}: {members[0]!r} in a column of type {kind}")
        ends = [None if each is None else plain(rational(each, where)) for each in members[1:]]
        low, high = (-math.inf if ends[0] is None else ends[0]), (math.inf if ends[1] is None else ends[1])
        if low >= high or (kind == "int64" and any(type(each) is Fraction for each in ends)):
            raise CertificateError(f"{where}: from {members[1]} to {members[2]} is no {members[0]} cell")
        if kind == "float64":
            return NumberRange(low, high, True, True)
        return NumberRange(low, high, low == -math.inf, high == math.inf)
    member = point(members, where)
    if type(member) is not _TAGS[_TYPES[kind]]:
        raise CertificateError(f"{where}: a column of type {kind} has no such value")
    return plain(member) if type(member) is Fraction else member


def _cover(
    cells: tuple[Value, ...],
    kind: str,
    ends: tuple[Fraction | None, Fraction | None],
    listed: list[Any] | None,
    missing: bool,
    where: str,
) -> None:
    """Raise unless the cells are disjoint and cover what the column may hold, and nothing else."""
    if sum(cell is None for cell in cells) != missing:
        raise ForgedError(f"{where}: there is one cell of missing values where there may be any, and else none")
    present = [cell for cell in cells if cell is not None]
    if kind == "truth" and listed is None:
        listed = [False, True]
    if kind == "text" and listed is None:
        raise ForgedError(f"{where}: texts that are not listed have no cells")
    if listed is not None:
        if (
            any(type(cell) is NumberRange for cell in present)
            or len(present) != len(listed)
            or set(present) != set(listed)
        ):
            raise ForgedError(f"{where}: its cells are not its values, each of them once")
        return
    if not present:
        raise ForgedError(f"{where}: its cells hold no numbers")
    ordered = sorted((NumberRange.of(cell) for cell in present), key=_place)
    follows: Callable[[NumberRange, NumberRange], bool] = _next_whole if kind in ("int64", "match") else _next
    low, high = (-math.inf if ends[0] is None else ends[0]), (math.inf if ends[1] is None else ends[1])
    first, last = ordered[0], ordered[-1]
    at_ends = (first.low, last.high) == (low, high) and not (
        (first.low_open and ends[0] is not None) or (last.high_open and ends[1] is not None)
    )
    if not at_ends or not all(follows(one, other) for one, other in itertools.pairwise(ordered)):
        raise ForgedError(f"{where}: its cells are not disjoint, or do not cover all from {low} to {high}")


def _place(cell: NumberRange) -> tuple[Number, bool]:
    return cell.low, cell.low_open


def _next(one: NumberRange, other: NumberRange) -> bool:
    """Whether a cell begins where another ends: one of both holds the number between them."""
    return one.high == other.low and one.high_open is not other.low_open


def _next_whole(one: NumberRange, other: NumberRange) -> bool:
    return bool(other.low == one.high + 1)
