"""How do values of some runs and of others become one value?

Runs that agree in kind share an array, others are alternatives; types and shapes never forbid a join.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.reading.runs.values import (
    ABSENT,
    CONTENTS,
    LARGE,
    PYTHON_NUMBERS,
    SCALARS,
    Alternatives,
    Array,
    Coded,
    Container,
    Mask,
    Numbers,
    Table,
    identity,
    is_gone,
    is_of_pandas,
    series,
    signature,
)

MOST_NUMBERS = 2**25
"""In one array of all runs (256 MB); what is larger is held for each value that occurs."""
_MOST_SCALARS = 2048
"""Alternatives that are all numbers of one type are an array from here on."""


def spread(chosen: Array, shape: tuple[int, ...]) -> Array:
    """Return a mask of runs with axes for the shape of a value."""
    return chosen.reshape(-1, *[1] * len(shape))


def joined(chosen: Array, new: Any, old: Any) -> Any:
    """Return a value that is ``new`` for some runs and ``old`` for the others."""
    if new is old or identity(new) == identity(old):
        return old
    mine, other = signature(new), signature(old)
    if mine is not None and mine == other and (type(new) is Numbers or type(old) is Numbers):
        like = new if type(new) is Numbers else old
        arrays = [each.array if type(each) is Numbers else each for each in (new, old)]
        return like.like(np.where(spread(chosen, mine[1]), *arrays))
    if type(new) is tuple and type(old) is tuple and len(new) == len(old):
        return tuple(joined(chosen, a, b) for a, b in zip(new, old, strict=True))
    if type(new) is Table and type(old) is Table:
        table = _joined_tables(chosen, new, old)
        if table is not None:
            return table
    known: dict[Any, int] = {}
    values: list[Any] = []
    out = np.zeros(len(chosen), dtype=np.int32)
    for part, runs in ((new, chosen), (old, ~chosen)):
        codes, options = (part.codes, part.values) if type(part) is Alternatives else (None, [part])
        places = np.array([_place(each, known, values) for each in options], dtype=np.int32)
        for option, where in zip(options, places, strict=True):
            base = values[where]
            if type(option) is Numbers and base is not option:  # numbers of one kind share one array
                mine_runs = runs & (places[codes] == where) if codes is not None else runs
                values[where] = base.like(np.where(spread(mine_runs, option.shape), option.array, base.array))
        np.copyto(out, places[codes] if codes is not None else places[0], where=runs)
    return simplified(Alternatives(out, values))


def _place(value: Any, known: dict[Any, int], values: list[Any]) -> int:
    """Return where a value is among those that are known, put there now if it was not; numbers of one kind are one."""
    place = known.setdefault(("numbers", value.signature) if type(value) is Numbers else identity(value), len(values))
    if place == len(values):
        values.append(value)
    return place


def simplified(value: Alternatives) -> Any:
    """Return alternatives without those that no run has; numbers where all are of one kind."""
    values, codes = value.values, value.codes
    if len(values) > 32:
        used = np.bincount(codes, minlength=len(values)) > 0
        if np.count_nonzero(used) < len(values) / 2:
            codes = (np.cumsum(used) - 1)[codes].astype(np.int32)
            values = [each for each, is_used in zip(values, used, strict=True) if is_used]
    kinds = {signature(each) for each in values}
    many = len(values) > _MOST_SCALARS or any(type(each) is Numbers for each in values)
    if len(kinds) == 1 and None not in kinds and many:
        return as_numbers(Alternatives(codes, values))
    return Alternatives(codes, values)


def as_numbers(value: Any, active: Mask | None = None) -> Any:
    """Return alternatives as one array, where those that the active runs have are numbers of one kind."""
    if type(value) is not Alternatives:
        return value
    codes = value.codes if active is None else value.codes[active.places]
    kinds = {signature(value.values[code]) for code in np.unique(codes)}
    if len(kinds) != 1 or None in kinds:
        return value
    ((dtype, shape, python, _, _),) = kinds  # type: ignore[misc]
    like = next((each for each in value.values if type(each) is Numbers and each.signature in kinds), None)
    if shape:
        array = np.zeros((len(value.codes), *shape), dtype)
    else:
        fitting = [each if type(each) in SCALARS and signature(each) in kinds else 0 for each in value.values]
        array = np.array(fitting, dtype)[value.codes]
    for code, each in enumerate(value.values):
        if type(each) is Numbers and each.signature in kinds:
            runs = value.codes == code
            array[runs] = each.array[runs]
    return Numbers(array, python) if like is None else like.like(array)


def present(value: Any, active: Mask) -> Any:
    """Return the value that all active runs have, where they have one in common."""
    while type(value) is Alternatives:
        codes = value.codes[active.places]
        if not len(codes) or not (codes == codes[0]).all():
            return value
        value = value.values[codes[0]]
    return value


def gathered(parts: Sequence[tuple[Array, Any]], count: int, fresh: bool = False) -> Any:
    """Return the value of groups of runs as one value."""
    if len(parts) == 1:
        return parts[0][1]
    if fresh and all(type(value) is Container for _, value in parts):
        content = parts[0][1].content
        if type(content) in (list, dict, Numbers) and len({structure(value.content) for _, value in parts}) == 1:
            for runs, value in parts[1:]:
                chosen = np.zeros(count, dtype=bool)
                chosen[runs] = True
                content = with_content(chosen, value.content, content)
            return Container(content)
    known: dict[Any, int] = {}
    values: list[Any] = []
    owned: set[int] = set()
    codes = np.zeros(count, dtype=np.int32)

    def place(value: Any, runs: Array) -> int:
        where = _place(value, known, values)
        base = values[where]
        if type(value) is Numbers and base is not value:  # numbers of one kind share one array
            if where not in owned:
                owned.add(where)
                values[where] = base = base.like(base.array.copy())
            base.array[runs] = value.array[runs]
        return where

    for runs, value in parts:
        if type(value) is Alternatives:
            own = value.codes[runs]
            for code in np.unique(own):
                mine = runs[own == code]
                codes[mine] = place(value.values[code], mine)
        else:
            codes[runs] = place(value, runs)
    if len(values) > 1 and all(type(each) is tuple and len(each) == len(values[0]) for each in values):
        whole = [(runs, value) for runs, value in parts if type(value) is tuple]
        if len(whole) == len(parts):
            return tuple(gathered([(runs, value[k]) for runs, value in parts], count) for k in range(len(values[0])))
    return values[0] if len(values) == 1 else simplified(Alternatives(codes, values))


def wrapped(value: Any) -> Any:
    """Return what a call made of plain values as something that all who hold it share."""
    kind = type(value)
    if kind in CONTENTS or (kind is np.ndarray and value.ndim) or is_of_pandas(kind):
        return Container(value, plain=True)
    return value


def packed(results: list[Any], runs: Array, count: int) -> Any:
    """Return the results of single runs as one value."""
    kinds = set(map(type, results))
    kind = next(iter(kinds))
    if len(kinds) == 1:
        one = _packed_alike(kind, results, runs, count)
        if one is not None:
            return one
    keys = results if kinds == {str} else list(map(identity, results))
    known = dict(zip(keys, results, strict=True))
    place = {key: code for code, key in enumerate(known)}
    codes_found = np.fromiter(map(place.__getitem__, keys), np.int32, len(keys))
    values = list(map(wrapped, known.values()))
    if len(values) == 1:
        return values[0]
    codes = np.zeros(count, dtype=np.int32)
    codes[runs] = codes_found
    return Alternatives(codes, values)


def _packed_alike(kind: type, results: list[Any], runs: Array, count: int) -> Any:
    """Return results of one type as one value; None where they have to be alternatives."""
    first = results[0]
    if kind in SCALARS:
        if kind is int and any(abs(each) >= LARGE for each in results):
            return None
        array = np.zeros(count, dtype=np.dtype(kind))
        array[runs] = results
        return Numbers(array, kind in PYTHON_NUMBERS)
    if kind is np.ndarray:
        if first.dtype == object or first.size * count > MOST_NUMBERS:
            return None
        if len({(each.shape, each.dtype) for each in results}) > 1:
            return None
        array = np.zeros((count, *first.shape), first.dtype)
        array[runs] = np.stack(results)
        return Container(Numbers(array)) if first.ndim else None
    if kind is list or kind is tuple:
        if len(set(map(len, results))) > 1:
            return None
        parts = [packed([each[place] for each in results], runs, count) for place in range(len(first))]
        return Container(parts) if kind is list else tuple(parts)
    if kind is dict:
        keys = tuple(map(identity, first))
        if any(tuple(map(identity, each)) != keys for each in results):
            return None
        return Container({key: packed([each[key] for each in results], runs, count) for key in first})
    if not is_of_pandas(kind) or kind.__name__ != "Series" or len(first) * count > MOST_NUMBERS:
        return None
    labels, dtype, name = first.index, first.dtype, first.name
    if not isinstance(dtype, np.dtype) or dtype.kind not in "fiub":
        return None
    if not all(each.index.equals(labels) and each.dtype == dtype and each.name == name for each in results):
        return None
    array = np.zeros((count, len(labels)), dtype)
    array[runs] = np.stack([each.to_numpy() for each in results])
    return series(array, labels, name)


def _joined_tables(chosen: Array, new: Table, old: Table) -> Table | None:
    if list(new.columns) != list(old.columns) or type(new.index) is Coded or type(old.index) is Coded:
        return None
    if not new.index.equals(old.index):
        return None
    columns = {label: joined(chosen, new.columns[label], old.columns[label]) for label in new.columns}
    fits = all(type(each) is Numbers or isinstance(each, np.ndarray) for each in columns.values())
    return new.like(columns) if fits and new.title == old.title else None


# --- the contents of containers ---------------------------------------------------------------------------


def structure(content: Any) -> tuple[Any, ...]:
    """Return what contents must share so that they are joined member by member."""
    kind = type(content)
    if kind is list:
        return kind, len(content)
    if kind in CONTENTS and kind is not set:
        return kind, tuple(map(identity, content)), tuple(content)
    if kind is Numbers:
        return kind, content.signature
    return "identity", id(content)


def with_content(chosen: Array, new: Any, old: Any) -> Any:
    """Return the content of a container that is ``new`` for some runs, and what it was for the others."""
    if chosen.all():
        return new
    parts: list[tuple[Array, Any]] = []
    for value, runs in ((old, ~chosen), (new, chosen)):
        if type(value) is Alternatives:
            parts += [(runs & (value.codes == code), each) for code, each in enumerate(value.values)]
        else:
            parts.append((runs, value))
    parts = [(runs, value) for runs, value in parts if runs.any()]
    groups: dict[Any, list[tuple[Array, Any]]] = {}
    for runs, value in parts:
        groups.setdefault(structure(value), []).append((runs, value))
    if len(groups) > 1 and all(type(value) is dict for _, value in parts):
        whole = _with_absent(parts)
        if whole is not None:
            return whole
    codes = np.zeros(len(chosen), dtype=np.int32)
    out: list[Any] = []
    for members in groups.values():
        first = members[0][1]
        for runs, value in members[1:]:
            first = _joined_contents(runs, value, first)
        for runs, _ in members:
            codes[runs] = len(out)
        out.append(first)
    return out[0] if len(out) == 1 else Alternatives(codes, out)


def _joined_contents(runs: Array, new: Any, old: Any) -> Any:
    kind = type(new)
    if kind is list:
        return [joined(runs, a, b) for a, b in zip(new, old, strict=True)]
    if kind is Numbers:
        return joined(runs, new, old)
    if kind in CONTENTS and kind is not set:
        out = type(old)(old.default_factory) if hasattr(old, "default_factory") else type(old)()
        for key in old:
            out[key] = joined(runs, new[key], old[key])
        return out
    return old  # the same object


def _with_absent(parts: list[tuple[Array, Any]]) -> dict[Any, Any] | None:
    """Return dicts of which some lack keys as one, in the order that all of them share; None where they share none."""
    longest = max((value for _, value in parts), key=len)
    places = {identity(key): place for place, key in enumerate(longest)}  # 1, 1.0 and True are three keys
    for _, value in parts:
        order = [places.get(identity(key), -1) for key in value]
        if -1 in order or order != sorted(order):
            return None
    out: dict[Any, Any] = {}
    for key in longest:
        member, *others = (value.get(key, ABSENT) for _, value in parts)
        for (runs, _), other in zip(parts[1:], others, strict=True):
            if other is not member:
                member = joined(runs, other, member)
        out[key] = member
    return out


def by_keys(content: Any, active: Mask, count: int) -> Any:
    """Return a content as alternatives of dicts that have all their keys, where some runs lack some."""
    if type(content) is Alternatives and any(
        type(each) is dict and any(map(is_gone, each.values())) for each in content.values
    ):
        out: list[Any] = []
        codes = np.zeros(count, dtype=np.int32)
        for code in np.unique(content.codes[active.places]):
            inside = Mask(active.chosen & (content.codes == code))
            one = by_keys(content.values[code], inside, count)
            codes[inside.places] = len(out) + (one.codes[inside.places] if type(one) is Alternatives else 0)
            out += one.values if type(one) is Alternatives else [one]
        return Alternatives(codes, out)
    if type(content) is not dict or not any(map(is_gone, content.values())):
        return content
    key = np.zeros(active.count, dtype=np.int64)
    for member in content.values():
        if member is ABSENT or not is_gone(member):
            continue
        absent = [code for code, each in enumerate(member.values) if each is ABSENT]
        key = np.unique(key, return_inverse=True)[1] * 2 + ~np.isin(member.codes[active.places], absent)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    codes, out = np.zeros(count, dtype=np.int32), []
    codes[active.places] = inverse
    for place in first:
        run = active.places[place]
        out.append(
            {
                name: _there(member)
                for name, member in content.items()
                if not (member is ABSENT or (is_gone(member) and member.values[member.codes[run]] is ABSENT))
            }
        )
    return out[0] if len(out) == 1 else Alternatives(codes, out)


def _there(member: Any) -> Any:
    """Return a member without the runs that lack it."""
    if not is_gone(member):
        return member
    kept = [code for code, each in enumerate(member.values) if each is not ABSENT]
    if len(kept) == 1:
        return member.values[kept[0]]
    places = np.zeros(len(member.values), dtype=np.int32)
    places[kept] = np.arange(len(kept))
    return Alternatives(places[member.codes], [member.values[code] for code in kept])
