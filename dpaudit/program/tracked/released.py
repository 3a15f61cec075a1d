"""What may be done with what was released? Everything: it stays released, and is called by a token.

Arithmetic, comparisons, `round`, NumPy's ufuncs and array functions whose shape does not hang on values stay tokens.
What demands a plain number or text (`int`, `float`, f-strings, hashing, indexing) is refused, because the branches
behind it would not be read: ``noise.post(f, value)`` hands plain values to a function.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.tracked.magnitude import Magnitude, exact, of
from dpaudit.program.tracked.path import PATH, refuse
from dpaudit.program.tracked.truth import Truth, leaves

_COMPARED: dict[Any, str] = {
    np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=", np.equal: "==", np.not_equal: "!=",
}  # fmt: skip
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NEGATED = {"<": ">=", "<=": ">", "!=": "=="}  # what a fork asks instead
_OF_NUMBERS: dict[str, Callable[[Any, Any], bool]] = {">": operator.gt, ">=": operator.ge, "==": operator.eq}
_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
    np.absolute: operator.abs, np.negative: operator.neg,
}  # fmt: skip
_KEEPS_SHAPE = {
    "solve", "inv", "pinv", "cumsum", "cumprod", "sort", "argmax", "argmin", "argsort", "where", "maximum", "minimum",
    "clip", "sum", "mean", "max", "min", "amax", "amin", "prod", "dot", "round", "around", "outer", "inner", "trace",
    "concatenate", "stack", "vstack", "hstack", "reshape", "ravel", "transpose", "diag", "diff", "norm", "nan_to_num",
    "zeros_like", "ones_like", "full_like", "atleast_1d", "atleast_2d", "squeeze", "expand_dims", "median", "std",
    "var", "all", "any", "searchsorted", "interp", "tril", "triu", "matmul", "einsum", "average", "percentile",
    "quantile", "copy", "append", "flip", "roll", "tile", "repeat", "linspace",
}  # fmt: skip


def is_private(value: Any) -> bool:
    """Whether a value is private, or noise that nobody may see."""
    return getattr(type(value), "is_private", False) is True


def key_of(value: Any) -> Hashable:
    """Return what stands for a value in an expression of tokens."""
    if isinstance(value, ReleasedNumber):
        return ("number", value.magnitude.coefficient, value.magnitude.unit)
    if isinstance(value, ReleasedArray):
        return ("array", value.token, value.shape)
    if isinstance(value, str | type(None) | bool | slice | Ellipsis.__class__ | type):
        return repr(value)
    if isinstance(value, list | tuple):
        return (type(value).__name__, *map(key_of, value))
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return ("objects", value.shape, *map(key_of, value.ravel().tolist()))
        return ("plain", value.dtype.str, value.shape, value.tobytes())
    if is_private(value):
        refuse("a private value where a released one is made")
    return exact(value)


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of a released or public value."""
    return (
        value.shape
        if isinstance(value, ReleasedArray)
        else ()
        if isinstance(value, ReleasedNumber)
        else np.shape(value)
    )


def released(shape: tuple[int, ...], *expression: Hashable) -> Any:
    """Return the released value that an expression stands for."""
    token = PATH.get().token(*expression)
    return ReleasedArray(token, shape) if shape else ReleasedNumber(of(Fraction(1), ((token, 1),)))


def fresh(shape: tuple[int, ...] = ()) -> Any:
    """Return a released value of its own."""
    return released(shape, "fresh value", PATH.get().fresh())


def _computed(name: str, values: tuple[Any, ...], keywords: dict[str, Any] | None = None) -> Any:
    """Return the token of an elementwise function."""
    try:
        shape = np.broadcast_shapes(*map(shape_of, values))
    except ValueError as error:
        raise ValueError(f"operands could not be broadcast together: {error}") from None
    return released(shape, name, *map(key_of, values), *map(repr, sorted((keywords or {}).items())))


class _Released(np.lib.mixins.NDArrayOperatorsMixin):
    """What released numbers and arrays share."""

    __slots__ = ()
    is_private = False

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Return what a ufunc gives of released values: a token."""
        if any(is_private(value) for value in inputs):
            return NotImplemented
        if method != "__call__" or keywords.get("out") is not None or keywords.get("where", True) is not True:
            refuse(f"np.{ufunc.__name__} in this form of released values; write noise.post(f, value)")
        if any(isinstance(value, np.ndarray) and value.dtype == object for value in inputs):
            return _each(ufunc, inputs)
        if ufunc is np.matmul:
            shape = np.matmul(*(np.ones(shape_of(value)) for value in inputs)).shape
            return released(shape, "matmul", *map(key_of, inputs))
        if all(shape_of(value) == () for value in inputs):
            found = _of_scalars(ufunc, inputs)
            if found is not None:
                return found
        return _computed(ufunc.__name__, inputs, keywords)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return what an array function gives: a token, where its shape does not hang on values."""
        name = function.__name__
        if name not in _KEEPS_SHAPE:
            refuse(f"np.{name} of released values; write noise.post(np.{name}, value)")

        def stand_in(value: Any) -> Any:
            if isinstance(value, _Released):
                return np.random.default_rng(0).uniform(1, 2, shape_of(value))
            if isinstance(value, np.ndarray) and value.dtype == object:
                return np.ones(value.shape)
            return type(value)(map(stand_in, value)) if isinstance(value, list | tuple) else value

        given = [stand_in(value) for value in args]
        shape = np.shape(function(*given, **{name: stand_in(value) for name, value in kwargs.items()}))
        named = [(name, key_of(value)) for name, value in sorted(kwargs.items())]
        return released(shape, function.__name__, *map(key_of, args), *named)

    def __repr__(self) -> str:
        return "<released>"

    def __round__(self, digits: int | None = None) -> Any:
        return _computed("round", (self, 0 if digits is None else digits))

    def round(self, decimals: int = 0) -> Any:
        """Round each number, as NumPy and pandas do."""
        return _computed("round", (self, decimals))

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Clip each number, as NumPy and pandas do."""
        return _computed(
            "clip", (self, *(each for each in (lower, upper) if each is not None)), {"lower": lower is not None}
        )

    def astype(self, kind: Any) -> Any:
        """Convert each number."""
        return _computed("astype", (self,), {"kind": kind})

    def copy(self) -> Any:
        """Return the same value: a token does not change."""
        return self

    def __floor__(self) -> Any:
        return _computed("floor", (self,))

    def __ceil__(self) -> Any:
        return _computed("ceil", (self,))

    def __trunc__(self) -> Any:
        return _computed("trunc", (self,))


def _each(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Apply a ufunc elementwise where an operand is an array of tokens, each by itself."""
    shapes = np.broadcast_shapes(*map(shape_of, inputs))
    parts = [np.broadcast_to(_objects(value), shapes).ravel() for value in inputs]
    found = np.empty(int(np.prod(shapes)), dtype=object)
    function: Callable[..., Any] = _OPERATORS.get(ufunc, ufunc)
    for place, values in enumerate(zip(*parts, strict=True)):
        found[place] = function(*values)
    return found.reshape(shapes)


def _objects(value: Any) -> Any:
    if isinstance(value, ReleasedArray):
        found = np.empty(value.shape, dtype=object)
        for index in np.ndindex(*value.shape):
            found[index] = value[index if len(index) > 1 else index[0]]
        return found
    alone = np.empty((), dtype=object)
    alone[()] = value
    return value if isinstance(value, np.ndarray) else alone


def magnitude_of(value: Any) -> Magnitude:
    """Return a public or released number as a bound or scale is made of it; refuse a private one."""
    if isinstance(value, ReleasedNumber):
        return value.magnitude
    if is_private(value):
        refuse("a bound, factor or scale that depends on data without noise")
    return of(exact(value))


class ReleasedNumber(_Released):
    """A released number, or a constant that counts exactly: a coefficient times a product of tokens."""

    __slots__ = ("magnitude",)

    def __init__(self, magnitude: Magnitude) -> None:
        self.magnitude = magnitude

    shape = ()
    ndim = 0

    @property
    def is_constant(self) -> bool:
        """Whether it is a public number."""
        return not self.magnitude.unit

    def __float__(self) -> float:
        if not self.is_constant:
            refuse("float() of a released value, behind which nothing is read; write noise.post(float, value)")
        return float(self.magnitude.coefficient)

    def __int__(self) -> int:
        if not self.is_constant:
            refuse(
                "int() of a released value, behind which nothing is read; write round(value) or noise.post(int, value)"
            )
        return int(self.magnitude.coefficient)

    def __hash__(self) -> int:
        if not self.is_constant:
            refuse("hash() of a released value, as a key or in a set; write noise.post(f, value)")
        return hash(self.magnitude.coefficient)

    def __str__(self) -> str:
        if not self.is_constant:
            refuse("the text of a released value; write noise.post(str, value)")
        return repr(float(self.magnitude.coefficient))

    def __format__(self, how: str) -> str:
        if not self.is_constant:
            refuse("the text of a released value; write noise.post(lambda value: f'…{value}…', value)")
        return format(float(self.magnitude.coefficient), how)

    __index__ = leaves("an index", "f")
    __reduce_ex__ = leaves("a copy", "f")

    def __bool__(self) -> bool:
        return bool(self != 0)

    def item(self) -> Any:
        """Return the number itself."""
        return self


class ReleasedArray(_Released):
    """A released array of a public shape.

    ``keys`` name its entries where it comes from a pandas object, in order.
    """

    __slots__ = ("keys_", "shape", "token")

    def __init__(self, token: int, shape: tuple[int, ...], keys: tuple[Any, ...] | None = None) -> None:
        self.token, self.shape, self.keys_ = token, shape, keys

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(np.prod(self.shape))

    @property
    def T(self) -> Any:  # noqa: N802 - as NumPy calls it
        """The transpose."""
        return released(self.shape[::-1], "transpose", key_of(self))

    def __getitem__(self, index: Any) -> Any:
        if self.keys_ is not None and not isinstance(index, slice):
            if index not in self.keys_:
                raise KeyError(index)
            index = self.keys_.index(index)
        if isinstance(index, _Released) or is_private(index):
            refuse("a released value as an index; write noise.post(f, values, index)")
        shape = np.shape(np.empty(self.shape)[index])
        plain = all(isinstance(each, int | slice) for each in (index if isinstance(index, tuple) else (index,)))
        return released(shape, "item", key_of(self), repr(index)) if plain else fresh(shape)

    def __setitem__(self, index: Any, value: Any) -> None:
        refuse("an assignment into a released array; make a new one, or write noise.post(f, values)")

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in (range(self.shape[0]) if self.keys_ is None else self.keys_))

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array with more than one element is ambiguous")
        return bool(self.reshape(1)[0])

    def all(self) -> Any:
        """Return whether all entries are true."""
        return self._reduced("all")

    def any(self) -> Any:
        """Return whether any entry is true."""
        return self._reduced("any")

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield its keys and entries, of a pandas object."""
        return zip(self._named(), self, strict=True)

    def _named(self) -> tuple[Any, ...]:
        if self.keys_ is None:
            raise AttributeError("a NumPy array has no keys")
        return self.keys_

    @property
    def index(self) -> Any:
        """The keys, of a pandas object."""
        return list(self._named())

    keys = property(lambda self: lambda: list(self._named()))
    values = property(lambda self: self.to_numpy())

    def to_dict(self) -> dict[Any, Any]:
        """Return the entries by their keys."""
        return dict(self.items())

    def to_numpy(self) -> ReleasedArray:
        """Return the same numbers without their keys."""
        return ReleasedArray(self.token, self.shape)

    def sort_index(self) -> Any:
        """Sort by the keys."""
        order = tuple(sorted(self._named()))
        return ReleasedArray(PATH.get().token("sort_index", self.token), self.shape, order)

    def _reduced(self, name: str) -> Any:
        return released((), name, key_of(self))

    def sum(self, axis: int | None = None) -> Any:
        """Return the sum, of all entries or along an axis."""
        if axis is None:
            return self._reduced("sum")
        return released(np.zeros(self.shape).sum(axis=axis).shape, "sum", key_of(self), axis)

    def mean(self) -> Any:
        """Return the mean of all entries."""
        return self._reduced("mean")

    def max(self) -> Any:
        """Return the largest entry."""
        return self._reduced("max")

    def min(self) -> Any:
        """Return the smallest entry."""
        return self._reduced("min")

    def argmax(self) -> Any:
        """Return the place of the largest entry."""
        return self._reduced("argmax")

    idxmax = argmax

    def cumsum(self) -> Any:
        """Return the sums up to each entry."""
        return released(self.shape, "cumsum", key_of(self))

    def reshape(self, *shape: Any) -> Any:
        """Return the same numbers in another shape."""
        return released(np.empty(self.shape).reshape(*shape).shape, "reshape", key_of(self))

    __hash__ = leaves("hash()", "f")
    __str__ = leaves("the text", "str")
    __format__ = leaves("the text", "str")
    __reduce_ex__ = leaves("a copy", "f")

    def tolist(self) -> list[Any]:
        """Return a list of its entries."""
        return [each.tolist() if isinstance(each, ReleasedArray) else each for each in self.to_numpy()]


def _of_scalars(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """What is computed exactly: products, quotients, sums of constants, and comparisons; None for the rest."""
    if ufunc in _COMPARED:
        return compared(_COMPARED[ufunc], *inputs)
    if any(isinstance(value, float | np.floating) and not np.isfinite(value) for value in inputs):
        return None
    found = [value.magnitude if isinstance(value, ReleasedNumber) else of(exact(value)) for value in inputs]
    if ufunc is np.multiply:
        return ReleasedNumber(found[0] * found[1])
    if ufunc is np.divide:
        if found[1].is_zero:
            refuse("a division by 0, which raises for a number of Python, and not for one of NumPy")
        return ReleasedNumber(found[0].over(found[1]))
    if ufunc is np.negative:
        return ReleasedNumber(-found[0])
    if ufunc is np.positive:
        return ReleasedNumber(found[0])
    if any(each.unit for each in found):
        return None
    plain = [each.coefficient for each in found]
    if ufunc in (np.add, np.subtract):
        return ReleasedNumber(of(plain[0] + plain[1] if ufunc is np.add else plain[0] - plain[1]))
    if ufunc is np.absolute:
        return ReleasedNumber(of(abs(plain[0])))
    if ufunc is np.power and plain[1].denominator == 1 and abs(plain[1]) <= 64 and (plain[0] or plain[1] >= 0):
        return ReleasedNumber(of(plain[0] ** int(plain[1])))
    return _plain(ufunc, plain)


def _plain(ufunc: np.ufunc, values: list[Fraction]) -> Any:
    """Return a function of constants as floats give it: the decimal that Python writes."""
    result = ufunc(*map(float, values))
    return ReleasedNumber(of(exact(float(result))))


def _with_infinity(name: str, one: Any, other: Any) -> bool:
    """A comparison with ±∞ or NaN: a released number is finite."""
    left, right = (0.0 if isinstance(value, ReleasedNumber) else float(value) for value in (one, other))
    return {
        "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right, "==": left == right,
        "!=": left != right,
    }[name]  # fmt: skip


def compared(name: str, one: Any, other: Any) -> Truth:
    """Return a comparison in its one form."""
    if any(is_private(value) for value in (one, other)):
        refuse("a comparison of a private value")
    if any(isinstance(value, float | np.floating) and not np.isfinite(value) for value in (one, other)):
        return Truth(None, _with_infinity(name, one, other), negated=False)
    if any(
        not isinstance(value, ReleasedNumber | int | float | np.number | Fraction | np.bool_) for value in (one, other)
    ):
        if name not in ("==", "!="):
            raise TypeError(f"{name!r} of a number and what is none")
        return Truth(None, name == "!=", negated=False)
    left, right = magnitude_of(one), magnitude_of(other)
    if not left.unit and right.unit:
        left, right, name = right, left, _TURNED[name]
    negated = name in _NEGATED
    name = _NEGATED.get(name, name)
    if not left.unit:
        return Truth(None, _OF_NUMBERS[name](left.coefficient, right.coefficient), negated=negated)
    if right.is_zero and len(left.unit) == 1 and left.unit[0][1] == 1 and left.coefficient > 0 and name == ">":
        return Truth(("> 0", left.unit[0][0]), None, negated=negated)
    return Truth((name, left, right), None, negated=negated)
