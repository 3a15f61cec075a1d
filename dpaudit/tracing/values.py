"""What is a number that remembers which noise it holds? A float, or an array, with its form.

What is done with such numbers by code that only knows floats and arrays works as ever: there they are plain numbers.
What Python and NumPy do with them is in `dpaudit.tracing.operations`.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from typing import Any, SupportsIndex

import numpy as np

from dpaudit.tracing.recording import Mark, NoiseForm, Recorder, active, is_of_this_run, site

_array, _asarray, _shape = np.array, np.asarray, np.shape
_isinstance = builtins.isinstance


class FollowedFloat(float):
    """A float with its form, of one number."""

    __slots__ = ("mark",)
    __array_priority__ = 9000.0
    mark: Mark

    def __new__(cls, value: float, mark: Mark) -> FollowedFloat:
        """Return the number; ``mark`` says what it is made of."""
        found = float.__new__(cls, value)
        found.mark = mark
        return found

    __pandas_priority__ = property(lambda self: _before_pandas())

    def __float__(self) -> float:
        """Return the plain number, which is not followed."""
        return _closed_float(self)

    def __int__(self) -> int:
        """Return the whole number, which is not followed."""
        return int(_closed_float(self))

    __trunc__ = __int__

    def __index__(self) -> int:
        """Return a whole number to count with; raises TypeError for another one."""
        value = float.__float__(self)
        if value != math.floor(value):
            raise TypeError("'float' object cannot be interpreted as an integer")
        return int(_closed_float(self))

    def __floor__(self) -> int:
        """Return the whole number below."""
        return math.floor(_closed_float(self))

    def __ceil__(self) -> int:
        """Return the whole number above."""
        return math.ceil(_closed_float(self))

    def __round__(self, digits: SupportsIndex | None = None) -> Any:
        """Return the rounded number, which is not followed."""
        return round(_closed_float(self)) if digits is None else round(_closed_float(self), digits)

    def __hash__(self) -> int:
        """Return the hash, by which it is known."""
        return hash(_closed_float(self))

    def is_integer(self) -> bool:
        """Whether it is whole."""
        return _closed_float(self).is_integer()

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return it as a fraction, which is not followed."""
        return _closed_float(self).as_integer_ratio()

    def __reduce__(self) -> Any:
        """Be stored as a plain number."""
        return float, (closed(self),)

    __reduce_ex__ = lambda self, protocol: self.__reduce__()  # noqa: E731

    def __copy__(self) -> FollowedFloat:
        """Return itself: a number does not change."""
        return self

    def __deepcopy__(self, memo: Any) -> FollowedFloat:
        """Return itself: a number does not change."""
        return self

    def item(self) -> FollowedFloat:
        """Return itself, as numbers of NumPy do what a float is."""
        return self

    def tolist(self) -> FollowedFloat:
        """Return itself, as numbers of NumPy do what a float is."""
        return self


class FollowedArray(np.ndarray[Any, Any]):
    """An array with its form, one number an element, in the order of C; without a mark it is like any other."""

    __array_priority__ = 9000.0
    __pandas_priority__ = property(lambda self: _before_pandas())
    mark: Mark | None = None

    def __array_finalize__(self, obj: Any) -> None:
        """Follow nothing that NumPy makes on its own."""
        self.mark = None

    def __iter__(self) -> Iterator[Any]:
        """Go through it, followed."""
        return (self[place] for place in range(len(self)))

    def __reduce__(self) -> Any:
        """Be stored as a plain array."""
        return plain(self).__reduce__()

    def __deepcopy__(self, memo: Any) -> Any:
        """Return a copy, followed."""
        return self.copy()

    def tolist(self) -> Any:
        """Return lists of followed floats."""
        return [each.tolist() for each in self] if self.ndim else self[()]

    def item(self, *place: Any) -> Any:
        """Return one element as a followed float."""
        return self.ravel()[place[0]] if len(place) == 1 and self.ndim != 1 else self[place or (0,) * self.ndim]

    def astype(self, dtype: Any, *args: Any, **keywords: Any) -> Any:
        """Return a copy; of another type than float it is not followed."""
        if np.dtype(dtype) == np.float64:
            return self.copy()
        return closed(self).astype(dtype, *args, **keywords)


def _before_pandas() -> int | None:
    """Whether sums with what is of pandas are ours to do: where they are closed, with their keys."""
    recorder = active()
    return 10_000 if recorder is not None and recorder.closes else None


def followed(values: Any, form: NoiseForm, where: str, recorder: Recorder, scaled: Any = None) -> Any:
    """Return numbers with their form: a float, or an array."""
    shape = _shape(values)
    mark = recorder.mark(form, _asarray(values, dtype=np.float64).reshape(-1), where, scaled)
    if shape == ():
        return FollowedFloat(float.__float__(float(mark.values[0])), mark)
    found = _array(mark.values, dtype=np.float64).reshape(shape).view(FollowedArray)
    found.mark = mark
    return found


def is_followed(value: Any) -> bool:
    """Whether a value has a form."""
    if not _isinstance(value, FollowedFloat | FollowedArray) or value.mark is None:
        return False
    return is_of_this_run(value.mark)


def plain(value: Any) -> Any:
    """Return the number or array itself, without noting that it goes where it is not followed."""
    if _isinstance(value, FollowedFloat):
        return float.__float__(value)
    return value.view(np.ndarray) if _isinstance(value, FollowedArray) else value


def _closed_float(value: FollowedFloat) -> float:
    found: float = closed(value)
    return found


def closed(value: Any) -> Any:
    """Return the plain number or array, and note that it goes where it is not followed: it counts as released."""
    recorder = active()
    if recorder is None or not is_followed(value) or not value.mark.form.is_noisy:
        return plain(value)
    value.mark.used = True
    outcome = recorder.decide("closed", (value.mark.form,), value.mark.values, site())
    return float(outcome[0]) if _isinstance(value, FollowedFloat) else _array(outcome).reshape(value.shape)
