"""What may be released under keys that the data hold? Noisy counts, where those below a threshold are cut away, at a δ.

A key that one side alone has shows there with the count that one record gives it, which the noise has to lift above
the threshold τ: with Laplace noise of scale b that has the chance ½·exp(−(τ − 1)/b) (Korolova, Kenthapadi, Mishra &
Ntoulas 2009). Of a person with k rows the keys have to be distinct; then each of them costs as much. In the order of
the counts, or of the data, they would tell more, so that they are seen sorted by their labels alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.reading.universe import numbers, steps
from dpaudit.reading.universe.columns import plain
from dpaudit.reading.universe.frames import REINDEX, Selection
from dpaudit.reading.universe.groups import CUT, Keyed
from dpaudit.reading.universe.noise import note, same_step
from dpaudit.reading.universe.released import Token
from dpaudit.reading.universe.state import Private, current, refuse


class HowMany(Private):
    """How many keys the data hold: so many draws may be asked for."""

    __slots__ = ("table",)
    noun = "number of keys of the data"

    def __init__(self, table: Keyed) -> None:
        self.table = table

    def draws(self, law: str, scale: Any) -> DrawOfKeys:
        """Return a draw of noise for each key: of a law that a threshold is known for, since its length is private."""
        if law != "laplace":
            refuse("other noise than Laplace noise for keys of the data", CUT)
        if np.ndim(scale) or isinstance(scale, bool) or not 0 < scale < math.inf:
            refuse("noise for keys of the data of a scale that is not one positive number", "one scale for all keys")
        return DrawOfKeys(self.table, float(scale))


class DrawOfKeys(Private):
    """Laplace noise for each key of the data."""

    __slots__ = ("is_used", "level", "scale", "table")
    noun = "noise for keys of the data"

    def __init__(self, table: Keyed, scale: float) -> None:
        self.table, self.scale = table, scale
        self.is_used, self.level = False, current().level


class Noisy(Private):
    """Counts with noise under keys of the data, which nobody may see before a threshold cuts them."""

    __slots__ = ("draw", "is_cut", "table")
    noun = "noisy table by keys of the data"
    to_release = "noisy[noisy >= threshold].sort_index()"

    def get(self, name: str) -> Any:
        """Refuse what shows keys that no threshold cut."""
        return refuse(f".{name} of a {self.noun}, which shows all of them", f"{self.to_release}.{name}")

    def __init__(self, table: Keyed, draw: DrawOfKeys) -> None:
        self.table, self.draw, self.is_cut = table, draw, False

    def select(self, mask: Any) -> Any:
        """``noisy[noisy >= threshold]``."""
        if not isinstance(mask, Above) or mask.noisy is not self:
            refuse("a choice among noisy counts by something else than their own threshold", CUT)
        same_step(self.draw.level)
        if self.is_cut:
            refuse("noisy counts that are cut twice", "one threshold")
        self.is_cut = True
        exact, times = one_each(self.table)
        note("laplace_threshold", exact, self.draw.scale, (("threshold", mask.threshold),), times=times)
        return Kept(self.table)


class Above(Private):
    """Which noisy counts are above a threshold."""

    __slots__ = ("noisy", "threshold")
    noun = "comparison of a noisy table by keys of the data"

    def __init__(self, noisy: Noisy, threshold: float) -> None:
        self.noisy, self.threshold = noisy, threshold


class Kept(Private):
    """Keys and numbers above the threshold, in an order that is that of the data."""

    __slots__ = ("table",)
    noun = "cut table in the order of the data"
    to_release = "noisy[noisy >= threshold].sort_index()"

    def __init__(self, table: Keyed) -> None:
        self.table = table

    def method(self, name: str) -> Any:
        """Return a method."""
        if name != "sort_index":
            refuse(f".{name} of a {self.noun}, which tells more", self.to_release)
        return self.m_sort_index

    def m_sort_index(self) -> Any:
        """``sort_index()``."""
        return Token() if len(self.table.keys) == 1 else KeptLevels()


class KeptLevels(Private):
    """Keys and numbers above the threshold by several keys: the levels of its labels hold those that were cut away."""

    __slots__ = ()
    noun = "cut table by several keys, of which the levels of its index hold those too that were cut away"
    to_release = "noisy[noisy >= threshold].sort_index().to_dict()"

    def method(self, name: str) -> Any:
        """Return a method."""
        if name not in ("to_dict", "reset_index"):
            refuse(f".{name} of a {self.noun}", self.to_release)
        return lambda: Token()


def operated(name: str, left: Any, right: Any) -> Any:
    """What an operator does with counts and noise under keys of the data."""
    if name == "add":
        for table, draw in ((left, right), (right, left)):
            if isinstance(table, Keyed) and isinstance(draw, DrawOfKeys) and draw.table is table and not draw.is_used:
                same_step(draw.level)
                draw.is_used = True
                return Noisy(table, draw)
    if isinstance(left, Noisy) and name in ("ge", "gt") and type(right) in (int, float) and np.isfinite(right):
        return Above(left, float(right))
    if isinstance(left, Keyed) or isinstance(right, Keyed):
        return refuse("an operator on a table whose keys are those of the data", REINDEX)
    return refuse("noise, or noisy counts, for keys of the data in another form", CUT)


def one_each(table: Keyed) -> tuple[numbers.Number, int]:
    """Return the count of one key, and in how many keys a record, or a person, is counted: once in each."""
    part = None if table.single is None or table.is_table or table.has_holes else table.parts[table.single]
    if part is None or not part.is_exact or part.width or not np.all(plain(part.low) == 1):
        refuse("a threshold for other numbers than counts", ".value_counts() or .size()")
    rows = part.rows
    if rows.sample is not None:
        refuse("a threshold for counts of a sample, which its rule is not about", "counts of all records")
    ones = np.ones(len(part.space))
    selection, times = rows.selection, 1
    if selection.kind == "person" and rows.distinct is not None:
        if not rows.distinct <= {key.source for key in table.keys if key.source}:
            refuse("a threshold for counts in which a person may be more than once", _DISTINCT)
        times, selection = selection.times, Selection("person", 1, selection.number)
    elif selection.kind == "record":
        if not _is_each_once(part.space):
            refuse("a threshold for counts in which a record may be more than once", "counts before the join")
    else:
        refuse("a threshold for counts in which a person may be more than once", _DISTINCT)
    made = None if rows.made is None else steps.Step("any_key", (rows.made,))
    exact = numbers.summed_of(
        rows, part.space, ones, ones, whole=True, labels=None, columns=None, kinds=frozenset(("np.int64",)), made=made
    )
    exact.selection = selection
    return exact, times


def _is_each_once(space: Any) -> bool:
    """Whether a record has one row at most, as it has not in a join that matches it several times."""
    _, places = space.records()
    return len(np.unique(places)) == len(places)


_DISTINCT = 'df[[person, "key"]].drop_duplicates().groupby(person).head(3)["key"].value_counts()'

__all__ = ["Above", "DrawOfKeys", "HowMany", "Kept", "Noisy", "one_each", "operated"]
