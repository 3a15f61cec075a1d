"""What may be done with a row of numbers of each record of which only the shape is known? Clip its length, and sum it.

Whatever treats each record by itself, also with released values, gives such rows: a record touches its own row alone.
A row that is divided by max(1, its Euclidean length / r) is at most r long, so that a record moves the sum of all rows
by a vector of at most that length, and x.T @ y by one of at most the product of both (Cauchy & Schwarz). Gaussian noise
hides it at ρ = r²/2σ² (Bun & Steinke 2016, Proposition 1.6; Abadi et al. 2016). A row with a missing or infinite number
has no length.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.reading.python import OPERATION
from dpaudit.reading.universe import numbers, sizes, steps
from dpaudit.reading.universe.cells import place_of
from dpaudit.reading.universe.columns import Column, Rows, plain
from dpaudit.reading.universe.lessons import refuse_form
from dpaudit.reading.universe.noise import Draw, note
from dpaudit.reading.universe.released import Token, array, number
from dpaudit.reading.universe.state import NOISE_FIRST, Private, current, refuse
from dpaudit.reading.universe.values import PUBLIC, sort_of

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
        self, rows: Rows, tail: tuple[int, ...], *, radius: float | None = None, is_finite: bool = False
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
            if not key.is_mask or not key.rows.same(self.rows):
                refuse("a choice of rows by something that is no mask of these rows", "a mask of the same frame")
            rows = self.rows.kept(key.space.take(np.flatnonzero(plain(key.low))), key)
            return Vectors(rows, self.tail, radius=self.radius, is_finite=self.is_finite)
        if not isinstance(key, tuple) or not key or key[0] != slice(None) or sort_of(key) != PUBLIC:
            refuse("a choice of rows by place: which record stands where is private", "a mask: x[x > 0]")
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
        universe.columns = {**universe.columns, name: place_of(name)}
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


class Lengths(Private):
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

    def like(self, **changes: Any) -> Lengths:
        """Return the same with changes."""
        known = {"has_axis": self.has_axis, "over": self.over, "radius": self.radius, "is_factor": self.is_factor}
        return Lengths(self.of, **{**known, **changes})

    def select(self, key: Any) -> Lengths:
        """``lengths[:, None]``."""
        if self.has_axis or not isinstance(key, tuple) or key != (slice(None), None):
            refuse("a choice among lengths of rows", "lengths[:, None]")
        return self.like(has_axis=True)

    def limited(self, one: Any, *, is_least: bool) -> Lengths:
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
            found = vectors_of(other)
            return Vectors(found.rows, found.tail, radius=self.radius, is_finite=found.is_finite)
        return refuse("lengths of rows in this form", _CLIP)


class Ball(Private):
    """A sum of rows: a record moves it by a vector of at most a length."""

    __slots__ = ("radius", "rows", "shape")
    noun = "sum of rows of a known length"

    def __init__(self, rows: Rows, radius: float, shape: tuple[int, ...]) -> None:
        self.rows, self.radius, self.shape = rows, radius, shape

    def operated(self, name: str, other: Any, *, is_left: bool) -> Any:
        """Noise on it, or a multiple by a public number."""
        if name in ("add", "sub") and isinstance(other, Draw):
            return self._released(other)
        is_number = isinstance(other, int | float | np.number) and not isinstance(other, bool) and math.isfinite(other)
        if is_number and (name == "mul" or (name == "truediv" and is_left and other)):
            factor = abs(float(other)) if name == "mul" else 1 / abs(float(other))
            return Ball(self.rows, self.radius * factor, self.shape)
        return refuse("a sum of rows of a known length in this form", "Gaussian noise on it, of its shape")

    def _released(self, draw: Draw) -> Token:
        if draw.law != "gaussian" or np.ptp(draw.scales) > 0:
            refuse(f"{draw.law} noise on a sum of which only the Euclidean length is known", "one Gaussian scale")
        if draw.shape != self.shape:
            refuse("noise of another shape, of which one draw would protect several numbers", "size=x.shape")
        draw.use()
        ends = np.full(len(self.rows.space), self.radius)
        more = {"norm": 2, "radius": self.radius}
        made = None if self.rows.made is None else steps.Step("ball", (self.rows.made,), more)
        exact = numbers.summed_of(
            self.rows, self.rows.space, -ends, ends, whole=False, labels=None, columns=None, kinds=None, made=made
        )
        note("gaussian", exact, float(draw.scales.flat[0]), is_ball=True)
        return array(self.shape) if self.shape else number("np.float64")


OF_ROWS = (Vectors, Turned, Lengths, Ball)


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
    for kind in (Lengths, Ball):
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
            found = one.scaled(other if name == "mul" or not _is_number(other) or not other else 1 / other)
            if found is not None:
                return found
    return each(OPERATION[name], left, right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def each(function: Callable[..., Any], *values: Any) -> Vectors:
    """Return what a function does with the row of each record."""
    found = [vectors_of(one) if isinstance(one, Column | Vectors) else one for one in values]
    rows = next(one.rows for one in found if isinstance(one, Vectors))
    for one in found:
        if isinstance(one, Vectors):
            if not one.rows.same(rows):
                refuse("arithmetic of arrays of different rows", "arrays of one frame")
        elif isinstance(one, Private):
            refuse(f"rows of numbers of each record together with a {one.noun}", NOISE_FIRST)
        elif isinstance(one, Token):
            if not (one.is_array or one.is_number):
                refuse("rows of numbers together with a released value of which the shape is not known", "an array")
        elif not _is_number(one) and not (type(one) is np.ndarray and one.dtype.kind in "iuf"):
            refuse(f"rows of numbers of each record together with a {type(one).__name__}", "numbers")
    return Vectors(rows, _tail("this", function, *found))


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
            if isinstance(one, Lengths):
                return one.limited(other, is_least=name == "minimum")
    if name == "norm" and set(keywords) <= {"axis", "keepdims", "ord"} and len(args) == 1:
        if keywords.get("ord", 2) not in (None, 2) or keywords.get("axis") != 1 or len(vectors_of(first).tail) != 1:
            refuse("the length of rows in this form", "np.linalg.norm(x, axis=1)")
        return Lengths(first, has_axis=keywords.get("keepdims", False) is True)
    if name == "nan_to_num" and len(args) == 1 and not keywords:
        found = vectors_of(first)
        return Vectors(found.rows, found.tail, is_finite=True)
    if name in _ALONG and isinstance(first, Vectors) and len(args) <= 2 and set(keywords) <= {"axis", "keepdims"}:
        axis = args[1] if len(args) == 2 else keywords.get("axis")
        return first.along(name, axis, keepdims=keywords.get("keepdims", False) is True)
    if name in _EACH and not keywords and not any(isinstance(one, Turned | Lengths | Ball) for one in args):
        if name in ("power", "matmul", "add", "subtract", "multiply", "divide", "true_divide"):
            return operated({"power": "pow", "subtract": "sub", "multiply": "mul", "divide": "truediv",
                             "true_divide": "truediv"}.get(name, name), *args)  # fmt: skip
        return each(getattr(np, name), *args)
    return refuse(f"np.{name} of rows of numbers of each record in this form", NOISE_FIRST)


__all__ = ["OF_ROWS", "Ball", "Lengths", "Turned", "Vectors", "each", "of_numpy", "operated", "vectors_of"]
