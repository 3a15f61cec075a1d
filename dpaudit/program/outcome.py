"""What came out of one call, and are two outputs the same?"""

from __future__ import annotations

import copy
import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.program.noise import Noise
from dpaudit.program.noisy import Noisy, entries

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|-?\d[\d,]*(\.\d+)?(e[-+]?\d+)?")


@dataclasses.dataclass(frozen=True, slots=True)
class Raised:
    """An exception as an output: its type, and its message with every number replaced by #."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"raises {self.kind}" + (f": {self.message}" if self.message else "")


def raised(error: BaseException) -> Raised:
    """Turn an exception into an output. A number in its message may be noise, so it counts as #."""
    try:
        message = str(error)
    except Exception:
        message = ""
    return Raised(type(error).__name__, _NUMBER.sub("#", message)[:120])


def run_once(program: Callable[[Noise], Any], noise: Noise) -> Any:
    """Call the program; an exception (or sys.exit) that it raises is its output."""
    try:
        return program(noise)
    except (Exception, SystemExit) as error:
        return raised(error)


_PLAIN = (bool, int, float, str, bytes, type(None))


def _named(output: Any) -> bool:
    return isinstance(output, tuple) and hasattr(output, "_fields")


def _is_record(output: Any) -> bool:
    return dataclasses.is_dataclass(output) and not isinstance(output, type | Raised)


def ordinary(output: Any) -> bool:
    """Whether an output is made of nothing but noisy and plain values, lists, tuples and dicts."""
    kind = type(output)
    if kind is Noisy or kind in _PLAIN:
        return True
    if kind in (list, tuple):
        return all(map(ordinary, output))
    return kind is dict and all(map(ordinary, output.values()))


def entry(output: Any, run: int) -> Any:
    """Return the output of one run of a path: every `Noisy` replaced by its entry."""
    kind = type(output)
    if kind is Noisy:
        return entries(output)[run].item()
    if kind in _PLAIN:
        return output
    if kind in (list, tuple):
        return kind(entry(value, run) for value in output)
    if _named(output):
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
    if _is_record(output):
        record = copy.copy(output)
        for field in dataclasses.fields(output):
            object.__setattr__(record, field.name, entry(getattr(output, field.name), run))
        return record
    return output


def same(left: Any, right: Any) -> bool:
    """Whether two outputs agree in type and value; floats to 1e-12, and NaN with NaN.

    A NumPy number counts as the plain number that it is. A noisy value agrees with nothing.
    """
    kind = type(left)
    if kind is type(right) and kind in (bool, int, str, bytes, type(None)):
        return bool(left == right)
    if kind is Noisy or type(right) is Noisy:
        return False
    left, right = (value.item() if isinstance(value, np.generic) else value for value in (left, right))
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return (math.isnan(left) and math.isnan(right)) or math.isclose(left, right, rel_tol=1e-12, abs_tol=1e-300)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, np.ndarray):
        return left.shape == right.shape and left.dtype == right.dtype and same(left.tolist(), right.tolist())
    if _is_record(left):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left))
    try:
        return bool(left == right) or repr(left) == repr(right)
    except Exception:
        return False
