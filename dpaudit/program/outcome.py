"""What came out of one call, and are two outputs the same?"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpaudit.program.noise import Noise
from dpaudit.program.noisy import Noisy


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
    return Raised(type(error).__name__, re.sub(r"-?\d[\d,]*(\.\d+)?(e[-+]?\d+)?", "#", message)[:120])


def run_once(program: Callable[[Noise], Any], noise: Noise) -> Any:
    """Call the program; an exception (or sys.exit) that it raises is its output."""
    try:
        return program(noise)
    except (Exception, SystemExit) as error:
        return raised(error)


def entry(output: Any, run: int) -> Any:
    """Return the output of one run of a path: every `Noisy` replaced by its entry."""
    if isinstance(output, Noisy):
        return output.array[run].item()
    if isinstance(output, Mapping) and type(output) is dict:
        return {key: entry(value, run) for key, value in output.items()}
    if type(output) in (list, tuple):
        return type(output)(entry(value, run) for value in output)
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output)(*(entry(value, run) for value in output))
    if isinstance(output, np.ndarray) and output.dtype == object:
        copy = output.copy()
        copy[...] = [entry(value, run) for value in output.ravel()] if copy.ndim else entry(output[()], run)
        return copy
    if dataclasses.is_dataclass(output) and not isinstance(output, type | Raised):
        fields = {field.name: entry(getattr(output, field.name), run) for field in dataclasses.fields(output)}
        return dataclasses.replace(output, **fields)
    return output


def same(left: Any, right: Any) -> bool:
    """Whether two outputs agree in type and value; floats to 1e-12, and NaN with NaN."""
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
    if dataclasses.is_dataclass(left) and not isinstance(left, type):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left))
    try:
        return bool(left == right)
    except Exception:
        return False
