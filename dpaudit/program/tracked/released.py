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

from dpaudit.program.tracked.guarded import Guarded
from dpaudit.program.tracked.magnitude import Magnitude, cancels, exact, of
from dpaudit.program.tracked.path import ANYTHING, FINITE, NUMBER, PATH, refuse
from dpaudit.program.tracked.truth import ANEW, Truth, leaves

_COMPARED: dict[Any, str] = {
    np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=", np.equal: "==", np.not_equal: "!=",
}  # fmt: skip
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NEGATED = {"<": ">=", "<=": ">", "!=": "=="}  # what a fork asks instead
_PLAINLY: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_KEEPS_SHAPE = {
    "solve", "inv", "pinv", "cumsum", "cumprod", "sort", "argmax", "argmin", "argsort", "where", "maximum", "minimum",
    "clip", "sum", "mean", "max", "min", "amax", "amin", "prod", "dot", "round", "around", "outer", "inner", "trace",
    "concatenate", "stack", "vstack", "hstack", "reshape", "ravel", "transpose", "diag", "diff", "norm", "nan_to_num",
    "zeros_like", "ones_like", "full_like", "atleast_1d", "atleast_2d", "squeeze", "expand_dims", "median", "std",
    "var", "all", "any", "searchsorted", "interp", "tril", "triu", "matmul", "einsum", "average", "percentile",
    "quantile", "copy", "append", "flip", "roll", "tile", "repeat", "linspace",
}  # fmt: skip


_READ_ONLY = {"out", "copy", "where", "dtype"}  # options that write elsewhere, or into the values themselves


def is_private(value: Any) -> bool:
    """Whether a value is private, or noise that nobody may see."""
    return getattr(type(value), "is_private", False) is True


def key_of(value: Any) -> Hashable:
    """Return what stands for a value in an expression of tokens."""
    if isinstance(value, ReleasedNumber):
        return ("number", value.magnitude.coefficient, value.magnitude.unit)
    if isinstance(value, ReleasedArray):
        return ("array", value.token, value.shape)
    if isinstance(value, Truth):
        return ("truth", *value.told())
    if isinstance(value, str | type(None) | bool | slice | Ellipsis.__class__ | type):
        return repr(value)
    if isinstance(value, list | tuple):
        return (type(value).__name__, *map(key_of, value))
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            refuse("an array of objects; write np.array([…]) with NumPy's own name")
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
        if isinstance(value, ReleasedNumber | Truth)
        else np.shape(value)
    )


def sureness(*values: Any) -> int:
    """Return what is sure of what is computed of values: a number or numbers where all are, and else nothing."""
    for value in values:
        if isinstance(value, ReleasedNumber):
            is_number = PATH.get().is_number(value.magnitude.unit)
        elif isinstance(value, ReleasedArray):
            is_number = PATH.get().sure.get(value.token, ANYTHING) >= NUMBER
        elif isinstance(value, list | tuple):
            is_number = sureness(*value) >= NUMBER
        elif isinstance(value, np.ndarray):
            is_number = value.dtype.kind in "biufc"
        else:
            is_number = value is None or isinstance(value, bool | int | float | np.number | np.bool_ | Truth | slice)
        if not is_number:
            return ANYTHING
    return NUMBER


def released(shape: tuple[int, ...], *expression: Hashable, sure: int = ANYTHING) -> Any:
    """Return the released value that an expression stands for, and of which so much is sure."""
    path = PATH.get()
    token = path.token(*expression)
    path.sure.setdefault(token, sure)
    return ReleasedArray(token, shape) if shape else ReleasedNumber(of(Fraction(1), ((token, 1),)))


def fresh(shape: tuple[int, ...] = (), sure: int = FINITE) -> Any:
    """Return a released value of its own."""
    return released(shape, "fresh value", PATH.get().fresh(), sure=sure)


def released_array(values: Any) -> Any:
    """Return an array of a list in which there are released values."""

    def shape(value: Any) -> tuple[int, ...]:
        if not isinstance(value, list | tuple):
            return shape_of(value)
        shapes = {shape(each) for each in value}
        if len(shapes) != 1:
            raise ValueError("setting an array element with a sequence: the rows are not of one length")
        return (len(value), *shapes.pop())

    return boxed(released(shape(values), "array", key_of(values), sure=sureness(values)))


def boxed(value: Any) -> Any:
    """Note that a released number is an array without axes in a run, which arithmetic in place would change."""
    if isinstance(value, ReleasedNumber):
        value.is_boxed = True
    return value


def _computed(name: str, values: tuple[Any, ...], keywords: dict[str, Any] | None = None) -> Any:
    """Return the token of an elementwise function."""
    try:
        shape = np.broadcast_shapes(*map(shape_of, values))
    except ValueError as error:
        raise ValueError(f"operands could not be broadcast together: {error}") from None
    return released(
        shape, name, *map(key_of, values), *map(repr, sorted((keywords or {}).items())), sure=sureness(*values)
    )


class _Released(Guarded, np.lib.mixins.NDArrayOperatorsMixin):  # type: ignore[metaclass]
    """What released numbers and arrays share."""

    __slots__ = ()
    sort = "released"
    inner = Guarded.inner | {"is_private"}
    is_private = False

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Return what a ufunc gives of released values: a token."""
        if any(is_private(value) for value in inputs):
            return NotImplemented
        if method != "__call__" or keywords or getattr(np, ufunc.__name__, None) is not ufunc:
            refuse(f"np.{ufunc.__name__} in this form of released values; write noise.post(f, value)")
        if any(isinstance(value, np.ndarray) and value.dtype == object for value in inputs):
            refuse("arithmetic with an array of objects; write np.array([…]) with NumPy's own name")
        if ufunc is np.matmul:
            shape = np.matmul(*(np.ones(shape_of(value)) for value in inputs)).shape
            return released(shape, "matmul", *map(key_of, inputs), sure=sureness(*inputs))
        if all(shape_of(value) == () for value in inputs):
            found = _of_scalars(ufunc, inputs)
            if found is not None:
                return found
        return _computed(ufunc.__name__, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return what an array function gives: a token, where its shape does not hang on values."""
        name = function.__name__
        own = function in (getattr(np, name, None), getattr(np.linalg, name, None))
        if name not in _KEEPS_SHAPE or not own or not _READ_ONLY.isdisjoint(kwargs):
            refuse(f"np.{name} of released values; write noise.post(np.{name}, value)")

        def stand_in(value: Any) -> Any:
            if isinstance(value, _Released):
                return np.random.default_rng(0).uniform(1, 2, shape_of(value))
            if is_private(value) or (isinstance(value, np.ndarray) and value.dtype == object):
                refuse(f"np.{name} of released values together with private ones, or with objects")
            if isinstance(value, Truth):
                return True
            return type(value)(map(stand_in, value)) if isinstance(value, list | tuple) else value

        given = [stand_in(value) for value in args]
        shape = np.shape(function(*given, **{name: stand_in(value) for name, value in kwargs.items()}))
        named = [(name, key_of(value)) for name, value in sorted(kwargs.items())]
        numbers = (value for value in (*args, *kwargs.values()) if not isinstance(value, str))
        return boxed(released(shape, function.__name__, *map(key_of, args), *named, sure=sureness(*numbers)))

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
        return boxed(_computed("astype", (self,), {"kind": kind}))

    def copy(self) -> Any:
        """Return the same value: a token does not change."""
        return self

    def __floor__(self) -> Any:
        return _computed("floor", (self,))

    def __ceil__(self) -> Any:
        return _computed("ceil", (self,))

    def __trunc__(self) -> Any:
        return _computed("trunc", (self,))


def magnitude_of(value: Any) -> Magnitude:
    """Return a public or released number as a bound or scale is made of it; refuse a private one."""
    if isinstance(value, ReleasedNumber):
        if not PATH.get().is_number(value.magnitude.unit):
            refuse("a result of noise.post where a number is needed; write noise.post(f, value, shape=()) for one")
        return value.magnitude
    if is_private(value):
        refuse("a bound, factor or scale that depends on data without noise")
    return of(exact(value))


class ReleasedNumber(_Released):
    """A released number, or a constant that counts exactly: a coefficient times a product of tokens.

    ``plain`` is what floats make of a constant.
    """

    __slots__ = ("is_boxed", "magnitude", "plain")
    inner = _Released.inner | {"magnitude", "plain", "is_constant", "is_boxed"}

    def __init__(self, magnitude: Magnitude, plain: float | None = None) -> None:
        self.magnitude = magnitude
        self.plain = (1.0 if magnitude.unit else float(magnitude.coefficient)) if plain is None else plain
        self.is_boxed = False  # see `boxed`

    shape = ()
    ndim = 0

    @property
    def is_constant(self) -> bool:
        """Whether it is a public number."""
        return not self.magnitude.unit

    def shown_class(self) -> Any:
        """Return the type of a constant."""
        return float if self.is_constant else super().shown_class()

    def __array__(self, *_: Any, **__: Any) -> Any:
        if not self.is_constant:
            refuse("an array of released values; write np.array([…]) with NumPy's own name")
        return np.array(self.plain)

    def __float__(self) -> float:
        if not self.is_constant:
            refuse("float() of a released value, behind which nothing is read; write noise.post(float, value)")
        return self.plain

    def __int__(self) -> int:
        if not self.is_constant:
            refuse(
                "int() of a released value, behind which nothing is read; write round(value) or noise.post(int, value)"
            )
        return int(self.plain)

    def __hash__(self) -> int:
        if not self.is_constant:
            refuse("hash() of a released value, as a key or in a set; write noise.post(f, value)")
        return hash(self.plain)

    def __str__(self) -> str:
        if not self.is_constant:
            refuse("the text of a released value; write noise.post(str, value)")
        return repr(self.plain)

    def __repr__(self) -> str:
        return repr(self.plain) if self.is_constant else super().__repr__()

    def __format__(self, how: str) -> str:
        if not self.is_constant:
            refuse("the text of a released value; write noise.post(lambda value: f'…{value}…', value)")
        return format(self.plain, how)

    def _unshared(self) -> ReleasedNumber:
        """Return the number, which is certainly no array or list that has other names, too."""
        if self.is_boxed or not PATH.get().is_number(self.magnitude.unit):
            refuse("arithmetic in place of what may be an array, which would change under its other names: x = x + …")
        return self

    def __iadd__(self, other: Any) -> Any:
        return self._unshared() + other

    def __isub__(self, other: Any) -> Any:
        return self._unshared() - other

    def __imul__(self, other: Any) -> Any:
        return self._unshared() * other

    def __itruediv__(self, other: Any) -> Any:
        return self._unshared() / other

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
    inner = _Released.inner | {"keys_", "token", "entry"}

    def __init__(self, token: int, shape: tuple[int, ...], keys: tuple[Any, ...] | None = None) -> None:
        self.token, self.shape, self.keys_ = token, shape, keys

    def shown_class(self) -> Any:
        """Return the type that it has in a run: an array, where it has no keys."""
        return np.ndarray if self.keys_ is None else super().shown_class()

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
        return released(self.shape[::-1], "transpose", key_of(self), sure=self._sure)

    @property
    def _sure(self) -> int:
        return PATH.get().sure.get(self.token, ANYTHING)

    def entry(self, place: tuple[int, ...]) -> Any:
        """Return one of the numbers."""
        return self.to_numpy()[place if len(place) != 1 else place[0]] if place else self

    def __array__(self, *_: Any, **__: Any) -> Any:
        refuse("an array of released values; write np.array([…]) with NumPy's own name")

    def __getitem__(self, index: Any) -> Any:
        if self.keys_ is not None and not isinstance(index, slice):
            if index not in self.keys_:
                raise KeyError(index)
            index = self.keys_.index(index)
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(each, _Released | Truth) or is_private(each) for each in parts):
            refuse("a released value as an index; write noise.post(f, values, index)")
        shape = np.shape(np.empty(self.shape)[index])
        if all(type(each) in (int, slice) for each in parts):
            return released(shape, "item", key_of(self), repr(index), sure=self._sure)
        return boxed(fresh(shape, self._sure))

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
        found = released(self.shape, "sort_index", self.token, sure=self._sure)
        return ReleasedArray(found.token, self.shape, order)

    def _reduced(self, name: str) -> Any:
        return released((), name, key_of(self), sure=min(self._sure, NUMBER))

    def sum(self, axis: int | None = None) -> Any:
        """Return the sum, of all entries or along an axis."""
        if axis is None:
            return self._reduced("sum")
        shape = np.zeros(self.shape).sum(axis=axis).shape
        return released(shape, "sum", key_of(self), axis, sure=min(self._sure, NUMBER))

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
        return released(self.shape, "cumsum", key_of(self), sure=min(self._sure, NUMBER))

    def reshape(self, *shape: Any) -> Any:
        """Return the same numbers in another shape."""
        return boxed(released(np.empty(self.shape).reshape(*shape).shape, "reshape", key_of(self), sure=self._sure))

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
    if sureness(*inputs) < NUMBER or any(isinstance(value, Truth) for value in inputs):
        return None
    if any(isinstance(value, float | np.floating) and not np.isfinite(value) for value in inputs):
        return None
    found = [value.magnitude if isinstance(value, ReleasedNumber) else of(exact(value)) for value in inputs]
    if all(not each.unit for each in found):
        return _of_constants(ufunc, inputs, [each.coefficient for each in found])
    if ufunc is np.multiply and not cancels(found[0].unit, found[1].unit) and not any(each.is_zero for each in found):
        return ReleasedNumber(found[0] * found[1])
    if ufunc is np.divide:
        if found[1].is_zero:
            refuse("a division by 0, which raises for a number of Python, and not for one of NumPy")
        if not cancels(found[0].unit, found[1].unit, -1) and not found[0].is_zero:
            return ReleasedNumber(found[0].over(found[1]))
    if ufunc is np.negative:
        return ReleasedNumber(-found[0])
    return ReleasedNumber(found[0]) if ufunc is np.positive else None


def _of_constants(ufunc: np.ufunc, inputs: tuple[Any, ...], values: list[Fraction]) -> Any:
    """Return a function of constants: exactly, and as floats give it."""
    if ufunc is np.divide and not values[1]:
        refuse("a division by 0, which raises for a number of Python, and not for one of NumPy")
    with np.errstate(all="ignore"):
        plain = ufunc(*(value.plain if isinstance(value, ReleasedNumber) else value for value in inputs))
    if not isinstance(plain, bool | int | float | np.number) or not np.isfinite(plain):
        refuse(f"np.{ufunc.__name__} of constants, which gives {plain!r}")
    found: Fraction | None = None
    if ufunc in _EXACTLY:
        found = _EXACTLY[ufunc](*values)
    elif ufunc is np.power and values[1].denominator == 1 and abs(values[1]) <= 64 and (values[0] or values[1] >= 0):
        found = values[0] ** int(values[1])
    return ReleasedNumber(of(exact(float(plain)) if found is None else found), float(plain))


_EXACTLY: dict[Any, Callable[..., Fraction]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
    np.absolute: operator.abs, np.negative: operator.neg, np.positive: operator.pos,
}  # fmt: skip


def _is_plain(value: Any) -> bool:
    """Whether a value is a released number, or a finite public one."""
    if isinstance(value, float | np.floating):
        return bool(np.isfinite(value))
    return isinstance(value, ReleasedNumber | int | np.number | Fraction | np.bool_)


def _anew() -> Truth:
    """Return a comparison of what may be anything: each time that it is asked, anything may come out."""
    return Truth((ANEW, PATH.get().fresh()), None, negated=False)


def _with_others(name: str, one: Any, other: Any) -> Truth:
    """Return a comparison with infinity, NaN, a text or None."""
    mine = one if isinstance(one, ReleasedNumber) else other
    value = other if mine is one else one
    is_float = isinstance(value, float | np.floating)
    unit = mine.magnitude
    if mine.is_constant or (is_float and PATH.get().is_finite(unit.unit) and abs(unit.coefficient) == 1):
        left, right = (each.plain if each is mine else each for each in (one, other))
        return Truth(None, bool(_PLAINLY[name](left, right)), negated=False)
    if not is_float and value is not None and type(value) is not str:
        refuse(f"a comparison of a released value and a {type(value).__name__}")
    if not PATH.get().is_number(unit.unit):
        return _anew()
    return Truth((name, mine is one, unit, repr(value)), None, negated=False)


def compared(name: str, one: Any, other: Any) -> Truth:
    """Return a comparison in its one form.

    A released value may be NaN, infinite or no number at all, unless it is finite for certain: only then is "not
    above" the same as "at most".
    """
    if any(is_private(value) for value in (one, other)):
        refuse("a comparison of a private value")
    sides = (one, other)
    if not all(map(_is_plain, sides)):
        return _with_others(name, one, other)
    left, right = (value.magnitude if isinstance(value, ReleasedNumber) else of(exact(value)) for value in sides)
    if not left.unit and not right.unit:
        holds = _PLAINLY[name](left.coefficient, right.coefficient)
        floats = _PLAINLY[name](*(value.plain if isinstance(value, ReleasedNumber) else value for value in sides))
        if bool(floats) != holds:
            refuse("a comparison of constants that rounding decides; compare with some room")
        return Truth(None, holds, negated=False)
    if not all(PATH.get().is_number(each.unit) for each in (left, right)):
        return _anew()
    if not left.unit:
        left, right, name = right, left, _TURNED[name]
    negated = name in _NEGATED and (
        name == "!=" or all(not each.unit or PATH.get().is_finite(each.unit) for each in (left, right))
    )
    name = _NEGATED[name] if negated else name
    if right.is_zero and len(left.unit) == 1 and left.unit[0][1] == 1 and left.coefficient > 0 and name == ">":
        return Truth(("> 0", left.unit[0][0]), None, negated=negated)
    return Truth((name, left, right), None, negated=negated)
