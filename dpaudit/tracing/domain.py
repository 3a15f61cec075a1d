"""What does a user's own function do with numbers that remember their noise? The domain that its rewritten source asks.

Sums, multiples, picks and comparisons are followed, in arrays and in series and frames of pandas too. Whatever else a
library or Python itself makes of such numbers (text, whole numbers, JSON, tables, linear algebra) is made of the plain
ones, which count as released from there on: so it is post-processing, and costs nothing more. Code of libraries that
draws noise itself is followed by the functions that `dpaudit.tracing.hooks` puts in place.
"""

from __future__ import annotations

import collections
import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpaudit.reading.callbacks import looks_up
from dpaudit.reading.loops import Looped, PlainLoops
from dpaudit.reading.python import Python
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.source import is_own
from dpaudit.tracing.array_functions import array_of
from dpaudit.tracing.hooks import followed_generator, followed_method, original_of
from dpaudit.tracing.labelled import LINEAR, Labelled, is_of_pandas, labelled
from dpaudit.tracing.recording import DivergedError, TooLongError, active
from dpaudit.tracing.values import FollowedArray, FollowedFloat, closed, is_followed, plain

_FOLLOWED = frozenset((FollowedFloat, FollowedArray, Labelled))
_PLAIN = frozenset((int, float, str, bool, bytes, complex, type(None), slice, range, np.ndarray, type))
_CONTAINERS = frozenset(
    (list, tuple, dict, set, frozenset, collections.deque, collections.defaultdict, collections.OrderedDict)
)
_KEEPING = (
    list, tuple, dict, zip, enumerate, reversed, iter, next, len, isinstance, issubclass, id, type, map, filter, sum,
    sorted, abs, callable, getattr, setattr, hasattr, super, object, property, all, any, pow, divmod, functools.reduce,
)  # fmt: skip
"""Builtins that only move their arguments, or that ask them by operators, which are followed."""
_KEEPS = {id(each) for each in (*_KEEPING, *_CONTAINERS, *vars(collections).values())}
_CLOSING = frozenset(("numpy", "scipy", "pandas", "polars", "sklearn", "statsmodels", "builtins", "")) | (
    sys.stdlib_module_names
)
"""Whose functions get plain numbers; code of other libraries may draw noise of its own, and is followed."""
_DEEPEST = 6


class Following(PlainLoops, Python):
    """Own functions are called rewritten; what they do with followed numbers is followed, or releases these."""

    control = (DivergedError, TooLongError)

    def __init__(self) -> None:
        super().__init__()
        self._unread: set[types.FunctionType] = set()

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """Return a user's function rewritten, or as it is where its source cannot be read."""
        if function in self._unread:
            return function
        try:
            return super().twin(function)
        except UnreadableError:
            self._unread.add(function)
            return function

    def left_to_python(
        self, plan: tuple[Any, ...], function: Callable[..., Any], values: Callable[[], Any]
    ) -> Looped | None:
        """``for x in y: …`` of plain values, with Python's own ``max`` and ``min``."""
        return super().left_to_python(plan, function, lambda: tuple(map(original_of, values())))

    # --- calls --------------------------------------------------------------------------------------------

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's."""
        if looks_up(function):
            return super().foreign(function, args, keywords)
        if active() is None:
            return function(*args, **keywords)
        if len(args) == 1 and type(args[0]) in _FOLLOWED:
            if function is float and type(args[0]) is FollowedFloat:
                return args[0]
            if function is type:
                return _kind(args[0])
        if id(function) in _KEEPS:
            given = {name: self._callable(each) for name, each in keywords.items()}
            return function(*map(self._callable, args), **given)
        owner = getattr(function, "__self__", None)
        kind = type(owner)
        if kind in _CONTAINERS or kind in _FOLLOWED:
            return function(*map(self._callable, args), **keywords)
        draw = followed_method(owner, function)
        if draw is not None:
            return draw(owner, *args, **keywords)
        root = _root(function, owner)
        if root not in _CLOSING:
            return function(*args, **keywords) if root == "dpaudit" else self._of_library(function, args, keywords)
        if _asks_arrays(function, root):
            return function(*map(array_of, args), **keywords)
        given = {name: self._released_by(released(each)) for name, each in keywords.items()}
        return function(*(self._released_by(released(each)) for each in args), **given)

    def _of_library(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a function of a library that may draw noise: its generators are followed."""
        given = {name: followed_generator(each) for name, each in keywords.items()}
        return function(*map(followed_generator, args), **given)

    def _callable(self, value: Any) -> Any:
        """Return a user's function rewritten; anything else as it is."""
        return self.twin(value) if type(value) is types.FunctionType and is_own(value) else value

    def _released_by(self, value: Any) -> Any:
        """Return a user's function rewritten, of which a library gets plain numbers; anything else as it is."""
        if type(value) is not types.FunctionType or not is_own(value):
            return value
        own = self.twin(value)

        @functools.wraps(value)
        def function(*args: Any, **keywords: Any) -> Any:
            return released(own(*args, **keywords))

        return function

    # --- values -------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        return _kind(owner) if name == "__class__" and type(owner) in _FOLLOWED else super().attribute(owner, name)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``: a series or frame beside noise is followed with its labels."""
        if is_of_pandas(left) and type(right) in _FOLLOWED:
            if name in LINEAR:
                return labelled(LINEAR[name], left, right)
            right = released(right)
        elif is_of_pandas(right) and type(left) in _FOLLOWED:
            if name in LINEAR:
                return labelled(LINEAR[name], left, right)
            left = released(left)
        return super().binary(name, left, right)

    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``: what is of pandas, and other arrays, are changed in place by plain numbers."""
        # whoever else knows the array, series or frame finds the same plain numbers there, on both sides
        if is_of_pandas(target) and type(value) in _FOLLOWED and name in LINEAR:
            found = labelled(LINEAR[name], target, value)
            target._update_inplace((found.plain() if type(found) is Labelled else found).reindex_like(target))
            return found
        if type(target) is np.ndarray and target.dtype.kind == "f" and type(value) in _FOLLOWED and name in LINEAR:
            found = super().binary(name, target, value)
            if is_followed(found) and found.shape == target.shape:
                target[...] = plain(found)
                return found
        return super().inplace(name, target, value)

    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``."""
        if type(key) in _FOLLOWED and type(owner) not in _CONTAINERS:
            key = released(key)
        return super().item(owner, key)

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v``: an array or a table gets plain numbers."""
        if type(key) in _FOLLOWED:
            key = released(key)
        if type(owner) not in _CONTAINERS and type(owner) not in _FOLLOWED and not _is_of_user(owner):
            value = released(value)
        super().set_item(owner, key, value)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v``."""
        super().set_attribute(owner, name, released(value) if is_of_pandas(owner) else value)

    def truth(self, value: Any) -> Any:
        """``if a``."""
        return bool(value.released()) if type(value) is Labelled else super().truth(value)

    def format(self, value: Any, conversion: int, specification: Any) -> Any:
        """``{a!r:>5}`` in a text."""
        return super().format(released(value), conversion, released(specification))

    def key(self, value: Any) -> Any:
        """What a dict or set goes by."""
        return released(value)


def _kind(value: Any) -> type:
    """Return the type that a followed value stands for."""
    if type(value) is FollowedFloat:
        return float
    return np.ndarray if type(value) is FollowedArray else value.__class__


def released(value: Any, depth: int = 0) -> Any:
    """Return a value with plain numbers, which count as released; lists and dicts are changed where they are."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is Labelled:
        return value.released()
    if kind in (FollowedFloat, FollowedArray):
        return closed(value)
    if kind not in _CONTAINERS or depth > _DEEPEST:
        if isinstance(value, tuple) and hasattr(value, "_make") and _holds(value, depth):
            return value._make(released(each, depth + 1) for each in value)
        return value
    if not _holds(value.values() if isinstance(value, dict) else value, depth):
        return value
    if isinstance(value, dict):
        for name, each in list(value.items()):
            value[name] = released(each, depth + 1)
        return value
    parts = [released(each, depth + 1) for each in value]
    if kind is list:
        value[:] = parts
        return value
    return kind(parts)


def _holds(values: Iterable[Any], depth: int) -> bool:
    """Whether followed numbers are among values, or within them."""
    kinds = set(map(type, values))
    if kinds & _FOLLOWED:
        return True
    if not (kinds - _PLAIN) & _CONTAINERS or depth > _DEEPEST:
        return False
    return any(
        _holds(each.values() if isinstance(each, dict) else each, depth + 1)
        for each in values
        if type(each) in _CONTAINERS
    )


def unlabelled(value: Any, depth: int = 0) -> Any:
    """Return an output with series and frames as pandas has them, without noting that."""
    kind = type(value)
    if kind is Labelled:
        return value.plain()
    if kind in (list, tuple) and depth < _DEEPEST:
        return kind(unlabelled(each, depth + 1) for each in value)
    if kind is dict and depth < _DEEPEST:
        return {name: unlabelled(each, depth + 1) for name, each in value.items()}
    return value


def _root(function: Any, owner: Any) -> str:
    """Return the package that a function is of."""
    name = getattr(function, "__module__", None)
    if not isinstance(name, str):
        name = type(owner).__module__ if owner is not None else type(function).__module__
    return name.partition(".")[0]


def _asks_arrays(function: Any, root: str) -> bool:
    """Whether a function of NumPy asks followed arrays what to do."""
    return root == "numpy" and (isinstance(function, np.ufunc) or hasattr(function, "_implementation"))


def _is_of_user(owner: Any) -> bool:
    return type(owner).__module__.partition(".")[0] not in _CLOSING
