"""How far do functions of private numbers, and of rows of numbers of each record, move?

Whatever treats each record by itself, also with released values, gives such rows: a record touches its own row alone.
A row that is divided by max(1, its Euclidean length / r) is at most r long, so that a record moves the sum of all rows
by a vector of at most that length, and x.T @ y by one of at most the product of both (Cauchy & Schwarz). Gaussian noise
hides it at ρ = r²/2σ² (Bun & Steinke 2016, Proposition 1.6; Abadi et al. 2016). A row with a missing or infinite number
has no length.

A function that rises or falls more and more slowly moves farthest where it begins: √x by no more than √d if x moves by
d and is not below 0, ln x by no more than ln(m + d) − ln m from m on; one that becomes steeper, at the largest number
that there can be. So each needs an end of what the number can be, which its sum or a clip says. How far it may move is
subadditive in d, so that what comes and what goes may be priced apart, and it is no sum over rows: of several rows of
a person each kind counts as the one that moves it farthest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.reading.python import OPERATION
from dpaudit.reading.universe import cells, noise, numbers, sizes, steps
from dpaudit.reading.universe.columns import Column, TableRows, plain
from dpaudit.reading.universe.numbers import RATIO, Number, on_common_axes, padded, refuse_small, spanned, widened_range
from dpaudit.reading.universe.state import NOISE_FIRST, Private, current, noun_of, refuse, refuse_form
from dpaudit.reading.universe.values import NP_FLOAT, PUBLIC, Token, array, joined, kind_of_plain, number, sort_of

# --- What may be done with a row of numbers of each record of which only the shape is known? -------------

_LENGTHS = (97, 89)  # of two stand-ins: what fits both by its shape treats every record by itself
_CLIP = "x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / radius)"
_ALONG = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "argmin": np.argmin, "argmax": np.argmax}
_EACH = (
    "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "square", "tanh", "sin", "cos", "arctan",
    "sign", "absolute", "abs", "fabs", "negative", "floor", "ceil", "rint", "trunc", "maximum", "minimum", "add",
    "subtract", "multiply", "divide", "true_divide", "positive", "power", "clip", "isfinite", "isnan", "matmul",
)  # fmt: skip
_OPERATORS = ("add", "sub", "mul", "truediv", "pow", "matmul")


class Vectors(Private):
    """A row of numbers for each record.

    Attributes:
        rows: whose.
        tail: the shape of one.
        radius: its Euclidean length, at most; None where nothing is known.
        is_finite: whether no number is missing or infinite.
    """

    __slots__ = ("is_finite", "radius", "rows", "tail")
    noun = "row of numbers of each record"

    def __init__(
        self, rows: TableRows, tail: tuple[int, ...], *, radius: float | None = None, is_finite: bool = False
    ) -> None:
        self.rows, self.tail, self.radius, self.is_finite = rows, tail, radius, is_finite

    def get(self, name: str) -> Any:
        """Return an attribute."""
        if name == "T" and len(self.tail) == 1:
            return Turned(self)
        if name == "shape":
            return (sizes.length(self.rows), *self.tail)
        return refuse(f".{name} of a row of numbers of each record", _CLIP)

    def method(self, name: str) -> Any:
        """Return a method."""
        if name in _ALONG:
            return lambda axis=None, *, keepdims=False: self.along(name, axis, keepdims=keepdims)
        return {"copy": lambda: self, "clip": lambda low, high: each(np.clip, self, low, high)}.get(name)

    def select(self, key: Any) -> Vectors:
        """``x[mask]``, ``x[:, None, :]``."""
        if isinstance(key, Column):
            rows = self.rows.where(key, "a mask of the same frame")
            return Vectors(rows, self.tail, radius=self.radius, is_finite=self.is_finite)
        if not isinstance(key, tuple) or not key or key[0] != slice(None) or sort_of(key) != PUBLIC:
            refuse(
                "a choice of rows by place: which record stands where is private",
                "x[x > 0].clip(LOW, HIGH).sum() + laplace(…)",
            )
        if not all(isinstance(one, slice | int | None) and not isinstance(one, bool) for one in key):
            refuse("a part of rows by something else than places", "x[:, 0]")
        return Vectors(self.rows, _tail("a part of rows", lambda values: values[key], self), is_finite=self.is_finite)

    def along(self, name: str, axis: Any, *, keepdims: bool = False) -> Any:
        """``x.sum(axis=1)`` for each record, or ``x.sum(axis=0)`` over all."""
        if axis == 0 and name == "sum" and not keepdims:
            return self.total()
        axes = axis if isinstance(axis, tuple) else (axis,)
        if any(type(one) is not int or one % (len(self.tail) + 1) == 0 for one in axes):
            refuse(f"{name} over records of rows of which no bounds are known", f"{_CLIP}, and .sum(axis=0)")
        along: Any = _ALONG[name]
        tail = _tail(name, lambda values: along(values, axis=axis, keepdims=keepdims), self)
        if name in ("argmin", "argmax") and not tail and len(self.tail) == 1:
            return self._places(self.tail[0])
        return Vectors(self.rows, tail)

    def _places(self, count: int) -> Column:
        """Return a column that may hold any of so many places."""
        universe, state = self.rows.space.universe, current()
        state.places += 1
        name = f"=place {state.places} of {count}"
        universe.columns = {**universe.columns, name: cells.place_of(name)}
        universe.axis(name)
        low = np.arange(count)
        made = steps.column(name, low)
        return Column(universe.rows, universe.whole((name,)), low, low, made=made).on(self.rows)

    def length(self) -> float:
        """Return how long a row is at most."""
        if not self.is_finite:
            refuse("rows that may hold missing or infinite numbers, which a clip by length keeps", "np.nan_to_num(x)")
        return self.radius if self.radius is not None else refuse("a sum of rows of any length", _CLIP)

    def total(self) -> Ball:
        """``x.sum(axis=0)``."""
        return Ball(self.rows, self.length(), self.tail)

    def scaled(self, factor: Any) -> Vectors | None:
        """Return a multiple by a public number; None where the factor is none."""
        if isinstance(factor, bool) or not isinstance(factor, int | float | np.number) or not math.isfinite(factor):
            return None
        radius = None if self.radius is None else self.radius * abs(float(factor))
        return Vectors(self.rows, self.tail, radius=radius, is_finite=self.is_finite and self.radius is not None)


class Turned(Private):
    """``x.T``."""

    __slots__ = ("of",)
    noun = "transposed private array"

    def __init__(self, of: Vectors) -> None:
        self.of = of

    def times(self, other: Any) -> Ball:
        """``x.T @ y``: a sum over records."""
        if not isinstance(other, Vectors) or not other.rows.same(self.of.rows) or len(other.tail) > 1:
            refuse("x.T @ something that is no clipped array of the same rows", f"{_CLIP}, of both")
        return Ball(self.of.rows, self.of.length() * other.length(), (*self.of.tail, *other.tail))


class RowLengths(Private):
    """How long each row is; over a radius, and not below 1; or the other way round."""

    __slots__ = ("has_axis", "is_factor", "of", "over", "radius")
    noun = "length of a row of each record"

    def __init__(
        self,
        of: Any,
        *,
        has_axis: bool,
        over: float | None = None,
        radius: float | None = None,
        is_factor: bool = False,
    ) -> None:
        self.of, self.has_axis, self.over, self.radius, self.is_factor = of, has_axis, over, radius, is_factor

    def like(self, **changes: Any) -> RowLengths:
        """Return the same with changes."""
        known = {"has_axis": self.has_axis, "over": self.over, "radius": self.radius, "is_factor": self.is_factor}
        return RowLengths(self.of, **{**known, **changes})

    def select(self, key: Any) -> RowLengths:
        """``lengths[:, None]``."""
        if self.has_axis or not isinstance(key, tuple) or key != (slice(None), None):
            refuse("a choice among lengths of rows", "lengths[:, None]")
        return self.like(has_axis=True)

    def limited(self, one: Any, *, is_least: bool) -> RowLengths:
        """``np.maximum(1, lengths / r)``, ``np.minimum(1, r / lengths)``."""
        if isinstance(one, Private | Token) or one != 1 or self.radius is not None or is_least is not self.is_factor:
            refuse("lengths of rows in this form", _CLIP)
        if self.is_factor and self.over is None:
            refuse("lengths of rows in this form", _CLIP)
        return self.like(radius=1.0 if self.over is None else self.over)

    def operated(self, name: str, other: Any, *, is_left: bool) -> Any:
        """``lengths / r``, ``r / lengths``, ``x / lengths``, ``x * lengths``."""
        is_radius = isinstance(other, int | float | np.number) and not isinstance(other, bool)
        if name == "truediv" and is_radius and self.over is None and self.radius is None and 0 < other < math.inf:
            return self.like(over=float(other), is_factor=not is_left)
        fits = other is self.of and self.radius is not None and self.has_axis
        if fits and ((name == "truediv" and not is_left and not self.is_factor) or (name == "mul" and self.is_factor)):
            rows = vectors_of(other)
            return Vectors(rows.rows, rows.tail, radius=self.radius, is_finite=rows.is_finite)
        return refuse("lengths of rows in this form", _CLIP)


class Ball(Private):
    """A sum of rows: a record moves it by a vector of at most a length."""

    __slots__ = ("radius", "rows", "shape")
    noun = "sum of rows of a known length"

    def __init__(self, rows: TableRows, radius: float, shape: tuple[int, ...]) -> None:
        self.rows, self.radius, self.shape = rows, radius, shape

    def operated(self, name: str, other: Any, *, is_left: bool) -> Any:
        """Noise on it, or a multiple by a public number."""
        if name in ("add", "sub") and isinstance(other, noise.Draw):
            return self._released(other)
        is_number = isinstance(other, int | float | np.number) and not isinstance(other, bool) and math.isfinite(other)
        if is_number and (name == "mul" or (name == "truediv" and is_left and other)):
            factor = abs(float(other)) if name == "mul" else 1 / abs(float(other))
            return Ball(self.rows, self.radius * factor, self.shape)
        return refuse("a sum of rows of a known length in this form", "Gaussian noise on it, of its shape")

    def _released(self, draw: noise.Draw) -> Token:
        if draw.law != "gaussian" or np.ptp(draw.scales) > 0:
            refuse(f"{draw.law} noise on a sum of which only the Euclidean length is known", "one Gaussian scale")
        if draw.shape != self.shape:
            refuse("noise of another shape, of which one draw would protect several numbers", "size=x.shape")
        draw.use()
        ends = np.full(len(self.rows.space), self.radius)
        more = {"norm": 2, "radius": self.radius}
        made = None if self.rows.made is None else steps.MadeStep("ball", (self.rows.made,), more)
        exact = numbers.summed_of(
            self.rows, self.rows.space, -ends, ends, whole=False, labels=None, columns=None, kinds=None, made=made
        )
        noise.note("gaussian", exact, float(draw.scales.flat[0]), is_ball=True)
        return array(self.shape) if self.shape else number("np.float64")


OF_ROWS = (Vectors, Turned, RowLengths, Ball)


def vectors_of(column: Any) -> Vectors:
    """Return an array of numbers of each record, of which the values are forgotten."""
    if isinstance(column, Vectors):
        return column
    if not isinstance(column, Column) or column.is_series:
        refuse("rows of numbers together with a series, which pandas lines up by label", ".to_numpy()")
    ends = [plain(end).astype(float) for end in (column.low, column.high)]
    is_finite = all(bool(np.all(np.isfinite(end))) for end in ends)
    return Vectors(column.rows, (column.width,) if column.width else (), is_finite=is_finite)


def operated(name: str, left: Any, right: Any) -> Any:
    """What an operator does with rows of numbers."""
    for kind in (RowLengths, Ball):
        for one, other, is_left in ((left, right, True), (right, left, False)):
            if isinstance(one, kind):
                return one.operated(name, other, is_left=is_left)
    if isinstance(left, Turned):
        return left.times(right) if name == "matmul" else refuse_form("arithmetic of a transposed private array")
    if name not in _OPERATORS or isinstance(right, Turned):
        refuse(f"this operator ({name}) on rows of numbers of each record", NOISE_FIRST)
    if name == "pow" and not (isinstance(right, int | float) and right >= 0):
        refuse("a power of rows of numbers other than a public one from 0 on", "x ** 2")
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Vectors) and (name == "mul" or (name == "truediv" and one is left)):
            scaled = one.scaled(other if name == "mul" or not _is_number(other) or not other else 1 / other)
            if scaled is not None:
                return scaled
    return each(OPERATION[name], left, right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def each(function: Callable[..., Any], *values: Any) -> Vectors:
    """Return what a function does with the row of each record."""
    operands = [vectors_of(one) if isinstance(one, Column | Vectors) else one for one in values]
    rows = next(one.rows for one in operands if isinstance(one, Vectors))
    for one in operands:
        if isinstance(one, Vectors):
            if not one.rows.same(rows):
                refuse("arithmetic of arrays of different rows", "arrays of one frame")
        elif isinstance(one, Private):
            refuse(f"rows of numbers of each record together with a {one.noun}", NOISE_FIRST)
        elif isinstance(one, Token):
            if not (one.is_array or one.is_number):
                refuse("rows of numbers together with a released value of which the shape is not known", "an array")
        elif not _is_number(one) and not (type(one) is np.ndarray and one.dtype.kind in "iuf"):
            refuse(f"rows of numbers of each record together with a {noun_of(one)}", "numbers")
    return Vectors(rows, _tail("this", function, *operands))


def _tail(what: str, function: Callable[..., Any], *values: Any) -> tuple[int, ...]:
    """Return the shape of what a function gives for each record, which it has to treat by itself."""
    tails: list[tuple[int, ...]] = []
    for length in _LENGTHS:
        stand_ins = [
            np.ones((length, *one.tail))
            if isinstance(one, Vectors)
            else np.ones(one.shape or ())
            if isinstance(one, Token)
            else one
            for one in values
        ]
        try:
            with np.errstate(all="ignore"):
                shape = np.shape(function(*stand_ins))
        except (ValueError, IndexError, TypeError):
            refuse(f"{what} of arrays of shapes that do not fit", "one row for each record")
        if not shape or shape[0] != length:
            refuse(f"{what} that does not treat each record by itself", "an axis from 1 on")
        tails.append(shape[1:])
    if tails[0] != tails[1]:
        refuse(f"{what} that brings records together", "[:, None]")
    return tails[0]


def of_numpy(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What a function of NumPy does with rows of numbers, among others."""
    first = args[0] if args else None
    if name in ("maximum", "minimum") and len(args) == 2 and not keywords:
        for one, other in (args, args[::-1]):
            if isinstance(one, RowLengths):
                return one.limited(other, is_least=name == "minimum")
    if name == "norm" and set(keywords) <= {"axis", "keepdims", "ord"} and len(args) == 1:
        if keywords.get("ord", 2) not in (None, 2) or keywords.get("axis") != 1 or len(vectors_of(first).tail) != 1:
            refuse("the length of rows in this form", "np.linalg.norm(x, axis=1)")
        return RowLengths(first, has_axis=keywords.get("keepdims", False) is True)
    if name == "nan_to_num" and len(args) == 1 and not keywords:
        rows = vectors_of(first)
        return Vectors(rows.rows, rows.tail, is_finite=True)
    if name in _ALONG and isinstance(first, Vectors) and len(args) <= 2 and set(keywords) <= {"axis", "keepdims"}:
        axis = args[1] if len(args) == 2 else keywords.get("axis")
        return first.along(name, axis, keepdims=keywords.get("keepdims", False) is True)
    if name in _EACH and not keywords and not any(isinstance(one, Turned | RowLengths | Ball) for one in args):
        if name in ("power", "matmul", "add", "subtract", "multiply", "divide", "true_divide"):
            return operated({"power": "pow", "subtract": "sub", "multiply": "mul", "divide": "truediv",
                             "true_divide": "truediv"}.get(name, name), *args)  # fmt: skip
        return each(getattr(np, name), *args)
    return refuse(f"np.{name} of rows of numbers of each record in this form", NOISE_FIRST)


# --- How far do functions of private numbers move? -------------------------------------------------------

_LESS = 1 - 2.0**-50  # a root is a float, and so is the scale that is made of it: they are read as equal
WHOLE = {"np.int64", "number", "?"}
"""Types of numbers that may be whole ones of 64 bits."""
_LARGEST = 1e150
_PRODUCT = "np.clip(n, 0, HIGH) * np.clip(m, 0, HIGH) + laplace(…)"
_NOT_BELOW_0 = "np.sqrt(np.maximum(n, 0)) + laplace(…)"
_BOUNDED = "np.clip(n, 0, HIGH) ** 2 + laplace(…)"


def power(x: Number, exponent: Any) -> Number:
    """``x ** c``."""
    refuse_small(exponent)
    p = cells.simple(exponent)
    if p == 1:
        return x.same()
    if p == 0 or abs(p) > 100 or p.denominator > 1000:
        refuse("a private number to this power", _BOUNDED)
    if p < 0 and not isinstance(exponent, float):
        refuse("a whole negative power, to which NumPy raises no whole number", "1 / x")
    least, most = x.range()
    if np.any(least < 0):
        if p.denominator != 1 or p % 2:
            refuse(f"a power ({p}) of a private number that may be below 0", _NOT_BELOW_0)
        x = x.absolute()
        least, most = x.range()
    if p < 0 and not np.all(least > 0):
        refuse("a quotient by a private number that may be 0", RATIO)
    whole = not isinstance(exponent, float)
    if whole and x.kinds & WHOLE and np.any(most ** float(p) > 2.0**62):
        refuse("a power of whole numbers so large that it may wrap", ".astype(float)")
    kinds = frozenset(joined(each, kind_of_plain(exponent) or "?", division=p < 0) for each in x.kinds)
    if x.shape:
        kinds = x.of_array() if whole else NP_FLOAT
    return _bent(x, "power", p).same(is_whole=x.is_whole and p > 0 and p.denominator == 1, kinds=kinds)


def logarithm(x: Number) -> Number:
    """``ln x``."""
    if not np.all(x.range()[0] > 0):
        refuse("a logarithm of a private number that may be 0 or less", "np.log(np.maximum(n, 1)) + laplace(…)")
    return _bent(x, "log", None)


def exponential(x: Number) -> Number:
    """``e ** x``."""
    return _bent(x, "exp", None)


def _bent(x: Number, function: str, p: Fraction | None) -> Number:
    """Return what a function of one bend makes of a number of which the ends are known that it needs."""
    falls = p is not None and p < 0
    is_steep_above = function == "exp" or (p is not None and p > 1)
    least, most = x.range()
    end = most if is_steep_above else least
    with np.errstate(all="ignore"):
        if not np.all(np.isfinite(end)):
            refuse("a function of a private number that becomes steeper, without a largest one", _BOUNDED)
        if not np.all(np.abs(_value(function, p, end)) < _LARGEST):
            refuse("a function of a private number that may become huge", _BOUNDED)
        x, slope = _of_records(x, function, p, end)
        most_apart = np.where(np.isfinite(most - least) & (not x.per), most - least, np.inf)
        rows = x.selection.times if x.selection.kind in ("person", "swapped") else 1

        def moved(far: Any) -> Any:
            far = np.maximum(far, 0.0)
            if slope is not None:
                return slope * far
            if rows > 1:
                far = np.broadcast_to(far.max(0, keepdims=True) * rows, far.shape)
            return _counted(_move(function, p, end, np.minimum(far, most_apart), above=is_steep_above)) / rows

        up, down = moved(x.high), moved(-x.low)
        low, high = (-up, down) if falls else (-down, up)
        ends = _value(function, p, least), _value(function, p, most)
    terms = None
    if slope is None and (not x.per or x.is_plain):
        terms = steps.of_numbers("curve", x.step(), shape=x.shape, function=function, exponent=p)
    bent = x.like(low, high, is_whole=False, terms=terms, kinds=NP_FLOAT)
    bent.known = spanned(*widened_range(*(ends[::-1] if falls else ends)))
    if x.per and slope is None and p is not None:
        bent.per = x.per * p
    return bent


def _of_records(x: Number, function: str, p: Fraction | None, end: Any) -> tuple[Number, Any]:
    """Return a number, and by how much more than it the function moves where it moves less, the more records there are.

    A root that begins at 0 has no such factor: √(d/n) is √d/√n.
    """
    if not x.per:
        return x, None
    slope = np.abs({"log": 1 / end, "exp": np.exp(end)}[function] if p is None else float(p) * end ** float(p - 1))
    if np.all(np.isfinite(slope)):
        return x, slope
    is_root = p is not None and 0 < p < 1 and not np.any(end)
    return (x if is_root else x.slower(Fraction(0))), None


def _value(function: str, p: Fraction | None, x: Any) -> Any:
    if p is not None:
        return np.sqrt(x) if p == Fraction(1, 2) else x ** float(p)
    return np.log(x) if function == "log" else np.exp(x)


def _move(function: str, p: Fraction | None, end: Any, far: Any, *, above: bool) -> Any:
    """Return how far a function moves between its steep end and a number so far from it."""
    if function == "log":
        return np.log1p(far / end)
    if function == "exp":
        return np.exp(end) * -np.expm1(-far)
    assert p is not None
    if p == Fraction(1, 2):
        return np.where(far == 0, 0.0, far / (np.sqrt(end + far) + np.sqrt(end)))
    if p == 2:
        return far * (2 * end - far)
    ratio = np.where(end == 0, 0.0, (-far if above else far) / np.where(end == 0, 1.0, end))
    rest = np.abs(end ** float(p) * np.expm1(float(p) * np.log1p(ratio)))
    return np.where(end == 0, far ** float(p), rest)


def _counted(table: Any) -> Any:
    """Return distances, those that are no simple fractions a little less than they are computed."""
    values, places = np.unique(table, return_inverse=True)
    distances = [each if cells.simple(each).denominator <= 1_000_000 else each * _LESS for each in values.tolist()]
    return np.array(distances)[places].reshape(table.shape)


# --- several numbers ------------------------------------------------------------------------------------------


def product(x: Number, y: Number) -> Number:
    """``x * y``: moves by dx·y′ + x·dy."""
    if x is y:
        return power(x, 2)
    if y.selection is not x.selection or y.sample != x.sample:
        refuse("a product of numbers of differently chosen rows", "noise of its own for each")
    ranges = [x.range(), y.range()]
    if not all(np.all(np.isfinite(end)) for ends in ranges for end in ends):
        refuse("a product of private numbers, of which one has no least or largest value", _PRODUCT)
    shape = np.broadcast_shapes(x.shape, y.shape)
    if shape not in (x.shape, y.shape) or ((x.shape or y.shape) and (x.labels is not None or y.labels is not None)):
        refuse("a product of tables of private numbers in this form", ".to_numpy()")
    per = min(x.per, y.per)
    axes, *moves = on_common_axes(x.slower(per), y.slower(per))
    low, high, least, most = (padded(each, len(shape)) for each in moves)
    corners = [move * end for move in (low, high) for end in ranges[1]]
    others = [move * end for move in (least, most) for end in ranges[0]]
    between = [a * b for a in ranges[0] for b in ranges[1]]
    x.refuse_to_wrap(0 if y.kinds & {"int", "bool", *WHOLE} else 0.5, *between)
    terms = None
    if x.per == y.per == 0 and x.shape == y.shape:
        terms = steps.of_numbers("product", x.step(), y.step(), shape=shape)
    kinds = frozenset(joined(a, b) for a in x.kinds for b in y.kinds) if not shape else NP_FLOAT
    moved = x.like(
        np.minimum.reduce(corners) + np.minimum.reduce(others),
        np.maximum.reduce(corners) + np.maximum.reduce(others),
        is_whole=x.is_whole and y.is_whole and not shape, kinds=kinds, terms=terms, per=per,
    )  # fmt: skip
    moved.axes = axes
    moved.known = spanned(*widened_range(np.minimum.reduce(between), np.maximum.reduce(between)))
    return moved


def norm(x: Number, order: Any = None) -> Number:
    """``np.linalg.norm`` of an array: it moves by no more than the norm of the movements."""
    if len(x.shape) != 1 or order not in (None, 1, 2):
        refuse("a norm of private numbers in this form", "np.linalg.norm(x) of an array of one axis")
    x = x.as_array()
    if order == 1:
        return x.absolute().total()
    far = np.sqrt((np.maximum(np.abs(x.low), np.abs(x.high)) ** 2).sum(1))
    far = _counted(far)
    terms = steps.of_numbers("norm", x.step())
    length = x.like(-far, far, labels=None, is_whole=False, kinds=NP_FLOAT, terms=terms)
    least, most = x.range()
    length.known = spanned(*widened_range(0.0, math.sqrt(float((np.maximum(-least, most) ** 2).sum()))))
    return length


__all__ = [
    "OF_ROWS",
    "Ball",
    "RowLengths",
    "Turned",
    "Vectors",
    "each",
    "exponential",
    "logarithm",
    "norm",
    "of_numpy",
    "operated",
    "power",
    "product",
    "vectors_of",
]
