"""What do the outputs of many runs look like? A form for each run, and the numbers that go with it.

The *form* is all that is discrete in an output: types, lengths, keys, categories, NaN and ±inf, an
exception. It is a text, such as ``[bool × 3]``, ``'blue'`` or ``{'a': int}``. The *numbers* are what is
left: every finite int, float and bool, in order, one row a run. Everything downstream sees only this.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.program.batch import PathOutputs
from dpaudit.program.noisy import Noisy, entries
from dpaudit.program.outcome import Raised, entry
from dpaudit.program.path import ImpureError

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

    def first(self, length: int) -> Outputs:
        """Return the outputs of the first ``length`` runs, without a copy."""
        codes = self.codes[:length]
        counts = np.bincount(codes, minlength=len(self.forms)).tolist()
        rows = tuple(numbers[:count] for numbers, count in zip(self.numbers, counts, strict=True))
        return Outputs(self.forms, codes, rows)


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
_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float"}


def _walk(output: Any, columns: list[_Column]) -> str:
    """Return the form of an output and append its numbers to ``columns``."""
    if type(output) is Noisy:
        columns.append(entries(output))
        return _KINDS[columns[-1].dtype.kind]
    if isinstance(output, np.generic):
        output = _unwrapped(output)
    if isinstance(output, Enum):
        return f"{type(output).__name__}.{output.name or repr(output.value)}"
    if output is None or isinstance(output, str | bytes | bytearray):
        return _text(output)
    if isinstance(output, Raised):
        return str(output)
    if isinstance(output, bool | int | float):
        return _number(output, columns)
    return _container(output, columns)


def _text(value: Any) -> str:
    kind: Any = next((kind for kind in (str, bytes, bytearray) if isinstance(value, kind)), None)
    return repr(value) if kind is None else kind.__repr__(value)  # a subclass may show itself as anything


def _unwrapped(value: np.generic) -> Any:
    """Return a NumPy scalar as what it stands for; dates keep their unit, which ``item()`` may lose."""
    if isinstance(value, np.longdouble):
        return float(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _Shown(f"{value.dtype.name} {value}")
    return complex(value) if isinstance(value, np.complexfloating) else value.item()


@dataclasses.dataclass(frozen=True, slots=True)
class _Shown:
    """A category that is already a form."""

    form: str


def _number(value: bool | int | float, columns: list[_Column]) -> str:
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    if kind == "int" and abs(value) > _EXACT:
        return f"int {int(value):#x}"  # hexadecimal, because Python refuses very long decimals
    if kind == "float" and not math.isfinite(value):
        return repr(float(value))
    columns.append(float(value))
    return kind


def _container(output: Any, columns: list[_Column]) -> str:
    name = type(output).__name__
    if isinstance(output, type):
        return f"class {output.__module__}.{output.__qualname__}"
    if isinstance(output, _Shown):
        return output.form
    if isinstance(output, np.ndarray):
        return _array(output, columns)
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return name + _keyed(zip(output._fields, output, strict=True), columns)
    if isinstance(output, tuple):
        return f"({_listed(output, columns)})"
    if isinstance(output, list):
        return f"[{_listed(output, columns)}]"
    if isinstance(output, Mapping):
        return _keyed(((_label(key), value) for key, value in output.items()), columns)
    if isinstance(output, set | frozenset):
        return f"set({_listed(sorted(output, key=_set_order), columns)})"
    if dataclasses.is_dataclass(output):
        fields = [(field.name, getattr(output, field.name)) for field in dataclasses.fields(output)]
        return name + _keyed(fields, columns)
    if hasattr(output, "iloc"):  # pandas: a dict would lose repeated labels
        return _frame(output, columns)
    if hasattr(output, "to_dict"):
        return f"{name} {_walk(output.to_dict(), columns)}"
    return _other(output, columns)


def _array(output: np.ndarray[Any, Any], columns: list[_Column]) -> str:
    if output.dtype.names:
        fields = ((_label(field), output[field]) for field in output.dtype.names)
        return f"array{output.shape} of {_keyed(fields, columns)}"
    if isinstance(output, np.ma.MaskedArray):
        return f"array{output.shape} of {_listed(output.ravel().tolist(), columns)}"
    # .flat hands out NumPy scalars, which know a date's unit
    items = output.flat if output.dtype.char in "gGmM" else output.ravel().tolist()
    return f"array{output.shape} of {_listed(items, columns)}"


def _frame(output: Any, columns: list[_Column]) -> str:
    labels = [_labels(output.index)]
    if hasattr(output, "columns"):
        labels.append(_labels(output.columns))
        cells = [output.iloc[:, position].tolist() for position in range(output.shape[1])]
    else:
        labels.append(_label(output.name))
        cells = output.tolist()
    return f"{type(output).__name__} {' '.join(labels)} {_walk(cells, columns)}"


def _labels(index: Any) -> str:
    return type(index).__name__ + "[" + ", ".join(map(_label, index.tolist())) + "]"


def _label(key: Any) -> str:
    """A key of a dict or of a table as part of a form: numbers too are discrete here."""
    key = _unwrapped(key) if isinstance(key, np.generic) else key
    columns: list[_Column] = []
    form = _walk(key, columns)
    if type(key) in (bool, int, float):
        return repr(key) if columns else form
    return f"{form} {columns}" if columns else form


def _set_order(item: Any) -> tuple[Any, ...]:
    number = isinstance(item, int | float) and item == item
    return (0, item, type(item).__name__) if number else (1, _label(item), "")


def _other(output: Any, columns: list[_Column]) -> str:
    name = type(output).__name__
    if isinstance(output, complex):
        return f"complex({_listed([output.real, output.imag], columns)})"
    if isinstance(output, Fraction | Decimal):
        try:
            return f"{name} {_number(float(output), columns)}"
        except (OverflowError, ValueError):
            return f"{name} {output!r}"
    if hasattr(output, "__array__"):
        return f"{name} {_walk(np.asarray(output), columns)}"
    try:
        text = repr(output)
    except Exception as error:
        raise _incomparable(output, f"its repr raises {type(error).__name__}") from None
    if re.search(r"\bat 0x[0-9a-fA-F]+", text):
        raise _incomparable(output, "its repr only says where in memory it is")
    return f"{name} {text}"


def _incomparable(output: Any, why: str) -> UsageError:
    return UsageError(
        f"an output of type {type(output).__name__} cannot be compared with another one ({why}); return numbers, "
        "texts, lists, tuples, dicts, arrays, or an object whose repr says what it holds"
    )


def _listed(items: Iterable[Any], columns: list[_Column]) -> str:
    """The forms of several items, equal neighbours counted: ``bool × 3, 'stop'``."""
    forms = [_walk(item, columns) for item in items]
    counted = [(form, len(list(group))) for form, group in itertools.groupby(forms)]
    return ", ".join(form if count == 1 else f"{form} × {count}" for form, count in counted)


def _keyed(items: Iterable[tuple[Any, Any]], columns: list[_Column]) -> str:
    return "{" + ", ".join(f"{key}: {_walk(value, columns)}" for key, value in items) + "}"


# --- what a sampler returns -------------------------------------------------------------------------------


def how_many(outputs: Any) -> int | None:
    """How many outputs a sampler returned, or None for what is no sequence."""
    if isinstance(outputs, np.ndarray):
        return len(outputs) if outputs.ndim else None
    listed = hasattr(outputs, "__len__") and not isinstance(outputs, str | bytes | Mapping)
    return len(outputs) if listed else None


def only(outputs: Any) -> Any:
    """Return the output of a sampler that was asked for one; an exception, or anything else, as it is."""
    return outputs[0] if how_many(outputs) == 1 else outputs


# --- from the outputs of many runs -----------------------------------------------------------------------


class Taken:
    """An output as it was when it was there: its form and its numbers, one, or an array with one for each run."""

    __slots__ = ("form", "numbers")

    def __init__(self, output: Any) -> None:
        self.numbers: list[_Column] = []
        try:
            self.form = _walk(output, self.numbers)
        except RecursionError:
            raise _incomparable(output, "it is nested too deeply, or contains itself") from None


_FIXED = frozenset({float, int, bool, str, type(None)})


def taken(output: Any) -> Any:
    """Read one output at once: whoever returned a container may fill it anew. A plain value stays as it is."""
    return output if type(output) in _FIXED else Taken(output)


@dataclasses.dataclass(frozen=True, slots=True)
class TakenPath:
    """What the runs of one path returned, as it was then; a run whose numbers are not all finite stands for itself."""

    runs: np.ndarray[Any, Any]
    whole: Taken
    finite: np.ndarray[Any, Any]
    others: tuple[Any, ...]


def taken_path(runs: np.ndarray[Any, Any], output: Any) -> TakenPath | tuple[int, Any]:
    """Read the output of a path at once: that of a single run, or of many together."""
    if len(runs) == 1:
        return int(runs[0]), taken(entry(output, 0))
    whole = Taken(output)
    finite = np.ones(len(runs), dtype=bool)
    for column in whole.numbers:
        if isinstance(column, np.ndarray) and len(column) != len(runs):
            raise ImpureError("returned noise of an earlier call")
        if isinstance(column, np.ndarray) and column.dtype.kind in "if":
            finite &= np.isfinite(column) if column.dtype.kind == "f" else np.abs(column) <= _EXACT
    return TakenPath(runs, whole, finite, tuple(taken(entry(output, int(run))) for run in np.flatnonzero(~finite)))


class _Collector:
    """Gathers rows by form together with the run that each belongs to."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[np.ndarray[Any, Any], Floats]]] = {}
        self._single: dict[str, tuple[list[int], list[list[float]]]] = {}

    def add_one(self, run: int, output: Any) -> None:
        found = output if type(output) is Taken else Taken(output)
        runs, rows = self._single.setdefault(found.form, ([], []))
        runs.append(run)
        rows.append(found.numbers)

    def add_many(self, runs: np.ndarray[Any, Any], form: str, rows: Floats) -> None:
        if len(runs):
            self._parts.setdefault(form, []).append((runs, rows))

    def outputs(self, size: int) -> Outputs:
        """Return everything in the order of the runs, with the forms in the order of their first run."""
        for form, (single, rows) in self._single.items():
            self.add_many(np.asarray(single), form, np.asarray(rows, dtype=np.float64).reshape(len(single), -1))
        found = []
        for form, parts in self._parts.items():
            where = np.concatenate([runs for runs, _ in parts])
            order = np.argsort(where, kind="stable")
            found.append((form, where[order], np.concatenate([numbers for _, numbers in parts])[order]))
        found.sort(key=lambda item: int(item[1][0]))
        codes = np.full(size, -1, dtype=np.int32)
        for code, (_, where, _) in enumerate(found):
            codes[where] = code
        if size and codes.min() < 0:
            raise RuntimeError("runs were lost between the program and its outputs")
        return Outputs(tuple(form for form, _, _ in found), codes, tuple(numbers for _, _, numbers in found))


def from_list(outputs: Sequence[Any]) -> Outputs:
    """Return the outputs of one call a run, as they are now or as they were `taken`."""
    if outputs and all(type(output) is float for output in outputs):
        return from_array(np.asarray(outputs))
    collector = _Collector()
    for run, output in enumerate(outputs):
        collector.add_one(run, output)
    return collector.outputs(len(outputs))


def from_paths(paths: Sequence[Any], size: int) -> Outputs:
    """Return the outputs of a batch, in the order of its runs: as they are now, or as they were `taken_path`."""
    collector = _Collector()
    for path in paths:
        part = taken_path(path.runs, path.output) if isinstance(path, PathOutputs) else path
        if isinstance(part, tuple):
            collector.add_one(*part)
            continue
        rows = np.empty((len(part.runs), len(part.whole.numbers)))
        for position, column in enumerate(part.whole.numbers):
            rows[:, position] = column
        collector.add_many(part.runs[part.finite], part.whole.form, rows[part.finite])
        for run, output in zip(part.runs[~part.finite], part.others, strict=True):
            collector.add_one(int(run), output)
    return collector.outputs(size)


def from_array(outputs: np.ndarray[Any, Any]) -> Outputs:
    """Return the outputs of a sampler: the first axis is the runs."""
    size, shape = len(outputs), outputs.shape[1:]
    kind = _KINDS.get(outputs.dtype.kind)
    large = kind == "int" and outputs.size and (outputs.max() > _EXACT or outputs.min() < -_EXACT)
    if not size or kind is None or large or type(outputs) is not np.ndarray:
        return from_list(list(outputs))
    with np.errstate(over="ignore"):  # a long double may be too large for a float
        rows = outputs.reshape(size, math.prod(shape)).astype(np.float64, copy=False)
    form = kind if outputs.ndim == 1 else _array_form(shape, kind)
    with np.errstate(over="ignore", invalid="ignore"):
        all_finite = bool(np.isfinite(rows.sum()))  # NaN and infinities stay in a sum; finite rows may overflow it
    finite = np.ones(size, dtype=bool) if all_finite else np.all(np.isfinite(rows), axis=1)
    if all_finite or np.all(finite):
        return Outputs((form,), np.zeros(size, dtype=np.int32), (rows,))
    collector = _Collector()
    collector.add_many(np.flatnonzero(finite), form, rows[finite])
    for run in np.flatnonzero(~finite):
        collector.add_one(int(run), outputs[run])
    return collector.outputs(size)


def _array_form(shape: tuple[int, ...], kind: str) -> str:
    count = math.prod(shape)
    inner = "" if count == 0 else kind if count == 1 else f"{kind} × {count}"
    return f"array{shape} of {inner}"


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
    if len(set(values.tolist())) == len(values):  # as of most continuous noise; much faster than counting
        return len(values) * math.log2(len(values))
    return _count_bits(np.unique(values, return_counts=True)[1])


def _count_bits(counts: np.ndarray[Any, Any]) -> float:
    counts = counts[counts > 0]
    total = counts.sum()
    return float(-(counts * np.log2(counts / total)).sum()) if len(counts) > 1 else 0.0
