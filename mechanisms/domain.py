"""Which parameters can a mechanism accept? Refusals that say what was given and what is possible.

Only parameters are examined, never what a program drew: a check costs nothing and is the same in every
reading. What is refused raises UsageError, which is a ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from dpaudit import UsageError

T = TypeVar("T")


def _inside(low: Any, value: Any, high: Any) -> bool:
    try:
        return bool(low < value < high)
    except TypeError:
        return False


def positive(name: str, value: T) -> T:
    """Return ``value`` if it is a finite number above 0; raise UsageError otherwise."""
    if not _inside(0, value, math.inf):
        raise UsageError(f"{name} must be a finite number above 0, not {value!r}")
    return value


def probability(name: str, value: T) -> T:
    """Return ``value`` if it lies strictly between 0 and 1; raise UsageError otherwise."""
    if not _inside(0, value, 1):
        raise UsageError(f"{name} must be a number strictly between 0 and 1, not {value!r}")
    return value


def whole(name: str, value: Any, least: int) -> int:
    """Return ``value`` as an int if it is a whole number, ``least`` or more; raise UsageError otherwise."""
    if not _inside(least - 1, value, math.inf) or value != math.floor(value):
        raise UsageError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def one_of(name: str, value: T, options: Sequence[Any]) -> T:
    """Return ``value`` if it is one of the options; raise UsageError otherwise."""
    if value not in options:
        raise UsageError(f"{name} must be one of {', '.join(map(repr, options))}, not {value!r}")
    return value


def bounds(low: Any, high: Any) -> None:
    """Raise UsageError unless both bounds are finite and low < high."""
    if not (_inside(-math.inf, low, math.inf) and _inside(-math.inf, high, math.inf)):
        raise UsageError(
            f"low and high must be finite numbers, not {low!r} and {high!r}: "
            "without bounds one record can move a sum without limit, and no noise is enough"
        )
    if not low < high:
        raise UsageError(f"low must lie below high, not low={low!r} and high={high!r}; exchange or widen them")


def clip(value: Any, low: Any, high: Any) -> Any:
    """Return the point of [low, high] that is nearest to ``value``."""
    return min(max(value, low), high)
