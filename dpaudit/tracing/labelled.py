"""What is a series or a frame of numbers that remember their noise? Labels, beside a followed array.

What is sum, multiple, or pick of it is followed; whatever else is done with it is done by pandas, with the plain
numbers, which count as released from there on.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpaudit.tracing.array_functions import extreme
from dpaudit.tracing.elementwise import operate
from dpaudit.tracing.values import closed, is_followed, plain

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
            found = getattr(places, name)(*args, **keywords)
            if is_of_pandas(found):
                picked = found.to_numpy()
                if picked.dtype.kind == "i":
                    return Labelled(self._numbers.reshape(-1)[picked.reshape(-1)].reshape(picked.shape), found)
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
    found = operate(ufunc, numbers)
    labels = like._like if type(like) is Labelled else like
    if is_followed(found) and np.shape(found) == labels.shape:
        return Labelled(found, labels)
    return Labelled(found, labels)._as(plain(found)) if np.shape(found) == labels.shape else found


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
