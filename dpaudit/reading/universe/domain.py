"""What does every operation of a function do with private, released and public values? The domain of the universe.

Every operation is asked here. Of public values Python does it; what is made of released and public values is released;
what private values do stands in tables, and all else is refused, with the line. Refusals stay, and the reading goes on
after one with an unknown value, so that all of them are told at once.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import sys
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading import dispatch
from dpaudit.reading.dispatch import Iterating
from dpaudit.reading.python import CONVERSIONS, IN_PLACE, OPERATION
from dpaudit.reading.universe import assumed, calls, columns, decisions, frames, keys, records, rewriting, sizes
from dpaudit.reading.universe.base import UncalledMethod, hook, naturally, stands_for_others
from dpaudit.reading.universe.counting import Counting, folded
from dpaudit.reading.universe.noise import Draw, Exponentials
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.parts import Parts
from dpaudit.reading.universe.records import UNBOUND, Adding, RecordNumber, Records, Unbound
from dpaudit.reading.universe.state import (
    NOISE_FIRST,
    Private,
    RefusalError,
    Refused,
    Unknown,
    forget,
    line,
    refuse,
    refuse_and_leave,
    refuse_form,
    written_into,
)
from dpaudit.reading.universe.undecided import Undecided
from dpaudit.reading.universe.values import (
    PRIVATE,
    PUBLIC,
    RELEASED,
    Token,
    combined,
    is_of_users_class,
    items,
    number,
    refuse_order,
    refuse_uncertain,
    sort_of,
)

_VIEWS: tuple[type, ...] = (
    type({}.keys()),
    type({}.values()),
    type({}.items()),
    enumerate,
    zip,
    map,
    filter,
    type(reversed([])),
)
_PLAIN = frozenset((int, float, bool, str))
"""Types of which no operation runs code of the user's, or keeps anything."""
_HOLDING = (list, tuple, dict, set, str, frozenset, collections.deque, collections.defaultdict, collections.OrderedDict,
            collections.Counter)  # fmt: skip
_MADE_HERE = (np.errstate, warnings.catch_warnings)
"""Managers that are known where this call made them: they hide warnings, and neither raise nor keep any."""

_LEAVING = frozenset((int, float, bool, complex, str, bytes, list, tuple, dict, set, frozenset, type(None)))
"""Types that leave an operator to an object of a class that they do not know, but for texts and %."""


class Universe(Parts):
    """Reads a function for all data of a declared domain."""

    rewriter = rewriting.Rewriter
    assumptions: Mapping[tuple[str, int], assumed.Assumed] = {}
    universe: Any = None

    def assumed(self, where: int, value: Callable[[], Any]) -> Any:
        """What a line assigns of which it may be given how far the value moves."""
        assumption = self.assumptions.get((value.__code__.co_filename, where))
        return value() if assumption is None else assumed.evaluated(self.state, assumption, value, self.universe)

    def within_given(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Note what a call does in such a line."""
        assumed.asked(self.state.assuming, args[0], args[1:], keywords)

    def ran(self, where: int) -> None:
        """Note that a block is run."""
        frame = sys._getframe(1)
        self.state.told.ran.add((frame.f_code.co_filename, where))

    @hook
    def outer(self, names: str) -> None:
        """A function that sets names of a function around it is entered."""
        if self.state.record:
            refuse(f"a function that sets {names}, from outside of it, for each record", "sums: total += x in the loop")
        if self.state.level:
            refuse(f"a repeated step that sets {names}, from outside of it", "the state that it returns")

    def trying(self, names: tuple[str, ...] | None) -> Any:
        """Enter a part in which exceptions are seen, by handlers of these classes, or by a manager; None if by none."""
        if names is None:
            is_quiet, self._entered = all(self._entered), []
            if is_quiet:
                return None
        self.state.attempts += 1
        self.state.handlers[names] += 1
        return (names,)

    def tried(self, entered: Any) -> None:
        """Leave such a part."""
        if entered is not None:
            self.state.attempts -= 1
            self.state.handlers[entered[0]] -= 1

    def loop(self, value: Any) -> Any:
        """What a loop goes through: records, or what Python goes through."""
        if type(value) is keys.KeyLoop:
            return value
        try:
            records_found = records.records_of(value) if isinstance(value, Private) else None
        except RefusalError as why:
            self.state.note(Refused(line(), *why.args))
            return iter((Unknown(),))
        return self.iterate(value) if records_found is None else records_found

    def is_records(self, value: Any) -> bool:
        """Whether a loop goes through private records."""
        return type(value) in (Records, keys.KeyLoop)

    def bound(self, value: Callable[[], Any]) -> Any:
        """Return the value of a name, or `UNBOUND`."""
        try:
            return value()
        except NameError:
            return UNBOUND

    def is_of_python(self, value: Any) -> bool:
        """Whether what is called by a name, or its module, makes a dict or list that nobody else holds."""
        return any(value is each for each in (dict, list, collections, collections.Counter, collections.defaultdict))

    def unbound(self, value: Any) -> bool:
        """Whether a name has no value."""
        return type(value) is Unbound

    def fold(self, through: Any, body: Callable[..., Any], fresh: Sequence[bool], *before: Any) -> Any:
        """A loop over records, or over keys of the data."""
        try:
            if type(through) is keys.KeyLoop:
                return keys.looped(through, body, fresh, before)
            return folded(through, body, fresh, before)
        except RefusalError as why:
            self.state.note(Refused(line(), *why.args))
        except UnboundLocalError as why:
            name = str(why).split("'")[1]
            self.state.note(
                Refused(
                    line(), f"a loop over records that keeps {name!r} from one record to the next", "sums: total += x"
                )
            )
        return [Unknown() for _ in before]

    @hook
    def comprehended(self, through: Any, element: Callable[[Any], Any], keep: Any, is_once: bool) -> Any:
        """A comprehension over records, or a generator."""
        if type(through) is keys.KeyLoop:
            refuse("a comprehension over keys of the data, which shows which there are", keys.LOOP)
        return columns.ListedColumn(records.comprehended(through, element, keep), is_once=is_once)

    def slice(self, *parts: Any) -> Any:
        """``a:b:c``."""
        return slice(*parts)

    @hook
    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``."""
        if type(left) in _PLAIN and type(right) in _PLAIN:  # in loops over records nearly all is
            return naturally(OPERATION[name], left, right)
        for method, other in dispatch.attempts(name, left, right):
            negated = type(method) is dispatch.Negated
            if not negated and not dispatch.is_users(method):
                self._leaves(name, getattr(method, "__self__", None), other)
                continue
            if isinstance(other, Private | Token) and not negated and method.__self__ is right and left is other:
                self._alone(name, left)
            value = self.call(method.equal if negated else method, other)
            if value is not NotImplemented:
                return self._negated(self.truth(value)) if negated else value
        left, right = self.seen(left), self.seen(right)
        if isinstance(left, Private) or isinstance(right, Private):
            return self._binary_of_private(name, left, right)
        sorts = sort_of(left), sort_of(right)
        if max(sorts) == PUBLIC:
            return self.fresh(naturally(OPERATION[name], left, right), left, right)
        if name in ("add", "mul") and type(left) in (list, tuple) and type(right) in (list, tuple, int):
            result = OPERATION[name](left, right)
            return self.born(result) if type(result) is list else result
        if name == "or_" and type(left) is dict and type(right) is dict:
            return self.born(left | right)
        if max(sorts) == PRIVATE:
            refuse("an operator on a collection that holds private values", "the values one by one")
        if (result := sizes.operated(name, left, right)) is not None:
            return result
        self.unasked(left, right)
        self._raising(name, left, right)
        return combined(name, left, right)

    def _leaves(self, name: str, owner: Any, other: Any) -> None:
        """Refuse what a library does with an object of a user's class, unless it leaves the answer to that class."""
        is_left = type(owner) in _LEAVING and not (name == "mod" and isinstance(owner, str | bytes))
        if is_of_users_class(type(other)) and not is_left and not is_of_users_class(type(owner)):
            refuse(f"{name} of a {type(owner).__name__} and an object of a class of its own", "a method of the class")

    def _alone(self, name: str, value: Any) -> None:
        """Refuse what tables and arrays do with an object of a user's class: they ask it for each of their values."""
        if not (isinstance(value, Token) and value.is_number) and not (isinstance(value, Number) and not value.shape):
            refuse(f"{name} of a table or array and an object of a class of its own", "numbers")

    def _open(self, value: Any, name: str) -> None:
        """Refuse an object whose class says by None that it has no such method."""
        if dispatch.is_closed(type(value), name):
            refuse(f"{name} of a {type(value).__name__}, which is None")

    @hook
    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``, ``a is b``, ``a in b``."""
        if name in ("in_", "not_in"):
            self._open(right, "__contains__")
            method = dispatch.method(right, "__contains__")
            if method is not None:
                return self.truth(self.call(method, left)) == (name == "in_")
            return self._contains(left, right) if name == "in_" else self._negated(self._contains(left, right))
        if self.state.of_key is not None and (outcome := keys.compared(name, left, right)) is not None:
            return outcome
        if self.state.followed and (answer := decisions.compared(self.state, name, left, right)) is not None:
            return answer
        pairs = ((left, right), (right, left))
        if self.state.record and any(
            each is None and isinstance(other, float) and other != other for each, other in pairs
        ):
            refuse("None beside a missing number of a record, which is NaN in a column of numbers", "pd.isna(value)")
        if name not in ("is_", "is_not"):
            return self.binary(name, left, right)
        for each, other in pairs:
            if isinstance(each, Token):
                if other is None and each.kinds is not None:
                    return name == "is_not"
                self._certain(each)
                return Token()
            if isinstance(each, frames.Frame | columns.Column | Number) and other is None:
                return name == "is_not"
            if isinstance(each, Private):
                refuse_form("'is' of a private value")
        return OPERATION[name](left, right)

    def _negated(self, value: Any) -> Any:
        return number("bool") if isinstance(value, Token) else not value

    def _contains(self, member: Any, container: Any) -> Any:
        container = self.seen(container)
        if isinstance(container, frames.Frame):
            return member in container.columns if isinstance(member, str) else refuse_form("'in' of the data")
        if isinstance(container, Counting):
            return container.has(member)
        if isinstance(container, Private) or isinstance(member, Private):
            refuse("'in' of a private value", "isin([…]) of a column, or noise first")
        if (
            type(container) in (dict, collections.OrderedDict, collections.defaultdict)
            and sort_of(member) == PUBLIC
            and sort_of(list(container)) == PUBLIC
        ):
            return member in container
        sort = max(sort_of(member), sort_of(container))
        if sort == PRIVATE:
            refuse("'in' of a collection that holds private values", NOISE_FIRST)
        if sort == RELEASED:
            self.unasked(member, container)
            self._certain(member, container)
            self.raises("any")
            return number("bool")
        return naturally(OPERATION["in_"], member, container)

    @hook
    def unary(self, name: str, value: Any) -> Any:
        """``-a``."""
        method = dispatch.method(value, f"__{name.strip('_')}__")
        if method is not None:
            return self.call(method)
        value = self.seen(value)
        if isinstance(value, Token):
            if not (value.is_number or value.is_array):
                self._certain(value)
                self.raises("any")
            return Token(value.shape, value.kinds, value.labels, value.columns)
        if isinstance(value, columns.Column):
            if name == "invert" and not value.is_mask:
                refuse("~ of what is no mask", "~(x > 0)")
            return value.apply(name, OPERATION[name])
        if isinstance(value, Undecided) and name == "invert":
            return value.inverted()
        if isinstance(value, Number) and name in ("neg", "pos"):
            return value.times(-1) if name == "neg" else value.same()
        if isinstance(value, Draw) and name == "neg":
            return value.negative()
        if isinstance(value, RecordNumber) and name == "neg":
            return value.negative()
        if sort_of(value) != PUBLIC:
            refuse(f"an operator ({name}) on what is not public", NOISE_FIRST)
        return self.fresh(naturally(OPERATION[name], value), value)

    @hook
    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``."""
        self._open(target, f"__i{name.strip('_')}__")
        method = dispatch.method(target, f"__i{name.strip('_')}__")
        if method is not None:
            result = self.call(method, value)
            if result is not NotImplemented:
                return result
        filled = written_into(target)
        if type(target) is np.ndarray and isinstance(filled, Number) and isinstance(value, Draw):
            if name not in ("add", "sub") or target.dtype != "float64" or value.shape != filled.shape:
                refuse("noise on an array of whole numbers, or of another shape, in place", "a = a + noise")
            self.own(target)
            self.write(target, self.binary(name, filled, value))
            del self.state.filled[id(target)]
            return target
        seen = self.seen(target)
        if type(target) is list and name == "add":
            self.own(target)
            target += list(self.iterate(value))
            return target
        if isinstance(seen, Token):
            if isinstance(value, Private) and not isinstance(value, Draw):
                refuse("a private value that is added to a released one in place", NOISE_FIRST)
            return self.binary(name, seen, value)
        if isinstance(target, np.ndarray | pd.Series | pd.DataFrame | set | dict | collections.deque | bytearray):
            if sort_of((target, value)) == PUBLIC:
                self.own(target)
                return naturally(IN_PLACE[name], target, value)
            refuse("an array or container that is changed in place by what is not public", "a = a + b")
        is_alone = isinstance(target, Number | Draw) and not target.shape  # a number is no object that others keep
        is_released = isinstance(target, Number) and isinstance(value, Draw)
        if name == "truediv" and type(target) is Exponentials:
            target.what = target.over(value).what  # the object itself, whatever else it is called
            return target
        if isinstance(target, Private) and not (is_alone or is_released or isinstance(target, RecordNumber | Adding)):
            refuse(f"a {target.noun} that is changed in place, wherever else it is kept", "x = x + 1")
        return self.binary(name, target, value)

    def inplace_item(self, name: str, owner: Any, target: Any, value: Any) -> Any:
        """``a[k] += b``: what a table of pandas gives as its column is no part of it."""
        if isinstance(owner, frames.Frame) and isinstance(target, columns.Column):
            return self.binary(name, target, value)
        return self.inplace(name, target, value)

    def truth(self, value: Any) -> Any:
        """``if a``."""
        self.state.step()
        kind = type(value)
        if kind is bool:
            return value
        if kind is Unknown:
            return self._guessed()
        value = self.seen(value)
        forget(value)
        if isinstance(value, Token):
            try:
                if value.choice is not None:
                    return value.choice.truth()
                if not value.is_certain and not value.is_number:
                    refuse_uncertain()
                if value.shape is None:
                    self.raises("any")
                return value.decided()
            except RefusalError as why:
                self.state.note(Refused(line(), *why.args))
                return self._guessed()
        if isinstance(value, Private):
            if isinstance(value, RecordNumber):
                return value.compared("ne", 0, is_left=True)
            self.state.note(
                Refused(line(), f"a branch on a {value.noun}", "noisy = n + laplace(…); 1 if noisy > LIMIT else 0")
            )
            return self._guessed()
        if kind in _HOLDING:
            return bool(value)
        for name in ("__bool__", "__len__"):
            method = dispatch.method(value, name)
            if method is not None:
                return self.truth(self.call(method))
        if sort_of(value) != PUBLIC:
            refuse_and_leave(
                "a branch on something that is not public", "noisy = n + laplace(…); 1 if noisy > LIMIT else 0"
            )
        return bool(value)

    def iterate(self, value: Any) -> Any:
        """``for x in a``."""
        self.state.step()
        forget(value)
        if type(value) is Unknown:
            return iter((value,))
        try:
            return self._iterated(self.seen(value))
        except RefusalError as why:
            self.state.note(Refused(line(), *why.args))
            return iter((Unknown(),))

    def _iterated(self, value: Any) -> Any:
        kind = type(value)
        if hasattr(kind, "__next__"):  # who goes on with it changes it
            self.own(value)
        if kind in (set, frozenset):
            refuse_order(value)
        if kind in _HOLDING or kind in _VIEWS or kind in (range, types.GeneratorType):
            return value
        method = dispatch.method(value, "__iter__")
        if method is not None:
            value = self.call(method)
            if dispatch.method(value, "__next__") is None:
                return self._iterated(value)
            return self.born(Iterating(self, value))
        if isinstance(value, Token):
            if value.choice is not None:
                return self.iterate(value.choice.settled())
            iterated = items(value)
            if iterated is None:
                refuse(
                    "a loop over something released of which the length is not known",
                    "a loop over public keys or places",
                )
            return iter(iterated)
        if isinstance(value, Number | Draw):
            return iter(value.parts())
        if isinstance(value, frames.Frame):
            return iter(list(value.columns))
        if isinstance(value, Private):
            refuse(
                f"a loop over a {value.noun} that does more than add to numbers, or ends early: what it keeps from one "
                "record to the next cannot be followed",
                "sum(FUNCTION(v) for v in x) + laplace(…)"
                if isinstance(value, columns.Column)
                else keys.LOOP
                if isinstance(value, keys.KeyLoop)
                else "[len(df[df[KEY] == v]) + laplace(…) for v in VALUES]",
            )
        if (
            kind.__module__ == "itertools"
            or kind.__name__.endswith("iterator")
            or isinstance(value, enum.EnumMeta | tuple)
        ):
            return value
        if sort_of(value) == PUBLIC and isinstance(
            value, np.ndarray | pd.Index | pd.Series | pd.DataFrame | types.MappingProxyType
        ):
            self.going_through(value)
            return value
        return refuse(f"a loop over a {kind.__name__} is not known here", "a list")

    def unpack(self, value: Any, count: int, star: int | None) -> Sequence[Any]:
        """``a, *b = v``."""
        value = self.seen(value)
        forget(value)
        if type(value) is Unknown:
            return [value] * count
        if isinstance(value, Token) and value.choice is not None:
            value = value.choice.settled()
        if isinstance(value, Token) and items(value) is None:
            self.raises("any")
            return [Token() for _ in range(count)]
        return super().unpack(value, count, star)

    @hook
    def mapping(self, value: Any) -> Any:
        """``**a``."""
        return value if type(value) is dict else refuse("** of something that is no dict")

    def key(self, value: Any) -> Any:
        """What a dict or set goes by."""
        decisions.forget(self.state, value)
        try:
            return self._key(value)
        except RefusalError as why:
            self.state.note(Refused(line(), *why.args))
            return self.state.leave()

    def checked(self, function: Any, owner: Any, name: str, value: Any, /, *rest: Any) -> Any:
        """What a user's method gives a builtin: what is released stays so."""
        return value if isinstance(value, Token | Private) else super().checked(function, owner, name, value, *rest)

    def new(self, value: Any) -> Any:
        """A list, set or dict that was written down."""
        return self.born(value)

    @hook
    def format(self, value: Any, conversion: int, specification: Any) -> Any:
        """``{a!r:>5}`` in a text."""
        value = self.seen(value)
        sort = max(sort_of(value), sort_of(specification))
        if sort == PRIVATE:
            refuse("the text of a private value", 'noisy = n + laplace(…); f"{noisy:.1f}"')
        if is_of_users_class(type(value)):
            text = self._text_of(value, conversion, specification)
            if text is not None:
                return text
        if sort == RELEASED:
            is_shown_alike = isinstance(value, Token) and value.is_number and conversion in (-1, 115) and specification
            if not is_shown_alike:
                self._certain(value)
            self.unasked(value, specification)
            self.raises("any")
            return Token()
        refuse_order(value)
        if "0x" in repr(value) if not isinstance(value, str | int | float) else False:
            refuse("the text of an object that shows where it is stored")
        return format(CONVERSIONS[conversion](value) if conversion != -1 else value, specification)

    def _text_of(self, value: Any, conversion: int, specification: Any) -> Any:
        """The text of an object by the method of its class that Python would call; None where that is a library's."""
        kind: Any = type(value)
        derived = dispatch.in_class(kind, "__format__")
        if conversion == -1 and derived is not object.__dict__["__format__"]:
            method = dispatch.method(value, "__format__")
            if method is not None:
                shown = self.call(method, specification)
                return shown if isinstance(shown, Token) else self.checked(format, value, "__format__", shown)
            if dispatch.method(value, "__str__") or dispatch.method(value, "__repr__"):
                refuse("the text of an object of a class that derives how it is formatted", "str(x)")
            return None
        if conversion == -1 and specification:
            return None  # which raises
        shown = self.shown(value, "__repr__" if conversion in (114, 97) else "__str__")
        if shown is None or isinstance(shown, Token):
            return shown
        text = shown.encode("ascii", "backslashreplace").decode() if conversion == 97 else shown
        return format(text, specification)

    @hook
    def join(self, parts: list[Any]) -> Any:
        """The parts of a text."""
        sort = sort_of(parts)
        self.unasked(parts)
        return (
            "".join(parts)
            if sort == PUBLIC
            else Token((), frozenset(("str",)))
            if sort == RELEASED
            else refuse("the text of a private value", 'noisy = n + laplace(…); f"{noisy:.1f}"')
        )

    def enter(self, manager: Any) -> Any:
        """``with a``."""
        self._entered.append(type(manager) is contextlib.nullcontext or type(manager) in _MADE_HERE)
        if dispatch.method(manager, "__enter__") is not None:
            return super().enter(manager)
        if isinstance(manager, contextlib._GeneratorContextManager) or type(manager) is contextlib.nullcontext:
            return manager
        if type(manager) in _MADE_HERE and id(manager) in self._mine:
            return manager
        if type(manager) is not Unknown:
            self.state.note(
                Refused(line(), f"with {type(manager).__name__}, which is not known here", "the statements without it")
            )
        return contextlib.nullcontext(Unknown())

    def told_on_exit(self, *what: Any) -> tuple[Any, ...]:
        """What a user's manager is told when it is left: of what an operation on released values may raise no class."""
        return (Token(), what[1], Token()) if stands_for_others(what[1]) else what

    def importing(self, name: str) -> None:
        """``import a`` within a function."""
        if name.split(".")[0] not in calls.MODULES:
            self.state.note(Refused(line(), f"import {name} within the function", "the import at the top of the file"))

    def match_sequence(self, value: Any, count: int, star: int | None, unpacked: bool) -> Sequence[Any] | None:
        """``case [a, *b]``."""
        return super().match_sequence(self._matched(value), count, star, unpacked)

    def match_mapping(self, value: Any, keys: tuple[Any, ...], rest: bool) -> Sequence[Any] | None:
        """``case {k: a}``."""
        return super().match_mapping(self._matched(value), keys, rest)

    def match_class(self, value: Any, kind: Any, places: int, names: tuple[str, ...]) -> Sequence[Any] | None:
        """``case C(a)``."""
        return super().match_class(self._matched(value), kind, places, names)

    def _matched(self, value: Any) -> Any:
        if isinstance(self.seen(value), Token | Private):
            refuse_and_leave("a match of something that is not public", "if and comparisons")
        return value


__all__ = ["UncalledMethod", "Universe"]
