"""What do runs that were read return, as values that hold one array for all of them?

A value is parted by its alternatives, until each part has one shape for all of its runs: plain values, and arrays with
one row a run.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpaudit.program.outcome import ManyArrays, ManyFrames, ManyLabels, ManyNumbers, ManyTexts, columns_of
from dpaudit.reading.runs.applied import alternatives_in, chosen_in, groups_of
from dpaudit.reading.runs.joins import by_keys
from dpaudit.reading.runs.tables import is_coded, regroup
from dpaudit.reading.runs.values import (
    Alternatives,
    Array,
    Coded,
    Container,
    Mask,
    Numbers,
    Table,
    at,
    differs,
    holds_members,
    members_of,
    raw,
    with_attributes,
)

MOST_PARTS = 4096
"""Of the runs of a block; what differs in more ways is read run by run."""


class _Texts:
    """Texts that differ by run, where their form is that of the text alone."""

    def __init__(self, value: Alternatives) -> None:
        self.value = value


def parts_of(value: Any, places: Array, count: int) -> Iterator[tuple[Array, Any]] | None:
    """Yield runs and the value that they share."""
    chosen = np.zeros(count, dtype=bool)
    chosen[places] = True
    mask = Mask(chosen)
    value = _with_texts(_settled(value, mask, count))
    leaves = list(alternatives_in(value))
    if not leaves:
        return None if _has_coded(value) else iter([(places, of_runs(value, places))])
    groups = groups_of(leaves, mask, min(MOST_PARTS, max(64, len(places) // 4)))
    if groups is None:
        return None
    return _each(value, groups, count)


def _each(value: Any, groups: list[Array], count: int) -> Iterator[tuple[Array, Any]]:
    for runs in groups:
        own = chosen_in(value, int(runs[0]))
        if next(alternatives_in(own), None) is None and not _has_coded(own):
            yield runs, of_runs(own, runs)
            continue
        inner = parts_of(own, runs, count)
        yield from [(runs[k : k + 1], at(own, run)) for k, run in enumerate(runs.tolist())] if inner is None else inner


def _has_coded(value: Any) -> bool:
    """Whether a series or frame within stands in an order that differs by run."""
    kind: Any = type(value)
    if kind is Container:
        return not value.plain and _has_coded(value.content)
    if kind is list or (issubclass(kind, tuple) and differs(value)):
        return any(map(_has_coded, value))
    if kind in (dict, OrderedDict, defaultdict):
        return any(map(_has_coded, value.values()))
    if holds_members(kind) and differs(value):
        return any(map(_has_coded, members_of(value)))
    return is_coded(value) and not _is_of_texts(value)


def _is_of_texts(content: Any) -> bool:
    """Whether all that stands in an order that differs by run are texts whose form is that of each alone."""
    parts = [content.labels] if type(content) is Numbers else [content.index, *content.columns.values()]
    for each in parts:
        if type(each) is Coded:
            alone = (each.codes[:, 1:] != each.codes[:, :-1]).all()  # equal neighbours are counted
            if not alone or len(set(each.values)) < len(each.values) or set(map(type, each.values)) != {str}:
                return False
    return True


def _texts(coded: Coded, runs: Array) -> list[ManyTexts]:
    values = list(coded.values)
    return [ManyTexts(codes, values) for codes in coded.codes[runs].T]


def _labels(labels: Any, runs: Array) -> Any:
    return ManyLabels(labels.of(int(runs[0])), _texts(labels, runs)) if type(labels) is Coded else labels


def _settled(value: Any, mask: Mask, count: int) -> Any:
    """Return a value with labels and keys that differ by run as alternatives."""
    kind = type(value)
    if kind is Container:
        content = value.content
        if is_coded(content) and not _is_of_texts(content):
            return Container(regroup(content, mask, count))
        if not value.plain and type(content) in (dict, Alternatives):
            content = by_keys(content, mask, count)
        if type(content) is dict:
            return Container({key: _settled(each, mask, count) for key, each in content.items()})
        if type(content) is list and not value.plain:
            return Container([_settled(each, mask, count) for each in content])
        return value if content is value.content else Container(content)
    if kind is Alternatives:
        return Alternatives(value.codes, [_settled(each, mask, count) for each in value.values])
    if kind is tuple and differs(value):
        return tuple(_settled(each, mask, count) for each in value)
    return value


def _with_texts(value: Any) -> Any:
    """Mark texts that differ by run: a whole output, or members of dicts, whose form no neighbour changes."""
    if type(value) is Alternatives and all(type(each) is str for each in value.values):
        return _Texts(value)
    if type(value) is Container and type(value.content) is dict and not value.plain:
        return Container({key: _with_texts(each) for key, each in value.content.items()}, False)
    return value


def of_runs(value: Any, runs: Array) -> Any:
    """Return a value without alternatives as one whose leaves hold one row for each of some runs."""
    kind: Any = type(value)
    if kind is _Texts:
        return ManyTexts(value.value.codes[runs], value.value.values)
    if not differs(value):
        return raw(value)
    if kind is Container:
        return of_runs(value.content, runs)
    if kind is Numbers:
        array = value.array[runs]
        if value.labels is not None:
            return ManyFrames("Series", _labels(value.labels, runs), None, value.name, columns_of(array), [array.dtype])
        return ManyNumbers(array) if array.ndim == 1 else ManyArrays(array)
    if kind is Table:
        return _frame(value, runs)
    if kind is list or kind is tuple:
        return kind(of_runs(each, runs) for each in value)
    if kind in (dict, OrderedDict, defaultdict):
        return {key: of_runs(each, runs) for key, each in value.items()}
    if issubclass(kind, tuple):
        parts = [of_runs(each, runs) for each in tuple.__iter__(value)]
        return kind(*parts) if hasattr(kind, "_fields") else tuple.__new__(kind, parts)
    if holds_members(kind):
        return with_attributes(value, lambda each: of_runs(each, runs))
    raise TypeError(f"a {kind.__name__} that differs by run")


def _frame(table: Table, runs: Array) -> Any:
    import pandas as pd

    cells, dtypes = [], []
    for column in table.columns.values():
        if type(column) is Numbers:
            cells.append(columns_of(column.array[runs]))
            dtypes.append(column.array.dtype)
        elif type(column) is Coded:
            cells.append(_texts(column, runs))
            dtypes.append(pd.Series(column.of(int(runs[0]))).dtype)
        else:
            series = pd.Series(column)
            cells.append(series.tolist())
            dtypes.append(series.dtype)
    return ManyFrames(
        "DataFrame", _labels(table.index, runs), pd.Index(list(table.columns), name=table.title), None, cells, dtypes
    )
