"""What do the functions of Python itself, and its JSON, do with values that differ by run?"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.reading.runs import containers, joins, numbers, tables
from dpaudit.reading.runs.active import Active, Branch, Loop
from dpaudit.reading.runs.applied import apply, each_alternative, opened
from dpaudit.reading.runs.values import (
    Alternatives,
    Array,
    Container,
    Member,
    Numbers,
    Table,
    at,
    differs,
    held,
    is_gone,
    raw,
    signature,
    the_pandas,
)
from dpaudit.reading.source import is_rewritten

# --- How is JSON written of values that differ by run? ---------------------------------------------------

_OPTIONS = {"sort_keys", "indent", "separators", "ensure_ascii"}
_PLAIN = (str, int, float, bool, type(None))
_MARK = "<differs by run %d>"
_NO_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class _OtherError(Exception):
    """It is written run by run."""


def dumps(domain: Active, value: Any, **keywords: Any) -> Any:
    """``json.dumps(a)``."""
    options = {name: raw(each) for name, each in keywords.items()}
    if differs(value) and options.keys() <= _OPTIONS and not differs(tuple(keywords.values())):
        try:
            return _written(domain, value, options)
        except (_OtherError, TypeError, ValueError):
            pass
    return apply(domain, json.dumps, (value,), keywords)


def _written(domain: Active, value: Any, options: dict[str, Any]) -> Any:
    leaves: list[Any] = []
    text = json.dumps(_shape(domain, value, leaves), **options)
    pieces = []
    for number in range(len(leaves)):  # in the order in which they stand, which sort_keys may have changed
        mark = json.dumps(_MARK % number)
        if text.count(mark) != 1:
            raise _OtherError
        pieces.append((text.index(mark), mark, leaves[number]))
    pieces.sort(key=lambda each: each[0])
    text = text.replace("%", "%%")
    for _, mark, _ in pieces:
        text = text.replace(mark, "%s")
    places = domain.active.places
    columns = [_texts(leaf, places, options) for _, _, leaf in pieces]
    return joins.packed(list(map(text.__mod__, zip(*columns, strict=True))), places, domain.count)


def _shape(domain: Active, value: Any, leaves: list[Any]) -> Any:
    """The value with a mark in the place of everything that differs by run."""
    value = domain.present(value)
    if not differs(value):
        return raw(value)
    if type(value) is Container:
        return _shape(domain, value.content, leaves)
    if type(value) in (list, tuple):
        return [_shape(domain, each, leaves) for each in value]
    if type(value) is dict and all(type(key) in _PLAIN for key in value) and not any(map(is_gone, value.values())):
        return {key: _shape(domain, each, leaves) for key, each in value.items()}
    number = type(value) is Numbers and value.array.ndim == 1 and (value.python or value.array.dtype.kind == "f")
    if number or (type(value) is Alternatives and all(type(each) in _PLAIN for each in value.values)):
        leaves.append(value)
        return _MARK % (len(leaves) - 1)
    raise _OtherError


def _texts(leaf: Any, places: Array, options: dict[str, Any]) -> list[str]:
    """How the values of some runs are written."""
    if type(leaf) is Alternatives:
        known = [json.dumps(each, ensure_ascii=options.get("ensure_ascii", True)) for each in leaf.values]
        return [known[code] for code in leaf.codes[places].tolist()]
    own = leaf.array[places].tolist()
    if leaf.array.dtype.kind == "b":
        return ["true" if each else "false" for each in own]
    if leaf.array.dtype.kind == "f" and not all(map(math.isfinite, own)):
        return [_NO_NUMBERS.get(repr(each), repr(each)) for each in own]
    return list(map(repr, own))


# --- What do the functions of Python itself do with values that differ by run? ---------------------------

BUILTINS: dict[Any, Callable[..., Any]] = {}
"""What is done in place of a function of Python, by that function."""


def _of(function: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(own: Callable[..., Any]) -> Callable[..., Any]:
        BUILTINS[function] = own
        return own

    return register


BUILTINS[json.dumps] = dumps


@_of(len)
def _len(domain: Active, value: Any) -> Any:
    return domain.length(value)


@_of(bool)
def _bool(domain: Active, value: Any = False) -> Any:
    truth = domain.decided(value)
    return truth if isinstance(truth, bool) else Numbers(truth, True)


@_of(print)
def _print(domain: Active, *values: Any, **keywords: Any) -> None:
    return None


@_of(list)
def _list(domain: Active, value: Any = ()) -> Any:
    return _sequence(domain, value, lambda members: Container(list(members)))


@_of(tuple)
def _tuple(domain: Active, value: Any = ()) -> Any:
    return _sequence(domain, value, tuple)


def _sequence(domain: Active, value: Any, kind: Callable[[Any], Any]) -> Any:
    """Return what is made of the members of a value."""
    value = domain.present(value)
    if type(value) is Container:
        return containers.each_content(domain, value, lambda content: kind(domain.members(content)))
    if type(value) is Alternatives:
        return each_alternative(domain, value, lambda each: _sequence(domain, each, kind))
    with domain.as_python:
        members = list(domain.iterate(value))
    return kind(members)


@_of(dict)
def _dict(domain: Active, value: Any = (), **keywords: Any) -> Any:
    value = domain.present(value)
    if type(value) is Container and type(value.content) is not list:
        made = containers.each_content(
            domain, value, lambda content: Container(dict(content) if isinstance(content, dict) else content.copy())
        )
    else:
        pairs = [tuple(domain.unpack(pair, 2, None)) for pair in domain.iterate(value)]
        made = domain.new_dict([(False, *pair) for pair in pairs])
    if keywords:
        containers.method(domain, made, "update", (Container(keywords),), {})
    return made


@_of(dict.fromkeys)
def _fromkeys(domain: Active, keys: Any, value: Any = None, /) -> Any:
    return domain.new_dict([(False, key, value) for key in domain.iterate(keys)])


@_of(set)
def _set(domain: Active, value: Any = ()) -> Any:
    value = domain.present(value)
    if (type(value) is Container and value.plain) or not differs(value):
        return apply(domain, set, (value,))
    return domain.new_set(Container(list(domain.sequence(value))))


@_of(range)
def _range(domain: Active, *parts: Any) -> Any:
    values = [domain.present(each) for each in parts]
    if any(type(each) is Numbers for each in values):
        values = [domain.distinct(each) if type(each) is Numbers else each for each in values]
    return apply(domain, range, tuple(values))


@_of(enumerate)
def _enumerate(domain: Active, value: Any, start: int = 0) -> Any:
    return enumerate(domain.iterate(value), start)


@_of(zip)
def _zip(domain: Active, *values: Any, **keywords: Any) -> Any:
    return zip(*(domain.iterate(each) for each in values), strict=keywords.pop("strict", False), **keywords)


@_of(reversed)
def _reversed(domain: Active, value: Any) -> Any:
    value = domain.present(value)
    return iter(list(domain.sequence(value))[::-1]) if differs(value) or type(value) is Container else reversed(value)


@_of(map)
def _map(domain: Active, function: Any, *values: Any) -> Any:
    return Container(
        [domain.call(function, *each) for each in zip(*(domain.iterate(value) for value in values), strict=False)]
    )


@_of(filter)
def _filter(domain: Active, function: Any, value: Any) -> Any:
    keep = (lambda each: each) if function is None else functools.partial(domain.call, function)
    return domain.comprehension("list", 0, value, keep, lambda each: each, True)


@_of(iter)
def _iter(domain: Active, value: Any, *more: Any) -> Any:
    if more:
        domain.give_up("iter() with a sentinel")
    return iter(domain.iterate(value))


@_of(next)
def _next(domain: Active, value: Any, *default: Any) -> Any:
    if not domain.active.whole:
        domain.give_up("next() that some runs take")
    domain.advance(value)
    with domain.as_python:
        return next(value, *default)


def _any_or_all(function: Any) -> Callable[..., Any]:
    def asked_in_turn(domain: Active, value: Any) -> Any:
        if not differs(domain.present(value)) and type(value) is not Container:
            return apply(domain, function, (value,))
        return domain.comprehension(function.__name__, 0, value, lambda each: True, lambda each: each, True)

    return asked_in_turn


BUILTINS[any], BUILTINS[all] = _any_or_all(any), _any_or_all(all)


@_of(sum)
def _sum(domain: Active, value: Any, start: Any = 0) -> Any:
    value = domain.present(value)
    if not differs(value) and not differs(start) and type(value) in (list, tuple, range, Container):
        return apply(domain, sum, (value, start))
    if type(value) is Numbers or (type(value) is Container and type(value.content) is Numbers):
        value = Container(list(tables.members(domain, opened(value))))
    loop, total = Loop(domain, value), start
    while loop.go():
        with loop.body():
            total = domain.put(domain.binary("add", total, loop.item()), total)
    loop.end()
    return total


def _extreme(function: Any, name: str) -> Callable[..., Any]:
    """``max`` and ``min``: the first of the largest, by comparisons in their order."""

    def needs(domain: Active, *values: Any, **keywords: Any) -> Any:
        values = tuple(map(domain.present, values))
        if not differs((values, tuple(keywords.values()))) and "key" not in keywords:
            return apply(domain, function, values, keywords)
        if len(values) == 1:
            if keywords.keys() - {"key"}:
                if keywords.keys() == {"default"} and not domain.decided(values[0]) is not True:
                    return needs(domain, *values)
                domain.give_up(f"{function.__name__}() with a default")
            members = list(domain.sequence(values[0]))
        else:
            members = list(values)
        key = keywords.get("key")
        if not members:
            domain.leave(ValueError(f"{function.__name__}() iterable argument is empty"))
        keys = members if key is None else [domain.call(key, each) for each in members]
        best, best_key = members[0], keys[0]
        for each, own in zip(members[1:], keys[1:], strict=True):
            branch = Branch(domain, domain.decided(domain.compare(name, own, best_key)))
            with branch.arm(True) as goes:
                if goes:
                    best, best_key = domain.put(each, best), domain.put(own, best_key)
            branch.join()
        return best

    return needs


BUILTINS[max], BUILTINS[min] = _extreme(max, "gt"), _extreme(min, "lt")


@_of(sorted)
def _sorted(domain: Active, value: Any, *, key: Any = None, reverse: Any = False) -> Any:
    value = domain.present(value)
    if type(value) is Alternatives and all(type(each) is Container for each in value.values):
        return each_alternative(domain, value, lambda each: _sorted(domain, each, key=key, reverse=reverse))
    members = list(domain.sequence(value))
    keys = members if key is None else [domain.call(key, each) for each in members]
    if not any(map(differs, keys)):
        if any(map(differs, members)) and not differs(reverse):
            order = sorted(range(len(keys)), key=lambda place: raw(keys[place]), reverse=bool(raw(reverse)))
            return Container([members[place] for place in order])
        return apply(domain, _by_keys, (Container(members), Container(list(keys)), reverse))
    columns = None if differs(reverse) else _ordering(domain, keys)
    if columns is None:
        return apply(domain, _by_keys, (Container(list(members)), Container(list(keys)), reverse))
    own = columns if not reverse else [-each if each.dtype.kind != "b" else ~each for each in columns]
    places = np.lexsort(own[::-1], axis=1)
    return Container([_chosen_members(domain, members, places[:, place]) for place in range(len(members))])


def _ordering(domain: Active, keys: list[Any]) -> list[Any] | None:
    """Return the numbers by which keys are ordered, those that decide first ahead; None if there are none.

    A key is a number, or a tuple of numbers, and of texts that are the same in every run; each array is (runs, keys).
    """
    keys = [domain.present(each) for each in keys]
    if {type(each) for each in keys} == {tuple} and len({len(each) for each in keys}) == 1:
        parts = [_ordering(domain, list(each)) for each in zip(*keys, strict=True)]
        return None if None in parts or not parts else [own for part in parts if part is not None for own in part]
    if {type(each) for each in keys} == {str}:
        ranks = {text: rank for rank, text in enumerate(sorted(set(keys)))}
        return [np.broadcast_to(np.array([ranks[each] for each in keys]), (domain.count, len(keys)))]
    columns = numbers.stack(domain, keys)
    if columns is None or (columns.dtype.kind == "f" and np.isnan(columns[domain.active.chosen]).any()):
        return None
    return [columns]


def _by_keys(members: list[Any], keys: list[Any], reverse: Any) -> list[Any]:
    order = sorted(range(len(keys)), key=keys.__getitem__, reverse=bool(reverse))
    return [members[place] for place in order]


def _chosen_members(domain: Active, members: list[Any], places: Any) -> Any:
    """Return the member at a place that differs by run."""
    kinds = {signature(each) for each in map(domain.present, members)}
    stacked = numbers.stack(domain, members) if len(kinds) == 1 and None not in kinds else None
    if stacked is not None:
        ((_, _, python, _, _),) = kinds  # type: ignore[misc]
        return Numbers(np.take_along_axis(stacked, places[:, None], axis=1)[:, 0], python)
    return containers.member(domain, tuple(members), Numbers(places.astype(np.int64), True))


@_of(isinstance)
def _isinstance(domain: Active, value: Any, kinds: Any) -> Any:
    value = domain.present(value)
    if type(value) is Alternatives:
        return each_alternative(domain, value, lambda each: _isinstance(domain, each, kinds))
    return isinstance(_typical(value), raw(kinds))


@_of(type)
def _type(domain: Active, value: Any, *more: Any) -> Any:
    if more:
        domain.give_up("type() with three arguments")
    value = domain.present(value)
    if type(value) is Alternatives:
        return each_alternative(domain, value, lambda each: _type(domain, each))
    return type(_typical(value))


@_of(callable)
def _callable(domain: Active, value: Any) -> Any:
    return True if type(domain.present(value)) is Member else apply(domain, callable, (value,))


def _typical(value: Any) -> Any:
    """Return a plain value of the type that a value has in every run."""
    if type(value) is Numbers:
        return at(value, 0)
    if type(value) is Table:
        return the_pandas().DataFrame()
    if type(value) is Container:
        content = value.content.values[0] if type(value.content) is Alternatives else value.content
        return _typical(content) if type(content) in (Numbers, Table) else content
    return value


@_of(getattr)
def _getattr(domain: Active, owner: Any, name: str, *default: Any) -> Any:
    if default:
        owner = domain.present(owner)
        if differs(owner):
            domain.give_up("getattr() with a default of what differs by run")
        return apply(domain, getattr, (owner, name, *default))
    asked: Any = domain.present(name)
    if type(asked) is Alternatives:
        return each_alternative(domain, asked, lambda each: domain.attribute(owner, each))
    return domain.attribute(owner, raw(asked))


@_of(abs)
def _abs(domain: Active, value: Any) -> Any:
    def dense(number: Any) -> Any:
        part = numbers.operand(number)
        if part is None or part.dtype == bool:
            return NotImplemented
        return held(number.like(np.abs(number.array)))

    return apply(domain, abs, (value,), None, dense)


@_of(int)
def _int(domain: Active, value: Any = 0, *base: Any) -> Any:
    def dense(number: Any) -> Any:
        if type(number) is not Numbers or number.array.ndim != 1:
            return NotImplemented
        own = np.where(domain.active.chosen, number.array, 0)
        if own.dtype.kind == "f" and not (np.abs(own) < numbers.EXACT).all():
            return NotImplemented
        return Numbers(np.trunc(own).astype(np.int64), True)

    return apply(domain, int, (value, *base), None, None if base else dense)


@_of(float)
def _float(domain: Active, value: Any = 0.0) -> Any:
    def dense(number: Any) -> Any:
        if type(number) is not Numbers or number.array.ndim != 1:
            return NotImplemented
        return Numbers(number.array.astype(np.float64), True)

    return apply(domain, float, (value,), None, dense)


@_of(round)
def _round(domain: Active, value: Any, digits: Any = None) -> Any:
    def whole(number: Any) -> Any:
        if type(number) is not Numbers or number.array.ndim != 1 or number.array.dtype != np.float64:
            return NotImplemented
        own = np.where(domain.active.chosen, number.array, 0.0)
        if not (np.abs(own) < numbers.EXACT).all():
            return NotImplemented
        return Numbers(np.rint(own).astype(np.int64), True)

    def rounded(number: Any, places: Any) -> Any:
        is_float = type(number) is Numbers and number.array.ndim == 1 and number.array.dtype == np.float64
        return numbers.rounded(domain, number, places) if is_float and type(places) is int else NotImplemented

    args = (value,) if digits is None else (value, digits)
    return apply(domain, round, args, None, whole if digits is None else rounded)


@_of(dataclasses.asdict)
def _asdict(domain: Active, value: Any, **keywords: Any) -> Any:
    def fields(given: Any) -> Any:
        """Of fields that are numbers by run, or what a copy would be."""
        kind = type(given)
        if keywords or not dataclasses.is_dataclass(kind) or kind.__getattribute__ is not object.__getattribute__:
            return NotImplemented
        held = vars(given) if hasattr(given, "__dict__") else {}
        fields_held = {each.name: held.get(each.name, given) for each in dataclasses.fields(given)}
        if not all(type(each) in _COPIED for each in fields_held.values()):
            return NotImplemented
        return joins.wrapped(fields_held)

    return apply(domain, dataclasses.asdict, (value,), keywords, fields)


_COPIED = (Numbers, bool, int, float, str, type(None))


@_of(functools.reduce)
def _reduce(domain: Active, function: Any, value: Any, *start: Any) -> Any:
    members = itertools.chain(start, domain.iterate(value))
    total = next(members)
    for each in members:
        total = domain.call(function, total, each)
    return total


@_of(functools.update_wrapper)
def _update_wrapper(domain: Active, wrapper: Any, wrapped: Any, *args: Any, **keywords: Any) -> Any:
    if not is_rewritten(wrapper):
        domain.give_up("update_wrapper() of a function that was not made in this call")
    return functools.update_wrapper(wrapper, wrapped, *args, **keywords)


for _kind in (property, classmethod, staticmethod, functools.partial, functools.wraps):
    BUILTINS[_kind] = functools.partial(lambda kind, domain, /, *args, **keywords: kind(*args, **keywords), _kind)


def _refused(name: str) -> Callable[..., Any]:
    return lambda domain, *args, **keywords: domain.give_up(f"{name}()")


BUILTINS[functools.singledispatch] = _refused("singledispatch")
BUILTINS[functools.partialmethod] = _refused("partialmethod")


@_of(builtins.divmod)
def _divmod(domain: Active, left: Any, right: Any) -> Any:
    return domain.binary("floordiv", left, right), domain.binary("mod", left, right)
