"""What is a value: public, released or private, and what may be computed with what was released?

A closed set of exact types is looked through; all else is private. A value of which only some parts are known is
private. An object of a class of the user's is what its attributes are; a function is what its free variables and
defaults are.

With what was released anything may be computed: post-processing loses nothing (Dwork & Roth 2014, Prop. 2.1). A token
stands for a value made of released, public and purely random values alone. It may be None, of any type, length and
size, missing or infinite, unless the operation and its operands say otherwise. A decision on it goes both ways; so does
whether an operation raises, where the function could see it.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import logging
import random
import re
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.source import is_of_user, is_own
from dpaudit.reading.universe.state import Private, current, forget, refuse, written_into

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
        choice: which of a few public values it is (`choices`), where that is known; None of all else.
    """

    __slots__ = ("__weakref__", "_decided", "choice", "columns", "kinds", "labels", "shape", "size")

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
        self.choice: Any = None

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
            truth = bool(current().decide((True, False)))
            if self.shape == ():
                self._decided = truth
            return truth
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
    kind_joined = _JOINED.get((first, second)) or _JOINED.get((second, first), "float")
    return "float" if division else kind_joined


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
     "ones_like", "array", "asarray", "append", "solve")
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
        result = function(*map(stand_in, args), **{name: stand_in(each) for name, each in keywords.items()})
    except (ValueError, TypeError, IndexError):
        return Token()
    shape = np.shape(result)
    return array(shape) if shape else Token() if isinstance(result, np.ndarray) else number("np.float64")


PUBLIC, RELEASED, PRIVATE = 0, 1, 2
NP_INT, NP_FLOAT = frozenset(("np.int64",)), frozenset(("np.float64",))
"""The types that numbers of NumPy have."""
_HASHED_ALIKE = (int, float, np.integer, np.floating, np.bool_)
_NOTHING_WITHIN = frozenset(
    (
        int, float, complex, str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented), range,
        datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone, decimal.Decimal,
        fractions.Fraction, re.Pattern, re.Match, pd.Timestamp, pd.Timedelta, type(pd.NaT), type(pd.NA), pd.DateOffset,
        logging.Logger, pd.CategoricalDtype, pd.StringDtype, types.ModuleType, np.dtype,
        np.random.Generator, np.random.RandomState, random.Random, random.SystemRandom,
    )
)  # fmt: skip
_LISTS = frozenset((list, tuple, set, frozenset, collections.deque))
_DICTS = frozenset(
    (dict, collections.OrderedDict, collections.defaultdict, collections.Counter, types.MappingProxyType)
)
_ITERATORS = tuple(type(each) for each in (iter([]), iter(()), iter(range(0)), iter("")))
PLAIN_ARRAYS = "biufcUSmM"
_BASES = (
    tuple, int, str, enum.Enum, enum.IntEnum, enum.StrEnum, enum.ReprEnum, enum.Flag, BaseException, Exception,
    ValueError, RuntimeError, LookupError, KeyError,
)  # fmt: skip


def refuse_order(*values: Any) -> None:
    """Refuse what shows the order of a set, within containers too: that of texts is another in every process."""
    for each in values:
        if type(each) in (set, frozenset) and len(each) > 1 and not all(map(_is_hashed_alike, each)):
            refuse("the order of a set, which is another in every process", "sorted(…) of it, or a list")
        if type(each) in _LISTS:
            refuse_order(*each)
        elif type(each) in _DICTS:
            refuse_order(*each.values())


def _is_hashed_alike(value: Any) -> bool:
    return all(map(_is_hashed_alike, value)) if type(value) is tuple else isinstance(value, _HASHED_ALIKE)


def sort_of(value: Any) -> int:
    """Return what a value is, looked through."""
    return _sort(value, None)


def _sort(value: Any, seen: set[int] | None) -> int:
    kind = type(value)
    if kind in _NOTHING_WITHIN:
        return PUBLIC
    if kind is Token:
        forget(value)
        return RELEASED
    if issubclass(kind, Private):
        return RELEASED if isinstance(written_into(value), Token) else PRIVATE
    if issubclass(kind, np.generic):
        return PRIVATE if kind is np.void or kind is np.object_ else PUBLIC
    seen = set() if seen is None else seen
    if id(value) in seen:
        return PUBLIC
    seen.add(id(value))
    if kind in _LISTS:
        return max((_sort(each, seen) for each in value), default=PUBLIC)
    if kind in _DICTS:
        inner = max((_sort(each, seen) for pair in value.items() for each in pair), default=PUBLIC)
        if kind is collections.defaultdict:
            inner = max(inner, _sort(value.default_factory, seen))
        return inner
    if kind is slice:
        return max(_sort(each, seen) for each in (value.start, value.stop, value.step))
    if kind in (np.ndarray, pd.Series, pd.DataFrame) and (known := written_into(value)) is not None:
        return RELEASED if isinstance(known, Token) else PRIVATE
    if kind is np.ndarray:
        if value.dtype.kind in PLAIN_ARRAYS and value.dtype.metadata is None and value.dtype.fields is None:
            return PUBLIC
        return (
            max((_sort(each, seen) for each in value.ravel().tolist()), default=PUBLIC)
            if value.dtype.kind == "O"
            else PRIVATE
        )
    if kind in (
        pd.Series,
        pd.Index,
        pd.RangeIndex,
        pd.DatetimeIndex,
        pd.CategoricalIndex,
        pd.MultiIndex,
        pd.IntervalIndex,
        pd.Categorical,
    ):
        return _sort_of_pandas(value, seen)
    if kind is pd.DataFrame:
        if not value.columns.is_unique or value.attrs:
            return PRIVATE
        return max(
            [
                _sort(value.columns, seen),
                _sort(value.index, seen),
                *(_sort(value[name], seen) for name in value.columns),
            ]
        )
    if kind is types.FunctionType:
        return _sort_of_function(value, seen)
    if kind is types.MethodType:
        return max(_sort(value.__self__, seen), _sort(value.__func__, seen))
    if kind in (types.BuiltinFunctionType, types.BuiltinMethodType):
        owner = value.__self__
        return PUBLIC if owner is None or isinstance(owner, types.ModuleType) else _sort(owner, seen)
    if kind is functools.partial:
        return max(_sort(each, seen) for each in (value.func, value.args, value.keywords))
    if isinstance(value, type):
        return _sort_of_class(value, seen)
    if kind is np.ufunc or kind.__name__ in ("_ArrayFunctionDispatcher", "method_descriptor", "wrapper_descriptor"):
        return PUBLIC
    if isinstance(value, BaseException):
        within = [*value.args, *vars(value).values(), value.__cause__, value.__context__, kind]
        return max((_sort(each, seen) for each in within if each is not None), default=PUBLIC)
    if kind in _ITERATORS or kind is types.GeneratorType:
        return PRIVATE
    if is_of_users_class(kind):
        return _sort_of_object(value, seen)
    if isinstance(value, types.SimpleNamespace):
        return max((_sort(each, seen) for each in vars(value).values()), default=PUBLIC)
    return PRIVATE


def is_of_users_class(kind: type) -> bool:
    """Whether objects of a class are looked through by their attributes: written by the user, of known bases."""
    is_users = False
    for base in kind.__mro__[:-1]:
        if base in _BASES or base.__module__ in ("abc", "typing"):
            continue
        file = getattr(sys.modules.get(base.__module__), "__file__", None) or ""
        made = [each for each in vars(base).values() if isinstance(each, types.FunctionType)]
        if not (file and is_of_user(file)) and not any(is_of_user(each.__code__.co_filename) for each in made):
            return False
        is_users = True
    return is_users


def _sort_of_object(value: Any, seen: set[int]) -> int:
    inner = list(getattr(value, "__dict__", {}).values())
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                member = base.__dict__.get(name)
                if isinstance(member, types.MemberDescriptorType):
                    try:
                        inner.append(member.__get__(value))
                    except AttributeError:
                        continue
    if isinstance(value, tuple):
        inner += list(tuple.__iter__(value))
    inner.append(type(value))
    return max((_sort(each, seen) for each in inner), default=PUBLIC)


def _sort_of_class(kind: type, seen: set[int]) -> int:
    """Return what a class is: one that a call made may hold what the call knows, in all that its body names."""
    inner: list[Any] = []
    for base in kind.__mro__[:-1]:
        if is_of_users_class(base) and not _is_of_module(base):
            inner += [each for name, each in vars(base).items() if name not in _OF_EVERY_CLASS]
    return max((_sort_of_member(each, seen) for each in inner), default=PUBLIC)


def _is_of_module(kind: type) -> bool:
    """Whether a class was made while its module was imported, which still calls it so."""
    module_member: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        module_member = vars(module_member).get(name) if isinstance(module_member, type | types.ModuleType) else None
    return module_member is kind


def _sort_of_member(value: Any, seen: set[int]) -> int:
    """Return what a member of a class is: that of its functions, its fields and its types, or a value."""
    if isinstance(value, property):
        return max(_sort(each, seen) for each in (value.fget, value.fset, value.fdel))
    if isinstance(value, staticmethod | classmethod | functools.cached_property):
        return _sort(getattr(value, "func", getattr(value, "__func__", None)), seen)
    if isinstance(value, dataclasses.Field):
        within = [value.metadata, *(each for each in (value.default, value.default_factory) if not _is_missing(each))]
        return max((_sort(each, seen) for each in (*within, value.type)), default=PUBLIC)
    if type(value) in (dict, tuple):
        listed = value.values() if type(value) is dict else value
        return max((_sort_of_member(each, seen) for each in listed), default=PUBLIC)
    if type(value) in _TYPES or type(value).__module__ == "typing":
        return max((_sort_of_member(each, seen) for each in getattr(value, "__args__", ())), default=PUBLIC)
    return PUBLIC if type(value) in _MADE_BY_PYTHON else _sort(value, seen)


def _is_missing(value: Any) -> bool:
    return value is dataclasses.MISSING


_OF_EVERY_CLASS = ("__module__", "__dict__", "__weakref__", "__qualname__", "__abstractmethods__", "_abc_impl",
                   "__dataclass_params__")  # fmt: skip
_TYPES = (types.GenericAlias, types.UnionType)
_MADE_BY_PYTHON = (
    types.MemberDescriptorType, types.GetSetDescriptorType, type(collections.namedtuple("_", "x").x),  # type: ignore[attr-defined]
)  # fmt: skip


def _sort_of_pandas(value: Any, seen: set[int]) -> int:
    if isinstance(value, pd.MultiIndex):
        return max(_sort(value.get_level_values(level), seen) for level in range(value.nlevels))
    parts = [getattr(value, "name", None)]
    if isinstance(value, pd.Series):
        if value.attrs:
            return PRIVATE
        parts.append(value.index)
    if isinstance(value, pd.Categorical | pd.CategoricalIndex):
        parts.append(value.categories)
    dtype = value.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biufcmM":
        return max((_sort(each, seen) for each in parts), default=PUBLIC)
    return max((_sort(each, seen) for each in [*parts, *list(value)]), default=PUBLIC)


def _sort_of_function(value: Any, seen: set[int]) -> int:
    inner = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *vars(value).values()]
    for cell in value.__closure__ or ():
        try:
            inner.append(cell.cell_contents)
        except ValueError:
            continue
    own = [each for each in inner if not _is_domain(each)]
    if not is_own(value) and not is_library(value):
        return PRIVATE
    if not is_own(value):
        return PUBLIC if not own or value.__module__ else PRIVATE
    return max((_sort(each, seen) for each in own), default=PUBLIC)


def is_library(function: Any) -> bool:
    """Whether a function is Python code of a library."""
    return isinstance(function, types.FunctionType) and not is_of_user(function.__code__.co_filename)


def _is_domain(value: Any) -> bool:
    from dpaudit.reading.python import Python

    return isinstance(value, Python)


OUTPUTS = frozenset((int, float, complex, str, bytes, bool, type(None), datetime.date, datetime.datetime,
                     datetime.timedelta, decimal.Decimal, fractions.Fraction, pd.Timestamp, pd.Timedelta))  # fmt: skip


def check_output(value: Any, *, where: str = "returns") -> None:
    """Refuse an output that is not made of known types, or shows a type that hangs on the data."""
    _check(value, where, [])


def _check(value: Any, where: str, above: list[int]) -> None:
    kind = type(value)
    if kind is Token:
        forget(value)
        if not value.is_certain:
            refuse(
                f"{where} a released number whose type (int, float or one of NumPy's) hangs on the data",
                "return float(…)",
            )
        return
    if kind in OUTPUTS or (issubclass(kind, np.generic) and kind not in (np.void, np.object_)):
        return
    if id(value) in above:
        refuse(f"{where} something that holds itself")
    above = [*above, id(value)]
    if kind in _LISTS or kind in _DICTS:
        if kind is collections.defaultdict:
            refuse(f"{where} a defaultdict, which holds a function", "dict(…)")
        for each in value.items() if kind in _DICTS else value:
            for one in each if kind in _DICTS else (each,):
                _check(one, where, above)
        return
    if issubclass(kind, Private):
        refuse(f"{where} a {value.noun}", value.to_release)
    if kind in (np.ndarray, pd.Series, pd.DataFrame) or isinstance(value, pd.Index):
        if sort_of(value) == PRIVATE:
            refuse(f"{where} an array or table that holds private values", "noise on them")
        return
    if is_of_users_class(kind) and not isinstance(value, type):
        if sort_of(value) == PRIVATE:
            refuse(
                f"{where} an object that holds private values, noise, or what is not looked through",
                "released numbers alone",
            )
        for each in [*getattr(value, "__dict__", {}).values(), *(value if isinstance(value, tuple) else ())]:
            if isinstance(each, Token):
                _check(each, where, above)
        return
    refuse(f"{where} a {kind.__name__}, which is not looked through", "numbers, texts, lists, dicts, arrays or tables")
