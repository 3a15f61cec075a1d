"""What does the domain of the universe keep of a pass? What was made in it, what was written into, what was guessed."""

from __future__ import annotations

import collections
import functools
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading import dispatch, python, rewrite, seeded, source
from dpaudit.reading.universe import calls, decisions
from dpaudit.reading.universe.state import (
    Left,
    Pass,
    Private,
    RefusalError,
    Refused,
    Unknown,
    line,
    refuse,
    refuse_and_leave,
    written_into,
)
from dpaudit.reading.universe.values import Token, is_of_users_class, parts_are_copies, refuse_uncertain

_RAISES: dict[str, tuple[type[Exception], ...]] = {
    "division": (ZeroDivisionError,),
    "power": (ZeroDivisionError, OverflowError),
    "int": (ValueError, OverflowError),
    "any": (TypeError, ValueError, ZeroDivisionError, OverflowError, IndexError, KeyError, AttributeError),
}


def is_natural(error: BaseException) -> bool:
    """Whether an exception is one of the function: raised by it, or by Python or a library from public values."""
    if getattr(error, "_dpaudit_natural", False):
        return True
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and source.is_rewritten(at.tb_frame)  # what is not rewritten asks nobody what its values are


def stands_for_others(error: Any) -> bool:
    """Whether this is an exception that an operation on released values may raise, of this class or of one below it."""
    return isinstance(error, BaseException) and getattr(error, "_dpaudit_stands_for", False)


def naturally(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """Let Python or a library do something with public values; what it raises, the function may catch."""
    try:
        return function(*args, **keywords)
    except (Left, RefusalError):
        raise
    except Exception as error:
        error._dpaudit_natural = True  # type: ignore[attr-defined]
        raise


def runs(value: Any) -> bool:
    """Whether a value may do more than give a value of its arguments, where what it is handed to calls it."""
    if isinstance(value, type):
        return dispatch.has_own_methods(value)
    is_known = isinstance(value, np.ufunc) or getattr(value, "__objclass__", None) in (str, bytes, int, float)
    return callable(value) and not is_known and calls.pure(value) is None


_CONTAINERS = (
    list,
    dict,
    set,
    collections.OrderedDict,
    collections.Counter,
    collections.deque,
    collections.defaultdict,
    types.SimpleNamespace,
)


_TABLES = (np.ndarray, pd.Series, pd.DataFrame)
_OF_CONTAINERS = map(type, (iter([]), iter(()), iter({}), iter({}.values()), iter({}.items())))
_ONE_BY_ONE = (zip, enumerate, reversed, *_OF_CONTAINERS)
"""Iterators that give what is in a container as it is, and look into none of it."""
_ATOMS = (int, float, complex, str, bytes, types.NoneType, np.generic, np.dtype, type, Private)


def _held(values: Iterable[Any]) -> list[Any]:
    """Return the arrays and tables among values, also those within containers."""
    held, pending, gone_into = [], list(values), set[int]()
    while pending:
        each = pending.pop()
        if isinstance(each, _TABLES):
            held.append(each)
        elif isinstance(each, list | tuple | dict | set | frozenset | collections.deque) and id(each) not in gone_into:
            gone_into.add(id(each))
            pending += each.values() if isinstance(each, dict) else each
    return held


class Base(python.Python):
    """What was made in this call, and which operations on released values may raise."""

    control = (Left,)

    def __init__(self, state: Pass, used: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.state, self.used = state, used
        state.domain = self
        self._mine: dict[int, tuple[Any, tuple[int, ...]]] = {}
        self._gone_through: dict[int, Any] = {}
        self._generators: dict[Any, Any] = {}
        self._made_generators: list[Any] = []
        self._guesses: set[str] = set()
        self._entered: list[bool] = []  # for the managers that a statement entered, whether they let exceptions pass
        self._seeded: tuple[int, seeded.Seeded] | None = None  # by the modules of so many functions

    def _quiet(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What goes to a log."""
        raise NotImplementedError

    def within_given(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Note what a call does in a line of which it is given how far its value moves."""
        raise NotImplementedError

    def _public(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What a library does with public values."""
        raise NotImplementedError

    def _callback(self, value: Any) -> Any:
        """What a library may call."""
        raise NotImplementedError

    def born(self, value: Any) -> Any:
        """Note that a value was made in this call, for this record, and in this step."""
        self._mine[id(value)] = (value, self.state.scope)
        return value

    def own(self, value: Any) -> None:
        """Refuse a change of what was not made here, or not for this record, or not in this step."""
        known = self._mine.get(id(value))
        if known is None or known[0] is not value:
            refuse(
                "this changes something that was not made in this call (a global, a default, an argument, a view)",
                "a copy of it, and the change of that",
            )
        if known[1][0] != self.state.record:
            refuse("this changes, for each record, something that was there before it", "a sum: total += x")
        if known[1] != self.state.scope:
            refuse("a repeated step that changes something that was made outside of it", "the state that it returns")

    def fresh(self, value: Any, *given: Any) -> Any:
        """Note a result of a library that is no part of what it was given; of a view, neither side may be changed.

        A result of another type than these may show all that it was given, also what is put into that later.
        """
        kind, held = type(value), _held(given)
        is_new = all(value is not each for each in (*given, *held))
        if hasattr(kind, "__next__"):
            self.going_through(*(given if kind in _ONE_BY_ONE else held))
            if is_new and not any(type(each) in (*_CONTAINERS, tuple) for each in given):
                self.born(value)  # of a container it may be one that is kept there
        if kind in _CONTAINERS and is_new:
            self.born(value)
        if kind in _TABLES and is_new:
            arrays = [each for each in held if isinstance(each, np.ndarray)]
            tables = [each for each in held if isinstance(each, pd.Series | pd.DataFrame)]
            if kind is not np.ndarray:
                shared = arrays if parts_are_copies() else [*arrays, *tables]
            elif value.base is None and not any(np.shares_memory(value, each) for each in arrays):
                shared = []
            else:
                shared = [*arrays, *tables, value.base]
            if not shared or (kind is not np.ndarray and parts_are_copies()):
                self.born(value)
            self._shown(shared)
        elif kind in (tuple, list):
            for each in value:
                if not isinstance(each, _ATOMS):
                    self.fresh(each, *given)
        elif kind not in (*_TABLES, *_CONTAINERS) and not isinstance(value, _ATOMS):
            self._shown(held)
        return value

    def _shown(self, values: Iterable[Any]) -> None:
        """Note that something else shows arrays and tables, too, so that they may not be changed any more."""
        for each in values:
            self._mine.pop(id(each), None)

    def seen(self, value: Any) -> Any:
        """Return what an array that was written into stands for; of one with private numbers that is as it is now."""
        known = written_into(value) if self.state.tainted else None
        if id(value) in self.state.filled:
            self.going_through(value)
        return value if known is None else known

    def write(self, owner: Any, token: Token | Private) -> None:
        """Note that something released was written into an array or a table, of which nobody else shows a part."""
        if id(owner) in self._gone_through:
            refuse("a value that is put into what something has looked at, or goes through", "an array of its own")
        self.state.tainted[id(owner)] = (owner, token)

    def going_through(self, *values: Any) -> None:
        """Note that an iterator shows arrays or tables: also what is written into them later."""
        for each in values:
            if isinstance(each, np.ndarray | pd.Series | pd.DataFrame):
                self._gone_through[id(each)] = each

    def raises(self, what: str) -> None:
        """Decide whether an operation raises, where the function could see it.

        Of released values it may be either way; of private ones it is one way for all data, of which nobody says which.
        """
        if self.state.attempts and not self.state.record:
            names = self._handled_names()
            kinds = (
                _RAISES[what]
                if what != "any" or names is None
                else tuple(each for each in _RAISES["any"] if each.__name__ in names)
                + tuple(each for each in _RAISES["any"] if each.__name__ not in names)[:1]
            )
            way = self.state.decide((None, *kinds))
            if way is not None:
                error = way(Token())
                error._dpaudit_names = names
                error._dpaudit_natural = True
                error._dpaudit_stands_for = what == "any"
                raise error

    def _handled_names(self) -> set[str] | None:
        """Return the names of the classes that handlers are for; None where other classes may be told apart."""
        open_ = [names for names, many in self.state.handlers.items() if many]
        if None in open_:
            return None
        handled = {name for names in open_ for name in names or ()}
        known = {"", "Exception", "BaseException", *(each.__name__ for each in _RAISES["any"])}
        return handled if handled <= known else None

    def handled(self, kinds: Any) -> Any:
        """What a handler is for; of an exception that stands for others too, which of them it is may not be asked."""
        if stands_for_others(error := sys.exception()):
            names = getattr(error, "_dpaudit_names", None)
            for each in kinds if type(kinds) is tuple else (kinds,):
                if names is not None and getattr(each, "__name__", None) not in names:
                    refuse_and_leave("a class of exceptions by another name than its own", "its own name")
            self._told_apart(error, kinds, leave=True)
        return kinds

    def _told_apart(self, error: Any, kinds: Any, *, leave: bool = False) -> None:
        """Refuse a class that some of the exceptions may have for which one stands, and others not."""
        for each in kinds if type(kinds) is tuple else (kinds,):
            known = any(issubclass(one, each) for one in _RAISES["any"]) if isinstance(each, type) else False
            others = tuple(one for one in (kinds if type(kinds) is tuple else ()) if one is not each)
            if known or (isinstance(each, type) and (is_of_users_class(each) or issubclass(each, others))):
                continue
            (refuse_and_leave if leave else refuse)(
                f"whether what is raised by an operation on released values is a {getattr(each, '__name__', each)}",
                "except ValueError, or another of those that Python raises itself",
            )

    def unasked(self, *values: Any) -> None:
        """Refuse what Python would have asked, in an operation with released values that is not done.

        These are functions of the user's, and objects of classes with methods of the user's, also within containers.
        """
        pending = list(values)
        while pending:
            each = pending.pop()
            kind = type(each)
            if kind in (list, tuple, set, frozenset, collections.deque):
                pending += list(each)
            elif isinstance(each, dict):
                pending += [part for pair in each.items() for part in pair]
            elif kind is slice:
                pending += [each.start, each.stop, each.step]
            elif runs(each):
                refuse("a function that is handed to an operation with released values, which does not call it here",
                       "a call of it for each value")  # fmt: skip
            elif not isinstance(each, Private) and dispatch.has_own_methods(kind):
                refuse(f"an object of the class {kind.__name__} in an operation with released values, which may ask it",
                       "numbers and texts")  # fmt: skip

    def _certain(self, *values: Any) -> None:
        """Refuse a number whose type hangs on the data where its type may be seen."""
        pending = list(values)
        while pending:
            each = pending.pop()
            if isinstance(each, Token):
                if not each.is_certain:
                    refuse_uncertain()
            elif type(each) in (list, tuple, set):
                pending += list(each)
            elif type(each) is dict:
                pending += list(each.values())

    def _unread(self, what: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Note what is not read in a line of which it is given how far its value moves."""
        if self.state.assuming is not None:
            self.state.assuming.unread(what, args, keywords)

    def _guessed(self) -> bool:
        """Go on where the reading is refused anyway, for what else there is to say: into a part, once."""
        if self.state.assuming is not None and self.state.assuming.is_here():
            return bool(self.state.assuming.guess())
        where = line()
        known = where in self._guesses
        self._guesses.add(where)
        return not known


class UncalledMethod:
    """A method of a private or released value, not yet called."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name


def hook(function: Callable[..., Any]) -> Callable[..., Any]:
    """Note what the tables refuse, and go on with an unknown value."""

    @functools.wraps(function)
    def asked(self: Base, /, *args: Any, **keywords: Any) -> Any:
        self.state.step()
        if self.state.followed:
            decisions.touched(self.state, function.__name__, args, keywords)
        if self.state.assuming is not None and function.__name__ == "call":
            self.within_given(args, keywords)
        for each in args:
            if type(each) is Unknown:
                self._unread(function.__name__, args, keywords)
                return each
        try:
            if not self.state.has_choices:
                return function(self, *args, **keywords)
            args, keywords = decisions.met(function.__name__, args, keywords)
            return decisions.derived(function(self, *args, **keywords), function.__name__, args, keywords)
        except RefusalError as why:
            self._unread(function.__name__, args, keywords)
            self.state.note(Refused(line(), *why.args))
        except rewrite.UnreadableError as why:
            at = f"{os.path.basename(why.file)}:{why.line}" if why.file and why.line else line()
            self.state.note(Refused(at, why.what or str(why)))
        except Exception as error:
            if is_natural(error):
                raise
            self.state.note(Refused(line(), f"the reading fails here ({type(error).__name__}: {error})"))
            if os.environ.get("DPAUDIT_TRACE_READING"):
                traceback.print_exc()
        return Unknown()

    return asked
