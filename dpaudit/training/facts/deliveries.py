"""Which batches does each update hold: one, several, one for the second time, a part of one? And which does none hold?

Tensors say it where the model was given rows of a batch as they were delivered. Else their numbers do, if they explain
every update: the next batch that has as many rows, or the last one, or several in a row that have as many together.
What neither explains is not seen, and nothing is concluded from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.arrays import Integers
from dpaudit.training.seen import Delivery, Seen, Update

_LEAST_CUT = 3  # updates with one number of rows, before batches are said to be cut to it


@dataclass(frozen=True, slots=True)
class Held:
    """What one update holds."""

    of: tuple[int, ...]  # its deliveries, ascending; one that comes into it twice, twice
    cut: bool = False  # whether it holds a part of some of them only
    shown: bool = False  # whether the tensors showed it; else the numbers of rows did


@dataclass(frozen=True, slots=True)
class Use:
    """How batches that were drawn became updates."""

    held: tuple[Held | None, ...]  # what each update holds; None where nothing explains it
    left: int  # deliveries that came before the last update, and that none holds

    @property
    def unexplained(self) -> int:
        """How many updates nothing explains."""
        return sum(each is None for each in self.held)

    @property
    def cut(self) -> int:
        """How many updates hold a part of a batch."""
        return sum(each is not None and each.cut for each in self.held)

    @property
    def together(self) -> int:
        """The largest number of batches in one update, at least 1."""
        return max([1, *(len(set(each.of)) for each in self.held if each is not None)])

    def squares(self) -> Counter[int]:
        """Return Σm² of each delivery, over the updates into which it came m times."""
        return Counter({each: sum(times**2 for times in by.values()) for each, by in self._times().items()})

    def again(self) -> int:
        """Return how many deliveries came into updates more than once; parts of one that differ count as well."""
        return sum(square > 1 for square in self.squares().values())

    def _times(self) -> dict[int, Counter[int]]:
        found: dict[int, Counter[int]] = {}
        for number, held in enumerate(self.held):
            for each in () if held is None else held.of:
                found.setdefault(each, Counter())[number] += 1
        return found

    def groups(self) -> tuple[list[tuple[tuple[int, ...], int, int]], list[int]]:
        """Return what is accounted for together, and the updates that are in no such group.

        A group is (its updates, k, Σm²): one update of k batches, none of which is in another; or all updates of one
        batch alone, into which it came m times each. A record is in a group with the probability that it is in one of
        k batches, and then moves its sums, taken together, by √(Σm²)·C.
        """
        found: list[tuple[tuple[int, ...], int, int]] = []
        loose, times = [], self._times()
        for number, held in enumerate(self.held):
            if held is None or held.cut:
                loose.append(number)
            elif not held.of:
                found.append(((number,), 1, 1))
            elif len(set(held.of)) == 1:
                own = times[held.of[0]]
                if not all(self._alone(each) for each in own):
                    loose.append(number)
                elif number == min(own):
                    found.append((tuple(sorted(own)), 1, sum(each**2 for each in own.values())))
            elif all(sum(times[each].values()) == 1 for each in held.of):
                found.append(((number,), len(held.of), 1))
            else:
                loose.append(number)
        return found, loose

    def _alone(self, number: int) -> bool:
        """Whether an update holds one whole batch and no other."""
        held = self.held[number]
        return held is not None and not held.cut and len(set(held.of)) == 1

    def alone(self) -> set[int]:
        """Return the deliveries that are whole, and by themselves, in every update that holds them."""
        return {each for each, own in self._times().items() if all(self._alone(number) for number in own)}


def use_of(seen: Seen) -> Use | None:
    """Return what the updates hold; None where no delivery was seen."""
    if not seen.deliveries or not seen.updates:
        return None
    held = _held(seen.updates, seen.deliveries)
    if None in held:  # numbers that do not explain all updates explain none
        held = [each if each is not None and each.shown else None for each in held]
    used = {each for one in held if one is not None for each in one.of}
    return Use(tuple(held), 0 if None in held else max(used, default=-1) + 1 - len(used))


def _held(updates: Sequence[Update], deliveries: Sequence[Delivery]) -> list[Held | None]:
    found: list[Held | None] = []
    passed = before = 0  # deliveries that were used or passed over, and that had come before the last update
    latest: int | None = None
    parts: list[int] = []
    for number, update in enumerate(updates):
        held, rows = _shown(update, deliveries), update.rows
        if held is None and rows is not None:
            held = _counted(rows, deliveries, passed, before, update.delivered, latest)
        if held is None and rows and before < update.delivered and deliveries[update.delivered - 1].rows > rows:
            parts.append(number)
        if held is not None and held.of:
            latest = held.of[-1]
            passed = max(passed, latest + 1)
        before = update.delivered
        found.append(held)
    if len(parts) >= _LEAST_CUT and len({updates[number].rows for number in parts}) == 1:
        for number in parts:
            found[number] = Held((updates[number].delivered - 1,), cut=True)
    return found


def _shown(update: Update, deliveries: Sequence[Delivery]) -> Held | None:
    """What the tensors say."""
    if not update.taken:
        return None
    times: dict[int, Integers] = {}
    for each in update.taken:
        if each.delivery is None:
            return None
        own = times.setdefault(each.delivery, np.zeros(deliveries[each.delivery].rows, dtype=np.int64))
        own[each.first : each.first + each.rows] += 1
    of, cut = [], False
    for number, own in sorted(times.items()):
        of += [number] * max(1, int(own.max(initial=0)))
        cut |= len(own) > 0 and int(own.min()) < int(own.max())
    return Held(tuple(of), cut, shown=True)


def _counted(
    rows: int, deliveries: Sequence[Delivery], passed: int, before: int, now: int, latest: int | None
) -> Held | None:
    """What the number of rows says, of the deliveries from ``passed`` to ``now``; else a batch that came before."""
    fresh = range(max(passed, before), now)
    for each in (passed, now - 1, *fresh):
        if passed <= each < now and deliveries[each].rows == rows:
            return Held((each,))
    if not rows:
        return Held(()) if passed == now else None
    for first in (passed, fresh.start):
        total = 0
        for last in range(first, now):
            total += deliveries[last].rows
            if total >= rows:
                break
        if total == rows:
            return Held(tuple(range(first, last + 1)))
    if latest is None:
        return None
    turn = latest + 1 if latest + 1 < now else 0  # batches that are gone through again
    again = (latest, turn) if passed == now else (latest,)
    return next((Held((each,)) for each in again if deliveries[each].rows == rows), None)
