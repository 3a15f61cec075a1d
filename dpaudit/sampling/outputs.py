"""What do the outputs of many runs look like? A form for each run, and its numbers.

The *form* is everything discrete in an output: types, lengths, keys, categories, NaN and ±inf, an exception (`forms`).
It is a text, such as ``[bool × 3]``, ``'blue'`` or ``{'a': int}``. The *numbers* are the rest: every finite int, float
and bool, in order, one row per run. All later steps see only this.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.program import batch_reading, outcome
from dpaudit.reading.runs.passes import ReadBlock, ReturnedPart, parts_of
from dpaudit.reading.runs.values import at
from dpaudit.sampling.forms import PLACE, Column, PlacedTexts, embedded, form_of_arrays, is_number, read_form


@dataclasses.dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of n runs."""

    forms: tuple[str, ...]  # the distinct forms
    codes: np.ndarray[Any, np.dtype[np.int32]]  # (n,) for each run, the index of its form
    numbers: tuple[Floats, ...]  # for each form, (runs of that form, numbers of that form), in the order of the runs

    def __len__(self) -> int:
        return len(self.codes)

    def equals(self, other: Outputs) -> bool:
        """Whether every run has the same form and, to the last bit, the same numbers."""
        alike = self.forms == other.forms and np.array_equal(self.codes, other.codes)
        return alike and all(map(np.array_equal, self.numbers, other.numbers))

    def take(self, runs: np.ndarray[Any, Any]) -> Outputs:
        """Return the outputs of the chosen runs (a mask or positions), in their order."""
        mask = np.zeros(len(self), dtype=bool)
        mask[runs] = True
        rows = tuple(
            numbers[mask[self.codes == code]] if len(self.forms) > 1 else numbers[mask]
            for code, numbers in enumerate(self.numbers)
        )
        return Outputs(self.forms, self.codes[mask], rows)

    def between(self, start: int, stop: int) -> Outputs:
        """Return the outputs of the runs from ``start`` up to ``stop``, without a copy."""
        if len(self.forms) == 1:
            return Outputs(self.forms, self.codes[start:stop], (self.numbers[0][start:stop],))
        before, upto = (np.bincount(self.codes[:end], minlength=len(self.forms)).tolist() for end in (start, stop))
        rows = tuple(own[first:last] for own, first, last in zip(self.numbers, before, upto, strict=True))
        return Outputs(self.forms, self.codes[start:stop], rows)

    def first(self, length: int) -> Outputs:
        """Return the outputs of the first ``length`` runs, without a copy."""
        return self.between(0, length)


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


# --- what a sampler returns -------------------------------------------------------------------------------


def how_many(outputs: Any) -> int | None:
    """How many outputs a sampler returned, or None if it is not a sequence."""
    if isinstance(outputs, np.ndarray):
        return len(outputs) if outputs.ndim else None
    listed = hasattr(outputs, "__len__") and not isinstance(outputs, str | bytes | Mapping)
    return len(outputs) if listed else None


def only(outputs: Any) -> Any:
    """Return the output of a sampler that was asked for one; anything else is returned as it is."""
    return outputs[0] if how_many(outputs) == 1 else outputs


# --- from the outputs of many runs -----------------------------------------------------------------------


class OutputSnapshot:
    """The form and the numbers of an output when it was returned; a number, or an array with one for each run."""

    __slots__ = ("form", "numbers", "texts")

    def __init__(self, output: Any) -> None:
        self.numbers: list[Column] = []
        self.texts: list[PlacedTexts] = []
        self.form = read_form(output, self.numbers, self.texts)

    def by_text(self) -> Iterator[tuple[np.ndarray[Any, Any], OutputSnapshot]]:
        """Yield the places of runs whose texts have all forms in common, with what they returned."""
        key = np.zeros(len(self.texts[0].codes), dtype=np.int64)
        for each in self.texts:
            forms = {form: number for number, (form, _) in enumerate(each.read)}
            of_texts = np.array([forms[form] for form, _ in each.read], dtype=np.int64)
            key = np.unique(key, return_inverse=True)[1] * len(each.read) + of_texts[each.codes]
        order = np.argsort(key, kind="stable")
        cuts = np.flatnonzero(np.diff(key[order])) + 1
        for first, last in itertools.pairwise((0, *cuts.tolist(), len(order))):
            yield order[first:last], self._of(order[first:last])

    def _of(self, runs: np.ndarray[Any, Any]) -> OutputSnapshot:
        """Return what runs returned whose texts have all forms in common."""
        one = OutputSnapshot.__new__(OutputSnapshot)
        one.form, one.texts, one.numbers = self.form, [], []
        own = [column[runs] if isinstance(column, np.ndarray) else column for column in self.numbers]
        done = 0
        for number, each in enumerate(self.texts):
            one.numbers += own[done : each.before]
            done, codes = each.before, each.codes[runs]
            one.form = one.form.replace(PLACE.format(number), each.read[codes[0]][0])
            one.numbers += list(np.array([numbers for _, numbers in map(each.read.__getitem__, codes.tolist())]).T)
        one.numbers += own[done:]
        return one


FIXED = frozenset({float, int, bool, str, type(None)})
"""The types of outputs that nobody can change after they were returned."""


def taken(output: Any) -> Any:
    """Read one output at once, because a container may be refilled by its owner. A plain value stays as it is."""
    return output if type(output) in FIXED else OutputSnapshot(output)


@dataclasses.dataclass(frozen=True, slots=True)
class TakenPath:
    """What the runs of one path returned, as it was then; runs with numbers that are not finite are kept apart."""

    runs: np.ndarray[Any, Any]
    whole: OutputSnapshot
    finite: np.ndarray[Any, Any]
    others: tuple[Any, ...]


def taken_path(runs: np.ndarray[Any, Any], output: Any) -> TakenPath | tuple[int, Any]:
    """Read the output of a path at once: that of a single run, or of many together."""
    if len(runs) == 1:
        return int(runs[0]), taken(outcome.entry(output, 0))
    whole = OutputSnapshot(output)
    if any(isinstance(column, np.ndarray) and len(column) != len(runs) for column in whole.numbers):
        raise batch_reading.ImpureError("returned noise of an earlier call")
    return _taken_whole(runs, whole, lambda run: outcome.entry(output, run))


def _taken_whole(runs: np.ndarray[Any, Any], whole: OutputSnapshot, one: Callable[[int], Any]) -> TakenPath:
    """Return what many runs returned, of which those with numbers that are not finite are read one by one."""
    finite = np.ones(len(runs), dtype=bool)
    for column in whole.numbers:
        if isinstance(column, np.ndarray):
            finite &= is_number(column)
    whole.numbers = [embedded(column) if isinstance(column, np.ndarray) else column for column in whole.numbers]
    return TakenPath(runs, whole, finite, tuple(taken(one(int(run))) for run in np.flatnonzero(~finite)))


def from_reading(block: ReadBlock, size: int) -> Outputs:
    """Return the outputs of runs that were read, in their order."""
    paths: list[Any] = [(run, taken(output)) for run, output in block.single.items()]
    for part in block.parts:
        paths += _taken_part(part)
    return from_paths(paths, size)


def agree(outputs: Outputs, returned: dict[int, Any]) -> bool:
    """Whether what single runs returned is what is kept of them, by form and numbers."""
    runs = sorted(returned)
    alone, kept = from_list([taken(returned[run]) for run in runs]), outputs.take(np.array(runs, dtype=np.int64))
    for code, form in enumerate(alone.forms):
        if form not in kept.forms:
            return False
        other = kept.forms.index(form)
        same = np.array_equal(alone.codes == code, kept.codes == other)
        if not same or not np.array_equal(alone.numbers[code], kept.numbers[other]):
            return False
    return True


def _taken_part(part: ReturnedPart) -> Iterator[Any]:
    if isinstance(part.value, outcome.Raised):
        yield TakenPath(part.runs, OutputSnapshot(part.value), np.ones(len(part.runs), dtype=bool), ())
        return
    parts = parts_of(part.value, part.places, part.count)
    if parts is None:
        yield from ((int(run), taken(part.of(place))) for place, run in enumerate(part.runs))
        return
    number = np.zeros(part.count, dtype=np.int64)
    number[part.places] = part.runs
    for places, value in parts:
        whole = OutputSnapshot(value)
        for where, one in whole.by_text() if whole.texts else ((np.arange(len(places)), whole),):
            mine = places[where]
            yield _taken_whole(number[mine], one, partial(_output_of, part.value, mine))


def _output_of(value: Any, places: np.ndarray[Any, Any], place: int) -> Any:
    return at(value, int(places[place]))


class _Collector:
    """Gathers rows by form together with the run that each belongs to."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[np.ndarray[Any, Any], Floats]]] = {}
        self._single: dict[str, tuple[list[int], list[list[float]]]] = {}

    def add_one(self, run: int, output: Any) -> None:
        snapshot = output if type(output) is OutputSnapshot else OutputSnapshot(output)
        runs, rows = self._single.setdefault(snapshot.form, ([], []))
        runs.append(run)
        rows.append(snapshot.numbers)

    def add_many(self, runs: np.ndarray[Any, Any], form: str, rows: Floats) -> None:
        if len(runs):
            self._parts.setdefault(form, []).append((runs, rows))

    def outputs(self, size: int) -> Outputs:
        """Return everything in the order of the runs, with the forms in the order of their first run."""
        for form, (single, rows) in self._single.items():
            self.add_many(np.asarray(single), form, np.asarray(rows, dtype=np.float64).reshape(len(single), -1))
        by_form = []
        for form, parts in self._parts.items():
            if len(parts) == 1 and np.all(np.diff(parts[0][0]) > 0):  # in order already
                by_form.append((form, *parts[0]))
                continue
            where = np.concatenate([runs for runs, _ in parts])
            order = np.argsort(where, kind="stable")
            by_form.append((form, where[order], np.concatenate([numbers for _, numbers in parts])[order]))
        by_form.sort(key=lambda item: int(item[1][0]))
        codes = np.full(size, -1, dtype=np.int32)
        for code, (_, where, _) in enumerate(by_form):
            codes[where] = code
        if size and codes.min() < 0:
            raise RuntimeError("runs were lost between the program and its outputs")
        return Outputs(tuple(form for form, _, _ in by_form), codes, tuple(numbers for _, _, numbers in by_form))


def from_list(outputs: Sequence[Any]) -> Outputs:
    """Return the outputs of one call per run, as they are now or as they were `taken`."""
    if set(map(type, outputs)) == {float}:
        return from_array(np.asarray(outputs))
    collector = _Collector()
    for run, output in enumerate(outputs):
        collector.add_one(run, output)
    return collector.outputs(len(outputs))


def from_paths(paths: Sequence[Any], size: int) -> Outputs:
    """Return the outputs of a batch, in the order of its runs, as they are now or as `taken_path` read them."""
    collector = _Collector()
    for path in paths:
        part = taken_path(path.runs, path.output) if isinstance(path, batch_reading.PathOutputs) else path
        if isinstance(part, tuple):
            collector.add_one(*part)
            continue
        rows = np.empty((len(part.runs), len(part.whole.numbers)))
        for position, column in enumerate(part.whole.numbers):
            rows[:, position] = column
        if not part.others:
            collector.add_many(part.runs, part.whole.form, rows)
            continue
        collector.add_many(part.runs[part.finite], part.whole.form, rows[part.finite])
        for run, output in zip(part.runs[~part.finite], part.others, strict=True):
            collector.add_one(int(run), output)
    return collector.outputs(size)


def of_runs(
    forms: tuple[str, ...], codes: np.ndarray[Any, np.dtype[np.int32]], rows: Sequence[Floats], single: dict[int, Any]
) -> Outputs:
    """Return the outputs of runs whose forms are known."""
    if not single:
        return Outputs(forms, codes, tuple(rows))
    collector = _Collector()
    others = np.ones(len(codes), dtype=bool)
    others[list(single)] = False
    for code, (form, numbers) in enumerate(zip(forms, rows, strict=True)):
        collector.add_many(np.flatnonzero(others & (codes == code)), form, numbers)
    for run, output in single.items():
        collector.add_one(run, output)
    return collector.outputs(len(codes))


def from_array(outputs: np.ndarray[Any, Any]) -> Outputs:
    """Return the outputs of a sampler: the first axis is the runs."""
    size, shape = len(outputs), outputs.shape[1:]
    form = None if type(outputs) is not np.ndarray else form_of_arrays(outputs.dtype, shape)
    if not size or form is None:
        return from_list(list(outputs))
    own = outputs.reshape(size, math.prod(shape))
    numbers = np.ones(size, dtype=bool) if _all_numbers(own) else np.all(is_number(own), axis=1)
    rows = embedded(own.astype(np.float64, copy=False))
    if np.all(numbers):
        return Outputs((form,), np.zeros(size, dtype=np.int32), (rows,))
    collector = _Collector()
    collector.add_many(np.flatnonzero(numbers), form, rows[numbers])
    for run in np.flatnonzero(~numbers):
        collector.add_one(int(run), outputs[run])
    return collector.outputs(size)


def _all_numbers(values: np.ndarray[Any, Any]) -> bool:
    """Whether all entries are numbers, by one fast check that may say no although they are."""
    if values.dtype.kind != "f":
        return bool(np.all(is_number(values)))
    with np.errstate(over="ignore", invalid="ignore"):
        # NaN and infinities persist in a sum; finite entries may overflow it
        return bool(np.isfinite(values.sum())) and bool(values.all())


def information(outputs: Outputs) -> float:
    """Return approximately how many bits distinguish this sequence of outputs from that of another block.

    n times the entropy of the empirical distribution of whole outputs: 0 for a constant, and small if blocks may well
    agree by chance.
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
