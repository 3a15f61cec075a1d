"""What is a value that differs by run?

`Numbers` hold one number (or array, or row of labelled numbers) for each run; `Alternatives` hold a code for each run
and the values that the codes stand for; a `Container` is a list, dict, set or array that was made in the call, the same
object for all who hold it, whose content may differ by run. All else is plain: the same in every run.
"""

from __future__ import annotations

import sys
import types
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LARGE = 2**62  # integers from here on are no int64 that can be computed with
PYTHON_NUMBERS = (int, float, bool)
SCALARS = (int, float, bool, np.float64, np.int64, np.bool_)
IMMUTABLE = frozenset((*SCALARS, str, bytes, types.NoneType))
"""Types of plain values that hold no other."""
_LEAVES = frozenset(
    map(id, IMMUTABLE)
)  # by identity: a metaclass of the user's may call its class equal to one of them

_OF_PYTHON = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}
_EXACT = frozenset(map(np.dtype, (np.float64, np.int64, np.uint64, np.bool_)))
"""Types whose numbers Python's own are held in as they are; a narrower one has the same values."""


class Numbers:
    """A number, or an array of numbers, for each run.

    Attributes:
        array: (runs, ...) the values; those of runs that are not there mean nothing.
        python: whether a number is Python's own rather than NumPy's.
        labels: of the last axis, where the value is a series of pandas; None for an array.
        name: of the series.
    """

    __slots__ = ("array", "labels", "name", "python")
    __array_ufunc__ = None

    def __init__(self, array: Array, python: bool = False, labels: Any = None, name: Any = None) -> None:
        self.python = python and array.ndim == 1
        self.array = array.astype(_OF_PYTHON[array.dtype.kind]) if self.python and array.dtype not in _EXACT else array
        self.labels, self.name = labels, name

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the value of one run."""
        return tuple(self.array.shape[1:])

    @property
    def signature(self) -> tuple[Any, ...]:
        """What values must share to be held in one array."""
        labels: Any = None
        if self.labels is not None:
            own = self.labels
            labels = id(own) if type(own) is Coded else (id(type(own)), tuple(own))
        return (self.array.dtype, self.shape, self.python, labels, self.name)

    def like(self, array: Array, **changed: Any) -> Numbers:
        """Return other numbers with the same labels."""
        return Numbers(array, changed.get("python", self.python), self.labels, self.name)


class Alternatives:
    """A value of any kind for each run.

    Attributes:
        codes: (runs,) integers.
        values: what each code stands for.
    """

    __slots__ = ("codes", "values")

    def __init__(self, codes: Array, values: list[Any]) -> None:
        self.codes, self.values = codes, values


class Container:
    """What was made in the call and may be changed: a list, dict, set, array, series or frame.

    It is the same object for all who hold it; its content may differ by run.

    Attributes:
        content: a plain one of these, `Numbers`, a `Table`, or `Alternatives` of contents.
        views: what was handed out that a change would reach too.
        is_part: whether it shows a part of another one.
    """

    __slots__ = ("__weakref__", "_bare", "_plain", "_views", "content", "is_part")

    def __init__(self, content: Any, plain: bool | None = None) -> None:
        self.content, self._plain = content, plain
        self._bare = plain  # what a library made holds no container of ours
        self._views: list[weakref.ref[Container]] = []
        self.is_part = False

    @property
    def plain(self) -> bool:
        """Whether the content is the same in every run; what it holds may have been changed since it was asked."""
        if self._plain is None or (self._plain and not self.bare):
            self._plain = not differs(self.content)
        return self._plain

    @property
    def bare(self) -> bool:
        """Whether the content holds no other container."""
        if self._bare is None:
            self._bare = not _is_held(self.content)
        return self._bare

    def change(self, content: Any) -> None:
        """Put another content in its place."""
        self.content, self._plain, self._bare = content, None, None

    def added(self, *values: Any) -> None:
        """Say that values were put into the content as it is."""
        if self._plain and any(map(differs, values)):
            self._plain = None
        if self._bare and any(map(_is_held, values)):
            self._bare = None

    def view(self, other: Container) -> Container:
        """Note that another container shows a part of this one."""
        self._views.append(weakref.ref(other))
        other.is_part = True
        return other

    @property
    def is_viewed(self) -> bool:
        """Whether somebody holds a view of it still, or it is a view itself: a change would reach others."""
        self._views = [each for each in self._views if each() is not None]
        if type(self.content) is np.ndarray:  # NumPy's views hold what they show
            shared = not self.content.flags.owndata or sys.getrefcount(self.content) > 2
        else:
            shared = False
        return shared or self.is_part or bool(self._views)


class Member:
    """A method of a value that differs by run, which is about to be called."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name


class Windows:
    """``series.rolling(…)`` of a series whose values differ by run, of which a method is about to be called."""

    __slots__ = ("how", "owner")

    def __init__(self, owner: Any, how: dict[str, Any]) -> None:
        self.owner, self.how = owner, how


class Table:
    """A frame of pandas whose labels are plain and whose values differ by run.

    Attributes:
        columns: the values of each column by its label: `Numbers` of shape (rows,), or plain arrays of (rows,).
        index: labels of the rows.
        title: what the labels of the columns are called, as in a table of counts by two columns.
    """

    __slots__ = ("columns", "index", "title")

    def __init__(self, columns: dict[Any, Any], index: Any, title: Any = None) -> None:
        self.columns, self.index, self.title = columns, index, title

    @property
    def labels(self) -> Any:
        """The labels of the columns, as pandas has them."""
        return the_pandas().Index(list(self.columns), name=self.title)

    def like(self, columns: dict[Any, Any], index: Any = None) -> Table:
        """Return a frame with other columns, and the same rows unless they are given."""
        return Table(columns, self.index if index is None else index, self.title)


class Coded:
    """Plain values in an order that differs by run: labels, or a column of a frame, that was sorted by numbers.

    Attributes:
        codes: (runs, rows) which value stands in each row.
        values: an index or array of pandas or NumPy.
    """

    __slots__ = ("codes", "values")

    def __init__(self, codes: Array, values: Any) -> None:
        self.codes, self.values = codes, values

    def part(self, rows: Any) -> Coded:
        """Return some of the rows."""
        return Coded(self.codes[:, rows], self.values)

    def of(self, run: int) -> Any:
        """Return the values of one run."""
        return self.values[self.codes[run]]

    def __len__(self) -> int:
        return int(self.codes.shape[1])


class _Mark:
    """Stands for the absence of a value."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


UNBOUND = _Mark("unbound")
"""Of a name: it has no value yet."""
ABSENT = _Mark("absent")
"""Of a key: the dict does not have it."""
DIFFERING = (Numbers, Alternatives, Table, Windows)


class Mask:
    """Which runs are active."""

    def __init__(self, chosen: Array) -> None:
        self.chosen = chosen
        self.count = int(np.count_nonzero(chosen))

    @cached_property
    def places(self) -> Array:
        """The numbers of the active runs."""
        return np.flatnonzero(self.chosen)

    @property
    def whole(self) -> bool:
        """Whether every run is active."""
        return self.count == len(self.chosen)


CONTENTS = (list, dict, set, OrderedDict, defaultdict)
"""Containers of Python whose content is followed."""


def held_in(value: Any) -> Iterable[Any]:
    """Return what a plain value consists of, as far as it may differ by run."""
    kind: Any = type(value)
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        return value  # type: ignore[no-any-return]
    if kind is dict or kind is OrderedDict or kind is defaultdict:
        return value.values()  # type: ignore[no-any-return]
    if kind is types.MethodType or kind is types.BuiltinMethodType:
        return () if type(value.__self__) is types.ModuleType else (value.__self__,)
    if kind is slice:
        return value.start, value.stop, value.step
    if kind is Member or kind is Windows:
        return (value.owner,)
    if issubclass(kind, tuple):
        return tuple.__iter__(value)
    return members_of(value) if holds_members(kind) else ()


def differs(value: Any) -> bool:
    """Whether a value may differ by run, or holds one that may."""
    kind: Any = type(value)
    if kind in DIFFERING:
        return True
    if kind is Container:
        return not value.plain
    return id(kind) not in _LEAVES and any(map(differs, held_in(value)))


_LOOKED_AT: set[int] = set()


@cache
def holds_members(kind: Any) -> bool:
    """Whether objects of a class hold what a function gave them: those of the user's classes."""
    if kind.__module__.split(".")[0] in _OTHERS or issubclass(kind, type | BaseException):
        return False
    return bool(getattr(kind, "__dictoffset__", 0)) or any("__slots__" in vars(base) for base in kind.__mro__[:-1])


_OTHERS = frozenset((
    "builtins", "numpy", "pandas", "scipy", "logging", "datetime", "decimal", "fractions", "re", "random", "functools",
    "itertools", "collections", "dpaudit", "pyarrow", "enum", "abc", "pathlib", "threading", "_thread", "io", "_io",
))  # fmt: skip


def members_of(value: Any) -> list[Any]:
    """Return what an object of a user's class holds; nothing while it is being looked at, so that cycles end."""
    if id(value) in _LOOKED_AT:
        return []
    _LOOKED_AT.add(id(value))
    try:
        return [each for each in attributes_of(value).values() if not _is_object(each) or differs(each)]
    finally:
        _LOOKED_AT.discard(id(value))


def _is_object(value: Any) -> bool:
    kind: Any = type(value)
    return holds_members(kind)


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, in its dictionary and in its slots."""
    out: dict[str, Any] = dict(getattr(value, "__dict__", {}))
    for base in type(value).__mro__[:-1]:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                out[name] = getattr(value, name)
    return out


def raw(value: Any) -> Any:
    """Return a value that does not differ by run as Python knows it, without containers of ours."""
    kind = type(value)
    if kind is Container:
        return value.content if value.bare else raw(value.content)
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        return kind(map(raw, value)) if any(map(_is_held, value)) else value
    if kind is dict or kind is OrderedDict:
        return kind((key, raw(each)) for key, each in value.items()) if any(map(_is_held, value.values())) else value
    if kind is slice:
        return slice(raw(value.start), raw(value.stop), raw(value.step))
    if kind is Member:
        return getattr(raw(value.owner), value.name)
    if kind is types.BuiltinMethodType and type(value.__self__) is Container:
        return getattr(raw(value.__self__), value.__name__)
    if issubclass(kind, tuple) and any(map(_is_held, tuple.__iter__(value))):
        parts = [raw(each) for each in tuple.__iter__(value)]
        return kind(*parts) if hasattr(kind, "_fields") else tuple.__new__(kind, parts)
    return value


def _is_held(value: Any) -> bool:
    kind = type(value)
    if kind is Container:
        return True
    if kind is list or kind is tuple or kind is set:
        return any(map(_is_held, value))
    if kind is dict:
        return any(map(_is_held, value.values()))
    return issubclass(kind, tuple) and any(map(_is_held, tuple.__iter__(value)))


def identity(value: Any) -> tuple[Any, Any]:
    """Return a key by which equal plain values are one: by type and bits, so that 1, 1.0 and True are three."""
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    if kind in (int, bool, str, types.NoneType, bytes):
        return kind, value
    if isinstance(value, np.floating):
        return kind, float(value).hex()
    if isinstance(value, np.generic) and value.dtype.kind in "biuSU":
        return kind, value.item()
    if kind is tuple:
        return kind, tuple(map(identity, value))
    return _Mark, id(value)


def signature(value: Any) -> tuple[Any, ...] | None:
    """Return what a value must share with others to be held in one array; None if it is no number."""
    kind = type(value)
    if kind is Numbers:
        return value.signature  # type: ignore[no-any-return]
    if kind in SCALARS and not (kind is int and abs(value) >= LARGE):
        return (np.dtype(kind), (), kind in PYTHON_NUMBERS, None, None)
    return None


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a value of the same kind whose parts are changed; members of a dict that are absent then are left out."""
    kind: Any = type(value)
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        return kind(map(change, value))
    if kind in CONTENTS:
        new: Any = kind(value.default_factory) if kind is defaultdict else kind()
        for key, each in value.items():
            own = change(each)
            if own is not ABSENT:
                new[key] = own
        return new
    if kind is slice:
        return slice(change(value.start), change(value.stop), change(value.step))
    if kind is types.MethodType or kind is types.BuiltinMethodType:
        return getattr(change(value.__self__), value.__name__)
    if issubclass(kind, tuple):
        parts = list(map(change, tuple.__iter__(value)))
        return kind(*parts) if hasattr(kind, "_fields") else tuple.__new__(kind, parts)
    new = object.__new__(kind)
    for name, each in attributes_of(value).items():
        object.__setattr__(new, name, change(each))
    return new


def at(value: Any, run: int) -> Any:
    """Return the value of one run, as a plain value of its own."""
    kind: Any = type(value)
    if kind is Numbers:
        value_of_run = value.array[run]
        if value.labels is not None:
            return the_pandas().Series(value_of_run.copy(), index=of_run(value.labels, run), name=value.name)
        return value_of_run.item() if value.python else value_of_run.copy() if value.array.ndim > 1 else value_of_run
    if kind is Alternatives:
        return at(value.values[value.codes[run]], run)
    if kind is Container:
        return at(value.content, run)
    if kind is Table:
        columns = {
            label: column.array[run].copy() if type(column) is Numbers else of_run(column, run)
            for label, column in value.columns.items()
        }
        labels = list(value.columns) if value.title is None else value.labels
        return the_pandas().DataFrame(columns, index=of_run(value.index, run), columns=labels)
    if kind is Member:
        return getattr(at(value.owner, run), value.name)
    if kind is Windows:
        return at(value.owner, run).rolling(**value.how)
    if kind is slice or kind in CONTENTS or kind is tuple or kind is frozenset or differs(value):
        return rebuilt(value, lambda each: at(each, run))
    return value


def of_run(values: Any, run: int) -> Any:
    """Return labels, or a plain column, as one run has them."""
    return values.of(run) if type(values) is Coded else values


def the_pandas() -> Any:
    """Return pandas, which need not be there, and takes long to import."""
    import pandas as pd

    return pd


def is_of_pandas(kind: type) -> bool:
    """Whether this is the type of a series or frame."""
    return kind.__name__ in ("Series", "DataFrame") and kind.__module__.startswith("pandas")


def held(numbers: Numbers) -> Any:
    """Return numbers as a value: an array or a series is held in a container."""
    return numbers if numbers.array.ndim == 1 else Container(numbers)


def series(array: Array, labels: Any, name: Any = None) -> Container:
    """Return numbers, (runs, n), as a series of pandas with these labels."""
    return Container(Numbers(array, False, labels, name))


def by_name(names: Sequence[str], args: Sequence[Any], keywords: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of a call by name, the first by their places; None if one has no name, or stands twice."""
    if len(args) > len(names) or keywords.keys() & set(names[: len(args)]):
        return None
    return dict(zip(names, args, strict=False)) | keywords


def raws(args: Iterable[Any], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call that do not differ by run, as Python knows them."""
    return tuple(map(raw, args)), {name: raw(each) for name, each in keywords.items()}


def is_gone(value: Any) -> bool:
    """Whether a member of a dict is absent in some run."""
    return value is ABSENT or (type(value) is Alternatives and any(each is ABSENT for each in value.values))
