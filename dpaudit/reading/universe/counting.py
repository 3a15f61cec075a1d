"""What does a loop over records add up? Numbers, and dicts of sums by a key of each record.

Which keys there are is private: such a dict can be asked for a public key, and for nothing else.
"""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit.reading.universe import numbers
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.records import UNBOUND, Adding, Gone, Records, for_a_record, one_record
from dpaudit.reading.universe.state import Private, current_domain, refuse
from dpaudit.reading.universe.values import PUBLIC, kind_of_plain, sort_of

BY_KEY = "counts[key] = counts.get(key, 0) + 1; then {k: counts.get(k, 0) + laplace(…) for k in KEYS}"
_COUNT = "counts[key] = counts.get(key, 0) + 1"
_MOST_WAYS = 16
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
        start = None if factory is None else current_domain().default_of(made)
        if type(start) in (int, float) and start == 0:
            return start
        inner = start_of(start) if counts(start) else refuse
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
        sum_so_far = self.added.get(key)
        kinds = frozenset((str(kind_of_plain(default)),))
        return Adding((self.place, key), 0.0, 0.0, kinds) if sum_so_far is None else sum_so_far

    def store(self, key: Any, value: Any) -> None:
        """``counts[key] = …``; the first time, the sum up to there is 0."""
        if type(self.start) is list and type(key) is not _KeyPair:
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
        sum_so_far: Adding = self.m_get(key, default)
        self.store(key, sum_so_far)
        return sum_so_far


class Within(ByKey):
    """A dict under a key of such a dict."""

    __slots__ = ("key", "owner")

    def __init__(self, owner: ByKey, key: Any, start: Any) -> None:
        self.owner, self.key, self.start = owner, key, start

    def at(self, key: Any, default: Any) -> Any:
        """Return the sum under both keys."""
        return self.owner.at(_KeyPair((self.key, key)), default)

    def store(self, key: Any, value: Any) -> None:
        """``counts[one][other] = …``."""
        if not isinstance(self.owner, Counting):
            refuse("a change of a dict by keys of the data after the loop", BY_KEY)
        self.owner.store(_KeyPair((self.key, _key(key))), value)


class _KeyPair(tuple[Any, Any]):
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
    if type(key) is _KeyPair:
        return key
    parts = key if type(key) is tuple else (key,)
    if any(type(each) not in (str, int, bool) for each in parts):
        refuse("a key of a dict by keys of the data that is no text, no whole number and no truth value", BY_KEY)
    return key


# --- loops ------------------------------------------------------------------------------------------------


def folded(records: Records, body: Callable[..., Any], fresh: Sequence[bool], before: Sequence[Any]) -> list[Any]:
    """What a loop over records makes of the names that it sets: numbers it adds to, or nothing that may be used.

    A name that the loop sets for some record has no value where another one begins, since which record came before is
    private. A dict of sums stays the one that it is, whoever else keeps it.
    """
    sums: dict[Any, dict[Any, Any]] = {place: each for place, each in enumerate(before) if _is_of_sums(each)}
    for place, outer in enumerate(before):
        if type(outer) is dict and outer and all(map(_is_of_sums, outer.values())):
            sums |= {(place, key): each for key, each in outer.items()}
    for each in sums.values():
        current_domain().own(each)
    if len(set(map(id, sums.values()))) < len(sums):
        refuse("a loop over records that adds to one dict by two names", "one name")
    starts = {place: start_of(each) for place, each in enumerate(before) if fresh[place] and counts(each)}
    carried = {place for place, each in enumerate(before) if each is UNBOUND or type(each) is Gone}
    while True:
        given = [_given(place, each, place in carried) for place, each in enumerate(before)]
        makers = {p: functools.partial(Counting, p, start) for p, start in starts.items() if p not in carried}
        added, changed = _folded_once(records, body, given, sums, makers)
        more = {place for place in changed if not isinstance(place, tuple)} - carried
        more = {place for place in more if given[place] is before[place]}
        if not more:
            break
        carried |= more
    for place, each in sums.items():
        totals = {
            key: Gone() if (place, key) in changed else _added(records, value, added.get((place, key)))
            for key, value in each.items()
        }
        each.update(totals)
    out: list[Any] = []
    for place, each in enumerate(before):
        if place in changed:
            out.append(Gone())
        elif place in makers:
            listed = {key[1]: what for key, what in added.items() if key[0] == place}
            totals = {key: (_added(records, 0, what), frozenset(what[2])) for key, what in listed.items()}
            out.append(Counted(starts[place], totals))
        elif isinstance(given[place], Adding):
            out.append(_added(records, each, added.get((place, None))))
        else:
            out.append(each)
    return out


def _is_of_sums(value: Any) -> bool:
    return type(value) is dict and bool(value) and all(map(_can_add, value.values()))


def _given(place: int, value: Any, is_carried: bool) -> Any:
    """Return what a name holds where a record begins."""
    if is_carried:
        return UNBOUND
    return Adding((place, None), 0.0, 0.0, _kinds(value)) if _can_add(value) else value


def _folded_once(
    records: Records,
    body: Callable[..., Any],
    given: Sequence[Any],
    sums: dict[Any, dict[Any, Any]],
    makers: Mapping[int, Callable[..., Any]],
) -> tuple[dict[Any, Any], set[Any]]:
    """Return what each record adds to which numbers, and which names and items are set to something else.

    Where a record asks whether a dict has a key, both answers have to come to the same.
    """
    domain = current_domain()
    added: dict[Any, Any] = {}
    changed: set[Any] = set()
    kept = {place: dict(each) for place, each in sums.items()}
    try:
        for number, record in enumerate(records.values):
            pending: list[dict[Any, bool]] = [{}]
            ways = []
            while pending:
                answers = pending.pop()
                known = len(answers)
                for place, each in sums.items():
                    each.update({key: Adding((place, key), 0.0, 0.0, _kinds(v)) for key, v in kept[place].items()})
                with one_record():
                    for each in sums.values():
                        domain.born(each)
                    by_key = {place: make(answers) for place, make in makers.items()}
                    given = [by_key.get(place, each) for place, each in enumerate(given)]
                    after = for_a_record(body, record, *given)
                ways.append(_added_by(given, after, sums, kept, by_key, changed))
                asked = list(answers.items())
                pending += [{**dict(asked[:place]), asked[place][0]: True} for place in range(known, len(asked))]
                if len(ways) > _MOST_WAYS:
                    refuse("a loop over records that asks for many keys whether they are there", _COUNT)
            alike = [{key: (value.low, value.high) for key, value in each.items()} for each in ways]
            if any(each != alike[0] for each in alike):
                refuse("a loop over records that does another thing for the first record of a key", _COUNT)
            for key, value in ((key, value) for each in ways for key, value in each.items()):
                if key not in added:
                    added[key] = np.zeros(len(records.values)), np.zeros(len(records.values)), set()
                low, high, kinds = added[key]
                low[number], high[number] = value.low, value.high
                kinds.update(value.kinds)
    finally:
        for place, each in sums.items():
            each.clear()
            each.update(kept[place])
            domain.born(each)
    return added, changed


def _added_by(
    given: Sequence[Any],
    after: Sequence[Any],
    sums: Mapping[Any, dict[Any, Any]],
    kept: Mapping[Any, dict[Any, Any]],
    by_key: Mapping[int, Any],
    changed: set[Any],
) -> dict[Any, Adding]:
    """Return what a record adds to which numbers; note in ``changed`` what is set to something else."""
    pairs = [((place, None), each) for place, each in enumerate(after) if isinstance(given[place], Adding)]
    pairs += [((place, key), value) for place, each in by_key.items() for key, value in each.added.items()]
    for place, each in sums.items():
        holder = after[place] if type(place) is int else after[place[0]]
        if type(place) is not int:
            holder = holder.get(place[1]) if type(holder) is dict else None
        if holder is not each or list(each) != list(kept[place]):
            refuse(
                "a loop over records that changes which keys a dict has",
                "a dict with all keys: {c: 0 for c in CITIES}",
            )
        pairs += [((place, key), value) for key, value in each.items()]
    for place, each in enumerate(after):
        if not isinstance(given[place], Adding) and each is not given[place]:
            changed.add(place)
    added = {}
    for key, value in pairs:
        if isinstance(value, Adding) and value.key == key:
            added[key] = value
        else:
            changed.add(key if key[0] in sums else key[0])
    return added


def _can_add(value: Any) -> bool:
    return type(value) in (int, float, np.int64, np.float64) or (isinstance(value, Number) and not value.shape)


def _kinds(value: Any) -> frozenset[str]:

    return value.kinds if isinstance(value, Number) else frozenset((kind_of_plain(value) or "?",))


def _added(records: Records, start: Any, what: Any) -> Any:
    if what is None:
        return start
    low, high, kinds = what
    if not (np.any(low) or np.any(high)) and not isinstance(start, Number) and kinds <= _kinds(start):
        return start
    whole = bool(np.all(low == np.round(low)) and np.all(high == np.round(high))) and kinds <= {"int", "np.int64"}
    total = numbers.summed_of(
        records.rows,
        records.space,
        low,
        high,
        whole=whole,
        labels=None,
        columns=None,
        kinds=frozenset(kinds) | _kinds(start),
        is_sum=True,
    )
    return total.plus(start, 1) if isinstance(start, Number) or start else total
