"""How does a loop go through lists that differ by run, if all of them are parts of one list?

Once for each item of that list, by the runs whose own list has it: what the body does with an item is done once.
"""

from __future__ import annotations

import graphlib
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.runs.applied import groups_of, nested_in
from dpaudit.reading.runs.values import Alternatives, Array, Container, Numbers, at

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

_MOST_LISTS = 4096


class InOneOrder:
    """Lists that differ by run, all of them parts of one list in one order: a loop goes through that one.

    Attributes:
        rest: the items that are still to come, each with the runs whose list has it.
    """

    def __init__(self, value: Any, groups: list[Array], lists: list[Any], items: list[Any], count: int) -> None:
        self._value, self._held = value, _held_by(value)
        codes = np.zeros(count, dtype=np.int32)
        for number, runs in enumerate(groups):
            codes[runs] = number
        members = [frozenset(each) for each in lists]
        self.rest = ((item, np.array([item in each for each in members])[codes]) for item in items)

    def is_changed(self) -> bool:
        """Whether somebody changed such a list meanwhile."""
        now = _held_by(self._value)
        return len(now) != len(self._held) or any(a is not b for a, b in zip(now, self._held, strict=True))


def in_one_order(domain: Active, value: Any) -> InOneOrder | None:
    """Return lists or tuples that differ by run as parts of one, if they are; else None.

    Their members are texts, or whole numbers of Python: equal ones are the same.
    """
    if not _is_list(value):
        return None
    groups = groups_of(nested_in(value), domain.active, _MOST_LISTS)
    if groups is None or len(groups) < 2:
        return None
    lists = [at(value, int(runs[0])) for runs in groups]
    kinds = {type(item) for each in lists for item in each}
    if kinds not in ({str}, {int}) or any(len(set(each)) < len(each) for each in lists):
        return None
    sorter: graphlib.TopologicalSorter[Any] = graphlib.TopologicalSorter()
    for each in lists:
        for before, item in itertools.pairwise((None, *each)):
            sorter.add(item, *(() if before is None else (before,)))
    try:
        return InOneOrder(value, groups, lists, list(sorter.static_order()), domain.count)
    except graphlib.CycleError:
        return None


def _is_list(value: Any) -> bool:
    """Whether a value is a list or a tuple in every run, whose members are no objects of ours but alternatives."""
    if type(value) is Container:
        return _is_list(value.content)
    if type(value) is Alternatives:
        return all(map(_is_list, value.values))
    return type(value) in (list, tuple) and not any(type(each) in (Container, Numbers) for each in value)


def _held_by(value: Any) -> list[Any]:
    """What a list that differs by run consists of: it is changed where one of these is another object."""
    if type(value) is Container:
        return _held_by(value.content)
    if type(value) is Alternatives:
        return [value, *(part for each in value.values for part in _held_by(each))]
    return list(value)
