"""What does a function do in many runs at once, in one pass?

Data are what they are; a draw is a number for each run; runs that branch differently stay in one pass under masks
(`active`). What reads plain values alone is done once, by Python.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dpaudit.reading import definite, dispatch, python
from dpaudit.reading.runs import containers, joins, numbers, tables
from dpaudit.reading.runs.active import (
    Branch,
    CallFrame,
    DeadError,
    InOneOrder,
    Loop,
    SplitError,
    Trying,
    unbound_error,
)
from dpaudit.reading.runs.applied import apply, each_alternative
from dpaudit.reading.runs.calls import RunCalls
from dpaudit.reading.runs.values import (
    CONTENTS,
    UNBOUND,
    Alternatives,
    Array,
    Container,
    Mask,
    Member,
    Numbers,
    Table,
    Windows,
    at,
    differs,
    held,
    is_of_pandas,
    raw,
)

MOST_KEYS = 256
"""Values of a number that is a key, or a length."""


class Runs(RunCalls):
    """The domain of many runs: names, control, and what it does with values."""

    # --- names --------------------------------------------------------------------------------------------

    def unbound(self) -> Any:
        """The value of a name that has none."""
        return UNBOUND

    def bind(self, new: Any, old: Any) -> Any:
        """The same of a name that every run binds before it reads it."""
        return new if old is UNBOUND else self.put(new, old)

    def got(self, value: Any, name: str, free: bool = False) -> Any:
        """The value of a name that some runs may not have bound."""
        value = self.present(value)
        if value is UNBOUND:
            self.leave(unbound_error(name, free))
        if type(value) is Alternatives:
            for code, each in enumerate(value.values):
                if each is UNBOUND:
                    chosen = self.active.chosen & (value.codes == code)
                    if chosen.any():
                        self.leave(unbound_error(name, free), chosen)
                    return self.present(value)
        return value

    def received(self, value: Any) -> Any:
        """``*args`` and ``**keywords`` of a call."""
        return Container(value) if type(value) is dict else value

    def named(self, function: Any, name: str) -> Any:
        """A function within a function, by its name in the source."""
        if isinstance(function, types.FunctionType):
            function.__name__ = name
            function.__qualname__ = f"{function.__qualname__.rpartition('.')[0]}.{name}".removeprefix(".")
        return function

    # --- control ------------------------------------------------------------------------------------------

    def frame(self) -> CallFrame:
        """A call of a function begins."""
        return CallFrame(self)

    def branch(self, value: Any) -> Branch:
        """``if a``."""
        return Branch(self, self.decided(value))

    def loop(self, *through: Any) -> Loop:
        """``for x in a``, or ``while``."""
        return Loop(self, *through)

    def in_one_order(self, value: Any) -> InOneOrder | None:
        """Lists that differ by run as parts of one, if they are."""
        return containers.in_one_order(self, value)

    def left_to_python(
        self, plan: tuple[Any, ...], function: Callable[..., Any], values: Callable[[], Any]
    ) -> definite.Looped | None:
        """``for x in y: …``, if it is left to Python as it stands."""
        try:
            return containers.looped(self, definite.LoopPlan(*plan), function, values())
        except NameError:  # of a name that has no value yet
            return None

    def left(self, error: Exception | None) -> None:
        """Such a loop is over."""
        if error is not None:
            self.leave(error)

    def left_value(self, done: definite.Looped) -> Any:
        """The value of such a comprehension."""
        return definite.PlainLoops.left_value(self, done)  # type: ignore[arg-type]

    def trying(self) -> Trying:
        """``try``."""
        return Trying(self)

    def decided(self, value: Any) -> bool | Array:
        """Whether a value is true: for all active runs alike, or for each."""
        value = self.present(value)
        if type(value) is bool:
            return value
        if type(value) is Container and not value.plain:
            counted = containers.base_of(value.content) or type(value.content) is Alternatives
            value = containers.length(self, value) if counted else value.content
        if type(value) is Numbers:
            if value.array.ndim > 1:
                return self.decided(apply(self, bool, (value,)))
            truth = value.array.astype(bool)
            count = int(np.count_nonzero(truth & self.active.chosen))
            return True if count == self.active.count else False if count == 0 else truth
        if type(value) is Alternatives:
            value = each_alternative(self, value, self._one_truth)
            return self.decided(joins.as_numbers(value, self.active))
        one_truth = self._one_truth(value)
        return self.decided(one_truth) if differs(one_truth) else bool(one_truth)

    def _one_truth(self, value: Any) -> Any:
        if type(value) in (Container, Numbers) and differs(value):
            truth = self.decided(value)
            return truth if isinstance(truth, bool) else Numbers(truth, True)
        for name in ("__bool__", "__len__"):
            method = dispatch.method(value, name)
            if method is not None:
                return self.call(bool, self.call(method))
        if type(value) is tuple or type(value) is list:
            return bool(value)
        return apply(self, bool, (value,))

    def truth(self, value: Any) -> bool:
        """Whether a value is true, for Python's own control: runs that differ go apart."""
        truth = self.decided(value)
        if not isinstance(truth, bool):
            raise SplitError(self.active.chosen & truth)
        return truth

    def not_(self, value: Any) -> Any:
        """``not a``."""
        truth = self.decided(value)
        return (not truth) if isinstance(truth, bool) else Numbers(~truth, True)

    def if_exp(self, test: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """``a if c else b``."""
        truth = self.decided(test)
        if isinstance(truth, bool):
            return yes() if truth else no()
        out: Any = UNBOUND
        entry, left = self.active, np.zeros(self.count, dtype=bool)
        for chosen, arm in ((entry.chosen & truth, yes), (entry.chosen & ~truth, no)):
            self.active = Mask(chosen)
            try:
                value = arm()
            except DeadError:
                continue
            out = value if out is UNBOUND else joins.joined(self.active.chosen, value, out)
            left |= self.active.chosen
        self.go_on(entry, left)
        return out

    def bool_op(self, is_and: bool, *parts: Callable[[], Any]) -> Any:
        """``a and b``, ``a or b``."""
        value = parts[0]()
        if len(parts) == 1:
            return value
        rest = functools.partial(self.bool_op, is_and, *parts[1:])
        return self.if_exp(value, rest, lambda: value) if is_and else self.if_exp(value, lambda: value, rest)

    def chain(self, left: Any, name: str, right: Callable[[], Any], *more: Any) -> Any:
        """``a < b < c``."""
        middle = right()
        value = self.compare(name, left, middle)
        return self.if_exp(value, lambda: self.chain(middle, *more), lambda: value) if more else value

    def comprehension(
        self, kind: str, width: int, through: Any, keep: Callable[..., Any], element: Callable[..., Any], last: bool
    ) -> Any:
        """``[e for x in y if c]``; ``any`` and ``all`` of one stop for the runs that are decided."""
        loop, out = Loop(self, through), Container([])
        decides = kind in ("any", "all")
        truth: Any = kind == "all"
        while loop.go():
            with loop.body():
                item = loop.item()
                names = list(self.unpack(item, width, None)) if width else [item]
                branch = Branch(self, self.decided(keep(*names)))
                with branch.arm(True) as goes:
                    if goes:
                        value = element(*names)
                        if decides:
                            inner = Branch(self, self.decided(value))
                            with inner.arm(kind == "any") as hit:
                                if hit:
                                    truth = self.put(kind == "any", truth)
                                    loop.leave(True)
                            inner.join()
                        else:
                            containers.method(self, out, "append" if last else "extend", (value,), {})
                branch.join()
        loop.end()
        if decides:
            return truth
        if kind == "dict":
            return containers.each_content(self, out, lambda pairs: self.new_dict([(False, *pair) for pair in pairs]))
        return self.new_set(out) if kind == "set" else out

    # --- values -------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        owner = self.present(owner)
        kind = type(owner)
        if kind is Alternatives:
            if self.differs_nearly_everywhere(owner):
                if callable(getattr(type(at(owner, int(self.active.places[0]))), name, None)):
                    return Member(owner, name)
                return apply(self, lambda own: getattr(own, name), (owner,))
            return each_alternative(self, owner, lambda each: self.attribute(each, name))
        if kind in (Container, Numbers, Table):
            return tables.attribute(self, owner, name)
        if kind is Windows:
            return Member(owner, name)
        if owner is UNBOUND:
            self.leave(unbound_error("a name"))
        if dispatch.computed(owner, name) is not None:
            self.give_up(f".{name}, a cached property")
        with self.as_python:
            member = super().attribute(owner, name)
        if not is_of_pandas(kind):
            return member
        if isinstance(member, CONTENTS):
            self.give_up(f".{name} of a frame")
        return joins.wrapped(member)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v`` of an object that was made in this call."""
        owner = self.present(owner)
        if type(owner) is Alternatives:
            each_alternative(self, owner, lambda each: self.set_attribute(each, name, value))
            return
        if type(owner) in (Container, Table):
            tables.set_attribute(self, owner, name, value)
            return
        method, setter = dispatch.method(owner, "__setattr__"), dispatch.setter(owner, name)
        if method is not None or setter is not None:
            self.call(method, name, value) if method is not None else self.call(setter, owner, value)
            return
        in_its_class = dispatch.in_class(type(owner), name)
        kept_elsewhere = hasattr(type(in_its_class), "__set__") and type(in_its_class) is not types.MemberDescriptorType
        if id(owner) not in self.own_objects or kept_elsewhere:
            self.give_up(f"an assignment to .{name} of something that was not made in this call")
        old = owner.__dict__.get(name, UNBOUND) if hasattr(owner, "__dict__") else getattr(owner, name, UNBOUND)
        with self.as_python:
            setattr(owner, name, self.put(value, old))

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
            return each_alternative(self, owner, lambda each: self.member(each, place))
        if type(owner) is Container:
            content = owner.content
            if type(content) is Alternatives:
                return containers.each_content(self, owner, lambda each: list(self.members(each))[place])
            if containers.base_of(content) is list:
                return content[place]
            return list(self._shown_members(owner, content))[place]
        if type(owner) is Numbers and owner.labels is None:
            return held(Numbers(owner.array[:, place]))
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
        if type(content) in (Numbers, Table) or is_of_pandas(type(content)):
            return tables.members(self, content)
        return content  # type: ignore[no-any-return]

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v`` of what was made in this call."""
        owner = self.present(owner)
        method = dispatch.method(owner, "__setitem__")
        if method is not None:
            self.call(method, key, value)
        elif type(owner) is Alternatives:
            each_alternative(self, owner, lambda each: self.set_item(each, key, value))
        elif type(owner) is Container:
            if containers.base_of(containers.first_within(owner)) is not None:
                containers.set_item(self, owner, key, value)
            else:
                tables.set_item(self, owner, key, value)
        elif type(owner) is tables.Located:
            tables.set_located(self, owner, key, value)
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
            parts = [each.content if type(each) is Container else each for each in (left, right)]
            if name == "add" and all(type(each) is list for each in parts):
                return Container(parts[0] + parts[1])
            if name == "mul" and type(parts[0]) is list and type(parts[1]) is int:
                return Container(parts[0] * parts[1])
            result = tables.binary(self, name, left, right)
            if result is not NotImplemented:
                return result
        return numbers.binary(self, name, left, right)

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``, ``a is b``, ``a in b``."""
        if name in ("in_", "not_in"):
            right = self.present(right)
            method = dispatch.method(right, "__contains__")
            truth = (
                self.call(bool, self.call(method, left))
                if method is not None
                else containers.is_in(self, self.present(left), right)
            )
            return truth if name == "in_" else self.not_(truth)
        if name in ("is_", "is_not"):
            return self._is(name == "is_", self.present(left), self.present(right))
        return self.binary(name, left, right)

    def _is(self, yes: bool, left: Any, right: Any) -> Any:
        if type(left) is Alternatives:
            return each_alternative(self, left, lambda each: self._is(yes, each, right))
        if type(right) is Alternatives:
            return each_alternative(self, right, lambda each: self._is(yes, left, each))
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
        return numbers.unary(self, name, value) if method is None else self.call(method)

    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``: a list, set, array or series that was made in this call changes for all who hold it."""
        target = self.present(target)
        if dispatch.has_own_methods(type(target)):
            return super().inplace(name, target, value)
        if type(target) is Alternatives and any(type(each) is Container for each in target.values):
            return each_alternative(self, target, lambda each: self.inplace(name, each, value))
        if type(target) is Container:
            base = containers.base_of(containers.first_within(target))
            if base is list and name == "add":
                containers.method(self, target, "extend", (value,), {})
                return target
            if base is set or base is dict:
                if name != "or_":
                    self.give_up("an operator in place")
                containers.method(self, target, "update", (value,), {})
                return target
            if base is None:
                tables.replace(self, target, self.binary(name, target, value))
                return target
        elif type(target) in (list, dict, set, np.ndarray) or is_of_pandas(type(target)):
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
            return _WatchedIterator(self, value)
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
                with self.as_python:
                    out[raw(key)] = value
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
        names = ("_all", "_divide", "_over", "_under", "_invalid")
        loud = ("raise", "call", "print", "log")
        if type(manager) is np.errstate and any(getattr(manager, each, None) in loud for each in names):
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


class _WatchedIterator:
    """An iterator, of which it is known which runs advanced it."""

    def __init__(self, domain: Runs, iterator: Any) -> None:
        self._domain, self.iterator = domain, iterator

    def __iter__(self) -> _WatchedIterator:
        return self

    def __next__(self) -> Any:
        self._domain.advance(self.iterator)
        return next(self.iterator)
