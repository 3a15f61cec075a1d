"""What is a drawn value in a batch? A number that is another one in each run, and behaves like one number.

Every operation means what it means for the plain number of each run: what NumPy would do differently (a
bool plus a bool, an integer that overflows, a division by zero, an overflowing power) is set right here.
A truth value branches; what leaves the reading raises `UnreadableError`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from dpaudit.program.batch import Path

Array = np.ndarray[Any, np.dtype[Any]]
_INTEGER_LIMIT = 2**62
_UNKNOWN = object()


class UnreadableError(BaseException):
    """The program does something that the batch reading does not know; it is read run by run instead.

    A BaseException, so that a program's own ``except Exception`` does not swallow it.
    """


class Noisy:
    """A number with one entry per run of a path."""

    __slots__ = ("array", "path")
    __array_priority__ = 1000

    def __init__(self, path: Path, array: Array) -> None:
        self.path = path
        self.array = array

    @property
    def __class__(self) -> type:
        """The type that one entry has, so that ``isinstance(x, float)`` answers as for the plain number."""
        return {"b": bool, "i": int}.get(self.array.dtype.kind, float)

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("the type of a noisy value cannot be changed")

    # arithmetic
    def __add__(self, other: Any) -> Any:
        return _arithmetic(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _arithmetic(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _arithmetic(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _arithmetic(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _arithmetic(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _arithmetic(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _division(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _division(operator.truediv, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _division(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _division(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Any:
        return _division(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _division(operator.mod, other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return _power(self, other) if modulus is None else self._leave("a power with a modulus")

    def __rpow__(self, other: Any) -> Any:
        return _power(other, self)

    def __neg__(self) -> Noisy:
        return Noisy(self.path, -_numeric(self.array))

    def __pos__(self) -> Noisy:
        return Noisy(self.path, _numeric(self.array))

    def __abs__(self) -> Noisy:
        return Noisy(self.path, np.abs(_numeric(self.array)))

    # logic on truth values and integers
    def __and__(self, other: Any) -> Any:
        return _logic(operator.and_, self, other)

    def __rand__(self, other: Any) -> Any:
        return _logic(operator.and_, other, self)

    def __or__(self, other: Any) -> Any:
        return _logic(operator.or_, self, other)

    def __ror__(self, other: Any) -> Any:
        return _logic(operator.or_, other, self)

    def __xor__(self, other: Any) -> Any:
        return _logic(operator.xor, self, other)

    def __rxor__(self, other: Any) -> Any:
        return _logic(operator.xor, other, self)

    # comparisons
    def __lt__(self, other: Any) -> Any:
        return _comparison(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return _comparison(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return _comparison(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return _comparison(operator.ge, self, other)

    def __eq__(self, other: object) -> Any:
        return _comparison(operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return _comparison(operator.ne, self, other)

    def __bool__(self) -> bool:
        return bool(self.path.decide(self.array if self.array.dtype == bool else self.array != 0))

    # to whole numbers
    def _whole(self, function: Callable[[Array], Array], plain: Callable[[Any], Any]) -> Noisy:
        if self.array.dtype.kind != "f":
            return Noisy(self.path, _numeric(self.array))
        if self.path.decide(~np.isfinite(self.array)):
            plain(self.array[0].item())
        if float(np.max(np.abs(self.array))) >= _INTEGER_LIMIT:
            self._leave("a whole number above 2^62")
        return Noisy(self.path, function(self.array).astype(np.int64))

    def __round__(self, digits: Any = None) -> Any:
        return self._whole(np.rint, round) if digits is None else self._leave("round to digits")

    def __floor__(self) -> Any:
        import math

        return self._whole(np.floor, math.floor)

    def __ceil__(self) -> Any:
        import math

        return self._whole(np.ceil, math.ceil)

    def __trunc__(self) -> Any:
        import math

        return self._whole(np.trunc, math.trunc)

    # what leaves the reading
    def _leave(self, what: str) -> NoReturn:
        self.path.leave(f"{what} of a noisy value")

    def __int__(self) -> int:
        self._leave("int()")

    def __float__(self) -> float:
        self._leave("float()")

    def __complex__(self) -> complex:
        self._leave("complex()")

    def __index__(self) -> int:
        self._leave("an index")

    def __str__(self) -> str:
        self._leave("str()")

    def __repr__(self) -> str:
        self._leave("repr()")

    def __format__(self, specification: str) -> str:
        self._leave("format()")

    def __hash__(self) -> int:
        self._leave("hash()")

    def __reduce_ex__(self, protocol: Any) -> Any:
        self._leave("a pickle or copy")

    def __array__(self, *_: Any, **__: Any) -> Array:
        self._leave("a NumPy array")

    def __array_function__(self, function: Any, *_: Any) -> Any:
        self._leave(f"numpy.{getattr(function, '__name__', function)}")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        known = _UFUNCS.get(ufunc.__name__)
        plain = all(isinstance(value, Noisy) or np.ndim(value) == 0 for value in inputs)
        if known is None or method != "__call__" or options or not plain:
            self._leave(f"numpy.{ufunc.__name__}")
        return known(*(value.item() if isinstance(value, np.generic) else value for value in inputs))

    def __copy__(self) -> Noisy:
        return self

    def __deepcopy__(self, memo: Any) -> Noisy:
        return self


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "negative": operator.neg,
    "absolute": operator.abs,
}


def _numeric(array: Array) -> Array:
    """A truth value in arithmetic is the integer 0 or 1."""
    return array.astype(np.int64) if array.dtype == bool else array


def _operands(left: Any, right: Any) -> tuple[Path, Any, Any] | None:
    """Return the path and both operands as arrays or plain numbers; None where one is no number."""
    path = left.path if isinstance(left, Noisy) else right.path
    operands: list[Any] = []
    for value in (left, right):
        if isinstance(value, Noisy):
            if value.path is not path:
                path.leave("a noisy value kept from another call")
            operands.append(value.array)
        elif isinstance(value, np.generic) and value.dtype.kind in "bif":
            operands.append(value.item())
        elif isinstance(value, bool | int | float):
            operands.append(value)
        elif isinstance(value, complex) or hasattr(value, "__float__") or hasattr(value, "__array__"):
            path.leave(f"arithmetic with {type(value).__name__}")
        else:
            return None
    return path, operands[0], operands[1]


def _whole_number(value: Any) -> bool:
    return value.dtype.kind == "i" if isinstance(value, np.ndarray) else isinstance(value, int)


def _size(value: Any) -> float:
    return float(np.max(np.abs(value))) if isinstance(value, np.ndarray) else float(abs(value))


def _as_number(path: Path, value: Any) -> Any:
    value = _numeric(value) if isinstance(value, np.ndarray) else int(value) if isinstance(value, bool) else value
    if isinstance(value, int) and abs(value) >= _INTEGER_LIMIT:
        path.leave("arithmetic with an integer above 2^62")
    return value


def _prepared(left: Any, right: Any) -> tuple[Path, Any, Any] | None:
    found = _operands(left, right)
    if found is None:
        return None
    path, a, b = found
    return path, _as_number(path, a), _as_number(path, b)


def _arithmetic(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    found = _prepared(left, right)
    if found is None:
        return NotImplemented
    path, a, b = found
    if _whole_number(a) and _whole_number(b):
        reach = _size(a) * _size(b) if function is operator.mul else _size(a) + _size(b)
        if reach >= _INTEGER_LIMIT:
            path.leave("an integer above 2^62")
    with np.errstate(all="ignore"):
        return Noisy(path, function(a, b))


def _division(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    found = _prepared(left, right)
    if found is None:
        return NotImplemented
    path, a, b = found
    zero = path.decide(b == 0) if isinstance(b, np.ndarray) else b == 0
    if zero:
        function(_first(a), _first(b))  # raises what plain numbers raise
    with np.errstate(all="ignore"):
        return Noisy(path, function(a, b))


def _first(value: Any) -> Any:
    return value[0].item() if isinstance(value, np.ndarray) else value


def _power(left: Any, right: Any) -> Any:
    found = _prepared(left, right)
    if found is None:
        return NotImplemented
    path, a, b = found
    real = isinstance(a, np.ndarray) and a.dtype.kind == "f" and isinstance(b, int) and b >= 0
    growth = isinstance(b, np.ndarray) and b.dtype.kind == "f" and isinstance(a, int | float) and a > 0
    if not (real or growth):
        path.leave("this power")
    with np.errstate(all="ignore"):
        result = np.power(a, b) if real else np.power(float(a), b)
    if path.decide(np.isinf(result) & np.isfinite(a) & np.isfinite(b)):
        operator.pow(_first(a), _first(b))  # raises OverflowError, as plain numbers do
    return Noisy(path, result)


def _logic(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    found = _operands(left, right)
    if found is None:
        return NotImplemented
    path, a, b = found
    kinds = [value.dtype.kind if isinstance(value, np.ndarray) else type(value).__name__[0] for value in (a, b)]
    if "f" in kinds:
        return NotImplemented
    if kinds != ["b", "b"]:
        a, b = _as_number(path, a), _as_number(path, b)
    return Noisy(path, function(a, b))


def _comparison(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    found = _operands(left, right)
    if found is None:
        return NotImplemented
    path, a, b = found
    if isinstance(b, int) and abs(b) >= _INTEGER_LIMIT:
        b = float(b)
    return Noisy(path, function(a, b))
