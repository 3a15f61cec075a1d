"""What is a number that remembers which noise it holds, and what are the operations of Python and NumPy on it?

A float, or an array, with its form. What is done with such numbers by code that only knows floats and arrays works as
ever: there they are plain numbers.
"""

from __future__ import annotations

import builtins
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, SupportsIndex

import numpy as np

from dpaudit.program.laws import GUMBEL
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
        number = float.__new__(cls, value)
        number.mark = mark
        return number

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
    array = _array(mark.values, dtype=np.float64).reshape(shape).view(FollowedArray)
    array.mark = mark
    return array


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
    number: float = closed(value)
    return number


def closed(value: Any) -> Any:
    """Return the plain number or array, and note that it goes where it is not followed: it counts as released."""
    recorder = active()
    if recorder is None or not is_followed(value) or not value.mark.form.is_noisy:
        return plain(value)
    value.mark.used = True
    outcome = recorder.decide("closed", (value.mark.form,), value.mark.values, site())
    return float(outcome[0]) if _isinstance(value, FollowedFloat) else _array(outcome).reshape(value.shape)


# --- What are NumPy's functions of whole arrays, when the numbers remember their noise? ---
#
# Some only move elements, sums and products with plain matrices keep the form, the largest of several is a decision;
# through any other the numbers are not followed.

_arange, _broadcast_to, _max = np.arange, np.broadcast_to, builtins.max


def moved(function: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Call a function that only moves elements, first on their places: the result holds the numbers from there."""
    recorder = active()
    if recorder is None:
        return function(*_changed_within(args, plain), **_changed_within(keywords, plain))
    with recorder.own_work():
        forms: list[NoiseForm] = []
        start = 0

        def numbered(value: Any) -> Any:
            nonlocal start
            if not (is_followed(value) or _isinstance(value, np.ndarray | float)):
                return value
            own = value.mark.form if is_followed(value) else NoiseForm.constant(value)
            if is_followed(value):
                value.mark.used = True
            forms.append(own)
            places = (start + _arange(len(own))).reshape(_shape(plain(value)))
            start += len(own)
            return places

        moved_elements = function(*_changed_within(args, numbered), **_changed_within(keywords, numbered))
        values = function(*_changed_within(args, plain), **_changed_within(keywords, plain))
        whole = NoiseForm.joined(forms)
        where = site()
        if _isinstance(moved_elements, list | tuple):
            pairs = zip(moved_elements, values, strict=True)
            return type(moved_elements)(_taken(recorder, whole, place, value, where) for place, value in pairs)
        return _taken(recorder, whole, moved_elements, values, where)


def _taken(recorder: Recorder, whole: NoiseForm, places: Any, values: Any, where: str) -> Any:
    form = whole.take(_asarray(places).reshape(-1))
    return followed(values, form, where, recorder) if form.is_noisy else values


def _changed_within(value: Any, change: Callable[[Any], Any]) -> Any:
    """Change the numbers and arrays within arguments."""
    if type(value) in (list, tuple):
        return type(value)(_changed_within(each, change) for each in value)
    if type(value) is dict:
        return {name: _changed_within(each, change) for name, each in value.items()}
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
        return function(*_changed_within(args, plain), **_changed_within(keywords, plain))
    if function in _MOVES:
        try:
            return moved(function, args, keywords)
        except (TypeError, ValueError, IndexError):
            return function(*_changed_within(args, closed), **_changed_within(keywords, closed))
    known = _KNOWN.get(function)
    if known is not None:
        try:
            result = known(*args, **keywords)
        except (AttributeError, TypeError, ValueError, IndexError):  # of a kind that is not known here
            result = NotImplemented
        if result is not NotImplemented:
            return result
    return function(*_changed_within(args, closed), **_changed_within(keywords, closed))


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
    total = _summed(array, axis, dtype, out, keepdims, **more)
    if total is NotImplemented:
        return total
    return total / (array.size / _max(np.size(total), 1))


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
        product = _product(_asarray(other).T, one.transpose()) if one.ndim == 2 or np.ndim(other) == 2 else None
        if product is None:
            return _product(other, one)
        return product if product is NotImplemented or np.ndim(plain(product)) < 2 else product.transpose()
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
    def place(array: Any, axis: Any = None, out: Any = None, **more: Any) -> Any:
        array = array_of(array)
        if not is_followed(array) or more or (axis is not None and array.ndim > 1) or np.ndim(plain(array)) == 0:
            return NotImplemented
        return np.int64(extreme(array.ravel() if array.ndim > 1 else array, sign))

    return place


def _largest(sign: int) -> Callable[..., Any]:
    def most(array: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Any:
        array = array_of(array)
        if not is_followed(array) or more or (axis is not None and array.ndim > 1) or np.ndim(plain(array)) == 0:
            return NotImplemented
        flat = array.ravel()
        return flat[extreme(flat, sign)]

    return most


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

# --- What are sums, multiples, comparisons and other functions of single numbers ---
#
# Sums and multiples keep the form, a comparison is a decision, any other function makes derived noise. In a run that
# closes, a sum of noise and of a number without noise is released at once.

_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
_FINITE = ("isnan", "isinf", "isfinite")


def operate(ufunc: Any, inputs: Sequence[Any], keys: str = "") -> Any:
    """Apply a function of NumPy element by element, and follow it; ``keys``: what the elements go by, if anything."""
    recorder = active()
    raw = [plain(each) for each in inputs]
    if recorder is None:
        return ufunc(*raw)
    with recorder.own_work(), np.errstate(all="ignore"):
        values = ufunc(*raw)
        own = [each.mark.form for each in inputs if is_followed(each)]
        noisy = any(each.is_noisy or (recorder.closes and not len(each)) for each in own)
        if not noisy or not all(map(_is_real, raw)):
            # what holds no noise is plain; what is no number is closed first
            if any(is_followed(each) and each.mark.form.is_noisy for each in inputs):
                recorder.busy -= 1
                try:
                    return ufunc(*(closed(each) for each in inputs))
                finally:
                    recorder.busy += 1
            return values
        result = _operated(recorder, ufunc, inputs, raw, values)
        meets = recorder.closes and ufunc in (np.add, np.subtract) and not all(map(is_followed, inputs))
        return _released(recorder, result, keys) if meets else result


def _released(recorder: Recorder, result: Any, keys: str) -> Any:
    """Close what data came to; noise of which only the largest is to be seen waits for that."""
    form: NoiseForm = result.mark.form
    known = [recorder.drawn(int(column)) for column in form.column]
    if any(law is GUMBEL for law, _ in known):
        return result
    scale = np.full(len(form), np.nan)
    single = np.bincount(form.row, minlength=len(form)) == 1
    laws = {law.title for law, _ in known}
    for row, coefficient, (_, own) in zip(form.row.tolist(), form.coefficient.tolist(), known, strict=True):
        if single[row]:
            scale[row] = abs(coefficient) * own
    result.mark.used = True
    what = laws.pop() if len(laws) == 1 else ""
    values = recorder.decide("closed", (form,), result.mark.values, site(), what, scale=scale, arguments=keys)
    return float(values[0]) if _shape(result) == () else _array(values).reshape(_shape(result))


def _is_real(value: Any) -> bool:
    return _asarray(value).dtype.kind in "biuf"


def _operated(recorder: Recorder, ufunc: Any, inputs: Sequence[Any], raw: Sequence[Any], values: Any) -> Any:
    name, where, shape = ufunc.__name__, site(), _shape(values)
    forms = [_spread(each, number, shape) for each, number in zip(inputs, raw, strict=True)]
    for each in inputs:
        if is_followed(each):
            each.mark.used = True
    scaled = None
    if name in _COMPARISONS:
        return _compared(recorder, name, forms, values, where)
    if name in _FINITE:  # noise is finite: only what is added to it can be anything else
        return ufunc(forms[0].offset.reshape(shape)) if shape else bool(ufunc(forms[0].offset[0]))
    if name in ("add", "subtract"):
        form = forms[0].plus(forms[1], 1.0 if name == "add" else -1.0)
    elif name == "negative":
        form = forms[0].times(-np.ones(len(forms[0])))
    elif name == "positive":
        form = forms[0]
    elif name == "multiply" and not (forms[0].is_noisy and forms[1].is_noisy):
        one, other = forms if forms[0].is_noisy else forms[::-1]
        form, scaled = one.times(other.offset), (one, other.offset)
    elif name in ("divide", "true_divide") and not forms[1].is_noisy:
        form, scaled = forms[0].over(forms[1].offset), (forms[0], forms[1].offset)
    else:
        form, flat = recorder.derive(forms, _asarray(values, dtype=np.float64).reshape(-1), ufunc, where, name)
        return followed(flat.reshape(shape), form, where, recorder)
    return followed(values, form, where, recorder, scaled)


def _spread(value: Any, number: Any, shape: tuple[int, ...]) -> NoiseForm:
    """Return the form of an input, with an element for each of the result."""
    if not is_followed(value):
        return NoiseForm.constant(_broadcast_to(_asarray(number, dtype=np.float64), shape))
    form: NoiseForm = value.mark.form
    if _shape(number) == shape:
        return form
    return form.take(_broadcast_to(_arange(len(form)).reshape(_shape(number)), shape).reshape(-1))


def _compared(recorder: Recorder, name: str, forms: Sequence[NoiseForm], values: Any, where: str) -> Any:
    unlike = forms[0].plus(forms[1], -1.0)
    shape, flat = _shape(values), _asarray(values).reshape(-1)
    if not unlike.is_noisy:
        return bool(flat[0]) if shape == () else _asarray(values)
    outcome = recorder.decide("compare", (unlike,), flat, where, name)
    return bool(outcome[0]) if shape == () else _array(outcome).reshape(shape)


def into(out: Any, result: Any) -> Any:
    """Put a result where it was asked for."""
    if _isinstance(out, FollowedArray):
        put(out, ..., result)
    else:
        out[...] = plain(result)
    return out


def put(array: FollowedArray, places: Any, values: Any) -> None:
    """Put numbers into an array, and follow them."""
    recorder = active()
    bare = array.view(np.ndarray)
    bare[places] = plain(values)
    if recorder is None or not is_followed(array) or array.mark is None:
        return
    with recorder.own_work():
        form = array.mark.form
        target = _arange(len(form)).reshape(array.shape)[places]
        flat = _asarray(target).reshape(-1)
        given = _spread(values, plain(values), _shape(target)) if is_followed(values) else None
        if given is None:
            given = NoiseForm.constant(_broadcast_to(_asarray(values, dtype=np.float64), _shape(target)))
        else:
            values.mark.used = True
        array.mark.used = True
        array.mark = recorder.mark(form.put(flat, given), bare.reshape(-1).copy(), site())


# --- What do Python and NumPy ask of numbers that remember their noise? It is in place once this is imported ---


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """Do what NumPy was asked to element by element or over an axis, and follow it."""
    out = keywords.pop("out", None)
    recorder = active()
    if recorder is not None and method == "reduce" and ufunc in (np.add, np.maximum, np.minimum):
        function = {np.add: np.sum, np.maximum: np.max, np.minimum: np.min}[ufunc]
        result = of_numpy(function, inputs, {"axis": 0, **keywords})
    elif recorder is not None and method == "accumulate" and ufunc is np.add:
        result = of_numpy(np.cumsum, inputs, {"axis": 0, **keywords})
    elif recorder is not None and ufunc is np.matmul and method == "__call__":
        result = of_numpy(np.matmul, inputs, {})
    elif recorder is not None and method == "__call__" and ufunc.nout == 1 and not (keywords.keys() - {"dtype"}):
        if any(hasattr(each, "to_numpy") for each in inputs):
            return NotImplemented
        result = _for_pandas(operate(ufunc, inputs), sys._getframe(1))
    else:
        result = getattr(ufunc, method)(*(closed(each) for each in inputs), **keywords)
    if out is None:
        return result
    return into(out[0] if _isinstance(out, tuple) else out, result)


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
        result = operate(ufunc, (array_of(other), self) if swapped else (self, array_of(other)))
        return _for_pandas(result, sys._getframe(1))

    return operator


def _for_pandas(result: Any, caller: FrameType) -> Any:
    """Return what pandas is to keep as objects: in its arrays of floats, numbers remember nothing."""
    if not _isinstance(result, FollowedArray) or f"{os.sep}pandas{os.sep}" not in caller.f_code.co_filename:
        return result
    objects = np.empty(result.shape, dtype=object)
    objects.reshape(-1)[:] = result.ravel().tolist()
    return objects


def _beside_keys(ufunc: Any, own: Any, other: Any, swapped: bool) -> Any:
    """Close a sum with what pandas names by keys, and name it by the same."""
    import pandas

    numbers = other.to_numpy()
    keys = repr([list(axis) for axis in (other.index, getattr(other, "columns", ()))])
    total = operate(ufunc, (numbers, own) if swapped else (own, numbers), keys)
    if is_followed(total) or np.shape(total) != np.shape(numbers):
        return total
    if numbers.ndim == 2:
        return pandas.DataFrame(total, index=other.index, columns=other.columns)
    return pandas.Series(total, index=other.index, name=other.name)


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
