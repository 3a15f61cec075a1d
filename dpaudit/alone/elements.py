"""What do NumPy's functions of single numbers give, and its operators? From ``math``, for arrays element by element."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

from dpaudit.alone.ndarray import elementwise, ndarray

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
