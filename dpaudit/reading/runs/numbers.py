"""Which operations on numbers, and on arrays of them, do arrays of all runs do as Python and NumPy do them for one run?

Each form says for which runs it would differ; these are *odd*, and are given to Python's own operation. Numbers of
Python differ from arrays where integers grow beyond 64 bits, where something is divided by zero, and where a large
integer meets a float; numbers of NumPy do as arrays do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.reading.python import OPERATION
from dpaudit.reading.runs import joins
from dpaudit.reading.runs.active import Active, DeadError
from dpaudit.reading.runs.applied import apply, singly
from dpaudit.reading.runs.values import (
    LARGE,
    PYTHON_NUMBERS,
    Array,
    Coded,
    Container,
    Mask,
    Numbers,
    held,
    is_of_pandas,
)

EXACT = 2**53  # floats hold every integer up to here
_NEVER = frozenset(("pow", "matmul", "lshift", "rshift", "is_", "is_not", "in_", "not_in"))
COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
_BITS = frozenset(("and_", "or_", "xor"))
_ROUNDED = 2.0**40
"""Numbers above this, times the power of ten, are rounded by Python itself."""
_DTYPES = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_))


class Operand:
    """A number or array that takes part in an operation on arrays."""

    __slots__ = ("array", "labels", "name", "python", "runs", "shape")

    def __init__(self, value: Any) -> None:
        self.runs = type(value) is Numbers
        self.labels = getattr(value, "labels", None) if self.runs else getattr(value, "index", None)
        self.name = value.name if self.labels is not None else None
        self.python = value.python if self.runs else type(value) in PYTHON_NUMBERS
        if self.runs:
            self.array: Any = value.array
        elif self.labels is not None:
            self.array = value.to_numpy()
        else:
            self.array = value
        self.shape: tuple[int, ...] = value.shape if self.runs else np.shape(self.array)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of its numbers."""
        return self.array.dtype if isinstance(self.array, np.ndarray | np.generic) else np.dtype(type(self.array))


def operand(value: Any) -> Operand | None:
    """Return a value as a part of an operation on arrays; None if it is none, or of a type that is not read so."""
    kind = type(value)
    if kind is Numbers:
        return Operand(value) if value.array.dtype in _DTYPES and type(value.labels) is not Coded else None
    if kind in PYTHON_NUMBERS:
        return None if kind is int and abs(value) >= LARGE else Operand(value)
    if isinstance(value, np.generic) or kind is np.ndarray:
        return Operand(value) if value.dtype in _DTYPES else None
    if is_of_pandas(kind) and kind.__name__ == "Series":
        return Operand(value) if isinstance(value.dtype, np.dtype) and value.dtype in _DTYPES else None
    return None


class _Operands:
    """All parts of an operation, with the axis of runs in front and every other axis in its place."""

    def __init__(self, domain: Active, parts: list[Operand]) -> None:
        self.parts = parts
        self.python = all(each.python for each in parts)
        self.scalar = not any(each.shape for each in parts)
        mask = domain.active
        self.few: Mask | None = mask if mask.count < domain.count // 4 else None
        axes = max(len(each.shape) for each in parts)
        self.arrays: list[Any] = []
        for each in parts:
            array = each.array
            if each.runs:
                if self.few is not None:
                    array = array[mask.places]
                array = array.reshape(len(array), *[1] * (axes - len(each.shape)), *each.shape)
            self.arrays.append(array)
        self.active = np.ones(mask.count, dtype=bool) if self.few is not None else mask.chosen

    def labels(self) -> tuple[bool, Any, Any]:
        """Return whether labels fit, those of the result, and its name."""
        labelled = [each for each in self.parts if each.labels is not None]
        if not labelled:
            return True, None, None
        first = labelled[0]
        for each in labelled[1:]:
            same_labels = each.labels is first.labels or (each.labels is not None and each.labels.equals(first.labels))
            if not same_labels:
                return False, None, None
        if any(each.labels is None and len(each.shape) > 1 for each in self.parts):
            return False, None, None
        same = all(each.name == first.name for each in labelled)
        return True, first.labels, first.name if same else None


def elementwise(
    domain: Active, function: Callable[..., Any], name: str = "", python: bool = True
) -> Callable[..., Any]:
    """Return an operation on arrays, number by number."""

    def dense(*values: Any) -> Any:
        parts = [operand(each) for each in values]
        known = [each for each in parts if each is not None]
        if len(known) < len(parts) or not any(each.runs for each in known):
            return NotImplemented
        whole = _Operands(domain, known)
        fits, labels, title = whole.labels()
        if not fits:
            return NotImplemented
        size = max((int(np.prod(each.shape, dtype=np.int64)) for each in whole.parts), default=1)
        if size > 1 and size * domain.count > joins.MOST_NUMBERS:
            return NotImplemented  # value by value, and each once
        own = python and whole.python
        arrays = whole.arrays
        odd: Array | None = None
        if own and name:
            odd = _odd(name, arrays, whole.active)
            if name not in COMPARISONS and not (name in _BITS and all(each.dtype == bool for each in whole.parts)):
                arrays = [_whole_truths(each) for each in arrays]
        with np.errstate(all="ignore"):
            try:
                result = function(*arrays)
            except (TypeError, ValueError):
                return NotImplemented  # as for one run, which says so in its own words
        result = np.asarray(result)
        if whole.few is not None:
            scattered = np.zeros((domain.count, *result.shape[1:]), result.dtype)
            scattered[whole.few.places] = result
            result = scattered
            if odd is not None:
                every = np.zeros(domain.count, dtype=bool)
                every[whole.few.places] = odd
                odd = every
        value: Any = Numbers(result, own, labels, title)
        if name in COMPARISONS and whole.scalar:
            _notice(domain, whole)
        if odd is not None and odd.any():
            value = repaired(domain, odd, function, values, value)
        return held(value) if type(value) is Numbers else value

    return dense


def _notice(domain: Active, operands: _Operands) -> None:
    """Keep the runs for which a comparison is nearest."""
    left, right = operands.arrays
    with np.errstate(all="ignore"):
        far = np.abs(np.subtract(left, right, dtype=np.float64))
    if not isinstance(far, np.ndarray) or far.ndim != 1 or not far.size or len(domain.witnesses) >= 256:
        return
    nearest = int(np.where(operands.active & np.isfinite(far), far, np.inf).argmin())
    domain.witness(nearest if operands.few is None else operands.few.places[nearest])


def repaired(domain: Active, odd: Array, function: Callable[..., Any], values: tuple[Any, ...], value: Any) -> Any:
    """Return a value in which the odd runs have what Python's own operation gives them."""
    entry = domain.active
    domain.active = Mask(entry.chosen & odd)
    if not domain.active.count:
        domain.active = entry
        return value
    try:
        own = singly(domain, function, values)
        left = domain.active.chosen
        value = joins.joined(left, own, value)
    except DeadError:
        left = np.zeros(domain.count, dtype=bool)
    domain.active = Mask((entry.chosen & ~odd) | left)
    domain.alive()
    return value


def _most(array: Any, active: Array) -> float:
    """The largest size of a number among the active runs."""
    if isinstance(array, np.ndarray):
        own = array[active] if len(array) == len(active) else array
        return float(np.max(np.abs(own.astype(np.float64)), initial=0.0))
    return abs(float(array))


def _is_whole(array: Any) -> bool:
    return isinstance(array, bool | int) or getattr(array, "dtype", np.dtype(float)).kind in "ib"


def _odd(name: str, arrays: list[Any], active: Array) -> Array | None:
    """Return for which runs an operator on numbers of Python differs from arrays; None if for none."""
    if len(arrays) < 2:
        return None
    left, right = arrays
    whole = [_is_whole(each) for each in arrays]
    odd = np.zeros(len(active), dtype=bool)
    if name in ("add", "sub", "mul") and all(whole):
        sizes = [_most(each, active) for each in arrays]
        if (sizes[0] * sizes[1] if name == "mul" else sizes[0] + sizes[1]) >= LARGE:
            with np.errstate(all="ignore"):
                odd |= np.abs(OPERATION[name](np.float64(left), np.float64(right))) >= LARGE
    elif name in ("truediv", "floordiv", "mod"):
        odd |= np.equal(right, 0)
        if name == "truediv":
            for each, is_whole in zip(arrays, whole, strict=True):
                if is_whole and _most(each, active) >= EXACT:
                    odd |= np.abs(np.float64(each)) >= EXACT
        elif not all(whole):
            for each in arrays:
                odd |= ~np.isfinite(np.float64(each))
    elif name in COMPARISONS and any(whole) and not all(whole):
        for each, is_whole in zip(arrays, whole, strict=True):
            if is_whole and _most(each, active) >= EXACT:
                odd |= np.abs(np.float64(each)) >= EXACT
    odd &= active
    return odd if odd.any() else None


def _whole_truths(array: Any) -> Any:
    """Return numbers with truths as whole numbers, as Python counts with them."""
    if isinstance(array, np.ndarray):
        return array.astype(np.int64) if array.dtype == bool else array
    return int(array) if isinstance(array, bool) else array


def binary(domain: Active, name: str, left: Any, right: Any) -> Any:
    """Return ``left`` and ``right`` combined by an operator, for each active run."""
    dense = None if name in _NEVER else elementwise(domain, OPERATION[name], name)
    return apply(domain, OPERATION[name], (left, right), None, dense)


def unary(domain: Active, name: str, value: Any) -> Any:
    """Return a sign or the complement of a value, for each active run."""

    def dense(number: Any) -> Any:
        part = operand(number)
        if part is None or (part.python and part.dtype == bool) or (name == "invert" and part.dtype.kind == "f"):
            return NotImplemented
        result = number.like(OPERATION[name](number.array))
        return held(result)

    return apply(domain, OPERATION[name], (value,), None, dense)


def rounded(domain: Active, number: Numbers, places: int) -> Any:
    """``round(a, n)``: NumPy's rounding, and Python's own near ties, where the two differ."""
    own = np.where(domain.active.chosen, number.array, 0.0)
    if not -15 <= places <= 15:
        return NotImplemented
    result = number.like(np.round(own, places))
    if not number.python:
        return result  # as NumPy's own numbers are rounded
    with np.errstate(all="ignore"):
        scaled = np.abs(own) * 10.0**places
        near = np.abs(np.mod(scaled, 1.0) - 0.5) < 1e-6
        odd = (near | ~(scaled < _ROUNDED)) & domain.active.chosen
    if not odd.any():
        return result
    return repaired(domain, odd, lambda value: round(value, places), (number,), result)


# --- functions of NumPy -----------------------------------------------------------------------------------

OF_LAST_AXIS = frozenset((
    "sum", "mean", "max", "min", "amax", "amin", "argmax", "argmin", "prod", "any", "all", "std", "var", "median",
    "cumsum", "cumprod", "sort", "argsort",
))  # fmt: skip
_BY_ELEMENT = ("clip", "where", "round", "around", "nan_to_num", "rint", "real")
_STACKED = ("solve", "inv", "det", "eigh", "eigvalsh", "pinv", "cholesky")


def function_of_arrays(domain: Active, function: Any, keywords: dict[str, Any]) -> Callable[..., Any] | None:
    """Return what a function of NumPy does to arrays of all runs; None if it has no such form."""
    name = getattr(function, "__name__", "")
    if function is None:
        return None
    if isinstance(function, np.ufunc):
        simple = not keywords and function.nout == 1 and function.signature is None and function is not np.matmul
        return elementwise(domain, function, python=False) if simple else None
    module: str = getattr(function, "__module__", "") or ""
    if not module.startswith("numpy"):
        return None
    if name in OF_LAST_AXIS and not keywords:
        return lambda *values: along_last_axis(name, *values) if len(values) == 1 else NotImplemented
    if name in _BY_ELEMENT and getattr(np, name, None) is function and not keywords:
        by_element: Callable[..., Any] = getattr(np, name)
        return elementwise(domain, by_element, python=False)
    if name in _STACKED and not keywords:
        return _stacked(function)
    if name in ("array", "asarray") and not keywords:
        return _as_array(domain)
    if name == "polyfit" and not keywords:
        return _polyfit
    return None


def along_last_axis(name: str, value: Any) -> Any:
    """Return what a function of NumPy makes of a row of numbers without labels; else NotImplemented."""
    if name not in OF_LAST_AXIS or type(value) is not Numbers or value.array.ndim != 2 or value.labels is not None:
        return NotImplemented
    return held(Numbers(getattr(np, name)(value.array, axis=-1)))


def _stacked(function: Callable[..., Any]) -> Callable[..., Any]:
    def dense(*values: Any) -> Any:
        arrays = [each.array if type(each) is Numbers else each for each in values]
        runs = next(len(each.array) for each in values if type(each) is Numbers)
        if any(type(each) is Numbers and each.labels is not None for each in values):
            return NotImplemented
        arrays = [
            each if type(value) is Numbers else np.broadcast_to(each, (runs, *np.shape(each)))
            for each, value in zip(arrays, values, strict=True)
        ]
        vector = len(arrays) == 2 and arrays[1].ndim == 2
        try:
            result = function(arrays[0], arrays[1][..., None])[..., 0] if vector else function(*arrays)
        except np.linalg.LinAlgError:
            return NotImplemented
        if isinstance(result, tuple):
            parts: list[Any] = [Container(Numbers(np.asarray(each))) for each in result]
            return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
        return held(Numbers(result))

    return dense


def _polyfit(x: Any, y: Any, degree: Any) -> Any:
    if type(x) is Numbers or type(y) is not Numbers or y.labels is not None or type(degree) is not int:
        return NotImplemented
    if y.array.ndim != 2 or not np.isfinite(y.array).all():
        return NotImplemented
    return Container(Numbers(np.ascontiguousarray(np.polyfit(x, y.array.T, degree).T)))


def _as_array(domain: Active) -> Callable[..., Any]:
    def dense(*values: Any) -> Any:
        if len(values) != 1:
            return NotImplemented
        value = values[0]
        if type(value) is Numbers and value.labels is None:
            return Container(Numbers(value.array.copy())) if value.array.ndim > 1 else NotImplemented
        content = value.content if type(value) is Container else value
        if type(content) not in (list, tuple):
            return NotImplemented
        stacked = stack(domain, list(content))
        return NotImplemented if stacked is None else Container(Numbers(stacked))

    return dense


def stack(domain: Active, members: list[Any]) -> Array | None:
    """Return numbers as one array, (runs, members); None if they are not of one type that NumPy would keep."""
    members = [joins.as_numbers(each, domain.active) for each in map(domain.present, members)]
    parts = [operand(each) for each in members]
    if not parts or any(each is None or each.shape for each in parts):
        return None
    kinds = {each.dtype.kind for each in parts if each is not None}
    if kinds not in ({"f"}, {"i"}, {"b"}, {"f", "i"}):
        return None
    columns = [np.broadcast_to(each.array, (domain.count,)) for each in parts if each is not None]
    return np.stack(columns, axis=1)
