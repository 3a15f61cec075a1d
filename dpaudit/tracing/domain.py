"""What does a user's own function do with numbers that remember their noise? The domain that its rewritten source asks.

Sums, multiples, picks and comparisons are followed, in arrays and in series and frames of pandas too. Whatever else a
library or Python itself makes of such numbers (text, whole numbers, JSON, tables, linear algebra) is made of the plain
ones, which count as released from there on: so it is post-processing, and costs nothing more. Code of libraries that
draws noise itself is followed by the functions that `dpaudit.tracing.hooks` puts in place.
"""

from __future__ import annotations

import collections
import functools
import operator
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dpaudit.reading import definite, dispatch, python, rewrite, source
from dpaudit.tracing.hooks import followed_generator, followed_method, original_of
from dpaudit.tracing.recording import DivergedError, UnfollowedError, active
from dpaudit.tracing.values import FollowedArray, FollowedFloat, array_of, closed, extreme, is_followed, operate, plain

# --- What is a series or a frame of numbers that remember their noise? Labels, beside a followed array ---
#
# What is sum, multiple, or pick of it is followed; whatever else is done with it is done by pandas, with the plain
# numbers, which count as released from there on.

_NUMBERS = (int, float, np.generic)


def is_of_pandas(value: Any) -> bool:
    """Whether a value is a series or a frame of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(value) in (pandas.Series, pandas.DataFrame)


class Labelled:
    """A series, or a frame where there are ``columns``, of followed numbers.

    Args:
        numbers: a followed array, (n,) or (n, m).
        like: what of pandas has its labels.
    """

    __array_priority__ = __pandas_priority__ = 10_000

    def __init__(self, numbers: Any, like: Any) -> None:
        self._numbers, self._like = numbers, like
        self._closed: Any = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What it stands for, to `isinstance`."""
        return type(self._like)

    @property
    def followed(self) -> Any:
        """The followed array; None once its numbers count as released."""
        return self._numbers if self._closed is None else None

    def released(self) -> Any:
        """Return it as pandas has it, with plain numbers that count as released."""
        if self._closed is None:
            self._closed = self._as(closed(self._numbers))
        return self._closed

    def plain(self) -> Any:
        """Return it as pandas has it, without noting that it goes where it is not followed."""
        return self._as(plain(self._numbers)) if self._closed is None else self._closed

    def _as(self, numbers: Any) -> Any:
        like = self._like
        if numbers.ndim == 2:
            return type(like)(numbers, index=like.index, columns=like.columns)
        return type(like)(numbers, index=like.index, name=like.name)

    # --- what is followed ---------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        if name in ("index", "columns", "name", "shape", "ndim", "size", "empty", "axes", "keys"):
            return getattr(self._like, name)
        if self._closed is None and name == "values":
            return self._numbers
        if name == "T":
            return self._picked("transpose")
        if self.ndim == 2 and name in self.columns:
            return self[name]
        if not hasattr(type(self._like), name) and name not in self.index:  # nothing is released by asking for it
            raise AttributeError(name)
        return getattr(self.released(), name)

    def _picked(self, name: str, *args: Any, **keywords: Any) -> Any:
        """Do what only picks numbers, by labels or places: first with the places in place of the numbers."""
        if self._closed is None:
            places = self._as(np.arange(self._numbers.size).reshape(self._numbers.shape))
            labels = getattr(places, name)(*args, **keywords)
            if is_of_pandas(labels):
                picked = labels.to_numpy()
                if picked.dtype.kind == "i":
                    return Labelled(self._numbers.reshape(-1)[picked.reshape(-1)].reshape(picked.shape), labels)
        return getattr(self.released(), name)(*args, **keywords)

    def to_numpy(self, *args: Any, **keywords: Any) -> Any:
        """Return the array of its numbers."""
        if self._closed is None and not args and (not keywords or keywords == {"dtype": float}):
            return self._numbers
        return self.released().to_numpy(*args, **keywords)

    def tolist(self) -> Any:
        """Return its numbers in a list."""
        return self.released().tolist() if self._closed is not None else self._numbers.tolist()

    to_list = tolist

    def copy(self, deep: bool = True) -> Any:
        """Return a copy."""
        return Labelled(self._numbers, self._like) if self._closed is None else self._closed.copy(deep)

    def to_dict(self, *args: Any, **keywords: Any) -> Any:
        """Return a dict of a series."""
        if args or keywords or self._closed is not None or self._numbers.ndim != 1:
            return self.released().to_dict(*args, **keywords)
        return dict(self.items())

    def items(self) -> Any:
        """Go through labels and what they stand for."""
        if self._closed is not None:
            return self._closed.items()
        if self._numbers.ndim == 1:
            return zip(self._like.index, self._numbers, strict=True)
        return ((name, self[name]) for name in self._like.columns)

    def sum(self, *args: Any, **keywords: Any) -> Any:
        """Return the sum of a series."""
        if args or keywords or self._closed is not None or self._numbers.ndim != 1:
            return self.released().sum(*args, **keywords)
        return self._numbers.sum()

    def mean(self, *args: Any, **keywords: Any) -> Any:
        """Return the mean of a series."""
        if args or keywords or self._closed is not None or self._numbers.ndim != 1:
            return self.released().mean(*args, **keywords)
        return self._numbers.mean()

    def _place(self, sign: int) -> int | None:
        """Return the place of the largest or smallest, which is one decision; None where pandas decides."""
        if self._closed is not None or self._numbers.ndim != 1 or not len(self._numbers):
            return None
        return None if np.isnan(plain(self._numbers)).any() else extreme(self._numbers, sign)

    # --- what Python asks ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._like)

    def __iter__(self) -> Iterator[Any]:
        if self._closed is not None:
            return iter(self._closed)
        return iter(self._numbers if self._numbers.ndim == 1 else self._like)

    def __contains__(self, key: Any) -> bool:
        return key in self._like

    def __bool__(self) -> bool:
        return bool(self.released())

    def __repr__(self) -> str:
        return repr(self.released())

    def __getitem__(self, key: Any) -> Any:
        if self._closed is None and isinstance(key, str | int | np.integer | tuple):
            two = self._numbers.ndim == 2
            labels = self._like.columns if two else self._like.index
            try:
                place = labels.get_loc(key) if labels.is_unique else None
            except (KeyError, TypeError):
                place = None
            if type(place) is int:
                return Labelled(self._numbers[:, place], self._like[key]) if two else self._numbers[place]
        return self.released()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.released()[key] = value

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        return np.asarray(self.released(), *args, **keywords)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        released = [each.released() if type(each) is Labelled else closed(each) for each in inputs]
        return getattr(ufunc, method)(*released, **keywords)

    def __round__(self, digits: int = 0) -> Any:
        return round(self.released(), digits)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()


def labelled(ufunc: Any, one: Any, other: Any) -> Any:
    """Return a sum, difference, multiple or quotient with what pandas has labels for."""
    like = next(each for each in (one, other) if type(each) is Labelled or is_of_pandas(each))
    numbers = [_beside(like, each) for each in (one, other)]
    if any(each is None for each in numbers):
        released = [each.released() if type(each) is Labelled else closed(each) for each in (one, other)]
        return _OPERATORS[ufunc](*released)
    result = operate(ufunc, numbers)
    labels = like._like if type(like) is Labelled else like
    if is_followed(result) and np.shape(result) == labels.shape:
        return Labelled(result, labels)
    return Labelled(result, labels)._as(plain(result)) if np.shape(result) == labels.shape else result


def _beside(like: Any, value: Any) -> Any:
    """Return the numbers of a value in the order of the labels; None where pandas has to put them in order."""
    if type(value) is Labelled or is_of_pandas(value):
        if type(value) is Labelled and value.followed is None:
            value = value.released()
        alike = np.ndim(value) == np.ndim(like) and value.index.equals(like.index)
        if not alike or (np.ndim(like) == 2 and not value.columns.equals(like.columns)):
            return None
        numbers = value.to_numpy()
        return numbers if is_followed(numbers) or numbers.dtype.kind in "iufb" else None
    shape = np.shape(plain(value))
    return value if isinstance(value, _NUMBERS) or is_followed(value) or shape == like.shape else None


_OPERATORS: dict[Any, Callable[[Any, Any], Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
}
LINEAR = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide}
"""Operators that may keep the form, by the names of their methods."""


def _linear(ufunc: Any, swapped: bool) -> Callable[[Any, Any], Any]:
    return lambda self, other: labelled(ufunc, other, self) if swapped else labelled(ufunc, self, other)


def _by_pandas(name: str) -> Callable[..., Any]:
    def method(self: Labelled, *others: Any) -> Any:
        others = tuple(each.released() if type(each) is Labelled else closed(each) for each in others)
        return getattr(self.released(), name)(*others)

    return method


def _extreme(name: str, sign: int) -> Callable[..., Any]:
    def method(self: Labelled, *args: Any, **keywords: Any) -> Any:
        place = None if args or keywords else self._place(sign)
        if place is None:
            return getattr(self.released(), name)(*args, **keywords)
        if name.startswith("idx"):
            return self._like.index[place]
        return place if name.startswith("arg") else self._numbers[place]

    return method


for _name, _ufunc in LINEAR.items():
    setattr(Labelled, f"__{_name}__", _linear(_ufunc, False))
    setattr(Labelled, f"__r{_name}__", _linear(_ufunc, True))
for _name in (
    "lt", "le", "gt", "ge", "eq", "ne", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow", "abs", "matmul",
    "rmatmul", "and", "or", "xor", "invert",
):  # fmt: skip
    setattr(Labelled, f"__{_name}__", _by_pandas(f"__{_name}__"))
setattr(Labelled, "__neg__", lambda self: labelled(np.multiply, self, -1.0))  # noqa: B010
for _name in (
    "sort_index",
    "reindex",
    "head",
    "tail",
    "rename",
    "rename_axis",
    "set_axis",
    "take",
    "transpose",
    "to_frame",
):
    setattr(Labelled, _name, functools.partialmethod(Labelled._picked, _name))
for _name, _sign in (("max", 1), ("min", -1)):
    for _what in (_name, f"idx{_name}", f"arg{_name}"):
        setattr(Labelled, _what, _extreme(_what, _sign))

# --- What does a user's own function do with numbers that remember their noise? ---

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


class Following(definite.PlainLoops, python.Python):
    """Own functions are called rewritten; what they do with followed numbers is followed, or releases these."""

    control = (DivergedError, UnfollowedError)

    def __init__(self) -> None:
        super().__init__()
        self._unread: set[types.FunctionType] = set()
        self.calls = 0  # of what is not the user's

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """Return a user's function rewritten, or as it is where its source cannot be read."""
        if function in self._unread:
            return function
        try:
            return super().twin(function)
        except rewrite.UnreadableError:
            self._unread.add(function)
            return function

    def left_to_python(
        self, plan: tuple[Any, ...], function: Callable[..., Any], values: Callable[[], Any]
    ) -> definite.Looped | None:
        """``for x in y: …`` of plain values, with Python's own ``max`` and ``min``."""
        return super().left_to_python(plan, function, lambda: tuple(map(original_of, values())))

    # --- calls --------------------------------------------------------------------------------------------

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's."""
        self.calls += 1
        if dispatch.looks_up(function):
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
        return self.twin(value) if type(value) is types.FunctionType and source.is_own(value) else value

    def _released_by(self, value: Any) -> Any:
        """Return a user's function rewritten, of which a library gets plain numbers; anything else as it is."""
        if type(value) is not types.FunctionType or not source.is_own(value):
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
            result = labelled(LINEAR[name], target, value)
            target._update_inplace((result.plain() if type(result) is Labelled else result).reindex_like(target))
            return result
        if type(target) is np.ndarray and target.dtype.kind == "f" and type(value) in _FOLLOWED and name in LINEAR:
            result = super().binary(name, target, value)
            if is_followed(result) and result.shape == target.shape:
                target[...] = plain(result)
                return result
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
