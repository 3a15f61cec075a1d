"""What is a dataset to the code that changes it? Records with columns, and parts that another dataset is built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from dpaudit.errors import UsageError


class Sort(Enum):
    """What kind of values a column holds."""

    WHOLE = "whole numbers"
    REAL = "numbers"
    TEXT = "texts"
    TRUTH = "true and false"
    CHOICE = "categories"
    TIME = "times"
    OTHER = "objects"

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self in (Sort.WHOLE, Sort.REAL)


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()  # for "no such value", where None is a value


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a dataset."""

    name: Any  # None if the records are plain values
    sort: Sort  # what it holds
    # limits its numbers and the length of its texts; None if Python's own types do not
    dtype: np.dtype[Any] | None = None
    choices: tuple[Any, ...] = ()  # the categories, if its type lists them
    missing: Any = ABSENT  # how a missing value is written, if the column holds one already; else `ABSENT`

    @property
    def title(self) -> str:
        """Its name in a sentence."""
        if self.name is None:
            return "the value"
        return f"column {self.name}" if isinstance(self.name, int) else str(self.name)

    def cast(self, value: Any) -> Any:
        """Return a value of ours in the type of the column; missing values and categories stay as they are."""
        if self.dtype is not None and self.dtype.kind in "iufbUM":
            return np.array([value]).astype(self.dtype)[0]
        if self.sort is Sort.REAL:
            return float(value)
        return int(value) if self.sort is Sort.WHOLE else value

    @property
    def ends(self) -> tuple[Any, Any]:
        """The smallest and the largest number of its type; very far ends for Python's integers, which have none."""
        if self.sort is Sort.REAL:
            dtype = self.dtype if self.dtype is not None and self.dtype.itemsize < 8 else np.dtype(np.float64)
            most = float(np.finfo(dtype).max)
            return -most, most
        if self.dtype is not None:
            return int(np.iinfo(self.dtype).min), int(np.iinfo(self.dtype).max)
        return -(10**300), 10**300

    @property
    def width(self) -> int | None:
        """The largest number of characters of its texts; None without a limit."""
        return self.dtype.itemsize // 4 if self.dtype is not None and self.dtype.kind == "U" else None

    @property
    def plain(self) -> Any:
        """A harmless value, for records that are not based on another."""
        if self.sort is Sort.CHOICE:
            return self.choices[0] if self.choices else None
        if self.sort is Sort.TIME and self.dtype is not None:
            return np.array([0]).astype(self.dtype)[0]
        return {Sort.WHOLE: 0, Sort.REAL: 0.0, Sort.TEXT: "", Sort.TRUTH: False}.get(self.sort)


@dataclass(frozen=True, slots=True)
class Made:
    """A new record: like the one at a place (or like none), except in some of its columns.

    ``fields`` holds the new values by the numbers of their columns.
    """

    like: int | None
    fields: Mapping[int, Any] = field(default_factory=dict)


Part = slice | np.ndarray[Any, Any] | Sequence[Made]


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    try:
        return value is None or not bool(value == value)
    except (TypeError, ValueError):  # comparing NA gives NA; an array is not a single value
        return not isinstance(value, np.ndarray)


class Dataset:
    """A user's data as records with columns. ``size`` is the number of records."""

    data: Any
    size: int
    columns: tuple[Column, ...]

    def values(self, column: int) -> Any:
        """Return the values of a column, in the order of the records, as a list or an array."""
        raise NotImplementedError

    def value(self, place: int, column: int) -> Any:
        """Return one value as it is in the data."""
        raise NotImplementedError

    def build(self, parts: Sequence[Part]) -> Any:
        """Return data of the same kind, assembled from parts: own records, by their places, and made ones.

        All records in their order are the user's own object.
        """
        full = [part for part in parts if not isinstance(part, slice) or part.start < part.stop]
        if len(full) == 1 and isinstance(full[0], slice) and full[0] == slice(0, self.size):
            return self.data
        return self._built(full)

    def _built(self, parts: Sequence[Part]) -> Any:
        raise NotImplementedError

    def numbered(self, name: str) -> int:
        """Return the number of the column with this name; raises `UsageError` with the existing names."""
        for number, column in enumerate(self.columns):
            if column.name is not None and str(column.name) == str(name):
                return number
        names = ", ".join(repr(str(column.name)) for column in self.columns if column.name is not None)
        known = f"the data have {names}" if names else "the data have no columns with names"
        raise UsageError(f"no column {str(name)!r}: {known}")

    def made_fields(self, made: Made) -> list[Any]:
        """Return a made record's values, column by column."""
        return [
            made.fields[number]
            if number in made.fields
            else column.plain
            if made.like is None
            else self.value(made.like, number)
            for number, column in enumerate(self.columns)
        ]


def taken_places(parts: Sequence[Part], size: int) -> set[int]:
    """Return the places that made records are based on and that no own record occupies any more."""
    like = {made.like for part in parts if is_made(part) for made in part if made.like is not None}  # type: ignore[union-attr]
    for part in parts:
        if isinstance(part, slice):
            like = {place for place in like if not part.start <= place < part.stop}
        elif isinstance(part, np.ndarray):
            like -= set(np.array(sorted(like), dtype=np.intp)[np.isin(sorted(like), part)].tolist())
    return like


def is_made(part: Part) -> bool:
    """Whether a part holds made records."""
    return not isinstance(part, slice | np.ndarray)


def array_sort(dtype: np.dtype[Any]) -> Sort:
    """Return what an array of this dtype holds."""
    by_kind = {"b": Sort.TRUTH, "i": Sort.WHOLE, "u": Sort.WHOLE, "f": Sort.REAL, "U": Sort.TEXT, "T": Sort.TEXT}
    return Sort.TIME if dtype.kind == "M" else by_kind.get(dtype.kind, Sort.OTHER)
