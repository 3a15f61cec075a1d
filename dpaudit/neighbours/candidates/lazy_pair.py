"""How is a pair of neighbours made from a user's data, when it is needed?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dpaudit.neighbours.records import Dataset, Made, Part

_MANY_CUTS = 64  # from which picking records by their places is faster than cutting them out one by one


@dataclass(frozen=True, eq=False)
class LazyPair:
    """A pair of neighbours that can be made.

    Attributes:
        name: what changes, in places of records (counted from 0) and values of ours, never of the user's data.
        kind: "extreme", "outlier", "odd value", "copy", "removal", "order", "base" or "tiny".
        make: makes the two datasets.
        sort: the sort of change within its kind: if only a few can be tried, one of each sort comes first.
    """

    name: str
    kind: str
    make: Callable[[], tuple[Any, Any]] = field(repr=False)
    sort: str = ""

    def pair(self) -> tuple[Any, Any]:
        """Make the pair; a side that needs no change is the user's own object."""
        return self.make()


@dataclass(frozen=True, eq=False)
class Side:
    """How one side of a pair is made from the data.

    Attributes:
        own: the places of the records that it starts from; None for all of them.
        dropped: places of records that are left out.
        put: made records by the places that they take.
        added: made records after all others.
        order: "" for the usual order, "first" if added records come first, "reversed" if the data's own order is
            reversed.
    """

    own: np.ndarray[Any, Any] | tuple[int, ...] | None = None
    dropped: tuple[int, ...] = ()
    put: tuple[tuple[int, Made], ...] = ()
    added: tuple[Made, ...] = ()
    order: str = ""

    def parts(self, size: int) -> list[Part]:
        """Return the parts that the side is built from."""
        added: list[Part] = [list(self.added)] if self.added else []
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
    """Return the candidate made of two sides of a dataset.

    Args:
        dataset: the user's data.
        name, kind, sort: as for `LazyPair`.
        side0, side1: how the sides are made.

    Returns:
        The candidate, not yet built.
    """
    return LazyPair(name, kind, partial(_built, dataset, side0, side1), sort)


def _built(dataset: Dataset, side0: Side, side1: Side) -> tuple[Any, Any]:
    return dataset.build(side0.parts(dataset.size)), dataset.build(side1.parts(dataset.size))
