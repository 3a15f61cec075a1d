"""For which datasets, and which neighbours, should a property hold? Strategies for Hypothesis.

    from hypothesis import given
    import dpaudit as dp

    @given(dp.strategies.pairs("add-remove", domain={"age": (0, 120)}))
    def test_a_count_moves_by_at_most_one(pair):
        assert abs(count(pair[0]) - count(pair[1])) <= 1

Every pair is a pair of neighbours, and shrinks to small datasets with simple values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dpaudit.errors import UsageError
from dpaudit.neighbours.dataset import ABSENT, DataColumn, Dataset, NewRecord, Single, Sort, dataset_of
from dpaudit.neighbours.domain import Allowed, Range, blank, column_domains
from dpaudit.neighbours.relation import Relation, parse_relation

__all__ = ["datasets", "pairs"]

Pair = tuple[Any, Any]
Record = dict[int, Any]


def datasets(domain: Any = None, *, min_size: int = 0, max_size: int = 5, like: Any = None) -> st.SearchStrategy[Any]:
    """Return a strategy that draws datasets.

    Args:
        domain: what records may hold: (low, high), a list of allowed values, or a dict of these by columns.
        min_size: the smallest number of records.
        max_size: the largest number of records.
        like: data whose type and columns the datasets should have; a column without a declared domain then holds
            anything of its type. Without it the datasets are lists, of values or of dicts.

    Raises:
        UsageError: without a domain and data, and if the domain does not suit the data.

    >>> from hypothesis import find
    >>> find(datasets({"age": (0, 120)}), lambda people: len(people) == 1)
    [{'age': 0}]
    """
    dataset, domains = _shape(domain, like)
    if not 0 <= min_size <= max_size:
        raise UsageError(f"between {min_size} and {max_size} records there is no number; give 0 ≤ min_size ≤ max_size")
    records = st.lists(_records(dataset, domains), min_size=min_size, max_size=max_size)
    return records.map(lambda drawn: _build(dataset, drawn))


def pairs(
    relation: Relation | str, *, domain: Any = None, max_size: int = 5, like: Any = None
) -> st.SearchStrategy[Pair]:
    """Return a strategy that draws pairs of neighbours.

    Args:
        relation: which datasets are neighbours.
        domain: as for `datasets`; under "queries" the range of the answers, by default (-10, 10).
        max_size: the largest number of records, or answers, on either side.
        like: as for `datasets`; not used under "queries".

    Raises:
        UsageError: as for `datasets`, and for the relation "declared".

    >>> from hypothesis import find
    >>> find(pairs("replace", domain=(0, 9)), lambda pair: True)
    ([0], [1])
    """
    relation = parse_relation(relation)
    if relation.kind == "declared":
        raise UsageError("no neighbours follow from the relation 'declared'; give one with records or answers")
    if max_size < 1:
        raise UsageError(f"neighbours have at least 1 record on one side; max_size is {max_size}")
    if relation.kind == "queries":
        drawn = _answers(relation, (-10, 10) if domain is None else domain, max_size)
    else:
        dataset, domains = _shape(domain, like)
        if relation.person is not None:
            drawn = _people(relation, dataset, domains, max_size)
        elif isinstance(dataset, Single):
            drawn = _singles(relation, dataset, domains)
        else:
            drawn = _changed(relation, dataset, domains, max_size)
    return drawn.filter(lambda pair: relation.accepts(*pair))


def _shape(domain: Any, like: Any) -> tuple[Dataset, Mapping[int, Allowed]]:
    if domain is None and like is None:
        raise UsageError("give a domain, {'age': (0, 120)} or (0, 1), or data to be like: like=frame")
    dataset = dataset_of(like) if like is not None else blank(domain)
    return dataset, column_domains(domain, dataset)


def _build(dataset: Dataset, records: list[Record]) -> Any:
    return dataset.build([[NewRecord(None, record) for record in records]] if records else [])


# --- values and records ---


def _records(dataset: Dataset, domains: Mapping[int, Allowed]) -> st.SearchStrategy[Record]:
    return st.fixed_dictionaries(
        {number: _values(column, domains.get(number)) for number, column in enumerate(dataset.columns)}
    )


def _values(column: DataColumn, allowed: Allowed | None) -> st.SearchStrategy[Any]:
    if allowed is not None and not isinstance(allowed, Range):
        values = [column.missing if value is None else column.cast(value) for value in allowed.values]
        return st.sampled_from([value for value in values if value is not ABSENT])
    if isinstance(allowed, Range):
        return _between(column, allowed)
    if column.sort is Sort.REAL:
        narrow = column.dtype is not None and column.dtype.itemsize < 8
        return st.floats().map(column.cast) if not narrow else st.floats(-60000, 60000).map(column.cast)
    if column.sort is Sort.WHOLE:
        return st.integers(*(column.ends if column.dtype is not None else (None, None)))
    if column.sort is Sort.TEXT:
        letters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
        return st.text(letters, max_size=column.width)
    if column.sort is Sort.TRUTH:
        return st.booleans()
    if column.sort is Sort.CHOICE and column.choices:
        return st.sampled_from(column.choices)
    return st.just(column.plain)


def _between(column: DataColumn, allowed: Range) -> st.SearchStrategy[Any]:
    if column.sort is Sort.WHOLE:
        return st.integers(allowed.low, allowed.high)
    if column.sort is Sort.REAL:
        return st.floats(allowed.low, allowed.high).map(column.cast)
    days = int((allowed.high - allowed.low) / np.timedelta64(1, "D"))
    return st.integers(0, days).map(lambda day: column.cast(allowed.low + np.timedelta64(day, "D")))


# --- neighbours ---


def _singles(relation: Relation, dataset: Dataset, domains: Mapping[int, Allowed]) -> st.SearchStrategy[Pair]:
    if relation.kind != "replace":
        raise UsageError(f"the relation {str(relation)!r} needs records; give 'replace' for one value")
    one = _records(dataset, domains).map(lambda record: _build(dataset, [record]))
    return st.tuples(one, one)


def _changed(
    relation: Relation, dataset: Dataset, domains: Mapping[int, Allowed], max_size: int
) -> st.SearchStrategy[Pair]:
    record = _records(dataset, domains)

    @st.composite
    def draw_pair(draw: st.DrawFn) -> Pair:
        steps = draw(st.integers(1, min(relation.group, max_size)))
        common = draw(st.lists(record, max_size=max_size - steps))
        if relation.kind == "replace":
            sides = [[*common, *(draw(record) for _ in range(steps))] for _ in (0, 1)]
        else:
            sides = [list(common), list(common)]
            for _ in range(steps):
                sides[draw(st.integers(0, 1))].append(draw(record))
        return _build(dataset, sides[0]), _build(dataset, sides[1])

    return draw_pair()


def _people(
    relation: Relation, dataset: Dataset, domains: Mapping[int, Allowed], max_size: int
) -> st.SearchStrategy[Pair]:
    column = dataset.numbered(str(relation.person))
    record = _records(dataset, domains)
    names = _values(dataset.columns[column], domains.get(column))
    least = 1 if relation.kind == "replace" else 0

    @st.composite
    def draw_pair(draw: st.DrawFn) -> Pair:
        sides: list[list[Record]] = [[], []]
        changing = draw(st.lists(names, min_size=1, max_size=min(relation.group, max_size)))
        most = max(max_size // len(changing), 1)
        for name in changing:
            own = [draw(st.lists(record, min_size=least, max_size=most)) for _ in sides]
            if relation.kind == "add-remove":
                own[draw(st.integers(0, 1))] = []
            for side, records in zip(sides, own, strict=True):
                side += [{**one, column: name} for one in records]
        room = max(max_size - max(map(len, sides)), 0)
        common = [one for one in draw(st.lists(record, max_size=room)) if one[column] not in changing]
        return _build(dataset, [*common, *sides[0]]), _build(dataset, [*common, *sides[1]])

    return draw_pair()


def _answers(relation: Relation, domain: Any, max_size: int) -> st.SearchStrategy[Pair]:
    dataset = blank(domain)
    allowed = column_domains(domain, dataset).get(0)
    column = dataset.columns[0]
    if column.name is not None or not column.sort.numeric or allowed is None:
        raise UsageError("under 'queries' the data are answers; give a domain of numbers: (0, 3)")
    value, group = _values(column, allowed), relation.group
    step: st.SearchStrategy[Any] = st.integers(-group, group) if column.sort is Sort.WHOLE else st.floats(-group, group)

    @st.composite
    def draw_pair(draw: st.DrawFn) -> Pair:
        answers = draw(st.lists(value, min_size=1, max_size=max_size))
        moves = [draw(step) for _ in answers]
        if relation.movement == "monotone":
            sign = draw(st.sampled_from((1, -1)))
            moves = [sign * abs(move) for move in moves]
        elif relation.movement != "all":
            length = math.hypot(*moves) if relation.movement == "norm=2" else sum(map(abs, moves))
            if relation.movement == "one" or column.sort is Sort.WHOLE:
                kept = draw(st.integers(0, len(moves) - 1))
                moves = [move if place == kept else 0 for place, move in enumerate(moves)]
            elif length > group:
                moves = [move * group / length for move in moves]
        return answers, [answer + move for answer, move in zip(answers, moves, strict=True)]

    return draw_pair().filter(lambda pair: all(answer in allowed for answer in pair[1]))
