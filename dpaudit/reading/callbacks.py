"""What do Python and its library call of the user's by themselves, and how do they ask the domain?

Managers, iterators and what is sorted are handed over as objects that ask, functions that are called back as rewritten
ones; what looks up who called it is told of the rewritten function.
"""

from __future__ import annotations

import collections
import functools
import itertools
import logging
import os
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

from dpaudit.reading import dispatch

if TYPE_CHECKING:
    from dpaudit.reading.python import Python


def by_identity(*each: Any) -> dict[int, Any]:
    """Return objects by what they are, however they compare."""
    return {id(one): one for one in each}


_TAKES: dict[int, tuple[Any, int | None, slice]] = {
    id(function): (function, place, slice(start, stop))
    for place, start, stop, functions in (
        (None, 0, 1, (list, tuple, set, frozenset, sum, any, all, enumerate, itertools.islice)),
        (None, 0, None, (zip, itertools.zip_longest, itertools.chain)),
        (0, 1, None, (map,)),
        (0, 1, 2, (filter, functools.reduce, itertools.starmap, itertools.takewhile, itertools.dropwhile)),
        (0, 1, 2, (itertools.filterfalse,)),
        (1, 0, 1, (itertools.accumulate, itertools.groupby)),
        (1, 0, 0, (re.sub, re.subn)),
    )
    for function in functions
}
"""What calls a function that it is given, and shows it to nobody, or goes once through objects: their places."""
_ORDERS = by_identity(sorted, min, max)
_GOING_THROUGH = frozenset(("extend", "join", "union", "difference", "intersection", "issubset", "issuperset"))
"""Methods of Python's own containers and texts that go through their argument."""
_LOOKS_UP = by_identity(warnings.warn, collections.namedtuple)
"""What looks up who called it."""
_HERE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_LOGS = frozenset(("debug", "info", "warning", "error", "exception", "critical", "log"))


class _Ordered:
    """A key to sort by, whose comparisons are asked of a domain."""

    def __init__(self, domain: Python, value: Any) -> None:
        self._domain, self.value = domain, value

    def __lt__(self, other: Any) -> Any:
        return self._asked("lt", other)

    def __gt__(self, other: Any) -> Any:
        return self._asked("gt", other)

    def _asked(self, name: str, other: Any) -> Any:
        right = other.value if type(other) is _Ordered else other
        return self._domain.truth(self._domain.compare(name, self.value, right))


class Entered:
    """A user's context manager, whose methods are called rewritten."""

    def __init__(self, domain: Python, manager: Any) -> None:
        self._domain, self._manager = domain, manager

    def __enter__(self) -> Any:
        method = dispatch.in_class(type(self._manager), "__enter__")
        return self._domain.call(dispatch.bound(method, self._manager))

    def __exit__(self, *what: Any) -> bool:
        if what[0] is not None and issubclass(what[0], self._domain.control):
            return False  # the domain leaves, and nobody stops it
        method = dispatch.in_class(type(self._manager), "__exit__")
        told = self._domain.told_on_exit(*what)
        return bool(self._domain.truth(self._domain.call(dispatch.bound(method, self._manager), *told)))


class Iterating:
    """A user's iterator, whose ``__next__`` is called rewritten; all else of it is the iterator's."""

    def __init__(self, domain: Python, iterator: Any) -> None:
        self._domain, self._iterator = domain, iterator

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self._domain.call(dispatch.method(self._iterator, "__next__"))

    def __getattr__(self, name: str) -> Any:  # yield from sends and throws
        if name in ("send", "throw", "close"):
            found = self._domain.attribute(self._iterator, name)
            return functools.partial(self._domain.call, found)
        raise AttributeError(name)


def looks_up(function: Any) -> bool:
    """Whether a call that is not the user's looks up who called it."""
    return id(function) in _LOOKS_UP or issubclass(type(getattr(function, "__self__", None)), logging.Logger)


def prepared(
    domain: Python, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call that is not the user's, as far as it calls them back, or goes through them."""
    known = id(function)
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if looks_up(function):
        return _of_caller(function, args, keywords)
    if type(owner) is list and name == "sort":
        return args, _ordered(domain, owner, keywords)
    if known in _ORDERS and args:
        keywords = _ordered(domain, args[0] if len(args) == 1 else args, keywords)
        return (tuple(map(domain.iterate, args)) if len(args) == 1 else args), keywords
    if known in _TAKES:
        _, place, through = _TAKES[known]
        taken = list(args)
        taken[through] = map(domain.iterate, taken[through])
        if place is not None and place < len(taken):
            taken[place] = domain.asking(taken[place])
        called = ("func", "key", "function", "repl")
        return tuple(taken), {name: domain.asking(v) if name in called else v for name, v in keywords.items()}
    going = name in _GOING_THROUGH or (name == "update" and type(owner) is set)
    if going and type(owner) in (list, str, set, frozenset, bytes):
        return tuple(map(domain.iterate, args)), keywords
    if type(owner) is re.Pattern and name in ("sub", "subn"):
        return (domain.asking(args[0]), *args[1:]) if args else args, keywords
    return args, keywords


def _of_caller(
    function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call that looks up who called it: it is told of the rewritten function."""
    given = args[2] if function is warnings.warn and len(args) > 2 else keywords.get("stacklevel", 1)
    frame, depth, left = sys._getframe(2), 1, max(given, 1) if isinstance(given, int) else 1
    while frame.f_back is not None:
        left -= not frame.f_code.co_filename.startswith(_HERE)
        if left == 0:
            break
        frame, depth = frame.f_back, depth + 1
    if function is collections.namedtuple:
        return args, {"module": frame.f_globals.get("__name__"), **keywords}
    if function is warnings.warn and len(args) > 2:
        return (*args[:2], depth, *args[3:]), keywords
    looks = function is warnings.warn or function.__name__ in _LOGS
    return args, {**keywords, "stacklevel": depth} if looks else keywords


def _ordered(domain: Python, values: Any, keywords: dict[str, Any]) -> dict[str, Any]:
    """Return what to sort by: asked of the domain where the user wrote the key, or how values compare."""
    key = keywords.get("key")
    if key is None and not (type(values) in (list, tuple) and any(map(dispatch.is_of_own_class, values))):
        return keywords

    def asking(each: Any) -> Any:
        found = each if key is None else domain.call(key, each)
        return _Ordered(domain, found) if dispatch.is_of_own_class(found) else found

    return {**keywords, "key": asking}
