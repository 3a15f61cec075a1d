"""What is the sum of drawn values? What ``sum`` returns for the plain floats of each run, to the last bit.

Since Python 3.12, ``sum`` keeps track of the rounding errors of a sum of floats and adds them at the end
(Neumaier 1974, algorithm IV); anything else it adds with ``+``. While a batch is read, drawn floats are summed in the
same way. Other functions in C may do so too (``math.sumprod``, or a ``sum`` that the program saved earlier): if an
addition does not come from a ``+`` of the program, the batch reading gives up (see `dpaudit.program.batch.value`).
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpaudit.program.batch.value import CORRECTED, BatchValue, entries

_plain_sum = builtins.sum


@contextmanager
def drawn_sums() -> Iterator[None]:
    """Make ``sum`` add drawn floats as it adds plain ones, on versions of Python where that differs from ``+``."""
    if not CORRECTED or builtins.sum is not _plain_sum:  # a target that replaces ``sum`` is found out elsewhere
        yield
        return
    try:
        builtins.sum = sum
        yield
    finally:
        if builtins.sum is sum:
            builtins.sum = _plain_sum


def sum(values: Iterable[Any], /, start: Any = 0) -> Any:  # noqa: A001 - it replaces the built-in one
    """Return what `builtins.sum` returns, treating drawn floats as the floats that they stand for."""
    if type(values) is range:
        return _plain_sum(values, start)
    items = values if type(values) in (list, tuple) else list(values)
    numbers = [start, *items]
    drawn = [item for item in numbers if type(item) is BatchValue]
    if not (drawn and items and all(map(_is_float, items)) and (_is_float(start) or _is_zero(start))):
        return _plain_sum(items, start)
    path = drawn[0]._path
    for item in drawn:
        path.ensure_own(item._path)
    with np.errstate(all="ignore"):
        return BatchValue(path, corrected([entries(each) if type(each) is BatchValue else each for each in numbers]))


def corrected(numbers: list[Any]) -> Any:
    """Return the compensated sum of floats and arrays: ``high`` is the plain sum, ``low`` its rounding error.

    The first number may be the integer 0, from which ``sum`` starts.
    """
    if type(numbers[0]) is int:
        numbers = [numbers[0] + numbers[1], *numbers[2:]]
    high, low = numbers[0], 0.0
    for number in numbers[1:]:
        total = high + number
        low = low + np.where(np.abs(high) >= np.abs(number), (high - total) + number, (number - total) + high)
        high = total
    return np.where((low != 0) & np.isfinite(low), high + low, high)


def _is_float(value: Any) -> bool:
    return value.__class__ is float  # a drawn value has the class of one entry


def _is_zero(value: Any) -> bool:
    return type(value) is int and value == 0
