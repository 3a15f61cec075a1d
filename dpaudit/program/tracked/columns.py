"""What is known of one column of tracked data? Its bounds, row by row, and what comparisons say of a record."""

from __future__ import annotations

import hashlib
import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.tracked.arrays import Numbers
from dpaudit.program.tracked.magnitude import ONE, ZERO, Magnitude, exact, hull, of, widened
from dpaudit.program.tracked.movement import Condition, Linear, Term
from dpaudit.program.tracked.path import refuse
from dpaudit.program.tracked.private import Additive, Number, Private
from dpaudit.program.tracked.released import ReleasedNumber, is_private, magnitude_of
from dpaudit.program.tracked.rows import RATIO, ColumnDomain, Mask, Rows

_LONGEST = 300  # characters of the name of an expression, which holds those of its parts
_LARGEST, _WHOLE = Fraction(10) ** 300, Fraction(2) ** 62
_EXACT = Fraction(2) ** 53  # below it floats tell whole numbers apart


class Column(Additive):
    """One value for each row.

    Attributes:
        rows: whose.
        name: the column, or the expression that it is.
        low, high: what lies between; None where nothing is known.
        domain: what is known where it is a column of the data itself.
        missing: whether a value may be missing, which sums and counts leave out.
        whole: whether all are whole numbers.
    """

    inner = Private.inner | {
        "rows", "name", "low", "high", "missing", "whole", "of_data", "is_truth", "ends", "meets", "tracked_len",
    }  # fmt: skip

    def __init__(
        self,
        rows: Rows,
        name: str,
        low: Magnitude | None,
        high: Magnitude | None,
        *,
        missing: bool = False,
        whole: bool = False,
    ) -> None:
        self.rows, self.name, self.low, self.high = rows, name, low, high
        self.missing, self.whole = missing, whole
        largest = max((abs(end.coefficient) for end in (low, high) if end is not None), default=Fraction(0))
        if largest > _LARGEST or (whole and largest > _WHOLE):
            refuse("values that may be too large for floats, or for whole numbers of 64 bits")

    @classmethod
    def of_data(cls, rows: Rows, name: str, domain: ColumnDomain) -> Column:
        """Return a column of the data."""
        low, high = domain.low, domain.high
        if domain.values is not None and all(isinstance(each, Fraction) for each in domain.values):
            low, high = min(domain.values), max(domain.values)
        ends = (None, None) if low is None or high is None else (of(low), of(high))
        return cls(rows, name, *ends, missing=domain.missing, whole=domain.whole)

    @property
    def is_truth(self) -> bool:
        """Whether it holds truth values."""
        domain = self.rows.known.get(self.name)
        if domain is None or domain.values is None or not all(type(each) is bool for each in domain.values):
            return False
        return not self.missing or refuse(f"truth values of {self.name!r} that may be missing; compare them: == True")

    @property
    def ends(self) -> tuple[Magnitude, Magnitude]:
        """Both bounds."""
        if self.low is None or self.high is None:
            refuse(
                f"arithmetic with {self.name!r}, whose bounds are not known; declare numbers in the domain, or clip it"
            )
        return self.low, self.high

    def _made(
        self, name: str, low: Magnitude, high: Magnitude, *, missing: bool | None = None, whole: bool = False
    ) -> Column:
        return Column(self.rows, name, low, high, missing=self.missing if missing is None else missing, whole=whole)

    # --- sums and counts ---------------------------------------------------------------------------------

    def tracked_len(self) -> Number:
        """Return how many rows there are."""
        return self.rows.length()

    def sum(self, axis: Any = None) -> Number:
        """Return the sum over all rows, without missing values."""
        if self.is_truth:
            return self.meets("==", True).sum()
        low, high = self.ends
        if self.missing:
            low, high = widened(low, high)
        return self.rows.summed(low, high, whole=self.whole)

    def count(self) -> Number:
        """Return how many values are not missing."""
        if not self.missing:
            return self.tracked_len()
        present = frozenset({self._condition("missing", None, holds=False)})
        return self.rows.summed(ONE, ONE, whole=True, within=present)

    def mean(self, *_: Any) -> Any:
        """Refuse a ratio."""
        refuse(RATIO)

    var = std = mean

    def value_counts(self) -> Any:
        """Count every value."""
        from dpaudit.program.tracked.groups import Groups

        return Groups(self.rows, (self.name,), self.missing, ONE, ONE, whole=True)

    def quantile(self, *_: Any) -> Any:
        """Refuse an extreme or a quantile."""
        refuse("an extreme or a quantile, which one record moves by any amount; choose a value by noise.select")

    median = quantile

    def max(self, initial: Any = None) -> Number:
        """Return the largest value, or the constant where that is larger; of an array, which knows ``initial``."""
        return self._extreme(initial, 1)

    def min(self, initial: Any = None) -> Number:
        """Return the smallest value, or the constant where that is smaller."""
        return self._extreme(initial, -1)

    def _extreme(self, initial: Any, sign: int) -> Number:
        if initial is None:
            refuse(
                "an extreme, which is NaN where there are no rows; write column.to_numpy().max(initial=0), or choose a "
                "value by noise.select"
            )
        low, high = self.ends
        start = magnitude_of(initial)
        if self.missing or low.unit or high.unit or start.unit:
            refuse("an extreme of values that may be missing, or that were clipped to a released number; fill them")
        if start.coefficient.denominator != 1:  # of an array of whole numbers NumPy cuts it
            refuse("an extreme with an initial value that is no whole number")
        if self.rows.most != 1 or not self.rows.sure:
            refuse("an extreme of rows of which a person has several; sum or count them")
        far = max(
            high.coefficient - start.coefficient if sign > 0 else start.coefficient - low.coefficient, Fraction(0)
        )
        ends = (ZERO, of(far)) if sign > 0 else (of(-far), ZERO)
        whole = self.whole and _is_whole(start)
        return Number(Linear(tuple(Term(part, *ends) for part in self.rows.parts)), self.rows.sample, whole=whole)

    # --- row by row --------------------------------------------------------------------------------------

    def clip(self, lower: Any = None, upper: Any = None) -> Column:
        """Clip every value; a missing one stays missing."""
        if is_private(lower) or is_private(upper):
            refuse("a clipping bound that depends on data without noise")
        if not self._is_of_numbers():
            refuse(f"a clip of {self.name!r}, which does not hold numbers")
        low = None if lower is None else magnitude_of(lower)
        high = None if upper is None else magnitude_of(upper)
        plain = all(each is None or not each.unit for each in (low, high))
        if plain and low is not None and high is not None and low.coefficient > high.coefficient:
            refuse("clip with its bounds the wrong way round, which pandas swaps and NumPy does not")
        if not plain or self.low is None or self.high is None or self.low.unit or self.high.unit:
            if low is None or high is None:
                refuse("a clip to one bound of what has no constant bounds; give both")
            if low.coefficient > 0 or high.coefficient < 0:
                refuse("a clip to a released bound needs 0 in between, as clip(0, bound) has")
            return self._made(expression("clip", self, lower, upper), *hull((low, high)))

        def clipped(value: Magnitude) -> Magnitude:
            found = value.coefficient if low is None else max(value.coefficient, low.coefficient)
            return of(found if high is None else min(found, high.coefficient))

        whole = self.whole and all(each is None or each.coefficient.denominator == 1 for each in (low, high))
        name = expression("clip", self, lower, upper)
        return self._made(name, clipped(self.low), clipped(self.high), whole=whole)

    def fillna(self, value: Any) -> Column:
        """Put a constant in the place of missing values."""
        given = magnitude_of(value)
        low, high = self.ends
        whole = self.whole and not given.unit and given.coefficient.denominator == 1
        return self._made(expression("fillna", self, value), *hull((low, high, given)), missing=False, whole=whole)

    def astype(self, kind: Any) -> Column:
        """Convert to floats, or whole numbers to whole numbers, which changes no value."""
        if self.low is None:
            refuse(f"a conversion of {self.name!r}, of which no bounds are known")
        if kind in (float, "float", "float64", np.float64) or (
            self.whole and not self.missing and kind in (int, "int", "int64", np.int64)
        ):
            return self
        return refuse(f"a conversion of private values to {kind!r}")

    def apply(self, function: Any) -> Column:
        """Return what a function gives of each value."""
        from dpaudit.program.tracked.cells import applied

        return applied(self, function)

    def map(self, by: Any) -> Column:
        """Return what a function or a public dict gives of each value."""
        from dpaudit.program.tracked.cells import mapped

        return mapped(self, by) if type(by) is dict else self.apply(by)

    def copy(self) -> Column:
        """Return the same values."""
        return self

    def to_numpy(self) -> Column:
        """Return the same values."""
        if self.missing:
            refuse("NumPy sums give NaN where a value is missing, and so tell of it; fillna(constant) first")
        return self

    values = property(to_numpy)

    def _plus(self, other: Any, sign: int) -> Column:
        low, high = self.ends
        if isinstance(other, Column):
            if other.rows != self.rows:
                refuse("arithmetic of columns of two frames, which pandas would align by index")
            more, most = other.ends if sign > 0 else (-other.ends[1], -other.ends[0])
            missing, whole = self.missing or other.missing, self.whole and other.whole
        elif isinstance(other, Private):
            return refuse(f"a sum of rows and a private {type(other).__name__.lower()}")
        else:
            given = magnitude_of(other)
            more = most = given if sign > 0 else -given
            missing, whole = self.missing, self.whole and _is_whole(given)
        name = expression("+" if sign > 0 else "-", self, other)
        return self._made(name, low + more, high + most, missing=missing, whole=whole)

    def __neg__(self) -> Any:
        return self * -1

    def __abs__(self) -> Column:
        low, high = self.ends
        ends = hull((low, high, -low, -high))
        inside = low.coefficient <= 0 <= high.coefficient
        least = (
            ZERO if inside else hull((low if low.coefficient > 0 else -low, high if high.coefficient > 0 else -high))[0]
        )
        return self._made(expression("abs", self), least, ends[1], whole=self.whole)

    abs = __abs__

    def __mul__(self, other: Any) -> Any:
        low, high = self.ends
        if isinstance(other, Mask):
            return refuse("a product of values and a mask; write frame[mask][column], or .where(mask, 0)")
        if isinstance(other, Column):
            if other.rows != self.rows:
                refuse("arithmetic of columns of two frames, which pandas would align by index")
            ends = hull([here * there for here in (low, high) for there in other.ends])
            whole, missing = self.whole and other.whole, self.missing or other.missing
            return self._made(expression("*", self, other), *ends, missing=missing, whole=whole)
        if isinstance(other, Private):
            return refuse(f"a product of rows and a private {type(other).__name__.lower()}")
        given = magnitude_of(other)
        ends = hull((low * given, high * given))
        return self._made(expression("*", self, other), *ends, whole=self.whole and _is_whole(given))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Private):
            return refuse("a division by private values, which may be 0")
        low, high = self.ends
        given = magnitude_of(other)
        if given.is_zero:
            refuse("a division of private values by 0, which gives infinite ones")
        inverse = ONE.over(given)
        return self._made(expression("/", self, other), *hull((low * inverse, high * inverse)))

    def where(self, mask: Any, other: Any = None) -> Column:
        """Keep the values where a mask holds, and put a constant elsewhere."""
        if not isinstance(mask, Mask) or mask.rows != self.rows:
            refuse("where() with a mask that is not one of the same frame")
        if other is None:
            refuse("where() without a constant leaves missing values; give one: where(mask, 0)")
        given = magnitude_of(other)
        whole = self.whole and _is_whole(given)
        name = expression("where", self, *sorted(repr(sorted(map(repr, part))) for part in mask.parts), other)
        return self._made(name, *hull((*self.ends, given)), whole=whole)

    # --- comparisons -------------------------------------------------------------------------------------

    def _condition(self, operator: Any, operand: Any, *, holds: bool) -> Condition:
        """A test of a record; of an expression, it is a column of its own, whose bounds are known."""
        name = self.rows.column(self.name)
        if operator in ("<", "<=") and not self._is_of_numbers():
            refuse(f"an order of values of {self.name!r}, which are not known to be numbers")
        if name not in self.rows.known:
            ends = (self.low, self.high)
            plain = all(end is not None and not end.unit for end in ends)
            low, high = (end.coefficient if plain and end is not None else None for end in ends)
            domain = self.rows.known.get(self.name)
            self.rows.known[name] = domain or ColumnDomain(low, high, None, self.missing, self.whole)
        return Condition(name, operator, operand, holds)

    def meets(self, operator: Any, operand: Any) -> Mask:
        """Return which rows meet a test."""
        return Mask(self.rows, (frozenset({self._condition(operator, operand, holds=True)}),))

    def _compared(self, operator: Any, other: Any, *, negated: bool) -> Mask:
        if isinstance(other, Private):
            refuse("a comparison of rows with private values; compare with a constant or a released number")
        if not isinstance(other, str | bool | np.bool_):
            given = magnitude_of(other)
            if given.unit:
                return self._compared_with_released(operator, given, negated=negated)
        operand = operand_of(self.rows.known.get(self.name, ColumnDomain()), self.name, other)
        here = self._condition(operator, operand, holds=not negated)
        if negated and operator != "==" and self.missing:  # NaN is neither below nor above
            return Mask(self.rows, (frozenset({here, self._condition("missing", None, holds=False)}),))
        return Mask(self.rows, (frozenset({here}),))

    def _is_of_numbers(self) -> bool:
        domain = self.rows.known.get(self.name)
        if domain is None or domain.values is None:
            return True
        return all(isinstance(each, Fraction) for each in domain.values)

    def _compared_with_released(self, operator: Any, given: Magnitude, *, negated: bool) -> Mask:
        """Compare with a released number: a test of which nothing is known but that it holds or not."""
        if not self._is_of_numbers():
            refuse(f"a comparison of {self.name!r} with a released number, which its domain does not hold")
        name = self.rows.column(expression(operator, self, given))
        self.rows.known.setdefault(name, ColumnDomain(values=(False, True)))
        if self.missing and negated:
            refuse("≥ or ≠ of values that may be missing with a released number; fill them first")
        return Mask(self.rows, (frozenset({Condition(name, "==", True, not negated)}),))

    def __lt__(self, other: Any) -> Any:
        return self._compared("<", other, negated=False)

    def __le__(self, other: Any) -> Any:
        return self._compared("<=", other, negated=False)

    def __gt__(self, other: Any) -> Any:
        return self._compared("<=", other, negated=True)

    def __ge__(self, other: Any) -> Any:
        return self._compared("<", other, negated=True)

    def __eq__(self, other: Any) -> Any:
        return self._compared("==", other, negated=False)

    def __ne__(self, other: Any) -> Any:
        return self._compared("==", other, negated=True)

    __hash__ = Private.__hash__

    def isna(self) -> Mask:
        """Return which values are missing."""
        return self.meets("missing", None)

    isnull = isna

    def notna(self) -> Mask:
        """Return which values are not missing."""
        return ~self.isna()

    notnull = notna

    def between(self, left: Any, right: Any) -> Any:
        """Return which values lie between two, both included."""
        return (self >= left) & (self <= right)

    def isin(self, values: Any) -> Mask:
        """Return which values are among several."""
        found = Mask(self.rows, ())
        for value in dict.fromkeys(values):
            found = found | (self == value)
        return found

    # --- NumPy -------------------------------------------------------------------------------------------

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return what an array function gives of a private column."""
        if function is np.histogram:
            named = dict(zip(("bins", "range", "density", "weights"), args[1:], strict=False))
            return self._histogram(**named, **kwargs)
        if function is np.bincount:
            return self._bincount(*args[1:], **kwargs)
        if function in (np.asarray, np.array):
            return self.to_numpy()
        if function is np.sum and len(args) == 1 and not kwargs:
            return self.sum()
        if function in (np.max, np.min) and len(args) == 1 and kwargs.keys() == {"initial"}:
            return self._extreme(kwargs["initial"], 1 if function is np.max else -1)
        if function is np.clip and args[0] is self:
            bounds = dict(zip(("a_min", "a_max"), args[1:], strict=False)) | kwargs
            return self.clip(bounds.pop("a_min", None), bounds.pop("a_max", None))
        return refuse(f"np.{function.__name__} of a private column, whose stability is not known")

    def _histogram(self, bins: Any = 10, **options: Any) -> Any:
        span = options.pop("range", None)
        if any(option is not None for option in options.values()):
            refuse("np.histogram with density or weights; count, and compute with what is released")
        if isinstance(bins, int) and span is not None:
            low, high = map(compared_with, span)
            edges = np.histogram_bin_edges([], bins, (float(low), float(high)))
        elif isinstance(bins, list | tuple | np.ndarray | range):
            if any(magnitude_of(edge).unit for edge in bins):
                refuse("np.histogram with released edges; compare with them: frame[frame[column] < edge]")
            edges = np.asarray([float(compared_with(edge)) for edge in bins])
        else:
            refuse("np.histogram with edges from the data; give them as a list, or with range=")
        limits = [exact(float(edge)) for edge in edges]
        if any(one >= other for one, other in itertools.pairwise(limits)):
            refuse("np.histogram with edges that do not grow")
        if self.missing and isinstance(bins, int):
            refuse("np.histogram of values that may be missing; fillna(constant) first")
        if not self._is_of_numbers() or self.low is None:
            refuse("np.histogram of what are not known to be numbers")
        cells = []
        for place, (start, end) in enumerate(itertools.pairwise(limits)):
            last = place == len(limits) - 2
            inside = {
                self._condition("<", start, holds=False),
                self._condition("<=" if last else "<", end, holds=True),
            }
            cells.append(self.rows.summed(ONE, ONE, whole=True, within=frozenset(inside)))
        return Numbers.of(cells), edges

    def _bincount(self, weights: Any = None, minlength: int = 0) -> Any:
        low, high = self.ends
        if not self.whole or self.missing or low.unit or high.unit or low.coefficient < 0:
            refuse("np.bincount of what need not be whole numbers from 0 on; declare all values in the domain")
        if high.coefficient >= minlength:
            refuse(f"np.bincount grows with the largest value; give minlength={int(high.coefficient) + 1}")
        if weights is not None:
            refuse("np.bincount with weights; write groupby(…).sum()")
        return Numbers.of(
            self.rows.summed(ONE, ONE, whole=True, within=frozenset({self._condition("==", Fraction(k), holds=True)}))
            for k in range(minlength)
        )


def operand_of(domain: ColumnDomain, name: str, value: Any) -> Any:
    """Return what the values of a column are compared with, as one of their own kind: True is 1, and 1 is True."""
    kinds = {type(each) for each in domain.values} if domain.values is not None else {Fraction}
    if isinstance(value, str):
        operand: Any = str(value)
    elif isinstance(value, bool | np.bool_):
        operand = Fraction(int(value)) if kinds == {Fraction} else bool(value)
    else:
        operand = compared_with(value)
        if kinds == {bool} and operand in (0, 1):
            operand = bool(operand)
    if type(operand) is not Fraction and (domain.values is None or operand not in domain.values):
        refuse(f"a comparison of {name!r} with {operand!r}, which its domain does not hold")
    if {type(operand)} != kinds:
        refuse(f"a comparison of {name!r} with {value!r}, which is of another kind than its values")
    return operand


def compared_with(value: Any) -> Fraction:
    """Return the number that floats are compared with; refuse one that they cannot tell from others."""
    given = magnitude_of(value)
    if given.unit:
        refuse("a comparison with a released number where a public one is known")
    found = exact(value.plain) if isinstance(value, ReleasedNumber) else given.coefficient
    if isinstance(value, Fraction) and value != Fraction(float(value)):
        refuse(f"a comparison with the fraction {value}, which no float is; write a float")
    if abs(found) >= _EXACT:
        refuse("a comparison with a number of 2**53 or more, which floats may not tell from the next one")
    return found


def column_of_mask(mask: Mask) -> Column:
    """Return the numbers 1 and 0 of the rows that meet a mask, and do not."""
    name = expression("mask", *sorted(repr(sorted(map(repr, part))) for part in mask.parts))
    return Column(mask.rows, name, ZERO, ONE, whole=True)


def expression(name: str, *parts: Any) -> str:
    """Name what is computed of columns, texts and numbers, by what floats make of it: two that differ have two names.

    No column of the data has a name that begins with '='.
    """
    found = f"={name}[{', '.join(map(_named, parts))}]"
    return found if len(found) <= _LONGEST else f"={name} {hashlib.sha256(found.encode()).hexdigest()}"


def _named(part: Any) -> str:
    """Name a part: a column in quotes, a number without any, a text as one."""
    if isinstance(part, Column):
        return repr(part.name)
    if part is None or isinstance(part, str):
        return f"text {part!r}" if part else "None"
    if isinstance(part, ReleasedNumber) and part.is_constant:
        return str(exact(part.plain))
    given = part if isinstance(part, Magnitude) else magnitude_of(part)
    return str(given.coefficient) + "".join(f"·r{token}^{power}" for token, power in given.unit)


def _is_whole(value: Magnitude) -> bool:
    return not value.unit and value.coefficient.denominator == 1
