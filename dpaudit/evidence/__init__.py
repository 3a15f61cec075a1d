"""What did an audit or a proof find? A record that anyone can cite and check.

Who does what evidence and accounts need from rooms above them registers itself, and nobody looks upwards: "page",
"card" and "summary" render evidence; "event" finds the entry of a catalogue that an account names.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = [
    "build",
    "canonical_json",
    "draw",
    "event",
    "evidence",
    "further_records",
    "records",
    "register",
    "registered",
]
_HOMES: dict[str, str] = {}


def register(kind: str, home: str) -> None:
    """Register the function ("module:function") that does something; it is imported at its first use."""
    _HOMES[kind] = home


def registered(kind: str) -> Callable[..., Any]:
    """Return the function that is registered.

    Raises:
        KeyError: if there is none.
    """
    module, _, function = _HOMES[kind].partition(":")
    function_registered: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return function_registered


def draw(kind: str, evidence: Any) -> str:
    """Return evidence rendered as ``kind``."""
    drawn: str = registered(kind)(evidence)
    return drawn
