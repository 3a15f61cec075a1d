"""Which of the user's methods would Python call here, and how are those that it calls by itself read?

Python calls methods of classes without naming them: of operators, ``len``, ``with``, properties, constructors. What it
would call is called as a rewritten function, so that nothing of the user's runs unasked (Python Language Reference,
3.3 Special method names). What a builtin makes of the answer is left to it: it is asked about an object that answers
with what the user's method returned.

Managers, iterators and what is sorted are handed over as objects that ask, functions that are called back as rewritten
ones; what looks up who called it is told of the rewritten function.
"""

from __future__ import annotations

import collections
import functools
import itertools
import logging
import math
import operator
import os
import re
import sys
import types
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpaudit.reading.source import is_own

if TYPE_CHECKING:
    from dpaudit.reading.python import Python

# --- Which of the user's methods would Python call here? -------------------------------------------------

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "** or pow()",
    "matmul": "@", "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "divmod": "divmod()",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
"""What Python calls an operator in its errors."""
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
OF_BUILTINS: dict[Any, tuple[str, ...]] = {
    len: ("__len__",), repr: ("__repr__",), str: ("__str__", "__repr__"), ascii: ("__repr__",),
    bool: ("__bool__", "__len__"), iter: (), next: (), reversed: ("__reversed__",), hash: ("__hash__",),
    abs: ("__abs__",), int: ("__int__", "__index__", "__trunc__"), float: ("__float__", "__index__"),
    complex: ("__complex__", "__float__", "__index__"), round: ("__round__",), bytes: ("__bytes__",), format: (),
    math.floor: ("__floor__",), math.ceil: ("__ceil__",), math.trunc: ("__trunc__",), operator.index: ("__index__",),
    pow: (), divmod: (), sum: (), getattr: (), hasattr: (), setattr: (), delattr: (),
}  # fmt: skip
"""The methods of its argument that a builtin calls, of which the first that there is."""


def has_own_methods(kind: Any) -> bool:
    """Whether a class, or one that it derives from, is written in the user's modules."""
    return _has_own_methods(kind)


@functools.lru_cache(maxsize=4096)
def _has_own_methods(kind: type) -> bool:
    return any(is_own(member) for base in kind.__mro__ for member in _members(base))


def is_of_own_class(value: Any) -> bool:
    """Whether a value is an object of such a class."""
    return has_own_methods(type(value))


def _members(base: type) -> list[Any]:
    out: list[Any] = []
    for name, each in vars(base).items():
        if isinstance(each, staticmethod | classmethod):
            out.append(each.__func__)
        elif type(each) is property:
            out += [each.fget, each.fset, each.fdel]
        elif isinstance(each, functools.cached_property):
            out.append(each.func)
        elif name == "__dataclass_fields__":
            out += [field.default_factory for field in each.values()]
        else:
            out.append(each)
    return out


def in_class(kind: type, name: str) -> Any:
    """Return what a class has under a name, as it is written there; None if nothing."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def method(value: Any, name: str) -> types.MethodType | None:
    """Return the user's method that Python would call on a value; None if it is not the user's."""
    kind: Any = type(value)
    if not has_own_methods(kind):
        return None
    method_found = in_class(kind, name)
    return types.MethodType(method_found, value) if is_own(method_found) else None


def getter(value: Any, name: str) -> Any:
    """Return the user's function behind a property; None if the attribute is none."""
    return _behind(value, name, "fget")


def setter(value: Any, name: str) -> Any:
    """Return the user's function that sets a property; None if the attribute is none."""
    return _behind(value, name, "fset")


def deleter(value: Any, name: str) -> Any:
    """Return the user's function that deletes a property; None if the attribute is none."""
    return _behind(value, name, "fdel")


def _behind(value: Any, name: str, what: str) -> Any:
    kind: Any = type(value)
    if kind is super:  # what comes after a class in the order of methods
        if value.__self_class__ is None or value.__self__ is value.__self_class__:
            return None
        order: Any = value.__self_class__.__mro__
        after = order[order.index(value.__thisclass__) + 1 :]
        behind = next((vars(base)[name] for base in after if name in vars(base)), None)
    elif has_own_methods(kind) and not is_own(in_class(kind, "__getattribute__")):
        behind = in_class(kind, name)
    else:
        return None
    function = getattr(behind, what) if type(behind) is property else None
    return function if is_own(function) else None


def computed(value: Any, name: str) -> Any:
    """Return the user's function behind a cached property that is not computed yet; None if there is none."""
    kind: Any = type(value)
    if not has_own_methods(kind) or is_own(in_class(kind, "__getattribute__")):
        return None
    property_found = in_class(kind, name)
    if type(property_found) is not functools.cached_property or name in getattr(value, "__dict__", {name: None}):
        return None
    return property_found.func if is_own(property_found.func) else None


def attempts(name: str, left: Any, right: Any, *, always: bool = False) -> list[tuple[Any, Any]]:
    """Return what Python would try for an operator, each with its argument, in Python's order."""
    kinds: tuple[Any, Any] = (type(left), type(right))
    if not (always or has_own_methods(kinds[0]) or has_own_methods(kinds[1])):
        return []
    plain = f"__{name.strip('_')}__"
    mirrored = f"__{_MIRRORED[name]}__" if name in _MIRRORED else f"__r{plain[2:]}"
    first, second = in_class(kinds[0], plain), in_class(kinds[1], mirrored)
    if is_closed(kinds[0], plain) or is_closed(kinds[1], mirrored):
        return []
    if name == "ne":  # object's own is what __eq__ is not
        first, second = (
            Negated(equal) if tried is object.__ne__ and is_own(equal := in_class(kind, "__eq__")) else tried
            for tried, kind in zip((first, second), kinds, strict=True)
        )
    if not always and not any(is_own(each) or type(each) is Negated for each in (first, second)):
        return []
    forward = [(bound(first, left), right)] if first is not None else []
    back = [(bound(second, right), left)] if second is not None else []
    if name in _MIRRORED:
        prior = kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0])
        return back + forward if prior else forward + back
    if kinds[0] is kinds[1]:
        return forward
    if issubclass(kinds[1], kinds[0]) and in_class(kinds[0], mirrored) is not second:
        return back + forward
    if kinds[0] in SEQUENCES and name in ("add", "mul"):  # a sequence is asked last
        return back + forward
    return forward + back


def operators(name: str, left: Any, right: Any) -> list[tuple[types.MethodType, Any]]:
    """Return the user's methods among them."""
    methods = attempts(name, left, right)
    return [(each, other) for each, other in methods if is_users(each)]


def is_users(method: Any) -> bool:
    """Whether a bound method is the user's."""
    return isinstance(method, types.MethodType) and is_own(method.__func__)


def is_closed(kind: type, name: str) -> bool:
    """Whether a class says by None that it has no such method, whatever it derives from."""
    return next((vars(base)[name] is None for base in kind.__mro__ if name in vars(base)), False)


SEQUENCES = (list, tuple, str, bytes, bytearray)


@dataclass(frozen=True, slots=True)
class Negated:
    """What ``!=`` calls of a class that has ``__eq__`` alone."""

    equal: Any

    def __get__(self, value: Any, kind: type) -> Negated:
        return Negated(types.MethodType(self.equal, value))


def bound(descriptor: Any, value: Any) -> Any:
    """Return what a class has under a name as Python gets it from an object."""
    return descriptor.__get__(value, type(value)) if hasattr(type(descriptor), "__get__") else descriptor


def no_operator(name: str, left: Any, right: Any, inplace: bool = False) -> TypeError:
    """Return the error that Python raises where nobody knows an operator."""
    symbol = SYMBOLS[name]
    names = f"'{_title(type(left))}' and '{_title(type(right))}'"
    if name in _MIRRORED:
        return TypeError(f"'{symbol}' not supported between instances of {names}")
    symbol = f"{symbol.partition(' ')[0]}=" if inplace else symbol
    return TypeError(f"unsupported operand type(s) for {symbol}: {names}")


def _title(kind: type) -> str:
    """What Python calls a type in its errors: one written in C with its module."""
    written_in_python = kind.__flags__ & (1 << 9)
    return kind.__name__ if written_in_python or kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


@functools.lru_cache(maxsize=1024)
def _answering(title: str, name: str) -> type:
    return type(title, (), {name: lambda self, *_: self.answer})


def answering(title: str, name: str, answer: Any) -> Any:
    """Return an object, of a class of the given name, of which one special method returns the given answer.

    A builtin that is asked about it checks the answer as it checks that of the object which it stands for.
    """
    made = _answering(title, name)()
    made.answer = answer
    return made


# --- What do Python and its library call of the user's by themselves, and how do they ask the domain? ----


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
        method = in_class(type(self._manager), "__enter__")
        return self._domain.call(bound(method, self._manager))

    def __exit__(self, *what: Any) -> bool:
        if what[0] is not None and issubclass(what[0], self._domain.control):
            return False  # the domain leaves, and nobody stops it
        method = in_class(type(self._manager), "__exit__")
        told = self._domain.told_on_exit(*what)
        return bool(self._domain.truth(self._domain.call(bound(method, self._manager), *told)))


class Iterating:
    """A user's iterator, whose ``__next__`` is called rewritten; all else of it is the iterator's."""

    def __init__(self, domain: Python, iterator: Any) -> None:
        self._domain, self._iterator = domain, iterator

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self._domain.call(method(self._iterator, "__next__"))

    def __getattr__(self, name: str) -> Any:  # yield from sends and throws
        if name in ("send", "throw", "close"):
            member = self._domain.attribute(self._iterator, name)
            return functools.partial(self._domain.call, member)
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
    if key is None and not (type(values) in (list, tuple) and any(map(is_of_own_class, values))):
        return keywords

    def asking(each: Any) -> Any:
        sort_key = each if key is None else domain.call(key, each)
        return _Ordered(domain, sort_key) if is_of_own_class(sort_key) else sort_key

    return {**keywords, "key": asking}
