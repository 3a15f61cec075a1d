"""What are NumPy's functions of whole arrays, when the numbers remember their noise?

Some only move elements, sums and products with plain matrices keep the form, the largest of several is a decision;
through any other the numbers are not followed.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.tracing.forms import Form
from dpaudit.tracing.recording import Recorder, active, site
from dpaudit.tracing.values import FollowedFloat, closed, followed, is_followed, plain

_asarray, _shape, _arange, _broadcast_to = np.asarray, np.shape, np.arange, np.broadcast_to
_isinstance, _max = builtins.isinstance, builtins.max


def moved(function: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Call a function that only moves elements, first on their places: the result holds the numbers from there."""
    recorder = active()
    if recorder is None:
        return function(*_each(args, plain), **_each(keywords, plain))
    with recorder.own_work():
        forms: list[Form] = []
        start = 0

        def numbered(value: Any) -> Any:
            nonlocal start
            if not (is_followed(value) or _isinstance(value, np.ndarray | float)):
                return value
            own = value.mark.form if is_followed(value) else Form.constant(value)
            if is_followed(value):
                value.mark.used = True
            forms.append(own)
            places = (start + _arange(len(own))).reshape(_shape(plain(value)))
            start += len(own)
            return places

        found = function(*_each(args, numbered), **_each(keywords, numbered))
        values = function(*_each(args, plain), **_each(keywords, plain))
        whole = Form.joined(forms)
        where = site()
        if _isinstance(found, list | tuple):
            pairs = zip(found, values, strict=True)
            return type(found)(_taken(recorder, whole, place, value, where) for place, value in pairs)
        return _taken(recorder, whole, found, values, where)


def _taken(recorder: Recorder, whole: Form, places: Any, values: Any, where: str) -> Any:
    form = whole.take(_asarray(places).reshape(-1))
    return followed(values, form, where, recorder) if form.is_noisy else values


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Change the numbers and arrays within arguments."""
    if type(value) in (list, tuple):
        return type(value)(_each(each, change) for each in value)
    if type(value) is dict:
        return {name: _each(each, change) for name, each in value.items()}
    return change(value)


def array_of(values: Any) -> Any:
    """Return a followed array of a list that holds followed floats, or of lists of such; anything else as it is."""
    recorder = active()
    if recorder is None or not _isinstance(values, list | tuple) or not _holds_followed(values):
        return values
    try:
        return moved(lambda nested: np.array(nested), (_floats(values),), {})
    except (TypeError, ValueError):
        return values


def _floats(values: Any) -> Any:
    if _isinstance(values, list | tuple):
        return [_floats(each) for each in values]
    return values if is_followed(values) or _isinstance(values, np.ndarray) else float(values)


def _holds_followed(values: Any, depth: int = 0) -> bool:
    return any(
        is_followed(each) or (_isinstance(each, list | tuple) and depth < 3 and _holds_followed(each, depth + 1))
        for each in values
    )


def of_numpy(function: Any, args: Any, keywords: dict[str, Any]) -> Any:
    """Do what a function of NumPy does; where it is not known here, its numbers are not followed any further."""
    recorder = active()
    if function in _SILENT or recorder is None:
        return function(*_each(args, plain), **_each(keywords, plain))
    if function in _MOVES:
        try:
            return moved(function, args, keywords)
        except (TypeError, ValueError, IndexError):
            return function(*_each(args, closed), **_each(keywords, closed))
    known = _KNOWN.get(function)
    if known is not None:
        try:
            found = known(*args, **keywords)
        except (AttributeError, TypeError, ValueError, IndexError):  # of a kind that is not known here
            found = NotImplemented
        if found is not NotImplemented:
            return found
    return function(*_each(args, closed), **_each(keywords, closed))


def _summed(
    array: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **more: Any
) -> Any:
    recorder = active()
    array = array_of(array)
    if recorder is None or not is_followed(array) or _isinstance(array, FollowedFloat) or more or keepdims is True:
        return NotImplemented
    with recorder.own_work():
        bare = plain(array)
        if axis is None:
            groups, shape = np.zeros(bare.size, dtype=np.int64), ()
        else:
            axes = tuple(each % bare.ndim for each in (axis if _isinstance(axis, tuple) else (axis,)))
            shape = tuple(size for place, size in enumerate(bare.shape) if place not in axes)
            own = _arange(math.prod(shape)).reshape(
                [1 if place in axes else size for place, size in enumerate(bare.shape)]
            )
            groups = _broadcast_to(own, bare.shape).reshape(-1)
        array.mark.used = True
        form = array.mark.form.summed(groups, math.prod(shape))
        return followed(np.sum(bare, axis=axis), form, site(), recorder)


def _meant(array: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Any:
    array = array_of(array)
    found = _summed(array, axis, dtype, out, keepdims, **more)
    if found is NotImplemented:
        return found
    return found / (array.size / _max(np.size(found), 1))


def _cumulated(array: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if axis not in (None, 0) or array.ndim != 1:
        return NotImplemented
    return _product(np.tri(len(array)), array)


def _product(one: Any, other: Any, *more: Any) -> Any:
    """The product of two matrices or vectors, one of which is plain."""
    recorder = active()
    one, other = (each if is_followed(each) else _asarray(each) for each in (array_of(one), array_of(other)))
    if recorder is None or more or is_followed(one) == is_followed(other):
        return NotImplemented
    if np.ndim(plain(one)) == 0 or np.ndim(plain(other)) == 0:
        return one * other
    if is_followed(one):
        found = _product(_asarray(other).T, one.transpose()) if one.ndim == 2 or np.ndim(other) == 2 else None
        if found is None:
            return _product(other, one)
        return found if found is NotImplemented or np.ndim(plain(found)) < 2 else found.transpose()
    if one.ndim > 2 or other.ndim > 2:
        return NotImplemented
    with recorder.own_work():
        matrix, bare = _asarray(one, dtype=np.float64), plain(other)
        wide = matrix.reshape(-1, matrix.shape[-1])
        columns = bare.reshape(len(bare), -1)
        rows, inner, width = len(wide), len(bare), columns.shape[1]
        # element (i, j) of the result is Σ_k matrix[i, k]·other[k, j]
        places = _broadcast_to(_arange(inner * width).reshape(1, inner, width), (rows, inner, width)).reshape(-1)
        factors = _broadcast_to(wide[:, :, None], (rows, inner, width)).reshape(-1)
        groups = _broadcast_to(_arange(rows * width).reshape(rows, 1, width), (rows, inner, width)).reshape(-1)
        other.mark.used = True
        taken = other.mark.form.take(places)
        form = taken.times(factors).summed(groups, rows * width)
        return followed(matrix @ bare, form, site(), recorder, (taken, factors))


def extreme(array: Any, sign: int) -> int:
    """Return the place of the largest (sign 1) or smallest (−1) of a followed vector: one decision."""
    recorder = active()
    bare = sign * plain(array).reshape(-1)
    place = int(np.argmax(bare))
    if recorder is None or not is_followed(array) or not array.mark.form.is_noisy:
        return place
    array.mark.used = True
    with recorder.own_work():
        return int(recorder.decide("extreme", (array.mark.form,), place, site(), str(sign)))


def _place(sign: int) -> Callable[..., Any]:
    def found(array: Any, axis: Any = None, out: Any = None, **more: Any) -> Any:
        array = array_of(array)
        if not is_followed(array) or more or (axis is not None and array.ndim > 1) or np.ndim(plain(array)) == 0:
            return NotImplemented
        return np.int64(extreme(array.ravel() if array.ndim > 1 else array, sign))

    return found


def _largest(sign: int) -> Callable[..., Any]:
    def found(array: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Any:
        array = array_of(array)
        if not is_followed(array) or more or (axis is not None and array.ndim > 1) or np.ndim(plain(array)) == 0:
            return NotImplemented
        flat = array.ravel()
        return flat[extreme(flat, sign)]

    return found


_SILENT = {np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.result_type,
           np.can_cast, np.iscomplexobj, np.isrealobj, np.array_repr, np.array_str, np.array2string}  # fmt: skip
_MOVES = {np.reshape, np.ravel, np.transpose, np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack,
          np.squeeze, np.expand_dims, np.broadcast_to, np.take, np.repeat, np.tile, np.roll, np.flip, np.where,
          np.atleast_1d, np.atleast_2d, np.split, np.array_split, np.copy, np.append, np.swapaxes, np.moveaxis,
          np.diagonal, np.delete, np.insert, np.compress, np.fliplr, np.flipud, np.rot90}  # fmt: skip
_KNOWN: dict[Any, Callable[..., Any]] = {
    np.sum: _summed,
    np.mean: _meant,
    np.cumsum: _cumulated,
    np.dot: _product,
    np.matmul: _product,
    np.inner: lambda one, other: _product(one, other) if np.ndim(one) == np.ndim(other) == 1 else NotImplemented,
    np.argmax: _place(1),
    np.argmin: _place(-1),
    np.max: _largest(1),
    np.min: _largest(-1),
}
