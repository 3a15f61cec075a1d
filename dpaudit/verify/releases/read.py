"""What does a reading by the universe say in the words of a certificate? Releases, and what each kind of records adds.

A kind of records is told by its cell in each column: a value, or an open interval between two. What does not hang on a
column is said without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpaudit.checker import FORMAT, VERSION
from dpaudit.neighbours import Relation
from dpaudit.neighbours.domain import GivenMove
from dpaudit.reading.universe.cells import UNREAD, Axis, Declared, place_of, simple
from dpaudit.reading.universe.drive import Reading
from dpaudit.reading.universe.state import Released

__all__ = [
    "Ball",
    "ColumnDomain",
    "Condition",
    "Linear",
    "Movement",
    "Part",
    "RefusedError",
    "Release",
    "Releases",
    "Sample",
    "Term",
    "as_releases",
    "column_domain",
    "conditions_of",
    "parts_of",
    "release_certificate",
]

MOST_TERMS = 50_000
MOST_STATED = 1_000  # values of a column on which nothing hangs
_FINEST = 10**24


def as_releases(reading: Reading) -> Releases:
    """Return what was read, for prices and the certificate."""
    writer = _Writer(reading)
    paths: dict[tuple[Release, ...], None] = {}
    for path in reading.paths:
        found: list[Release] = []
        samples: dict[int, Sample] = {}
        for each in path:
            found += writer.releases(each, samples)
        paths.setdefault(tuple(found))
    stated = {name: column_domain(each) for name, each in reading.columns.items() if _is_stated(each)}
    return Releases(tuple(paths), len(reading.paths), {**stated, **writer.columns})


def _is_stated(column: Declared) -> bool:
    """Whether what a column holds is said though no condition names it, so that a proof says of which domain it is."""
    return len(column.values) <= MOST_STATED if column.values is not None else column.kind not in ("int64", UNREAD)


class _Writer:
    def __init__(self, reading: Reading) -> None:
        self._declared, self._cuts = reading.columns, reading.cuts
        self._axes: dict[str, Axis] = {}
        self._parts: dict[tuple[str, str], list[Part]] = {}
        self._known: dict[int, tuple[Any, list[Release]]] = {}
        self.columns: dict[str, ColumnDomain] = {}
        self._terms = 0
        self._listed = list({id(each): each for path in reading.paths for each in path}.values())
        self._nearest: dict[str, dict[int, int]] = {}

    def releases(self, each: Released, samples: dict[int, Sample]) -> list[Release]:
        """Return a release, split by the scales of its noise."""
        sample = None
        if each.sample is not None:
            number, rate, times = each.sample
            sample = samples.setdefault(number, Sample(len(samples), simple(rate), times))
        key = (id(each), sample)
        known = self._known.get(hash(key))
        if known is not None and known[0] == key:
            return known[1]
        scales: dict[float, list[int]] = {}
        for place, scale in enumerate(np.broadcast_to(each.scales, each.low.shape[1:]).tolist()):
            scales.setdefault(scale, []).append(place)
        found = [
            Release(
                each.law,
                simple(scale),
                (self._ball(each),) if each.is_ball else tuple(self._movement(each, place) for place in places),
                sample,
                each.times,
                each.line,
                tuple((name, simple(value)) for name, value in each.details),
            )
            for scale, places in scales.items()
        ]
        self._known[hash(key)] = (key, found)
        return found

    def _ball(self, each: Released) -> Ball:
        """Return how far a vector moves, by some kinds of records where one condition on each column tells them."""
        kind, times, number = each.selection
        rows = 2 * times if kind == "swapped" else times  # a row comes, and another one goes
        name = "{}" if kind == "record" else f"{{}} of rows {number}"
        terms = [] if kind == "swapped" else list(self._terms_of(each.axes, each.low[:, 0], each.high[:, 0], name))
        radius = rows * outward(float(each.high.max()), 1)
        return Ball(terms[0].part if len(terms) == 1 else frozenset(), radius)

    def _movement(self, each: Released, place: int) -> Linear:
        kind, times, number = each.selection
        low, high = each.low[:, place], each.high[:, place]
        if kind == "record":
            return Linear(tuple(self._terms_of(each.axes, low, high, "{}")))
        if kind == "total":
            return Linear(tuple(self._terms_of((), low[:1], high[:1], "{}")))
        low, high = np.minimum(low * times, 0), np.maximum(high * times, 0)
        coming = f"{{}} of rows {number}"
        if kind == "person":
            return Linear(tuple(self._terms_of(each.axes, low, high, coming)))
        goes = f"a row of rows {number} goes"
        self.columns[goes] = ColumnDomain(values=(False, True))
        gone = Condition(goes, "==", True, True)
        into = self._terms_of(each.axes, low, high, coming)
        out = self._terms_of(each.axes, -high, -low, f"{{}} of a row of rows {number} that goes")
        return Linear((*into, *(Term(term.part | {gone}, term.low, term.high) for term in out)))

    def _terms_of(self, axes: tuple[str, ...], low: Any, high: Any, name: str) -> Iterator[Term]:
        """Yield what each kind adds, over the columns on which it hangs."""
        cells = [self._axis(axis) for axis in axes]
        shape = [axis.size for axis in cells]
        low, high, left = low.reshape(shape), high.reshape(shape), list(axes)
        for number in reversed(range(len(left))):
            if all(np.array_equal(end, np.broadcast_to(np.take(end, [0], number), end.shape)) for end in (low, high)):
                low, high = np.take(low, 0, number), np.take(high, 0, number)
                del left[number]
        if not left:
            first, last = outward(low[()], -1), outward(high[()], 1)
            if first or last:
                yield Term(frozenset(), first, last)
            return
        along = max(range(len(left)), key=lambda k: (self._is_ordered(left[k]), low.shape[k]))
        low, high = np.moveaxis(low, along, -1).copy(), np.moveaxis(high, along, -1).copy()
        within = self._within_others(left[along])
        for point, cell in within.items():
            low[..., cell] = np.minimum(low[..., cell], low[..., point])
            high[..., cell] = np.maximum(high[..., cell], high[..., point])
        for point, cell in within.items():
            low[..., point], high[..., point] = low[..., cell], high[..., cell]
        runs, others = left.pop(along), [self._part(axis, name) for axis in left]
        for place in np.ndindex(low.shape[:-1]):
            around: Part = frozenset().union(*(each[k] for each, k in zip(others, place, strict=True)))
            for start, stop in self._runs(runs, low[place], high[place]):
                first, last = outward(low[place][start], -1), outward(high[place][start], 1)
                if not first and not last:
                    continue
                self._terms += 1
                if self._terms > MOST_TERMS:
                    raise RefusedError(
                        f"what records add takes more than {MOST_TERMS:,} lines to write; use fewer kinds of records"
                    )
                yield Term(around | self._run(runs, name, start, stop), first, last)

    def _within_others(self, axis: str) -> dict[int, int]:
        """Return the values of a column at which nothing moves farther than in a cell beside them, with that cell.

        A record at such an end costs no more than one beyond it, whatever is released: it need not be told apart.
        """
        if axis in self._nearest:
            return self._nearest[axis]
        found: dict[int, int] = {}
        cells, order = self._axis(axis).cells, self._order(axis) if self._is_ordered(axis) else []
        tables = [self._along(each, axis) for each in self._listed if axis in each.axes]
        for place, point in enumerate(order):
            if cells[point][0] != cells[point][1]:
                continue
            for beside in (place - 1, place + 1):
                if not 0 <= beside < len(order) or cells[order[beside]][0] == cells[order[beside]][1]:
                    continue
                cell = order[beside]
                if all(_within(low[point], high[point], low[cell], high[cell]) for low, high in tables):
                    found[point] = cell
                    break
        self._nearest[axis] = found
        return found

    def _along(self, each: Released, axis: str) -> tuple[Any, Any]:
        """Return what records add, with the cells of one column first."""
        shape = [self._axis(name).size for name in each.axes]
        place = each.axes.index(axis)
        low, high = (np.moveaxis(end.reshape(*shape, -1), place, 0) for end in (each.low, each.high))
        return low, high

    def _domain(self, axis: str) -> Declared:
        return self._declared[axis] if axis in self._declared else place_of(axis)

    def _is_ordered(self, axis: str) -> bool:
        return self._domain(axis).kind in ("int64", "float64")

    def _runs(self, axis: str, low: Any, high: Any) -> Iterator[tuple[int, int]]:
        """Yield from where to where, in the order of its cells, a column adds the same."""
        cells = len(self._axis(axis).cells)
        order = self._order(axis)
        start = 0
        for stop in range(1, cells + 1):
            ends = stop == cells or not self._is_ordered(axis)
            if ends or (low[order[stop]], high[order[stop]]) != (low[order[start]], high[order[start]]):
                yield order[start], order[stop - 1]
                start = stop
        if len(low) > cells:
            yield cells, cells

    def _order(self, axis: str) -> list[int]:
        cells = self._axis(axis).cells
        if not self._is_ordered(axis):
            return list(range(len(cells)))
        return sorted(range(len(cells)), key=lambda place: float(cells[place][0]))

    def _run(self, axis: str, name: str, start: int, stop: int) -> Part:
        parts = self._part(axis, name)
        if start == stop:
            return parts[start]
        column, cells = name.format(axis), self._axis(axis).cells
        (first, open_), (last, end) = cells[start], cells[stop]
        lower = (
            Condition(column, "<", _exact(first), False)
            if first == open_
            else Condition(column, "<=", self._ends(axis, first, open_)[0], False)
        )
        upper = (
            Condition(column, "<=", _exact(end), True)
            if last == end
            else Condition(column, "<", self._ends(axis, last, end)[1], True)
        )
        order = self._order(axis)
        reached = start == order[0], stop == order[-1]  # an end of the domain, beyond which there is nothing
        if reached == (True, False):
            return frozenset((upper,))
        if reached == (False, True) and not self._domain(axis).missing:  # which is not below anything
            return frozenset((lower,))
        return frozenset((lower, upper))

    def _axis(self, name: str) -> Axis:
        if name not in self._axes:
            self._axes[name] = Axis(self._domain(name), self._cuts.get(name, ()))
        return self._axes[name]

    def _part(self, axis: str, name: str) -> list[Part]:
        """Return the conditions for each cell of a column."""
        found = self._parts.get((axis, name))
        if found is None:
            declared, column = self._domain(axis), name.format(axis)
            self.columns[column] = column_domain(declared)
            found = []
            for low, high in self._axis(axis).cells:
                if low == high:
                    found.append(frozenset((Condition(column, "==", _exact(low), True),)))
                    continue
                ends = self._ends(axis, low, high)
                found.append(
                    frozenset((Condition(column, "<=", ends[0], False), Condition(column, "<", ends[1], True)))
                )
            if declared.missing:
                found.append(frozenset((Condition(column, "missing", None, True),)))
            self._parts[axis, name] = found
        return found

    def _ends(self, axis: str, low: Any, high: Any) -> tuple[Fraction, Fraction]:
        declared = self._domain(axis)
        points = sorted({declared.low, declared.high, *self._cuts.get(axis, ())})
        return _exact(max(each for each in points if each < low)), _exact(min(each for each in points if each > high))


def _within(low: Any, high: Any, least: Any, most: Any) -> bool:
    """Whether intervals are within others, or beyond by the next float alone, at which an open cell begins."""
    return bool(
        np.all(low >= least - 2 * np.spacing(np.abs(least))) and np.all(high <= most + 2 * np.spacing(np.abs(most)))
    )


def _exact(value: Any) -> Any:
    if isinstance(value, bool | str):
        return value
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return Fraction(value) if isinstance(value, int) else Fraction(repr(float(value)))  # floats apart stay apart


def outward(value: float, sign: int) -> Fraction:
    """Return what a record adds at most (sign 1) or at least (-1), with few digits."""
    found = simple(value)
    if found.denominator <= _FINEST and abs(found.numerator) < _FINEST**2:
        return found
    whole = found * _FINEST
    return Fraction(math.ceil(whole) if sign > 0 else math.floor(whole), _FINEST)


def column_domain(declared: Declared) -> ColumnDomain:
    """Return what a column holds, in the words of a certificate."""
    if declared.values is None:
        return ColumnDomain(_exact(declared.low), _exact(declared.high), missing=declared.missing)
    return ColumnDomain(values=tuple(map(_exact, declared.values)), missing=declared.missing)


# --- How is a derivation written down, so that others can check it? Releases, paths and columns as plain JSON. ---


def release_certificate(
    releases: Releases,
    bound: Fraction,
    *,
    name: str,
    source: str,
    relation: Relation,
    parameters: Mapping[str, str],
    notion: str,
    delta: Fraction,
    account: Mapping[str, Any] | None = None,
    given: Sequence[GivenMove] = (),
) -> dict[str, Any]:
    """Return the derivation as plain data for JSON, which `dpaudit.checker` checks."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "releases",
        "mechanism": {"name": name, "source": source},
        "scope": {
            "data": "records",
            "relation": relation.kind,
            "group": relation.group,
            "person": relation.person,
            "parameters": dict(parameters),
        },
        "notion": notion,
        "delta": str(delta),
        "bound": str(bound),
        **parts_of(releases),
        **({} if account is None else {"account": dict(account)}),
        **({"given": [{"line": each.place, "by": str(each.by)} for each in given]} if given else {}),
    }


def parts_of(releases: Releases) -> dict[str, Any]:
    """Return columns, samples, releases and paths as plain data."""
    listed = list(dict.fromkeys(release for path in releases.paths for release in path))
    numbers = {release: number for number, release in enumerate(listed)}
    samples = list(dict.fromkeys(release.sample for release in listed if release.sample is not None))
    used = dict.fromkeys(
        each.column for release in listed for movement in release.values for each in conditions_of(movement)
    )
    columns = {column: number for number, column in enumerate(sorted({*used, *releases.columns}))}
    return {
        "columns": [_column(column, releases.columns[column]) for column in columns],
        "samples": [{"rate": str(sample.rate), "times": sample.times} for sample in samples],
        "releases": [
            {
                "law": release.law,
                "scale": str(release.scale),
                "values": [_movement(each, columns) for each in release.values],
                "sample": None if release.sample is None else samples.index(release.sample),
                "times": release.times,
                "line": release.line,
                "details": {detail: str(value) for detail, value in release.details},
            }
            for release in listed
        ],
        "paths": [[numbers[release] for release in path] for path in releases.paths],
    }


def _column(name: str, domain: ColumnDomain) -> dict[str, Any]:
    return {
        "name": name,
        "low": None if domain.values is not None or domain.low is None else str(domain.low),
        "high": None if domain.values is not None or domain.high is None else str(domain.high),
        "values": None if domain.values is None else list(map(_point, domain.values)),
        "missing": domain.missing,
    }


def _point(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return ["truth", value]
    return ["text", value] if isinstance(value, str) else ["number", str(value)]


def _movement(movement: Movement, columns: Mapping[str, int]) -> dict[str, Any]:
    if isinstance(movement, Ball):
        return {"ball": _term(movement.part, -movement.radius, movement.radius, columns)}
    return {"terms": [_term(each.part, each.low, each.high, columns) for each in movement.terms], "bent": []}


def _term(part: Part, low: Fraction, high: Fraction, columns: Mapping[str, int]) -> dict[str, Any]:
    listed = sorted((_condition(each, columns) for each in part), key=repr)
    return {"if": listed, "low": str(low), "high": str(high)}


def _condition(condition: Condition, columns: Mapping[str, int]) -> list[Any]:
    operand = None if condition.operator == "missing" else _point(condition.operand)
    return [columns[condition.column], condition.operator, operand, condition.holds]


# --- What does a function release of its records? Noise on numbers, and how far each kind of record moves them. ---

Operator = Literal["<", "<=", "==", "missing"]


class RefusedError(Exception):
    """There is no bound of what was read; the message says why, and names the line where it is of one."""


@dataclass(frozen=True, slots=True)
class ColumnDomain:
    """What a column may hold: numbers between two ends, or the values that are listed.

    Attributes:
        low, high: both ends; None of a column whose values are listed.
        values: what is listed: fractions, texts or truth values; None of a range.
        missing: whether a value may be missing.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    values: tuple[Any, ...] | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """What holds of a record: a test of one of its columns comes out true, or not."""

    column: str  # its name
    operator: Operator  # "<", "<=" and "==" with the operand, which a missing value never meets, or "missing"
    operand: Any  # a fraction, a text or a truth value; None for "missing"
    holds: bool  # whether the test comes out true


Part = frozenset[Condition]
"""Records that meet all of these conditions."""


@dataclass(frozen=True, slots=True)
class Term:
    """What one record adds to a number if it meets all conditions: something from low to high."""

    part: Part
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Linear:
    """How a number moves: the sum of what a record adds in all terms."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Ball:
    """How an array moves: by a vector of at most this Euclidean length, if the record meets all conditions."""

    part: Part
    radius: Fraction


Movement = Linear | Ball


@dataclass(frozen=True, slots=True)
class Sample:
    """A Poisson sample: each record is in it with this probability, by itself."""

    number: int  # which sample of the path; each is drawn afresh
    rate: Fraction  # the probability
    times: int  # how often it is drawn (`Noise.repeat`)


@dataclass(frozen=True, slots=True)
class Release:
    """Noise on private numbers, or a choice by private scores."""

    law: str  # of the noise, by its name in `dpaudit.program.noise`; "select" for the exponential mechanism
    scale: Fraction  # of the noise; 1/rate for "select"
    values: tuple[Movement, ...]  # what moves: the numbers that the noise was added to, or the scores
    sample: Sample | None  # what they are made of; None for all records
    times: int  # how often this is done (`Noise.repeat`)
    line: str = field(compare=False)  # where it is done
    details: tuple[tuple[str, Fraction], ...] = ()  # further numbers of the law, by name


@dataclass(frozen=True, slots=True)
class Releases:
    """What a function releases."""

    paths: tuple[tuple[Release, ...], ...]  # the releases of each path, without repetitions
    read: int  # how many paths were read
    columns: Mapping[str, ColumnDomain]  # the columns that conditions name, with what they may hold


def conditions_of(movement: Movement) -> Iterator[Condition]:
    """Yield all conditions that a movement depends on."""
    if isinstance(movement, Ball):
        yield from movement.part
        return
    for term in movement.terms:
        yield from term.part
