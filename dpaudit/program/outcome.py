"""What did one call return or raise, and are two outputs the same?"""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import random
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.program.batch_value import BatchValue, entries
from dpaudit.program.noise import Noise

_ADDRESS = re.compile(r"\bat 0x0*[0-9a-fA-F]{8,}0\b")  # CPython's objects are above 2^32, at multiples of 16
_MOST_CHAINED = 20  # causes of an exception that are kept; real chains are shorter
_TOLD = {"OSError": ("filename", "filename2"), "ImportError": ("name", "path")}  # neither in args nor in __dict__


@dataclasses.dataclass(frozen=True, slots=True)
class Raised:
    """An exception as an output: everything except its traceback."""

    kind: str  # the name of the type
    message: str  # the complete text, without addresses of objects
    # what the text does not say, by name: arguments (such as an exit code), attributes and notes, the exceptions
    # of a group, the cause, and the context unless ``from None`` removed it
    details: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        told = [f"{name} = {told_as_text(value)}" for name, value in self.details if is_told(value)]
        return "; ".join([f"raises {self.kind}" + (f": {self.message}" if self.message else ""), *told])


def raised(error: BaseException, outer: BaseException | None = None) -> Raised:
    """Turn an exception into an output; ``outer`` was being handled when the program was called, so it is left out."""
    return _raised(error, () if outer is None else (outer,))


def _raised(error: BaseException, behind: tuple[BaseException, ...]) -> Raised:
    kind = type(error)
    details: list[tuple[str, Any]] = []
    try:
        message = _ADDRESS.sub("at 0x…", str.__str__(str(error)))
        if not message.isascii() and any("\ud800" <= letter <= "\udfff" for letter in message):
            message = message.encode(errors="backslashreplace").decode()
            details.append(("surrogates in the text", True))  # such text cannot be written to a file
    except (Exception, SystemExit) as mute:
        message = ""
        details.append(("its text raises", type(mute).__name__))
    args = _own(error, "args")
    if not _is_said(kind, args, message):
        details.append(("args", args))
    for base, names in _TOLD.items():
        if base in (each.__name__ for each in kind.__mro__ if each.__module__ == "builtins"):
            details += [(each, value) for each in names if (value := getattr(error, each, None)) is not None]
    details += BaseException.__getattribute__(error, "__dict__").items()
    behind = (*behind, error)
    chained: dict[str, Any] = {}
    if isinstance(error, BaseExceptionGroup):
        chained["exceptions"] = BaseExceptionGroup.__dict__["exceptions"].__get__(error)
    chained["cause"] = _own(error, "__cause__")
    chained["context"] = None if _own(error, "__suppress_context__") else _own(error, "__context__")
    for place, other in chained.items():
        if (
            isinstance(other, BaseException)
            and not any(other is each for each in behind)
            and len(behind) < _MOST_CHAINED
        ):
            details.append((place, _raised(other, behind)))
        elif isinstance(other, tuple):
            details.append((place, tuple(_raised(each, behind) for each in other if len(behind) < _MOST_CHAINED)))
    return Raised(kind.__name__, message, tuple((place, _blanked(value)) for place, value in details))


def _blanked(value: Any) -> Any:
    """Return a plain value without the addresses in its texts."""
    kind = type(value)
    if kind is str:
        return _ADDRESS.sub("at 0x…", value)
    if kind in (list, tuple):
        return kind(map(_blanked, value))
    return {_blanked(key): _blanked(member) for key, member in value.items()} if kind is dict else value


def _own(error: BaseException, name: str) -> Any:
    """Return an attribute as Python stores it, even if the exception's class overrides it."""
    return BaseException.__dict__[name].__get__(error)


def _is_said(kind: type, args: tuple[Any, ...], message: str) -> bool:
    """Whether the text of an exception contains its arguments."""
    if issubclass(kind, BaseExceptionGroup) or not args:
        return True
    is_whole = re.fullmatch(r"0|-?[1-9][0-9]*", message) is not None
    if len(args) != 1 or type(args[0]) is not (int if is_whole else str):
        return False
    if is_whole:
        return len(message) < 1000 and int(message) == args[0]  # an exit code
    return message in (_blanked(args[0]), _blanked(repr(args[0])) if kind is KeyError else None)


def is_told(value: Any) -> bool:
    """Whether the text of a value describes it fully: a plain value, or lists, tuples and dicts of plain values."""
    kind = type(value)
    if kind in (list, tuple):
        return all(map(is_told, value))
    if kind is dict:
        return all(map(is_told, value)) and all(map(is_told, value.values()))
    if kind is Raised:
        return all(is_told(member) for _, member in value.details)
    return kind in _PLAIN


def told_as_text(value: Any) -> str:
    """Return the text of a value for which `is_told` holds."""
    kind = type(value)
    if kind is list:
        return "[" + ", ".join(map(told_as_text, value)) + "]"
    if kind is tuple:
        return "(" + "".join(f"{told_as_text(member)}, " for member in value) + ")"
    if kind is dict:
        return "{" + ", ".join(f"{told_as_text(k)}: {told_as_text(v)}" for k, v in value.items()) + "}"
    if kind is int and abs(value) >= 2**53:
        return hex(value)  # Python refuses very long decimals
    return f"({value})" if kind is Raised else repr(value)


def run_once(program: Callable[[Noise], Any], noise: Noise) -> Any:
    """Call the program; an exception (or sys.exit) that it raises is its output."""
    outer = sys.exception()
    try:
        return program(noise)
    except (Exception, SystemExit) as error:
        return raised(error, outer)


_PLAIN = (bool, int, float, str, bytes, type(None))


def _is_named_tuple(output: Any) -> bool:
    return isinstance(output, tuple) and hasattr(output, "_fields")


def _is_record(output: Any) -> bool:
    return dataclasses.is_dataclass(output) and not isinstance(output, type | Raised)


def ordinary(output: Any) -> bool:
    """Whether an output consists of noisy and plain values, lists, tuples and dicts only."""
    kind = type(output)
    if kind is BatchValue or kind in _PLAIN:
        return True
    if kind in (list, tuple):
        return all(map(ordinary, output))
    return kind is dict and all(map(ordinary, output.values()))


def entry(output: Any, run: int) -> Any:
    """Return the output of one run of a path, with every `BatchValue` replaced by its entry."""
    kind = type(output)
    if kind is BatchValue:
        return entries(output)[run].item()
    if kind in _PLAIN:
        return output
    if kind in (list, tuple):
        return kind(entry(value, run) for value in output)
    if _is_named_tuple(output):
        return output._make(entry(value, run) for value in output)
    if isinstance(output, dict):
        changed = copy.copy(output)
        for key, value in output.items():
            changed[key] = entry(value, run)
        return changed
    if isinstance(output, np.ndarray) and output.dtype == object:
        array = output.copy()
        array[...] = np.fromiter((entry(value, run) for value in output.flat), object, output.size).reshape(
            output.shape
        )
        return array
    if kind is Raised:
        return Raised(output.kind, output.message, tuple((name, entry(value, run)) for name, value in output.details))
    if _is_record(output):
        record = copy.copy(output)
        for field in dataclasses.fields(output):
            object.__setattr__(record, field.name, entry(getattr(output, field.name), run))
        return record
    return output


def same(left: Any, right: Any) -> bool:
    """Whether two outputs agree in type and value: floats to 1e-12, zeros including the sign, and NaN with NaN.

    A NumPy number counts as the plain number. A noisy value agrees with nothing.
    """
    kind = type(left)
    if kind is type(right) and kind in (bool, int, str, bytes, type(None)):
        return bool(left == right)
    if kind is BatchValue or type(right) is BatchValue:
        return False
    left, right = (value.item() if isinstance(value, np.generic) else value for value in (left, right))
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        if left == right == 0:
            return math.copysign(1, left) == math.copysign(1, right)
        return (math.isnan(left) and math.isnan(right)) or math.isclose(left, right, rel_tol=1e-12, abs_tol=1e-300)
    if kind is Raised:
        return (left.kind, left.message) == (right.kind, right.message) and same(left.details, right.details)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, np.ndarray):
        return left.shape == right.shape and left.dtype == right.dtype and same(left.tolist(), right.tolist())
    if _is_record(left):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left))
    if hasattr(left, "to_numpy") and hasattr(left, "index"):  # of pandas
        return same(_beside_values(left), _beside_values(right)) and same(left.to_numpy(), right.to_numpy())
    if not same(_attributes(left), _attributes(right)):  # whatever its own == says
        return False
    try:
        return bool(left == right) or repr(left) == repr(right)
    except Exception:
        return False


def _beside_values(output: Any) -> list[Any]:
    """Return what a series or frame of pandas holds besides its values: labels, names, types, attributes, flags."""
    is_frame = hasattr(output, "columns")
    axes = [output.index, output.columns] if is_frame else [output.index]
    types = [*(output.dtypes if is_frame else [output.dtype]), *(axis.dtype for axis in axes)]
    return [
        [[type(axis).__name__, list(axis.names), list(axis)] for axis in axes],
        [[str(each), list(getattr(each, "categories", ())), getattr(each, "ordered", None)] for each in types],
        None if is_frame else output.name,
        dict(output.attrs),
        output.flags.allows_duplicate_labels,
    ]


def _attributes(output: Any) -> dict[str, Any]:
    """Return what an object of a class in Python keeps in its own dictionary."""
    try:
        return dict(object.__getattribute__(output, "__dict__"))
    except (AttributeError, TypeError):
        return {}


# --- what many runs return, where it differs by run ---


@dataclass(frozen=True, slots=True)
class ManyNumbers:
    """A number for each run: (runs,)."""

    array: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ManyArrays:
    """An array for each run: (runs, ...)."""

    array: np.ndarray[Any, Any]

    def listed(self) -> Any:
        """Return nested lists of numbers."""
        return columns_of(self.array)


@dataclass(frozen=True, slots=True)
class ManyFrames:
    """A series or frame of pandas for each run."""

    kind: str  # "Series" or "DataFrame"
    index: Any  # labels of the rows; `ManyLabels` where they differ by run
    columns: Any  # labels of the columns; None for a series
    name: Any  # of a series
    cells: list[Any]  # (columns, rows) numbers or plain values; of a series (rows,)
    dtypes: list[Any]  # of each column


@dataclass(frozen=True, slots=True)
class ManyTexts:
    """A text for each run."""

    codes: np.ndarray[Any, Any]  # (runs,) which of them
    texts: list[str]  # distinct


@dataclass(frozen=True, slots=True)
class ManyLabels:
    """Labels in an order that differs by run."""

    like: Any  # an index of the same type, name and dtype
    texts: list[ManyTexts]  # one a row


def columns_of(array: np.ndarray[Any, Any]) -> Any:
    """Return an array with one row a run as nested lists of numbers."""
    if array.ndim == 1:
        return ManyNumbers(array)
    return [columns_of(array[:, place]) for place in range(array.shape[1])]


def global_state() -> tuple[Any, bytes]:
    """Return the state of the generators that all of Python shares."""
    return random.getstate(), pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002
