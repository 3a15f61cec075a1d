"""What does a dict hold in which a loop over records adds up by a key of each record? Sums, one for every key.

Which keys there are is private: such a dict can be asked for a public key, and for nothing else.
"""

from __future__ import annotations

import collections
import math
from typing import Any

from dpaudit.reading.universe.frames import current_domain
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.records import Adding
from dpaudit.reading.universe.state import Private, refuse
from dpaudit.reading.universe.values import PUBLIC, kind_of_plain, sort_of

BY_KEY = "counts[key] = counts.get(key, 0) + 1; then {k: counts.get(k, 0) + laplace(…) for k in KEYS}"
_FACTORIES = {int: 0, float: 0.0}


def counts(made: Any) -> bool:
    """Whether an empty dict is one in which a loop may add up."""
    kind = type(made)
    return kind in (dict, collections.Counter, collections.defaultdict) and not made and start_of(made) is not refuse


def start_of(made: Any) -> Any:
    """Return what stands for a key that is not there: a number, None where asking for it raises; else `refuse`.

    Of a dict of dicts it is a list, of what stands for a key in these.
    """
    if type(made) is collections.defaultdict:
        factory = made.default_factory
        if isinstance(factory, type):
            return [0] if factory is collections.Counter else _FACTORIES.get(factory, refuse)
        found = None if factory is None else current_domain().default_of(made)
        if type(found) in (int, float) and found == 0:
            return found
        inner = start_of(found) if counts(found) else refuse
        return [inner] if type(inner) in (int, float) else refuse
    return 0 if type(made) is collections.Counter else None


class ByKey(Private):
    """Such a dict, in the loop or after it."""

    __slots__ = ("start",)
    noun = "dict by keys of the data"
    to_release = BY_KEY
    start: Any

    def at(self, key: Any, default: Any) -> Any:
        """Return what stands under a key, or what stands for it where there is none."""
        raise NotImplementedError

    def is_there(self, key: Any) -> bool:
        """Whether a key is there for certain."""
        return False

    def select(self, key: Any) -> Any:
        """``counts[key]``."""
        if type(self.start) is list:
            return Within(self, _key(key), self.start[0])
        if self.start is None and not self.is_there(key):
            refuse("a key of a dict that the data may not have", "counts.get(key, 0)")
        return self.at(_key(key), self.start)

    def m_get(self, key: Any, default: Any = None) -> Any:
        """``counts.get(key, 0)``."""
        if type(default) not in (int, float) or default != 0 or type(self.start) is list:
            refuse("get of a dict by keys of the data in this form", "counts.get(key, 0)")
        return self.at(_key(key), default)

    def method(self, name: str) -> Any:
        """Return a method."""
        return self.m_get if name == "get" else None

    def get(self, name: str) -> Any:
        """Refuse what shows the keys."""
        refuse(f".{name} of a {self.noun} shows which there are", BY_KEY)


class Counting(ByKey):
    """Such a dict while a loop goes through one record.

    Attributes:
        place: of its name among those that the loop sets.
        added: what the record adds, by key.
        answers: by place and key, whether the key is there, where the record asks: both is read.
    """

    __slots__ = ("added", "answers", "place")

    def __init__(self, place: int, start: Any, answers: dict[Any, bool]) -> None:
        self.place, self.start, self.answers = place, start, answers
        self.added: dict[Any, Adding] = {}

    def is_there(self, key: Any) -> bool:
        """Whether the record itself made sure that a key is there, or it is one that is."""
        return sort_of(key) == PUBLIC and (key in self.added or self.answers.get((self.place, key), False))

    def has(self, key: Any) -> bool:
        """``key in counts``."""
        key = _key(key)
        if self.start is not None:  # asking for a key of a defaultdict puts it there
            refuse("'in' of a dict in which every key has a value", "counts[key] += 1 alone")
        return key in self.added or self.answers.setdefault((self.place, key), False)

    def at(self, key: Any, default: Any) -> Adding:
        """Return the sum before this record, with what it added."""
        found = self.added.get(key)
        kinds = frozenset((str(kind_of_plain(default)),))
        return Adding((self.place, key), 0.0, 0.0, kinds) if found is None else found

    def store(self, key: Any, value: Any) -> None:
        """``counts[key] = …``; the first time, the sum up to there is 0."""
        if type(self.start) is list and type(key) is not _Pair:
            refuse("a dict that is put into another one by a key of the data", BY_KEY)
        is_first = key not in self.added and self.answers.get((self.place, _key(key))) is False
        if is_first and type(value) in (int, float) and math.isfinite(value):
            value = Adding((self.place, key), value, value, frozenset((str(kind_of_plain(value)),)))
        if not isinstance(value, Adding) or value.key != (self.place, _key(key)):
            refuse("a loop over records that puts something else into a dict than what it held, and more", BY_KEY)
        self.added[key] = value

    def method(self, name: str) -> Any:
        """Return a method."""
        return self.m_setdefault if name == "setdefault" else super().method(name)

    def m_setdefault(self, key: Any, default: Any = None) -> Adding:
        """``counts.setdefault(key, 0)``."""
        found: Adding = self.m_get(key, default)
        self.store(key, found)
        return found


class Within(ByKey):
    """A dict under a key of such a dict."""

    __slots__ = ("key", "owner")

    def __init__(self, owner: ByKey, key: Any, start: Any) -> None:
        self.owner, self.key, self.start = owner, key, start

    def at(self, key: Any, default: Any) -> Any:
        """Return the sum under both keys."""
        return self.owner.at(_Pair((self.key, key)), default)

    def store(self, key: Any, value: Any) -> None:
        """``counts[one][other] = …``."""
        if not isinstance(self.owner, Counting):
            refuse("a change of a dict by keys of the data after the loop", BY_KEY)
        self.owner.store(_Pair((self.key, _key(key))), value)


class _Pair(tuple[Any, Any]):
    """A key of a dict, and one of the dict under it; no tuple of the function's."""

    __slots__ = ()


class Counted(ByKey):
    """Such a dict after the loop.

    Attributes:
        totals: by key the sum, a private number, and the types that it may have where there is one.
    """

    __slots__ = ("totals",)

    def __init__(self, start: Any, totals: dict[Any, tuple[Any, frozenset[str]]]) -> None:
        self.start, self.totals = start, totals

    def at(self, key: Any, default: Any) -> Any:
        """Return the sum under a key."""
        if key not in self.totals:  # no record has it
            return default
        total, kinds = self.totals[key]
        if not isinstance(total, Number):
            refuse("a sum by a key of the data to which nothing is added", BY_KEY)
        return total.same(kinds=kinds | {kind_of_plain(default)})


def _key(key: Any) -> Any:
    if type(key) is _Pair:
        return key
    parts = key if type(key) is tuple else (key,)
    if any(type(each) not in (str, int, bool) for each in parts):
        refuse("a key of a dict by keys of the data that is no text, no whole number and no truth value", BY_KEY)
    return key
