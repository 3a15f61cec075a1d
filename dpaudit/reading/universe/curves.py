"""How far do functions of private numbers move? Roots, powers, logarithms, exponentials, products and norms.

A function that rises or falls more and more slowly moves farthest where it begins: √x by no more than √d if x moves by
d and is not below 0, ln x by no more than ln(m + d) − ln m from m on; one that becomes steeper, at the largest number
that there can be. So each needs an end of what the number can be, which its sum or a clip says. How far it may move is
subadditive in d, so that what comes and what goes may be priced apart, and it is no sum over rows: of several rows of
a person each kind counts as the one that moves it farthest.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.reading.universe import steps
from dpaudit.reading.universe.cells import simple
from dpaudit.reading.universe.numbers import (
    RATIO,
    Number,
    on_common_axes,
    padded,
    refuse_small,
    spanned,
    widened_range,
)
from dpaudit.reading.universe.released import joined, kind_of_plain
from dpaudit.reading.universe.state import refuse

_LESS = 1 - 2.0**-50  # a root is a float, and so is the scale that is made of it: they are read as equal
WHOLE = {"np.int64", "number", "?"}
"""Types of numbers that may be whole ones of 64 bits."""
_LARGEST = 1e150
_PRODUCT = "np.clip(n, 0, HIGH) * np.clip(m, 0, HIGH) + laplace(…)"
_NOT_BELOW_0 = "np.sqrt(np.maximum(n, 0)) + laplace(…)"
_BOUNDED = "np.clip(n, 0, HIGH) ** 2 + laplace(…)"


def power(x: Number, exponent: Any) -> Number:
    """``x ** c``."""
    refuse_small(exponent)
    p = simple(exponent)
    if p == 1:
        return x.same()
    if p == 0 or abs(p) > 100 or p.denominator > 1000:
        refuse("a private number to this power", _BOUNDED)
    if p < 0 and not isinstance(exponent, float):
        refuse("a whole negative power, to which NumPy raises no whole number", "1 / x")
    least, most = x.range()
    if np.any(least < 0):
        if p.denominator != 1 or p % 2:
            refuse(f"a power ({p}) of a private number that may be below 0", _NOT_BELOW_0)
        x = x.absolute()
        least, most = x.range()
    if p < 0 and not np.all(least > 0):
        refuse("a quotient by a private number that may be 0", RATIO)
    whole = not isinstance(exponent, float)
    if whole and x.kinds & WHOLE and np.any(most ** float(p) > 2.0**62):
        refuse("a power of whole numbers so large that it may wrap", ".astype(float)")
    kinds = frozenset(joined(each, kind_of_plain(exponent) or "?", division=p < 0) for each in x.kinds)
    if x.shape:
        kinds = x.of_array() if whole else frozenset(("np.float64",))
    return _bent(x, "power", p).same(is_whole=x.is_whole and p > 0 and p.denominator == 1, kinds=kinds)


def logarithm(x: Number) -> Number:
    """``ln x``."""
    if not np.all(x.range()[0] > 0):
        refuse("a logarithm of a private number that may be 0 or less", "np.log(np.maximum(n, 1)) + laplace(…)")
    return _bent(x, "log", None)


def exponential(x: Number) -> Number:
    """``e ** x``."""
    return _bent(x, "exp", None)


def _bent(x: Number, function: str, p: Fraction | None) -> Number:
    """Return what a function of one bend makes of a number of which the ends are known that it needs."""
    falls = p is not None and p < 0
    is_steep_above = function == "exp" or (p is not None and p > 1)
    least, most = x.range()
    end = most if is_steep_above else least
    with np.errstate(all="ignore"):
        if not np.all(np.isfinite(end)):
            refuse("a function of a private number that becomes steeper, without a largest one", _BOUNDED)
        if not np.all(np.abs(_value(function, p, end)) < _LARGEST):
            refuse("a function of a private number that may become huge", _BOUNDED)
        x, slope = _of_records(x, function, p, end)
        most_apart = np.where(np.isfinite(most - least) & (not x.per), most - least, np.inf)
        rows = x.selection.times if x.selection.kind in ("person", "swapped") else 1

        def moved(far: Any) -> Any:
            far = np.maximum(far, 0.0)
            if slope is not None:
                return slope * far
            if rows > 1:
                far = np.broadcast_to(far.max(0, keepdims=True) * rows, far.shape)
            return _counted(_move(function, p, end, np.minimum(far, most_apart), above=is_steep_above)) / rows

        up, down = moved(x.high), moved(-x.low)
        low, high = (-up, down) if falls else (-down, up)
        ends = _value(function, p, least), _value(function, p, most)
    terms = None
    if slope is None and (not x.per or x.is_plain):
        terms = steps.of_numbers("curve", x.step(), shape=x.shape, function=function, exponent=p)
    found = x.like(low, high, is_whole=False, terms=terms, kinds=frozenset(("np.float64",)))
    found.known = spanned(*widened_range(*(ends[::-1] if falls else ends)))
    if x.per and slope is None and p is not None:
        found.per = x.per * p
    return found


def _of_records(x: Number, function: str, p: Fraction | None, end: Any) -> tuple[Number, Any]:
    """Return a number, and by how much more than it the function moves where it moves less, the more records there are.

    A root that begins at 0 has no such factor: √(d/n) is √d/√n.
    """
    if not x.per:
        return x, None
    slope = np.abs({"log": 1 / end, "exp": np.exp(end)}[function] if p is None else float(p) * end ** float(p - 1))
    if np.all(np.isfinite(slope)):
        return x, slope
    is_root = p is not None and 0 < p < 1 and not np.any(end)
    return (x if is_root else x.slower(Fraction(0))), None


def _value(function: str, p: Fraction | None, x: Any) -> Any:
    if p is not None:
        return np.sqrt(x) if p == Fraction(1, 2) else x ** float(p)
    return np.log(x) if function == "log" else np.exp(x)


def _move(function: str, p: Fraction | None, end: Any, far: Any, *, above: bool) -> Any:
    """Return how far a function moves between its steep end and a number so far from it."""
    if function == "log":
        return np.log1p(far / end)
    if function == "exp":
        return np.exp(end) * -np.expm1(-far)
    assert p is not None
    if p == Fraction(1, 2):
        return np.where(far == 0, 0.0, far / (np.sqrt(end + far) + np.sqrt(end)))
    if p == 2:
        return far * (2 * end - far)
    ratio = np.where(end == 0, 0.0, (-far if above else far) / np.where(end == 0, 1.0, end))
    rest = np.abs(end ** float(p) * np.expm1(float(p) * np.log1p(ratio)))
    return np.where(end == 0, far ** float(p), rest)


def _counted(table: Any) -> Any:
    """Return distances, those that are no simple fractions a little less than they are computed."""
    values, places = np.unique(table, return_inverse=True)
    found = [each if simple(each).denominator <= 1_000_000 else each * _LESS for each in values.tolist()]
    return np.array(found)[places].reshape(table.shape)


# --- several numbers ------------------------------------------------------------------------------------------


def product(x: Number, y: Number) -> Number:
    """``x * y``: moves by dx·y′ + x·dy."""
    if x is y:
        return power(x, 2)
    if y.selection is not x.selection or y.sample != x.sample:
        refuse("a product of numbers of differently chosen rows", "noise of its own for each")
    ranges = [x.range(), y.range()]
    if not all(np.all(np.isfinite(end)) for ends in ranges for end in ends):
        refuse("a product of private numbers, of which one has no least or largest value", _PRODUCT)
    shape = np.broadcast_shapes(x.shape, y.shape)
    if shape not in (x.shape, y.shape) or ((x.shape or y.shape) and (x.labels is not None or y.labels is not None)):
        refuse("a product of tables of private numbers in this form", ".to_numpy()")
    per = min(x.per, y.per)
    axes, *moves = on_common_axes(x.slower(per), y.slower(per))
    low, high, least, most = (padded(each, len(shape)) for each in moves)
    corners = [move * end for move in (low, high) for end in ranges[1]]
    others = [move * end for move in (least, most) for end in ranges[0]]
    between = [a * b for a in ranges[0] for b in ranges[1]]
    x.refuse_to_wrap(0 if y.kinds & {"int", "bool", *WHOLE} else 0.5, *between)
    terms = None
    if x.per == y.per == 0 and x.shape == y.shape:
        terms = steps.of_numbers("product", x.step(), y.step(), shape=shape)
    kinds = frozenset(joined(a, b) for a in x.kinds for b in y.kinds) if not shape else frozenset(("np.float64",))
    found = x.like(
        np.minimum.reduce(corners) + np.minimum.reduce(others),
        np.maximum.reduce(corners) + np.maximum.reduce(others),
        is_whole=x.is_whole and y.is_whole and not shape, kinds=kinds, terms=terms, per=per,
    )  # fmt: skip
    found.axes = axes
    found.known = spanned(*widened_range(np.minimum.reduce(between), np.maximum.reduce(between)))
    return found


def norm(x: Number, order: Any = None) -> Number:
    """``np.linalg.norm`` of an array: it moves by no more than the norm of the movements."""
    if len(x.shape) != 1 or order not in (None, 1, 2):
        refuse("a norm of private numbers in this form", "np.linalg.norm(x) of an array of one axis")
    x = x.as_array()
    if order == 1:
        return x.absolute().total()
    far = np.sqrt((np.maximum(np.abs(x.low), np.abs(x.high)) ** 2).sum(1))
    far = _counted(far)
    terms = steps.of_numbers("norm", x.step())
    found = x.like(-far, far, labels=None, is_whole=False, kinds=frozenset(("np.float64",)), terms=terms)
    least, most = x.range()
    found.known = spanned(*widened_range(0.0, math.sqrt(float((np.maximum(-least, most) ** 2).sum()))))
    return found


__all__ = ["exponential", "logarithm", "norm", "power", "product"]
