"""Which values may a confidence, and a chance of a false alarm, have?"""

from __future__ import annotations

from typing import Any

from dpaudit.errors import UsageError

LEAST_ERROR = 1e-12
"""The smallest error level that is promised.

A confidence is a float, which stores 1 − error to 1e-16, one part in ten thousand of this. Smaller error levels would
be distorted by rounding, and generators, memory and libraries fail more often.
"""

_LEAST = LEAST_ERROR * (1 - 1e-3)  # as 1 − (1 − 1e-12) is a little smaller, in floats
_TOO_SURE = f"promises fewer errors than one in 10^12 ({LEAST_ERROR:g}), which nothing that computes in floats can keep"


def refuse_confidence(confidence: Any, name: str = "confidence") -> None:
    """Raise `UsageError` for anything but a confidence whose error level is large enough to be meaningful."""
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not number or not 0 < confidence < 1:
        raise UsageError(f"{name} lies strictly between 0 and 1, such as 0.95, not {confidence!r}")
    if 1 - confidence >= 1:
        raise UsageError(f"a {name} of {confidence!r} is none: every bound may be wrong; say 0.95")
    if 1 - confidence < _LEAST:
        raise UsageError(f"a {name} of {confidence!r} {_TOO_SURE}; say 0.95, or at most 0.999999")


def refuse_false_alarm(false_alarm: Any, name: str = "false_alarm") -> None:
    """Raise `UsageError` for anything but a probability that is large enough to be meaningful."""
    if isinstance(false_alarm, bool) or not isinstance(false_alarm, int | float) or not 0 < false_alarm < 1:
        raise UsageError(
            f"{name} is the chance that a mechanism that keeps its claim is called violated, strictly between 0 "
            f"and 1, such as 0.001, not {false_alarm!r}"
        )
    if false_alarm < _LEAST:
        raise UsageError(f"a {name} of {false_alarm!r} {_TOO_SURE}; say 0.001, or at least 0.000001")
