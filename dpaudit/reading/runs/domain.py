"""What does a function do in many runs at once, in one pass?

Data are what they are; a draw is a number for each run; runs that branch differently stay in one pass under masks
(`active`, `control`). What reads plain values alone is done once, by Python.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dpaudit.reading import dispatch, python
from dpaudit.reading.runs import active, arrays, called, containers, joins, table_items, tables
from dpaudit.reading.runs.applied import apply
from dpaudit.reading.runs.values import (
    CONTENTS,
    UNBOUND,
    Alternatives,
    Container,
    Member,
    Numbers,
    Table,
    Windows,
    at,
    differs,
    raw,
)

MOST_KEYS = 256
"""Values of a number that is a key, or a length."""


class Runs(called.Calls):
    """The domain of many runs: what it does with values."""

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        owner = self.present(owner)
        kind = type(owner)
        if kind is Alternatives:
            if self.differs_nearly_everywhere(owner):
                if callable(getattr(type(at(owner, int(self.active.places[0]))), name, None)):
                    return Member(owner, name)
                return apply(self, lambda own: getattr(own, name), (owner,))
            return self.each_alternative(owner, lambda each: self.attribute(each, name))
        if kind in (Container, Numbers, Table):
            return table_items.attribute(self, owner, name)
        if kind is Windows:
            return Member(owner, name)
        if owner is UNBOUND:
            self.leave(active.unbound_error("a name"))
        if dispatch.computed(owner, name) is not None:
            self.give_up(f".{name}, a cached property")
        try:
            found = super().attribute(owner, name)
        except self.control:
            raise
        except Exception as error:
            self.leave(error)
            raise
        if not joins.is_of_pandas(kind):
            return found
        if isinstance(found, CONTENTS):
            self.give_up(f".{name} of a frame")
        return joins.wrapped(found)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v`` of an object that was made in this call."""
        owner = self.present(owner)
        if type(owner) is Alternatives:
            self.each_alternative(owner, lambda each: self.set_attribute(each, name, value))
            return
        if type(owner) in (Container, Table):
            table_items.set_attribute(self, owner, name, value)
            return
        method, setter = dispatch.method(owner, "__setattr__"), dispatch.setter(owner, name)
        if method is not None or setter is not None:
            self.call(method, name, value) if method is not None else self.call(setter, owner, value)
            return
        if id(owner) not in self._made or has_setter(type(owner), name):
            self.give_up(f"an assignment to .{name} of something that was not made in this call")
        old = owner.__dict__.get(name, UNBOUND) if hasattr(owner, "__dict__") else getattr(owner, name, UNBOUND)
        try:
            setattr(owner, name, self.put(value, old))
        except Exception as error:
            self.leave(error)

    def delete_attribute(self, owner: Any, name: str) -> None:
        """``del o.a``."""
        self.give_up("del of an attribute")

    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``."""
        owner = self.present(owner)
        method = dispatch.method(owner, "__getitem__")
        if method is not None:
            return self.call(method, key)
        return containers.member(self, owner, key)

    def member(self, owner: Any, place: int) -> Any:
        """The item of a loop."""
        if type(owner) is Alternatives:
            return self.each_alternative(owner, lambda each: self.member(each, place))
        if type(owner) is Container:
            content = owner.content
            if type(content) is Alternatives:
                return containers.each_content(self, owner, lambda each: list(self.members(each))[place])
            if containers.base_of(content) is list:
                return content[place]
            return list(self._shown_members(owner, content))[place]
        if type(owner) is Numbers and owner.labels is None:
            return tables.row(owner, place)
        members = list(self.sequence(owner))
        return members[place]

    def _shown_members(self, owner: Container, content: Any) -> Iterable[Any]:
        """The members of what a container holds; the rows of an array show parts of it."""
        for each in self.members(content):
            if type(each) is Container and containers.base_of(content) is None:
                owner.view(each)
            yield each

    def members(self, content: Any) -> Iterable[Any]:
        """The members of what a container holds."""
        if type(content) in (Numbers, Table) or joins.is_of_pandas(type(content)):
            return tables.members(self, content)
        return content  # type: ignore[no-any-return]

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v`` of what was made in this call."""
        owner = self.present(owner)
        method = dispatch.method(owner, "__setitem__")
        if method is not None:
            self.call(method, key, value)
        elif type(owner) is Alternatives:
            self.each_alternative(owner, lambda each: self.set_item(each, key, value))
        elif type(owner) is Container:
            if containers.base_within(owner) is not None:
                containers.set_item(self, owner, key, value)
            else:
                table_items.set_item(self, owner, key, value)
        elif type(owner) is table_items.Located:
            owner.assign(key, value)
        else:
            self.give_up(f"an assignment into a {type(owner).__name__} that was not made in this call")

    def delete_item(self, owner: Any, key: Any) -> None:
        """``del o[k]``."""
        owner = self.present(owner)
        if type(owner) is not Container or containers.base_of(owner.content) is None:
            self.give_up("del of an item")
        containers.delete_item(self, owner, key)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``."""
        left, right = self.present(left), self.present(right)
        for method, other in dispatch.operators(name, left, right):
            value = self.call(method, other)
            if value is not NotImplemented:
                return value
        if type(left) is Container or type(right) is Container:
            found = self._lists(name, left, right)
            if found is not NotImplemented:
                return found
            found = table_items.binary(self, name, left, right)
            if found is not NotImplemented:
                return found
        return arrays.binary(self, name, left, right)

    def _lists(self, name: str, left: Any, right: Any) -> Any:
        """Lists that are added, or repeated."""
        parts = [each.content if type(each) is Container else each for each in (left, right)]
        if name == "add" and all(type(each) is list for each in parts):
            return Container(parts[0] + parts[1])
        if name == "mul" and type(parts[0]) is list and type(parts[1]) is int:
            return Container(parts[0] * parts[1])
        return NotImplemented

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``, ``a is b``, ``a in b``."""
        if name in ("in_", "not_in"):
            right = self.present(right)
            method = dispatch.method(right, "__contains__")
            found = (
                self.call(bool, self.call(method, left))
                if method is not None
                else containers.is_in(self, self.present(left), right)
            )
            return found if name == "in_" else self.not_(found)
        if name in ("is_", "is_not"):
            return self._is(name == "is_", self.present(left), self.present(right))
        return self.binary(name, left, right)

    def _is(self, yes: bool, left: Any, right: Any) -> Any:
        if type(left) is Alternatives:
            return self.each_alternative(left, lambda each: self._is(yes, each, right))
        if type(right) is Alternatives:
            return self.each_alternative(right, lambda each: self._is(yes, left, each))
        if type(left) is Numbers or type(right) is Numbers:
            for one, other in ((left, right), (right, left)):
                if one in (True, False) and type(other) is Numbers and other.python and other.array.dtype == bool:
                    return Numbers((other.array == one) == yes, True)
            if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
                return not yes
            self.give_up("'is' of numbers")
        return (left is right) == yes

    def unary(self, name: str, value: Any) -> Any:
        """``-a``."""
        value = self.present(value)
        method = dispatch.method(value, f"__{name}__")
        return arrays.unary(self, name, value) if method is None else self.call(method)

    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``: a list, set, array or series that was made in this call changes for all who hold it."""
        target = self.present(target)
        if dispatch.has_own_methods(type(target)):
            return super().inplace(name, target, value)
        if type(target) is Alternatives and any(type(each) is Container for each in target.values):
            return self.each_alternative(target, lambda each: self.inplace(name, each, value))
        if type(target) is Container:
            base = containers.base_within(target)
            if base is list and name == "add":
                containers.method(self, target, "extend", (value,), {})
                return target
            if base is set or base is dict:
                if name != "or_":
                    self.give_up("an operator in place")
                containers.method(self, target, "update", (value,), {})
                return target
            if base is None:
                table_items.replace(self, target, self.binary(name, target, value))
                return target
        elif type(target) in (list, dict, set, np.ndarray) or joins.is_of_pandas(type(target)):
            self.give_up("an operator in place on something that was not made in this call")
        return self.binary(name, target, value)

    def length(self, value: Any) -> Any:
        """``len(a)``."""
        method = dispatch.method(value, "__len__")
        return containers.length(self, value) if method is None else self.call(method)

    def distinct(self, key: Numbers) -> Any:
        """Return numbers as alternatives, where they have few values."""
        places = self.active.places
        own = key.array[places]
        known, inverse = np.unique(own, return_inverse=True)
        if key.array.ndim != 1 or len(known) > MOST_KEYS:
            self.give_up("a key that differs in nearly every run")
        codes = np.zeros(self.count, dtype=np.int32)
        codes[places] = inverse
        return Alternatives(codes, [each.item() if key.python else each for each in known])

    def sequence(self, value: Any) -> Sequence[Any] | Iterable[Any]:
        """Return the members of a value, of which every active run has equally many."""
        value = self.present(value)
        if type(value) is Container:
            content = joins.by_keys(self.present(value.content), self.active, self.count)
            if type(content) is Alternatives:
                self.split_by(content)
            return list(self._shown_members(value, content))
        if type(value) is Numbers:
            return list(tables.members(self, value))
        if type(value) is Alternatives:
            self.split_by(value)
        return value  # type: ignore[no-any-return]

    def iterate(self, value: Any) -> Iterable[Any]:
        """``for x in a``, by Python."""
        value = self.present(value)
        method = dispatch.method(value, "__iter__")
        if method is not None:
            return self.call(method)  # type: ignore[no-any-return]
        if type(value) is Windows:
            self.give_up("a loop over rolling windows")
        if type(value) in (Container, Numbers, Alternatives):
            return self.sequence(value)
        if hasattr(type(value), "__next__") and hasattr(type(value), "__iter__"):
            return _Watched(self, value)
        return value  # type: ignore[no-any-return]

    def unpack(self, value: Any, count: int, star: int | None) -> Sequence[Any]:
        """``a, b = v``."""
        value = self.present(value)
        whole = type(value) is Alternatives and star is None
        if whole and all(type(each) is tuple and len(each) == count for each in value.values):
            return [self.item(value, place) for place in range(count)]
        try:
            return super().unpack(value, count, star)
        except self.control:
            raise
        except (ValueError, TypeError) as error:
            self.leave(error)
            raise

    def checked(self, function: Any, owner: Any, name: str, value: Any, *rest: Any) -> Any:
        """What a builtin makes of the answer of a user's method: what differs by run is not checked."""
        return value if differs(value) else super().checked(function, owner, name, value, *rest)

    def slice(self, *parts: Any) -> Any:
        """``a:b:c``."""
        return slice(*map(self.present, parts))

    def mapping(self, value: Any) -> Any:
        """``**a``."""
        value = self.present(value)
        if type(value) is Container and type(value.content) is dict:
            return joins.by_keys(value.content, self.active, self.count)
        return value

    def new(self, value: Any) -> Any:
        """A list that was written down."""
        return Container(value)

    def new_dict(self, pairs: list[tuple[Any, ...]]) -> Any:
        """A dict that was written down; a key may differ by run."""
        if not any(differs(key) for is_rest, key, _ in pairs if not is_rest):
            out: dict[Any, Any] = {}
            for is_rest, key, value in pairs:
                if is_rest:
                    out.update(value)
                    continue
                try:
                    out[raw(key)] = value
                except TypeError as error:
                    self.leave(error)
            return Container(out)
        made = Container({})
        for is_rest, key, value in pairs:
            if is_rest:
                containers.method(self, made, "update", (Container(dict(value)),), {})
            else:
                containers.set_item(self, made, key, value)
        return made

    def new_set(self, members: Any) -> Any:
        """A set that was written down."""
        return apply(self, set, (members if type(members) is Container else Container(list(members)),))

    def format(self, value: Any, conversion: int, specification: Any) -> Any:
        """``{a!r:>5}`` in a text."""
        value = self.present(value)
        if dispatch.has_own_methods(type(value)):
            return super().format(value, conversion, specification)

        def text(own: Any, spec: Any) -> str:
            return format(own if conversion == -1 else python.CONVERSIONS[conversion](own), spec)

        return apply(self, text, (value, specification))

    def join(self, parts: list[Any]) -> Any:
        """The parts of a text, put together."""
        return apply(self, lambda *own: "".join(own), tuple(parts)) if any(map(differs, parts)) else "".join(parts)

    def enter(self, manager: Any) -> Any:
        """``with a``."""
        manager = self.present(manager)
        if type(manager) is Alternatives:
            self.split_by(manager)
        if type(manager) is np.errstate and _raises(manager):
            self.give_up("a block where NumPy raises what it warns of elsewhere")
        return super().enter(manager)

    # --- patterns -----------------------------------------------------------------------------------------

    def match_sequence(self, value: Any, count: int, star: int | None, unpacked: bool) -> Any:
        """``case [a, *b]``."""
        value = self._matched(value)
        return super().match_sequence(value, count, star, unpacked)

    def match_mapping(self, value: Any, keys: tuple[Any, ...], rest: bool) -> Any:
        """``case {k: a}``."""
        return super().match_mapping(self._matched(value), keys, rest)

    def match_class(self, value: Any, kind: Any, places: int, names: tuple[str, ...]) -> Any:
        """``case C(a)``."""
        value = self.present(value)
        if type(value) is Alternatives:
            self.split_by(value)
        if type(value) not in (Numbers, Container, Table):
            return super().match_class(value, kind, places, names)
        return [value] if self.call(isinstance, value, kind) and places == 1 and not names else None

    def _matched(self, value: Any) -> Any:
        value = self.present(value)
        if type(value) is Container:
            value = joins.by_keys(self.present(value.content), self.active, self.count)
        if type(value) is Alternatives:
            self.split_by(value)
        return value


class _Watched:
    """An iterator, of which it is known which runs advanced it."""

    def __init__(self, domain: Runs, iterator: Any) -> None:
        self._domain, self.iterator = domain, iterator

    def __iter__(self) -> _Watched:
        return self

    def __next__(self) -> Any:
        self._domain.advance(self.iterator)
        return next(self.iterator)


def has_setter(kind: type, name: str) -> bool:
    """Whether something other than the object keeps an attribute."""
    found = dispatch.in_class(kind, name)
    return hasattr(type(found), "__set__") and type(found) is not types.MemberDescriptorType


def _raises(state: Any) -> bool:
    """Whether a state of NumPy does anything but warn."""
    names = ("_all", "_divide", "_over", "_under", "_invalid")
    return any(getattr(state, name, None) in ("raise", "call", "print", "log") for name in names)
