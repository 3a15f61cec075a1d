"""Which values may a column hold, and is each of them in one of the cells that it is cut into?

A cell is a point, all numbers strictly between two ends, all whole numbers from one to another, or the missing value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.ranges import Number, Range, Value, plain
from dpaudit.checker.reading import CertificateError, ForgedError, fields, items, rational, shown, text
from dpaudit.checker.records import MOST_COLUMNS, point

MOST_CELLS = 10_000  # of a column
_TYPES = {"int64": "number", "float64": "number", "text": "text", "truth": "truth", "match": "number"}
_TAGS = {"number": Fraction, "text": str, "truth": bool}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the declared domain.

    Attributes:
        name: as the data call it.
        type: "number", "text" or "truth".
        whole: whether all of its numbers are whole.
        match: whether it is no column of the data, but numbers the rows of a table that a record matches.
        cells: the values of each cell, as a point or a range; None where no expression uses the column.
        told: what it may hold, as the certificate says it.
    """

    name: str
    type: str
    whole: bool
    match: bool
    cells: tuple[Value, ...] | None
    told: dict[str, Any]


def read_columns(value: object) -> list[Column]:
    """Return the columns that a certificate lists.

    Raises:
        ForgedError: if the cells of a column are not disjoint, or do not cover what it may hold.
        CertificateError: if a column is not in this format.
    """
    found = [_column(each, f"column {number}") for number, each in enumerate(items(value, "columns", MOST_COLUMNS))]
    if len({each.name for each in found}) < len(found):
        raise CertificateError("columns: two of them have one name")
    return found


def _column(value: object, where: str) -> Column:
    given = fields(value, {"name", "type", "low", "high", "values", "missing", "cells"}, where)
    name, kind = text(given["name"], f"{where}: name"), given["type"]
    if type(kind) is not str or kind not in _TYPES:
        raise CertificateError(f"{where}: no type {shown(kind)}; known are {', '.join(_TYPES)}")
    if type(given["missing"]) is not bool:
        raise CertificateError(f"{where}: missing is true or false")
    if given["missing"] and kind not in ("float64", "text"):
        raise CertificateError(f"{where}: a column of type {kind} has no missing values")
    low, high = (None if given[end] is None else rational(given[end], f"{where}: {end}") for end in ("low", "high"))
    if low is not None and high is not None and low > high:
        raise CertificateError(f"{where}: its low end is above its high end")
    listed = None
    if given["values"] is not None:
        listed = [point(each, where) for each in items(given["values"], f"{where}: values", MOST_CELLS, 1)]
        if any(type(each) is not _TAGS[_TYPES[kind]] for each in listed) or len(set(listed)) < len(listed):
            raise CertificateError(f"{where}: its values are of type {kind}, each of them once")
    if (low, high) != (None, None) and (listed is not None or _TYPES[kind] != "number"):
        raise CertificateError(f"{where}: numbers have ends or values, not both, and nothing else has ends")
    if kind == "int64" and any(each is not None and each.denominator > 1 for each in (low, high, *_numbers(listed))):
        raise CertificateError(f"{where}: its values and its ends are whole numbers")
    cells = None
    if given["cells"] is not None:
        members = items(given["cells"], f"{where}: cells", MOST_CELLS, 1)
        cells = tuple(_cell(each, kind, f"{where}: a cell") for each in members)
        _cover(cells, kind, (low, high), listed, given["missing"], where)
    if kind == "match" and (cells is None or cells != tuple(range(len(cells))) or listed is not None):
        raise CertificateError(f"{where}: the cells of a match are 0, 1, and so on")
    points = cells or ()
    whole = kind in ("int64", "match") or (
        kind == "float64" and bool(points) and all(type(cell) is int or cell is None for cell in points)
    )
    told = {key: given[key] for key in ("name", "type", "low", "high", "values", "missing")}
    return Column(name, _TYPES[kind], whole, kind == "match", cells, told)


def _numbers(values: list[Any] | None) -> list[Fraction]:
    return [each for each in values or () if type(each) is Fraction]


def _cell(value: object, kind: str, where: str) -> Value:
    members = items(value, where, 3, 1)
    if members == ["missing"]:
        return None
    if members[0] in ("open", "range") and type(members[0]) is str and len(members) == 3:
        if members[0] != {"float64": "open", "int64": "range"}.get(kind):
            raise CertificateError(f"{where}: {members[0]!r} in a column of type {kind}")
        ends = [None if each is None else plain(rational(each, where)) for each in members[1:]]
        low, high = (-math.inf if ends[0] is None else ends[0]), (math.inf if ends[1] is None else ends[1])
        if low >= high or (kind == "int64" and any(type(each) is Fraction for each in ends)):
            raise CertificateError(f"{where}: from {members[1]} to {members[2]} is no {members[0]} cell")
        if kind == "float64":
            return Range(low, high, True, True)
        return Range(low, high, low == -math.inf, high == math.inf)
    found = point(members, where)
    if type(found) is not _TAGS[_TYPES[kind]]:
        raise CertificateError(f"{where}: a column of type {kind} has no such value")
    return plain(found) if type(found) is Fraction else found


def _cover(
    cells: tuple[Value, ...],
    kind: str,
    ends: tuple[Fraction | None, Fraction | None],
    listed: list[Any] | None,
    missing: bool,
    where: str,
) -> None:
    """Raise unless the cells are disjoint and cover what the column may hold, and nothing else."""
    if sum(cell is None for cell in cells) != missing:
        raise ForgedError(f"{where}: there is one cell of missing values where there may be any, and else none")
    present = [cell for cell in cells if cell is not None]
    if kind == "truth" and listed is None:
        listed = [False, True]
    if kind == "text" and listed is None:
        raise ForgedError(f"{where}: texts that are not listed have no cells")
    if listed is not None:
        if any(type(cell) is Range for cell in present) or len(present) != len(listed) or set(present) != set(listed):
            raise ForgedError(f"{where}: its cells are not its values, each of them once")
        return
    if not present:
        raise ForgedError(f"{where}: its cells hold no numbers")
    ordered = sorted((Range.of(cell) for cell in present), key=_place)
    follows: Callable[[Range, Range], bool] = _next_whole if kind in ("int64", "match") else _next
    low, high = (-math.inf if ends[0] is None else ends[0]), (math.inf if ends[1] is None else ends[1])
    first, last = ordered[0], ordered[-1]
    at_ends = (first.low, last.high) == (low, high) and not (
        (first.low_open and ends[0] is not None) or (last.high_open and ends[1] is not None)
    )
    if not at_ends or not all(follows(one, other) for one, other in itertools.pairwise(ordered)):
        raise ForgedError(f"{where}: its cells are not disjoint, or do not cover all from {low} to {high}")


def _place(cell: Range) -> tuple[Number, bool]:
    return cell.low, cell.low_open


def _next(one: Range, other: Range) -> bool:
    """Whether a cell begins where another ends: one of both holds the number between them."""
    return one.high == other.low and one.high_open is not other.low_open


def _next_whole(one: Range, other: Range) -> bool:
    return bool(other.low == one.high + 1)
