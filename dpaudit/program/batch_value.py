"""What is a drawn value in a batch? A number with a different value in each run, which behaves like a single number.

Every operation means what it means for the plain number of each run. Where NumPy would differ (bool plus bool, integer
overflow, division by zero, an overflowing power), this module corrects it. If the plain number would be a NumPy scalar
(a draw plus a ``np.float64``), NumPy's own rules hold. A truth value branches; operations that the batch reading does
not support make it give up (`BatchPath.leave`).
"""

from __future__ import annotations

import builtins
import itertools
import math
import opcode
import operator
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dpaudit.program.batch_reading import BatchPath

Array = np.ndarray[Any, np.dtype[Any]]
Binary = Callable[[Any, Any], Any]
INTEGER_LIMIT = 2**62  # int64 wraps around beyond twice this; Python's integers do not
CORRECTED = sys.version_info >= (3, 12)  # functions in C add floats more exactly than `+` does: see `drawn_sums`
_PLUS = opcode.opmap["BINARY_OP"]
_EXACT = 2**53  # up to here, NumPy compares an integer as a float without rounding
_DTYPES = (np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64))
_CLASSES = {"b": (bool, np.bool_), "i": (int, np.int64), "f": (float, np.float64)}  # of Python, of NumPy
# NumPy functions of single numbers that never raise
_UFUNC_NAMES = """
    add subtract multiply divide floor_divide remainder negative positive absolute fabs sign sqrt square exp expm1
    log log2 log10 log1p floor ceil rint trunc maximum minimum fmax fmin less less_equal greater greater_equal
    equal not_equal bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_not isnan isinf isfinite
"""
_UFUNCS = frozenset(_UFUNC_NAMES.split())

# --- the operands ----------------------------------------------------------------------------------------


def entries(noisy: BatchValue) -> Array:
    """Return the entries of the runs that are still on the value's path."""
    path = noisy._path
    if noisy._version != path.version:
        noisy._array = path.narrowed(noisy._array, noisy._version)
        noisy._version = path.version
    return noisy._array


def _operands(left: Any, right: Any) -> tuple[BatchPath, Any, Any, bool] | None:
    """Return the path, both operands as arrays or plain numbers, and whether NumPy's rules hold.

    None if one of them is no number.
    """
    path: BatchPath = left._path if type(left) is BatchValue else right._path
    operands, numpy = [], False
    for value in (left, right):
        kind = type(value)
        if kind is BatchValue:
            path.ensure_own(value._path)
            operands.append(entries(value))
            numpy |= value._numpy
        elif kind in (bool, int, float):
            operands.append(value)
        elif kind in (np.bool_, np.int64, np.float64):
            operands.append(value.item())
            numpy = True
        elif isinstance(value, int | float | complex) or hasattr(value, "__float__") or hasattr(value, "__array__"):
            path.leave(f"arithmetic with {kind.__name__}")
        else:
            return None
    return path, operands[0], operands[1], numpy


def _as_number(value: Any) -> Any:
    """Return a truth value as the integer 0 or 1, as Python's arithmetic does; other values unchanged."""
    truth = value.dtype == bool if isinstance(value, np.ndarray) else type(value) is bool
    return value * 1 if truth else value


def _floats_of(path: BatchPath, value: Any) -> Any:
    if isinstance(value, int) and abs(value) >= INTEGER_LIMIT:
        path.leave("arithmetic with an integer above 2^62")
    return _as_number(value)


def _whole_number(value: Any) -> bool:
    return value.dtype.kind in "bi" if isinstance(value, np.ndarray) else isinstance(value, int)


def _size(value: Any) -> int:
    return int(np.max(np.abs(value))) if isinstance(value, np.ndarray) else abs(value)


def _of_first_run(value: Any) -> Any:
    return entries(value)[0].item() if type(value) is BatchValue else value


def _result(path: BatchPath, array: Any, numpy: bool) -> BatchValue:
    if array.dtype not in _DTYPES:
        path.leave(f"a number of type {array.dtype}")
    return BatchValue(path, array, numpy=numpy)


# --- the operations --------------------------------------------------------------------------------------


def _arithmetic(function: Binary) -> Binary:
    def apply(left: Any, right: Any) -> Any:
        operands = _operands(left, right)
        if operands is None:
            return NotImplemented
        path, a, b, numpy = operands
        if not numpy:
            a, b = _floats_of(path, a), _floats_of(path, b)
            if _whole_number(a) and _whole_number(b):
                reach = _size(a) * _size(b) if function is operator.mul else _size(a) + _size(b)
                if reach >= INTEGER_LIMIT:
                    path.leave("an integer above 2^62")
            elif CORRECTED and function is operator.add:
                _ensure_plus(path)
        with np.errstate(all="ignore"):
            return _result(path, function(a, b), numpy)

    return apply


def _ensure_plus(path: BatchPath) -> None:
    """Give up if a function in C adds floats: then the calling code is not at a ``+``."""
    program = sys._getframe(3)
    if program.f_code.co_code[program.f_lasti] != _PLUS:
        path.leave("sum(), or another function in C that adds floats")


def _division(function: Binary) -> Binary:
    def apply(left: Any, right: Any) -> Any:
        operands = _operands(left, right)
        if operands is None:
            return NotImplemented
        path, a, b, numpy = operands
        if not numpy:
            if bool(right == 0):  # a branch, if the divisor is noisy
                function(_of_first_run(left), _of_first_run(right))  # raises what plain numbers raise
            a, b = (_floats_of(path, entries(value) if type(value) is BatchValue else value) for value in (left, right))
            if _whole_number(a) and _whole_number(b) and max(_size(a), _size(b)) > _EXACT:
                path.leave("a division of integers above 2^53")
        with np.errstate(all="ignore"):
            operands = function(a, b)
        return (
            tuple(_result(path, part, numpy) for part in operands)
            if function is divmod
            else _result(path, operands, numpy)
        )

    return apply


def _comparison(function: Binary) -> Binary:
    def apply(left: Any, right: Any) -> Any:
        operands = _operands(left, right)
        if operands is None:
            return NotImplemented
        path, a, b, numpy = operands
        if not numpy and _whole_number(a) != _whole_number(b) and _size(a if _whole_number(a) else b) > _EXACT:
            path.leave("a comparison of a float with an integer above 2^53")
        if type(a) is int or type(b) is int:  # NumPy cannot compare a truth value with a large integer
            a, b = _as_number(a), _as_number(b)
        with np.errstate(all="ignore"):
            return BatchValue(path, function(a, b), numpy=numpy)

    return apply


def _logic(function: Binary) -> Binary:
    def apply(left: Any, right: Any) -> Any:
        operands = _operands(left, right)
        if operands is None:
            return NotImplemented
        path, a, b, numpy = operands
        if not numpy:
            if not (_whole_number(a) and _whole_number(b)):
                return _run_by_run_of(path, function, left, right)
            truths = [value.dtype == bool if isinstance(value, np.ndarray) else type(value) is bool for value in (a, b)]
            if not all(truths):
                a, b = _floats_of(path, a), _floats_of(path, b)
        return _result(path, function(a, b), numpy)

    return apply


def _run_by_run(function: Binary) -> Binary:
    def apply(left: Any, right: Any) -> Any:
        operands = _operands(left, right)
        if operands is None:
            return NotImplemented
        if operands[3]:
            operands[0].leave(f"{function.__name__} of a NumPy number")
        return _run_by_run_of(operands[0], function, left, right)

    return apply


def _run_by_run_of(path: BatchPath, function: Callable[..., Any], *values: Any) -> BatchValue:
    """Apply a function to the plain numbers of each run; raising an exception is a branch."""
    columns = [entries(value).tolist() if type(value) is BatchValue else itertools.repeat(value) for value in values]
    outcomes = np.empty(len(path.runs), dtype=object)
    outcomes[:] = list(map(partial(_attempt, function), *columns))
    results = BatchValue(path, outcomes)
    failed = path.decide(np.fromiter(map(_exception_code, outcomes), dtype=np.int64, count=len(outcomes)))
    results_listed = entries(results).tolist()
    if failed:
        raise results_listed[0]
    kinds = set(map(type, results_listed))
    if len(kinds) > 1 or not kinds <= {bool, int, float}:
        path.leave(f"{function.__name__} with results of several types")
    if kinds == {int} and max(map(abs, results_listed)) >= INTEGER_LIMIT:
        path.leave("an integer above 2^62")
    return BatchValue(path, np.array(results_listed, dtype={bool: bool, int: np.int64, float: np.float64}[kinds.pop()]))


def _attempt(function: Callable[..., Any], *values: Any) -> Any:
    try:
        return function(*values)
    except Exception as error:
        return error


def _exception_code(outcome: Any) -> int:
    """Return 0 for a result, and for exceptions a number that is equal for equal exceptions, in every call."""
    return 1 + zlib.crc32(repr(outcome).encode()) if isinstance(outcome, Exception) else 0


def _forward(operation: Binary) -> Callable[[BatchValue, Any], Any]:
    return lambda self, other: operation(self, other)


def _reflected(operation: Binary) -> Callable[[BatchValue, Any], Any]:
    return lambda self, other: operation(other, self)


_add, _sub, _mul = _arithmetic(operator.add), _arithmetic(operator.sub), _arithmetic(operator.mul)
_truediv, _floordiv = _division(operator.truediv), _division(operator.floordiv)
_mod, _divmod = _division(operator.mod), _division(divmod)
_and, _or, _xor = _logic(operator.and_), _logic(operator.or_), _logic(operator.xor)
_pow, _lshift, _rshift = _run_by_run(operator.pow), _run_by_run(operator.lshift), _run_by_run(operator.rshift)

# --- the value -------------------------------------------------------------------------------------------


class BatchValue:
    """A number with one entry per run of a path."""

    __slots__ = ("_array", "_numpy", "_path", "_version")

    def __init__(self, path: BatchPath, array: Array, *, numpy: bool = False) -> None:
        self._path = path
        self._array = array
        self._numpy = numpy
        self._version = path.version

    @property
    def __class__(self) -> type:
        """The type of one entry, so that ``isinstance(x, float)`` answers as for the plain number."""
        return _CLASSES[self._array.dtype.kind][self._numpy]

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("the type of a noisy value cannot be changed")

    __add__, __radd__ = _forward(_add), _reflected(_add)
    __sub__, __rsub__ = _forward(_sub), _reflected(_sub)
    __mul__, __rmul__ = _forward(_mul), _reflected(_mul)
    __truediv__, __rtruediv__ = _forward(_truediv), _reflected(_truediv)
    __floordiv__, __rfloordiv__ = _forward(_floordiv), _reflected(_floordiv)
    __mod__, __rmod__ = _forward(_mod), _reflected(_mod)
    __divmod__, __rdivmod__ = _forward(_divmod), _reflected(_divmod)
    __and__, __rand__ = _forward(_and), _reflected(_and)
    __or__, __ror__ = _forward(_or), _reflected(_or)
    __xor__, __rxor__ = _forward(_xor), _reflected(_xor)
    __lshift__, __rlshift__ = _forward(_lshift), _reflected(_lshift)
    __rshift__, __rrshift__ = _forward(_rshift), _reflected(_rshift)
    __rpow__ = _reflected(_pow)
    __lt__, __le__ = _forward(_comparison(operator.lt)), _forward(_comparison(operator.le))
    __gt__, __ge__ = _forward(_comparison(operator.gt)), _forward(_comparison(operator.ge))

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return _pow(self, other) if modulus is None else pow(self._left("a power with a modulus"), other, modulus)

    def __eq__(self, other: object) -> Any:
        return _equal(self, other)

    def __ne__(self, other: object) -> Any:
        return _unequal(self, other)

    def __bool__(self) -> bool:
        array = entries(self)
        return bool(self._path.decide(array if array.dtype == bool else array != 0))

    def _unary(self, function: Callable[[Any], Any]) -> Any:
        self._path.ensure_own(self._path)
        array = entries(self) if self._numpy else _as_number(entries(self))
        return _result(self._path, function(array), self._numpy)

    def __neg__(self) -> Any:
        return self._unary(operator.neg)

    def __pos__(self) -> Any:
        return self._unary(operator.pos)

    def __abs__(self) -> Any:
        return self._unary(operator.abs)

    def __invert__(self) -> Any:
        return self._unary(operator.invert) if self._array.dtype.kind != "f" else ~self._left("~")

    def _whole(self, function: Callable[[Array], Array], plain: Callable[[Any], Any]) -> BatchValue:
        array = entries(self)
        if array.dtype.kind != "f":
            if self._numpy:
                self._path.leave(f"{plain.__name__} of a NumPy number")
            return self._unary(operator.pos)  # type: ignore[no-any-return]
        if self._path.decide(np.isinf(array) + 2 * np.isnan(array)):
            plain(_of_first_run(self))  # raises what a plain number raises
        array = entries(self)
        if float(np.max(np.abs(array))) >= INTEGER_LIMIT:
            self._path.leave("a whole number above 2^62")
        return BatchValue(self._path, function(array).astype(np.int64))

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return self._whole(np.rint, round)
        if self._numpy or type(digits) is not int:
            self._path.leave("round to digits of a NumPy number, or to noisy digits")
        return _run_by_run_of(self._path, round, self, digits)

    def __floor__(self) -> Any:
        return self._whole(np.floor, math.floor)

    def __ceil__(self) -> Any:
        return self._whole(np.ceil, math.ceil)

    def __trunc__(self) -> Any:
        return self._whole(np.trunc, math.trunc)

    # operations that the reading does not support
    def _left(self, what: str) -> Any:
        """Give up the reading; later, return the number of the one run with which the call continues."""
        self._path.ensure_own(self._path)
        if self._path.given_up is None:
            self._path.leave(f"{what} of a noisy value")
        return _of_first_run(self)

    def __int__(self) -> int:
        return int(self._left("int()"))

    def __float__(self) -> float:
        return float(self._left("float()"))

    def __complex__(self) -> complex:
        return complex(self._left("complex()"))

    def __index__(self) -> int:
        return operator.index(self._left("an index"))

    def __str__(self) -> str:
        return str(self._left("str()"))

    def __repr__(self) -> str:
        return repr(self._left("repr()"))

    def __format__(self, specification: str) -> str:
        return format(self._left("format()"), specification)

    def __hash__(self) -> int:
        return hash(self._left("hash()"))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._left("a pickle").__reduce_ex__(protocol)

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self.__class__, name):
            raise AttributeError(f"'{self.__class__.__name__}' object has no attribute '{name}'")
        return getattr(self._left(f".{name}"), name)

    @property
    def __array__(self) -> Any:
        return np.asarray(self._left("a NumPy array")).__array__

    def __array_function__(self, function: Any, *_: Any) -> Any:
        self._path.leave(f"numpy.{getattr(function, '__name__', function)} of a noisy value")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        # comparisons pass a NumPy scalar on as a zero-dimensional array
        scalars = [value[()] if isinstance(value, np.ndarray) and not value.ndim else value for value in inputs]
        each_operands = [_operands(value, self) for value in scalars]
        if ufunc.__name__ not in _UFUNCS or method != "__call__" or options or None in each_operands:
            self._path.leave(f"numpy.{ufunc.__name__} of a noisy value")
        with np.errstate(all="ignore"):
            return _result(self._path, ufunc(*(operands[1] for operands in each_operands if operands)), numpy=True)

    def __copy__(self) -> BatchValue:
        return self

    def __deepcopy__(self, memo: Any) -> BatchValue:
        return self


_equal, _unequal = _comparison(operator.eq), _comparison(operator.ne)

# --- What is the sum of drawn values? What ``sum`` returns for the plain floats of each run, to the last bit ---
#
# Since Python 3.12, ``sum`` keeps track of the rounding errors of a sum of floats and adds them at the end
# (Neumaier 1974, algorithm IV); anything else it adds with ``+``. While a batch is read, drawn floats are summed in the
# same way. Other functions in C may do so too (``math.sumprod``, or a ``sum`` that the program saved earlier): if an
# addition does not come from a ``+`` of the program, the batch reading gives up (see `dpaudit.program.batch_value`).

_plain_sum = builtins.sum
# addition does not come from a ``+`` of the program, the batch reading gives up (above).


@contextmanager
def drawn_sums() -> Iterator[None]:
    """Make ``sum`` add drawn floats as it adds plain ones, on versions of Python where that differs from ``+``."""
    if not CORRECTED or builtins.sum is not _plain_sum:  # a target that replaces ``sum`` is found out elsewhere
        yield
        return
    try:
        builtins.sum = sum
        yield
    finally:
        if builtins.sum is sum:
            builtins.sum = _plain_sum


def sum(values: Iterable[Any], /, start: Any = 0) -> Any:  # noqa: A001 - it replaces the built-in one
    """Return what `builtins.sum` returns, treating drawn floats as the floats that they stand for."""
    if type(values) is range:
        return _plain_sum(values, start)
    items = values if type(values) in (list, tuple) else list(values)
    numbers = [start, *items]
    drawn = [item for item in numbers if type(item) is BatchValue]
    if not (drawn and items and all(map(_is_float, items)) and (_is_float(start) or _is_zero(start))):
        return _plain_sum(items, start)
    path = drawn[0]._path
    for item in drawn:
        path.ensure_own(item._path)
    with np.errstate(all="ignore"):
        return BatchValue(path, corrected([entries(each) if type(each) is BatchValue else each for each in numbers]))


def corrected(numbers: list[Any]) -> Any:
    """Return the compensated sum of floats and arrays: ``high`` is the plain sum, ``low`` its rounding error.

    The first number may be the integer 0, from which ``sum`` starts.
    """
    if type(numbers[0]) is int:
        numbers = [numbers[0] + numbers[1], *numbers[2:]]
    high, low = numbers[0], 0.0
    for number in numbers[1:]:
        total = high + number
        low = low + np.where(np.abs(high) >= np.abs(number), (high - total) + number, (number - total) + high)
        high = total
    return np.where((low != 0) & np.isfinite(low), high + low, high)


def _is_float(value: Any) -> bool:
    return value.__class__ is float  # a drawn value has the class of one entry


def _is_zero(value: Any) -> bool:
    return type(value) is int and value == 0
