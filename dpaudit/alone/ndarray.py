"""How do lists of numbers broadcast, and how are they indexed? As arrays of any number of axes, row by row.

Only the indices that the check asks for are understood; any other raises `MissingError`, never another number.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any


class MissingError(ImportError):
    """Something that was asked of a stand-in, which only the library itself can do."""


def missing(what: str) -> MissingError:
    """Return the error for something that a stand-in does not offer.

    The base class is `ImportError`, which no check takes for an answer.
    """
    return MissingError(f"{what} is not in this file", name=what)


# --- What are the types of NumPy where it is not? ---


class _Kind(type):
    """A class that only stands in annotations, and of which nothing is an instance."""

    def __getitem__(cls, of: Any) -> Any:
        return cls

    def __instancecheck__(cls, value: Any) -> bool:
        return False


class generic(metaclass=_Kind):  # noqa: N801
    """The class of the numbers of NumPy, of which there are none here."""


class _Number(generic):
    """A number of a type that is not here: it can be made, as modules do when they are loaded, and not used."""

    def __init__(self, value: Any = 0) -> None:
        """Nothing is kept of it."""


def _unusable(self: Any, *given: Any) -> Any:
    raise missing("a number of NumPy")


for _name in (
    "int", "float", "index", "bool", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv",
    "rfloordiv", "mod", "rmod", "pow", "rpow", "and", "rand", "or", "ror", "xor", "rxor", "lshift", "rlshift",
    "rshift", "rrshift", "neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge", "hash", "str", "repr",
    "len", "iter", "getitem", "format",
):  # fmt: skip
    setattr(_Number, f"__{_name}__", _unusable)


class bool_(_Number): ...  # noqa: N801, D101


class integer(_Number): ...  # noqa: N801, D101


class floating(_Number): ...  # noqa: N801, D101


class complexfloating(_Number): ...  # noqa: N801, D101


class datetime64(_Number): ...  # noqa: N801, D101


class timedelta64(_Number): ...  # noqa: N801, D101


class dtype(metaclass=_Kind):  # noqa: N801
    """A type of numbers, which only stands in annotations and tables."""

    def __init__(self, of: Any) -> None:
        """Any type can be named, and none used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(f"numpy.dtype.{name}")


class _Float64(_Kind):
    def __call__(cls, value: Any = 0.0) -> Any:
        return float(value)


class float64(metaclass=_Float64):  # noqa: N801
    """A double is a Python float here."""


class _Int64(_Kind):
    def __call__(cls, value: Any = 0) -> Any:
        return int(value)


class int64(metaclass=_Int64):  # noqa: N801
    """Whole numbers are those of Python."""


number, longdouble, uint8, uint64 = (type(f"_{name}", (_Number,), {}) for name in "abcd")


class Dtype:
    """The type of the numbers of one array: its kind is b, i or f."""

    itemsize, names, isnative = 8, None, True

    def __init__(self, kind: str) -> None:
        """Keep the kind, and call it as NumPy does."""
        self.kind = kind
        self.name, self.char = {"b": ("bool", "?"), "i": ("int64", "l"), "f": ("float64", "d")}[kind]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(f"numpy.dtype.{name}")


class MaskedArray(metaclass=_Kind):
    """A masked array, of which there are none here."""


class Absent(type):
    """The class of what is not here: it can be named, also in `isinstance`, and not used."""

    def __call__(cls, *given: Any, **named: Any) -> Any:
        """Say that it is missing."""
        raise missing(f"numpy.{cls.__name__}")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{cls.__name__}.{name}", (), {})

    def __getitem__(cls, of: Any) -> Any:
        return cls

    def __instancecheck__(cls, value: Any) -> bool:
        return False


class Generator:
    """A source of randomness, which modules may make when they are loaded, and of which nothing can be drawn."""

    def __init__(self, *given: Any) -> None:
        """Nothing is kept of the seed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def unusable(*given: Any, **named: Any) -> Any:
            raise missing(f"numpy.random.Generator.{name}")

        return unusable


class random(metaclass=Absent):  # noqa: N801
    """The module of randomness."""

    default_rng = Generator
    Generator = Generator


Shape = tuple[int, ...]
MOST_AT_ONCE, MOST = 1_000_000, 200_000_000
_computed = [0]


class ndarray:  # noqa: N801
    """Numbers in a shape; in ``values`` row by row. Operators and methods stand below, where NumPy has them as well."""

    __slots__ = ("shape", "values")
    __class_getitem__ = classmethod(lambda cls, of: cls)

    def __init__(self, values: list[Any], shape: Shape) -> None:
        """Take the numbers, row by row, and their shape."""
        self.values, self.shape = values, shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of numbers."""
        return len(self.values)

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        kinds = set(map(type, self.values))
        return Dtype("b" if kinds == {bool} else "i" if kinds == {int} else "f")

    @property
    def T(self) -> ndarray:  # noqa: N802
        """With all axes the other way round."""
        order = range(self.ndim)[::-1]
        values = [value for part in groups(self, order, ()) for value in part]
        return ndarray(values, self.shape[::-1])

    def ravel(self) -> ndarray:
        """In one row."""
        return ndarray(self.values, (len(self.values),))

    def reshape(self, *shape: Any) -> ndarray:
        """In another shape."""
        sizes = list(shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape)
        if -1 in sizes:
            sizes[sizes.index(-1)] = len(self.values) // max(-math.prod(sizes), 1)
        if math.prod(sizes) != len(self.values):
            raise ValueError("cannot reshape")
        return ndarray(self.values, tuple(sizes))

    def tolist(self) -> Any:
        """The numbers as lists."""
        if self.ndim < 2:
            return list(self.values) if self.shape else self.values[0]
        return [row.tolist() for row in self]

    def astype(self, kind: Any, copy: bool = True) -> ndarray:
        """The same numbers, of another type."""
        return asarray(self, kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(f"numpy.ndarray.{name}")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if self.ndim == 1 and isinstance(key, int | slice):
            found = self.values[key]
            return ndarray(found, (len(found),)) if isinstance(key, slice) else found
        if isinstance(key, ndarray) and key.ndim > 1 and _is_mask(key) and key.shape == self.shape:
            chosen = list(itertools.compress(self.values, key.values))
            return ndarray(chosen, (len(chosen),))
        places, shape = self._places(key)
        values = self.values
        return ndarray([values[place] for place in places], shape) if shape is not None else values[places[0]]

    def __setitem__(self, key: Any, value: Any) -> None:
        places, _ = self._places(key)
        given = asarray(value)
        if len(given.values) not in (1, len(places)):
            raise missing("such a change of an array")
        for place, each in zip(places, itertools.cycle(given.values), strict=False):
            self.values[place] = each

    def _places(self, key: Any) -> tuple[list[int], Shape | None]:
        """Where the numbers of an index stand, and its shape; None for a single number."""
        parts = list(key) if isinstance(key, tuple) else [key]
        named = sum(part is not None and part is not Ellipsis for part in parts)
        rest = [slice(None)] * (self.ndim - named)
        at = next((place for place, part in enumerate(parts) if part is Ellipsis), None)
        number = at is None and all(isinstance(part, int) for part in parts) and len(parts) == self.ndim > 0
        parts = [*parts, *rest] if at is None else [*parts[:at], *rest, *parts[at + 1 :]]
        if sum(isinstance(part, ndarray | list) for part in parts) > 1 or named > self.ndim:
            raise missing("such an index of an array")
        places, shape, axis, step = [0], [], 0, len(self.values)
        for part in parts:
            if part is None:
                shape.append(1)
                continue
            size = self.shape[axis]
            step = step // size if size else 0
            axis += 1
            chosen, more = _chosen(part, size)
            shape += more
            places = [place + one * step for place in places for one in chosen]
        return places, None if number else tuple(shape)

    def _one(self) -> Any:
        if len(self.values) != 1:
            raise TypeError("only arrays of one number can become a number")
        return self.values[0]

    def __float__(self) -> float:
        return float(self._one())

    def __int__(self) -> int:
        return int(self._one())

    def __index__(self) -> int:
        return operator.index(self._one())

    def __bool__(self) -> bool:
        return bool(self._one())


def _is_mask(key: ndarray) -> bool:
    return bool(key.values) and all(each is True or each is False for each in key.values)


def _chosen(part: Any, size: int) -> tuple[Sequence[int], list[int]]:
    """The places along one axis that a part of an index names, and the axes that it leaves."""
    if isinstance(part, slice):
        found: Sequence[int] = range(size)[part]
        return found, [len(found)]
    if isinstance(part, list):
        part = array(part)
    if isinstance(part, ndarray) and part.shape:
        if _is_mask(part):
            if part.shape != (size,):
                raise missing("such a mask of an array")
            found = [place for place, chosen in enumerate(part.values) if chosen]
            return found, [len(found)]
        return [range(size)[operator.index(each)] for each in part.values], list(part.shape)
    return [range(size)[operator.index(part)]], []


# --- broadcasting -------------------------------------------------------------------------------------------


def parts_of(value: Any) -> tuple[list[Any], Shape]:
    """Return the numbers of an array, of lists, or a number, and their shape."""
    if isinstance(value, ndarray):
        return value.values, value.shape
    if isinstance(value, list | tuple):
        made = array(value)
        return made.values, made.shape
    return [value], ()


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the shape that all shapes fit into."""
    axes = max(map(len, shapes), default=0)
    padded = [(1,) * (axes - len(shape)) + shape for shape in shapes]
    found = []
    for sizes in zip(*padded, strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise ValueError("operands could not be broadcast together")
        found.append(wide.pop() if wide else 1)
    return tuple(found)


def spread(values: list[Any], shape: Shape, whole: Shape) -> list[Any]:
    """Return the numbers as they stand in a larger shape.

    Args:
        values, shape: the numbers, row by row.
        whole: the larger shape.
    """
    if shape == whole:
        return values
    size = math.prod(whole)
    if len(values) == 1:
        return values * size
    padded, inner = (1,) * (len(whole) - len(shape)) + shape, 1
    for own, wide in zip(reversed(padded), reversed(whole), strict=True):
        if own != wide:
            if inner == len(values):
                values = values * wide
            elif inner == 1:
                values = [value for value in values for _ in range(wide)]
            else:
                parts = (values[at : at + inner] * wide for at in range(0, len(values), inner))
                values = list(itertools.chain.from_iterable(parts))
        inner *= wide
    return values


def take(size: int) -> None:
    """Count numbers that are to be computed, at most so many for one file: time and memory are bounded by that."""
    _computed[0] += size
    if size > MOST_AT_ONCE or _computed[0] > MOST:
        raise missing("a computation with so many numbers")


def start() -> None:
    """Begin to count for another file."""
    _computed[0] = 0


def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of numbers as one of arrays, which broadcast."""

    @wraps(function)
    def broadcasting(*given: Any, out: Any = None, **named: Any) -> Any:
        if named:
            raise missing(f"a function of arrays with {', '.join(named)}")
        if out is not None:
            out.values[:] = asarray(broadcasting(*given)).values
            return out
        if not any(isinstance(each, ndarray | list | tuple) for each in given):
            return function(*given)
        parts = [parts_of(each) for each in given]
        whole = broadcast([shape for _, shape in parts])
        take(math.prod(whole))
        return ndarray(list(map(function, *(spread(values, shape, whole) for values, shape in parts))), whole)

    return broadcasting


def groups(of: ndarray, outer: Sequence[int], inner: Sequence[int]) -> list[list[Any]]:
    """Return the numbers in groups: one for each place along ``outer`` axes, each along the ``inner`` ones.

    Args:
        of: the array.
        outer, inner: all its axes, in any order.
    """
    steps = [math.prod(of.shape[axis + 1 :]) for axis in range(of.ndim)]

    def offsets(axes: Sequence[int]) -> list[int]:
        found = [0]
        for axis in axes:
            found = [before + place * steps[axis] for before in found for place in range(of.shape[axis])]
        return found

    values, within = of.values, offsets(inner)
    if list(inner) == list(range(of.ndim - len(inner), of.ndim)):  # they stand one after another
        return [values[at : at + len(within)] for at in offsets(outer)]
    return [[values[at + place] for place in within] for at in offsets(outer)]


# --- making arrays ------------------------------------------------------------------------------------------


def array(values: Any, dtype: Any = None) -> ndarray:
    """Return numbers, or lists of them, as an array."""
    if isinstance(values, ndarray):
        return ndarray(typed(values.values, dtype), values.shape)
    if not isinstance(values, list | tuple | range):
        if not isinstance(values, int | float):
            raise missing(f"an array of {type(values).__name__}")
        return ndarray(typed([values], dtype), ())
    parts = [parts_of(each) for each in values]
    shapes = {shape for _, shape in parts} or {()}
    if len(shapes) > 1:  # a ValueError for NumPy
        raise ValueError("an array of lists of different lengths")
    return ndarray(typed([value for own, _ in parts for value in own], dtype), (len(parts), *shapes.pop()))


def typed(values: list[Any], kind: Any) -> list[Any]:
    """Return numbers, of a type where one is named."""
    if kind is float64 or kind is float:
        return list(map(float, values))
    if kind is builtins.bool:
        return list(map(bool, values))
    if kind is None or kind in (int64, int):
        if not all(isinstance(each, int | float) for each in values):
            raise missing("an array of other things than numbers")
        return list(values) if kind is None else list(map(int, values))
    raise missing("an array of other numbers than floats")


def asarray(values: Any, dtype: Any = None) -> ndarray:
    """As `array`; an array stays the same."""
    return values if isinstance(values, ndarray) and dtype is None else array(values, dtype)


# --- What do NumPy's functions of single numbers give, and its operators? ---

_LARGEST = 1.7976931348623157e308


def _safe(function: Callable[[float], float], at_zero: float | None = None) -> Callable[[float], float]:
    """A function of ``math`` that gives NaN and infinities where that raises an error."""

    def found(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return at_zero if at_zero is not None and x == 0 else math.nan
        except OverflowError:
            return math.inf

    return found


def _log1p(x: float) -> float:
    return math.log1p(x) if x > -1 else -math.inf if x == -1 else math.nan


def _divide(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _power(a: float, b: float) -> float:
    try:
        found = a**b
    except (OverflowError, ZeroDivisionError):
        return math.inf
    return math.nan if isinstance(found, complex) else found


def larger(a: Any, b: Any) -> Any:
    """Return the larger of two numbers, NaN if one is."""
    return a if a != a or a >= b else b


def smaller(a: Any, b: Any) -> Any:
    """Return the smaller of two numbers, NaN if one is."""
    return a if a != a or a <= b else b


def _fmax(a: float, b: float) -> float:
    return b if a != a or b > a else a


def _fmin(a: float, b: float) -> float:
    return b if a != a or b < a else a


def _logaddexp(a: float, b: float) -> float:
    if a == b:
        return a + math.log(2) if math.isfinite(a) else a
    return float(larger(a, b)) + math.log1p(math.exp(-builtins.abs(a - b)))


log, log1p = elementwise(_safe(math.log, -math.inf)), elementwise(_log1p)
exp, expm1, sqrt = (elementwise(_safe(each)) for each in (math.exp, math.expm1, math.sqrt))
maximum, minimum, fmax, fmin, logaddexp = map(elementwise, (larger, smaller, _fmax, _fmin, _logaddexp))
abs = elementwise(builtins.abs)  # noqa: A001
isnan, isinf, isfinite = map(elementwise, (math.isnan, math.isinf, math.isfinite))
ceil, floor, isneginf = map(elementwise, (math.ceil, math.floor, lambda x: x == -math.inf))
round = elementwise(lambda x: float(builtins.round(x)) if math.isfinite(x) else x)  # noqa: A001
nan_to_num = elementwise(lambda x: 0.0 if x != x else larger(-_LARGEST, smaller(x, _LARGEST)))
signbit = elementwise(lambda x: math.copysign(1.0, x) < 0)
nextafter = elementwise(math.nextafter)
where = elementwise(lambda chosen, a, b: a if chosen else b)


def _operators() -> None:
    plain = {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": _divide, "pow": _power,
        "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq,
        "ne": operator.ne, "and": operator.and_, "or": operator.or_,
    }  # fmt: skip
    for name, function in plain.items():
        both = elementwise(function)
        setattr(ndarray, f"__{name}__", lambda self, other, both=both: both(self, other))
        if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(ndarray, f"__r{name}__", lambda self, other, both=both: both(other, self))
    both = elementwise(operator.floordiv)
    alone = {"neg": elementwise(operator.neg), "invert": elementwise(operator.not_), "abs": abs}
    for name, function in {"floordiv": both, **alone}.items():
        setattr(ndarray, f"__{name}__", lambda *own, function=function: function(*own))


_operators()
