"""Which simpler pairs of neighbours can be made from a pair? For shrinking a pair that reveals much.

Records that both sides share are dropped, many at once and then fewer; steps of a group are undone; remaining records
are made alike, column by column; answers are dropped, or set to 0. A column never gets a value that it did not hold
before, so data within a domain stay there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.dataset import Single, dataset_of
from dpaudit.neighbours.difference import Difference, difference
from dpaudit.neighbours.digest import digest
from dpaudit.neighbours.records import Dataset, Made, Part
from dpaudit.neighbours.relation import Relation, parse_relation

_FEW = 50  # largest number of common records that are made alike
_ORDERED = 2  # smallest number of common records that can have another order

Pair = tuple[Any, Any]
Sides = tuple[Dataset, Dataset]


def smaller(pair: Pair, relation: Relation | str) -> Iterator[Pair]:
    """Yield simpler pairs of the same relation, the boldest simplification first; each is a pair of neighbours.

    To shrink a pair, take the first that still does what the pair did, and call this again with that one. This ends,
    because every step leaves fewer records or answers, or fewer differences between them.
    """
    relation = parse_relation(relation)
    if relation.kind == "queries":
        found = _of_answers(*pair)
    elif relation.kind == "declared":
        found = iter(())
    else:
        found = _of_records(*pair)
    return (simpler for simpler in found if relation.accepts(*simpler))


# --- records ---


def _of_records(data0: Any, data1: Any) -> Iterator[Pair]:
    apart = difference(data0, data1)
    if apart is None:
        return
    try:
        sides = (dataset_of(data0), dataset_of(data1))
    except UsageError:
        return
    if any(isinstance(side, Single) for side in sides):
        return
    none = np.array([], dtype=np.intp)
    for start, stop in _pieces(len(apart.common[0])):
        yield _without(sides, *(places[start:stop] for places in apart.common))
    for start, stop in _pieces(max(len(apart.gone), len(apart.come))):
        gone, come = (np.array(places[start:stop], dtype=np.intp) for places in (apart.gone, apart.come))
        for less in ((gone, come), (gone, none), (none, come)):
            if len(less[0]) + len(less[1]):
                yield _without(sides, *less)
    yield from _in_order(sides, apart)
    if [(own.name, own.sort) for own in sides[0].columns] == [(own.name, own.sort) for own in sides[1].columns]:
        yield from _alike(sides, apart)


def _pieces(count: int) -> Iterator[tuple[int, int]]:
    """Slices of so many items: all of them, each half, each quarter, down to each single one."""
    pieces = 1
    while count:
        edges = np.linspace(0, count, min(pieces, count) + 1).astype(int).tolist()
        yield from itertools.pairwise(edges)
        if pieces >= count:
            return
        pieces *= 2


def _without(sides: Sides, gone: Any, come: Any) -> Pair:
    made = [
        side.build([np.delete(np.arange(side.size), places)]) if len(places) else side.data
        for side, places in zip(sides, (gone, come), strict=True)
    ]
    return made[0], made[1]


def _in_order(sides: Sides, apart: Difference) -> Iterator[Pair]:
    """With the common records in the order of side 0, followed by new ones, if side 1 has another order."""
    own, other = apart.common
    if isinstance(sides[1].data, set | frozenset):
        return
    if len(own) >= _ORDERED and np.any(np.diff(other) < 0):
        yield sides[0].data, sides[1].build([np.concatenate([other, np.array(apart.come, dtype=np.intp)])])


def _alike(sides: Sides, apart: Difference) -> Iterator[Pair]:
    """With one column less in which records differ: new records like old ones, new or common ones like a common."""
    columns = range(len(sides[0].columns))
    if len(columns) > 1:
        for old, new in zip(apart.gone, apart.come, strict=False):
            for number in columns:
                yield from _set(sides, ((), (new,)), number, sides[0].value(old, number))
    if not 0 < len(apart.common[0]) <= _FEW:
        return
    first = int(apart.common[0][0])
    for number in columns:
        value = sides[0].value(first, number)
        yield from _set(sides, (apart.common[0].tolist(), apart.common[1].tolist()), number, value)
        if len(columns) > 1:
            yield from _set(sides, (apart.gone, apart.come), number, value)


def _set(sides: Sides, places: tuple[Sequence[int], Sequence[int]], number: int, value: Any) -> Iterator[Pair]:
    """Both sides with one value at all these places, if any place held another."""
    same = digest(value)
    differing = [
        [place for place in own if digest(side.value(place, number)) != same]
        for side, own in zip(sides, places, strict=True)
    ]
    if not any(differing):
        return
    made = []
    for side, own in zip(sides, differing, strict=True):
        parts: list[Part] = []
        start = 0
        for place in sorted(own):
            parts += [slice(start, place), [Made(place, {number: value})]]
            start = place + 1
        made.append(side.build([*parts, slice(start, side.size)]))
    yield made[0], made[1]


# --- answers ---


def _of_answers(data0: Any, data1: Any) -> Iterator[Pair]:
    if type(data0) in (int, float) and type(data1) in (int, float):
        if data0:
            yield type(data0)(0), data1 - data0
        return
    if type(data0) is not type(data1) or not (
        isinstance(data0, list | tuple) or (isinstance(data0, np.ndarray) and data0.ndim == 1)
    ):
        return
    if len(data0) != len(data1):
        return
    for start, stop in _pieces(len(data0)):
        if stop - start < len(data0):
            yield _cut(data0, start, stop), _cut(data1, start, stop)
    for place in range(len(data0)):
        if data0[place]:
            yield _put(data0, place, data0[place] - data0[place]), _put(data1, place, data1[place] - data0[place])


def _cut(data: Any, start: int, stop: int) -> Any:
    if isinstance(data, np.ndarray):
        return np.concatenate([data[:start], data[stop:]])
    return type(data)([*data[:start], *data[stop:]])


def _put(data: Any, place: int, value: Any) -> Any:
    if isinstance(data, np.ndarray):
        made = data.copy()
        made[place] = value
        return made
    return type(data)([*data[:place], value, *data[place + 1 :]])
