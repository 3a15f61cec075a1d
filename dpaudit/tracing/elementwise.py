"""What are sums, multiples, comparisons and other functions of single numbers, when the numbers remember their noise?

Sums and multiples keep the form, a comparison is a decision, any other function makes derived noise. In a run that
closes, a sum of noise and of a number without noise is released at once.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.tracing.forms import Form
from dpaudit.tracing.laws import GUMBEL
from dpaudit.tracing.recording import Recorder, active, site
from dpaudit.tracing.values import FollowedArray, closed, followed, is_followed, plain

_array, _asarray, _shape, _arange, _broadcast_to = np.array, np.asarray, np.shape, np.arange, np.broadcast_to
_isinstance = builtins.isinstance

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
            return _unfollowed(recorder, ufunc, inputs, values)
        found = _operated(recorder, ufunc, inputs, raw, values)
        meets = recorder.closes and ufunc in (np.add, np.subtract) and not all(map(is_followed, inputs))
        return _released(recorder, found, keys) if meets else found


def _released(recorder: Recorder, found: Any, keys: str) -> Any:
    """Close what data came to; noise of which only the largest is to be seen waits for that."""
    form: Form = found.mark.form
    known = [recorder.drawn(int(column)) for column in form.column]
    if any(law is GUMBEL for law, _ in known):
        return found
    scale = np.full(len(form), np.nan)
    single = np.bincount(form.row, minlength=len(form)) == 1
    laws = {law.name for law, _ in known}
    for row, coefficient, (_, own) in zip(form.row.tolist(), form.coefficient.tolist(), known, strict=True):
        if single[row]:
            scale[row] = abs(coefficient) * own
    found.mark.used = True
    what = laws.pop() if len(laws) == 1 else ""
    values = recorder.decide("closed", (form,), found.mark.values, site(), what, scale=scale, arguments=keys)
    return float(values[0]) if _shape(found) == () else _array(values).reshape(_shape(found))


def _is_real(value: Any) -> bool:
    return _asarray(value).dtype.kind in "biuf"


def _unfollowed(recorder: Recorder, ufunc: Any, inputs: Sequence[Any], values: Any) -> Any:
    """What holds no noise is plain; what is no number is closed first."""
    if any(is_followed(each) and each.mark.form.is_noisy for each in inputs):
        recorder.busy -= 1
        try:
            return ufunc(*(closed(each) for each in inputs))
        finally:
            recorder.busy += 1
    return values


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


def _spread(value: Any, number: Any, shape: tuple[int, ...]) -> Form:
    """Return the form of an input, with an element for each of the result."""
    if not is_followed(value):
        return Form.constant(_broadcast_to(_asarray(number, dtype=np.float64), shape))
    form: Form = value.mark.form
    if _shape(number) == shape:
        return form
    return form.take(_broadcast_to(_arange(len(form)).reshape(_shape(number)), shape).reshape(-1))


def _compared(recorder: Recorder, name: str, forms: Sequence[Form], values: Any, where: str) -> Any:
    unlike = forms[0].plus(forms[1], -1.0)
    shape, flat = _shape(values), _asarray(values).reshape(-1)
    if not unlike.is_noisy:
        return bool(flat[0]) if shape == () else _asarray(values)
    outcome = recorder.decide("compare", (unlike,), flat, where, name)
    return bool(outcome[0]) if shape == () else _array(outcome).reshape(shape)


def into(out: Any, found: Any) -> Any:
    """Put a result where it was asked for."""
    if _isinstance(out, FollowedArray):
        put(out, ..., found)
    else:
        out[...] = plain(found)
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
            given = Form.constant(_broadcast_to(_asarray(values, dtype=np.float64), _shape(target)))
        else:
            values.mark.used = True
        array.mark.used = True
        array.mark = recorder.mark(form.put(flat, given), bare.reshape(-1).copy(), site())
