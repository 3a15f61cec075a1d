"""Which changes of a user's records make neighbours under add-remove and replace?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.neighbours.candidates.edge_values import (
    BEHIND,
    CODE,
    EXTREME,
    ODD,
    EdgeValue,
    edge_values,
    is_of_data,
    seen_in,
    values_behind,
    values_near,
)
from dpaudit.neighbours.candidates.exhaustive import LazyPair, Side, made_of
from dpaudit.neighbours.dataset import Dataset, NewRecord, Sort, is_missing
from dpaudit.neighbours.digest import digest
from dpaudit.neighbours.domain import Allowed, ListedValues, Range
from dpaudit.neighbours.relation import People, Places, Relation

# chosen to cover what releases commonly get wrong in a few hundred candidates; no benchmark measures them
_MANY_RECORDS = 100  # of a person who contributes very many
_SEEN = 10  # records read for each different value that is wanted
_LISTED = 3  # columns that a name lists before it counts the others
_WIDE = 40  # largest number of columns that are varied one by one
_EQUAL_RECORDS = (1, 2, 10)  # sizes of made datasets of equal records
_FIRST_RECORDS = (1, 2, 3, 4, 5, 8, 10, 15, 20, 30, 50, 100)  # sizes of datasets of the first records of the data
_HALF = 5
_ODD_FIRST = ("NaN", "missing", "inf", "new category", "-inf", "empty text", "long text")
_ODD_LAST = ("0", "1", "-1", str(2**53 + 1), "-0.0", "0.0", "denormal", "odd text")
_OF_CODE = (CODE, BEHIND)
_CROSSED = 120  # records of one, two and three values that stand in a function's code
_COPIES = 60  # pairs in which one extreme record replaces another

_KEY = 200  # characters by which values are one
_ORDERS = {"first": "before all others", "between": "in the middle of all others"}
"""Where records that join are put, beside the end."""


@dataclass(frozen=True, slots=True)
class Try:
    """A record to try: values by columns, a description, and whether they are large or small (see `EdgeValue`)."""

    kind: str
    words: str
    fields: Mapping[int, Any]
    column: int
    lean: int
    level: str


class Changes:
    """The candidates of one dataset under one relation, add-remove or replace."""

    def __init__(
        self,
        dataset: Dataset,
        relation: Relation,
        domains: Mapping[int, Allowed],
        usable: np.ndarray[Any, Any],
        beyond: bool,
        rng: np.random.Generator,
        numbers: Sequence[Any] = (),
    ) -> None:
        self.dataset, self.relation, self.rng = dataset, relation, rng
        self.steps = relation.group
        person = None if relation.person is None else dataset.numbered(relation.person)
        self.people = People(dataset, person, usable)
        self.unit = "record" if person is None else "person"
        self.domains = domains
        self.allowed_names = domains.get(-1 if person is None else person) if not beyond else None
        columns = [number for number in range(len(dataset.columns)) if number != person]
        if len(columns) > _WIDE:
            columns = sorted(rng.choice(columns, _WIDE, replace=False).tolist())
        self.seen = {number: seen_in(dataset, number, self.people.usable, self.steps) for number in columns}
        self.values = {
            number: edge_values(dataset, number, self.seen[number], domains.get(number), beyond=beyond)
            for number in columns
        }
        self.near = {
            number: values_near(
                numbers, dataset, number, self.seen[number], domains.get(number) if not beyond else None
            )
            for number in columns
        }
        self.behind = {
            number: values_behind(
                numbers, dataset, number, self.seen[number], domains.get(number) if not beyond else None
            )
            for number in columns
        }
        self.spreads: dict[int, list[Any]] = {}
        self._made_up: dict[tuple[int, str], bool] = {}
        self.typical = self._typical()
        self.plain = (
            {}
            if self.typical is not None
            else {number: self.values[number][0].value for number in domains if self.values.get(number)}
        )
        self.tries = [*self._tries(), *self._crossed()]

    def candidates(self, limit: int) -> Iterator[LazyPair]:
        """Yield candidates, those of each kind best first, and at most ``limit`` removals."""
        if self.relation.kind == "add-remove":
            yield from self._added()
            yield from self._removed(limit)
        else:
            yield from self._replaced()
        yield from self._among_the_first()
        yield from self._made()

    def is_made_up(self, put: tuple[int, Any]) -> bool:
        """Whether the value of a column is neither declared nor in the data, nor a number between two of the data."""
        number, value = put
        if number in self.domains or number == self.people.column or not self.dataset.size:
            return False
        key = number, repr(value)[:_KEY]
        if key not in self._made_up:
            self._made_up[key] = not is_of_data(self.dataset, number, self.seen.get(number), value)
        return self._made_up[key]

    # --- what is tried ---

    def _typical(self) -> int | None:
        """The place of a record to start from: an early one without missing values, if there is one."""
        places = np.flatnonzero(self.people.usable)[:100].tolist()
        whole = (
            place
            for place in places
            if not any(is_missing(self.dataset.value(place, number)) for number in self.values)
        )
        return next(whole, places[0] if places else None)

    def _tries(self) -> Iterator[Try]:
        """Yield records to try, level by level: with all columns at the level, then with one column alone."""
        levels = dict.fromkeys(value.level for values in self.values.values() for value in values)
        for level in sorted(levels, key=_rank):
            takers = {
                number: value for number, values in self.values.items() for value in values if value.level == level
            }
            first, example = next(iter(takers.items()))
            if len(takers) > 1:
                fields = {number: value.value for number, value in takers.items()}
                yield Try(example.kind, self._together(takers), self.plain | fields, first, example.lean, level)
            for number, value in takers.items():
                words = f"{self.dataset.columns[number].title} {value.words}"
                yield Try(value.kind, words, self.plain | {number: value.value}, number, value.lean, level)

    def _together(self, takers: Mapping[int, EdgeValue]) -> str:
        """A description of several columns at once: which they are, or the first of them."""
        titles = [self.dataset.columns[number].title for number in takers]
        if len(titles) > _LISTED + 1:
            titles = [*titles[:_LISTED], f"{len(titles) - _LISTED} more columns"]
        said = "all columns" if len(takers) == len(self.values) else f"{', '.join(titles[:-1])} and {titles[-1]}"
        words = {value.words.replace(" its ", " their ") for value in takers.values()}
        return f"{said} {words.pop()}" if len(words) == 1 else f"{said} at their {next(iter(takers.values())).level}"

    def _crossed(self) -> Iterator[Try]:
        """Yield records with values that stand in a function's code, in one column, and in two or three at once."""
        near = {number: values for number, values in self.near.items() if values}
        for count in (1, 2, 3):
            every = [
                dict(zip(columns, values, strict=True))
                for columns in itertools.combinations(near, count)
                for values in itertools.product(*(near[number] for number in columns))
            ]
            yield from self._of_code(CODE, every, f"code {count}")
        behind = [(number, value) for number, values in self.behind.items() for value in values]
        yield from self._of_code(BEHIND, [{number: value} for number, value in behind], "one column")
        every = [
            {number: value, other: beside}
            for number, value in behind
            for other in self.behind
            if other != number
            for beside in (*near.get(other, ()), *self.behind[other])
        ]
        yield from self._of_code(BEHIND, every, "two columns")

    def _of_code(self, kind: str, every: Sequence[dict[int, Any]], level: str) -> Iterator[Try]:
        """Yield records with such values, some of them where they are many."""
        places: Sequence[int] = range(len(every))
        if len(every) > _CROSSED:
            places = sorted(self.rng.choice(len(every), _CROSSED, replace=False).tolist())
        for fields in (every[place] for place in places):
            gap = any(map(is_missing, fields.values()))
            shown = (f"{value!s:.40}" if not is_missing(value) else "NaN" for value in fields.values())
            titles = (self.dataset.columns[number].title for number in fields)
            words = ", ".join(f"{title} = {value}" for title, value in zip(titles, shown, strict=True))
            words += "" if gap and len(fields) == 1 else ", near what stands in the code"
            yield Try(kind, words, self.plain | fields, next(iter(fields)), 0, level)

    def _notable(self) -> list[tuple[int, ...]]:
        """Places of the extreme records of all columns (as many as the group has), and of a typical and a last one."""
        groups = [places for seen in self.seen.values() for places in seen.groups]
        last = np.flatnonzero(self.people.usable)[-1:].tolist()
        return list(dict.fromkeys([*groups, *((place,) for place in [self.typical, *last] if place is not None)]))

    # --- records that join ---

    def _added(self) -> Iterator[LazyPair]:
        times = "" if self.steps == 1 else f", {self.steps} times"
        for one in self.tries:
            for many in (1,) if self.people.column is None or one.kind in _OF_CODE else (1, _MANY_RECORDS):
                records = self._newcomers([NewRecord(self.typical, one.fields)] * many)
                if not records:
                    continue
                of_many = "" if many == 1 else f" with {many} records"
                name = f"{self.unit} added{of_many}{times}: {one.words}"
                yield self._pair(name, one.kind, Side(added=records), f"{one.level}{of_many}")
                different = () if one.kind in _OF_CODE else self._newcomers(self._different(one, many))
                if different:
                    name = f"{self.unit} added with {many} different records{times}: {one.words}"
                    yield self._pair(name, one.kind, Side(added=different), f"{one.level} different")
                if one.kind == EXTREME and self.dataset.size and (many == 1 or different):
                    joining, which = (records, "") if many == 1 else (different, f" with {many} different records")
                    for order, where in _ORDERS.items():
                        name = f"{self.unit} added {where}{which}{times}: {one.words}"
                        yield self._pair(name, "order", Side(added=joining, order=order), f"{one.level}{which} {order}")
        for places in self._notable():
            own = self.people.of(places[0])
            records = self._newcomers([NewRecord(place) for place in own])
            if records:
                yield self._pair(f"a copy of {self.people.words([own])} added{times}", "copy", Side(added=records))
        if self.people.column is not None:
            yield from self._of_everybody()
        elif self.steps == 1:
            yield from self._contrary()

    def _of_everybody(self) -> Iterator[LazyPair]:
        """A person with a copy of every different record of the others: who comes first may own what all have."""
        first: dict[str, int] = {}
        for place in np.flatnonzero(self.people.usable)[: _SEEN * _MANY_RECORDS].tolist():
            first.setdefault(self._held((place,))[0], place)
        records = self._newcomers([NewRecord(place) for place in list(first.values())[:_MANY_RECORDS]])
        for order, where in ({**_ORDERS, "": "after all others"} if len(first) > 1 and records else {}).items():
            name = f"person added {where} with every different record of the others"
            yield self._pair(name, "copy", Side(added=records, order=order), f"everybody {order}")

    def _contrary(self) -> Iterator[LazyPair]:
        """Copies of a column's extreme record with the value of its other end: what is kept of two that are alike?"""
        for number, seen in self.seen.items():
            for places, lean in ((seen.highs, -1), (seen.lows, 1)):
                ends = [each for each in self.values[number] if each.kind != ODD and each.lean == lean]
                for end in ends[:2] if places else []:  # of the domain or the data, and beyond
                    made = (NewRecord(places[0], {number: end.value}),)
                    title = self.dataset.columns[number].title
                    for order, where in {**_ORDERS, "": "after all others"}.items():
                        name = f"a copy of record {places[0]} added {where}, but with {title} {end.words}"
                        yield self._pair(name, "copy", Side(added=made, order=order), f"contrary {end.kind} {order}")

    def _newcomers(self, records: Sequence[NewRecord]) -> tuple[NewRecord, ...]:
        """These records once for each step, each time of a new person; empty if there are no names left."""
        names = self.people.new(self.steps, self.allowed_names)
        return tuple(self._of(made, name) for name in names for made in records) if len(names) == self.steps else ()

    def _different(self, one: Try, many: int) -> list[NewRecord]:
        """Records with the tried values that differ in everything else, because a release may drop duplicates."""
        if many == 1:
            return []
        tried = {number: value for number, value in one.fields.items() if self.plain.get(number, one) is not value}
        axes = {number: self._spread(number, many) for number in self.values if number not in tried}
        axes = {number: values for number, values in axes.items() if len(values) > 1}
        if not axes:
            return []
        return [
            NewRecord(self.typical, {**one.fields, **{number: axis[i % len(axis)] for number, axis in axes.items()}})
            for i in range(many)
        ]

    def _spread(self, number: int, many: int) -> list[Any]:
        """Different values of a column: over its declared domain, else from the data."""
        if number not in self.spreads:
            allowed, column = self.domains.get(number), self.dataset.columns[number]
            if isinstance(allowed, ListedValues):
                spread = [column.cast(value) for value in allowed.values[:many] if value is not None]
            elif isinstance(allowed, Range) and column.sort.numeric:
                low, span = allowed.low, allowed.high - allowed.low
                points = [low + span * i / (many - 1) for i in range(many)]
                spread = [column.cast(int(point) if column.sort is Sort.WHOLE else point) for point in points]
            else:
                places = np.flatnonzero(self.people.usable)[: _SEEN * many].tolist()
                spread = [self.dataset.value(place, number) for place in places]
            unique = {repr(value): value for value in spread if not is_missing(value)}
            self.spreads[number] = list(unique.values())[:many]
        return self.spreads[number]

    def _of(self, made: NewRecord, name: Any) -> NewRecord:
        return made if self.people.column is None else NewRecord(made.like, {**made.fields, self.people.column: name})

    # --- records that leave ---

    def _removed(self, limit: int) -> Iterator[LazyPair]:
        seen = set()
        for places in [*self._notable(), *((place,) for place in self.people.sample(limit, self.rng))]:
            people = self.people.together(places, self.steps)
            dropped = tuple(place for own in people for place in own)
            if dropped in seen:
                continue
            seen.add(dropped)
            words = self.people.words(people)
            yield self._pair(f"{words} removed", "removal", Side(dropped=dropped))

    # --- records in the place of others ---

    def _replaced(self) -> Iterator[LazyPair]:
        for one in self.tries:
            people = self._giving_way(one)
            if not people:
                continue
            put = tuple((place, NewRecord(place, one.fields)) for own in people for place in own)
            words = self.people.words(people)
            yield self._pair(f"{words} replaced: {one.words}", one.kind, Side(put=put), one.level)
            if one.kind != EXTREME:
                continue
            if self.dataset.size > 1:
                ahead = Side(
                    dropped=tuple(place for place, _ in put), added=tuple(made for _, made in put), order="first"
                )
                yield self._pair(f"{words} replaced, {_ORDERS['first']}: {one.words}", "order", ahead, one.level)
            if self.people.column is not None:
                more = tuple(NewRecord(own[0], one.fields) for own in people for _ in range(_MANY_RECORDS - len(own)))
                if more and all(self.people.named(own[0]) for own in people):
                    name = f"{words} replaced by {_MANY_RECORDS} records: {one.words}"
                    yield self._pair(name, one.kind, Side(put=put, added=more), f"{one.level} many")
                different = self._different(one, _MANY_RECORDS)
                if different and len(people) == 1 and self.people.named(people[0][0]):
                    column = self.people.column
                    own = self.dataset.value(people[0][0], column)
                    records = tuple(NewRecord(made.like, {**made.fields, column: own}) for made in different)
                    name = f"{words} replaced by {_MANY_RECORDS} different records: {one.words}"
                    yield self._pair(name, one.kind, Side(dropped=people[0], added=records), f"{one.level} different")
            for other in self._opposites(one):
                sides = [
                    Side(put=tuple((place, NewRecord(place, tried.fields)) for own in people for place in own))
                    for tried in (other, one)
                ]
                name = f"{words}: {other.words}, replaced: {one.words}"
                yield made_of(self.dataset, name, EXTREME, sides[0], sides[1], "opposites")
        yield from itertools.islice(self._exchanged(), _COPIES)

    def _giving_way(self, one: Try) -> list[Places]:
        """Whose records are replaced: those at the other end of the column, or anyone whose records differ."""
        seen = self.seen[one.column]
        away = seen.lows if one.lean > 0 else seen.highs if one.lean < 0 else seen.rare
        typical = () if self.typical is None else (self.typical,)
        for places in (away, seen.common, typical):
            people = self.people.together(places, self.steps)
            if any(self._differs(place, one.fields) for own in people for place in own):
                return people
        return []

    def _opposites(self, one: Try) -> list[Try]:
        """Extreme records at the other end in the same columns, the first of their kind."""
        if one.lean <= 0:
            return []
        opposites = [
            other
            for other in self.tries
            if other.kind == EXTREME and other.lean == -one.lean and _differ(other.fields, one.fields)
        ]
        rank = [
            other
            for other in self.tries
            if other.kind == EXTREME and other.lean == one.lean and other.fields.keys() == one.fields.keys()
        ].index(one)
        return opposites[rank : rank + 1] or opposites[:1]

    def _exchanged(self) -> Iterator[LazyPair]:
        """One person's records replaced by a copy of another's."""
        people = {own[0]: own for places in self._notable() for own in [self.people.of(places[0])]}
        for own in people.values():
            for other in people.values():
                group = self.people.together(own, self.steps)
                if all(self._held(one) == self._held(other) for one in group):
                    continue
                name = f"{self.people.words(group)} replaced by a copy of {self.people.words([other])}"
                if self.people.column is None:
                    put = tuple((place, NewRecord(other[0])) for one in group for place in one)
                    yield self._pair(name, "copy", Side(put=put))
                    continue
                column = self.people.column
                if not all(self.people.named(one[0]) for one in group):
                    continue
                copies = tuple(
                    NewRecord(place, {column: self.dataset.value(one[0], column)}) for one in group for place in other
                )
                dropped = tuple(place for one in group for place in one)
                yield self._pair(name, "copy", Side(dropped=dropped, added=copies))

    def _held(self, places: Places) -> list[str]:
        """What a person's records hold, except the name."""
        columns = [number for number in range(len(self.dataset.columns)) if number != self.people.column]
        return sorted(digest([self.dataset.value(place, number) for number in columns]) for place in places)

    def _differs(self, place: int, fields: Mapping[int, Any]) -> bool:
        return any(digest(value) != digest(self.dataset.value(place, number)) for number, value in fields.items())

    def _unusual(self, fields: Mapping[int, Any]) -> bool:
        """Whether a record with these values differs from the one that made records are based on."""
        if self.typical is not None:
            return self._differs(self.typical, fields)
        return _differ({n: self.plain.get(n, self.dataset.columns[n].plain) for n in fields}, fields)

    # --- other datasets than the user's own: the first of their records, and made ones ---

    def _among_the_first(self) -> Iterator[LazyPair]:
        """The first records of the data, with and without the last of them, because thresholds are at small counts."""
        if self.people.column is not None or self.typical is None:
            return
        lean = next((one for one in self.tries if one.kind == EXTREME), None)
        for size in _FIRST_RECORDS:
            if size > self.dataset.size or size < self.steps or not self.people.usable[:size].all():
                break
            first, last = np.arange(size), tuple(range(size - self.steps, size))
            named = "the first record alone" if size == 1 else f"the first {size} records"
            whole = Side(own=first)
            if self.relation.kind == "add-remove":
                yield made_of(
                    self.dataset,
                    f"{named}, and without {self.people.words([(p,) for p in last]) if size > 1 else 'it'}",
                    "base",
                    whole,
                    Side(own=first, dropped=last),
                )
            elif lean is not None and any(self._differs(place, lean.fields) for place in last):
                put = tuple((place, NewRecord(place, lean.fields)) for place in last)
                words = self.people.words([(place,) for place in last])
                yield made_of(
                    self.dataset,
                    f"{named}, and with {words} replaced: {lean.words}",
                    "base",
                    whole,
                    Side(own=first, put=put),
                )

    def _made(self) -> Iterator[LazyPair]:
        """No record and one; and equal records with a different one."""
        if self.relation.kind == "add-remove":
            for one in self.tries:
                if one.kind == EXTREME:
                    record = NewRecord(self.typical, one.fields)
                    yield from self._base(f"no record, or one: {one.words}", [], [record], sort=one.level)
            for places in self._notable():
                words = self.people.words([(places[0],)])
                yield from self._base(f"no record, or a copy of {words} alone", [], [NewRecord(places[0])], sort="copy")
        for one in self.tries:
            for other in self._opposites(one) if one.kind == EXTREME else []:
                for low, high in ((other, one), (one, other)):
                    yield from self._beside(low, high)
        if self.relation.kind == "replace":
            for one in self.tries:
                if one.kind not in _OF_CODE and self._unusual(one.fields):
                    record0, record1 = NewRecord(self.typical, self.plain), NewRecord(self.typical, one.fields)
                    name = f"one record alone, and replaced: {one.words}"
                    yield from self._base(name, [], [record1], [record0], one.level)
        else:
            for one in self.tries:
                if one.kind not in (EXTREME, *_OF_CODE):
                    record = NewRecord(self.typical, one.fields)
                    yield from self._base(f"no record, or one: {one.words}", [], [record], sort=one.level)
                    if any(map(is_missing, one.fields.values())):  # an empty dataset is an edge, which may hide it
                        plain = NewRecord(self.typical, self.plain)
                        yield from self._base(f"1 record; one more: {one.words}", [plain], [record], sort="beside one")

    def _beside(self, low: Try, high: Try) -> Iterator[LazyPair]:
        """Equal records at one end, and one at the other end that is added or replaces one of them."""
        record0, record1 = NewRecord(self.typical, low.fields), NewRecord(self.typical, high.fields)
        replace = self.relation.kind == "replace"
        for size in _EQUAL_RECORDS:
            if replace and size < self.steps:
                continue
            what = "one of them replaced" if replace else "one more"
            name = f"{_records(size)}: {low.words}; {what}: {high.words}"
            rest = [record0] * (size - self.steps if replace else size)
            yield from self._base(name, rest, [record1], [record0] if replace else [], f"equal {size}")
        name = f"{_HALF} records: {low.words}; {_HALF} records: {high.words}; one more of the latter"
        yield from self._base(
            name + (", or of the former" if replace else ""),
            [record0] * _HALF + [record1] * _HALF,
            [record1],
            [record0] if replace else [],
            "half",
        )

    def _base(
        self,
        name: str,
        base: Sequence[NewRecord],
        more: Sequence[NewRecord],
        instead: Sequence[NewRecord] = (),
        sort: str = "",
    ) -> Iterator[LazyPair]:
        """Made datasets: the base with ``instead`` on one side and ``more`` on the other, once for each step."""
        names = self.people.new(len(base) + self.steps, self.allowed_names)
        if len(names) < len(base) + self.steps:
            return
        common = [self._of(made, name) for made, name in zip(base, names, strict=False)]
        sides = [
            Side(own=(), added=(*common, *(self._of(made, name) for name in names[len(base) :] for made in changing)))
            for changing in (instead, more)
        ]
        yield made_of(self.dataset, name, "base", sides[0], sides[1], sort)

    def _pair(self, name: str, kind: str, side: Side, sort: str = "") -> LazyPair:
        return made_of(self.dataset, name, kind, Side(), side, sort)


def _rank(level: str) -> int:
    """Sort key: ends of domains and data first, then the odd values on which releases go wrong most often."""
    return _ODD_FIRST.index(level) if level in _ODD_FIRST else len(_ODD_FIRST) if level in _ODD_LAST else -1


def _differ(fields0: Mapping[int, Any], fields1: Mapping[int, Any]) -> bool:
    """Whether two records have different values in the same columns."""
    return fields0.keys() == fields1.keys() and any(digest(fields0[n]) != digest(fields1[n]) for n in fields0)


def _records(size: int) -> str:
    return "1 record" if size == 1 else f"{size} records"
