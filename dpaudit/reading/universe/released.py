"""What may be computed with what was released? Anything: post-processing loses nothing (Dwork & Roth 2014, Prop. 2.1).

A token stands for a value made of released, public and purely random values alone. It may be None, of any type, length
and size, missing or infinite, unless the operation and its operands say otherwise. A decision on it goes both ways; so
does whether an operation raises, where the function could see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe.state import current, refuse

SCALARS = ("int", "float", "np.int64", "np.float64", "bool", "number")


class Token:
    """A released value.

    Attributes:
        shape: of an array or number; None where it may be anything.
        kinds: names of the types that it may have ("texts": an array of texts); None for a function of released values,
            whatever it is.
        labels: of a series, where they are public.
        columns: of a frame, where they are public.
        size: the multiple of a power of the number of records that it is (`sizes`), where that is public; None of all
            else.
    """

    __slots__ = ("__weakref__", "_decided", "columns", "kinds", "labels", "shape", "size")

    def __init__(
        self,
        shape: tuple[int, ...] | None = None,
        kinds: frozenset[str] | None = None,
        labels: Any = None,
        columns: Any = None,
    ) -> None:
        self.shape, self.kinds, self.labels, self.columns = shape, kinds, labels, columns
        self._decided: bool | None = None
        self.size: Any = None

    def __repr__(self) -> str:
        return "<released value>"

    def __bool__(self) -> bool:
        raise AssertionError("a released value is asked by its domain alone")

    __iter__ = __len__ = __index__ = __int__ = __float__ = __bool__

    @property
    def is_certain(self) -> bool:
        """Whether data with the same released values give it the same type."""
        return self.kinds is None or len(self.kinds) == 1

    @property
    def is_number(self) -> bool:
        """Whether it is a single number for certain."""
        return self.shape == () and self.kinds is not None and self.kinds <= frozenset(SCALARS)

    @property
    def is_array(self) -> bool:
        """Whether it is a NumPy array of numbers for certain."""
        return self.kinds == frozenset(("array",)) and self.shape is not None

    def decided(self) -> bool:
        """Decide whether it is true: both ways are read; once for one value."""
        if self._decided is None or self.shape != ():
            found = bool(current().decide((True, False)))
            if self.shape == ():
                self._decided = found
            return found
        return self._decided


def number(kind: str = "float") -> Token:
    """Return a released number of a type."""
    return Token((), frozenset((kind,)))


def array(shape: tuple[int, ...]) -> Token:
    """Return a released array of a shape."""
    return Token(shape, frozenset(("array",)))


_JOINED = {
    ("int", "int"): "int", ("int", "float"): "float", ("float", "float"): "float", ("bool", "int"): "int",
    ("bool", "float"): "float", ("bool", "bool"): "int",
}  # fmt: skip


def joined(first: str, second: str, *, division: bool = False) -> str:
    """Return the type of a sum, difference or product of two numbers."""
    if "number" in (first, second):
        return "number"
    if first.startswith("np.") or second.startswith("np."):
        both_whole = {first, second} <= {"int", "np.int64", "bool"}
        return "np.int64" if both_whole and not division else "np.float64"
    found = _JOINED.get((first, second)) or _JOINED.get((second, first), "float")
    return "float" if division else found


def kind_of_plain(value: Any) -> str | None:
    """Return the name of the type of a public number; None for anything else."""
    return {int: "int", float: "float", np.int64: "np.int64", np.float64: "np.float64", bool: "bool"}.get(type(value))


def combined(name: str, first: Any, second: Any) -> Token:
    """Return the result of an operator on released and public values, as far as it is known."""
    sides = []
    for each in (first, second):
        if isinstance(each, Token):
            if not each.is_certain and not each.is_number:
                refuse_uncertain()
            sides.append((each.shape, each.kinds, each.labels))
        elif isinstance(each, np.ndarray) and each.dtype.kind in "iufb":
            sides.append((each.shape, frozenset(("array",)), None))
        else:
            kind = kind_of_plain(each)
            sides.append((None, None, None) if kind is None else ((), frozenset((kind,)), None))
    (shape, kinds, labels), (other, others, more) = sides
    if shape is None or other is None or kinds is None or others is None or name == "matmul":
        return Token()
    if name in ("lt", "le", "gt", "ge", "eq", "ne"):
        if shape == other == ():
            is_numpy = any(kind.startswith("np.") for kind in kinds | others)
            return number("np.bool" if is_numpy else "bool")
    elif shape == other == ():
        if name in ("add", "sub", "mul", "truediv"):
            return Token((), frozenset(joined(one, two, division=name == "truediv") for one in kinds for two in others))
        return Token((), None)
    try:
        both = np.broadcast_shapes(shape, other)
    except ValueError:
        return Token()
    if kinds == others == frozenset(("array",)) or (
        "array" in kinds | others and (kinds | others) <= frozenset(("array", *SCALARS))
    ):
        return array(both)
    if "series" in kinds | others and (labels is None or more is None or labels.equals(more)):
        known = labels if labels is not None else more
        if known is not None and both == (len(known),) and frozenset(("frame",)) not in (kinds, others):
            return Token(both, frozenset(("series",)), known)
    if kinds == frozenset(("frame",)) and other == ():
        return Token(shape, kinds, labels, getattr(first, "columns", None))
    return Token()


def refuse_uncertain() -> None:
    """Refuse what shows the type of a number that hangs on the data."""
    refuse(
        "a released number whose type (int, float or one of NumPy's) hangs on the data is looked at", "float(…) of it"
    )


def items(token: Token) -> Sequence[Token] | None:
    """Return what a released array or series goes through; None where its length is not known."""
    if token.shape is None or not token.shape:
        return None
    if token.kinds == frozenset(("array",)):
        one = number("np.float64") if len(token.shape) == 1 else None
        return [array(token.shape[1:]) if one is None else one for _ in range(token.shape[0])]
    if token.kinds == frozenset(("series",)) and len(token.shape) == 1:
        return [number("float") for _ in range(token.shape[0])]
    if token.kinds == frozenset(("texts",)):
        return [Token() for _ in range(token.shape[0])]
    return None


def reduced() -> Token:
    """Return one number of a released array."""
    return number("np.float64")


def parts_are_copies() -> bool:
    """Whether a part of a table stays what it is when the table is changed: from pandas 3 on, or where it is set so."""
    return int(pd.__version__.partition(".")[0]) >= 3 or pd.options.mode.copy_on_write is True


def is_released(value: Any) -> bool:
    """Whether this is a token."""
    return type(value) is Token


def is_of_numbers(value: Any) -> bool:
    """Whether a value is a number or an array of numbers for certain."""
    if isinstance(value, Token):
        return value.is_array or value.is_number
    return isinstance(value, bool | int | float | np.number) or (
        type(value) is np.ndarray and value.dtype.kind in "iufb"
    )


SHAPED = frozenset(
    ("stack", "concatenate", "vstack", "hstack", "column_stack", "outer", "dot", "inner", "matmul", "reshape", "ravel",
     "transpose", "squeeze", "expand_dims", "diag", "trace", "tril", "triu", "cumsum", "sum", "mean", "max", "min",
     "add", "subtract", "multiply", "divide", "maximum", "minimum", "clip", "round", "around", "abs", "absolute",
     "nan_to_num", "floor", "ceil", "rint", "exp", "log", "sqrt", "square", "argsort", "sort", "zeros_like",
     "ones_like", "array", "asarray")
)  # fmt: skip
"""Functions of NumPy of which the shape of the result is made of shapes alone."""
REDUCING = frozenset(("sum", "mean", "max", "min", "median", "std", "var", "argmax", "argmin"))
"""Functions of NumPy that make one number of an array."""
OF_EACH = frozenset(("clip", "round", "astype", "copy", "abs", "fillna", "cumsum"))
"""Methods that keep the shape of their owner, given single numbers."""


def shaped(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Token:
    """Return what a function of NumPy makes of released arrays, with its shape where those of all are known."""

    def stand_in(value: Any) -> Any:
        if type(value) in (list, tuple):
            return type(value)(map(stand_in, value))
        if value is None or value is float:
            return value
        if not is_of_numbers(value):
            raise ValueError
        return np.ones(value.shape) if isinstance(value, Token) else value

    try:
        found = function(*map(stand_in, args), **{name: stand_in(each) for name, each in keywords.items()})
    except (ValueError, TypeError, IndexError):
        return Token()
    shape = np.shape(found)
    return array(shape) if shape else Token() if isinstance(found, np.ndarray) else number("np.float64")
