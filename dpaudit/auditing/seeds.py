"""Which seed does an audit start from if none is given?

A fresh one, from the operating system. With a default shared by everyone, everyone would get the same unlucky runs, and
an error of one in twenty would be the same one for all. The seed is recorded in the evidence and in the command that
reproduces it.
"""

from __future__ import annotations

import secrets
from typing import TypeVar

Given = TypeVar("Given")

_BITS = 48  # short enough to type, and exact in every JSON reader


def fresh_seed() -> int:
    """Return a new seed from the operating system."""
    return secrets.randbits(_BITS)


def given_or_fresh(seed: Given | None) -> Given | int:
    """Return the given seed, unchecked, or a fresh one."""
    return fresh_seed() if seed is None else seed
