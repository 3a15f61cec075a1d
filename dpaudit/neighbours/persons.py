"""Which records belong to the same person? Each record is a person's only one, unless a column names the person."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.candidates.edge_values import form_of, new_texts
from dpaudit.neighbours.dataset import Dataset, Sort, is_missing
from dpaudit.neighbours.domain import Allowed

Places = tuple[int, ...]
_NAMES = 100  # new names found at once
_SHOWN = 5  # largest number of records that a description lists


class People:
    """The people of a dataset, and names for additional ones.

    Attributes:
        column: the number of the column that names them; None if each record is one person.
        usable: (size,) which records may be changed; a person may be changed if all of their records may.
    """

    def __init__(self, dataset: Dataset, column: int | None, usable: np.ndarray[Any, Any]) -> None:
        self.column, self.usable, self._dataset = column, usable, dataset
        if column is None:
            return
        self._codes, self._names = _coded(dataset, column)
        self._order = np.argsort(self._codes, kind="stable")
        self._counts = np.bincount(self._codes)
        self._starts = np.cumsum(self._counts) - self._counts
        spoilt = np.zeros(len(self._counts), dtype=bool)
        spoilt[self._codes[~usable]] = True
        self.usable = ~spoilt[self._codes]
        self._new: list[Any] = []

    def of(self, place: int) -> Places:
        """Return the places of all records of the person at a place."""
        if self.column is None:
            return (place,)
        start, count = (int(known[self._codes[place]]) for known in (self._starts, self._counts))
        return tuple(self._order[start : start + count].tolist())

    def named(self, place: int) -> bool:
        """Whether a record names its person; a record without a name is a person of its own."""
        return self.column is not None and int(self._codes[place]) < len(self._names)

    def words(self, people: Sequence[Places]) -> str:
        """Describe people, or records, by their places, without any value of the data."""
        names = [f"record {own[0]}" if self.column is None else f"the person of record {own[0]}" for own in people]
        if len(names) > _SHOWN:
            names = [*names[: _SHOWN - 1], f"{len(names) - _SHOWN + 1} more"]
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

    def together(self, places: Sequence[int], steps: int) -> list[Places]:
        """Return as many people as a group has: those at the places, and then those who follow the first."""
        size = self._dataset.size
        found: dict[int, Places] = {}
        after = ((places[0] + step) % size for step in range(size)) if len(places) else ()
        for place in itertools.chain(places, after):
            if len(found) == steps:
                break
            if self.usable[place]:
                own = self.of(place)
                found.setdefault(own[0], own)
        return list(found.values())

    def sample(self, limit: int, rng: np.random.Generator) -> list[int]:
        """Return the place of each person's first record in a random order, at most ``limit`` of them."""
        places = np.flatnonzero(self.usable)
        if self.column is not None:
            first = self._order[self._starts]
            places = np.sort(first[self.usable[first]])
        return [int(place) for place in rng.choice(places, min(limit, len(places)), replace=False)]

    def new(self, count: int, allowed: Allowed | None = None) -> list[Any]:
        """Return names that are not in the data; fewer than ``count`` if there are no more."""
        if self.column is None:
            return [None] * count
        if len(self._new) < count:
            self._new = self._found(max(count, _NAMES), allowed)
        return self._new[:count]

    def _found(self, count: int, allowed: Allowed | None) -> list[Any]:
        column, taken = self._dataset.columns[self.column or 0], set(self._names)
        more: Iterator[Any] = iter(())
        if column.sort.numeric:
            known = [name for name in taken if not isinstance(name, bool) and isinstance(name, int | float)]
            start = int(min(max([0, *known]) + 1, column.ends[1] - count))
            more = itertools.chain(range(start, start + count), range(1, len(taken) + count + 1))
            more = (number for number in more if number <= column.ends[1])
        elif column.sort is Sort.CHOICE:
            more = iter(column.choices)
        elif column.sort is Sort.TEXT or not self._dataset.size:
            more = new_texts("new person", form_of(self._names), len(taken) + count, column.width)
        proposed = more if allowed is None else itertools.chain(getattr(allowed, "values", ()), more)
        free = (name for name in proposed if name not in taken and (allowed is None or name in allowed))
        return [column.cast(name) for name in dict.fromkeys(itertools.islice(free, 2 * count))][:count]


def _coded(dataset: Dataset, column: int) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """Number the people: the person of each record, (size,), and their names; records without a name come last."""
    values = dataset.values(column)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        unique, codes = np.unique(values, return_inverse=True)
        return codes, unique.tolist()
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    typed = len({type(value) for value in values if not is_missing(value)}) > 1
    known: dict[Any, int] = {}
    found: list[int] = []
    for value in values:
        try:
            key = (type(value), value) if typed else value
            found.append(-1 if is_missing(value) else known.setdefault(key, len(known)))
        except TypeError:
            title = dataset.columns[column].title
            what = f"the column {title!r} names a person by a {type(value).__name__}; numbers and texts can"
            raise UsageError(what) from None
    codes = np.array(found, dtype=np.intp)
    nobody = np.flatnonzero(codes < 0)
    codes[nobody] = len(known) + np.arange(len(nobody))
    return codes, [key[1] for key in known] if typed else list(known)
