"""What was looked at, and does it hold?"""

from __future__ import annotations

import math
from dataclasses import dataclass

DIGITS = 1e-9
"""Relative: bounds are written with 10 digits, in the last of which machines may differ."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, whether it holds, and a sentence about it."""

    what: str
    holds: bool
    sentence: str


def agrees(again: float, stated: float, accuracy: float = DIGITS) -> bool:
    """Whether a number that was computed again is the stated one; NaN never is."""
    return again == stated or math.isclose(again, stated, rel_tol=accuracy, abs_tol=accuracy)
