"""What do the outputs of many runs look like? A form for each run, and the numbers that go with it.

The *form* is all that is discrete in an output: types, lengths, keys, categories, NaN and ±inf, an
exception. It is a text, such as ``[bool × 3]``, ``'blue'`` or ``{'a': int}``. The *numbers* are what is
left: every finite int, float and bool, in order, one row a run. Everything downstream sees only this.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.program.batch import PathOutputs
from dpaudit.program.noisy import Noisy
from dpaudit.program.outcome import Raised, entry

Floats = np.ndarray[Any, np.dtype[np.float64]]
_EXACT = 2**53  # the largest integers that a float holds are numbers; larger ones are categories


@dataclasses.dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of n runs.

    Attributes:
        forms: the distinct forms.
        codes: (n,) for each run, the index of its form.
        numbers: for each form, (runs of that form, numbers of that form), in the order of the runs.
    """

    forms: tuple[str, ...]
    codes: np.ndarray[Any, np.dtype[np.int32]]
    numbers: tuple[Floats, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, runs: np.ndarray[Any, Any]) -> Outputs:
        """Return the outputs of the chosen runs (a mask or a slice of positions), in their order."""
        mask = np.zeros(len(self), dtype=bool)
        mask[runs] = True
        rows = tuple(
            numbers[mask[self.codes == code]] if len(self.forms) > 1 else numbers[mask]
            for code, numbers in enumerate(self.numbers)
        )
        return Outputs(self.forms, self.codes[mask], rows)


def concatenate(parts: Sequence[Outputs]) -> Outputs:
    """Join the outputs of several blocks, in order."""
    index: dict[str, int] = {}
    for part in parts:
        for form in part.forms:
            index.setdefault(form, len(index))
    rows: list[list[Floats]] = [[] for _ in index]
    codes = [np.empty(0, dtype=np.int32)]
    for part in parts:
        own = np.array([index[form] for form in part.forms], dtype=np.int32)
        codes.append(own[part.codes] if len(own) else part.codes)
        for form, numbers in zip(part.forms, part.numbers, strict=True):
            rows[index[form]].append(numbers)
    return Outputs(tuple(index), np.concatenate(codes), tuple(np.concatenate(row) for row in rows))


# --- from one output to its form and numbers -------------------------------------------------------------

_Column = Any  # a plain number, or an array with one number a run


def _walk(output: Any, columns: list[_Column]) -> str:
    """Return the form of an output and append its numbers to ``columns``."""
    if isinstance(output, Noisy):
        columns.append(output.array)
        return {"b": "bool", "i": "int"}.get(output.array.dtype.kind, "float")
    if isinstance(output, np.generic):
        output = output.item()
    if isinstance(output, Enum):
        return f"{type(output).__name__}.{output.name}"
    if output is None or isinstance(output, str | bytes | bytearray):
        return repr(output)
    if isinstance(output, Raised):
        return str(output)
    if isinstance(output, bool | int | float):
        return _number(output, columns)
    return _container(output, columns)


def _number(value: bool | int | float, columns: list[_Column]) -> str:
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    if kind == "int" and abs(value) > _EXACT:
        return f"int {value}"
    if kind == "float" and not math.isfinite(value):
        return repr(float(value))
    columns.append(float(value))
    return kind


def _container(output: Any, columns: list[_Column]) -> str:
    if isinstance(output, np.ndarray):
        return f"array{output.shape} of {_listed(output.ravel().tolist(), columns)}"
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output).__name__ + _keyed(zip(output._fields, output, strict=True), columns)
    if isinstance(output, tuple):
        return f"({_listed(output, columns)})"
    if isinstance(output, list):
        return f"[{_listed(output, columns)}]"
    if isinstance(output, Mapping):
        return _keyed(((repr(key), value) for key, value in output.items()), columns)
    if isinstance(output, set | frozenset):
        return f"set({_listed(sorted(output, key=repr), columns)})"
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        return type(output).__name__ + _keyed(
            ((field.name, getattr(output, field.name)) for field in dataclasses.fields(output)), columns
        )
    if hasattr(output, "to_dict"):  # data frames and series
        return f"{type(output).__name__} {_walk(output.to_dict(), columns)}"
    return _other(output, columns)


def _other(output: Any, columns: list[_Column]) -> str:
    if isinstance(output, complex):
        return f"complex({_listed([output.real, output.imag], columns)})"
    if isinstance(output, Fraction) or type(output).__name__ == "Decimal":
        return f"{type(output).__name__} {_number(float(output), columns)}"
    if hasattr(output, "__array__"):
        return f"{type(output).__name__} {_walk(np.asarray(output), columns)}"
    text = repr(output)
    if " at 0x" in text:
        raise UsageError(
            f"an output of type {type(output).__name__} cannot be compared with another one; return numbers, "
            "texts, lists, tuples, dicts, arrays, or an object whose repr says what it holds"
        )
    return text


def _listed(items: Iterable[Any], columns: list[_Column]) -> str:
    """The forms of several items, equal neighbours counted: ``bool × 3, 'stop'``."""
    forms = [_walk(item, columns) for item in items]
    counted = [(form, len(list(group))) for form, group in itertools.groupby(forms)]
    return ", ".join(form if count == 1 else f"{form} × {count}" for form, count in counted)


def _keyed(items: Iterable[tuple[Any, Any]], columns: list[_Column]) -> str:
    return "{" + ", ".join(f"{key}: {_walk(value, columns)}" for key, value in items) + "}"


# --- from the outputs of many runs -----------------------------------------------------------------------


class _Collector:
    """Gathers rows by form together with the run that each belongs to."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._runs: list[list[Any]] = []
        self._rows: list[list[Floats]] = []
        self._single: list[tuple[list[int], list[list[float]]]] = []

    def _code(self, form: str) -> int:
        code = self._index.setdefault(form, len(self._index))
        if code == len(self._runs):
            self._runs.append([])
            self._rows.append([])
            self._single.append(([], []))
        return code

    def add_one(self, run: int, output: Any) -> None:
        columns: list[float] = []
        runs, rows = self._single[self._code(_walk(output, columns))]
        runs.append(run)
        rows.append(columns)

    def add_many(self, runs: np.ndarray[Any, Any], form: str, rows: Floats) -> None:
        code = self._code(form)
        self._runs[code].append(runs)
        self._rows[code].append(rows)

    def outputs(self, size: int) -> Outputs:
        codes = np.empty(size, dtype=np.int32)
        numbers = []
        for code, (runs, rows) in enumerate(self._single):
            if runs:
                self._runs[code].append(np.asarray(runs))
                self._rows[code].append(np.asarray(rows, dtype=np.float64).reshape(len(runs), -1))
            where = np.concatenate(self._runs[code])
            codes[where] = code
            numbers.append(np.concatenate(self._rows[code])[np.argsort(where, kind="stable")])
        return Outputs(tuple(self._index), codes, tuple(numbers))


def from_list(outputs: Sequence[Any]) -> Outputs:
    """Return the outputs of one call a run."""
    if outputs and all(type(output) is float for output in outputs):
        return from_array(np.asarray(outputs))
    collector = _Collector()
    for run, output in enumerate(outputs):
        collector.add_one(run, output)
    return collector.outputs(len(outputs))


def from_paths(paths: Sequence[PathOutputs], size: int) -> Outputs:
    """Return the outputs of a batch, in the order of its runs."""
    collector = _Collector()
    for path in paths:
        if len(path.runs) == 1:
            collector.add_one(int(path.runs[0]), entry(path.output, 0))
            continue
        columns: list[_Column] = []
        form = _walk(path.output, columns)
        rows = np.empty((len(path.runs), len(columns)))
        for position, column in enumerate(columns):
            rows[:, position] = column
        finite = np.all(np.isfinite(rows), axis=1)
        collector.add_many(path.runs[finite], form, rows[finite])
        for run in np.flatnonzero(~finite):
            collector.add_one(int(path.runs[run]), entry(path.output, int(run)))
    return collector.outputs(size)


def from_array(outputs: np.ndarray[Any, Any]) -> Outputs:
    """Return the outputs of a sampler: the first axis is the runs."""
    size = len(outputs)
    kind = {"b": "bool", "i": "int", "u": "int", "f": "float"}.get(outputs.dtype.kind)
    if kind is None or (kind == "int" and size and np.max(np.abs(outputs.astype(np.float64))) > _EXACT):
        return from_list(list(outputs))
    rows = outputs.reshape(size, -1).astype(np.float64, copy=False)
    form = kind if outputs.ndim == 1 else _array_form(outputs.shape[1:], kind)
    finite = np.isfinite(rows)
    if np.all(finite):
        return Outputs((form,), np.zeros(size, dtype=np.int32), (rows,))
    whole = np.all(finite, axis=1)
    collector = _Collector()
    if np.any(whole):
        collector.add_many(np.flatnonzero(whole), form, rows[whole])
    for run in np.flatnonzero(~whole):
        collector.add_one(int(run), outputs[run])
    return collector.outputs(size)


def _array_form(shape: tuple[int, ...], kind: str) -> str:
    count = math.prod(shape)
    inner = "" if count == 0 else kind if count == 1 else f"{kind} × {count}"
    return f"array{shape} of {inner}"


def same_sequence(outputs: Outputs) -> bytes:
    """Return a digest of the sequence of outputs, to see whether two blocks repeat one another."""
    import hashlib

    state = hashlib.sha256(repr(outputs.forms).encode())
    state.update(outputs.codes.tobytes())
    for numbers in outputs.numbers:
        state.update(np.ascontiguousarray(numbers).tobytes())
    return state.digest()


def information(outputs: Outputs) -> float:
    """Return roughly how many bits the sequence of outputs could tell two blocks apart by.

    n times the entropy of the empirical distribution of whole outputs: 0 for a constant, small where
    blocks may well agree by chance.
    """
    bits = 0.0
    for numbers in outputs.numbers:
        if len(numbers):
            bits += (
                _entropy_bits(numbers[:, 0])
                if numbers.shape[1] == 1
                else max(
                    (_entropy_bits(numbers[:, column]) for column in range(min(numbers.shape[1], 8))),
                    default=0.0,
                )
            )
    counts = np.bincount(outputs.codes, minlength=len(outputs.forms))
    return bits + _count_bits(counts)


def _entropy_bits(values: Floats) -> float:
    return _count_bits(np.unique(values, return_counts=True)[1])


def _count_bits(counts: np.ndarray[Any, Any]) -> float:
    counts = counts[counts > 0]
    total = counts.sum()
    return float(-(counts * np.log2(counts / total)).sum()) if len(counts) > 1 else 0.0
