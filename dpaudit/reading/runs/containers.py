"""What do lists, dicts, sets and arrays do whose content may differ by run, and loops through them?

A change reaches the runs that are active; the others keep what was there. A loop through lists that are parts of one
goes through that one, each item by the runs whose own list has it: what the body does with an item is done once.
"""

from __future__ import annotations

import graphlib
import itertools
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.reading import definite
from dpaudit.reading.definite import Looped, LoopPlan
from dpaudit.reading.runs import joins, tables
from dpaudit.reading.runs.active import Active, Branch, DeadError, InOneOrder
from dpaudit.reading.runs.applied import (
    alternatives_in,
    apply,
    apply_method,
    by_alternatives,
    chosen_in,
    each_alternative,
    groups_of,
    nested_in,
    singly,
)
from dpaudit.reading.runs.values import (
    CONTENTS,
    IMMUTABLE,
    Alternatives,
    Array,
    Container,
    Mask,
    Numbers,
    at,
    differs,
    is_gone,
    is_of_pandas,
    raw,
)

# --- What do lists, dicts, sets and arrays do whose content may differ by run? ---------------------------

_READS: dict[type, frozenset[str]] = {
    list: frozenset(("copy", "index", "count")),
    dict: frozenset(("get", "keys", "values", "items", "copy")),
    set: frozenset(
        ("copy", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint")
    ),
}
_WRITES: dict[type, frozenset[str]] = {
    list: frozenset(("append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort")),
    dict: frozenset(("update", "setdefault", "pop", "popitem", "clear", "move_to_end")),
    set: frozenset(("add", "discard", "remove", "pop", "clear", "update")),
}  # fmt: skip

MOST_CONTENTS = 1024
"""Ways in which the content of one container may differ by run, and groups of runs by which it is changed."""


def base_of(content: Any) -> type | None:
    """Return whether a content is a list, a dict or a set."""
    kind = type(content)
    return dict if kind in (OrderedDict, defaultdict) else kind if kind in CONTENTS else None


def first_within(container: Container) -> Any:
    """Return the content of a container, in the first way that it may be."""
    content = container.content
    return content.values[0] if type(content) is Alternatives else content


def each_content(domain: Active, container: Container, one: Callable[[Any], Any]) -> Any:
    """Return what is made of the content of each run."""
    known = _contents(domain, container)
    if len(known) == 1:
        return one(known[0][1])
    parts: list[tuple[Array, Any]] = []
    entry, left = domain.active, np.zeros(domain.count, dtype=bool)
    for mask, content in known:
        domain.active = mask
        try:
            value = one(content)
        except DeadError:
            continue
        parts.append((domain.active.places, value))
        left |= domain.active.chosen
    domain.go_on(entry, left)
    return joins.gathered(parts, domain.count)


def _contents(domain: Active, container: Container) -> list[tuple[Mask, Any]]:
    """Return the contents that active runs have, each of one shape for all of its runs."""
    content = joins.by_keys(domain.present(container.content), domain.active, domain.count)
    if type(content) is not Alternatives:
        return [(domain.active, content)]
    if len(np.unique(content.codes[domain.active.places])) > MOST_CONTENTS:
        domain.give_up(f"a list, dict or set whose content differs in more than {MOST_CONTENTS:,} ways")
    return domain.parted(content)


def length(domain: Active, value: Any) -> Any:
    """``len(a)``."""
    value = domain.present(value)
    if type(value) is Numbers:
        return value.array.shape[1] if value.array.ndim > 1 else apply(domain, len, (value,))
    if type(value) is Container:
        if base_of(value.content) is not None and (value.plain or type(value.content) is list):
            return len(value.content)
        if value.plain:
            return apply(domain, len, (value,))
        return each_content(domain, value, tables.length)
    if type(value) is Alternatives:
        return each_alternative(domain, value, lambda each: length(domain, each))
    return len(value) if type(value) is tuple else apply(domain, len, (value,))


def member(domain: Active, value: Any, key: Any) -> Any:
    """``a[k]`` of a list, tuple, dict or array."""
    value, key = domain.present(value), domain.present(key)
    if type(value) is Container and base_of(first_within(value)) is not None:
        content = value.content
        if defaultdict in map(type, content.values if type(content) is Alternatives else [content]):
            key = domain.distinct(key) if type(key) is Numbers else key
            if differs(key):
                member_of_all = by_alternatives(
                    domain, (key,), lambda run: member(domain, value, chosen_in(key, run)), MOST_CONTENTS
                )
                if member_of_all is NotImplemented:
                    domain.give_up("a key that differs in nearly every run")
                return member_of_all
            _fill(domain, value, key)
        if value.plain and not differs(key):
            return _of_content(domain, value.content, key)
        if type(key) is Alternatives and value.plain:
            return each_alternative(domain, key, lambda each: member(domain, value, each))
        return each_content(domain, value, lambda content: _of_content(domain, content, key))
    if type(value) is Alternatives:
        return each_alternative(domain, value, lambda each: domain.item(each, key))
    if type(value) is tuple or type(value) is list:
        return _of_content(domain, value, key)
    return tables.item(domain, value, key)


def _fill(domain: Active, container: Container, key: Any) -> None:
    """What is read of a `defaultdict` and is not there is put there first."""
    branch = Branch(domain, domain.decided(domain.not_(is_in(domain, key, container))))
    with branch.arm(True) as goes:
        if goes:
            first = first_within(container)
            if first.default_factory is not None:
                set_item(domain, container, key, domain.call(first.default_factory))
    branch.join()


def _of_content(domain: Active, content: Any, key: Any) -> Any:
    if not differs(key):
        with domain.as_python:
            part = content[raw(key)]
        return Container(part) if type(part) is list and type(key) is slice else part
    places = type(key) is Numbers and key.array.ndim == 1 and key.array.dtype.kind == "i"
    if places and isinstance(content, list | tuple):
        return _by_place(domain, content, key)
    part = by_alternatives(domain, (key,), lambda run: _of_content(domain, content, chosen_in(key, run)))
    if part is not NotImplemented:
        return part
    return apply(domain, lambda own, key: own[key], (type(content)(content), key))


def _by_place(domain: Active, content: Any, key: Numbers) -> Any:
    """The member at a place that differs by run."""
    size = len(content)
    outside = domain.active.chosen & ~((key.array >= -size) & (key.array < size))
    if outside.any():
        domain.leave(IndexError(f"{type(content).__name__} index out of range"), outside)
    codes = np.where(domain.active.chosen, key.array, 0) % max(size, 1)
    chosen = joins.simplified(Alternatives(codes.astype(np.int32), list(content)))
    if any(type(each) is Alternatives for each in content):
        return by_alternatives(domain, (chosen,), lambda run: content[codes[run]], size)
    return joins.as_numbers(chosen, domain.active) if len(content) > 64 else chosen


# --- changes ----------------------------------------------------------------------------------------------


def method(domain: Active, container: Container, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a method of a list, dict or set that was made in this call."""
    base = base_of(first_within(container))
    if base is None:
        return domain.array_method(container, name, args, keywords)
    if name in _READS[base]:
        return each_content(domain, container, lambda content: _read(domain, content, name, args, keywords))
    if name not in _WRITES[base]:
        domain.give_up(f".{name}() of a {base.__name__}")
    if name == "sort":
        in_order = domain.call(sorted, Container(container.content, None), **keywords)
        content = in_order.content if type(in_order) is Container else in_order
        container.change(joins.with_content(domain.active.chosen, content, container.content))
        return None
    args = tuple(map(domain.present, args))
    if name == "extend" or (name == "update" and args):
        args = (_members(domain, args[0], name), *args[1:])
        if args[0] is None:
            domain.give_up(f".{name}() by what differs in length by run")
    by_key = args and name in (*_KEYED, "remove", "discard", "add") and differs(args[0])
    compared = name in ("remove", "discard", "add", "update") and base is not dict
    if by_key or (compared and not (container.plain and not any(map(differs, args)))):
        return _changed_by_key(domain, container, name, args, keywords)
    return _changed(domain, container, name, args, keywords)


def _members(domain: Active, value: Any, name: str) -> Any:
    """Return what a list is extended by, or a dict updated with, as Python knows it."""
    if type(value) is Container and base_of(value.content) is not None:
        return value.content
    if type(value) is Container and type(value.content) is Alternatives:
        domain.split_by(value.content)
    return list(domain.sequence(value)) if name == "extend" else value


def _read(domain: Active, content: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if name in ("items", "keys", "values"):
        return Container(list(getattr(content, name)()))
    if name == "copy":
        return Container(content.copy())
    if name != "get":
        return apply_method(domain, content, name, args, keywords)
    if not differs(args[0]):
        return content.get(raw(args[0]), *args[1:])
    key, default = args if len(args) == 2 else (*args, None)
    result = by_alternatives(
        domain, (key,), lambda run: _read(domain, content, name, (chosen_in(key, run), default), keywords)
    )
    return apply_method(domain, content, "get", (key, default)) if result is NotImplemented else result


_KEYED = ("pop", "insert", "setdefault", "move_to_end", "__setitem__")
"""Methods whose first argument is a key or a place."""


def _changed(domain: Active, container: Container, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Change the content of the active runs by a method whose keys are plain."""
    given = (raw(args[0]), *args[1:]) if args and name in _KEYED else args
    if domain.active.whole and type(container.content) is not Alternatives:
        content = joins.by_keys(container.content, domain.active, domain.count)
        if type(content) is not Alternatives:
            container.content = content
            with domain.as_python:
                result = getattr(content, name)(*given, **keywords)
            container.added(*args, *keywords.values())
            if name in ("extend", "update") and args:
                container.change(content)
            return result
    results: list[tuple[Array, Any]] = []
    entry, left, old = domain.active, np.zeros(domain.count, dtype=bool), container.content
    for mask, content in _contents(domain, container):
        new = content.copy()
        if name == "remove":  # it compares members
            new = chosen_in(new, int(mask.places[0]))
        domain.active = mask
        try:
            with domain.as_python:
                result = getattr(new, name)(*given, **keywords)
        except DeadError:
            continue
        old = joins.with_content(mask.chosen, new, old)
        results.append((mask.places, result))
        left |= mask.chosen
    container.change(old)
    domain.go_on(entry, left)
    return joins.gathered(results, domain.count)


def _changed_by_key(
    domain: Active, container: Container, name: str, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Change the content of each group of runs by a method whose keys differ by run, or are compared with members."""
    content = container.content
    members = content if isinstance(content, list | set) else []
    if any(type(each) is Numbers for each in args) or any(type(each) is Numbers for each in members):
        domain.give_up("a change by a number that differs by run")
    if not any(True for each in (container, *args) for _ in alternatives_in(each)):
        return _changed(domain, container, name, tuple(map(raw, args)), keywords)

    def one(run: int) -> Any:
        mine = tuple(chosen_in(each, run) for each in args)
        change = _changed_by_key if any(True for each in mine for _ in alternatives_in(each)) else _changed
        return change(domain, container, name, mine, keywords)

    result = by_alternatives(domain, (*nested_in(container), *args), one, MOST_CONTENTS)
    if result is NotImplemented:
        domain.give_up(f".{name}() of what differs in nearly every run")
    return result


def set_item(domain: Active, container: Container, key: Any, value: Any) -> None:
    """``a[k] = v`` of a list or dict that was made in this call."""
    key = domain.present(key)
    if differs(key):
        key = domain.distinct(key) if type(key) is Numbers else key
        done = by_alternatives(
            domain, (key,), lambda run: set_item(domain, container, chosen_in(key, run), value), MOST_CONTENTS
        )
        if done is NotImplemented:
            domain.give_up("an assignment to a key that differs in nearly every run")
        return
    key, content = raw(key), container.content
    if type(key) is slice:
        value = list(domain.sequence(value))
    if not domain.active.whole and isinstance(content, dict) and key in content and is_gone(content[key]):
        container.content = joins.by_keys(content, domain.all, domain.count)
    _changed(domain, container, "__setitem__", (key, value), {})


def delete_item(domain: Active, container: Container, key: Any) -> None:
    """``del a[k]``."""
    if differs(key):
        domain.give_up("del of what differs by run")
    _changed(domain, container, "pop", (key,), {})


def is_in(domain: Active, value: Any, container: Any) -> Any:
    """``a in b``, where the members may differ by run."""
    keyed = type(container) is Container and type(container.content) in (dict, Alternatives)
    if not keyed or container.plain or differs(value):
        return apply(domain, _contains, (value, container))

    def one(content: Any) -> Any:
        return raw(value) in content if base_of(content) is dict else singly(domain, _contains, (value, content))

    return each_content(domain, container, one)


def _contains(value: Any, container: Any) -> bool:
    return value in container


# --- How does a loop that is left to Python meet containers of ours? -------------------------------------


def looped(domain: Active, plan: LoopPlan, function: Callable[..., Any], values: tuple[Any, ...]) -> Looped | None:
    """Run a loop for all active runs at once; None if what it reads differs by run, or is not plain."""
    if plan.changed and not domain.active.whole:
        return None
    values = tuple(map(domain.present, values))
    if any(map(differs, values)):
        return None
    for name, value in zip(plan.names, values, strict=True):
        if type(value) in CONTENTS and (name in plan.changed or not definite.is_flat(value)):
            return None  # it is not of this call, or holds what is not
    known: dict[int, Any] = {id(value): value for value in values if type(value) is not Container}
    names_after = definite.looped(plan, function, tuple(_opened(value, known) for value in values))
    for value in values:
        if type(value) is Container:
            _closed(domain, value.content, known, set())
    if names_after is not None:
        names_after.names = {name: _closed(domain, value, known, set()) for name, value in names_after.names.items()}
    return names_after


def _opened(value: Any, known: dict[int, Any]) -> Any:
    """Return what a container holds, and note whose it is; those within it are opened in their places."""
    if type(value) is not Container:
        return value
    content = value.content
    if id(content) not in known:
        known[id(content)] = value
        if not value.bare:
            if type(content) is list:
                content[:] = [_opened(each, known) for each in content]
            elif isinstance(content, dict):
                for key, each in content.items():
                    content[key] = _opened(each, known)
    return content


def _closed(domain: Active, value: Any, known: dict[int, Any], seen: set[int]) -> Any:
    """Return the container of a value: the one that it had, or a new one."""
    kind = type(value)
    if (
        kind is Container
        or kind is Counter
        or kind is range
        or kind in IMMUTABLE
        or isinstance(value, np.generic)
        or known.get(id(value)) is value
    ):
        return value
    if isinstance(value, tuple):
        parts = [_closed(domain, each, known, seen) for each in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return tuple(parts) if kind is tuple else domain.give_up("a row of tables that a loop keeps")
    if is_of_pandas(kind) or kind is np.ndarray:
        return known.setdefault(id(value), Container(value, plain=True))
    if kind not in CONTENTS:
        if kind.__module__.startswith("pandas") and kind.__name__ in ("Timestamp", "Timedelta", "NaTType"):
            return value
        domain.give_up(f"a {kind.__name__} that a loop keeps")
    owner = known.setdefault(id(value), Container(value))
    if id(value) not in seen:
        seen.add(id(value))
        if kind is list:
            value[:] = [_closed(domain, each, known, seen) for each in value]
        elif kind is not set:
            for key, each in value.items():
                value[key] = _closed(domain, each, known, seen)
        owner.change(value)
    return owner


# --- How does a loop go through lists that differ by run, if all of them are parts of one list? ----------

_MOST_LISTS = 4096


def in_one_order(domain: Active, value: Any) -> InOneOrder | None:
    """Return lists or tuples that differ by run as parts of one, if they are; else None.

    Their members are texts, or whole numbers of Python: equal ones are the same.
    """
    if not _is_list(value):
        return None
    groups = groups_of(nested_in(value), domain.active, _MOST_LISTS)
    if groups is None or len(groups) < 2:
        return None
    lists = [at(value, int(runs[0])) for runs in groups]
    kinds = {type(item) for each in lists for item in each}
    if kinds not in ({str}, {int}) or any(len(set(each)) < len(each) for each in lists):
        return None
    sorter: graphlib.TopologicalSorter[Any] = graphlib.TopologicalSorter()
    for each in lists:
        for before, item in itertools.pairwise((None, *each)):
            sorter.add(item, *(() if before is None else (before,)))
    try:
        return InOneOrder(value, groups, lists, list(sorter.static_order()), domain.count)
    except graphlib.CycleError:
        return None


def _is_list(value: Any) -> bool:
    """Whether a value is a list or a tuple in every run, whose members are no objects of ours but alternatives."""
    if type(value) is Container:
        return _is_list(value.content)
    if type(value) is Alternatives:
        return all(map(_is_list, value.values))
    return type(value) in (list, tuple) and not any(type(each) in (Container, Numbers) for each in value)
