"""What does one operation give for all active runs?

Runs that have the same plain operands share one call; numbers go through arrays where an operation has a form for
arrays; for all other runs Python's own operation is called, run by run. So no type and no rare value is left to chance:
what arrays would do differently is done by Python.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dpaudit.reading.runs import joins
from dpaudit.reading.runs.active import Active, DeadError
from dpaudit.reading.runs.values import (
    CONTENTS,
    DIFFERING,
    IMMUTABLE,
    UNBOUND,
    Alternatives,
    Array,
    Container,
    Mask,
    Member,
    Numbers,
    Windows,
    at,
    differs,
    held_in,
    is_gone,
    raw,
    raws,
    rebuilt,
)

Dense = Callable[..., Any]
"""An operation on whole arrays; it returns NotImplemented where it does not do what Python does."""
_NARROW = 2**16  # numbers below it are counted and sorted by their digits
_BITS = 62  # truths that a whole number holds
_LARGE = 10_000  # numbers of an array
_FEW = 64
"""Groups of runs that are made one by one, however few runs each has."""
_LOOKED_AT = 4096
"""Runs by which it is told whether numbers have few values: more than that many leaves of a search."""


def alternatives_in(value: Any) -> Iterator[Alternatives]:
    """Yield the alternatives within a value."""
    kind: Any = type(value)
    if kind is Alternatives:
        yield value
    elif kind is Container:
        if not value.plain:
            yield from alternatives_in(value.content)
    else:
        for each in held_in(value):
            yield from alternatives_in(each)


def nested_in(value: Any) -> Iterator[Alternatives]:
    """Yield the alternatives within a value, and those within each of them."""
    for each in alternatives_in(value):
        yield each
        for one in each.values:
            yield from nested_in(one)


def chosen_in(value: Any, run: int) -> Any:
    """Return a value with its alternatives replaced by those that one run has.

    What an alternative holds itself stays as it is: runs that have it in common may differ in that.
    """
    kind: Any = type(value)
    if kind is Alternatives:
        return value.values[value.codes[run]]
    if kind is Container:
        return value if value.plain else Container(chosen_in(value.content, run))
    if kind is Member:
        return Member(chosen_in(value.owner, run), value.name)
    if kind is Windows:
        return Windows(chosen_in(value.owner, run), value.how)
    if kind in DIFFERING or not differs(value):
        return value
    return rebuilt(value, lambda each: chosen_in(each, run))


def groups_of(leaves: Iterable[Alternatives], mask: Mask, most: int) -> list[Array] | None:
    """Return the active runs by which alternatives they have; None if there would be more groups than ``most``."""
    places = mask.places
    key, size = np.zeros(len(places), dtype=np.int64), 1
    for each in {id(leaf): leaf for leaf in leaves}.values():
        key, size = _dense(key * len(each.values) + each.codes[places], size * len(each.values))
    if size > most:
        return None
    return _by_rank(places, key, size)


def _by_rank(places: Array, ranks: Array, count: int) -> list[Array]:
    """Return runs by their rank among so many."""
    order = np.argsort(ranks.astype(np.uint16) if count <= _NARROW else ranks, kind="stable")
    cuts = np.searchsorted(ranks[order], np.arange(count + 1)).tolist()
    return [places[order[start:end]] for start, end in itertools.pairwise(cuts)]


def groups_by_truth(domain: Active, mask: Any) -> list[Array] | None:
    """Return the active runs by which of a row of truths hold; None where there are too many ways, or no truths."""
    if type(mask) is not Numbers or mask.array.dtype != bool or mask.array.ndim != 2 or mask.array.shape[1] > _BITS:
        return None
    codes = mask.array @ (1 << np.arange(mask.array.shape[1]))
    known, ranks = np.unique(codes[domain.active.places], return_inverse=True)
    way = Alternatives(np.zeros(len(codes), dtype=np.int32), list(range(len(known))))
    way.codes[domain.active.places] = ranks
    return groups_of([way], domain.active, max(_FEW, domain.active.count // 4))


def _dense(key: Array, size: int) -> tuple[Array, int]:
    """Return whole numbers below ``size`` as their ranks, and how many different ones there are."""
    if size > _NARROW:
        known, ranks = np.unique(key, return_inverse=True)
        return ranks, len(known)
    there = np.bincount(key, minlength=size) > 0
    return (np.cumsum(there) - 1)[key], int(there.sum())


def _is_as_coarse(leaves: list[Alternatives], rest: list[Alternatives], mask: Mask) -> bool:
    """Whether runs that agree in some alternatives agree in all: then each group has plain values."""
    most = max(_FEW, mask.count // 4)
    fewer, groups = groups_of(rest, mask, most), groups_of(leaves, mask, most)
    return fewer is not None and groups is not None and len(groups) == len(fewer)


def apply(
    domain: Active,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any] | None = None,
    dense: Dense | None = None,
) -> Any:
    """Return what a function that depends on its arguments alone, and changes nothing, gives for the active runs."""
    domain.alive()
    keywords = keywords or {}
    args = tuple([domain.present(each) for each in args])
    if not any(map(differs, args)) and not any(map(differs, keywords.values())):
        return plainly(domain, function, args, keywords)
    if any(each is UNBOUND for each in args):
        domain.leave(UnboundLocalError("cannot access local variable where it is not associated with a value"))
    leaves = [leaf for each in (*args, *keywords.values()) for leaf in alternatives_in(each)]
    if dense is not None and leaves:
        numbers = tuple(joins.as_numbers(each, domain.active) for each in args)
        rest = [leaf for each in (*numbers, *keywords.values()) for leaf in alternatives_in(each)]
        if len(rest) < len(leaves) and not (rest and _is_as_coarse(leaves, rest, domain.active)):
            args, leaves = numbers, rest
    if leaves:
        groups = groups_of(leaves, domain.active, max(_FEW, domain.active.count // 4))

        def one(run: int) -> Any:
            mine = tuple(chosen_in(each, run) for each in args)
            return apply(domain, function, mine, {n: chosen_in(each, run) for n, each in keywords.items()}, dense)

        if groups is not None:
            return each_group(domain, groups, one, fresh=True)
    elif dense is not None:
        value = dense(*[opened(each) for each in args])
        if value is not NotImplemented:
            return value
    return singly(domain, function, args, keywords)


def opened(value: Any) -> Any:
    """Return the content of a container of an array or a series; any other value as it is."""
    if type(value) is Container and not isinstance(value.content, CONTENTS):
        return value.content
    return value


def plainly(domain: Active, function: Callable[..., Any], args: Iterable[Any], keywords: dict[str, Any]) -> Any:
    """Call a function once, for all active runs."""
    own, more = raws(args, keywords)
    with domain.as_python:
        return joins.wrapped(function(*own, **more))


def apply_method(
    domain: Active, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any] | None = None
) -> Any:
    """Return what a method that depends on its arguments alone, and changes nothing, gives for the active runs."""
    return apply(domain, functools.partial(call_method, name), (owner, *args), keywords)


def call_method(name: str, owner: Any, /, *args: Any, **keywords: Any) -> Any:
    """Return what a method of a plain value returns."""
    return getattr(owner, name)(*args, **keywords)


def each_alternative(domain: Active, value: Alternatives, one: Callable[[Any], Any]) -> Any:
    """Return what is made of each alternative, under a mask of its runs."""
    return by_alternatives(domain, (value,), lambda run: one(value.values[value.codes[run]]), domain.count)


def by_alternatives(
    domain: Active, values: Iterable[Any], one: Callable[[int], Any], most: int = 0, fresh: bool = False
) -> Any:
    """Return what is made for each group of runs that agree in all alternatives within some values.

    NotImplemented where there are none, or more groups than ``most``.
    """
    leaves = [leaf for each in values for leaf in alternatives_in(each)]
    groups = groups_of(leaves, domain.active, most or max(_FEW, domain.active.count // 4)) if leaves else None
    return NotImplemented if groups is None else each_group(domain, groups, one, fresh)


def each_group(domain: Active, groups: list[Array], one: Callable[[int], Any], fresh: bool = False) -> Any:
    """Return the value that each group of runs has, made under a mask of the group."""
    entry = domain.active
    parts: list[tuple[Array, Any]] = []
    whole = True
    for runs in groups:
        domain.active = domain.mask_of(runs)
        try:
            value = one(int(runs[0]))
        except DeadError:
            whole = False
            continue
        whole = whole and domain.active.count == len(runs)
        parts.append((domain.active.places, value))
    if whole:
        domain.active = entry
    else:
        domain.active = domain.mask_of(np.concatenate([runs for runs, _ in parts]) if parts else np.zeros(0, dtype=int))
        domain.alive()
    return joins.gathered(parts, domain.count, fresh)


def column(value: Any, places: Array) -> Iterable[Any]:
    """Return the values of some runs, one by one; of a plain value, the same again and again."""
    return _columns(value, places) if differs(value) else itertools.repeat(raw(value))


def _columns(value: Any, places: Array) -> list[Any]:
    """Return the values of some runs: what is held in members, member by member; what is plain anew for each run."""
    kind = type(value)
    if kind is Container and type(value.content) in (list, tuple, dict, Numbers, Alternatives):
        value, kind = value.content, type(value.content)
    if kind is Numbers and value.labels is None:
        part = value.array[places]
        return part.tolist() if value.python and value.array.ndim == 1 else list(part)
    if kind is Alternatives and all(type(each) in IMMUTABLE for each in value.values):
        options = value.values
        return [options[code] for code in value.codes[places].tolist()]
    if (kind is list or kind is tuple) and value:
        rows = zip(*[_columns(each, places) for each in value], strict=True)
        return list(map(list, rows)) if kind is list else list(rows)
    if kind is dict and value and not any(map(is_gone, value.values())):
        keys = list(value)
        rows = zip(*[_columns(each, places) for each in value.values()], strict=True)
        return [dict(zip(keys, row, strict=True)) for row in rows]
    if kind in IMMUTABLE:
        return [value] * len(places)
    return [at(value, run) for run in places.tolist()]


def singly(
    domain: Active, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any] | None = None
) -> Any:
    """Call a function for each active run."""
    places = domain.active.places
    if not keywords:
        value = _by_few_values(domain, function, args)
        if value is not NotImplemented:
            return value
        _refuse_large(domain, function, args)
        columns = [column(each, places) for each in args]
        try:
            results = list(map(function, *columns)) if differs(args) else [function(*map(raw, args)) for _ in places]
            return joins.packed(results, places, domain.count)
        except domain.control:
            raise
        except Exception:  # of some run: which, is found one by one
            pass
    runs, results, errors = one_by_one(domain, function, args, keywords or {})
    if errors:
        domain.leave_each(errors)
    return joins.packed(results, runs, domain.count)


def one_by_one(
    domain: Active, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Array, list[Any], list[tuple[int, Exception]]]:
    """Call a function for each active run: which runs it returned something for, and what; what it raised in others."""
    places = domain.active.places
    columns = [column(each, places) for each in (*args, *keywords.values())]
    good: list[int] = []
    results: list[Any] = []
    errors: list[tuple[int, Exception]] = []
    for run, *row in zip(places.tolist(), *columns, strict=False):
        try:
            results.append(function(*row[: len(args)], **dict(zip(keywords, row[len(args) :], strict=True))))
            good.append(run)
        except domain.control:
            raise
        except Exception as error:
            errors.append((run, error))
    return np.array(good, dtype=np.int64), results, errors


def _refuse_large(domain: Active, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Give up where each run would have a large array of its own, as of all records against three means.

    Such runs take no less by reading than by calling the function.
    """
    if all(_size(each) <= _LARGE for each in args):
        return
    try:
        one = function(*[at(each, int(domain.active.places[0])) for each in args])
    except domain.control:
        raise
    except Exception:  # said run by run
        return
    if isinstance(one, np.ndarray) and one.size > _LARGE:
        domain.give_up(f"arrays of {one.size:,} numbers that differ by run")


def _size(value: Any) -> int:
    """Return how many numbers an array holds, in the first run; 1 of anything else."""
    value = opened(value)
    if type(value) is Alternatives:
        return _size(value.values[0])
    array = value.array[0] if type(value) is Numbers else value
    return int(array.size) if isinstance(array, np.ndarray) else 1


def _by_few_values(domain: Active, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call a function once for each value of the argument that differs, if one does and has few values.

    Else NotImplemented.
    """
    differing = [place for place, each in enumerate(args) if differs(each)]
    value = args[differing[0]] if len(differing) == 1 else None
    if type(value) is not Numbers or value.array.ndim != 1:
        return NotImplemented
    places, place = domain.active.places, differing[0]
    own = value.array[places]
    if own.dtype.kind == "f":
        start = own[:_LOOKED_AT]
        if len(np.unique(start)) > len(start) // 2:
            return NotImplemented
        bits, inverse = np.unique(own.view(np.int64), return_inverse=True)  # −0.0 and 0.0 are two values
        known = bits.view(np.float64)
    else:
        known, inverse = np.unique(own, return_inverse=True)
    if len(known) > len(own) // 4:
        return NotImplemented
    values = iter([each.item() if value.python else each for each in known])

    def one(run: int) -> Any:
        return plainly(domain, function, (*args[:place], next(values), *args[place + 1 :]), {})

    return each_group(domain, _by_rank(places, inverse, len(known)), one, fresh=True)
