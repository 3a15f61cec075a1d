"""How do the formulas of the check run without NumPy? With the same names, on the lists of `ndarray`.

Only what the check asks for is here; anything else raises `MissingError`, never another number.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache, wraps
from typing import Any

from dpaudit.alone import ndarray as _kinds
from dpaudit.alone.ndarray import (  # noqa: F401 - names that modules of the check look up here
    Absent,
    MaskedArray,
    abs,  # noqa: A004
    asarray,
    bool_,
    ceil,
    complexfloating,
    datetime64,
    exp,
    expm1,
    float64,
    floating,
    floor,
    fmax,
    fmin,
    generic,
    groups,
    int64,
    integer,
    isfinite,
    isinf,
    isnan,
    isneginf,
    larger,
    log,
    log1p,
    logaddexp,
    longdouble,
    maximum,
    minimum,
    missing,
    nan_to_num,
    ndarray,
    nextafter,
    number,
    parts_of,
    random,
    round,  # noqa: A004
    signbit,
    smaller,
    spread,
    sqrt,
    take,
    timedelta64,
    typed,
    uint8,
    uint64,
    where,
)
from dpaudit.alone.ndarray import array as array
from dpaudit.alone.ndarray import broadcast as _together

inf, nan, pi = math.inf, math.nan, math.pi
__version__ = "0 (a stand-in)"
intp = int32 = int64
bool = bool_  # noqa: A001
_builtin_abs, _builtin_all, _builtin_any, _builtin_sum = builtins.abs, builtins.all, builtins.any, builtins.sum


# --- making arrays, and putting them together ---------------------------------------------------------------


def atleast_1d(values: Any) -> ndarray:
    """With at least one axis."""
    found = asarray(values)
    return found if found.shape else ndarray(found.values, (1,))


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    """The same number everywhere."""
    whole = (shape,) if isinstance(shape, int) else tuple(shape)
    take(math.prod(whole))
    return ndarray(typed([value], dtype) * math.prod(whole), whole)


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
    take(len(range(*limits)))
    found = list(range(*limits))
    return ndarray(typed(found, dtype), (len(found),))


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


def column_stack(parts: Any) -> ndarray:
    """Columns beside each other: those of tables, and lists that are one column each."""
    listed = [asarray(part) for part in parts]
    listed = [part if len(part.shape) == 2 else ndarray(part.values, (len(part.values), 1)) for part in listed]
    rows, widths = listed[0].shape[0], [part.shape[1] for part in listed]
    if _builtin_any(len(part.shape) != 2 or part.shape[0] != rows for part in listed):
        raise ValueError("all input arrays must have the same number of rows")
    found = [
        value
        for row in range(rows)
        for part, width in zip(listed, widths, strict=True)
        for value in part.values[row * width : (row + 1) * width]
    ]
    return ndarray(found, (rows, _builtin_sum(widths)))


def broadcast(*given: Any) -> ndarray:
    """Something in the shape that all have together."""
    return zeros(_together([asarray(each).shape for each in given]))


def broadcast_arrays(*given: Any) -> list[ndarray]:
    """All in one shape."""
    parts = [parts_of(each) for each in given]
    whole = _together([shape for _, shape in parts])
    return [ndarray(spread(values, shape, whole), whole) for values, shape in parts]


def broadcast_to(values: Any, shape: Any) -> ndarray:
    """In a larger shape."""
    own, before = parts_of(values)
    whole = (shape,) if isinstance(shape, int) else tuple(shape)
    return ndarray(spread(own, before, whole), whole)


def clip(values: Any, low: Any = None, high: Any = None) -> Any:
    """Between two limits."""
    raised = values if low is None else maximum(values, low)
    return raised if high is None else minimum(raised, high)


def stack(parts: Any, axis: int = 0) -> ndarray:
    """Arrays of one shape along a new axis."""
    listed = [asarray(part) for part in parts]
    if len({part.shape for part in listed}) != 1:
        raise ValueError("all input arrays must have the same shape")
    shape = listed[0].shape
    at = axis % (len(shape) + 1)
    inner = math.prod(shape[at:])
    found = [
        value
        for start in range(0, math.prod(shape), inner or 1)
        for part in listed
        for value in part.values[start : start + inner]
    ]
    return ndarray(found, (*shape[:at], len(listed), *shape[at:]))


def squeeze(values: Any, axis: Any = None) -> Any:
    """Without axes of length 1."""
    own = asarray(values)
    chosen = range(own.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    gone = {range(own.ndim)[each] for each in chosen if axis is not None or own.shape[each] == 1}
    shape = tuple(size for at, size in enumerate(own.shape) if at not in gone)
    return ndarray(own.values, shape) if shape else own.values[0]


def ndindex(shape: Any) -> Iterator[tuple[int, ...]]:
    """Every place of a shape."""
    return itertools.product(*map(range, shape))


def take_along_axis(values: Any, places: Any, axis: int) -> ndarray:
    """The numbers at given places along the first axis, one for each place of the others."""
    own, at = asarray(values), asarray(places)
    if axis != 0 or at.shape != (1, *own.shape[1:]):
        raise missing("numpy.take_along_axis of such places")
    inner = len(at.values)
    return ndarray([own.values[place * inner + k] for k, place in enumerate(at.values)], at.shape)


def einsum(what: str, first: Any, second: Any) -> ndarray:
    """The sums of products over all indices that the result has not."""
    left, _, kept = what.partition("->")
    names = left.split(",")
    own = [asarray(first), asarray(second)]
    sizes = {name: size for each, of in zip(names, own, strict=True) for name, size in zip(each, of.shape, strict=True)}
    every = kept + "".join(dict.fromkeys(name for name in "".join(names) if name not in kept))
    aligned = []
    for each, of in zip(names, own, strict=True):
        order = [each.index(name) for name in every if name in each]
        values = [value for group in groups(of, order, ()) for value in group]
        shape = tuple(sizes[name] if name in each else 1 for name in every)
        aligned.append(ndarray(values, shape))
    product = operator.mul(*aligned)
    return sum(product, axis=tuple(range(len(kept), len(every)))) if len(every) > len(kept) else product


def dot(first: Any, second: Any) -> Any:
    """The sum of products of two rows."""
    left, right = asarray(first), asarray(second)
    if (left.ndim, right.ndim) != (1, 1):
        raise missing("numpy.dot of matrices")
    return math.fsum(map(operator.mul, left.values, right.values))


# --- along an axis ------------------------------------------------------------------------------------------


def _along(function: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    @wraps(function)
    def found(values: Any, axis: Any = None, initial: Any = None, keepdims: builtins.bool = False) -> Any:
        own = asarray(values)
        if initial is not None:
            return function([initial, *own.values])
        if axis is None and not keepdims:
            return function(own.values)
        chosen = range(own.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        inner = sorted(range(own.ndim)[each] for each in chosen)
        outer = [each for each in range(own.ndim) if each not in inner]
        shape = tuple(1 if each in inner else own.shape[each] for each in range(own.ndim) if keepdims or each in outer)
        numbers = [function(group) for group in groups(own, outer, inner)]
        return ndarray(numbers, shape) if shape else numbers[0]

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


max, min = _along(_fold(larger)), _along(_fold(smaller))  # noqa: A001
any, all = _along(_builtin_any), _along(_builtin_all)  # noqa: A001
argmax = _along(lambda values: values.index(_fold(larger)(values)))


def _sum(values: list[Any]) -> Any:
    return math.fsum(values) if _builtin_any(isinstance(each, float) for each in values) else _builtin_sum(values)


sum = _along(_sum)  # noqa: A001
count_nonzero = _along(lambda values: _builtin_sum(map(builtins.bool, values)))


def _running(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def found(values: Any, axis: int | None = None) -> ndarray:
        own = asarray(values)
        if own.ndim > 1 and axis not in (-1, own.ndim - 1):
            raise missing("running values along that axis")
        rows = groups(own, range(own.ndim - 1), [own.ndim - 1])
        return ndarray([each for row in rows for each in itertools.accumulate(row, function)], own.shape)

    return found


cumsum, cumprod = _running(operator.add), _running(operator.mul)
maximum.accumulate = _running(larger)  # type: ignore[attr-defined]


def diff(values: Any, axis: int = -1) -> ndarray:
    """The differences of neighbours, along the last axis."""
    own = asarray(values)
    if axis not in (-1, own.ndim - 1):
        raise missing("differences along that axis")
    rows = groups(own, range(own.ndim - 1), [own.ndim - 1])
    found = [after - before for row in rows for before, after in itertools.pairwise(row)]
    return ndarray(found, (*own.shape[:-1], own.shape[-1] - 1))


def unique(values: Any, axis: int | None = None, return_inverse: builtins.bool = False) -> Any:
    """All different numbers, or columns, in their order; with ``return_inverse`` where each is among them."""
    own = asarray(values)
    if (axis, own.ndim) not in ((None, 1), (1, 2)):
        raise missing("numpy.unique along that axis")
    each = own.values if axis is None else list(zip(*groups(own, [0], [1]), strict=True))
    found = sorted(set(each))
    different = ndarray(found, (len(found),)) if axis is None else array(found).T
    if not return_inverse:
        return different
    at = {value: place for place, value in enumerate(found)}
    return different, ndarray([at[value] for value in each], (len(each),))


def argsort(values: Any, kind: str = "stable") -> ndarray:
    """The places of the numbers, from the smallest up; those of equal ones as they stand."""
    own = asarray(values).values
    return ndarray(sorted(range(len(own)), key=own.__getitem__), (len(own),))


def flatnonzero(values: Any) -> ndarray:
    """The places of all that is true."""
    found = [place for place, value in enumerate(asarray(values).values) if value]
    return ndarray(found, (len(found),))


def mean(values: Any, axis: int | None = None) -> Any:
    """The mean, of all numbers or along an axis."""
    own = asarray(values)
    return sum(own, axis) / (own.size if axis is None else own.shape[axis])


def std(values: Any) -> float:
    """The standard deviation of all numbers."""
    own = asarray(values)
    middle = mean(own)
    return math.sqrt(math.fsum((each - middle) ** 2 for each in own.values) / own.size)


def searchsorted(values: Any, place: float) -> int:
    """Where a number would stand in a rising row."""
    return bisect_left(asarray(values).values, place)


def _norm(values: Any, ord: Any = 2) -> float:  # noqa: A002
    own = list(map(_builtin_abs, asarray(values).values))
    if ord == 1:
        return math.fsum(own)
    if ord == 2:
        return math.hypot(*own)
    if ord == math.inf:
        return float(_fold(larger)(own))
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

    MaskedArray, masked = MaskedArray, object()


def _methods() -> None:
    """Give arrays the functions that NumPy has as methods too."""
    named = {
        "any": any, "all": all, "max": max, "min": min, "sum": sum, "argmax": argmax, "clip": clip, "mean": mean,
        "cumsum": cumsum, "std": std,
    }  # fmt: skip
    for name, function in named.items():
        setattr(ndarray, name, lambda self, *given, function=function, **how: function(self, *given, **how))


_methods()


@cache
def _absent(name: str) -> Any:
    return Absent(name, (), {})


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _kinds.dtype if name == "dtype" else _absent(name)
