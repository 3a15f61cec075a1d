"""What does a reading by the universe say in the words of a certificate? Releases, and what each kind of records adds.

A kind of records is told by its cell in each column: a value, or an open interval between two. What does not hang on a
column is said without it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpaudit.checker import FORMAT, VERSION
from dpaudit.neighbours import Relation
from dpaudit.neighbours.domain import GivenMove
from dpaudit.reading.universe import drive, state
from dpaudit.reading.universe.cells import UNREAD, Axis, Declared, place_of, simple

__all__ = [
    "BallMove",
    "ColumnDomain",
    "LinearMove",
    "Movement",
    "NoBoundError",
    "Part",
    "ReadRelease",
    "ReadTerm",
    "RecordCondition",
    "Releases",
    "Sample",
    "as_releases",
    "column_domain",
    "conditions_of",
    "parts_of",
    "release_certificate",
]

MOST_TERMS = 50_000
MOST_STATED = 1_000  # values of a column on which nothing hangs
_FINEST = 10**24
_MANY_KINDS = 300
_BY_DISTANCE = frozenset(
    ("laplace", "discrete_laplace", "gaussian", "discrete_gaussian", "laplace_threshold", "truncated_laplace")
)
"""Laws whose price hangs on how far each number moves, whichever way."""


def as_releases(reading: drive.Reading) -> Releases:
    """Return what was read, for prices and the certificate."""
    writer = _RecordWriter(reading)
    paths: dict[tuple[ReadRelease, ...], None] = {}
    for path in reading.paths:
        releases_written: list[ReadRelease] = []
        samples: dict[int, Sample] = {}
        for each in path:
            releases_written += writer.releases(each, samples)
        paths.setdefault(tuple(releases_written))
    stated = {name: column_domain(each) for name, each in reading.columns.items() if _is_stated(each)}
    return Releases(tuple(paths), len(reading.paths), {**stated, **writer.columns})


def _is_stated(column: Declared) -> bool:
    """Whether what a column holds is said though no condition names it, so that a proof says of which domain it is."""
    return len(column.values) <= MOST_STATED if column.values is not None else column.kind not in ("int64", UNREAD)


class _RecordWriter:
    def __init__(self, reading: drive.Reading) -> None:
        self._declared, self._cuts = reading.columns, reading.cuts
        self._axes: dict[str, Axis] = {}
        self._parts: dict[tuple[str, str], list[Part]] = {}
        self._known: dict[int, tuple[Any, list[ReadRelease]]] = {}
        self.columns: dict[str, ColumnDomain] = {}
        self._terms = 0
        self._blocks: dict[str, list[tuple[int, int]]] = {}  # cells of a column that are not told apart, by their ends
        self._adds: dict[int, tuple[state.Released, Any, Any]] = {}  # what records in these add
        self._orders: dict[str, list[int]] = {}
        for each in {id(each): each for path in reading.paths for each in path}.values():
            shape, orders = [self._axis(axis).size for axis in each.axes], [self._order(axis) for axis in each.axes]
            listed = np.ix_(*orders) if orders else ()
            ends = (end.reshape(*shape, end.shape[-1])[listed] for end in (each.low, each.high))
            self._adds[id(each)] = each, *ends
            self._blocks.update((axis, [(k, k) for k in order]) for axis, order in zip(each.axes, orders, strict=True))
        self._join_cells(replaced=reading.replaced)

    def _join_cells(self, *, replaced: bool) -> None:
        """Join neighbouring cells of which one is the dearest, whatever is released and whatever else a record holds.

        What a price hangs on is no less for that one: a record of any of them costs no more. It is how far each number
        moves; of two rows, one that comes and one that goes, that is so for most releases. Where kinds are few, a proof
        says of each what it adds: only a point is joined with an open cell beside it, within whose sums its own are.
        """
        many = max((math.prod(low.shape[:-1]) for _, low, _ in self._adds.values()), default=0) > _MANY_KINDS
        for axis in sorted(filter(self._is_ordered, self._blocks), key=lambda name: -len(self._blocks[name])):
            dearest: dict[str, list[Any]] = {}
            using = [key for key, (each, _, _) in self._adds.items() if axis in each.axes]
            for key in using:
                each, low, high = self._adds[key]
                place = each.axes.index(axis)
                low, high = (np.moveaxis(end, place, 0) for end in (low, high))
                is_pair = replaced or each.selection[0] == "swapped"
                if each.law not in _BY_DISTANCE or not many:
                    dearest.setdefault("all", []).extend((high, -low))
                elif is_pair:
                    dearest.setdefault("comes", []).append(high)
                    dearest.setdefault("goes", []).append(-low)
                else:
                    dearest.setdefault("all", []).append(np.maximum(np.abs(low), np.abs(high)))
            blocks = self._blocks[axis]
            cells = self._axis(axis).cells
            stay = [not many and k < len(cells) and cells[k][0] != cells[k][1] for k, _ in blocks]
            starts = _starts(list(dearest.values()), len(cells), stay, only_into_these=not many)
            ends = [*starts[1:], len(blocks)]
            self._blocks[axis] = [(blocks[a][0], blocks[b - 1][1]) for a, b in zip(starts, ends, strict=True)]
            for key in using:
                each, low, high = self._adds[key]
                place = each.axes.index(axis)
                low, high = np.minimum.reduceat(low, starts, place), np.maximum.reduceat(high, starts, place)
                self._adds[key] = each, low, high

    def releases(self, each: state.Released, samples: dict[int, Sample]) -> list[ReadRelease]:
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
        releases = [
            ReadRelease(
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
        self._known[hash(key)] = (key, releases)
        return releases

    def _ball(self, each: state.Released) -> BallMove:
        """Return how far a vector moves, by some kinds of records where one condition on each column tells them."""
        kind, times, number = each.selection
        rows = 2 * times if kind == "swapped" else times  # a row comes, and another one goes
        name = "{}" if kind == "record" else f"{{}} of rows {number}"
        _, low, high = self._adds[id(each)]
        terms = [] if kind == "swapped" else list(self._terms_of(each.axes, low[..., 0], high[..., 0], name))
        radius = rows * outward(float(each.high.max()), 1)
        return BallMove(terms[0].part if len(terms) == 1 else frozenset(), radius)

    def _movement(self, each: state.Released, place: int) -> LinearMove:
        kind, times, number = each.selection
        _, low, high = self._adds[id(each)]
        low, high = low[..., place], high[..., place]
        if kind == "record":
            return LinearMove(tuple(self._terms_of(each.axes, low, high, "{}")))
        if kind == "total":
            return LinearMove(tuple(self._terms_of((), low.ravel()[0], high.ravel()[0], "{}")))
        low, high = np.minimum(low * times, 0), np.maximum(high * times, 0)
        coming = f"{{}} of rows {number}"
        if kind == "person":
            return LinearMove(tuple(self._terms_of(each.axes, low, high, coming)))
        goes = f"a row of rows {number} goes"
        self.columns[goes] = ColumnDomain(values=(False, True))
        gone = RecordCondition(goes, "==", True, True)
        into = self._terms_of(each.axes, low, high, coming)
        out = self._terms_of(each.axes, -high, -low, f"{{}} of a row of rows {number} that goes")
        return LinearMove((*into, *(ReadTerm(term.part | {gone}, term.low, term.high) for term in out)))

    def _terms_of(self, axes: tuple[str, ...], low: Any, high: Any, name: str) -> Iterator[ReadTerm]:
        """Yield what each kind adds, over the columns on which it hangs."""
        low, high, left = np.asarray(low), np.asarray(high), list(axes)
        for number in reversed(range(len(left))):
            if all(np.array_equal(end, np.broadcast_to(np.take(end, [0], number), end.shape)) for end in (low, high)):
                low, high = np.take(low, 0, number), np.take(high, 0, number)
                del left[number]
        if not left:
            first, last = outward(low[()], -1), outward(high[()], 1)
            if first or last:
                yield ReadTerm(frozenset(), first, last)
            return
        along = max(range(len(left)), key=lambda k: (self._is_ordered(left[k]), low.shape[k]))
        low, high = np.moveaxis(low, along, -1), np.moveaxis(high, along, -1)
        runs = left.pop(along)
        others = [[self._run(axis, name, *block) for block in self._blocks[axis]] for axis in left]
        for place in np.ndindex(low.shape[:-1]):
            around: Part = frozenset().union(*(each[k] for each, k in zip(others, place, strict=True)))
            for start, stop in self._runs(runs, low[place], high[place]):
                first, last = outward(low[place][start], -1), outward(high[place][start], 1)
                if not first and not last:
                    continue
                self._terms += 1
                if self._terms > MOST_TERMS:
                    raise NoBoundError(
                        f"what records add takes more than {MOST_TERMS:,} lines to write; use fewer kinds of records"
                    )
                blocks = self._blocks[runs]
                yield ReadTerm(around | self._run(runs, name, blocks[start][0], blocks[stop - 1][1]), first, last)

    def _domain(self, axis: str) -> Declared:
        return self._declared[axis] if axis in self._declared else place_of(axis)

    def _is_ordered(self, axis: str) -> bool:
        return self._domain(axis).kind in ("int64", "float64")

    def _runs(self, axis: str, low: Any, high: Any) -> Iterator[tuple[int, int]]:
        """Yield from where to where, in the order of its cells, a column adds the same."""
        blocks, cells, start = self._blocks[axis], len(self._axis(axis).cells), 0
        for stop in range(1, len(blocks) + 1):
            ends = stop == len(blocks) or not self._is_ordered(axis) or blocks[stop][0] == cells
            if ends or (low[stop], high[stop]) != (low[start], high[start]):
                yield start, stop
                start = stop

    def _order(self, axis: str) -> list[int]:
        """Return the cells of a column in their order; the missing value is the last one."""
        if axis not in self._orders:
            cells, size = self._axis(axis).cells, self._axis(axis).size
            starts = [float(low) for low, _ in cells] if self._is_ordered(axis) else list(range(len(cells)))
            self._orders[axis] = sorted(range(size), key=lambda k: starts[k] if k < len(cells) else math.inf)
        return self._orders[axis]

    def _run(self, axis: str, name: str, start: int, stop: int) -> Part:
        parts = self._part(axis, name)
        if start == stop:
            return parts[start]
        column, cells = name.format(axis), self._axis(axis).cells
        (first, open_), (last, end) = cells[start], cells[stop]
        lower = (
            RecordCondition(column, "<", _exact(first), False)
            if first == open_
            else RecordCondition(column, "<=", self._ends(axis, first, open_)[0], False)
        )
        upper = (
            RecordCondition(column, "<=", _exact(end), True)
            if last == end
            else RecordCondition(column, "<", self._ends(axis, last, end)[1], True)
        )
        order = self._order(axis)
        reached = (
            start == order[0],
            stop == order[len(self._axis(axis).cells) - 1],
        )  # an end of the domain, beyond which there is nothing
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
        conditions = self._parts.get((axis, name))
        if conditions is None:
            declared, column = self._domain(axis), name.format(axis)
            self.columns[column] = column_domain(declared)
            conditions = []
            for low, high in self._axis(axis).cells:
                if low == high:
                    conditions.append(frozenset((RecordCondition(column, "==", _exact(low), True),)))
                    continue
                ends = self._ends(axis, low, high)
                conditions.append(
                    frozenset(
                        (RecordCondition(column, "<=", ends[0], False), RecordCondition(column, "<", ends[1], True))
                    )
                )
            if declared.missing:
                conditions.append(frozenset((RecordCondition(column, "missing", None, True),)))
            self._parts[axis, name] = conditions
        return conditions

    def _ends(self, axis: str, low: Any, high: Any) -> tuple[Fraction, Fraction]:
        declared = self._domain(axis)
        points = sorted({declared.low, declared.high, *self._cuts.get(axis, ())})
        return _exact(max(each for each in points if each < low)), _exact(min(each for each in points if each > high))


def _starts(dearest: Sequence[Sequence[Any]], cells: int, stay: Sequence[bool], *, only_into_these: bool) -> list[int]:
    """Return where blocks of neighbouring cells begin, in each of which one cell is the dearest.

    Args:
        dearest: sums that hang on one record each, as what makes it dearer: tables with the cells first.
        cells: so many may be joined; what follows is the missing value.
        stay: which of all may not be joined with a dearer one.
        only_into_these: whether others are joined with one of these alone.
    """

    def takes(tables: Sequence[Any], one: int, other: int) -> bool:
        return not stay[other] and stay[one] >= only_into_these and _covers(tables, one, other)

    starts, best = [0], [0] * len(dearest)
    for place in range(1, len(stay)):
        further = [
            one if takes(tables, one, place) else place if takes(tables, place, one) else None
            for tables, one in zip(dearest, best, strict=True)
        ]
        if place >= cells or None in further:
            starts.append(place)
            best = [place] * len(dearest)
        else:
            best = [one for one in further if one is not None]
    return starts


def _covers(tables: Sequence[Any], one: int, other: int) -> bool:
    """Whether one cell is as dear as another, or less by the next float alone, at which an open cell begins."""
    return all(bool(np.all(each[one] >= each[other] - 2 * np.spacing(np.abs(each[other])))) for each in tables)


def _exact(value: Any) -> Any:
    if isinstance(value, bool | str):
        return value
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return Fraction(value) if isinstance(value, int) else Fraction(repr(float(value)))  # floats apart stay apart


@functools.lru_cache(maxsize=10_000, typed=True)
def outward(value: float, sign: int) -> Fraction:
    """Return what a record adds at most (sign 1) or at least (-1), with few digits."""
    exact = simple(value)
    if exact.denominator <= _FINEST and abs(exact.numerator) < _FINEST**2:
        return exact
    whole = exact * _FINEST
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
    if isinstance(movement, BallMove):
        return {"ball": _term(movement.part, -movement.radius, movement.radius, columns)}
    return {"terms": [_term(each.part, each.low, each.high, columns) for each in movement.terms], "bent": []}


def _term(part: Part, low: Fraction, high: Fraction, columns: Mapping[str, int]) -> dict[str, Any]:
    listed = sorted((_condition(each, columns) for each in part), key=repr)
    return {"if": listed, "low": str(low), "high": str(high)}


def _condition(condition: RecordCondition, columns: Mapping[str, int]) -> list[Any]:
    operand = None if condition.operator == "missing" else _point(condition.operand)
    return [columns[condition.column], condition.operator, operand, condition.holds]


# --- What does a function release of its records? Noise on numbers, and how far each kind of record moves them. ---

Operator = Literal["<", "<=", "==", "missing"]


class NoBoundError(Exception):
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
class RecordCondition:
    """What holds of a record: a test of one of its columns comes out true, or not."""

    column: str  # its name
    operator: Operator  # "<", "<=" and "==" with the operand, which a missing value never meets, or "missing"
    operand: Any  # a fraction, a text or a truth value; None for "missing"
    holds: bool  # whether the test comes out true


Part = frozenset[RecordCondition]
"""Records that meet all of these conditions."""


@dataclass(frozen=True, slots=True)
class ReadTerm:
    """What one record adds to a number if it meets all conditions: something from low to high."""

    part: Part
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class LinearMove:
    """How a number moves: the sum of what a record adds in all terms."""

    terms: tuple[ReadTerm, ...]


@dataclass(frozen=True, slots=True)
class BallMove:
    """How an array moves: by a vector of at most this Euclidean length, if the record meets all conditions."""

    part: Part
    radius: Fraction


Movement = LinearMove | BallMove


@dataclass(frozen=True, slots=True)
class Sample:
    """A Poisson sample: each record is in it with this probability, by itself."""

    number: int  # which sample of the path; each is drawn afresh
    rate: Fraction  # the probability
    times: int  # how often it is drawn (`Noise.repeat`)


@dataclass(frozen=True, slots=True)
class ReadRelease:
    """Noise on private numbers, or a choice by private scores."""

    law: str  # of the noise, by its name in `dpaudit.program.laws`; "select" for the exponential mechanism
    scale: Fraction  # of the noise; 1/rate for "select"
    values: tuple[Movement, ...]  # what moves: the numbers that the noise was added to, or the scores
    sample: Sample | None  # what they are made of; None for all records
    times: int  # how often this is done (`Noise.repeat`)
    line: str = field(compare=False)  # where it is done
    details: tuple[tuple[str, Fraction], ...] = ()  # further numbers of the law, by name


@dataclass(frozen=True, slots=True)
class Releases:
    """What a function releases."""

    paths: tuple[tuple[ReadRelease, ...], ...]  # the releases of each path, without repetitions
    read: int  # how many paths were read
    columns: Mapping[str, ColumnDomain]  # the columns that conditions name, with what they may hold


def conditions_of(movement: Movement) -> Iterator[RecordCondition]:
    """Yield all conditions that a movement depends on."""
    if isinstance(movement, BallMove):
        yield from movement.part
        return
    for term in movement.terms:
        yield from term.part
