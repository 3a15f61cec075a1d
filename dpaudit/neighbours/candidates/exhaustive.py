"""Which pairs of tiny datasets exist over a small domain? All of them.

What goes wrong with many records mostly goes wrong with three, and three can be tried in every way: the ends and the
middle of each range, and every allowed value.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.neighbours.candidates.lazy_pair import LazyPair
from dpaudit.neighbours.dataset import dataset_of
from dpaudit.neighbours.domain import Allowed, Range, blank, column_domains
from dpaudit.neighbours.records import ABSENT, Dataset, Made, Sort
from dpaudit.neighbours.relation import Relation, parse_relation

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
    shown = [_shown(dataset, {number: record[number] for number in domains}) for record in records]
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
                sides = [[Made(None, records[place]) for place in (*common, *own)] for own in (gone, come)]
                name = " and ".join(_told(shown, (*common, *own)) for own in (gone, come))
                apart = _columns_apart([records[place] for place in (*common, *gone, *come)])
                sort = f"{len(common)} {len(gone)} {len(come)} {apart}"
                yield LazyPair(name, "tiny", partial(_built, dataset, sides[0], sides[1]), sort)


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


def _built(dataset: Dataset, side0: list[Made], side1: list[Made]) -> tuple[Any, Any]:
    return dataset.build([side0] if side0 else []), dataset.build([side1] if side1 else [])


def _told(shown: Sequence[str], places: Sequence[int]) -> str:
    return "[" + ", ".join(shown[place] for place in places) + "]"


def _shown(dataset: Dataset, record: Mapping[int, Any]) -> str:
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
                    yield LazyPair(f"answers {list(start)} and {end}", "tiny", partial(_both, list(start), end))


def _both(answers0: list[Any], answers1: list[Any]) -> tuple[Any, Any]:
    return list(answers0), list(answers1)
