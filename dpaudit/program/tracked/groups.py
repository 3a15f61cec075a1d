"""What may be done by groups? Sums and counts under declared keys, rows bounded by person, keys above a threshold.

Which keys the data hold is private, and so is their order. ``reindex(keys, fill_value=0)`` takes declared ones. A cut
at a threshold shows keys that the data hold, at a δ.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from dpaudit.program.symbolic.value import line_of
from dpaudit.program.tracked.columns import Column, operand_of
from dpaudit.program.tracked.draw import Draw, note
from dpaudit.program.tracked.magnitude import ONE, Magnitude, widened
from dpaudit.program.tracked.movement import Condition, Linear, Term
from dpaudit.program.tracked.path import ANYTHING, PATH, refuse
from dpaudit.program.tracked.private import Private
from dpaudit.program.tracked.released import fresh, magnitude_of
from dpaudit.program.tracked.rows import Rows
from dpaudit.program.tracked.series import Series

if TYPE_CHECKING:
    from dpaudit.program.tracked.frame import Frame

_DECLARE = "declare them by reindex(keys, fill_value=0), or cut released counts at a threshold"


class GroupBy(Private):
    """A frame by the values of columns; ``column`` is what is summed, None for rows."""

    inner = Private.inner | {"frame", "names", "column"}

    def __init__(self, frame: Frame, names: tuple[str, ...], column: Column | None = None) -> None:
        self.frame, self.names, self.column = frame, names, column

    def __getitem__(self, name: Any) -> GroupBy:
        if not isinstance(name, str):
            refuse("groups of several columns at once; take one")
        return GroupBy(self.frame, self.names, self.frame[name])

    def head(self, n: int = 5) -> Frame:
        """Keep at most so many rows of each person."""
        frame = self.frame
        if self.names != (frame.person,):
            refuse("head(k) of groups that are no persons: one record pushes another one out")
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            refuse(f"head({n!r}): how many rows a person keeps is a whole number from 1 on")
        if frame.rows.most is not None and frame.rows.most <= n:
            return frame
        path = PATH.get()
        path.samples += 1
        return frame._with_rows(frame.rows.bounded(path.samples, n))

    def _groups(self, low: Magnitude, high: Magnitude, *, whole: bool) -> Groups:
        columns = [self.frame[name] for name in self.names]
        missing = any(column.missing for column in columns)
        return Groups(self.frame.rows, tuple(column.name for column in columns), missing, low, high, whole=whole)

    def size(self) -> Groups:
        """Count the rows of each group."""
        return self._groups(ONE, ONE, whole=True)

    def count(self) -> Groups:
        """Count the values of each group that are not missing."""
        if self.column is None:
            refuse("count() of whole groups; write size(), or choose a column")
        low, high = widened(ONE, ONE) if self.column.missing else (ONE, ONE)
        return self._groups(low, high, whole=True)

    def sum(self) -> Groups:
        """Sum a column in each group."""
        if self.column is None:
            refuse("sum() of whole groups; choose a column")
        low, high = self.column.ends
        if self.column.missing:
            low, high = widened(low, high)
        return self._groups(low, high, whole=self.column.whole)

    def mean(self, *_: Any) -> Any:
        """Refuse a ratio."""
        refuse("a mean is a ratio of private numbers; release sums and counts, and divide those")


class Groups(Private):
    """Private numbers under keys that the data happen to have."""

    inner = Private.inner | {"rows", "names", "missing", "low", "high", "whole", "tracked_len"}

    def __init__(
        self, rows: Rows, names: tuple[str, ...], missing: bool, low: Magnitude, high: Magnitude, *, whole: bool
    ) -> None:
        self.rows, self.names, self.missing = rows, names, missing
        self.low, self.high, self.whole = low, high, whole

    def reindex(self, keys: Any = None, fill_value: Any = None, index: Any = None) -> Series:
        """Return the numbers of declared keys; 0 where the data lack one."""
        if fill_value is None:
            refuse("reindex without fill_value=0, where NaN says which keys the data lack")
        if magnitude_of(fill_value).coefficient:
            refuse("reindex with another fill_value than 0: whether the data have a key would show")
        listed = list(index if keys is None else keys)
        return Series(
            listed, (self.rows.summed(self.low, self.high, whole=self.whole, within=self._part(key)) for key in listed)
        )

    def _part(self, key: Any) -> frozenset[Condition]:
        parts = key if len(self.names) > 1 else (key,)
        if not isinstance(parts, tuple) or len(parts) != len(self.names):
            refuse(f"the key {key!r} of groups by {len(self.names)} columns")
        return frozenset(_equal(self.rows, name, part) for name, part in zip(self.names, parts, strict=True))

    def __getitem__(self, key: Any) -> Any:
        refuse(f"a key that the data may lack, of which a KeyError tells: {_DECLARE}")

    loc = property(lambda self: self)
    at = loc

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the number of a declared key; 0 where the data lack it."""
        if default is None or magnitude_of(default).coefficient:
            refuse("get(key) without the default 0, where None says which keys the data lack")
        return self.reindex([key], fill_value=0)[key]

    def items(self) -> Any:
        """Refuse keys of the data."""
        refuse(f"keys of the data, which are private: {_DECLARE}")

    keys = items
    index = property(items)

    def tracked_len(self) -> Size:
        """Return how many keys there are: private, but noise of that size can be asked for."""
        return Size(self)

    def _with(self, other: Any) -> Any:
        if isinstance(other, Draw) and isinstance(other.shape, Size) and other.shape.groups is self:
            other.use()
            return Noisy(self, other)
        return refuse(f"arithmetic of numbers under private keys: {_DECLARE}")

    __add__ = __radd__ = _with


def _equal(rows: Rows, name: str, key: Any) -> Condition:
    if name not in rows.known:
        refuse("groups by what was computed; group by a column of the data")
    here = rows.column(name)
    rows.known.setdefault(here, rows.known[name])
    return Condition(here, "==", operand_of(rows.known[name], name, key), holds=True)


class Size(Private):
    """How many groups there are."""

    inner = Private.inner | {"groups"}

    def __init__(self, groups: Groups) -> None:
        self.groups = groups


class Noisy(Private):
    """Counts with noise under keys of the data, which nobody may see before a threshold cuts them."""

    inner = Private.inner | {"groups", "draw", "line", "level"}

    def __init__(self, groups: Groups, draw: Draw) -> None:
        self.groups, self.draw, self.line = groups, draw, line_of(sys._getframe(1))
        self.level = PATH.get().level

    def __ge__(self, threshold: Any) -> Any:
        return Above(self, threshold)

    __gt__ = __ge__

    def __getitem__(self, mask: Any) -> Kept:
        if not isinstance(mask, Above) or mask.noisy is not self:
            refuse("a choice among noisy counts by something else than their own threshold")
        if self.level != PATH.get().level:
            refuse("noisy counts that are cut in another step than the one that drew their noise")
        rows, draw, threshold = self.groups.rows, self.draw, magnitude_of(mask.threshold)
        if draw.law != "laplace" or draw.scale.unit or threshold.unit:
            refuse("the threshold rule for other noise than Laplace, or for a scale or threshold that was released")
        once = rows.most == 1 or (rows.distinct is not None and rows.distinct <= set(self.groups.names))
        if not (self.groups.low == self.groups.high == ONE) or rows.most is None or not once or rows.sample is not None:
            refuse(
                "the threshold rule for other numbers than counts to which a record, or a person, adds one; of several "
                "rows a person keep distinct keys: frame[[person, key]].drop_duplicates().groupby(person).head(k)"
            )
        one = Linear(tuple(Term(part, ONE, ONE) for part in rows.parts))
        note(
            "laplace_threshold",
            draw.scale,
            (one,),
            None,
            (("threshold", threshold.coefficient),),
            self.line,
            keys=rows.most,
        )
        return Kept()


class Above(Private):
    """Which noisy counts are above a threshold."""

    inner = Private.inner | {"noisy", "threshold"}

    def __init__(self, noisy: Noisy, threshold: Any) -> None:
        self.noisy, self.threshold = noisy, threshold


class Kept(Private):
    """Keys and numbers above the threshold, still in the order of the data."""

    def sort_index(self) -> Any:
        """Sort by the keys, so that the order of the data is gone."""
        return fresh((), ANYTHING)
