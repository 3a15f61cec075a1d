"""What may be released under keys that the data hold? Noisy counts above a threshold, and loops over them.

A key that one side alone has shows there with the count that one record gives it, which the noise has to lift above
the threshold τ: with Laplace noise of scale b that has the chance ½·exp(−(τ − 1)/b) (Korolova, Kenthapadi, Mishra &
Ntoulas 2009). Of a person with k rows the keys have to be distinct; then each of them costs as much. In the order of
the counts, or of the data, they would tell more, so that they are seen sorted by their labels alone.

The body is called twice for a key that stands for any: once below the threshold, where the key and its counts are
private to the end, so that nothing of it may be kept; and once above, where both are released. What comes before the
comparison is the same both times. The price is that of `keys`. What is collected in the order of the keys themselves
is released; in the order of the data, or of the exact counts, it has to be sorted by key first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.reading.universe import columns, frames, numbers, steps
from dpaudit.reading.universe.groups import CUT, OF_KEYED, Keyed
from dpaudit.reading.universe.noise import Draw, note, same_step
from dpaudit.reading.universe.records import UNBOUND, Gone, for_a_record, one_record
from dpaudit.reading.universe.state import Private, current, refuse
from dpaudit.reading.universe.values import NP_FLOAT, NP_INT, PRIVATE, Token, sort_of


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


class NoisyKeys(Private):
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

    def __init__(self, noisy: NoisyKeys, threshold: float) -> None:
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
                return NoisyKeys(table, draw)
    if isinstance(left, NoisyKeys) and name in ("ge", "gt") and type(right) in (int, float) and np.isfinite(right):
        return Above(left, float(right))
    if isinstance(left, Keyed) or isinstance(right, Keyed):
        return refuse("an operator on a table whose keys are those of the data", frames.REINDEX)
    return refuse("noise, or noisy counts, for keys of the data in another form", CUT)


def one_each(table: Keyed) -> tuple[numbers.Number, int]:
    """Return the count of one key, and in how many keys a record, or a person, is counted: once in each."""
    part = None if table.single is None or table.is_table or table.has_holes else table.parts[table.single]
    if part is None or not part.is_exact or part.width or not np.all(columns.plain(part.low) == 1):
        refuse("a threshold for other numbers than counts", ".value_counts() or .size()")
    rows = part.rows
    if rows.sample is not None:
        refuse("a threshold for counts of a sample, which its rule is not about", "counts of all records")
    ones = np.ones(len(part.space))
    selection, times = rows.selection, 1
    if selection.kind == "person" and rows.distinct is not None:
        if not rows.distinct <= {key.source for key in table.keys if key.source}:
            refuse("a threshold for counts in which a person may be more than once", _DISTINCT)
        times, selection = selection.times, columns.Selection("person", 1, selection.number)
    elif selection.kind == "record":
        if not _is_each_once(part.space):
            refuse("a threshold for counts in which a record may be more than once", "counts before the join")
    else:
        refuse("a threshold for counts in which a person may be more than once", _DISTINCT)
    made = None if rows.made is None else steps.MadeStep("any_key", (rows.made,))
    exact = numbers.summed_of(
        rows, part.space, ones, ones, whole=True, labels=None, columns=None, kinds=NP_INT, made=made
    )
    exact.selection = selection
    return exact, times


def _is_each_once(space: Any) -> bool:
    """Whether a record has one row at most, as it has not in a join that matches it several times."""
    _, places = space.records()
    return len(np.unique(places)) == len(places)


_DISTINCT = 'df[[person, "key"]].drop_duplicates().groupby(person).head(3)["key"].value_counts()'

# --- What does a loop over counts by keys of the data release? -------------------------------------------

LOOP = "for key, n in counts.sort_index().items(): noisy = n + laplace(…); if noisy > LIMIT: kept[key] = noisy"
_ABOVE = {("gt", True): True, ("ge", True): True, ("lt", True): False, ("le", True): False}
_ABOVE |= {(name, False): not says for (name, _), says in _ABOVE.items()}
"""By a comparison's name, and whether the noisy count stands left, whether its truth says that the count is above."""


class KeyLoop(Private):
    """``counts.items()``: each key with its count."""

    __slots__ = ("table",)
    noun = "table by keys of the data"
    to_release = LOOP

    def __init__(self, table: Keyed) -> None:
        self.table = table

    def items(self, *, is_above: bool) -> tuple[Any, KeyCount]:
        """Return a key that stands for any, and its count."""
        given = [Token() if is_above else Key() for _ in self.table.keys]
        return given[0] if len(given) == 1 else tuple(given), KeyCount(is_above=is_above)


def items(table: Keyed) -> KeyLoop:
    """``items()`` of a table by keys: a loop over keys and counts."""
    if table.is_of_all:
        refuse("a loop over all categories in the order of their counts", "x.value_counts(sort=False).items()")
    return KeyLoop(table)


OF_KEYED |= {"items": items}


class Key(Private):
    """A key of the data, of which nobody knows yet whether it is above the threshold."""

    __slots__ = ()
    noun = "key of the data"
    to_release = LOOP


class KeyCount(Private):
    """The count of one key.

    Attributes:
        is_above: whether its noisy count is the one above the threshold.
        noisy: what stands for that; None before there is noise.
        scale: of the noise.
        threshold: that it is compared with; None before it is.
    """

    __slots__ = ("is_above", "noisy", "record", "scale", "threshold")
    noun = "count of a key of the data"
    to_release = LOOP

    def __init__(self, *, is_above: bool) -> None:
        self.is_above, self.record = is_above, current().record
        self.noisy: Any = None
        self.scale = 0.0
        self.threshold: float | None = None

    def plus(self, draw: Any) -> Any:
        """Return it with noise of its own."""
        if not isinstance(draw, Draw) or draw.law != "laplace" or draw.shape or draw.record != self.record:
            refuse("a count of a key of the data with anything but Laplace noise that is drawn in the loop", LOOP)
        if self.noisy is not None:
            refuse("a count of a key of the data with noise twice", "one noisy count of each key")
        draw.use()
        self.scale = float(draw.scales)
        self.noisy = Token((), NP_FLOAT) if self.is_above else NoisyInLoop(self)
        return self.noisy

    def compared(self, name: str, other: Any, *, is_left: bool) -> bool:
        """Return the outcome of the comparison of its noisy count with the threshold."""
        says = _ABOVE.get((name, is_left))
        if says is None or type(other) not in (int, float) or not math.isfinite(other):
            refuse("a noisy count of a key of the data in another comparison than with a constant threshold", LOOP)
        if self.threshold is not None:
            refuse("a noisy count of a key of the data that is compared twice", "one threshold")
        self.threshold = float(other)
        return says is self.is_above


class NoisyInLoop(Private):
    """A count of one key with noise, below the threshold."""

    __slots__ = ("count",)
    noun = "noisy count of a key of the data, before a threshold"
    to_release = LOOP

    def __init__(self, count: KeyCount) -> None:
        self.count = count


class Collected(Private):
    """A list or dict in which a loop over keys of the data collects those above the threshold."""

    __slots__ = ("is_above", "is_by_key", "key", "kind")
    noun = "collection of keys of the data"
    to_release = LOOP

    def __init__(self, kind: type, key: Any, *, is_above: bool) -> None:
        self.kind, self.key, self.is_above = kind, key, is_above
        self.is_by_key: bool | None = None  # whether everything in it can be sorted by its key; None where it is empty

    def _keep(self, key: Any, value: Any) -> None:
        if not self.is_above:
            refuse("what is kept of a key before its noisy count is above a threshold", LOOP)
        if PRIVATE in (sort_of(key), sort_of(value)):
            refuse("a private value that is collected by key", "its noisy count")
        self.is_by_key = self.is_by_key is not False and _is_key(key, self.key)

    def store(self, key: Any, value: Any) -> None:
        """``kept[key] = value``."""
        if self.kind is not dict:
            refuse("an assignment to a place of a list", LOOP)
        self._keep(key, value)

    def method(self, name: str) -> Any:
        """``kept.append(…)``."""
        return self._append if self.kind is list and name == "append" else None

    def _append(self, value: Any) -> None:
        first = value[0] if type(value) is tuple and value else value
        self._keep(first, value)


def _is_key(value: Any, key: Any) -> bool:
    if value is key:
        return True
    pairs = zip(value, key, strict=True) if type(value) is type(key) is tuple and len(value) == len(key) else ()
    return bool(pairs) and all(one is other for one, other in pairs)


class Unsorted(Private):
    """What a loop collected, in the order of the data."""

    __slots__ = ("is_by_key", "kind")
    noun = "collection in the order of the data, or of exact counts, which tells more than its keys"
    to_release = "dict(sorted(kept.items()))"

    def __init__(self, kind: type, *, is_by_key: bool) -> None:
        self.kind, self.is_by_key = kind, is_by_key

    def method(self, name: str) -> Any:
        """``kept.items()``, to be sorted."""
        return (lambda: self) if self.kind is dict and name == "items" else None

    def sorted(self) -> Token:
        """``sorted(kept.items())``."""
        return Token() if self.is_by_key else refuse("sorting of what is not told apart by its key", self.to_release)


def compared(name: str, left: Any, right: Any) -> bool | None:
    """Return the outcome of a comparison with the threshold of a loop; None for any other."""
    count = current().of_key
    if count is None or count.noisy is None or (left is not count.noisy and right is not count.noisy):
        return None
    is_left = left is count.noisy
    outcome: bool = count.compared(name, right if is_left else left, is_left=is_left)
    return outcome


def operated_in_loop(name: str, left: Any, right: Any) -> Any:
    """What an operator does with a count of a key, or with its noisy one below the threshold."""
    for one, other, is_left in ((left, right, True), (right, left, False)):
        if isinstance(one, KeyCount) and name == "add":
            return one.plus(other)
        if isinstance(one, NoisyInLoop):
            return one.count.compared(name, other, is_left=is_left)
    return refuse("this operator on a key of the data, or on its count", LOOP)


def looped(loop: KeyLoop, body: Callable[..., Any], fresh: Sequence[bool], before: Sequence[Any]) -> list[Any]:
    """Return what a loop makes of the names that it sets: collections that were empty before it, or nothing usable.

    Args:
        loop: what it goes through.
        body: of one key, and of the names; it returns their values.
        fresh: for each name whether nothing else holds what it stands for.
        before: the values of the names.
    """
    kinds = [type(each) if is_alone and _is_empty(each) else None for is_alone, each in zip(fresh, before, strict=True)]
    carried = [each is UNBOUND or type(each) is Gone for each in before]
    while True:
        changed, made, count = _passes(loop, body, kinds, before, carried)
        if not any(is_set and not was for is_set, was in zip(changed, carried, strict=True)):
            break
        carried = [was or is_set for is_set, was in zip(changed, carried, strict=True)]
    if count.threshold is None:
        refuse("a loop over keys of the data that compares no noisy count with a threshold", LOOP)
    exact, times = one_each(loop.table)
    note("laplace_threshold", exact, count.scale, (("threshold", count.threshold),), times=times)
    out: list[Any] = []
    for place, each in enumerate(before):
        if isinstance(made[place], Collected):
            is_by_key = made[place].is_by_key is not False
            out.append(Token() if loop.table.is_sorted else Unsorted(made[place].kind, is_by_key=is_by_key))
        else:
            out.append(Gone() if changed[place] else each)
    return out


def _is_empty(value: Any) -> bool:
    return type(value) in (list, dict) and not value


def _passes(
    loop: KeyLoop,
    body: Callable[..., Any],
    kinds: Sequence[type | None],
    before: Sequence[Any],
    carried: Sequence[bool],
) -> tuple[list[bool], list[Any], KeyCount]:
    """Call the body below the threshold and above; return which names it sets, what it was given, and the count."""
    changed, given, count, seen = [False] * len(before), [], None, []
    for is_above in (False, True):
        with one_record():
            key, count = loop.items(is_above=is_above)
            given = [
                UNBOUND if was else each if kind is None else Collected(kind, key, is_above=is_above)
                for each, kind, was in zip(before, kinds, carried, strict=True)
            ]
            current().of_key = count
            try:
                after = for_a_record(body, (key, count), *given)
            finally:
                current().of_key = None
        changed = [was or one is not other for was, one, other in zip(changed, after, given, strict=True)]
        seen.append((count.scale, count.threshold))
    if seen[0] != seen[1]:
        refuse("a loop over keys of the data that does other things before its comparison with a threshold", LOOP)
    assert count is not None
    return changed, given, count


__all__ = [
    "Above",
    "Collected",
    "DrawOfKeys",
    "HowMany",
    "Kept",
    "Key",
    "KeyCount",
    "KeyLoop",
    "NoisyInLoop",
    "NoisyKeys",
    "Unsorted",
    "compared",
    "looped",
    "one_each",
    "operated",
    "operated_in_loop",
]
