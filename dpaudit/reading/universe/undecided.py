"""Which records does a released number choose? One function of each record, whatever was released.

It adds its record or leaves it out. So a record moves how many are chosen by 1 at most, and their sum by no more than
its own value; of a record that another condition leaves out, or takes for certain, more is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe.columns import NO_MASK, Column, TableRows, plain
from dpaudit.reading.universe.numbers import Number, summed_of
from dpaudit.reading.universe.sizes import column_sum
from dpaudit.reading.universe.state import Private, current_domain, refuse

_SUM = "(x > noisy).sum() + laplace(…), or x[x > noisy].clip(LOW, HIGH).sum() + laplace(…)"
_OF_EACH = ("clip", "abs", "astype", "fillna", "to_numpy")
_WHAT = "a comparison with what was released, of"


class Undecided(Private):
    """A mask by comparisons of a column with a released number.

    Args:
        rows: that were compared.
        space: their kinds.
        least, most: of each kind, whether it holds for certain, and whether it may.
    """

    __slots__ = ("least", "most", "rows", "space")
    noun = "comparison with a released number"

    def __init__(self, rows: TableRows, space: Any, least: Any = None, most: Any = None) -> None:
        self.rows, self.space = rows, space
        self.least = np.zeros(len(space), bool) if least is None else least
        self.most = np.ones(len(space), bool) if most is None else most

    def many(self, kind: str) -> Number:
        """Return for how many rows it holds."""
        known: Any = {"labels": None, "columns": None, "whole": True, "kinds": frozenset((kind,)), "what": _WHAT}
        return summed_of(self.rows, self.space, self.least.astype(float), self.most.astype(float), **known)

    def inverted(self) -> Undecided:
        """``~mask``."""
        return Undecided(self.rows, self.space, ~self.most, ~self.least)

    def method(self, name: str) -> Any:
        """``sum()``."""
        return (lambda: self.many("np.int64")) if name == "sum" else None

    def get(self, name: str) -> Any:
        """Nothing else is known."""
        refuse(f".{name} of a {self.noun}", _SUM)


def operated(name: str, left: Any, right: Any) -> Undecided:
    """``mask & mask``, ``mask | mask``."""
    first, second = (_mask(each) for each in (left, right))
    if name not in ("and_", "or_") or not first.rows.same(second.rows):
        refuse(f"this operator ({name}) on a comparison with a released number", "mask & (x > noisy)")
    space, mine, theirs = first.space.join(second.space)
    join = np.logical_and if name == "and_" else np.logical_or
    least, most = join(first.least[mine], second.least[theirs]), join(first.most[mine], second.most[theirs])
    return Undecided(first.rows, space, least, most)


def _mask(value: Any) -> Undecided:
    if isinstance(value, Undecided):
        return value
    if not isinstance(value, Column) or not value.is_mask:
        refuse("a comparison with a released number together with what is no mask", "mask & (x > noisy)")
    return Undecided(value.rows, value.space, plain(value.low).astype(bool), plain(value.high).astype(bool))


class ChosenValues(Private):
    """Values of a column where a mask holds that is undecided."""

    __slots__ = ("column", "mask")
    noun = "column of rows that a released number chooses"

    def __init__(self, column: Column, mask: Undecided) -> None:
        if not mask.rows.same(column.rows) or column.width:
            refuse(NO_MASK, _SUM)
        self.column, self.mask = column, mask

    def total(self) -> Number:
        """``sum()``: a record adds its value, or nothing."""
        whole = column_sum(self.column)
        space, mine, theirs = self.column.space.join(self.mask.space)
        low, high = (plain(end).astype(float)[mine] for end in (self.column.low, self.column.high))
        least, most = self.mask.least[theirs], self.mask.most[theirs]
        low, high = np.where(least, low, np.minimum(low, 0)), np.where(least, high, np.maximum(high, 0))
        ends, known = [np.where(most, end, 0.0) for end in (low, high)], {"labels": None, "columns": None}
        return summed_of(
            self.column.rows, space, *ends, whole=whole.is_whole, kinds=whole.kinds, what=_WHAT, is_sum=True, **known
        )

    def method(self, name: str) -> Any:
        """Return a method."""
        if name in _OF_EACH:
            return lambda *args, **keywords: self._of_each(name, args, keywords)
        return {"sum": self.total}.get(name)

    def _of_each(self, name: str, args: Any, keywords: Any) -> Any:
        domain = current_domain()
        made = domain.call(domain.attribute(self.column, name), *args, **keywords)
        return ChosenValues(made, self.mask) if isinstance(made, Column) else made

    def get(self, name: str) -> Any:
        """Nothing else is known."""
        refuse(f".{name} of a {self.noun}", _SUM)


class ChosenRows(Private):
    """A frame of rows where a mask holds that is undecided."""

    __slots__ = ("frame", "mask")
    noun = "table of rows that a released number chooses"

    def __init__(self, frame: Any, mask: Undecided) -> None:
        if not mask.rows.same(frame.rows):
            refuse(NO_MASK, "len(df[x > LIMIT]) + laplace(…)")
        self.frame, self.mask = frame, mask

    def select(self, key: Any) -> ChosenValues:
        """``chosen[name]``."""
        if not isinstance(key, str):
            refuse(f"a choice of columns of a {self.noun}", 'df[x > noisy]["age"]')
        return ChosenValues(self.frame.column(key), self.mask)

    def get(self, name: str) -> Any:
        """``chosen.name``."""
        if hasattr(pd.DataFrame, name):
            refuse(f".{name} of a {self.noun}", _SUM)
        return self.select(name)


__all__ = ["ChosenRows", "ChosenValues", "Undecided", "operated"]
