"""Which pairs of tiny datasets exist over a small domain? All of them.

What goes wrong with many records mostly goes wrong with three, and three can be tried in every way: the ends and the
middle of each range, and every allowed value.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.dataset import ABSENT, Dataset, NewRecord, Part, Sort, dataset_of
from dpaudit.neighbours.domain import Allowed, Range, blank, column_domains
from dpaudit.neighbours.relation import Relation, parse_relation

# --- How is a pair of neighbours made from a user's data, when it is needed? ---

_MANY_CUTS = 64  # from which picking records by their places is faster than cutting them out one by one


@dataclass(frozen=True, eq=False)
class LazyPair:
    """A pair of neighbours that can be made."""

    name: str  # what changes, in places of records (counted from 0) and values of ours, never of the user's data
    kind: str  # "extreme", "outlier", "odd value", "copy", "removal", "order", "base" or "tiny"
    make: Callable[[], tuple[Any, Any]] = field(repr=False)  # makes the two datasets
    sort: str = ""  # the sort of change within its kind: if only a few can be tried, one of each sort comes first
    # the records that both sides are made from, and how; None where they are made in another way
    sides: tuple[Dataset, Side, Side] | None = field(default=None, repr=False)
    made_up: bool = False  # whether it holds a value that is neither declared nor among those of the data

    def pair(self) -> tuple[Any, Any]:
        """Make the pair; a side that needs no change is the user's own object."""
        return self.make()


@dataclass(frozen=True, eq=False)
class Side:
    """How one side of a pair is made from the data."""

    # the places of the records that it starts from; None for all of them
    own: np.ndarray[Any, Any] | tuple[int, ...] | None = None
    dropped: tuple[int, ...] = ()  # places of records that are left out
    put: tuple[tuple[int, NewRecord], ...] = ()  # made records by the places that they take
    added: tuple[NewRecord, ...] = ()  # made records after all others
    # where added records come: "" after all others, "first", or "between", in the middle
    order: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it is the data themselves."""
        return self.own is None and not (self.dropped or self.put or self.added or self.order)

    def parts(self, size: int) -> list[Part]:
        """Return the parts that the side is built from."""
        added: list[Part] = [list(self.added)] if self.added else []
        if self.order == "between":
            places = np.arange(size) if self.own is None else np.asarray(self.own, dtype=np.intp)
            half = len(places) // 2
            return [places[:half], *added, places[half:]]
        return added + self._kept(size) if self.order == "first" else self._kept(size) + added

    def _kept(self, size: int) -> list[Part]:
        cuts: dict[int, NewRecord | None] = dict.fromkeys(self.dropped) | dict(self.put)
        if self.own is not None or len(cuts) > _MANY_CUTS:
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
        parts: list[Part] = [places] if len(places) else []
        return [*parts, [made for _, made in self.put]] if self.put else parts


def made_of(dataset: Dataset, name: str, kind: str, side0: Side, side1: Side, sort: str = "") -> LazyPair:
    """Return the candidate made of two sides of a dataset."""
    return LazyPair(name, kind, partial(_built, dataset, side0, side1), sort, (dataset, side0, side1))


def values_put(pair: LazyPair) -> Iterator[tuple[int, Any]]:
    """Yield the values that a pair puts into the data, each with the number of its column."""
    for side in () if pair.sides is None else pair.sides[1:]:
        for made in (*side.added, *(made for _, made in side.put)):
            yield from made.fields.items()


def _built(dataset: Dataset, side0: Side, side1: Side) -> tuple[Any, Any]:
    return dataset.build(side0.parts(dataset.size)), dataset.build(side1.parts(dataset.size))


def on_fewer_records(pairs: Sequence[LazyPair], most: int) -> list[LazyPair]:
    """The same changes on a part of the data: on all records that a change names, and others evenly among them."""
    dataset = next((each.sides[0] for each in pairs if each.sides is not None), None)
    if dataset is None or dataset.size <= 2 * most:
        return list(pairs)
    named = {place for each in pairs for place in _places_touched(each)}
    kept = np.union1d(np.linspace(0, dataset.size - 1, most).astype(np.intp), np.array(sorted(named), dtype=np.intp))
    if 2 * len(kept) > dataset.size:
        return list(pairs)
    base = Side(own=kept)
    whole = cache(lambda: dataset.build(base.parts(dataset.size)))

    def build(side: Side) -> Any:
        return whole() if side.is_whole else dataset.build(_on(side, kept).parts(dataset.size))

    return [
        each
        if each.sides is None or all(side.own is not None for side in each.sides[1:])
        else replace(each, make=partial(_both, build, each.sides[1], each.sides[2]), sides=None)
        for each in pairs
    ]


def _on(side: Side, kept: np.ndarray[Any, Any]) -> Side:
    return replace(side, own=kept) if side.own is None else side


def _both(build: Callable[[Side], Any], side0: Side, side1: Side) -> tuple[Any, Any]:
    return build(side0), build(side1)


def _places_touched(pair: LazyPair) -> Iterator[int]:
    """Yield the places of the records that a pair changes or copies."""
    for side in () if pair.sides is None else pair.sides[1:]:
        yield from side.dropped
        yield from (place for place, _ in side.put)
        yield from (made.like for made in (*side.added, *(made for _, made in side.put)) if made.like is not None)


# --- Which pairs of tiny datasets exist over a small domain? All of them. ---

_MANY_RECORDS = 64  # largest number of different records that datasets are made of


def tiny_pairs(
    domain: Any, relation: Relation | str, *, size: int = 3, limit: int = 10_000, like: Any = None
) -> list[LazyPair]:
    """Return all pairs of neighbours with at most ``size`` records each over a small domain, the smallest first."""
    relation = parse_relation(relation)
    if domain is None:
        raise UsageError("tiny datasets are made over a declared domain; give one: {'age': (0, 120)}, or (0, 1)")
    if relation.kind == "declared":
        raise UsageError("no neighbours follow from the relation 'declared'; give one with records or answers")
    if relation.kind == "queries":
        return list(itertools.islice(_answers(domain, relation, size), limit))
    dataset = dataset_of(like) if like is not None else blank(domain)
    domains = column_domains(domain, dataset)
    column = None if relation.person is None else dataset.numbered(relation.person)
    records = grid(dataset, domains)
    shown = [_record_text(dataset, {number: record[number] for number in domains}) for record in records]
    people = None if column is None else [record[column] for record in records]
    return list(itertools.islice(_pairs(dataset, records, shown, relation, size, people), limit))


def grid(dataset: Dataset, domains: Mapping[int, Allowed]) -> list[dict[int, Any]]:
    """Return the records that are tried, as values by columns: the ends of ranges first, then their middles."""
    axes = [
        _points(dataset, number, domains[number]) if number in domains else [column.plain]
        for number, column in enumerate(dataset.columns)
    ]
    if math.prod(map(len, axes)) <= _MANY_RECORDS:
        return [dict(enumerate(record)) for record in itertools.product(*axes)]
    # one end or the other in all columns at once, then in one column alone
    longest = max(map(len, axes))
    records = [[axis[min(place, len(axis) - 1)] for axis in axes] for place in range(longest)]
    for number, axis in enumerate(axes):
        records += [[*records[0][:number], value, *records[0][number + 1 :]] for value in axis[1:]]
    unique = {repr(record): dict(enumerate(record)) for record in records}
    return list(unique.values())[:_MANY_RECORDS]


def _points(dataset: Dataset, number: int, allowed: Allowed) -> list[Any]:
    column = dataset.columns[number]
    if not isinstance(allowed, Range):
        values = [column.missing if value is None else column.cast(value) for value in allowed.values]
        return [value for value in values if value is not ABSENT]
    low, high = allowed.low, allowed.high
    middle = (low + high) // 2 if column.sort is Sort.WHOLE else low + (high - low) / 2
    points = list(dict.fromkeys(column.cast(value) for value in (low, high, middle)))
    return [*points, column.missing] if allowed.missing and column.missing is not ABSENT else points


def _pairs(
    dataset: Dataset,
    records: Sequence[Mapping[int, Any]],
    shown: Sequence[str],
    relation: Relation,
    size: int,
    people: Sequence[Any] | None,
) -> Iterator[LazyPair]:
    """Yield pairs of datasets: common records with what each side has in addition.

    ``shown`` describes the records, and ``people`` are those who own them, under a relation of persons.
    """
    most = size if relation.person is not None else relation.group
    for total in range(1, 2 * size + 1):
        for gone, come in _changes(len(records), relation, most, total):
            rest = total - len(gone) - len(come)
            if rest % 2 or rest < 0 or rest // 2 + max(len(gone), len(come)) > size:
                continue
            for common in itertools.combinations_with_replacement(range(len(records)), rest // 2):
                if people is not None:
                    owners = [[people[place] for place in places] for places in (common, gone, come)]
                    if not relation.accepts_people(*owners):
                        continue
                sides = [[NewRecord(None, records[place]) for place in (*common, *own)] for own in (gone, come)]
                name = " and ".join(_records_text(shown, (*common, *own)) for own in (gone, come))
                apart = _columns_apart([records[place] for place in (*common, *gone, *come)])
                sort = f"{len(common)} {len(gone)} {len(come)} {apart}"
                yield LazyPair(name, "tiny", partial(_built_at, dataset, sides[0], sides[1]), sort)


def _columns_apart(records: Sequence[Mapping[int, Any]]) -> str:
    """In which column records differ: "none", its number, or "many"."""
    first = records[0]
    apart = {number for record in records for number, value in record.items() if repr(value) != repr(first[number])}
    return "many" if len(apart) > 1 else str(next(iter(apart), "none"))


def _changes(
    count: int, relation: Relation, most: int, total: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield what only side 0 has and what only side 1 has, each pair of multisets once."""
    for less, more in itertools.product(range(most + 1), repeat=2):
        if less > more or more == 0 or less + more > total:
            continue
        if relation.person is None and (less + more > most if relation.kind == "add-remove" else less != more):
            continue
        for gone in itertools.combinations_with_replacement(range(count), less):
            for come in itertools.combinations_with_replacement(range(count), more):
                if not Counter(gone) & Counter(come) and (less < more or gone < come):
                    yield gone, come


def _built_at(dataset: Dataset, side0: list[NewRecord], side1: list[NewRecord]) -> tuple[Any, Any]:
    return dataset.build([side0] if side0 else []), dataset.build([side1] if side1 else [])


def _records_text(shown: Sequence[str], places: Sequence[int]) -> str:
    return "[" + ", ".join(shown[place] for place in places) + "]"


def _record_text(dataset: Dataset, record: Mapping[int, Any]) -> str:
    """A description of a record by its declared columns alone: other columns may hold personal data."""
    values = {dataset.columns[n].name: v.item() if hasattr(v, "item") else v for n, v in record.items()}
    if None in values:
        return repr(values[None])
    return "(" + ", ".join(f"{name}={value!r}" for name, value in values.items()) + ")"


def _answers(domain: Any, relation: Relation, size: int) -> Iterator[LazyPair]:
    dataset = blank(domain)
    allowed = column_domains(domain, dataset)
    if len(dataset.columns) != 1 or dataset.columns[0].name is not None or not dataset.columns[0].sort.numeric:
        raise UsageError("under 'queries' the data are answers; give a domain of numbers: (0, 3)")
    points = _points(dataset, 0, allowed[0])
    for length in range(1, size + 1):
        moves = [move for move in itertools.product((0, 1, -1), repeat=length) if any(move)]
        for start in itertools.product(points, repeat=length):
            for move in moves:
                end = [value + relation.group * step for value, step in zip(start, move, strict=True)]
                if all(value in allowed[0] for value in end) and relation.accepts(list(start), end):
                    yield LazyPair(f"answers {list(start)} and {end}", "tiny", partial(_both_sides, list(start), end))


def _both_sides(answers0: list[Any], answers1: list[Any]) -> tuple[Any, Any]:
    return list(answers0), list(answers1)
