"""What do lists, dicts, sets and arrays do whose content may differ by run, and loops through them?

A change reaches the runs that are active; the others keep what was there. A loop through lists that are parts of one
goes through that one, each item by the runs whose own list has it: what the body does with an item is done once.
"""

from __future__ import annotations

import graphlib
import itertools
import types
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading import definite
from dpaudit.reading.definite import Looped, Plan
from dpaudit.reading.runs import control, joins, table_items, tables
from dpaudit.reading.runs.applied import alternatives_in, apply, chosen_in, each_group, groups_of, nested_in, singly
from dpaudit.reading.runs.joins import is_of_pandas
from dpaudit.reading.runs.values import (
    CONTENTS,
    UNBOUND,
    Alternatives,
    Array,
    Container,
    Mask,
    Numbers,
    at,
    differs,
    raw,
)

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

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


def base_within(container: Container) -> type | None:
    """Return whether the content of a container is a list, a dict or a set, in the first way that it may be."""
    content = container.content
    return base_of(content.values[0] if type(content) is Alternatives else content)


def contents(domain: Active, container: Container) -> list[tuple[Mask, Any]]:
    """Return the contents that active runs have, each of one shape for all of its runs."""
    content = joins.by_keys(domain.present(container.content), domain.active, domain.count)
    if type(content) is not Alternatives:
        return [(domain.active, content)]
    out = []
    known = np.unique(content.codes[domain.active.places])
    if len(known) > MOST_CONTENTS:
        domain.give_up(f"a list, dict or set whose content differs in more than {MOST_CONTENTS:,} ways")
    for code in known:
        mask = Mask(domain.active.chosen & (content.codes == code))
        out.append((mask, content.values[code]))
    return out


def has_several(domain: Active, container: Container) -> bool:
    """Whether a list, dict or set has several contents, each of one shape."""
    content = domain.present(container.content)
    if type(content) is not Alternatives and type(content) is not dict:
        return False
    content = joins.by_keys(content, domain.active, domain.count)
    return type(content) is Alternatives and base_of(content) is not None


def each_content(domain: Active, container: Container, one: Callable[[Any], Any]) -> Any:
    """Return what is made of the content of each run."""
    parts: list[tuple[Array, Any]] = []
    left = np.zeros(domain.count, dtype=bool)
    known = contents(domain, container)
    if len(known) == 1:
        return one(known[0][1])
    for mask, content in known:
        domain.let(mask)
        try:
            value = one(content)
        except control.DeadError:
            continue
        parts.append((domain.active.places, value))
        left |= domain.active.chosen
    domain.let(Mask(left))
    domain.alive()
    return joins.gathered(parts, domain.count)


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
        return each_content(domain, value, lambda content: _length(domain, content))
    if type(value) is Alternatives:
        return domain.each_alternative(value, lambda each: length(domain, each))
    return len(value) if type(value) is tuple else apply(domain, len, (value,))


def _length(domain: Active, content: Any) -> Any:
    if type(content) in CONTENTS:
        return len(content)
    return length(domain, content) if type(content) is Numbers else tables.length(content)


def member(domain: Active, value: Any, key: Any) -> Any:
    """``a[k]`` of a list, tuple, dict or array."""
    value, key = domain.present(value), domain.present(key)
    if (
        type(value) is Container
        and base_of(value.content if type(value.content) is not Alternatives else value.content.values[0]) is not None
    ):
        if type(value.content) is defaultdict or (
            type(value.content) is Alternatives and any(type(each) is defaultdict for each in value.content.values)
        ):
            key = domain.distinct(key) if type(key) is Numbers else key
            if differs(key):
                groups = groups_of(list(alternatives_in(key)), domain.active, MOST_CONTENTS)
                if groups is None:
                    domain.give_up("a key that differs in nearly every run")
                return each_group(domain, groups, lambda run: member(domain, value, chosen_in(key, run)))
            _fill(domain, value, key)
        if value.plain and not differs(key):
            return _plain_member(domain, value, key)
        if type(key) is Alternatives and value.plain:
            return domain.each_alternative(key, lambda each: member(domain, value, each))
        return each_content(domain, value, lambda content: _of_content(domain, content, key))
    if type(value) is Alternatives:
        return domain.each_alternative(value, lambda each: domain.item(each, key))
    if type(value) is tuple or type(value) is list:
        return _of_content(domain, value, key)
    return table_items.item(domain, value, key)


def _fill(domain: Active, container: Container, key: Any) -> None:
    """What is read of a `defaultdict` and is not there is put there first."""
    branch = control.Branch(domain, domain.decided(domain.not_(is_in(domain, key, container))))
    with branch.arm(True) as goes:
        if goes:
            first = container.content.values[0] if type(container.content) is Alternatives else container.content
            if first.default_factory is not None:
                set_item(domain, container, key, domain.call(first.default_factory))
    branch.join()


def _plain_member(domain: Active, container: Container, key: Any) -> Any:
    content, key = container.content, raw(key)
    try:
        found = content[key]
    except Exception as error:
        domain.leave(error)
        raise
    return Container(found) if type(key) is slice and type(found) is list else found


def _of_content(domain: Active, content: Any, key: Any) -> Any:
    if not differs(key):
        try:
            found = content[raw(key)]
        except Exception as error:
            domain.leave(error)
            raise
        return Container(found) if type(found) is list and type(key) is slice else found
    if (
        isinstance(content, list | tuple)
        and type(key) is Numbers
        and key.array.ndim == 1
        and key.array.dtype.kind == "i"
    ):
        return _by_place(domain, content, key)
    leaves = list(alternatives_in(key))
    if leaves:
        groups = groups_of(leaves, domain.active, max(64, domain.active.count // 4))
        if groups is not None:
            return each_group(domain, groups, lambda run: _of_content(domain, content, chosen_in(key, run)))
    return apply(domain, _get, (type(content)(content), key))


def _get(content: Any, key: Any) -> Any:
    return content[key]


def _by_place(domain: Active, content: Any, key: Numbers) -> Any:
    """The member at a place that differs by run."""
    size = len(content)
    outside = domain.active.chosen & ~((key.array >= -size) & (key.array < size))
    if outside.any():
        kind = type(content).__name__
        domain.leave(IndexError(f"{kind} index out of range"), outside)
    codes = np.where(domain.active.chosen, key.array, 0) % max(size, 1)
    found = joins.simplified(Alternatives(codes.astype(np.int32), list(content)))
    if any(type(each) is Alternatives for each in content):
        groups = groups_of([found], domain.active, size)
        assert groups is not None
        return each_group(domain, groups, lambda run: content[codes[run]])
    return joins.as_numbers(found, domain.active) if len(content) > 64 else found


# --- changes ----------------------------------------------------------------------------------------------


def method(domain: Active, container: Container, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a method of a list, dict or set that was made in this call."""
    first = container.content.values[0] if type(container.content) is Alternatives else container.content
    base = base_of(first)
    if base is None:
        return domain.array_method(container, name, args, keywords)
    if name in _READS[base]:
        return _read(domain, container, name, args, keywords)
    if name not in _WRITES[base]:
        domain.give_up(f".{name}() of a {base.__name__}")
    if name == "sort":
        return _sorted_in_place(domain, container, keywords)
    args = tuple(map(domain.present, args))
    if name == "extend" or (name == "update" and args):
        args = (_members(domain, args[0], name), *args[1:])
        if args[0] is None:
            return _by_run(domain, container, name, args, keywords)
    place = (
        args and name in ("pop", "insert", "setdefault", "remove", "discard", "add", "move_to_end") and differs(args[0])
    )
    if place or (
        name in ("remove", "discard", "add", "update")
        and base is not dict
        and not (container.plain and not any(map(differs, args)))
    ):
        return _changed_by_key(domain, container, name, args, keywords)
    return _changed(domain, container, name, args, keywords)


def _members(domain: Active, value: Any, name: str) -> Any:
    """Return what a list is extended by, or a dict updated with, as Python knows it."""
    if type(value) is Container and base_of(value.content) is not None:
        return value.content
    if type(value) is Container and type(value.content) is Alternatives:
        domain.split_by(value.content)
    if name == "extend":
        return list(domain.sequence(value))
    return value


def _read(domain: Active, container: Container, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    def one(content: Any) -> Any:
        if name in ("items", "keys", "values"):
            return Container(list(getattr(content, name)()))
        if name == "copy":
            return Container(content.copy())
        if name == "get" and args and differs(args[0]):
            return _get_or(domain, content, *args)
        if name in ("get",):
            return getattr(content, name)(raw(args[0]), *args[1:])
        return apply(domain, lambda own, *rest: getattr(own, name)(*rest), (content, *args), keywords)

    return each_content(domain, container, one)


def _get_or(domain: Active, content: Any, key: Any, default: Any = None) -> Any:
    if not differs(key):
        return content.get(raw(key), default)
    leaves = list(alternatives_in(key))
    groups = groups_of(leaves, domain.active, max(64, domain.active.count // 4)) if leaves else None
    if groups is not None:
        return each_group(domain, groups, lambda run: _get_or(domain, content, chosen_in(key, run), default))
    return apply(domain, lambda own, *rest: own.get(*rest), (content, key, default))


def _changed(domain: Active, container: Container, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Change the content of the active runs by a method whose keys are plain."""
    if domain.active.whole and type(container.content) is not Alternatives:
        content = joins.by_keys(container.content, domain.active, domain.count)
        if type(content) is not Alternatives:
            if content is not container.content:
                container.content = content
            try:
                found = getattr(content, name)(*_keyed(name, args), **keywords)
            except Exception as error:
                domain.leave(error)
                raise
            container.added(*args, *keywords.values())
            if name in ("extend", "update") and args:
                container.change(content)
            return found
    parts: list[tuple[Mask, Any]] = []
    results: list[tuple[Array, Any]] = []
    left = np.zeros(domain.count, dtype=bool)
    entry = domain.active
    for mask, content in contents(domain, container):
        new = (
            chosen_in(content.copy(), int(mask.places[0])) if name == "remove" else content.copy()
        )  # it compares members
        domain.let(mask)
        try:
            found = getattr(new, name)(*_keyed(name, args), **keywords)
        except Exception as error:
            try:
                domain.leave(error)
            except control.DeadError:
                continue
        parts.append((mask, new))
        results.append((mask.places, found))
        left |= mask.chosen
    domain.let(entry if np.array_equal(left, entry.chosen) else Mask(left))
    old = container.content
    for mask, new in parts:
        old = joins.with_content(mask.chosen, new, old)
    container.change(old)
    domain.alive()
    return joins.gathered(results, domain.count)


def _keyed(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (raw(args[0]), *args[1:]) if args and name in ("pop", "insert", "setdefault", "move_to_end") else args


def _changed_by_key(
    domain: Active, container: Container, name: str, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Change the content of each group of runs by a method whose keys differ by run, or are compared with members."""
    leaves = [*nested_in(container), *(leaf for each in args for leaf in alternatives_in(each))]
    numbers = [each for each in args if type(each) is Numbers] or _numbers_in(container)
    if numbers:
        domain.split_by_values(numbers[0])
    if not leaves:
        return _changed(domain, container, name, tuple(map(raw, args)), keywords)
    groups = groups_of(leaves, domain.active, MOST_CONTENTS)
    if groups is None:
        domain.give_up(f".{name}() of what differs in nearly every run")
    assert groups is not None

    def one(run: int) -> Any:
        mine = tuple(chosen_in(each, run) for each in args)
        change = _changed_by_key if any(True for each in mine for _ in alternatives_in(each)) else _changed
        return change(domain, container, name, mine, keywords)

    return each_group(domain, groups, one)


def _numbers_in(container: Container) -> list[Numbers]:
    content = container.content
    members = content if isinstance(content, list | set) else []
    return [each for each in members if type(each) is Numbers]


def _by_run(domain: Active, container: Container, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    domain.give_up(f".{name}() by what differs in length by run")


def _sorted_in_place(domain: Active, container: Container, keywords: dict[str, Any]) -> None:
    found = domain.call(sorted, Container(container.content, None), **keywords)
    content = found.content if type(found) is Container else found
    container.change(joins.with_content(domain.active.chosen, content, container.content))


def set_item(domain: Active, container: Container, key: Any, value: Any) -> None:
    """``a[k] = v`` of a list or dict that was made in this call."""
    key = domain.present(key)
    if differs(key):
        if type(key) is Numbers:
            key = domain.distinct(key)
        leaves = list(alternatives_in(key))
        groups = groups_of(leaves, domain.active, MOST_CONTENTS) if leaves else None
        if groups is None:
            domain.give_up("an assignment to a key that differs in nearly every run")
        assert groups is not None
        each_group(domain, groups, lambda run: set_item(domain, container, chosen_in(key, run), value))
        return
    key = raw(key)
    if type(key) is slice:
        value = list(domain.sequence(value))
    content = container.content
    if domain.active.whole and type(content) is not Alternatives:
        content = joins.by_keys(content, domain.active, domain.count)
        if type(content) is not Alternatives:
            container.content = content
            try:
                content[key] = value
            except Exception as error:
                domain.leave(error)
                raise
            container.added(value)
            return
    if isinstance(content, dict) and _is_short_of(content, key):
        container.content = joins.by_keys(content, domain.all, domain.count)
    entry, left, old = domain.active, np.zeros(domain.count, dtype=bool), None
    for mask, own in contents(domain, container):
        new = own.copy()
        domain.let(mask)
        try:
            new[key] = value
        except Exception as error:
            try:
                domain.leave(error)
            except control.DeadError:
                continue
        left |= mask.chosen
        old = joins.with_content(mask.chosen, new, container.content if old is None else old)
    if old is not None:
        container.change(old)
    domain.let(entry if np.array_equal(left, entry.chosen) else Mask(left))
    domain.alive()


def _is_short_of(content: dict[Any, Any], key: Any) -> bool:
    from dpaudit.reading.runs.values import is_gone

    return key in content and is_gone(content[key])


def delete_item(domain: Active, container: Container, key: Any) -> None:
    """``del a[k]``."""
    if differs(key):
        domain.give_up("del of what differs by run")
    _changed(domain, container, "pop", (key,), {})


def is_in(domain: Active, value: Any, container: Any) -> Any:
    """``a in b``, where the members may differ by run."""
    if type(container) is Container and not container.plain:
        keyed = type(container.content) is dict or type(container.content) is Alternatives
        if keyed and not differs(value):
            return each_content(
                domain,
                container,
                lambda content: (
                    raw(value) in content if base_of(content) is dict else singly(domain, _contains, (value, content))
                ),
            )
    return apply(domain, _contains, (value, container))


def _contains(value: Any, container: Any) -> bool:
    return value in container


__all__ = ["UNBOUND", "contents", "delete_item", "is_in", "length", "member", "method", "set_item"]

# --- How does a loop that is left to Python meet containers of ours? -------------------------------------

_AS_THEY_ARE = (int, float, bool, str, bytes, types.NoneType, range)


def looped(domain: Active, plan: Plan, function: Callable[..., Any], values: tuple[Any, ...]) -> Looped | None:
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
    found = definite.looped(plan, function, tuple(_opened(value, known) for value in values))
    for value in values:
        if type(value) is Container:
            _closed(domain, value.content, known, set())
    if found is not None:
        found.names = {name: _closed(domain, value, known, set()) for name, value in found.names.items()}
    return found


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
        or kind in _AS_THEY_ARE
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


class InOneOrder:
    """Lists that differ by run, all of them parts of one list in one order: a loop goes through that one.

    Attributes:
        rest: the items that are still to come, each with the runs whose list has it.
    """

    def __init__(self, value: Any, groups: list[Array], lists: list[Any], items: list[Any], count: int) -> None:
        self._value, self._held = value, _held_by(value)
        codes = np.zeros(count, dtype=np.int32)
        for number, runs in enumerate(groups):
            codes[runs] = number
        members = [frozenset(each) for each in lists]
        self.rest = ((item, np.array([item in each for each in members])[codes]) for item in items)

    def is_changed(self) -> bool:
        """Whether somebody changed such a list meanwhile."""
        now = _held_by(self._value)
        return len(now) != len(self._held) or any(a is not b for a, b in zip(now, self._held, strict=True))


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


def _held_by(value: Any) -> list[Any]:
    """What a list that differs by run consists of: it is changed where one of these is another object."""
    if type(value) is Container:
        return _held_by(value.content)
    if type(value) is Alternatives:
        return [value, *(part for each in value.values for part in _held_by(each))]
    return list(value)
