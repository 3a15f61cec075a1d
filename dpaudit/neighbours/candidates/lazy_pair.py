"""How is a pair of neighbours made from a user's data, when it is needed?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from dpaudit.neighbours.records import Dataset, Made, Part

_MANY_CUTS = 64  # from which picking records by their places is faster than cutting them out one by one


@dataclass(frozen=True, eq=False)
class LazyPair:
    """A pair of neighbours that can be made."""

    name: str  # what changes, in places of records (counted from 0) and values of ours, never of the user's data
    kind: str  # "extreme", "outlier", "odd value", "copy", "removal", "order", "base" or "tiny"
    make: Callable[[], tuple[Any, Any]] = field(repr=False)  # makes the two datasets
    sort: str = ""  # the sort of change within its kind: if only a few can be tried, one of each sort comes first
    # the records that both sides are made from, and how; None where they are made in another way
    sides: tuple[Dataset, Side, Side] | None = field(default=None, repr=False)
    made_up: bool = False  # whether it holds a value that is neither declared nor among those of the data

    def pair(self) -> tuple[Any, Any]:
        """Make the pair; a side that needs no change is the user's own object."""
        return self.make()


@dataclass(frozen=True, eq=False)
class Side:
    """How one side of a pair is made from the data."""

    # the places of the records that it starts from; None for all of them
    own: np.ndarray[Any, Any] | tuple[int, ...] | None = None
    dropped: tuple[int, ...] = ()  # places of records that are left out
    put: tuple[tuple[int, Made], ...] = ()  # made records by the places that they take
    added: tuple[Made, ...] = ()  # made records after all others
    # "" for the usual order, "first" if added records come first, "between" if they come in the middle,
    # "reversed" if the data's own order is reversed
    order: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it is the data themselves."""
        return self.own is None and not (self.dropped or self.put or self.added or self.order)

    def parts(self, size: int) -> list[Part]:
        """Return the parts that the side is built from."""
        added: list[Part] = [list(self.added)] if self.added else []
        if self.order == "between":
            places = np.arange(size) if self.own is None else np.asarray(self.own, dtype=np.intp)
            half = len(places) // 2
            return [places[:half], *added, places[half:]]
        return added + self._kept(size) if self.order == "first" else self._kept(size) + added

    def _kept(self, size: int) -> list[Part]:
        cuts: dict[int, Made | None] = dict.fromkeys(self.dropped) | dict(self.put)
        if self.own is not None or self.order == "reversed" or len(cuts) > _MANY_CUTS:
            return self._picked(np.arange(size) if self.own is None else np.asarray(self.own, dtype=np.intp))
        parts: list[Part] = []
        start = 0
        for place, made in sorted(cuts.items()):
            parts.append(slice(start, place))
            if made is not None:
                parts.append([made])
            start = place + 1
        return [*parts, slice(start, size)]

    def _picked(self, own: np.ndarray[Any, Any]) -> list[Part]:
        """The places that stay, followed by the records that replace others."""
        gone = [*self.dropped, *(place for place, _ in self.put)]
        places = own[~np.isin(own, gone)] if gone else own
        parts: list[Part] = [places[::-1] if self.order == "reversed" else places] if len(places) else []
        return [*parts, [made for _, made in self.put]] if self.put else parts


def made_of(dataset: Dataset, name: str, kind: str, side0: Side, side1: Side, sort: str = "") -> LazyPair:
    """Return the candidate made of two sides of a dataset."""
    return LazyPair(name, kind, partial(_built, dataset, side0, side1), sort, (dataset, side0, side1))


def values_put(pair: LazyPair) -> Iterator[tuple[int, Any]]:
    """Yield the values that a pair puts into the data, each with the number of its column."""
    for side in () if pair.sides is None else pair.sides[1:]:
        for made in (*side.added, *(made for _, made in side.put)):
            yield from made.fields.items()


def _built(dataset: Dataset, side0: Side, side1: Side) -> tuple[Any, Any]:
    return dataset.build(side0.parts(dataset.size)), dataset.build(side1.parts(dataset.size))


def on_fewer_records(pairs: Sequence[LazyPair], most: int) -> list[LazyPair]:
    """The same changes on a part of the data: on all records that a change names, and others evenly among them."""
    dataset = next((each.sides[0] for each in pairs if each.sides is not None), None)
    if dataset is None or dataset.size <= 2 * most:
        return list(pairs)
    named = {place for each in pairs for place in _named(each)}
    kept = np.union1d(np.linspace(0, dataset.size - 1, most).astype(np.intp), np.array(sorted(named), dtype=np.intp))
    if 2 * len(kept) > dataset.size:
        return list(pairs)
    base = Side(own=kept)
    whole = cache(lambda: dataset.build(base.parts(dataset.size)))

    def build(side: Side) -> Any:
        return whole() if side.is_whole else dataset.build(_on(side, kept).parts(dataset.size))

    return [
        each
        if each.sides is None or all(side.own is not None for side in each.sides[1:])
        else replace(each, make=partial(_both, build, each.sides[1], each.sides[2]), sides=None)
        for each in pairs
    ]


def _on(side: Side, kept: np.ndarray[Any, Any]) -> Side:
    return replace(side, own=kept) if side.own is None else side


def _both(build: Callable[[Side], Any], side0: Side, side1: Side) -> tuple[Any, Any]:
    return build(side0), build(side1)


def _named(pair: LazyPair) -> Iterator[int]:
    """Yield the places of the records that a pair changes or copies."""
    for side in () if pair.sides is None else pair.sides[1:]:
        yield from side.dropped
        yield from (place for place, _ in side.put)
        yield from (made.like for made in (*side.added, *(made for _, made in side.put)) if made.like is not None)
