"""What is a drawn value in the symbolic reading? A linear expression that behaves like one number.

A comparison is decided by the path at once and returns an ordinary bool. Parameters are expressions without variables:
they stay exact, so ``2 / epsilon`` is a fraction. A float counts as the decimal that Python writes for it, if that has
at most 15 digits; a longer one is the rounded result of some computation, and differs from the number that is meant.
Operations that the reading does not support are refused, naming the line.

Real numbers have one zero, but floats have two, and outputs show which: a symbol knows the sign that its float would
have if it were zero (IEEE 754, round to nearest), or that it is unknown. Zeros of the data and of draws are 0.0.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import math
import operator
import os
import sysconfig
import textwrap
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from dpaudit.decimals import short_decimal
from dpaudit.program.laws import LAWS
from dpaudit.program.noise import Noise
from dpaudit.program.symbolic.linear import Affine, Rational, spend, whole_where_possible

_OURS = str(Path(__file__).parents[2])
_STANDARD, _NUMPY = sysconfig.get_path("stdlib"), str(Path(np.__file__).parent)
_SITE = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})

CHOICE_IS_READ = "noise.argmax([score + noise.exponential(2 / epsilon) for score in scores])"
SUMS_ARE_READ = (
    "sums of answers and noise are read, with numbers as factors, and comparisons of them; weights that hang on an "
    f"answer are not. A choice by them, as by permute-and-flip, is read as {CHOICE_IS_READ}: it has the same law. The "
    "place of the largest of several numbers is noise.argmax(numbers)"
)  # Ding, Kifer, Sayed M. N. E., Steinke, Wang, Xiao & Zhang (2021), for scores that move by at most 1


class RefusedError(BaseException):
    """The reading does not support what the program does; no ``except Exception`` may swallow it."""


def line_of(frames: Any) -> str:
    """Return the innermost line of the program among frames: the last part of its file's name, number and text."""
    while frames.f_back is not None and _is_library(frames.f_code.co_filename):
        frames = frames.f_back
    return _line_text(frames.f_code.co_filename, frames.f_lineno)


def _line_text(name: str, line: int) -> str:
    return f"{os.path.basename(name)}:{line} ({linecache.getline(name, line).strip()})"


def further_draws(function: Any, told: str) -> list[str]:
    """Return what else of a program's draws is certainly not read, each with its line, known from its source alone.

    Args:
        function: the program; nothing is said of one whose source is not there.
        told: the refusal that is told already; its line is left out.
    """
    function = inspect.unwrap(getattr(function, "step", function))
    try:
        file, first = inspect.getsourcefile(function) or "", inspect.getsourcelines(function)[1]
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        noise = list(inspect.signature(function).parameters)[1]
    except (OSError, TypeError, ValueError, SyntaxError, IndexError):
        return []
    further: dict[str, str] = {}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        of, name, why = node.value.id, node.attr, ""
        if of == noise and name in LAWS and not LAWS[name].is_provable:
            why = f"noise.{name}, which no shift of the draws carries over at a bounded cost"
        elif of == noise and not hasattr(Noise, name):
            why = f"noise has no {name!r}"
        elif of in ("np", "numpy") and name == "argmax":
            why = "noise.argmax(values) is read, and np.argmax is not"
        line = _line_text(file, first + node.lineno - 1)
        if why and not told.startswith(line):
            further.setdefault(line, why)
    return [f"{line}: {why}" for line, why in further.items()]


def end_of(function: Any) -> str | None:
    """Return the line at which a function returns, or its first line if there are several; None for no function."""
    function = inspect.unwrap(getattr(function, "finish", None) or getattr(function, "step", function))
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return None
    ends = {
        each.positions.lineno
        for each in dis.get_instructions(code)
        if each.opname.startswith("RETURN_") and each.positions
    }
    line = ends.pop() if len(ends) == 1 else None
    line = line or code.co_firstlineno
    return _line_text(code.co_filename, line)


def _is_library(name: str) -> bool:
    own = name == "<string>" or name.startswith((_OURS, _NUMPY))
    return own or (name.startswith(_STANDARD) and not name.startswith(_SITE))


class PathReading(Protocol):
    """What a value asks of the reading of its path."""

    def refuse(self, reason: str, /) -> NoReturn:
        """Raise an error that names the line of the program."""

    def ensure_own(self, other: Any, /) -> None:
        """Raise if ``other`` is the reading of another run."""

    def compare(self, expression: Affine, way: Any, /) -> bool:
        """Decide whether an expression is <, ≤, =, ≥ or > 0."""


class SymbolicValue:
    """A number of one run: an expression, and whether the program sees an int or a float.

    ``zero`` is the sign that the float has if it is zero: 1, −1, or 0 if unknown; ``known``, whether it is made of
    parameters and constants alone, so that its type is the same in every run.
    """

    __slots__ = ("_noise", "expression", "is_whole", "known", "zero")

    def __init__(
        self, noise: PathReading, expression: Affine, *, is_whole: bool, zero: int = 1, known: bool = False
    ) -> None:
        """Make a number of the run of ``noise``."""
        self._noise = noise
        self.expression = expression
        self.is_whole = is_whole
        self.zero = 1 if is_whole else zero
        self.known = known

    @property
    def __class__(self) -> type:
        """The type of the number, so that ``isinstance(x, float)`` answers as for the plain number."""
        return int if self.is_whole else float

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("the type of a noisy value cannot be changed")

    # --- arithmetic --------------------------------------------------------------------------------------

    def _refuse(self, what: str) -> NoReturn:
        self._noise.refuse(what)

    def _other(self, value: Any, *, or_inf: bool = False) -> SymbolicValue | float | None:
        """Return the other operand as a symbol (with ``or_inf``, an infinite one as a float); None if no number."""
        if type(value) is SymbolicValue:
            if not self.expression.is_constant and not value.expression.is_constant:
                self._noise.ensure_own(value._noise)
            return value
        if isinstance(value, bool | int | np.integer | np.bool_):
            return SymbolicValue(self._noise, Affine({}, int(value)), is_whole=True, known=True)
        if isinstance(value, Fraction):
            return SymbolicValue(self._noise, Affine({}, whole_where_possible(value)), is_whole=False, known=True)
        if isinstance(value, float | np.floating):
            if not math.isfinite(value):
                return float(value) if or_inf else self._refuse(f"arithmetic with {value}")
            exact = short_decimal(float(value))
            if exact is None:
                self._refuse(
                    f"the float {float(value)!r} is no short decimal: it is the rounded result of a computation; "
                    "write the computation with parameters, which are exact here, or give the number as a parameter"
                )
            zero = zero_sign(float(value))
            return SymbolicValue(
                self._noise, Affine({}, whole_where_possible(exact)), is_whole=False, zero=zero, known=True
            )
        if isinstance(value, complex | Decimal | np.ndarray) or hasattr(value, "__float__"):
            self._refuse(f"arithmetic with {type(value).__name__}")
        return None

    def _number(self) -> Rational | None:
        """The value if there is no variable in it, else None."""
        return self.expression.constant if self.expression.is_constant else None

    def _made(
        self, expression: Affine, zero: int, *, is_whole: bool, other: SymbolicValue | None = None
    ) -> SymbolicValue:
        """Return a result that belongs to the run of the operand with variables."""
        spend()
        owner = other if other is not None and self.expression.is_constant else self
        known = self.known and (other is None or other.known)
        return SymbolicValue(owner._noise, expression, is_whole=is_whole, zero=zero, known=known)

    def _sign(self) -> int:
        """The sign of the float, also of a zero; 0 if unknown."""
        number = self._number()
        return 0 if number is None else self.zero if not number else 1 if number > 0 else -1

    def _plain(self) -> int | float:
        """Return the plain number of an expression without variables; a float must represent it exactly."""
        number = self._number()
        assert number is not None
        if self.is_whole:
            return int(number)
        if not number:
            return 0.0 * self.zero if self.zero else self._refuse("a zero that may be 0.0 or −0.0; add 0.0 to it")
        near = float(number)
        if short_decimal(near) != number:
            self._refuse(f"{number} is no short decimal, and would lose its last digits as a float")
        return near

    def __add__(self, other: Any) -> Any:
        return _sum(self, other, 1)

    def __radd__(self, other: Any) -> Any:
        return _sum(self, other, 1)

    def __sub__(self, other: Any) -> Any:
        return _sum(self, other, -1)

    def __rsub__(self, other: Any) -> Any:
        right = self._other(other)
        return _sum(right, self, -1) if type(right) is SymbolicValue else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if type(other) in (str, list, tuple, bytes):
            return other * self.__index__()
        right = self._other(other)
        return _product(self, right) if type(right) is SymbolicValue else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        right = self._other(other)
        return _quotient(self, right) if type(right) is SymbolicValue else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        left = self._other(other)
        return _quotient(left, self) if type(left) is SymbolicValue else NotImplemented

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return _exactly(self, other, operator.pow, "a power") if modulus is None else self._refuse("a modular power")

    def __rpow__(self, other: Any) -> Any:
        return _exactly(self._other(other), self, operator.pow, "a power")

    def __floordiv__(self, other: Any) -> Any:
        return _exactly(self, other, operator.floordiv, "a whole division")

    def __rfloordiv__(self, other: Any) -> Any:
        return _exactly(self._other(other), self, operator.floordiv, "a whole division")

    def __mod__(self, other: Any) -> Any:
        return _exactly(self, other, operator.mod, "a remainder")

    def __rmod__(self, other: Any) -> Any:
        if isinstance(other, str | bytes):
            self._refuse("a text made with %")
        return _exactly(self._other(other), self, operator.mod, "a remainder")

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __neg__(self) -> Any:
        return self._made(-self.expression, -self.zero, is_whole=self.is_whole)

    def __pos__(self) -> Any:
        return self

    def _bits(self, other: Any = None) -> Any:
        return self._refuse("an operation on bits")

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _bits
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = _bits

    def __abs__(self) -> Any:
        return self._made(self.expression if self >= 0 else -self.expression, 1, is_whole=self.is_whole)

    # --- comparisons: branches ---------------------------------------------------------------------------

    def __lt__(self, other: Any) -> Any:
        return _compare(self, other, "<")

    def __le__(self, other: Any) -> Any:
        return _compare(self, other, "<=")

    def __gt__(self, other: Any) -> Any:
        return _compare(self, other, ">")

    def __ge__(self, other: Any) -> Any:
        return _compare(self, other, ">=")

    def __eq__(self, other: object) -> Any:
        return _compare(self, other, "=")

    def __ne__(self, other: object) -> Any:
        equal = _compare(self, other, "=")
        return equal if equal is NotImplemented else not equal

    def __bool__(self) -> bool:
        return bool(self != 0)

    # --- operations that are refused ---------------------------------------------------------------------

    def _leave(self, what: str) -> int | float:
        return (
            self._refuse(f"{what} of an unknown number; {SUMS_ARE_READ}") if self._number() is None else self._plain()
        )

    def _rounded(self, function: Callable[[Rational], int], what: str) -> int:
        number = self._number()
        return self._refuse(f"{what} of an unknown number") if number is None else function(number)

    def __int__(self) -> int:
        return self._rounded(math.trunc, "int()")

    def __trunc__(self) -> int:
        return self._rounded(math.trunc, "trunc()")

    def __floor__(self) -> int:
        return self._rounded(math.floor, "floor()")

    def __ceil__(self) -> int:
        return self._rounded(math.ceil, "ceil()")

    def __round__(self, digits: Any = None) -> Any:
        return round(self._leave("round()"), digits)

    def __float__(self) -> float:
        return float(self._leave("float()"))

    def __complex__(self) -> complex:
        return complex(self._leave("complex()"))

    def __index__(self) -> int:
        return operator.index(self._leave("an index"))  # type: ignore[arg-type]  # raises for a float, as Python does

    def __str__(self) -> str:
        return str(self._leave("str()"))

    def __repr__(self) -> str:
        return repr(self._leave("repr()"))

    def __format__(self, specification: str) -> str:
        return format(self._leave("format()"), specification)

    def __hash__(self) -> int:
        return hash(self._leave("hash()"))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._refuse("a pickle of a number")

    def __copy__(self) -> SymbolicValue:
        return self

    def __deepcopy__(self, memo: Any) -> SymbolicValue:
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "__array__":
            return np.asarray(self._leave("a NumPy array")).__array__
        if hasattr(self.__class__, name):
            hint = " (whole answers are read with domain='integer')" if name == "is_integer" else ""
            return getattr(self._leave(f".{name}{hint}"), name)
        raise AttributeError(f"'{self.__class__.__name__}' object has no attribute '{name}'")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        # called for a NumPy scalar on the left of an operator
        function = _UFUNCS.get(ufunc.__name__)
        scalars = [value[()] if isinstance(value, np.ndarray) and not value.ndim else value for value in inputs]
        if function is None or method != "__call__" or options or any(isinstance(v, np.ndarray) for v in scalars):
            self._refuse(f"numpy.{ufunc.__name__}")
        return function(*(value.item() if isinstance(value, np.generic) else value for value in scalars))

    def __array_function__(self, function: Any, *_: Any) -> Any:
        return self._refuse(f"numpy.{getattr(function, '__name__', function)}")


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": operator.abs,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}


def _sum(left: SymbolicValue, right: Any, sign: int) -> Any:
    right_value = left._other(right)
    if type(right_value) is not SymbolicValue:
        return NotImplemented
    expression = left.expression + right_value.expression if sign > 0 else left.expression - right_value.expression
    zero, whole = _zero_of_sum(left, right_value, sign), left.is_whole and right_value.is_whole
    return left._made(expression, zero, is_whole=whole, other=right_value)


def _zero_of_sum(left: SymbolicValue, right: SymbolicValue, sign: int) -> int:
    """Return the sign of a sum if it is zero: only −0.0 + −0.0 is −0.0; numbers that cancel give 0.0."""
    zeros = left.zero, right.zero * sign
    numbers = left._number(), right._number()
    if 1 in zeros or any(number for number in numbers):
        return 1
    return -1 if zeros == (-1, -1) and numbers == (0, 0) else 0


def zero_sign(value: float) -> int:
    """Return the sign of a float that is zero, and 1 for all others."""
    return -1 if value == 0 and math.copysign(1, value) < 0 else 1


def _product(left: SymbolicValue, right: SymbolicValue) -> SymbolicValue:
    whole = left.is_whole and right.is_whole
    one, other = left._number(), right._number()
    if other is not None and not (one is not None and not one):
        zero = (left.zero if other else 0) * right._sign() if one is None else left._sign() * right._sign()
        return left._made(left.expression.times(other), zero, is_whole=whole, other=right)
    if one is not None:
        zero = (right.zero if one else right._sign()) * left._sign()
        return right._made(right.expression.times(one), zero, is_whole=whole, other=left)
    return left._refuse("a product of two unknown numbers")


def _quotient(top: SymbolicValue, bottom: SymbolicValue) -> SymbolicValue:
    divisor = bottom._number()
    if divisor is None:
        top._refuse("a division by an unknown number")
    if not divisor:
        raise ZeroDivisionError("division by zero" if top.is_whole and bottom.is_whole else "float division by zero")
    zero = top.zero * bottom._sign()
    return top._made(top.expression.times(1 / Fraction(divisor)), zero, is_whole=False, other=bottom)


def _exactly(left: Any, right: Any, function: Callable[[Any, Any], Any], what: str) -> Any:
    """Apply a function with a rational result to numbers without variables."""
    known = left if type(left) is SymbolicValue else right
    left, right = (value if type(value) is SymbolicValue else known._other(value) for value in (left, right))
    if type(left) is not SymbolicValue or type(right) is not SymbolicValue:
        return NotImplemented
    a, b = left._number(), right._number()
    if a is None or b is None:
        left._refuse(f"{what} of unknown numbers")
    if function is operator.pow and (not isinstance(b, int) or abs(b) > 1000):
        left._refuse("a power that is no fraction")
    whole = left.is_whole and right.is_whole and not (function is operator.pow and b < 0)
    zero = (
        right._sign() if function is operator.mod else left.zero if not a and function is operator.pow and b % 2 else 1
    )
    if function is operator.floordiv and not a:
        zero = left.zero * right._sign()
    return left._made(Affine({}, whole_where_possible(function(Fraction(a), b))), zero, is_whole=whole, other=right)


def _compare(left: SymbolicValue, right: Any, way: Any) -> Any:
    right_value = left._other(right, or_inf=True)
    if right_value is None:
        return NotImplemented
    if type(right_value) is not SymbolicValue:  # the other is infinite, and every number in the reading is finite
        return _OPERATORS[way](0.0, right_value)
    owner = right_value if left.expression.is_constant else left
    return owner._noise.compare(left.expression - right_value.expression, way)


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
