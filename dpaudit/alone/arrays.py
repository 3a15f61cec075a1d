"""How do the formulas of the check run without NumPy? On lists of floats that broadcast, with the same names.

Only what the check of sampled bounds asks for is here; anything else raises `MissingError`, never another number.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache, wraps
from typing import Any

from dpaudit.alone.missing import missing

inf, nan, pi = math.inf, math.nan, math.pi
__version__ = "0 (a stand-in)"
_builtin_abs, _builtin_all, _builtin_any, _builtin_max, _builtin_min, _builtin_sum = (
    builtins.abs, builtins.all, builtins.any, builtins.max, builtins.min, builtins.sum
)  # fmt: skip

Shape = tuple[int, ...]


class _Kind(type):
    """A class that only stands in annotations, and of which nothing is an instance."""

    def __getitem__(cls, of: Any) -> Any:
        return cls

    def __instancecheck__(cls, value: Any) -> bool:
        return False


class generic(metaclass=_Kind):  # noqa: N801
    """The class of the numbers of NumPy, of which there are none here."""


class _Number(generic):
    def __init__(self, value: Any = 0) -> None:
        raise missing("a number of NumPy")


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


class int64(metaclass=_Kind):  # noqa: N801
    """Whole numbers are those of Python."""


intp = int32 = int64


number, longdouble, uint8, uint64 = (type(f"_{name}", (_Number,), {}) for name in "abcd")
bool = bool_  # noqa: A001


class _Dtype:
    itemsize, names = 8, None

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(f"numpy.dtype.{name}")


class ndarray:  # noqa: N801
    """Numbers in a shape of up to two axes; in ``values`` row by row."""

    __slots__ = ("shape", "values")
    __class_getitem__ = classmethod(lambda cls, of: cls)

    def __init__(self, values: list[Any], shape: Shape) -> None:
        """Take the numbers, row by row, and their shape."""
        if len(shape) > 2:
            raise missing("an array of three axes")
        self.values, self.shape = values, shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        kinds = set(map(type, self.values))
        return _Dtype("b" if kinds == {builtins.bool} else "i" if kinds == {int} else "f")

    def ravel(self) -> ndarray:
        """In one row."""
        return ndarray(self.values, (len(self.values),))

    def reshape(self, *shape: Any) -> ndarray:
        """In another shape."""
        sizes = list(shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape)
        if -1 in sizes:
            sizes[sizes.index(-1)] = len(self.values) // _builtin_max(-math.prod(sizes), 1)
        if math.prod(sizes) != len(self.values):
            raise ValueError("cannot reshape")
        return ndarray(self.values, tuple(sizes))

    @property
    def size(self) -> int:
        """The number of numbers."""
        return len(self.values)

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
        parts = key if isinstance(key, tuple) else (key,)
        if key is Ellipsis:
            return self
        if parts == (Ellipsis, None) and len(self.shape) < 2:
            return ndarray(self.values, (*self.shape, 1))
        if len(self.shape) != 1 or len(parts) != 1:
            if len(self.shape) == 2 and isinstance(key, int):
                rows, columns = self.shape
                start = operator.index(key) % rows * columns
                return ndarray(self.values[start : start + columns], (columns,))
            if len(self.shape) == 2 and isinstance(key, ndarray) and key.dtype.kind == "i" and key.ndim == 1:
                rows_of = [value for place in key.values for value in self[place].values]
                return ndarray(rows_of, (len(key.values), self.shape[1]))
            raise missing("such an index of an array")
        if isinstance(key, slice):
            found = self.values[key]
            return ndarray(found, (len(found),))
        if isinstance(key, ndarray):
            if _builtin_all(each is True or each is False for each in key.values) and key.shape == self.shape:
                found = [value for value, chosen in zip(self.values, key.values, strict=True) if chosen]
            else:
                found = [self.values[operator.index(place)] for place in key.values]
            return ndarray(found, (len(found),))
        return self.values[operator.index(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        if len(self.shape) != 1 or not isinstance(key, ndarray) or key.dtype.kind != "i" or isinstance(value, ndarray):
            raise missing("such a change of an array")
        for place in key.values:
            self.values[place] = value

    def _one(self) -> Any:
        if len(self.values) != 1:
            raise TypeError("only arrays of one number can become a number")
        return self.values[0]

    def __float__(self) -> float:
        return float(self._one())

    def __int__(self) -> int:
        return int(self._one())

    def __bool__(self) -> builtins.bool:
        return builtins.bool(self._one())

    def any(self) -> builtins.bool:
        """Whether any is true."""
        return _builtin_any(self.values)

    def all(self) -> builtins.bool:
        """Whether all are true."""
        return _builtin_all(self.values)

    def max(self) -> Any:
        """The largest, NaN if one is."""
        return max(self)

    def min(self) -> Any:
        """The smallest, NaN if one is."""
        return min(self)

    def sum(self) -> Any:
        """The sum."""
        return sum(self)

    def tolist(self) -> Any:
        """The numbers as lists."""
        if len(self.shape) < 2:
            return list(self.values) if self.shape else self.values[0]
        return [row.tolist() for row in self]

    def astype(self, kind: Any) -> ndarray:
        """The same numbers as floats."""
        return asarray(self, kind)

    @property
    def T(self) -> ndarray:  # noqa: N802
        """With rows and columns exchanged."""
        if len(self.shape) < 2:
            return self
        rows, columns = self.shape
        return ndarray([self.values[r * columns + c] for c in range(columns) for r in range(rows)], (columns, rows))


# --- element by element -------------------------------------------------------------------------------------


def _parts(value: Any) -> tuple[list[Any], Shape]:
    if isinstance(value, ndarray):
        return value.values, value.shape
    if isinstance(value, list | tuple):
        made = array(value)
        return made.values, made.shape
    return [value], ()


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    axes = _builtin_max(map(len, shapes), default=0)
    padded = [(1,) * (axes - len(shape)) + shape for shape in shapes]
    found = []
    for sizes in zip(*padded, strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise ValueError("operands could not be broadcast together")
        found.append(wide.pop() if wide else 1)
    return tuple(found)


def _spread(values: list[Any], shape: Shape, whole: Shape) -> list[Any]:
    """The numbers as they stand in a larger shape."""
    if shape == whole:
        return values
    size = math.prod(whole)
    if len(values) == 1:
        return values * size
    rows, columns = (1, *whole)[-2:]
    own_rows, own_columns = (1, *shape)[-2:]
    if own_rows == 1 and own_columns == columns:
        return values * rows
    if own_columns == 1 and own_rows == rows:
        return [value for value in values for _ in range(columns)]
    raise missing("such a shape of arrays")


def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of numbers as one of arrays, which broadcast."""

    @wraps(function)
    def spread(*given: Any) -> Any:
        if not _builtin_any(isinstance(each, ndarray | list | tuple) for each in given):
            return function(*given)
        parts = [_parts(each) for each in given]
        whole = _broadcast([shape for _, shape in parts])
        return ndarray(list(map(function, *(_spread(values, shape, whole) for values, shape in parts))), whole)

    return spread


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


def _maximum(a: Any, b: Any) -> Any:
    return a if a != a or a >= b else b


def _minimum(a: Any, b: Any) -> Any:
    return a if a != a or a <= b else b


def _fmax(a: float, b: float) -> float:
    return b if a != a or b > a else a


def _logaddexp(a: float, b: float) -> float:
    if a == b:
        return a + math.log(2) if math.isfinite(a) else a
    return _maximum(a, b) + math.log1p(math.exp(-_builtin_abs(a - b)))


log, log1p = elementwise(_safe(math.log, -math.inf)), elementwise(_log1p)
exp, expm1, sqrt = (elementwise(_safe(each)) for each in (math.exp, math.expm1, math.sqrt))
maximum, minimum, fmax, logaddexp = map(elementwise, (_maximum, _minimum, _fmax, _logaddexp))
abs, isnan, isinf, isfinite = map(elementwise, (_builtin_abs, math.isnan, math.isinf, math.isfinite))  # noqa: A001
ceil, floor, isneginf = map(elementwise, (math.ceil, math.floor, lambda x: x == -math.inf))
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
    ndarray.__neg__ = elementwise(operator.neg)  # type: ignore[attr-defined]
    ndarray.__invert__ = elementwise(operator.not_)  # type: ignore[attr-defined]
    ndarray.__abs__ = abs  # type: ignore[attr-defined]


_operators()


# --- making arrays, and putting them together ---------------------------------------------------------------


def array(values: Any, dtype: Any = None) -> ndarray:
    """Return numbers, or lists of them, as an array."""
    if isinstance(values, ndarray):
        return ndarray(_typed(values.values, dtype), values.shape)
    if not isinstance(values, list | tuple | range):
        if not isinstance(values, int | float):
            raise missing(f"an array of {type(values).__name__}")
        return ndarray(_typed([values], dtype), ())
    parts = [_parts(each) for each in values]
    shapes = {shape for _, shape in parts} or {()}
    if len(shapes) > 1:  # a ValueError for NumPy
        raise ValueError("an array of lists of different lengths")
    return ndarray(_typed([value for own, _ in parts for value in own], dtype), (len(parts), *shapes.pop()))


def _typed(values: list[Any], kind: Any) -> list[Any]:
    if kind is float64 or kind is float:
        return list(map(float, values))
    if kind is None or kind in (int64, int):
        if not _builtin_all(isinstance(each, int | float) for each in values):
            raise missing("an array of other things than numbers")
        return list(values) if kind is None else list(map(int, values))
    raise missing("an array of other numbers than floats")


def asarray(values: Any, dtype: Any = None) -> ndarray:
    """As `array`; an array stays the same."""
    return values if isinstance(values, ndarray) and dtype is None else array(values, dtype)


def atleast_1d(values: Any) -> ndarray:
    """With at least one axis."""
    found = asarray(values)
    return found if found.shape else ndarray(found.values, (1,))


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    """The same number everywhere."""
    whole = (shape,) if isinstance(shape, int) else tuple(shape)
    return ndarray(_typed([value], dtype) * math.prod(whole), whole)


def zeros(shape: Any, dtype: Any = float64) -> ndarray:
    """Zeros."""
    return full(shape, 0.0, dtype)


def ones(shape: Any, dtype: Any = float64) -> ndarray:
    """Ones."""
    return full(shape, 1.0, dtype)


def full_like(like: Any, value: Any) -> ndarray:
    """The same number in the shape of another array."""
    return full(asarray(like).shape, value, float64)


def zeros_like(like: Any) -> ndarray:
    """Zeros in the shape of another array."""
    return full_like(like, 0.0)


def ones_like(like: Any) -> ndarray:
    """Ones in the shape of another array."""
    return full_like(like, 1.0)


def arange(*limits: Any, dtype: Any = None) -> ndarray:
    """Whole numbers from the first to before the second."""
    if not _builtin_all(isinstance(each, int) for each in limits):
        raise missing("numpy.arange of fractions")
    found = list(range(*limits))
    return ndarray(_typed(found, dtype), (len(found),))


def linspace(start: Any, stop: Any, num: int = 50) -> ndarray:
    """Numbers at equal distances, with both ends."""
    first, last = float(start), float(stop)
    step = (last - first) / (num - 1)
    return ndarray([*(place * step + first for place in range(num - 1)), last], (num,))


def geomspace(start: float, stop: float, num: int = 50) -> ndarray:
    """Numbers at equal ratios, with both ends."""
    low, high = math.log10(start), math.log10(stop)
    inner = [10 ** (low + (high - low) * place / (num - 1)) for place in range(1, num - 1)]
    return ndarray([float(start), *inner, float(stop)], (num,))


def concatenate(parts: Any, axis: int = 0) -> ndarray:
    """One array after another."""
    listed = [asarray(part) for part in parts]
    if len(listed) == 1 and axis == 0:
        return ndarray(list(listed[0].values), listed[0].shape)
    if axis not in (0, -1) or _builtin_any(len(part.shape) != 1 for part in listed):
        raise missing("numpy.concatenate along an axis")
    found = [value for part in listed for value in part.values]
    return ndarray(found, (len(found),))


def broadcast_arrays(*given: Any) -> list[ndarray]:
    """All in one shape."""
    parts = [_parts(each) for each in given]
    whole = _broadcast([shape for _, shape in parts])
    return [ndarray(_spread(values, shape, whole), whole) for values, shape in parts]


def broadcast_to(values: Any, shape: Any) -> ndarray:
    """In a larger shape."""
    own, before = _parts(values)
    whole = (shape,) if isinstance(shape, int) else tuple(shape)
    return ndarray(_spread(own, before, whole), whole)


def clip(values: Any, low: Any, high: Any) -> Any:
    """Between two limits."""
    return minimum(maximum(values, low), high)


# --- along an axis ------------------------------------------------------------------------------------------


def _along(function: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    @wraps(function)
    def found(values: Any, axis: int | None = None, initial: Any = None) -> Any:
        own = asarray(values)
        if initial is not None:
            return function([initial, *own.values])
        if axis is None or len(own.shape) == 1:
            return function(own.values)
        if len(own.shape) != 2:
            raise missing("an axis of such an array")
        rows = own if axis in (1, -1) else own.T
        return ndarray([function(row.values) for row in rows], (len(rows),))

    return found


def _fold(worse: Callable[[Any, Any], Any]) -> Callable[[list[Any]], Any]:
    def found(values: list[Any]) -> Any:
        if not values:
            raise ValueError("zero-size array to reduction operation")
        best = values[0]
        for value in values[1:]:
            best = worse(best, value) if value == value else value
        return best

    return found


max, min = _along(_fold(_maximum)), _along(_fold(_minimum))  # noqa: A001
any, all = _along(_builtin_any), _along(_builtin_all)  # noqa: A001
argmax = _along(lambda values: values.index(_fold(_maximum)(values)))


def _sum(values: list[Any]) -> Any:
    return math.fsum(values) if _builtin_any(isinstance(each, float) for each in values) else _builtin_sum(values)


sum = _along(_sum)  # noqa: A001
count_nonzero = _along(lambda values: _builtin_sum(map(builtins.bool, values)))


def cumsum(values: Any) -> ndarray:
    """The sums up to each number."""
    own = asarray(values)
    if len(own.shape) != 1:
        raise missing("numpy.cumsum along an axis")
    found = list(itertools.accumulate(own.values))
    return ndarray(found, (len(found),))


def diff(values: Any) -> ndarray:
    """The differences of neighbours."""
    own = asarray(values).values
    return ndarray([after - before for before, after in itertools.pairwise(own)], (len(own) - 1,))


def unique(values: Any) -> ndarray:
    """All different numbers, in their order."""
    found = sorted(set(asarray(values).values))
    return ndarray(found, (len(found),))


def argsort(values: Any, kind: str = "stable") -> ndarray:
    """The places of the numbers, from the smallest up; those of equal ones as they stand."""
    own = asarray(values).values
    return ndarray(sorted(range(len(own)), key=own.__getitem__), (len(own),))


def flatnonzero(values: Any) -> ndarray:
    """The places of all that is true."""
    found = [place for place, value in enumerate(asarray(values).values) if value]
    return ndarray(found, (len(found),))


def _norm(values: Any, ord: Any = 2) -> float:  # noqa: A002
    own = list(map(_builtin_abs, asarray(values).values))
    if ord == 1:
        return math.fsum(own)
    if ord == 2:
        return math.hypot(*own)
    if ord == math.inf:
        return float(_fold(_maximum)(own))
    raise missing(f"a norm of order {ord}")


class linalg:  # noqa: N801
    """Lengths of vectors."""

    norm = staticmethod(_norm)


def get_printoptions() -> dict[str, Any]:
    """None: nothing is printed."""
    return {}


def fromiter(values: Any, kind: Any, count: int) -> ndarray:
    """As an array."""
    found = list(values)
    return ndarray(found, (len(found),))


class finfo:  # noqa: N801
    """The limits of doubles."""

    eps, max, tiny = 2.0**-52, 1.7976931348623157e308, 2.2250738585072014e-308

    def __init__(self, kind: Any) -> None:
        """Only those of doubles."""


def errstate(**settings: str) -> Any:
    """Nothing: infinities and NaN come without a warning."""
    return nullcontext()


class ma:  # noqa: N801
    """Masked arrays, of which there are none here."""

    class MaskedArray(metaclass=_Kind):
        """No value is one."""

    masked = object()


class _Absent(type):
    """The class of what is not here: it can be named, also in `isinstance`, and not used."""

    def __call__(cls, *given: Any, **named: Any) -> Any:
        raise missing(f"numpy.{cls.__name__}")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _absent(f"{cls.__name__}.{name}")

    def __getitem__(cls, of: Any) -> Any:
        return cls

    def __instancecheck__(cls, value: Any) -> builtins.bool:
        return False


@cache
def _absent(name: str) -> Any:
    return _Absent(name, (), {})


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _absent(name)
