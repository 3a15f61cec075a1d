"""What do Python and NumPy ask of numbers that remember their noise? It is in place once this is imported."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from dpaudit.tracing.array_functions import array_of, moved, of_numpy
from dpaudit.tracing.elementwise import into, operate, put
from dpaudit.tracing.recording import active
from dpaudit.tracing.values import FollowedArray, FollowedFloat, closed, is_followed

_isinstance = builtins.isinstance


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """Do what NumPy was asked to element by element or over an axis, and follow it."""
    out = keywords.pop("out", None)
    recorder = active()
    if recorder is not None and method == "reduce" and ufunc in (np.add, np.maximum, np.minimum):
        function = {np.add: np.sum, np.maximum: np.max, np.minimum: np.min}[ufunc]
        found = of_numpy(function, inputs, {"axis": 0, **keywords})
    elif recorder is not None and method == "accumulate" and ufunc is np.add:
        found = of_numpy(np.cumsum, inputs, {"axis": 0, **keywords})
    elif recorder is not None and ufunc is np.matmul and method == "__call__":
        found = of_numpy(np.matmul, inputs, {})
    elif recorder is not None and method == "__call__" and ufunc.nout == 1 and not (keywords.keys() - {"dtype"}):
        if any(hasattr(each, "to_numpy") for each in inputs):
            return NotImplemented
        found = _for_pandas(operate(ufunc, inputs), sys._getframe(1))
    else:
        found = getattr(ufunc, method)(*(closed(each) for each in inputs), **keywords)
    if out is None:
        return found
    return into(out[0] if _isinstance(out, tuple) else out, found)


def _array_function(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Do what NumPy was asked to, and follow it."""
    return of_numpy(function, args, kwargs)


def _is_true(self: Any) -> bool:
    """Whether it is not 0: a decision."""
    return bool(operate(np.not_equal, (self, 0.0)))


def _part(self: FollowedArray, places: Any) -> Any:
    """Return an element or a part, followed."""
    return moved(lambda array: array[places], (self,), {})


FollowedFloat.__bool__ = _is_true  # type: ignore[method-assign]
FollowedArray.__getitem__ = _part  # type: ignore[method-assign,assignment]
FollowedArray.__setitem__ = put  # type: ignore[method-assign,assignment]
for _kind in (FollowedFloat, FollowedArray):
    setattr(_kind, "__array_ufunc__", _array_ufunc)  # noqa: B010
    setattr(_kind, "__array_function__", _array_function)  # noqa: B010


def _through(name: str) -> Callable[..., Any]:
    def method(self: FollowedArray, *args: Any, **keywords: Any) -> Any:
        return moved(lambda array: getattr(array, name)(*args, **keywords), (self,), {})

    method.__name__ = name
    method.__doc__ = f"Do what an array's ``{name}`` does, and follow it."
    return method


for _name in ("copy", "reshape", "ravel", "flatten", "transpose", "squeeze", "take", "repeat", "swapaxes", "diagonal"):
    setattr(FollowedArray, _name, _through(_name))
FollowedArray.T = property(lambda self: self.transpose())  # type: ignore[assignment,method-assign]


def _as_function(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: FollowedArray, *args: Any, **keywords: Any) -> Any:
        return of_numpy(function, (self, *args), keywords)

    method.__name__ = name
    method.__doc__ = f"Do what ``numpy.{name}`` does, and follow it."
    return method


for _name in ("argmax", "argmin", "max", "min", "cumsum", "sum", "mean", "dot"):
    setattr(FollowedArray, _name, _as_function(_name))


_NUMBERS = (int, float, np.ndarray, np.generic, list, tuple)


def _binary(ufunc: Any, swapped: bool) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        recorder = active()
        if recorder is not None and recorder.closes and hasattr(other, "to_numpy") and hasattr(other, "index"):
            return _beside_keys(ufunc, self, other, swapped)
        if not _isinstance(other, _NUMBERS) or (_isinstance(other, list | tuple) and not _isinstance(self, np.ndarray)):
            return NotImplemented
        found = operate(ufunc, (array_of(other), self) if swapped else (self, array_of(other)))
        return _for_pandas(found, sys._getframe(1))

    return operator


def _for_pandas(found: Any, caller: FrameType) -> Any:
    """Return what pandas is to keep as objects: in its arrays of floats, numbers remember nothing."""
    if not _isinstance(found, FollowedArray) or f"{os.sep}pandas{os.sep}" not in caller.f_code.co_filename:
        return found
    objects = np.empty(found.shape, dtype=object)
    objects.reshape(-1)[:] = found.ravel().tolist()
    return objects


def _beside_keys(ufunc: Any, own: Any, other: Any, swapped: bool) -> Any:
    """Close a sum with what pandas names by keys, and name it by the same."""
    import pandas

    numbers = other.to_numpy()
    keys = repr([list(axis) for axis in (other.index, getattr(other, "columns", ()))])
    found = operate(ufunc, (numbers, own) if swapped else (own, numbers), keys)
    if is_followed(found) or np.shape(found) != np.shape(numbers):
        return found
    if numbers.ndim == 2:
        return pandas.DataFrame(found, index=other.index, columns=other.columns)
    return pandas.Series(found, index=other.index, name=other.name)


def _unary(ufunc: Any) -> Callable[[Any], Any]:
    return lambda self: operate(ufunc, (self,))


_ARITHMETIC = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "pow": np.power,
    "floordiv": np.floor_divide, "mod": np.remainder,
}  # fmt: skip
_ORDER = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
          "ne": np.not_equal}  # fmt: skip
for _kind in (FollowedFloat, FollowedArray):
    for _name, _ufunc in _ARITHMETIC.items():
        setattr(_kind, f"__{_name}__", _binary(_ufunc, False))
        setattr(_kind, f"__r{_name}__", _binary(_ufunc, True))
    for _name, _ufunc in _ORDER.items():
        setattr(_kind, f"__{_name}__", _binary(_ufunc, False))
    for _name, _own in {"neg": np.negative, "pos": np.positive, "abs": np.absolute}.items():
        setattr(_kind, f"__{_name}__", _unary(_own))
for _name in ("add", "sub", "mul", "truediv"):
    setattr(
        FollowedArray,
        f"__i{_name}__",
        lambda self, other, _ufunc=_ARITHMETIC[_name]: into(self, operate(_ufunc, (self, array_of(other)))),
    )
FollowedArray.__matmul__ = lambda self, other: of_numpy(np.matmul, (self, other), {})  # type: ignore[method-assign]
FollowedArray.__rmatmul__ = lambda self, other: of_numpy(np.matmul, (other, self), {})  # type: ignore[method-assign]
