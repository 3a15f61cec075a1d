"""Which records does a declared domain allow, and which of them are told apart?

A column is an *axis* of cells: listed values, and of ranges points and the open intervals between them, cut where the
function compares. Records that are in the same cells of all columns that are looked at are one kind. A *space* holds
the kinds that some rows can have, over the columns that meet in it: columns that are never used together need no
product.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpaudit.neighbours.domain import ListedValues, Range, allowed_of
from dpaudit.reading.universe.state import refuse
from dpaudit.reading.universe.steps import is_match

MOST_KINDS = 2_000_000
UNREAD = "unread"
"""The kind of a column that the data have and the domain does not declare: a reading refuses to look at it."""

_LISTED = 2_000  # whole numbers of a range that are listed one by one

Ids = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Declared:
    """What one column may hold."""

    name: str  # of the column
    kind: str  # "int64", "float64", "text", "truth", "time" or `UNREAD`
    # low, high: ends of a range; None where values are listed
    low: Any = None
    high: Any = None
    values: tuple[Any, ...] | None = None  # what is listed, without the missing value; None of a range
    missing: bool = False  # whether a value may be missing

    @property
    def count(self) -> float:
        """How many values it may hold, a missing one among them; infinity where they are not listed."""
        return math.inf if self.values is None else len(self.values) + self.missing

    def __str__(self) -> str:
        also = " or missing" if self.missing else ""
        if self.values is None:
            return f"{self.name}: {self.kind} from {self.low} to {self.high}{also}"
        shown = ", ".join(map(str, self.values[:6])) + (", …" if len(self.values) > 6 else "")
        return f"{self.name}: {self.kind}, one of {shown}{also}"


def declared(name: str, given: Any, dtype: Any = None) -> Declared:
    """Read what a column may hold."""
    from dpaudit.errors import UsageError

    allowed = allowed_of(given, f"the domain of {name!r}")
    if isinstance(allowed, Range):
        ends = [allowed.low, allowed.high]
        if any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
            raise UsageError(f"the domain of {name!r} has the ends {ends[0]!r} and {ends[1]!r}; give numbers")
        if dtype is not None and np.dtype(dtype).kind in "iu" and not allowed.missing:
            low, high = math.ceil(allowed.low), math.floor(allowed.high)
            if high - low < _LISTED:
                return Declared(name, "int64", values=tuple(range(low, high + 1)))
            return Declared(name, "int64", low, high)
        return Declared(name, "float64", float(allowed.low), float(allowed.high), missing=allowed.missing)
    assert isinstance(allowed, ListedValues)
    present = [value for value in allowed.values if value is not None and value == value]
    missing = len(present) < len(allowed.values)
    sorts = {_sort_of(value) for value in present}
    if sorts == {"int64", "float64"}:
        sorts = {"float64"}
    if len(sorts) != 1 or None in sorts:
        raise UsageError(
            f"the domain of {name!r} lists values of several types, or of one that is not known: {given!r:.60}"
        )
    (kind,) = sorts
    if kind == "int64" and (missing or (dtype is not None and getattr(dtype, "kind", "") == "f")):
        kind = "float64"  # as pandas does
    assert kind is not None
    if kind == "truth" and missing:
        raise UsageError(
            f"the domain of {name!r} has truth values that may be missing, whose type in a data frame is not one of "
            "its own; use 0.0 and 1.0, or texts"
        )
    if kind == "float64":
        present = [float(value) for value in present]
    return Declared(name, kind, values=tuple(present), missing=missing)


def place_of(name: str) -> Declared:
    """Return what a column holds that says which of several places is the smallest or largest of a record's row."""
    return Declared(name, "int64", values=tuple(range(int(name.rpartition(" of ")[2]))))


def _sort_of(value: Any) -> str | None:
    if isinstance(value, bool | np.bool_):
        return "truth"
    if isinstance(value, int | np.integer):
        return "int64"
    if isinstance(value, float | np.floating):
        return "float64" if math.isfinite(value) else None
    if isinstance(value, str):
        return "text"
    return "time" if isinstance(value, pd.Timestamp | np.datetime64) else None


class Axis:
    """The cells of a column: (low, high), one value where both are the same; the last one is the missing value."""

    def __init__(self, column: Declared, cuts: Iterable[float]) -> None:
        self.column = column
        cells: list[tuple[Any, Any]]
        if column.values is not None:
            cells = [(value, value) for value in column.values]
        else:
            inside = sorted({cut for cut in cuts if column.low < cut < column.high})
            points = [column.low, *inside, column.high]
            cells = [(points[0], points[0])]
            for low, high in itertools.pairwise(points):
                first, last = self._after(low), self._before(high)
                if first <= last:
                    cells.append((first, last))
                if high > low:
                    cells.append((high, high))
            if column.kind == "int64":
                cells = [each for each in cells if each[0] == int(each[0])]
        self.cells = cells
        self.size = len(cells) + column.missing
        self.low = self._series([low for low, _ in cells])
        self.is_exact = all(low == high for low, high in cells)
        self.high = self.low if self.is_exact else self._series([high for _, high in cells])

    def _after(self, value: Any) -> Any:
        return math.floor(value) + 1 if self.column.kind == "int64" else math.nextafter(value, math.inf)

    def _before(self, value: Any) -> Any:
        return math.ceil(value) - 1 if self.column.kind == "int64" else math.nextafter(value, -math.inf)

    def _series(self, values: list[Any]) -> Any:
        kind, missing = self.column.kind, self.column.missing
        if kind == "text":
            return pd.Series([*values, None] if missing else values, dtype="str")
        if kind == "time":
            return pd.Series(pd.to_datetime([*values, None] if missing else values))
        dtype = {"int64": "int64", "float64": "float64", "truth": "bool"}[kind]
        return pd.Series([*values, math.nan] if missing else values, dtype=dtype)


@dataclass
class CellAxes:
    """All axes of a reading: the domain, cut where the function compares."""

    columns: Mapping[str, Declared]
    cuts: Mapping[str, frozenset[float]]
    axes: dict[str, Axis] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    rows: Any = None  # of the data
    _matches: int = 0

    def axis(self, name: str) -> Axis:
        """Return the cells of a column."""
        cells_of = self.axes.get(name)
        if cells_of is None:
            if self.columns[name].kind == UNREAD:
                refuse(
                    f"the column {name!r:.40}, of which the domain says nothing",
                    f"--domain '{name}=…', which says what it may hold, or before it df[[NAMES]] without it",
                )
            cells_of = self.axes[name] = Axis(self.columns[name], self.cuts.get(name, ()))
            self.sizes[name] = cells_of.size
        return cells_of

    def match(self, size: int) -> str:
        """Return a new axis that tells rows of one record apart: which of so many."""
        self._matches += 1
        name = f"=match {self._matches}"
        self.sizes[name] = size
        return name

    def whole(self, axes: Sequence[str]) -> Space:
        """Return the space of all combinations of cells."""
        shape = tuple(self.sizes[name] for name in axes)
        if math.prod(shape) > MOST_KINDS:
            refuse_size(axes, math.prod(shape))
        codes = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), np.intp)
        return Space(self, tuple(axes), codes)


def refuse_size(axes: Iterable[str], kinds: float) -> None:
    """Refuse columns that are looked at together, and have too many kinds of records."""
    columns = ", ".join(name for name in axes if not is_match(name))
    refuse(
        f"{kinds:.1g} kinds of records ({columns} are looked at together); at most {MOST_KINDS:,} are told apart",
        "declare fewer values of these columns, or bin them before they meet",
    )


class Space:
    """The kinds that some rows can have: for each the number of its cell on every axis.

    Attributes:
        axes: names of columns, and of matches (`is_match`), which tell several rows of one record apart.
        codes: (axes, kinds).
    """

    def __init__(self, universe: CellAxes, axes: tuple[str, ...], codes: Any) -> None:
        self.universe, self.axes, self.codes = universe, axes, codes

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def take(self, places: Ids) -> Space:
        """Return some of the kinds."""
        return Space(self.universe, self.axes, self.codes[:, places])

    def same(self, other: Space) -> bool:
        """Whether both hold the same kinds, in the same order."""
        return self is other or (self.axes == other.axes and np.array_equal(self.codes, other.codes))

    def keys(self, axes: Sequence[str]) -> Ids:
        """Return a number for each kind that says its cells on some axes."""
        keys = np.zeros(len(self), np.intp)
        for name in axes:
            keys = keys * self.universe.sizes[name] + self.codes[self.axes.index(name)]
        return keys

    def join(self, other: Space) -> tuple[Space, Ids, Ids]:
        """Return the kinds of both, alike where both have an axis, and where each came from."""
        if self.same(other):
            every = np.arange(len(self))
            return self, every, every
        common = [name for name in self.axes if name in other.axes]
        if not common:
            if len(self) * len(other) > MOST_KINDS:
                refuse_size((*self.axes, *other.axes), len(self) * len(other))
            mine = np.repeat(np.arange(len(self)), len(other))
            theirs = np.tile(np.arange(len(other)), len(self))
        else:
            first, second = self.keys(common), other.keys(common)
            order = np.argsort(second, kind="stable")
            start = np.searchsorted(second[order], first, "left")
            stop = np.searchsorted(second[order], first, "right")
            many = stop - start
            if many.sum() > MOST_KINDS:
                refuse_size((*self.axes, *other.axes), float(many.sum()))
            mine = np.repeat(np.arange(len(self)), many)
            within = np.arange(len(mine)) - np.repeat(np.cumsum(many) - many, many)
            theirs = order[np.repeat(start, many) + within]
        more = [name for name in other.axes if name not in self.axes]
        codes = np.concatenate(
            [self.codes[:, mine], *(other.codes[[other.axes.index(name)]][:, theirs] for name in more)]
        )
        return Space(self.universe, (*self.axes, *more), codes), mine, theirs

    def records(self) -> tuple[tuple[str, ...], Ids]:
        """Return the columns among the axes, and for each kind its number in their whole product."""
        axes = tuple(sorted(name for name in self.axes if not is_match(name)))
        if math.prod(self.universe.sizes[name] for name in axes) > MOST_KINDS:
            refuse_size(axes, math.prod(self.universe.sizes[name] for name in axes))
        return axes, self.keys(axes)


def simple(value: Any) -> Fraction:
    """Return the simplest fraction that a float may stand for: within four units in its last place.

    A proof is about exact numbers: 1/3 that was rounded to a float is read as 1/3, and .1 as 1/10.
    """
    if isinstance(value, int | Fraction | np.integer) and not isinstance(value, bool):
        return Fraction(int(value)) if not isinstance(value, Fraction) else value
    number = float(value)
    exact = Fraction(number)
    near = exact.limit_denominator(1_000_000)
    if abs(near - exact) <= abs(exact) * Fraction(4, 2**52):
        return near
    return Fraction(repr(number))
