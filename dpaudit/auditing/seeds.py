"""Which seed does an audit start from, where nobody names one?

A fresh one, from the operating system: a default that everyone shares would give everyone the same unlucky runs, and
an error of one in twenty would be the same one in twenty for all. It stands in the evidence and in the command that
reproduces it, so nothing is lost.
"""

from __future__ import annotations

import secrets
from typing import TypeVar

Given = TypeVar("Given")

_BITS = 48  # short enough to be typed, and a whole number in every JSON


def fresh_seed() -> int:
    """Return a seed that nobody had before."""
    return secrets.randbits(_BITS)


def given_or_fresh(seed: Given | None) -> Given | int:
    """Return the seed that was given, unchecked, or a fresh one."""
    return fresh_seed() if seed is None else seed
